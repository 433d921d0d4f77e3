"""Several views of the objects of a network, and how much each counts.

J = Σ_v r_v f_v L_v + λ Σ_v r_v ln(V r_v), where L_v is the cost of the network with the
dissimilarities of view v alone and f_v makes costs of views comparable. With S = Σ_v
r_v f_v and q_v = r_v f_v / S,

    Σ_v r_v f_v (κ - δ*_v)² = S (κ - Σ_v q_v δ*_v)² + what does not depend on κ,

so that the network for given weights is one with the blended targets Σ_v q_v δ*_v, and
the weights for a given network are r_v ∝ exp(-f_v L_v / λ).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax, xlogy

from credalis._checks import check_spread, shown
from credalis.cluster._inputs._clusters import HardClusters, hard_clusters
from credalis.cluster._inputs._geometry import Geometry, given_geometry, scale_of
from credalis.cluster._inputs._views import (
    MAX_NOISE,
    Views,
    are_tables,
    joined_again,
    uniform_noise,
)
from credalis.dissimilarity import BlendedSimilarities, Similarities, transform

if TYPE_CHECKING:
    from credalis.cluster.nnevclus._settings import Settings

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# What a network leaves of noise at least: of few objects nothing might be left.
_LEAST_STRESS = 1e-6


@dataclass(frozen=True, eq=False)
class NetworkViews:
    """Views of the same objects.

    Attributes
    ----------
    columns : dict from str to array of int
        Columns of each view among those of X.
    parts : tuple of Geometry
        Where the dissimilarities of each view come from.
    scales : array of shape (n_views,)
        δ0 of each view.
    units : array of shape (n_views,)
        What costs are divided by: the stress of a network for uniform noise with the
        same axes. Any clusters divide few columns more easily than many, and targets of
        many columns are nearly the same for all pairs: neither says that there are
        clusters.
    entropy : float
        λ in units of the harmonic mean of these.
    weights : array of shape (n_views,)
        r_v, which sum to 1.
    matrix_units : array of shape (n_views,) or None
        What the matrices that inputs are made of were divided by.
    starts : tuple of pairs of an array and HardClusters
        Weights and clusters to start from, the best first.
    """

    columns: Views
    parts: tuple[Geometry, ...]
    scales: Array
    units: Array
    entropy: float
    weights: Array
    matrix_units: Array | None = None
    starts: tuple[tuple[Array, HardClusters], ...] = ()

    @property
    def factors(self) -> Array:
        """f_v, with mean 1, so that S = 1 for equal weights."""
        factors: Array = (1.0 / self.units) / np.mean(1.0 / self.units)
        return factors

    @property
    def total(self) -> float:
        """S = Σ_v r_v f_v."""
        return float(self.weights @ self.factors)

    @property
    def shares(self) -> Array:
        """q_v = r_v f_v / S."""
        return blending_shares(self.weights, self.factors)

    @property
    def penalty(self) -> float:
        """λ Σ_v r_v ln(V r_v), 0 for equal weights."""
        if len(self.parts) == 1:
            return 0.0
        rate = self.entropy / float(np.mean(1.0 / self.units))
        return rate * float(xlogy(self.weights, len(self.weights) * self.weights).sum())

    def loss(self, costs: Array) -> float:
        """J, from the costs L_v, (n_views,)."""
        return float(self.weights * self.factors @ costs) + self.penalty

    def updated(self, costs: Array) -> NetworkViews:
        """The same with the weights that minimise J, given the costs L_v."""
        if len(self.parts) == 1:
            return self
        return replace(self, weights=softmax(-costs / self.units / self.entropy))

    def similarities(self, dtype: type) -> Similarities:
        """1 - δ* of the blended targets."""
        each = self.of_each(dtype)
        return each[0] if len(each) == 1 else BlendedSimilarities(each, self.shares)

    def of_each(self, dtype: type = np.float64) -> tuple[Similarities, ...]:
        """1 - δ*_v."""
        return tuple(
            part.similarities(float(scale), dtype)
            for part, scale in zip(self.parts, self.scales, strict=True)
        )

    @property
    def scale(self) -> float:
        """δ0 of the view that counts most."""
        return float(self.scales[self.shares.argmax()])

    @property
    def together(self) -> Geometry:
        """Where hard clusters and seeds are looked for.

        Squared distances are Σ_v q_v (δ0 / δ0_v)² d_v², with δ0 that of all together.
        """
        factors = np.sqrt(self.shares) * (self.scale / self.scales)
        return joint_geometry(self.parts, factors)

    def fitted_attributes(self) -> dict[str, Any]:
        """What prediction, and a look at the result, need to know."""
        attributes: dict[str, Any] = {
            "views_": self.columns,
            "view_weights_": self.weights,
            "view_factors_": self.factors,
            "view_scales_": self.scales,
        }
        if self.matrix_units is not None:
            attributes["view_units_"] = self.matrix_units
        return attributes


def blending_shares(weights: Array, factors: Array) -> Array:
    """q_v = r_v f_v / Σ_h r_h f_h."""
    shares: Array = weights * factors / (weights @ factors)
    return shares


def column_weights(columns: Views, shares: Array, scales: Array) -> Array:
    """What squared differences are multiplied by in all views together, (n_used,).

    In the columns that are in some view, ascending.
    """
    weights = np.zeros(len(used_columns(columns)))
    factors = shares * (scales[shares.argmax()] / scales) ** 2
    for factor, each in zip(factors, among_used(columns).values(), strict=True):
        weights[each] += factor
    return weights


def joint_geometry(parts: tuple[Geometry, ...], factors: Array) -> Geometry:
    """One geometry with the squared distances Σ_v (factor_v d_v)²."""
    if len(parts) == 1:
        return parts[0]
    if not parts[0].is_precomputed:
        points = [
            part.values * factor for part, factor in zip(parts, factors, strict=True)
        ]
        return Geometry(np.hstack(points))
    squares = sum(
        np.square(part.values * factor)
        for part, factor in zip(parts, factors, strict=True)
    )
    return Geometry(np.sqrt(squares), "precomputed")


def used_columns(columns: Views) -> Indices:
    """Columns that are in some view, ascending."""
    return np.unique(np.concatenate(list(columns.values())))


def among_used(columns: Views) -> Views:
    """The same columns, numbered among those that are used."""
    used = used_columns(columns)
    return {name: np.searchsorted(used, each) for name, each in columns.items()}


def column_parts(X: Array, columns: Views) -> tuple[Geometry, ...]:
    """Euclidean geometries of groups of columns."""
    check_spread("X", X)
    return tuple(Geometry(X[:, each]) for each in columns.values())


def matrix_parts(
    matrices: Any, n_samples: int, *, symmetrize: bool
) -> dict[str, Geometry]:
    """Geometries of a mapping or list of dissimilarities of the same objects."""
    pairs = matrices.items() if isinstance(matrices, Mapping) else enumerate(matrices)
    parts = {}
    for name, values in pairs:
        try:
            parts[str(name)] = given_geometry(values, n_samples, symmetrize=symmetrize)
        except ValueError as error:
            raise ValueError(f"view {name!r} of dissimilarities: {error}") from error
    if not parts:
        raise ValueError("dissimilarities must hold at least one matrix, got none")
    return parts


def mean_matrix(matrices: Any, units: Array | None = None) -> tuple[Array, Array]:
    """Root of the mean of squared matrices of views, each in its unit, and the units.

    Parameters
    ----------
    matrices : mapping or list of arrays of shape (n_rows, n_samples)
        Dissimilarities between the same objects in each view.
    units : array of shape (n_views,) or None
        None: the mean of each matrix, which the rows of new objects are measured by.
    """
    values = list(matrices.values() if isinstance(matrices, Mapping) else matrices)
    arrays = [np.asarray(each, dtype=np.float64) for each in values]
    if units is None:
        units = np.array([each.mean() or 1.0 for each in arrays])
    squares = [np.square(each / unit) for each, unit in zip(arrays, units, strict=True)]
    return np.sqrt(np.mean(squares, axis=0)), units


def rows_of_views(X: Any, views: Views, units: Array | None) -> Any:
    """Rows of new objects, joined as those of the fit were."""
    if units is None or not are_tables(X):
        return joined_again(X, views)
    if isinstance(X, Mapping) and set(X) == set(views):
        X = {name: X[name] for name in views}
    names = [str(each) for each in (X if isinstance(X, Mapping) else range(len(X)))]
    if names != list(views):
        raise ValueError(f"X must have the views {list(views)} of the fit, got {names}")
    shapes = {np.shape(each) for each in (X.values() if isinstance(X, Mapping) else X)}
    if len(shapes) > 1:
        raise ValueError(
            f"all views of X must have the same shape, got {shown(sorted(shapes))}"
        )
    return mean_matrix(X, units)[0]


def start_of_views(
    settings: Settings,
    columns: Views,
    parts: tuple[Geometry, ...],
    noise_stress: Callable[[Array], float],
    rng: np.random.RandomState,
) -> NetworkViews:
    """Views with hard clusters to start from, those of the lowest J first.

    Clusters are looked for in each view alone and in all together, since where one view
    is mostly noise, so are the clusters of all together. δ0 of a view is what it is
    with the clusters of this view alone.

    Parameters
    ----------
    settings : Settings
        Of the estimator.
    columns : dict from str to array of int
        Columns of each view.
    parts : tuple of Geometry
        Where the dissimilarities of each view come from.
    noise_stress : callable
        The stress of a network, given objects without clusters.
    rng : RandomState
        Draws what is drawn.
    """
    found = [hard_clusters(part, settings.n_clusters, rng) for part in parts]
    scales = np.array(
        [
            scale_of(settings, part, each.share_apart, rng)
            for part, each in zip(parts, found, strict=True)
        ]
    )
    weights, units = np.full(len(parts), 1 / len(parts)), np.ones(len(parts))
    views = NetworkViews(columns, parts, scales, units, settings.view_entropy, weights)
    if len(parts) == 1:
        return replace(views, starts=((weights, found[0]),))
    together = joint_geometry(parts, 1 / scales)
    found.append(hard_clusters(together, settings.n_clusters, rng))
    units = np.array([noise_stress(noise_like(part, rng)) for part in parts])
    views = replace(views, units=np.maximum(units, _LEAST_STRESS))
    starts = []
    for clusters in found:
        costs = np.array(clusters_stresses(views, clusters, rng))
        after = views.updated(costs)
        starts.append((after.loss(costs), after.weights, clusters))
    starts.sort(key=lambda each: each[0])
    return replace(
        views,
        weights=starts[0][1],
        starts=tuple((weights, clusters) for _, weights, clusters in starts),
    )


def clusters_stresses(
    views: NetworkViews, clusters: HardClusters, rng: np.random.RandomState
) -> list[float]:
    """Of each view: mean of (κ - δ*)² with one κ within hard clusters, one between.

    The best two: masses on several clusters make conflicts as small as targets are.
    """
    chosen = np.arange(len(clusters.objects))
    if len(chosen) > MAX_NOISE:
        chosen = rng.choice(len(chosen), MAX_NOISE, replace=False)
    labels, objects = clusters.labels[chosen], clusters.objects[chosen]
    first, second = np.triu_indices(len(labels), 1)
    are_apart = labels[first] != labels[second]
    stresses = []
    for part, scale in zip(views.parts, views.scales, strict=True):
        lengths = part.distances(objects)
        targets = transform(lengths[first, second], scale)
        for group in (are_apart, ~are_apart):
            if group.any():
                targets[group] -= targets[group].mean()
        stresses.append(float(np.square(targets).mean()))
    return stresses


def noise_like(geometry: Geometry, rng: np.random.RandomState) -> Array:
    """Objects without clusters, with the same principal axes."""
    n_samples = len(geometry.values)
    objects = np.arange(n_samples)
    if n_samples > MAX_NOISE:
        objects = rng.choice(n_samples, MAX_NOISE, replace=False)
    lengths = _axes(geometry.distances(objects))
    return uniform_noise(lengths, len(objects), rng)


def check_varying(columns: Views, parts: tuple[Geometry, ...]) -> None:
    """Refuse a view in which all objects are alike."""
    for name, part in zip(columns, parts, strict=True):
        values = part.values
        is_alike = not values.any() if part.is_precomputed else (values[0] == values)
        if np.all(is_alike):
            raise ValueError(
                f"each of the views must tell objects apart, view {name!r} does not"
            )


def _axes(distances: Array) -> Array:
    """Lengths of the principal axes of objects, the longest 1, from their distances.

    Those of the doubly centred squares; what is not Euclidean has negative ones, which
    are left out.
    """
    squares = np.square(distances / distances.max())
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None]
    centred += squares.mean()
    values = np.linalg.eigvalsh(-centred / 2)[::-1]
    kept = values[values > 1e-10 * values[0]]
    return np.sqrt(kept / kept[0])
