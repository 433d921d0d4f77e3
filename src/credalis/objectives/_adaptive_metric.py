"""The adaptive metric: one Mahalanobis distance of unit volume for each cluster."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Directions in which the standardised data vary less than this do not vary at all.
_CONSTANT = 1e-12

# A cluster is at least this wide in each direction, relative to its mean variance.
_FLAT = 1e-8


@dataclass(frozen=True, eq=False)
class MetricSpace:
    """The directions in which the data vary; in these a metric can adapt.

    Attributes
    ----------
    scale : array of shape (n_features,)
        Standard deviations of the features; 1 for a constant feature.
    directions : array of shape (n_features, n_directions)
        Orthonormal directions in which the standardised data vary.
    unit : float
        Geometric mean of the variances of the features that vary.
    """

    scale: Array
    directions: Array
    unit: float

    @classmethod
    def of(cls, X: Array, weights: Array | None = None) -> "MetricSpace":
        """The space of the rows of X, which count as often as their weights say."""
        shares = None if weights is None else weights / weights.sum()
        centered = X - np.average(X, axis=0, weights=shares)
        scale = np.sqrt(np.average(centered**2, axis=0, weights=shares))
        varies = scale > np.finfo(np.float64).eps * np.abs(X).max(axis=0)
        scale = np.where(varies, scale, 1.0)
        centered *= np.where(varies, 1 / scale, 0.0)
        if shares is None:
            products = centered.T @ centered / len(X)
        else:
            products = (shares[:, None] * centered).T @ centered
        values, vectors = np.linalg.eigh(products)
        unit = np.exp(2 * np.log(scale[varies]).mean()) if varies.any() else 1.0
        return cls(scale, vectors[:, values > _CONSTANT * len(values)], float(unit))

    def metrics(self, scatters: Array, previous: Array) -> Array:
        """S_k = det(Σ_k)^(1/d) Σ_k⁻¹, which minimises tr(S_k Σ_k) under det S_k = 1.

        In directions in which no object differs from another the determinants mean
        nothing; there the metric is that of the standardised data. A cluster that is
        flat would have an infinite metric; it counts as a little wider, and where this
        makes tr(S_k Σ_k) larger than before, the metric stays.

        Parameters
        ----------
        scatters : array of shape (n_clusters, n_features, n_features)
            Σ_k. One of zeros, of a cluster without mass, gives equal weight to all
            directions.
        previous : array of shape (n_clusters, n_features, n_features)
            Metrics before.

        Returns
        -------
        array of shape (n_clusters, n_features, n_features), positive definite
        """
        if self.directions.shape[1] == 0:
            return previous  # nothing varies
        standard = scatters / (self.scale[:, None] * self.scale)
        inner = self.directions.T @ standard @ self.directions
        values, vectors = np.linalg.eigh(inner)
        mean = np.maximum(values.mean(axis=1, keepdims=True), 0.0)
        values = np.maximum(values, _FLAT * mean)
        values[_FLAT * mean[:, 0] == 0] = 1.0
        # Relative to their geometric mean, so that no determinant overflows.
        values /= np.exp(np.log(values).mean(axis=1, keepdims=True))
        turned = self.directions @ vectors
        adapted = (turned / values[:, None, :]) @ turned.transpose(0, 2, 1)
        fixed = np.eye(len(self.scale)) - self.directions @ self.directions.T
        metrics = self.unit * (adapted + fixed) / (self.scale[:, None] * self.scale)
        now, before = (
            (each * scatters).sum(axis=(1, 2)) for each in (metrics, previous)
        )
        return np.where((now <= before)[:, None, None], metrics, previous)
