"""Stress over pairs of each object with partners of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from credalis.belief import FocalSets
from credalis.belief._combination import is_fast
from credalis.objectives._mass_products import MassProducts
from credalis.objectives._row_stress import MAX_ENTRIES, RowStress, coupled_blocks, cut
from credalis.optimize import Quadratics, RowQuadratics

Array = NDArray[np.float64]

# Pairs of objects for each that counts, so that a byte for each of them takes less room
# than the partners and targets of the others.
_MAX_PLACES_PER_PAIR = 32

# The same where conflicts are read among those of all pairs, of so many objects at a
# time: it takes less time than to gather masses.
_MAX_DENSE_PLACES = 16
_ROWS_AT_ONCE = 64

# How many times as long a product of gathered numbers takes as one of those in place.
_GATHERING = 6

# Rows go beyond their minima by this factor if there are more objects than that: errors
# then fall to a tenth in a sweep, not to a quarter. Of few objects each start is its
# own, and may end elsewhere.
_RELAXATION = 1.25
_MAX_UNRELAXED = 1000

# Blocks of objects that move together: so many, the fewer pairs are inside the fewer
# sweeps it takes, unless they had too few objects for calls to pay.
_MIN_BLOCKS = 20
_ENOUGH = 64

# Relative error of sums in single precision, which take half the time. For few objects,
# which may end elsewhere, and of many sets, whose problems have nearly the same cost in
# many places, they are in double precision whatever error may pass.
_SINGLE_ACCURACY = 1e-6
_MAX_SINGLE_SETS = 32

# Numbers gathered at a time for pairs of their own; a multiple of it fits in the cache.
_MAX_GATHERED = 150_000


class _Lists(NamedTuple):
    """Partners and targets of each object, filled up to the longest list.

    Both have shape (n_samples, longest); n_samples stands for no partner, and its
    target is 0.
    """

    columns: NDArray[np.intp]
    targets: Array


class _Inside(NamedTuple):
    """Pairs (i, j) within a block.

    Places of (i, j) and of (j, i) in a matrix of all pairs of its objects, and targets.
    A pair is there once, though it is in the lists of both of its objects.
    """

    places: NDArray[np.intp]
    turned: NDArray[np.intp]
    targets: Array


@dataclass(frozen=True, eq=False)
class PartnerStress(RowStress):
    """L over given pairs (i, j), each object having partners of its own.

    Parameters
    ----------
    rows, columns : array of int, shape (n_pairs,)
        The pairs, rows in increasing order.
    similarities : array of shape (n_pairs,)
        1 - δ*_ij.
    n_samples : int
        Number of objects.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    one_sided : bool, default=False
        Whether the problem of a row counts only pairs (i, j) of its own, twice, and not
        those (j, i) of others, as in the reference program. Updates may then increase
        L.
    accuracy : float, default=0.0
        Relative error of sums over many partners that does not matter. `value` is exact
        whatever it is.
    """

    rows: NDArray[np.signedinteger]
    columns: NDArray[np.signedinteger]
    similarities: Array
    n_samples: int
    focal_sets: FocalSets
    one_sided: bool = False
    accuracy: float = 0.0

    @property
    def relaxation(self) -> float:
        """More than 1 for many objects, which start near the minimum."""
        return 1.0 if self.n_samples <= _MAX_UNRELAXED else _RELAXATION

    @cached_property
    def _starts(self) -> NDArray[np.signedinteger]:
        """Where the pairs of each object begin, and where the last ones end."""
        # Numbers of the same type, or all rows would be copied.
        objects = np.arange(self.n_samples + 1, dtype=self.rows.dtype)
        return np.searchsorted(self.rows, objects).astype(self.columns.dtype)

    def _both_ways(self, own: csr_array) -> tuple[csr_array, ...]:
        """Numbers of the pairs (i, j), and of the pairs (j, i) unless one-sided.

        A pair given twice is there twice.
        """
        if self.one_sided:
            return (own,)
        # To turn the matrix is to sort the pairs by their second objects.
        turned = own.tocsc()
        parts = turned.data, turned.indices, turned.indptr
        return own, csr_array(parts, shape=own.shape)

    def _matrix(self, values: NDArray) -> csr_array:
        """A number for each pair (i, j)."""
        shape = self.n_samples, self.n_samples
        return csr_array((values, self.columns, self._starts), shape=shape)

    @cached_property
    def _near(self) -> tuple[csr_array, ...]:
        """1 - δ*_ij of the pairs (i, j), and of the pairs (j, i), if it is not 0.

        Of many pairs δ* is 1 to rounding.
        """
        is_near = self.similarities > np.finfo(self._dtype).eps / 2
        n_near = np.count_nonzero(is_near)
        values: NDArray = np.empty(n_near, self._dtype)
        columns = np.empty(n_near, self.columns.dtype)
        starts = np.zeros_like(self._starts)
        stop = 0
        # Some objects at a time: pages that are new to a process take longer than what
        # is written there.
        for rows in cut(0, self.n_samples, _ROWS_AT_ONCE):
            ends = self._starts[rows.start : rows.stop + 1]
            part = slice(ends[0], ends[-1])
            kept = np.flatnonzero(is_near[part])
            before = np.searchsorted(kept, ends[:-1] - ends[0])
            starts[rows.start : rows.stop] = stop + before
            start, stop = stop, stop + len(kept)
            values[start:stop] = self.similarities[part].take(kept)
            columns[start:stop] = self.columns[part].take(kept)
        starts[-1] = stop
        shape = self.n_samples, self.n_samples
        return self._both_ways(csr_array((values, columns, starts), shape=shape))

    @cached_property
    def _near_blocks(self) -> dict[tuple[int, int], list[csr_array]]:
        """What `_near_of` has found; it is asked again in each sweep."""
        return {}

    def _near_of(self, rows: slice) -> list[csr_array]:
        """The rows of the matrices of pairs that are not apart."""
        block = rows.start, rows.stop
        if block not in self._near_blocks:
            self._near_blocks[block] = [_rows_of(part, rows) for part in self._near]
        return self._near_blocks[block]

    @cached_property
    def _partners(self) -> _Lists:
        """Partners of each object, where they are gathered."""
        n_samples = self.n_samples
        parts = self._both_ways(self._matrix(1.0 - self.similarities))
        lengths = [np.diff(part.indptr)[:, None] for part in parts]
        longest = max(1, int(sum(lengths).max()))
        lists = _Lists(
            np.full((n_samples, longest), n_samples, dtype=np.intp),
            np.zeros((n_samples, longest)),
        )
        places, first = np.arange(longest), 0
        for part, length in zip(parts, lengths, strict=True):
            is_here = (places >= first) & (places < first + length)
            lists.columns[is_here] = part.indices
            lists.targets[is_here] = part.data
            first = first + length
        return lists

    @cached_property
    def _inside(self) -> dict[tuple[int, int], _Inside]:
        """What `_inside_of` has found; it is asked again in each sweep."""
        return {}

    def _inside_of(self, rows: slice) -> _Inside:
        block = rows.start, rows.stop
        if block not in self._inside:
            starts = self._starts[rows.start : rows.stop + 1]
            part = slice(starts[0], starts[-1])
            n_rows = rows.stop - rows.start
            # Negative numbers are large ones without a sign.
            places = self.columns[part] - rows.start
            places = places.view(f"u{places.itemsize}")
            inside = np.flatnonzero(places < n_rows)
            ends = starts[1:] - starts[0]
            owners = np.searchsorted(ends, inside, side="right")
            columns = places.take(inside).astype(np.intp)
            self._inside[block] = _Inside(
                owners * n_rows + columns,
                columns * n_rows + owners,
                1.0 - self.similarities[part].take(inside),
            )
        return self._inside[block]

    def blocks(self) -> list[slice]:
        """As many objects as go well together."""
        limit = min(
            MAX_ENTRIES // len(self.focal_sets) ** 2,
            max(_ENOUGH, self.n_samples // _MIN_BLOCKS),
        )
        return coupled_blocks(self.n_samples, limit, self.n_samples)

    def row_problem(self, masses: Array, rows: slice) -> Quadratics:
        """G = Σ_j (C m_j) (C m_j)ᵀ and h = Σ_j δ*_ij C m_j over the partners j of i."""
        if masses.ndim == 3:
            each = [self._own_forms(one, rows, k) for k, one in enumerate(masses)]
            grams, linear = (
                np.concatenate(arrays) for arrays in zip(*each, strict=True)
            )
            return RowQuadratics(grams, linear)
        return RowQuadratics(*self._own_forms(masses, rows))

    @cached_property
    def _can_be_counted(self) -> bool:
        """Whether numbers of all pairs of objects take no more room than the lists."""
        n_places = self.n_samples**2
        return not self.one_sided and n_places <= _MAX_PLACES_PER_PAIR * len(self.rows)

    @property
    def _dtype(self) -> type:
        """Of the sums over partners that are not gathered."""
        is_single = (
            self.accuracy >= _SINGLE_ACCURACY
            and self.n_samples > _MAX_UNRELAXED
            and len(self.focal_sets) <= _MAX_SINGLE_SETS
            and self._can_be_counted
        )
        return np.float32 if is_single else np.float64

    @cached_property
    def _counts(self) -> dict[tuple[int, int], NDArray[np.int8]]:
        """What `_counts_of` finds; it is asked again in each sweep."""
        n_samples, blocks = self.n_samples, self.blocks()
        # In one piece: pages of large arrays are new to a process in less time.
        room = np.zeros(n_samples**2, dtype=np.int8)
        sizes = np.array([block.stop - block.start for block in blocks])
        widths = sizes.repeat(sizes)
        starts = np.array([block.start for block in blocks]).repeat(sizes)
        # Where the count of an object and the first one is.
        firsts = starts * (n_samples - 1) + np.arange(n_samples)
        counts = {}
        for block in blocks:
            part = slice(*self._starts[[block.start, block.stop]])
            rows, columns = self.rows[part], self.columns[part]
            one = np.int8(1)
            np.add.at(room, firsts.take(rows) + columns * widths[block.start], one)
            # The pairs the other way round, without a list of them.
            np.add.at(room, firsts.take(columns) + rows * widths.take(columns), one)
        for block in blocks:
            own = slice(block.start * n_samples, block.stop * n_samples)
            counts[block.start, block.stop] = room[own].reshape(n_samples, -1)
        return counts

    def _counts_of(self, rows: slice) -> NDArray[np.int8]:
        """How often all objects and those of a block are a pair, (n_samples, n_rows).

        The rows of one object have it once at most as a partner.
        """
        if (rows.start, rows.stop) in self._counts:
            return self._counts[rows.start, rows.stop]
        parts = [
            counts[:, max(rows.start - start, 0) : max(rows.stop - start, 0)]
            for (start, _), counts in self._counts.items()
        ]
        return np.concatenate(parts, axis=1)

    @cached_property
    def _products(self) -> dict[int, MassProducts]:
        """What `_products_of` has found, for each start."""
        return {}

    def _products_of(self, masses: Array, start: int) -> MassProducts | None:
        """Products of masses, if it takes less time to sum them than to gather masses.

        Those of the same start, a few objects of which have moved since, are at hand.
        """
        products = self._products.pop(start, None)
        if products is None or products.is_old:
            products = MassProducts(masses, self._dtype)
        else:
            products.update(masses)
        gathered = len(self.rows) * len(self.focal_sets) ** 2
        if products.size * self.n_samples > _GATHERING * gathered:
            return None
        self._products[start] = products
        return products

    def _forms_by_moments(
        self, masses: Array, rows: slice, start: int = 0
    ) -> tuple[Array, Array] | None:
        """The matrices G and the h of the rows, from the products of masses.

        None if it takes less time to gather the partners.
        """
        if not self._can_be_counted:
            return None
        if (products := self._products_of(masses, start)) is None:
            return None
        sums = products.sums(self._counts_of(rows))
        sums /= len(self.rows)
        rounded: Array = masses.astype(self._dtype)
        # δ* is 1 less the similarity, and the masses of an object add up to 1.
        near = sum(part @ rounded for part in self._near_of(rows))
        targets = sums.sum(axis=1, dtype=np.float64).T - near / len(self.rows)
        return self._apart_both_ways(sums), self._apart(targets)

    def _apart_both_ways(self, matrices: Array) -> Array:
        """C A C of symmetric matrices A, (n_focal_sets, n_focal_sets, n_matrices).

        The result has shape (n_matrices, n_focal_sets, n_focal_sets).
        """
        if not is_fast(self.focal_sets):
            # As they lie: to turn them is slower than the products.
            apart = self.focal_sets.disjoint.astype(matrices.dtype)
            both = apart @ np.tensordot(apart, matrices, axes=1)
            return np.moveaxis(both, 2, 0).astype(np.float64, order="C")
        turned = np.moveaxis(matrices, 2, 0).astype(np.float64, order="C")
        return self._apart(self._apart(turned).transpose(0, 2, 1))

    def _own_forms(
        self, masses: Array, rows: slice, start: int = 0
    ) -> tuple[Array, Array]:
        """The matrices G and the h of the rows of one start."""
        if (forms := self._forms_by_moments(masses, rows, start)) is not None:
            return forms
        # A last row of zeros fills up the lists of objects with fewer partners.
        n_sets = len(self.focal_sets)
        against = np.zeros((self.n_samples + 1, n_sets))
        against[:-1] = self._apart(masses)
        n_rows = rows.stop - rows.start
        grams = np.empty((n_rows, n_sets, n_sets))
        linear = np.empty((n_rows, n_sets))
        size = max(1, _MAX_GATHERED // (self._partners.columns.shape[1] * n_sets))
        for part in cut(rows.start, rows.stop, size):
            where = slice(part.start - rows.start, part.stop - rows.start)
            factors = against.take(self._partners.columns[part], axis=0)
            transposed = factors.transpose(0, 2, 1)
            np.matmul(transposed, factors, out=grams[where])
            targets = self._partners.targets[part, :, None]
            linear[where] = (transposed @ targets)[:, :, 0]
        weight = (2.0 if self.one_sided else 1.0) / len(self.rows)
        grams *= weight
        linear *= weight
        return grams, linear

    def coupling(self, masses: Array, rows: slice, direction: Array) -> Array:
        """From the given pairs within the block."""
        if masses.ndim == 3:
            each = zip(masses, direction, strict=True)
            return np.stack([self.coupling(one, rows, step) for one, step in each])
        if len(direction) == 1:
            return np.zeros(3)
        places, turned, targets = self._inside_of(rows)
        own = masses[rows]
        residuals = (self._apart(own) @ own.T).take(places) - targets
        moved = self._apart(direction)
        crossed, products = moved @ own.T, moved @ direction.T
        u, v, w = crossed.take(places), crossed.take(turned), products.take(places)
        # Every pair is in the lists of both of its objects.
        weight = (1.0 if self.one_sided else 2.0) / len(self.rows)
        return weight * np.array([residuals @ w + u @ v, (u + v) @ w, 0.5 * (w @ w)])

    def value(self, masses: Array) -> float:
        """Mean of squares over the given pairs."""
        return self._value(masses, np.float64)

    def rough_value(self, masses: Array) -> float:
        """The same, with conflicts as accurate as the sums of `row_problem`."""
        return self._value(masses, self._dtype)

    def _value(self, masses: Array, dtype: type) -> float:
        is_dense = self.n_samples**2 <= _MAX_DENSE_PLACES * len(self.rows)
        conflicts = self._read_conflicts if is_dense else self._gathered_conflicts
        against: Array = self._apart(masses).astype(dtype, copy=False)
        total = 0.0
        for part, found in conflicts(masses.astype(dtype, copy=False), against):
            residuals = found + self.similarities[part]
            residuals -= 1.0
            total += float(residuals @ residuals)
        return total / len(self.rows)

    def _gathered_conflicts(
        self, masses: Array, against: Array
    ) -> Iterator[tuple[slice, Array]]:
        """Some of the pairs, and κ of each: those of one object after the other."""
        for row, ends in enumerate(pairwise(self._starts.tolist())):
            part = slice(*ends)
            yield part, masses.take(self.columns[part], axis=0) @ against[row]

    def _read_conflicts(
        self, masses: Array, against: Array
    ) -> Iterator[tuple[slice, Array]]:
        """The same, read among those of some objects with all."""
        for rows in cut(0, self.n_samples, _ROWS_AT_ONCE):
            ends = self._starts[rows.start : rows.stop + 1]
            part = slice(ends[0], ends[-1])
            firsts = np.arange(len(ends) - 1) * self.n_samples
            places = np.repeat(firsts, np.diff(ends))
            places += self.columns[part]
            yield part, (against[rows] @ masses.T).take(places)


def _rows_of(matrix: csr_array, rows: slice) -> csr_array:
    """Some rows of a sparse matrix."""
    starts = matrix.indptr[rows.start : rows.stop + 1]
    own = slice(starts[0], starts[-1])
    some = csr_array((rows.stop - rows.start, matrix.shape[1]), dtype=matrix.dtype)
    # The constructor would copy what is a small part of an array.
    some.data, some.indices = matrix.data[own], matrix.indices[own]
    some.indptr = starts - starts[0]
    return some
