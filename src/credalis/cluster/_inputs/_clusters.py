"""Hard clusters that a method starts from, and how wide they are.

The data may hold gross outliers, which are no clusters of their own.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import ClusterWarning
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.preprocessing import normalize

from credalis._checks import check_lengths
from credalis._neighbors import nearest_neighbors
from credalis.cluster._inputs._geometry import Geometry
from credalis.cluster._inputs._medoids import (
    FAR,
    MAX_NEIGHBORS,
    MAX_SAMPLE,
    ORDINARY_SHARE,
    k_medoids,
)

Array = NDArray[np.float64]

# Objects that are clustered: so many, more of many clusters, and no more than that.
_ENOUGH_POINTS, _POINTS_PER_CLUSTER, _MAX_POINTS = 2000, 100, 5000
# If these are too few for so many clusters, no more than that make the means precise.
_MOST = 20_000
_MAX_MATRIX = 2000
# Objects of a hierarchy: so many, or more of many clusters, and no more than that.
_HIERARCHY, _LEAVES_PER_CLUSTER, _MAX_HIERARCHY = 1000, 20, 2000
# Runs of k-means, of which the best is kept. Of many clusters every random draw misses
# some, however often it is repeated: there the hierarchy is what finds them, and one
# draw from all objects is tried beside it.
_N_KMEANS, _MANY_CLUSTERS = 10, 33
# Of more objects than a hierarchy has, its clusters have the lowest sum of squares
# nearly always: there random seeds end when so many in turn were not lower by this
# share.
_PATIENCE, _LOWER = 3, 1e-3
# Neighbours that tell whether an object is strange, and how much farther away from them
# than they are from theirs an ordinary one may be.
_N_JUDGED_BY = 5
_ORDINARY_FACTOR = 2.0
# Of the distances by which centres are compared.
_POWER = 1.5

# An object is an inner one of its cluster if it is so much nearer to its centre than to
# the next one, or among this share of the cluster, and at least so many, that are next
# to the centre.
_INNER_SHARE = 0.25
_LEAST_INNER = 20
_CLEAR_RATIO = 0.7

# Pairs that count as apart are at most this share: beyond, dissimilarities would have
# no contrast left.
_MAX_APART = 0.97

# Distance to noise in units of the ordinary one, where ∅ is told as novelty.
_NOVELTY_FACTOR = 2.0


@dataclass(frozen=True, eq=False)
class HardClusters:
    """A cluster for each of some objects: all, or a sample of many.

    Attributes
    ----------
    objects : array of int, shape (n_objects,)
        Row numbers.
    labels : array of int, shape (n_objects,)
        Clusters.
    distances : array of shape (n_objects,)
        Distances to the centres of the own clusters.
    ratios : array of shape (n_objects,)
        The same to the next centres, 1 halfway between both: distances along the line
        through the two centres. Small where an object is clearly in its cluster.
    n_clusters : int
        Number of clusters.
    """

    objects: NDArray[np.intp]
    labels: NDArray[np.intp]
    distances: Array
    ratios: Array
    n_clusters: int

    @classmethod
    def of(
        cls, objects: NDArray[np.intp], to_centers: Array, between: Array
    ) -> "HardClusters":
        """Clusters of the nearest centres.

        Parameters
        ----------
        objects : array of int, shape (n_objects,)
            Row numbers.
        to_centers : array of shape (n_objects, n_clusters)
            Distances to the centres.
        between : array of shape (n_clusters, n_clusters)
            Distances of the centres.
        """
        n_clusters = to_centers.shape[1]
        labels = to_centers.argmin(axis=1)
        nearest = to_centers.min(axis=1)
        ratios = np.zeros(len(to_centers))
        if n_clusters > 1:
            second = np.argpartition(to_centers, 1, axis=1)[:, :2]
            second = np.where(second[:, 0] == labels, second[:, 1], second[:, 0])
            farther = np.take_along_axis(to_centers, second[:, None], axis=1)[:, 0]
            ratios = _along_the_line(nearest, farther, between[labels, second])
        return cls(objects, labels, nearest, ratios, n_clusters)

    @property
    def share_apart(self) -> float:
        """Share of pairs in different clusters, 1 - Σ π_k², but at most 0.97.

        One half for a single cluster, whose pairs are not all alike.
        """
        if self.n_clusters == 1:
            return 0.5
        shares = np.bincount(self.labels, minlength=self.n_clusters) / len(self.labels)
        return min(_MAX_APART, 1.0 - float(np.square(shares).sum()))

    def inner(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Objects next to the centres, equally many of each cluster, and their labels.

        Those of small clusters occur several times, so that all clusters count alike.
        """
        rows = []
        for cluster in range(self.n_clusters):
            own = np.flatnonzero(self.labels == cluster)
            own = own[np.argsort(self.distances[own], kind="stable")]
            size = max(int(np.ceil(_INNER_SHARE * len(own))), _LEAST_INNER)
            is_inner = self.ratios[own] <= _CLEAR_RATIO
            is_inner[:size] = True
            rows.append(own[is_inner])
        sizes = [len(own) for own in rows]
        size = min(max(sizes), max(_LEAST_INNER, 2 * int(np.mean(sizes))))
        places = np.concatenate([np.resize(own, size) for own in rows if len(own)])
        return self.objects[places], self.labels[places]


