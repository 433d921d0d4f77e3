"""Mixtures fitted to data, from which data of known components are drawn."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import gammaln, logsumexp
from sklearn.mixture import GaussianMixture

from credalis.optimize import iterate

Array = NDArray[np.float64]

# Degrees of freedom of the t distributions: tails far heavier than those of a Gaussian.
_DEGREES = 5.0
# Added to the variances of data that were scaled to variance 1.
_RIDGE = 1e-3
_N_STARTS = 3
_MAX_ITER, _TOL = 100, 1e-6
# With fewer rows for each component and feature, covariances are diagonal.
_ROWS_PER_FEATURE = 3
# What a component without rows weighs.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class World:
    """A mixture of Gaussian or of t distributions.

    Attributes
    ----------
    weights : array of shape (n_components,)
        Share of each component.
    means : array of shape (n_components, n_features)
        Centres.
    factors : array of shape (n_components, n_features, n_features)
        Lower triangular, the product with its transpose is the scale matrix.
    degrees : float
        Degrees of freedom, infinite for Gaussian distributions.
    """

    weights: Array
    means: Array
    factors: Array
    degrees: float

    def draw(
        self, n_rows: int, rng: np.random.RandomState
    ) -> tuple[Array, NDArray[np.intp]]:
        """Rows, and the component of each."""
        components = rng.choice(len(self.weights), n_rows, p=self.weights)
        noise = rng.standard_normal((n_rows, self.means.shape[1]))
        if np.isfinite(self.degrees):
            noise /= np.sqrt(rng.chisquare(self.degrees, n_rows) / self.degrees)[
                :, None
            ]
        spread = np.einsum("nij,nj->ni", self.factors[components], noise)
        return self.means[components] + spread, components

    def squared_distances(self, X: Array) -> Array:
        """Mahalanobis distances to the centres, squared, (n_rows, n_components)."""
        columns = [
            np.square(solve_triangular(factor, (X - mean).T, lower=True)).sum(axis=0)
            for mean, factor in zip(self.means, self.factors, strict=True)
        ]
        return np.stack(columns, axis=1)

    def log_densities(self, squared: Array) -> Array:
        """Log of weight times density of t distributions at these distances."""
        d, nu = self.means.shape[1], self.degrees
        diagonals = np.diagonal(self.factors, axis1=1, axis2=2)
        constant = gammaln((nu + d) / 2) - gammaln(nu / 2) - d / 2 * np.log(nu * np.pi)
        heights = constant - np.log(diagonals).sum(axis=1) + np.log(self.weights)
        return heights - (nu + d) / 2 * np.log1p(squared / nu)

    def unscaled(self, center: Array, scale: Array) -> "World":
        """The world of the rows ``center + scale * X``."""
        factors = self.factors * scale[:, None]
        return World(self.weights, center + scale * self.means, factors, self.degrees)


def fitted_worlds(
    X: Array, n_components: int, rng: np.random.RandomState
) -> tuple[World, World]:
    """Mixtures of Gaussian and of t distributions with 5 degrees, fitted by EM.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
        Data.
    n_components : int
        Number of components.
    rng : RandomState
        Draws the starts of the Gaussian mixture; the other one begins where it ended.
    """
    center, scale = X.mean(axis=0), X.std(axis=0)
    # A constant feature stays constant in the world: its scale remains 0 there.
    Z = (X - center) / np.where(scale > 0, scale, 1.0)
    is_full = len(Z) >= _ROWS_PER_FEATURE * n_components * Z.shape[1]
    mixture = GaussianMixture(
        n_components,
        covariance_type="full" if is_full else "diag",
        n_init=_N_STARTS,
        reg_covar=_RIDGE,
        random_state=rng,
    ).fit(Z)
    covariances = mixture.covariances_
    if not is_full:
        covariances = np.stack([np.diag(variances) for variances in covariances])
    factors = np.linalg.cholesky(covariances)
    gaussian = World(mixture.weights_, mixture.means_, factors, np.inf)
    heavy = _t_mixture(Z, gaussian, is_full)
    return gaussian.unscaled(center, scale), heavy.unscaled(center, scale)


def _t_mixture(Z: Array, start: World, is_full: bool) -> World:
    """EM for a mixture of t distributions (Peel and McLachlan, 2000)."""
    first = World(start.weights, start.means, start.factors, _DEGREES)
    return iterate(_em_step(Z, is_full), first, tol=_TOL, max_iter=_MAX_ITER).state


def _em_step(Z: Array, is_full: bool) -> Callable[[World], tuple[World, float]]:
    d = Z.shape[1]

    def step(world: World) -> tuple[World, float]:
        squared = world.squared_distances(Z)
        logs = world.log_densities(squared)
        total = logsumexp(logs, axis=1, keepdims=True)
        memberships = np.exp(logs - total) + _NOTHING
        # Rows far from a centre say less about it.
        pulls = memberships * (_DEGREES + d) / (_DEGREES + squared)
        means = pulls.T @ Z / pulls.sum(axis=0)[:, None]
        sizes = memberships.sum(axis=0)
        factors = np.empty_like(world.factors)
        for k, mean in enumerate(means):
            away = Z - mean
            scatter = (pulls[:, k, None] * away).T @ away / sizes[k]
            if not is_full:
                scatter = np.diag(np.diagonal(scatter))
            factors[k] = np.linalg.cholesky(scatter + _RIDGE * np.eye(d))
        weights = sizes / sizes.sum()
        return World(weights, means, factors, _DEGREES), -float(total.mean())

    return step
