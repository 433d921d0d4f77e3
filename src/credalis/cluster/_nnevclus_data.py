"""From what the user gives NNEVCLUS to what its network is trained on."""

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import squareform
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.utils import get_tags

from credalis.constraints import check_constraints, spread_labels
from credalis.dissimilarity import (
    EuclideanSimilarities,
    MatrixSimilarities,
    MetricSimilarities,
    Similarities,
    check_dissimilarities,
    decay_rate,
)
from credalis.network import SideInformation

# Objects whose distances give the quantile δ0.
_MAX_SAMPLE = 2000

# The heuristic of the paper's experiments: δ0 is the 0.9 quantile up to four clusters.
# Above, few pairs are in one cluster, and the quantile follows their share.
_MAX_FEW_CLUSTERS = 4
_QUANTILE_FEW_CLUSTERS = 0.9
_PAIRS_SHARE_FACTOR = 2.0
_MIN_QUANTILE = 0.1


@dataclass(frozen=True, eq=False)
class Standardization:
    """x becomes (x - mean) / scale, column by column."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, X: NDArray[np.float64]) -> "Standardization":
        """Means and standard deviations of X; a constant column is only centred."""
        # In units of the largest entry, so that no square over- or underflows.
        mean = X.mean(axis=0)
        unit = np.abs(X - mean).max(axis=0)
        unit[unit == 0] = 1.0
        deviation = unit * ((X - mean) / unit).std(axis=0)
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standardise the rows of X."""
        return (X - self.mean) / self.scale

    def to_state(self) -> dict[str, Any]:
        """Plain arrays."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Standardization":
        """Inverse of `to_state`."""
        return cls(**state)


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


def default_quantile(n_clusters: int) -> float:
    """0.9 up to four clusters, then 2 / n_clusters but at least 0.1."""
    if n_clusters <= _MAX_FEW_CLUSTERS:
        return _QUANTILE_FEW_CLUSTERS
    return max(_MIN_QUANTILE, _PAIRS_SHARE_FACTOR / n_clusters)


def attribute_geometry(
    X: NDArray[np.float64],
    metric: Any,
    information: SideInformation,
    rng: np.random.RandomState,
) -> tuple[Geometry, Any]:
    """Geometry of attribute data, and the fitted transformer if there is one."""
    if hasattr(metric, "transform") and not isinstance(metric, type):
        transformer = fit_transformer(metric, X, information, rng)
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


def given_geometry(
    dissimilarities: ArrayLike, n_samples: int, *, symmetrize: bool
) -> Geometry:
    """Geometry of a separate matrix or condensed vector for the same objects."""
    values = np.asarray(dissimilarities)
    if values.ndim == 1:
        n_pairs = n_samples * (n_samples - 1) // 2
        if len(values) != n_pairs:
            raise ValueError(
                f"dissimilarities must hold {n_pairs} values for {n_samples} objects "
                f"when it is a vector, got {len(values)}"
            )
        values = squareform(values.astype(np.float64), checks=False)
    matrix = check_dissimilarities(
        values, symmetrize=symmetrize, name="dissimilarities"
    )
    if len(matrix) != n_samples:
        raise ValueError(
            f"dissimilarities must be about the {n_samples} rows of X, got "
            f"{len(matrix)} objects"
        )
    return Geometry(matrix, "precomputed")


def fit_transformer(
    metric: Any,
    X: NDArray[np.float64],
    information: SideInformation,
    rng: np.random.RandomState,
) -> Any:
    """A clone of a transformer, fitted with the side information it can use.

    Of a pipeline, every step gets what it can use. Seeds that were not given are drawn
    from rng.
    """
    transformer = clone(metric)
    _set_seeds(transformer, rng)
    labels = np.full(len(X), -1)
    labels[information.objects] = information.labels
    steps = _steps(transformer)
    learners = [name for name, step in steps if _takes_pairs(step)]
    needs_labels = [
        name
        for name, step in steps
        if name not in learners and get_tags(step).target_tags.required
    ]
    if learners and needs_labels:
        raise ValueError(
            f"metric must not mix steps that take -1 as unknown, like {learners[0]!r}, "
            f"and steps that take it as a class, like {needs_labels[0]!r}"
        )
    if learners:
        pairs = {
            "must_link": information.must_link,
            "cannot_link": information.cannot_link,
        }
        y = labels if information.has_labels else None
        if not hasattr(transformer, "steps"):
            return transformer.fit(X, y, **pairs)
        routed = {
            f"{name}__{key}": value for name in learners for key, value in pairs.items()
        }
        # The names of steps say where pairs go, whatever routing the user has chosen.
        with config_context(enable_metadata_routing=False):
            return transformer.fit(X, y, **routed)
    if not needs_labels:
        return transformer.fit(X)
    known = labels >= 0
    if not known.any():
        raise ValueError(
            f"metric={metric!r} learns from labels: pass partial_labels to fit"
        )
    return transformer.fit(X[known], labels[known])


def _steps(transformer: Any) -> list[tuple[str, Any]]:
    """Names and steps of a pipeline that are fitted, or the transformer alone."""
    steps = getattr(transformer, "steps", None) or [("", transformer)]
    return [(name, step) for name, step in steps if hasattr(step, "fit")]


def _takes_pairs(step: Any) -> bool:
    return "must_link" in signature(step.fit).parameters


def _set_seeds(transformer: Any, rng: np.random.RandomState) -> None:
    """Give every part without a seed one of its own, so that fits can be repeated."""
    seeds = {
        name: rng.randint(np.iinfo(np.int32).max)
        for name, value in sorted(transformer.get_params().items())
        if name.split("__")[-1] == "random_state" and value is None
    }
    transformer.set_params(**seeds)


def check_partial_labels(
    partial_labels: ArrayLike | None, n_samples: int, n_clusters: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The labelled objects and their clusters."""
    if partial_labels is None:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    labels = np.asarray(partial_labels)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"partial_labels must have one label for each of the {n_samples} rows of "
            f"X, got shape {labels.shape}"
        )
    if labels.dtype.kind not in "iu":
        raise ValueError(
            f"partial_labels must be integers, -1 for unknown, got dtype {labels.dtype}"
        )
    wrong = labels[(labels < -1) | (labels >= n_clusters)]
    if len(wrong):
        raise ValueError(
            f"partial_labels must lie between -1 and n_clusters - 1 = "
            f"{n_clusters - 1}, got {wrong[0]}"
        )
    objects = np.flatnonzero(labels >= 0)
    return objects, labels[objects].astype(np.intp)


def side_information(
    partial_labels: ArrayLike | None,
    must_link: ArrayLike | None,
    cannot_link: ArrayLike | None,
    *,
    n_samples: int,
    n_clusters: int,
    label_weight: float,
    constraint_weight: float,
) -> SideInformation:
    """Checked labels and pairs with their weights."""
    must, cannot = check_constraints(must_link, cannot_link, n_samples)
    objects, labels = check_partial_labels(partial_labels, n_samples, n_clusters)
    known = np.full(n_samples, -1)
    known[objects] = labels
    spread_labels(known, must, cannot, name="partial_labels")  # refuses contradictions
    return SideInformation(
        objects, labels, must, cannot, label_weight, constraint_weight
    )
