"""Jousselme's distance and the belief distance."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis.belief import (
    PAIR_FOCAL_SETS,
    FocalSets,
    belief_distance,
    jaccard_matrix,
    jousselme_distance,
)
from helpers import focal_set_lists, mass_matrices

# A slow moment of a busy machine is no failure.
quick = settings(max_examples=40)

EXCERPT = Path(__file__).parents[1] / "reference" / "evclust_jousselme.json"

FULL = FocalSets.full(3)
M1 = np.array([0, 0.6, 0, 0.3, 0, 0, 0, 0.1])
M2 = np.array([0, 0, 0, 0.5, 0.2, 0, 0, 0.3])
M3 = np.array([0, 0.1, 0.1, 0, 0.8, 0, 0, 0])


def certain(*clusters):
    return np.eye(8)[FULL.index(clusters)]


@st.composite
def three_sources(draw):
    focal_sets = draw(focal_set_lists())
    return focal_sets, [draw(mass_matrices(focal_sets, 2, 2)) for _ in range(3)]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (M1, M2, 0.4242640687),
        (M1, M3, 0.7527726527),
        (M2, M3, 0.5744562647),
        (certain(0), certain(1), 1.0),
        (certain(0), certain(0, 1), 0.7071067812),
        (certain(0), certain(0, 1, 2), 0.8164965809),
        (certain(), certain(0), 1.0),
    ],
)
def test_worked_examples_of_jousselmes_distance(first, second, expected):
    assert jousselme_distance(first, second, FULL) == pytest.approx(expected, abs=5e-11)


def test_jaccard_index_counts_common_clusters():
    np.testing.assert_allclose(
        jaccard_matrix(FocalSets.pairs(3)),
        [
            [1, 0, 0, 0, 0, 0, 0, 0],
            [0, 1, 0, 0, 1 / 2, 1 / 2, 0, 1 / 3],
            [0, 0, 1, 0, 1 / 2, 0, 1 / 2, 1 / 3],
            [0, 0, 0, 1, 0, 1 / 2, 1 / 2, 1 / 3],
            [0, 1 / 2, 1 / 2, 0, 1, 1 / 3, 1 / 3, 2 / 3],
            [0, 1 / 2, 0, 1 / 2, 1 / 3, 1, 1 / 3, 2 / 3],
            [0, 0, 1 / 2, 1 / 2, 1 / 3, 1 / 3, 1, 2 / 3],
            [0, 1 / 3, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 2 / 3, 1],
        ],
    )


def assert_same_distances(expected):
    rows = {
        name: np.column_stack([part := np.array(expected[name]), 1 - part.sum(axis=1)])
        for name in ("m1", "m2")
    }
    np.testing.assert_allclose(
        jousselme_distance(rows["m1"], rows["m2"], PAIR_FOCAL_SETS),
        expected["jousselme"],
        rtol=1e-13,
    )
    np.testing.assert_allclose(
        belief_distance(rows["m1"], rows["m2"], PAIR_FOCAL_SETS),
        expected["bel"],
        rtol=1e-13,
    )


def test_distances_equal_those_of_an_independent_program():
    assert_same_distances(json.loads(EXCERPT.read_text(encoding="utf-8")))


def test_distances_equal_all_reference_values(reference):
    assert_same_distances(reference("jousselme.json"))


@pytest.mark.parametrize("distance", [jousselme_distance, belief_distance])
@quick
@given(case=three_sources())
def test_distances_are_metrics(distance, case):
    focal_sets, (first, second, third) = case
    near = distance(first, second, focal_sets)
    assert (near >= 0).all()
    np.testing.assert_array_equal(distance(first, first, focal_sets), 0)
    np.testing.assert_allclose(distance(second, first, focal_sets), near)
    around = distance(first, third, focal_sets) + distance(third, second, focal_sets)
    assert (near <= around + 1e-12).all()
    differs = np.abs(first - second).max(axis=1) > 1e-6
    assert (near[differs] > 1e-9).all()


@quick
@given(three_sources())
def test_jousselmes_distance_is_at_most_one(case):
    focal_sets, (first, second, _) = case
    assert (jousselme_distance(first, second, focal_sets) <= 1 + 1e-12).all()


@pytest.mark.parametrize("distance", [jousselme_distance, belief_distance])
@quick
@given(case=three_sources())
def test_sets_without_mass_and_their_order_make_no_difference(distance, case):
    focal_sets, (first, second, _) = case
    full = FocalSets.full(focal_sets.n_clusters)
    columns = [full.index(subset) for subset in focal_sets]
    spread = np.zeros((2, *first.shape[:1], len(full)))
    spread[0][:, columns], spread[1][:, columns] = first, second
    np.testing.assert_allclose(
        distance(*spread, full), distance(first, second, focal_sets), atol=1e-7
    )


@pytest.mark.parametrize("distance", [jousselme_distance, belief_distance])
def test_shapes_broadcast(distance):
    values = distance([[M1], [M2]], [M1, M2, M3], FULL)
    assert values.shape == (2, 3)
    assert values[1, 2] == distance(M2, M3, FULL)


def test_belief_distance_exceeds_one_from_three_clusters_on():
    # Bel({0}) and Bel({1}) differ, and so for {0,2} and {1,2}: four differences of 1.
    assert belief_distance(certain(0), certain(1), FULL) == 2.0


def test_belief_distance_sums_over_too_many_subsets_beyond_twelve_clusters():
    focal_sets = FocalSets.singletons(13)
    masses = np.eye(15)[1]
    with pytest.raises(ValueError, match="at most 12 clusters, got 13"):
        belief_distance(masses, masses, focal_sets)
    assert jousselme_distance(masses, np.eye(15)[2], focal_sets) == 1.0


@pytest.mark.parametrize("distance", [jousselme_distance, belief_distance])
def test_masses_on_other_focal_sets_are_refused(distance):
    with pytest.raises(ValueError, match=r"8 focal sets, got shape \(4,\)"):
        distance(M1, [0, 1, 0, 0], FULL)
