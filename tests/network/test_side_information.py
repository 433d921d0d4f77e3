"""Labels and constraints about some objects."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis import FocalSets
from credalis.network import SideInformation
from credalis.objectives import LabelFit, PairConstraints

FOCAL_SETS = FocalSets.full(2)
N_SAMPLES = 12


def information(objects=(), labels=(), must=(), cannot=(), nu=0.3, xi=0.7):
    return SideInformation(
        np.array(objects, dtype=np.intp),
        np.array(labels, dtype=np.intp),
        np.array(must, dtype=np.intp).reshape(-1, 2),
        np.array(cannot, dtype=np.intp).reshape(-1, 2),
        nu,
        xi,
    )


KNOWN = information(
    [0, 5, 7, 9, 2], [0, 1, 1, 0, 0], [(0, 1), (5, 7), (3, 4)], [(0, 5), (11, 2)]
)

index = st.integers(0, N_SAMPLES - 1)
pairs = st.lists(st.tuples(index, index), max_size=8)


@st.composite
def anything(draw):
    objects = draw(st.lists(index, max_size=8))
    labels = [position % 2 for position in objects]
    return information(objects, labels, draw(pairs), draw(pairs))


@pytest.fixture
def masses(rng):
    return rng.dirichlet(np.ones(4), size=N_SAMPLES).T


def facts(known, names):
    """What is known, with objects by their name."""
    return (
        sorted(zip(names[known.objects], known.labels, strict=True)),
        sorted(map(tuple, names[known.must_link])),
        sorted(map(tuple, names[known.cannot_link])),
    )


def test_nothing_known_gives_no_term():
    nothing = information()
    assert not nothing.has_labels
    assert not nothing.has_constraints
    assert nothing.objective(N_SAMPLES, FOCAL_SETS) is None
    # The weight of labels counts only if there are any.
    assert nothing.stress_weight == 1
    assert information(must=[(0, 1)]).stress_weight == 1
    assert information([0], [1]).stress_weight == 0.7


@pytest.mark.parametrize("has_labels", [False, True])
@pytest.mark.parametrize("has_constraints", [False, True])
def test_terms_are_weighted_and_added(has_labels, has_constraints, masses):
    known = information(
        KNOWN.objects if has_labels else (),
        KNOWN.labels if has_labels else (),
        KNOWN.must_link if has_constraints else (),
        KNOWN.cannot_link if has_constraints else (),
    )
    assert known.has_labels == has_labels
    assert known.has_constraints == has_constraints
    if not has_labels and not has_constraints:
        return
    expected, slopes = 0.0, 0.0
    if has_labels:
        value, slope = LabelFit(
            known.objects, known.labels, FOCAL_SETS
        ).value_and_gradient(masses)
        expected, slopes = expected + 0.3 * value, slopes + 0.3 * slope
    if has_constraints:
        value, slope = PairConstraints(
            known.must_link, known.cannot_link, N_SAMPLES, FOCAL_SETS
        ).value_and_gradient(masses)
        expected, slopes = expected + 0.7 * value, slopes + 0.7 * slope
    value, gradient = known.objective(N_SAMPLES, FOCAL_SETS).value_and_gradient(masses)
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-12)


def test_restriction_keeps_what_is_about_these_objects_only():
    restricted = KNOWN.restricted(np.array([7, 0, 5, 11, 6]), N_SAMPLES)
    np.testing.assert_array_equal(restricted.objects, [1, 2, 0])
    np.testing.assert_array_equal(restricted.labels, [0, 1, 1])
    np.testing.assert_array_equal(restricted.must_link, [[2, 0]])
    np.testing.assert_array_equal(restricted.cannot_link, [[1, 2]])
    assert (restricted.label_weight, restricted.constraint_weight) == (0.3, 0.7)


@given(anything(), st.lists(index, unique=True, min_size=1))
def test_restriction_renumbers_but_changes_no_fact(known, kept):
    objects = np.array(kept)
    restricted = known.restricted(objects, N_SAMPLES)
    labels, must, cannot = facts(known, np.arange(N_SAMPLES))
    inside = set(kept)
    assert facts(restricted, objects) == (
        [fact for fact in labels if fact[0] in inside],
        [pair for pair in must if inside.issuperset(pair)],
        [pair for pair in cannot if inside.issuperset(pair)],
    )


def test_restriction_to_all_objects_is_the_same():
    everything = np.arange(N_SAMPLES)
    restricted = KNOWN.restricted(everything, N_SAMPLES)
    assert facts(restricted, everything) == facts(KNOWN, everything)


@given(anything(), st.integers(1, 20), st.integers(0, 99))
@settings(max_examples=60)
def test_sample_holds_known_facts_renumbered(known, n_items, seed):
    concerned, sample = known.sample(n_items, np.random.RandomState(seed))
    n_pairs = len(known.must_link) + len(known.cannot_link)
    assert len(sample.objects) == min(n_items, len(known.objects))
    assert len(sample.must_link) + len(sample.cannot_link) == min(n_items, n_pairs)
    assert sample.has_labels == known.has_labels
    assert sample.has_constraints == known.has_constraints
    # Every object listed is concerned, and listed once.
    used = [sample.objects, sample.must_link.ravel(), sample.cannot_link.ravel()]
    np.testing.assert_array_equal(
        np.unique(np.concatenate(used)), np.arange(len(concerned))
    )
    assert len(np.unique(concerned)) == len(concerned)
    if len(concerned):
        drawn = facts(sample, concerned)
        for some, every in zip(drawn, facts(known, np.arange(N_SAMPLES)), strict=True):
            rest = list(every)
            for fact in some:
                rest.remove(fact)


def test_sample_of_little_information_is_all_of_it(masses):
    concerned, sample = KNOWN.sample(5, np.random.RandomState(0))
    assert facts(sample, concerned) == facts(KNOWN, np.arange(N_SAMPLES))
    value = sample.objective(len(concerned), FOCAL_SETS).value(masses[:, concerned])
    expected = KNOWN.objective(N_SAMPLES, FOCAL_SETS).value(masses)
    assert value == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("n_items", [1, 2, 4])
def test_the_cost_of_samples_is_on_average_that_of_everything(n_items, masses):
    expected = KNOWN.objective(N_SAMPLES, FOCAL_SETS).value(masses)
    rng = np.random.RandomState(0)
    costs = []
    for _ in range(300):
        concerned, sample = KNOWN.sample(n_items, rng)
        term = sample.objective(len(concerned), FOCAL_SETS)
        costs.append(term.value(masses[:, concerned]))
    error = np.std(costs) / np.sqrt(len(costs))
    assert np.mean(costs) == pytest.approx(expected, abs=4 * error)
    assert error > 0


def test_samples_are_reproducible_and_vary():
    draws = [KNOWN.sample(2, np.random.RandomState(seed)) for seed in (0, 0, 1, 2, 3)]
    seen = [facts(sample, concerned) for concerned, sample in draws]
    assert seen[0] == seen[1]
    assert any(facts_drawn != seen[0] for facts_drawn in seen[2:])
