"""From masses to belief, plausibility, probabilities and normalised masses.

All functions take masses of shape (..., n_focal_sets) and work row by row.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_flag, check_moderate, check_numbers
from credalis._refusals import refuses_by_name
from credalis.belief._focal_sets import (
    FocalSets,
    check_focal_sets,
    subsets_to_membership,
)

Masses = NDArray[np.float64]
Subsets = FocalSets | Iterable[Iterable[int]] | None

# A mass on the empty set this close to 1 leaves nothing to normalise.
EMPTY_TOLERANCE = 1e-12

# From so many sets of one cluster on, a product with the others alone takes less time.
_MANY_SINGLETONS = 100


def check_masses(masses: ArrayLike, focal_sets: FocalSets) -> Masses:
    """Masses as a finite float64 array whose last axis matches the focal sets."""
    check_focal_sets("focal_sets", focal_sets)
    if isinstance(masses, np.ndarray) and masses.dtype == np.float64:
        array = masses
    else:
        array = check_numbers("masses", masses)
    check_moderate("masses", array)
    if array.ndim == 0 or array.shape[-1] != len(focal_sets):
        raise ValueError(
            f"masses must have one column for each of the {len(focal_sets)} focal "
            f"sets, got shape {array.shape}"
        )
    return array


def check_both(
    first: ArrayLike, second: ArrayLike, focal_sets: FocalSets
) -> tuple[Masses, Masses]:
    """Masses of two sources whose shapes broadcast."""
    checked = check_masses(first, focal_sets), check_masses(second, focal_sets)
    check_broadcast(*checked)
    return checked


def check_broadcast(first: Masses, second: Masses) -> tuple[int, ...]:
    """The shape of the result of two sources, without the focal sets."""
    try:
        return np.broadcast_shapes(first.shape[:-1], second.shape[:-1])
    except ValueError as error:
        raise ValueError(
            "second must have as many rows as first, or one of them one, got shapes "
            f"{first.shape} and {second.shape}"
        ) from error


def check_rows(masses: ArrayLike, focal_sets: FocalSets) -> Masses:
    """Masses of shape (n_samples, n_focal_sets)."""
    array = check_masses(masses, focal_sets)
    if array.ndim != 2:
        raise ValueError(
            f"masses must have shape (n_samples, n_focal_sets), got shape {array.shape}"
        )
    return array


@refuses_by_name
def belief(masses: ArrayLike, focal_sets: FocalSets, subsets: Subsets = None) -> Masses:
    """Bel(A) = Σ m(B) over non-empty B ⊆ A.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.
    subsets : FocalSets or iterable of subsets, default=None
        The sets A; None stands for the single clusters.

    Returns
    -------
    array of shape (..., n_subsets)

    Examples
    --------
    >>> from credalis.belief import FocalSets, belief
    >>> focal_sets = FocalSets.full(2)
    >>> belief([0.1, 0.2, 0.3, 0.4], focal_sets, [(0,), (0, 1)])
    array([0.2, 0.9])
    """
    included = _is_included(focal_sets, subsets) & (focal_sets.cardinality > 0)[:, None]
    return check_masses(masses, focal_sets) @ included.astype(float)


@refuses_by_name
def implicability(
    masses: ArrayLike, focal_sets: FocalSets, subsets: Subsets = None
) -> Masses:
    """b(A) = Σ m(B) over B ⊆ A, the empty set included: Bel(A) + m(∅).

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    subsets : FocalSets or iterable of subsets, default=None
        The sets A; None stands for the single clusters.

    Returns
    -------
    ndarray of shape (..., n_subsets)
    """
    included = _is_included(focal_sets, subsets)
    return check_masses(masses, focal_sets) @ included.astype(float)


@refuses_by_name
def plausibility(
    masses: ArrayLike, focal_sets: FocalSets, subsets: Subsets = None
) -> Masses:
    """Pl(A) = Σ m(B) over B that meet A.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    subsets : FocalSets or iterable of subsets, default=None
        The sets A; None stands for the single clusters.

    Returns
    -------
    ndarray of shape (..., n_subsets)
    """
    wanted = _membership(focal_sets, subsets).astype(float)
    meets = focal_sets.membership.astype(float) @ wanted.T > 0
    return check_masses(masses, focal_sets) @ meets.astype(float)


@refuses_by_name
def commonality(
    masses: ArrayLike, focal_sets: FocalSets, subsets: Subsets = None
) -> Masses:
    """Q(A) = Σ m(B) over B ⊇ A.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    subsets : FocalSets or iterable of subsets, default=None
        The sets A; None stands for the single clusters.

    Returns
    -------
    ndarray of shape (..., n_subsets)
    """
    wanted = _membership(focal_sets, subsets).astype(float)
    n_missing = (1.0 - focal_sets.membership) @ wanted.T
    return check_masses(masses, focal_sets) @ (n_missing == 0).astype(float)


@refuses_by_name
def contour(masses: ArrayLike, focal_sets: FocalSets) -> Masses:
    """Contour function pl(ω) = Pl({ω}), shape (..., n_clusters).

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.

    Returns
    -------
    ndarray of shape (..., n_clusters)
    """
    values, membership = check_masses(masses, focal_sets), focal_sets.membership
    is_single = focal_sets.cardinality == 1
    if np.count_nonzero(is_single) < _MANY_SINGLETONS:
        return values @ membership.astype(float)
    # The set of one cluster is in the sum of this cluster alone.
    sums = values[..., ~is_single] @ membership[~is_single].astype(float)
    sums[..., membership[is_single].argmax(axis=1)] += values[..., is_single]
    return np.asarray(sums)


@refuses_by_name
def pignistic(
    masses: ArrayLike, focal_sets: FocalSets, *, normalize: bool = True
) -> Masses:
    """Pignistic probability BetP(ω) = Σ m(A) / |A| over A ∋ ω, divided by 1 - m(∅).

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.
    normalize : bool, default=True
        Divide by 1 - m(∅). A row with all mass on ∅ becomes uniform.

    Returns
    -------
    array of shape (..., n_clusters)
    """
    check_flag("normalize", normalize)
    masses = check_masses(masses, focal_sets)
    shares = focal_sets.membership / np.maximum(focal_sets.cardinality, 1)[:, None]
    values = masses @ shares
    return _rows_sum_to_one(values) if normalize else values


@refuses_by_name
def plausibility_transform(masses: ArrayLike, focal_sets: FocalSets) -> Masses:
    """Contour function divided by its sum; uniform where all mass is on ∅.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.

    Returns
    -------
    ndarray of shape (..., n_clusters)
    """
    return _rows_sum_to_one(contour(masses, focal_sets))


@refuses_by_name
def empty_mass(masses: ArrayLike, focal_sets: FocalSets) -> Masses:
    """m(∅), zero where ∅ is not a focal set, shape (...,).

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.

    Returns
    -------
    ndarray of shape (...,)
    """
    masses = check_masses(masses, focal_sets)
    if focal_sets.empty_index is None:
        return np.zeros(masses.shape[:-1])
    return masses[..., focal_sets.empty_index]


def nonempty_mass(masses: Masses, focal_sets: FocalSets) -> Masses:
    """1 - m(∅) as the sum of the other masses, shape (...,).

    It has less rounding, and is a safe divisor when rows sum to one only roughly.
    """
    return masses[..., focal_sets.cardinality > 0].sum(axis=-1)


@refuses_by_name
def dempster_normalize(
    masses: ArrayLike, focal_sets: FocalSets
) -> tuple[Masses, FocalSets]:
    """m(A) / (1 - m(∅)) for non-empty A, and 0 on ∅.

    A row with all mass on ∅ has no such normalisation; it becomes vacuous, for
    nothing is known about it. If Ω is not a focal set it is appended in that case.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.

    Returns
    -------
    masses : array of shape (..., n_focal_sets)
    focal_sets : FocalSets
        The given ones, with Ω if it had to be added.
    """
    masses = check_masses(masses, focal_sets)
    total = nonempty_mass(masses, focal_sets)
    undefined = total <= EMPTY_TOLERANCE
    if undefined.any():
        masses, focal_sets = with_frame(masses, focal_sets)
    normalized = masses.copy()
    if focal_sets.empty_index is not None:
        normalized[..., focal_sets.empty_index] = 0.0
    normalized /= np.where(undefined, 1.0, total)[..., None]
    if undefined.any():
        normalized[undefined] = 0.0
        normalized[undefined, focal_sets.frame_index] = 1.0
    return normalized, focal_sets


@refuses_by_name
def yager_normalize(
    masses: ArrayLike, focal_sets: FocalSets
) -> tuple[Masses, FocalSets]:
    """Move the mass of ∅ to Ω, which is appended if it is not a focal set.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.

    Returns
    -------
    masses : array of shape (..., n_focal_sets)
    focal_sets : FocalSets
        The given ones, with Ω if it had to be added.
    """
    masses = check_masses(masses, focal_sets)
    if focal_sets.empty_index is None:
        return masses.copy(), focal_sets
    masses, focal_sets = with_frame(masses, focal_sets)
    normalized = masses.copy()
    normalized[..., focal_sets.frame_index] += masses[..., focal_sets.empty_index]
    normalized[..., focal_sets.empty_index] = 0.0
    return normalized, focal_sets


def _membership(focal_sets: FocalSets, subsets: Subsets) -> NDArray[np.bool_]:
    """Boolean (n_subsets, n_clusters) of the sets asked for."""
    check_focal_sets("focal_sets", focal_sets)
    if subsets is None:
        return np.eye(focal_sets.n_clusters, dtype=bool)
    if isinstance(subsets, FocalSets):
        if subsets.n_clusters != focal_sets.n_clusters:
            raise ValueError(
                f"subsets must be subsets of the same {focal_sets.n_clusters} "
                f"clusters, got subsets of {subsets.n_clusters}"
            )
        return subsets.membership
    return subsets_to_membership(subsets, focal_sets.n_clusters)


def _is_included(focal_sets: FocalSets, subsets: Subsets) -> NDArray[np.bool_]:
    """Boolean (n_focal_sets, n_subsets): is focal set j a subset of A?"""
    outside = 1.0 - _membership(focal_sets, subsets)
    return focal_sets.membership.astype(float) @ outside.T == 0


def with_frame(masses: Masses, focal_sets: FocalSets) -> tuple[Masses, FocalSets]:
    """The same masses on a list that has Ω."""
    if focal_sets.frame_index is not None:
        return masses, focal_sets
    extended = FocalSets.from_subsets(
        focal_sets.n_clusters, focal_sets.subsets, frame=True
    )
    padding = [(0, 0)] * (masses.ndim - 1) + [(0, 1)]
    return np.pad(masses, padding), extended


def _rows_sum_to_one(values: Masses) -> Masses:
    """Rows divided by their sum; rows of zeros become uniform."""
    total = values.sum(axis=-1, keepdims=True)
    known = total > EMPTY_TOLERANCE
    return np.where(known, values / np.where(known, total, 1.0), 1.0 / values.shape[-1])
