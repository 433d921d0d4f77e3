"""First-order updates for mini-batches, and learning rates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credalis.optimize import Adam, RMSprop, cosine_schedule

both_updates = pytest.mark.parametrize("method", [RMSprop, Adam])
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def stretched_gradient(x):
    """Gradient of the sum of k^2 (x_k - k)^2."""
    k = np.arange(1.0, len(x) + 1)
    return 2 * k**2 * (x - k)


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
        gradient = stretched_gradient(parameters) + rng.normal(size=4)
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
