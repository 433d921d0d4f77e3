"""Each criterion on curves whose answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from credalis import CredalPartition, FocalSets
from credalis.model_selection._criteria import (
    Vote,
    agree_on,
    certain_agreement,
    certain_clusters,
    elbow,
    least_nonspecific,
    most_stable,
    most_telling,
    stability,
)

clusters = st.integers(2, 30).flatmap(
    lambda n: st.tuples(
        *(st.lists(st.integers(-1, 3), min_size=n, max_size=n).map(np.array),) * 2
    )
)


def apart(codes):
    """Uncertain objects as classes of their own."""
    return np.where(codes >= 0, codes, 10 + np.arange(len(codes)))


@given(clusters)
def test_agreement_is_the_adjusted_rand_index_with_uncertain_objects_apart(codes):
    first, second = (apart(each) for each in codes)
    says_nothing = [len(np.unique(each)) in (1, len(each)) for each in (first, second)]
    if all(says_nothing):
        assert certain_agreement(*codes) == 0
    else:
        expected = adjusted_rand_score(first, second)
        assert certain_agreement(*codes) == pytest.approx(expected, abs=1e-12)


@given(clusters)
def test_agreement_is_symmetric_and_blind_to_names(codes):
    first, second = codes
    renamed = np.array([2, 0, 3, 1, -1])[second]
    assert certain_agreement(first, second) == certain_agreement(second, first)
    assert certain_agreement(first, renamed) == pytest.approx(
        certain_agreement(first, second), abs=1e-12
    )


@pytest.mark.parametrize("trivial", [[0, 0, 0, 0], [-1, -1, -1, -1], [0, 1, 2, 3]])
def test_trivial_partitions_agree_about_nothing(trivial):
    trivial = np.array(trivial)
    assert certain_agreement(trivial, trivial) == 0


def test_certain_clusters_are_those_of_the_lower_approximation():
    partition = CredalPartition(
        [[0, 1, 0, 0], [0.1, 0.2, 0.4, 0.3], [0.7, 0.1, 0.1, 0.1], [0, 0.3, 0.2, 0.5]],
        FocalSets.full(2),
    )
    assert certain_clusters(partition).tolist() == [0, 1, -1, -1]


def test_equal_partitions_of_the_shared_rows_are_stable(rng):
    truth = rng.integers(3, size=50)
    rows = [np.sort(rng.choice(50, 40, replace=False)) for _ in range(4)]
    names = np.array([[0, 1, 2], [2, 0, 1], [1, 0, 2], [0, 2, 1]])
    parts = [own[truth[each]] for own, each in zip(names, rows, strict=True)]
    assert stability(parts, rows) == (pytest.approx(1), pytest.approx(0))


def test_stability_is_the_mean_over_pairs_and_its_error_that_of_a_mean_over_pairs(rng):
    rows = [np.arange(20)] * 4
    parts = [rng.integers(2, size=20) for _ in range(4)]
    pairs = np.array([[certain_agreement(a, b) for b in parts] for a in parts])
    means = (pairs.sum(axis=1) - 1) / 3
    mean, error = stability(parts, rows)
    assert mean == pytest.approx(pairs[np.triu_indices(4, 1)].mean())
    assert error == pytest.approx(2 * means.std(ddof=1) / 2)


NUMBERS = np.arange(2, 7)


@pytest.mark.parametrize(
    ("means", "is_full", "expected"),
    [
        ([0.8, 0.9, 0.7, 0.6, 0.5], [1, 1, 1, 1, 1], 3),
        ([1.0, 0.7, 1.0, 0.99, 0.5], [1, 1, 1, 1, 1], 4),  # as good, and more
        ([0.8, 0.9, 0.7, 0.95, 0.95], [1, 1, 1, 0, 0], 3),  # clusters without objects
        ([0.4, 0.3, 0.2, 0.2, 0.1], [1, 1, 1, 1, 1], None),
        ([0.9, 0.9, 0.9, 0.9, 0.9], [0, 0, 0, 0, 0], None),
    ],
)
def test_the_most_stable_number_of_full_clusters_is_preferred(means, is_full, expected):
    vote = most_stable(NUMBERS, np.array(means), np.array(is_full, dtype=bool))
    assert vote.value == expected


@pytest.mark.parametrize("factor", [1e-12, 1, 1e12])
@pytest.mark.parametrize("corner", [3, 4, 5])
def test_the_elbow_is_where_a_geometric_fall_slows_down(corner, factor):
    fall = np.array([1.5 if c <= corner else 0.1 for c in NUMBERS])
    stress = factor * np.exp(-np.cumsum(fall))
    assert elbow(NUMBERS, stress).value == corner


def test_a_bad_start_beyond_the_elbow_does_not_move_it():
    assert elbow(NUMBERS, np.array([1.0, 0.1, 0.01, 0.2, 0.009])).value == 4


@pytest.mark.parametrize(
    ("stress", "reason"),
    [
        ([0.1, 0.01, 1e-3, 1e-4, 1e-5], "as fast as before up to 6"),
        ([0.1, 0.09, 0.08, 0.01, 1e-4], "as fast as before up to 6"),
        ([0.1, 0.1, 0.2, 0.3, 0.4], "does not fall"),
        ([0.0, 0.0, 0.0, 0.0, 0.0], "does not fall"),
    ],
)
def test_a_curve_without_an_elbow_does_not_decide(stress, reason):
    vote = elbow(NUMBERS, np.array(stress))
    assert vote.value is None
    assert reason in vote.reason


def test_two_numbers_have_no_elbow():
    assert elbow(NUMBERS[:2], np.array([1.0, 0.5])).value is None


@pytest.mark.parametrize(
    ("values", "first", "expected"),
    [
        ([0.4, 0.3, 0.35, 0.4, 0.5], 2, 3),
        ([0.3, 0.3, 0.35, 0.4, 0.5], 2, 2),  # ties to the smaller number
        ([0.2, 0.3, 0.35, 0.4, 0.5], 2, 2),
        ([0.2, 0.3, 0.35, 0.4, 0.5], 3, None),  # the minimum may lie below
        ([0.5, 0.4, 0.3, 0.2, 0.1], 2, None),  # or beyond
    ],
)
def test_the_least_nonspecific_number_inside_the_range(values, first, expected):
    numbers = NUMBERS + first - 2
    has_all = np.ones(5, dtype=bool)
    assert least_nonspecific(numbers, np.array(values), has_all).value == expected


def test_nonspecificity_of_some_focal_sets_does_not_decide():
    has_all = np.array([True, True, False, False, False])
    vote = least_nonspecific(NUMBERS, np.array([0.4, 0.3, 0.4, 0.5, 0.6]), has_all)
    assert vote.value is None
    assert "full" in vote.reason


def test_of_equally_stable_quantiles_the_one_that_says_most():
    quantiles = np.array([0.1, 0.5, 0.9])
    means, nonspecificity = np.array([0.97, 0.96, 0.9]), np.array([0.8, 0.3, 0.1])
    assert most_telling(quantiles, means, nonspecificity).value == 0.5
    assert most_telling(quantiles, means - 0.6, nonspecificity).value is None


def votes(**values):
    return {name: Vote(value, "why") for name, value in values.items()}


@pytest.mark.parametrize(
    ("given", "best", "reason"),
    [
        (
            votes(stability=2, peaks=3, stress=3, nonspecificity=None),
            3,
            "3 clusters by peaks and stress; 2 by stability; undecided: "
            "nonspecificity.",
        ),
        (
            votes(stability=2, peaks=3),
            3,
            "3 clusters by peaks; 2 by stability.",
        ),
        (
            votes(nonspecificity=5, stress=4),
            4,
            "4 clusters by stress; 5 by nonspecificity.",
        ),
        (
            votes(stability=6, peaks=6, stress=6, nonspecificity=6),
            6,
            "6 clusters by peaks, stability, stress and nonspecificity; it is the "
            "largest number tried.",
        ),
        (
            votes(peaks=None),
            None,
            "No number of clusters is suggested (peaks: why).",
        ),
    ],
)
def test_most_votes_win_and_the_most_trusted_breaks_ties(given, best, reason):
    assert agree_on(given, NUMBERS) == Vote(best, reason)
