"""Dates as numbers: days since 1970-01-01, and back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MICROSECONDS = 8.64e10  # of a day


def days(moments: NDArray[Any]) -> NDArray[np.float64]:
    """Days since 1970-01-01 of dates and times, NaN for those that are unknown."""
    micros = moments.astype("datetime64[us]")
    return np.where(
        np.isnat(micros), np.nan, micros.astype(np.int64) / MICROSECONDS
    ).astype(np.float64)


def moments(days: NDArray[np.float64]) -> NDArray[np.datetime64]:
    """Inverse of `days`, to the microsecond."""
    is_known = np.isfinite(days)
    micros = np.where(is_known, days, 0.0) * MICROSECONDS
    known = micros.round().astype("datetime64[us]")
    return np.where(is_known, known, np.datetime64("NaT"))


def day_text(days: float) -> str:
    """The date of a moment, as in 2024-05-31: what was at noon was on that day."""
    return str(np.datetime64(int(np.floor(days)), "D"))
