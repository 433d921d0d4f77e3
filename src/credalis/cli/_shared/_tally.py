"""Counts about a partition that comes in pieces."""

from typing import Any

import numpy as np

from credalis.partition import CredalPartition
from credalis.partition._presentation import text_table


class Tally:
    """How many rows are clear, ambiguous, outliers; how many are in each cluster."""

    def __init__(self, n_clusters: int) -> None:
        self.n_rows = 0
        self.n_empty = 0
        self.n_ambiguous = 0
        self.n_outliers = 0
        self.counts = np.zeros((3, n_clusters), dtype=np.int64)

    def add(self, partition: CredalPartition, n_empty: int = 0) -> "Tally":
        """Count the rows of a piece, and those that are not in it."""
        self.n_rows += len(partition) + n_empty
        self.n_empty += n_empty
        self.n_ambiguous += int(partition.is_ambiguous.sum())
        self.n_outliers += int(partition.is_outlier.sum())
        self.counts += (
            partition.lower.sum(axis=0),
            partition.upper.sum(axis=0),
            np.bincount(partition.labels, minlength=partition.n_clusters),
        )
        return self

    @property
    def n_clear(self) -> int:
        """Rows whose largest mass is on one cluster."""
        return self.n_rows - self.n_empty - self.n_ambiguous - self.n_outliers

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        names = ("certainly_in", "possibly_in", "most_plausible")
        return {
            "rows": self.n_rows,
            "dropped": self.n_empty,
            "clear": self.n_clear,
            "ambiguous": self.n_ambiguous,
            "outliers": self.n_outliers,
            "clusters": [
                {"cluster": k, **dict(zip(names, column.tolist(), strict=True))}
                for k, column in enumerate(self.counts.T)
            ],
        }

    def text(self) -> str:
        """A table and three lines."""
        header = ("cluster", "certainly in", "possibly in", "most plausible")
        rows = [(str(k), *map(str, column)) for k, column in enumerate(self.counts.T)]
        lines = [
            f"{self.n_rows} rows",
            "",
            *text_table(header, rows),
            "",
            f"clear      {self._share(self.n_clear)}",
            f"ambiguous  {self._share(self.n_ambiguous)}",
            f"outliers   {self._share(self.n_outliers)}",
        ]
        if self.n_empty:
            lines.append(f"left out   {self._share(self.n_empty)}  (missing values)")
        return "\n".join(lines)

    def _share(self, count: int) -> str:
        return f"{count} ({count / max(1, self.n_rows):.1%})"
