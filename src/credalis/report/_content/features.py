"""Features that matter: those whose values tell the clusters apart best."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from credalis.report._content.columns import Column
from credalis.report._content.profiles import Profiles
from credalis.report._content.subject import Subject
from credalis.report._content.words import word_counts

Array = NDArray[np.float64]

# Columns looked at: those whose means differ most, and the first ones of words.
_MAX_CANDIDATES = 24


@dataclass(frozen=True, eq=False)
class Feature:
    """A column and how well it tells the clusters apart, from 0 to 1.

    For numbers that is the share of the variance of their ranks that lies between the
    clusters, which a few extreme values cannot change; for words it is the square of
    Cramér's V.

    Parameters
    ----------
    column : Column
    strength : float
    is_compared : bool
        Whether the objects were compared by it.
    """

    column: Column
    strength: float
    is_compared: bool = True


def features_of(
    subject: Subject, profiles: Profiles, n_most: int, n_described: int
) -> list[Feature]:
    """The best of the columns compared by, then the best of those that describe.

    Parameters
    ----------
    subject : Subject
    profiles : Profiles
        Of the columns compared by.
    n_most, n_described : int
        How many of each kind at most.
    """
    inside = subject.groups >= 0
    if not inside.any():
        return []
    groups = subject.groups[inside]
    numeric = [profiles.columns[j] for j in profiles.order[:_MAX_CANDIDATES]]
    compared = [*numeric, *_of_words(subject.columns, inside)]
    described = [
        *(column for column in subject.described if column.is_varying),
        *_of_words(subject.described, inside),
    ]
    return [
        *_best(compared, groups, inside, n_most, is_compared=True),
        *_best(described, groups, inside, n_described, is_compared=False),
    ]


def _best(
    columns: list[Column],
    groups: NDArray[np.intp],
    inside: NDArray[np.bool_],
    n_most: int,
    *,
    is_compared: bool,
) -> list[Feature]:
    found = [
        Feature(column, _strength(column, groups, inside), is_compared)
        for column in columns
    ]
    # As exact as a reader could tell: rounding must not change the order.
    found.sort(key=lambda feature: -round(feature.strength, 6))
    return found[:n_most]


def _of_words(columns: list[Column], inside: NDArray[np.bool_]) -> list[Column]:
    """Columns of words that group the objects."""
    return [column for column in columns[:_MAX_CANDIDATES] if column.categories(inside)]


def _strength(
    column: Column, groups: NDArray[np.intp], inside: NDArray[np.bool_]
) -> float:
    if column.is_numeric:
        values = column.values[inside]
        known = np.isfinite(values)
        return rank_ratio(values[known], groups[known])
    words = column.categories(inside)
    n_clusters = int(groups.max()) + 1
    return squared_association(word_counts(column, words, groups, inside, n_clusters))


def rank_ratio(values: Array, groups: NDArray[np.intp]) -> float:
    """Share of the variance of the ranks that lies between the groups, 0 to 1."""
    if len(values) == 0:
        return 0.0
    ranks = rankdata(values)
    ranks -= ranks.mean()
    total = float(ranks @ ranks)
    if total == 0:
        return 0.0
    counts = np.bincount(groups)
    sums = np.bincount(groups, ranks)
    used = counts > 0
    return float((sums[used] ** 2 / counts[used]).sum() / total)


def squared_association(counts: NDArray[np.intp]) -> float:
    """Square of Cramér's V of a table of counts, 0 to 1."""
    used = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    smaller = min(used.shape) - 1
    if smaller < 1:
        return 0.0
    total = used.sum()
    expected = np.outer(used.sum(axis=1), used.sum(axis=0)) / total
    return float(((used - expected) ** 2 / expected).sum() / (total * smaller))
