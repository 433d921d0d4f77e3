"""Checks of parameters, with uniform messages: name, expectation, value."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Rounding of a solver; anything beyond is a mistake and is refused.
_NEGATIVE_TOLERANCE = 1e-8
_SUM_TOLERANCE = 1e-6
_CHECKED_ROWS = 4096

_LARGEST_SEED = 2**32 - 1

_SMALLEST_SQUARABLE = 1e-153
_LARGEST_SQUARABLE = 1e153

# Factors and powers beyond this leave no room for the squares they stand with.
_LARGEST_FACTOR = 1e50

# More starts or samples than this are a mistake: refused before their seeds are drawn.
_MOST_RUNS = 100_000

_MOST_JOBS = 10_000

# Others, such as fractions, have no arithmetic with arrays and no form in a file.
_NUMBERS = (int, float, np.integer, np.floating)

# Integers to Python and NumPy, but not to those who count.
_NO_NUMBERS = (bool, np.bool_, np.timedelta64)


# Sums and products of these overflow, lose their sign or are no float64.
_NARROW = (np.int8, np.int16, np.unsignedinteger, np.float16, np.longdouble)

# Characters of a value that an error message shows.
_LONGEST_SHOWN = 200


def check_integer(
    name: str, value: object, *, at_least: int | None = None, at_most: int | None = None
) -> int:
    """Value as an ``int`` within the bounds, or a ValueError that names it."""
    expected = "an integer" + _bounds(at_least=at_least, at_most=at_most)
    if not isinstance(value, Integral) or isinstance(value, _NO_NUMBERS):
        raise ValueError(f"{name} must be {expected}, got {shown(value)}")
    number = int(value)
    if (at_least is not None and number < at_least) or (
        at_most is not None and number > at_most
    ):
        raise ValueError(f"{name} must be {expected}, got {shown(value)}")
    return number


def check_number(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> float:
    """Value as a finite ``float`` within the bounds, or a ValueError that names it."""
    bounds = _bounds(above=above, at_least=at_least, at_most=at_most)
    expected = f"a finite number{bounds}"
    if not isinstance(value, _NUMBERS) or isinstance(value, _NO_NUMBERS):
        raise ValueError(f"{name} must be {expected}, got {shown(value)}")
    try:
        number = float(value)
    except OverflowError:  # an integer beyond 1e308
        number = np.inf
    if (
        not np.isfinite(number)
        or (above is not None and number <= above)
        or (at_least is not None and number < at_least)
        or (at_most is not None and number > at_most)
    ):
        raise ValueError(f"{name} must be {expected}, got {shown(value)}")
    return number


def check_factor(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float = _LARGEST_FACTOR,
) -> float:
    """Value as a ``float`` that other numbers can be multiplied with and divided by."""
    number = check_number(name, value, above=above, at_least=at_least)
    if number > at_most or (above == 0 and number < 1 / at_most):
        least = f">= {1 / at_most:g} and " if above == 0 else ""
        raise ValueError(f"{name} must be {least}<= {at_most:g}, got {shown(value)}")
    return number


def check_runs(name: str, value: object, *, at_least: int = 1) -> int:
    """Value as a number of starts or samples that a machine can make."""
    number = check_integer(name, value, at_least=at_least)
    if number > _MOST_RUNS:
        raise ValueError(f"{name} must be <= {_MOST_RUNS}, got {shown(value)}")
    return number


def check_exponent(name: str, value: object, n_clusters: int) -> float:
    """Value as an exponent >= 0 of sizes of sets of so many clusters."""
    number = check_number(name, value, at_least=0)
    if number * math.log(n_clusters) > math.log(_LARGEST_FACTOR):
        most = math.log(_LARGEST_FACTOR) / math.log(n_clusters)
        raise ValueError(
            f"{name} must be <= {most:.4g} with n_clusters={n_clusters}, so that "
            f"{n_clusters}^{name} is no more than {_LARGEST_FACTOR:g}, got "
            f"{shown(value)}"
        )
    return number


def check_squarable(name: str, value: object) -> float:
    """Value as a positive ``float`` whose square is one too, or a ValueError."""
    number = check_number(name, value, above=0)
    if not _SMALLEST_SQUARABLE <= number <= _LARGEST_SQUARABLE:
        raise ValueError(
            f"{name} must lie between {_SMALLEST_SQUARABLE:g} and "
            f"{_LARGEST_SQUARABLE:g}, so that it can be squared, got {shown(value)}"
        )
    return number


def check_numbers(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Values as a float64 array of their own, or a ValueError that names them.

    Text is refused even where it spells a number.
    """
    try:
        array = np.array(values)
        is_text = array.dtype.kind in "UST" or (
            array.dtype.kind == "O"
            and any(isinstance(item, str) for item in array.flat)
        )
        if is_text or array.dtype.kind in "cmM":
            raise TypeError(f"its type is {'text' if is_text else array.dtype}")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{name} must be an array of numbers, got {type(values).__name__}: {error}"
        ) from error


