"""The penalty on plausibilities that differ from known labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis import FocalSets
from credalis.belief import plausibility
from credalis.objectives import LabelFit
from helpers import focal_set_lists

quick = settings(max_examples=40)


@st.composite
def labelled(draw):
    """Focal sets, a generator, and labels of some of five objects."""
    focal_sets = draw(focal_set_lists())
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    n_labelled = draw(st.integers(1, 8))
    objects = rng.integers(5, size=n_labelled)
    labels = rng.integers(focal_sets.n_clusters, size=n_labelled)
    return LabelFit(objects, labels, focal_sets), focal_sets, rng


@given(labelled())
@quick
def test_gradient(assert_gradient, problem):
    term, focal_sets, rng = problem
    assert_gradient(term, rng.normal(size=(len(focal_sets), 5)))


@given(labelled())
@quick
def test_penalty_is_the_mean_squared_gap_of_plausibilities(problem):
    term, focal_sets, rng = problem
    masses = rng.dirichlet(np.ones(len(focal_sets)), size=5)
    gaps = plausibility(masses, focal_sets)[term.objects]
    gaps = gaps - np.eye(focal_sets.n_clusters)[term.labels]
    expected = (gaps**2).sum() / len(term.objects)
    assert term.value(masses.T) == pytest.approx(expected, rel=1e-12)


def test_perfect_masses_cost_nothing():
    focal_sets = FocalSets.pairs(3)
    labels = np.array([2, 0, 1])
    masses = np.zeros((len(focal_sets), 3))
    for j, label in enumerate(labels):
        masses[focal_sets.index((label,)), j] = 1
    value, gradient = LabelFit(np.arange(3), labels, focal_sets).value_and_gradient(
        masses
    )
    assert value == 0
    assert not gradient.any()


def test_ignorance_costs_one_for_each_other_cluster_and_the_empty_set_one():
    focal_sets = FocalSets.full(3)
    term = LabelFit(np.array([0]), np.array([1]), focal_sets)
    for subset, cost in (((0, 1, 2), 2), ((), 1), ((0,), 2), ((1, 2), 1)):
        masses = np.zeros((8, 1))
        masses[focal_sets.index(subset)] = 1
        assert term.value(masses) == cost


@given(labelled(), st.integers(2, 4))
@quick
def test_a_repeated_object_accumulates(problem, n_times):
    term, focal_sets, rng = problem
    masses = rng.dirichlet(np.ones(len(focal_sets)), size=5).T
    repeated = LabelFit(
        np.repeat(term.objects, n_times), np.repeat(term.labels, n_times), focal_sets
    )
    value, gradient = term.value_and_gradient(masses)
    again, slopes = repeated.value_and_gradient(masses)
    assert again == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(slopes, gradient, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_samples", [6, 60])
def test_very_many_clusters(dtype, n_samples, rng):
    focal_sets = FocalSets.singletons(300)
    masses = rng.dirichlet(np.ones(302), size=n_samples).T.astype(dtype)
    objects, labels = rng.permutation(n_samples)[:6], rng.integers(300, size=6)
    gaps = masses.T[objects] @ focal_sets.membership - np.eye(300)[labels]
    term = LabelFit(objects, labels, focal_sets)
    value, gradient = term.value_and_gradient(masses)
    assert value == pytest.approx((gaps**2).sum() / 6, rel=1e-6)
    expected = np.zeros_like(masses)
    expected[:, objects] = 2 * focal_sets.membership @ gaps.T / 6
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-7)
    assert gradient.dtype == dtype


def test_objects_without_label_have_no_gradient(rng):
    term = LabelFit(np.array([1, 3]), np.array([0, 1]), FocalSets.full(2))
    gradient = term.value_and_gradient(rng.random((4, 5)))[1]
    assert not gradient[:, [0, 2, 4]].any()
    assert gradient[:, [1, 3]].any(axis=0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradient_keeps_the_type_of_the_masses(dtype, rng):
    term = LabelFit(np.array([1, 3]), np.array([0, 1]), FocalSets.full(2))
    masses = rng.dirichlet(np.ones(4), size=5).T.astype(dtype)
    assert term.value_and_gradient(masses)[1].dtype == dtype


@given(labelled())
@quick
def test_a_stack_has_the_values_and_gradients_of_each(problem):
    term, focal_sets, rng = problem
    # With many more objects, few of them are labelled.
    for n_samples in (5, 50):
        stack = rng.normal(size=(3, len(focal_sets), n_samples))
        values, gradients = term.values_and_gradients(stack)
        for k, masses in enumerate(stack):
            value, gradient = term.value_and_gradient(masses)
            assert values[k] == pytest.approx(value, rel=1e-12)
            np.testing.assert_allclose(gradients[k], gradient, rtol=0, atol=1e-12)
