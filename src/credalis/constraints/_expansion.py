"""Constraints handed on to neighbours."""

from collections import defaultdict
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import DisjointSet
from sklearn.neighbors import NearestNeighbors

from credalis._checks import check_finite, check_integer, check_numbers, try_metric
from credalis._refusals import refuses_by_name
from credalis.constraints._pairs import (
    Links,
    Pairs,
    PairsLike,
    check_constraints,
    in_order,
)

Metric = str | Callable[..., float]


@refuses_by_name
def expand(
    must_link: PairsLike,
    cannot_link: PairsLike,
    X: ArrayLike,
    *,
    n_neighbors: int = 1,
    metric: Metric = "euclidean",
) -> Links:
    """Hand constraints on to the neighbours of the constrained objects.

    With N(i) the object i and its K nearest neighbours, a constraint (i, j) is handed
    on to the K pairs (a, b) of N(i) × N(j), other than (i, j), of smallest
    d(a, i) + d(b, j). Of these, pairs of an object with itself are dropped, and then,
    by increasing sum (must-links first among equals), every pair that disagrees with
    the given ones and the added ones before it, directly or through a chain of
    must-links. Given pairs are never dropped; the result is free of contradictions.

    Parameters
    ----------
    must_link, cannot_link : array-like of shape (n_pairs, 2) or None
        Pairs of row numbers; ValueError if they disagree.
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The objects, or their distances if `metric` is "precomputed".
    n_neighbors : int, default=1
        Number K of neighbours, and of pairs that a constraint can add.
    metric : str or callable, default="euclidean"
        "precomputed", or a metric of scikit-learn's `NearestNeighbors`.

    Returns
    -------
    must_link, cannot_link : ndarray of intp of shape (n_pairs, 2)
        Given and added pairs, in order.

    References
    ----------
    F. Li, S. Li and T. Denœux (2018). k-CEVCLUS: Constrained evidential clustering of
    large dissimilarity data. Knowledge-Based Systems 142, 29-44.

    Examples
    --------
    >>> from credalis.constraints import expand
    >>> X = [[0.0], [0.1], [5.0], [5.3], [9.0]]
    >>> must_link, cannot_link = expand([(2, 4)], [(0, 2)], X)
    >>> must_link.tolist(), cannot_link.tolist()
    ([[2, 4], [3, 4]], [[0, 2], [1, 2]])
    """
    X = _check_data(X, metric)
    must, cannot = check_constraints(must_link, cannot_link, len(X))
    given = np.concatenate([must, cannot])
    k = check_integer("n_neighbors", n_neighbors, at_least=1, at_most=len(X) - 1)
    if not len(given):
        return must, cannot
    added, costs = _pairs_of_neighbors(given, X, k, metric)
    order = np.argsort(costs, axis=None, kind="stable")
    is_must = np.arange(len(given)) < len(must)
    is_must = np.concatenate([is_must, is_must.repeat(k)[order]])
    pairs = np.concatenate([given, added.reshape(-1, 2)[order]])
    agree = _agreement(pairs, is_must)
    return in_order(pairs[agree & is_must]), in_order(pairs[agree & ~is_must])


def _check_data(X: ArrayLike, metric: Metric) -> NDArray[np.float64]:
    """Objects (n_samples, n_features), or distances (n_samples, n_samples)."""
    array = check_numbers("X", X)
    if array.ndim != 2 or len(array) < 2 or array.shape[1] < 1:
        raise ValueError(f"X must have two rows or more, got shape {array.shape}")
    check_finite("X", array)
    try_metric(metric, array)
    if metric != "precomputed":
        return array
    if len(array) != array.shape[1]:
        raise ValueError(f"X must be square (distances), got shape {array.shape}")
    for expected, gap in (
        (">= 0", -array.min()),
        ("0 in the diagonal", np.abs(array.diagonal()).max()),
        ("symmetric", np.abs(array - array.T).max()),
    ):
        if gap > 1e-8 * array.max():
            raise ValueError(f"X must be {expected} (distances), is off by {gap:.3g}")
    return np.maximum(array, 0.0)


def _pairs_of_neighbors(
    given: Pairs, X: NDArray[np.float64], k: int, metric: Metric
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The k pairs (a, b) near each (i, j), (n_given, k, 2), and d(a, i) + d(b, j)."""
    objects, ends = np.unique(given, return_inverse=True)
    search = NearestNeighbors(n_neighbors=k + 1, metric=metric).fit(X)
    distances, rows = search.kneighbors(X[objects])
    # The object itself goes first, even if duplicates came before it or in its place.
    is_other = rows != objects[:, None]
    is_other[is_other.all(axis=1), -1] = False
    rows = np.column_stack([objects, rows[is_other].reshape(-1, k)])
    distances = np.column_stack([0.0 * objects, distances[is_other].reshape(-1, k)])
    # Let a and b be the r-th and s-th of their lists, from 1. The r s - 1 other pairs
    # up to there cost no more; k of them, (i, j) not counted, rule (a, b) out.
    ranks = np.arange(1, k + 2)
    candidates = np.argwhere(np.outer(ranks, ranks) <= k + 1)[1:]
    costs = distances[ends.reshape(-1, 2, 1), candidates.T].sum(axis=1)
    best = np.argsort(costs, axis=1, kind="stable")[:, :k]
    pairs = rows[ends.reshape(-1, 1, 2), candidates[best]]
    return pairs, np.take_along_axis(costs, best, axis=1)


def _agreement(pairs: Pairs, is_must: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Boolean (n_pairs,): does it join two objects, and agree with those before it?"""
    groups = DisjointSet(np.unique(pairs).tolist())
    enemies: defaultdict[int, set[int]] = defaultdict(set)  # groups by their roots
    agree = pairs[:, 0] != pairs[:, 1]
    for k in np.flatnonzero(agree):
        one, other = (groups[row] for row in pairs[k].tolist())
        agree[k] = other not in enemies[one] if is_must[k] else one != other
        if agree[k] and not is_must[k]:
            enemies[one].add(other)
            enemies[other].add(one)
        elif agree[k] and groups.merge(one, other):
            root = groups[one]
            gone = other if root == one else one
            for enemy in enemies.pop(gone, set()):
                enemies[enemy].add(root)
                enemies[root].add(enemy)
    return agree
