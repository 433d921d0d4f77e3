"""The table as the reader knows it: named columns of numbers or of words."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import naming
from credalis._drawing.inputs import check_feature_names
from credalis._explain._columns import as_array, from_arrow, from_polars
from credalis.report._content.text import date_text, measured, plain, quantity
from credalis.tables._days import days, moments

# A column of more different words names things.
_MAX_CATEGORIES = 30


@dataclass(frozen=True, eq=False)
class Column:
    """One column: numbers with NaN where there are none, or anything else as it came.

    Parameters
    ----------
    name : str
    values : array of shape (n_samples,)
    is_numeric : bool
    is_date : bool, default=False
        Whether the numbers are days since 1970-01-01.
    """

    name: str
    values: NDArray[Any]
    is_numeric: bool
    is_date: bool = False

    @property
    def is_varying(self) -> bool:
        """Whether it holds numbers that are not all equal."""
        return bool(
            self.is_numeric
            and np.isfinite(self.values).any()
            and np.nanmin(self.values) < np.nanmax(self.values)
        )

    def text(self, value: float) -> str:
        """A number of the column, for a reader; the day if it holds dates."""
        return date_text(value) if self.is_date else quantity(value)

    def mean_text(self, value: float, spread: float) -> str:
        """A mean of the column, as exactly as it matters."""
        return date_text(value) if self.is_date else measured(value, spread)

    @property
    def contents(self) -> NDArray[Any]:
        """The cells, dates as dates."""
        return moments(self.values) if self.is_date else self.values

    def cell(self, i: int) -> str:
        """What stands in row i, for a reader."""
        value = self.values[i]
        if self.is_numeric:
            return self.text(float(value))
        return "–" if _is_missing(value) else plain(value)

    def words(self, chosen: NDArray[np.bool_]) -> list[str | None]:
        """What stands in the chosen rows as text; None where there is nothing."""
        return [
            None if _is_missing(value) else str(value) for value in self.values[chosen]
        ]

    def categories(self, chosen: NDArray[np.bool_]) -> list[str]:
        """The different words of the chosen rows if they are few, as groups have them.

        Words that are as many as the rows name things, they do not group them.
        """
        if self.is_numeric:
            return []
        known = [word for word in self.words(chosen) if word is not None]
        different = sorted(set(known))
        is_few = 2 <= len(different) <= min(_MAX_CATEGORIES, len(known) // 2)
        return different if is_few else []


def columns_of(data: Any, n_samples: int, estimator: Any = None) -> list[Column]:
    """Columns of a data frame, of a dictionary or of an array.

    Parameters
    ----------
    data : DataFrame of pandas or polars, dict of columns, or array-like of two axes
        With one row for each object.
    n_samples : int
        Number of objects.
    estimator : object, default=None
        May know the names of the columns of an array.
    """
    names, raw = _raw_columns(data, estimator)
    for name, values in zip(names, raw, strict=True):
        if values.shape != (n_samples,):
            raise ValueError(
                f"data must have one row for each of the {n_samples} objects, got "
                f"shape {values.shape} in column {plain(name)!r}"
            )
    return [_column(name, each) for name, each in zip(names, raw, strict=True)]


def _raw_columns(data: Any, estimator: Any) -> tuple[list[Any], list[NDArray[Any]]]:
    """Names and arrays; by position, since names of pandas may occur twice."""
    if isinstance(data, dict):
        return list(data), [as_array(values) for values in data.values()]
    if hasattr(data, "iloc") and hasattr(data, "columns"):
        series = [data.iloc[:, j] for j in range(data.shape[1])]
        return list(data.columns), [_from_pandas(each) for each in series]
    if hasattr(data, "get_columns"):
        return list(data.columns), [from_polars(each) for each in data.get_columns()]
    if hasattr(data, "column_names"):
        return list(data.column_names), [from_arrow(each) for each in data.columns]
    with naming("data"):
        array = np.asarray(data)
    if array.ndim != 2:
        raise ValueError(
            "data must be a DataFrame, a dict of columns or an array of two axes, got "
            f"{type(data).__name__} of {array.ndim} axes"
        )
    names = check_feature_names(None, data, array.shape[1], estimator)
    return list(names), list(array.T)


def _from_pandas(series: Any) -> NDArray[Any]:
    """Numbers as float, also those of pandas' own types that know missing values."""
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iuf":
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind == "M" and getattr(series.dt, "tz", None) is not None:
        series = series.dt.tz_localize(None)
    return series.to_numpy()


def _column(name: Any, values: NDArray[Any]) -> Column:
    title = plain(name) or "(no name)"
    if values.dtype.kind == "M":
        return Column(title, days(values), is_numeric=True, is_date=True)
    numbers = _numbers(values)
    if numbers is None:
        return Column(title, values, is_numeric=False)
    return Column(title, np.where(np.isfinite(numbers), numbers, np.nan), True)


def _numbers(values: NDArray[Any]) -> NDArray[np.float64] | None:
    """The column as floats if it holds numbers, with or without gaps."""
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind != "O" or not any(map(_is_number, values)):
        return None
    if not all(_is_number(value) or value is None for value in values):
        return None
    return np.array([np.nan if value is None else float(value) for value in values])


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _is_missing(value: Any) -> bool:
    """None, NaN, NaT, or pandas' NA, which is neither equal nor unequal to itself."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
