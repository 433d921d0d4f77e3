"""Tables into files, batch by batch; a file appears whole or not at all."""

import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from credalis._files import STDOUT, atomic_write, is_device, naming_errors
from credalis.tables._table import arrow

if TYPE_CHECKING:
    import pyarrow as pa

_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
}
_MAY_BE_COMPRESSED = ("csv", "tsv")

# What a spreadsheet computes, and what is a number all the same.
_FORMULA = r"^[=+\-@\t\r]"
_SIGNED_NUMBER = r"^[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?$"

Write = Callable[["pa.RecordBatch"], None]


def output_format(path: str | os.PathLike[str]) -> tuple[str, bool]:
    """Format that the name of a file asks for, and whether it is to be compressed.

    Standard output, "-", is CSV.
    """
    if os.fspath(path) == STDOUT:
        return "csv", False
    name = Path(path)
    is_compressed = name.suffix.lower() == ".gz"
    suffix = (name.with_suffix("") if is_compressed else name).suffix.lower()
    kind = _FORMATS.get(suffix)
    if kind is None or (is_compressed and kind not in _MAY_BE_COMPRESSED):
        raise ValueError(
            f"the name of the output must end in {', '.join(_FORMATS)}, .csv.gz or "
            f".tsv.gz, got {os.fspath(path)!r}"
        )
    return kind, is_compressed


@contextmanager
def write_table(
    path: str | os.PathLike[str], schema: "pa.Schema", *, csv_safe: bool = False
) -> Iterator[Write]:
    """Open a table for writing; the block gets a function that takes batches.

    The file takes its name when the block ends without an error; after an error or an
    interrupt nothing is left behind. NPY is gathered in memory, all other formats are
    written as the batches come.

    Parameters
    ----------
    path : str or path-like
        Its name says the format; "-" is CSV on standard output.
    schema : pyarrow.Schema
        Names and types of the columns.
    csv_safe : bool, default=False
        Put an apostrophe before text in CSV that a spreadsheet would take for a
        formula.
    """
    kind, is_compressed = output_format(path)
    open_writer = {
        "csv": _csv_writer,
        "tsv": _csv_writer,
        "parquet": _parquet_writer,
        "arrow": _arrow_writer,
        "npy": _npy_writer,
    }[kind]
    with naming_errors(_name(path)), ExitStack() as stack:
        sink = _Sink(stack.enter_context(_opened(path)))
        stream: Any = sink
        if is_compressed:
            # No name and no time in it: the same table gives the same bytes.
            stream = gzip.GzipFile(filename="", mode="wb", fileobj=sink, mtime=0)
        try:
            write, close = open_writer(stream, schema, kind)
            if csv_safe and kind in ("csv", "tsv"):
                yield lambda batch: write(_without_formulas(batch))
            else:
                yield write
            close()
            if is_compressed:
                stream.close()
        except BaseException:
            # What the writers still want to say when they are closed is not written.
            sink.is_abandoned = True
            raise


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    if os.fspath(path) == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif is_device(Path(path)):
        with open(path, "wb") as stream:
            yield stream
    else:
        with atomic_write(path) as stream:
            yield stream


def _name(path: str | os.PathLike[str]) -> str:
    return "standard output" if os.fspath(path) == STDOUT else os.fspath(path)


class _Sink(io.RawIOBase):
    """A stream that can be told to forget what is written to it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._position = 0
        self.is_abandoned = False

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if not self.is_abandoned:
            self._stream.write(data)
        self._position += size
        return size


Writer = tuple[Write, Callable[[], None]]


def _csv_writer(stream: Any, schema: "pa.Schema", kind: str) -> Writer:
    from pyarrow import csv

    options = csv.WriteOptions(delimiter="\t" if kind == "tsv" else ",")
    writer = csv.CSVWriter(stream, schema, write_options=options)
    return writer.write, writer.close


def _without_formulas(batch: "pa.RecordBatch") -> "pa.RecordBatch":
    """The same with an apostrophe before text that begins like a formula.

    Numbers that come as text, such as -1, are harmless and stay.
    """
    import pyarrow.compute as pc

    columns = []
    for values, field in zip(batch.columns, batch.schema, strict=True):
        if arrow().types.is_string(field.type):
            is_formula = pc.and_not(
                pc.match_substring_regex(values, _FORMULA),
                pc.match_substring_regex(values, _SIGNED_NUMBER),
            )
            harmless = pc.binary_join_element_wise("'", values, "")
            values = pc.if_else(is_formula, harmless, values)
        columns.append(values)
    return arrow().record_batch(columns, schema=batch.schema)


def _parquet_writer(stream: Any, schema: "pa.Schema", kind: str) -> Writer:
    from pyarrow import parquet

    writer = parquet.ParquetWriter(stream, schema, compression="zstd")
    return writer.write_batch, writer.close


def _arrow_writer(stream: Any, schema: "pa.Schema", kind: str) -> Writer:
    writer = arrow().ipc.new_file(stream, schema)
    return writer.write, writer.close


def _npy_writer(stream: Any, schema: "pa.Schema", kind: str) -> Writer:
    """Records with the names of the columns; NaN and "" where a value is missing."""
    pa = arrow()
    batches: list[Any] = []

    def close() -> None:
        table = pa.Table.from_batches(batches, schema)
        columns = {}
        for name in schema.names:
            values = table.column(name)
            if pa.types.is_string(values.type):
                text = np.array([value or "" for value in values.to_pylist()], "U")
                columns[name] = text if len(text) else np.empty(0, "U1")
            else:
                # There are no missing whole numbers or truth values in NumPy.
                is_gappy = values.null_count > 0
                values = values.cast(pa.float64()) if is_gappy else values
                columns[name] = values.to_numpy()
        fields = [(name, values.dtype) for name, values in columns.items()]
        records = np.empty(table.num_rows, dtype=fields)
        for name, values in columns.items():
            records[name] = values
        np.lib.format.write_array(stream, records, allow_pickle=False)

    return batches.append, close
