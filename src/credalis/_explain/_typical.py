"""The typical cells of the clusters, found in a table or remembered by a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import shown
from credalis._explain._columns import Array, Column
from credalis.partition import CredalPartition, Verdicts

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class TypicalCells:
    """Where the typical cells of the clusters stand.

    Parameters
    ----------
    clusters : array of int, shape (n_known,)
        The clusters that have objects.
    shares : array of shape (n_known,)
        π_l, of the objects that are no outliers.
    rows : array of int, shape (n_known, n_columns)
        In which row the typical cell of each column is: a median of the clear objects
        of the cluster or its most frequent word.
    """

    clusters: Indices
    shares: Array
    rows: Indices


def typical_cells(
    columns: Sequence[Column], partition: CredalPartition, verdicts: Verdicts
) -> TypicalCells:
    """Typical cells of the clusters that have objects; of all, if none has any.

    Columns may have more rows than the partition; these do not count.
    """
    groups = np.where(verdicts.is_outlier, -1, partition.labels)
    clusters = np.unique(groups[groups >= 0])
    if len(clusters) == 0:
        groups = np.zeros_like(groups)
        clusters = np.zeros(1, dtype=np.intp)
    rows = np.empty((len(clusters), len(columns)), dtype=np.intp)
    counts = np.empty(len(clusters))
    for place, cluster in enumerate(clusters):
        members = np.flatnonzero(groups == cluster)
        counts[place] = len(members)
        clear = members[verdicts.is_clear[members]]
        members = clear if len(clear) else members
        for j, column in enumerate(columns):
            rows[place, j] = members[_typical(column.values[members], column.kind)]
    return TypicalCells(clusters, counts / counts.sum(), rows)


def _typical(values: Array, kind: str) -> int:
    """Place of the lower median of numbers, or of the first most frequent word."""
    known = np.flatnonzero(np.isfinite(values))
    if len(known) == 0:
        return 0
    if kind == "words":
        _, first, counts = np.unique(
            values[known], return_index=True, return_counts=True
        )
        return int(known[first[counts.argmax()]])
    order = np.argsort(values[known], kind="stable")
    return int(known[order[(len(known) - 1) // 2]])


@dataclass(frozen=True, eq=False)
class RememberedCells:
    """Typical rows of the clusters, as a model sees rows.

    Parameters
    ----------
    clusters : array of int, shape (n_known,)
        The clusters that had objects.
    shares : array of shape (n_known,)
        Of the objects that were no outliers.
    features : array of shape (n_known, n_features)
        A row put together from the typical cells of each cluster.
    """

    clusters: Indices
    shares: Array
    features: Array

    @classmethod
    def of(
        cls, typical: TypicalCells, matrix: Array, places: Sequence[Indices]
    ) -> "RememberedCells":
        """The typical cells of a matrix in which columns stand at some places."""
        features = np.zeros((len(typical.clusters), matrix.shape[1]))
        for rows, place in zip(typical.rows.T, places, strict=True):
            features[:, place] = matrix[rows[:, None], place]
        return cls(typical.clusters, typical.shares, features)

    def to_facts(self) -> dict[str, Any]:
        """Plain values, for the facts of a `TabularModel`."""
        return {
            "clusters": self.clusters.tolist(),
            "shares": self.shares.tolist(),
            "features": self.features.tolist(),
        }

    @classmethod
    def from_facts(
        cls, facts: Any, n_clusters: int, n_features: int
    ) -> "RememberedCells":
        """Inverse of `to_facts`; a file may hold anything."""
        try:
            clusters = np.asarray(facts["clusters"], dtype=np.intp)
            shares = np.asarray(facts["shares"], dtype=np.float64)
            features = np.asarray(facts["features"], dtype=np.float64)
            is_sound = (
                clusters.ndim == 1
                and len(clusters) > 0
                and shares.shape == clusters.shape
                and features.shape == (len(clusters), n_features)
                and (np.diff(clusters) > 0).all()
                and 0 <= clusters[0] <= clusters[-1] < n_clusters
                and (shares >= 0).all()
                and np.isclose(shares.sum(), 1)
                and np.isfinite(features).all()
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            is_sound = False
        if not is_sound:
            raise ValueError(
                "the typical cells of a model must be a row of its features for each "
                f"of some clusters, got {shown(facts)}"
            )
        return cls(clusters, shares, features)
