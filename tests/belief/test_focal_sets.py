"""FocalSets: order, derived matrices, equality, and what is refused."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis import FocalSets
from helpers import focal_set_lists

# A slow moment of a busy machine is no failure.
quick = settings(max_examples=40)

ONE_CLUSTER = st.sampled_from(
    [FocalSets.singletons(1), FocalSets.singletons(1, empty=False)]
)
REFERENCE = Path(__file__).parents[1] / "reference"


def read_excerpt(name):
    return json.loads((REFERENCE / name).read_text(encoding="utf-8"))


def built_like(key):
    """Our list for a key such as "c4_pairs_OmegaFALSE"."""
    if key == "c4_pairs_12_34":
        return FocalSets.pairs(4, [(0, 1), (2, 3)])
    size, kind, frame = key.split("_")
    builder = {
        "full": FocalSets.full,
        "pairs": FocalSets.pairs,
        "simple": FocalSets.singletons,
    }[kind]
    return builder(int(size[1:]), frame=frame == "OmegaTRUE")


def assert_same_matrices(focal_sets, expected):
    np.testing.assert_array_equal(focal_sets.membership, expected["F"])
    np.testing.assert_array_equal(focal_sets.disjoint, expected["conflict"])
    np.testing.assert_array_equal(focal_sets.either_empty, expected["E"])
    np.testing.assert_array_equal(focal_sets.same_singleton, expected["S"])


class TestBuilders:
    def test_singletons_are_listed_between_empty_set_and_frame(self):
        assert FocalSets.singletons(3).subsets == ((), (0,), (1,), (2,), (0, 1, 2))

    def test_pairs_follow_the_singletons_in_lexicographic_order(self):
        assert FocalSets.pairs(3).subsets == (
            (),
            *((0,), (1,), (2,)),
            *((0, 1), (0, 2), (1, 2)),
            (0, 1, 2),
        )

    def test_full_list_counts_in_binary_with_cluster_zero_lowest(self):
        focal_sets = FocalSets.full(3)
        codes = [sum(2**k for k in subset) for subset in focal_sets]
        assert codes == list(range(8))

    def test_given_pairs_are_sorted_and_may_come_in_any_form(self):
        pairs = np.array([[3, 2], [1, 0]])
        assert FocalSets.pairs(4, pairs).subsets[5:7] == ((0, 1), (2, 3))

    @pytest.mark.parametrize("builder", [FocalSets.singletons, FocalSets.pairs])
    def test_frame_of_one_cluster_is_not_repeated(self, builder):
        assert builder(1).subsets == ((), (0,))

    def test_the_only_pair_of_two_clusters_is_the_frame_and_not_repeated(self):
        assert FocalSets.pairs(2).subsets == ((), (0,), (1,), (0, 1))
        assert FocalSets.pairs(2, frame=False) == FocalSets.pairs(2)

    def test_empty_set_and_frame_can_be_left_out(self):
        assert FocalSets.singletons(2, empty=False, frame=False).subsets == (
            (0,),
            (1,),
        )
        assert FocalSets.full(2, empty=False, frame=False).subsets == ((0,), (1,))

    def test_empty_set_and_frame_are_added_once_to_a_given_list(self):
        focal_sets = FocalSets.from_subsets(
            3, [(2, 1), (0, 1, 2)], empty=True, frame=True
        )
        assert focal_sets.subsets == ((), (1, 2), (0, 1, 2))

    def test_lists_equal_those_of_an_independent_program(self):
        for key, membership in read_excerpt("evclust_focal_sets.json").items():
            np.testing.assert_array_equal(built_like(key).membership, membership, key)

    def test_lists_equal_all_reference_values(self, reference):
        for key, membership in reference("makeF.json").items():
            np.testing.assert_array_equal(built_like(key).membership, membership, key)


class TestMatrices:
    def test_worked_example_with_two_clusters(self):
        focal_sets = FocalSets.full(2)
        np.testing.assert_array_equal(
            focal_sets.disjoint,
            [[1, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]],
        )
        np.testing.assert_array_equal(
            focal_sets.apartness,
            [[1, 1, 1, 1], [1, 0, 2, 1], [1, 2, 0, 1], [1, 1, 1, 1]],
        )

    def test_worked_example_with_three_clusters_and_pairs(self):
        np.testing.assert_array_equal(
            FocalSets.pairs(3).apartness,
            [
                [1, 1, 1, 1, 1, 1, 1, 1],
                [1, 0, 2, 2, 1, 1, 2, 1],
                [1, 2, 0, 2, 1, 2, 1, 1],
                [1, 2, 2, 0, 2, 1, 1, 1],
                [1, 1, 1, 2, 1, 1, 1, 1],
                [1, 1, 2, 1, 1, 1, 1, 1],
                [1, 2, 1, 1, 1, 1, 1, 1],
                [1, 1, 1, 1, 1, 1, 1, 1],
            ],
        )

    def test_matrices_equal_those_of_an_independent_program(self):
        expected = read_excerpt("evclust_conflict_matrices.json")["c4_pairs"]
        assert_same_matrices(FocalSets.pairs(4), expected)

    def test_matrices_equal_all_reference_values(self, reference):
        for key, expected in reference("conflict_matrices.json").items():
            assert_same_matrices(built_like(f"{key}_OmegaTRUE"), expected)

    @quick
    @given(focal_set_lists(max_clusters=5) | ONE_CLUSTER)
    def test_matrices_are_what_python_sets_say(self, focal_sets):
        sets = [set(subset) for subset in focal_sets]
        for i, first in enumerate(sets):
            assert focal_sets.cardinality[i] == len(first)
            assert set(np.flatnonzero(focal_sets.membership[i])) == first
            for j, second in enumerate(sets):
                assert focal_sets.disjoint[i, j] == first.isdisjoint(second)
                assert focal_sets.either_empty[i, j] == (not first or not second)
                assert focal_sets.same_singleton[i, j] == (i == j and len(first) == 1)
        frame = set(range(focal_sets.n_clusters))
        assert focal_sets.empty_index == (sets.index(set()) if set() in sets else None)
        assert focal_sets.frame_index == (sets.index(frame) if frame in sets else None)

    def test_without_the_empty_set_no_set_is_empty(self):
        focal_sets = FocalSets.singletons(3, empty=False)
        assert not focal_sets.either_empty.any()
        assert focal_sets.empty_index is None


class TestValue:
    def test_equal_content_is_equal_and_has_the_same_hash(self):
        first = FocalSets(2, ((), (0,), (0, 1)))
        second = FocalSets(np.int32(2), [[], np.array([0]), {1, 0}])
        third = FocalSets.from_subsets(2, ({k} for k in [0]), empty=True, frame=True)
        assert first == second == third
        assert hash(first) == hash(second) == hash(third)
        assert {first: "found"}[second] == "found"

    def test_order_and_number_of_clusters_make_a_difference(self):
        assert FocalSets(2, ((0,), (1,))) != FocalSets(2, ((1,), (0,)))
        assert FocalSets(2, ((0,), (1,))) != FocalSets(3, ((0,), (1,)))

    def test_the_clusters_of_a_set_come_in_any_order(self):
        assert FocalSets(3, ((2, 0), (1,))).subsets == ((0, 2), (1,))

    @quick
    @given(focal_set_lists(max_clusters=5) | ONE_CLUSTER)
    def test_round_trips_give_an_equal_value(self, focal_sets):
        _ = focal_sets.membership  # a computed matrix must not come along
        for other in (
            FocalSets.from_json(focal_sets.to_json()),
            FocalSets.from_dict(focal_sets.to_dict()),
            pickle.loads(pickle.dumps(focal_sets)),
            copy.deepcopy(focal_sets),
        ):
            assert other == focal_sets
            assert hash(other) == hash(focal_sets)
            assert not other.membership.flags.writeable

    def test_json_is_plain(self):
        assert json.loads(FocalSets.pairs(2).to_json()) == {
            "n_clusters": 2,
            "subsets": [[], [0], [1], [0, 1]],
        }

    def test_fields_cannot_be_changed(self):
        focal_sets = FocalSets.full(2)
        with pytest.raises(FrozenInstanceError):
            focal_sets.n_clusters = 3

    @pytest.mark.parametrize(
        "name",
        [
            "membership",
            "cardinality",
            "disjoint",
            "either_empty",
            "same_singleton",
            "apartness",
        ],
    )
    def test_matrices_are_computed_once_and_read_only(self, name):
        focal_sets = FocalSets.pairs(3)
        matrix = getattr(focal_sets, name)
        assert getattr(focal_sets, name) is matrix
        with pytest.raises(ValueError, match="read-only"):
            matrix[0] = 1

    @quick
    @given(st.data())
    def test_relabelling_back_gives_the_same_list(self, data):
        focal_sets = data.draw(focal_set_lists(max_clusters=5))
        order = data.draw(st.permutations(range(focal_sets.n_clusters)))
        relabeled = focal_sets.relabel(order)
        for before, after in zip(focal_sets, relabeled, strict=True):
            assert {order[k] for k in before} == set(after)
        assert relabeled.relabel(np.argsort(order)) == focal_sets

    def test_sets_are_found_whatever_the_order_of_their_clusters(self):
        focal_sets = FocalSets.pairs(3)
        assert focal_sets.index([2, 1]) == 6
        assert (2, 1) in focal_sets
        assert (0,) in focal_sets
        assert (0, 1) not in FocalSets.singletons(3)
        assert 0 not in focal_sets
        assert [focal_sets.index(subset) for subset in focal_sets] == list(range(8))

    def test_is_full_only_for_all_subsets_in_binary_order(self):
        full = FocalSets.full(3)
        assert full.is_full
        assert FocalSets.pairs(2).is_full
        assert not FocalSets.pairs(3).is_full  # all subsets in another order
        assert not FocalSets.full(3, empty=False).is_full

    def test_names_are_readable(self):
        assert FocalSets.pairs(3).names == (
            "∅",
            *("{0}", "{1}", "{2}", "{0,1}", "{0,2}", "{1,2}"),
            "Ω",
        )
        assert FocalSets.singletons(1).names == ("∅", "{0}")

    def test_a_long_list_has_a_short_text(self):
        assert repr(FocalSets.pairs(40)) == (
            "FocalSets(40 clusters: ∅, {0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, ..., Ω)"
        )
        assert repr(FocalSets.pairs(2)) == "FocalSets(2 clusters: ∅, {0}, {1}, Ω)"


class TestBadInput:
    @pytest.mark.parametrize("n_clusters", [0, -1, 1.5, 2.0, "3", None, True, [2]])
    @pytest.mark.parametrize(
        "build",
        [
            FocalSets.singletons,
            FocalSets.pairs,
            FocalSets.full,
            lambda n_clusters: FocalSets.from_subsets(n_clusters, [(0,)]),
            lambda n_clusters: FocalSets(n_clusters, ((0,),)),
        ],
        ids=["singletons", "pairs", "full", "from_subsets", "constructor"],
    )
    def test_number_of_clusters_must_be_a_positive_integer(self, build, n_clusters):
        with pytest.raises(ValueError, match=r"n_clusters.* must be an integer >= 1"):
            build(n_clusters)

    @pytest.mark.parametrize(
        ("subsets", "message"),
        [
            ([(0,), (1,), (0,)], r"must be distinct, got \(0,\) twice"),
            ([(0, 1), (1, 0)], r"must be distinct, got \(0, 1\) twice"),
            ([(), ()], r"must be distinct, got \(\) twice"),
            ([(0, 0)], r"distinct clusters between 0 and 2, got \(0, 0\)"),
            ([(3,)], r"between 0 and 2, got \(3,\)"),
            ([(-1,)], r"between 0 and 2, got \(-1,\)"),
            ([], "at least one focal set, got none"),
            ([(0.0,)], r"cluster numbers, got \(0.0,\)"),
            ([(True,)], r"cluster numbers, got \(True,\)"),
            (["0"], "cluster numbers, got '0'"),
            ("01", "cluster numbers, got '0'"),
            ([0], "cluster numbers, got 0"),
            ([None], "cluster numbers, got None"),
            (None, "subsets must be an iterable of subsets, got None"),
            (5, "subsets must be an iterable of subsets, got 5"),
        ],
    )
    def test_lists_that_are_no_lists_of_subsets_are_refused(self, subsets, message):
        with pytest.raises(ValueError, match=message):
            FocalSets(3, subsets)
        with pytest.raises(ValueError, match=message):
            FocalSets.from_subsets(3, subsets)

    @pytest.mark.parametrize(
        ("pairs", "message"),
        [
            ("some", "pairs must be 'all' or an iterable of pairs, got 'some'"),
            ([(0, 1, 2)], r"pairs must hold two clusters each, got \(0, 1, 2\)"),
            ([(0,)], r"pairs must hold two clusters each, got \(0,\)"),
            ([(0, 0)], r"distinct clusters between 0 and 2, got \(0, 0\)"),
            ([(0, 3)], r"distinct clusters between 0 and 2, got \(0, 3\)"),
            ([(0, 1), (1, 0)], r"must be distinct, got \(0, 1\) twice"),
            (7, "pairs must be an iterable of subsets, got 7"),
        ],
    )
    def test_wrong_pairs_are_refused(self, pairs, message):
        with pytest.raises(ValueError, match=message):
            FocalSets.pairs(3, pairs)

    def test_all_subsets_of_thirteen_clusters_are_too_many(self):
        with pytest.raises(ValueError, match=r"all subsets.* <= 12, got 13"):
            FocalSets.full(13)
        assert len(FocalSets.full(12)) == 4096

    def test_a_set_that_is_not_listed_has_no_index(self):
        with pytest.raises(ValueError, match=r"must be a focal set of .*, got \{0,1\}"):
            FocalSets.singletons(3).index((0, 1))

    @pytest.mark.parametrize(
        "order",
        [[0, 1], [0, 1, 1], [1, 2, 3], [0.0, 1.0, 2.0], "012", 3, [[0, 1, 2]], None],
    )
    def test_new_labels_must_be_a_permutation(self, order):
        with pytest.raises(
            ValueError, match=r"new_labels must be a permutation of 0, \.\.\., 2, got"
        ):
            FocalSets.full(3).relabel(order)

    @pytest.mark.parametrize(
        "text",
        ["", "[]", "3", '{"n_clusters": 2}', '{"n_clusters": 2, "subsets": 1}', "{"],
    )
    def test_json_of_something_else_is_refused(self, text):
        with pytest.raises(ValueError):
            FocalSets.from_json(text)
