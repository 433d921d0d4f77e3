"""The scale of clusters in data that may hold gross outliers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from credalis.cluster._medoids import k_medoids

# This share of the objects counts as ordinary when the scale is measured.
_ORDINARY_SHARE = 0.95

# Objects farther than this many times the scale from all centres start no cluster.
_FAR = 3.0

# The centres that give the scale are found on a sample of at most this many objects.
_MAX_SAMPLE = 2000

_MAX_NEIGHBORS = 10


@dataclass(frozen=True, eq=False)
class Scale:
    """How far objects usually are from the centre of their cluster.

    Attributes
    ----------
    distance : float
        The 0.95 quantile of the distances to the nearest centre.
    is_near : array of bool, shape (n_samples,)
        Objects within three times this distance of a centre.
    """

    distance: float
    is_near: NDArray[np.bool_]


def robust_scale(
    X: NDArray[np.float64], n_clusters: int, rng: np.random.RandomState
) -> Scale:
    """Distances to the k-means centres of the objects that are not isolated.

    A gross outlier attracts a centre of k-means to itself; leaving out the objects
    whose neighbours are farthest away keeps the centres with the clusters.
    """
    sample = X
    if len(X) > _MAX_SAMPLE:
        sample = X[rng.choice(len(X), _MAX_SAMPLE, replace=False)]
    core = without_isolated(sample, n_clusters)
    kmeans = KMeans(n_clusters, n_init=3, random_state=rng).fit(core)
    squared = cdist(X, kmeans.cluster_centers_, "sqeuclidean").min(axis=1)
    ordinary = np.quantile(squared, _ORDINARY_SHARE)
    if ordinary == 0:
        # Almost all objects sit on a centre: their spread is the only scale left.
        ordinary = squared.max() or X.var(axis=0).sum()
    is_near = squared <= _FAR**2 * ordinary
    if count_distinct(X[is_near], n_clusters) < n_clusters:
        is_near[:] = True
    return Scale(float(np.sqrt(ordinary)), is_near)


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
    n_neighbors = min(_MAX_NEIGHBORS, len(X) // (2 * n_clusters))
    if n_neighbors == 0:
        return X
    neighbors = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    reach = neighbors.kneighbors()[0][:, -1]
    core = X[reach <= np.quantile(reach, _ORDINARY_SHARE)]
    return core if count_distinct(core, n_clusters) >= n_clusters else X


@dataclass(frozen=True, eq=False)
class Core:
    """Hard clusters of the objects of a matrix that are not isolated.

    Attributes
    ----------
    objects : array of int, shape (n_core,)
        Row numbers of the objects.
    labels : array of int, shape (n_core,)
        Their clusters.
    medoids : array of int, shape (n_clusters,)
        Row numbers of the medoids.
    """

    objects: NDArray[np.intp]
    labels: NDArray[np.intp]
    medoids: NDArray[np.intp]

    @property
    def shares(self) -> NDArray[np.float64]:
        """1 / size of its cluster for each object, (n_clusters, n_core)."""
        members = self.labels == np.arange(len(self.medoids))[:, None]
        return members / np.maximum(members.sum(axis=1, keepdims=True), 1)


def core_of(
    matrix: NDArray[np.float64], n_clusters: int, rng: np.random.RandomState
) -> Core:
    """Medoids of a sample of the objects, those with far neighbours left out."""
    objects = np.arange(len(matrix))
    if len(matrix) > _MAX_SAMPLE:
        objects = rng.choice(len(matrix), _MAX_SAMPLE, replace=False)
    n_neighbors = min(_MAX_NEIGHBORS, len(objects) // (2 * n_clusters))
    if n_neighbors > 0:
        between = matrix[np.ix_(objects, objects)]
        reach = np.partition(between, n_neighbors, axis=1)[:, n_neighbors]
        core = objects[reach <= np.quantile(reach, _ORDINARY_SHARE)]
        objects = core if len(core) >= n_clusters else objects
    medoids, labels = k_medoids(matrix[np.ix_(objects, objects)], n_clusters, rng)
    return Core(objects, labels, objects[medoids])


def ordinary_value(values: NDArray[np.float64], fallback: float) -> float:
    """The 0.95 quantile of values, or what is next to it if that is 0."""
    ordinary = float(np.quantile(values, _ORDINARY_SHARE))
    return ordinary or float(values.max()) or fallback or 1.0


def objects_near(
    values: NDArray[np.float64], enough: int, *, are_squared: bool
) -> NDArray[np.intp]:
    """Objects within three times the ordinary distance, all if they are too few."""
    limit = (_FAR**2 if are_squared else _FAR) * ordinary_value(values, 0.0)
    near = np.flatnonzero(values <= limit)
    return near if len(near) >= enough else np.arange(len(values))
