"""How much views and their columns count: the weights of WMVEC.

J has the squared distances Σ_v r_v f_v Σ_{p ∈ v} u_vp (x_ip - v̄_jp)² between objects
and sets of clusters. They are Euclidean in columns that are multiplied by the root of
their weight q_p = Σ_{v ∋ p} r_v f_v u_vp.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax, xlogy

from credalis.cluster._inputs._views import uniform_noise
from credalis.objectives import (
    PrototypeModel,
    mass_weights,
    prototype_masses,
    row_blocks,
    set_prototypes,
)

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ViewCosts:
    """What does not change while weights are learned.

    Attributes
    ----------
    views : mapping from str to array of int
        Columns of each view.
    scales : array of shape (n_views,)
        Factors f_v that make views with different units comparable.
    varies : array of bool, shape (n_features,)
        Columns with different values.
    view_entropy, feature_entropy : float, float or None
        λ and γ; without γ all columns of a view have weight 1.
    """

    views: Mapping[str, NDArray[np.intp]]
    scales: Array
    varies: NDArray[np.bool_]
    view_entropy: float
    feature_entropy: float | None

    def equal_weights(self) -> "ViewWeights":
        """All views, and all columns of each, count the same."""
        n_views = len(self.views)
        features = tuple(
            self.varies[columns].astype(np.float64)
            if self.feature_entropy is not None
            else np.ones(len(columns))
            for columns in self.views.values()
        )
        return ViewWeights(self, np.full(n_views, 1 / n_views), features)


@dataclass(frozen=True, eq=False)
class ViewWeights:
    """Weights of views and of their columns.

    Attributes
    ----------
    costs : ViewCosts
        What they are about.
    views : array of shape (n_views,)
        r_v, which sum to 1.
    features : tuple of arrays
        u_vp, which have mean 1 over the columns of a view that vary.
    """

    costs: ViewCosts
    views: Array
    features: tuple[Array, ...]

    @cached_property
    def columns(self) -> Array:
        """q_p, (n_features,)."""
        weights = np.zeros(len(self.costs.varies))
        factors = self.views * self.costs.scales
        for columns, factor, features in zip(
            self.costs.views.values(), factors, self.features, strict=True
        ):
            weights[columns] += factor * features
        return weights

    @property
    def penalty(self) -> float:
        """λ Σ_v r_v ln(V r_v) + γ Σ_v Σ_{p ∈ v} w_vp ln u_vp with w_vp = u_vp / d_v.

        Both are 0 for equal weights.
        """
        costs = self.costs
        total = costs.view_entropy * xlogy(self.views, len(self.views) * self.views)
        penalty = float(total.sum()) if len(self.views) > 1 else 0.0
        if costs.feature_entropy is not None:
            for features in self.features:
                of_view = xlogy(features, features).sum() / max(features.sum(), 1.0)
                penalty += costs.feature_entropy * float(of_view)
        return penalty

    def like(self, fitted: Mapping[str, Any]) -> "ViewWeights":
        """Those of fitted attributes."""
        features = self.features
        if fitted["feature_weights_"] is not None:
            features = tuple(fitted["feature_weights_"].values())
        return replace(self, views=fitted["view_weights_"], features=features)

    def view_costs(self, scatters: Array) -> Array:
        """F_v = f_v Σ_{p ∈ v} u_vp E_p, (n_views,), from those of columns."""
        return self.costs.scales * np.array(
            [
                features @ scatters[columns]
                for columns, features in zip(
                    self.costs.views.values(), self.features, strict=True
                )
            ]
        )

    def updated(self, scatters: Array) -> "ViewWeights":
        """Weights of views that minimise J, and then those of columns.

        r_v is proportional to exp(-F_v / λ), and w_vp to exp(-r_v f_v d_v E_p / γ).

        Parameters
        ----------
        scatters : array of shape (n_features,)
            E_p = Σ_ij |A_j|^α m_ij^β (x_ip - v̄_jp)².
        """
        costs = self.costs
        after = self
        if len(self.views) > 1:
            views = softmax(-self.view_costs(scatters) / costs.view_entropy)
            after = replace(self, views=views)
        if costs.feature_entropy is None:
            return after
        features = []
        for columns, factor in zip(
            costs.views.values(), after.views * costs.scales, strict=True
        ):
            varies = costs.varies[columns]
            weights = np.zeros(len(columns))
            n_varying = int(varies.sum())
            if n_varying:
                of_columns = factor * n_varying * scatters[columns[varies]]
                shares = softmax(-of_columns / costs.feature_entropy)
                weights[varies] = n_varying * shares
            features.append(weights)
        return replace(after, features=tuple(features))


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """Sums over the objects, with weights w_ij = m_ij^β.

    Attributes
    ----------
    loss : float
        J without the penalty of the weights of views.
    weight_sums : array of shape (n_focal_sets,)
        Σ_i w_ij.
    deviations, squares : array of shape (n_focal_sets, n_features)
        Σ_i w_ij (x_ip - v̄_jp), and the same of squares.
    """

    loss: float
    weight_sums: Array
    deviations: Array
    squares: Array

    def scatters(self, model: PrototypeModel, centers: Array, moved: Array) -> Array:
        """E_p at prototypes that have moved since the sums, (n_features,)."""
        way = _means(moved, model) - _means(centers, model)
        squares = self.squares - 2 * way * self.deviations
        squares += self.weight_sums[:, None] * way**2
        is_set = model.focal_sets.cardinality > 0
        return np.maximum(model.coefficients[is_set] @ squares[is_set], 0.0)


def column_moments(
    X: Array, centers: Array, weights: ViewWeights, model: PrototypeModel
) -> ColumnMoments:
    """J and what moves prototypes and weights, with the best masses.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Data.
    centers : array of shape (n_clusters, n_features)
        Prototypes, in the units of the data.
    weights : ViewWeights
        What distances are.
    model : PrototypeModel
        Exponents and distance to noise.
    """
    roots = np.sqrt(weights.columns)
    sets = set_prototypes(centers * roots, None, model)
    means = _means(centers, model)
    n_sets = len(model.focal_sets)
    weight_sums = np.zeros(n_sets)
    deviations, squares = np.zeros(means.shape), np.zeros(means.shape)
    is_empty = model.focal_sets.cardinality == 0
    coefficients = model.coefficients[:, None] * weights.columns
    for rows in row_blocks(len(X), n_sets * X.shape[1]):
        masses = prototype_masses(X[rows] * roots, sets, model)
        powers = mass_weights(masses, model.beta)
        weight_sums += powers.sum(axis=0)
        for j in np.flatnonzero(~is_empty):
            apart = X[rows] - means[j]
            deviations[j] += powers[:, j] @ apart
            squares[j] += powers[:, j] @ apart**2
    loss = float((coefficients * squares)[~is_empty].sum())
    loss += model.delta**2 * float(weight_sums[is_empty].sum())
    return ColumnMoments(loss, weight_sums, deviations, squares)


def noise_like(X: Array, n_objects: int, rng: np.random.RandomState) -> Array:
    """Objects without clusters and with the principal axes of X, the longest 2."""
    deviations = X - X.mean(axis=0)
    # In a unit whose square is a number.
    deviations /= np.abs(deviations).max()
    lengths = np.linalg.svd(deviations, compute_uv=False)
    return uniform_noise(lengths / lengths.max(), n_objects, rng)


def _means(centers: Array, model: PrototypeModel) -> Array:
    """v̄_j, (n_focal_sets, n_features)."""
    return set_prototypes(centers, None, model).barycenters


def fitted_weights(weights: ViewWeights) -> dict[str, Any]:
    """Fitted attributes."""
    features = None
    if weights.costs.feature_entropy is not None:
        features = dict(zip(weights.costs.views, weights.features, strict=True))
    return {
        "views_": dict(weights.costs.views),
        "view_weights_": weights.views,
        "feature_weights_": features,
        "column_weights_": weights.columns,
    }
