"""Stress: the conflict of two objects should match their dissimilarity.

Everything is written in terms of similarities 1 - δ*, which are exponentials and need
no subtraction: the residual κ - δ* is κ + similarity - 1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg.blas import dgemm, sgemm
from scipy.linalg.lapack import dpstrf
from scipy.sparse import csr_array

from credalis.belief import FocalSets
from credalis.dissimilarity import Similarities, StoredSimilarities, transform
from credalis.objectives._terms import MANY_SPARSE_SETS, Array, Objective

# A block up to this size is one tile; larger ones are cut in strips of the other size,
# of which only the part on and below the diagonal is computed. Measured.
_ONE_TILE = 256
_TILE = 128

# So many other sets on average are few enough to meet for a sparse product.
_FEW_MEETINGS = 20

# From so many focal sets on, it pays to look at what they are.
_MANY_SETS = 64

# A factor of the similarities pays for so many objects, if its rank is at most this
# share of them.
_LEAST_FACTORED = 200
_MOST_RANK = 0.3

# Where there is none, so many similarities do not stay in a fast cache, and single
# precision takes less than half of the time, if it is accurate enough.
_LEAST_SINGLE = 400
_SINGLE = float(np.finfo(np.float32).eps) / 2


@dataclass(frozen=True, eq=False)
class DenseStress(Objective):
    """L = Σ_{i≠j} w_ij (κ_ij - δ*_ij)², with all similarities in memory.

    Parameters
    ----------
    similarities : array of shape (n_samples, n_samples)
        1 - δ*_ij, symmetric; the diagonal is not read.
    focal_sets : FocalSets
        What the rows of the masses stand for.
    weights : array of shape (n_samples, n_samples), default=None
        Symmetric w_ij; None stands for the mean over all pairs.
    accuracy : float, default=0.0
        By how much any δ*_ij may be off where that makes products cheaper, see
        `low_rank_factor` and `Targets`. Only without weights.
    """

    similarities: NDArray[np.float64]
    focal_sets: FocalSets
    weights: NDArray[np.float64] | None = None
    accuracy: float = 0.0

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """L and ∂L/∂M = 4 C M (w ∘ residuals)."""
        if self.weights is None:
            values, gradient = self.values_and_gradients(masses)
            return float(values), gradient
        disjoint = self.focal_sets.disjoint.astype(masses.dtype)
        stored = StoredSimilarities(self.similarities)
        return block_stress(masses, stored, disjoint, self.weights)

    def values_and_gradients(self, masses: Array) -> tuple[Array, Array]:
        """The same for a stack; without weights all of it takes one product."""
        if self.weights is not None:
            return super().values_and_gradients(masses)
        return _stress_of_all(masses, self.focal_sets, self._targets)

    @cached_property
    def _targets(self) -> "Targets":
        is_exact = _has_many_sets(self.focal_sets, len(self.similarities))
        return Targets.of(self.similarities, 0.0 if is_exact else self.accuracy)


@dataclass(frozen=True, eq=False)
class Targets:
    """The matrix Δ of all δ*, 0 on the diagonal, for products with it; or a stack.

    Attributes
    ----------
    values : array of shape (..., n_samples, n_samples), or None
        Δ.
    factors : tuple of two arrays, or None
        Instead of it [U 1] and [-U 1]ᵀ, whose product is 1 - U Uᵀ, nearly Δ.
    squared : array of shape (...)
        Σ Δ ∘ Δ.
    similarities : array of float32, shape (..., n_samples, n_samples), or None
        Instead of both S = 1 - Δ. Most objects are similar to few others, so that the
        sums that are rounded are small.
    """

    values: NDArray[np.float64] | None
    factors: tuple[NDArray[np.float64], NDArray[np.float64]] | None
    squared: NDArray[np.float64]
    similarities: NDArray[np.float32] | None = None

    @classmethod
    def of(cls, similarities: NDArray[np.float64], accuracy: float = 0.0) -> "Targets":
        """From 1 - Δ, of which the diagonal is not read."""
        targets = 1.0 - similarities
        diagonal = np.arange(targets.shape[-1])
        targets[..., diagonal, diagonal] = 0.0
        squared = np.einsum("...ij,...ij->...", targets, targets)
        is_stack = targets.ndim > 2
        if accuracy > 0 and not is_stack:
            factor = low_rank_factor(1.0 - targets, accuracy)
            if factor is not None:
                ones = np.ones((len(factor), 1))
                left, right = np.hstack([factor, ones]), np.hstack([-factor, ones])
                # Products with what is transposed on the fly take longer.
                return cls(None, (left, np.ascontiguousarray(right.T)), squared)
        if accuracy >= _SINGLE and (is_stack or len(targets) >= _LEAST_SINGLE):
            return cls(None, None, squared, (1.0 - targets).astype(np.float32))
        return cls(targets, None, squared)

    def times(self, rows: Array) -> Array:
        """The products of matrices, (..., n_rows, n_samples), with Δ."""
        if self._is_stack:
            return self._product(rows)
        # One product for all matrices.
        return self._product(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape)

    @property
    def _is_stack(self) -> bool:
        held = self.values if self.similarities is None else self.similarities
        return held is not None and held.ndim > 2

    def _product(self, rows: Array) -> Array:
        if self.similarities is not None:
            met = np.matmul(rows.astype(np.float32), self.similarities)
            return rows.sum(axis=-1, keepdims=True) - met
        if self.values is not None:
            return np.matmul(rows, self.values)
        assert self.factors is not None
        left, right = self.factors
        return (rows @ left) @ right


def low_rank_factor(
    similarities: NDArray[np.float64], accuracy: float
) -> NDArray[np.float64] | None:
    """U with few columns such that no entry of S - U Uᵀ is larger than an accuracy.

    Similarities exp(-γ d²) of points in few dimensions have such a factor: the
    incomplete Cholesky factor with pivots (N. J. Higham, 2002, Accuracy and Stability
    of Numerical Algorithms, chapter 10.3).

    Parameters
    ----------
    similarities : array of shape (n_samples, n_samples)
        S, symmetric, 1 on the diagonal.
    accuracy : float
        The largest error.

    Returns
    -------
    array of shape (n_samples, rank), or None
        None if there are few objects, or no factor by which products take less time.
    """
    n_samples = len(similarities)
    if n_samples < _LEAST_FACTORED:
        return None
    lower, pivots, rank, _ = dpstrf(similarities, tol=accuracy, lower=1)
    if rank > _MOST_RANK * n_samples:
        return None
    factor = np.empty((n_samples, rank))
    factor[pivots - 1] = np.tril(lower[:, :rank])
    # Other similarities need not be positive semidefinite.
    errors = factor @ factor.T
    errors -= similarities
    is_accurate = max(errors.max(), -errors.min()) <= accuracy
    return factor if is_accurate else None


def _has_many_sets(focal_sets: FocalSets, n_samples: int) -> bool:
    """Whether products of sets with sets take longer than those of all pairs."""
    n_sets = len(focal_sets)
    return n_sets >= _MANY_SETS and n_samples < 2 * n_sets


def _stress_of_all(
    masses: Array, focal_sets: FocalSets, targets: Targets
) -> tuple[Array, Array]:
    """Stress of all pairs and its gradient, in the way that takes less time."""
    against = _mass_apart(masses, focal_sets)
    if _has_many_sets(focal_sets, masses.shape[-1]):
        assert targets.values is not None
        return residual_stress(masses, against, targets.values)
    return full_stress(masses, against, targets)


def _mass_apart(masses: Array, focal_sets: FocalSets) -> Array:
    """A = C M: for each focal set, the mass on sets that do not meet it.

    If all subsets carry mass, these are the sums over the subsets of its complement,
    which the fast Möbius transform finds in c 2^(c-1) additions per object.
    """
    if len(focal_sets) < _MANY_SETS or not focal_sets.is_full:
        return np.matmul(focal_sets.disjoint.astype(masses.dtype), masses)
    sums = masses.copy()
    n_samples = masses.shape[-1]
    for cluster in range(focal_sets.n_clusters):
        # Without this cluster, and with it.
        halves = sums.reshape(*masses.shape[:-2], -1, 2, 2**cluster, n_samples)
        halves[..., 1, :, :] += halves[..., 0, :, :]
    # In binary order, the complements come in the opposite order.
    return np.ascontiguousarray(sums[..., ::-1, :])


def residual_stress(
    masses: Array, against: Array, targets: Array
) -> tuple[Array, Array]:
    """`full_stress` by a matrix of residuals, R = Mᵀ A - Δ, 0 on the diagonal.

    n (n - 1) L = Σ R ∘ R, and n (n - 1) ∂L/∂M = 4 A R. Less work for many focal sets.

    Parameters
    ----------
    masses, against : arrays of shape (..., n_focal_sets, n_samples)
        M and A = C M, or a stack of several.
    targets : array of shape (n_samples, n_samples)
        Δ: δ*, symmetric, 0 on the diagonal.

    Returns
    -------
    values : array of shape (...)
    gradients : array of shape (..., n_focal_sets, n_samples)
    """
    n_samples = masses.shape[-1]
    residuals = np.swapaxes(masses, -1, -2) @ against
    residuals -= targets
    diagonal = np.arange(n_samples)
    residuals[..., diagonal, diagonal] = 0.0
    weight = 1.0 / (n_samples * (n_samples - 1))
    gradients = against @ residuals
    gradients *= 4.0 * weight
    return weight * np.einsum("...ij,...ij->...", residuals, residuals), gradients


def full_stress(masses: Array, against: Array, targets: Targets) -> tuple[Array, Array]:
    """Mean of (κ_ij - δ*_ij)² over all i ≠ j, without a matrix of residuals.

    With A = C M, k = diagonal of Mᵀ A, H = A Mᵀ and B = A Δ, all C and Δ symmetric,

        n (n - 1) L = Σ H ∘ Hᵀ - 2 Σ M ∘ B + Σ Δ ∘ Δ - Σ k²
        n (n - 1) ∂L/∂M = 4 (H A - B - A ∘ k)

    so that only B is a product with n² numbers. L is a small difference of sums of
    about 1: it is exact to some 1e-16, not to its own last digit. If Δ is given by a
    factor that is off by ε, L is off by no more than 2 ε times the mean of |κ - δ*|.

    Parameters
    ----------
    masses, against : arrays of shape (..., n_focal_sets, n_samples)
        M and A = C M, or a stack of several; A is overwritten.
    targets : Targets
        Δ: δ*, symmetric, 0 on the diagonal.

    Returns
    -------
    values : array of shape (...)
    gradients : array of shape (..., n_focal_sets, n_samples)
    """
    n_samples = masses.shape[-1]
    met = targets.times(against)
    gradients = (against @ masses.swapaxes(-1, -2)) @ against
    own = np.einsum("...ij,...ij->...j", against, masses)
    gradients -= met
    against *= own[..., None, :]
    gradients -= against
    # Σ M ∘ (H A - B - A ∘ k) is the value but for one Σ M ∘ B and Σ Δ ∘ Δ.
    met -= gradients
    totals = targets.squared - _inner_products(masses, met)
    weight = 1.0 / (n_samples * (n_samples - 1))
    gradients *= 4.0 * weight
    return np.maximum(totals, 0.0) * weight, gradients


def _inner_products(first: Array, second: Array) -> Array:
    """Sums of the products of two matrices in C order, or for each of a stack."""
    stack = first.shape[:-2]
    rows, columns = first.reshape(*stack, 1, -1), second.reshape(*stack, -1, 1)
    products: Array = (rows @ columns)[..., 0, 0]
    return products


@dataclass(frozen=True, eq=False)
class PartStress(Objective):
    """The mean over parts of the objects of the stress of all pairs inside a part.

    Parameters
    ----------
    similarities : array of shape (n_parts, n_own, n_own)
        1 - δ*_ij inside each part. The objects of the first part come first, and so on;
        what is left over is in none.
    focal_sets : FocalSets
        What the rows of the masses stand for.
    accuracy : float, default=0.0
        By how much any δ*_ij may be off where that makes products cheaper.
    """

    similarities: NDArray[np.float64]
    focal_sets: FocalSets
    accuracy: float = 0.0

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """L and ∂L/∂M, 0 for objects in no part."""
        values, gradient = self.values_and_gradients(masses)
        return float(values), gradient

    def values_and_gradients(self, masses: Array) -> tuple[Array, Array]:
        """The same for a stack."""
        n_parts, n_own, _ = self.similarities.shape
        n_within = n_parts * n_own
        *stack, n_sets, _ = masses.shape
        own = masses[..., :n_within].reshape(*stack, n_sets, n_parts, n_own)
        own = np.ascontiguousarray(own.swapaxes(-2, -3))
        values, slopes = _stress_of_all(own, self.focal_sets, self._targets)
        slopes /= n_parts
        gradients = np.zeros_like(masses)
        gradients[..., :n_within] = slopes.swapaxes(-2, -3).reshape(*stack, n_sets, -1)
        return values.mean(axis=-1), gradients

    @cached_property
    def _targets(self) -> Targets:
        is_exact = _has_many_sets(self.focal_sets, self.similarities.shape[-1])
        return Targets.of(self.similarities, 0.0 if is_exact else self.accuracy)


@dataclass(frozen=True, eq=False)
class SampledStress(Objective):
    """L = mean over given pairs (i, j) of (κ_ij - δ*_ij)².

    Parameters
    ----------
    rows, columns : array of int, shape (n_pairs,)
        The pairs, in any order, repetitions allowed.
    similarities : array of shape (n_pairs,)
        1 - δ*_ij.
    n_samples : int
        Number of objects.
    focal_sets : FocalSets
        What the rows of the masses stand for.
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    similarities: NDArray[np.float64]
    n_samples: int
    focal_sets: FocalSets

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """L and ∂L/∂M = C M (R + Rᵀ), with R the sparse matrix of 2 w residuals."""
        against = (self.focal_sets.disjoint.astype(float) @ masses).T
        conflicts = np.einsum(
            "ij,ij->i", against[self.rows], masses.T[self.columns], optimize=False
        )
        residuals = conflicts + self.similarities - 1.0
        n_pairs = len(self.rows)
        slopes = csr_array(
            (2.0 / n_pairs * residuals, (self.rows, self.columns)),
            shape=(self.n_samples, self.n_samples),
        )
        gradient = slopes @ against + slopes.T @ against
        return float(residuals @ residuals) / n_pairs, gradient.T


