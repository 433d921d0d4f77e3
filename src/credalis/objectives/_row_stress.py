"""Stress as a function of the masses of some objects, the others being fixed.

For one object the stress is a quadratic function of its masses, xᵀ G x - 2 hᵀ x up to a
constant. When the objects of a block move together, from x to x + t y, the pairs inside
the block make it a quartic polynomial of t.

Masses in here have shape (n_samples, n_focal_sets): it is rows that are updated.
Several starts can be updated together. Their masses have shape (n_starts, n_samples,
n_focal_sets), and the rows of one start come before those of the next.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from credalis.belief import FocalSets
from credalis.belief._combination import is_fast, unchecked_mass_apart
from credalis.dissimilarity import RoundedMatrix, Similarities
from credalis.objectives._terms import PairConstraints
from credalis.optimize import (
    FactoredQuadratics,
    Quadratics,
    RowQuadratics,
    TurnedProducts,
)

Array = NDArray[np.float64]

# Objects in a block that moves together: as many as make products fast, but so few that
# pairs inside a block matter little next to the others.
_MAX_BLOCK = 512
_MIN_BLOCKS = 6

# Objects in a block without pairs inside.
_MAX_FREE_BLOCK = 2048

# Numbers in the matrices G of a block, and objects that it has whatever that limits.
_MAX_ENTRIES = 4_000_000
_MIN_LIMIT = 64

# Share of the masses that are not 0 from which on products with all of them are faster.
_MAX_DENSITY = 0.1

# Columns of similarities formed at a time where they are not stored.
_MAX_COLUMNS = 4096

# Objects whose constraints are stored as a dense matrix.
_MAX_DENSE_LINKS = 1000

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


class RowStress(ABC):
    """L = mean of (κ_ij - δ*_ij)² over pairs of objects.

    An object of weight w stands for w copies that share its masses: a pair counts as
    often as there are pairs of copies, and an object makes w² - w of them with itself,
    or none if it is no whole one.
    """

    focal_sets: FocalSets
    n_samples: int
    weights: Array | None = None

    @property
    def relaxation(self) -> float:
        """How many times as far as to their minima rows should go in later sweeps."""
        return 1.0

    @abstractmethod
    def blocks(self) -> list[slice]:
        """Objects to be updated together, one block after the other."""

    @abstractmethod
    def row_problem(self, masses: Array, rows: slice) -> Quadratics:
        """G and h of each of the rows: what L is as a function of its masses alone.

        Of a single copy, if it has a weight, the others being fixed as well.
        """

    @abstractmethod
    def coupling(self, masses: Array, rows: slice, direction: Array) -> Array:
        """What pairs within a block add to L when the rows move along a direction.

        Coefficients of t², t³ and t⁴, next to the sum of what L changes by when each
        row moves alone: (3,), or (n_starts, 3).
        """

    @abstractmethod
    def value(self, masses: Array) -> float:
        """L, of one start."""

    def _apart(self, masses: Array) -> Array:
        """``masses @ C``."""
        return unchecked_mass_apart(masses, self.focal_sets)


@dataclass(frozen=True, eq=False)
class CommonStress(RowStress):
    """L over all pairs of an object and a landmark: the first objects are landmarks.

    If all objects are landmarks these are all pairs. The matrices G of the objects
    differ by rank one at most.

    Parameters
    ----------
    similarities : Similarities
        1 - δ*_ij, landmarks first.
    n_landmarks : int
        Number of landmarks.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    stored : array or RoundedMatrix of shape (n_samples, n_landmarks), default=None
        The similarities to the landmarks, ones for the landmarks with themselves; None
        if they are to be computed whenever they are needed.
    weights : array of shape (n_samples,), default=None
        Weights of the objects; None: all are 1.
    """

    similarities: Similarities
    n_landmarks: int
    focal_sets: FocalSets
    stored: Array | RoundedMatrix | None = None
    weights: Array | None = None

    @property
    def n_samples(self) -> int:  # type: ignore[override]
        """Number of objects."""
        return self.similarities.n_samples

    @cached_property
    def n_pairs(self) -> float:
        """Number of pairs (object, landmark) of different objects, at least 1.

        Or the sum of their weights.
        """
        if self.weights is None:
            return max(1, (self.n_samples - 1) * self.n_landmarks)
        landmarks = self.weights[: self.n_landmarks]
        copies = landmarks * self._single[: self.n_landmarks]
        total = float(self.weights.sum() * landmarks.sum() - copies.sum())
        return total if total > 0 else 1.0

    @cached_property
    def _single(self) -> Array:
        """Copies of an object that it makes no pair with: itself, at most one."""
        assert self.weights is not None
        return np.minimum(self.weights, 1.0)

    def _counted(self, masses: Array, power: float = 1.0) -> Array:
        """Masses times powers of the weights of their objects."""
        if self.weights is None:
            return masses
        return masses * (self.weights**power)[:, None]

    def blocks(self) -> list[slice]:
        """Landmarks, then the objects that depend on nothing but landmarks."""
        n_sets = len(self.focal_sets)
        # A landmark meets the other landmarks twice, and everybody else once.
        n_partners = (self.n_samples + self.n_landmarks) // 2
        # The matrix G is common: only systems of equations of the supports are many.
        limit = max(_MIN_LIMIT, _MAX_ENTRIES // n_sets**2)
        coupled = _coupled_blocks(self.n_landmarks, limit, n_partners)
        size = min(_MAX_FREE_BLOCK, limit)
        return coupled + _cut(self.n_landmarks, self.n_samples, size)

    def row_problem(self, masses: Array, rows: slice) -> Quadratics:
        """G = C (Σ_j m_j m_jᵀ) C and h = C Σ_j δ*_ij m_j over the partners j of i."""
        landmarks = slice(0, self.n_landmarks)
        is_free = rows.start >= self.n_landmarks
        is_all = self.n_landmarks == self.n_samples
        counted = self._counted(masses)
        sums = self._target_sums(counted, rows, landmarks)
        if not is_free and is_all:
            sums *= 2.0
        elif not is_free:
            sums += self._target_sums(counted, rows, slice(0, self.n_samples))
        linear = _flat(self._apart(sums) / self.n_pairs)
        owners = None
        if masses.ndim == 3:
            owners = np.repeat(np.arange(len(masses)), rows.stop - rows.start)
        removed = None
        if not is_free:
            # A landmark is among the landmarks and among the objects, but no pair.
            scale = np.sqrt(2.0 / self.n_pairs)
            own = self._apart(masses[..., rows, :]) * scale
            if self.weights is not None:
                own *= np.sqrt(self._single[rows])[:, None]
            removed = _flat(own)
        # Other objects have the landmarks as partners, a landmark these and everybody.
        rooted = self._counted(masses, 0.5)
        parts = [rooted[..., landmarks, :]]
        if not is_free and not is_all:
            parts.append(rooted)
        weight = (2.0 if is_all and not is_free else 1.0) / self.n_pairs
        n_partners = sum(part.shape[-2] for part in parts)
        if n_partners < len(self.focal_sets):
            partners = np.concatenate(parts, axis=-2) * np.sqrt(weight)
            factor = np.ascontiguousarray(self._apart(partners).swapaxes(-1, -2))
            products = None
            is_sparse = np.count_nonzero(partners) < _MAX_DENSITY * partners.size
            if is_fast(self.focal_sets) and is_sparse:
                products = TurnedProducts.of(partners, self._apart)
            return FactoredQuadratics(factor, linear, removed, owners, turned=products)
        moments = np.sum([_moments(part) for part in parts], axis=0)
        gram = self._apart(self._apart(moments).swapaxes(-1, -2)) * weight
        return RowQuadratics(gram, linear, removed, owners)

    def coupling(self, masses: Array, rows: slice, direction: Array) -> Array:
        """From all pairs of landmarks in the block."""
        n_rows = direction.shape[-2]
        is_alone = n_rows == 1 and self.weights is None
        if rows.start >= self.n_landmarks or is_alone:
            return np.zeros((*direction.shape[:-2], 3))
        own = masses[..., rows, :]
        against, moved = self._apart(own), self._apart(direction)
        # With r the residual of a pair, u = yᵢ C xⱼ, v = yⱼ C xᵢ and w = yᵢ C yⱼ, what
        # (r + t (u + v) + t² w)² exceeds (r + t u)² and (r + t v)² by, less r², is
        # 2 t² (r w + u v) + 2 t³ (u + v) w + t⁴ w². So it is for copies that share
        # their masses, of which each row moved alone.
        if n_rows < len(self.focal_sets) or self.weights is not None:
            turned = direction.swapaxes(-1, -2)
            residuals = against @ own.swapaxes(-1, -2) - 1.0 + self.block(rows, rows)
            us, ws = moved @ own.swapaxes(-1, -2), moved @ turned
            counts = self._pair_counts(rows, rows)
            r_w = _inner(counts * residuals, ws)
            u_v = _inner(counts * us, us.swapaxes(-1, -2))
            u_w, w_w = _inner(counts * us, ws), _inner(counts * ws, ws)
        else:
            r_w, u_v, u_w, w_w = self._coupling_of_many(
                own, direction, against, moved, self.block(rows, rows)
            )
        return np.stack([2.0 * (r_w + u_v), 4.0 * u_w, w_w], axis=-1) / self.n_pairs

    def _coupling_of_many(
        self,
        own: Array,
        direction: Array,
        against: Array,
        moved: Array,
        similarities: Array,
    ) -> tuple[Array, Array, Array, Array]:
        """Σ r w, Σ u v, Σ u w and Σ w² over pairs in the block.

        Sums over all i and j are products of small matrices, from which i = j is to be
        taken away.
        """
        turned = own.swapaxes(-1, -2)
        mixed, square = turned @ moved, direction.swapaxes(-1, -2) @ moved
        changed = turned @ direction
        kappa = np.einsum("...ij,...ij->...i", own, against)
        u = np.einsum("...ij,...ij->...i", own, moved)
        w = np.einsum("...ij,...ij->...i", direction, moved)
        conflicts_w = _inner(against.swapaxes(-1, -2) @ moved, changed)
        # Similarities of objects with themselves are 1: their targets are 0.
        similar = similarities @ direction
        targets_w = _inner(moved, direction.sum(axis=-2, keepdims=True) - similar)
        return (
            conflicts_w - (kappa * w).sum(axis=-1) - targets_w,
            _inner(mixed, mixed.swapaxes(-1, -2)) - (u * u).sum(axis=-1),
            _inner(moved.swapaxes(-1, -2) @ moved, changed) - (u * w).sum(axis=-1),
            _inner(square, square.swapaxes(-1, -2)) - (w * w).sum(axis=-1),
        )

    def value(self, masses: Array) -> float:
        """Sum of squares, some rows at a time."""
        partners = masses[: self.n_landmarks]
        total = 0.0
        for rows in _cut(0, self.n_samples, _MAX_BLOCK):
            residuals = self._apart(masses[rows]) @ partners.T - 1.0
            landmarks = slice(0, self.n_landmarks)
            residuals += self.block(rows, landmarks)
            if self.weights is not None:
                counts = self._pair_counts(rows, landmarks)
                total += float(np.vdot(counts * residuals, residuals))
                continue
            own = np.arange(rows.start, min(rows.stop, self.n_landmarks))
            residuals[own - rows.start, own] = 0.0
            total += float(np.vdot(residuals, residuals))
        return total / self.n_pairs

    def _pair_counts(self, rows: slice, columns: slice) -> Array:
        """How often pairs count: not at all for an object with itself as one copy."""
        counts = np.ones((rows.stop - rows.start, columns.stop - columns.start))
        own = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
        places = own - rows.start, own - columns.start
        if self.weights is None:
            counts[places] = 0.0
            return counts
        counts *= self.weights[rows, None] * self.weights[columns]
        counts[places] -= self.weights[own] * self._single[own]
        return counts

    def block(self, rows: slice, columns: slice) -> Array:
        """A block of the similarities, ones for an object with itself."""
        if self.stored is not None:
            if columns.stop <= self.n_landmarks:
                return self.stored[rows, columns]
            return self.stored[columns, rows].T
        block = self.similarities.block(rows, columns)
        own = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
        block[own - rows.start, own - columns.start] = 1.0
        return block

    def _target_sums(self, masses: Array, rows: slice, columns: slice) -> Array:
        """Σ_j δ*_ij m_j over the columns j ≠ i, (n_rows, n_focal_sets)."""
        is_array = isinstance(self.stored, np.ndarray)
        width = columns.stop if is_array else _MAX_COLUMNS
        n_rows = rows.stop - rows.start
        totals = masses[..., columns, :].sum(axis=-2, keepdims=True)
        sums = np.repeat(totals, n_rows, axis=-2)
        for part in _cut(0, columns.stop, width):
            # This way round BLAS takes less time for the same product.
            turned = np.ascontiguousarray(masses[..., part, :].swapaxes(-1, -2))
            flat = turned.reshape(-1, turned.shape[-1]) @ self.block(rows, part).T
            sums -= flat.reshape(*turned.shape[:-1], n_rows).swapaxes(-1, -2)
        return sums


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
        limit = _MAX_ENTRIES // len(self.focal_sets) ** 2
        return _coupled_blocks(self.n_samples, limit, self.n_samples)

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
        for part in _cut(rows.start, rows.stop, size):
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
        for part in _cut(0, len(self.rows), _MAX_GATHERED // len(self.focal_sets)):
            firsts = against.take(self.rows[part], axis=0)
            seconds = masses.take(self.columns[part], axis=0)
            conflicts = np.einsum("ij,ij->i", firsts, seconds)
            residuals = conflicts + self.similarities[part] - 1.0
            total += float(residuals @ residuals)
        return total / len(self.rows)


@dataclass(frozen=True, eq=False)
class RowCost:
    """Stress plus ξ times pair constraints, as a function of the masses of some rows.

    Parameters
    ----------
    stress : RowStress
        The stress.
    constraints : PairConstraints, default=None
        P, linear in the masses of each object.
    constraint_weight : float, default=0.0
        ξ.
    """

    stress: RowStress
    constraints: PairConstraints | None = None
    constraint_weight: float = 0.0

    @cached_property
    def _links(self) -> csr_array | Array | None:
        if self.constraints is None:
            return None
        links = self.constraint_weight * self.constraints.links()
        # To cut a few rows out of a sparse matrix takes longer than the product.
        is_small = links.shape[0] <= _MAX_DENSE_LINKS
        return links.toarray() if is_small else links.tocsr()

    @cached_property
    def blocks(self) -> list[slice]:
        """Those of the stress."""
        return self.stress.blocks()

    def row_weights(self, rows: slice) -> Array | float:
        """How often `row_problem` counts in the cost, (n_rows, 1) or 1."""
        weights = self.stress.weights
        return 1.0 if weights is None else weights[rows, None]

    def row_problem(self, masses: Array, rows: slice) -> Quadratics:
        """G and h of each of the rows, or of one copy of each."""
        problem = self.stress.row_problem(masses, rows)
        if self._links is None:
            return problem
        slopes = _linked(self._links[rows], masses) @ self.stress.focal_sets.apartness
        slopes = slopes / self.row_weights(rows)
        return replace(problem, linear=problem.linear - 0.5 * _flat(slopes))

    def coupling(self, masses: Array, rows: slice, direction: Array) -> Array:
        """Coefficients of t², t³ and t⁴ from pairs within a block."""
        coefficients = self.stress.coupling(masses, rows, direction)
        if self._links is not None:
            apart = direction @ self.stress.focal_sets.apartness
            linked = _linked(self._links[rows, rows], direction)
            coefficients[..., 0] += 0.5 * _inner(linked, apart)
        return coefficients

    def value(self, masses: Array) -> float:
        """The whole cost."""
        stress = self.stress.value(masses)
        if self.constraints is None:
            return stress
        return stress + self.constraint_weight * self.constraints.value(masses.T)


def _moments(masses: Array) -> Array:
    """Σ_j m_j m_jᵀ of every start."""
    return masses.swapaxes(-1, -2) @ masses


def _inner(first: Array, second: Array) -> Array:
    """Sum of the products of the entries, of every start."""
    return np.einsum("...ij,...ij->...", first, second)


def _flat(rows: Array) -> Array:
    """The rows of one start after those of the other."""
    return rows.reshape(-1, rows.shape[-1])


def _linked(links: csr_array | Array, masses: Array) -> Array:
    """The product of a matrix with the masses of every start."""
    if masses.ndim == 2 or not issparse(links):
        return links @ masses
    turned = masses.transpose(1, 0, 2)
    product = links @ turned.reshape(len(turned), -1)
    return product.reshape(-1, *turned.shape[1:]).transpose(1, 0, 2)


def _rows_of(matrix: csr_array, rows: slice) -> csr_array:
    """Some rows of a sparse matrix, without copying."""
    starts = matrix.indptr[rows.start : rows.stop + 1]
    own = slice(starts[0], starts[-1])
    return csr_array(
        (matrix.data[own], matrix.indices[own], starts - starts[0]),
        shape=(rows.stop - rows.start, matrix.shape[1]),
    )


def _cut(start: int, stop: int, size: int) -> list[slice]:
    """Slices of at most this size."""
    return [slice(k, min(k + size, stop)) for k in range(start, stop, size)]


def _coupled_blocks(n_objects: int, limit: int, n_partners: int) -> list[slice]:
    """Blocks of objects that have pairs inside, a small part of their partners."""
    largest = min(_MAX_BLOCK, limit, n_partners // _MIN_BLOCKS)
    return _cut(0, n_objects, max(1, largest))
