"""The columns that explanations speak of: numbers, dates, truth values, words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import naming, shown
from credalis.tables._days import day_text, days
from credalis.tabular._readings import as_strings

if TYPE_CHECKING:
    import pyarrow as pa

    from credalis.tabular import Preparation

Array = NDArray[np.float64]

# Words beyond the most frequent ones are all one.
_MAX_WORDS = 50
_MAX_LENGTH = 40
_MISSING, _UNSEEN = "missing", "another"


@dataclass(frozen=True, eq=False)
class Column:
    """One column as numbers, with what they stand for.

    Parameters
    ----------
    name : str
    values : array of shape (n_rows,)
        Numbers, days of dates, ranks, or places in ``words``; NaN for missing cells.
    kind : {"number", "date", "rank", "words"}
        What they are.
    words : tuple of str
        Of ranks, from the lowest to the highest, and of words.
    """

    name: str
    values: Array
    kind: str = "number"
    words: tuple[str, ...] = ()

    def text(self, value: float) -> str:
        """A value for a reader."""
        if np.isnan(value):
            return _MISSING
        if self.kind == "date":
            return day_text(value)
        if self.words:
            return self.words[min(max(round(value), 0), len(self.words) - 1)]
        return quantity(value)

    def take(self, rows: NDArray[np.intp]) -> "Column":
        """Some rows of it."""
        return Column(self.name, self.values[rows], self.kind, self.words)


def quantity(value: float) -> str:
    """A measured value with four significant digits; whole numbers as they are."""
    if value == round(value) and abs(value) < 1e12:
        return str(round(value))
    return f"{value:.4g}"


def short(value: Any) -> str:
    """The text of a name or of a cell: printable, on one line, not long."""
    text = "".join(c if c.isprintable() else " " for c in str(value)[: 4 * _MAX_LENGTH])
    text = text.strip()
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"


def columns_of(X: Any, names: Sequence[str] | None = None) -> list[Column]:
    """Columns of a frame, of a dictionary or of an array of two axes.

    Parameters
    ----------
    X : DataFrame of pandas or polars, pyarrow Table, dict of columns, or array-like
        The table.
    names : sequence of str, default=None
        Names of the columns of an array, if they are known.
    """
    found, raw = raw_columns(X, names)
    columns = [_column(short(n), v) for n, v in zip(found, raw, strict=True)]
    lengths = {len(column.values) for column in columns}
    if len(lengths) != 1:
        raise ValueError(
            "X must have at least one column, and columns of one length, got lengths "
            f"{sorted(lengths)}"
        )
    return columns


def raw_columns(
    X: Any, names: Sequence[str] | None = None
) -> tuple[list[Any], list[NDArray[Any]]]:
    """Names and cells; by position, since names of pandas may occur twice."""
    if isinstance(X, dict):
        return list(X), [as_array(values) for values in X.values()]
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        series = [X.iloc[:, j] for j in range(X.shape[1])]
        return list(X.columns), [_from_pandas(each) for each in series]
    if hasattr(X, "get_columns"):
        return list(X.columns), [from_polars(each) for each in X.get_columns()]
    if hasattr(X, "column_names"):
        return list(X.column_names), [from_arrow(each) for each in X.columns]
    with naming("X"):
        array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            "X must be a frame, a dict of columns or an array of two axes, got "
            f"{shown(X)}"
        )
    if names is None:
        names = [f"feature {j}" for j in range(array.shape[1])]
    return list(names), list(array.T)


def _from_pandas(series: Any) -> NDArray[Any]:
    """Cells as floats, moments without a time zone, or objects."""
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iuf":
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind == "M" and getattr(series.dt, "tz", None) is not None:
        series = series.dt.tz_localize(None)
    return series.to_numpy() if kind in "bM" else series.to_numpy(dtype=object)


def from_polars(series: Any) -> NDArray[Any]:
    """Cells as numbers or moments, or objects; so are whole numbers of 128 bits."""
    kind = str(series.dtype)
    is_moment = kind.startswith(("Date", "Datetime"))
    if is_moment or (series.dtype.is_numeric() and not kind.endswith("128")):
        return series.to_numpy()
    return np.array(series.to_list(), dtype=object)


def from_arrow(column: Any) -> NDArray[Any]:
    found = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    if hasattr(found, "dictionary_decode"):
        found = found.dictionary_decode()
    return found.to_numpy(zero_copy_only=False)


def as_array(values: Any) -> NDArray[Any]:
    """A column of its own type; words and numbers side by side stay what they are."""
    array = np.asarray(values)
    return array if array.dtype.kind not in "US" else np.asarray(values, dtype=object)


def _column(name: str, cells: NDArray[Any]) -> Column:
    if cells.ndim != 1:
        raise ValueError(
            f"column {name!r} must have one axis, got cells of shape {cells.shape}"
        )
    if cells.dtype.kind == "M":
        return Column(name, days(cells), "date")
    if cells.dtype.kind in "iuf":
        return Column(name, _finite(cells.astype(np.float64)))
    values = [_plain(cell) for cell in cells.tolist()]
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, float) for value in known):
        numbers = [np.nan if value is None else value for value in values]
        return Column(name, _finite(np.array(numbers, dtype=np.float64)))
    texts = [None if value is None else short(value) for value in values]
    return words_column(name, texts)


def words_column(name: str, texts: Sequence[str | None]) -> Column:
    """A column of words, the most frequent ones of them in their order."""
    counts = Counter(text for text in texts if text is not None)
    words = sorted(text for text, _ in counts.most_common(_MAX_WORDS))
    if len(counts) > _MAX_WORDS:
        words.append(_UNSEEN)
    places = {text: place for place, text in enumerate(words)}
    others = float(len(words) - 1)
    values = [np.nan if t is None else float(places.get(t, others)) for t in texts]
    return Column(name, np.array(values, dtype=np.float64), "words", tuple(words))


def _plain(cell: Any) -> Any:
    """None for a missing cell, a float for a number, anything else as it is."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, (bool, np.bool_)):
        return str(bool(cell)).lower()
    if isinstance(cell, (int, float, np.number)):
        return _float(cell)
    return cell


