"""Batches from anywhere as a source."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from credalis._checks import naming
from credalis.sources._base import Array, Source, check_columns
from credalis.tables import Table, as_matrix


class BatchSource(Source):
    """Batches of rows from an iterable, or from a function that returns one.

    Rows are mixed only within a buffer (209 715 rows for ten columns): give the batches
    in an order in which neighbouring rows differ as much as any others.

    Parameters
    ----------
    batches : iterable, or function without arguments that returns an iterable
        Batches are arrays of shape (n_batch_rows, n_features), data frames or record
        batches of pyarrow, all with the same columns. An iterable that can be read
        only once, such as a generator, is enough for `sample` alone or for one pass. A
        function is called once for each pass and returns a new iterable every time.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.sources import BatchSource
    >>> source = BatchSource(lambda: (np.full((3, 2), k) for k in range(4)))
    >>> sum(len(batch) for batch in source.batches()), source.n_rows
    (12, 12)
    """

    def __init__(self, batches: Iterable[Any] | Callable[[], Iterable[Any]]) -> None:
        if not callable(batches) and not isinstance(batches, Iterable):
            raise ValueError(
                "batches must be an iterable or a function that returns one, got "
                f"{type(batches).__name__}"
            )
        self._given = batches
        self.is_repeatable = not isinstance(batches, Iterator)
        self.n_rows = None
        stream = self._open()
        nothing = object()
        first = next(stream, nothing)
        if first is nothing:
            raise ValueError("X must hold at least one batch, got none")
        self.feature_names = _names(first)
        self._first = as_numbers(first)
        if self._first.ndim != 2:
            raise ValueError(
                "X must give batches of shape (n_rows, n_features), the first has "
                f"shape {self._first.shape}"
            )
        self.n_features = self._first.shape[1]
        # The first pass goes on from here: a function is called once for each pass.
        self._rest: Iterator[Any] | None = stream

    def fingerprint(self) -> str:
        """Names of the columns and the first batch."""
        digest = sha256(repr((self.n_features, self.feature_names)).encode())
        digest.update(np.ascontiguousarray(self._first).tobytes())
        return digest.hexdigest()

    def _open(self) -> Iterator[Any]:
        given = self._given() if callable(self._given) else self._given
        if not isinstance(given, Iterable):
            raise ValueError(
                "batches must be a function that returns an iterable, it returned "
                f"{type(given).__name__}"
            )
        return iter(given)

    def _parts(self, max_rows: int) -> Iterator[Array]:
        if self._rest is not None:
            stream, self._rest = self._rest, None
            yield self._first
        elif self.is_repeatable:
            stream = self._open()
        else:
            raise ValueError(
                "X must be read a second time, but it is an iterator that has come "
                "to its end: give a function that returns a new one"
            )
        for batch in stream:
            names = _names(batch)
            if names != self.feature_names:
                raise ValueError(
                    "X must have the same columns in all batches, got "
                    f"{names} after {self.feature_names}"
                )
            yield as_numbers(batch)


class TableSource(Source):
    """Columns of a table that `credalis.io.open_table` has opened.

    A Parquet file or folder becomes a `ParquetSource` in `as_source`; this is for
    all other formats, whose rows are read in their order and mixed only within a buffer
    (209 715 rows for ten columns).

    Parameters
    ----------
    table : Table
        What `open_table` returned.
    columns : sequence of str, default=None
        Names of the columns to use, by default all.
    """

    def __init__(self, table: Table, columns: Sequence[str] | None = None) -> None:
        self.feature_names = check_columns(table, columns)
        self.name = table.name
        self.n_rows = table.n_rows
        self.n_features = len(self.feature_names)
        self.is_repeatable = table.is_repeatable
        self._table = table
        self._is_read = False

    def fingerprint(self) -> str:
        """Number of rows if the file tells it, names of columns, and the first rows."""
        # Not self.n_rows, which a pass over the rows may have found out since.
        digest = sha256(repr((self._table.n_rows, self.feature_names)).encode())
        if self.is_repeatable:
            first: Array = next(self._parts(1024), np.empty(0))
            digest.update(np.ascontiguousarray(first).tobytes())
        return digest.hexdigest()

    def _parts(self, max_rows: int) -> Iterator[Array]:
        if self._is_read and not self.is_repeatable:
            raise ValueError(
                f"{self.name} must be read a second time, but it is a pipe: save it "
                "in a file"
            )
        self._is_read = True
        assert self.feature_names is not None
        for batch in self._table.batches(self.feature_names, max_rows=max_rows):
            yield as_matrix(batch, self.feature_names)


def as_numbers(batch: Any) -> Array:
    """An array, data frame or record batch as an array of float64."""
    if _is_record_batch(batch):
        return as_matrix(batch)
    with naming("X"):
        values = np.asarray(batch)
    if values.dtype.kind in "cmM":
        raise ValueError(f"X must hold numbers in all batches, got {values.dtype}")
    if values.dtype.kind not in "biuf":
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"X must hold numbers in all batches: {error}") from error
    return values.astype(np.float64, copy=False)


def _names(batch: Any) -> tuple[str, ...] | None:
    if _is_record_batch(batch):
        return tuple(batch.schema.names)
    columns = getattr(batch, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


def _is_record_batch(batch: Any) -> bool:
    return hasattr(batch, "schema") and hasattr(batch, "num_rows")
