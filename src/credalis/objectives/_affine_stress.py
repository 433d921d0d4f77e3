"""The stress of the first EVCLUS, and the entropy that goes with it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.objectives._terms import Array, Objective

# Added to the dissimilarities, relative to their mean, if some of them are 0.
_OFFSET = 0.1

_BLOCK_ROWS = 512


@dataclass(frozen=True, eq=False)
class AffineStress:
    """J = (1 / Σ d_ij) Σ_{i<j} (a κ_ij + b - d_ij)² / d_ij, a and b being fitted, too.

    If some d_ij is 0, a tenth of their mean is added to each d_ij that is divided by.

    Parameters
    ----------
    dissimilarities : array of shape (n_samples, n_samples)
        d_ij, symmetric with a zero diagonal.
    focal_sets : FocalSets
        What the rows of the masses stand for.
    """

    dissimilarities: NDArray[np.float64]
    focal_sets: FocalSets

    @cached_property
    def offset(self) -> float:
        """What is added to the dissimilarities that are divided by."""
        n_samples = len(self.dissimilarities)
        is_zero = np.count_nonzero(self.dissimilarities) < n_samples * (n_samples - 1)
        return _OFFSET * self.mean if is_zero else 0.0

    @cached_property
    def mean(self) -> float:
        """Mean dissimilarity of two different objects."""
        n_samples = len(self.dissimilarities)
        return float(self.dissimilarities.sum()) / (n_samples * (n_samples - 1))

    def value_and_gradient(
        self, masses: Array, coefficients: NDArray[np.float64]
    ) -> tuple[float, Array, NDArray[np.float64]]:
        """J, ∂J/∂M = a C M R and ∂J/∂(a, b), with R_ij = 2 (a κ + b - d) / (d Σ d).

        Parameters
        ----------
        masses : array of shape (n_focal_sets, n_samples)
        coefficients : array of shape (2,)
            a and b.
        """
        a, b = coefficients
        n_samples = masses.shape[1]
        total = self.mean * n_samples * (n_samples - 1) / 2
        against = self.focal_sets.disjoint.astype(float) @ masses
        gradient = np.empty_like(masses)
        value, slope_a, slope_b = 0.0, 0.0, 0.0
        for start in range(0, n_samples, _BLOCK_ROWS):
            rows = slice(start, min(start + _BLOCK_ROWS, n_samples))
            own = np.arange(rows.stop - start)
            conflicts = masses[:, rows].T @ against
            block = self.dissimilarities[rows]
            divisors = block + self.offset
            divisors[own, own + start] = 1.0
            residuals = a * conflicts + b - block
            residuals[own, own + start] = 0.0
            slopes = residuals * (2.0 / total) / divisors
            value += 0.25 * np.vdot(slopes, residuals)
            slope_a += 0.5 * np.vdot(slopes, conflicts)
            slope_b += 0.5 * slopes.sum()
            gradient[:, rows] = a * (against @ slopes.T)
        return float(value), gradient, np.array([slope_a, slope_b])


@dataclass(frozen=True, eq=False)
class Entropy(Objective):
    """Σ_i Σ_A m_i(A) log2(|A| / m_i(A)), with |∅| counted as the frame.

    Parameters
    ----------
    focal_sets : FocalSets
        What the rows of the masses stand for.
    """

    focal_sets: FocalSets

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """The sum, and log2(|A| / m(A)) - 1 / ln 2."""
        sizes = self.focal_sets.cardinality.astype(float)
        sizes[sizes == 0] = self.focal_sets.n_clusters
        # Whose quotients are numbers.
        tiny = sizes.max() * np.finfo(float).tiny
        bits = np.log2(sizes[:, None] / np.maximum(masses, tiny))
        return float(np.vdot(masses, bits)), bits - 1.0 / np.log(2.0)
