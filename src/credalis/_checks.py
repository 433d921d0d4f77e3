"""Checks of parameters, with uniform messages: name, expectation, value."""

from collections.abc import Collection
from numbers import Integral, Real

import numpy as np


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
    number = float(value)
    if (
        not np.isfinite(number)
        or (above is not None and number <= above)
        or (at_least is not None and number < at_least)
        or (at_most is not None and number > at_most)
    ):
        raise ValueError(f"{name} must be {expected}, got {value!r}")
    return number


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
        f"{sign} {bound:g}"
        for sign, bound in ((">", above), (">=", at_least), ("<=", at_most))
        if bound is not None
    ]
    return " " + " and ".join(parts) if parts else ""
