"""Moving masses from one list of focal sets to another."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_distributions, check_numbers
from credalis.belief._focal_sets import (
    MAX_CLUSTERS_FULL,
    FocalSets,
    check_focal_sets,
    subsets_to_membership,
)
from credalis.belief._transforms import Masses


def check_mass_functions(
    name: str, masses: ArrayLike, focal_sets: FocalSets
) -> NDArray[np.float64]:
    """Masses as an array of their own, >= 0 with rows that sum to 1."""
    check_focal_sets("focal_sets", focal_sets)
    array = check_numbers(name, masses)
    if array.ndim == 0 or array.shape[-1] != len(focal_sets):
        raise ValueError(
            f"{name} must have one column for each of the {len(focal_sets)} focal "
            f"sets, got shape {array.shape}"
        )
    check_distributions(name, array.reshape(-1, len(focal_sets)))
    # A reshaped copy would have kept the corrections of rounding to itself.
    return np.maximum(array, 0.0)


def check_subset(
    name: str, subset: Iterable[int], n_clusters: int
) -> NDArray[np.bool_]:
    """Boolean (n_clusters,): which clusters are in a subset that is not empty."""
    try:
        members = subsets_to_membership([subset], n_clusters)[0]
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    if not members.any():
        raise ValueError(f"{name} must hold at least one cluster, got none")
    return members


def gather(
    masses: Masses, images: NDArray[np.bool_], *, full: bool = False
) -> tuple[Masses, FocalSets]:
    """Masses after focal set j has become the set in row j of `images`.

    Masses that meet in one set are added. The new sets come by cardinality and then
    lexicographically, or as all subsets in binary order.
    """
    n_clusters = images.shape[1]
    distinct, inverse = np.unique(images, axis=0, return_inverse=True)
    subsets = [tuple(np.flatnonzero(row).tolist()) for row in distinct]
    if full:
        focal_sets = FocalSets.full(n_clusters)
    else:
        ordered = sorted(subsets, key=lambda subset: (len(subset), subset))
        focal_sets = FocalSets(n_clusters, tuple(ordered))
    columns = [focal_sets.index(subset) for subset in subsets]
    order = np.argsort(inverse.reshape(-1), kind="stable")
    starts = np.searchsorted(inverse.reshape(-1)[order], np.arange(len(subsets)))
    gathered = np.zeros((*masses.shape[:-1], len(focal_sets)))
    gathered[..., columns] = np.add.reduceat(masses[..., order], starts, axis=-1)
    return gathered, focal_sets


def on_all_subsets(name: str, masses: Masses, focal_sets: FocalSets) -> Masses:
    """The same masses with a column for each subset, in binary order."""
    if focal_sets.n_clusters > MAX_CLUSTERS_FULL:
        raise ValueError(
            f"{name} must be about at most {MAX_CLUSTERS_FULL} clusters, for all "
            f"subsets are needed, got {focal_sets.n_clusters}"
        )
    if focal_sets.is_full:
        return masses
    codes = focal_sets.membership @ (1 << np.arange(focal_sets.n_clusters))
    every = np.zeros((*masses.shape[:-1], 2**focal_sets.n_clusters))
    every[..., codes] = masses
    return every
