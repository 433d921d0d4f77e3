"""The penalty on must-link and cannot-link pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis import FocalSets
from credalis.belief import PAIR_FOCAL_SETS, paired_masses, plausibility
from credalis.objectives import PairConstraints
from helpers import focal_set_lists

quick = settings(max_examples=40)
NONE = np.empty((0, 2), dtype=np.intp)


@st.composite
def constrained(draw):
    """Focal sets, a generator, and pairs of six objects; some occur twice."""
    focal_sets = draw(focal_set_lists())
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    pair = st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(
        lambda p: p[0] != p[1]
    )
    must = draw(st.lists(pair, max_size=5))
    cannot = draw(st.lists(pair, min_size=0 if must else 1, max_size=5))
    must, cannot = (np.array(p, dtype=np.intp).reshape(-1, 2) for p in (must, cannot))
    return PairConstraints(must, cannot, 6, focal_sets), focal_sets, rng


@given(constrained())
@quick
def test_gradient(assert_gradient, problem):
    term, focal_sets, rng = problem
    assert_gradient(term, rng.normal(size=(len(focal_sets), 6)))


@given(constrained())
@quick
def test_penalty_is_that_of_the_matrix_q(problem):
    term, focal_sets, rng = problem
    masses = rng.normal(size=(len(focal_sets), 6))
    scores = masses.T @ focal_sets.apartness @ masses
    total = sum(scores[i, j] for i, j in term.must_link)
    total += sum(2 - scores[i, j] for i, j in term.cannot_link)
    n_pairs = len(term.must_link) + len(term.cannot_link)
    assert term.value(masses) == pytest.approx(total / (2 * n_pairs), abs=1e-12)


@given(constrained())
@quick
def test_penalty_is_that_of_plausibilities_of_pairs(problem):
    # Pl(different) + 1 - Pl(same) for must-links, 2 minus this for cannot-links.
    term, focal_sets, rng = problem
    rows = rng.dirichlet(np.ones(len(focal_sets)), size=6)

    def scores(pairs):
        about_pairs = paired_masses(rows[pairs[:, 0]], rows[pairs[:, 1]], focal_sets)
        same, different = plausibility(about_pairs, PAIR_FOCAL_SETS).T
        return different + 1 - same

    total = scores(term.must_link).sum() + (2 - scores(term.cannot_link)).sum()
    n_pairs = len(term.must_link) + len(term.cannot_link)
    value = term.value(rows.T)
    assert value == pytest.approx(total / (2 * n_pairs), abs=1e-12)
    assert -1e-12 <= value <= 1 + 1e-12


def certain(labels, focal_sets):
    masses = np.zeros((len(focal_sets), len(labels)))
    for j, label in enumerate(labels):
        masses[focal_sets.index((label,)), j] = 1
    return masses


def test_pairs_that_are_respected_cost_nothing_and_broken_ones_one():
    focal_sets = FocalSets.pairs(3)
    masses = certain([0, 0, 1, 2], focal_sets)
    same, apart = np.array([[0, 1]]), np.array([[1, 2], [2, 3]])
    assert PairConstraints(same, apart, 4, focal_sets).value(masses) == 0
    assert PairConstraints(apart, same, 4, focal_sets).value(masses) == 1


def test_ignorance_and_the_empty_set_cost_one_half_either_way():
    focal_sets = FocalSets.full(2)
    pair = np.array([[0, 1]])
    for subset in ((), (0, 1)):
        masses = np.zeros((4, 2))
        masses[focal_sets.index(subset)] = 1
        for must, cannot in ((pair, NONE), (NONE, pair)):
            assert PairConstraints(must, cannot, 2, focal_sets).value(masses) == 0.5


@given(constrained())
@quick
def test_order_within_a_pair_does_not_matter(problem):
    term, focal_sets, rng = problem
    masses = rng.dirichlet(np.ones(len(focal_sets)), size=6).T
    turned = PairConstraints(
        term.must_link[:, ::-1], term.cannot_link[:, ::-1], 6, focal_sets
    )
    value, gradient = term.value_and_gradient(masses)
    again, slopes = turned.value_and_gradient(masses)
    assert value == pytest.approx(again, rel=1e-13)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-12, atol=1e-15)


def test_objects_without_constraint_have_no_gradient(rng):
    focal_sets = FocalSets.full(2)
    term = PairConstraints(np.array([[1, 3]]), NONE, 5, focal_sets)
    gradient = term.value_and_gradient(rng.random((4, 5)))[1]
    assert not gradient[:, [0, 2, 4]].any()
    assert gradient[:, [1, 3]].any(axis=0).all()
