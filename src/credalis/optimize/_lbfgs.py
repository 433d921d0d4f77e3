"""L-BFGS from several starts at once, of which the worse ones are dropped."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis.optimize._loop import GradientTrace, Report

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# From points, the rows of a matrix, to their values and gradients.
ValuesAndGradients = Callable[[Array], tuple[Array, Array]]

# Of the weak Wolfe conditions: a step must lower f by this share of what the slope
# promises, and leave no more than that share of the slope.
_LEAST_DECREASE = 1e-4
_MOST_SLOPE = 0.9
# A line search has failed after so many points.
_MAX_TRIALS = 20
# How far into a bracket to look: by a parabola, within limits, or without any value.
_NEAREST, _FARTHEST, _IN_THE_DARK = 0.1, 0.5, 0.25
# How much farther to look as long as the slope is steep.
_STRETCH = 4.0

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

    All starts take their steps together. A function that takes many points at once, as
    one product of matrices does, then costs little more for several than for one.

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
        Largest number of iterations, each of one or a few evaluations.
    memory : int, default=20
        Number of steps remembered.
    halve_at : tuple of int, default=()
        Iterations after which the worse half of the starts, of an odd number the
        smaller half, is dropped; those that have ended by themselves count, too.
    report : callable, default=None
        Called after each iteration with its number and the lowest value.

    Returns
    -------
    list of GradientTrace
        For each start the best of its points, and the values at its start, after its
        iterations and there. One that was dropped has not converged. A
        KeyboardInterrupt after the first evaluation is noted in all of them.

    Notes
    -----
    Directions come from the compact form of the inverse Hessian (R. H. Byrd, J. Nocedal
    and R. B. Schnabel, 1994, Representations of quasi-Newton matrices and their use in
    limited memory methods, Mathematical Programming 63, theorem 2.2). The inverse of
    its triangular matrix grows by a column with each step, so that nothing is solved.
    Steps satisfy the weak Wolfe conditions, found by bracketing (A. S. Lewis and M. L.
    Overton, 2013, Nonsmooth optimization via quasi-Newton methods, Mathematical
    Programming 141, algorithm 2.6), which needs no smoothness: f never increases.

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
    descent = _Descents(values_and_gradients, starts, tol, memory)
    is_interrupted = False
    try:
        for iteration in range(1, max_iter + 1):
            if not len(descent.active):
                break
            descent.step()
            if report is not None:
                report(iteration, descent.lowest)
            descent.end_settled()
            if iteration in halve_at:
                descent.drop_worse_half()
    except KeyboardInterrupt:
        is_interrupted = True
    return descent.traces(is_interrupted)


class _Descents:
    """Where the starts are. `active` holds the numbers of those that go on."""

    def __init__(
        self, function: ValuesAndGradients, starts: ArrayLike, tol: float, memory: int
    ) -> None:
        self.function, self.tol = function, tol
        points = np.array(starts, dtype=np.float64)
        n_starts, n_parameters = points.shape
        self.active = np.arange(n_starts)
        self.n_evaluations = np.zeros(n_starts, dtype=np.intp)
        values, gradients, is_known = self._evaluate(self.active, points)
        if not is_known.all():
            raise ValueError(_NOT_FINITE)
        self.points, self.values, self.gradients = points, values, gradients
        # Of points that are no iterates; these have their place above.
        self.best_points, self.best_values = points.copy(), values.copy()
        self.losses = [[value] for value in values.tolist()]
        self.has_converged = np.zeros(n_starts, dtype=bool)
        self.curvature = _Curvature(n_starts, memory, n_parameters)

    @property
    def lowest(self) -> float:
        """The lowest value so far."""
        return float(min(self.best_values.min(), self.values.min(initial=np.inf)))

    def step(self) -> None:
        """One step of all starts that go on; those that find none end."""
        search = self._line_search(slice(None))
        if not search.is_done.all():
            # The curvature may mislead, as it does across an edge of f.
            misled = np.flatnonzero(~search.is_done)
            self.curvature.forget(misled)
            search.put(misled, self._line_search(misled))
            stuck = np.flatnonzero(~search.is_done)
            if len(stuck):
                for place in stuck.tolist():
                    self._end_stuck(place)
                kept = np.flatnonzero(search.is_done)
                self._keep(kept)
                search = search.part(kept)
        self.curvature.add(
            search.points - self.points, search.gradients - self.gradients
        )
        self.points, self.values = search.points, search.values
        self.gradients = search.gradients
        for start, value in zip(self.active, self.values.tolist(), strict=True):
            self.losses[start].append(value)

    def end_settled(self) -> None:
        """End the starts whose values stand still."""
        is_settled = np.array(
            [
                len(self.losses[start]) > _N_AVERAGED and self._decreases_little(start)
                for start in self.active
            ],
            dtype=bool,
        )
        if is_settled.any():
            self.has_converged[self.active[is_settled]] = True
            self._keep(np.flatnonzero(~is_settled))

    def drop_worse_half(self) -> None:
        """Of all starts that go on or have ended, only the better half goes on."""
        values = self.best_values.copy()
        values[self.active] = np.minimum(values[self.active], self.values)
        ranks = np.argsort(np.argsort(values, kind="stable"))
        n_kept = -(-len(self.active) // 2)
        limit = np.sort(ranks)[min(n_kept, len(ranks)) - 1]
        self._keep(np.flatnonzero(ranks[self.active] <= limit))

    def traces(self, is_interrupted: bool) -> list[GradientTrace]:
        """How each start went."""
        self._keep(np.empty(0, dtype=np.intp))
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

    def _line_search(self, places: slice | NDArray[np.intp]) -> "_LineSearch":
        """Look along the directions at some places for points to go to."""
        active = self.active[places]
        gradients = self.gradients[places]
        directions = self.curvature.directions(gradients, places)
        search = _LineSearch(self.points[places], self.values[places], directions)
        search.slopes = _row_products(gradients, directions)
        is_fresh = self.curvature.is_fresh[places]
        if is_fresh.any():
            # Nothing is known about the length of a step yet.
            steepness = np.sqrt(np.maximum(-search.slopes, 1.0))
            search.lengths[is_fresh] /= steepness[is_fresh]
        search.pending = np.flatnonzero(search.slopes < 0)
        for _ in range(_MAX_TRIALS):
            if not len(search.pending):
                break
            trials = search.trials()
            starts = active[search.pending]
            values, gradients, _ = self._evaluate(starts, trials)
            rejected = search.narrow(trials, values, gradients)
            if len(rejected):
                self._note(starts[rejected], trials[rejected], values[rejected])
        return search

    def _evaluate(
        self, starts: NDArray[np.intp], points: Array
    ) -> tuple[Array, Array, Flags]:
        """Values and gradients, infinity and 0 where they are not finite."""
        is_known = np.isfinite(points).all(axis=1)
        values, gradients = np.full(len(points), np.inf), np.zeros_like(points)
        if is_known.all():
            values, gradients = self.function(points)
            if gradients.shape != points.shape:
                raise ValueError(
                    f"the gradients must have shape {points.shape}, as the points "
                    f"have, got {gradients.shape}"
                )
        elif is_known.any():
            values[is_known], gradients[is_known] = self.function(points[is_known])
        self.n_evaluations[starts] += is_known
        is_known &= np.isfinite(values) & np.isfinite(gradients).all(axis=1)
        if not is_known.all():
            values = np.where(is_known, values, np.inf)
            gradients = np.where(is_known[:, None], gradients, 0.0)
        return values, gradients, is_known

    def _note(self, starts: NDArray[np.intp], points: Array, values: Array) -> None:
        """Remember points that are better than any that was noted before."""
        is_better = values < self.best_values[starts]
        self.best_values[starts[is_better]] = values[is_better]
        self.best_points[starts[is_better]] = points[is_better]

    def _keep(self, places: NDArray[np.intp]) -> None:
        """Let only some of the active starts go on."""
        self._note(self.active, self.points, self.values)
        self.active = self.active[places]
        self.points, self.values = self.points[places], self.values[places]
        self.gradients = self.gradients[places]
        self.curvature.keep(places)

    def _end_stuck(self, place: int) -> None:
        """A start that finds no step has converged if it has little to gain."""
        start, gradient = int(self.active[place]), self.gradients[place]
        promised = float(gradient @ gradient)
        self.has_converged[start] = self._decreases_little(start) or self._is_little(
            promised, start
        )

    def _decreases_little(self, start: int) -> bool:
        recent = self.losses[start][-_N_AVERAGED - 1 :]
        n_changes = len(recent) - 1
        if n_changes == 0:
            return False
        return self._is_little((recent[0] - recent[-1]) / n_changes, start)

    def _is_little(self, change: float, start: int) -> bool:
        return change < self.tol * max(abs(self.losses[start][-1]), _SMALLEST_VALUE)


class _LineSearch:
    """For each of several points, a step along its direction.

    Attributes
    ----------
    slopes : array of shape (n_points,)
        Of f along the directions, at the points.
    lengths : array of shape (n_points,)
        Of the next steps to be tried, in units of the directions.
    pending : array of int
        Points whose step has not been found.
    is_done, points, values, gradients : arrays
        Which points have one, where it leads, and f and its gradient there.
    """

    def __init__(self, points: Array, values: Array, directions: Array) -> None:
        n_points = len(points)
        self._from, self._values, self._directions = points, values, directions
        self.slopes = self.lengths = np.ones(n_points)
        self.pending = np.arange(n_points)
        self.is_done = np.zeros(n_points, dtype=bool)
        self.points, self.gradients = np.empty((2, *points.shape))
        self.values = np.empty(n_points)
        # The ends of a bracket, and f and its slope at the near end.
        self._ends: tuple[Array, Array, Array, Array] | None = None

    def trials(self) -> Array:
        """The next points to look at, of those that are pending."""
        here = self.pending
        with np.errstate(over="ignore", invalid="ignore"):
            if len(here) == len(self._from):
                return self._from + self.lengths[:, None] * self._directions
            steps = self.lengths[here, None] * self._directions[here]
            return self._from[here] + steps

    def narrow(
        self, trials: Array, values: Array, gradients: Array
    ) -> NDArray[np.intp]:
        """Take what satisfies the conditions; positions of trials that do not."""
        here = self.pending
        slopes = _row_products(gradients, self._directions[here])
        first, length = self.slopes[here], self.lengths[here]
        is_high = ~(values <= self._values[here] + _LEAST_DECREASE * length * first)
        is_steep = ~is_high & (slopes < _MOST_SLOPE * first)
        is_done = ~(is_high | is_steep)
        if is_done.all() and len(here) == len(self._from):
            self.points, self.values, self.gradients = trials, values, gradients
            self.is_done[:] = True
            self.pending = here[:0]
            return here[:0]
        done = here[is_done]
        self.is_done[done] = True
        self.points[done], self.values[done] = trials[is_done], values[is_done]
        self.gradients[done] = gradients[is_done]
        rejected = np.flatnonzero(~is_done)
        self._next_lengths(is_high, is_steep, values, slopes)
        self.pending = here[rejected]
        return rejected

    def _next_lengths(
        self, is_high: Flags, is_steep: Flags, values: Array, slopes: Array
    ) -> None:
        here = self.pending
        if self._ends is None:
            zeros = np.zeros(len(self._from))
            self._ends = (
                zeros,
                zeros + np.inf,
                self._values.copy(),
                self.slopes.copy(),
            )
        near, far, near_values, near_slopes = self._ends
        lengths = self.lengths
        steep, high = here[is_steep], here[is_high]
        near[steep], near_values[steep] = lengths[steep], values[is_steep]
        near_slopes[steep] = slopes[is_steep]
        far[high] = lengths[high]
        is_open = np.isinf(far[steep])
        lengths[steep[is_open]] *= _STRETCH
        # A far end was met now or before; only one met now has a value here.
        for places, known in (
            (high, values[is_high]),
            (steep[~is_open], np.full(int((~is_open).sum()), np.inf)),
        ):
            width = far[places] - near[places]
            slope = near_slopes[places]
            excess = known - near_values[places] - slope * width
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                share = -0.5 * slope * width / excess
            is_guess = np.isfinite(known) & (excess > 0)
            share = np.where(
                is_guess, np.clip(share, _NEAREST, _FARTHEST), _IN_THE_DARK
            )
            lengths[places] = near[places] + share * width

    def put(self, places: NDArray[np.intp], other: "_LineSearch") -> None:
        """Take over what another search has found for some of the points."""
        self.is_done[places] = other.is_done
        self.points[places], self.values[places] = other.points, other.values
        self.gradients[places] = other.gradients

    def part(self, places: NDArray[np.intp]) -> "_LineSearch":
        """What was found for some of the points."""
        part = _LineSearch(
            self._from[places], self._values[places], self._directions[places]
        )
        part.is_done, part.points = self.is_done[places], self.points[places]
        part.values, part.gradients = self.values[places], self.gradients[places]
        return part


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

    def directions(
        self, gradients: Array, places: slice | NDArray[np.intp] = slice(None)
    ) -> Array:
        """-H g for the gradients at some places."""
        scale, inverse = self._scale[places], self._inverse[places]
        pairs, memory = self._pairs[places], self._memory
        products = pairs @ gradients[:, :, None]
        along_steps = inverse @ products[:, :memory]
        inner = self._products[places] @ along_steps
        inner -= products[:, memory:]
        inner *= scale
        inner += self._diagonal[places] * along_steps
        factors = products  # of the steps and of the changes, in place
        np.matmul(inverse.swapaxes(1, 2), inner, out=factors[:, :memory])
        np.multiply(along_steps, -scale, out=factors[:, memory:])
        directions = (factors.swapaxes(1, 2) @ pairs)[:, 0]
        directions += scale[:, 0] * gradients
        np.negative(directions, out=directions)
        return directions

    def add(self, steps: Array, changes: Array) -> None:
        """Remember a step of every start, in place of the oldest one."""
        here, memory = self._next, self._memory
        self._next = (here + 1) % memory
        pairs, inverse = self._pairs, self._inverse
        pairs[:, here], pairs[:, memory + here] = steps, changes
        products = (pairs @ changes[:, :, None])[:, :, 0]
        gains, lengths = products[:, here], products[:, memory + here]
        is_used = gains > np.finfo(float).eps * lengths
        if not is_used.all():
            # Rounding has left no curvature along this step.
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

    def forget(self, places: NDArray[np.intp]) -> None:
        """Begin anew with steepest descent at some places."""
        for values in (self._pairs, self._inverse, self._products, self._diagonal):
            values[places] = 0.0
        self._scale[places] = 1.0
        self.is_fresh[places] = True

    def keep(self, places: NDArray[np.intp]) -> None:
        """Only these places remain."""
        self._pairs, self._inverse = self._pairs[places], self._inverse[places]
        self._products = self._products[places]
        self._diagonal, self._scale = self._diagonal[places], self._scale[places]
        self.is_fresh = self.is_fresh[places]


def _row_products(first: Array, second: Array) -> Array:
    return np.einsum("ij,ij->i", first, second)
