"""Stress of objects with weights, all pairs in memory."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.objectives._terms import Array, Objective


@dataclass(frozen=True, eq=False)
class WeightedStress(Objective):
    """L = Σ_ij c_ij (κ_ij - δ*_ij)² / Σ_ij c_ij, where c_ij counts pairs of copies.

    An object of weight w stands for w copies that share its masses, so that
    c_ij = w_i w_j, and c_ii = w_i (w_i - 1), or 0 if that is negative; δ*_ii = 0.

    Parameters
    ----------
    similarities : array of shape (n_samples, n_samples)
        1 - δ*_ij, symmetric; the diagonal is not read.
    focal_sets : FocalSets
        What the rows of the masses stand for.
    object_weights : array of shape (n_samples,)
        w_i.
    """

    similarities: NDArray[np.float64]
    focal_sets: FocalSets
    object_weights: NDArray[np.float64]

    @cached_property
    def _targets(self) -> NDArray[np.float64]:
        targets = 1.0 - self.similarities
        np.fill_diagonal(targets, 0.0)
        return targets

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        """c_ij / Σ c."""
        weights = self.object_weights / self.object_weights.max()
        counts = weights[:, None] * weights
        single = np.minimum(self.object_weights, 1.0) / self.object_weights.max()
        counts[np.diag_indices(len(counts))] -= weights * single
        return counts / counts.sum()

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """L and ∂L/∂M = 4 C M (c ∘ residuals) / Σ c."""
        against = self.focal_sets.disjoint.astype(masses.dtype) @ masses
        residuals = masses.T @ against
        residuals -= self._targets
        slopes = self._shares * residuals
        return float(np.vdot(slopes, residuals)), 4.0 * (against @ slopes)
