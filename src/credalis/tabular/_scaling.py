"""Centres and scales of columns of numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from credalis.network import Standardization
from credalis.tables._table import listed

Array = NDArray[np.float64]


def scaling_of(
    numbers: Array, scaling: str, names: Sequence[str]
) -> tuple[Array, Array, list[str]]:
    """Centre and scale of each column, and what should be said about them.

    NaN do not count. A column without spread is only centred.
    """
    n_columns = numbers.shape[1]
    if scaling == "none" or n_columns == 0:
        return np.zeros(n_columns), np.ones(n_columns), []
    if scaling == "standard":
        return (*_standard(numbers), [])
    low, center, high = np.nanquantile(numbers, [0.25, 0.5, 0.75], axis=0)
    scale = high - low
    is_narrow = scale == 0
    if is_narrow.any():
        scale[is_narrow] = _standard(numbers[:, is_narrow])[1]
    spread = np.nanmax(numbers, axis=0) > np.nanmin(numbers, axis=0)
    narrow = [
        name for name, flag in zip(names, is_narrow & spread, strict=True) if flag
    ]
    notes = [
        f"half of the values of {listed(narrow)} are equal: scaled by the standard "
        "deviation instead of the interquartile range"
    ]
    return center, scale, notes if narrow else []


def _standard(numbers: Array) -> tuple[Array, Array]:
    """Means and standard deviations; 1 for a constant column."""
    if not np.isnan(numbers).any():
        standardization = Standardization.of(numbers)
        return standardization.mean, standardization.scale
    columns = [
        Standardization.of(column[~np.isnan(column)][:, None]) for column in numbers.T
    ]
    return (
        np.concatenate([column.mean for column in columns]),
        np.concatenate([column.scale for column in columns]),
    )


def check_finite_columns(
    numbers: Array, names: Sequence[str], table: str, first_row: int = 0
) -> None:
    """Refuse infinite numbers, by column and row."""
    # The sum of a column is finite unless something in it is not, or too large.
    with np.errstate(over="ignore", invalid="ignore"):
        is_suspect = np.isinf(np.nansum(np.abs(numbers), axis=0))
    for j in np.flatnonzero(is_suspect).tolist():
        is_infinite = np.isinf(numbers[:, j])
        if is_infinite.any():
            row = int(is_infinite.argmax())
            raise ValueError(
                f"{table}, column {names[j]!r}, row {first_row + row}: numbers must be "
                f"finite, got {numbers[row, j]}"
            )


def constant_columns(numbers: Array, names: Sequence[str]) -> list[str]:
    """A note about columns in which all values are equal, if there are any."""
    if not numbers.size:
        return []
    is_constant = np.nanmax(numbers, axis=0) == np.nanmin(numbers, axis=0)
    constant = [name for name, flag in zip(names, is_constant, strict=True) if flag]
    if not constant:
        return []
    return [f"all values of {listed(constant)} are equal: that tells nothing apart"]
