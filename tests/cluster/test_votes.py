import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.neighbors import NearestNeighbors

from credalis import FocalSets
from credalis.belief import dempster
from credalis.cluster.votes._votes import (
    count_votes,
    disagreement,
    discontent,
    evidence_weights,
    masses_from_votes,
    neighbor_scale,
    visit_in_turn,
)

# Four objects on a line, two neighbours each.
LINE = np.array([[0.0], [1.0], [10.0], [11.0]])
TWO_CLUSTERS = np.array([0, 0, 1, 1])


def voting(X, n_neighbors, quantile=0.5, exponent=1.0):
    lengths, neighbors = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    gamma = neighbor_scale(lengths, quantile, exponent)
    return neighbors, evidence_weights(lengths, gamma, exponent), gamma


def test_worked_example():
    neighbors, weights, gamma = voting(LINE, 2)
    assert gamma == pytest.approx(0.2, abs=1e-12)
    assert neighbors[0].tolist() == [1, 2]
    expected = [1.7077718010, 0.1454134579]
    np.testing.assert_allclose(weights[0], expected, atol=1e-10)
    np.testing.assert_allclose(
        -np.expm1(-weights[0]), [0.8187307531, 0.1353352832], atol=1e-10
    )
    masses = masses_from_votes(count_votes(TWO_CLUSTERS[neighbors], weights, 2))
    expected = [0.7961427229, 0.0275890823, 0.1762681947]
    np.testing.assert_allclose(masses[0], expected, atol=1e-10)
    assert len(discontent(neighbors, weights, TWO_CLUSTERS, 2)) == 0


def test_reference_values_on_fourclass(benchmark_data, reference):
    X, y = benchmark_data("fourclass")
    expected = reference("eknn_fourclass.json")
    neighbors, weights, gamma = voting(X, 60, 0.9, 2.0)
    assert gamma == pytest.approx(expected["gamma"][0], rel=1e-12)
    np.testing.assert_array_equal(
        neighbors[:10] + 1, np.array(expected["index_first10"])
    )
    np.testing.assert_allclose(
        -np.expm1(-weights[:10]), expected["alpha_first10"], rtol=1e-10
    )
    masses = masses_from_votes(count_votes(y[neighbors], weights, 4))
    np.testing.assert_allclose(
        masses, np.array(expected["true_label_mass"])[:, 1:], rtol=1e-9, atol=1e-15
    )
    energy = 0.5 * weights.sum() - disagreement(neighbors, weights, y)
    assert energy == pytest.approx(expected["true_label_energy"][0], rel=1e-12)
    # Where the program ended, no object wants to move. (What it reports as the final
    # criterion, 16071.8, is not the energy of its own labels, 15747.9.)
    ended = np.array(expected["y.pl"]) - 1
    assert len(discontent(neighbors, weights, ended, 4)) == 0


@given(
    arrays(np.float64, 5, elements=st.floats(0.01, 3.0)),
    arrays(np.int64, 5, elements=st.integers(0, 2)),
)
def test_masses_are_dempsters_rule_over_the_neighbors(weights, labels):
    focal_sets = FocalSets.full(3)
    combined = np.zeros(len(focal_sets))
    combined[focal_sets.frame_index] = 1.0
    for weight, label in zip(weights, labels, strict=True):
        simple = np.zeros(len(focal_sets))
        simple[focal_sets.index([label])] = -np.expm1(-weight)
        simple[focal_sets.frame_index] = np.exp(-weight)
        combined, _ = dempster(combined, focal_sets, simple)
    found = masses_from_votes(count_votes(labels[None], weights[None], 3))[0]
    columns = [focal_sets.index([k]) for k in range(3)] + [focal_sets.frame_index]
    np.testing.assert_allclose(found, combined[columns], atol=1e-12)


def test_no_votes_are_ignorance():
    np.testing.assert_array_equal(masses_from_votes(np.zeros((1, 2))), [[0, 0, 1]])


def test_votes_of_hundreds_of_neighbors_do_not_overflow():
    masses = masses_from_votes(np.array([[5000.0, 4000.0], [3000.0, 3000.0]]))
    np.testing.assert_allclose(masses, [[1, 0, 0], [0.5, 0.5, 0]], atol=1e-12)


points = arrays(
    np.float64,
    st.tuples(st.integers(4, 12), st.just(2)),
    elements=st.integers(0, 20).map(float),
).filter(lambda X: len(np.unique(X, axis=0)) > 1)


@given(points, st.integers(0, 10))
def test_no_visit_increases_the_loss_when_neighborhood_is_mutual(X, seed):
    neighbors, weights, _ = voting(X, len(X) - 1)
    labels = np.arange(len(X))
    rng = np.random.RandomState(seed)
    loss = disagreement(neighbors, weights, labels)
    for i in rng.permutation(np.tile(np.arange(len(X)), 3)):
        visit_in_turn(np.array([i]), neighbors, weights, labels)
        changed = disagreement(neighbors, weights, labels)
        assert changed <= loss * (1 + 1e-10) + 1e-12
        loss = changed


@given(points, st.integers(0, 10))
def test_those_who_are_discontent_are_those_who_move(X, seed):
    neighbors, weights, _ = voting(X, 3)
    labels = np.random.RandomState(seed).randint(3, size=len(X))
    moving = []
    for i in range(len(X)):
        alone = labels.copy()
        visit_in_turn(np.array([i]), neighbors, weights, alone)
        if alone[i] != labels[i]:
            moving.append(i)
    assert discontent(neighbors, weights, labels, 3).tolist() == moving


def test_a_tie_is_no_reason_to_move():
    neighbors = np.array([[1, 2], [0, 2], [0, 1]])
    labels = np.array([0, 0, 1])
    visit_in_turn(np.array([0]), neighbors, np.ones((3, 2)), labels)
    assert labels.tolist() == [0, 0, 1]


@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_units_do_not_matter(unit, rng):
    X = rng.normal(size=(50, 2))
    X[:5] = X[5:10]
    _, expected, _ = voting(X, 10)
    _, weights, _ = voting(X * unit, 10)
    np.testing.assert_allclose(weights, expected, rtol=1e-9)


def test_scale_of_many_copies_is_that_of_different_objects():
    lengths = np.array([[0.0, 0.0, 0.0, 2.0]])
    assert neighbor_scale(lengths, 0.5, 1.0) == 0.5
