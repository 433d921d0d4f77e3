"""Must-link and cannot-link pairs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from credalis.belief import FocalSets
from credalis.objectives._base import Array, Objective


@dataclass(frozen=True, eq=False)
class PairConstraints(Objective):
    """P = [Σ_ML m_iᵀ Q m_j + Σ_CL (2 - m_iᵀ Q m_j)] / (2 (|ML| + |CL|)).

    m_iᵀ Q m_j is Pl(different) + 1 - Pl(same), in [0, 2]. ∅ is neutral: it is neither
    rewarded nor punished.

    Parameters
    ----------
    must_link, cannot_link : array of int, shape (n_pairs, 2)
        Objects known to be in the same cluster, and in different ones.
    n_samples : int
        Number of objects.
    focal_sets : FocalSets
        What the rows of the masses stand for.
    """

    must_link: NDArray[np.intp]
    cannot_link: NDArray[np.intp]
    n_samples: int
    focal_sets: FocalSets

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """P and ∂P/∂M = Q M (B + Bᵀ) / (2 (|ML| + |CL|)), B the signed pairs."""
        links = self.links()
        against = self.focal_sets.apartness @ masses
        gradient = (links @ against.T).T
        n_pairs = len(self.must_link) + len(self.cannot_link)
        # Σ over pairs is half the sum over both orders, and m_iᵀ Q m_j bilinear.
        value = 0.5 * np.vdot(gradient, masses) + len(self.cannot_link) / n_pairs
        return float(value), gradient

    def links(self) -> csr_array:
        """(B + Bᵀ) / (2 (|ML| + |CL|)): +1 for must-links, -1 for cannot-links."""
        pairs = np.concatenate([self.must_link, self.cannot_link])
        signs = np.ones(len(pairs))
        signs[len(self.must_link) :] = -1.0
        links = csr_array(
            (0.5 / len(pairs) * signs, (pairs[:, 0], pairs[:, 1])),
            shape=(self.n_samples, self.n_samples),
        )
        return links + links.T
