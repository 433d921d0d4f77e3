"""L-BFGS from several starts at once, of which the worse ones are dropped."""

from collections.abc import Callable
from contextlib import nullcontext
from math import inf, isfinite, isinf, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._control import poll, stoppable
from credalis.optimize._loop import GradientTrace, Report

Array = NDArray[np.float64]
# From points, the rows of a matrix, to their values and gradients.
ValuesAndGradients = Callable[[Array], tuple[Array, Array]]

# Of the strong Wolfe conditions: a step must lower f by this share of what the slope
# promises, and leave no more than that share of the slope, in either direction.
_LEAST_DECREASE = 1e-4
_MOST_SLOPE = 0.9
# A line search has failed after so many points.
_MAX_TRIALS = 20
# How far into a bracket to look: by a cubic, within limits, or without any value.
_NEAREST, _FARTHEST, _IN_THE_DARK = 0.1, 0.9, 0.25
# How much farther to look as long as the slope is steep.
_STRETCH = 4.0

# Squared lengths below this one cannot be divided by.
_TINY = 1e-200
_EPSILON = float(np.finfo(float).eps)

# Changes are compared with no smaller value than this: next to 0 none is small.
_SMALLEST_VALUE = 1e-10
# A step may be short by accident, so that decreases are averaged.
_N_AVERAGED = 5
# Iterations that starts are thought ahead before the worse ones are dropped.
_N_AHEAD = 10

_CARELESS = nullcontext()

_NOT_FINITE = "start needs a finite value and gradient: scale the data"


def minimize_together(
    values_and_gradients: ValuesAndGradients,
    starts: ArrayLike,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    memory: int = 20,
    halve_at: tuple[int, ...] = (),
    report: Report = None,
) -> list[GradientTrace]:
    """Minimise f(x) by L-BFGS from several starts, which share every evaluation.

    Every evaluation is one of all starts that go on: some try a new step, some a
    shorter one. A function that takes many points at once, as a product of matrices
    does, then costs little more for several starts than for one.

    Parameters
    ----------
    values_and_gradients : callable
        Takes points, shape (n_points, n_parameters), returns their values, shape
        (n_points,), and their gradients, shaped like the points.
    starts : array-like of shape (n_starts, n_parameters)
        The first points; f and its gradient must be finite there.
    tol : float, default=1e-6
        A start ends when the decrease per iteration, a mean over five, is below
        ``tol * max(|f|, 1e-10)``.
    max_iter : int, default=1000
        Largest number of iterations of a start, each of one or a few evaluations.
    memory : int, default=20
        Number of steps remembered.
    halve_at : tuple of int, default=()
        Iterations after which only the better half of the starts that are left, of an
        odd number the larger half, goes on: those with the lowest values ten iterations
        later, if these are like the last ten.
    report : callable, default=None
        Called after each iteration, of the start that has made most, with its number
        and the lowest value of all.

    Returns
    -------
    list of GradientTrace
        For each start the best of its points, and the values at its start, after its
        iterations and there. One that was dropped has not converged. An interrupt
        after the first evaluation is noted in all of them.

    Notes
    -----
    Directions come from the compact form of the inverse Hessian (R. H. Byrd, J. Nocedal
    and R. B. Schnabel, 1994, Representations of quasi-Newton matrices and their use in
    limited memory methods, Mathematical Programming 63, theorem 2.2). The inverse of
    its triangular matrix grows by a column with each step, so that nothing is solved.
    Steps satisfy the strong Wolfe conditions, found by bracketing and cubic
    interpolation (J. Nocedal and S. J. Wright, 2006, Numerical Optimization, chapter
    3.5): f never increases. Where no step does, as may happen at an edge of f, what is
    known about the curvature is forgotten once before a start ends.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.optimize import minimize_together
    >>> def squares(points):
    ...     return ((points - 1) ** 2).sum(axis=1), 2 * (points - 1)
    >>> traces = minimize_together(squares, [[3.0, -2.0], [0.0, 5.0]])
    >>> [trace.state.round(6).tolist() for trace in traces]
    [[1.0, 1.0], [1.0, 1.0]]
    """
    descents = _Descents(values_and_gradients, starts, tol, memory)
    n_iter = 0
    with stoppable(lambda: True) as ending:
        while len(descents.active) and max_iter > 0:
            before = n_iter
            descents.step(max_iter)
            n_iter = descents.n_iter
            if n_iter == before:
                continue
            if report is not None:
                report(n_iter, descents.lowest)
            if n_iter in halve_at and len(descents.active):
                descents.drop_worse_half()
    return descents.traces(ending.is_early)


