"""Tables in memory: frames of pandas and polars, arrays, dictionaries of columns."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from credalis._checks import is_frame, naming
from credalis.tables import Table
from credalis.tables._table import arrow, check_names

if TYPE_CHECKING:
    import pyarrow as pa


class FrameTable(Table):
    """A table that is in memory already.

    Parameters
    ----------
    content : pyarrow.Table
        The columns.
    name : str, default="X"
        What it is called in messages.
    """

    format = "memory"

    def __init__(self, content: "pa.Table", name: str = "X") -> None:
        self.name = name
        self.schema = content.schema
        self.n_rows = content.num_rows
        self._content = content
        check_names(name, self.schema.names)

    def _batches(self, columns: list[str], max_rows: int) -> Iterator["pa.RecordBatch"]:
        # Whole: what a column is, all its rows say.
        yield from self._content.select(columns).combine_chunks().to_batches()

    def batches(
        self, columns: Any = None, *, max_rows: int = 2**62
    ) -> Iterator["pa.RecordBatch"]:
        """The rows in one piece, unless smaller ones are asked for."""
        return super().batches(columns, max_rows=max_rows)


def as_arrow(X: Any) -> "pa.Table":
    """A frame, an array or a dictionary of columns as a pyarrow.Table.

    Columns of an array are called x0, x1, ... by their place. The index of a frame of
    pandas is no column.
    """
    pa = arrow()
    if isinstance(X, pa.Table):
        return X
    if isinstance(X, pa.RecordBatch):
        return pa.Table.from_batches([X])
    if hasattr(X, "to_arrow") and is_frame(X):
        with naming("X"):
            return X.to_arrow()
    if hasattr(X, "collect"):
        raise ValueError(
            f"X must be a frame that holds its rows, got a {type(X).__name__}: call "
            "collect()"
        )
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        columns = [_column(name, X.iloc[:, j]) for j, name in enumerate(names)]
        return pa.table(columns, names)
    if isinstance(X, dict):
        return pa.table([_column(n, v) for n, v in X.items()], list(map(str, X)))
    with naming("X"):
        array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            "X must be a frame, a dict of columns or an array of two axes, got "
            f"{type(X).__name__} of {array.ndim} axes"
        )
    names = [f"x{j}" for j in range(array.shape[1])]
    return pa.table([_column(n, v) for n, v in zip(names, array.T, strict=True)], names)


def _column(name: Any, values: Any) -> "pa.Array":
    pa = arrow()
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if getattr(values, "ndim", 1) != 1:
        raise ValueError(
            f"column {str(name)!r} must have one value for each row, got "
            f"{type(values).__name__} of {values.ndim} axes"
        )
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"column {str(name)!r} must hold values of one kind, numbers, text or "
            f"dates: {str(error).splitlines()[0]}"
        ) from error
