"""Must-link and cannot-link pairs."""

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances

from credalis import constraints
from credalis.constraints import (
    check_constraints,
    check_pairs,
    closure,
    expand,
    random_pairs,
    renumber,
)
from credalis.constraints._expansion import _agreement

N_SAMPLES = 8

any_pairs = st.lists(
    st.tuples(*[st.integers(0, N_SAMPLES - 1)] * 2).filter(
        lambda pair: len({*pair}) > 1
    ),
    max_size=8,
)
label_lists = st.lists(st.sampled_from([-1, 0, 1, 2]), max_size=12)


@st.composite
def constraints_from_labels(draw):
    """Labels, and a random part of the pairs they imply."""
    labels = draw(label_lists)
    n_known = sum(label != -1 for label in labels)
    n_pairs = draw(st.integers(0, n_known * (n_known - 1) // 2))
    seed = draw(st.integers(0, 100))
    return np.array(labels, dtype=int), random_pairs(labels, n_pairs, random_state=seed)


def as_set(pairs):
    return {(min(pair), max(pair)) for pair in np.asarray(pairs).tolist()}


def same_group(must_link, n_samples):
    """Transitive closure of must-links by brute force, (n_samples, n_samples)."""
    joined = np.eye(n_samples, dtype=bool)
    for i, j in must_link:
        joined[i, j] = joined[j, i] = True
    for k in range(n_samples):
        joined |= joined[:, [k]] & joined[[k], :]
    return joined


def assert_in_order(*both):
    for pairs in both:
        assert pairs.dtype == np.intp
        assert pairs.shape == (len(pairs), 2)
        assert (pairs[:, 0] < pairs[:, 1]).all()
        rows = pairs.tolist()
        assert rows == sorted(rows)
        assert len(as_set(pairs)) == len(pairs)


class TestCheckPairs:
    @pytest.mark.parametrize(
        "pairs",
        [
            [(4, 0), (1, 2)],
            ((4, 0), (1, 2)),
            [[4.0, 0.0], [1.0, 2.0]],
            list(zip(np.array([4, 1]), np.array([0, 2]), strict=True)),
            np.array([[4, 0], [1, 2]], dtype=np.uint8),
            pd.DataFrame({"i": [4, 1], "j": [0.0, 2.0]}),
            pd.DataFrame({"i": [4, 1], "j": [0, 2]}, dtype="Int64"),
            pl.DataFrame({"i": [4, 1], "j": [0, 2]}),
        ],
    )
    def test_whole_numbers_of_any_kind_become_an_integer_array(self, pairs):
        checked = check_pairs("must_link", pairs, 5)
        assert checked.dtype == np.intp
        assert checked.tolist() == [[4, 0], [1, 2]]

    @pytest.mark.parametrize(
        "pairs", [None, [], (), np.empty((0, 2)), pd.DataFrame(columns=["i", "j"])]
    )
    def test_no_pairs_have_two_columns_too(self, pairs):
        checked = check_pairs("must_link", pairs, 5)
        assert checked.dtype == np.intp
        assert checked.shape == (0, 2)

    def test_result_does_not_share_memory_with_the_input(self):
        pairs = np.array([[0, 1]], dtype=np.intp)
        check_pairs("must_link", pairs, 5)[:] = 4
        assert pairs.tolist() == [[0, 1]]

    @settings(deadline=None)
    @given(pairs=any_pairs)
    def test_check_is_idempotent(self, pairs):
        once = check_pairs("must_link", pairs, N_SAMPLES)
        twice = check_pairs("must_link", once, N_SAMPLES)
        np.testing.assert_array_equal(once, twice)
        assert once.tolist() == [list(pair) for pair in pairs]

    @pytest.mark.parametrize(
        ("pairs", "message"),
        [
            ([(0, 1), (2, 1.5)], "hold whole numbers, got must_link[1] = (2, 1.5)"),
            ([(0, np.nan)], "hold whole numbers, got must_link[0] = (0, nan)"),
            ([(0, None)], "hold whole numbers, got must_link[0] = (0, None)"),
            ([(0, 1), (True, 2)], "hold whole numbers, got must_link[1] = (True, 2)"),
            (
                np.array([[True, False]]),
                "hold whole numbers, got must_link[0] = (True, False)",
            ),
            ([(0, 1), (2, 5)], "row numbers from 0 to 4, got must_link[1] = (2, 5)"),
            ([(0, 1), (-1, 2)], "row numbers from 0 to 4, got must_link[1] = (-1, 2)"),
            (
                np.array([[0, 250]], dtype=np.uint8),
                "row numbers from 0 to 4, got must_link[0] = (0, 250)",
            ),
            ([(0, np.inf)], "row numbers from 0 to 4, got must_link[0] = (0, inf)"),
            ([(0, 10**30)], "row numbers from 0 to 4, got must_link[0] = (0, 1000"),
            ([(0, 1), (3, 3)], "join different objects, got must_link[1] = (3, 3)"),
            ([(np.int64(2), np.int64(2))], "got must_link[0] = (2, 2)"),
            ([0, 1], "be of shape (n_pairs, 2), got (2,)"),
            ([(0, 1, 2)], "be of shape (n_pairs, 2), got (1, 3)"),
            ([[]], "be of shape (n_pairs, 2), got (1, 0)"),
            (np.empty((0, 3)), "be of shape (n_pairs, 2), got (0, 3)"),
            (3, "be of shape (n_pairs, 2), got ()"),
            ([(0, 1), (2,)], "be an array of numbers, got list"),
            ([("0", "1")], "be an array of numbers, got list: its type is text"),
            (zip([0], [1], strict=True), "be an array of numbers, got zip"),
            ({(0, 1)}, "be an array of numbers, got set"),
        ],
    )
    def test_bad_pairs_are_refused_and_shown(self, pairs, message):
        with pytest.raises(ValueError, match=r"^must_link must ") as error:
            check_pairs("must_link", pairs, 5)
        assert message in str(error.value)

    @pytest.mark.parametrize("n_samples", [0, -1, 2.5, None, True])
    def test_number_of_objects_is_a_positive_integer(self, n_samples):
        with pytest.raises(ValueError, match="n_samples must be an integer >= 1"):
            check_pairs("must_link", [(0, 1)], n_samples)


class TestCheckConstraints:
    def test_duplicates_are_dropped_in_both_directions(self):
        must_link, cannot_link = check_constraints(
            [(5, 3), (3, 5), (0, 1), (3, 5)], [(7, 3), (3, 7)], 8
        )
        assert must_link.tolist() == [[0, 1], [3, 5]]
        assert cannot_link.tolist() == [[3, 7]]

    @settings(deadline=None)
    @given(must=any_pairs, cannot=any_pairs)
    def test_contradiction_is_found_whatever_the_chain(self, must, cannot):
        joined = same_group(must, N_SAMPLES)
        if any(joined[i, j] for i, j in cannot):
            with pytest.raises(ValueError, match="but must_link joins them") as error:
                check_constraints(must, cannot, N_SAMPLES)
            chain = [int(row) for row in str(error.value).split(": ")[1].split("-")]
            assert as_set([(chain[0], chain[-1])]) <= as_set(cannot)
            assert as_set(itertools.pairwise(chain)) <= as_set(must)
        else:
            both = check_constraints(must, cannot, N_SAMPLES)
            assert_in_order(*both)
            assert as_set(both[0]) == as_set(must)
            assert as_set(both[1]) == as_set(cannot)
            for once, twice in zip(
                both, check_constraints(*both, N_SAMPLES), strict=True
            ):
                np.testing.assert_array_equal(once, twice)

    @pytest.mark.parametrize(
        ("must_link", "cannot_link", "message"),
        [
            ([(7, 3)], [(3, 7)], "cannot_link holds (3, 7), but must_link joins "
             "them: 3-7"),
            ([(3, 5), (7, 5)], [(0, 1), (7, 3)], "cannot_link holds (3, 7), but "
             "must_link joins them: 3-5-7"),
            ([(3, 5), (5, 6), (6, 7), (3, 7)], [(3, 7)], "cannot_link holds (3, 7), "
             "but must_link joins them: 3-7"),
            ([(i, i + 1) for i in range(19)], [(0, 19)], "cannot_link holds (0, 19), "
             "but must_link joins them: 0-1-2-3-4-5-6-7-8-...-19"),
        ],
        ids=["direct", "chain", "shortest chain", "long chain"],
    )  # fmt: skip
    @pytest.mark.parametrize("function", [check_constraints, closure])
    def test_message_shows_the_chain(self, function, must_link, cannot_link, message):
        with pytest.raises(ValueError) as error:
            function(must_link, cannot_link, 20)
        assert str(error.value) == message

    def test_message_calls_objects_as_it_is_told(self):
        rows = np.array([10, 20, 30])
        message = r"cannot_link holds \(10, 30\), but must_link joins them: 10-20-30"
        with pytest.raises(ValueError, match=message):
            check_constraints([(0, 1), (1, 2)], [(0, 2)], 3, rows=rows)

    def test_message_names_the_parameter(self):
        with pytest.raises(ValueError, match=r"^must_link must hold row numbers"):
            check_constraints([(0, 9)], None, 5)
        with pytest.raises(ValueError, match=r"^cannot_link must hold row numbers"):
            check_constraints(None, [(0, 9)], 5)


class TestClosure:
    @settings(deadline=None)
    @given(drawn=constraints_from_labels())
    def test_closure_agrees_with_the_labels_and_is_idempotent(self, drawn):
        labels, (must_link, cannot_link) = drawn
        n_samples = max(len(labels), 1)
        must, cannot = closure(must_link, cannot_link, n_samples)
        assert_in_order(must, cannot)
        assert as_set(must_link) <= as_set(must)
        assert as_set(cannot_link) <= as_set(cannot)
        assert (labels[must] != -1).all()
        assert (labels[cannot] != -1).all()
        assert (labels[must[:, 0]] == labels[must[:, 1]]).all()
        assert (labels[cannot[:, 0]] != labels[cannot[:, 1]]).all()
        again = closure(must, cannot, n_samples)
        np.testing.assert_array_equal(again[0], must)
        np.testing.assert_array_equal(again[1], cannot)

    @settings(deadline=None)
    @given(drawn=constraints_from_labels())
    def test_closure_is_all_that_is_implied(self, drawn):
        labels, (must_link, cannot_link) = drawn
        n_samples = max(len(labels), 1)
        joined = same_group(must_link, n_samples).astype(int)
        apart = np.zeros_like(joined)
        apart[cannot_link[:, 0], cannot_link[:, 1]] = 1
        apart = joined @ (apart + apart.T) @ joined
        must, cannot = closure(must_link, cannot_link, n_samples)
        np.testing.assert_array_equal(must, np.argwhere(np.triu(joined, 1)))
        np.testing.assert_array_equal(cannot, np.argwhere(np.triu(apart, 1)))

    def test_all_pairs_are_their_own_closure(self, seed):
        labels = np.random.default_rng(seed).integers(0, 3, 12)
        every = random_pairs(labels, 66, random_state=seed)
        for mine, given_pairs in zip(closure(*every, 12), every, strict=True):
            np.testing.assert_array_equal(mine, given_pairs)

    def test_nothing_implies_nothing(self):
        for pairs in closure(None, None, 3):
            assert_in_order(pairs)
            assert len(pairs) == 0


class TestRandomPairs:
    @settings(deadline=None)
    @given(drawn=constraints_from_labels())
    def test_pairs_are_sorted_by_agreement(self, drawn):
        labels, (must_link, cannot_link) = drawn
        assert_in_order(must_link, cannot_link)
        for pairs, same in ((must_link, True), (cannot_link, False)):
            assert (labels[pairs] != -1).all()
            assert ((labels[pairs[:, 0]] == labels[pairs[:, 1]]) == same).all()

    @pytest.mark.parametrize("n_known", range(9))
    def test_every_pair_can_be_drawn_and_none_twice(self, n_known):
        labels = np.r_[-1, np.zeros(n_known, dtype=int), -1]
        expected = list(itertools.combinations(range(1, n_known + 1), 2))
        must_link, cannot_link = random_pairs(labels, len(expected))
        assert list(map(tuple, must_link.tolist())) == expected
        assert len(cannot_link) == 0

    @pytest.mark.parametrize("n_known", [5, 6])
    def test_pairs_are_equally_probable(self, n_known):
        rng = np.random.RandomState(0)
        counts = np.zeros((n_known, n_known))
        for _ in range(2000):
            for pairs in random_pairs(
                [0, 0, 1, 1, 2, 2][:n_known], 4, random_state=rng
            ):
                counts[tuple(pairs.T)] += 1
        expected = 2000 * 4 / (n_known * (n_known - 1) / 2)
        frequencies = counts[np.triu_indices(n_known, 1)] / expected
        # Five standard deviations of a binomial count.
        np.testing.assert_allclose(frequencies, 1, atol=5 / np.sqrt(expected))

    def test_seed_decides(self, seed):
        labels = np.arange(100) % 3
        one, same = (random_pairs(labels, 20, random_state=seed) for _ in range(2))
        other = random_pairs(labels, 20, random_state=seed + 1)
        assert as_set(one[0]) == as_set(same[0])
        assert as_set(one[1]) == as_set(same[1])
        assert as_set(one[1]) != as_set(other[1])

    def test_source_of_random_numbers_moves_on(self):
        rng = np.random.RandomState(0)
        one, other = (random_pairs(np.arange(99), 9, random_state=rng) for _ in "ab")
        assert as_set(one[1]) != as_set(other[1])

    @pytest.mark.parametrize(
        "labels",
        [
            [0, 1, 0, -1],
            [0.0, 1.0, 0.0, -1.0],
            ["a", "b", "a", -1],
            np.array([5, 7, 5, -1]),
            pd.Series(["a", "b", "a", -1]),
            pl.Series([1, 2, 1, -1]),
        ],
    )
    def test_labels_are_numbers_or_strings(self, labels):
        must_link, cannot_link = random_pairs(labels, 3)
        assert must_link.tolist() == [[0, 2]]
        assert cannot_link.tolist() == [[0, 1], [1, 2]]

    def test_arrays_of_strings_and_truth_values_are_labels(self):
        for labels in (np.array(["a", "b", "a"]), np.array([True, False, True])):
            assert random_pairs(labels, 3)[0].tolist() == [[0, 2]]

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([0, np.nan, 1], r"the number -1 for unknown, got y\[1\] = nan"),
            (np.array([0, 1, np.nan]), r"got y\[2\] = nan"),
            (["a", None], r"got y\[1\] = None"),
            (np.array(["a", -1]), r"got y\[1\] = '-1'"),
            ([0, 1j], r"got y\[1\] = 1j"),
            ([0, [1, 2]], r"got y\[1\] = \[1, 2\]"),
            ([[0, 1], [1, 0]], r"be a vector of labels, got shape \(2, 2\)"),
            (3, r"be a vector of labels, got shape \(\)"),
        ],
    )
    def test_bad_labels_are_refused(self, labels, message):
        with pytest.raises(ValueError, match=f"^y must .*{message}$"):
            random_pairs(labels, 1)

    @pytest.mark.parametrize("n_pairs", [4, -1, 1.0, None, True])
    def test_number_of_pairs_is_possible(self, n_pairs):
        with pytest.raises(ValueError) as error:
            random_pairs([0, 1, 1, -1], n_pairs)
        assert str(error.value) == (
            "n_pairs (of 3 labelled objects) must be an integer >= 0 and <= 3, "
            f"got {n_pairs!r}"
        )

    def test_a_million_objects_need_no_matrix(self):
        n_samples = 10**6
        labels = np.random.default_rng(0).integers(-1, 4, n_samples)
        tracemalloc.start()
        must_link, cannot_link = random_pairs(labels, 1000, random_state=0)
        must, cannot = closure(must_link, cannot_link, n_samples)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 100e6
        assert len(must_link) + len(cannot_link) == 1000
        assert as_set(must_link) <= as_set(must)
        assert (labels[cannot[:, 0]] != labels[cannot[:, 1]]).all()


