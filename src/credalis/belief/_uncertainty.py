"""How much a mass function leaves open, and of which kind it is."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_number
from credalis._refusals import refuses_by_name
from credalis.belief._focal_sets import FocalSets
from credalis.belief._transforms import Masses, check_masses

# Masses up to this are taken for zero when the kind of a mass function is asked for.
ZERO_TOLERANCE = 1e-12


@refuses_by_name
def nonspecificity(masses: ArrayLike, focal_sets: FocalSets) -> Masses:
    """N(m) = Σ m(A) log₂|A| over non-empty A, plus m(∅) log₂ c, in bits.

    ∅ counts as Ω: an outlier is as unspecific as an object nothing is known about.
    Divide by log₂ c for a value in [0, 1].

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.

    Returns
    -------
    array of shape (...,)
    """
    return check_masses(masses, focal_sets) @ np.log2(_open_choices(focal_sets))


@refuses_by_name
def entropy(masses: ArrayLike, focal_sets: FocalSets) -> Masses:
    """H(m) = Σ m(A) log₂(|A| / m(A)), in bits, with |∅| counted as c.

    The nonspecificity plus the Shannon entropy of the masses: it is zero only for
    a certain mass function.

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
    positive = masses > 0
    logarithms = np.log2(np.where(positive, masses, 1.0))
    return nonspecificity(masses, focal_sets) - (masses * logarithms).sum(axis=-1)


@refuses_by_name
def is_normalized(
    masses: ArrayLike, focal_sets: FocalSets, *, tol: float = ZERO_TOLERANCE
) -> NDArray[np.bool_]:
    """Whether nothing is on ∅, row by row.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    tol : float, default=1e-12
        Masses of no more than this count as none.

    Returns
    -------
    ndarray of bool, shape (...,)
    """
    carried = _carried(masses, focal_sets, tol)
    return ~(carried & (focal_sets.cardinality == 0)).any(axis=-1)


@refuses_by_name
def is_logical(
    masses: ArrayLike, focal_sets: FocalSets, *, tol: float = ZERO_TOLERANCE
) -> NDArray[np.bool_]:
    """Whether all mass is on one focal set, row by row.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    tol : float, default=1e-12
        Masses of no more than this count as none.

    Returns
    -------
    ndarray of bool, shape (...,)
    """
    return _carried(masses, focal_sets, tol).sum(axis=-1) == 1


@refuses_by_name
def is_bayesian(
    masses: ArrayLike, focal_sets: FocalSets, *, tol: float = ZERO_TOLERANCE
) -> NDArray[np.bool_]:
    """Whether all mass is on singletons, row by row.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    tol : float, default=1e-12
        Masses of no more than this count as none.

    Returns
    -------
    ndarray of bool, shape (...,)
    """
    carried = _carried(masses, focal_sets, tol)
    return ~(carried & (focal_sets.cardinality != 1)).any(axis=-1)


@refuses_by_name
def is_certain(
    masses: ArrayLike, focal_sets: FocalSets, *, tol: float = ZERO_TOLERANCE
) -> NDArray[np.bool_]:
    """Whether all mass is on one singleton, row by row.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    tol : float, default=1e-12
        Masses of no more than this count as none.

    Returns
    -------
    ndarray of bool, shape (...,)
    """
    return is_logical(masses, focal_sets, tol=tol) & is_bayesian(
        masses, focal_sets, tol=tol
    )


@refuses_by_name
def is_vacuous(
    masses: ArrayLike, focal_sets: FocalSets, *, tol: float = ZERO_TOLERANCE
) -> NDArray[np.bool_]:
    """Whether all mass is on Ω, row by row.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    tol : float, default=1e-12
        Masses of no more than this count as none.

    Returns
    -------
    ndarray of bool, shape (...,)
    """
    carried = _carried(masses, focal_sets, tol)
    on_frame = focal_sets.cardinality == focal_sets.n_clusters
    return carried.any(axis=-1) & ~(carried & ~on_frame).any(axis=-1)


@refuses_by_name
def is_consonant(
    masses: ArrayLike, focal_sets: FocalSets, *, tol: float = ZERO_TOLERANCE
) -> NDArray[np.bool_]:
    """Whether the sets that carry mass form a chain, row by row.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    tol : float, default=1e-12
        Masses of no more than this count as none.

    Returns
    -------
    ndarray of bool, shape (...,)
    """
    carried = _carried(masses, focal_sets, tol).astype(float)
    members = focal_sets.membership.astype(float)
    includes = (1.0 - members) @ members.T == 0
    incomparable = ~(includes | includes.T)
    clashes = np.einsum("...j,...j->...", carried @ incomparable, carried)
    return clashes == 0


def _open_choices(focal_sets: FocalSets) -> NDArray[np.intp]:
    """Number of clusters a focal set leaves open, shape (n_focal_sets,)."""
    cardinality = focal_sets.cardinality
    return np.where(cardinality == 0, focal_sets.n_clusters, cardinality)


def _carried(masses: ArrayLike, focal_sets: FocalSets, tol: float) -> NDArray[np.bool_]:
    return check_masses(masses, focal_sets) > check_number("tol", tol, at_least=0)
