"""Hard, fuzzy, rough and possibilistic partitions as special cases."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from credalis import CredalPartition, FocalSets, belief
from helpers import assert_valid_partition

# A slow moment of a busy machine is no failure.
quick = settings(max_examples=40)

shapes = st.tuples(st.integers(1, 6), st.integers(1, 4))
matrices = shapes.flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1))
)


class TestLabels:
    @quick
    @given(st.lists(st.integers(-1, 5), min_size=1, max_size=9))
    def test_labels_come_back(self, labels):
        partition = CredalPartition.from_labels(labels)
        assert_valid_partition(partition, len(labels))
        np.testing.assert_array_equal(partition.decide(outlier=-1), labels)
        assert partition.n_clusters == max(max(labels) + 1, 1)
        np.testing.assert_array_equal(partition.is_outlier, np.array(labels) == -1)
        inside = ~partition.is_outlier
        assert belief.is_certain(partition.masses, partition.focal_sets)[inside].all()

    def test_the_number_of_clusters_may_be_larger_than_the_labels_show(self):
        partition = CredalPartition.from_labels([0, 1], n_clusters=3)
        np.testing.assert_array_equal(partition.masses, [[0, 1, 0, 0], [0, 0, 1, 0]])
        assert partition.focal_sets == FocalSets.singletons(3, frame=False)

    @pytest.mark.parametrize(
        "labels",
        [
            np.array([1, 0, 2], dtype=np.uint8),
            np.array([1, 0, 2], dtype=np.int8),
            pd.Series([1, 0, 2]),
            (1, 0, 2),
        ],
        ids=["uint8", "int8", "series", "tuple"],
    )
    def test_other_forms_of_integers_are_labels_too(self, labels):
        assert CredalPartition.from_labels(labels) == CredalPartition.from_labels(
            [1, 0, 2]
        )

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([], r"vector of at least one label, got shape \(0,\)"),
            ([[0, 1]], r"vector of at least one label, got shape \(1, 2\)"),
            (3, r"vector of at least one label, got shape \(\)"),
            ([0.0, 1.0], "labels must be integers, got dtype float64"),
            ([0, np.nan], "labels must be integers, got dtype float64"),
            (["a", "b"], "labels must be integers, got dtype <U1"),
            ([True, False], "labels must be integers, got dtype bool"),
            ([0, -2], "between -1 and n_clusters - 1 = 0, got -2"),
        ],
    )
    def test_what_is_not_a_vector_of_labels_is_refused(self, labels, message):
        with pytest.raises(ValueError, match=message):
            CredalPartition.from_labels(labels)

    def test_labels_beyond_the_number_of_clusters_are_refused(self):
        with pytest.raises(ValueError, match="n_clusters - 1 = 1, got 2"):
            CredalPartition.from_labels([0, 2], n_clusters=2)

    @pytest.mark.parametrize("n_clusters", [0, 2.0, "2"])
    def test_the_number_of_clusters_must_be_a_positive_integer(self, n_clusters):
        with pytest.raises(ValueError, match="n_clusters must be an integer >= 1"):
            CredalPartition.from_labels([0, 0], n_clusters=n_clusters)


class TestFuzzy:
    @quick
    @given(matrices)
    def test_memberships_come_back(self, weights):
        memberships = (weights + 0.01) / (weights + 0.01).sum(axis=1, keepdims=True)
        partition = CredalPartition.from_fuzzy(memberships)
        assert_valid_partition(partition, len(memberships))
        np.testing.assert_array_equal(partition.plausibility, memberships)
        np.testing.assert_array_equal(partition.belief, memberships)
        np.testing.assert_allclose(partition.pignistic, memberships)
        assert belief.is_bayesian(partition.masses, partition.focal_sets).all()

    @pytest.mark.parametrize(
        ("memberships", "message"),
        [
            ([[0.5, 0.4]], r"row of memberships must sum to 1, row 0 sums to 0\.9"),
            ([[1.2, -0.2]], r"memberships must be >= 0, the smallest is -0\.2"),
            ([[0.5, np.nan]], "memberships must be finite, got nan in row 0, column 1"),
            ([[np.inf, 0]], "memberships must be finite, got inf"),
            ([0.5, 0.5], r"memberships must have shape .*, got \(2,\)"),
            ([], r"memberships must have shape .*, got \(0,\)"),
            ([["a", "b"]], "memberships must be an array of numbers"),
            ([[0.5, 0.5], [1.0]], "memberships must be an array of numbers"),
        ],
    )
    def test_what_is_not_a_matrix_of_memberships_is_refused(self, memberships, message):
        with pytest.raises(ValueError, match=message):
            CredalPartition.from_fuzzy(memberships)


class TestRough:
    @quick
    @given(shapes.flatmap(lambda shape: arrays(bool, shape)))
    def test_approximations_come_back(self, upper):
        lower = upper & (upper.sum(axis=1, keepdims=True) == 1)
        partition = CredalPartition.from_rough(lower, upper)
        assert_valid_partition(partition, len(upper))
        np.testing.assert_array_equal(partition.lower, lower)
        np.testing.assert_array_equal(partition.upper, upper)
        np.testing.assert_array_equal(partition.is_outlier, ~upper.any(axis=1))
        assert belief.is_logical(partition.masses, partition.focal_sets).all()

    def test_focal_sets_are_listed_by_size(self):
        upper = [[1, 1, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
        lower = [[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]]
        partition = CredalPartition.from_rough(lower, upper)
        assert partition.focal_sets.names == (
            "∅",
            *("{0}", "{1}", "{2}", "{0,1}", "{1,2}"),
            "Ω",
        )

    @pytest.mark.parametrize(
        ("lower", "upper", "message"),
        [
            ([[1, 0]], [[0, 1]], r"object 0 with lower \[0\] and upper \[1\]"),
            ([[1, 0]], [[1, 1]], r"object 0 with lower \[0\] and upper \[0, 1\]"),
            ([[1, 1]], [[1, 1]], r"object 0 with lower \[0, 1\] and upper \[0, 1\]"),
            ([[0, 0], [0, 0]], [[1, 1], [1, 0]], r"object 1 with lower \[\] and upper"),
            ([[1, 0]], [[1, 0, 0]], r"same shape, got \(1, 2\) and \(1, 3\)"),
            ([[2, 0]], [[1, 0]], "lower must hold only True and False"),
            ([[1, 0]], [[0.5, 0]], "upper must hold only True and False"),
            ([1, 0], [1, 0], r"lower must have shape .*, got \(2,\)"),
            ([[1, 0]], [["x", 0]], "upper must be an array of numbers"),
            ([[np.nan, 0]], [[1, 0]], "lower must be finite"),
        ],
    )
    def test_contradictions_are_refused(self, lower, upper, message):
        with pytest.raises(ValueError, match=message):
            CredalPartition.from_rough(lower, upper)


class TestPossibilities:
    @quick
    @given(matrices)
    def test_contour_functions_come_back(self, possibilities):
        partition = CredalPartition.from_possibilities(possibilities)
        assert_valid_partition(partition, len(possibilities))
        np.testing.assert_allclose(partition.plausibility, possibilities, atol=1e-15)
        np.testing.assert_allclose(
            partition.outlier_mass, 1 - possibilities.max(axis=1), atol=1e-15
        )
        assert belief.is_consonant(partition.masses, partition.focal_sets, tol=0).all()

    def test_each_level_set_gets_the_drop_to_the_next_level(self):
        partition = CredalPartition.from_possibilities([[0.25, 0.75, 0.25], [1, 1, 0]])
        assert partition.focal_sets.subsets == (
            (),
            *((0,), (1,), (2,), (0, 1)),
            (0, 1, 2),
        )
        np.testing.assert_array_equal(
            partition.masses,
            [[0.25, 0, 0.5, 0, 0, 0.25], [0, 0, 0, 0, 1, 0]],
        )

    @pytest.mark.parametrize(
        ("possibilities", "message"),
        [
            ([[0.5, 1.5]], r"must lie in \[0, 1\], got 1\.5"),
            ([[0.5, 1 + 1e-9]], r"must lie in \[0, 1\], got 1\.000000001"),
            ([[-0.5, 1]], r"must lie in \[0, 1\], got -0\.5"),
            ([[np.nan, 1]], "possibilities must be finite, got nan"),
            ([[]], r"possibilities must have shape .*, got \(1, 0\)"),
            ([0.5], r"possibilities must have shape .*, got \(1,\)"),
            ("high", "possibilities must be an array of numbers, got str"),
        ],
    )
    def test_what_is_not_a_matrix_of_possibilities_is_refused(
        self, possibilities, message
    ):
        with pytest.raises(ValueError, match=message):
            CredalPartition.from_possibilities(possibilities)


class TestReference:
    def test_hard_and_fuzzy_partitions_equal_the_reference(self, reference):
        results = reference("extractMass.json")
        hard = CredalPartition.from_labels(np.array(results["hard_y"]) - 1)
        np.testing.assert_array_equal(hard.masses, results["hard"]["mass"])
        np.testing.assert_array_equal(hard.focal_sets.membership, results["hard"]["F"])
        # Memberships that sum to less than one put the rest on ∅ there; from_fuzzy
        # refuses them, and the same masses need the constructor.
        fuzzy = np.array(results["fuzzy"]["mass"])
        complete = fuzzy[:, 0] == 0
        np.testing.assert_array_equal(
            CredalPartition.from_fuzzy(fuzzy[complete, 1:]).masses, fuzzy[complete]
        )
        with pytest.raises(ValueError, match="memberships must sum to 1"):
            CredalPartition.from_fuzzy(fuzzy[:, 1:])
