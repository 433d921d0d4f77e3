"""What columns of words say about the clusters: how often each has which word."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credalis.report._content.columns import Column
from credalis.report._content.subject import Subject
from credalis.report._content.text import percentage, plain

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# A word is typical of a cluster if its share exceeds that in all by so much.
_NOTABLE_SHARE = 0.2


@dataclass(frozen=True)
class Known:
    """A word that describes a cluster, as in "98 % Gentoo", and of which column."""

    share: str
    note: str


def telling_words(
    subject: Subject, columns: list[Column], inside: NDArray[np.bool_]
) -> list[list[str]]:
    """For each cluster and column of words, the one it has far more often than all."""
    found: list[list[str]] = [[] for _ in range(subject.partition.n_clusters)]
    for shares in _all_shares(subject, columns, inside):
        for k in np.flatnonzero(shares.gains.max(axis=1) >= _NOTABLE_SHARE).tolist():
            j = int(shares.gains[k].argmax())
            found[k].append(
                f"{shares.column.name} {shares.word(j)} ({shares.of(k, j)})"
            )
    return found


@dataclass(frozen=True, eq=False)
class _Shares:
    """How often the words of a column occur in each cluster, (n_clusters, n_words)."""

    column: Column
    words: list[str]
    counts: NDArray[np.intp]

    @property
    def overall(self) -> NDArray[np.intp]:
        return self.counts.sum(axis=0)

    @property
    def gains(self) -> Array:
        """Share in the cluster minus that in all."""
        sizes = self.counts.sum(axis=1)
        shares = self.counts / np.maximum(sizes, 1)[:, None]
        gains = shares - self.overall / self.overall.sum()
        return np.where(sizes[:, None] > 0, gains, 0.0)

    def word(self, j: int) -> str:
        return plain(self.words[j], 40)

    def share(self, k: int, j: int) -> str:
        return percentage(self.counts[k, j], self.counts[k].sum())

    def of(self, k: int, j: int) -> str:
        """Shares of a word in the cluster and in all, as in "98 %, all: 36 %"."""
        overall = percentage(self.overall[j], self.overall.sum())
        return f"{self.share(k, j)}, all: {overall}"


def _all_shares(
    subject: Subject, columns: list[Column], inside: NDArray[np.bool_]
) -> Iterator[_Shares]:
    """Shares in the columns of few different words; gaps do not count."""
    n_clusters = subject.partition.n_clusters
    groups = subject.groups[inside]
    for column in columns:
        words = column.categories(inside)
        if words:
            counts = word_counts(column, words, groups, inside, n_clusters)
            yield _Shares(column, words, counts)


def word_counts(
    column: Column,
    words: list[str],
    groups: Indices,
    inside: NDArray[np.bool_],
    n_clusters: int,
) -> NDArray[np.intp]:
    """How often each word occurs in each cluster, (n_clusters, n_words).

    Parameters
    ----------
    column : Column
    words : list of str
        The different words.
    groups : array of int
        Clusters of the rows that are inside.
    inside : array of bool, shape (n_samples,)
        Rows that count.
    n_clusters : int
    """
    code_of = {word: j for j, word in enumerate(words)}
    found = column.words(inside)
    known = [i for i, word in enumerate(found) if word is not None]
    codes = np.array(
        [code_of[word] for word in found if word is not None], dtype=np.intp
    )
    counts = np.zeros((n_clusters, len(words)), dtype=np.intp)
    np.add.at(counts, (groups[known], codes), 1)
    return counts


def known_of(
    subject: Subject, columns: list[Column], inside: NDArray[np.bool_]
) -> list[list[Known]]:
    """For each cluster and column of words, the word that says what the cluster is.

    It is far more frequent than in all, or at least that of half of the objects.
    """
    found: list[list[Known]] = [[] for _ in range(subject.partition.n_clusters)]
    for shares in _all_shares(subject, columns, inside):
        for k in np.flatnonzero(shares.counts.sum(axis=1)).tolist():
            gains = shares.gains[k]
            is_notable = gains.max() >= _NOTABLE_SHARE
            j = int(gains.argmax() if is_notable else shares.counts[k].argmax())
            if not is_notable and 2 * shares.counts[k, j] < shares.counts[k].sum():
                continue
            overall = percentage(shares.overall[j], shares.overall.sum())
            found[k].append(
                Known(
                    f"{shares.share(k, j)} {shares.word(j)}",
                    f"{shares.column.name}; of all {overall}",
                )
            )
    return found