# R package evclust 2.0.3 (R 4.2.2): the three nearest neighbours, and their distances,
# of the constrained objects among the first 30 objects of its data set "fourclass",
# and what its function `expandlink` makes of the constraints. Its indices start at 1.
# It puts the given pairs first and the added ones after them; we sort.
REFERENCE = {
    "ML": [[1, 5], [7, 20]],
    "CL": [[2, 9], [11, 30]],
    "index": {
        1: [29, 2, 26],
        2: [24, 20, 26],
        5: [27, 6, 28],
        7: [10, 30, 16],
        9: [14, 6, 28],
        11: [25, 18, 13],
        20: [26, 13, 11],
        30: [19, 22, 16],
    },
    "dist": {
        1: [0.424893087416113, 1.63662555744627, 1.8656676644892],
        2: [0.535488652489709, 1.10321227766062, 1.17318718479341],
        5: [0.069242708271841, 0.43653069513023, 0.536595438924263],
        7: [3.77025805805746, 4.10742516929313, 4.33017486161158],
        9: [1.90584190138945, 2.12385363357335, 2.13876725105],
        11: [0.337396504083624, 0.387113663172286, 0.528901417022227],
        20: [0.460957513027151, 0.710701083001285, 0.766190216523162],
        30: [1.04399169871951, 1.12340790292138, 1.15012290320485],
    },
    "outML": [
        [1, 5], [7, 20], [1, 27], [29, 5], [1, 6], [7, 26], [7, 13], [7, 11],
    ],
    "outCL": [
        [2, 9], [11, 30], [24, 9], [20, 9], [26, 9], [25, 30], [18, 30], [13, 30],
    ],
}  # fmt: skip


