"""Descent by adaptive steps and L-BFGS."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from credalis.optimize import minimize_adaptive, minimize_lbfgs, minimize_together
from credalis.optimize._lbfgs import _Descents
from helpers import assert_decreasing

quick = settings(max_examples=40)


def of_each(function):
    """A function of several points from one of a single point."""

    def values_and_gradients(points):
        results = [function(point) for point in points]
        values, gradients = zip(*results, strict=True)
        return np.array(values, dtype=float), np.array(gradients, dtype=float)

    return values_and_gradients


def minimize_alone(function, start, **options):
    """L-BFGS for several starts, given a single one."""
    return minimize_together(of_each(function), np.array([start]), **options)[0]


all_solvers = pytest.mark.parametrize(
    "solver", [minimize_adaptive, minimize_lbfgs, minimize_alone]
)
both_lbfgs = pytest.mark.parametrize("solver", [minimize_lbfgs, minimize_alone])


def square(x):
    return x @ x, 2 * x


def rosenbrock(x):
    value = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    slope = -400 * x[0] * (x[1] - x[0] ** 2) - 2 * (1 - x[0])
    return value, np.array([slope, 200 * (x[1] - x[0] ** 2)])


def stretched(x):
    """Sum of k^2 (x_k - k)^2."""
    k = np.arange(1.0, len(x) + 1)
    return (k**2 * (x - k) ** 2).sum(), 2 * k**2 * (x - k)


def barrier(x):
    """x - log x, not a number on the left of 0; the minimum is 1 at 1."""
    if (x <= 0).any():
        return np.nan, np.full_like(x, np.nan)
    return (x - np.log(x)).sum(), 1 - 1 / x


class Recorder:
    """A function that remembers where it was evaluated and what came of it."""

    def __init__(self, function):
        self.function = function
        self.points = []
        self.values = []

    def __call__(self, x):
        value, gradient = self.function(x)
        self.points.append(x.copy())
        self.values.append(value)
        return value, gradient


@st.composite
def quadratics(draw):
    """A convex quadratic, its minimum (which may be any number) and a start."""
    size = draw(st.integers(1, 5))
    numbers = st.floats(-3, 3)
    root = draw(arrays(float, (size, size), elements=numbers))
    hessian = root @ root.T + 0.1 * np.eye(size)
    center, start = draw(arrays(float, (2, size), elements=numbers))
    lowest = draw(st.floats(-5, 5))

    def function(x):
        slope = hessian @ (x - center)
        return lowest + 0.5 * (x - center) @ slope, slope

    return function, lowest, start


def test_adaptive_steps_give_the_values_computed_by_hand():
    trace = minimize_adaptive(square, [1.0], max_iter=5)
    np.testing.assert_allclose(
        trace.losses,
        [1, 0.64, 0.369664, 0.18739895, 0.080251605, 0.027490402],
        rtol=1e-7,
    )
    assert trace.n_iter == trace.n_evaluations == 6
    assert not trace.converged


def test_evaluated_values_of_rosenbrock_are_those_of_the_reference(reference):
    expected = reference("harris.json")["rosenbrock"]
    function = Recorder(rosenbrock)
    trace = minimize_adaptive(function, expected["x0"], tol=1e-8, max_iter=200)
    np.testing.assert_allclose(function.values, expected["trace"], rtol=1e-12)
    # That program returns its last value, though it was rejected, and the point of one
    # more step that was never evaluated. Ours is the last accepted point.
    assert function.values[-1] > trace.loss
    assert rosenbrock(np.array(expected["par"]))[0] != pytest.approx(trace.loss)
    assert rosenbrock(trace.state)[0] == trace.loss == min(function.values)


def test_evaluated_values_of_a_quadratic_are_those_of_the_reference(reference):
    expected = reference("harris.json")["quad"]
    function = Recorder(stretched)
    trace = minimize_adaptive(function, expected["x0"])
    n_values = len(function.values)
    np.testing.assert_allclose(
        function.values, expected["trace"][:n_values], rtol=1e-11, atol=1e-30
    )
    # The minimum is 0, where that program never ends before its last iteration.
    assert trace.converged
    assert not any(expected["trace"][n_values:])
    assert trace.loss == 0
    np.testing.assert_allclose(trace.state, expected["par"], rtol=1e-15)


def test_steps_stay_within_their_bounds():
    downhill = Recorder(lambda x: (-1e-3 * x[0], np.array([-1e-3])))
    minimize_adaptive(downhill, [0.0], tol=0.0, max_iter=100)
    assert np.diff(downhill.points, axis=0)[-1] == pytest.approx(1e4 * 1e-3)

    flat = Recorder(lambda x: (1.0, np.array([(-1.0) ** len(flat.values)])))
    minimize_adaptive(flat, [0.0], tol=0.0, max_iter=100)
    assert abs(np.diff(flat.points, axis=0))[-1] == pytest.approx(1e-6)


@all_solvers
@given(problem=quadratics())
@quick
def test_losses_of_quadratics_never_increase(solver, problem):
    function, lowest, start = problem
    trace = solver(function, start, max_iter=300)
    assert_decreasing(trace.losses, rtol=0 if solver is minimize_adaptive else 1e-14)
    assert trace.losses[0] == function(start)[0]
    assert trace.loss == function(trace.state)[0]
    assert trace.loss >= lowest - 1e-12


@both_lbfgs
@given(problem=quadratics())
@quick
def test_lbfgs_finds_the_minimum_of_quadratics(solver, problem):
    function, lowest, start = problem
    trace = solver(function, start, tol=1e-10)
    assert trace.converged
    assert trace.loss == pytest.approx(lowest, abs=1e-6)


@pytest.mark.parametrize(
    ("solver", "max_iter"),
    [(minimize_adaptive, 20_000), (minimize_lbfgs, 60), (minimize_alone, 60)],
)
def test_rosenbrock_is_minimised(solver, max_iter):
    trace = solver(rosenbrock, [-1.2, 1.0], tol=1e-8, max_iter=max_iter)
    assert trace.converged
    np.testing.assert_allclose(trace.state, 1.0, atol=1e-6)


@both_lbfgs
def test_lbfgs_with_more_memory_needs_fewer_evaluations(solver):
    few, many = (
        solver(stretched, np.zeros(20), memory=memory).n_evaluations
        for memory in (2, 30)
    )
    assert many < few


@all_solvers
def test_regions_without_values_are_left(solver):
    function = Recorder(barrier)
    trace = solver(function, [30.0, 0.01], tol=1e-9)
    assert np.isnan(function.values).any()
    assert trace.converged
    np.testing.assert_allclose(trace.state, 1.0, atol=1e-3)
    assert np.isfinite(function.points).all()


@all_solvers
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["value", "gradient"])
def test_point_that_is_not_finite_is_never_the_result(solver, bad, where):
    def function(x):
        value, gradient = stretched(x)
        if x[0] > 0.5:
            return (bad, gradient) if where == "value" else (value, gradient * bad)
        return value, gradient

    trace = solver(function, [0.0, 0.0], max_iter=200)
    assert trace.state[0] <= 0.5
    assert np.isfinite(trace.losses).all()
    assert trace.loss == stretched(trace.state)[0] < trace.losses[0]


@all_solvers
def test_function_that_is_finite_only_at_the_start_ends_there(solver):
    def function(x):
        return (1.0, np.ones(2)) if not x.any() else (np.nan, np.ones(2))

    trace = solver(function, np.zeros(2), max_iter=50)
    assert not trace.converged
    assert trace.state.tolist() == [0, 0]
    assert trace.losses.tolist() == [1]


@all_solvers
def test_huge_gradients_do_not_end_in_bad_parameters(solver):
    def steep(x):
        with np.errstate(over="ignore"):
            return 1e150 * (x @ x), 2e150 * x

    trace = solver(steep, [1.0, 2.0], max_iter=50)
    assert np.isfinite(trace.state).all()
    assert trace.loss <= 5e150


@all_solvers
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_start_without_a_value_is_an_error_with_advice(solver, value):
    with pytest.raises(ValueError, match=r"finite value and gradient.*scale"):
        solver(lambda x: (value, x), [1.0])
    with pytest.raises(ValueError, match=r"finite value and gradient.*scale"):
        solver(square, [1.0, value])


@all_solvers
def test_gradient_of_another_shape_is_an_error(solver):
    with pytest.raises(ValueError, match=r"shape \(.*2.*\), as start has, got \(.*1"):
        solver(lambda x: (x @ x, 2 * x[:1]), [1.0, 2.0])


@all_solvers
@pytest.mark.parametrize("power", [2, 4])
def test_minimum_of_zero_is_convergence(solver, power):
    trace = solver(
        lambda x: ((x**power).sum(), power * x ** (power - 1)), [1.0, 0.3, -0.7]
    )
    assert trace.converged
    assert trace.n_evaluations < 500
    assert trace.loss < 1e-12


@all_solvers
def test_start_at_the_minimum_is_convergence(solver):
    trace = solver(square, np.zeros(3))
    assert trace.converged
    assert trace.n_evaluations <= 2
    assert trace.loss == 0


@all_solvers
def test_large_values_do_not_end_the_descent_at_once(solver):
    trace = solver(lambda x: (1e6 + 100 * x @ x, 200 * x), np.full(4, 100.0), tol=1e-4)
    assert trace.converged
    assert trace.loss == pytest.approx(1e6, rel=1e-3)


@all_solvers
def test_descent_without_time_to_converge_says_so(solver):
    trace = solver(rosenbrock, [-1.2, 1.0], max_iter=3)
    assert not trace.converged
    assert trace.n_iter <= 4


@both_lbfgs
@pytest.mark.parametrize(("tol", "converged"), [(1e-6, False), (0.1, True)])
def test_line_search_that_fails_is_no_error(solver, tol, converged):
    """At an edge of the largest |k x_k| the gradient promises too much."""
    weights = np.array([1.0, 3.0, 5.0])

    def edged(x):
        k = abs(weights * x).argmax()
        gradient = np.zeros(3)
        gradient[k] = weights[k] * np.sign(x[k])
        return 1 + abs(weights[k] * x[k]), gradient

    function = Recorder(edged)
    trace = solver(function, [1.0, 0.37, 0.2], tol=tol)
    assert trace.converged == converged
    assert trace.loss == min(function.values) == edged(trace.state)[0] < trace.losses[0]


@both_lbfgs
def test_gradient_of_the_wrong_sign_leaves_the_start_as_it_is(solver):
    trace = solver(lambda x: (1 + x @ x, -2 * x), [1.0, 0.37])
    assert not trace.converged
    assert trace.state.tolist() == [1, 0.37]


@all_solvers
@pytest.mark.parametrize("n_before", [1, 2, 7])
def test_interrupt_keeps_the_best_point(solver, n_before):
    function = Recorder(rosenbrock)

    def interrupted(x):
        if len(function.values) == n_before:
            raise KeyboardInterrupt
        return function(x)

    trace = solver(interrupted, [-1.2, 1.0])
    assert trace.interrupted
    assert not trace.converged
    assert trace.loss == min(function.values)
    best = function.points[int(np.argmin(function.values))]
    assert trace.state.tolist() == best.tolist()


@all_solvers
def test_interrupt_during_a_report_keeps_the_best_point(solver):
    def report(iteration, loss):
        if iteration == 4:
            raise KeyboardInterrupt

    trace = solver(rosenbrock, [-1.2, 1.0], report=report)
    assert trace.interrupted
    assert not trace.converged
    assert trace.loss == rosenbrock(trace.state)[0] < trace.losses[0]


@all_solvers
def test_interrupt_before_the_first_value_is_raised(solver):
    def function(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solver(function, [1.0])


@all_solvers
def test_every_iteration_is_reported(solver):
    seen = []
    trace = solver(
        rosenbrock,
        [-1.2, 1.0],
        max_iter=20,
        report=lambda iteration, loss: seen.append((iteration, loss)),
    )
    numbers, losses = zip(*seen, strict=True)
    assert numbers == tuple(range(1, 21))
    assert set(losses) <= set(trace.losses)
    assert losses[-1] == trace.loss
    assert not trace.interrupted


@all_solvers
def test_one_array_for_all_gradients_is_fine(solver):
    buffer = np.empty(2)

    def reusing(x):
        value, buffer[:] = rosenbrock(x)
        return value, buffer

    reused = solver(reusing, [-1.2, 1.0], max_iter=40)
    fresh = solver(rosenbrock, [-1.2, 1.0], max_iter=40)
    np.testing.assert_array_equal(reused.losses, fresh.losses)


@all_solvers
def test_start_is_not_changed(solver):
    start = np.array([-1.2, 1.0])
    trace = solver(rosenbrock, start, max_iter=20)
    assert start.tolist() == [-1.2, 1.0]
    assert not np.shares_memory(start, trace.state)


def mixed(points):
    """Rosenbrock's function, whose second point at a time must not change the first."""
    return of_each(rosenbrock)(points)


