"""Which columns speak for a cluster: each cell exchanged with typical ones.

With P_k the plausibility of cluster k as a share of all clusters' and t_lj the typical
cell of cluster l in column j, the cell of an object x in column j speaks for k with

    φ_kj = P_k(x) - Σ_l π_l P_k(x with t_lj),

where π_l is the share of cluster l: it is what the object would lose, on average, if
its cell were any typical one. A negative φ_kj speaks against the cluster.
"""

import numpy as np
from numpy.typing import NDArray

from credalis._explain._cells import Cells
from credalis._explain._columns import Array
from credalis._explain._typical import TypicalCells
from credalis.partition import CredalPartition

Indices = NDArray[np.intp]

# Cells of the rows that are put together for some objects at a time.
_CHUNK_CELLS = 2**21


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
    per_row = len(typical.clusters) * len(cells.columns) ** 2
    step = max(1, _CHUNK_CELLS // per_row)
    parts = [
        _some_scores(cells, rows[start : start + step], typical)
        for start in range(0, len(rows), step)
    ]
    return np.concatenate(parts)


def _some_scores(cells: Cells, rows: Indices, typical: TypicalCells) -> Array:
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
