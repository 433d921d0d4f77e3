"""Single values that nobody expects."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np

# Numbers at the edges of what can be meant.
NUMBERS = (
    *(-1, 0, 1, 2, 3, 0.0, -0.0, 0.5, 1.0, 1.5, -0.5, 1e-12, 1 - 1e-12, 1 + 1e-12),
    *(np.float32(0.3), np.float16(0.1), np.int8(2), np.uint64(3), np.int64(-1)),
    *(float("nan"), float("inf"), float("-inf"), np.float64("nan")),
    *(5e-324, 1e-300, 1e-160, 1e160, 1e300, 1.7976931348623157e308),
    *(2**31, 2**53 + 1, 2**63, 2**64, -(2**63), 10**400, -(10**400)),
)
ODD_NUMBERS = (
    *(True, False, np.True_, Fraction(1, 3), Fraction(10**400), Decimal("0.5")),
    *(1j, complex("nan"), np.longdouble("0.1"), np.array(2), np.array(0.5)),
)
OTHERS = (
    *(None, "", "x", "auto", "2", "é∅\x00\n", "a" * 5000, b"bytes", bytearray(b"x")),
    *([], (), {}, set(), [1], [1, 2], (0.5, 0.5), {"a": 1}, {1, 2}, [[1, 2], [3]]),
    *(range(3), slice(2), ..., object(), int, len, lambda: 1, NotImplemented),
    *(
        np.array([]),
        np.array([1, 2]),
        np.zeros((2, 2)),
        np.array(["a"]),
        np.dtype("f8"),
    ),
    *(np.array([None]), np.datetime64("2020-01-01"), np.timedelta64(1, "D")),
)
HOSTILE = NUMBERS + ODD_NUMBERS + OTHERS


def _is_honest_work(value: object) -> bool:
    # A time is an integer to NumPy, but nothing that a number is compared with.
    is_integer = isinstance(value, (int, np.integer))
    return is_integer and not isinstance(value, np.timedelta64) and value > 20


FEW_OR_NONSENSE = tuple(value for value in HOSTILE if not _is_honest_work(value))


def pick(rng: np.random.Generator, values: Sequence) -> object:
    """One of them, each as probable as the others."""
    return values[rng.integers(len(values))]


def mostly(rng: np.random.Generator, good: Sequence, bad: Sequence, share: float):
    """One of the bad ones with this probability, else one of the good ones."""
    return pick(rng, bad if rng.random() < share else good)