@dataclass(frozen=True, eq=False)
class BlockStress(Objective):
    """L = mean over i ≠ j of (κ_ij - δ*_ij)², for objects whose pairs are not stored.

    Parameters
    ----------
    similarities : Similarities
        1 - δ*_ij.
    focal_sets : FocalSets
        What the rows of the masses stand for.
    """

    similarities: Similarities
    focal_sets: FocalSets

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """L and ∂L/∂M = 4 C M R / (n (n - 1)), R the residuals."""
        disjoint = self.focal_sets.disjoint.astype(masses.dtype)
        return block_stress(masses, self.similarities, disjoint)

    def value(self, masses: Array) -> float:
        """L alone, for half of the products."""
        disjoint = self.focal_sets.disjoint.astype(masses.dtype)
        return block_stress(masses, self.similarities, disjoint, wants_gradient=False)[
            0
        ]


def block_stress(
    masses: Array,
    similarities: Similarities,
    disjoint: Array,
    weights: Array | None = None,
    store: Array | None = None,
    *,
    wants_gradient: bool = True,
) -> tuple[float, Array]:
    """Weighted sum of the squared residuals of all pairs, and its gradient.

    Strips of the matrix of residuals, small enough for the cache, are formed by one
    product (similarities), one exponential and one product added in place (conflicts
    minus one); the matrix is symmetric, so that what lies above the diagonal is
    never computed.

    Parameters
    ----------
    masses : array of shape (n_focal_sets, n_samples), float32 or float64
        Masses of the block.
    similarities : Similarities
        Of the same objects in the same order.
    disjoint : array of shape (n_focal_sets, n_focal_sets)
        The matrix C, of the type of the masses.
    weights : array of shape (n_samples, n_samples), default=None
        Symmetric weights of the pairs; None stands for the mean over all pairs.
    store : array of shape (n_numbers,), default=None
        Memory that `residual_store` gave for at least as many objects of this type.
        Its values do not matter; they are overwritten.
    wants_gradient : bool, default=True
        Whether anyone reads the gradient.

    Returns
    -------
    value : float
    gradient : array of shape (n_focal_sets, n_samples)
        Of no columns if nobody wants it.
    """
    n_sets, n_samples = masses.shape
    dtype = masses.dtype
    gemm = sgemm if dtype == np.float32 else dgemm
    # One more row makes the product κ - 1 instead of κ.
    first = np.empty((n_sets + 1, n_samples), dtype=dtype)
    first[:-1] = masses
    first[-1] = 1.0
    second = np.empty_like(first)
    against = second[:-1]
    conflicting(disjoint, masses, out=against)
    second[-1] = -1.0

    gradient = np.empty((n_sets, n_samples if wants_gradient else 0), dtype=dtype)
    above = np.zeros((n_sets, 0), dtype=dtype)
    total = 0.0
    width = _width(n_samples)
    if store is None:
        store = residual_store(n_samples, dtype)
    for start in range(0, n_samples, width):
        stop = min(start + width, n_samples)
        n_columns = stop - start
        residuals = store[: (n_samples - start) * n_columns].reshape(-1, n_columns)
        similarities.fill(slice(start, None), slice(start, stop), residuals)
        # residuals += first[:, start:].T @ second[:, start:stop]; BLAS sees transposes.
        residuals = gemm(
            1.0,
            np.ascontiguousarray(second[:, start:stop]).T,
            np.ascontiguousarray(first[:, start:]).T,
            beta=1.0,
            c=residuals.T,
            trans_b=1,
            overwrite_c=1,
        ).T
        residuals[:n_columns].ravel()[:: n_columns + 1] = 0.0
        slopes = residuals
        if weights is not None:
            slopes = residuals * weights[start:, start:stop]
        below = slopes[n_columns:]
        total += np.vdot(slopes[:n_columns], residuals[:n_columns])
        if stop < n_samples:
            total += 2.0 * np.vdot(below, residuals[n_columns:])
        if not wants_gradient:
            continue
        np.matmul(against[:, start:], slopes, out=gradient[:, start:stop])
        if start > 0:
            gradient[:, start:stop] += above[:, :n_columns]
            above = above[:, n_columns:]
        if stop < n_samples:
            mirrored = against[:, start:stop] @ below.T
            above = mirrored if start == 0 else above + mirrored
    weight = 1.0 if weights is not None else 1.0 / (n_samples * (n_samples - 1))
    gradient *= 4.0 * weight
    return float(total) * weight, gradient


