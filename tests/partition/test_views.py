"""What a credal partition says about its objects."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis import CredalPartition, FocalSets, belief
from helpers import assert_valid_partition, credal_partitions

# A slow moment of a busy machine is no failure.
quick = settings(max_examples=40)

REFERENCE = Path(__file__).parents[1] / "reference"

VIEWS = [
    "plausibility",
    "belief",
    "pignistic",
    "normalized_plausibility",
    "outlier_mass",
    "labels",
    "maximum_mass_index",
    "maximum_mass_sets",
    "interval_dominance_sets",
    "lower",
    "upper",
    "is_outlier",
    "is_clear",
    "is_ambiguous",
    "between_sets",
    "verdict_sets",
    "nonspecificity",
    "doubt",
    "cluster_similarity",
]


@pytest.fixture
def example():
    """Four objects: certain, rather certain, perhaps an outlier, unknown."""
    return CredalPartition(
        [[0, 1, 0, 0], [0, 0.6, 0.2, 0.2], [0.1, 0, 0.7, 0.2], [0, 0, 0, 1]],
        FocalSets.full(2),
    )


def read_excerpt(name):
    return json.loads((REFERENCE / name).read_text(encoding="utf-8"))


def partition_of(expected):
    """The partition of one result of the reference program."""
    membership = np.array(expected["F"], dtype=bool)
    subsets = [np.flatnonzero(row) for row in membership]
    focal_sets = FocalSets.from_subsets(membership.shape[1], subsets)
    return CredalPartition(expected["mass"], focal_sets)


def is_unique_maximum(values):
    """Rows whose maximum is not tied: ties are broken at random in the reference."""
    return (values >= values.max(axis=1, keepdims=True) - 1e-12).sum(axis=1) == 1


def members(sets, n_samples):
    """Lists of objects counted from 1, one for each cluster, as a boolean matrix."""
    matrix = np.zeros((n_samples, len(sets)), dtype=bool)
    for k, objects in enumerate(sets):
        matrix[np.array(objects, dtype=int) - 1, k] = True
    return matrix


def assert_same_views(expected):
    partition = partition_of(expected)
    normalized = partition.normalized("dempster")
    bets = belief.pignistic(partition.masses, partition.focal_sets, normalize=False)
    for key, values in {
        "pl": partition.plausibility,
        "bel": partition.belief,
        "betp": bets,
        "pl.n": normalized.plausibility,
        "bel.n": normalized.belief,
        "betp.n": partition.pignistic,
        "p": partition.normalized_plausibility,
        "N": [partition.average_nonspecificity],
    }.items():
        np.testing.assert_allclose(
            values, expected[key], rtol=1e-13, atol=1e-15, err_msg=key
        )

    for key, rule, values in (
        ("y.pl", "plausibility", partition.plausibility),
        ("y.bel", "belief", partition.belief),
    ):
        clear = is_unique_maximum(values)
        np.testing.assert_array_equal(
            partition.decide(rule)[clear] + 1, np.array(expected[key])[clear]
        )

    clear = is_unique_maximum(partition.masses)
    n_samples = len(partition)
    for key, sets in (
        ("Y", partition.maximum_mass_sets),
        ("lower.approx", partition.lower),
        ("upper.approx", partition.upper),
    ):
        value = expected[key]
        matrix = np.array(value) if key == "Y" else members(value, n_samples)
        np.testing.assert_array_equal(sets[clear], matrix[clear], err_msg=key)
    outliers = members([expected["outlier"]], n_samples)[:, 0]
    alone = ~partition.maximum_mass_sets.any(axis=1)
    np.testing.assert_array_equal(alone[clear], outliers[clear])

    rule = "interval_dominance"
    np.testing.assert_array_equal(partition.interval_dominance_sets, expected["Ynd"])
    np.testing.assert_array_equal(
        partition.lower_approximation(rule),
        members(expected["lower.approx.nd"], n_samples),
    )
    np.testing.assert_array_equal(
        partition.upper_approximation(rule),
        members(expected["upper.approx.nd"], n_samples),
    )


class TestReference:
    @pytest.mark.parametrize("name", ["c3_full", "c4_pairs"])
    def test_views_equal_those_of_an_independent_program(self, name):
        assert_same_views(read_excerpt("evclust_views.json")[name])

    def test_views_equal_all_reference_values(self, reference):
        results = reference("extractMass.json")
        for name in ("outA", "outB", "hard", "fuzzy"):
            assert_same_views(results[name])
        assert_same_views(reference("extractMass_pairs_c4.json")["out"])

    def test_a_tie_goes_to_the_lowest_number_here_and_anywhere_there(self, reference):
        # Object 3 is equally plausible in all clusters; max.col drew cluster 3.
        fuzzy = reference("extractMass.json")["fuzzy"]
        assert fuzzy["y.pl"][2] == 3
        assert partition_of(fuzzy).labels[2] == 0

    def test_similarity_equals_that_of_an_independent_program(self):
        expected = read_excerpt("evclust_similarity.json")
        partition = CredalPartition(expected["mass"], FocalSets.singletons(4))
        np.testing.assert_allclose(
            partition.cluster_similarity, expected["S"], rtol=1e-13
        )

    def test_similarity_equals_the_reference_value(self, reference):
        expected = reference("createPairs.json")
        partition = CredalPartition(expected["mass"], FocalSets.singletons(4))
        np.testing.assert_allclose(
            partition.cluster_similarity, expected["S"], rtol=1e-13
        )


class TestWorkedExample:
    def test_plausibility_and_pignistic_probability(self, example):
        np.testing.assert_allclose(
            example.plausibility, [[1, 0], [0.8, 0.4], [0.2, 0.9], [1, 1]]
        )
        np.testing.assert_allclose(
            example.pignistic[2], [0.1111111111, 0.8888888889], atol=5e-11
        )

    def test_sets_of_clusters(self, example):
        expected = [[True, False], [True, False], [False, True], [True, True]]
        np.testing.assert_array_equal(example.maximum_mass_sets, expected)
        np.testing.assert_array_equal(example.interval_dominance_sets, expected)
        np.testing.assert_array_equal(example.upper, expected)
        np.testing.assert_array_equal(example.lower, [*expected[:3], [False, False]])

    def test_average_nonspecificity(self, example):
        assert example.average_nonspecificity == pytest.approx(0.375, abs=1e-15)
        np.testing.assert_allclose(example.nonspecificity, [0, 0.2, 0.3, 1])

    def test_cluster_similarity(self, example):
        np.testing.assert_allclose(
            example.cluster_similarity,
            [[2.6893827160, 1.5422222222], [1.5422222222, 2.16]],
            atol=5e-11,
        )

    def test_doubt_is_what_the_best_bet_leaves_or_the_mass_on_the_empty_set(self):
        partition = CredalPartition(
            [
                [0, 1, 0, 0],
                [0, 0.6, 0.2, 0.2],
                [0.1, 0, 0.72, 0.18],
                [0, 0, 0, 1],
                [0.4, 0.54, 0.06, 0],
                [1, 0, 0, 0],
            ],
            FocalSets.full(2),
        )
        np.testing.assert_allclose(
            partition.doubt, [0, 0.3, 0.1, 0.5, 0.4, 1], atol=1e-15
        )

    def test_flags_of_objects(self, example):
        np.testing.assert_array_equal(example.is_clear, [1, 0, 1, 0])
        np.testing.assert_array_equal(example.is_ambiguous, [0, 1, 0, 1])
        np.testing.assert_array_equal(example.is_outlier, [0, 0, 0, 0])
        np.testing.assert_allclose(example.outlier_mass, [0, 0, 0.1, 0])


class TestProperties:
    @quick
    @given(credal_partitions())
    def test_any_partition_is_valid(self, partition):
        assert_valid_partition(partition)

    @quick
    @given(credal_partitions())
    def test_lower_approximations_lie_in_the_upper_ones(self, partition):
        for rule in ("maximum_mass", "interval_dominance"):
            lower = partition.lower_approximation(rule)
            upper = partition.upper_approximation(rule)
            assert (lower <= upper).all()
            alone = upper.sum(axis=1) == 1
            np.testing.assert_array_equal(lower[alone], upper[alone])
            assert not lower[~alone].any()
        np.testing.assert_array_equal(partition.lower, partition.lower_approximation())
        np.testing.assert_array_equal(partition.upper, partition.upper_approximation())

    @quick
    @given(credal_partitions())
    def test_interval_dominance_keeps_the_most_plausible_cluster(self, partition):
        sets = partition.interval_dominance_sets
        assert sets[np.arange(len(partition)), partition.labels].all()

    @quick
    @given(credal_partitions())
    def test_interval_dominance_does_not_depend_on_normalisation(self, partition):
        inside = 1 - partition.outlier_mass > 1e-9
        np.testing.assert_array_equal(
            partition.normalized().interval_dominance_sets[inside],
            partition.interval_dominance_sets[inside],
        )

    @quick
    @given(credal_partitions())
    def test_doubt_and_nonspecificity_lie_between_zero_and_one(self, partition):
        for values in (partition.doubt, partition.nonspecificity):
            assert (values >= 0).all()
            assert (values <= 1 + 1e-12).all()

    @quick
    @given(credal_partitions())
    def test_similarity_is_a_gram_matrix(self, partition):
        similarity = partition.cluster_similarity
        np.testing.assert_allclose(similarity, similarity.T)
        assert np.linalg.eigvalsh(similarity).min() > -1e-9

    @quick
    @given(st.data())
    def test_no_object_matters_for_another(self, data):
        partition = data.draw(credal_partitions(min_rows=2))
        row = data.draw(st.integers(0, len(partition) - 1))
        alone = partition[row]
        for name in VIEWS:
            if name != "cluster_similarity":
                np.testing.assert_allclose(
                    getattr(alone, name)[0], getattr(partition, name)[row], atol=1e-12
                )


class TestTies:
    def test_equal_sums_in_another_order_are_a_tie(self, rng):
        # Masses that do not change when clusters 0 and 2 swap: their plausibilities,
        # beliefs and probabilities are equal on paper, and added up in another order.
        focal_sets = FocalSets.full(4)
        swapped = focal_sets.relabel([2, 1, 0, 3])
        columns = [swapped.index(subset) for subset in focal_sets]
        masses = rng.dirichlet(np.ones(16), size=500)
        partition = CredalPartition((masses + masses[:, columns]) / 2, focal_sets)
        assert (partition.plausibility[:, 0] != partition.plausibility[:, 2]).any()
        for rule in ("plausibility", "belief", "pignistic"):
            assert not (partition.decide(rule) == 2).any()
        one_by_one = np.concatenate([partition[i].labels for i in range(100)])
        np.testing.assert_array_equal(one_by_one, partition.labels[:100])

    def test_ties_go_to_the_first(self):
        partition = CredalPartition(
            [[0.5, 0, 0, 0.5], [0, 0.5, 0.5, 0], [1, 0, 0, 0]], FocalSets.full(2)
        )
        np.testing.assert_array_equal(partition.labels, [0, 0, 0])
        np.testing.assert_array_equal(partition.maximum_mass_index, [0, 1, 0])
        np.testing.assert_array_equal(partition.is_outlier, [True, False, True])


class TestNearlyEverythingOnTheEmptySet:
    @pytest.mark.parametrize("left", [1e-6, 1e-10, 1e-15])
    def test_the_little_that_is_left_decides(self, left):
        masses = [[1 - left, 0.1 * left, 0.9 * left, 0]]
        partition = CredalPartition(masses, FocalSets.full(2))
        assert partition.labels[0] == 1
        np.testing.assert_array_equal(
            partition.interval_dominance_sets, [[False, True]]
        )
        assert partition.is_outlier[0]
        assert partition.doubt[0] == pytest.approx(1.0, abs=1.1 * left)

    def test_similarity_leaves_out_objects_of_no_cluster(self):
        partition = CredalPartition(
            [[1, 0, 0, 0], [1 - 1e-14, 1e-14, 0, 0], [0.5, 0, 0.5, 0]],
            FocalSets.full(2),
        )
        np.testing.assert_allclose(partition.cluster_similarity, [[0, 0], [0, 1]])

    def test_similarity_is_bounded_when_rows_sum_to_one_only_roughly(self):
        # Dividing by 1 - m(∅) = 1e-8 would make a plausibility of 50.
        partition = CredalPartition([[1 - 1e-8, 5e-7, 0, 0]], FocalSets.full(2))
        np.testing.assert_allclose(partition.cluster_similarity, [[1, 0], [0, 0]])

    def test_probabilities_are_equal_where_nothing_is_left(self):
        partition = CredalPartition([[1, 0, 0, 0]], FocalSets.full(2))
        np.testing.assert_array_equal(partition.pignistic, [[0.5, 0.5]])
        np.testing.assert_array_equal(partition.normalized_plausibility, [[0.5, 0.5]])
        np.testing.assert_array_equal(partition.interval_dominance_sets, [[1, 1]])


class TestOneClusterAndNoObjects:
    def test_one_cluster_is_specific(self):
        partition = CredalPartition([[0.2, 0.8], [1, 0]], FocalSets.singletons(1))
        np.testing.assert_array_equal(partition.nonspecificity, [0, 0])
        assert partition.average_nonspecificity == 0.0
        np.testing.assert_array_equal(partition.labels, [0, 0])
        np.testing.assert_array_equal(partition.pignistic, [[1], [1]])

    @pytest.mark.parametrize("name", VIEWS)
    def test_no_objects_have_empty_views(self, example, name):
        view = getattr(example[:0], name)
        if name == "cluster_similarity":
            np.testing.assert_array_equal(view, np.zeros((2, 2)))
        else:
            assert view.shape == (0, *getattr(example, name).shape[1:])
            assert view.dtype == getattr(example, name).dtype

    def test_no_objects_have_no_average(self, example):
        assert np.isnan(example[:0].average_nonspecificity)


class TestImmutability:
    @pytest.mark.parametrize("name", VIEWS)
    def test_views_are_computed_once_and_read_only(self, example, name):
        view = getattr(example, name)
        assert getattr(example, name) is view
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 0
