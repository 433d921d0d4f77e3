"""Counts about a partition that comes in pieces."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from credalis.partition import CLEAR_LEVEL, CredalPartition
from credalis.partition._presentation import (
    CLUSTER_HEADER,
    cluster_counts,
    is_hard,
    silence_lines,
    text_table,
    word_lines,
)


def named_line(cluster_names: Sequence[str]) -> str:
    """Which cluster is called what."""
    named = [f"{k} is {name}" for k, name in enumerate(cluster_names) if name != str(k)]
    return "clusters by their labels: " + ", ".join(named)


class Tally:
    """How many rows are clear, between clusters, outliers; how many in each cluster.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    clear_level : float, default=0.7
        As in `CredalPartition.verdicts`.
    """

    def __init__(self, n_clusters: int, clear_level: float = CLEAR_LEVEL) -> None:
        self.clear_level = clear_level
        self.n_rows = 0
        self.n_empty = 0
        self.n_between = 0
        self.n_outliers = 0
        self._counts = np.zeros((3, n_clusters), dtype=np.int64)
        self._approximations = np.zeros((2, n_clusters), dtype=np.int64)
        self._has_empty_mass = False
        self._is_hard = True
        # How many sets with a level have 0, 1, ... clusters.
        self.set_sizes = np.zeros(n_clusters + 1, dtype=np.int64)

    def add(self, partition: CredalPartition, n_empty: int = 0) -> "Tally":
        """Count the rows of a piece, and those that are not in it."""
        verdicts = partition.verdicts(self.clear_level)
        self.n_rows += len(partition) + n_empty
        self.n_empty += n_empty
        self.n_between += int(verdicts.is_between.sum())
        self.n_outliers += int(verdicts.is_outlier.sum())
        self._counts += cluster_counts(partition, verdicts)
        self._approximations += partition.lower.sum(axis=0), partition.upper.sum(axis=0)
        self._has_empty_mass |= bool(partition.outlier_mass.any())
        self._is_hard = self._is_hard and is_hard(partition)
        return self

    @property
    def n_clear(self) -> int:
        """Rows that are neither between clusters nor outliers."""
        return self.n_rows - self.n_empty - self.n_between - self.n_outliers

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; certainly and possibly in a cluster by the largest mass."""
        names = ("clear", "between", "most_plausible", "certainly_in", "possibly_in")
        columns = np.vstack([self._counts, self._approximations]).T
        return {
            "rows": self.n_rows,
            "dropped": self.n_empty,
            "clear_level": self.clear_level,
            "clear": self.n_clear,
            "ambiguous": self.n_between,
            "outliers": self.n_outliers,
            "clusters": [
                {"cluster": k, **dict(zip(names, column.tolist(), strict=True))}
                for k, column in enumerate(columns)
            ],
        }

    def text(self) -> str:
        """A table, three lines, and what the result cannot say."""
        rows = [(str(k), *map(str, column)) for k, column in enumerate(self._counts.T)]
        counts = (self.n_clear, self.n_between, self.n_outliers)
        lines = [
            f"{self.n_rows} rows",
            "",
            *text_table(CLUSTER_HEADER, rows),
            "",
            *word_lines(counts, self.clear_level, n_rows=self.n_rows),
        ]
        if self.n_empty:
            share = self.n_empty / self.n_rows
            lines.append(
                f"left out        {self.n_empty} ({share:.1%})  (missing values)"
            )
        if self.n_rows > self.n_empty:
            lines += silence_lines(
                has_empty_mass=self._has_empty_mass, is_hard=self._is_hard
            )
        return "\n".join(lines)
