"""Arrays of NumPy's files as tables."""

import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from credalis._checks import naming
from credalis.tables._table import ByteSource, Table, arrow, check_names, listed

if TYPE_CHECKING:
    import pyarrow as pa

_MODEL_HEADER = "credalis.npy"


# What NumPy and zipfile raise for damaged files, besides ValueError.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    SyntaxError,
    tokenize.TokenError,
    NotImplementedError,  # a compression that does not exist
    RuntimeError,  # a password
)


class ArrayTable(Table):
    """Columns that are arrays: x0, x1, ... of a matrix, or those with names."""

    def __init__(
        self, name: str, file_format: str, columns: dict[str, NDArray[Any]]
    ) -> None:
        pa = arrow()
        self.name = name
        self.format = file_format
        self._columns = columns
        self.n_rows = len(next(iter(columns.values()))) if columns else 0
        self.schema = pa.schema(
            [(key, _type_of(name, key, values)) for key, values in columns.items()]
        )
        check_names(name, self.schema.names)

    def _batches(self, columns: list[str], max_rows: int) -> Iterator["pa.RecordBatch"]:
        pa = arrow()
        for start in range(0, self.n_rows or 0, max_rows):
            rows = slice(start, start + max_rows)
            with naming(self.name):
                arrays = [
                    pa.array(
                        _native(self._columns[name][rows]),
                        self.schema.field(name).type,
                    )
                    for name in columns
                ]
            yield pa.record_batch(arrays, names=columns)


def _native(values: NDArray[Any]) -> NDArray[Any]:
    """A copy in the byte order of this machine; a column of a matrix has gaps."""
    return np.array(values, dtype=values.dtype.newbyteorder("="), order="C")


def open_npy(source: ByteSource) -> ArrayTable:
    """One array; a file is mapped, so that it may be larger than memory."""
    try:
        if source.is_plain_file:
            array = np.load(source.path, mmap_mode="r", allow_pickle=False)
        else:
            array = np.load(source.open_seekable(), allow_pickle=False)
    except (ValueError, *_UNREADABLE) as error:
        raise ValueError(f"{source.name} cannot be read: {error}") from error
    return ArrayTable(source.name, "npy", _columns(source.name, array))


def open_npz(table: str, stream: BinaryIO) -> ArrayTable:
    """An archive with one matrix, or with columns of equal length."""
    try:
        with naming(table):
            with zipfile.ZipFile(stream) as members:
                _check_members(table, members.namelist())
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
    except (*_UNREADABLE, KeyError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise ValueError(f"{table} cannot be read: {error}") from error
    if len(arrays) == 1:
        (array,) = arrays.values()
        return ArrayTable(table, "npz", _columns(table, array))
    lengths = {array.shape for array in arrays.values()}
    if len(lengths) != 1 or len(next(iter(lengths))) != 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(
            f"{table} must hold one matrix, or vectors of equal length as "
            f"columns; it holds {shapes or 'nothing'}"
        )
    return ArrayTable(table, "npz", arrays)


def _check_members(name: str, members: list[str]) -> None:
    if _MODEL_HEADER in members:
        raise ValueError(f"{name} is a file saved by credalis, not a table")
    if not members or not all(member.endswith(".npy") for member in members):
        raise ValueError(f"{name} is an archive of {listed(members)}: unpack it first")


def _columns(name: str, array: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Columns of an array of one or two dimensions, or of records."""
    if array.dtype.names:
        return {field: array[field] for field in array.dtype.names}
    if array.ndim == 1:
        return {"x0": array}
    if array.ndim != 2:
        raise ValueError(
            f"{name} must hold an array of one or two dimensions, got shape "
            f"{array.shape}"
        )
    return {f"x{j}": array[:, j] for j in range(array.shape[1])}


def _type_of(name: str, column: str, values: NDArray[Any]) -> Any:
    pa = arrow()
    if values.dtype.kind == "U":
        return pa.string()
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"{name}, column {column!r}: numbers or text expected, got dtype "
            f"{values.dtype}"
        )
    return pa.from_numpy_dtype(values.dtype.newbyteorder("="))
