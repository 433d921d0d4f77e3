"""A line about each row of a table that is read in pieces."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from credalis._explain._cells import (
    TYPICAL,
    Cells,
    comparison,
    places_of,
    remembered_by,
    remembering,
)
from credalis._explain._columns import Array, decoded_columns, prepared_columns
from credalis._explain._explain import MAX_ROWS, Explaining, cluster_names_of
from credalis._explain._typical import RememberedCells, typical_cells
from credalis.partition import CLEAR_LEVEL, CredalPartition
from credalis.tabular import Preparation, TabularModel

if TYPE_CHECKING:
    import pyarrow as pa

    from credalis.tabular._preparation import Features

# Columns that a line names for a cluster, and rows that are explained together.
_N_FEATURES = 2
_CHUNK_ROWS = 1000


def with_typical_cells(
    facts: dict[str, Any],
    preparation: Preparation,
    matrix: Array,
    partition: CredalPartition,
    clear_level: float = CLEAR_LEVEL,
) -> dict[str, Any]:
    """Facts of a `TabularModel`, and in them what is typical of its clusters.

    Parameters
    ----------
    facts : dict
        The other facts.
    preparation : Preparation
        What has made the matrix.
    matrix : array of shape (n_rows, n_features)
        The rows of the fit; of very many, a sample counts.
    partition : CredalPartition
        Of these rows.
    clear_level : float, default=0.7
        As in `CredalPartition.verdicts`.
    """
    remembered = _learned(preparation, matrix, partition, clear_level)
    return {**facts, TYPICAL: remembered.to_facts()}


def _learned(
    preparation: Preparation,
    matrix: Array,
    partition: CredalPartition,
    clear_level: float,
) -> RememberedCells:
    if len(matrix) > MAX_ROWS:
        rows = check_random_state(0).choice(len(matrix), MAX_ROWS, replace=False)
        matrix, partition = matrix[rows], partition[rows]
    columns = decoded_columns(preparation, matrix)
    typical = typical_cells(columns, partition, partition.verdicts(clear_level))
    return RememberedCells.of(typical, matrix, places_of(preparation))


class RowExplainer:
    """One line about each row of pieces of a table.

    What is typical of the clusters the model remembers; else the first piece tells it.

    Parameters
    ----------
    model : TabularModel
        The model.
    clear_level : float, default=0.7
        As in `CredalPartition.verdicts`.
    """

    def __init__(self, model: TabularModel, clear_level: float = CLEAR_LEVEL) -> None:
        self._model = model
        self._clear_level = clear_level
        self._remembered = remembered_by(model)

    @property
    def remembers(self) -> bool:
        """Whether it is known what is typical."""
        return self._remembered is not None

    def sentences(
        self,
        batch: "pa.RecordBatch | pa.Table",
        features: "Features",
        partition: CredalPartition,
    ) -> list[str]:
        """A line about each row of a piece that was not left out.

        Parameters
        ----------
        batch : pyarrow RecordBatch or Table
            The piece.
        features : Features
            What the estimator saw of it.
        partition : CredalPartition
            What the model says.
        """
        if len(partition) == 0:
            return []
        preparation, level = self._model.preparation, self._clear_level
        if self._remembered is None:
            self._remembered = _learned(preparation, features.X, partition, level)
        kept = np.flatnonzero(features.is_kept)
        cells = Cells(
            [each.take(kept) for each in prepared_columns(preparation, batch)],
            features.X,
            places_of(preparation),
            self._model.estimator.predict_partition,
            np.ones(len(kept), dtype=bool),
            compare=comparison(self._model.estimator),
        )
        names = cluster_names_of(None, self._model, partition.n_clusters)
        explaining = Explaining(
            remembering(cells, preparation, self._remembered),
            partition,
            partition.verdicts(level),
            np.arange(len(kept)),
            names,
            _N_FEATURES,
            0,
        )
        return [
            each.sentence
            for start in range(0, len(kept), _CHUNK_ROWS)
            for each in explaining.objects(
                np.arange(start, min(start + _CHUNK_ROWS, len(kept)))
            )
        ]
