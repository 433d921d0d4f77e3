"""What a monitor learns from a model and from ordinary objects."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from credalis._threads import one_thread
from credalis.cluster._inputs._geometry import within_reach
from credalis.cluster._inputs._side_information import placed
from credalis.dissimilarity import dissimilarities_between
from credalis.streaming._balls import Metric

Array = NDArray[np.float64]

# Squares of so large numbers, and sums of many of them, are numbers.
_FARTHEST = 1e145

# Objects of a cluster whose distances give its size.
_MAX_OBJECTS = 300


def check_monitored(model: Any) -> None:
    """Refuse a model whose mass on ∅ says nothing about new objects."""
    if isinstance(model, type) or not hasattr(model, "predict_partition"):
        raise ValueError(
            f"model must be a fitted estimator with predict_partition, got {model!r}"
        )
    check_is_fitted(model)
    given = getattr(model, "has_given_dissimilarities_", False)
    if get_tags(model).input_tags.pairwise or given:
        raise ValueError(
            "model must be fitted to attributes whose distances can be computed for "
            f"new objects, got dissimilarities for {type(model).__name__}"
        )
    if model.focal_sets_.empty_index is None:
        raise ValueError(
            "model must have the empty set among its focal sets, got "
            f"{model.focal_sets_!r}"
        )
    if not model._detects_novelties:
        raise ValueError(
            "model must be fitted with empty_set='novelty', or with a "
            "novelty_detector, for example 'ocsvm': otherwise its mass on ∅ is not "
            "large far from the data"
        )


def strangeness(model: Any, X: Any) -> Array:
    """What an object is rejected for if it is large, (n_samples,).

    The mass on ∅; if it stands for novelty, the score behind it, because of objects
    that are stranger than all training objects many have the same rank and mass.
    """
    if not hasattr(model, "reference_"):
        return model.predict_partition(X).outlier_mass
    rows = model._validate(X, reset=False, ensure_min_samples=1)
    with one_thread():
        return model._strangeness(rows)


def metric_of(model: Any) -> Metric:
    """The metric between the points of `points_of`."""
    return getattr(model, "metric_", "euclidean")


def points_of(model: Any, X: Array) -> Array:
    """Where the model takes distances of objects, (n_samples, n_dimensions).

    Those that are too far away for squared distances are brought nearer to 0.
    """
    points = placed(getattr(model, "transformer_", None), X)
    return within_reach(points, np.zeros(points.shape[1]), _FARTHEST)


def conformal_threshold(values: Array, rate: float) -> float:
    """A value that a further one exceeds with probability at most `rate`.

    The ⌈(1 - rate) (n + 1)⌉-th smallest of n exchangeable values.
    """
    position = int(np.ceil((1 - rate) * (len(values) + 1) - 1e-9))
    return float(np.sort(values)[position - 1])


def cluster_size(points: Array, labels: NDArray[np.intp], metric: Metric) -> float:
    """Median over the clusters of the root mean squared distance of two objects."""
    sizes = []
    for cluster in np.unique(labels):
        members = points[labels == cluster][:_MAX_OBJECTS]
        if len(members) > 1:
            distances = dissimilarities_between(members, None, metric)
            pairs = distances[np.triu_indices(len(members), 1)]
            sizes.append(np.sqrt(np.square(pairs).mean()))
    if not sizes or np.median(sizes) == 0:
        raise ValueError(
            "radius must be given: no two calibration objects of most clusters differ"
        )
    return float(np.median(sizes))
