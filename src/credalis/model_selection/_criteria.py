"""Criteria: what each says about a range of values, and which value it prefers.

A criterion may abstain; then it says why. Votes are counted by `agree_on`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.partition import CredalPartition

Array = NDArray[np.float64]

# The most trusted first: it decides between values with as many votes. The order is
# that of the benchmark sets whose number of classes each finds.
TRUST = ("peaks", "stability", "stress", "nonspecificity")

# Quantiles whose stabilities are closer than this count as equally stable.
EQUALLY_STABLE = 0.02

_ROUNDING = 1e-9

# Below this, not even the most stable partition comes back on other resamples.
MIN_STABILITY = 0.5


@dataclass(frozen=True)
class Vote:
    """The value a criterion prefers, None if it abstains, and why."""

    value: float | None
    reason: str


def certain_clusters(partition: CredalPartition) -> NDArray[np.int32]:
    """Cluster that carries the largest mass of each object, -1 if no single one does.

    Shape (n_samples,).
    """
    lower = partition.lower
    return np.where(lower.any(axis=1), lower.argmax(axis=1), -1).astype(np.int32)


def certain_agreement(first: NDArray[np.integer], second: NDArray[np.integer]) -> float:
    """Adjusted Rand index of two lower approximations.

    An object that is not certainly in a cluster is together with no other one. With a
    pairs of objects together in both partitions, b and e in each of them, and t pairs
    in all, the index is

        (a - b e / t) / ((b + e) / 2 - b e / t),

    1 for equal partitions and 0 on average for unrelated ones. Two partitions that put
    all objects together, or none, say nothing, and their agreement is 0.

    Parameters
    ----------
    first, second : array of int, shape (n_samples,)
        Clusters of the objects, -1 for uncertain ones.
    """
    n_samples = len(first)
    shape = (first.max(initial=0) + 1, second.max(initial=0) + 1)
    in_first, in_second = first >= 0, second >= 0
    in_both = in_first & in_second
    joint = np.zeros(shape)
    np.add.at(joint, (first[in_both], second[in_both]), 1)
    together = _n_pairs(joint)
    once = _n_pairs(np.bincount(first[in_first], minlength=1))
    other = _n_pairs(np.bincount(second[in_second], minlength=1))
    expected = once * other / max(_n_pairs(np.array([n_samples])), 1.0)
    largest = (once + other) / 2
    if largest <= expected:
        return 0.0
    return float((together - expected) / (largest - expected))


def stability(
    clusters: Sequence[NDArray[np.integer]], rows: Sequence[NDArray[np.intp]]
) -> tuple[float, float]:
    """Mean agreement of all pairs of resamples on the rows they share.

    Parameters
    ----------
    clusters : list of arrays of int
        Certain clusters of the rows of each resample.
    rows : list of arrays of int
        Their row numbers, in increasing order.

    Returns
    -------
    mean, error : float
        The mean, and its standard error: as a mean over pairs varies, 2 s / √B with s
        the standard deviation of the B mean agreements of one resample with the others.
    """
    n_resamples = len(rows)
    agreement = np.full((n_resamples, n_resamples), np.nan)
    for i in range(n_resamples):
        for j in range(i):
            _, mine, others = np.intersect1d(
                rows[i], rows[j], assume_unique=True, return_indices=True
            )
            agreement[i, j] = agreement[j, i] = certain_agreement(
                clusters[i][mine], clusters[j][others]
            )
    means = np.nanmean(agreement, axis=1)
    return float(means.mean()), float(2 * means.std(ddof=1) / np.sqrt(n_resamples))


def most_stable(
    numbers: NDArray[np.intp], means: Array, is_full: NDArray[np.bool_]
) -> Vote:
    """The number with the most stable partitions, the largest of several.

    Few clusters that merge groups far apart can be perfectly stable too, hence the
    largest of equals. Numbers at which a cluster has no object are left out, because
    they are smaller numbers in disguise.

    Parameters
    ----------
    numbers : array of int, shape (n_numbers,)
        Numbers of clusters, increasing.
    means : array of shape (n_numbers,)
        Stability.
    is_full : array of bool, shape (n_numbers,)
        Whether every cluster has an object.
    """
    if not is_full.any():
        return Vote(None, "at every number some cluster has no objects")
    best = means[is_full].max()
    if best < MIN_STABILITY:
        return Vote(None, _unstable(best))
    chosen = int(np.flatnonzero(is_full & (means > best - _ROUNDING))[-1])
    reason = f"partitions come back on other samples (stability {means[chosen]:.2f})"
    return Vote(int(numbers[chosen]), reason)


def most_telling(quantiles: Array, means: Array, nonspecificity: Array) -> Vote:
    """The least nonspecific of the quantiles that are as stable as the best.

    Parameters
    ----------
    quantiles, means, nonspecificity : array of shape (n_quantiles,)
        Quantiles of the dissimilarities, stability and average nonspecificity.
    """
    best = means.max()
    if best < MIN_STABILITY:
        return Vote(None, _unstable(best))
    tied = np.flatnonzero(means > best - EQUALLY_STABLE)
    chosen = int(tied[nonspecificity[tied].argmin()])
    reason = f"partitions come back on other samples (stability {means[chosen]:.2f})"
    if len(tied) > 1:
        reason += f" and say most among {len(tied)} as stable ones"
    return Vote(float(quantiles[chosen]), reason)


def elbow(numbers: NDArray[np.intp], stress: Array) -> Vote:
    """Where the stress stops falling: farthest below the chord of its logarithm.

    More clusters never fit worse, so that a rise is a bad start and counts as standing
    still. On the logarithm, what counts is by which factor a further cluster lowers the
    stress, and the first, large steps do not hide the others.

    Parameters
    ----------
    numbers : array of int, shape (n_numbers,)
        Numbers of clusters, increasing; the first and the last cannot be the elbow.
    stress : array of shape (n_numbers,)
        Stress at equal δ0, not negative.
    """
    if len(numbers) < 3:
        return Vote(None, "an elbow needs three numbers of clusters")
    lowest = np.maximum(np.minimum.accumulate(stress), np.finfo(float).tiny)
    logarithms = np.log(lowest)
    fall = logarithms[0] - logarithms[-1]
    if fall <= 0:
        return Vote(None, "the stress does not fall")
    share = (numbers - numbers[0]) / (numbers[-1] - numbers[0])
    below = (logarithms[0] - logarithms) / fall - share
    k = int(below.argmax())
    if below[k] <= 0 or k in (0, len(numbers) - 1):
        return Vote(
            None,
            f"the stress falls as fast as before up to {int(numbers[-1])} clusters",
        )
    return Vote(
        int(numbers[k]),
        f"the stress falls to {stress[k]:.2g} there and more slowly beyond",
    )


def least_nonspecific(
    numbers: NDArray[np.intp], values: Array, has_all_subsets: NDArray[np.bool_]
) -> Vote:
    """The minimum of N*(c), if all subsets carry mass and it is not at the upper end.

    With fewer focal sets than all, N* falls by itself as c grows: a pair of clusters
    counts log 2 / log c.

    Parameters
    ----------
    numbers : array of int, shape (n_numbers,)
        Numbers of clusters, increasing.
    values : array of shape (n_numbers,)
        N*.
    has_all_subsets : array of bool, shape (n_numbers,)
        Whether the focal sets are all subsets of the clusters.
    """
    if not has_all_subsets.all():
        return Vote(None, 'N* is comparable only with focal_sets="full"')
    k = int(values.argmin())
    if k == len(numbers) - 1 and k > 0:
        return Vote(None, f"N* still falls at {int(numbers[-1])} clusters")
    if k == 0 and numbers[0] > 2:
        return Vote(None, f"N* rises from {int(numbers[0])} clusters on")
    return Vote(int(numbers[k]), f"N* is smallest ({values[k]:.2f})")


def agree_on(votes: Mapping[str, Vote], numbers: NDArray[np.intp]) -> Vote:
    """The number with most votes, and a sentence that says whose they are.

    Between numbers with as many votes, the criterion decides that comes first in
    `TRUST`.
    """
    ranked = [name for name in TRUST if name in votes]
    cast = [name for name in ranked if votes[name].value is not None]
    silent = [name for name in ranked if votes[name].value is None]
    if not cast:
        why = "; ".join(f"{name}: {votes[name].reason}" for name in silent)
        return Vote(None, f"No number of clusters is suggested ({why}).")
    support = {
        value: [name for name in cast if votes[name].value == value]
        for value in dict.fromkeys(votes[name].value for name in cast)
    }
    best = max(support, key=lambda value: len(support[value]))
    parts = [f"{best} clusters by {_listed(support.pop(best))}"]
    parts += [f"{value} by {_listed(names)}" for value, names in support.items()]
    if silent:
        parts.append(f"undecided: {_listed(silent)}")
    if best == numbers[-1]:
        parts.append("it is the largest number tried")
    return Vote(best, f"{'; '.join(parts)}.")


def _unstable(stability: float) -> str:
    return (
        f"no partition comes back on other samples (stability {stability:.2f} at most, "
        f"{MIN_STABILITY:g} is asked for)"
    )


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _n_pairs(counts: NDArray[Any]) -> float:
    """Σ n (n - 1) / 2."""
    counts = counts.astype(np.float64)
    return float((counts * (counts - 1)).sum() / 2)
