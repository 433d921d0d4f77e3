"""Distances between mass functions."""

import numpy as np
from numpy.typing import ArrayLike

from credalis._refusals import refuses_by_name
from credalis.belief._focal_sets import (
    MAX_CLUSTERS_FULL,
    FocalSets,
    check_focal_sets,
)
from credalis.belief._transforms import Masses, belief, check_both


@refuses_by_name
def jaccard_matrix(focal_sets: FocalSets) -> Masses:
    """|A ∩ B| / |A ∪ B| for all pairs of focal sets; 1 for ∅ with itself.

    Parameters
    ----------
    focal_sets : FocalSets
        The sets that are compared.

    Returns
    -------
    ndarray of shape (n_focal_sets, n_focal_sets)
    """
    check_focal_sets("focal_sets", focal_sets)
    members = focal_sets.membership.astype(float)
    intersection = members @ members.T
    cardinality = members.sum(axis=1)
    union = cardinality[:, None] + cardinality[None, :] - intersection
    both_empty = union == 0
    return np.where(both_empty, 1.0, intersection / np.where(both_empty, 1.0, union))


@refuses_by_name
def jousselme_distance(
    first: ArrayLike, second: ArrayLike, focal_sets: FocalSets
) -> Masses:
    """Jousselme distance [½ (m₁ - m₂)ᵀ J (m₁ - m₂)]^½, row by row.

    J holds the Jaccard indices of the focal sets. The distance is 1 between two
    different certain masses and for ∅ against any non-empty set.

    Parameters
    ----------
    first, second : array-like of shape (..., n_focal_sets)
        Mass functions on the same focal sets; shapes broadcast.
    focal_sets : FocalSets
        What the columns stand for.

    Returns
    -------
    array of shape (...,)
    """
    first, second = check_both(first, second, focal_sets)
    difference = first - second
    squared = np.einsum(
        "...j,...j->...", difference @ jaccard_matrix(focal_sets), difference
    )
    return np.sqrt(np.maximum(squared, 0.0) / 2)


@refuses_by_name
def belief_distance(
    first: ArrayLike, second: ArrayLike, focal_sets: FocalSets
) -> Masses:
    """½ Σ |Bel₁(A) - Bel₂(A)| over all subsets A of Ω, row by row.

    Bounded by 1 on two clusters; larger values occur from three clusters on. There
    are 2^c subsets, hence at most 12 clusters.

    Parameters
    ----------
    first, second : array-like of shape (..., n_focal_sets)
        Mass functions of the two sources, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.

    Returns
    -------
    ndarray of shape (...,)
    """
    check_focal_sets("focal_sets", focal_sets)
    if focal_sets.n_clusters > MAX_CLUSTERS_FULL:
        raise ValueError(
            "the belief distance sums over all subsets of the clusters: focal_sets "
            f"must have at most {MAX_CLUSTERS_FULL} clusters, "
            f"got {focal_sets.n_clusters}"
        )
    first, second = check_both(first, second, focal_sets)
    difference = first - second
    every_subset = FocalSets.full(focal_sets.n_clusters)
    return np.abs(belief(difference, focal_sets, every_subset)).sum(axis=-1) / 2
