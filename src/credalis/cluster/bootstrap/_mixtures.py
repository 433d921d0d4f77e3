"""Gaussian mixtures of objects that count several times, by EM.

A bootstrap sample is the data with a number for each object, how often it was drawn.
Only the objects that were drawn are looked at, each once. Responsibilities have shape
(n_components, n_samples); parameters have the forms of scikit-learn's GaussianMixture.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Added to the number of objects of a component, which is then never 0.
_SMALLEST_NUMBER = 10 * np.finfo(np.float64).eps

# Numbers that are computed at a time.
_IN_CACHE = 2**16

_NO_SPREAD = (
    "a component of a bootstrap sample has no spread in some direction: increase "
    "reg_covar or lower n_clusters"
)


class Mixture(NamedTuple):
    """Parameters of a Gaussian mixture.

    Attributes
    ----------
    weights : array of shape (n_components,)
        Weights of the components.
    means : array of shape (n_components, n_features)
        Their means.
    precisions_cholesky : array
        Cholesky factors P of their precisions P Pᵀ, in the form of GaussianMixture.
    """

    weights: Array
    means: Array
    precisions_cholesky: Array


def expectation_maximization(
    X: Array,
    counts: NDArray[np.integer],
    start: Mixture,
    covariance_type: str,
    *,
    reg_covar: float,
    tol: float,
    max_iter: int,
) -> tuple[Mixture, float]:
    """The mixture that fits objects which count several times.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Objects.
    counts : array of int, shape (n_samples,)
        How often each of them counts.
    start : Mixture
        Where EM starts.
    covariance_type : str
        Covariance model of GaussianMixture.
    reg_covar : float
        Added to the diagonals of the covariance matrices.
    tol : float
        Change of the mean log-likelihood below which it ends.
    max_iter : int
        Largest number of iterations.

    Returns
    -------
    mixture : Mixture
    likelihood : float
        Mean log-likelihood in the last iteration.
    """
    is_drawn = counts > 0
    turned, drawn = np.ascontiguousarray(X[is_drawn].T), counts[is_drawn]
    total = float(drawn.sum())
    mixture, likelihood = start, -np.inf
    for _ in range(max_iter):
        previous = likelihood
        shares, densities = responsibilities(turned, mixture, covariance_type)
        likelihood = float(densities @ drawn) / total
        shares *= drawn
        mixture = _maximized(turned, shares, covariance_type, reg_covar)
        if abs(likelihood - previous) < tol:
            break
    return mixture, likelihood


def responsibilities(
    turned: Array, mixture: Mixture, covariance_type: str
) -> tuple[Array, Array]:
    """Probabilities of the components, and logarithms of the density.

    Parameters
    ----------
    turned : array of shape (n_features, n_samples)
        Objects, transposed.
    mixture : Mixture
        Parameters.
    covariance_type : str
        Covariance model of GaussianMixture.

    Returns
    -------
    responsibilities : array of shape (n_components, n_samples)
    densities : array of shape (n_samples,)
    """
    weights, means, factors = mixture
    n_components, n_features = means.shape
    if covariance_type == "full":
        logs = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    elif covariance_type == "tied":
        logs = np.log(np.diagonal(factors)).sum()
        factors = np.broadcast_to(factors, (n_components, n_features, n_features))
    elif covariance_type == "diag":
        logs = np.log(factors).sum(axis=1)
    else:
        logs = n_features * np.log(factors)
        factors = np.repeat(factors[:, None], n_features, axis=1)
    values = np.empty((n_components, turned.shape[1]))
    if factors.ndim == 3:
        _squared_lengths(turned, means, factors, values)
    else:
        for mean, factor, own in zip(means, factors, values, strict=True):
            deviations = turned - mean[:, None]
            deviations *= factor[:, None]
            np.einsum("ij,ij->j", deviations, deviations, out=own)
    values *= -0.5
    with np.errstate(divide="ignore"):
        constants = np.log(weights) + logs - 0.5 * n_features * np.log(2 * np.pi)
    values += np.broadcast_to(constants, n_components)[:, None]
    largest = values.max(axis=0)
    np.exp(values - largest, out=values)
    sums = values.sum(axis=0)
    values /= sums
    return values, largest + np.log(sums)


def _squared_lengths(turned: Array, means: Array, factors: Array, out: Array) -> None:
    """Write |Pᵀ (x - mean)|² of all components, (n_components, n_samples).

    One product for all components, some objects at a time. It is of the objects as they
    are: their own rounding matters as much.
    """
    n_components, n_features = means.shape
    rotated = factors.transpose(0, 2, 1)
    centers = (rotated @ means[:, :, None]).reshape(-1, 1)
    rotated = rotated.reshape(-1, n_features)
    size = max(1, _IN_CACHE // len(rotated))
    for start in range(0, turned.shape[1], size):
        part = slice(start, start + size)
        deviations = rotated @ turned[:, part]
        deviations -= centers
        deviations *= deviations
        deviations = deviations.reshape(n_components, n_features, -1)
        np.add.reduce(deviations, axis=1, out=out[:, part])


def _maximized(
    turned: Array, shares: Array, covariance_type: str, reg_covar: float
) -> Mixture:
    """The parameters of highest likelihood, given the shares of the components."""
    n_features = len(turned)
    numbers = shares.sum(axis=1) + _SMALLEST_NUMBER
    means = shares @ turned.T / numbers[:, None]
    # One after the other: those of all components would not stay in the cache.
    spreads = (turned - mean[:, None] for mean in means)
    pairs = zip(shares, spreads, strict=True)
    if covariance_type in ("full", "tied"):
        covariances = np.array([(spread * share) @ spread.T for share, spread in pairs])
        if covariance_type == "tied":
            covariances = covariances.sum(axis=0) / numbers.sum()
        else:
            covariances /= numbers[:, None, None]
        covariances[..., range(n_features), range(n_features)] += reg_covar
        try:
            lower = np.linalg.cholesky(covariances)
        except np.linalg.LinAlgError as error:
            raise ValueError(_NO_SPREAD) from error
        factors = np.linalg.inv(lower).swapaxes(-1, -2)
    else:
        variances = np.array([spread**2 @ share for share, spread in pairs])
        variances = variances / numbers[:, None] + reg_covar
        if covariance_type == "spherical":
            variances = variances.mean(axis=1)
        # Of others the square of the factor is no number, either.
        if variances.min() < np.finfo(np.float64).tiny:
            raise ValueError(_NO_SPREAD)
        factors = 1.0 / np.sqrt(variances)
    return Mixture(numbers / numbers.sum(), means, factors)
