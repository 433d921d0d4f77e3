"""Agreement, alignment and Dempster's rule for discounted memberships."""

from functools import reduce

import numpy as np
import pytest

from credalis.belief import FocalSets, dempster
from credalis.cluster.consensus import _combination as combination

CLUSTERS = 3


@pytest.fixture
def memberships(rng):
    return [rng.dirichlet(np.ones(CLUSTERS), size=20) for _ in range(4)]


def test_closed_form_is_dempsters_rule(memberships):
    rates = np.array([0.8, 0.5, 0.3, 0.0])
    focal_sets = FocalSets.singletons(CLUSTERS, empty=False)
    discounted = [
        np.column_stack([rate * each, np.full(len(each), 1 - rate)])
        for each, rate in zip(memberships, rates, strict=True)
    ]
    assert list(focal_sets)[-1] == tuple(range(CLUSTERS))

    def combined(first, second):
        masses, sets = dempster(*first, *second)
        kept = [sets.index(subset) for subset in focal_sets]
        assert masses[:, kept].sum(axis=1) == pytest.approx(1.0)
        return masses[:, kept], focal_sets

    expected, _ = reduce(combined, [(each, focal_sets) for each in discounted])
    singletons, frame = combination.dempster(memberships, rates)
    np.testing.assert_allclose(singletons, expected[:, :-1], atol=1e-12)
    np.testing.assert_allclose(frame, expected[:, -1], atol=1e-12)


def test_members_that_are_not_believed_say_nothing(memberships):
    singletons, frame = combination.dempster(memberships, np.zeros(4))
    np.testing.assert_array_equal(singletons, 0.0)
    np.testing.assert_array_equal(frame, 1.0)


def test_a_model_that_is_fully_believed_speaks_alone(memberships):
    votes = combination.dempster(memberships, np.full(4, 0.5))
    singletons, frame = combination.believed(*votes, memberships[0], 1.0)
    np.testing.assert_allclose(singletons, memberships[0])
    np.testing.assert_array_equal(frame, 0.0)
    half, rest = combination.believed(*votes, memberships[0], 0.5)
    np.testing.assert_allclose(half, (votes[0] + memberships[0]) / 2)
    np.testing.assert_allclose(half.sum(axis=1) + rest, 1.0)


def test_agreement_is_that_with_the_others():
    labels = [np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]), np.array([0, 1, 0, 1])]
    table = combination.pairwise_agreement(labels)
    np.testing.assert_allclose(np.diag(table), 1.0)
    assert table[0, 1] == 1.0
    assert table[0, 2] < 0
    weights = combination.mean_agreement(table)
    assert weights[0] == weights[1] == pytest.approx((1 + table[0, 2]) / 2)
    assert weights[2] == 0.0
    np.testing.assert_array_equal(combination.mean_agreement(np.ones((1, 1))), [1.0])


def test_trust_moves_weights_towards_the_trusted():
    weights = np.array([0.9, 0.6, 0.2])
    with_trusted = np.array([0.1, -0.3, 1.0])
    moved = combination.trusted_agreement
    np.testing.assert_array_equal(moved(weights, with_trusted, 0.0), weights)
    np.testing.assert_array_equal(moved(weights, with_trusted, 1.0), [0.1, 0.0, 1.0])


def test_reliabilities_fall_faster_than_agreement():
    rates = combination.reliabilities(np.array([0.5, 1.0, 0.0]))
    np.testing.assert_allclose(rates, [0.8 * 0.5 * 0.25, 0.8, 0.0])
    # The labels of somebody are needed, even if none agree.
    assert combination.reliabilities(np.zeros(3)).max() > 0


def test_alignment_undoes_a_permutation(rng):
    reference = np.eye(4)[rng.integers(4, size=60)]
    names = np.array([2, 0, 3, 1])
    own = np.empty_like(reference)
    own[:, :] = reference[:, names]
    found = combination.alignment(reference, own)
    np.testing.assert_array_equal(found, names)
    np.testing.assert_array_equal(combination.aligned(own, found, 4), reference)


def test_clusters_left_over_go_where_most_of_them_is():
    reference = np.eye(2)[[0, 0, 0, 0, 1, 1, 1]]
    own = np.eye(3)[[0, 0, 0, 2, 1, 1, 1]]
    names = combination.alignment(reference, own)
    np.testing.assert_array_equal(combination.aligned(own, names, 2), reference)


def test_masses_on_singletons_stay_where_they_are(memberships):
    singletons, frame = combination.dempster(memberships[:2], np.array([0.5, 0.4]))
    masses = combination.masses_on(singletons, frame, FocalSets.singletons(CLUSTERS))
    np.testing.assert_array_equal(masses[:, 0], 0.0)
    np.testing.assert_allclose(masses[:, 1:4], singletons)
    np.testing.assert_allclose(masses[:, 4], frame)


def test_ignorance_moves_to_the_pair_in_question():
    focal_sets = FocalSets.pairs(3)
    singletons, frame = np.array([[0.3, 0.0, 0.2]]), np.array([0.5])
    masses = combination.masses_on(singletons, frame, focal_sets)
    # Nothing speaks for the second cluster: all ignorance is about the other two.
    assert masses[0, focal_sets.index((0, 2))] == pytest.approx(0.5)
    assert masses[0, focal_sets.index((0, 1, 2))] == pytest.approx(0.0)
    assert masses[0, focal_sets.index((0,))] == pytest.approx(0.3)


@pytest.mark.parametrize(
    "focal_sets",
    [
        FocalSets.pairs(3, frame=False),
        FocalSets.full(3),
        FocalSets.from_subsets(3, [(0,), (1, 2)]),
    ],
)
def test_other_focal_sets_carry_all_mass(focal_sets, memberships):
    singletons, frame = combination.dempster(memberships, np.full(4, 0.3))
    masses = combination.masses_on(singletons, frame, focal_sets)
    np.testing.assert_allclose(masses.sum(axis=1), 1.0)
    assert (masses >= 0).all()
    vacuous = combination.masses_on(np.zeros((1, 3)), np.ones(1), focal_sets)
    np.testing.assert_allclose(vacuous.sum(), 1.0)
