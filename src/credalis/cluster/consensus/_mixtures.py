"""Mixtures of Gaussian and of t distributions, fitted by EM from given memberships."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from credalis import _archive
from credalis.cluster._framework._schema import covariance_shape
from credalis.optimize import iterate

Array = NDArray[np.float64]

FAMILIES = ("full", "tied", "diag", "spherical", "isotropic")

# Added to the variances of data whose mean variance is 1.
RIDGE = 1e-3

# EM ends when the mean log-likelihood gains less than this in an iteration.
_TOLERANCE = 1e-3
_MAX_ITERATIONS = 100

# Iterations after which the best of several starts is known.
_TRIAL_ITERATIONS = 8

# What a component without objects weighs.
_NOTHING = 10 * np.finfo(np.float64).eps


def _check_factors(owner: str, entries: _archive.Entries) -> None:
    shape = covariance_shape(entries["family"], *entries["means"].shape)
    factors = entries["factors"]
    if factors.shape != shape:
        raise ValueError(
            f"{owner}.factors must have shape {shape} for family="
            f"{entries['family']!r}, got {factors.shape}"
        )
    is_matrix = entries["family"] in ("full", "tied")
    inverse = np.diagonal(factors, axis1=-2, axis2=-1) if is_matrix else factors
    if not (inverse > 0).all():
        raise ValueError(f"{owner}.factors must hold inverse deviations > 0")


@dataclass(frozen=True, eq=False)
class Mixture(_archive.SavedFields):
    """A mixture of c distributions in d dimensions.

    Attributes
    ----------
    family : {"full", "tied", "diag", "spherical", "isotropic"}
        Shape of the scale matrices Σ_k; "isotropic": the same sphere for all.
    weights : array of shape (c,)
        π_k.
    means : array of shape (c, d)
        μ_k.
    factors : array of shape (c, d, d), (d, d), (c, d), (c,) or (1,)
        By family: A_k with A_k A_kᵀ = Σ_k⁻¹, one such A, or inverse deviations.
    dof : float or None
        Degrees of freedom ν of t distributions; None: Gaussian.
    """

    family: str
    weights: Array
    means: Array
    factors: Array
    dof: float | None = None

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "family": _archive.Choice(*FAMILIES),
            "weights": _archive.Array(
                "f", ("n_components",), above=0, at_most=1 + 1e-6
            ),
            "means": _archive.Array("f", ("n_components", None)),
            "factors": _archive.Array("f", None),
            "dof": _archive.OneOf(_archive.Nothing(), _archive.Number(above=0)),
        },
        relations=(_check_factors,),
    )

    def squared_distances(self, X: Array) -> Array:
        """(x_i - μ_k)ᵀ Σ_k⁻¹ (x_i - μ_k), shape (n, c)."""
        if self.family == "full":
            squares = np.empty((len(X), len(self.means)))
            for k, (mean, factor) in enumerate(
                zip(self.means, self.factors, strict=True)
            ):
                whitened = (X - mean) @ factor
                squares[:, k] = np.einsum("ij,ij->i", whitened, whitened)
            return squares
        if self.family == "tied":
            X, means = X @ self.factors, self.means @ self.factors
            return _squared_lengths(X, means, np.ones(means.shape))
        inverse = self.factors**2
        if self.family in ("spherical", "isotropic"):
            inverse = np.broadcast_to(inverse.reshape(-1, 1), self.means.shape)
        return _squared_lengths(X, self.means, inverse)

    def log_joint(self, X: Array) -> Array:
        """Logarithms of π_k f_k(x_i), shape (n, c)."""
        return self._log_joint(self.squared_distances(X), X.shape[1])

    def log_likelihoods(self, X: Array) -> Array:
        """Logarithms of Σ_k π_k f_k(x_i), shape (n,)."""
        return logsumexp(self.log_joint(X), axis=1)

    def memberships(self, X: Array) -> Array:
        """Posterior probabilities of the components, shape (n, c)."""
        joint = self.log_joint(X)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def _log_joint(self, squares: Array, d: int) -> Array:
        if self.family == "full":
            diagonals = np.diagonal(self.factors, axis1=1, axis2=2)
            log_det = np.log(diagonals).sum(axis=1)
        elif self.family == "tied":
            log_det = np.log(np.diagonal(self.factors)).sum()
        elif self.family == "diag":
            log_det = np.log(self.factors).sum(axis=1)
        else:
            log_det = d * np.log(self.factors)
        if self.dof is None:
            log_density = -0.5 * (d * np.log(2 * np.pi) + squares)
        else:
            half = (self.dof + d) / 2
            constant = gammaln(half) - gammaln(self.dof / 2)
            constant -= d / 2 * np.log(self.dof * np.pi)
            log_density = constant - half * np.log1p(squares / self.dof)
        return np.log(self.weights) + log_det + log_density


_archive.register(Mixture)


@dataclass(frozen=True, eq=False)
class FittedMixture:
    """A mixture, the memberships that it gives, and the mean log-likelihood."""

    mixture: Mixture
    memberships: Array
    log_likelihood: float


def maximized(
    X: Array,
    memberships: Array,
    family: str,
    *,
    dof: float | None = None,
    latent: Array | None = None,
    ridge: float | Array = RIDGE,
) -> Mixture:
    """The mixture that fits memberships best, the M-step.

    Parameters
    ----------
    X : array of shape (n, d)
        Objects.
    memberships : array of shape (n, c)
        Responsibilities r_ik.
    family : str
        Shape of the scale matrices.
    dof : float, default=None
        ν of t distributions; None: Gaussian.
    latent : array of shape (n, c), default=None
        Expected scales u_ik of t distributions; None: all 1.
    ridge : float or array of shape (d,)
        Added to the variances.
    """
    sizes = memberships.sum(axis=0) + _NOTHING
    shares = memberships if latent is None else memberships * latent
    totals = shares.sum(axis=0) + _NOTHING
    means = shares.T @ X / totals[:, None]
    weights = sizes / sizes.sum()
    d = X.shape[1]
    if family in ("full", "tied"):
        covariances = np.empty((len(means), d, d))
        if family == "tied" and latent is None:
            scatter = X.T @ X - (means.T * sizes) @ means
            covariances = (scatter / len(X))[None]
        else:
            for k, mean in enumerate(means):
                centered = X - mean
                covariances[k] = (centered.T * shares[:, k]) @ centered / sizes[k]
            if family == "tied":
                covariances = np.tensordot(weights, covariances, 1)[None]
        covariances += np.diag(np.broadcast_to(ridge, d))
        lower = np.linalg.cholesky(covariances)
        factors = np.swapaxes(np.linalg.inv(lower), 1, 2)
        return Mixture(
            family, weights, means, factors[0] if family == "tied" else factors, dof
        )
    variances = shares.T @ X**2 / totals[:, None] - means**2
    variances = np.maximum(variances, 0.0) * (totals / sizes)[:, None]
    variances += ridge
    if family in ("spherical", "isotropic"):
        variances = variances.mean(axis=1)
    if family == "isotropic":
        variances = np.atleast_1d(weights @ variances)
    return Mixture(family, weights, means, 1 / np.sqrt(variances), dof)


def fit_mixture(
    X: Array,
    memberships: Array,
    family: str,
    *,
    dof: float | None = None,
    ridge: float | Array = RIDGE,
    tol: float = _TOLERANCE,
    max_iter: int = _MAX_ITERATIONS,
) -> FittedMixture:
    """EM from memberships until the likelihood stands still."""

    def step(before: FittedMixture) -> tuple[FittedMixture, float]:
        latent = None
        if dof is not None and before.mixture is not None:
            squares = before.mixture.squared_distances(X)
            latent = (dof + X.shape[1]) / (dof + squares)
        mixture = maximized(
            X, before.memberships, family, dof=dof, latent=latent, ridge=ridge
        )
        after = _expected(mixture, X)
        return after, -after.log_likelihood

    def has_settled(before: FittedMixture, after: FittedMixture) -> bool:
        return after.log_likelihood - before.log_likelihood < tol

    first = _expected(maximized(X, memberships, family, dof=dof, ridge=ridge), X)
    trace = iterate(step, first, tol=tol, max_iter=max_iter, has_settled=has_settled)
    if trace.interrupted:
        raise KeyboardInterrupt
    return trace.state


def best_fit(
    X: Array,
    starts: Sequence[Array],
    family: str,
    *,
    dof: float | None = None,
    ridge: float | Array = RIDGE,
) -> FittedMixture:
    """EM from the memberships that lead to the highest likelihood after a trial."""
    if len(starts) == 1:
        return fit_mixture(X, starts[0], family, dof=dof, ridge=ridge)
    trials = [
        fit_mixture(X, start, family, dof=dof, ridge=ridge, max_iter=_TRIAL_ITERATIONS)
        for start in starts
    ]
    best = max(trials, key=lambda trial: trial.log_likelihood)
    return fit_mixture(X, best.memberships, family, dof=dof, ridge=ridge)


def rounding_ridge(X: Array) -> Array:
    """What to add to the variances of columns, (d,).

    Numbers that are rounded to a grid differ from what they stand for by a variance of
    a twelfth of the square of its spacing. Without it, rows with the same number in a
    column of few numbers would be a cluster of nearly any density.
    """
    gaps = [np.diff(np.unique(column)).min(initial=np.inf) for column in X.T]
    rounding = np.minimum(np.square(gaps) / 12, X.var(axis=0))
    return np.maximum(RIDGE, rounding)


def one_hot(labels: NDArray[np.integer], n_clusters: int) -> Array:
    """Memberships (n, c) of labels; a label below 0 belongs to all clusters alike."""
    memberships = np.full((len(labels), n_clusters), 1.0 / n_clusters)
    memberships[labels >= 0] = np.eye(n_clusters)[labels[labels >= 0]]
    return memberships


def _expected(mixture: Mixture, X: Array) -> FittedMixture:
    """The E-step."""
    joint = mixture.log_joint(X)
    totals = logsumexp(joint, axis=1, keepdims=True)
    return FittedMixture(mixture, np.exp(joint - totals), float(totals.mean()))


def _squared_lengths(X: Array, means: Array, inverse: Array) -> Array:
    """Σ_j (x_ij - μ_kj)² p_kj, shape (n, c)."""
    squares = X**2 @ inverse.T - 2 * X @ (means * inverse).T
    return np.maximum(squares + (means**2 * inverse).sum(axis=1), 0.0)
