"""explain: from a model and a table to reasons."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from credalis._checks import check_integer, naming, shown
from credalis._drawing.inputs import check_names
from credalis._explain._alike import nearest, typical_objects
from credalis._explain._cells import Cells, cells_of
from credalis._explain._columns import encoded
from credalis._explain._explanation import (
    NO_CLUSTER,
    Explanation,
    Explanations,
    Reason,
)
from credalis._explain._reasons import (
    Array,
    Indices,
    cluster_scores,
    strangeness_scores,
)
from credalis._explain._tree import grow_tree
from credalis._explain._typical import TypicalCells, typical_cells
from credalis._refusals import refuses_by_name
from credalis.partition import CLEAR_LEVEL, CredalPartition, Verdicts

# Rows that typical cells are found in and the tree is grown from; of more, a sample.
MAX_ROWS = 10_000
# Objects that are explained if none is named.
_N_DOUBTFUL = 10
# A cell that matters less than this, and than this share of the strongest, is not
# named.
_LEAST_WEIGHT, _LEAST_SHARE = 0.01, 0.1


@refuses_by_name
def explain(
    model: Any,
    X: Any,
    rows: ArrayLike | None = None,
    *,
    partition: CredalPartition | None = None,
    n_features: int = 3,
    n_typical: int = 3,
    clear_level: float = CLEAR_LEVEL,
    cluster_names: Sequence[str] | None = None,
) -> Explanations:
    """Why objects are where they are: rival clusters, columns for and against, a tree.

    For each object the clusters that compete for it, the cells that speak for and
    against each, and its nearest typical objects; for the whole partition a decision
    tree over the columns, with at most twice as many leaves as clusters, and the share
    of decisions that it reproduces.

    A cell speaks for a cluster if the cluster would be less plausible were the cell
    exchanged with the typical ones of the clusters, on average over the clusters by
    their sizes: medians of numbers, the most frequent words. On ten real tables and
    five methods, removing the columns named so changed the answer more than removing
    those that the model's gradient names (``python -m benchmarks explanations``).

    All rows that are of interest go into one call: a second one would learn again what
    is typical. For a report: ``found = explain(model, X, rows)``; then
    ``found[i].sentence`` is a line about ``rows[i]``, ``found[i].reasons`` and
    ``found[i].typical`` are what it rests on, ``found.tree.lines`` are the lines of the
    tree and ``found.tree.caption`` says how well it does.

    Parameters
    ----------
    model : estimator, TabularModel, pipeline that ends in one, or CredalPartition
        Fitted; what `credalis.load` has read will do. Without a model that predicts,
        as for a `CredalPartition` and for an estimator of dissimilarities, X must be
        a table that describes the objects of the partition; what would be if a cell
        were another one is then taken from the ten rows of X that are most alike.
        ``basis`` of the result says so.
    X : array-like, DataFrame of pandas or polars, or what else the model takes
        The table that the objects are in, best the one the model was fitted to: what
        is typical of a cluster is learned from it, unless the command line has saved
        the model, which then remembers it. Of more than 10 000 rows a sample counts
        for that, and for the tree.
    rows : int or sequence of int, default=None
        Which rows to explain. None: the ten most doubtful. An empty sequence: only the
        tree is of interest.
    partition : CredalPartition, default=None
        Masses of the rows of X to be explained. None: what the model predicts. Give
        ``model.partition_`` to speak of the fit itself, where the masses of EVCLUS,
        for example, are not quite those that it predicts.
    n_features : int, default=3
        How many columns to name at most, for and against each cluster.
    n_typical : int, default=3
        How many typical objects to name at most for each cluster.
    clear_level : float, default=0.7
        Belief that makes an object clear, as in `CredalPartition.verdicts`.
    cluster_names : sequence of str, default=None
        Names of the clusters. None: those that a `TabularModel` knows, else numbers.

    Returns
    -------
    Explanations
        A sequence of one `Explanation` for each row, with a readable ``str``,
        ``to_pandas()``, and ``tree``.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis import ECM, explain
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> X[30:, 1] += 6
    >>> X[0] = [0, 3]
    >>> model = ECM(2, random_state=0).fit(X)
    >>> found = explain(model, X, [0, 1])
    >>> found[0].verdict, found[1].verdict
    ('between', 'clear')
    >>> print(found[1].sentence)
    clearly in 0: feature 1 0.1049 speaks for 0
    >>> found.tree.n_leaves <= 4
    True
    """
    n_features = check_integer("n_features", n_features, at_least=1)
    n_typical = check_integer("n_typical", n_typical, at_least=0)
    cells = cells_of(model, X, partition)
    if cells.n_rows == 0:
        raise ValueError("X must have at least 1 row that is not left out, got 0")
    if partition is not None and partition.n_samples != cells.n_rows:
        raise ValueError(
            f"partition must be about the {cells.n_rows} rows of X, got "
            f"{partition.n_samples} objects"
        )
    asked = None if rows is None else _checked_rows(rows, cells.is_kept)
    cells, partition = _sampled(cells, partition, asked)
    if partition is None:
        partition = cells.partition()
    verdicts = partition.verdicts(clear_level)
    names = cluster_names_of(cluster_names, model, partition.n_clusters)
    numbers = np.flatnonzero(cells.is_kept)
    if asked is None:
        chosen = np.argsort(-partition.doubt, kind="stable")[:_N_DOUBTFUL]
    else:
        chosen = np.searchsorted(numbers, asked)
    explaining = Explaining(
        cells, partition, verdicts, numbers, names, n_features, n_typical
    )
    columns = [column.take(np.arange(cells.n_rows)) for column in cells.columns]
    tree = grow_tree(columns, partition, verdicts.sets, names)
    return Explanations(explaining.objects(chosen), tree, cells.basis)


class Explaining:
    """What all objects of a call share."""

    def __init__(
        self,
        cells: Cells,
        partition: CredalPartition,
        verdicts: Verdicts,
        numbers: Indices,
        names: tuple[str, ...],
        n_features: int,
        n_typical: int,
    ) -> None:
        self._cells = cells
        self._partition = partition
        self._verdicts = verdicts
        self._numbers = numbers
        self._names = names
        self._n_features = n_features
        self._n_typical = n_typical
        self._matrix, self._places = encoded(cells.columns)
        self._typical = cells.typical or typical_cells(
            cells.columns, partition, verdicts
        )
        self._typical_objects = typical_objects(partition, verdicts)

    def objects(self, rows: Indices) -> tuple[Explanation, ...]:
        """An explanation of each of some rows."""
        if len(rows) == 0:
            return ()
        rivals = [self._rivals(row) for row in rows]
        scores = cluster_scores(self._cells, rows, self._typical)
        strange = np.zeros((len(rows), len(self._cells.columns)))
        outlying = np.flatnonzero(self._verdicts.is_outlier[rows])
        if len(outlying):
            nearest_clusters = np.array([rivals[i][0] for i in outlying])
            strange[outlying] = strangeness_scores(
                self._cells, rows[outlying], nearest_clusters, self._typical
            )
        return tuple(
            self._explanation(int(row), rivals[i], scores[i], strange[i])
            for i, row in enumerate(rows)
        )

    def _rivals(self, row: int) -> list[int]:
        """Clusters that compete for an object, the most plausible first."""
        plausibility = self._partition.plausibility[row]
        order = np.argsort(-plausibility, kind="stable")
        if self._verdicts.is_between[row]:
            return [int(k) for k in order if self._verdicts.sets[row, k]]
        if self._verdicts.is_outlier[row]:
            remoteness = self._remoteness(row)
            known = self._typical.clusters
            # Plausibilities of outliers may all be 0: then the place decides.
            order = known[np.lexsort((remoteness, -plausibility[known].round(2)))]
        return [int(k) for k in order[:2]]

    def _remoteness(self, row: int) -> Array:
        """Distances from an object to the typical cells of clusters, (n_known,)."""
        away = np.zeros(len(self._typical.clusters))
        for rows, place in zip(self._typical.rows.T, self._places, strict=True):
            gaps = self._matrix[rows[:, None], place] - self._matrix[row, place]
            away += (gaps**2).sum(axis=1)
        return np.sqrt(away)

    def _explanation(
        self, row: int, rivals: list[int], scores: Array, strange: Array
    ) -> Explanation:
        verdicts, numbers = self._verdicts, self._numbers
        reasons: list[Reason] = []
        verdict = "clear" if verdicts.is_clear[row] else "between"
        if verdicts.is_outlier[row]:
            verdict = "outlier"
            reasons += self._reasons(row, NO_CLUSTER, np.maximum(strange, 0), rivals[0])
        for k in rivals:
            reasons += self._reasons(row, k, scores[k], k)
        alike = {
            k: nearest(self._matrix, row, self._typical_objects[k], self._n_typical)
            for k in rivals
        }
        return Explanation(
            row=int(numbers[row]),
            verdict=verdict,
            clusters=tuple(rivals),
            plausibility=tuple(self._partition.plausibility[row, rivals].tolist()),
            reasons=tuple(reasons),
            typical={k: tuple(numbers[each].tolist()) for k, each in alike.items()},
            names=self._names,
        )

    def _reasons(
        self, row: int, cluster: int, scores: Array, of_cluster: int
    ) -> list[Reason]:
        """The cells that matter most, for the cluster and then against it."""
        least = max(_LEAST_WEIGHT, _LEAST_SHARE * np.abs(scores).max(initial=0.0))
        found: list[Reason] = []
        for sign in (1, -1):
            order = np.argsort(-sign * scores, kind="stable")[: self._n_features]
            for j in order[sign * scores[order] >= least].tolist():
                column = self._cells.columns[j]
                found.append(
                    Reason(
                        cluster=cluster,
                        feature=column.name,
                        value=column.text(column.values[row]),
                        typical=_typical_text(
                            self._cells, self._typical, of_cluster, j
                        ),
                        weight=float(scores[j]),
                    )
                )
        return found


def _typical_text(cells: Cells, typical: TypicalCells, cluster: int, j: int) -> str:
    """The typical cell of a cluster, "none" for one without objects."""
    place = np.flatnonzero(typical.clusters == cluster)
    if len(place) == 0:
        return "none"
    column = cells.columns[j]
    return column.text(column.values[typical.rows[place[0], j]])


def _checked_rows(rows: ArrayLike, is_kept: NDArray[np.bool_]) -> Indices:
    """Numbers of rows, or a ValueError that says which is none."""
    with naming("rows"):
        array = np.atleast_1d(np.asarray(rows))
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise ValueError(
            f"rows must be row numbers, int or a sequence, got {shown(rows)}"
        )
    n_rows = len(is_kept)
    for row in array.tolist():
        if not 0 <= row < n_rows:
            raise ValueError(f"rows must be between 0 and {n_rows - 1}, got {row}")
        if not is_kept[int(row)]:
            raise ValueError(
                f"rows must not name a row that is left out because of missing values, "
                f"got {row}"
            )
    return array.astype(np.intp)


def _sampled(
    cells: Cells, partition: CredalPartition | None, asked: Indices | None
) -> tuple[Cells, CredalPartition | None]:
    """All rows, or of very many a sample and those that are asked for."""
    n_rows = cells.n_rows
    if n_rows <= MAX_ROWS:
        return cells, partition
    chosen = check_random_state(0).choice(n_rows, MAX_ROWS, replace=False)
    if asked is None:
        kept = np.sort(chosen)
    else:
        kept = np.union1d(chosen, np.searchsorted(np.flatnonzero(cells.is_kept), asked))
    return cells.take(kept), None if partition is None else partition[kept]


def cluster_names_of(
    given: Sequence[str] | None, model: Any, n_clusters: int
) -> tuple[str, ...]:
    """The names given, those that a model knows, or numbers."""
    if given is None:
        known = getattr(model, "facts", {}).get("cluster_names")
        given = known or [str(k) for k in range(n_clusters)]
    return tuple(check_names("cluster_names", given, n_clusters, "clusters"))
