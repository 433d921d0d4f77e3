"""Which columns speak for a cluster: each cell exchanged with typical ones.

With P_k the plausibility of cluster k as a share of all clusters' and t_lj the typical
cell of cluster l in column j, the cell of an object x in column j speaks for k with

    φ_kj = P_k(x) - Σ_l π_l P_k(x with t_lj),

where π_l is the share of cluster l: it is what the object would lose, on average, if
its cell were any typical one. A negative φ_kj speaks against the cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credalis._explain._cells import Cells
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
    """Typical cells of the clusters that have objects; of all, if none has any."""
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


def plausibility_shares(partition: CredalPartition) -> Array:
    """P_k: plausibilities of the clusters divided by their sum, (n_rows, n_clusters).

    Equal shares where no cluster is plausible at all.
    """
    plausibility = partition.plausibility
    total = plausibility.sum(axis=1, keepdims=True)
    equal = np.full_like(plausibility, 1 / partition.n_clusters)
    return np.divide(plausibility, total, out=equal, where=total > 0)


def cluster_scores(cells: Cells, rows: Indices, typical: TypicalCells) -> Array:
    """φ_kj of some rows, (n_rows, n_clusters, n_columns)."""
    n_columns, n_known = len(cells.columns), len(typical.clusters)
    own = np.repeat(rows[:, None], n_columns, axis=1)
    exchanged = np.repeat(own[:, None, None], n_known, axis=1)
    exchanged = np.repeat(exchanged, n_columns, axis=2)
    diagonal = np.arange(n_columns)
    exchanged[:, :, diagonal, diagonal] = typical.rows
    sources = np.concatenate([own, exchanged.reshape(-1, n_columns)])
    shares = plausibility_shares(cells.mixed_partition(sources))
    before, after = shares[: len(rows)], shares[len(rows) :]
    after = after.reshape(len(rows), n_known, n_columns, -1)
    return before[:, :, None] - np.einsum("l,nljk->nkj", typical.shares, after)


def strangeness_scores(
    cells: Cells, rows: Indices, nearest: Indices, typical: TypicalCells
) -> Array:
    """What makes outliers of objects, (n_rows, n_columns).

    With t the typical object of the cluster that is nearest, the cell x_j makes an
    outlier with

        ½ [m(∅)(x) - m(∅)(x with t_j)] + ½ [m(∅)(t with x_j) - m(∅)(t)].

    The second half is there for objects that several cells make strange: to exchange
    one of them is not enough.
    """
    n_columns = len(cells.columns)
    places = np.searchsorted(typical.clusters, nearest)
    own = np.repeat(rows[:, None], n_columns, axis=1)
    ordinary = typical.rows[places]
    diagonal = np.arange(n_columns)
    with_typical = np.repeat(own[:, None], n_columns, axis=1)
    with_typical[:, diagonal, diagonal] = ordinary
    with_own = np.repeat(ordinary[:, None], n_columns, axis=1)
    with_own[:, diagonal, diagonal] = own
    parts = [own, ordinary, with_typical, with_own]
    sources = np.concatenate([part.reshape(-1, n_columns) for part in parts])
    empty = cells.mixed_partition(sources).outlier_mass
    n = len(rows)
    strange, usual = empty[:n, None], empty[n : 2 * n, None]
    mended, spoiled = empty[2 * n :].reshape(2, n, n_columns)
    return 0.5 * (strange - mended) + 0.5 * (spoiled - usual)
