"""What all formats have in common: Table, its bytes, and columns of pyarrow.

pyarrow is imported when it is needed.
"""

import gzip
import io
import os
import stat
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from credalis._checks import check_integer

if TYPE_CHECKING:
    import pyarrow as pa

_HOW_TO_INSTALL = 'pip install "credalis[parquet]"'

STDIN = "-"
# Bytes looked at before the parsing begins.
HEAD_BYTES = 2**20
_GZIP = b"\x1f\x8b"

# Rows of a batch: large enough to be quick, small enough that hundreds of columns are
# no burden.
BATCH_ROWS = 2**16
# More names than this are counted in a message.
_MAX_NAMES_SHOWN = 12


class Table(ABC):
    """Columns of a file, read batch by batch.

    Made by `open_table`.

    Attributes
    ----------
    name : str
        What the table is called in messages: its path, or "standard input".
    format : str
        "csv", "excel", "parquet", "arrow", "npy" or "npz".
    schema : pyarrow.Schema
        Names and types of the columns.
    n_rows : int or None
        Number of rows, if the format tells it before all is read.
    is_repeatable : bool
        Whether `batches` can be asked for more than once; a pipe cannot be read again.
    unnamed : tuple of str
        Columns that the header leaves without a name.
    notes : list of str
        What was guessed about the file and should be told.
    """

    name: str
    format: str
    schema: "pa.Schema"
    n_rows: int | None = None
    is_repeatable: bool = True
    unnamed: tuple[str, ...] = ()
    notes: Sequence[str] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.schema.names)

    @property
    def kinds(self) -> dict[str, str]:
        """For each column "number", "text" or "other"."""
        return {field.name: kind_of(field.type) for field in self.schema}

    def batches(
        self, columns: Sequence[str] | None = None, *, max_rows: int = BATCH_ROWS
    ) -> Iterator["pa.RecordBatch"]:
        """Stream the rows in the order of the file, in bounded memory.

        Parameters
        ----------
        columns : sequence of str, default=None
            Names of the columns wanted, in this order; by default all.
        max_rows : int, default=65536
            Largest number of rows of a batch; batches may have fewer.

        Yields
        ------
        pyarrow.RecordBatch
        """
        check_integer("max_rows", max_rows, at_least=1)
        names = self.columns if columns is None else self.check_columns(columns)
        with reading(self.name):
            for batch in self._batches(list(names), max_rows):
                for start in range(0, batch.num_rows, max_rows):
                    yield batch.slice(start, max_rows)

    def read(self, columns: Sequence[str] | None = None) -> "pa.Table":
        """All rows of some columns, or of all, as a pyarrow.Table."""
        pa = arrow()
        names = self.columns if columns is None else self.check_columns(columns)
        batches = list(self.batches(names))
        schema = pa.schema([self.schema.field(name) for name in names])
        return pa.Table.from_batches(batches, schema if not batches else None)

    def check_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The same names, or a ValueError that tells which is not there."""
        known = set(self.columns)
        for name in columns:
            if name not in known:
                raise ValueError(
                    f"{self.name} has no column {name!r}{self._meant(name)}"
                )
        return tuple(columns)

    @abstractmethod
    def _batches(self, columns: list[str], max_rows: int) -> Iterator["pa.RecordBatch"]:
        """Batches of the given columns; larger ones are cut afterwards."""

    def _meant(self, name: str) -> str:
        near = get_close_matches(name, self.columns, n=1)
        if near:
            return f"; did you mean {near[0]!r}?"
        return f"; its columns are {listed(self.columns)}"

    def __repr__(self) -> str:
        n_rows = "" if self.n_rows is None else f", {self.n_rows} rows"
        return f"Table({self.name!r}, {len(self.columns)} columns{n_rows})"


def listed(names: Sequence[str]) -> str:
    """Names in words, the first few if they are many."""
    shown = ", ".join(repr(name) for name in names[:_MAX_NAMES_SHOWN])
    n_hidden = len(names) - _MAX_NAMES_SHOWN
    return f"{shown} and {n_hidden} more" if n_hidden > 0 else shown


def option(name: str, columns: Sequence[str]) -> str:
    """An option with names of columns, as it can be pasted into a shell."""
    if any("," in column for column in columns):
        return " ".join(f"{name} {quote(column)}" for column in columns)
    return f"{name} {quote(','.join(columns))}"


def check_names(name: str, columns: Sequence[str], advice: str = "") -> list[str]:
    """Names that are all different, or a ValueError."""
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise ValueError(f"{name} has two columns called {column!r}{advice}")
        seen.add(column)
    return list(columns)


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
    except (pa.ArrowException, OSError, UnicodeError) as error:
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
        column = batch.column(name)
        if kind_of(column.type) != "number":
            raise ValueError(
                f"column {name!r} must hold numbers, but its type is {column.type}"
            )
        matrix[:, j] = as_floats(column)
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


def as_floats(column: "pa.Array | pa.ChunkedArray") -> NDArray[np.float64]:
    """A column of numbers or truth values as an array, NaN where one is missing."""
    pa = arrow()
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


class ByteSource:
    """Bytes that are read from the beginning, several times if they can be.

    Parameters
    ----------
    path : str or path-like
        A file, or "-" for standard input. Pipes and devices are read once.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.is_stdin = os.fspath(path) == STDIN
        self.path = Path(path)
        self.name = "standard input" if self.is_stdin else str(path)
        self.is_repeatable = not self.is_stdin and _is_regular(self.path)
        self._rest: BinaryIO | None = None
        stream = self._open_raw()
        start = stream.read(HEAD_BYTES)
        self.is_compressed = start[:2] == _GZIP
        if self.is_repeatable:
            stream.close()
            with self.open() as again:
                self.head = _exactly(again, HEAD_BYTES)
        else:
            self._rest = self._decompressed(_joined(start, stream))
            self.head = _exactly(self._rest, HEAD_BYTES)
        self.is_short = len(self.head) < HEAD_BYTES

    def open(self) -> BinaryIO:
        """A stream of the decompressed bytes, from the beginning."""
        if self.is_repeatable:
            return self._decompressed(self._open_raw())
        if self._rest is None:
            raise ValueError(
                f"{self.name} can be read only once: write it to a file first"
            )
        stream, self._rest = _joined(self.head, self._rest), None
        return stream

    @property
    def is_plain_file(self) -> bool:
        """Whether it can be opened by its path, at any place and again."""
        return self.is_repeatable and not self.is_compressed

    @property
    def whole_lines(self) -> bytes:
        """The head without a last line that may be cut."""
        if self.is_short:
            return self.head
        return self.head[: self.head.rfind(b"\n") + 1] or self.head

    def open_seekable(self) -> BinaryIO:
        """The same for formats that are not read from front to back."""
        if self.is_plain_file:
            return self._open_raw()
        with self.open() as stream:
            return io.BytesIO(stream.read())

    def _open_raw(self) -> BinaryIO:
        if self.is_stdin:
            return sys.stdin.buffer
        return open(self.path, "rb")

    def _decompressed(self, stream: BinaryIO) -> BinaryIO:
        if not self.is_compressed:
            return stream
        return _guarded(gzip.GzipFile(fileobj=stream), stream, self.name)


class _Readable(io.RawIOBase):
    """A raw stream made of a function that reads at most so many bytes."""

    def __init__(self, read: Callable[[int], bytes], below: BinaryIO) -> None:
        self._read = read
        self._below = below

    def close(self) -> None:
        if not self.closed and self._below is not sys.stdin.buffer:
            self._below.close()
        super().close()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _joined(head: bytes, rest: BinaryIO) -> BinaryIO:
    """What was read already, then the rest."""
    start = io.BytesIO(head)
    return _buffered(lambda size: start.read(size) or rest.read(size), rest)


def _guarded(stream: gzip.GzipFile, below: BinaryIO, name: str) -> BinaryIO:
    """A compressed stream whose damage is told in words."""

    def read(size: int) -> bytes:
        try:
            return stream.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{name} is damaged or cut short: {error}") from error

    return _buffered(read, below)


def _buffered(read: Callable[[int], bytes], below: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Readable(read, below), HEAD_BYTES))


def _exactly(stream: BinaryIO, size: int) -> bytes:
    """So many bytes, fewer only at the end: a pipe gives them piece by piece."""
    pieces, missing = [], size
    while missing and (piece := stream.read(missing)):
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"there is no file {path}") from error
