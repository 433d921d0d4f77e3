"""The one convergence loop."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

State = TypeVar("State")


@dataclass(frozen=True, eq=False)
class Trace(Generic[State]):
    """How a loop went.

    Attributes
    ----------
    state : object
        Where it ended.
    losses : array of shape (n_iter,)
        The loss after each iteration.
    converged : bool
        Whether it ended before the largest number of iterations.
    interrupted : bool
        Whether a KeyboardInterrupt ended it, which the caller may want to raise again.
    """

    state: State
    losses: NDArray[np.float64]
    converged: bool
    interrupted: bool = False

    @property
    def loss(self) -> float:
        """The loss at the end."""
        return float(self.losses[-1])

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.losses)


def iterate(
    step: Callable[[State], tuple[State, float]],
    state: State,
    *,
    tol: float,
    max_iter: int,
    report: Callable[[int, float], None] | None = None,
    has_settled: Callable[[State, State], bool] | None = None,
) -> Trace[State]:
    """Repeat ``state, loss = step(state)`` until the loss stands still.

    It stands still when an iteration changes it by no more than ``tol`` times its
    size. A KeyboardInterrupt after the first iteration ends the loop at the last whole
    one; a step must therefore not change the state it is given.

    Parameters
    ----------
    step : callable
        Takes a state, returns the next one and the loss there.
    state : object
        Where to start.
    tol : float
        Relative change of the loss below which the loop ends.
    max_iter : int
        Largest number of iterations.
    report : callable, default=None
        Called with the number of the iteration and the loss.
    has_settled : callable, default=None
        Takes the states before and after an iteration, from the second one on, and
        says whether the loop ends; it takes the place of the test of the loss.

    Returns
    -------
    Trace

    Raises
    ------
    ValueError
        If the loss is not finite.

    Examples
    --------
    >>> from credalis.optimize import iterate
    >>> def halve(x):
    ...     return x / 2, 1 + (x / 2) ** 2
    >>> trace = iterate(halve, 1.0, tol=1e-3, max_iter=100)
    >>> trace.converged, trace.n_iter
    (True, 6)
    """
    losses: list[float] = []
    converged = interrupted = False
    try:
        for iteration in range(1, max_iter + 1):
            previous = state
            state, loss = step(state)
            losses.append(float(loss))
            if not np.isfinite(loss):
                raise ValueError(
                    f"the loss must stay finite, it is {loss} after iteration "
                    f"{iteration}: scale the input data"
                )
            if report is not None:
                report(iteration, loss)
            if iteration == 1:
                continue
            if has_settled is None:
                converged = abs(losses[-2] - loss) <= tol * abs(loss)
            else:
                converged = has_settled(previous, state)
            if converged:
                break
    except KeyboardInterrupt:
        if not losses:
            raise
        interrupted = True
    return Trace(state, np.array(losses), converged, interrupted)


@dataclass(frozen=True, eq=False)
class _Best(Generic[State]):
    """Where a loop is, and the best place it has been at."""

    state: State
    loss: float
    best: State
    best_loss: float
    n_since: int


def iterate_to_best(
    step: Callable[[State], tuple[State, float]],
    state: State,
    *,
    tol: float,
    max_iter: int,
    patience: int,
    report: Callable[[int, float], None] | None = None,
) -> Trace[State]:
    """`iterate` for steps that usually, but not always, lower the loss.

    It ends when an iteration changes the loss by no more than ``tol`` times its size,
    or when ``patience`` iterations have not lowered it. The trace ends at the best
    state, and its losses are the lowest so far.

    Examples
    --------
    >>> from credalis.optimize import iterate_to_best
    >>> def walk(x):
    ...     return x + 1, (x - 2) ** 2
    >>> trace = iterate_to_best(walk, 0, tol=0, max_iter=50, patience=3)
    >>> trace.state, trace.losses
    (3, array([4., 1., 0., 0., 0., 0.]))
    """

    def tracked(run: _Best[State]) -> tuple[_Best[State], float]:
        state, loss = step(run.state)
        # A loss that is not finite passes, for `iterate` to refuse it.
        if loss < run.best_loss or not np.isfinite(loss):
            return _Best(state, loss, state, loss, 0), loss
        return _Best(state, loss, run.best, run.best_loss, run.n_since + 1), (
            run.best_loss
        )

    def has_settled(before: _Best[State], after: _Best[State]) -> bool:
        stands_still = abs(before.loss - after.loss) <= tol * abs(after.loss)
        return stands_still or after.n_since >= patience

    trace = iterate(
        tracked,
        _Best(state, np.inf, state, np.inf, 0),
        tol=tol,
        max_iter=max_iter,
        report=report,
        has_settled=has_settled,
    )
    return Trace(trace.state.best, trace.losses, trace.converged, trace.interrupted)
