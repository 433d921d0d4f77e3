"""Pairs of consistency and nonspecificity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credalis.metrics import dominates, non_dominated

# Few values, so that ties are frequent.
score_lists = st.lists(
    st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 2), min_size=1, max_size=12
)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((0.9, 0.1), (0.8, 0.2), True),
        ((0.9, 0.1), (0.9, 0.2), True),
        ((0.9, 0.1), (0.8, 0.1), True),
        ((0.9, 0.1), (0.9, 0.1), False),
        ((0.9, 0.2), (0.8, 0.1), False),
        ((0.8, 0.2), (0.9, 0.1), False),
    ],
)
def test_better_means_no_worse_in_both_and_better_in_one(first, second, expected):
    assert dominates(first, second) is expected


@given(score_lists)
def test_non_dominated_ones_are_dominated_by_none(scores):
    expected = [not any(dominates(b, a) for b in scores) for a in scores]
    mask = non_dominated(scores)
    assert mask.dtype == bool
    assert mask.tolist() == expected
    assert mask.any()


def test_equal_pairs_stay_together():
    assert non_dominated([(0.9, 0.1), (0.9, 0.1), (0.9, 0.2)]).tolist() == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "scores", [[], np.empty((0, 2)), (0.9, 0.1), [(0.9, 0.1, 0.3)], [[0.9], [0.1, 0.2]]]
)
def test_scores_of_another_shape_are_refused(scores):
    with pytest.raises(
        ValueError, match=r"scores must .*shape \(n_partitions, 2\), got"
    ):
        non_dominated(scores)


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="scores must be finite, got"):
        non_dominated([(0.9, np.nan)])
    with pytest.raises(ValueError, match="scores must be numbers of shape"):
        non_dominated([("good", "bad")])
    with pytest.raises(ValueError, match=r"first must have shape \(2,\), got \(3,\)"):
        dominates((0.9, 0.1, 0.3), (0.9, 0.1))
    with pytest.raises(ValueError, match="second must be finite, got"):
        dominates((0.9, 0.1), (np.inf, 0.1))
