"""L-BFGS from several starts at once, of which the worse ones are dropped."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._control import poll, stoppable
from credalis.optimize._loop import GradientTrace, Report

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
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

# Changes are compared with no smaller value than this: next to 0 none is small.
_SMALLEST_VALUE = 1e-10
# A step may be short by accident, so that decreases are averaged.
_N_AVERAGED = 5

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
        odd number the larger half, goes on.
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
            descents.step(max_iter)
            if descents.n_iter == n_iter:
                continue
            n_iter = descents.n_iter
            if report is not None:
                report(n_iter, descents.lowest)
            if n_iter in halve_at and len(descents.active):
                descents.drop_worse_half()
    return descents.traces(ending.is_early)


class _Descents:
    """Where the starts are.

    Attributes
    ----------
    active : array of int
        Numbers of the starts that go on, which all other arrays are about, except those
        of all starts: `losses`, `best_points`, `best_values`, `has_converged` and
        `n_evaluations`.
    points, values, gradients : arrays
        The last iterates, and f there.
    directions, slopes : arrays
        Where the next ones are looked for, and the slopes of f in these directions.
    lengths : array
        Of the next steps to be tried, in units of the directions.
    brackets : _Brackets or None
        What is known about lengths; None: nothing, all line searches are new.
    """

    def __init__(
        self, function: ValuesAndGradients, starts: ArrayLike, tol: float, memory: int
    ) -> None:
        self.function, self.tol = function, tol
        self.points = np.array(starts, dtype=np.float64)
        n_starts, n_parameters = self.points.shape
        self.active = np.arange(n_starts)
        self.n_evaluations = np.zeros(n_starts, dtype=np.intp)
        self.values, self.gradients = self._evaluate(self.points)
        if not np.isfinite(self.values).all():
            raise ValueError(_NOT_FINITE)
        self.losses = [[value] for value in self.values.tolist()]
        # Iterates of active starts have their place above.
        self.best_points, self.best_values = self.points.copy(), self.values.copy()
        self.has_converged = np.zeros(n_starts, dtype=bool)
        self.curvature = _Curvature(n_starts, memory, n_parameters)
        self.directions = np.zeros_like(self.points)
        self.slopes, self.lengths = np.zeros((2, n_starts))
        self.brackets: _Brackets | None = None
        self._aim(np.ones(n_starts, dtype=bool))

    @property
    def lowest(self) -> float:
        """The lowest value so far."""
        return float(min(self.best_values.min(), self.values.min(initial=np.inf)))

    @property
    def n_iter(self) -> int:
        """Iterations of the start that has made most."""
        return max(map(len, self.losses)) - 1

    def step(self, max_iter: int) -> None:
        """Evaluate the next point of every start; end those that have settled."""
        with np.errstate(over="ignore", invalid="ignore"):
            trials = self.directions * self.lengths[:, None]
            trials += self.points
        values, gradients = self._evaluate(trials)
        slopes = _row_products(gradients, self.directions)
        is_low = values <= self.values + _LEAST_DECREASE * self.lengths * self.slopes
        is_low &= slopes <= -_MOST_SLOPE * self.slopes
        is_done = is_low & (slopes >= _MOST_SLOPE * self.slopes)
        steps, changes = trials - self.points, gradients - self.gradients
        if is_done.all():
            self.points, self.values, self.gradients = trials, values, gradients
            self.brackets = None
        else:
            self._note(trials, values)
            self._narrow(values, slopes, is_low, is_done)
            self.points[is_done] = trials[is_done]
            self.values[is_done] = values[is_done]
            self.gradients[is_done] = gradients[is_done]
            # Starts that have made no step have none to remember.
            steps[~is_done] = changes[~is_done] = 0.0
        self.curvature.add(steps, changes)
        is_over = self._ended_iterations(is_done, max_iter)
        is_over |= self._aim(is_done)
        if is_over.any():
            self.keep(~is_over)

    def drop_worse_half(self) -> None:
        """Let only the better half of the active starts go on."""
        n_kept = -(-len(self.active) // 2)
        is_kept = np.zeros(len(self.active), dtype=bool)
        is_kept[np.argsort(self.values, kind="stable")[:n_kept]] = True
        self.keep(is_kept)

    def keep(self, is_kept: Flags) -> None:
        """Let only these of the active starts go on."""
        self._note(self.points, self.values)
        self.active = self.active[is_kept]
        self.points, self.values = self.points[is_kept], self.values[is_kept]
        self.gradients = self.gradients[is_kept]
        self.directions, self.slopes = self.directions[is_kept], self.slopes[is_kept]
        self.lengths = self.lengths[is_kept]
        self.curvature.keep(is_kept)
        if self.brackets is not None:
            self.brackets.keep(is_kept)

    def traces(self, is_interrupted: bool) -> list[GradientTrace]:
        """How each start went."""
        self._note(self.points, self.values)
        traces = []
        for start, losses in enumerate(self.losses):
            value = float(self.best_values[start])
            if value < losses[-1]:  # found, but not yet or never an iterate
                losses = [*losses, value]
            traces.append(
                GradientTrace(
                    self.best_points[start],
                    np.array(losses),
                    bool(self.has_converged[start]),
                    is_interrupted,
                    int(self.n_evaluations[start]),
                )
            )
        return traces

    def _evaluate(self, points: Array) -> tuple[Array, Array]:
        """Values and gradients, infinity and 0 where any of them is not finite."""
        poll()
        is_known = np.isfinite(points).all(axis=1)
        if is_known.all():
            values, gradients = self.function(points)
            if gradients.shape != points.shape:
                expected = f"the gradients must have shape {points.shape}"
                raise ValueError(f"{expected}, as start has, got {gradients.shape}")
        else:
            values, gradients = np.full(len(points), np.inf), np.zeros_like(points)
            if is_known.any():
                values[is_known], gradients[is_known] = self.function(points[is_known])
        self.n_evaluations[self.active] += is_known
        if not (np.isfinite(values).all() and np.isfinite(gradients).all()):
            is_known = np.isfinite(values) & np.isfinite(gradients).all(axis=1)
            values = np.where(is_known, values, np.inf)
            gradients = np.where(is_known[:, None], gradients, 0.0)
        return values, gradients

    def _note(self, points: Array, values: Array) -> None:
        """Remember points that are better than all that were noted before."""
        is_better = values < self.best_values[self.active]
        starts = self.active[is_better]
        self.best_values[starts] = values[is_better]
        self.best_points[starts] = points[is_better]

    def _narrow(
        self, values: Array, slopes: Array, is_low: Flags, is_done: Flags
    ) -> None:
        """Other lengths for the steps that have not been found."""
        if self.brackets is None:
            self.brackets = _Brackets(self.values, self.slopes)
        self.lengths = self.brackets.narrowed(
            self.lengths, values, slopes, is_low, is_done
        )

    def _ended_iterations(self, is_done: Flags, max_iter: int) -> Flags:
        """Which of the starts that have made a step are at their end."""
        is_over = np.zeros(len(is_done), dtype=bool)
        for place in range(len(is_done)) if is_done.all() else np.flatnonzero(is_done):
            start = self.active[place]
            losses = self.losses[start]
            losses.append(float(self.values[place]))
            if len(losses) > _N_AVERAGED and self._decreases_little(losses):
                self.has_converged[start] = is_over[place] = True
            elif len(losses) > max_iter:
                is_over[place] = True
        return is_over

    def _aim(self, is_new: Flags) -> Flags:
        """New directions after a step, or where no step was found; which have none."""
        is_stuck = np.zeros(len(is_new), dtype=bool)
        if self.brackets is not None:
            has_failed = ~is_new & (self.brackets.n_trials >= _MAX_TRIALS)
            # The curvature may have misled, as it does across an edge of f.
            is_stuck = has_failed & self.curvature.is_fresh
            self.curvature.forget(has_failed)
            is_new = is_new | has_failed
        directions = self.curvature.directions(self.gradients)
        slopes = _row_products(self.gradients, directions)
        is_wrong = ~(slopes < 0)
        if is_wrong.any():
            self.curvature.forget(is_wrong)
            directions[is_wrong] = -self.gradients[is_wrong]
            slopes = _row_products(self.gradients, directions)
            is_stuck |= ~(slopes < 0)
        if is_new.all():
            self.directions, self.slopes = directions, slopes
            self.lengths = np.ones(len(is_new))
        else:
            self.directions[is_new], self.slopes[is_new] = (
                directions[is_new],
                slopes[is_new],
            )
            self.lengths[is_new] = 1.0
        is_fresh = is_new & self.curvature.is_fresh
        if is_fresh.any():
            # Nothing is known about the length of a step yet: it is 1 in all.
            self.lengths[is_fresh] = 1 / np.sqrt(np.maximum(-slopes[is_fresh], _TINY))
        if self.brackets is not None:
            self.brackets.begin(is_new, self.values, self.slopes)
        for place in np.flatnonzero(is_stuck):
            self._judge(place)
        return is_stuck

    def _judge(self, place: np.intp) -> None:
        """Say whether a start without a step has converged: it has little to gain."""
        losses, gradient = self.losses[self.active[place]], self.gradients[place]
        promised = float(gradient @ gradient)
        self.has_converged[self.active[place]] = self._decreases_little(
            losses
        ) or self._is_little(promised, losses)

    def _decreases_little(self, losses: list[float]) -> bool:
        recent = losses[-_N_AVERAGED - 1 :]
        n_changes = len(recent) - 1
        return n_changes > 0 and self._is_little(
            (recent[0] - recent[-1]) / n_changes, losses
        )

    def _is_little(self, change: float, losses: list[float]) -> bool:
        return change < self.tol * max(abs(losses[-1]), _SMALLEST_VALUE)


class _Brackets:
    """Lengths between which there is one that satisfies the conditions.

    At the near end f is low enough but falls steeply; at the far one, infinity at
    first, it is too high or rises steeply.
    """

    def __init__(self, values: Array, slopes: Array) -> None:
        self._near = np.zeros(len(values))
        self._far = np.full(len(values), np.inf)
        self._near_values, self._near_slopes = values.copy(), slopes.copy()
        self.n_trials = np.zeros(len(values), dtype=np.intp)

    def begin(self, is_new: Flags, values: Array, slopes: Array) -> None:
        """Begin some of the searches anew."""
        self._near[is_new], self._far[is_new] = 0.0, np.inf
        self._near_values[is_new] = values[is_new]
        self._near_slopes[is_new] = slopes[is_new]
        self.n_trials[is_new] = 0

    def narrowed(
        self,
        lengths: Array,
        values: Array,
        slopes: Array,
        is_low: Flags,
        is_done: Flags,
    ) -> Array:
        """The next lengths, given f and its slopes at the last ones."""
        is_steep = is_low & ~is_done
        self.n_trials += ~is_done
        self._near[is_steep] = lengths[is_steep]
        self._near_values[is_steep] = values[is_steep]
        self._near_slopes[is_steep] = slopes[is_steep]
        self._far[~is_low] = lengths[~is_low]
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            width = self._far - self._near
            # The lowest point of the cubic that f and its slopes at both ends give, if
            # the far end is new.
            near_slopes, far_slopes = self._near_slopes * width, slopes * width
            middle = 3 * (self._near_values - values) + near_slopes + far_slopes
            root = np.sqrt(middle * middle - near_slopes * far_slopes)
            beyond = far_slopes + root - middle
            shares = 1 - beyond / (far_slopes - near_slopes + 2 * root)
            is_guess = ~is_low & np.isfinite(shares)
            shares = np.where(is_guess, shares, _IN_THE_DARK)
            inside = self._near + np.clip(shares, _NEAREST, _FARTHEST) * width
        farther = np.where(np.isinf(self._far), _STRETCH * lengths, inside)
        return np.where(is_done, lengths, farther)

    def keep(self, is_kept: Flags) -> None:
        """Only these searches remain."""
        self._near, self._far = self._near[is_kept], self._far[is_kept]
        self._near_values = self._near_values[is_kept]
        self._near_slopes = self._near_slopes[is_kept]
        self.n_trials = self.n_trials[is_kept]


class _Curvature:
    """What the last steps of each start say about the inverse Hessian.

    H = γ I + [S γY] [[R⁻ᵀ (D + γ YᵀY) R⁻¹, -R⁻ᵀ], [-R⁻¹, 0]] [S γY]ᵀ, where S and Y
    are the steps and the changes of the gradient, R is the upper triangle of SᵀY in
    the order of the steps, D its diagonal and γ = sᵀy / yᵀy of the last step. A place
    without a step is zero everywhere.
    """

    def __init__(self, n_starts: int, memory: int, n_parameters: int) -> None:
        self._memory, self._next = memory, 0
        # Steps, then changes of the gradient, each in the same places.
        self._pairs = np.zeros((n_starts, 2 * memory, n_parameters))
        self._inverse = np.zeros((n_starts, memory, memory))
        self._products = np.zeros((n_starts, memory, memory))
        self._diagonal = np.zeros((n_starts, memory, 1))
        self._scale = np.ones((n_starts, 1, 1))
        self.is_fresh = np.ones(n_starts, dtype=bool)

    def directions(self, gradients: Array) -> Array:
        """-H g for the gradients, one of each start."""
        scale, inverse = self._scale, self._inverse
        pairs, memory = self._pairs, self._memory
        products = pairs @ gradients[:, :, None]
        along_steps = inverse @ products[:, :memory]
        inner = self._products @ along_steps
        inner -= products[:, memory:]
        inner *= scale
        inner += self._diagonal * along_steps
        factors = products  # of the steps and of the changes, in place
        np.matmul(inverse.swapaxes(1, 2), inner, out=factors[:, :memory])
        np.multiply(along_steps, -scale, out=factors[:, memory:])
        directions = (factors.swapaxes(1, 2) @ pairs)[:, 0]
        directions += scale[:, 0] * gradients
        np.negative(directions, out=directions)
        return directions

    def add(self, steps: Array, changes: Array) -> None:
        """Remember a step of every start, in place of the oldest one.

        A step of length 0 is none.
        """
        here, memory = self._next, self._memory
        self._next = (here + 1) % memory
        pairs, inverse = self._pairs, self._inverse
        pairs[:, here], pairs[:, memory + here] = steps, changes
        products = (pairs @ changes[:, :, None])[:, :, 0]
        gains, lengths = products[:, here], products[:, memory + here]
        is_used = gains > np.finfo(float).eps * lengths
        is_used &= np.minimum(gains, lengths) > _TINY
        if not is_used.all():
            # No step, or rounding has left no curvature along it.
            bad = ~is_used
            pairs[bad, here] = pairs[bad, memory + here] = products[bad] = 0.0
            gains, lengths = np.where(bad, 1.0, gains), np.where(bad, 1.0, lengths)
        inverse[:, here] = 0.0
        inverse[:, :, here] = 0.0
        column = inverse @ products[:, :memory, None]
        column /= -gains[:, None, None]
        column[:, here, 0] = is_used / gains
        inverse[:, :, here] = column[:, :, 0]
        self._products[:, here] = products[:, memory:]
        self._products[:, :, here] = products[:, memory:]
        self._diagonal[:, here, 0] = np.where(is_used, gains, 0.0)
        scale = np.where(is_used, gains / lengths, self._scale[:, 0, 0])
        self._scale[:, 0, 0] = scale
        self.is_fresh &= ~is_used

    def forget(self, places: Flags) -> None:
        """Begin some starts anew with steepest descent."""
        if not places.any():
            return
        for values in (self._pairs, self._inverse, self._products, self._diagonal):
            values[places] = 0.0
        self._scale[places] = 1.0
        self.is_fresh[places] = True

    def keep(self, places: Flags) -> None:
        """Only these starts remain."""
        self._pairs, self._inverse = self._pairs[places], self._inverse[places]
        self._products = self._products[places]
        self._diagonal, self._scale = self._diagonal[places], self._scale[places]
        self.is_fresh = self.is_fresh[places]


def _row_products(first: Array, second: Array) -> Array:
    return np.einsum("ij,ij->i", first, second)
