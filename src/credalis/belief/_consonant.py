"""Consonant mass functions from contour functions and from probabilities."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_distributions, check_numbers
from credalis._refusals import refuses_by_name
from credalis.belief._focal_sets import FocalSets
from credalis.belief._transforms import Masses


@refuses_by_name
def consonant_masses(contour: ArrayLike) -> tuple[Masses, FocalSets]:
    """The consonant mass function with a given contour function.

    The k most plausible clusters together get pl₍k₎ - pl₍k+1₎, and ∅ gets 1 - pl₍1₎. Of
    all mass functions with this contour function, it is the q-least committed one.

    Parameters
    ----------
    contour : array-like of shape (..., n_clusters)
        Plausibilities of the clusters, in [0, 1].

    Returns
    -------
    masses : array of shape (..., n_focal_sets)
    focal_sets : FocalSets
        The sets that carry mass in some row, by cardinality and then
        lexicographically.

    References
    ----------
    Dubois, D., Prade, H., Smets, P. (2008). A definition of subjective possibility.
    Int. J. of Approximate Reasoning 48, 352-364.

    Examples
    --------
    >>> from credalis.belief import consonant_masses
    >>> masses, focal_sets = consonant_masses([0.5, 1.0, 0.25])
    >>> focal_sets.names, masses
    (('{1}', '{0,1}', 'Ω'), array([0.5 , 0.25, 0.25]))
    """
    array = _check_rows("contour", contour)
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError("contour must lie between 0 and 1, got other values")
    rows = array.reshape(-1, array.shape[-1])
    order, ranked = _ranked(rows)
    steps = np.concatenate(
        [1.0 - ranked[:, :1], ranked[:, :-1] - ranked[:, 1:], ranked[:, -1:]], axis=1
    )
    masses, focal_sets = _on_chains(steps, order)
    return masses.reshape(*array.shape[:-1], len(focal_sets)), focal_sets


@refuses_by_name
def isopignistic_masses(probabilities: ArrayLike) -> tuple[Masses, FocalSets]:
    """The least committed mass function with given pignistic probabilities.

    It is consonant: the k most probable clusters together get k (p₍k₎ - p₍k+1₎). Its
    contour function is pl(ω) = Σ min(p(ω), p(ω')) over all ω'.

    Parameters
    ----------
    probabilities : array-like of shape (..., n_clusters)
        Rows that sum to 1.

    Returns
    -------
    masses : array of shape (..., n_focal_sets)
    focal_sets : FocalSets
        The sets that carry mass in some row, by cardinality and then
        lexicographically.

    References
    ----------
    Dubois, D., Prade, H., Smets, P. (2008). A definition of subjective possibility.
    Int. J. of Approximate Reasoning 48, 352-364.

    Examples
    --------
    >>> from credalis.belief import isopignistic_masses, pignistic
    >>> masses, focal_sets = isopignistic_masses([0.25, 0.75])
    >>> focal_sets.names, masses
    (('{1}', 'Ω'), array([0.5, 0.5]))
    >>> pignistic(masses, focal_sets)
    array([0.25, 0.75])
    """
    array = _check_rows("probabilities", probabilities)
    rows = array.reshape(-1, array.shape[-1])
    check_distributions("probabilities", rows)
    order, ranked = _ranked(np.maximum(rows, 0.0))
    sizes = np.arange(1, ranked.shape[1] + 1)
    below = np.concatenate([ranked[:, 1:], np.zeros((len(ranked), 1))], axis=1)
    steps = np.concatenate([np.zeros((len(ranked), 1)), sizes * (ranked - below)], 1)
    masses, focal_sets = _on_chains(steps, order)
    return masses.reshape(*array.shape[:-1], len(focal_sets)), focal_sets


def _check_rows(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = check_numbers(name, values)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise ValueError(
            f"{name} must have one column for each cluster, got shape {array.shape}"
        )
    return array


def _ranked(rows: Masses) -> tuple[NDArray[np.intp], Masses]:
    """Clusters of each row from the largest value down, and the values."""
    order = np.argsort(-rows, axis=1, kind="stable")
    return order, np.take_along_axis(rows, order, axis=1)


def _on_chains(steps: Masses, order: NDArray[np.intp]) -> tuple[Masses, FocalSets]:
    """Masses ``steps[i, k]`` of the first k clusters of ``order[i]``, on one list."""
    n_rows, n_clusters = order.shape
    ranks = np.argsort(order, axis=1)
    # Equal values leave sets without mass: the order among them does not matter.
    row, size = np.nonzero(steps)
    members = ranks[row] < size[:, None]
    distinct, inverse = np.unique(members, axis=0, return_inverse=True)
    subsets = [tuple(np.flatnonzero(chosen).tolist()) for chosen in distinct]
    by_size = sorted(range(len(subsets)), key=lambda j: (len(subsets[j]), subsets[j]))
    if not by_size:  # no rows
        return np.zeros((n_rows, 1)), FocalSets(n_clusters, (tuple(range(n_clusters)),))
    masses = np.zeros((n_rows, len(subsets)))
    masses[row, np.argsort(by_size)[inverse.reshape(-1)]] = steps[row, size]
    return masses, FocalSets(n_clusters, tuple(subsets[j] for j in by_size))
