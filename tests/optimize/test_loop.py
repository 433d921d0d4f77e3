import numpy as np
import pytest

from credalis.optimize import iterate, iterate_to_best, iterate_together


def newton_step(x):
    """Newton's iteration for the square root of 2, with the error as the loss."""
    x = (x + 2 / x) / 2
    return x, 1 + abs(x * x - 2)


def test_loop_ends_at_the_fixed_point():
    trace = iterate(newton_step, 1.0, tol=1e-12, max_iter=50)
    assert trace.converged
    assert trace.state == pytest.approx(np.sqrt(2), abs=1e-12)
    assert trace.loss == trace.losses[-1]
    assert trace.n_iter == len(trace.losses) < 50


def test_loop_without_time_to_converge_says_so():
    trace = iterate(newton_step, 1.0, tol=1e-12, max_iter=2)
    assert not trace.converged
    assert trace.n_iter == 2


def test_zero_loss_is_convergence():
    trace = iterate(lambda x: (x, 0.0), 1.0, tol=0.0, max_iter=50)
    assert trace.converged
    assert trace.n_iter == 2


def test_tolerance_is_relative():
    def slow(scale):
        def step(x):
            return x + 1, scale * (1 + 1 / x)

        return step

    short = iterate(slow(1e-9), 1.0, tol=1e-3, max_iter=1000).n_iter
    assert short == iterate(slow(1e9), 1.0, tol=1e-3, max_iter=1000).n_iter


def test_loss_that_is_not_a_number_is_an_error_with_advice():
    with pytest.raises(ValueError, match=r"nan after iteration 1.*scale the input"):
        iterate(lambda x: (x, np.nan), 1.0, tol=1e-3, max_iter=5)


def test_every_iteration_is_reported():
    seen = []
    trace = iterate(
        newton_step,
        1.0,
        tol=1e-12,
        max_iter=50,
        report=lambda iteration, loss: seen.append((iteration, loss)),
    )
    assert seen == list(enumerate(trace.losses.tolist(), start=1))


def test_another_test_can_end_the_loop():
    trace = iterate(
        lambda x: (x / 2, 1.0),
        1.0,
        tol=0.0,
        max_iter=50,
        has_settled=lambda before, after: before - after < 0.1,
    )
    # The loss stands still all the time and does not count.
    assert trace.converged
    assert trace.state == 0.0625


def test_the_best_state_is_kept_when_the_loss_goes_up():
    losses = [5.0, 3.0, 4.0, 2.0, 6.0, 7.0, 8.0, 9.0]

    def step(i):
        return i + 1, losses[i]

    trace = iterate_to_best(step, 0, tol=0.0, max_iter=50, patience=3)
    assert trace.converged
    assert trace.state == 4
    assert trace.losses.tolist() == [5.0, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0]
    assert trace.loss == 2.0


def test_the_best_state_is_kept_when_time_is_up():
    trace = iterate_to_best(
        lambda i: (i + 1, abs(i - 1.0)), 0, tol=0.0, max_iter=3, patience=5
    )
    assert not trace.converged
    assert (trace.state, trace.loss) == (2, 0.0)


def test_a_loss_that_is_not_finite_is_refused_on_the_way_to_the_best():
    with pytest.raises(ValueError, match="must stay finite"):
        iterate_to_best(lambda x: (x, np.nan), 0.0, tol=0.0, max_iter=5, patience=2)


def test_interrupt_ends_the_loop_at_the_last_whole_iteration():
    def step(x):
        if x == 3:
            raise KeyboardInterrupt
        return x + 1, 1 / (x + 1)

    trace = iterate(step, 0, tol=0, max_iter=10)
    assert trace.interrupted
    assert not trace.converged
    assert trace.state == trace.n_iter == 3


def test_interrupt_before_the_first_iteration_is_raised():
    def step(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        iterate(step, 0, tol=0, max_iter=10)


def newton_steps(xs):
    return [newton_step(x) for x in xs]


def test_runs_together_are_the_runs_alone():
    starts, reports = [1.0, 9.0, 400.0], [[], [], []]
    together = iterate_together(
        newton_steps,
        starts,
        tol=1e-12,
        max_iter=9,
        reports=[lambda *each, calls=calls: calls.append(each) for calls in reports],
    )
    for start, trace, calls in zip(starts, together, reports, strict=True):
        alone = iterate(newton_step, start, tol=1e-12, max_iter=9)
        assert trace.state == alone.state
        assert trace.converged == alone.converged
        np.testing.assert_array_equal(trace.losses, alone.losses)
        assert calls == list(enumerate(alone.losses, start=1))
    assert [trace.converged for trace in together] == [True, True, False]


def test_runs_that_have_ended_are_left_out():
    sizes = []

    def step(xs):
        sizes.append(len(xs))
        return newton_steps(xs)

    iterate_together(step, [1.0, 400.0], tol=1e-12, max_iter=50)
    assert sizes[0] == 2
    assert sizes[-1] == 1


def test_a_run_that_has_lost_is_given_up():
    asked = []

    def has_lost(losses, best):
        asked.append((len(losses), losses[-1], best))
        return len(losses) == 3 and losses[-1] > 2 * best

    first, second = iterate_together(
        newton_steps, [1.0, 400.0], tol=1e-12, max_iter=50, has_lost=has_lost
    )
    alone = iterate(newton_step, 1.0, tol=1e-12, max_iter=50)
    np.testing.assert_array_equal(first.losses, alone.losses)
    assert (first.converged, second.converged) == (True, False)
    assert (second.n_iter, second.interrupted) == (3, False)
    assert all(best <= loss for _, loss, best in asked)


def test_an_interrupt_ends_the_runs_that_are_left():
    def step(xs):
        if len(xs) == 1:
            raise KeyboardInterrupt
        return newton_steps(xs)

    done, left = iterate_together(step, [1.0, 400.0], tol=1e-12, max_iter=50)
    assert (done.converged, done.interrupted) == (True, False)
    assert (left.converged, left.interrupted) == (False, True)
    assert done.n_iter == left.n_iter


def test_an_interrupt_before_the_first_iteration_is_raised():
    def step(xs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        iterate_together(step, [1.0, 2.0], tol=1e-12, max_iter=50)


def test_one_run_that_is_not_finite_is_an_error():
    with pytest.raises(ValueError, match="the loss must stay finite, it is nan"):
        iterate_together(lambda xs: [(x, np.nan) for x in xs], [1.0], tol=0, max_iter=5)
