"""Checks of parameters, with uniform messages: name, expectation, value."""

from collections.abc import Collection
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Rounding of a solver; anything beyond is a mistake and is refused.
_NEGATIVE_TOLERANCE = 1e-8
_SUM_TOLERANCE = 1e-6


def check_integer(
    name: str, value: object, *, at_least: int | None = None, at_most: int | None = None
) -> int:
    """Value as an ``int`` within the bounds, or a ValueError that names it."""
    expected = "an integer" + _bounds(at_least=at_least, at_most=at_most)
    if not isinstance(value, Integral) or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be {expected}, got {value!r}")
    number = int(value)
    if (at_least is not None and number < at_least) or (
        at_most is not None and number > at_most
    ):
        raise ValueError(f"{name} must be {expected}, got {value!r}")
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
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be {expected}, got {value!r}")
    try:
        number = float(value)
    except OverflowError:  # an integer or a fraction beyond 1e308
        number = np.inf
    if (
        not np.isfinite(number)
        or (above is not None and number <= above)
        or (at_least is not None and number < at_least)
        or (at_most is not None and number > at_most)
    ):
        raise ValueError(f"{name} must be {expected}, got {value!r}")
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
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an array of numbers, got {type(values).__name__}: {error}"
        ) from error


def check_finite(name: str, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same matrix, or a ValueError that says where it is not finite."""
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(
            f"{name} must be finite, got {array[row, column]} in row {row}, "
            f"column {column}"
        )
    return array


def check_distributions(name: str, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same matrix if its rows are >= 0 and sum to 1, or a ValueError.

    Rounding passes: values above -1e-8 are set to 0, in place, and sums may be 1e-6
    away from 1.
    """
    check_finite(name, array)
    smallest = array.min(initial=0.0)
    if smallest < -_NEGATIVE_TOLERANCE:
        raise ValueError(f"{name} must be >= 0, the smallest is {smallest:.3g}")
    if smallest < 0:
        np.maximum(array, 0.0, out=array)
    sums = array.sum(axis=1)
    gaps = np.abs(sums - 1.0)
    if gaps.max(initial=0.0) > _SUM_TOLERANCE:
        row = int(gaps.argmax())
        raise ValueError(
            f"each row of {name} must sum to 1, row {row} sums to {sums[row]:.9g}"
        )
    return array


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Value if it is one of the strings in choices, or a ValueError that lists them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, got {value!r}")
    return value


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
