"""Masses whose beliefs and plausibilities about pairs fit given intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets

Array = NDArray[np.float64]

# Rows changed together: so few that what they are to each other hardly matters.
_MAX_BLOCK = 64
_BLOCK_SHARE = 10
# Entries of the quadratic forms of one block.
_FORM_ENTRIES = 2**20

# A step of a block is halved so many times before it is given up.
_MAX_HALVINGS = 8

# Squares of differences of probabilities below this are rounding: intervals are known
# to single precision.
SMALLEST_LOSS = 1e-14

# Masses that start in the support of a row problem.
_SUPPORT = 0.01
# Relative size of what keeps singular forms solvable, and of a gradient that counts.
_RIDGE = 1e-10
_OPTIMALITY = 1e-9


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
        change together, the step is shortened if the objective would increase.
        """
        masses = masses.copy()
        same, different = masses * self.is_single, masses @ self.disjoint
        moments = masses.T @ masses
        for rows in self._blocks():
            block = masses[rows]
            targets = self._targets(rows)
            linear = targets[0] @ same + targets[1] @ different
            forms = self.form(moments) - (
                same[rows, :, None] * same[rows, None, :]
                + different[rows, :, None] * different[rows, None, :]
            )
            step = minimize_on_simplex(forms, linear, block) - block
            size = _step_size(
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

        Coefficients of 1, t, ..., t⁴. With misfit r of a pair, a_ij = Δ_iᵀ S m_j and
        q = Δ_iᵀ S Δ_j, the pair contributes (r + (a_ij + a_ji) t + q t²)², of which
        the changes of its two rows are r² + 2 r (a_ij + a_ji) t + (a_ij² + a_ji²) t².
        """
        powers = np.zeros(5)
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
            powers[2] += np.vdot(a, a.T) + np.vdot(r, q)
            powers[3] += np.vdot(a + a.T, q)
            powers[4] += 0.5 * np.vdot(q, q)
        return powers


def _own_entries(rows: slice) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where a block of rows of a square matrix meets the diagonal."""
    inside = np.arange(rows.start, rows.stop)
    return inside - rows.start, inside


def _change_of_rows(forms: Array, linear: Array, block: Array, step: Array) -> Array:
    """Σ_i of xᵀ Q_i x - 2 d_iᵀ x at m_i + t Δ_i minus that at m_i.

    Coefficients of 1, t, ..., t⁴.
    """
    turned = np.einsum("ijk,ik->ij", forms, step)
    slope = np.vdot(turned, block) - np.vdot(linear, step)
    return np.array([0.0, 2 * slope, np.vdot(turned, step), 0.0, 0.0])


def _step_size(change: Array) -> float:
    """1, or a power of ½ for which a polynomial in t is negative, or 0."""
    for halvings in range(_MAX_HALVINGS):
        size = 0.5**halvings
        if np.polynomial.polynomial.polyval(size, change) < 0:
            return size
    return 0.0


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
    found = np.zeros((len(lower), len(focal_sets)))
    size = max(1, _FORM_ENTRIES // form.size)
    for start in range(0, len(lower), size):
        rows = slice(start, start + size)
        part = linear[rows]
        forms = np.broadcast_to(form, (len(part), *form.shape))
        found[rows, kept] = minimize_on_simplex(forms, part, np.zeros_like(part))
    return found


def minimize_on_simplex(forms: Array, linear: Array, start: Array) -> Array:
    """Minimise ½ xᵀ Q_i x - d_iᵀ x over x >= 0 with sum 1, for all i at once.

    An active-set method: the free variables of each problem are solved for, a variable
    that would become negative is fixed at 0, and when none would, the one with the
    steepest descent is freed. A small multiple of the identity makes singular forms
    regular.

    Parameters
    ----------
    forms : array of shape (n_problems, n_variables, n_variables)
        Q_i, positive semidefinite.
    linear : array of shape (n_problems, n_variables)
        d_i.
    start : array of shape (n_problems, n_variables)
        Guesses; where they are large, variables are free at first.

    Returns
    -------
    array of shape (n_problems, n_variables)
    """
    n_problems, n_variables = linear.shape
    scale = np.einsum("ijj->i", forms) / n_variables + np.abs(linear).max(axis=1)
    scale[scale == 0] = 1.0
    x, free = _supported_start(forms, linear, start)
    pending = np.arange(n_problems)
    for _ in range(5 * n_variables + 20):
        target, level = _equality_solution(
            forms[pending], linear[pending], free[pending], _RIDGE * scale[pending]
        )
        here = x[pending]
        # How far towards the target all variables stay positive.
        falling = target < 0
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(falling, here / (here - target), np.inf)
        blocking = reach.argmin(axis=1)
        length = np.minimum(reach.min(axis=1), 1.0)
        here += length[:, None] * (target - here)
        np.maximum(here, 0.0, out=here)
        is_blocked = length < 1.0
        fixed = pending[is_blocked]
        free[fixed, blocking[is_blocked]] = False
        here[is_blocked, blocking[is_blocked]] = 0.0
        x[pending] = here
        # Where the target is reached: is there a variable worth freeing?
        slopes = np.einsum("ijk,ik->ij", forms[pending], here) - linear[pending]
        slopes += (_RIDGE * scale[pending])[:, None] * here - level[:, None]
        slopes[free[pending]] = 0.0
        steepest = slopes.argmin(axis=1)
        is_open = slopes.min(axis=1) < -_OPTIMALITY * scale[pending]
        freed = ~is_blocked & is_open
        free[pending[freed], steepest[freed]] = True
        pending = pending[is_blocked | is_open]
        if len(pending) == 0:
            break
    return x / x.sum(axis=1, keepdims=True)


def _supported_start(
    forms: Array, linear: Array, start: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Guesses without their small entries, or the best vertex; and what is free."""
    free = start > _SUPPORT
    vertex = (0.5 * np.einsum("ijj->ij", forms) - linear).argmin(axis=1)
    empty = np.flatnonzero(~free.any(axis=1))
    free[empty, vertex[empty]] = True
    x = np.where(free, np.maximum(start, _SUPPORT), 0.0)
    return x / x.sum(axis=1, keepdims=True), free


def _equality_solution(
    forms: Array, linear: Array, free: NDArray[np.bool_], ridge: Array
) -> tuple[Array, Array]:
    """Minimisers with sum 1 over the free variables alone, and their common slope.

    The few free variables of each problem are gathered, so that small systems are
    solved.
    """
    n_problems = len(linear)
    n_free = int(free.sum(axis=1).max())
    columns = np.argsort(~free, axis=1, kind="stable")[:, :n_free]
    rows = np.arange(n_problems)[:, None]
    used = free[rows, columns].astype(float)
    system = np.zeros((n_problems, n_free + 1, n_free + 1))
    gathered = forms[rows[:, :, None], columns[:, :, None], columns[:, None, :]]
    system[:, :-1, :-1] = gathered * used[:, :, None] * used[:, None, :]
    diagonal = np.arange(n_free)
    system[:, diagonal, diagonal] += ridge[:, None] + (1.0 - used)
    system[:, :-1, -1] = system[:, -1, :-1] = used
    sides = np.ones((n_problems, n_free + 1, 1))
    sides[:, :-1, 0] = linear[rows, columns] * used
    solved = np.linalg.solve(system, sides)[:, :, 0].astype(np.float64, copy=False)
    target = np.zeros_like(linear)
    target[rows, columns] = solved[:, :-1] * used
    return target, -solved[:, -1]
