"""Where the dissimilarities of the objects come from, and their scale."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.spatial.distance import squareform
from sklearn.metrics import pairwise_distances

from credalis._checks import (
    check_choice,
    check_lengths,
    check_number,
    check_spread,
    check_squarable,
    naming,
    shown,
)
from credalis._neighbors import PARAMETRIC
from credalis.cluster._inputs._side_information import (
    Transformer,
    fit_transformer,
    transformed,
)
from credalis.dissimilarity import (
    MAX_STORED,
    DeferredSimilarities,
    EuclideanSimilarities,
    Gower,
    MatrixSimilarities,
    MetricSimilarities,
    Similarities,
    check_dissimilarities,
    decay_rate,
    dissimilarities_between,
)
from credalis.network import SideInformation

# How dissimilarities of two rows of X are found.
Metric = str | Callable[..., float] | Gower | Transformer

# What δ0 and ∅ were in version 0.1: the quantile of the paper, and what the stress had
# left.
EARLIER_DEFAULTS = {"dissimilarity_quantile": "paper", "empty_set": "stress"}

# Objects whose distances give δ0. How well it is known depends on how many there are,
# so that pairs inside parts of them do as well as all: of more than so many objects, in
# parts of about so many.
_MAX_SAMPLE = 2000
_MAX_TOGETHER, _PART = 1000, 250

# Logarithms of the rate γ of δ* are looked for here first, then farther by a stride, up
# to where exp(±700) are still numbers; with this precision.
_UNKNOWN_RATE = -10.0, 10.0
_STRIDE = 10.0
_STEEPEST = 700.0
_PRECISE = 1e-9

# Of more pairs than that, about so many say roughly where it is, and how near.
_MANY_PAIRS, _SOME_PAIRS = 200_000, 20_000
_ROUGH, _NEAR = 1e-3, 0.05

# Euclidean distances of so many objects to others are computed at a time.
_ROWS_AT_ONCE = 500

# Numbers that are computed at a time.
_IN_CACHE = 32_768

# The heuristic of the paper's experiments: δ0 is the 0.9 quantile up to four clusters.
# Above, few pairs are in one cluster, and the quantile follows their share.
_MAX_FEW_CLUSTERS = 4
_QUANTILE_FEW_CLUSTERS = 0.9
_PAIRS_SHARE_FACTOR = 2.0
_MIN_QUANTILE = 0.1


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

    def some(self, objects: NDArray[np.intp]) -> "Geometry":
        """Some of the objects, of which each may come several times."""
        n_samples = len(self.values)
        if len(objects) == n_samples and (objects == np.arange(n_samples)).all():
            return self
        if self.is_precomputed:
            return Geometry(self.values[np.ix_(objects, objects)], self.metric)
        return Geometry(self.values[objects], self.metric)

    def similarities(self, scale: float, dtype: type) -> Similarities:
        """Similarities for δ0 = scale."""
        if self.metric_is("precomputed"):
            return MatrixSimilarities.from_matrix(self.values, scale)
        is_squared = self.metric_is("sqeuclidean")
        if self.is_euclidean or is_squared:
            if self.values.size <= MAX_STORED:
                return EuclideanSimilarities.from_points(
                    self.values, scale, dtype, is_squared=is_squared
                )
            everything = np.arange(len(self.values))
            return DeferredSimilarities(
                self.values, everything, scale, dtype, is_squared
            )
        return MetricSimilarities(self.values, self.metric, decay_rate(scale))

    def distances(self, objects: NDArray[np.intp]) -> NDArray[np.float64]:
        """Dissimilarities of all pairs of some objects, (n_objects, n_objects)."""
        if self.metric_is("precomputed"):
            return self.values[np.ix_(objects, objects)]
        return dissimilarities_between(self.values[objects], None, self.metric)

    @property
    def is_euclidean(self) -> bool:
        """Whether the values are points with Euclidean distances."""
        return self.metric_is("euclidean")

    @property
    def is_precomputed(self) -> bool:
        """Whether the values are dissimilarities."""
        return self.metric_is("precomputed")

    def metric_is(self, metric: str) -> bool:
        """Whether the metric has this name."""
        return isinstance(self.metric, str) and self.metric == metric

    def quantile_scale(self, quantile: float, rng: np.random.RandomState) -> float:
        """The quantile of the dissimilarities of a sample of the pairs."""
        values = self._sampled_lengths(rng)
        scale = float(np.quantile(values, quantile))
        # With so many duplicates that the quantile is 0: among different objects.
        return scale or float(np.quantile(values[values > 0], quantile))

    def contrast_scale(self, share: float, rng: np.random.RandomState) -> float:
        """δ0 with which the mean of δ* over the pairs is a share.

        The pairs that are apart should have δ* = 1 and the others 0, so that the mean
        is the share of the pairs that are apart. A quantile says nothing about that:
        of ten clusters of equal size nine pairs in ten are apart, of two clusters of
        ten to one not even one in five.
        """
        squares = self._sampled_lengths(rng)
        is_apart = squares > 0
        # Copies are never apart.
        share = min(share, 0.999 * float(is_apart.mean()))
        # Some of many pairs say about where it is.
        stride = 1 if len(squares) <= _MANY_PAIRS else len(squares) // _SOME_PAIRS
        usual = squares[::stride][is_apart[::stride]]
        length = float(np.median(usual if len(usual) else squares[is_apart]))
        # In place: there may be millions of pairs. In units of a usual length, so that
        # hardly a square overflows; what is so far apart is apart.
        with np.errstate(over="ignore"):
            squares /= length
            squares *= squares
        around = _UNKNOWN_RATE
        if stride > 1:
            about = _log_rate(share, squares[::stride].copy(), around, _ROUGH)
            if np.isfinite(about):
                around = about - _NEAR, about + _NEAR
        rate = float(np.exp(_log_rate(share, squares, around, _PRECISE)))
        # Lengths of so many orders of magnitude have no common scale.
        if np.isinf(rate):
            return np.inf
        return float(np.sqrt(decay_rate(1.0) / rate)) * length

    def check_some(self) -> None:
        """Refuse a metric by which some objects are not finitely far apart."""
        if not (self.is_euclidean or self.is_precomputed):
            objects = np.arange(min(len(self.values), _MAX_SAMPLE))
            check_lengths(self.distances(objects), self.metric)

    def _lengths(self, objects: NDArray[np.intp]) -> NDArray[np.float64]:
        """Dissimilarities of the pairs of some objects, as SciPy's `pdist` has them."""
        if not self.is_euclidean:
            return squareform(self.distances(objects), checks=False)
        # Without the matrix, which would be the largest array of many a fit: pages that
        # are new to a process take longer than what is computed in them.
        points, n_objects = self.values[objects], len(objects)
        values = np.empty(n_objects * (n_objects - 1) // 2)
        stop = 0
        for first in range(0, n_objects, _ROWS_AT_ONCE):
            some = points[first : first + _ROWS_AT_ONCE]
            block = dissimilarities_between(some, points[first:], self.metric)
            for row, lengths in enumerate(block):
                others = lengths[row + 1 :]
                start, stop = stop, stop + len(others)
                values[start:stop] = others
        return values

    def _sampled_lengths(self, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Dissimilarities of many pairs of objects, not all of them 0."""
        n_samples = len(self.values)
        objects = np.arange(n_samples)
        if n_samples > _MAX_SAMPLE:
            objects = rng.choice(n_samples, _MAX_SAMPLE, replace=False)
        n_parts = len(objects) // _PART if len(objects) > _MAX_TOGETHER else 1
        # Dealt out in turn: the order of the rows plays no part.
        parts = [self._lengths(objects[first::n_parts]) for first in range(n_parts)]
        values = np.concatenate(parts) if n_parts > 1 else parts[0]
        check_lengths(values, self.metric)
        if not values.any():
            raise ValueError(
                "X must hold objects that differ, all dissimilarities are 0"
            )
        return values


def _log_rate(
    share: float,
    squares: NDArray[np.float64],
    around: tuple[float, float],
    precision: float,
) -> float:
    """The logarithm of γ with which the mean of 1 - exp(-γ d²) is a share.

    It is looked for between two numbers first, then beyond; infinite if it is not a
    number whose exponential is one.
    """
    known: dict[float, float] = {}
    given = share, squares, known
    low, high = around
    while low > -_STEEPEST and _excess(low, *given) > 0:
        low -= _STRIDE
    while high < _STEEPEST and _excess(high, *given) < 0:
        high += _STRIDE
    if low <= -_STEEPEST or high >= _STEEPEST:
        return np.inf
    # Arrays inside a function that is given would outlive the search.
    return float(brentq(_excess, low, high, given, xtol=precision))


def _excess(
    log_rate: float,
    share: float,
    squares: NDArray[np.float64],
    known: dict[float, float],
) -> float:
    """How much the mean of 1 - exp(-γ d²) exceeds a share.

    What has been found is known: `brentq` asks again at the ends.
    """
    if log_rate not in known:
        total = _negative_targets(squares, -np.exp(log_rate))
        known[log_rate] = -total / len(squares) - share
    return known[log_rate]


def _negative_targets(squares: NDArray[np.float64], rate: float) -> float:
    """The sum of exp(-γ d²) - 1, of halves: what is computed stays in the cache."""
    if len(squares) > _IN_CACHE:
        # Where NumPy would divide the sum.
        middle = len(squares) // 16 * 8
        halves = squares[:middle], squares[middle:]
        return sum(_negative_targets(half, rate) for half in halves)
    with np.errstate(over="ignore"):
        targets = squares * rate
    return float(np.expm1(targets, out=targets).sum())


def paper_quantile(n_clusters: int) -> float:
    """0.9 up to four clusters, then 2 / n_clusters but at least 0.1."""
    if n_clusters <= _MAX_FEW_CLUSTERS:
        return _QUANTILE_FEW_CLUSTERS
    return max(_MIN_QUANTILE, _PAIRS_SHARE_FACTOR / n_clusters)


def attribute_geometry(
    X: NDArray[np.float64],
    metric: Any,
    rng: np.random.RandomState,
    information: SideInformation | None = None,
    weights: NDArray[np.float64] | None = None,
) -> tuple[Geometry, Any]:
    """Geometry of attribute data, and the fitted transformer if there is one.

    Without ``information`` the estimator has no use for any.
    """
    if hasattr(metric, "transform") and not isinstance(metric, type):
        transformer = fit_transformer(metric, X, rng, information, weights)
        points = transformed(transformer, X)
        check_spread("X", points)
        return Geometry(points), transformer
    if isinstance(metric, str) and metric == "euclidean":
        check_spread("X", X)
        return Geometry(X), None
    if isinstance(metric, str) and metric == "gower":
        metric = Gower.of_numbers(X)
    if isinstance(metric, Gower):
        check_gower(X, metric)
        return Geometry(X, metric), None
    if isinstance(metric, str) and metric in PARAMETRIC:
        raise ValueError(
            f"metric must not depend on which rows are compared, as {metric!r} does: "
            "transform X, or give a transformer such as StandardScaler"
        )
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            pairwise_distances(X[:2], metric=metric)
    except (ValueError, TypeError) as error:
        raise ValueError(
            "metric must be 'gower', a metric of scikit-learn's pairwise_distances, a "
            f"callable or a transformer, got {shown(metric)}: {error}"
        ) from error
    return Geometry(X, metric), None


def check_gower(X: NDArray[np.float64], metric: Gower) -> None:
    """Refuse rows that the metric is not about, and rows that are all alike."""
    metric.points(X[:1])
    if (X[0] == X).all():
        raise ValueError("X must have different rows, got the same one everywhere")


def given_geometry(
    dissimilarities: ArrayLike, n_samples: int, *, symmetrize: bool
) -> Geometry:
    """Geometry of a separate matrix or condensed vector for the same objects."""
    with naming("dissimilarities"):
        values = np.asarray(dissimilarities)
    if values.ndim not in (1, 2) or values.dtype.kind not in "biuf":
        raise ValueError(
            "dissimilarities must be a square matrix or a condensed vector of numbers, "
            f"got {type(dissimilarities).__name__} of shape {np.shape(values)} and "
            f"dtype {values.dtype}"
        )
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


def check_not_negative(X: NDArray[np.float64]) -> None:
    """Refuse negative dissimilarities of new objects to those of the fit."""
    if X.min() < 0:
        raise ValueError(
            f"X must hold no negative dissimilarities, the smallest is {X.min():.3g}"
        )


def check_scale_parameters(estimator: Any) -> None:
    """Check the parameters dissimilarity_quantile and dissimilarity_scale."""
    quantile = estimator.dissimilarity_quantile
    if isinstance(quantile, str):
        check_choice("dissimilarity_quantile", quantile, ("auto", "paper"))
    else:
        check_number("dissimilarity_quantile", quantile, at_least=0, at_most=1)
    if estimator.dissimilarity_scale is not None:
        check_squarable("dissimilarity_scale", estimator.dissimilarity_scale)


def takes_contrast(estimator: Any) -> bool:
    """Whether δ0 depends on the share of the pairs that should be apart."""
    quantile = estimator.dissimilarity_quantile
    is_auto = isinstance(quantile, str) and quantile == "auto"
    return is_auto and estimator.dissimilarity_scale is None


def scale_of(
    estimator: Any, geometry: Geometry, share: float, rng: np.random.RandomState
) -> float:
    """δ0 as the parameters of an estimator say.

    ``share`` is that of the pairs which should be apart, for "auto".
    """
    if estimator.dissimilarity_scale is not None:
        geometry.check_some()
        return float(estimator.dissimilarity_scale)
    quantile = estimator.dissimilarity_quantile
    if takes_contrast(estimator):
        scale = geometry.contrast_scale(share, rng)
    else:
        if isinstance(quantile, str):
            quantile = paper_quantile(estimator.n_clusters)
        scale = geometry.quantile_scale(quantile, rng)
    return check_squarable("δ0 of X", scale)
