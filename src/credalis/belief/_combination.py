"""Combination of mass functions, and the conflict between them."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._refusals import refuses_by_name
from credalis.belief._focal_sets import FocalSets, check_focal_sets
from credalis.belief._mobius import (
    commonality_to_masses,
    implicability_to_masses,
    masses_to_commonality,
    masses_to_implicability,
)
from credalis.belief._transforms import (
    EMPTY_TOLERANCE,
    Masses,
    check_both,
    check_broadcast,
    check_masses,
    check_rows,
    dempster_normalize,
    nonempty_mass,
)

# Focal sets from which on the fast way takes less time than a product.
_MIN_FAST = 64


@refuses_by_name
def mass_apart(masses: ArrayLike, focal_sets: FocalSets) -> Masses:
    """Σ m(B) over B that do not meet A, for every focal set A: ``masses @ C``.

    If the focal sets are all subsets, this is the implicability of the complements of
    the A, and takes two products with matrices of 2^(c/2) rows.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, or any numbers on the focal sets.
    focal_sets : FocalSets
        What the columns stand for.

    Returns
    -------
    array of shape (..., n_focal_sets)

    Examples
    --------
    >>> from credalis.belief import FocalSets, mass_apart
    >>> mass_apart([0.1, 0.2, 0.3, 0.4], FocalSets.full(2))
    array([1. , 0.4, 0.3, 0.1])
    """
    return unchecked_mass_apart(check_masses(masses, focal_sets), focal_sets)


def unchecked_mass_apart(masses: Masses, focal_sets: FocalSets) -> Masses:
    """`mass_apart` of numbers that are known to be right."""
    if not is_fast(focal_sets):
        return np.asarray(masses @ focal_sets.disjoint.astype(np.float64))
    # Two sets meet in the first clusters, or in the others: C is a Kronecker product.
    n_low = focal_sets.n_clusters // 2
    low, high = _all_disjoint(n_low), _all_disjoint(focal_sets.n_clusters - n_low)
    parts = np.matmul(high, masses.reshape(-1, len(high), len(low)))
    return (parts.reshape(-1, len(low)) @ low).reshape(masses.shape)


def is_fast(focal_sets: FocalSets) -> bool:
    """Whether `mass_apart` takes less time than a product with C."""
    return len(focal_sets) >= _MIN_FAST and focal_sets.is_full


@lru_cache
def _all_disjoint(n_clusters: int) -> Masses:
    """C of all subsets of so many clusters."""
    return FocalSets.full(n_clusters).disjoint.astype(np.float64)


@refuses_by_name
def conflict(first: ArrayLike, second: ArrayLike, focal_sets: FocalSets) -> Masses:
    """Degree of conflict κ = m₁ᵀ C m₂ of two mass functions, row by row.

    Parameters
    ----------
    first, second : array-like of shape (..., n_focal_sets)
        Mass functions on the same focal sets; shapes broadcast.
    focal_sets : FocalSets
        What the columns stand for.

    Returns
    -------
    array of shape (...,)

    Examples
    --------
    >>> from credalis.belief import FocalSets, conflict
    >>> focal_sets = FocalSets.full(2)
    >>> round(float(conflict([0.1, 0.2, 0.3, 0.4], [0.05, 0.6, 0.25, 0.1],
    ...                      focal_sets)), 6)
    0.375
    """
    first, second = check_both(first, second, focal_sets)
    return np.einsum("...j,...j->...", mass_apart(first, focal_sets), second)


@refuses_by_name
def conflict_matrix(
    first: ArrayLike, focal_sets: FocalSets, second: ArrayLike | None = None
) -> Masses:
    """Degrees of conflict of all pairs of rows, ``first @ C @ second.T``.

    Parameters
    ----------
    first : array-like of shape (n, n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.
    second : array-like of shape (m, n_focal_sets), default=None
        Other mass functions; None stands for `first` itself.

    Returns
    -------
    array of shape (n, m)
    """
    first = check_rows(first, focal_sets)
    other = first if second is None else check_rows(second, focal_sets)
    return mass_apart(first, focal_sets) @ other.T


@refuses_by_name
def conjunctive(
    first: ArrayLike,
    first_focal_sets: FocalSets,
    second: ArrayLike,
    second_focal_sets: FocalSets | None = None,
) -> tuple[Masses, FocalSets]:
    """Unnormalised conjunctive rule: (m₁ ∩ m₂)(A) = Σ m₁(B) m₂(C) over B ∩ C = A.

    Both sources are reliable; what they agree on is what is left, and what they
    contradict each other on goes to ∅.

    Parameters
    ----------
    first : array-like of shape (..., n_focal_sets)
        Mass functions of the first source.
    first_focal_sets : FocalSets
        What the columns of `first` stand for.
    second : array-like of shape (..., n_second_focal_sets)
        Mass functions of the second source; leading axes broadcast.
    second_focal_sets : FocalSets, default=None
        What the columns of `second` stand for; None: the same as the first.

    Returns
    -------
    masses : array of shape (..., n_result_focal_sets)
    focal_sets : FocalSets
        All sets that can arise: the full list in binary order if both lists are the
        full one, else by cardinality and then lexicographically.
    """
    return _combine(
        first,
        first_focal_sets,
        second,
        second_focal_sets,
        set_operation=np.bitwise_and,
        transform=masses_to_commonality,
        inverse=commonality_to_masses,
    )


@refuses_by_name
def disjunctive(
    first: ArrayLike,
    first_focal_sets: FocalSets,
    second: ArrayLike,
    second_focal_sets: FocalSets | None = None,
) -> tuple[Masses, FocalSets]:
    """Disjunctive rule: (m₁ ∪ m₂)(A) = Σ m₁(B) m₂(C) over B ∪ C = A.

    At least one of the sources is reliable.

    Parameters
    ----------
    first, second : array-like of shape (..., n_focal_sets)
        Mass functions of the two sources, one per row.
    first_focal_sets, second_focal_sets : FocalSets
        What their columns stand for; the second are the first ones if not given.

    Returns
    -------
    tuple of (ndarray, FocalSets)
    """
    return _combine(
        first,
        first_focal_sets,
        second,
        second_focal_sets,
        set_operation=np.bitwise_or,
        transform=masses_to_implicability,
        inverse=implicability_to_masses,
    )


@refuses_by_name
def dempster(
    first: ArrayLike,
    first_focal_sets: FocalSets,
    second: ArrayLike,
    second_focal_sets: FocalSets | None = None,
) -> tuple[Masses, FocalSets]:
    """Dempster's rule: the conjunctive rule, normalised.

    Parameters
    ----------
    first, second : array-like of shape (..., n_focal_sets)
        Mass functions of the two sources, one per row.
    first_focal_sets, second_focal_sets : FocalSets
        What their columns stand for; the second are the first ones if not given.

    Returns
    -------
    tuple of (ndarray, FocalSets)

    Raises
    ------
    ValueError
        If two mass functions are in total conflict: the rule is undefined.
    """
    combined = conjunctive(first, first_focal_sets, second, second_focal_sets)
    return normalized_product("first and second", *combined)


def normalized_product(
    names: str, masses: Masses, focal_sets: FocalSets
) -> tuple[Masses, FocalSets]:
    """What the conjunctive rule has found, normalised; a ValueError if nothing is."""
    n_total = int((nonempty_mass(masses, focal_sets) <= EMPTY_TOLERANCE).sum())
    if n_total:
        raise ValueError(
            f"{names} must hold mass functions that are not in total conflict, "
            f"got {n_total} pair(s) with conflict 1"
        )
    return dempster_normalize(masses, focal_sets)


def _combine(
    first: ArrayLike,
    first_focal_sets: FocalSets,
    second: ArrayLike,
    second_focal_sets: FocalSets | None,
    *,
    set_operation: np.ufunc,
    transform: Callable[[ArrayLike], Masses],
    inverse: Callable[[ArrayLike], Masses],
) -> tuple[Masses, FocalSets]:
    """Mass of ``set_operation(B, C)`` summed over all B and C."""
    check_focal_sets("first_focal_sets", first_focal_sets)
    if second_focal_sets is None:
        second_focal_sets = first_focal_sets
    check_focal_sets("second_focal_sets", second_focal_sets)
    if second_focal_sets.n_clusters != first_focal_sets.n_clusters:
        raise ValueError(
            "second_focal_sets must be about the same clusters: expected "
            f"{first_focal_sets.n_clusters}, got {second_focal_sets.n_clusters}"
        )
    first = check_masses(first, first_focal_sets)
    second = check_masses(second, second_focal_sets)
    shape = check_broadcast(first, second)

    # From two clusters on the transforms are the cheaper way: c 2^c against 4^c.
    if first_focal_sets.is_full and second_focal_sets.is_full:
        product = inverse(transform(first) * transform(second))
        # Differences of commonalities leave rounding errors of either sign.
        return np.maximum(product, 0.0), first_focal_sets

    targets, focal_sets = _targets(first_focal_sets, second_focal_sets, set_operation)
    masses = np.zeros((*shape, len(focal_sets)))
    for j, columns in enumerate(targets):
        order = np.argsort(columns, kind="stable")
        reached, starts = np.unique(columns[order], return_index=True)
        products = first[..., j, None] * second[..., order]
        masses[..., reached] += np.add.reduceat(products, starts, axis=-1)
    return masses, focal_sets


def _targets(
    first: FocalSets, second: FocalSets, set_operation: np.ufunc
) -> tuple[NDArray[np.intp], FocalSets]:
    """Which resulting focal set each pair of focal sets leads to, and their list."""
    codes = set_operation.outer(_binary_codes(first), _binary_codes(second))
    distinct, inverse = np.unique(codes, return_inverse=True)
    subsets = [
        tuple(k for k in range(first.n_clusters) if code >> k & 1)
        for code in distinct.tolist()
    ]
    order = sorted(range(len(subsets)), key=lambda j: (len(subsets[j]), subsets[j]))
    position = np.argsort(order)
    focal_sets = FocalSets(first.n_clusters, tuple(subsets[j] for j in order))
    return position[inverse].reshape(codes.shape), focal_sets


def _binary_codes(focal_sets: FocalSets) -> NDArray[Any]:
    """Bit k of number j: is cluster k in focal set j?"""
    codes = [sum(1 << k for k in subset) for subset in focal_sets.subsets]
    # Beyond 63 clusters Python's own integers take over.
    return np.array(codes, dtype=np.int64 if focal_sets.n_clusters < 64 else object)