def _float(cell: Any) -> float | None:
    """A number; None for one that is none, or too large for a float."""
    try:
        number = float(cell)
    except OverflowError:
        return None
    return number if np.isfinite(number) else None


def _finite(numbers: Array) -> Array:
    return np.where(np.isfinite(numbers), numbers, np.nan)


def prepared_columns(preparation: "Preparation", content: "pa.Table") -> list[Column]:
    """The attributes of a prepared table, as the preparation reads them."""
    names = (*preparation.numeric, *preparation.cyclic)
    numbers = preparation.plan.numbers_of(content, names)
    columns = _number_columns(preparation, numbers)
    for name, categories in preparation.categories.items():
        places = {category: place for place, category in enumerate(categories)}
        values = [
            np.nan if cell is None else places.get(str(cell), len(categories))
            for cell in as_strings(content.column(name), name).to_pylist()
        ]
        columns.append(_category_column(name, np.array(values), categories))
    return columns


def decoded_columns(preparation: "Preparation", matrix: Array) -> list[Column]:
    """The attributes of rows of the matrix that a preparation makes."""
    n_numeric, n_cyclic = len(preparation.numeric), len(preparation.cyclic)
    numbers = matrix[:, :n_numeric] * preparation.scale + preparation.center
    circles = matrix[:, n_numeric : n_numeric + 2 * n_cyclic]
    turns = np.arctan2(circles[:, 1::2], circles[:, ::2]) / (2 * np.pi)
    periods = np.array(list(preparation.plan.cyclic.values()), dtype=np.float64)
    values = [*numbers.T, *((turns % 1) * periods).T]
    start = n_numeric + 2 * n_cyclic
    for categories in preparation.categories.values():
        block = matrix[:, start : start + len(categories)]
        is_known = block.any(axis=1)
        values.append(np.where(is_known, block.argmax(axis=1), np.nan))
        start += len(categories)
    for j, name in enumerate(preparation.gappy):
        place = preparation.attributes.index(name)
        is_missing = matrix[:, start + j] > 0.5
        values[place] = np.where(is_missing, np.nan, values[place])
    n_numbers = n_numeric + n_cyclic
    columns = _number_columns(preparation, np.array(values[:n_numbers]).T)
    pairs = zip(preparation.categories.items(), values[n_numbers:], strict=True)
    for (name, categories), codes in pairs:
        columns.append(_category_column(name, codes, categories))
    return columns


def _number_columns(preparation: "Preparation", numbers: Array) -> list[Column]:
    columns = []
    for j, name in enumerate((*preparation.numeric, *preparation.cyclic)):
        reading = preparation.plan.readings.get(name, "number")
        kind, words = "number", tuple[str, ...]()
        if reading.endswith("days"):
            kind = "date"
        elif reading == "rank":
            kind, words = "rank", tuple(preparation.plan.orders.get(name, ()))
        elif reading == "truth":
            kind, words = "rank", ("false", "true")
        columns.append(Column(short(name), numbers[:, j], kind, words))
    return columns


def _category_column(name: str, codes: Array, categories: Sequence[str]) -> Column:
    """Places in the categories of a preparation, one more for those it has not seen."""
    words = (*map(short, categories), _UNSEEN)
    return Column(short(name), codes.astype(np.float64), "words", words)


def encoded(columns: Sequence[Column]) -> tuple[Array, list[NDArray[np.intp]]]:
    """A matrix in which all columns count alike, and where each of them stands in it.

    Numbers are divided by their spread, words become indicators; a missing cell is the
    median, or none of the words.
    """
    blocks, places, start = [], [], 0
    for column in columns:
        if column.kind == "words":
            # One at least: where all words are missing, all rows are alike.
            places_of_words = np.arange(max(1, len(column.words)))
            block = (column.values[:, None] == places_of_words).astype(np.float64)
        else:
            block = _standardised(column.values)[:, None]
        blocks.append(block)
        places.append(np.arange(start, start + block.shape[1]))
        start += block.shape[1]
    return np.concatenate(blocks, axis=1), places


def _standardised(values: Array) -> Array:
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return np.zeros(len(values))
    # The lower one: a mean of two may overflow.
    center = np.sort(known)[(len(known) - 1) // 2]
    # In units of the largest deviation, so that no square overflows.
    deviations = np.where(np.isfinite(values), values / 2 - center / 2, 0.0)
    unit = np.abs(deviations).max() or 1.0
    deviations /= unit
    spread = np.sqrt(np.mean(deviations[np.isfinite(values)] ** 2))
    return deviations / spread if spread > 0 else deviations
