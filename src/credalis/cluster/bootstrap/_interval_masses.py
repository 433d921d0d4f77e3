"""Masses whose beliefs and plausibilities about pairs fit given intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credalis._control import poll
from credalis.belief import FocalSets
from credalis.optimize import RowQuadratics, minimize_on_simplex, minimize_quartic

Array = NDArray[np.float64]

# Rows changed together: so few that what they are to each other hardly matters.
_MAX_BLOCK = 64
_BLOCK_SHARE = 10
# Entries of the quadratic forms of one block.
_FORM_ENTRIES = 2**20

# Squares of differences of probabilities below this are rounding: intervals are known
# to single precision.
SMALLEST_LOSS = 1e-14


@dataclass(frozen=True, eq=False)
class IntervalFit:
    """Fit masses to intervals of the probability that two objects are together.

    Minimises Σ_{i<j} (m_iᵀ S m_j - P^l_ij)² + (m_iᵀ C m_j - (1 - P^u_ij))² over masses
    without ∅, where m_iᵀ S m_j is the belief that i and j are in the same cluster and
    m_iᵀ C m_j the belief that they are not.

    Attributes
    ----------
    lower, upper : array of shape (n_samples, n_samples)
        P^l and P^u. The diagonals are not read.
    is_single : array of shape (n_sets,)
        Diagonal of S, without ∅.
    disjoint : array of shape (n_sets, n_sets)
        C, without ∅.
    """

    lower: NDArray[np.floating]
    upper: NDArray[np.floating]
    is_single: Array
    disjoint: Array

    @classmethod
    def of(
        cls,
        lower: NDArray[np.floating],
        upper: NDArray[np.floating],
        focal_sets: FocalSets,
    ) -> "IntervalFit":
        """From bounds (n_samples, n_samples) and focal sets, of which ∅ is left out."""
        kept = focal_sets.cardinality > 0
        return cls(
            lower,
            upper,
            focal_sets.same_singleton.diagonal()[kept].astype(float),
            focal_sets.disjoint[np.ix_(kept, kept)].astype(float),
        )

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return len(self.lower)

    def loss(self, masses: Array) -> float:
        """The objective over the number of pairs, for masses (n_samples, n_sets)."""
        views = masses * self.is_single, masses @ self.disjoint
        total = 0.0
        for rows in self._blocks():
            for view, target in zip(views, self._targets(rows), strict=True):
                misfit = masses[rows] @ view.T - target
                misfit[_own_entries(rows)] = 0.0
                total += float(np.vdot(misfit, misfit))
        n_pairs = self.n_samples * (self.n_samples - 1)
        return max(total / n_pairs, SMALLEST_LOSS)

    def sweep(self, masses: Array) -> Array:
        """Change the rows a block at a time; the objective does not increase.

        The rows of a block get their best values with all others fixed. Since they
        change together, the length of the step is the one at which the objective, a
        polynomial of degree four, is smallest.
        """
        masses = masses.copy()
        same, different = masses * self.is_single, masses @ self.disjoint
        moments = masses.T @ masses
        for rows in self._blocks():
            poll()
            block = masses[rows]
            targets = self._targets(rows)
            linear = targets[0] @ same + targets[1] @ different
            forms = self.form(moments) - (
                same[rows, :, None] * same[rows, None, :]
                + different[rows, :, None] * different[rows, None, :]
            )
            step = minimize_on_simplex(RowQuadratics(forms, linear), block) - block
            size, _ = minimize_quartic(
                _change_of_rows(forms, linear, block, step)
                + self._change_inside(block, step, [each[:, rows] for each in targets])
            )
            changed = block + size * step
            moments += changed.T @ changed - block.T @ block
            masses[rows] = changed
            same[rows] = changed * self.is_single
            different[rows] = changed @ self.disjoint
        return masses

    def form(self, moments: Array) -> Array:
        """S T S + C T C for T = Σ_j m_j m_jᵀ."""
        return (
            np.outer(self.is_single, self.is_single) * moments
            + self.disjoint @ moments @ self.disjoint
        )

    def _blocks(self) -> list[slice]:
        size = min(_MAX_BLOCK, self.n_samples // _BLOCK_SHARE)
        size = max(1, min(size, _FORM_ENTRIES // len(self.is_single) ** 2))
        starts = range(0, self.n_samples, size)
        return [slice(start, min(start + size, self.n_samples)) for start in starts]

    def _targets(self, rows: slice) -> tuple[Array, Array]:
        """P^l and 1 - P^u of some rows, 0 for an object with itself."""
        lower = self.lower[rows].astype(np.float64)
        apart = 1.0 - self.upper[rows].astype(np.float64)
        lower[_own_entries(rows)] = apart[_own_entries(rows)] = 0.0
        return lower, apart

    def _change_inside(
        self, block: Array, step: Array, targets: Sequence[Array]
    ) -> Array:
        """What `_change_of_rows` leaves out about pairs inside the block.

        Coefficients of t, ..., t⁴. With misfit r of a pair, a_ij = Δ_iᵀ S m_j and
        q = Δ_iᵀ S Δ_j, the pair contributes (r + (a_ij + a_ji) t + q t²)², of which
        the changes of its two rows are r² + 2 r (a_ij + a_ji) t + (a_ij² + a_ji²) t².
        """
        powers = np.zeros(4)
        views = (
            (block * self.is_single, step * self.is_single),
            (block @ self.disjoint, step @ self.disjoint),
        )
        for (view, moved), target in zip(views, targets, strict=True):
            r = block @ view.T - target
            a, q = step @ view.T, step @ moved.T
            np.fill_diagonal(a, 0.0)
            np.fill_diagonal(q, 0.0)
            # Each pair occurs twice.
            powers[1] += np.vdot(a, a.T) + np.vdot(r, q)
            powers[2] += np.vdot(a + a.T, q)
            powers[3] += 0.5 * np.vdot(q, q)
        return powers


def _own_entries(rows: slice) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where a block of rows of a square matrix meets the diagonal."""
    inside = np.arange(rows.start, rows.stop)
    return inside - rows.start, inside


