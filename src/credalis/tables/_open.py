"""Which format a file has; its bytes decide, not its name."""

import os
from collections.abc import Sequence
from pathlib import Path

from credalis.tables._arrays import open_npy, open_npz
from credalis.tables._columnar import ArrowTable, ParquetFolder, ParquetTable
from credalis.tables._csv import CsvTable
from credalis.tables._dialect import detect
from credalis.tables._excel import ARCHIVE, OLD_EXCEL, ExcelTable, is_workbook
from credalis.tables._table import STDIN, ByteSource, Table, arrow

# How other files that people have begin.
_FOREIGN = {
    b"\x89HDF": "an HDF5 file",
    b"SQLite format 3": "an SQLite database",
    b"FEA1": "a Feather file of the first version",
    b"%PDF": "a PDF document",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
}
_BINARY_NAMES = (
    ".parquet",
    ".pq",
    ".arrow",
    ".feather",
    ".ipc",
    ".npy",
    ".npz",
    ".xlsx",
    ".xls",
    ".ods",
)


def open_table(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
    text_columns: Sequence[str] = (),
    missing_values: Sequence[str] = (),
) -> Table:
    """Open a table in a file, to be read whole or batch by batch.

    Parameters
    ----------
    path : str or path-like
        A CSV or TSV file, a workbook of Excel or OpenDocument, a Parquet file or a
        folder of them, an Arrow or Feather file, an NPY or NPZ file; "-" is standard
        input. All but folders may be compressed with gzip. The bytes decide which
        format it is.
    delimiter, header, decimal, encoding : default=None
        For text files. By default, the delimiter is the tab, semicolon, bar, comma or
        blank that cuts most lines into the same number of cells; a first line without
        numbers is a header; the decimal sign is a comma if there are numbers with one
        and none with a point; the encoding is what a byte order mark says, else UTF-8,
        else cp1252.
    sheet : str or int, default=None
        Sheet of a workbook: its name, or its number from 1 on; by default the first
        one with several rows.
    text_columns : sequence of str, default=()
        Columns of a text file that are not parsed: identifiers keep their zeros.
    missing_values : sequence of str, default=()
        What stands for a missing value in a text file, besides empty cells, NA, NaN
        and null.

    Returns
    -------
    Table
        With ``columns``, ``schema``, ``n_rows``, ``batches(columns)`` and ``read()``.

    Notes
    -----
    The types of the columns of a text file are those of its first megabyte, numbers
    being read as float64. A cell further down that does not fit is an error that names
    its line and column: a column does not change its type half-way. Columns without a
    name are called x0, x1, ... by their place.

    Examples
    --------
    >>> from credalis.io import open_table
    >>> table = open_table("flowers.csv")  # doctest: +SKIP
    >>> for batch in table.batches(["length", "width"]):  # doctest: +SKIP
    ...     print(batch.num_rows)
    """
    arrow()
    if not os.fspath(path):
        raise ValueError("path must name a file or a folder, got ''")
    if os.fspath(path) != STDIN and Path(path).is_dir():
        return ParquetFolder(Path(path))
    source = ByteSource(path)
    head = source.head
    if not head:
        raise ValueError(f"{source.name} is empty")
    if head.startswith((ARCHIVE, OLD_EXCEL)):
        with source.open_seekable() as stream:
            if head.startswith(ARCHIVE) and not is_workbook(stream):
                _check_no_sheet(source, sheet)
                return open_npz(source.name, stream)
            stream.seek(0)
            return ExcelTable(
                source,
                stream,
                sheet=sheet,
                header=header,
                text_columns=text_columns,
                missing_values=missing_values,
            )
    _check_no_sheet(source, sheet)
    if head.startswith(b"PAR1"):
        return ParquetTable(source)
    if head.startswith(b"ARROW1"):
        return ArrowTable(source, is_stream=False)
    if head.startswith(b"\xff\xff\xff\xff"):
        return ArrowTable(source, is_stream=True)
    if head.startswith(b"\x93NUMPY"):
        return open_npy(source)
    _check_text(source, encoding)
    dialect = detect(
        source,
        delimiter=delimiter,
        header=header,
        decimal=decimal,
        encoding=encoding,
    )
    return CsvTable(
        source, dialect, text_columns=text_columns, missing_values=missing_values
    )


def _check_no_sheet(source: ByteSource, sheet: str | int | None) -> None:
    if sheet is not None:
        raise ValueError(f"{source.name} is no workbook: leave out --sheet")


def _check_text(source: ByteSource, encoding: str | None) -> None:
    """Refuse what is no text before a parser finds strange cells in it."""
    head = source.head
    readable = "CSV, TSV, Excel, ODS, Parquet, Arrow, Feather, NPY and NPZ can be read"
    for start, what in _FOREIGN.items():
        if head.startswith(start):
            raise ValueError(f"{source.name} is {what}; {readable}")
    suffix = source.path.suffix.lower()
    if suffix in _BINARY_NAMES and not source.is_stdin:
        raise ValueError(
            f"{source.name} is not a {suffix[1:]} file, or it is damaged; {readable}"
        )
    is_wide = head[:2] in (b"\xff\xfe", b"\xfe\xff") or encoding is not None
    if b"\0" in head[:4096] and not is_wide:
        raise ValueError(f"{source.name} is not a table of text; {readable}")