def conflicting(disjoint: Array, masses: Array, out: Array) -> None:
    """Write C M, the masses in conflict with each focal set, (n_focal_sets, n_samples).

    Of many sets, most meet few others: then these are subtracted from the sum of all
    masses, and the time grows with the number of sets, not with its square.

    Parameters
    ----------
    disjoint : array of shape (n_focal_sets, n_focal_sets)
        The matrix C.
    masses : array of shape (n_focal_sets, n_samples)
        M.
    out : array of shape (n_focal_sets, n_samples)
        Receives the product.
    """
    n_sets = len(disjoint)
    if n_sets >= MANY_SPARSE_SETS:
        meeting = disjoint == 0
        if np.count_nonzero(meeting) <= _FEW_MEETINGS * n_sets:
            np.subtract(
                masses.sum(axis=0), csr_array(meeting, dtype=masses.dtype) @ masses, out
            )
            return
    np.matmul(disjoint, masses, out=out)


def residual_store(n_samples: int, dtype: DTypeLike) -> Array:
    """Memory for the residuals of a block, or of any smaller one.

    Many blocks in turn should share it: where the allocator gives memory back to the
    system at once, as on the workers of Dask, new pages for each block cost as much
    time as half of its arithmetic.
    """
    n_numbers = max(n_samples * _width(n_samples), min(n_samples, _ONE_TILE) ** 2)
    return np.empty(n_numbers, dtype=dtype)


def _width(n_samples: int) -> int:
    return n_samples if n_samples <= _ONE_TILE else _TILE


def cross_stress(
    first: Array,
    second: Array,
    dissimilarities: Array,
    focal_sets: FocalSets,
    scale: float,
) -> float:
    """Mean of (κ_ij - δ*_ij)² over objects i of one set and j of another.

    Parameters
    ----------
    first : array of shape (n_focal_sets, n_first)
        Masses of the objects i.
    second : array of shape (n_focal_sets, n_second)
        Masses of the objects j.
    dissimilarities : array of shape (n_first, n_second)
        Their dissimilarities.
    focal_sets : FocalSets
        What the rows of the masses stand for.
    scale : float
        δ0.
    """
    conflicts = first.T @ focal_sets.disjoint.astype(float) @ second
    residuals = conflicts - transform(dissimilarities, scale)
    return float(np.square(residuals).mean())
