"""Descent by adaptive steps and L-BFGS, and first-order updates for mini-batches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from credalis.optimize._gradient import (
    Adam,
    RMSprop,
    cosine_schedule,
    minimize_adaptive,
    minimize_lbfgs,
)
from helpers import assert_decreasing

# A slow moment of a busy machine is no failure.
quick = settings(deadline=None, max_examples=40)

both_solvers = pytest.mark.parametrize("solver", [minimize_adaptive, minimize_lbfgs])
both_updates = pytest.mark.parametrize("method", [RMSprop, Adam])
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


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


@both_solvers
@given(problem=quadratics())
@quick
def test_losses_of_quadratics_never_increase(solver, problem):
    function, lowest, start = problem
    trace = solver(function, start, max_iter=300)
    assert_decreasing(trace.losses, rtol=0 if solver is minimize_adaptive else 1e-14)
    assert trace.losses[0] == function(start)[0]
    assert trace.loss == function(trace.state)[0]
    assert trace.loss >= lowest - 1e-12


@given(problem=quadratics())
@quick
def test_lbfgs_finds_the_minimum_of_quadratics(problem):
    function, lowest, start = problem
    trace = minimize_lbfgs(function, start, tol=1e-10)
    assert trace.converged
    assert trace.loss == pytest.approx(lowest, abs=1e-6)


@pytest.mark.parametrize(
    ("solver", "max_iter"), [(minimize_adaptive, 20_000), (minimize_lbfgs, 60)]
)
def test_rosenbrock_is_minimised(solver, max_iter):
    trace = solver(rosenbrock, [-1.2, 1.0], tol=1e-8, max_iter=max_iter)
    assert trace.converged
    np.testing.assert_allclose(trace.state, 1.0, atol=1e-6)


def test_lbfgs_with_more_memory_needs_fewer_evaluations():
    few, many = (
        minimize_lbfgs(stretched, np.zeros(20), memory=memory).n_evaluations
        for memory in (2, 30)
    )
    assert many < few


@both_solvers
def test_regions_without_values_are_left(solver):
    function = Recorder(barrier)
    trace = solver(function, [30.0, 0.01], tol=1e-9)
    assert np.isnan(function.values).any()
    assert trace.converged
    np.testing.assert_allclose(trace.state, 1.0, atol=1e-3)
    assert np.isfinite(function.points).all()


@both_solvers
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


@both_solvers
def test_function_that_is_finite_only_at_the_start_ends_there(solver):
    def function(x):
        return (1.0, np.ones(2)) if not x.any() else (np.nan, np.ones(2))

    trace = solver(function, np.zeros(2), max_iter=50)
    assert not trace.converged
    assert trace.state.tolist() == [0, 0]
    assert trace.losses.tolist() == [1]


@both_solvers
def test_huge_gradients_do_not_end_in_bad_parameters(solver):
    def steep(x):
        with np.errstate(over="ignore"):
            return 1e150 * (x @ x), 2e150 * x

    trace = solver(steep, [1.0, 2.0], max_iter=50)
    assert np.isfinite(trace.state).all()
    assert trace.loss <= 5e150


@both_solvers
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_start_without_a_value_is_an_error_with_advice(solver, value):
    with pytest.raises(ValueError, match=r"finite value and gradient.*scale"):
        solver(lambda x: (value, x), [1.0])
    with pytest.raises(ValueError, match=r"finite value and gradient.*scale"):
        solver(square, [1.0, value])


@both_solvers
def test_gradient_of_another_shape_is_an_error(solver):
    with pytest.raises(ValueError, match=r"shape \(2,\), as start has, got \(1,\)"):
        solver(lambda x: (x @ x, 2 * x[:1]), [1.0, 2.0])


@both_solvers
@pytest.mark.parametrize("power", [2, 4])
def test_minimum_of_zero_is_convergence(solver, power):
    trace = solver(
        lambda x: ((x**power).sum(), power * x ** (power - 1)), [1.0, 0.3, -0.7]
    )
    assert trace.converged
    assert trace.n_evaluations < 500
    assert trace.loss < 1e-12


@both_solvers
def test_start_at_the_minimum_is_convergence(solver):
    trace = solver(square, np.zeros(3))
    assert trace.converged
    assert trace.n_evaluations <= 2
    assert trace.loss == 0


@both_solvers
def test_large_values_do_not_end_the_descent_at_once(solver):
    trace = solver(lambda x: (1e6 + 100 * x @ x, 200 * x), np.full(4, 100.0), tol=1e-4)
    assert trace.converged
    assert trace.loss == pytest.approx(1e6, rel=1e-3)


@both_solvers
def test_descent_without_time_to_converge_says_so(solver):
    trace = solver(rosenbrock, [-1.2, 1.0], max_iter=3)
    assert not trace.converged
    assert trace.n_iter <= 4


@pytest.mark.parametrize(("tol", "converged"), [(1e-6, False), (0.1, True)])
def test_line_search_that_fails_is_no_error(tol, converged):
    """At an edge of the largest |k x_k| the gradient promises too much."""
    weights = np.array([1.0, 3.0, 5.0])

    def edged(x):
        k = abs(weights * x).argmax()
        gradient = np.zeros(3)
        gradient[k] = weights[k] * np.sign(x[k])
        return 1 + abs(weights[k] * x[k]), gradient

    function = Recorder(edged)
    trace = minimize_lbfgs(function, [1.0, 0.37, 0.2], tol=tol)
    assert trace.converged == converged
    assert trace.loss == min(function.values) == edged(trace.state)[0] < trace.losses[0]


def test_gradient_of_the_wrong_sign_leaves_the_start_as_it_is():
    trace = minimize_lbfgs(lambda x: (1 + x @ x, -2 * x), [1.0, 0.37])
    assert not trace.converged
    assert trace.state.tolist() == [1, 0.37]


@both_solvers
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


@both_solvers
def test_interrupt_during_a_report_keeps_the_best_point(solver):
    def report(iteration, loss):
        if iteration == 4:
            raise KeyboardInterrupt

    trace = solver(rosenbrock, [-1.2, 1.0], report=report)
    assert trace.interrupted
    assert not trace.converged
    assert trace.loss == rosenbrock(trace.state)[0] < trace.losses[0]


@both_solvers
def test_interrupt_before_the_first_value_is_raised(solver):
    def function(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solver(function, [1.0])


@both_solvers
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


@both_solvers
def test_one_array_for_all_gradients_is_fine(solver):
    buffer = np.empty(2)

    def reusing(x):
        value, buffer[:] = rosenbrock(x)
        return value, buffer

    reused = solver(reusing, [-1.2, 1.0], max_iter=40)
    fresh = solver(rosenbrock, [-1.2, 1.0], max_iter=40)
    np.testing.assert_array_equal(reused.losses, fresh.losses)


@both_solvers
def test_start_is_not_changed(solver):
    start = np.array([-1.2, 1.0])
    trace = solver(rosenbrock, start, max_iter=20)
    assert start.tolist() == [-1.2, 1.0]
    assert not np.shares_memory(start, trace.state)


def rmsprop_of_the_textbook(theta, gradients, rate, rho, delta):
    r = np.zeros_like(theta)
    for g in gradients:
        r = rho * r + (1 - rho) * g * g
        theta = theta - rate * g / (delta + np.sqrt(r))
    return theta


def adam_of_the_textbook(theta, gradients, rate, beta1, beta2, epsilon):
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    for t, g in enumerate(gradients, start=1):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        unbiased_m, unbiased_v = m / (1 - beta1**t), v / (1 - beta2**t)
        theta = theta - rate * unbiased_m / (np.sqrt(unbiased_v) + epsilon)
    return theta


@pytest.mark.parametrize(
    ("method", "textbook", "values"),
    [
        (RMSprop, rmsprop_of_the_textbook, (1e-3, 0.9, 1e-8)),
        (RMSprop, rmsprop_of_the_textbook, (0.1, 0.5, 0.01)),
        (RMSprop, rmsprop_of_the_textbook, (0.1, 0.0, 0.01)),
        (Adam, adam_of_the_textbook, (1e-3, 0.9, 0.999, 1e-8)),
        (Adam, adam_of_the_textbook, (0.1, 0.3, 0.8, 0.01)),
        (Adam, adam_of_the_textbook, (0.1, 0.0, 0.5, 0.0)),
    ],
)
def test_updates_are_those_of_the_textbook(method, textbook, values, rng):
    start, gradients = rng.normal(size=10), rng.normal(size=(300, 10))
    gradients[:, :3] *= [1e-6, 1e6, 1]
    parameters = start.copy()
    update = method(*values)
    for gradient in gradients:
        update.step(parameters, gradient)
    expected = textbook(start, gradients, *values)
    np.testing.assert_allclose(parameters, expected, rtol=0, atol=1e-12)


def test_defaults_are_the_published_ones(rng):
    start, gradients = rng.normal(size=4), rng.normal(size=(20, 4))
    for method, textbook, values in (
        (RMSprop, rmsprop_of_the_textbook, (1e-3, 0.9, 1e-8)),
        (Adam, adam_of_the_textbook, (1e-3, 0.9, 0.999, 1e-8)),
    ):
        parameters, update = start.copy(), method()
        for gradient in gradients:
            update.step(parameters, gradient)
        np.testing.assert_allclose(
            parameters, textbook(start, gradients, *values), rtol=0, atol=1e-14
        )


def test_first_step_of_rmsprop_is_the_one_computed_by_hand():
    parameters, update = np.zeros(1), RMSprop()
    update.step(parameters, np.array([2.0]))
    assert parameters[0] == pytest.approx(-0.00316227761, abs=1e-12)
    # Kept is the discounted sum of squares, r / (1 - decay).
    assert (1 - update.decay) * update.state()["sums"][0, 0] == pytest.approx(0.4)


@both_updates
def test_learning_rate_of_a_step_replaces_the_own_one(method, rng):
    start, gradient = rng.normal(size=5), rng.normal(size=5)
    replaced, own = start.copy(), start.copy()
    method(learning_rate=1.0).step(replaced, gradient, learning_rate=0.02)
    method(learning_rate=0.02).step(own, gradient)
    np.testing.assert_array_equal(replaced, own)
    unmoved = start.copy()
    method().step(unmoved, gradient, learning_rate=0.0)
    np.testing.assert_array_equal(unmoved, start)


@both_updates
@both_types
def test_parameters_keep_their_type_and_place(method, dtype, rng):
    parameters = rng.normal(size=50).astype(dtype)
    address = parameters.ctypes.data
    update = method()
    for _ in range(3):
        gradient = rng.normal(size=50).astype(dtype)
        before = gradient.copy()
        update.step(parameters, gradient)
        np.testing.assert_array_equal(gradient, before)
    assert parameters.dtype == dtype
    assert parameters.ctypes.data == address
    assert update.state()["sums"].dtype == dtype


@both_updates
def test_single_precision_follows_double_precision(method, rng):
    start, gradients = rng.normal(size=10), rng.normal(size=(200, 10))
    results = []
    for dtype in (np.float32, np.float64):
        parameters, update = start.astype(dtype), method()
        for gradient in gradients.astype(dtype):
            update.step(parameters, gradient)
        results.append(parameters)
    np.testing.assert_allclose(*results, atol=1e-5)


@both_updates
def test_steps_allocate_no_arrays(method):
    import tracemalloc

    parameters, gradient = np.ones(100_000), np.ones(100_000)
    update = method()
    update.step(parameters, gradient)
    tracemalloc.start()
    try:
        for _ in range(5):
            update.step(parameters, gradient)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < parameters.nbytes / 10


@both_updates
@both_types
def test_restored_update_continues_to_the_bit(method, dtype, rng):
    gradients = rng.normal(size=(40, 30)).astype(dtype)
    straight = rng.normal(size=30).astype(dtype)
    broken = straight.copy()
    update = method()
    for gradient in gradients:
        update.step(straight, gradient)

    first, second = method(), method()
    for gradient in gradients[:15]:
        first.step(broken, gradient)
    saved = first.state()
    first.step(broken.copy(), gradients[0])  # must not reach into what was saved
    second.restore(saved)
    for gradient in gradients[15:]:
        second.step(broken, gradient)
    np.testing.assert_array_equal(broken, straight)
    assert {key: value.tolist() for key, value in second.state().items()} == {
        key: value.tolist() for key, value in update.state().items()
    }


@both_updates
def test_state_before_the_first_step_starts_anew(method, rng):
    assert method().state() == {}
    gradient = rng.normal(size=3)
    used, fresh = method(), method()
    used.step(np.zeros(3), gradient)
    used.restore({})
    again, expected = np.zeros(3), np.zeros(3)
    used.step(again, gradient)
    fresh.step(expected, gradient)
    np.testing.assert_array_equal(again, expected)


@both_updates
def test_updates_minimise_a_noisy_quadratic(method, seed):
    rng = np.random.default_rng(seed)
    parameters, update = np.zeros(4), method(learning_rate=0.05)
    for step in range(2000):
        gradient = stretched(parameters)[1] + rng.normal(size=4)
        update.step(parameters, gradient, 0.05 * cosine_schedule(step, 2000))
    np.testing.assert_allclose(parameters, [1, 2, 3, 4], atol=0.1)


@pytest.mark.parametrize(
    ("method", "parameter", "value"),
    [
        (RMSprop, "learning_rate", 0),
        (RMSprop, "decay", 1.0),
        (RMSprop, "epsilon", -1),
        (Adam, "learning_rate", np.nan),
        (Adam, "beta1", 1.0),
        (Adam, "beta2", -0.1),
    ],
)
def test_settings_out_of_range_are_refused(method, parameter, value):
    with pytest.raises(ValueError, match=f"{parameter} must be"):
        method(**{parameter: value})


@given(
    n_steps=st.integers(1, 200),
    warmup=st.integers(0, 250),
    final=st.floats(0, 1),
)
@quick
def test_schedule_rises_to_one_and_falls_to_its_end(n_steps, warmup, final):
    factors = np.array(
        [
            cosine_schedule(step, n_steps, warmup=warmup, final=final)
            for step in range(max(n_steps, warmup) + 3)
        ]
    )
    assert (factors >= 0).all()
    assert (factors <= 1 + 1e-15).all()
    assert (np.diff(factors[:warmup]) > 0).all()
    assert (np.diff(factors[warmup:]) <= 0).all()
    assert factors[-1] == pytest.approx(final, abs=1e-15)
    if warmup < n_steps:
        assert factors[warmup] == pytest.approx(1)


def test_schedule_is_half_way_in_the_middle():
    assert cosine_schedule(50, 100) == pytest.approx(0.5)
    assert cosine_schedule(60, 100, warmup=20, final=0.2) == pytest.approx(0.6)
    assert cosine_schedule(0, 100) == 1
    assert cosine_schedule(100, 100) == cosine_schedule(1000, 100) == 0
