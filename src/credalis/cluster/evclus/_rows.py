"""Row-wise descent of EVCLUS: blocks of rows, each solved exactly."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from credalis._control import poll
from credalis._progress import Report
from credalis.belief import FocalSets
from credalis.objectives import RowCost
from credalis.optimize import (
    RowQuadratics,
    Trace,
    iterate,
    minimize_on_simplex,
    minimize_quartic,
    simplex_gap,
)

Array = NDArray[np.float64]
MassesAndCost = tuple[Array, float]

# Rows whose systems of equations are in memory at a time.
_MAX_ENTRIES = 4_000_000

# After how many sweeps the direction of the last one is first followed farther, how
# often then, how many times as far at most, and where the cost is looked at on the way.
_FIRST_LEAP = 10
_SWEEPS_PER_LEAP = 5
_FARTHEST = 20.0
_LENGTHS = np.array([0.25, 0.5, 0.75, 1.0])


def sweep(cost: RowCost, masses: Array) -> tuple[Array, float]:
    """Update every row once; the new masses, and what the cost has decreased by.

    All rows of a block move towards their own minima at once, as far as the whole cost
    decreases most along this direction: the cost never increases.
    """
    masses = masses.copy()
    decrease = 0.0
    for rows in cost.blocks:
        poll()
        own = masses[rows]
        problem = cost.row_problem(masses, rows)
        target = minimize_on_simplex(problem, own)
        direction = target - own
        moved = problem.products(direction)
        slope = 2.0 * (np.vdot(moved, own) - np.vdot(problem.linear, direction))
        coefficients = np.array([slope, np.vdot(moved, direction), 0.0, 0.0])
        coefficients[1:] += cost.coupling(masses, rows, direction)
        length, change = minimize_quartic(coefficients)
        decrease -= change
        # A whole step is taken literally: zeros are to stay zeros.
        masses[rows] = target if length == 1 else own + length * direction
    return masses, decrease


def sweep_in_turn(cost: RowCost, masses: Array) -> Array:
    """Update every row once, each to its own minimum, whatever that does to others."""
    masses = masses.copy()
    for i in range(len(masses)):
        poll()
        row = slice(i, i + 1)
        masses[row] = minimize_on_simplex(cost.row_problem(masses, row), masses[row])
    return masses


def extrapolate(cost: RowCost, masses: Array, previous: Array) -> MassesAndCost:
    """Go on in the direction of the last sweep, as far as the cost decreases most.

    Late sweeps move slowly in almost the same direction. Each row may go as far as its
    masses stay positive. Along this line the cost is a quartic polynomial, which five
    values determine.
    """
    direction = masses - previous
    reach = np.full(masses.shape, _FARTHEST)
    np.divide(masses, -direction, out=reach, where=direction < 0)
    direction *= np.minimum(reach.min(axis=1, keepdims=True), _FARTHEST)
    loss = cost.value(masses)
    changes = [
        cost.value(np.maximum(masses + t * direction, 0.0)) - loss for t in _LENGTHS
    ]
    powers = _LENGTHS[:, None] ** np.arange(1, 5)
    length, _ = minimize_quartic(np.linalg.solve(powers, changes))
    farther = np.maximum(masses + length * direction, 0.0)
    farther /= farther.sum(axis=1, keepdims=True)
    reached = cost.value(farther)
    return (farther, reached) if reached < loss else (masses, loss)


def descend(
    cost: RowCost,
    start: Array,
    *,
    tol: float,
    max_iter: int,
    is_monotone: bool = True,
    report: Report | None = None,
) -> Trace[MassesAndCost]:
    """Sweeps until the cost stands still; the state is the masses and their cost."""
    n_sweeps = 0

    def step(state: MassesAndCost) -> tuple[MassesAndCost, float]:
        nonlocal n_sweeps
        n_sweeps += 1
        previous, loss = state
        if is_monotone:
            masses, decrease = sweep(cost, previous)
            loss = max(loss - decrease, 0.0)
            if n_sweeps >= _FIRST_LEAP and n_sweeps % _SWEEPS_PER_LEAP == 0:
                masses, loss = extrapolate(cost, masses, previous)
        else:
            masses = sweep_in_turn(cost, previous)
            loss = cost.value(masses)
        return (masses, loss), loss

    trace = iterate(
        step,
        (start, cost.value(start)),
        tol=tol,
        max_iter=max_iter,
        report=report,
    )
    # The sum of all decreases has rounding errors of its own.
    masses, _ = trace.state
    loss = cost.value(masses)
    losses = np.append(trace.losses[:-1], loss)
    return replace(trace, state=(masses, loss), losses=losses)


def optimality_gap(cost: RowCost, masses: Array) -> float:
    """The largest violation of the optimality conditions of a row, 0 at a minimum."""
    gaps = [
        simplex_gap(cost.row_problem(masses, rows), masses[rows]).max()
        for rows in cost.blocks
    ]
    return float(max(gaps))


def masses_from_similarities(
    similarities: Array, references: Array, focal_sets: FocalSets
) -> Array:
    """Masses whose conflicts with fixed reference objects fit the dissimilarities best.

    Parameters
    ----------
    similarities : array of shape (n_samples, n_references)
        1 - δ*_ij.
    references : array of shape (n_references, n_focal_sets)
        Masses of the reference objects.
    focal_sets : FocalSets
        What the columns of the masses stand for.

    Returns
    -------
    array of shape (n_samples, n_focal_sets)
        The minima of Σ_j (κ_ij - δ*_ij)² over j.
    """
    disjoint = focal_sets.disjoint.astype(np.float64)
    against = references @ disjoint
    gram = against.T @ against
    linear = against.sum(axis=0) - similarities @ against
    return solve_rows(RowQuadratics(gram, linear))


def solve_rows(problem: RowQuadratics) -> Array:
    """Minima of xᵀ G x - 2 hᵀ x on the simplex, without any idea where they are."""
    n_rows, n_sets = problem.linear.shape
    masses = np.full((n_rows, n_sets), 1.0 / n_sets)
    size = max(1, _MAX_ENTRIES // n_sets**2)
    for start in range(0, n_rows, size):
        rows = np.arange(start, min(start + size, n_rows))
        masses[rows] = minimize_on_simplex(problem.take(rows), masses[rows])
    return masses
