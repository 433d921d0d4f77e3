"""Stress: the conflict of two objects should match their dissimilarity.

Everything is written in terms of similarities 1 - δ*, which are exponentials and need
no subtraction: the residual κ - δ* is κ + similarity - 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from credalis.belief import FocalSets
from credalis.dissimilarity import StoredSimilarities, transform
from credalis.objectives._base import Array, Objective
from credalis.objectives._block_stress import block_stress


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
