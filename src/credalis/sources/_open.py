"""Which source stands for what a user gives."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from credalis.sources._arrays import ArraySource
from credalis.sources._base import Source
from credalis.sources._batches import BatchSource, TableSource
from credalis.sources._dask import DaskSource
from credalis.sources._parquet import ParquetSource
from credalis.tables import Table

# Numbers up to which a mapped file is taken for an ordinary array: 128 MiB.
_MAX_MAPPED = 2**24


def as_source(X: Any) -> Source | None:
    """The source that X is or stands for; None for data that are in memory.

    A `Source`, a Dask array or data frame, a table of `credalis.io.open_table`, a
    ``numpy.memmap`` of more than 2²⁴ numbers, and an iterable of batches: an iterator,
    a list or tuple of arrays of two dimensions or data frames, or any other object with
    ``__iter__``, such as a loader that knows its length, that is not itself an array,
    data frame or sequence.
    """
    if isinstance(X, Source):
        return X
    if hasattr(X, "__dask_graph__"):
        return DaskSource(X)
    if isinstance(X, Table):
        return from_table(X)
    if isinstance(X, np.memmap):
        return ArraySource(X) if X.size > _MAX_MAPPED else None
    if isinstance(X, Iterator):
        return BatchSource(X)
    if isinstance(X, (list, tuple)):
        is_batches = len(X) > 0 and all(
            getattr(part, "ndim", None) == 2 or _is_frame(part) for part in X
        )
        return BatchSource(X) if is_batches else None
    is_data = any(
        hasattr(X, name)
        for name in ("__array__", "shape", "__getitem__", "__dataframe__")
    )
    if isinstance(X, Iterable) and not is_data:
        return BatchSource(X)
    return None


def from_table(table: Table, columns: Sequence[str] | None = None) -> Source:
    """Some or all columns of a table that `credalis.io.open_table` has opened."""
    path = Path(table.name)
    # A compressed file or a pipe has no row groups that could be read one by one.
    if table.format == "parquet" and (path.is_dir() or _is_parquet(path)):
        return ParquetSource(path, columns)
    return TableSource(table, columns)


def _is_parquet(path: Path) -> bool:
    if not path.is_file():
        return False
    with open(path, "rb") as stream:
        return stream.read(4) == b"PAR1"


def _is_frame(part: Any) -> bool:
    return hasattr(part, "columns") and hasattr(part, "__array__")
