"""Labels along must-links, and which pairs to ask about."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis import CredalPartition, FocalSets
from credalis.constraints import closure, spread_labels, suggest_pairs
from helpers import credal_partitions

NONE = np.empty((0, 2), dtype=np.intp)


class TestSpreadLabels:
    def test_chains_hand_labels_on(self):
        must_link = np.array([(0, 1), (1, 2), (4, 5)])
        labels = np.array([-1, -1, 3, 0, -1, -1])
        spread = spread_labels(labels, must_link, NONE, name="y")
        assert spread.tolist() == [3, 3, 3, 0, -1, -1]
        assert labels.tolist() == [-1, -1, 3, 0, -1, -1]

    def test_contradictions_are_named(self):
        labels = np.array([0, 1, -1, 0])
        with pytest.raises(ValueError, match=r"y must agree with must_link.* 0 and 1"):
            spread_labels(labels, np.array([(0, 2), (1, 2)]), NONE, name="y")
        with pytest.raises(
            ValueError, match=r"known must agree with cannot_link.*2.*3"
        ):
            spread_labels(labels, np.array([(0, 2)]), np.array([(2, 3)]), name="known")


@st.composite
def answered(draw):
    """A partition, the truth, and some pairs that agree with it."""
    partition = draw(credal_partitions(min_rows=2, max_rows=10))
    n = partition.n_samples
    truth = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    row = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(row, row), max_size=8))
    pairs = np.array([p for p in pairs if p[0] != p[1]], dtype=np.intp).reshape(-1, 2)
    return partition, truth, pairs


def sorted_answers(truth, pairs):
    is_same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    return pairs[is_same], pairs[~is_same]


@settings(max_examples=75)
@given(answered(), st.integers(0, 12), st.integers(0, 5))
def test_suggestions_are_new_and_do_not_repeat(case, n_pairs, seed):
    partition, truth, pairs = case
    must_link, cannot_link = sorted_answers(truth, pairs)
    found = suggest_pairs(
        partition,
        n_pairs,
        must_link=must_link,
        cannot_link=cannot_link,
        random_state=seed,
    )
    assert found.shape == (len(found), 2)
    assert len(found) <= n_pairs
    assert found.dtype == np.intp
    assert (found[:, 0] != found[:, 1]).all()
    assert found.min(initial=0) >= 0
    assert found.max(initial=0) < partition.n_samples
    known = closure(must_link, cannot_link, partition.n_samples)
    asked = {tuple(sorted(pair)) for pair in found.tolist()}
    assert len(asked) == len(found)
    assert asked.isdisjoint(map(tuple, np.concatenate(known).tolist()))


@settings(max_examples=60, deadline=None)
@given(answered(), st.integers(1, 4))
def test_rounds_come_to_an_end(case, step):
    partition, truth, pairs = case
    must_link, cannot_link = sorted_answers(truth, pairs)
    n_samples = partition.n_samples
    for _ in range(n_samples * (n_samples + 1)):
        found = suggest_pairs(
            partition, step, must_link=must_link, cannot_link=cannot_link
        )
        if len(found) == 0:
            break
        new = sorted_answers(truth, found)
        must_link = np.concatenate([must_link, new[0]])
        cannot_link = np.concatenate([cannot_link, new[1]])
    else:
        pytest.fail("there is always something left to ask")


def test_anchors_first_then_the_most_doubtful():
    # 0 and 1 are sure, 2 to 11 nearly so, and 12 could be in either cluster.
    masses = np.zeros((13, 4))
    masses[0, 1] = masses[1, 2] = 1.0
    masses[2:12, 1] = 1.0 - 1e-6
    masses[2:12, 3] = 1e-6
    masses[12, 3] = 1.0
    partition = CredalPartition(masses, FocalSets.full(2))
    for seed in range(5):
        found = suggest_pairs(partition, 2, random_state=seed)
        assert found.tolist() == [[0, 1], [0, 12]]


def test_an_object_is_next_compared_with_another_anchor():
    masses = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0.2, 0.1, 0.7]]
    partition = CredalPartition(masses, FocalSets.full(2))
    known = {"must_link": None, "cannot_link": [(0, 1), (0, 2)]}
    assert suggest_pairs(partition, 5, **known).tolist() == [[1, 2]]
    known["must_link"] = [(1, 2)]
    assert suggest_pairs(partition, 5, **known).tolist() == []


def test_an_object_apart_from_all_is_an_anchor():
    # Three clusters were meant, two were found; object 2 is of the third.
    masses = [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]]
    partition = CredalPartition.from_fuzzy(masses)
    known = {"cannot_link": [(0, 1), (0, 2), (1, 2)]}
    found = suggest_pairs(partition, 5, **known)
    assert found[:, 1].tolist() == [3]


def test_pairs_are_drawn_in_proportion_to_their_ambiguity():
    # Besides two sure objects, 40 of ambiguity 0.1 and 10 of ambiguity 0.4.
    doubts = np.repeat([0.1, 0.4], [40, 10])
    memberships = np.column_stack([1 - doubts, doubts])
    memberships = np.concatenate([np.eye(2), memberships])
    partition = CredalPartition.from_fuzzy(memberships)
    first = [suggest_pairs(partition, 2, random_state=k)[1, 1] for k in range(400)]
    share = np.mean(np.array(first) >= 42)
    # 10 · 0.4 / (40 · 0.1 + 10 · 0.4) = 1/2; four standard deviations are 0.1.
    assert share == pytest.approx(0.5, abs=0.1)


def test_same_seed_same_pairs(four_doubts):
    first = suggest_pairs(four_doubts, 10, random_state=3)
    np.testing.assert_array_equal(suggest_pairs(four_doubts, 10, random_state=3), first)
    assert (suggest_pairs(four_doubts, 10, random_state=4) != first).any()


@pytest.fixture
def four_doubts(rng):
    focal_sets = FocalSets.pairs(4)
    masses = rng.dirichlet(np.full(len(focal_sets), 0.5), size=200)
    return CredalPartition(masses, focal_sets)


@pytest.mark.parametrize("n_pairs", [-1, 2.5, "many"])
def test_wrong_numbers_are_refused(four_doubts, n_pairs):
    with pytest.raises(ValueError, match="n_pairs must be an integer >= 0"):
        suggest_pairs(four_doubts, n_pairs)


def test_known_pairs_are_checked(four_doubts):
    with pytest.raises(ValueError, match="must_link must hold row numbers"):
        suggest_pairs(four_doubts, 1, must_link=[(0, 200)])
    with pytest.raises(ValueError, match="but must_link joins them"):
        suggest_pairs(four_doubts, 1, must_link=[(0, 1)], cannot_link=[(1, 0)])


def test_asked_one_by_one_the_anchors_stay():
    """A second question is about the objects of the first, until all are compared."""
    truth = np.repeat([0, 1, 2], 10)
    doubt = np.random.default_rng(0).uniform(0, 0.5, size=30)
    focal_sets = FocalSets.full(3)
    masses = np.zeros((30, len(focal_sets)))
    masses[np.arange(30), [focal_sets.index([k]) for k in truth]] = 1 - doubt
    masses[:, focal_sets.frame_index] = doubt
    partition = CredalPartition(masses, focal_sets)
    asked, links = [], (NONE, NONE)
    for seed in range(8):
        (pair,) = suggest_pairs(
            partition, 1, must_link=links[0], cannot_link=links[1], random_state=seed
        )
        asked.append(pair.tolist())
        links = sorted_answers(truth, np.array(asked))
    anchors = {row for pair in asked[:3] for row in pair}
    assert len(anchors) == 3
    # From then on each question compares one further object with an anchor.
    for first, second in asked[3:]:
        assert first in anchors
        assert second not in anchors
