"""Predictions from a source to a file."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from credalis._files import check_writable
from credalis._threads import one_thread
from credalis.partition import uncopied_partition
from credalis.sources import ArraySource, Source, as_source, from_table
from credalis.tables import Table, output_format, write_table

# Rows predicted and written together.
_BATCH_ROWS = 2**16


def predict_table(model: Any, X: Any, path: str | os.PathLike[str]) -> int:
    """Write what a model says about the rows of a table to a file, block by block.

    The file has one row for each row of X, in their order, with the columns "label"
    (cluster of maximal plausibility), "outlier" (whether m(∅) is at least one half) and
    "pl {0}", "pl {1}", ... (plausibilities of the clusters, float32). It appears whole
    or not at all.

    Parameters
    ----------
    model : estimator
        Fitted, with ``predict_partition``.
    X : table, source or array-like of shape (n_rows, n_features)
        What `open_table` returns, of which the columns with the names that the model
        was fitted to are taken; anything else that `credalis.sources.as_source`
        takes; or an array. It is read once.
    path : str or path-like
        A file whose name ends in .parquet, .arrow, .csv or .tsv.

    Returns
    -------
    int
        Number of rows.

    Examples
    --------
    >>> from credalis.io import load, open_table, predict_table
    >>> model = load("model.credalis")  # doctest: +SKIP
    >>> table = open_table("rows.parquet")  # doctest: +SKIP
    >>> predict_table(model, table, "out.parquet")  # doctest: +SKIP
    10000000
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(
            'tables in files need pyarrow: pip install "credalis[parquet]"'
        ) from error
    if not hasattr(model, "_predict_masses"):
        raise ValueError(
            "model must be a fitted clusterer of credalis, without steps before it, "
            f"got a {type(model).__name__}"
        )
    check_is_fitted(model)
    output_format(path)
    check_writable(path)
    source = _source_for(model, X)
    names = [f"pl {{{k}}}" for k in range(model.focal_sets_.n_clusters)]
    schema = pa.schema(
        [
            ("label", pa.int32()),
            ("outlier", pa.bool_()),
            *((name, pa.float32()) for name in names),
        ]
    )
    n_rows = 0
    with one_thread(), write_table(path, schema) as write:
        for batch in source.batches(_BATCH_ROWS):
            columns = [pa.array(column) for column in _columns(model, batch)]
            write(pa.record_batch(columns, schema=schema))
            n_rows += len(batch)
    return n_rows


def _columns(model: Any, rows: NDArray[np.float64]) -> list[NDArray[Any]]:
    """Labels, outliers and plausibilities of some rows."""
    partition = uncopied_partition(model._reported_masses(rows), model.focal_sets_)
    plausibility = np.asfortranarray(partition.plausibility, dtype=np.float32)
    return [
        partition.labels.astype(np.int32),
        partition.is_outlier,
        *plausibility.T,
    ]


def _source_for(model: Any, X: Any) -> Source:
    """X as a source whose columns are those of the model."""
    names = getattr(model, "feature_names_in_", None)
    source: Source | None
    if isinstance(X, Table):
        # A table may well have more columns, such as an identifier.
        source = from_table(X, None if names is None else [str(name) for name in names])
    else:
        source = as_source(X)
        if source is None:
            source = ArraySource(X, getattr(X, "columns", None))
    if source.n_features != model.n_features_in_:
        raise ValueError(
            f"X must have the {model.n_features_in_} columns that the model was fitted "
            f"to, got {source.n_features}"
        )
    if names is not None and source.feature_names not in (None, tuple(names)):
        raise ValueError(
            "X must have the columns that the model was fitted to, in their order: "
            f"{', '.join(names)}; got {', '.join(source.feature_names or ())}"
        )
    return source