class _Descents:
    """Where the starts are.

    Numbers of single starts are numbers of Python: there are few starts, and arrays of
    a few numbers take longer.

    Attributes
    ----------
    active : list of int
        Numbers of the starts that go on, which all other lists and arrays are about,
        except those of all starts: `losses`, `best_points`, `best_values`,
        `has_converged` and `n_evaluations`.
    points, values, gradients : array, list of float, array
        The last iterates, and f there.
    directions, slopes : array, list of float
        Where the next ones are looked for, and the slopes of f in these directions.
    lengths : list of float
        Of the next steps to be tried, in units of the directions.
    brackets : list of _Bracket or None
        What is known about lengths; None: nothing, a line search is new.
    """

    def __init__(
        self, function: ValuesAndGradients, starts: ArrayLike, tol: float, memory: int
    ) -> None:
        self.function, self.tol = function, tol
        self.points = np.array(starts, dtype=np.float64)
        n_starts = len(self.points)
        self.active = list(range(n_starts))
        self.n_evaluations = [0] * n_starts
        self.values, self.gradients = self._evaluate(self.points)
        if not np.isfinite(self.values).all():
            raise ValueError(_NOT_FINITE)
        self.losses = [[value] for value in self.values]
        # Iterates of active starts have their place above.
        self.best_points, self.best_values = self.points.copy(), self.values.copy()
        self.has_converged = [False] * n_starts
        self.curvature = _Curvature(memory, self.gradients)
        self.directions = np.zeros_like(self.points)
        self.slopes, self.lengths = [0.0] * n_starts, [0.0] * n_starts
        self.brackets: list[_Bracket | None] = [None] * n_starts
        self._aim([True] * n_starts)

    @property
    def lowest(self) -> float:
        """The lowest value so far."""
        return min([*self.best_values, *self.values])

    @property
    def n_iter(self) -> int:
        """Iterations of the start that has made most."""
        return max(map(len, self.losses)) - 1

    def step(self, max_iter: int) -> None:
        """Evaluate the next point of every start; end those that have settled."""
        longest = max(self.lengths)
        if longest == 1.0 == min(self.lengths):
            # Most steps; every call counts where points are small.
            steps = self.directions
            trials = self.points + steps
        else:
            lengths = np.array(self.lengths)[:, None]
            # What is tried first is no farther than the last step, and care takes time.
            is_far = longest > 1.0
            with np.errstate(over="ignore", invalid="ignore") if is_far else _CARELESS:
                steps = self.directions * lengths
                trials = self.points + steps
        values, gradients = self._evaluate(trials)
        slopes = _row_products(gradients, self.directions)
        is_done = [
            self._has_stepped(place, value, slope)
            for place, (value, slope) in enumerate(zip(values, slopes, strict=True))
        ]
        if not any(is_done):
            self._note(trials, values)
            if max(map(_n_trials, self.brackets)) >= _MAX_TRIALS:
                self._go_on(is_done, [False] * len(is_done))
            return
        changes = gradients - self.gradients
        if all(is_done):
            self.points, self.values, self.gradients = trials, values, gradients
        else:
            self._note(trials, values)
            steps = steps.copy()
            for place, has_stepped in enumerate(is_done):
                if has_stepped:
                    self.points[place] = trials[place]
                    self.values[place] = values[place]
                    self.gradients[place] = gradients[place]
                else:
                    # What has made no step has none to remember.
                    steps[place] = changes[place] = 0.0
        self.curvature.add(steps, changes, self.gradients)
        self._go_on(is_done, self._ended_iterations(is_done, max_iter))

    def _go_on(self, is_done: list[bool], is_over: list[bool]) -> None:
        """Aim again after steps, or where none was found; end those that are over."""
        is_stuck = self._aim(is_done)
        if any(is_over) or any(is_stuck):
            self.keep(
                [
                    place
                    for place in range(len(self.active))
                    if not (is_over[place] or is_stuck[place])
                ]
            )

    def drop_worse_half(self) -> None:
        """Let only the better half of the active starts go on.

        Better by where they would be after some more iterations like the last ones.
        """
        n_kept = -(-len(self.active) // 2)
        order = sorted(range(len(self.active)), key=self._expected)
        self.keep(sorted(order[:n_kept]))

    def _expected(self, place: int) -> float:
        losses = self.losses[self.active[place]]
        return 2 * losses[-1] - losses[-1 - min(_N_AHEAD, len(losses) - 1)]

    def keep(self, places: list[int]) -> None:
        """Let only these of the active starts go on."""
        self._note(self.points, self.values)
        self.active = [self.active[place] for place in places]
        self.values, self.slopes, self.lengths = (
            [each[place] for place in places]
            for each in (self.values, self.slopes, self.lengths)
        )
        self.brackets = [self.brackets[place] for place in places]
        self.points, self.gradients = self.points[places], self.gradients[places]
        self.directions = self.directions[places]
        self.curvature.keep(places)

    def traces(self, is_interrupted: bool) -> list[GradientTrace]:
        """How each start went."""
        self._note(self.points, self.values)
        traces = []
        for start, losses in enumerate(self.losses):
            value = self.best_values[start]
            if value < losses[-1]:  # found, but not yet or never an iterate
                losses = [*losses, value]
            traces.append(
                GradientTrace(
                    self.best_points[start],
                    np.array(losses),
                    self.has_converged[start],
                    is_interrupted,
                    self.n_evaluations[start],
                )
            )
        return traces

    def _evaluate(self, points: Array) -> tuple[list[float], Array]:
        """Values and gradients, infinity and 0 where any of them is not finite."""
        poll()
        if _are_finite(points):
            values, gradients = self.function(points)
            if gradients.shape != points.shape:
                expected = f"the gradients must have shape {points.shape}"
                raise ValueError(f"{expected}, as start has, got {gradients.shape}")
            evaluated = self.active
        else:
            is_known = np.isfinite(points).all(axis=1)
            values, gradients = np.full(len(points), np.inf), np.zeros_like(points)
            if is_known.any():
                values[is_known], gradients[is_known] = self.function(points[is_known])
            evaluated = [self.active[place] for place in np.flatnonzero(is_known)]
        for start in evaluated:
            self.n_evaluations[start] += 1
        if not (_are_finite(values) and _are_finite(gradients)):
            is_known = np.isfinite(values) & np.isfinite(gradients).all(axis=1)
            values = np.where(is_known, values, np.inf)
            gradients = np.where(is_known[:, None], gradients, 0.0)
        return values.tolist(), gradients

    def _note(self, points: Array, values: list[float]) -> None:
        """Remember points that are better than all that were noted before."""
        for place, start in enumerate(self.active):
            if values[place] < self.best_values[start]:
                self.best_values[start] = values[place]
                self.best_points[start] = points[place]

    def _has_stepped(self, place: int, value: float, slope: float) -> bool:
        """Whether a point is the next iterate; else where to look for it."""
        length, first_slope = self.lengths[place], self.slopes[place]
        highest = self.values[place] + _LEAST_DECREASE * length * first_slope
        is_low = value <= highest and slope <= -_MOST_SLOPE * first_slope
        if is_low and slope >= _MOST_SLOPE * first_slope:
            return True
        bracket = self.brackets[place]
        if bracket is None:
            bracket = _Bracket(self.values[place], first_slope)
            self.brackets[place] = bracket
        self.lengths[place] = bracket.narrowed(length, value, slope, is_low)
        return False

    def _ended_iterations(self, is_done: list[bool], max_iter: int) -> list[bool]:
        """Which of the starts that have made a step are at their end."""
        is_over = [False] * len(is_done)
        for place, start in enumerate(self.active):
            if not is_done[place]:
                continue
            losses = self.losses[start]
            losses.append(self.values[place])
            if len(losses) > _N_AVERAGED and self._is_little(
                (losses[-1 - _N_AVERAGED] - losses[-1]) / _N_AVERAGED, losses
            ):
                self.has_converged[start] = is_over[place] = True
            elif len(losses) > max_iter:
                is_over[place] = True
        return is_over

    def _aim(self, is_new: list[bool]) -> list[bool]:
        """New directions after a step, or where no step was found; which have none."""
        is_fresh = self.curvature.is_fresh
        is_stuck = [False] * len(is_new)
        for place, has_new in enumerate(is_new):
            if not has_new and _n_trials(self.brackets[place]) >= _MAX_TRIALS:
                # The curvature may have misled, as it does across an edge of f.
                is_stuck[place], is_new[place] = is_fresh[place], True
                self.curvature.forget(place)
        directions = self.curvature.directions()
        slopes = _row_products(self.gradients, directions)
        for place, slope in enumerate(slopes):
            if slope < 0:
                continue
            self.curvature.forget(place)
            np.negative(self.gradients[place], out=directions[place])
            slopes[place] = -float(self.gradients[place] @ self.gradients[place])
            is_stuck[place] = is_stuck[place] or not slopes[place] < 0
        is_all = all(is_new)
        if is_all:
            self.directions = directions
        for place, has_new in enumerate(is_new):
            if not has_new:
                continue
            if not is_all:
                self.directions[place] = directions[place]
            self.slopes[place], self.lengths[place] = slopes[place], 1.0
            self.brackets[place] = None
            if is_fresh[place]:
                # Nothing is known about the length of a step yet: it is 1 in all.
                self.lengths[place] = 1 / sqrt(max(-slopes[place], _TINY))
        for place, has_none in enumerate(is_stuck):
            if has_none:
                self._judge(place)
        return is_stuck

    def _judge(self, place: int) -> None:
        """Say whether a start without a step has converged: it has little to gain."""
        losses, gradient = self.losses[self.active[place]], self.gradients[place]
        promised = float(gradient @ gradient)
        self.has_converged[self.active[place]] = self._decreases_little(
            losses
        ) or self._is_little(promised, losses)

    def _decreases_little(self, losses: list[float]) -> bool:
        n_changes = min(_N_AVERAGED, len(losses) - 1)
        return n_changes > 0 and self._is_little(
            (losses[-1 - n_changes] - losses[-1]) / n_changes, losses
        )

    def _is_little(self, change: float, losses: list[float]) -> bool:
        return change < self.tol * max(abs(losses[-1]), _SMALLEST_VALUE)


class _Bracket:
    """Lengths between which there is one that satisfies the conditions.

    At the near end f is low enough but falls steeply; at the far one, infinity at
    first, it is too high or rises steeply.
    """

    def __init__(self, value: float, slope: float) -> None:
        self._near, self._far = 0.0, inf
        self._near_value, self._near_slope = value, slope
        self.n_trials = 0

    def narrowed(
        self, length: float, value: float, slope: float, is_low: bool
    ) -> float:
        """The next length, given f and its slope at the last one."""
        self.n_trials += 1
        share = _IN_THE_DARK
        if is_low:
            self._near, self._near_value, self._near_slope = length, value, slope
            if isinf(self._far):
                return _STRETCH * length
        else:
            self._far = length
            share = self._share_of_the_way(value, slope)
        return self._near + share * (self._far - self._near)

    def _share_of_the_way(self, value: float, slope: float) -> float:
        """Where the cubic is lowest that f and its slopes at both ends give.

        As a share of the way to the far end, where f and its slope are these.
        """
        width = self._far - self._near
        near_slope, far_slope = self._near_slope * width, slope * width
        middle = 3 * (self._near_value - value) + near_slope + far_slope
        squared = middle * middle - near_slope * far_slope
        if not 0 <= squared < inf:
            return _IN_THE_DARK
        root = sqrt(squared)
        below = far_slope - near_slope + 2 * root
        if below == 0:
            return _IN_THE_DARK
        share = 1 - (far_slope + root - middle) / below
        return min(max(share, _NEAREST), _FARTHEST)


class _Curvature:
    """What the last steps of each start say about the inverse Hessian.

    H = γ I + [S γY] [[R⁻ᵀ (D + γ YᵀY) R⁻¹, -R⁻ᵀ], [-R⁻¹, 0]] [S γY]ᵀ, where S and Y
    are the steps and the changes of the gradient, R is the upper triangle of SᵀY in
    the order of the steps, D its diagonal and γ = sᵀy / yᵀy of the last step. A place
    without a step is zero everywhere.

    All of it is read twice for each step, and little else takes time: once for its
    products with the gradient, of which those with the change of the gradient are
    differences, and once for the direction.
    """

    def __init__(self, memory: int, gradients: Array) -> None:
        n_starts, n_parameters = gradients.shape
        self._memory, self._next = memory, 0
        # Steps, then changes of the gradient, in the same places; the gradient.
        self._rows = np.zeros((n_starts, 2 * memory + 1, n_parameters))
        self._rows[:, -1] = gradients
        # Products of these rows with the gradient.
        self._along = np.zeros((n_starts, 2 * memory + 1, 1))
        self._inverse = np.zeros((n_starts, memory, memory))
        self._products = np.zeros((n_starts, memory, memory))
        self._diagonal = np.zeros((n_starts, memory, 1))
        self._scales = [1.0] * n_starts
        self.is_fresh = [True] * n_starts

    def directions(self) -> Array:
        """-H g for the last gradients of each start."""
        inverse, along, memory = self._inverse, self._along, self._memory
        scale = np.array(self._scales)[:, None, None]
        negative = -scale
        factors = np.empty_like(along)
        of_changes = inverse @ along[:, :memory]
        inner = self._products @ of_changes
        inner -= along[:, memory:-1]
        inner *= negative
        inner -= self._diagonal * of_changes
        np.matmul(inverse.swapaxes(1, 2), inner, out=factors[:, :memory])
        np.multiply(of_changes, scale, out=factors[:, memory:-1])
        factors[:, -1:] = negative
        directions: Array = np.matmul(factors.swapaxes(1, 2), self._rows)[:, 0]
        return directions

    def add(self, steps: Array, changes: Array, gradients: Array) -> None:
        """Remember a step of every start, in place of the oldest one.

        A step of length 0 is none. The gradients are those after the steps.
        """
        here, memory = self._next, self._memory
        self._next = (here + 1) % memory
        rows, inverse = self._rows, self._inverse
        rows[:, here], rows[:, memory + here], rows[:, -1] = steps, changes, gradients
        along = rows @ gradients[:, :, None]
        products = (along - self._along)[:, :-1]
        self._along = along
        gains, lengths = _row_products(steps, changes), _row_products(changes, changes)
        negative = [0.0] * len(gains)
        for place, (gain, length) in enumerate(zip(gains, lengths, strict=True)):
            if gain > _EPSILON * length and min(gain, length) > _TINY:
                self._scales[place], self.is_fresh[place] = gain / length, False
                negative[place] = -1.0 / gain
                continue
            # No step, or rounding has left no curvature along it.
            rows[place, here] = rows[place, memory + here] = products[place] = 0.0
            along[place, here] = along[place, memory + here] = 0.0
            gains[place] = lengths[place] = 0.0
        products[:, here, 0], products[:, memory + here, 0] = gains, lengths
        inverse[:, here] = 0.0
        inverse[:, :, here] = 0.0
        column = inverse @ products[:, :memory]
        column[:, here] = -1.0
        inverse[:, :, here] = column[:, :, 0] * np.array(negative)[:, None]
        self._products[:, here] = self._products[:, :, here] = products[:, memory:, 0]
        self._diagonal[:, here, 0] = gains

    def forget(self, place: int) -> None:
        """Begin a start anew with steepest descent."""
        self._rows[place, :-1] = self._along[place] = 0.0
        for values in (self._inverse, self._products, self._diagonal):
            values[place] = 0.0
        self._scales[place], self.is_fresh[place] = 1.0, True

    def keep(self, places: list[int]) -> None:
        """Only these starts remain."""
        self._rows, self._along = self._rows[places], self._along[places]
        self._inverse, self._products = self._inverse[places], self._products[places]
        self._diagonal = self._diagonal[places]
        self._scales = [self._scales[place] for place in places]
        self.is_fresh = [self.is_fresh[place] for place in places]


def _are_finite(numbers: Array) -> bool:
    # Nearly always their squares have a sum, which takes a third of the time.
    return isfinite(np.vdot(numbers, numbers)) or bool(np.isfinite(numbers).all())


def _row_products(first: Array, second: Array) -> list[float]:
    # Products of matrices are called quicker than any sum.
    products: list[float] = (first[:, None] @ second[:, :, None]).ravel().tolist()
    return products


def _n_trials(bracket: _Bracket | None) -> int:
    return 0 if bracket is None else bracket.n_trials