def _change_of_rows(forms: Array, linear: Array, block: Array, step: Array) -> Array:
    """Σ_i of xᵀ Q_i x - 2 d_iᵀ x at m_i + t Δ_i minus that at m_i.

    Coefficients of t, ..., t⁴.
    """
    turned = np.einsum("ijk,ik->ij", forms, step)
    slope = np.vdot(turned, block) - np.vdot(linear, step)
    return np.array([2 * slope, np.vdot(turned, step), 0.0, 0.0])


def masses_of_new(
    lower: NDArray[np.floating],
    upper: NDArray[np.floating],
    masses: Array,
    focal_sets: FocalSets,
) -> Array:
    """Best masses of new objects, given those of others, which stay as they are.

    Parameters
    ----------
    lower, upper : array of shape (n_new, n_samples)
        Bounds of the probability that a new object is with one of the others.
    masses : array of shape (n_samples, n_focal_sets)
        Masses of the others.
    focal_sets : FocalSets
        What the columns stand for.

    Returns
    -------
    array of shape (n_new, n_focal_sets)
    """
    kept = focal_sets.cardinality > 0
    known = masses[:, kept]
    fit = IntervalFit.of(lower, upper, focal_sets)
    linear = lower.astype(np.float64) @ (known * fit.is_single)
    linear += (1.0 - upper.astype(np.float64)) @ (known @ fit.disjoint)
    form = fit.form(known.T @ known)
    start = np.zeros_like(linear)
    start[np.arange(len(start)), (0.5 * form.diagonal() - linear).argmin(axis=1)] = 1.0
    found = np.zeros((len(lower), len(focal_sets)))
    found[:, kept] = minimize_on_simplex(RowQuadratics(form, linear), start)
    return found
