"""Evidence that a region is hit more often by a stream than by calibration objects."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, xlog1py, xlogy

Array = NDArray[np.float64]
Counts = NDArray[np.intp]


def log_mixture(hits: Counts, trials: Counts) -> Array:
    """Logarithm of ∫ p^hits (1 - p)^(trials - hits) dp under Jeffreys' prior.

    What a sequence of draws is worth to someone who bets without knowing the
    probability of a hit.
    """
    return betaln(hits + 0.5, trials - hits + 0.5) - 2 * gammaln(0.5)


def log_likelihood(hits: Counts, trials: Counts | int, probability: Array) -> Array:
    """Logarithm of p^hits (1 - p)^(trials - hits), with 0⁰ = 1."""
    return xlogy(hits, probability) + xlog1py(trials - hits, -probability)


def log_supremum(
    known_hits: Counts, n_known: int, hits: Counts, trials: Counts, tolerated: float
) -> Array:
    """Largest log-likelihood if the stream hits no more often than it may.

    With p the probability of a hit for calibration objects and q for the stream, the
    null hypothesis is q <= max(p, tolerated). It is the union of two sets: q <= p,
    where the supremum is at the two observed shares or, if these are in the wrong
    order, at the share of all objects together; and q <= tolerated.
    """
    known_share = known_hits / n_known
    share = hits / np.maximum(trials, 1)
    pooled = (known_hits + hits) / (n_known + trials)
    is_ordered = share <= known_share
    not_above = log_likelihood(
        known_hits, n_known, np.where(is_ordered, known_share, pooled)
    ) + log_likelihood(hits, trials, np.where(is_ordered, share, pooled))
    scattered = log_likelihood(known_hits, n_known, known_share) + log_likelihood(
        hits, trials, np.minimum(share, tolerated)
    )
    return np.maximum(not_above, scattered)


def log_evidence(
    known_hits: Counts, n_known: int, hits: Counts, trials: Counts, tolerated: float
) -> Array:
    """Logarithm of an e-process against "the stream hits no more often than it may".

    By universal inference: the likelihood of calibration and stream under Jeffreys'
    priors, divided by the largest likelihood under the null hypothesis. Under the null
    hypothesis and independent draws the quotient is at most a martingale that starts
    with mean 1, whenever one chooses to look.

    Parameters
    ----------
    known_hits : array of int, shape (n_regions,)
        Calibration objects in each region.
    n_known : int
        Number of calibration objects.
    hits, trials : array of int, shape (n_regions,)
        Objects of the stream in each region, and all since it is watched.
    tolerated : float
        Share of the stream that a region may have without being of interest.

    Returns
    -------
    array of shape (n_regions,)

    References
    ----------
    L. Wasserman, A. Ramdas, S. Balakrishnan (2020), Universal inference, PNAS 117(29),
    16880-16890.
    """
    known_trials = np.full_like(known_hits, n_known)
    alternative = log_mixture(known_hits, known_trials) + log_mixture(hits, trials)
    return alternative - log_supremum(known_hits, n_known, hits, trials, tolerated)
