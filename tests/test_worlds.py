"""Mixtures that data are drawn from."""

import numpy as np
import pytest
from scipy.stats import kurtosis

from credalis._worlds import World, _em_step, fitted_worlds


@pytest.fixture(scope="module")
def truth():
    """Two elongated components far apart, on scales that differ by 100."""
    factors = np.array([[[1.0, 0.0], [80.0, 60.0]], [[1.0, 0.0], [-30.0, 40.0]]])
    means = np.array([[0.0, 0.0], [12.0, 300.0]])
    return World(np.array([0.3, 0.7]), means, factors, np.inf)


def matched(world, truth):
    """The components of a world in the order of the truth."""
    order = np.argsort(world.means[:, 0])
    assert (np.diff(truth.means[:, 0]) > 0).all()
    return world.weights[order], world.means[order], world.factors[order]


def test_a_world_is_found_again_from_what_it_draws(truth):
    rng = np.random.RandomState(0)
    X, components = truth.draw(4000, rng)
    np.testing.assert_allclose(np.bincount(components) / 4000, [0.3, 0.7], atol=0.03)
    world, _ = fitted_worlds(X, 2, rng)
    weights, means, factors = matched(world, truth)
    np.testing.assert_allclose(weights, truth.weights, atol=0.03)
    np.testing.assert_allclose(means / [1, 100], truth.means / [1, 100], atol=0.15)
    found = factors @ factors.transpose(0, 2, 1)
    expected = truth.factors @ truth.factors.transpose(0, 2, 1)
    spread = np.sqrt(np.einsum("kii->ki", expected))
    unit = spread[:, :, None] * spread[:, None, :]
    np.testing.assert_allclose(found / unit, expected / unit, atol=0.12)


def test_the_second_world_has_heavy_tails(truth):
    rng = np.random.RandomState(0)
    X, _ = truth.draw(500, rng)
    gaussian, heavy = fitted_worlds(X, 2, rng)
    assert heavy.degrees == 5
    one = World(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)), gaussian.degrees)
    other = World(np.ones(1), np.zeros((1, 1)), np.ones((1, 1, 1)), heavy.degrees)
    assert abs(kurtosis(one.draw(20_000, rng)[0])[0]) < 0.3
    # 6 for five degrees of freedom, but hard to see in a sample.
    assert kurtosis(other.draw(20_000, rng)[0])[0] > 2


def test_the_likelihood_of_t_distributions_never_falls(truth):
    Z, _ = truth.draw(300, np.random.RandomState(1))
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    world = World(np.array([0.5, 0.5]), Z[:2], np.stack([np.eye(2)] * 2), 5.0)
    step, losses = _em_step(Z, True), []
    for _ in range(30):
        world, loss = step(world)
        losses.append(loss)
    # The ridge moves each step a little away from the maximum.
    assert np.diff(losses).max() < 1e-4
    assert losses[-1] < losses[0] - 0.1


def test_few_rows_in_many_dimensions_and_constant_features():
    rng = np.random.RandomState(0)
    X = np.hstack([rng.randn(40, 12), np.full((40, 1), 7.0)])
    for world in fitted_worlds(X, 3, rng):
        rows, _ = world.draw(50, rng)
        assert np.isfinite(rows).all()
        np.testing.assert_allclose(rows[:, -1], 7.0)
