"""Objects that stand for clusters: belief peaks, seeds and medoids."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.peaks import delta_bel

# This share of the objects counts as ordinary when the scale is measured.
ORDINARY_SHARE = 0.95

# Objects farther than this many times the scale from all centres start no cluster.
FAR = 3.0

# Centres or medoids that give the scale are found on a sample of at most this many
# objects, without those whose neighbours, at most so many, are farthest.
MAX_SAMPLE = 2000
MAX_NEIGHBORS = 10

# Rows of the graph that belief peaks are found on.
_MAX_PEAK_OBJECTS = 10_000

# Starts of k-medoids where it only has to find a scale, and where a fit starts from it;
# iterations of each.
_N_STARTS = 3
_N_CORE_STARTS = 5
_MAX_ITER = 20


def check_rows(
    values: NDArray[Any], n_samples: int, n_clusters: int
) -> NDArray[np.intp]:
    """Row numbers that a user gives as ``init``, or a ValueError."""
    if (
        values.shape != (n_clusters,)
        or values.dtype.kind not in "iu"
        or len(np.unique(values)) < n_clusters
        or values.min() < 0
        or values.max() >= n_samples
    ):
        raise ValueError(
            f"init must hold {n_clusters} distinct row numbers between 0 and "
            f"{n_samples - 1} when it is a vector, got {values.tolist()}"
        )
    return values.astype(np.intp)


def belief_peaks(
    values: NDArray[np.float64],
    n_clusters: int,
    *,
    metric: Any = "euclidean",
    **settings: Any,
) -> NDArray[np.intp]:
    """Row numbers of the likeliest centres on the δ-Bel graph, one for each cluster.

    Parameters
    ----------
    values : array of shape (n_samples, n_features) or (n_samples, n_samples)
        Objects, or with ``metric="precomputed"`` their dissimilarities.
    n_clusters : int
        Number of clusters.
    metric : str or callable, default="euclidean"
        Metric between objects.
    **settings
        Further parameters of `delta_bel`.
    """
    n_samples = len(values)
    # Evenly spread rows: a graph of all of many objects takes minutes.
    rows = np.arange(0, n_samples, -(-n_samples // _MAX_PEAK_OBJECTS))
    values = values[rows]
    if isinstance(metric, str) and metric == "precomputed":
        values = values[:, rows]
    graph = delta_bel(values, metric=metric, **settings)
    if n_clusters == 1:
        return rows[[graph.belief.argmax()]]
    return rows[graph.suggest(n_clusters)]


def draw_seeds(
    matrix: NDArray[np.float64],
    n_clusters: int,
    candidates: NDArray[np.intp],
    rng: np.random.RandomState,
) -> NDArray[np.intp]:
    """Distant objects, drawn as k-means++ does with the dissimilarities as its costs.

    Parameters
    ----------
    matrix : array of shape (n_samples, n_samples)
        Dissimilarities.
    n_clusters : int
        Number of objects to draw.
    candidates : array of int
        Objects that may be drawn, at least ``n_clusters``.
    rng : RandomState
        Source of randomness.

    Returns
    -------
    array of int, shape (n_clusters,), distinct
    """
    n_trials = 2 + int(np.log(n_clusters))
    chosen = [rng.randint(len(candidates))]
    nearest = matrix[candidates[chosen[0]], candidates]
    for _ in range(1, n_clusters):
        reach = np.cumsum(nearest)
        if reach[-1] > 0:
            draws = np.searchsorted(reach, rng.uniform(size=n_trials) * reach[-1])
            trials = np.minimum(draws, len(candidates) - 1)
        else:
            # What is left coincides with objects that were drawn.
            trials = np.setdiff1d(np.arange(len(candidates)), chosen)[:1]
        options = matrix[np.ix_(candidates[trials], candidates)]
        np.minimum(options, nearest, out=options)
        best = options.sum(axis=1).argmin()
        chosen.append(int(trials[best]))
        nearest = options[best]
    return candidates[chosen]


def nearest_distinct_objects(
    scores: NDArray[np.float64], matrix: NDArray[np.float64]
) -> NDArray[np.intp]:
    """For each row the object of smallest score that coincides with no earlier choice.

    Parameters
    ----------
    scores : array of shape (n_rows, n_samples)
        What is to be small.
    matrix : array of shape (n_samples, n_samples)
        Dissimilarities: objects at 0 from each other coincide.

    Returns
    -------
    array of int, shape (n_rows,), distinct
    """
    chosen = np.empty(len(scores), dtype=np.intp)
    is_free = np.ones(matrix.shape[0], dtype=bool)
    is_apart = is_free.copy()
    for k, row in enumerate(scores):
        allowed = np.flatnonzero(is_apart if is_apart.any() else is_free)
        chosen[k] = allowed[row[allowed].argmin()]
        is_free[chosen[k]] = False
        is_apart &= matrix[chosen[k]] > 0
        is_apart[chosen[k]] = False
    return chosen


def k_medoids(
    matrix: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.RandomState,
    n_starts: int = _N_STARTS,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Hard clusters around medoids, the best of a few short runs.

    Parameters
    ----------
    matrix : array of shape (n_samples, n_samples)
        Dissimilarities.
    n_clusters : int
        Number of clusters.
    rng : RandomState
        Source of randomness.
    n_starts : int, default=3
        Number of runs.

    Returns
    -------
    medoids : array of int, shape (n_clusters,)
        Row numbers.
    labels : array of int, shape (n_samples,)
        Cluster of the nearest medoid.
    """
    everything = np.arange(len(matrix))
    best_cost = np.inf
    for _ in range(n_starts):
        seeds = draw_seeds(matrix, n_clusters, everything, rng)
        medoids = settled_medoids(matrix, seeds)
        distances = matrix[medoids]
        cost = distances.min(axis=0).sum()
        if cost < best_cost:
            best_cost, result = cost, (medoids, distances.argmin(axis=0))
    return result


