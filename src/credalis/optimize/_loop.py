"""Loops that lower a loss: steps of any kind, or along the gradient of all data."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import fmin_l_bfgs_b

from credalis._control import poll, stoppable

State = TypeVar("State")
Floats = NDArray[Any]
Vector = NDArray[np.float64]
ValueAndGradient = Callable[[Vector], tuple[float, Vector]]
Report = Callable[[int, float], None] | None

# Changes are compared with no smaller value than this: next to 0 none is small.
_SMALLEST_VALUE = 1e-10
# L-BFGS may take a short step by accident, so its decreases are averaged.
_N_AVERAGED = 5


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
        Whether Ctrl-C or a cancel ended it, which the caller may want to pass on.
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
    size. Ctrl-C, or a cancel, after the first iteration ends the loop at the last whole
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
    converged = False
    with stoppable(lambda: bool(losses)) as ending:
        for iteration in range(1, max_iter + 1):
            poll()
            previous = state
            # The loss tells of numbers that are none.
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                state, loss = step(state)
            losses.append(float(loss))
            _check_finite(loss, iteration)
            if report is not None:
                report(iteration, loss)
            if iteration == 1:
                continue
            if has_settled is None:
                converged = _stands_still(losses, tol)
            else:
                converged = has_settled(previous, state)
            if converged:
                break
    return Trace(state, np.array(losses), converged, ending.is_early)


def iterate_together(
    step: Callable[[list[State]], list[tuple[State, float]]],
    states: Sequence[State],
    *,
    tol: float,
    max_iter: int,
    reports: Sequence[Callable[[int, float], None]] | None = None,
    has_lost: Callable[[list[float], float], bool] | None = None,
) -> list[Trace[State]]:
    """`iterate` for several runs, of which each step does one iteration.

    A run ends when its own loss stands still; the step is then given the others.
    Ctrl-C, or a cancel, ends all that are left at the last whole iteration.

    Parameters
    ----------
    step : callable
        Takes the states of some runs, returns their next ones and the losses there.
    states : sequence
        Where to start, one for each run.
    tol, max_iter
        As in `iterate`.
    reports : sequence of callables, default=None
        One for each run.
    has_lost : callable, default=None
        Takes the losses of a run so far and the lowest last loss of all runs, says
        whether the run is given up, as one of the others will end lower.

    Returns
    -------
    list of Trace
        One for each run; those that were given up have not converged.

    Examples
    --------
    >>> from credalis.optimize import iterate_together
    >>> def halve(xs):
    ...     return [(x / 2, 1 + (x / 2) ** 2) for x in xs]
    >>> traces = iterate_together(halve, [1.0, 100.0], tol=1e-3, max_iter=100)
    >>> [trace.n_iter for trace in traces]
    [6, 13]
    """
    current = list(states)
    losses: list[list[float]] = [[] for _ in current]
    left = list(range(len(current)))
    given_up: set[int] = set()
    with stoppable(lambda: all(losses)) as ending:
        for iteration in range(1, max_iter + 1):
            poll()
            done = step([current[run] for run in left])
            for run, (state, loss) in zip(left, done, strict=True):
                _check_finite(loss, iteration)
                current[run] = state
                losses[run].append(float(loss))
            if reports is not None:
                for run in left:
                    reports[run](iteration, losses[run][-1])
            left = [run for run in left if not _stands_still(losses[run], tol)]
            if has_lost is not None:
                best = min(values[-1] for values in losses)
                given_up |= {run for run in left if has_lost(losses[run], best)}
                left = [run for run in left if run not in given_up]
            if not left:
                break
    return [
        Trace(
            state,
            np.array(values),
            converged=run not in left and run not in given_up,
            interrupted=ending.is_early and run in left,
        )
        for run, (state, values) in enumerate(zip(current, losses, strict=True))
    ]


def _check_finite(loss: float, iteration: int) -> None:
    if not np.isfinite(loss):
        raise ValueError(
            f"the loss must stay finite, it is {loss} after iteration {iteration}: "
            "scale the input data X"
        )


def _stands_still(losses: list[float], tol: float) -> bool:
    """Whether the last of these losses is the one before, but for a small share."""
    if len(losses) == 1:
        return False
    return abs(losses[-2] - losses[-1]) <= tol * abs(losses[-1])


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


@dataclass(frozen=True, eq=False)
class GradientTrace(Trace[Vector]):
    """How a descent went: its best point, and the values from the start to there.

    Attributes
    ----------
    n_evaluations : int
        Number of evaluations of the function, those of rejected points included.
    """

    n_evaluations: int = 0


class _Point(NamedTuple):
    parameters: Vector
    value: float
    gradient: Vector


class _Search:
    """A function, the best point so far, and the values on the way there."""

    def __init__(
        self, function: ValueAndGradient, start: ArrayLike, tol: float, report: Report
    ) -> None:
        self.function, self.tol, self.report = function, tol, report
        self.n_evaluations = 0
        point = self.evaluate(np.array(start, dtype=np.float64))
        if point is None:
            raise ValueError(
                "start needs a finite value and gradient: scale the input data X"
            )
        self.best = self.iterate = self.last = point
        self.losses = [point.value]

    def evaluate(self, parameters: Vector) -> _Point | None:
        """The point with its value and gradient, None where they are not finite."""
        if not np.isfinite(parameters).all():
            return None
        poll()
        self.n_evaluations += 1
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            number, array = self.function(parameters)
        # A copy: the function may return the same array every time.
        value, gradient = float(number), np.array(array, dtype=np.float64)
        if gradient.shape != parameters.shape:
            expected = f"the gradient must have shape {parameters.shape}, as start has"
            raise ValueError(f"{expected}, got {gradient.shape}")
        is_finite = math.isfinite(value) and np.isfinite(gradient).all()
        return _Point(parameters, value, gradient) if is_finite else None

    def stands_still(self, change: float) -> bool:
        return change < self.tol * max(abs(self.losses[-1]), _SMALLEST_VALUE)

    def run(self, solve: Callable[[], bool]) -> GradientTrace:
        converged = False
        with stoppable(lambda: True) as ending:
            converged = solve()
        x, losses = self.best.parameters, self.losses
        if self.best.value < losses[-1]:  # found, but not yet or never an iterate
            losses = [*losses, self.best.value]
        end = (converged, ending.is_early, self.n_evaluations)
        return GradientTrace(x, np.array(losses), *end)


def minimize_adaptive(
    value_and_gradient: ValueAndGradient,
    start: ArrayLike,
    *,
    tol: float = 1e-4,
    max_iter: int = 1000,
    report: Report = None,
) -> GradientTrace:
    """Minimise f(x) by gradient descent with an adaptive step size per coordinate.

    From x with gradient g the trial is ``x - s * g``, where all s are 0.1 at first. If
    f is larger there, or f or its gradient not finite, the trial is rejected and s
    halved. Else it is accepted, and s multiplied by 1.2 where the gradient kept its
    sign and by 0.8 elsewhere, within [1e-6, 1e4].

    Parameters
    ----------
    value_and_gradient : callable
        Takes x, returns f(x) and the gradient, an array like x.
    start : array-like of shape (n_parameters,)
        The first x; f and its gradient must be finite there.
    tol : float, default=1e-4
        The end is a gain below ``tol * max(|f|, 1e-10)``, or a zero gradient. The gain
        is ``max(1, 100 * tol * |f|)`` at the start; at each accepted trial it becomes
        ``0.9 * gain + 0.1 * decrease``.
    max_iter : int, default=1000
        Largest number of trials.
    report : callable, default=None
        Called after each trial with its number and the last accepted value.

    Returns
    -------
    GradientTrace
        The last accepted point, and the values at the start and at accepted points. An
        interrupt after the first evaluation is noted there and not raised.

    Examples
    --------
    >>> from credalis.optimize import minimize_adaptive
    >>> minimize_adaptive(lambda x: (x @ x, 2 * x), [1.0], max_iter=2).losses.round(4)
    array([1.    , 0.64  , 0.3697])
    """
    search = _Search(value_and_gradient, start, tol, report)
    return search.run(lambda: _descend(search, max_iter))


def _descend(search: _Search, max_iter: int) -> bool:
    steps = np.full(search.best.parameters.shape, 0.1)
    gain = max(1.0, 100 * search.tol * abs(search.best.value))
    for iteration in range(1, max_iter + 1):
        here = search.best
        trial = search.evaluate(here.parameters - steps * here.gradient)
        if trial is None or trial.value > here.value:
            steps *= 0.5
        else:
            gain = 0.9 * gain + 0.1 * (here.value - trial.value)
            agree = np.sign(here.gradient) * trial.gradient >= 0
            steps = np.clip(steps * np.where(agree, 1.2, 0.8), 1e-6, 1e4)
            search.best = trial
            search.losses.append(trial.value)
        if search.report is not None:
            search.report(iteration, search.best.value)
        if search.stands_still(gain) or not search.best.gradient.any():
            return True
    return False


def minimize_lbfgs(
    value_and_gradient: ValueAndGradient,
    start: ArrayLike,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    memory: int = 20,
    report: Report = None,
) -> GradientTrace:
    """Minimise f(x) by L-BFGS: steps that know the curvature along the last ones.

    Parameters
    ----------
    value_and_gradient, start : callable, array-like of shape (n_parameters,)
        As in `minimize_adaptive`. The line search turns back where f is not finite.
    tol : float, default=1e-6
        The descent ends when the decrease per iteration, a mean over five, is below
        ``tol * max(|f|, 1e-10)``.
    max_iter : int, default=1000
        Largest number of iterations, each of one or a few evaluations.
    memory : int, default=20
        Number of steps remembered.
    report : callable, default=None
        Called after each iteration with its number and the value.

    Returns
    -------
    GradientTrace
        The best of all evaluated points, and the values at the start, after iterations
        and there. A line search that fails ends the descent, converged if the mean
        decrease or |g|² was below the tolerance. An interrupt is noted there, too.

    Examples
    --------
    >>> from credalis.optimize import minimize_lbfgs
    >>> trace = minimize_lbfgs(lambda x: (x @ x - x.sum(), 2 * x - 1), [3.0, -2.0])
    >>> trace.state.round(6).tolist()
    [0.5, 0.5]
    """
    search = _GuardedSearch(value_and_gradient, start, tol, report)
    limits = {"maxiter": max_iter, "maxfun": math.inf, "factr": 0.0, "pgtol": 0.0}
    options = {"m": memory, "callback": search.end_iteration, **limits}

    def solve() -> bool:
        with suppress(_SearchEndedError):
            x = search.best.parameters
            *_, end = fmin_l_bfgs_b(search.value_and_gradient, x, **options)
            if end["warnflag"] == 0:
                return True
        with np.errstate(over="ignore"):
            promised = float(search.best.gradient @ search.best.gradient)
        return search.decrease_is_small() or search.stands_still(promised)

    return search.run(solve)


class _SearchEndedError(Exception):
    """The way out of SciPy's loop."""


