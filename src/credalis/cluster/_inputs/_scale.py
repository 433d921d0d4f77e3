"""Scales: of attributes, and of clusters in data that may hold gross outliers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches

from credalis import _archive

# Rows looked at together where one pass over the data is enough.
_BLOCK_ROWS = 10_000


# Deviations that objects may be away from the mean, as float32 numbers with room for
# sums and products. Those that are farther count as this far in their direction.
_MOST = 1e30


@dataclass(frozen=True, eq=False)
class Standardization(_archive.SavedFields):
    """x becomes (x - mean) / scale, column by column."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "mean": _archive.Array("f", ("n_inputs",)),
            "scale": _archive.Array("f", ("n_inputs",), above=0),
        }
    )

    @classmethod
    def of(cls, X: NDArray[np.float64]) -> "Standardization":
        """Means and standard deviations of X; a constant column is only centred."""
        # In units of the largest entry, so that no square over- or underflows.
        mean = X.mean(axis=0)
        unit = np.maximum(X.max(axis=0) - mean, mean - X.min(axis=0))
        unit[unit == 0] = 1.0
        squares = np.zeros(X.shape[1])
        for rows in gen_batches(len(X), _BLOCK_ROWS):
            squares += np.square((X[rows] - mean) / unit).sum(axis=0)
        deviation = unit * np.sqrt(squares / len(X))
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    @classmethod
    def alike(cls, X: NDArray[np.float64]) -> "Standardization":
        """One mean and one deviation for all columns, which belong together."""
        common = cls.of(X.reshape(-1, 1))
        n_features = X.shape[1]
        return cls(
            np.repeat(common.mean, n_features), np.repeat(common.scale, n_features)
        )

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standardise the rows of X; no result is infinite."""
        with np.errstate(over="ignore"):
            result = (X - self.mean) / self.scale
        if not (result.max(initial=0.0) < _MOST and result.min(initial=0.0) > -_MOST):
            is_far = np.abs(result).max(axis=1) >= _MOST
            deviations = X[is_far] - self.mean
            deviations /= np.abs(deviations).max(axis=1, keepdims=True)
            directions = deviations * (self.scale.min() / self.scale)
            directions /= np.abs(directions).max(axis=1, keepdims=True)
            result[is_far] = _MOST * directions
        return result


_archive.register(Standardization)


# This share of the objects counts as ordinary when the scale is measured.
ORDINARY_SHARE = 0.95

# Objects farther than this many times the scale from all centres start no cluster.
FAR = 3.0

# The centres that give the scale are found on a sample of at most this many objects,
# as the best of so many runs of k-means.
MAX_SAMPLE = 2000
_N_KMEANS = 10

MAX_NEIGHBORS = 10


@dataclass(frozen=True, eq=False)
class Scale:
    """How far objects usually are from the centre of their cluster.

    Attributes
    ----------
    distance : float
        The 0.95 quantile of the distances to the nearest centre.
    is_near : array of bool, shape (n_samples,)
        Objects within three times this distance of a centre.
    centers : array of shape (n_clusters, n_features)
        The centres.
    """

    distance: float
    is_near: NDArray[np.bool_]
    centers: NDArray[np.float64]

    def deviations(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """X - nearest centre, row by row."""
        return X - self.centers[cdist(X, self.centers).argmin(axis=1)]


# Squares of distances up to this, and sums of some of them, are numbers.
FARTHEST = 1e153


def within_reach(
    X: NDArray[np.float64], center: NDArray[np.float64], farthest: float = FARTHEST
) -> NDArray[np.float64]:
    """Rows that are too far away for squared distances, brought nearer to a centre.

    They stay in their direction, farther than all data: nothing that has a limit
    changes. The other rows, and X itself if there are no such, are left as they are.
    """
    reach = farthest / np.sqrt(X.shape[1])
    # Without a copy of all rows where none is far.
    if X.max(initial=0.0) < reach / 2 and X.min(initial=0.0) > -reach / 2:
        return X
    deviations = X - center
    lengths = np.abs(deviations).max(axis=1)
    is_far = lengths > reach
    if not is_far.any():
        return X
    near = X.copy()
    near[is_far] = center + deviations[is_far] / lengths[is_far, None] * reach
    return near


def robust_scale(
    X: NDArray[np.float64], n_clusters: int, rng: np.random.RandomState
) -> Scale:
    """Distances to robust centres of k-means."""
    sample = X
    if len(X) > MAX_SAMPLE:
        sample = X[rng.choice(len(X), MAX_SAMPLE, replace=False)]
    centers = robust_centers(sample, n_clusters, rng)
    squared = cdist(X, centers, "sqeuclidean").min(axis=1)
    ordinary = np.quantile(squared, ORDINARY_SHARE)
    if ordinary == 0:
        # Almost all objects sit on a centre: their spread is the only scale left.
        ordinary = squared.max() or X.var(axis=0).sum() or 1.0
    is_near = squared <= FAR**2 * ordinary
    if count_distinct(X[is_near], n_clusters) < n_clusters:
        is_near[:] = True
    return Scale(float(np.sqrt(ordinary)), is_near, centers)


def robust_centers(
    X: NDArray[np.float64], n_clusters: int, rng: np.random.RandomState
) -> NDArray[np.float64]:
    """Centres by k-means of all rows of X, or of those that are not isolated.

    Gross outliers draw centres to themselves; without them, the other centres are
    where the objects are. But in small clusters many objects are isolated. The mean
    distance tells which is better, with the extent of the objects that are not isolated
    as the largest that counts.
    """
    core = without_isolated(X, n_clusters)
    found = [
        KMeans(n_clusters, n_init=_N_KMEANS, random_state=rng)
        .fit(rows)
        .cluster_centers_
        for rows in (core, X)
    ]
    extent = cdist(core, found[0]).max()
    costs = [np.minimum(cdist(X, each).min(axis=1), extent).mean() for each in found]
    return found[int(np.argmin(costs))]


def count_distinct(X: NDArray[np.float64], enough: int) -> int:
    """Number of distinct rows of X, counting no further than needed."""
    n_rows = 2 * enough
    # Usually the first rows are enough, and sorting rows of many columns is slow.
    distinct = X[:1]
    for row in X[1:n_rows]:
        if len(distinct) < enough and not (distinct == row).all(axis=1).any():
            distinct = np.vstack([distinct, row])
    if len(distinct) >= enough:
        return len(distinct)
    while True:
        n_distinct = len(np.unique(X[:n_rows], axis=0))
        if n_distinct >= enough or n_rows >= len(X):
            return n_distinct
        n_rows *= 4


def without_isolated(X: NDArray[np.float64], n_clusters: int) -> NDArray[np.float64]:
    """X without the rows whose k-th neighbour is farthest away, clusters permitting."""
    n_neighbors = min(MAX_NEIGHBORS, len(X) // (2 * n_clusters))
    if n_neighbors == 0:
        return X
    neighbors = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    reach = neighbors.kneighbors()[0][:, -1]
    core = X[reach <= np.quantile(reach, ORDINARY_SHARE)]
    return core if count_distinct(core, n_clusters) >= n_clusters else X
