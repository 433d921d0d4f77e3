"""The one-class coupling: novel objects move their mass to the empty set."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]

# Weight of m at the start: both conventions trust the inliers.
INITIAL_COEFFICIENTS = {"reference": (0.0, -1.0), "paper": (0.0, 1.0)}


def mass_weight(scores: Array, coefficients: Array, link: str) -> tuple[Array, Array]:
    """Weight ω of the network's masses, and its derivative with respect to β0.

    m* = ω m + (1 - ω) e_∅, with η = log(1 + exp(β0 + β1 score)) and

    * link "reference": ω = 1 / (1 + η);
    * link "paper": ω = η / (1 + η).

    The derivative with respect to β1 is the score times that for β0.

    Parameters
    ----------
    scores : array of shape (n_samples,)
        Decision values of a novelty detector, larger for ordinary objects.
    coefficients : array of shape (2,) or (n_stacked, 2)
        β0 and β1.
    link : {"reference", "paper"}
        Which convention.

    Returns
    -------
    weights, slopes : array of shape (n_samples,) or (n_stacked, n_samples)
    """
    signals = coefficients[..., 0, None] + coefficients[..., 1, None] * scores
    eta = np.logaddexp(0.0, signals).astype(scores.dtype)
    # The logistic function as exp(-softplus(-s)): no overflow on either side.
    logistic = np.exp(signals - eta)
    share = 1 / (1 + eta)
    slopes = logistic * share**2
    if link == "reference":
        return share, -slopes
    return eta * share, slopes


def couple(masses: Array, weights: Array, empty_index: int) -> Array:
    """m* = ω m + (1 - ω) e_∅, for masses of shape (..., n_focal_sets, n_samples)."""
    coupled = masses * weights[..., None, :]
    coupled[..., empty_index, :] += 1 - weights
    return coupled