def matrix_of_neighbors(lists, distances, n_samples=30):
    """A distance matrix with these nearest neighbours, and all else far away."""
    matrix = np.full((n_samples, n_samples), 100.0)
    np.fill_diagonal(matrix, 0)
    for i, neighbors in lists.items():
        matrix[i - 1, np.array(neighbors) - 1] = distances[i]
        matrix[np.array(neighbors) - 1, i - 1] = distances[i]
    return matrix


def expand_by_brute_force(pairs, distances, n_neighbors):
    """The K cheapest pairs near each given one, with their costs."""
    for i, j in pairs:
        near_i = np.argsort(distances[i])[: n_neighbors + 1]
        near_j = np.argsort(distances[j])[: n_neighbors + 1]
        candidates = [
            (distances[i, a] + distances[j, b], int(a), int(b))
            for a, b in itertools.product(near_i, near_j)
            if (a, b) != (i, j)
        ]
        yield from sorted(candidates)[:n_neighbors]


def agreement_by_brute_force(pairs, is_must, n_samples):
    """Whether each pair agrees with those before it that did."""
    kept, agree = ([], []), []
    for pair, must in zip(pairs, is_must, strict=True):
        trial = ([*kept[0], pair], kept[1]) if must else (kept[0], [*kept[1], pair])
        joined = same_group(trial[0], n_samples)
        agree.append(not any(joined[i, j] for i, j in trial[1]))
        kept = trial if agree[-1] else kept
    return agree


