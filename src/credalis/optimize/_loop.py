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
            state, loss = step(state)
            losses.append(float(loss))
            if not np.isfinite(loss):
                raise ValueError(
                    f"the loss must stay finite, it is {loss} after iteration "
                    f"{iteration}: scale the input data"
                )
            if report is not None:
                report(iteration, loss)
            if iteration > 1 and abs(losses[-2] - loss) <= tol * abs(loss):
                converged = True
                break
    except KeyboardInterrupt:
        if not losses:
            raise
        interrupted = True
    return Trace(state, np.array(losses), converged, interrupted)