def hard_clusters(
    geometry: Geometry, n_clusters: int, rng: np.random.RandomState
) -> HardClusters:
    """Clusters by k-means, or around medoids where there are only dissimilarities."""
    return _hard_clusters(geometry, n_clusters, rng, is_rough=False)


def rough_share_apart(
    geometry: Geometry, n_clusters: int, rng: np.random.RandomState
) -> float:
    """`HardClusters.share_apart` where nothing else is asked of the clusters.

    Single runs of k-means hardly change it.
    """
    return _hard_clusters(geometry, n_clusters, rng, is_rough=True).share_apart


def _hard_clusters(
    geometry: Geometry, n_clusters: int, rng: np.random.RandomState, *, is_rough: bool
) -> HardClusters:
    if geometry.is_euclidean or geometry.metric_is("sqeuclidean"):
        return _by_means(geometry.values, n_clusters, rng, is_rough=is_rough)
    if geometry.metric_is("cosine"):
        # Distances of points on the sphere grow with the angle.
        points = normalize(geometry.values)
        return _by_means(points, n_clusters, rng, is_rough=is_rough)
    return _by_medoids(geometry, n_clusters, rng)


# For few objects, to check again what was checked when the fit began takes a tenth of
# the time.
@config_context(assume_finite=True, skip_parameter_validation=True)
def _by_means(
    points: Array, n_clusters: int, rng: np.random.RandomState, *, is_rough: bool
) -> HardClusters:
    """k-means of all objects, or of those of a sample that are not isolated.

    Gross outliers draw centres to themselves; without them, the other centres are
    where the objects are. But in small clusters many objects are isolated. Seeds that
    are drawn at random miss small clusters, which the hierarchy of Ward's method keeps
    apart. The distances of the objects that are not strange tell which is better.
    """
    wanted = max(_ENOUGH_POINTS, min(_POINTS_PER_CLUSTER * n_clusters, _MAX_POINTS))
    objects = _some(len(points), wanted, rng)
    sample = points[objects]
    has_many = n_clusters >= _MANY_CLUSTERS
    n_random = 1 if is_rough or has_many else _N_KMEANS
    surroundings = _Surroundings.of(sample, n_clusters)
    found = _means(sample, n_clusters, rng, n_random)
    found += _means(surroundings.core(), n_clusters, rng, 0 if has_many else n_random)
    centers = _best_centers(surroundings.judges(), found)
    if len(points) > wanted == _MAX_POINTS:
        # So few objects of so many clusters say roughly where their means are.
        objects = _some(len(points), min(_POINTS_PER_CLUSTER * n_clusters, _MOST), rng)
        sample = points[objects]
        kmeans = KMeans(n_clusters, init=centers, n_init=1, random_state=rng)
        centers = kmeans.fit(sample).cluster_centers_
    between = cdist(centers, centers)
    return HardClusters.of(objects, cdist(sample, centers), between)


