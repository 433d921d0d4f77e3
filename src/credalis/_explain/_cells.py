"""Rows put together from cells of others, and what a model says about them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from credalis._checks import check_dense, shown
from credalis._explain._columns import (
    Array,
    Column,
    columns_of,
    decoded_columns,
    encoded,
    prepared_columns,
)
from credalis._explain._typical import RememberedCells, TypicalCells
from credalis._threads import one_thread
from credalis.cluster import BaseCredalClusterer
from credalis.partition import CredalPartition, uncopied_partition
from credalis.tables import Table
from credalis.tabular import Preparation, TablePreparation, TabularModel
from credalis.tabular._frames import as_arrow

Indices = NDArray[np.intp]
Predict = Callable[[Any], CredalPartition]

MODEL = "the model"
NEIGHBORS = "the nearest rows of X, because no model predicts for others"

# Where the facts of a model hold its typical cells.
TYPICAL = "typical"

# Rows that speak for one that was put together, where no model does.
_N_NEIGHBORS = 10
# Numbers in a batch of rows that are put together.
_BATCH_ENTRIES = 2**21


@dataclass(frozen=True, eq=False)
class Cells:
    """A table, and the masses of rows that are put together from its cells.

    Parameters
    ----------
    columns : list of Column
        What explanations speak of.
    content : array of shape (n_rows, n_features) or frame of pandas or polars
        What the model takes.
    places : list of arrays of int, or None
        Where each column stands in an array; None: a frame of just these columns.
    predict : callable
        From such content to a CredalPartition.
    is_kept : array of bool, shape (n_all_rows,)
        Which rows of the table are among them; a preparation may leave some out.
    basis : str, default="the model"
        Who says what the masses of rows are that were put together.
    known : CredalPartition, default=None
        Masses of the rows as they are, if they need not be predicted.
    compare : callable, default=None
        ``predict`` for rows that are compared with each other and not shown, quicker
        and a little less exact; None: the same.
    typical : TypicalCells, default=None
        What the model remembers as typical; it stands in further rows of ``columns``
        and ``content``, behind those of the table.
    """

    columns: list[Column]
    content: Any
    places: list[Indices] | None
    predict: Predict
    is_kept: NDArray[np.bool_]
    basis: str = MODEL
    known: CredalPartition | None = None
    typical: TypicalCells | None = None
    compare: Predict | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows of the table that are not left out."""
        return int(self.is_kept.sum())

    def partition(self) -> CredalPartition:
        """Masses of the rows as they are."""
        if self.known is not None:
            return self.known
        return self.predict(self.content[: self.n_rows])

    def mixed_partition(self, sources: Indices) -> CredalPartition:
        """Masses of rows that are put together.

        Parameters
        ----------
        sources : array of int, shape (n_mixed, n_columns)
            From which row each cell is taken.
        """
        width = max(sources.shape[1], np.shape(self.content)[1])
        step = max(1, _BATCH_ENTRIES // width)
        predict = self.compare or self.predict
        parts = [
            predict(self._mixed(sources[start : start + step]))
            for start in range(0, len(sources), step)
        ]
        masses = np.concatenate([part.masses for part in parts])
        return uncopied_partition(masses, parts[0].focal_sets)

    def _mixed(self, sources: Indices) -> Any:
        if self.places is None:
            return _mixed_frame(self.content, sources)
        mixed = np.empty((len(sources), self.content.shape[1]))
        for rows, place in zip(sources.T, self.places, strict=True):
            mixed[:, place] = self.content[rows[:, None], place]
        return mixed

    def take(self, rows: Indices) -> "Cells":
        """Some of its rows."""
        is_kept = np.zeros(len(self.is_kept), dtype=bool)
        is_kept[np.flatnonzero(self.is_kept)[rows]] = True
        frame = hasattr(self.content, "iloc")
        typical, all_rows = self.typical, rows
        if typical is not None:
            # The rows behind those of the table stay behind.
            behind = np.arange(self.n_rows, len(self.content))
            all_rows = np.concatenate([rows, behind])
            moved = typical.rows - self.n_rows + len(rows)
            typical = replace(typical, rows=moved)
        return replace(
            self,
            columns=[column.take(all_rows) for column in self.columns],
            content=self.content.iloc[all_rows] if frame else self.content[all_rows],
            is_kept=is_kept,
            known=None if self.known is None else self.known[rows],
            typical=typical,
        )


def _mixed_frame(frame: Any, sources: Indices) -> Any:
    """A frame of the same types, each cell from its own row."""
    if hasattr(frame, "iloc"):
        import pandas as pd

        columns = [
            frame.iloc[rows, j].reset_index(drop=True)
            for j, rows in enumerate(sources.T)
        ]
        return pd.concat(columns, axis=1)
    series = [
        each.gather(rows)
        for each, rows in zip(frame.get_columns(), sources.T, strict=True)
    ]
    return type(frame)(series)


def cells_of(model: Any, X: Any, partition: CredalPartition | None) -> Cells:
    """A table under a model, whatever kind of model it is."""
    if partition is not None and not isinstance(partition, CredalPartition):
        raise ValueError(
            f"partition must be a CredalPartition or None, got {shown(partition)}"
        )
    if isinstance(model, CredalPartition):
        return _neighboring(X, model)
    if isinstance(model, TabularModel):
        return _prepared(model, X)
    if _is_precomputed(model):
        return _neighboring(X, _known_partition(model))
    if isinstance(model, BaseCredalClusterer):
        return _of_estimator(model, X)
    if hasattr(model, "predict_partition") or hasattr(model, "steps"):
        return _of_steps(model, X)
    return _neighboring(X, _known_partition(model))


def _is_precomputed(model: Any) -> bool:
    metric = getattr(model, "metric", None)
    return isinstance(metric, str) and metric == "precomputed"


def _known_partition(model: Any) -> CredalPartition:
    partition = getattr(model, "partition_", None)
    if not isinstance(partition, CredalPartition):
        raise ValueError(
            "model must be a fitted clusterer, a TabularModel, a pipeline that ends in "
            "a clusterer, or a CredalPartition; one without predict_partition needs "
            f"partition_, got {shown(model)}"
        )
    return partition


def _of_estimator(model: BaseCredalClusterer, X: Any) -> Cells:
    """An array or a frame of numbers, the columns as the estimator knows them."""
    check_is_fitted(model)
    matrix = model._validate(X, reset=False, ensure_min_samples=1)

    def predicting(model: BaseCredalClusterer) -> Predict:
        def predict(rows: Array) -> CredalPartition:
            with one_thread():
                masses = model._reported_masses(rows)
            return uncopied_partition(masses, model.focal_sets_)

        return predict

    preparation = getattr(model, "preparation_", None)
    if preparation is not None:
        columns = prepared_columns(preparation, as_arrow(X))
        places = places_of(preparation)
    else:
        names = getattr(model, "feature_names_in_", getattr(X, "columns", None))
        # One that takes categories makes numbers of them that nobody knows.
        table = X if get_tags(model).input_tags.categorical else matrix
        columns = columns_of(table, None if names is None else list(map(str, names)))
        places = [np.array([j]) for j in range(matrix.shape[1])]
    return Cells(
        columns,
        matrix,
        places,
        predicting(model),
        np.ones(len(matrix), dtype=bool),
        compare=predicting(model._for_comparisons()),
    )


def _prepared(model: TabularModel, X: Any) -> Cells:
    preparation = model.preparation
    if isinstance(X, Table):
        preparation.check_table(X.name, X.columns)
        X = X.read(preparation.columns)
    content = as_arrow(X)
    preparation.check_table("X", content.schema.names)
    features = preparation.transform(content, name="X")
    columns = prepared_columns(preparation, content)
    kept = np.flatnonzero(features.is_kept)
    cells = Cells(
        [column.take(kept) for column in columns],
        features.X,
        places_of(preparation),
        model.estimator.predict_partition,
        features.is_kept,
        compare=comparison(model.estimator),
    )
    remembered = remembered_by(model)
    return cells if remembered is None else remembering(cells, preparation, remembered)


def remembered_by(model: TabularModel) -> RememberedCells | None:
    """The typical cells that a model was saved with, if it was."""
    facts = model.facts.get(TYPICAL)
    if facts is None:
        return None
    n_features = len(model.preparation.feature_names)
    return RememberedCells.from_facts(facts, model.focal_sets.n_clusters, n_features)


def remembering(
    cells: Cells, preparation: Preparation, remembered: RememberedCells
) -> Cells:
    """Cells with those that are remembered as typical behind them."""
    known = decoded_columns(preparation, remembered.features)
    columns = [
        replace(own, values=np.concatenate([own.values, typical.values]))
        for own, typical in zip(cells.columns, known, strict=True)
    ]
    rows = np.repeat(
        cells.n_rows + np.arange(len(remembered.clusters))[:, None],
        len(columns),
        axis=1,
    )
    return replace(
        cells,
        columns=columns,
        content=np.concatenate([cells.content, remembered.features]),
        typical=TypicalCells(remembered.clusters, remembered.shares, rows),
    )


def places_of(preparation: Preparation) -> list[Indices]:
    """Where each attribute stands in the matrix, with the indicator of its gaps."""
    widths = [1] * len(preparation.numeric) + [2] * len(preparation.cyclic)
    widths += [len(own) for own in preparation.categories.values()]
    ends = np.cumsum(widths)
    places = [
        np.arange(end - width, end) for end, width in zip(ends, widths, strict=True)
    ]
    for j, name in enumerate(preparation.gappy):
        number = preparation.attributes.index(name)
        places[number] = np.append(places[number], ends[-1] + j)
    return places


def _of_steps(model: Any, X: Any) -> Cells:
    """A pipeline, or anything that predicts; columns are exchanged before its steps."""
    steps = getattr(model, "steps", [])
    if steps and isinstance(steps[0][1], TablePreparation):
        first = steps[0][1]
        check_is_fitted(first)
        # First of all, since it looks for the columns.
        matrix, content = first.transform(X), as_arrow(X)
        return Cells(
            prepared_columns(first.preparation_, content),
            matrix,
            places_of(first.preparation_),
            _predictor(model[1:]),
            np.ones(content.num_rows, dtype=bool),
            compare=comparison(model[1:]),
        )
    check_dense("X", X)
    columns = columns_of(X, getattr(model, "feature_names_in_", None))
    for j in getattr(model, "date_columns_", ()):
        columns[j] = replace(columns[j], kind="date")
    is_kept = np.ones(len(columns[0].values), dtype=bool)
    if hasattr(X, "iloc") or hasattr(X, "get_columns"):
        places, matrix = None, X
    else:
        matrix = np.asarray(X, dtype=np.float64)
        places = [np.array([j]) for j in range(matrix.shape[1])]
    return Cells(
        columns,
        matrix,
        places,
        _predictor(model),
        is_kept,
        compare=comparison(model),
    )


def comparison(model: Any) -> Predict:
    """Masses of rows that are compared with each other and not shown."""
    return _predictor(model, is_rough=True)


def _predictor(model: Any, is_rough: bool = False) -> Predict:
    """Masses of rows, through the steps of pipelines."""
    if is_rough and isinstance(model, BaseCredalClusterer):
        model = model._for_comparisons()
    if hasattr(model, "predict_partition"):
        return model.predict_partition
    if not getattr(model, "steps", None):
        raise ValueError(
            f"model must have predict_partition at its end, got {shown(model)}"
        )
    last = _predictor(model[-1], is_rough)
    if len(model.steps) == 1:
        return last
    before = model[:-1]

    def predict(X: Any) -> CredalPartition:
        return last(before.transform(X))

    return predict


def _neighboring(X: Any, partition: CredalPartition) -> Cells:
    """Rows that are put together have the masses of those of X that are most alike."""
    columns = columns_of(X)
    n_rows = len(columns[0].values)
    if n_rows != partition.n_samples:
        raise ValueError(
            f"X must have one row for each of the {partition.n_samples} objects of the "
            f"partition, got {n_rows}"
        )
    if len(columns) == n_rows > 1 and _is_distance(X):
        raise ValueError(
            "X must hold columns that describe the objects, got a matrix of "
            "dissimilarities"
        )
    matrix, places = encoded(columns)
    n_neighbors = min(_N_NEIGHBORS, n_rows)
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(matrix)

    def predict(rows: Array) -> CredalPartition:
        with one_thread():
            distances, found = search.kneighbors(rows)
        # The farthest counts almost nothing, so that masses change little by little.
        weights = distances[:, -1:] - distances + 1e-9
        weights /= weights.sum(axis=1, keepdims=True)
        masses = np.einsum("nk,nkf->nf", weights, partition.masses[found])
        return uncopied_partition(masses, partition.focal_sets)

    is_kept = np.ones(n_rows, dtype=bool)
    return Cells(columns, matrix, places, predict, is_kept, NEIGHBORS, partition)


def _is_distance(X: Any) -> bool:
    """Whether a square array is symmetric with zeros on its diagonal."""
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "iuf":
        return False
    return bool((np.diag(X) == 0).all() and np.allclose(X, X.T))
