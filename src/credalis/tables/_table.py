"""Table, what all formats have in common, and the bytes it is read from."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from credalis._checks import check_integer
from credalis.tables._arrow import arrow, kind_of, reading

if TYPE_CHECKING:
    import pyarrow as pa

import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

STDIN = "-"
# Bytes looked at before the parsing begins.
HEAD_BYTES = 2**20
_GZIP = b"\x1f\x8b"


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
        "csv", "parquet", "arrow", "npy" or "npz".
    schema : pyarrow.Schema
        Names and types of the columns.
    n_rows : int or None
        Number of rows, if the format tells it before all is read.
    is_repeatable : bool
        Whether `batches` can be asked for more than once; a pipe cannot be read again.
    """

    name: str
    format: str
    schema: "pa.Schema"
    n_rows: int | None = None
    is_repeatable: bool = True

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
        for name in columns:
            if name not in self.columns:
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


def check_names(name: str, columns: Sequence[str], advice: str = "") -> list[str]:
    """Names that are all different, or a ValueError."""
    seen: set[str] = set()
    for column in columns:
        if column in seen:
            raise ValueError(f"{name} has two columns called {column!r}{advice}")
        seen.add(column)
    return list(columns)
