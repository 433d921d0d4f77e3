"""How the cells of a column are read as numbers: amounts, shares, dates, times.

A reading is a short text that a saved model remembers:

- "number", "truth": as they are,
- "point", "comma": text such as ``1,000,000``, ``12.5 %`` or ``€ 3.20``, by its decimal
  sign,
- "date", "ymd", "dmy", "mdy" and a part, as in "dmy days": a date, or text of one in
  this order of year, month and day,
- "time", "duration": hours of the day, days,
- "rank": the place of a category in its order.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis._choices import DATE_PARTS
from credalis.tables import as_text, kind_of
from credalis.tables._days import MICROSECONDS
from credalis.tables._table import arrow, as_array, as_floats

if TYPE_CHECKING:
    import pyarrow as pa

# Parts that begin again.
PERIODS = {"month": 12.0, "weekday": 7.0, "hour": 24.0}
_FORMS = ("date", "ymd", "dmy", "mdy")
READINGS = (
    *("number", "truth", "point", "comma", "time", "duration", "rank"),
    *(f"{form} {part}" for form in _FORMS for part in DATE_PARTS),
)

# Signs and codes of currencies.
_CURRENCY = r"[€$£¥₹]|EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|INR|CNY"
_BLANKS = "[ \u00a0\u202f\u2009]"
_GROUPS = {"point": f"(?:,|'|’|{_BLANKS})", "comma": rf"(?:\.|'|’|{_BLANKS})"}
_DECIMAL = {"point": r"\.", "comma": ","}
_WORDS = {"point": "decimal points", "comma": "decimal commas"}
_GROUP_WORDS = {",": "commas", ".": "points", "'": "apostrophes", "’": "apostrophes"}
# At least so much of a column has the sign, if any of it has.
_MOSTLY = 0.5
# What stands for a missing number among numbers, in small letters.
_MISSING_SIGNS = (
    *("?", "-", "--", "–", "—", ".", "..", "*", "n/a", "n.a.", "na", "nan", "none"),
    *("null", "nil", "unknown", "missing", "not available", "#n/a", "#value!"),
)

_DATES = {
    "ymd": re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"),
    "dmy": re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})"),
}


def _amount(style: str) -> re.Pattern[str]:
    """A number with groups of digits, a currency before or after it, or a %."""
    digits = rf"\d{{1,3}}(?:{_GROUPS[style]}\d{{3}})+|\d+"
    number = rf"(?:{digits})(?:{_DECIMAL[style]}\d*)?|{_DECIMAL[style]}\d+"
    return re.compile(
        rf"[+\-−]?{_BLANKS}*(?P<before>{_CURRENCY})?{_BLANKS}*[+\-−]?(?:{number})"
        rf"(?:[eE][+-]?\d+)?{_BLANKS}*(?P<after>%|{_CURRENCY})?"
    )


_AMOUNTS = {style: _amount(style) for style in _DECIMAL}


def reading_of(column: "pa.Array | pa.ChunkedArray") -> str | None:
    """How a column can be read as numbers, None for words and what else there is.

    What text is, all its cells must say, up to a few signs for "missing" that
    `signs_of_missing` tells.
    """
    types = arrow().types
    found = column.type
    if types.is_dictionary(found):
        return "rank" if found.ordered else None
    if types.is_boolean(found):
        return "truth"
    if kind_of(found) == "number":
        return "number"
    if types.is_date(found) or types.is_timestamp(found):
        return "date days"
    if types.is_time(found):
        return "time"
    if types.is_duration(found):
        return "duration"
    if kind_of(found) != "text":
        return None
    cells = _distinct(column)
    if not cells:
        return None
    return _date_order(cells) or _style(cells)


def signs_of_missing(column: "pa.Array | pa.ChunkedArray", reading: str) -> list[str]:
    """Cells of text that are no numbers: what stands for a missing one."""
    if reading not in _AMOUNTS:
        return []
    pattern = _AMOUNTS[reading]
    return [cell for cell in _distinct(column) if not pattern.fullmatch(cell.strip())]


def in_words(reading: str, sample: str | None = None) -> str:
    """What a reading does, for a note."""
    if reading in _WORDS:
        what, sample = f"numbers with {_WORDS[reading]}", sample or ""
        group = re.search(rf"\d({_GROUPS[reading]})\d{{3}}", sample)
        if group:
            what += f" and {_GROUP_WORDS.get(group[1], 'blanks')} between thousands"
        sign = _sign(_AMOUNTS[reading], sample) if sample else ""
        return f"{what}, in {'per cent' if sign == '%' else sign}" if sign else what
    form, _, part = reading.partition(" ")
    if part:
        order = "" if form == "date" else f" from {'/'.join(form)}"
        return f"{DATE_PARTS[part]}{order}"
    return {"time": "hours of the day", "duration": "days"}.get(reading, "numbers")


def as_numbers(
    column: "pa.Array | pa.ChunkedArray",
    reading: str,
    name: str,
    *,
    signs: Sequence[str] = (),
    order: Sequence[str] = (),
) -> NDArray[np.float64]:
    """Values of a column, NaN where one is missing.

    Parameters
    ----------
    column : pyarrow Array or ChunkedArray
        The cells.
    reading : str
        What `reading_of` found when the model was made.
    name : str
        Of the column, for messages.
    signs : sequence of str
        Cells that stand for a missing value.
    order : sequence of str
        Categories from the lowest to the highest, for ranks.
    """
    pa = arrow()
    if reading == "rank":
        return _ranks(column, order, name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind_of(column.type) == "number":
        # Whatever it was in the fit, a number is itself.
        return as_floats(column)
    if reading in _AMOUNTS:
        return as_floats(_parsed(column, reading, name, signs))
    form, _, part = reading.partition(" ")
    if part:
        moments = column if form == "date" else _dates(column, form, name)
        _check_type(moments, name, reading, "is_date", "is_timestamp")
        return _part(moments, part)
    if reading == "time":
        _check_type(column, name, reading, "is_time")
        micros = column.cast(pa.time64("us"), safe=False).cast(pa.int64())
        return as_floats(micros) / 3.6e9
    if reading == "duration":
        _check_type(column, name, reading, "is_duration")
        micros = column.cast(pa.duration("us"), safe=False).cast(pa.int64())
        return as_floats(micros) / MICROSECONDS
    raise ValueError(
        f"column {name!r} must hold numbers, but its type is {column.type}"
    )


def _check_type(column: Any, name: str, reading: str, *tests: str) -> None:
    types = arrow().types
    if not any(getattr(types, test)(column.type) for test in tests):
        raise ValueError(
            f"column {name!r} must hold {in_words(reading)}, but its type is "
            f"{column.type}"
        )


def as_strings(column: Any, name: str) -> Any:
    """A column of categories as text; a missing one stays so."""
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        return pa.array(as_text(column), pa.string())
    try:
        return column.cast(pa.string())
    except pa.ArrowException as error:  # lists, or bytes that are no text
        raise ValueError(
            f"column {name!r} must hold words or numbers, but its type is "
            f"{column.type}: {str(error).splitlines()[0]}"
        ) from error


def _ranks(column: Any, order: Sequence[str], name: str) -> NDArray[np.float64]:
    """Places in an order, 0 to n - 1; a category that is not in it is missing."""
    import pyarrow.compute as pc

    pa = arrow()
    places = pc.index_in(as_strings(column, name), pa.array(list(order), pa.string()))
    return as_floats(places)


def _distinct(column: Any) -> list[str]:
    """Different texts of a column, sorted."""
    found = column.unique().to_pylist()
    return sorted({cell for cell in found if cell is not None and cell.strip()})


def _style(cells: list[str]) -> str | None:
    """Decimal sign of amounts, None if too many cells are none."""
    styles = []
    for style, pattern in _AMOUNTS.items():
        found = [pattern.fullmatch(cell.strip()) for cell in cells]
        known = [match for match in found if match]
        are_signs = all(
            match or cell.strip().lower() in _MISSING_SIGNS
            for match, cell in zip(found, cells, strict=True)
        )
        if known and are_signs and _has_one_sign(known):
            styles.append(style)
    # Of two readings that both fit, 1,000 is a thousand.
    return styles[0] if styles else None


def _sign(pattern: re.Pattern[str], cell: str) -> str:
    match = pattern.fullmatch(cell.strip())
    return (match["before"] or match["after"] or "") if match else ""


def _has_one_sign(matches: list[re.Match[str]]) -> bool:
    """Whether amounts are in one currency or all shares, a few without a sign."""
    signs = [match["before"] or match["after"] or "" for match in matches]
    known = {sign for sign in signs if sign}
    is_alone = all(not (match["before"] and match["after"]) for match in matches)
    n_signed = sum(sign != "" for sign in signs)
    is_common = not known or n_signed > _MOSTLY * len(signs)
    return is_alone and len(known) <= 1 and is_common


def _parsed(column: Any, style: str, name: str, signs: Sequence[str]) -> Any:
    """Amounts without what is no digit; other cells are refused."""
    import pyarrow.compute as pc

    pa = arrow()
    texts = pc.utf8_trim_whitespace(as_strings(column, name))
    is_gap = pc.is_in(texts, pa.array([*signs, ""], pa.string()))
    texts = pc.if_else(is_gap, pa.scalar(None, pa.string()), texts)
    for cell in _distinct(texts):
        if not _AMOUNTS[style].fullmatch(cell):
            raise ValueError(
                f"column {name!r}: {cell!r} is not a number as the others are; correct "
                f"it, or if it stands for a missing value, say so with --na {cell!r}"
            )
    signs_and_groups = rf"{_CURRENCY}|%|'|’|\+|{_BLANKS}"
    plain = pc.replace_substring_regex(texts, signs_and_groups, "")
    plain = pc.replace_substring(plain, "−", "-")
    plain = pc.replace_substring(plain, "." if style == "comma" else ",", "")
    if style == "comma":
        plain = pc.replace_substring(plain, ",", ".")
    try:
        return plain.cast(pa.float64())
    except pa.ArrowInvalid as error:  # digits of other scripts
        raise ValueError(f"column {name!r}: {error}") from error


def _date_order(cells: list[str]) -> str | None:
    """Order of the parts of dates that are text, None if it is not clear."""
    texts = [cell.strip() for cell in cells]
    if all(_DATES["ymd"].fullmatch(text) for text in texts):
        return _valid("ymd", texts)
    found = [_DATES["dmy"].fullmatch(text) for text in texts]
    parts = [(int(m[1]), m[2], int(m[3])) for m in found if m]
    if len(parts) < len(texts):
        return None
    is_dotted = all(sign == "." for _, sign, _ in parts)
    if is_dotted or any(first > 12 for first, _, _ in parts):
        return _valid("dmy", texts)
    if any(second > 12 for _, _, second in parts):
        return _valid("mdy", texts)
    return None


def is_date_of_no_order(column: "pa.Array | pa.ChunkedArray") -> bool:
    """Whether all cells are dates of which nothing tells day and month apart."""
    cells = [cell.strip() for cell in _distinct(column)]
    if not cells or not all(_DATES["dmy"].fullmatch(cell) for cell in cells):
        return False
    return all(_iso(cell, form) for cell in cells for form in ("dmy", "mdy"))


def _valid(form: str, texts: list[str]) -> str | None:
    return f"{form} days" if all(_iso(text, form) for text in texts) else None


def _iso(text: str, form: str) -> str | None:
    """A date as year-month-day, None if there is no such day."""
    if form == "ymd":
        match = _DATES["ymd"].fullmatch(text)
        parts = None if match is None else (match[1], match[2], match[3])
    else:
        match = _DATES["dmy"].fullmatch(text)
        first = None if match is None else (match[1], match[3])
        parts = None
        if match is not None and first is not None:
            day, month = first if form == "dmy" else first[::-1]
            parts = (match[4], month, day)
    if parts is None:
        return None
    year, month, day = map(int, parts)
    iso = f"{year:04}-{month:02}-{day:02}"
    try:
        np.datetime64(iso)
    except ValueError:
        return None
    return iso


def _dates(column: Any, form: str, name: str) -> Any:
    """Text in an order of year, month and day as dates."""
    pa = arrow()
    if kind_of(column.type) != "text":
        return column
    texts = column.to_pylist()
    known: dict[str, str | None] = {}
    for text in _distinct(column):
        iso = _iso(text.strip(), form)
        if iso is None:
            raise ValueError(
                f"column {name!r}: {text!r} is not a date in the order "
                f"{'/'.join(form)} as the others are"
            )
        known[text] = iso
    moments = [None if text is None else known.get(text) for text in texts]
    return pa.array(moments, pa.string()).cast(pa.date32())


def _part(column: Any, part: str) -> NDArray[np.float64]:
    """A part of dates or timestamps; those with a time zone as they are there."""
    import pyarrow.compute as pc

    pa = arrow()
    if part == "days":
        micros = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        return as_floats(micros) / MICROSECONDS
    if part == "hour" and pa.types.is_date(column.type):
        return np.where(as_array(column.is_null()), np.nan, 0.0)
    compute = {
        "year": pc.year,
        "month": pc.month,
        "weekday": pc.day_of_week,
        "hour": pc.hour,
    }
    return as_floats(compute[part](column))
