"""Where the dissimilarities of objects come from: points and a metric, or a matrix."""

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.utils import get_tags

from credalis.dissimilarity import (
    EuclideanSimilarities,
    MatrixSimilarities,
    MetricSimilarities,
    Similarities,
    decay_rate,
)
from credalis.network import SideInformation

# Objects whose distances give the quantile δ0.
_MAX_SAMPLE = 2000


@dataclass(frozen=True, eq=False)
class Geometry:
    """Where dissimilarities come from.

    Attributes
    ----------
    values : array
        Points (n_samples, n_features), or with ``metric="precomputed"`` the
        dissimilarities (n_samples, n_samples).
    metric : str or callable
        Metric between points.
    """

    values: NDArray[np.float64]
    metric: Any = "euclidean"

    def similarities(self, scale: float, dtype: type) -> Similarities:
        """Similarities for δ0 = scale."""
        if self._is("precomputed"):
            return MatrixSimilarities.from_matrix(self.values, scale)
        if self._is("euclidean"):
            return EuclideanSimilarities.from_points(self.values, scale, dtype)
        return MetricSimilarities(self.values, self.metric, decay_rate(scale))

    def distances(self, objects: NDArray[np.intp]) -> NDArray[np.float64]:
        """Dissimilarities of all pairs of some objects, (n_objects, n_objects)."""
        if self._is("precomputed"):
            return self.values[np.ix_(objects, objects)]
        return pairwise_distances(self.values[objects], metric=self.metric)

    @property
    def is_euclidean(self) -> bool:
        """Whether the values are points with Euclidean distances."""
        return self._is("euclidean")

    @property
    def is_precomputed(self) -> bool:
        """Whether the values are dissimilarities."""
        return self._is("precomputed")

    def _is(self, metric: str) -> bool:
        return isinstance(self.metric, str) and self.metric == metric

    def scale(self, quantile: float, rng: np.random.RandomState) -> float:
        """The quantile of the dissimilarities of a sample of the pairs."""
        n_samples = len(self.values)
        objects = np.arange(n_samples)
        if n_samples > _MAX_SAMPLE:
            objects = rng.choice(n_samples, _MAX_SAMPLE, replace=False)
        values = self.distances(objects)[np.triu_indices(len(objects), 1)]
        scale = float(np.quantile(values, quantile))
        if scale > 0:
            return scale
        # So many duplicates that the quantile is 0: take it among different objects.
        different = values[values > 0]
        if len(different) == 0:
            raise ValueError("the dissimilarities of all objects are 0")
        return float(np.quantile(different, quantile))


class RelationalInput:
    """An estimator that takes a square matrix with ``metric="precomputed"``."""

    metric: Any

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self._is_precomputed
        return tags

    @property
    def _is_precomputed(self):
        return isinstance(self.metric, str) and self.metric == "precomputed"


def attribute_geometry(
    X: NDArray[np.float64], metric: Any, information: SideInformation | None = None
) -> tuple[Geometry, Any]:
    """Geometry of attribute data, and the fitted transformer if there is one.

    Without ``information`` the estimator has no use for any.
    """
    if hasattr(metric, "transform") and not isinstance(metric, type):
        transformer = fit_transformer(metric, X, information)
        points = np.asarray(transformer.transform(X), dtype=np.float64)
        return Geometry(points), transformer
    try:
        pairwise_distances(X[:2], metric=metric)
    except (ValueError, TypeError) as error:
        raise ValueError(
            "metric must be a metric of scikit-learn's pairwise_distances, a callable "
            f"or a transformer, got {metric!r}: {error}"
        ) from error
    return Geometry(X, metric), None


def fit_transformer(
    metric: Any, X: NDArray[np.float64], information: SideInformation | None
) -> Any:
    """A clone of a transformer, fitted with the side information it can use."""
    transformer = clone(metric)
    if information is None:
        if _needs_labels(transformer):
            raise ValueError(
                f"metric={metric!r} learns from labels, which this estimator does not "
                "take: fit it before and pass the transformed data"
            )
        return transformer.fit(X)
    parameters = signature(transformer.fit).parameters
    labels = np.full(len(X), -1)
    labels[information.objects] = information.labels
    if "must_link" in parameters:
        return transformer.fit(
            X,
            labels if information.has_labels else None,
            must_link=information.must_link,
            cannot_link=information.cannot_link,
        )
    if not _needs_labels(transformer):
        return transformer.fit(X)
    known = labels >= 0
    if not known.any():
        raise ValueError(
            f"metric={metric!r} learns from labels: pass partial_labels to fit"
        )
    return transformer.fit(X[known], labels[known])


def _needs_labels(transformer: Any) -> bool:
    """Whether a transformer, or a step of a pipeline, learns from labels."""
    steps = getattr(transformer, "steps", None) or [("", transformer)]
    return any(
        get_tags(step).target_tags.required for _, step in steps if hasattr(step, "fit")
    )
