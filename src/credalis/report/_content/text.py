"""Words and numbers for readers, and what makes foreign text harmless."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from credalis.tables._days import day_text

MINUS = "\N{MINUS SIGN}"
_SPACE = "\N{NARROW NO-BREAK SPACE}"
# Control characters, lone surrogates and marks that turn the direction of writing:
# they cannot be encoded or make a line read as another one.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_MAX_LENGTH = 60
# Whole numbers below this are written without gaps: they may be years.
_FIRST_GROUPED = 10_000


def plain(value: Any, limit: int = _MAX_LENGTH) -> str:
    """The text of a cell, a name or a parameter: printable, on one line, not long."""
    text = _UNPRINTABLE.sub(" ", str(value)[: 4 * limit]).strip()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def chart_text(text: str) -> str:
    """Text that a chart shows as it is: Plotly reads some tags and few entities."""
    return escape(text, quote=False)


def number(count: int) -> str:
    """A whole number with its thousands set apart."""
    return f"{count:,}".replace(",", _SPACE)


def quantity(value: float, digits: int = 4) -> str:
    """A measured value with some significant digits; whole numbers as they are."""
    if not np.isfinite(value):
        return "–"
    size = abs(value)
    if value != 0 and not 1e-4 <= size < 1e12:
        text = f"{size:.{digits - 1}e}"
    elif value == int(value) or size >= 10 ** (digits - 1):
        text = number(round(size)) if size >= _FIRST_GROUPED else str(round(size))
    else:
        text = f"{size:.{digits}g}"
    return f"{MINUS}{text}" if value < 0 else text


def date_text(days: float) -> str:
    """The day of a moment in days since 1970-01-01, as in 2024-05-31."""
    if not np.isfinite(days):
        return "–"
    return day_text(days)


def measured(value: float, spread: float) -> str:
    """A mean, as exactly as it matters where values vary by the spread."""
    if not (np.isfinite(value) and 1e-3 <= spread < 1e9):
        return quantity(value, 3)
    decimals = max(0, 1 - int(np.floor(np.log10(spread))))
    text = f"{abs(value):.{decimals}f}"
    if not decimals and abs(value) >= _FIRST_GROUPED:
        text = number(round(abs(value)))
    return f"{MINUS}{text}" if value < 0 and text.strip("0.") else text


def percentage(part: float, whole: float) -> str:
    """A share; neither 0 % of some nor 100 % of not quite all."""
    share = part / whole if whole else 0.0
    if 0 < share <= 0.005:
        return f"<{_SPACE}1{_SPACE}%"
    if 0.995 <= share < 1:
        return f">{_SPACE}99{_SPACE}%"
    return f"{share:.0%}".replace("%", f"{_SPACE}%")


def percentages(counts: Sequence[int]) -> list[str]:
    """Shares of parts in their sum, rounded so that they add up to 100 %."""
    total = sum(counts)
    if not total:
        return [percentage(0, 1)] * len(counts)
    exact = [100 * count / total for count in counts]
    whole = [int(share) for share in exact]
    # What is missing goes to those that lost most by rounding down.
    order = sorted(range(len(counts)), key=lambda j: whole[j] - exact[j])
    for j in order[: 100 - sum(whole)]:
        whole[j] += 1
    return [
        percentage(count, total) if share in (0, 100) else f"{share}{_SPACE}%"
        for count, share in zip(counts, whole, strict=True)
    ]


def counted(count: int, noun: str) -> str:
    """A number and its noun, as in "1 object" and "2 objects"."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def listed(items: Sequence[Any], limit: int | None = None) -> str:
    """Items in words, as in "1, 2 and 3"; the first few and "…" if they are many."""
    texts = [str(item) for item in items]
    if limit is not None and len(texts) > limit:
        return f"{', '.join(texts[:limit])}, …"
    *first, last = texts
    return f"{', '.join(first)} and {last}" if first else last