def _means(
    rows: Array, n_clusters: int, rng: np.random.RandomState, n_random: int
) -> list[Array]:
    """Centres by k-means from those of a hierarchy, and the best from random seeds."""
    start = _ward_centers(rows, n_clusters, rng)
    of_hierarchy = KMeans(n_clusters, init=start, n_init=1, random_state=rng).fit(rows)
    if n_random == 0:
        return [of_hierarchy.cluster_centers_]
    best: KMeans | None = None
    lowest, n_in_vain = of_hierarchy.inertia_, 0
    n_at_once = 1 if len(rows) > _HIERARCHY else n_random
    for _ in range(0, n_random, n_at_once):
        kmeans = KMeans(n_clusters, n_init=n_at_once, random_state=rng).fit(rows)
        if best is None or kmeans.inertia_ < best.inertia_:
            best = kmeans
        n_in_vain += 1
        if kmeans.inertia_ < (1 - _LOWER) * lowest:
            lowest, n_in_vain = kmeans.inertia_, 0
        if n_in_vain == _PATIENCE:
            break
    assert best is not None
    return [best.cluster_centers_, of_hierarchy.cluster_centers_]


@dataclass(frozen=True, eq=False)
class _Surroundings:
    """How near the neighbours of objects are, for two questions asked of one search.

    Attributes
    ----------
    points : array of shape (n_samples, n_features)
        The objects.
    n_clusters : int
        Number of clusters.
    neighbors : array of int, shape (n_samples, n_neighbors)
        Row numbers of their neighbours, nearest first; maybe of none.
    lengths : array of shape (n_samples, n_neighbors)
        Their distances.
    """

    points: Array
    n_clusters: int
    neighbors: NDArray[np.intp]
    lengths: Array

    @classmethod
    def of(cls, points: Array, n_clusters: int) -> "_Surroundings":
        """Of points in Euclidean space."""
        wanted = max(_n_isolating(len(points), n_clusters), _N_JUDGED_BY)
        n_neighbors = min(wanted, len(points) - 1)
        if n_neighbors == 0:
            none = np.empty((len(points), 0))
            return cls(points, n_clusters, none.astype(np.intp), none)
        found, lengths = nearest_neighbors(points, "euclidean", n_neighbors)
        return cls(points, n_clusters, found, lengths)

    def core(self) -> Array:
        """Rows but those whose k-th neighbour is farthest away, clusters permitting."""
        n_neighbors = _n_isolating(len(self.points), self.n_clusters)
        if n_neighbors == 0:
            return self.points
        return _without_far(
            self.points, self.lengths[:, n_neighbors - 1], self.n_clusters
        )

    def judges(self) -> Array:
        """Rows whose neighbours are not much closer to each other than to them."""
        n_neighbors = min(_N_JUDGED_BY, self.lengths.shape[1])
        if n_neighbors == 0:
            return self.points
        reach = self.lengths[:, n_neighbors - 1]
        nearest = self.neighbors[:, :n_neighbors]
        is_ordinary = reach <= _ORDINARY_FACTOR * reach[nearest].mean(axis=1)
        return self.points[is_ordinary] if is_ordinary.any() else self.points


def _best_centers(judges: Array, found: list[Array]) -> Array:
    """The centres that are nearest to the objects that judge.

    By squared distances, a few far objects would decide that; by distances, a large
    cluster would be divided rather than a small one found. So by a power between. Gross
    outliers have no part in it: objects whose neighbours are closer to each other than
    to them. Those of a small, sparse cluster have.
    """
    costs = [(cdist(judges, each).min(axis=1) ** _POWER).mean() for each in found]
    return found[int(np.argmin(costs))]


