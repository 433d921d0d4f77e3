"""Sheets of workbooks: Excel and OpenDocument, read by python-calamine."""

import datetime as dt
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from credalis.tables._dialect import has_names, named_columns
from credalis.tables._table import ByteSource, Table, arrow, listed

if TYPE_CHECKING:
    import pyarrow as pa

_HOW_TO_INSTALL = 'pip install "credalis[excel]"'

# A workbook is a ZIP archive. What it may unpack to, and how many times its own size
# that may be: sheets are text that shrinks to a tenth, a bomb to a thousandth.
MAX_UNPACKED_BYTES = 2**30
_MAX_RATIO = 200
_SMALL_BYTES = 2**24

# How workbooks begin: as archives, or as Excel wrote them until 2003.
ARCHIVE = b"PK\x03\x04"
OLD_EXCEL = b"\xd0\xcf\x11\xe0"

_MEMBERS = ("xl/workbook.xml", "xl/workbook.bin")
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument.spreadsheet"
_NUMBERS = (int, float)


class ExcelTable(Table):
    """One sheet of a workbook, whole in memory.

    Parameters
    ----------
    source : ByteSource
        Where it comes from.
    stream : binary file
        The bytes of the workbook, from the beginning.
    sheet : str or int or None
        Name of the sheet, or its number from 1 on; None: the first with several rows.
    header : bool or None
        Whether its first row holds names; None: if no cell of it is a number.
    text_columns, missing_values : sequence of str
        As in `open_table`.
    """

    format = "excel"

    def __init__(
        self,
        source: ByteSource,
        stream: BinaryIO,
        *,
        sheet: str | int | None = None,
        header: bool | None = None,
        text_columns: Sequence[str] = (),
        missing_values: Sequence[str] = (),
    ) -> None:
        pa = arrow()
        self.name = source.name
        rows, self.notes = _sheet_rows(source.name, stream, sheet)
        if not rows:
            raise ValueError(f"{source.name} has a sheet without cells")
        width = max(map(len, rows))
        rows = [[*row, *[None] * (width - len(row))] for row in rows]
        first = ["" if cell is None else str(cell) for cell in rows[0]]
        is_text = all(cell is None or isinstance(cell, str) for cell in rows[0])
        has_header = is_text and has_names(first) if header is None else header
        names, self.unnamed = named_columns(source.name, first, has_header=has_header)
        body = rows[1:] if has_header else rows
        gaps = {"", "NA", "NaN", "null", "#N/A", *missing_values}
        columns = [
            _column([row[j] for row in body], gaps, as_text=name in text_columns)
            for j, name in enumerate(names)
        ]
        self._table = pa.table(columns, names=names)
        self.schema = self._table.schema
        self.n_rows = self._table.num_rows

    def _batches(self, columns: list[str], max_rows: int) -> Iterator["pa.RecordBatch"]:
        yield from self._table.select(columns).to_batches(max_chunksize=max_rows)


def is_workbook(stream: BinaryIO) -> bool:
    """Whether an archive is a workbook, by what is in it."""
    try:
        with zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
            if any(name in names for name in _MEMBERS):
                return True
            if "mimetype" not in names:
                return False
            with archive.open("mimetype") as member:
                return member.read(200).decode("ascii", "replace") == _OPEN_DOCUMENT
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError):
        # Damaged in one of many ways, or with a password.
        return False


def _sheet_rows(
    table: str, stream: BinaryIO, sheet: str | int | None
) -> tuple[list[list[Any]], list[str]]:
    """Cells of a sheet, None where one is empty, and which of several it is."""
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise ImportError(
            f"{table} is a workbook, which needs python-calamine: {_HOW_TO_INSTALL}"
        ) from error
    if stream.read(len(ARCHIVE)) == ARCHIVE:
        _check_size(table, stream)
    stream.seek(0)
    rows: list[list[Any]] = []
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(stream)
        names = workbook.sheet_names
        for name in _wanted(table, names, sheet):
            found = workbook.get_sheet_by_name(name).to_python(skip_empty_area=True)
            rows = _cells(found)
            # A single row is a heading, or a remark.
            if len(rows) > 1:
                break
    except calamine.CalamineError as error:
        raise ValueError(f"{table} cannot be read: {error}") from error
    if sheet is None and len(names) > 1:
        note = f"sheet {name!r} of {listed(names)} is read (--sheet names another)"
        return rows, [note]
    return rows, []


def _check_size(table: str, stream: BinaryIO) -> None:
    """Refuse an archive that unpacks to far more than a sheet needs."""
    try:
        with zipfile.ZipFile(stream) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile as error:
        raise ValueError(f"{table} cannot be read: {error}") from error
    unpacked = sum(member.file_size for member in members)
    packed = sum(member.compress_size for member in members)
    is_bomb = unpacked > _SMALL_BYTES and unpacked > _MAX_RATIO * max(packed, 1)
    if is_bomb or unpacked > MAX_UNPACKED_BYTES:
        raise ValueError(
            f"{table} would unpack from {packed / 1e6:.1f} MB to "
            f"{unpacked / 1e6:.0f} MB, at most {MAX_UNPACKED_BYTES / 1e6:.0f} MB and "
            f"{_MAX_RATIO} times its size are read: save the sheet as CSV"
        )


def _wanted(name: str, sheets: list[str], sheet: str | int | None) -> list[str]:
    """Names of the sheets that will do, the first with several rows is taken."""
    if sheet is None:
        return sheets
    if str(sheet) in sheets:
        return [str(sheet)]
    text = str(sheet)
    if text.isdecimal() and 1 <= int(text) <= len(sheets):
        return [sheets[int(text) - 1]]
    raise ValueError(
        f"{name} has no sheet {text!r}; its sheets are {listed(sheets)}, or 1 to "
        f"{len(sheets)}"
    )


def _cells(rows: list[list[Any]]) -> list[list[Any]]:
    """Rows without empty ones; a cell that is empty is None."""
    cells = [
        [None if cell is None or cell == "" else _cell(cell) for cell in row]
        for row in rows
    ]
    return [row for row in cells if any(cell is not None for cell in row)]


def _cell(cell: Any) -> Any:
    return cell.strip() or None if isinstance(cell, str) else cell


def _column(cells: list[Any], gaps: set[str], *, as_text: bool) -> "pa.Array":
    """Cells as numbers, truth values, dates, times or, if they differ, as text."""
    pa = arrow()
    cells = [None if isinstance(cell, str) and cell in gaps else cell for cell in cells]
    kinds = {type(cell) for cell in cells if cell is not None}
    if as_text or not kinds:
        return pa.array([None if cell is None else _text(cell) for cell in cells])
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds <= {*_NUMBERS}:
        return pa.array(cells, pa.float64())
    if kinds <= {dt.date, dt.datetime}:
        return pa.array([_moment(cell) for cell in cells], pa.timestamp("us"))
    if kinds == {dt.time}:
        return pa.array(cells, pa.time64("us"))
    if kinds == {dt.timedelta}:
        return pa.array(cells, pa.duration("us"))
    return pa.array([None if cell is None else _text(cell) for cell in cells])


def _moment(cell: Any) -> dt.datetime | None:
    if cell is None or isinstance(cell, dt.datetime):
        return cell
    return dt.datetime(cell.year, cell.month, cell.day)


def _text(cell: Any) -> str:
    """A cell as people write it: a whole number without a fraction."""
    return f"{cell:.17g}" if isinstance(cell, float) else str(cell)