class TestExpand:
    def assert_reference(self, expanded, expected):
        assert_in_order(*expanded)
        for pairs, name in zip(expanded, ("outML", "outCL"), strict=True):
            assert as_set(pairs + 1) == as_set(expected[name])

    def test_excerpt_of_an_independent_program(self):
        matrix = matrix_of_neighbors(REFERENCE["index"], REFERENCE["dist"])
        expanded = expand(
            np.array(REFERENCE["ML"]) - 1,
            np.array(REFERENCE["CL"]) - 1,
            matrix,
            n_neighbors=3,
            metric="precomputed",
        )
        self.assert_reference(expanded, REFERENCE)

    def test_values_of_an_independent_program(self, reference):
        expected = reference("expandlink.json")
        matrix = matrix_of_neighbors(
            dict(enumerate(expected["index"], 1)), dict(enumerate(expected["dist"], 1))
        )
        links = np.array(expected["ML"]) - 1, np.array(expected["CL"]) - 1
        expanded = expand(*links, matrix, n_neighbors=3, metric="precomputed")
        self.assert_reference(expanded, expected)

    def test_values_of_an_independent_program_from_attributes(
        self, reference, benchmark_data
    ):
        expected = reference("expandlink.json")
        X = benchmark_data("fourclass")[0][:30]
        links = np.array(expected["ML"]) - 1, np.array(expected["CL"]) - 1
        self.assert_reference(expand(*links, X, n_neighbors=3), expected)

    @pytest.mark.parametrize("n_neighbors", [1, 2, 3, 6, 39])
    def test_definition_by_brute_force(self, seed, n_neighbors):
        X = np.random.default_rng(seed).normal(size=(40, 2))
        distances = pairwise_distances(X)
        must_link, _ = random_pairs(np.zeros(40), 5, random_state=seed)
        added = expand_by_brute_force(must_link, distances, n_neighbors)
        expected = as_set(must_link) | {
            (min(a, b), max(a, b)) for _, a, b in added if a != b
        }
        for data, metric in ((X, "euclidean"), (distances, "precomputed")):
            must, cannot = expand(
                must_link, None, data, n_neighbors=n_neighbors, metric=metric
            )
            assert as_set(must) == expected
            assert len(cannot) == 0

    @pytest.mark.parametrize("n_neighbors", [1, 3, 8])
    def test_contradictions_are_dropped_from_the_most_distant(self, seed, n_neighbors):
        X = np.random.default_rng(seed).normal(size=(30, 2))
        distances = pairwise_distances(X)
        links = random_pairs(np.arange(30) % 3, 25, random_state=seed)
        added = [
            (cost, kind, (a, b))
            for kind, pairs in enumerate(links)
            for cost, a, b in expand_by_brute_force(pairs, distances, n_neighbors)
        ]
        expected = [as_set(pairs) for pairs in links]
        n_dropped = 0
        for _, kind, pair in sorted(added):
            trial = [{*pairs} for pairs in expected]
            trial[kind] |= as_set([pair])
            try:
                check_constraints(*map(sorted, trial), 30)
            except ValueError:
                n_dropped += 1
            else:
                expected = trial
        assert n_dropped > 0
        expanded = expand(*links, X, n_neighbors=n_neighbors)
        assert [as_set(pairs) for pairs in expanded] == expected

    @pytest.mark.parametrize("n_samples", [3, 4, 8])
    def test_agreement_is_checked_pair_by_pair(self, n_samples, rng):
        every = np.array([*itertools.permutations(range(n_samples), 2)])
        for _ in range(200):
            pairs = rng.choice(every, 2 * n_samples)
            is_must = rng.random(len(pairs)) < 0.5
            expected = agreement_by_brute_force(pairs, is_must, n_samples)
            assert _agreement(pairs, is_must).tolist() == expected

    def test_added_pair_gives_way_to_a_given_one(self):
        X = [[0.0], [1.0], [10.0], [20.0]]
        # 0-2 is handed on to 1-2, which is a given cannot-link.
        must_link, cannot_link = expand([(0, 2)], [(1, 2)], X)
        assert must_link.tolist() == [[0, 2]]
        assert cannot_link.tolist() == [[1, 2]]

    def test_added_pair_gives_way_to_a_chain_of_given_ones(self):
        X = [[0.0], [1.0], [10.0], [20.0], [30.0]]
        must_link, cannot_link = expand([(0, 2), (2, 3)], [(1, 3)], X)
        # 0-2 would hand on 1-2, and 1-3 would hand on 0-3 as a cannot-link.
        assert [1, 2] not in must_link.tolist()
        assert cannot_link.tolist() == [[1, 3]]

    def test_of_two_added_pairs_the_nearer_stays(self):
        # 0 must be with 3 and not with 5; 4 is the neighbour of both.
        for between, kept in ((10.4, "must"), (10.6, "cannot")):
            X = [[0.0], [-5.0], [30.0], [10.0], [between], [11.0], [-40.0]]
            must_link, cannot_link = expand([(0, 3)], [(0, 5)], X)
            assert ([0, 4] in must_link.tolist()) == (kept == "must")
            assert ([0, 4] in cannot_link.tolist()) == (kept == "cannot")

    def test_pair_of_neighbors_adds_no_object_with_itself(self):
        X = [[0.0], [1.0], [10.0], [20.0]]
        must_link, _ = expand([(0, 1)], None, X, n_neighbors=1)
        assert must_link.tolist() == [[0, 1]]

    def test_duplicates_do_not_hide_the_object_itself(self):
        X = np.zeros((20, 2))
        X[19] = 5.0
        must_link, _ = expand([(18, 19)], None, X, n_neighbors=2)
        assert len(must_link) == 3
        assert (must_link[:, 1] == 19).all()

    @settings(deadline=None)
    @given(drawn=constraints_from_labels(), n_neighbors=st.integers(1, 4))
    def test_given_pairs_stay_and_nothing_contradicts(self, drawn, n_neighbors):
        labels, links = drawn
        # A grid: many equal distances.
        X = np.column_stack(np.divmod(np.arange(max(len(labels), 5)), 3))
        expanded = expand(*links, X, n_neighbors=n_neighbors)
        assert_in_order(*expanded)
        check_constraints(*expanded, len(X))
        for given_pairs, pairs in zip(links, expanded, strict=True):
            assert as_set(given_pairs) <= as_set(pairs)
            assert len(pairs) <= (1 + n_neighbors) * len(given_pairs)

    def test_direction_of_given_pairs_means_nothing(self, rng):
        X = rng.normal(size=(20, 3))
        links = random_pairs(np.arange(20) % 2, 6, random_state=0)
        turned = [pairs[::-1, ::-1] for pairs in links]
        for one, other in zip(expand(*links, X), expand(*turned, X), strict=True):
            np.testing.assert_array_equal(one, other)

    def test_metric_is_used(self):
        X = np.array([[1.0, 0.0], [1.1, 0.5], [9.0, 0.0], [0.0, 5.0], [0.0, 1.0]])

        def first_attribute(x, z):
            return abs(x[0] - z[0])

        assert [1, 3] in expand([(0, 3)], None, X[:4])[0].tolist()
        assert [2, 3] in expand([(0, 3)], None, X[:4], metric="cosine")[0].tolist()
        by_callable = expand([(0, 3)], None, X, metric=first_attribute)[0].tolist()
        assert [0, 4] in by_callable

    def test_without_constraints_there_is_nothing_to_expand(self):
        for pairs in expand(None, [], [[0.0], [1.0]]):
            assert_in_order(pairs)
            assert len(pairs) == 0

    @pytest.mark.parametrize("n_neighbors", [0, 3, 1.5, True, "auto"])
    def test_number_of_neighbors_is_possible(self, n_neighbors):
        with pytest.raises(ValueError) as error:
            expand([(0, 1)], None, [[0.0], [1.0], [2.0]], n_neighbors=n_neighbors)
        assert str(error.value) == (
            f"n_neighbors must be an integer >= 1 and <= 2, got {n_neighbors!r}"
        )

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            ([[0.0], [np.nan]], "X must be finite, got nan in row 1, column 0"),
            ([["a"], ["b"]], "X must be an array of numbers"),
            ([[0.0, 1.0], [1.0]], "X must be an array of numbers"),
            ([0.0, 1.0], "X must have two rows or more, got shape (2,)"),
            ([[0.0]], "X must have two rows or more, got shape (1, 1)"),
            (np.empty((3, 0)), "X must have two rows or more, got shape (3, 0)"),
        ],
    )
    def test_bad_data_are_refused(self, X, message):
        with pytest.raises(ValueError) as error:
            expand(None, None, X)
        assert message in str(error.value)

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            ([[0.0, 1, 2], [1, 0, 3]], "square (distances), got shape (2, 3)"),
            ([[0.0, -1], [-1, 0]], ">= 0 (distances), is off by 1"),
            ([[0.0, 1], [1, 0.5]], "0 in the diagonal (distances), is off by 0.5"),
            ([[0.0, 1], [1.25, 0]], "symmetric (distances), is off by 0.25"),
        ],
    )
    def test_bad_distances_are_refused(self, X, message):
        with pytest.raises(ValueError) as error:
            expand([(0, 1)], None, X, metric="precomputed")
        assert str(error.value) == f"X must be {message}"

    def test_rounding_of_distances_passes(self):
        X = np.array([[0.0, 1e-15, 2], [-1e-15, 0, 2], [2, 2, 0]])
        must_link, _ = expand([(0, 2)], None, X, metric="precomputed")
        assert must_link.tolist() == [[0, 2], [1, 2]]

    def test_bad_metric_and_bad_pairs_are_refused(self):
        X = [[0.0], [1.0], [2.0]]
        with pytest.raises(ValueError, match="metric"):
            expand([(0, 1)], None, X, metric="no such metric")
        with pytest.raises(ValueError, match="must_link must hold row numbers"):
            expand([(0, 3)], None, X)
        with pytest.raises(ValueError, match="but must_link joins them: 0-1"):
            expand([(0, 1)], [(0, 1)], X)


