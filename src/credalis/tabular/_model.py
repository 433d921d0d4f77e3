"""TabularModel: preparation and estimator as one object that can be saved."""

import copy
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone

from credalis import _archive
from credalis._checks import shown
from credalis.cluster import BaseCredalClusterer
from credalis.partition import CredalPartition, index_of, uncopied_partition
from credalis.tables import Table
from credalis.tabular._frames import as_arrow
from credalis.tabular._preparation import Features, Preparation
from credalis.tabular._transformer import TablePreparation

if TYPE_CHECKING:
    import pyarrow as pa


def _check_features(owner: str, entries: _archive.Entries) -> None:
    n_columns = len(entries["preparation"].feature_names)
    n_features = getattr(entries["estimator"], "n_features_in_", None)
    if n_features != n_columns:
        raise ValueError(
            f"{owner}.estimator must be fitted to the {n_columns} columns of its "
            f"preparation, got n_features_in_={n_features}"
        )


class TabularModel:
    """A fitted estimator with the preparation of the columns it was fitted to.

    ``credalis cluster --model`` writes one, `credalis.load` reads it. The file holds
    what prediction needs, not the memberships of the rows of the fit, unless
    predictions rest on them, as those of EVCLUS and Bootclus do: the ``estimator`` of a
    loaded model has no ``partition_`` and no ``labels_``.

    Parameters
    ----------
    preparation : Preparation
        Columns, scaling, categories, what stands in for missing values.
    estimator : fitted estimator
        Fitted to the matrix that the preparation makes.
    facts : dict, default=None
        Plain values worth knowing about the fit: number of rows, name of the table,
        sizes of the clusters.
    """

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "preparation": _archive.Instance(Preparation),
            "estimator": _archive.Instance(BaseCredalClusterer),
            "facts": _archive.Named(_archive.Plain()),
        },
        relations=(_check_features,),
    )

    def __init__(
        self,
        preparation: Preparation,
        estimator: BaseCredalClusterer,
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.preparation = preparation
        self.estimator = estimator
        self.facts = {} if facts is None else facts

    def __repr__(self) -> str:
        columns = len(self.preparation.columns)
        return f"TabularModel({self.estimator!r}, {columns} columns)"

    @classmethod
    def of(
        cls,
        estimator: BaseCredalClusterer,
        table: Any,
        preparation: TablePreparation | None = None,
        **given: Any,
    ) -> "TabularModel":
        """Prepare a table and fit an estimator to it.

        Parameters
        ----------
        estimator : estimator
            It is cloned. If its ``metric`` is "gower", that is the dissimilarity of the
            table's own columns, categories and gaps included.
        table : DataFrame of pandas or polars, pyarrow Table, dict of columns, or array
            The rows.
        preparation : TablePreparation, default=None
            How columns are prepared; it is cloned. None: the default.
        **given
            Further arguments of the estimator's ``fit``. Weights of the rows,
            ``sample_weight``, count for the scales of the columns as well.

        Examples
        --------
        >>> from credalis import EVCLUS
        >>> from credalis.tabular import TabularModel
        >>> table = {"size": [1, 2, 1, 8, 9, None], "kind": list("aaabbb")}
        >>> model = TabularModel.of(EVCLUS(2, metric="gower", random_state=0), table)
        >>> len(set(model.predict(table)[:3])), len(set(model.predict(table)[3:]))
        (1, 1)
        """
        preparation = TablePreparation() if preparation is None else preparation
        if not isinstance(estimator, BaseCredalClusterer):
            raise ValueError(
                f"estimator must be one of credalis, got {shown(estimator)}"
            )
        if not isinstance(preparation, TablePreparation):
            raise ValueError(
                f"preparation must be a TablePreparation, got {shown(preparation)}"
            )
        prepared = clone(preparation)
        weights = given.get("sample_weight")
        X = prepared._learn(table, weights).transform(table)
        fitted = clone(estimator)
        metric = fitted.get_params(deep=False).get("metric")
        if isinstance(metric, str) and metric == "gower":
            fitted.set_params(metric=prepared.metric_)
        fitted.fit(X, **given)
        facts = {"decisions": list(prepared.decisions_)}
        return cls(prepared.preparation_, fitted, facts)

    @property
    def focal_sets(self) -> Any:
        """Focal sets of the masses."""
        return self.estimator.focal_sets_

    def predict_partition(self, table: Any) -> CredalPartition:
        """Mass functions of the rows of a table.

        Parameters
        ----------
        table : Table, pandas or polars DataFrame, pyarrow Table, or dict of columns
            With the columns that the model was fitted to, in any order and among
            others. Rows with missing values are treated as in the fit; where they are
            left out, they are not in the result.

        Returns
        -------
        CredalPartition
        """
        features = self.transform(table)
        partition = self.estimator.predict_partition(features.X)
        index = index_of(table)
        if index is None:
            return partition
        kept = index[features.is_kept]
        return uncopied_partition(partition.masses, partition.focal_sets, kept)

    def predict(self, table: Any) -> np.ndarray:
        """Cluster of maximal plausibility of each row, as in `predict_partition`."""
        return self.predict_partition(table).labels.copy()

    def transform(self, table: Any) -> Features:
        """What the estimator sees of a table."""
        if isinstance(table, Table):
            self.preparation.check_table(table.name, table.columns)
            table = table.read(self.preparation.columns)
        content = as_arrow(table)
        self.preparation.check_table("the table", content.schema.names)
        return self.preparation.transform(content)

    def predict_batches(
        self,
        table: Table,
        *,
        others: tuple[str, ...] = (),
        missing: str | None = None,
    ) -> Iterator[tuple["pa.RecordBatch", Features, CredalPartition]]:
        """Masses of a table batch by batch, in memory that does not grow with it.

        Parameters
        ----------
        table : Table
            From `credalis.io.open_table`.
        others : tuple of str, default=()
            Further columns to read, such as the one that identifies the rows.
        missing : {"error", "drop", "impute", "pairwise"}, default=None
            Treatment of missing values; None: that of the fit.

        Yields
        ------
        batch : pyarrow.RecordBatch
            The columns that were read.
        features : Features
            What the estimator saw, and which rows were kept.
        partition : CredalPartition
            Of the rows that were kept.
        """
        preparation = self.preparation
        preparation.check_table(table.name, table.columns)
        columns = list(dict.fromkeys([*preparation.columns, *others]))
        first_row = 0
        for batch in table.batches(columns):
            features = preparation.transform(
                batch, missing=missing, name=table.name, first_row=first_row
            )
            yield batch, features, self._partition(features)
            first_row += batch.num_rows

    def _partition(self, features: Features) -> CredalPartition:
        if len(features.X):
            return self.estimator.predict_partition(features.X)
        return CredalPartition(np.empty((0, len(self.focal_sets))), self.focal_sets)

    def save(
        self, path: str | os.PathLike[str], *, key: bytes | str | None = None
    ) -> None:
        """Write arrays and JSON to a file that `credalis.load` reads.

        A key of at least 16 bytes signs the file.
        """
        _archive.save(self, path, key=key)

    def to_state(self) -> dict[str, Any]:
        """What `save` stores."""
        estimator = copy.copy(self.estimator)
        for name in ("partition_", "labels_"):
            if not estimator._predicts_from_partition and hasattr(estimator, name):
                delattr(estimator, name)
        return {
            "preparation": self.preparation,
            "estimator": estimator,
            "facts": self.facts,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "TabularModel":
        """Inverse of `to_state`."""
        return cls(**state)


_archive.register(Preparation)
_archive.register(TabularModel)
