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

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from credalis.belief import FocalSets
from credalis.belief._combination import unchecked_mass_apart
from credalis.objectives._terms import PairConstraints
from credalis.optimize import Quadratics

Array = NDArray[np.float64]

# Objects in a block that moves together: as many as make products fast, but so few that
# pairs inside a block matter little next to the others.
MAX_BLOCK = 512
_MIN_BLOCKS = 6

# Numbers in the matrices G of a block.
MAX_ENTRIES = 4_000_000

# Objects whose constraints are stored as a dense matrix.
_MAX_DENSE_LINKS = 1000


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

    def rough_value(self, masses: Array) -> float:
        """L where a descent begins, as accurate as what it then decreases by."""
        return self.value(masses)

    def _apart(self, masses: Array) -> Array:
        """``masses @ C``."""
        return unchecked_mass_apart(masses, self.focal_sets)


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
        return replace(problem, linear=problem.linear - 0.5 * flat(slopes))

    def coupling(self, masses: Array, rows: slice, direction: Array) -> Array:
        """Coefficients of t², t³ and t⁴ from pairs within a block."""
        coefficients = self.stress.coupling(masses, rows, direction)
        if self._links is not None:
            apart = direction @ self.stress.focal_sets.apartness
            linked = _linked(self._links[rows, rows], direction)
            coefficients[..., 0] += 0.5 * inner(linked, apart)
        return coefficients

    def value(self, masses: Array) -> float:
        """The whole cost."""
        return self._with_constraints(self.stress.value(masses), masses)

    def rough_value(self, masses: Array) -> float:
        """The whole cost where a descent begins."""
        return self._with_constraints(self.stress.rough_value(masses), masses)

    def _with_constraints(self, stress: float, masses: Array) -> float:
        if self.constraints is None:
            return stress
        return stress + self.constraint_weight * self.constraints.value(masses.T)


def inner(first: Array, second: Array) -> Array:
    """Sum of the products of the entries, of every start."""
    return np.einsum("...ij,...ij->...", first, second)


def flat(rows: Array) -> Array:
    """The rows of one start after those of the other."""
    return rows.reshape(-1, rows.shape[-1])


def _linked(links: csr_array | Array, masses: Array) -> Array:
    """The product of a matrix with the masses of every start."""
    if masses.ndim == 2 or not issparse(links):
        return links @ masses
    turned = masses.transpose(1, 0, 2)
    product = links @ turned.reshape(len(turned), -1)
    return product.reshape(-1, *turned.shape[1:]).transpose(1, 0, 2)


def cut(start: int, stop: int, size: int) -> list[slice]:
    """Slices of at most this size."""
    return [slice(k, min(k + size, stop)) for k in range(start, stop, size)]


def coupled_blocks(n_objects: int, limit: int, n_partners: int) -> list[slice]:
    """Blocks of objects that have pairs inside, a small part of their partners."""
    largest = min(MAX_BLOCK, limit, n_partners // _MIN_BLOCKS)
    return cut(0, n_objects, max(1, largest))
