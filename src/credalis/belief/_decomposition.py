"""Canonical decomposition of mass functions, and the rules that rest on it."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from credalis._checks import check_distributions, check_numbers
from credalis._refusals import refuses_by_name
from credalis.belief._focal_sets import FocalSets, check_focal_sets
from credalis.belief._lists import check_mass_functions, on_all_subsets
from credalis.belief._mobius import (
    commonality_to_masses,
    implicability_to_masses,
    masses_to_commonality,
    masses_to_implicability,
)
from credalis.belief._transforms import Masses, check_broadcast


@refuses_by_name
def conjunctive_weights(masses: ArrayLike, focal_sets: FocalSets) -> Masses:
    """Weights w(A) of the conjunctive canonical decomposition.

    w(A) = Π Q(B)^((-1)^(|B|-|A|+1)) over B ⊇ A, for A ≠ Ω. The mass function is
    the conjunctive combination of m_A(A) = 1 - w(A), m_A(Ω) = w(A) over all A; a
    weight above 1 is a debt of belief. If all are at most 1, it is separable.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions with mass on Ω (non-dogmatic ones).
    focal_sets : FocalSets
        What the columns stand for; at most 12 clusters.

    Returns
    -------
    array of shape (..., 2 ** n_clusters)
        Weights in the order of `FocalSets.full`. That of Ω, which has none, is 1.

    References
    ----------
    Smets, P. (1995). The canonical decomposition of a weighted belief. IJCAI 14,
    1896-1901.

    Examples
    --------
    >>> from credalis.belief import FocalSets, conjunctive_weights
    >>> conjunctive_weights([0.0, 0.6, 0.0, 0.4], FocalSets.full(2))
    array([1. , 0.4, 1. , 1. ])
    """
    every = on_all_subsets(
        "focal_sets", check_mass_functions("masses", masses, focal_sets), focal_sets
    )
    _check_carried(every[..., -1], "Ω", "dogmatic")
    logarithms = -commonality_to_masses(np.log(masses_to_commonality(every)))
    logarithms[..., -1] = 0.0
    return _weights(logarithms)


@refuses_by_name
def conjunctive_weights_to_masses(weights: ArrayLike) -> Masses:
    """Inverse of `conjunctive_weights`.

    Parameters
    ----------
    weights : array-like of shape (..., 2 ** n_clusters)
        Positive weights in the order of `FocalSets.full`; that of Ω is not used.

    Returns
    -------
    array of shape (..., 2 ** n_clusters)
        Masses in the order of `FocalSets.full`.

    Raises
    ------
    ValueError
        If the weights above 1 are too large to be those of a mass function.
    """
    logarithms = _log_weights(weights)
    logarithms[..., -1] = 0.0
    # A set lowers the commonality of the sets that it does not contain.
    total = logarithms.sum(axis=-1, keepdims=True)
    sums = total - masses_to_commonality(logarithms)
    return _inverted(sums, commonality_to_masses)


@refuses_by_name
def disjunctive_weights(masses: ArrayLike, focal_sets: FocalSets) -> Masses:
    """Weights v(A) of the disjunctive canonical decomposition.

    v(A) = Π b(B)^((-1)^(|A|-|B|+1)) over B ⊆ A, for A ≠ ∅. The mass function is
    the disjunctive combination of m_A(A) = 1 - v(A), m_A(∅) = v(A) over all A.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions with mass on ∅ (subnormal ones).
    focal_sets : FocalSets
        What the columns stand for; at most 12 clusters.

    Returns
    -------
    array of shape (..., 2 ** n_clusters)
        Weights in the order of `FocalSets.full`. That of ∅, which has none, is 1.

    References
    ----------
    Denœux, T. (2008). Conjunctive and disjunctive combination of belief functions
    induced by nondistinct bodies of evidence. Artificial Intelligence 172, 234-264.
    """
    every = on_all_subsets(
        "focal_sets", check_mass_functions("masses", masses, focal_sets), focal_sets
    )
    _check_carried(every[..., 0], "∅", "normal")
    logarithms = -implicability_to_masses(np.log(masses_to_implicability(every)))
    logarithms[..., 0] = 0.0
    return _weights(logarithms)


@refuses_by_name
def disjunctive_weights_to_masses(weights: ArrayLike) -> Masses:
    """Inverse of `disjunctive_weights`.

    Parameters
    ----------
    weights : array-like of shape (..., 2 ** n_clusters)
        Positive weights in the order of `FocalSets.full`; that of ∅ is not used.

    Returns
    -------
    array of shape (..., 2 ** n_clusters)
        Masses in the order of `FocalSets.full`.

    Raises
    ------
    ValueError
        If the weights above 1 are too large to be those of a mass function.
    """
    logarithms = _log_weights(weights)
    logarithms[..., 0] = 0.0
    total = logarithms.sum(axis=-1, keepdims=True)
    sums = total - masses_to_implicability(logarithms)
    return _inverted(sums, implicability_to_masses)


@refuses_by_name
def cautious(
    first: ArrayLike,
    first_focal_sets: FocalSets,
    second: ArrayLike,
    second_focal_sets: FocalSets | None = None,
) -> tuple[Masses, FocalSets]:
    """Cautious rule: the smaller of the two conjunctive weights of each set.

    For reliable sources that may share their evidence: what both say counts once, and
    a source combined with itself is the same source.

    Parameters
    ----------
    first : array-like of shape (..., n_focal_sets)
        Mass functions of the first source, with mass on Ω.
    first_focal_sets : FocalSets
        What the columns of `first` stand for; at most 12 clusters.
    second : array-like of shape (..., n_second_focal_sets)
        Mass functions of the second source, with mass on Ω; leading axes broadcast.
    second_focal_sets : FocalSets, default=None
        What the columns of `second` stand for; None: the same as the first.

    Returns
    -------
    masses : array of shape (..., 2 ** n_clusters)
    focal_sets : FocalSets
        All subsets in binary order.

    References
    ----------
    Denœux, T. (2008). Conjunctive and disjunctive combination of belief functions
    induced by nondistinct bodies of evidence. Artificial Intelligence 172, 234-264.
    """
    second_focal_sets = _same_clusters(first_focal_sets, second_focal_sets)
    mine = conjunctive_weights(first, first_focal_sets)
    yours = conjunctive_weights(second, second_focal_sets)
    check_broadcast(mine, yours)
    weights = np.minimum(mine, yours)
    return (
        conjunctive_weights_to_masses(weights),
        FocalSets.full(first_focal_sets.n_clusters),
    )


@refuses_by_name
def bold(
    first: ArrayLike,
    first_focal_sets: FocalSets,
    second: ArrayLike,
    second_focal_sets: FocalSets | None = None,
) -> tuple[Masses, FocalSets]:
    """Bold disjunctive rule: the smaller of the two disjunctive weights of each set.

    For sources that may share their evidence, at least one of them reliable.
    What `cautious` asks of Ω is asked of ∅ here: it must carry some mass.

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
    second_focal_sets = _same_clusters(first_focal_sets, second_focal_sets)
    mine = disjunctive_weights(first, first_focal_sets)
    yours = disjunctive_weights(second, second_focal_sets)
    check_broadcast(mine, yours)
    weights = np.minimum(mine, yours)
    return (
        disjunctive_weights_to_masses(weights),
        FocalSets.full(first_focal_sets.n_clusters),
    )