STARTS = np.array([[-1.2, 1.0], [3.0, -2.0], [0.0, 0.0], [1.0, 1.0], [-4.0, 4.0]])


def test_starts_do_not_see_each_other():
    together = minimize_together(mixed, STARTS, tol=1e-8)
    for start, trace in zip(STARTS, together, strict=True):
        alone = minimize_alone(rosenbrock, start, tol=1e-8)
        np.testing.assert_array_equal(trace.losses[:5], alone.losses[:5])
        assert trace.converged
        assert_decreasing(trace.losses)
        np.testing.assert_allclose(trace.state, 1.0, atol=1e-5)


def test_fewer_starts_are_evaluated_as_some_end():
    sizes = []

    def counted(points):
        sizes.append(len(points))
        return mixed(points)

    traces = minimize_together(counted, STARTS, tol=1e-8)
    assert sizes[0] == len(STARTS)
    assert sizes[-1] < len(STARTS)
    assert sum(sizes) == sum(trace.n_evaluations for trace in traces)


def test_the_worse_half_is_dropped():
    # All starts take the same steps; the first parameter is what each ends at.
    bottoms = np.array([3.0, 1.0, 4.0, 0.5, 2.0])
    n_left = []

    def valleys(points):
        n_left.append(len(points))
        values, gradients = mixed(points[:, 1:])
        return points[:, 0] + values, np.pad(gradients, ((0, 0), (1, 0)))

    starts = np.column_stack([bottoms, np.tile([-1.2, 1.0], (5, 1))])
    traces = minimize_together(valleys, starts, tol=0.0, max_iter=12, halve_at=(3, 6))
    assert list(dict.fromkeys(n_left)) == [5, 3, 2]
    lengths = [trace.n_iter for trace in traces]
    assert lengths == [4, 13, 4, 13, 7]
    assert not any(trace.converged for trace in traces)


def test_a_start_that_falls_fast_is_not_dropped():
    descents = _Descents(mixed, STARTS[[0, 0, 0, 0]], tol=0.0, memory=5)
    # If iterations to come are like these, the third will be below the second.
    descents.losses = [[1.0], [3.0, 2.5], [4.5, 3.0], [4.0, 3.5]]
    descents.drop_worse_half()
    assert descents.active == [0, 2]
    # No more than ten iterations are looked back.
    descents.losses[2] = [9.0, *[3.0] * 11]
    descents.losses[0] = [2.0]
    descents.drop_worse_half()
    assert descents.active == [0]


def test_reports_name_the_lowest_value_of_all():
    seen = []
    traces = minimize_together(
        mixed, STARTS, max_iter=20, report=lambda *told: seen.append(told)
    )
    numbers, losses = zip(*seen, strict=True)
    assert numbers == tuple(range(1, 21))
    assert_decreasing(np.array(losses))
    assert losses[-1] == min(trace.loss for trace in traces)


def test_no_iterations_leave_the_starts_as_they_are():
    traces = minimize_together(mixed, STARTS, max_iter=0)
    np.testing.assert_array_equal([trace.state for trace in traces], STARTS)
