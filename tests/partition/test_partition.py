"""CredalPartition: what it accepts, decides, selects and stores."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis import CredalPartition, FocalSets, belief
from credalis.exceptions import InvalidMassError
from credalis.partition import uncopied_partition
from helpers import assert_valid_partition, credal_partitions

# A slow moment of a busy machine is no failure.
quick = settings(max_examples=40)

REFERENCE = Path(__file__).parents[1] / "reference"

FULL = FocalSets.full(2)


@pytest.fixture
def example():
    """Four objects: certain, rather certain, perhaps an outlier, unknown."""
    return CredalPartition(
        [[0, 1, 0, 0], [0, 0.6, 0.2, 0.2], [0.1, 0, 0.7, 0.2], [0, 0, 0, 1]], FULL
    )


def read_excerpt(name):
    return json.loads((REFERENCE / name).read_text(encoding="utf-8"))


class TestMasses:
    @pytest.mark.parametrize(
        ("masses", "message"),
        [
            ([[0, 1, 0, np.nan]], r"finite, got nan in row 0, column 3"),
            ([[0, 1, 0, 0], [np.inf, 0, 0, 0]], r"finite, got inf in row 1, column 0"),
            ([[-0.1, 1.1, 0, 0]], r"masses must be >= 0, the smallest is -0\.1"),
            ([[0, 1, 0, 0], [0, 0.6, 0.3, 0]], r"row 1 sums to 0\.9$"),
            ([[0, 1, 0, 1.1e-6]], r"row 0 sums to 1\.0000011"),
            ([[0, 1, 0, 0], [1, 0]], "masses must be an array of numbers, got list"),
            ([["a", "b", "c", "d"]], "array of numbers, got list: its type is text"),
            ([["0", "1", "0", "0"]], "array of numbers, got list: its type is text"),
            (np.array([[0, "1", 0, 0]], dtype=object), "its type is text"),
            (np.array([[0, 1j, 0, 0]]), "its type is complex128"),
            ([[0, 1, 0]], r"shape \(n_samples, 4\), .*, got \(1, 3\)"),
            ([0, 1, 0, 0], r"shape \(n_samples, 4\), .*, got \(4,\)"),
            ([[[0, 1, 0, 0]]], r"shape \(n_samples, 4\), .*, got \(1, 1, 4\)"),
            ([], r"shape \(n_samples, 4\), .*, got \(0,\)"),
            ([[]], r"shape \(n_samples, 4\), .*, got \(1, 0\)"),
            (1.0, r"shape \(n_samples, 4\), .*, got \(\)"),
            (None, "masses must be an array of numbers, got NoneType|shape"),
            ({"a": 1}, "masses must be an array of numbers, got dict"),
        ],
    )
    def test_what_is_not_a_matrix_of_masses_is_refused(self, masses, message):
        with pytest.raises(InvalidMassError, match=message):
            CredalPartition(masses, FULL)

    def test_the_error_is_a_value_error(self):
        with pytest.raises(ValueError, match="sum to 1"):
            CredalPartition([[0, 0, 0, 0]], FULL)

    @pytest.mark.parametrize("focal_sets", [None, [(0,), (1,)], np.eye(4), "full"])
    def test_focal_sets_must_be_a_value_of_their_class(self, focal_sets):
        with pytest.raises(ValueError, match="focal_sets must be a FocalSets, got"):
            CredalPartition(np.eye(4), focal_sets)

    def test_rounding_is_accepted_and_small_negative_values_become_zero(self):
        partition = CredalPartition([[-1e-9, 1 + 5e-7, 0, 0]], FULL)
        np.testing.assert_array_equal(partition.masses, [[0, 1 + 5e-7, 0, 0]])

    def test_masses_are_copied_and_read_only(self):
        masses = np.eye(4)
        partition = CredalPartition(masses, FULL)
        masses[0] = 7.0
        np.testing.assert_array_equal(partition.masses, np.eye(4))
        with pytest.raises(ValueError, match="read-only"):
            partition.masses[0, 0] = 0.5
        with pytest.raises(FrozenInstanceError):
            partition.masses = masses

    @pytest.mark.parametrize(
        "masses",
        [
            np.eye(4, dtype=np.float32),
            np.eye(4, dtype=int),
            np.eye(4, dtype=bool),
            np.asfortranarray(np.eye(4)),
            pd.DataFrame(np.eye(4), columns=list("abcd")),
            np.eye(4).astype(object),
        ],
        ids=["float32", "int", "bool", "fortran", "frame", "object"],
    )
    def test_other_forms_of_the_same_numbers_are_the_same_partition(self, masses):
        partition = CredalPartition(masses, FULL)
        assert partition == CredalPartition(np.eye(4), FULL)
        assert partition.masses.dtype == np.float64

    def test_no_objects_are_a_partition(self):
        partition = CredalPartition(np.empty((0, 4)), FULL)
        assert len(partition) == 0
        assert partition.decide().shape == (0,)
        assert partition.normalized() == partition


class TestAdopt:
    def test_it_keeps_the_array_and_protects_it(self):
        masses = np.array([[0.25, 0.75, 0, 0], [0, 0, 1, 0]])
        partition = uncopied_partition(masses, FocalSets.full(2))
        assert partition.masses is masses
        assert not masses.flags.writeable
        assert partition == CredalPartition(masses, FocalSets.full(2))

    def test_it_checks_like_the_constructor(self):
        with pytest.raises(InvalidMassError, match=r"row 0 sums to 0\.5"):
            uncopied_partition(np.array([[0.5, 0, 0, 0]]), FocalSets.full(2))


class TestDecide:
    def test_rules_by_hand(self):
        partition = CredalPartition(
            # {0}: .3, {1}: .2, {1,2}: .5 and {0}: .4, {1}: .3, {1,2}: .3
            [[0, 0.3, 0.2, 0, 0, 0, 0.5, 0], [0, 0.4, 0.3, 0, 0, 0, 0.3, 0]],
            FocalSets.full(3),
        )
        np.testing.assert_array_equal(partition.decide("plausibility"), [1, 1])
        np.testing.assert_array_equal(partition.decide("belief"), [0, 0])
        np.testing.assert_array_equal(partition.decide("pignistic"), [1, 1])
        np.testing.assert_array_equal(
            partition.decide("maximum_mass"), [[0, 1, 1], [1, 0, 0]]
        )
        np.testing.assert_array_equal(
            # No plausibility, (.3, .7, .5) and (.4, .6, .3), is below belief .3; .4.
            partition.decide("interval_dominance"),
            [[1, 1, 1], [1, 1, 0]],
        )

    def test_plausibility_is_the_default_and_the_labels(self, example):
        np.testing.assert_array_equal(example.decide(), example.labels)

    def test_outliers_get_the_label_asked_for(self):
        partition = CredalPartition(
            [[0.6, 0, 0.4, 0], [0.4, 0, 0.6, 0], [1, 0, 0, 0]], FULL
        )
        np.testing.assert_array_equal(partition.decide(), [1, 1, 0])
        np.testing.assert_array_equal(partition.decide(outlier=-1), [-1, 1, -1])
        np.testing.assert_array_equal(partition.decide("belief", outlier=9), [9, 1, 9])

    @pytest.mark.parametrize("rule", ["plausibility", "belief", "maximum_mass"])
    def test_decisions_belong_to_the_caller(self, example, rule):
        decided = example.decide(rule)
        before = decided.copy()
        decided[...] = 1
        np.testing.assert_array_equal(example.decide(rule), before)

    @pytest.mark.parametrize(
        "rule", ["", "Plausibility", "dempster", None, 1, ["belief"]]
    )
    def test_unknown_rules_are_refused(self, example, rule):
        with pytest.raises(ValueError, match="rule must be one of 'plausibility', "):
            example.decide(rule)

    @pytest.mark.parametrize("rule", ["plausibility", "", None])
    def test_approximations_need_a_rule_for_sets(self, example, rule):
        for method in (
            example.lower_approximation,
            example.upper_approximation,
            example.set_names,
        ):
            with pytest.raises(
                ValueError,
                match="rule must be one of 'maximum_mass', 'interval_dominance', 'ver",
            ):
                method(rule)

    @pytest.mark.parametrize("outlier", [1.5, "none", True])
    def test_the_label_of_outliers_must_be_an_integer(self, example, outlier):
        with pytest.raises(ValueError, match="outlier must be an integer, got"):
            example.decide(outlier=outlier)

    @pytest.mark.parametrize("rule", ["maximum_mass", "interval_dominance"])
    def test_sets_have_no_label_for_outliers(self, example, rule):
        with pytest.raises(ValueError, match=f"set-valued rule '{rule}'.* got -1"):
            example.decide(rule, outlier=-1)


class TestRelabel:
    @quick
    @given(st.data())
    def test_relabelling_permutes_the_result_and_nothing_else(self, data):
        partition = data.draw(credal_partitions())
        order = np.array(data.draw(st.permutations(range(partition.n_clusters))))
        relabeled = partition.relabel(order)
        for name in ("plausibility", "belief", "pignistic", "interval_dominance_sets"):
            np.testing.assert_allclose(
                getattr(relabeled, name)[:, order],
                getattr(partition, name),
                atol=1e-12,
                err_msg=name,
            )
        for name in ("outlier_mass", "nonspecificity", "doubt"):
            np.testing.assert_allclose(
                getattr(relabeled, name), getattr(partition, name), atol=1e-12
            )
        np.testing.assert_allclose(
            belief.conflict_matrix(relabeled.masses, relabeled.focal_sets),
            belief.conflict_matrix(partition.masses, partition.focal_sets),
            atol=1e-12,
        )
        assert relabeled.relabel(np.argsort(order)) == partition

    # Of equal values the first wins, and that may be another one: so no ties here.
    def test_decisions_follow_their_clusters(self, rng):
        partition = CredalPartition(
            rng.dirichlet(np.ones(8), size=20), FocalSets.pairs(3)
        )
        order = np.array([2, 0, 1])
        relabeled = partition.relabel(order)
        np.testing.assert_array_equal(relabeled.labels, order[partition.labels])
        np.testing.assert_array_equal(relabeled.upper[:, order], partition.upper)
        np.testing.assert_array_equal(relabeled.lower[:, order], partition.lower)
        assert relabeled.focal_sets == partition.focal_sets

    def test_sets_that_are_not_closed_under_the_change_are_renamed(self):
        focal_sets = FocalSets.pairs(3, [(0, 1)])
        partition = CredalPartition(np.eye(6), focal_sets).relabel([0, 2, 1])
        assert partition.focal_sets.subsets[4] == (0, 2)
        np.testing.assert_array_equal(partition.masses, np.eye(6))

    @pytest.mark.parametrize("order", [[0], [0, 0], [1, 2], [0, 1, 2], "01", 1, None])
    def test_new_labels_must_be_a_permutation(self, example, order):
        with pytest.raises(ValueError, match="new_labels must be a permutation of 0,"):
            example.relabel(order)


class TestSelection:
    @pytest.mark.parametrize(
        "index",
        [
            slice(1, 3),
            slice(None, None, -1),
            [2, 0, 2],
            np.array([True, False, True, False]),
            [False] * 4,
            [],
            -1,
            np.int64(2),
            slice(4, None),
        ],
        ids=str,
    )
    def test_selection_is_that_of_the_rows_of_the_masses(self, example, index):
        selected = example[index]
        assert selected.focal_sets == example.focal_sets
        expected = np.atleast_2d(example.masses[index])
        np.testing.assert_array_equal(selected.masses, expected)
        assert_valid_partition(selected, len(expected))

    @pytest.mark.parametrize("index", [4, -5, [0, 4], [True, False], 1.5, "a", None])
    def test_what_is_not_there_is_an_index_error(self, example, index):
        with pytest.raises(IndexError):
            example[index]

    def test_a_loop_meets_every_object_once(self, example):
        rows = [alone.masses[0] for alone in example]
        np.testing.assert_array_equal(rows, example.masses)


class TestNormalized:
    @quick
    @given(credal_partitions())
    def test_nothing_is_left_on_the_empty_set(self, partition):
        for rule in ("dempster", "yager"):
            normalized = partition.normalized(rule)
            assert_valid_partition(normalized, len(partition))
            assert (normalized.outlier_mass == 0).all()
            assert not normalized.is_outlier.any()
            assert normalized.normalized(rule).allclose(normalized)

    @quick
    @given(credal_partitions())
    def test_yager_keeps_the_nonspecificity(self, partition):
        # ∅ counts as Ω already.
        np.testing.assert_allclose(
            partition.normalized("yager").nonspecificity,
            partition.nonspecificity,
            atol=1e-12,
        )

    @pytest.mark.parametrize("rule", ["dempster", "yager"])
    def test_masses_equal_those_of_an_independent_program(self, rule):
        expected = read_excerpt("evclust_normalize.json")
        partition = CredalPartition(expected["mass"], FocalSets.full(3))
        np.testing.assert_allclose(
            partition.normalized(rule).masses, expected[rule]["mass"], rtol=1e-13
        )

    @pytest.mark.parametrize("rule", ["dempster", "yager"])
    def test_normalised_partitions_equal_all_reference_values(self, reference, rule):
        results = reference("normalize.json")
        expected = results[rule]
        partition = CredalPartition(results["mass"], FocalSets.full(3)).normalized(rule)
        for key, values in {
            "mass": partition.masses,
            "pl": partition.plausibility,
            "bel": partition.belief,
            "betp": partition.pignistic,
            "Ynd": partition.interval_dominance_sets,
            "N": [partition.average_nonspecificity],
        }.items():
            np.testing.assert_allclose(
                values, expected[key], rtol=1e-13, atol=1e-15, err_msg=key
            )

    def test_a_row_that_sums_to_one_only_roughly_becomes_vacuous(self):
        partition = CredalPartition([[1 - 5e-7, 0, 0, 0]], FULL)
        np.testing.assert_array_equal(partition.normalized().masses, [[0, 0, 0, 1]])

    @pytest.mark.parametrize("rule", ["Dempster", "", None, 1])
    def test_unknown_rules_are_refused(self, example, rule):
        with pytest.raises(
            ValueError, match="rule must be one of 'dempster', 'yager', got"
        ):
            example.normalized(rule)


class TestPairs:
    def test_all_pairs_and_chosen_pairs(self, example):
        every = example.pairwise_masses()
        assert every.shape == (4, 4, 4)
        np.testing.assert_allclose(every[1, 2], [0.1, 0.14, 0.42, 0.34], atol=1e-15)
        np.testing.assert_allclose(
            example.pairwise_masses([2, 0], [1]), every[[2, 0]][:, [1]], atol=1e-15
        )

    def test_blocks_are_those_of_the_masses(self, example):
        every = example.pairwise_masses()
        met = 0
        for rows, columns, block in example.pairwise_blocks(max_bytes=256):
            np.testing.assert_allclose(block, every[rows, columns], atol=1e-15)
            met += 1
        assert met == 3  # two objects a side

    @pytest.mark.parametrize("max_bytes", [0, -1, 1.5, "1"])
    def test_the_memory_limit_is_checked_at_once(self, example, max_bytes):
        with pytest.raises(ValueError, match="max_bytes must be an integer >= 1, got"):
            example.pairwise_blocks(max_bytes=max_bytes)

    def test_neighbours_are_mutual(self):
        # Between clusters 0 and 1 there is much, between 1 and 2 little.
        memberships = np.zeros((10, 8))
        focal_sets = FocalSets.pairs(3)
        memberships[:7, focal_sets.index((0, 1))] = 1
        memberships[7:, focal_sets.index((1, 2))] = 1
        partition = CredalPartition(memberships, focal_sets)
        # Cluster 1 is the nearest of 2, but its own nearest is 0.
        assert partition.neighboring_clusters() == [(0, 1)]
        assert partition.neighboring_clusters(2) == [(0, 1), (0, 2), (1, 2)]
        assert partition.neighboring_clusters(9) == [(0, 1), (0, 2), (1, 2)]

    def test_one_cluster_has_no_neighbours(self):
        partition = CredalPartition([[0, 1]], FocalSets.singletons(1))
        assert partition.neighboring_clusters() == []

    def test_a_cluster_is_not_its_own_neighbour(self):
        # Cluster 3 of the reference is more similar to every other cluster than that
        # cluster is to itself. The reference program takes positions 2 to k + 1 of
        # the sorted similarities for granted to be the neighbours: it drops cluster 3
        # and keeps the cluster itself. We leave the diagonal out.
        expected = read_excerpt("evclust_similarity.json")
        partition = CredalPartition(expected["mass"], FocalSets.singletons(4))
        assert partition.neighboring_clusters(2) == [(0, 2), (0, 3), (2, 3)]
        assert partition.neighboring_clusters(1) == [(0, 2)]

        ranked = np.argsort(-partition.cluster_similarity, axis=1)[:, 1:3]
        theirs = [
            [k + 1, j + 1]
            for k in range(4)
            for j in range(k + 1, 4)
            if j in ranked[k] and k in ranked[j]
        ]
        assert theirs == expected["pairs"]

    @pytest.mark.parametrize("n_neighbors", [0, -1, 1.0, "1", True])
    def test_the_number_of_neighbours_must_be_positive(self, example, n_neighbors):
        with pytest.raises(ValueError, match="n_neighbors must be an integer >= 1"):
            example.neighboring_clusters(n_neighbors)


class TestValue:
    @quick
    @given(partition=credal_partitions())
    def test_round_trips_give_an_equal_partition(self, partition, tmp_path_factory):
        _ = partition.plausibility  # a computed view must not come along
        path = tmp_path_factory.mktemp("trip") / "partition.credalis"
        partition.save(path)
        for other in (
            CredalPartition.load(path),
            pickle.loads(pickle.dumps(partition)),
            copy.deepcopy(partition),
            copy.copy(partition),
        ):
            assert other == partition
            assert_valid_partition(other)
            assert "plausibility" not in vars(pickle.loads(pickle.dumps(other)))

    def test_equality_is_that_of_masses_and_focal_sets(self, example):
        assert example == CredalPartition(example.masses, FocalSets.full(2))
        assert example != example[::-1]
        assert example != example[:2]
        renamed = FocalSets.from_subsets(2, [(), (1,), (0,), (0, 1)])
        assert example != CredalPartition(example.masses, renamed)
        assert example != "partition"
        assert (example == 3) is False

    def test_it_has_no_hash(self, example):
        with pytest.raises(TypeError, match="unhashable"):
            hash(example)

    def test_nearly_equal_is_close(self, example):
        moved = np.array(example.masses)
        moved[1] += [0, -1e-9, 1e-9, 0]
        assert example.allclose(CredalPartition(moved, FULL))
        assert not example.allclose(CredalPartition(moved, FULL), atol=1e-10)
        assert not example.allclose(example[:2])
        renamed = FocalSets.from_subsets(2, [(), (1,), (0,), (0, 1)])
        assert not example.allclose(CredalPartition(example.masses, renamed))

    def test_text_says_how_much_there_is(self, example):
        assert repr(example) == "CredalPartition(4 objects, 2 clusters, 4 focal sets)"
