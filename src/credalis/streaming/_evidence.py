"""Evidence that a region is hit more often by a stream than by calibration objects."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, xlog1py, xlogy

Array = NDArray[np.float64]
Counts = NDArray[np.intp]


@dataclass(frozen=True)
class Bets:
    """What is bet on before anything is counted: priors of two probabilities of a hit.

    Attributes
    ----------
    never : float
        Prior probability that calibration objects never hit.
    known, stream : tuple of two floats
        Parameters of the beta priors of the probabilities of a hit for calibration
        objects, if they ever hit, and for the stream.
    log_stakes : callable
        Logarithms of the stakes on the first, second, ... region; they sum to 1.
    on_places : float
        Part of all stakes that goes to regions where nothing was before. These are
        numbered on their own: in a long stream they are few, and their stakes larger.
    on_wide : float
        Part of the stake on a region that goes to the wider one around it.
    held : float
        Part of a new cluster that a region holds on average, the wider one if it has
        a stake.
    """

    never: float
    known: tuple[float, float]
    stream: tuple[float, float]
    log_stakes: Callable[[Counts], Array]
    on_places: float
    on_wide: float
    held: float

    def log_stakes_on(self, numbers: Counts, places: Counts) -> Array:
        """Logarithms of the stakes on some regions.

        Parameters
        ----------
        numbers : array of int, shape (n_regions,)
            The how-manieth region each of them is, from 1.
        places : array of int, shape (n_regions,)
            The how-manieth in a place where nothing was before, from 1; 0 if something
            was.
        """
        stakes = self.log_stakes(numbers)
        if not self.on_places:
            return stakes
        is_new = places > 0
        more = self.log_stakes(np.where(is_new, places, 1)) + np.log(self.on_places)
        stakes = stakes + np.log1p(-self.on_places)
        return np.where(is_new, np.logaddexp(stakes, more), stakes)


def log_fast_stakes(numbers: Counts) -> Array:
    """Logarithm of 1 / (j (j + 1))."""
    return -np.log(numbers) - np.log(numbers + 1.0)


def log_slow_stakes(numbers: Counts) -> Array:
    """Logarithm of 1 / log₂(j + 1) - 1 / log₂(j + 2).

    They sum to 1 as well, and fall hardly faster than 1 / j: what comes late in a
    stream has a stake, too.
    """
    smaller, larger = np.log2(numbers + 1.0), np.log2(numbers + 2.0)
    # Not the difference of the logarithms, of which nothing is left for large j.
    ratio = np.log1p(1 / (numbers + 1.0)) / np.log(2)
    return np.log(ratio) - np.log(smaller) - np.log(larger)


# Bets of monitors that version 0.1 has saved.
EARLIER = Bets(
    never=0.0,
    known=(0.5, 0.5),
    stream=(0.5, 0.5),
    log_stakes=log_fast_stakes,
    on_places=0.0,
    on_wide=0.0,
    held=0.6,
)

# A new cluster is where no calibration object was, and a small part of the stream.
CURRENT = Bets(
    never=0.5,
    known=(0.5, 0.5),
    stream=(0.5, 5.0),
    log_stakes=log_slow_stakes,
    on_places=0.5,
    on_wide=0.5,
    held=0.9,
)


def log_mixture(
    hits: Counts | Array, trials: Counts | Array, prior: tuple[float, float]
) -> Array:
    """Logarithm of ∫ p^hits (1 - p)^(trials - hits) dp under a beta prior.

    What a sequence of draws is worth to someone who bets without knowing the
    probability of a hit.
    """
    a, b = prior
    return betaln(hits + a, trials - hits + b) - betaln(a, b)


def log_likelihood(
    hits: Counts | Array, trials: Counts | Array | int, probability: Array
) -> Array:
    """Logarithm of p^hits (1 - p)^(trials - hits), with 0⁰ = 1."""
    return xlogy(hits, probability) + xlog1py(trials - hits, -probability)


def log_supremum(
    known_hits: Counts,
    n_known: int,
    hits: Counts | Array,
    trials: Counts | Array,
    tolerated: float,
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
    known_hits: Counts,
    n_known: int,
    hits: Counts | Array,
    trials: Counts | Array,
    tolerated: float,
    bets: Bets = CURRENT,
) -> Array:
    """Logarithm of an e-process against "the stream hits no more often than it may".

    By universal inference: the likelihood of calibration and stream under the priors
    of the bets, divided by the largest likelihood under the null hypothesis. Under the
    null hypothesis and independent draws the quotient is at most a martingale that
    starts with mean 1, whenever one chooses to look and whatever the priors.

    Parameters
    ----------
    known_hits : array of int, shape (n_regions,)
        Calibration objects in each region.
    n_known : int
        Number of calibration objects.
    hits, trials : array of shape (n_regions,)
        Objects of the stream in each region, and all since it is watched.
    tolerated : float
        Share of the stream that a region may have without being of interest.
    bets : Bets
        The priors.

    Returns
    -------
    array of shape (n_regions,)

    References
    ----------
    L. Wasserman, A. Ramdas, S. Balakrishnan (2020), Universal inference, PNAS 117(29),
    16880-16890.
    """
    known = log_mixture(known_hits, np.full_like(known_hits, n_known), bets.known)
    if bets.never:
        no_hit = np.where(known_hits == 0, np.log(bets.never), -np.inf)
        known = np.logaddexp(no_hit, np.log1p(-bets.never) + known)
    alternative = known + log_mixture(hits, trials, bets.stream)
    return alternative - log_supremum(known_hits, n_known, hits, trials, tolerated)


def detectable_share(
    n_known: int,
    *,
    false_alarm_rate: float,
    rejection_rate: float,
    tolerated: float,
    bets: Bets = CURRENT,
) -> float:
    """Smallest share of a stream that a new cluster must have to give an alarm.

    No calibration object is in its region, the stream hits it from its beginning as
    often as its share says, and ordinary objects start other regions at the rejection
    rate. Then the evidence rises to a maximum and falls again, slowly: calibration
    objects that never hit rule out only shares that are not too small. The answer is
    the smallest share whose maximum is 1 / false_alarm_rate, infinity if there is none.
    """
    shares = np.geomspace(1e-5, 1, 401)
    trials = np.geomspace(1, 1e8, 161)[:, np.newaxis]
    number = np.ceil(1 + rejection_rate / shares).astype(np.intp)
    stakes = bets.log_stakes_on(number, number)
    if bets.on_wide:
        stakes = stakes + np.log(bets.on_wide)
    held = bets.held * shares
    evidence = stakes + log_evidence(
        np.zeros_like(shares, dtype=np.intp),
        n_known,
        held * trials,
        trials,
        tolerated,
        bets,
    )
    is_enough = evidence.max(axis=0) >= -np.log(false_alarm_rate)
    return float(shares[is_enough].min(initial=np.inf))