class _GuardedSearch(_Search):
    """A search for a solver that expects finite values everywhere."""

    def value_and_gradient(self, x: Vector) -> tuple[float, Vector]:
        here = self.iterate
        is_here = np.array_equal(x, here.parameters)
        point = here if is_here else self.evaluate(np.array(x))
        if point is None:
            return _turn_back(here, x)
        self.last = point
        if point.value < self.best.value:
            self.best = point
        return point.value, point.gradient

    def end_iteration(self, _: Vector) -> None:
        self.iterate = self.last
        self.losses.append(self.iterate.value)
        if self.report is not None:
            self.report(len(self.losses) - 1, self.iterate.value)
        if len(self.losses) > _N_AVERAGED and self.decrease_is_small():
            raise _SearchEndedError

    def decrease_is_small(self) -> bool:
        recent = self.losses[-_N_AVERAGED - 1 :]
        n_changes = len(recent) - 1
        return n_changes > 0 and self.stands_still((recent[0] - recent[-1]) / n_changes)


@np.errstate(over="ignore", invalid="ignore")
def _turn_back(here: _Point, x: Vector) -> tuple[float, Vector]:
    """Value and gradient at x that send a line search back to a quarter of the way.

    They are those of f + slope (t - 2 t^2) with t = 0 here and t = 1 at x; slope < 0.
    """
    direction = x - here.parameters
    slope = float(here.gradient @ direction)
    squared_length = float(direction @ direction)
    if not (math.isfinite(slope) and 0 < squared_length < math.inf):
        raise _SearchEndedError
    return here.value - slope, direction * (-3 * slope / squared_length)