# Of a table of pyarrow as an array, if a column has no words or an odd type.
_CONVERSION_ERRORS = (IndexError, NotImplementedError)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Let the messages of another library's checks name the argument.

    They say what is wrong with an array, but not with which one. Sums that serve to
    look for entries that are not finite may overflow, which means nothing.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (TypeError, ValueError, OverflowError, *_CONVERSION_ERRORS) as error:
        message = str(error)
        is_usual = isinstance(error, (TypeError, ValueError))
        if is_usual and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} is not valid: {message}") from error


def check_dense(name: str, value: object) -> None:
    """Refuse a sparse matrix, of which some have no rows to take."""
    # Those of SciPy, without importing it.
    if hasattr(value, "tocsr"):
        raise TypeError(
            f"{name} must be dense, got sparse data: use '.toarray()' to convert it"
        )


def check_finite(name: str, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same array, or a ValueError that says where a matrix is not finite."""
    is_finite = np.isfinite(array)
    if not is_finite.all():
        place = ""
        if array.ndim == 2:
            row, column = np.argwhere(~is_finite)[0]
            place = f" in row {row}, column {column}"
        raise ValueError(f"{name} must be finite, got {array[~is_finite][0]}{place}")
    return array


def check_moderate(name: str, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same numbers of any shape, finite and with products that are, too."""
    with np.errstate(invalid="ignore"):
        largest = max(array.max(initial=0.0), -array.min(initial=0.0))
    if not largest <= _LARGEST_FACTOR or np.isnan(array.min(initial=0.0)):
        raise ValueError(
            f"{name} must be finite and between -{_LARGEST_FACTOR:g} and "
            f"{_LARGEST_FACTOR:g}, got NaN or other numbers"
        )
    return array


def check_spread(name: str, array: NDArray[np.float64]) -> None:
    """Refuse rows whose squares or squared distances are no float64 numbers."""
    with np.errstate(over="ignore"):
        widest = np.ptp(array, axis=0).max()
        square = np.square(widest)
        largest = np.square(max(-array.min(), array.max()))
        is_infinite = not np.isfinite(array.size * max(square, largest))
    if is_infinite or (widest > 0 and square < np.finfo(np.float64).tiny):
        raise ValueError(
            f"{name} must have distances that can be squared, got values from "
            f"{array.min():.3g} to {array.max():.3g}: scale the data"
        )


def check_distributions(name: str, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same matrix if its rows are >= 0 and sum to 1, or a ValueError.

    Rounding passes: values above -1e-8 are set to 0, in place, and sums may be 1e-6
    away from 1.
    """
    # A product takes half the time of sums over short rows. It is not finite if any
    # number is not. Some rows at a time are read once.
    ones = np.ones(array.shape[1])
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, len(array), _CHECKED_ROWS):
            rows = array[start : start + _CHECKED_ROWS]
            largest_gap = np.abs(rows @ ones - 1.0).max()
            if not (largest_gap <= _SUM_TOLERANCE and rows.min(initial=0.0) >= 0):
                return _rounded_distributions(name, array)
    return array


def _rounded_distributions(
    name: str, array: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The same matrix if only rounding is against it, or a ValueError."""
    check_finite(name, array)
    smallest = array.min(initial=0.0)
    if smallest < -_NEGATIVE_TOLERANCE:
        raise ValueError(f"{name} must be >= 0, the smallest is {smallest:.3g}")
    if smallest < 0:
        np.maximum(array, 0.0, out=array)
    with np.errstate(over="ignore"):
        sums = array @ np.ones(array.shape[1])
    gaps = np.abs(sums - 1.0)
    if gaps.max(initial=0.0) > _SUM_TOLERANCE:
        row = int(gaps.argmax())
        raise ValueError(
            f"each row of {name} must sum to 1, row {row} sums to {sums[row]:.9g}"
        )
    return array


def check_seed(name: str, value: object) -> None:
    """Refuse what scikit-learn takes no random numbers from, by name."""
    if value is None or value is np.random:
        return
    if isinstance(value, Integral) and not isinstance(value, _NO_NUMBERS):
        check_integer(name, value, at_least=0, at_most=_LARGEST_SEED)
    elif not isinstance(value, np.random.RandomState):
        raise ValueError(
            f"{name} must be None, an integer or a RandomState, got {shown(value)}"
        )


def check_n_jobs(value: object) -> None:
    """Refuse an n_jobs that joblib could not work with."""
    if value is None:
        return
    number = check_integer("n_jobs", value)
    if number > _MOST_JOBS:
        raise ValueError(f"n_jobs must be <= {_MOST_JOBS}, got {shown(value)}")
    if number == 0:
        raise ValueError(
            "n_jobs must be None, a number of jobs, or below 0 to count from the "
            "number of processors, got 0"
        )


def check_widths(parameters: Mapping[str, object]) -> None:
    """Refuse parameters that are stored as they come and cannot be calculated with."""
    for name, value in parameters.items():
        if isinstance(value, _NARROW):
            raise ValueError(
                f"{name} must be an int, a float or a number of NumPy with a sign and "
                f"32 or 64 bits, got {shown(value)}"
            )


def check_flag(name: str, value: object) -> bool:
    """Value as a ``bool``, or a ValueError: a text such as "no" counts as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be a bool, got {shown(value)}")
    return bool(value)


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Value if it is one of the strings in choices, or a ValueError that lists them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {shown(value)}")
    return value


def is_automatic(name: str, value: object) -> bool:
    """Whether a value is "auto"; a ValueError for any other text."""
    return isinstance(value, str) and check_choice(name, value, ("auto",)) == "auto"


def shown(value: object) -> str:
    """The value as an error message shows it: on one line, and not much of it."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + " ..."


def _bounds(
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> str:
    parts = [
        f"{sign} {bound if isinstance(bound, Integral) else format(bound, 'g')}"
        for sign, bound in ((">", above), (">=", at_least), ("<=", at_most))
        if bound is not None
    ]
    return " " + " and ".join(parts) if parts else ""


def try_metric(metric: object, X: NDArray[np.float64]) -> None:
    """Refuse what is no metric: no name, and no function of two rows of X."""
    if callable(metric):
        with naming("metric"):
            check_number("metric(X[0], X[1])", metric(X[0], X[1]))
    elif not isinstance(metric, str):
        raise ValueError(f"metric must be a name or a function, got {shown(metric)}")


# Kinds of arrays that hold no numbers: objects, text, bytes, moments.
_KINDS_OF_WORDS = "OUSM"
# Columns named in a message.
_MAX_COLUMNS = 5


def is_frame(X: object) -> bool:
    """Whether X has columns with names."""
    # Asked of the type: a lazy frame of polars would work out its columns, and warn.
    kind = type(X)
    return kind is dict or hasattr(kind, "columns") or hasattr(kind, "column_names")


def is_table(X: object) -> bool:
    """Whether X is more than numbers: a frame, or an array with words or gaps."""
    if is_frame(X):
        return True
    try:
        values = np.asarray(X)
    except ValueError:
        # Ragged rows, about which validation says more.
        return False
    if values.ndim != 2 or 0 in values.shape:
        return False
    if values.dtype.kind == "f":
        return bool(np.isnan(values).any())
    return values.dtype.kind in _KINDS_OF_WORDS


def check_numeric(frame: Any) -> None:
    """Refuse a frame by the columns whose cells are no numbers or are missing.

    Whatever a library says of it as a whole names no column.
    """
    others = [str(name) for name, cells in _named_columns(frame) if _has_others(cells)]
    if others:
        listed = ", ".join(others[:_MAX_COLUMNS])
        if len(others) > _MAX_COLUMNS:
            listed += f" and {len(others) - _MAX_COLUMNS} more"
        raise ValueError(
            f"X must be numbers without gaps, got others in {listed}: put "
            "TablePreparation(missing='impute') before the estimator in a Pipeline, or "
            "take one that compares rows of any table, as EVCLUS(metric='gower')"
        )


def _named_columns(frame: Any) -> Iterable[tuple[Any, Any]]:
    """Names and cells; by position, since names of pandas may occur twice."""
    if type(frame) is dict:
        return frame.items()
    if hasattr(frame, "iloc"):
        cells = [frame.iloc[:, j] for j in range(frame.shape[1])]
        return zip(frame.columns, cells, strict=True)
    if hasattr(frame, "column_names"):
        return zip(frame.column_names, frame.columns, strict=True)
    # Of a lazy frame, no cell is known.
    cells = frame.get_columns() if hasattr(frame, "get_columns") else []
    return [(each.name, each) for each in cells]


def _has_others(cells: Any) -> bool:
    """Whether a column has anything but numbers."""
    try:
        array = np.asarray(cells)
        return array.dtype.kind in "mMc" or bool(np.isnan(array.astype(float)).any())
    except (TypeError, ValueError, OverflowError, IndexError):
        return True


def check_lengths(lengths: NDArray[np.float64], metric: object) -> None:
    """Refuse distances that are negative or not finite."""
    is_good = (lengths >= 0) & (lengths < np.inf)
    if not is_good.all():
        raise ValueError(
            f"distances by metric {metric!r} must be finite and >= 0, got "
            f"{lengths[~is_good][0]}"
        )
