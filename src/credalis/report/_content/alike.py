"""Rows of a table that say the same, so that one can stand for all."""

import numpy as np
from numpy.typing import NDArray

from credalis.report._content.subject import Subject

Indices = NDArray[np.intp]

# Values that differ by less than this share of the spread look equal to a reader.
_SPREADS = 0.05
# So do doubts and masses on ∅ that differ by no more than this.
_DEGREE = 0.02


def grouped(subject: Subject, order: Indices, n_most: int) -> list[list[int]]:
    """The first objects of an order, each with those that are almost the same.

    They are between the same clusters, equally doubtful, have the same words, and
    numbers that differ by at most a twentieth of the spread of all objects. Without a
    table, every object stands for itself.

    Parameters
    ----------
    subject : Subject
    order : array of int
        Objects, the most important first.
    n_most : int
        Number of groups.
    """
    if not subject.columns:
        return [[int(i)] for i in order[:n_most]]
    numbers, codes = _coordinates(subject, order)
    found: list[list[int]] = []
    left = np.arange(len(order))
    while len(left) and len(found) < n_most:
        first = left[0]
        same = (codes[left] == codes[first]).all(axis=1)
        gaps = np.abs(numbers[left] - numbers[first])
        # Cells without a number are alike if both are.
        same &= (np.nan_to_num(gaps, nan=0.0) <= 1.0).all(axis=1)
        found.append(order[left[same]].tolist())
        left = left[~same]
    return found


def _coordinates(
    subject: Subject, order: Indices
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Numbers in units of what a reader can tell apart, and codes of all else."""
    partition = subject.partition
    numbers = [
        partition.doubt[order] / _DEGREE,
        partition.outlier_mass[order] / _DEGREE,
    ]
    codes = [_codes(np.packbits(subject.verdicts.sets[order], axis=1))]
    for column in subject.columns:
        if column.is_numeric:
            values = column.values[order]
            unit = _SPREADS * _spread(column.values)
            with np.errstate(over="ignore"):
                numbers.append(values / unit if unit > 0 else np.zeros(len(order)))
            codes.append(np.isfinite(values).astype(np.intp))
        else:
            words = np.array([column.cell(int(i)) for i in order], dtype=object)
            codes.append(np.unique(words.astype(str), return_inverse=True)[1])
    return np.column_stack(numbers), np.column_stack(codes)


def _spread(values: NDArray[np.float64]) -> float:
    """Range of the middle nine tenths: a few extreme values cannot stretch it."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return 0.0
    low, high = np.quantile(known, [0.05, 0.95])
    if high > low:
        return float(high / 2 - low / 2)
    return float(known.max() / 2 - known.min() / 2)


def _codes(rows: NDArray[np.uint8]) -> NDArray[np.intp]:
    """A number for each different row."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
