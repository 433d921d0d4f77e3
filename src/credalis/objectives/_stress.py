"""Stress: the conflict of two objects should match their dissimilarity.

Everything is written in terms of similarities 1 - δ*, which are exponentials and need
no subtraction: the residual κ - δ* is κ + similarity - 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg.blas import dgemm, sgemm
from scipy.sparse import csr_array

from credalis.belief import FocalSets
from credalis.dissimilarity import Similarities, StoredSimilarities, transform
from credalis.objectives._terms import Array, Objective

# A block up to this size is one tile; larger ones are cut in strips of the other size,
# of which only the part on and below the diagonal is computed. Measured.
_ONE_TILE = 256
_TILE = 128

# From so many focal sets on, each of which meets no more than so many others on
# average, a sparse product takes less time.
_MANY_SETS = 250
_FEW_MEETINGS = 20


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
    """

    similarities: NDArray[np.float64]
    focal_sets: FocalSets
    weights: NDArray[np.float64] | None = None

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """L and ∂L/∂M = 4 C M (w ∘ residuals)."""
        disjoint = self.focal_sets.disjoint.astype(masses.dtype)
        stored = StoredSimilarities(self.similarities)
        return block_stress(masses, stored, disjoint, self.weights)


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


def block_stress(
    masses: Array,
    similarities: Similarities,
    disjoint: Array,
    weights: Array | None = None,
    store: Array | None = None,
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

    Returns
    -------
    value : float
    gradient : array of shape (n_focal_sets, n_samples)
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

    gradient = np.empty((n_sets, n_samples), dtype=dtype)
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
        total += np.vdot(slopes[:n_columns], residuals[:n_columns])
        np.matmul(against[:, start:], slopes, out=gradient[:, start:stop])
        if start > 0:
            gradient[:, start:stop] += above[:, :n_columns]
            above = above[:, n_columns:]
        if stop < n_samples:
            below = slopes[n_columns:]
            total += 2.0 * np.vdot(below, residuals[n_columns:])
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
    if n_sets >= _MANY_SETS:
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
