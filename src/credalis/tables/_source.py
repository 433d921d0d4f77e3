"""Where a table comes from: a file, a folder or a pipe, compressed or not."""

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


class Source:
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

    def open_seekable(self) -> BinaryIO:
        """The same for formats that are not read from front to back."""
        if self.is_repeatable and not self.is_compressed:
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