class TestRenumber:
    @settings(deadline=None)
    @given(pairs=any_pairs, rows=st.lists(st.integers(0, 9), unique=True))
    def test_new_numbers_point_to_the_old_ones(self, pairs, rows):
        kept = [list(pair) for pair in pairs if {*pair} <= {*rows}]
        renumbered = renumber(pairs, np.array(rows, dtype=int))
        assert renumbered.dtype == np.intp
        assert renumbered.shape == (len(kept), 2)
        assert np.array(rows, dtype=int)[renumbered].tolist() == kept

    @settings(deadline=None)
    @given(pairs=any_pairs, order=st.permutations(range(N_SAMPLES)))
    def test_permutation_and_its_inverse_give_the_pairs_back(self, pairs, order):
        there = renumber(pairs, order)
        back = renumber(there, np.argsort(order))
        assert back.tolist() == [list(pair) for pair in pairs]

    def test_folds_keep_their_own_pairs(self, rng):
        labels = rng.integers(0, 3, 30)
        must_link, cannot_link = random_pairs(labels, 40, random_state=0)
        rows = rng.permutation(30)[:20]
        for pairs, same in ((must_link, True), (cannot_link, False)):
            mine = renumber(pairs, rows)
            classes = labels[rows][mine]
            assert 0 < len(mine) < len(pairs)
            assert ((classes[:, 0] == classes[:, 1]) == same).all()

    def test_no_rows_or_no_pairs_leave_no_pairs(self):
        for renumbered in (renumber([(0, 1)], []), renumber(None, [3, 4])):
            assert renumbered.dtype == np.intp
            assert renumbered.shape == (0, 2)

    @pytest.mark.parametrize(
        "rows", [[0, 0], [-1, 2], [True, False], [0.0, 1.0], [[0, 1]], 3, ["a"], [None]]
    )
    def test_bad_rows_are_refused(self, rows):
        with pytest.raises(ValueError) as error:
            renumber([(0, 1)], rows)
        assert str(error.value) == f"rows must be different row numbers, got {rows!r}"

    def test_bad_pairs_are_refused(self):
        with pytest.raises(ValueError, match="pairs must join different objects"):
            renumber([(1, 1)], [0, 1])
        with pytest.raises(ValueError, match="pairs must hold row numbers from 0"):
            renumber([(-1, 1)], [0, 1])


def test_public_names_are_documented():
    assert constraints.__all__ == sorted(constraints.__all__)
    for name in constraints.__all__:
        assert "Examples" in getattr(constraints, name).__doc__
