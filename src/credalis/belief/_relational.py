"""Masses about pairs of objects: are they in the same cluster?

The frame is {same, different}; the last axis of every result holds, in this order,
the masses of ∅, {same}, {different} and of the whole frame ("either").
"""

from collections.abc import Iterator
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike

from credalis._checks import check_integer
from credalis._refusals import refuses_by_name
from credalis.belief._focal_sets import FocalSets
from credalis.belief._transforms import Masses, check_both, check_rows

PAIR_COLUMNS = ("empty", "same", "different", "either")

# Column 0 is "same", column 1 "different".
PAIR_FOCAL_SETS = FocalSets(2, ((), (0,), (1,), (0, 1)))

_BYTES_PER_PAIR = 8 * len(PAIR_COLUMNS)


@refuses_by_name
def paired_masses(first: ArrayLike, second: ArrayLike, focal_sets: FocalSets) -> Masses:
    """Masses about the pairs (row i of first, row i of second), shape (..., 4).

    m(∅) = m₁ᵀ E m₂, m({same}) = m₁ᵀ S m₂, m({different}) = m₁ᵀ (C - E) m₂.

    Parameters
    ----------
    first, second : array-like of shape (..., n_focal_sets)
        Mass functions of the objects of each pair.
    focal_sets : FocalSets
        What the columns of the masses stand for.

    Returns
    -------
    ndarray of shape (..., 4)
    """
    first, second = check_both(first, second, focal_sets)
    return _stack(
        *(
            np.einsum("...j,...j->...", first @ matrix, second)
            for matrix in _pair_matrices(focal_sets)
        )
    )


@refuses_by_name
def pairwise_masses(
    first: ArrayLike, focal_sets: FocalSets, second: ArrayLike | None = None
) -> Masses:
    """Masses about all pairs of a row of first and a row of second, shape (n, m, 4).

    None for `second` stands for `first`. The diagonal is then about an object and a
    hypothetical independent copy of it, and is usually left out.

    Parameters
    ----------
    first : array-like of shape (n, n_focal_sets)
        Mass functions of the first objects.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    second : array-like of shape (m, n_focal_sets), optional
        Those of the second objects; the first ones if they are not given.

    Returns
    -------
    ndarray of shape (n, m, 4)
    """
    first = check_rows(first, focal_sets)
    other = first if second is None else check_rows(second, focal_sets)
    return _stack(*(first @ matrix @ other.T for matrix in _pair_matrices(focal_sets)))


def pairwise_blocks(
    masses: ArrayLike, focal_sets: FocalSets, *, max_bytes: int = 2**26
) -> Iterator[tuple[slice, slice, Masses]]:
    """All pairs i < j in blocks that need no more than the memory asked for.

    Parameters
    ----------
    masses : array-like of shape (n_samples, n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.
    max_bytes : int, default=64 MiB
        Largest size of a block, temporary arrays included.

    Yields
    ------
    rows, columns : slice
        Which objects the block is about; ``rows.start <= columns.start``.
    block : array of shape (n_rows, n_columns, 4)
        Their pairwise masses. Blocks on the diagonal hold both (i, j) and (j, i).
    """
    masses = check_rows(masses, focal_sets)
    check_integer("max_bytes", max_bytes, at_least=1)
    return _blocks(masses, focal_sets, max_bytes)


def _blocks(
    masses: Masses, focal_sets: FocalSets, max_bytes: int
) -> Iterator[tuple[slice, slice, Masses]]:
    n_samples = len(masses)
    # The four numbers of a pair exist twice while they are being stacked.
    side = max(1, isqrt(max_bytes // (2 * _BYTES_PER_PAIR)))
    starts = range(0, n_samples, side)
    for top in starts:
        rows = slice(top, min(top + side, n_samples))
        for left in starts[top // side :]:
            columns = slice(left, min(left + side, n_samples))
            yield (
                rows,
                columns,
                pairwise_masses(masses[rows], focal_sets, masses[columns]),
            )


def _pair_matrices(focal_sets: FocalSets) -> tuple[Masses, Masses, Masses]:
    """E, S and C - E as floats."""
    empty = focal_sets.either_empty.astype(float)
    return (
        empty,
        focal_sets.same_singleton.astype(float),
        focal_sets.disjoint.astype(float) - empty,
    )


def _stack(empty: Masses, same: Masses, different: Masses) -> Masses:
    # The rest can come out as -1e-17 when nothing is left.
    either = np.maximum(1.0 - empty - same - different, 0.0)
    return np.stack([empty, same, different, either], axis=-1)
