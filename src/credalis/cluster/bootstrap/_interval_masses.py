"""Masses whose beliefs and plausibilities about pairs fit given intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

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

    @cached_property
    def _singles(self) -> NDArray[np.intp]:
        """The sets of one cluster."""
        return np.flatnonzero(self.is_single)

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
        total = self._cost_of_landmarks(masses)
        views = self._views(masses[: self.n_landmarks])
        for rows in self._free_blocks():
            total += sum(
                float(np.vdot(misfit, misfit))
                for misfit in self._misfits(masses[rows], views, rows)
            )
        return self._per_pair(total)

    def sweep(self, masses: Array) -> Array:
        """Change the rows a block at a time; the objective does not increase.

        The rows of a block get their best values with all others fixed. Since landmarks
        change together, the length of their step is the one at which the objective, a
        polynomial of degree four, is smallest.
        """
        return self.sweep_and_loss(masses)[0]

    def sweep_and_loss(self, masses: Array) -> tuple[Array, float]:
        """`sweep`, and `loss` of what it returns, whose forms are at hand."""
        masses = masses.copy()
        self._change_landmarks(masses)
        known = masses[: self.n_landmarks]
        total = self._cost_of_landmarks(masses)
        for rows in self._free_blocks():
            poll()
            targets = self._targets(self.lower[rows], self.upper[rows])
            problem = self._problem(targets, known)
            own = minimize_on_simplex(problem, masses[rows])
            masses[rows] = own
            total += float(np.vdot(problem.products(own) - 2 * problem.linear, own))
            total += sum(float(np.vdot(target, target)) for target in targets)
        return masses, self._per_pair(total)

    def _cost_of_landmarks(self, masses: Array) -> float:
        """The objective over pairs of two landmarks."""
        total, views = 0.0, self._views(masses[: self.n_landmarks])
        for rows in self._landmark_blocks():
            for misfit in self._misfits(masses[rows], views, rows):
                misfit[_own_entries(rows)] = 0.0
                # Each pair occurs twice.
                total += 0.5 * float(np.vdot(misfit, misfit))
        return total

    def _views(self, known: Array) -> tuple[Array, Array]:
        """S m and C m of some objects, without the sets where S m is always 0."""
        return known[:, self._singles], known @ self.disjoint

    def _misfits(
        self, own: Array, views: tuple[Array, Array], rows: slice
    ) -> tuple[Array, Array]:
        """Beliefs about the pairs of some objects and the landmarks, less targets."""
        same, different = views
        first, second = self._targets(self.lower[rows], self.upper[rows])
        return own[:, self._singles] @ same.T - first, own @ different.T - second

    def _per_pair(self, total: float) -> float:
        return max(total / self.n_pairs, SMALLEST_LOSS)

    def problem_of(
        self, lower: NDArray[np.floating], upper: NDArray[np.floating], known: Array
    ) -> RowQuadratics:
        """The problem of objects that are compared with others whose masses are fixed.

        From bounds (n_rows, n_known) and masses (n_known, n_sets).
        """
        return self._problem(self._targets(lower, upper), known)

    def _problem(self, targets: Sequence[Array], known: Array) -> RowQuadratics:
        linear = self._linear(targets, self._views(known))
        return RowQuadratics(self.form(known.T @ known), linear)

    def _linear(self, targets: Sequence[Array], views: tuple[Array, Array]) -> Array:
        """Σ_j of the targets of a pair times S m_j and C m_j, (n_rows, n_sets)."""
        same, different = views
        linear = targets[1] @ different
        linear[:, self._singles] += targets[0] @ same
        return linear

    def _change_landmarks(self, masses: Array) -> None:
        same, different = self._views(masses)
        moments = masses.T @ masses
        for rows in self._landmark_blocks():
            poll()
            block = masses[rows]
            # A landmark is compared with all objects.
            targets = self._targets(self.lower[:, rows].T, self.upper[:, rows].T)
            for target in targets:
                target[_own_entries(rows)] = 0.0
            linear = self._linear(targets, (same, different))
            own = np.stack([block * self.is_single, different[rows]], axis=2)
            forms = own @ own.transpose(0, 2, 1)
            np.subtract(self.form(moments), forms, out=forms)
            step = minimize_on_simplex(RowQuadratics(forms, linear), block) - block
            size, _ = minimize_quartic(
                _change_of_rows(forms, linear, block, step)
                + self._change_inside(block, step, [each[:, rows] for each in targets])
            )
            changed = block + size * step
            moments += changed.T @ changed - block.T @ block
            masses[rows] = changed
            same[rows], different[rows] = self._views(changed)

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
    turned = (forms @ step[:, :, None])[:, :, 0]
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
