"""Stress over the pairs of all objects with the same partners."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.belief._combination import is_fast
from credalis.dissimilarity import RoundedMatrix, Similarities
from credalis.objectives._row_stress import (
    MAX_BLOCK,
    MAX_ENTRIES,
    RowStress,
    coupled_blocks,
    cut,
    flat,
    inner,
)
from credalis.optimize import (
    FactoredQuadratics,
    Quadratics,
    RowQuadratics,
    TurnedProducts,
)

Array = NDArray[np.float64]

# Objects in a block without pairs inside.
_MAX_FREE_BLOCK = 2048

# Objects that a block has however large the matrices G are.
_MIN_LIMIT = 64

# Share of the masses that are not 0 from which on products with all of them are faster.
_MAX_DENSITY = 0.1

# Columns of similarities formed at a time where they are not stored.
_MAX_COLUMNS = 4096


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
        limit = max(_MIN_LIMIT, MAX_ENTRIES // n_sets**2)
        coupled = coupled_blocks(self.n_landmarks, limit, n_partners)
        size = min(_MAX_FREE_BLOCK, limit)
        return coupled + cut(self.n_landmarks, self.n_samples, size)

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
        linear = flat(self._apart(sums) / self.n_pairs)
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
            removed = flat(own)
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
            r_w = inner(counts * residuals, ws)
            u_v = inner(counts * us, us.swapaxes(-1, -2))
            u_w, w_w = inner(counts * us, ws), inner(counts * ws, ws)
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
        conflicts_w = inner(against.swapaxes(-1, -2) @ moved, changed)
        # Similarities of objects with themselves are 1: their targets are 0.
        similar = similarities @ direction
        targets_w = inner(moved, direction.sum(axis=-2, keepdims=True) - similar)
        return (
            conflicts_w - (kappa * w).sum(axis=-1) - targets_w,
            inner(mixed, mixed.swapaxes(-1, -2)) - (u * u).sum(axis=-1),
            inner(moved.swapaxes(-1, -2) @ moved, changed) - (u * w).sum(axis=-1),
            inner(square, square.swapaxes(-1, -2)) - (w * w).sum(axis=-1),
        )

    def value(self, masses: Array) -> float:
        """Sum of squares, some rows at a time."""
        partners = masses[: self.n_landmarks]
        total = 0.0
        for rows in cut(0, self.n_samples, MAX_BLOCK):
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
        for part in cut(0, columns.stop, width):
            # This way round BLAS takes less time for the same product.
            turned = np.ascontiguousarray(masses[..., part, :].swapaxes(-1, -2))
            products = turned.reshape(-1, turned.shape[-1]) @ self.block(rows, part).T
            shape = *turned.shape[:-1], n_rows
            sums -= products.reshape(shape).swapaxes(-1, -2)
        return sums


def _moments(masses: Array) -> Array:
    """Σ_j m_j m_jᵀ of every start."""
    return masses.swapaxes(-1, -2) @ masses
