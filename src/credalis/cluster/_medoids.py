"""Objects that stand for clusters, found from dissimilarities alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Starts and iterations of k-medoids where it only has to find a scale or a start.
_N_STARTS = 3
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
    matrix: NDArray[np.float64], n_clusters: int, rng: np.random.RandomState
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

    Returns
    -------
    medoids : array of int, shape (n_clusters,)
        Row numbers.
    labels : array of int, shape (n_samples,)
        Cluster of the nearest medoid.
    """
    everything = np.arange(len(matrix))
    best_cost = np.inf
    for _ in range(_N_STARTS):
        seeds = draw_seeds(matrix, n_clusters, everything, rng)
        medoids = settled_medoids(matrix, seeds)
        distances = matrix[medoids]
        cost = distances.min(axis=0).sum()
        if cost < best_cost:
            best_cost, result = cost, (medoids, distances.argmin(axis=0))
    return result


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