def k_means(
    squares: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.RandomState,
    n_starts: int = _N_STARTS,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Hard clusters around means, from squared distances alone.

    The mean of a cluster with weights a of its objects is at the squared distances
    D a - aᵀ D a / 2.

    Parameters
    ----------
    squares : array of shape (n_samples, n_samples)
        D.
    n_clusters : int
        Number of clusters.
    rng : RandomState
        Source of randomness.
    n_starts : int, default=3
        Number of runs, of which the best is kept.

    Returns
    -------
    objects : array of int, shape (n_clusters,)
        Row numbers of the objects next to the means, distinct.
    labels : array of int, shape (n_samples,)
        Cluster of the nearest mean.
    """
    everything = np.arange(len(squares))
    best_cost = np.inf
    for _ in range(n_starts):
        seeds = draw_seeds(squares, n_clusters, everything, rng)
        to_means = squares[seeds]
        labels = to_means.argmin(axis=0)
        for _ in range(_MAX_ITER):
            weights = cluster_weights(labels, n_clusters)
            products = weights @ squares
            # A cluster without objects stays where it was.
            is_empty = weights.sum(axis=1) == 0
            moved = products - (products * weights).sum(axis=1, keepdims=True) / 2
            to_means = np.where(is_empty[:, None], to_means, moved)
            before, labels = labels, to_means.argmin(axis=0)
            if (labels == before).all():
                break
        cost = to_means.min(axis=0).sum()
        # Rounding does not decide between runs that end alike.
        if cost < (1 - 1e-9) * best_cost or np.isinf(best_cost):
            best_cost = cost
            result = nearest_distinct_objects(to_means, squares), labels
    return result


def cluster_weights(labels: NDArray[np.intp], n_clusters: int) -> NDArray[np.float64]:
    """1 / size of its cluster for each object, (n_clusters, n_objects)."""
    members = labels == np.arange(n_clusters)[:, None]
    return members / np.maximum(members.sum(axis=1, keepdims=True), 1)


def settled_medoids(
    matrix: NDArray[np.float64], seeds: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Medoids of hard clusters, in turn with the clusters around them, from seeds on.

    Parameters
    ----------
    matrix : array of shape (n_samples, n_samples)
        Dissimilarities.
    seeds : array of int, shape (n_clusters,)
        Row numbers to start from.

    Returns
    -------
    array of int, shape (n_clusters,), distinct
    """
    medoids = seeds
    for _ in range(_MAX_ITER):
        labels = matrix[medoids].argmin(axis=0)
        members = labels == np.arange(len(medoids))[:, None]
        moved = nearest_distinct_objects(members.astype(np.float64) @ matrix, matrix)
        if (moved == medoids).all():
            break
        medoids = moved
    return medoids


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
        Row numbers of the medoids, or of the objects next to the means.
    """

    objects: NDArray[np.intp]
    labels: NDArray[np.intp]
    medoids: NDArray[np.intp]

    @property
    def shares(self) -> NDArray[np.float64]:
        """1 / size of its cluster for each object, (n_clusters, n_core)."""
        return cluster_weights(self.labels, len(self.medoids))


def core_of(
    matrix: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    are_squared: bool,
) -> Core:
    """Clusters of a sample of the objects, or of those without far neighbours.

    They are around medoids, or around means if the dissimilarities are squares.

    Gross outliers would be clusters of their own; but in small clusters many objects
    have far neighbours. The mean distance tells which is better, with the extent of the
    objects without far neighbours as the largest that counts.
    """
    objects = np.arange(len(matrix))
    if len(matrix) > MAX_SAMPLE:
        objects = rng.choice(len(matrix), MAX_SAMPLE, replace=False)
    find = k_means if are_squared else k_medoids
    found: list[Core] = []
    for kept in (_not_isolated(matrix, objects, n_clusters), objects):
        between = matrix[np.ix_(kept, kept)]
        medoids, labels = find(between, n_clusters, rng, _N_CORE_STARTS)
        found.append(Core(kept, labels, kept[medoids]))
    extent = matrix[np.ix_(found[0].medoids, found[0].objects)].max()
    costs = []
    for core in found:
        nearest = matrix[np.ix_(core.medoids, objects)].min(axis=0)
        lengths = np.minimum(nearest, extent)
        costs.append((np.sqrt(lengths) if are_squared else lengths).mean())
    return found[int(np.argmin(costs))]


def _not_isolated(
    matrix: NDArray[np.float64], objects: NDArray[np.intp], n_clusters: int
) -> NDArray[np.intp]:
    """Objects without those whose neighbours are farthest, clusters permitting."""
    n_neighbors = min(MAX_NEIGHBORS, len(objects) // (2 * n_clusters))
    if n_neighbors == 0:
        return objects
    between = matrix[np.ix_(objects, objects)]
    reach = np.partition(between, n_neighbors, axis=1)[:, n_neighbors]
    kept = objects[reach <= np.quantile(reach, ORDINARY_SHARE)]
    return kept if len(kept) >= n_clusters else objects


def ordinary_value(values: NDArray[np.float64], fallback: float) -> float:
    """The 0.95 quantile of values, or what is next to it if that is 0."""
    ordinary = float(np.quantile(values, ORDINARY_SHARE))
    return ordinary or float(values.max()) or fallback or 1.0


def objects_near(
    values: NDArray[np.float64], enough: int, *, are_squared: bool
) -> NDArray[np.intp]:
    """Objects within three times the ordinary distance, all if they are too few."""
    limit = (FAR**2 if are_squared else FAR) * ordinary_value(values, 0.0)
    near = np.flatnonzero(values <= limit)
    return near if len(near) >= enough else np.arange(len(values))
