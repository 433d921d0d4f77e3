"""Terms are weighted and added."""

import numpy as np
import pytest

from credalis import FocalSets
from credalis.objectives import LabelFit, PairConstraints, Scaled, Sum

FULL = FocalSets.full(2)


@pytest.fixture
def terms():
    pairs = np.array([[0, 1], [2, 4]])
    return (
        LabelFit(np.array([0, 3]), np.array([1, 0]), FULL),
        PairConstraints(pairs, np.array([[1, 2]]), 5, FULL),
        LabelFit(np.array([1]), np.array([1]), FULL),
    )


@pytest.fixture
def masses(rng):
    return rng.dirichlet(np.ones(4), size=5).T


def assert_equal(objective, expected, masses):
    """Value and gradient of an objective are the weighted sums of those of terms."""
    value, gradient = objective.value_and_gradient(masses)
    parts = [(weight, *term.value_and_gradient(masses)) for weight, term in expected]
    assert value == pytest.approx(sum(w * v for w, v, _ in parts), rel=1e-14)
    np.testing.assert_allclose(gradient, sum(w * g for w, _, g in parts), rtol=1e-14)


def test_a_sum_has_the_sum_of_values_and_gradients(terms, masses):
    a, b, c = terms
    assert isinstance(a + b, Sum)
    assert_equal(a + b, [(1, a), (1, b)], masses)
    assert_equal(a + b + c, [(1, a), (1, b), (1, c)], masses)
    assert_equal(a + (b + c), [(1, a), (1, b), (1, c)], masses)


def test_a_weight_scales_value_and_gradient(terms, masses):
    a, b, _ = terms
    assert isinstance(0.5 * a, Scaled)
    assert_equal(0.5 * a, [(0.5, a)], masses)
    assert_equal(2 * (0.25 * a), [(0.5, a)], masses)
    assert_equal(0.5 * (a + 3 * b), [(0.5, a), (1.5, b)], masses)
    assert_equal(0 * a + b, [(1, b)], masses)


def test_a_numpy_weight_is_a_weight(terms, masses):
    a, _, _ = terms
    assert_equal(np.float64(0.5) * a, [(0.5, a)], masses)


def test_a_term_may_occur_twice(terms, masses):
    a, _, _ = terms
    assert_equal(a + a, [(2, a)], masses)
    assert_equal(0.3 * a + 0.7 * a, [(1, a)], masses)


def test_evaluating_changes_neither_masses_nor_later_values(terms, masses):
    objective = terms[0] + 0.3 * terms[1]
    before = masses.copy()
    first, first_gradient = objective.value_and_gradient(masses)
    kept = first_gradient.copy()
    second, second_gradient = objective.value_and_gradient(masses)
    np.testing.assert_array_equal(masses, before)
    assert first == second
    np.testing.assert_array_equal(second_gradient, kept)
    assert not np.shares_memory(first_gradient, second_gradient)
