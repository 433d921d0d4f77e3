"""Weights of objects: what they may be, and the copies that they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credalis._weights import MAX_COPIES, check_sample_weight, copied, copies

WHOLE = st.lists(st.integers(0, 5), min_size=2, max_size=30).filter(
    lambda weights: np.count_nonzero(weights) >= 2
)


def table(n_rows, seed=0):
    return np.random.RandomState(seed).standard_normal((n_rows, 3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0, 2.0], r"one weight for each of the 3 rows of X, got shape \(2,\)"),
        (np.ones((3, 1)), r"got shape \(3, 1\)"),
        ([1.0, -2.0, 1.0], r"not negative, got -2.0 in row 1"),
        ([1.0, 2.0, np.nan], r"finite and not negative, got nan in row 2"),
        ([1.0, 2.0, np.inf], r"finite and not negative, got inf in row 2"),
        ([0.0, 0.0, 0.0], r"zero for all rows but one, got 0 positive"),
        ([0.0, 3.0, 0.0], r"zero for all rows but one, got 1 positive"),
        (["a", "b", "c"], r"sample_weight must be an array of numbers"),
        ([1e300, 1e300, 1e300], r"a sum from 1e-50 to 1e\+50, got 3e\+300"),
        ([1e-300, 1e-300, 1e-300], r"a sum from 1e-50 to 1e\+50, got 3e-300"),
        (0, r"zero for all rows but one"),
    ],
)
def test_what_is_no_weight_is_refused(given, message):
    with pytest.raises(ValueError, match=message) as error:
        check_sample_weight(given, 3)
    assert "sample_weight" in str(error.value)


def test_one_number_is_the_weight_of_all():
    np.testing.assert_array_equal(check_sample_weight(2, 3), [2.0, 2.0, 2.0])
    assert check_sample_weight(None, 3) is None


@given(WHOLE, st.integers(0, 100))
def test_copies_of_whole_weights_are_the_repeated_rows(weights, seed):
    weights = np.array(weights, dtype=float)
    X = table(len(weights))
    shuffled = np.random.RandomState(seed).permutation(len(X))
    repeated = np.repeat(X[shuffled], weights[shuffled].astype(int), axis=0)
    found = copied(X, X, weights)
    np.testing.assert_array_equal(np.sort(found, axis=0), np.sort(repeated, axis=0))
    if weights.max() > 1:
        # In the same order, however the rows come.
        np.testing.assert_array_equal(found, copied(repeated, repeated, None))


def test_rows_that_differ_stay_in_their_order():
    X = table(50)
    assert copied(X, X, None) is X
    np.testing.assert_array_equal(copies(X, None), np.arange(50))


def test_zeros_of_both_signs_are_the_same():
    X = np.array([[0.0, 1.0], [2.0, 1.0], [-0.0, 1.0]])
    twins = {0, 2}
    order = copies(X, None).tolist()
    assert set(order[:2]) == twins or set(order[1:]) == twins


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=50))
def test_copies_of_other_weights_are_as_frequent_as_they_say(weights):
    weights = np.append(weights, np.pi)
    X = table(len(weights))
    chosen = copies(X, weights)
    assert len(chosen) == len(X)
    counts = np.bincount(chosen, minlength=len(X))
    expected = len(X) * weights / weights.sum()
    assert (np.abs(counts - expected) < 1 + 1e-9).all()


def test_many_copies_are_as_many_as_there_are_objects():
    X = table(40)
    assert len(copies(X, np.full(40, float(MAX_COPIES)))) == 40
    counts = np.bincount(copies(X, np.where(np.arange(40) < 20, 3e4, 1e4)))
    np.testing.assert_allclose([counts[:20].sum(), counts[20:].sum()], [30, 10], atol=1)


def test_enough_rows_are_among_the_copies():
    X = table(10)
    weights = np.full(10, 1e-12)
    weights[4] = 1.0
    assert set(copies(X, weights)) == {4}
    assert set(copies(X, weights, enough=2)) == set(range(10))
    weights[7] = 0
    assert set(copies(X, weights, enough=2)) == set(range(10)) - {7}
