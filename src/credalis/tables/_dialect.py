"""How a text file writes its table: encoding, delimiter, header, decimal comma."""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass, field

from credalis.tables._table import ByteSource, check_names

# Lines looked at.
_SAMPLE_LINES = 1000
# In the order of trust: a comma may also be a decimal comma, a blank a word gap.
_DELIMITERS = ("\t", ";", "|", ",")
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
_BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
# What text that is not UTF-8 mostly is: that of Windows in western Europe.
_WINDOWS = "cp1252"


@dataclass(frozen=True)
class Dialect:
    """What the parser has to know.

    Attributes
    ----------
    encoding : str
        Of the text.
    delimiter : str
        Between cells.
    decimal : str
        Between whole and fraction.
    names : list of str
        Of the columns: those of the header, or x0, x1, ... without one.
    n_skipped : int
        Lines before the first row: those of the header, and empty ones before it.
    sample : list of lists of str
        The first rows, for messages.
    unnamed : tuple of str
        Columns whose cell in the header is empty.
    notes : tuple of str
        What was tried and should be told.
    """

    encoding: str
    delimiter: str
    decimal: str
    names: list[str]
    n_skipped: int
    sample: list[list[str]] = field(repr=False)
    unnamed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def detect(
    source: ByteSource,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Dialect:
    """The dialect of a text file; what is given is not guessed."""
    notes: tuple[str, ...] = ()
    if encoding is None:
        encoding, notes = _encoding(source)
    text = _decoded(source, encoding)
    lines = text.splitlines(keepends=True)
    if not source.is_short and len(lines) > 1:
        lines.pop()  # it may be cut
    sample = lines[:_SAMPLE_LINES]
    if not any(line.strip() for line in sample):
        raise ValueError(f"{source.name} is empty")
    delimiter = delimiter or _delimiter(sample)
    rows, n_lines = _rows(sample, delimiter)
    if header is None:
        header = has_names(rows[0])
    names, unnamed = named_columns(source.name, rows[0], has_header=header)
    body = rows[1:] if header else rows
    return Dialect(
        encoding=encoding,
        delimiter=delimiter,
        decimal=decimal or _decimal(body, delimiter),
        names=names,
        n_skipped=n_lines[0] if header else 0,
        sample=body,
        unnamed=unnamed,
        notes=notes,
    )


def has_names(first: list[str]) -> bool:
    """Whether a first row has names: no cell of it is a number."""
    return any(cell.strip() for cell in first) and not any(map(is_number, first))


def named_columns(
    table: str, first: list[str], *, has_header: bool
) -> tuple[list[str], tuple[str, ...]]:
    """Names of the columns, and which of them the header leaves without one."""
    places = [f"x{j}" for j in range(len(first))]
    if not has_header:
        return places, ()
    names = [cell.strip() or place for cell, place in zip(first, places, strict=True)]
    advice = ": rename one, or say that there is no header if the first line is one"
    check_names(table, names, advice + " of data")
    return names, tuple(
        name for name, cell in zip(names, first, strict=True) if not cell.strip()
    )


def is_number(cell: str) -> bool:
    """Whether a cell spells a number, with a point or a comma."""
    return _NUMBER.fullmatch(cell.strip()) is not None


def _encoding(source: ByteSource) -> tuple[str, tuple[str, ...]]:
    """What a byte order mark says, else UTF-8, else that of Windows, and what to say.

    Bytes that no letter of Windows stands for are not guessed any further.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if source.head.startswith(mark):
            return encoding, ()
    head = source.whole_lines
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        try:
            text = head.decode(_WINDOWS)
        except UnicodeDecodeError:
            return "utf-8", ()
        line = head[: error.start].count(b"\n")
        shown = " ".join(text.splitlines()[line].split())[:60]
        return _WINDOWS, (
            f"not UTF-8, read as {_WINDOWS}: line {line + 1} then says {shown!r} "
            "(--encoding names another)",
        )
    return "utf-8", ()


def _decoded(source: ByteSource, encoding: str) -> str:
    """The beginning as text, or a ValueError that asks for the encoding."""
    # With a last line that is cut, a character of several bytes may be.
    head = source.whole_lines
    try:
        return head.decode(encoding)
    except LookupError as error:
        raise ValueError(
            "encoding must be the name of one, such as latin-1 or utf-8, got "
            f"{encoding!r}"
        ) from error
    except UnicodeDecodeError as error:
        line = head[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{source.name} is not {encoding} text (byte {head[error.start]:#04x} in "
            f"line {line}): say how it is encoded, for example with --encoding latin-1"
        ) from error


def _rows(lines: list[str], delimiter: str) -> tuple[list[list[str]], list[int]]:
    """Rows that are not empty, and the number of lines up to the end of each."""
    reader = csv.reader(io.StringIO("".join(lines), newline=""), delimiter=delimiter)
    rows, ends = [], []
    try:
        for row in reader:
            if row:
                rows.append(row)
                ends.append(reader.line_num)
    except csv.Error:
        pass  # the parser will say what is wrong, and where
    return rows or [[""]], ends or [0]


def _delimiter(lines: list[str]) -> str:
    """The one that cuts all lines, or most, into the same number of cells."""
    best, best_share = ",", 0.0
    for candidate in _DELIMITERS:
        rows, _ = _rows(lines, candidate)
        n_cells, n_rows = Counter(map(len, rows)).most_common(1)[0]
        share = n_rows / len(rows)
        if n_cells > 1 and share > best_share:
            best, best_share = candidate, share
    if best_share == 0.0:
        rows, _ = _rows(lines, " ")
        is_table = len({len(row) for row in rows}) == 1 and len(rows[0]) > 1
        if is_table and all(map(is_number, rows[-1])):
            return " "
    return best


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    """A comma if numbers are written with one, and none with a point."""
    if delimiter == ",":
        return "."
    cells = [cell.strip() for row in rows for cell in row]
    has_comma = any(_DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    has_point = any(_DECIMAL_POINT.fullmatch(cell) for cell in cells)
    return "," if has_comma and not has_point else "."
