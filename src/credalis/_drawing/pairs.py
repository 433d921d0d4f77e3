"""Pairs of objects to be shown, and their dissimilarities.

The pairs i < j of n objects are numbered row by row, (0, 1), (0, 2), ..., (n - 2,
n - 1), as in a condensed vector of dissimilarities.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import PAIRED_DISTANCES, paired_distances
from sklearn.utils import check_random_state, gen_batches

from credalis._checks import check_integer, check_numbers, check_seed
from credalis._drawing.inputs import check_features, fitted, seen_by
from credalis.belief import conflict
from credalis.dissimilarity import Gower, check_dissimilarities, dissimilarities_between
from credalis.partition import CredalPartition

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Numbers in an array that a batch of pairs needs.
_BATCH_ENTRIES = 2**22


def count_pairs(n_samples: int) -> int:
    """Number of pairs of different objects."""
    return n_samples * (n_samples - 1) // 2


def choose_pairs(n_samples: int, n_pairs: int, random_state: Any) -> Indices:
    """Numbers of all pairs, or of n_pairs of them chosen at random, ascending."""
    check_integer("n_pairs", n_pairs, at_least=1)
    n_all = count_pairs(n_samples)
    if n_all == 0:
        raise ValueError(f"partition must hold at least 2 objects, got {n_samples}")
    if n_all <= n_pairs:
        return np.arange(n_all)
    # Generator.choice, unlike that of RandomState, does not list all pairs.
    check_seed("random_state", random_state)
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    generator = np.random.default_rng(seed)
    return np.sort(generator.choice(n_all, n_pairs, replace=False, shuffle=False))


def objects_of_pairs(numbers: Indices, n_samples: int) -> Indices:
    """Row numbers (n_pairs, 2) of the two objects of each pair, the smaller first."""
    i = np.arange(n_samples)
    starts = i * (2 * n_samples - i - 1) // 2
    first = np.searchsorted(starts, numbers, side="right") - 1
    return np.column_stack([first, numbers - starts[first] + first + 1])


def paired_conflicts(partition: CredalPartition, pairs: Indices) -> Array:
    """κ of each pair (n_pairs, 2), in batches."""
    masses, conflicts = partition.masses, np.empty(len(pairs))
    for batch in _batches(len(pairs), masses.shape[1]):
        first, second = masses[pairs[batch].T]
        conflicts[batch] = conflict(first, second, partition.focal_sets)
    return conflicts


def given_dissimilarities(
    dissimilarities: ArrayLike, numbers: Indices, n_samples: int
) -> Array:
    """Values for the numbered pairs from a square matrix or a condensed vector."""
    values = check_numbers("dissimilarities", dissimilarities)
    if values.shape == (n_samples, n_samples):
        matrix = check_dissimilarities(values, name="dissimilarities")
        first, second = objects_of_pairs(numbers, n_samples).T
        return matrix[first, second]
    n_all = count_pairs(n_samples)
    if values.shape != (n_all,):
        raise ValueError(
            f"dissimilarities must be a matrix of shape {(n_samples, n_samples)} or a "
            f"vector of {n_all} values for the {n_samples} objects of the partition, "
            f"got shape {values.shape}"
        )
    wrong = values[~((values >= 0) & (values < np.inf))]
    if len(wrong):
        raise ValueError(f"dissimilarities must be finite and >= 0, got {wrong[0]:g}")
    return values[numbers]


def dissimilarity_space(
    estimator: Any, X: ArrayLike, dissimilarities: ArrayLike | None = None
) -> tuple[Array, Any]:
    """Where a fitted estimator takes its dissimilarities from.

    Points and the metric between them, or given dissimilarities and "precomputed".
    """
    metric = getattr(estimator, "metric", "euclidean")
    symmetrize = getattr(estimator, "symmetrize", False)
    if dissimilarities is not None:
        values = check_numbers("dissimilarities", dissimilarities)
        if symmetrize and values.ndim == 2:
            values = check_dissimilarities(
                values, symmetrize=True, name="dissimilarities"
            )
        return values, "precomputed"
    if getattr(estimator, "has_given_dissimilarities_", False):
        raise ValueError(
            "dissimilarities must be those that were passed to fit, got None"
        )
    n_samples = fitted(estimator, "partition_").n_samples
    points = check_features(seen_by(estimator, X), n_samples)
    if isinstance(metric, str) and metric == "precomputed":
        return check_dissimilarities(points, symmetrize=symmetrize), metric
    if hasattr(metric, "transform"):
        transformer = fitted(estimator, "transformer_")
        return np.asarray(transformer.transform(points), dtype=np.float64), "euclidean"
    if isinstance(metric, str) and metric == "gower":
        return points, fitted(estimator, "metric_")
    return points, metric


def paired_dissimilarities(points: Array, metric: Any, pairs: Indices) -> Array:
    """Dissimilarity of each pair (n_pairs, 2) of points, in batches."""
    if isinstance(metric, Gower):
        return metric.pairs(points[pairs[:, 0]], points[pairs[:, 1]])
    values = np.empty(len(pairs))
    if callable(metric) or metric in PAIRED_DISTANCES:
        for batch in _batches(len(pairs), points.shape[1]):
            first, second = points[pairs[batch].T]
            values[batch] = paired_distances(first, second, metric=metric)
        return values
    # Other metrics have no function for pairs: all partners of an object at a time.
    objects, starts = np.unique(pairs[:, 0], return_index=True)
    for i, group in zip(
        objects, np.split(np.arange(len(pairs)), starts[1:]), strict=True
    ):
        partners = points[pairs[group, 1]]
        values[group] = dissimilarities_between(points[[i]], partners, metric)[0]
    return values


def _batches(n_pairs: int, n_columns: int) -> Any:
    """Slices of pairs, so many at a time that a row for each of them takes little."""
    return gen_batches(n_pairs, max(1, _BATCH_ENTRIES // n_columns))
