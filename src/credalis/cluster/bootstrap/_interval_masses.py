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
# Rows changed together that are nothing to each other.
_MAX_FREE_BLOCK = 2048

# Squares of differences of probabilities below this are rounding: intervals are known
# to single precision.
SMALLEST_LOSS = 1e-14


@dataclass(frozen=True, eq=False)
class IntervalFit:
    """Fit masses to intervals of the probability that two objects are together.

    Minimises Σ (m_iᵀ S m_j - P^l_ij)² + (m_iᵀ C m_j - (1 - P^u_ij))² over masses
    without ∅, where m_iᵀ S m_j is the belief that i and j are in the same cluster and
    m_iᵀ C m_j the belief that they are not. The sum is over all pairs of two objects of
    which one is a landmark. The first objects are the landmarks; if all are, these are
    all pairs.

    Attributes
    ----------
    lower, upper : array of shape (n_samples, n_landmarks)
        P^l and P^u, symmetric where both objects are landmarks. The diagonals are not
        read.
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
        """From bounds (n_samples, n_landmarks) and focal sets, without ∅."""
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

    @property
    def n_landmarks(self) -> int:
        """Number of objects that are compared with all others."""
        return self.lower.shape[1]

    @property
    def n_pairs(self) -> float:
        """Number of pairs with a landmark."""
        n_others = self.n_samples - self.n_landmarks
        return self.n_landmarks * (0.5 * (self.n_landmarks - 1) + n_others)

    def loss(self, masses: Array) -> float:
        """The objective over the number of pairs, for masses (n_samples, n_sets)."""
        known = masses[: self.n_landmarks]
        views = known * self.is_single, known @ self.disjoint
        total = 0.0
        for rows in self._landmark_blocks() + self._free_blocks():
            is_landmark = rows.start < self.n_landmarks
            targets = self._targets(self.lower[rows], self.upper[rows])
            for view, target in zip(views, targets, strict=True):
                misfit = masses[rows] @ view.T - target
                if is_landmark:
                    misfit[_own_entries(rows)] = 0.0
                # Pairs of two landmarks occur twice.
                weight = 0.5 if is_landmark else 1.0
                total += weight * float(np.vdot(misfit, misfit))
        return max(total / self.n_pairs, SMALLEST_LOSS)

    def sweep(self, masses: Array) -> Array:
        """Change the rows a block at a time; the objective does not increase.

        The rows of a block get their best values with all others fixed. Since landmarks
        change together, the length of their step is the one at which the objective, a
        polynomial of degree four, is smallest.
        """
        masses = masses.copy()
        self._change_landmarks(masses)
        known = masses[: self.n_landmarks]
        for rows in self._free_blocks():
            poll()
            problem = self.problem_of(self.lower[rows], self.upper[rows], known)
            masses[rows] = minimize_on_simplex(problem, masses[rows])
        return masses

    def problem_of(
        self, lower: NDArray[np.floating], upper: NDArray[np.floating], known: Array
    ) -> RowQuadratics:
        """The problem of objects that are compared with others whose masses are fixed.

        From bounds (n_rows, n_known) and masses (n_known, n_sets).
        """
        targets = self._targets(lower, upper)
        linear = targets[0] @ (known * self.is_single)
        linear += targets[1] @ (known @ self.disjoint)
        return RowQuadratics(self.form(known.T @ known), linear)

    def _change_landmarks(self, masses: Array) -> None:
        same, different = masses * self.is_single, masses @ self.disjoint
        moments = masses.T @ masses
        for rows in self._landmark_blocks():
            poll()
            block = masses[rows]
            # A landmark is compared with all objects.
            targets = self._targets(self.lower[:, rows].T, self.upper[:, rows].T)
            for target in targets:
                target[_own_entries(rows)] = 0.0
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

    def form(self, moments: Array) -> Array:
        """S T S + C T C for T = Σ_j m_j m_jᵀ."""
        return (
            np.outer(self.is_single, self.is_single) * moments
            + self.disjoint @ moments @ self.disjoint
        )

    def _landmark_blocks(self) -> list[slice]:
        size = min(_MAX_BLOCK, self.n_samples // _BLOCK_SHARE)
        size = max(1, min(size, _FORM_ENTRIES // len(self.is_single) ** 2))
        return _cut(0, self.n_landmarks, size)

    def _free_blocks(self) -> list[slice]:
        return _cut(self.n_landmarks, self.n_samples, _MAX_FREE_BLOCK)

    def _targets(
        self, lower: NDArray[np.floating], upper: NDArray[np.floating]
    ) -> tuple[Array, Array]:
        """P^l and 1 - P^u in double precision."""
        return lower.astype(np.float64), 1.0 - upper.astype(np.float64)

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


def _cut(start: int, stop: int, size: int) -> list[slice]:
    """Slices of at most this size."""
    return [slice(k, min(k + size, stop)) for k in range(start, stop, size)]


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
    problem = IntervalFit.of(lower, upper, focal_sets).problem_of(lower, upper, known)
    found = np.zeros((len(lower), len(focal_sets)))
    found[:, kept] = minimize_on_simplex(problem, problem.corners())
    return found