def _same_clusters(first: FocalSets, second: FocalSets | None) -> FocalSets:
    check_focal_sets("first_focal_sets", first)
    if second is None:
        return first
    check_focal_sets("second_focal_sets", second)
    if second.n_clusters != first.n_clusters:
        raise ValueError(
            "second_focal_sets must be about the same clusters: expected "
            f"{first.n_clusters}, got {second.n_clusters}"
        )
    return second


def _check_carried(masses: Masses, name: str, kind: str) -> None:
    n_without = int((masses <= 0).sum())
    if n_without:
        raise ValueError(
            f"masses must have mass on {name}, got {n_without} {kind} mass function(s)"
            + (": discount them first" if name == "Ω" else "")
        )


def _log_weights(weights: ArrayLike) -> Masses:
    array = check_numbers("weights", weights)
    n_sets = array.shape[-1] if array.ndim else 0
    if n_sets < 2 or n_sets & (n_sets - 1):
        raise ValueError(
            "weights must have 2 ** n_clusters columns, one for each subset, got "
            f"shape {array.shape}"
        )
    if not ((array > 0) & (array < np.inf)).all():
        raise ValueError("weights must be positive and finite, got others")
    return np.log(array)


def _weights(logarithms: Masses) -> Masses:
    with np.errstate(over="ignore"):
        weights = np.exp(logarithms)
    if not ((weights > 0) & (weights < np.inf)).all():
        raise ValueError(
            "masses must have weights that are float64 numbers, got weights of "
            f"10^{logarithms.min() / np.log(10):.0f} to "
            f"10^{logarithms.max() / np.log(10):.0f}: discount them first"
        )
    return weights


def _inverted(logarithms: Masses, invert: Callable[[ArrayLike], Masses]) -> Masses:
    """Masses from logarithms of commonalities or implicabilities."""
    with np.errstate(over="ignore"):
        values = np.exp(logarithms)
    try:
        masses = invert(values)
        check_distributions("masses", masses.reshape(-1, masses.shape[-1]))
    except ValueError as error:
        raise ValueError(
            f"weights must be those of a mass function, but {error}"
        ) from error
    # Differences leave rounding errors of either sign.
    return np.maximum(masses, 0.0)
