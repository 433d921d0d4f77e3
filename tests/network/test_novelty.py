"""The one-class coupling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credalis.network import INITIAL_COEFFICIENTS, couple, mass_weight

every_link = pytest.mark.parametrize("link", ["reference", "paper"])
numbers = st.floats(-20, 20)


def test_worked_example():
    # Part of the worked example in test_model.py.
    scores = np.array([0.5, 1.0, -0.5])
    for link, coefficients, expected in (
        ("paper", (0, 1), [0.4934341426, 0.5677099546, 0.3216093795]),
        ("reference", (0, -1), [0.6783906205, 0.7614628596, 0.5065658574]),
    ):
        assert INITIAL_COEFFICIENTS[link] == coefficients
        weights, _ = mass_weight(scores, np.array(coefficients), link)
        np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-9)


@given(numbers, numbers, numbers)
def test_weights_are_those_of_the_definition(score, beta0, beta1):
    signal = beta0 + beta1 * score
    eta = np.log1p(np.exp(-abs(signal))) + max(signal, 0)
    coefficients, scores = np.array([beta0, beta1]), np.array([score])
    reference, slope = mass_weight(scores, coefficients, "reference")
    paper, other_slope = mass_weight(scores, coefficients, "paper")
    assert reference[0] == pytest.approx(1 / (1 + eta), rel=1e-12)
    assert paper[0] == pytest.approx(eta / (1 + eta), rel=1e-12)
    # With the same coefficients one convention is the complement of the other.
    assert reference[0] + paper[0] == pytest.approx(1, rel=1e-14)
    assert slope[0] == -other_slope[0]


@every_link
@given(score=numbers, beta0=st.floats(-5, 5), beta1=st.floats(-3, 3))
def test_slopes_are_derivatives(link, score, beta0, beta1):
    scores, step = np.array([score]), 1e-5

    def weight(b0, b1):
        return mass_weight(scores, np.array([b0, b1]), link)[0][0]

    slope = mass_weight(scores, np.array([beta0, beta1]), link)[1][0]
    by_beta0 = (weight(beta0 + step, beta1) - weight(beta0 - step, beta1)) / (2 * step)
    assert slope == pytest.approx(by_beta0, rel=1e-6, abs=1e-9)
    by_beta1 = (weight(beta0, beta1 + step) - weight(beta0, beta1 - step)) / (2 * step)
    assert score * slope == pytest.approx(by_beta1, rel=1e-5, abs=1e-7)


@every_link
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_scores_do_not_overflow(link, dtype):
    scores = np.array([-1e30, -1e4, 0, 1e4, 1e30], dtype=dtype)
    coefficients = np.array(INITIAL_COEFFICIENTS[link], dtype=dtype)
    weights, slopes = mass_weight(scores, coefficients, link)
    assert weights.dtype == slopes.dtype == dtype
    assert np.isfinite(slopes).all()
    # Ordinary objects keep their masses, novel ones lose them.
    assert (np.diff(weights) >= 0).all()
    np.testing.assert_allclose(weights[[0, -1]], [0, 1], atol=1e-6)


@every_link
def test_at_the_start_the_weight_increases_with_the_score(link):
    scores = np.linspace(-10, 10, 50)
    weights, _ = mass_weight(scores, np.array(INITIAL_COEFFICIENTS[link]), link)
    assert (np.diff(weights) > 0).all()
    assert (weights > 0).all()
    assert (weights < 1).all()


@pytest.mark.parametrize("empty_index", [0, 2])
def test_coupled_masses_are_masses(empty_index, rng):
    masses = rng.dirichlet(np.ones(4), size=6).T
    weights = rng.random(6)
    kept = masses.copy()
    coupled = couple(masses, weights, empty_index)
    np.testing.assert_array_equal(masses, kept)
    np.testing.assert_allclose(coupled.sum(axis=0), 1, rtol=1e-14)
    others = np.delete(np.arange(4), empty_index)
    np.testing.assert_allclose(coupled[others], weights * masses[others])
    np.testing.assert_allclose(
        coupled[empty_index], 1 - weights * (1 - masses[empty_index]), rtol=1e-14
    )


def test_weight_one_keeps_the_masses_and_weight_zero_leaves_the_empty_set(rng):
    masses = rng.dirichlet(np.ones(4), size=6).T
    np.testing.assert_array_equal(couple(masses, np.ones(6), 0), masses)
    np.testing.assert_array_equal(
        couple(masses, np.zeros(6), 0), np.outer([1, 0, 0, 0], np.ones(6))
    )
