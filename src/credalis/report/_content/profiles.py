"""The clusters: how large they are and what distinguishes them."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from credalis._drawing.palette import cluster_colors, hex_color, on_dark
from credalis.partition._presentation import cluster_counts
from credalis.report._content.columns import Column
from credalis.report._content.subject import Subject
from credalis.report._content.text import number
from credalis.report._content.words import Known, known_of, telling_words

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Standardised differences that deserve a word, and a strong word.
_NOTABLE, _STRONG = 0.5, 1.2
# Values so many standard deviations off make an object unusual.
_UNUSUAL = 2.5
_N_WORDS = 4


@dataclass(frozen=True, eq=False)
class Profiles:
    """Means of the clusters, column by column.

    Outliers do not count: a single one could hide what the clusters differ in.

    Parameters
    ----------
    columns : list of Column
        The columns of numbers.
    means : array of shape (n_clusters, n_columns)
        NaN for a cluster without objects.
    center, spread : arrays of shape (n_columns,)
        Mean and standard deviation of all objects that are no outliers.
    words : list of lists of str
        What the columns of words say about each cluster.
    described : list of str
        What columns of numbers that were not compared by say about each cluster.
    known : list of lists of Known
        What columns of words that were not compared by say about each cluster.
    """

    columns: list[Column]
    means: Array
    center: Array
    spread: Array
    words: list[list[str]]
    described: list[str] = field(default_factory=list)
    known: list[list[Known]] = field(default_factory=list)

    @property
    def differences(self) -> Array:
        """(mean of the cluster - mean of all) / standard deviation of all."""
        spread = np.where(self.spread > 0, self.spread, 1.0)
        return (self.means - self.center) / spread

    @property
    def order(self) -> Indices:
        """Columns by how much they tell some cluster apart, the best first."""
        most = np.nan_to_num(np.abs(self.differences)).max(axis=0, initial=0.0)
        return np.argsort(-most, kind="stable")

    def mean(self, k: int, j: int) -> str:
        """Mean of cluster k in column j, for a reader."""
        return self.columns[j].mean_text(self.means[k, j], self.spread[j])

    def overall(self, j: int) -> str:
        """Mean of all objects in column j, for a reader."""
        return self.columns[j].mean_text(self.center[j], self.spread[j])

    def describe(self, k: int) -> str:
        """What distinguishes cluster k, in words."""
        differences = np.nan_to_num(self.differences[k])
        notable = [
            f"{_degree(differences[j], self.columns[j])} {self.columns[j].name} "
            f"({self.mean(k, j)}, all: {self.overall(j)})"
            for j in np.argsort(-np.abs(differences), kind="stable")[:_N_WORDS]
            if abs(differences[j]) >= _NOTABLE
        ]
        return "; ".join(notable + self.words[k])

    def unusual(self, i: int) -> str:
        """What is far from usual about object i, as in "very high income"."""
        values = np.array([column.values[i] for column in self.columns])
        spread = np.where(self.spread > 0, self.spread, np.inf)
        scores = np.nan_to_num((values - self.center) / spread)
        return ", ".join(
            f"very {_side(scores[j], self.columns[j])} {self.columns[j].name}"
            for j in np.argsort(-np.abs(scores), kind="stable")[:2]
            if abs(scores[j]) >= _UNUSUAL
        )


def _side(difference: float, column: Column) -> str:
    """Dates are late where numbers are high."""
    above, below = ("late", "early") if column.is_date else ("high", "low")
    return above if difference > 0 else below


def _degree(difference: float, column: Column) -> str:
    word = _side(difference, column)
    return f"very {word}" if abs(difference) >= _STRONG else word


def profiles_of(subject: Subject) -> Profiles:
    """Means of the columns of numbers, shares of the words of the others."""
    inside = subject.groups >= 0
    profiles = _profiles(subject, subject.numeric, subject.columns, inside)
    if not subject.described:
        return profiles
    numeric = [column for column in subject.described if column.is_varying]
    aside = _profiles(subject, numeric, numeric, inside)
    described = [aside.describe(k) for k in range(subject.partition.n_clusters)]
    known = known_of(subject, subject.described, inside)
    return replace(profiles, described=described, known=known)


def _profiles(
    subject: Subject,
    columns: list[Column],
    all_columns: list[Column],
    inside: NDArray[np.bool_],
) -> Profiles:
    """Profiles by some columns, the others of which hold words."""
    n_clusters = subject.partition.n_clusters
    groups = subject.groups[inside]
    means = np.full((n_clusters, len(columns)), np.nan)
    center, spread = np.full((2, len(columns)), np.nan)
    for j, column in enumerate(columns):
        values = column.values[inside]
        known = np.isfinite(values)
        if not known.any():
            continue
        # In units of the largest value, so that no square overflows.
        unit = np.abs(values[known]).max() or 1.0
        values, members = values[known] / unit, groups[known]
        counts = np.bincount(members, minlength=n_clusters)
        sums = np.bincount(members, values, minlength=n_clusters)
        means[:, j] = unit * np.divide(
            sums, counts, out=np.full(n_clusters, np.nan), where=counts > 0
        )
        center[j], spread[j] = unit * values.mean(), unit * values.std()
    words = telling_words(subject, all_columns, inside)
    return Profiles(columns, means, center, spread, words)


@dataclass(frozen=True, eq=False)
class Card:
    """One cluster: its size in words and in a bar, its character, typical objects."""

    cluster: int
    color: str
    sizes: str
    clear_width: str
    between_width: str
    words: str
    typical: list[int]
    described: str = ""
    known: list[Known] = field(default_factory=list)
    name: str = ""
    dark_color: str = ""


def cards_of(
    subject: Subject, profiles: Profiles, typical: list[Indices]
) -> list[Card]:
    """A card for each cluster that has objects."""
    partition = subject.partition
    clear, between, hard = cluster_counts(partition, subject.verdicts)
    share = 100 / max((clear + between).max(), hard.max(), 1)
    colors = cluster_colors(partition.n_clusters)
    cards = []
    for k in map(int, np.flatnonzero(clear + between + hard)):
        words = profiles.describe(k)
        if not words and profiles.columns:
            words = "about the same as all objects in every column"
        cards.append(
            Card(
                cluster=k,
                color=hex_color(colors[k]),
                dark_color=on_dark(hex_color(colors[k])),
                sizes=f"{number(int(clear[k]))} clear, {number(int(between[k]))} "
                f"between it and others, {number(int(hard[k]))} most plausible here",
                clear_width=f"{share * clear[k]:.1f}",
                between_width=f"{share * between[k]:.1f}",
                words=words if len(typical[k]) else "",
                typical=typical[k].tolist(),
                described=profiles.described[k] if profiles.described else "",
                known=profiles.known[k] if profiles.known else [],
                name=subject.cluster_names[k] if subject.cluster_names else "",
            )
        )
    return cards
