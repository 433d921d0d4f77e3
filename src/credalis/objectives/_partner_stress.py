"""Stress over pairs of each object with partners of its own."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from credalis.belief import FocalSets
from credalis.objectives._row_stress import MAX_ENTRIES, RowStress, coupled_blocks, cut
from credalis.optimize import Quadratics, RowQuadratics

Array = NDArray[np.float64]

# Pairs of objects for each that counts, so that a byte for each of them takes less room
# than the partners and targets of the others.
_MAX_PLACES_PER_PAIR = 32

# How many times as long a product of gathered numbers takes as one of those in place.
_GATHERING = 6

# Rows go beyond their minima by this factor if there are more objects than that: errors
# then fall to a tenth in a sweep, not to a quarter. Of few objects each start is its
# own, and may end elsewhere.
_RELAXATION = 1.25
_MAX_UNRELAXED = 1000

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
    """Entries of the lists of a block that are partners within the block."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
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
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    similarities: Array
    n_samples: int
    focal_sets: FocalSets
    one_sided: bool = False

    @property
    def relaxation(self) -> float:
        """More than 1 for many objects, which start near the minimum."""
        return 1.0 if self.n_samples <= _MAX_UNRELAXED else _RELAXATION

    @cached_property
    def _partners(self) -> _Lists:
        """Partners of each object; a pair given twice is there twice."""
        n_samples = self.n_samples
        starts = np.searchsorted(self.rows, np.arange(n_samples + 1))
        targets = 1.0 - self.similarities
        own = csr_array((targets, self.columns, starts), shape=(n_samples, n_samples))
        parts = [own]
        if not self.one_sided:
            # To turn the matrix is to sort the pairs by their second objects.
            parts.append(own.tocsc())
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
            columns = self._partners.columns[rows]
            is_inside = (columns >= rows.start) & (columns < rows.stop)
            self._inside[block] = _Inside(
                np.nonzero(is_inside)[0],
                columns[is_inside] - rows.start,
                self._partners.targets[rows][is_inside],
            )
        return self._inside[block]

    def blocks(self) -> list[slice]:
        """As many objects as go well together."""
        limit = MAX_ENTRIES // len(self.focal_sets) ** 2
        return coupled_blocks(self.n_samples, limit, self.n_samples)

    def row_problem(self, masses: Array, rows: slice) -> Quadratics:
        """G = Σ_j (C m_j) (C m_j)ᵀ and h = Σ_j δ*_ij C m_j over the partners j of i."""
        if masses.ndim == 3:
            each = [self._own_forms(one, rows) for one in masses]
            grams, linear = (
                np.concatenate(arrays) for arrays in zip(*each, strict=True)
            )
            return RowQuadratics(grams, linear)
        return RowQuadratics(*self._own_forms(masses, rows))

    @cached_property
    def _counts(self) -> NDArray[np.int8] | None:
        """How often two objects are a pair, if that takes no more room than the lists.

        The rows of one object have it once at most as a partner.
        """
        if self.one_sided or self.n_samples**2 > _MAX_PLACES_PER_PAIR * len(self.rows):
            return None
        ones = np.ones(len(self.rows), dtype=np.int8)
        shape = self.n_samples, self.n_samples
        counts = coo_array((ones, (self.rows, self.columns)), shape=shape).toarray()
        return np.asarray(counts + counts.T, dtype=np.int8)

    @cached_property
    def _targets(self) -> csr_array:
        """δ*_ij of the pairs, both ways round."""
        shape = self.n_samples, self.n_samples
        pairs = self.rows, self.columns
        own = coo_array((1.0 - self.similarities, pairs), shape=shape).tocsr()
        return (own + own.T).tocsr()

    def _forms_by_moments(
        self, masses: Array, rows: slice
    ) -> tuple[Array, Array] | None:
        """The matrices G and the h of the rows, from the products of masses.

        Objects whose largest masses are on the same set have masses on few sets, the
        products of which are summed over the partners of all rows in one call. None if
        that would take longer than to gather the partners.
        """
        if self._counts is None:
            return None
        n_sets = len(self.focal_sets)
        leaders = masses.argmax(axis=1)
        order = np.argsort(leaders, kind="stable")
        bounds = np.searchsorted(leaders[order], np.arange(n_sets + 1))
        groups = [slice(*ends) for ends in pairwise(bounds) if ends[0] < ends[1]]
        sets = [np.flatnonzero(masses[order[own]].any(axis=0)) for own in groups]
        work = sum(
            (own.stop - own.start) * len(used) * (len(used) + 1)
            for own, used in zip(groups, sets, strict=True)
        )
        gathered = 2 * len(self.rows) * n_sets**2
        if work * self.n_samples > _GATHERING * gathered:
            return None
        places = np.zeros((n_sets, n_sets), dtype=np.intp)
        upper = np.triu_indices(n_sets)
        places[upper] = places.T[upper] = np.arange(len(upper[0]))
        counts = self._counts[:, rows].take(order, axis=0).astype(np.float64)
        sums = np.zeros((len(upper[0]), counts.shape[1]))
        for own, used in zip(groups, sets, strict=True):
            first, second = np.triu_indices(len(used))
            some = masses[np.ix_(order[own], used)]
            products = some[:, first] * some[:, second]
            sums[places[used[first], used[second]]] += products.T @ counts[own]
        moments = sums.T.take(places.ravel(), axis=1).reshape(-1, n_sets, n_sets)
        grams = self._apart(self._apart(moments).swapaxes(-1, -2)) / len(self.rows)
        part = _rows_of(self._targets, rows)
        return grams, self._apart(part @ masses) / len(self.rows)

    def _own_forms(self, masses: Array, rows: slice) -> tuple[Array, Array]:
        """The matrices G and the h of the rows of one start."""
        if (forms := self._forms_by_moments(masses, rows)) is not None:
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
        i, j, targets = self._inside_of(rows)
        own = masses[rows]
        residuals = (self._apart(own) @ own.T)[i, j] - targets
        moved = self._apart(direction)
        crossed, products = moved @ own.T, moved @ direction.T
        u, v, w = crossed[i, j], crossed[j, i], products[i, j]
        # Every pair is in the lists of both of its objects.
        return np.array([residuals @ w + u @ v, (u + v) @ w, 0.5 * (w @ w)]) / len(
            self.rows
        )

    def value(self, masses: Array) -> float:
        """Mean of squares over the given pairs."""
        against = self._apart(masses)
        total = 0.0
        for part in cut(0, len(self.rows), _MAX_GATHERED // len(self.focal_sets)):
            firsts = against.take(self.rows[part], axis=0)
            seconds = masses.take(self.columns[part], axis=0)
            conflicts = np.einsum("ij,ij->i", firsts, seconds)
            residuals = conflicts + self.similarities[part] - 1.0
            total += float(residuals @ residuals)
        return total / len(self.rows)


def _rows_of(matrix: csr_array, rows: slice) -> csr_array:
    """Some rows of a sparse matrix, without copying."""
    starts = matrix.indptr[rows.start : rows.stop + 1]
    own = slice(starts[0], starts[-1])
    return csr_array(
        (matrix.data[own], matrix.indices[own], starts - starts[0]),
        shape=(rows.stop - rows.start, matrix.shape[1]),
    )