def _ward_centers(points: Array, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Means of the clusters of Ward's hierarchy, (n_clusters, n_features)."""
    wanted = min(max(_HIERARCHY, _LEAVES_PER_CLUSTER * n_clusters), _MAX_HIERARCHY)
    some = points[_some(len(points), wanted, rng)]
    if len(some) == 1:
        return some  # a hierarchy has two objects or more
    with warnings.catch_warnings():
        # Rows may look like dissimilarities, which they are not.
        warnings.simplefilter("ignore", ClusterWarning)
        labels = AgglomerativeClustering(n_clusters, linkage="ward").fit(some).labels_
    return np.array([some[labels == k].mean(axis=0) for k in range(n_clusters)])


def _by_medoids(
    geometry: Geometry, n_clusters: int, rng: np.random.RandomState
) -> HardClusters:
    objects = _some(len(geometry.values), _MAX_MATRIX, rng)
    distances = geometry.distances(objects)
    check_lengths(distances, geometry.metric)
    medoids, _ = k_medoids(distances, n_clusters, rng)
    between = distances[np.ix_(medoids, medoids)]
    return HardClusters.of(objects, distances[:, medoids], between)


def _along_the_line(nearest: Array, farther: Array, between: Array) -> Array:
    """Distances to the nearest centre as a share of those to the next, on their line.

    By the law of cosines. Distances themselves are alike in many dimensions, where most
    of their length is across the line and says nothing about the cluster.
    """
    unit = np.where(between > 0, between, 1.0)
    near, far = nearest / unit, farther / unit
    place = np.clip((1.0 + (near - far) * (near + far)) / 2, 0.0, 0.5)
    return np.where(between > 0, place / (1.0 - place), 1.0)


def _some(
    n_samples: int, n_wanted: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """All row numbers, or a random choice of too many."""
    if n_samples <= n_wanted:
        return np.arange(n_samples)
    return rng.choice(n_samples, n_wanted, replace=False)


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
    centers: Array

    def deviations(self, X: Array) -> Array:
        """X - nearest centre, row by row."""
        return X - self.centers[cdist(X, self.centers).argmin(axis=1)]


def noise_factor(*, is_about_novelty: bool) -> float:
    """An automatic δ, the distance to noise, in units of the distance that is ordinary.

    δ keeps its part in the fit whatever ∅ stands for: objects farther than δ from all
    prototypes hardly move them. Given the prototypes, the masses on the other sets are
    in proportions that do not depend on δ, so that for novelty only these are told.
    Then δ need not flag anything, and an automatic one is twice as large: no small
    cluster and no edge of a large one is taken for noise.
    """
    return _NOVELTY_FACTOR if is_about_novelty else 1.0


def robust_scale(X: Array, n_clusters: int, rng: np.random.RandomState) -> Scale:
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


def robust_centers(X: Array, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Centres by k-means of all rows of X, or of those that are not isolated.

    Gross outliers draw centres to themselves; without them, the other centres are
    where the objects are. But in small clusters many objects are isolated.
    """
    surroundings = _Surroundings.of(X, n_clusters)
    found = [
        KMeans(n_clusters, n_init=_N_KMEANS, random_state=rng)
        .fit(rows)
        .cluster_centers_
        for rows in (surroundings.core(), X)
    ]
    return _best_centers(surroundings.judges(), found)


def count_distinct(X: Array, enough: int) -> int:
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


def without_isolated(X: Array, n_clusters: int) -> Array:
    """X without the rows whose k-th neighbour is farthest away, clusters permitting."""
    n_neighbors = _n_isolating(len(X), n_clusters)
    if n_neighbors == 0:
        return X
    _, lengths = nearest_neighbors(X, "euclidean", n_neighbors)
    return _without_far(X, lengths[:, -1], n_clusters)


def _n_isolating(n_samples: int, n_clusters: int) -> int:
    """Which neighbour tells whether an object is isolated; 0: none does."""
    return min(MAX_NEIGHBORS, n_samples // (2 * n_clusters))


def _without_far(X: Array, reach: Array, n_clusters: int) -> Array:
    """X without the rows of largest reach, unless fewer than the clusters remain."""
    core = X[reach <= np.quantile(reach, ORDINARY_SHARE)]
    return core if count_distinct(core, n_clusters) >= n_clusters else X
