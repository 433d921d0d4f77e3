"""pyarrow, imported when it is needed, and its columns as NumPy arrays."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

_HOW_TO_INSTALL = 'pip install "credalis[parquet]"'


def arrow() -> Any:
    """The module pyarrow, or an ImportError that says how to get it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise ImportError(f"tables in files need pyarrow: {_HOW_TO_INSTALL}") from error
    return pa


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Errors of pyarrow become a ValueError of one line that names the file."""
    pa = arrow()
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        # What is damaged inside comes as an OSError without a number.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        first_line = str(error).strip().splitlines()[0]
        raise ValueError(f"{name} cannot be read: {first_line}") from error


def kind_of(arrow_type: "pa.DataType") -> str:
    """Whether a column holds "number" (truth values included), "text" or "other"."""
    types = arrow().types
    if types.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    is_number = (
        types.is_integer(arrow_type)
        or types.is_floating(arrow_type)
        or types.is_decimal(arrow_type)
        or types.is_boolean(arrow_type)
        or types.is_null(arrow_type)
    )
    if is_number:
        return "number"
    is_text = types.is_string(arrow_type) or types.is_large_string(arrow_type)
    return "text" if is_text else "other"


def as_matrix(
    batch: "pa.RecordBatch | pa.Table", columns: Sequence[str] | None = None
) -> NDArray[np.float64]:
    """Columns of numbers as an array (n_rows, n_columns) with NaN where one is missing.

    Parameters
    ----------
    batch : pyarrow RecordBatch or Table
        What `Table.batches` or `Table.read` returns.
    columns : sequence of str, default=None
        Names of the columns, in the order wanted; None: all.
    """
    names = batch.schema.names if columns is None else list(columns)
    matrix = np.empty((batch.num_rows, len(names)))
    for j, name in enumerate(names):
        matrix[:, j] = _as_floats(batch.column(name), name)
    return matrix


def as_text(column: "pa.Array | pa.ChunkedArray") -> list[str | None]:
    """Values of a column as text, None where one is missing."""
    pa = arrow()
    if pa.types.is_floating(column.type):
        # A whole number in a column of floats is written as people write it.
        return [
            None if value is None or value != value else f"{value:.17g}"
            for value in column.to_pylist()
        ]
    return [None if value is None else str(value) for value in column.to_pylist()]


def _as_floats(column: Any, name: str) -> NDArray[np.float64]:
    pa = arrow()
    if kind_of(column.type) != "number":
        raise ValueError(
            f"column {name!r} must hold numbers, but its type is {column.type}"
        )
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_float16(column.type):
        # Old versions of pyarrow have no cast of them.
        return as_array(column).astype(np.float64)
    if column.type != pa.float64():
        # Whole numbers beyond 2^53 are rounded, as everywhere in floating point.
        column = column.cast(pa.float64(), safe=False)
    return as_array(column)


def as_array(column: "pa.Array | pa.ChunkedArray") -> NDArray[Any]:
    """The column as a NumPy array, whole or in chunks."""
    if isinstance(column, arrow().ChunkedArray):
        return column.to_numpy()
    return column.to_numpy(zero_copy_only=False)
