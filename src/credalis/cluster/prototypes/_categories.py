"""Tables of categories: which there are in each column, and where rows have them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Columns of numbers with more different values are cut into intervals.
MAX_NUMBERS = 32


@dataclass(frozen=True, eq=False)
class Column:
    """What the cells of a column can be.

    Attributes
    ----------
    names : list of str
        Categories: text as it is, numbers as Python writes them, or intervals.
    edges : array of shape (n_categories - 1,) or (0,)
        Where numbers are cut into intervals, each of which has its upper edge; empty
        if they are not.
    """

    names: list[str]
    edges: Array

    @classmethod
    def of(cls, cells: NDArray[Any], n_bins: int) -> Column:
        """The categories of some cells.

        Parameters
        ----------
        cells : array of shape (n_samples,)
            Cells of any type, NaN or None where they are missing.
        n_bins : int
            Intervals that many numbers are cut into, with as many different numbers in
            each.
        """
        numbers = _numbers(cells)
        if numbers is None:
            known = cells[~_is_missing(cells)]
            return cls(sorted({_name(cell) for cell in known}), np.empty(0))
        values = np.unique(numbers[~np.isnan(numbers)])
        if len(values) <= MAX_NUMBERS:
            return cls([_name(value) for value in values], np.empty(0))
        # Of different numbers, so that it is no matter how often a row comes.
        edges = np.quantile(values, np.arange(1, n_bins) / n_bins)
        texts = [f"{edge:.6g}" for edge in edges]
        names = [
            " - ".join(ends) for ends in zip(["", *texts], [*texts, ""], strict=True)
        ]
        return cls([name.strip() for name in names], edges)

    def codes(self, cells: NDArray[Any]) -> Array:
        """Numbers of the categories, NaN where missing, ``len(names)`` for others."""
        numbers = _numbers(cells)
        if len(self.edges) and numbers is not None:
            found = np.searchsorted(self.edges, numbers, side="left").astype(np.float64)
            return np.where(np.isnan(numbers), np.nan, found)
        place = {name: float(code) for code, name in enumerate(self.names)}
        other = float(len(self.names))
        if numbers is not None:
            values, inverse = np.unique(numbers, return_inverse=True)
            known = [place.get(_name(value), other) for value in values]
            return np.where(np.isnan(numbers), np.nan, np.array(known)[inverse])
        is_missing = _is_missing(cells)
        return np.array(
            [
                np.nan if missing else place.get(_name(cell), other)
                for cell, missing in zip(cells, is_missing, strict=True)
            ]
        )


def codes_of(table: NDArray[Any], columns: Sequence[Column]) -> Array:
    """Numbers of the categories of all cells, (n_samples, n_attributes)."""
    return np.column_stack(
        [column.codes(cells) for column, cells in zip(columns, table.T, strict=True)]
    )


def hashes_of(codes: Array, columns: Sequence[Column]) -> Array:
    """Numbers that stand for the names of categories, whatever others there are."""
    hashed = [
        np.array([float(crc32(name.encode())) for name in (*column.names, "")])
        for column in columns
    ]
    known = np.where(np.isnan(codes), -1.0, codes).astype(np.intp)
    return np.column_stack(
        [
            np.where(own < 0, -1.0, numbers[own])
            for own, numbers in zip(known.T, hashed, strict=True)
        ]
    )


@dataclass(frozen=True, eq=False)
class Indicators:
    """1 where a row has a category.

    Attributes
    ----------
    values : array of shape (n_samples, n_categories)
        Indicators of the categories of all attributes, side by side.
    is_known : array of shape (n_samples, n_attributes)
        1 where a cell is known, be it a category that the fit has not seen.
    sizes : array of int, shape (n_attributes,)
        Numbers of categories.
    """

    values: Array
    is_known: Array
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, codes: Array, sizes: NDArray[np.intp]) -> Indicators:
        """Those of rows of codes, (n_samples, n_attributes)."""
        values = np.zeros((len(codes), int(sizes.sum())))
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        # A missing cell compares as no category.
        rows, attributes = np.nonzero(codes < sizes)
        places = first[attributes] + codes[rows, attributes].astype(np.intp)
        values[rows, places] = 1.0
        return cls(values, (~np.isnan(codes)).astype(np.float64), sizes)

    @cached_property
    def stretch(self) -> Array:
        """By how much known cells count more because others are missing."""
        n_attributes = len(self.sizes)
        n_known = self.is_known.sum(axis=1)
        return n_attributes / np.maximum(n_known, 1.0)

    @property
    def points(self) -> Array:
        """Points whose squared distances are numbers of different categories."""
        return np.sqrt(0.5) * self.values


def attribute_of(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The attribute of each of all categories, (n_categories,)."""
    return np.repeat(np.arange(len(sizes)), sizes)


def _numbers(cells: NDArray[Any]) -> Array | None:
    """Cells as numbers, NaN for missing ones; None if some are no numbers."""
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    is_missing = _is_missing(cells)
    if not all(isinstance(cell, Real) for cell in cells[~is_missing]):
        return None
    try:
        return np.array(
            [
                np.nan if missing else float(cell)
                for cell, missing in zip(cells, is_missing, strict=True)
            ]
        )
    except OverflowError:  # integers beyond all floating-point numbers
        return None


def _is_missing(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Where cells are None, NaN, or what pandas has for that."""
    if cells.dtype.kind != "O":
        return (
            cells != cells if cells.dtype.kind in "fmM" else np.zeros(len(cells), bool)
        )
    return np.array([cell is None or _is_not_itself(cell) for cell in cells], bool)


def _is_not_itself(cell: object) -> bool:
    """Whether something is unequal to itself, or nobody knows, as with pandas.NA."""
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):
        return True


def _name(cell: object) -> str:
    """A category as text: numbers the same whatever their type."""
    with suppress(OverflowError):
        if isinstance(cell, Real):
            return repr(float(cell) + 0.0)
    return str(cell)
