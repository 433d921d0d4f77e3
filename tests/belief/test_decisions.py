"""Decisions with utilities."""

import numpy as np
import pytest
from scipy.optimize import linprog

from credalis.belief import (
    FocalSets,
    act_scores,
    admissible_acts,
    decide,
    partial_utilities,
)
from powerset import TOLERANCE, as_dictionary, normalized, power_set, random_rows
from powerset import random_lists as lists_with_empty

FULL = FocalSets.full(3)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def random_cases(rng):
    """1000 mass functions that are not all on ∅, each hundred with its utilities."""
    for focal_sets in lists_with_empty(rng, must_hold=["frame"]):
        masses = random_rows(rng, focal_sets)
        masses[:, focal_sets.frame_index] += 0.1
        masses /= masses.sum(axis=1, keepdims=True)
        utilities = rng.normal(size=(rng.integers(1, 5), focal_sets.n_clusters))
        functions = [normalized(as_dictionary(row, focal_sets)) for row in masses]
        yield masses, focal_sets, utilities, functions


def lower(function, gains):
    return sum(m * min(gains[k] for k in subset) for subset, m in function.items())


def upper(function, gains):
    return sum(m * max(gains[k] for k in subset) for subset, m in function.items())


def mean(function, gains):
    return sum(
        m * sum(gains[k] for k in subset) / len(subset)
        for subset, m in function.items()
    )


def regret(function, act, utilities):
    best = [max(column) for column in zip(*utilities, strict=True)]
    return upper(function, [b - u for b, u in zip(best, act, strict=True)])


BRUTE = {
    "pignistic": lambda function, act, _: mean(function, act),
    "maximin": lambda function, act, _: lower(function, act),
    "maximax": lambda function, act, _: upper(function, act),
    "hurwicz": lambda f, act, _: 0.3 * lower(f, act) + 0.7 * upper(f, act),
    "minimax_regret": lambda f, act, utilities: -regret(f, act, utilities),
}


@pytest.mark.parametrize("criterion", BRUTE)
def test_scores_against_brute_force(rng, criterion):
    for masses, focal_sets, utilities, functions in random_cases(rng):
        found = act_scores(masses, focal_sets, utilities, criterion, pessimism=0.3)
        expected = [
            [
                BRUTE[criterion](function, act, utilities.tolist())
                for act in utilities.tolist()
            ]
            for function in functions
        ]
        np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE)
        np.testing.assert_array_equal(
            decide(masses, focal_sets, utilities, criterion, pessimism=0.3),
            np.argmax(found, axis=1),
        )


def test_interval_dominance_and_maximality_against_brute_force(rng):
    for masses, focal_sets, utilities, functions in random_cases(rng):
        by_interval = admissible_acts(masses, focal_sets, utilities, "interval")
        maximal = admissible_acts(masses, focal_sets, utilities, "maximality")
        for i, function in enumerate(functions):
            for a, act in enumerate(utilities):
                assert by_interval[i, a] == all(
                    upper(function, act) >= lower(function, other) - 1e-11
                    for other in utilities
                )
                assert maximal[i, a] == all(
                    lower(function, other - act) <= 1e-11 for other in utilities
                )


def test_e_admissibility_of_two_clusters_against_intervals(rng):
    # p({1}) lies between Bel({1}) and Pl({1}): an act is a line, and admissible if it
    # is nowhere below the others between two bounds that each of them sets.
    focal_sets = FocalSets.full(2)
    masses = rng.dirichlet(np.ones(4), size=1000)
    utilities = np.array([[1.0, 0.0], [0.0, 1.0], [0.45, 0.45], [0.8, 0.3]])
    found = admissible_acts(masses, focal_sets, utilities, "e_admissibility")
    for row, result in zip(masses, found, strict=True):
        function = normalized(as_dictionary(row, focal_sets))
        for a, act in enumerate(utilities):
            low = function[frozenset([1])]
            high = 1 - function[frozenset([0])]
            for other in np.delete(utilities, a, axis=0):
                gain, loss = act - other
                # gain (1 - p) + loss p >= 0
                if loss > gain:
                    low = max(low, gain / (gain - loss))
                elif loss < gain:
                    high = min(high, gain / (gain - loss))
                elif gain < 0:
                    high = -1
            assert result[a] == (low <= high)


def test_e_admissibility_against_probabilities_above_beliefs(rng):
    # The same question about p itself, with one inequality for each subset.
    n_rows, n_kept = 0, 0
    for n_clusters in (3, 4, 5):
        focal_sets = FocalSets.full(n_clusters)
        every = power_set(n_clusters)
        masses = random_rows(rng, focal_sets, 12)
        utilities = rng.normal(size=(4, n_clusters))
        utilities[3] = utilities[:3].mean(axis=0)
        maximal = admissible_acts(masses, focal_sets, utilities)
        found = admissible_acts(masses, focal_sets, utilities, "e_admissibility")
        assert found.any(axis=1).all()
        assert (maximal >= found).all()
        for row, result in zip(masses, found, strict=True):
            function = normalized(as_dictionary(row, focal_sets))
            beliefs = [
                sum(v for s, v in function.items() if s <= subset) for subset in every
            ]
            inside = np.array([[k in s for k in range(n_clusters)] for s in every])
            for a, act in enumerate(utilities):
                program = linprog(
                    np.zeros(n_clusters),
                    A_ub=np.vstack([-1.0 * inside, utilities - act]),
                    b_ub=np.concatenate([-np.array(beliefs), np.zeros(4)]) + 1e-9,
                    A_eq=np.ones((1, n_clusters)),
                    b_eq=[1.0],
                )
                assert result[a] == program.success
                n_kept += result[a]
            n_rows += 1
    assert n_rows < n_kept < 4 * n_rows


class TestWorkedExamples:
    # Masses 0.4 on {0}, 0.2 on {0,1}, 0.1 on {2} and 0.3 on Ω.
    SETS = FocalSets.from_subsets(3, [(0,), (0, 1), (2,), (0, 1, 2)])
    MASSES = (0.4, 0.2, 0.1, 0.3)
    UTILITIES = ((37, 25, 23), (49, 70, 2), (4, 96, 1), (22, 76, 25))

    @pytest.mark.parametrize(
        ("criterion", "scores"),
        [
            ("maximin", [29.0, 30.2, 2.8, 22.3]),
            ("maximax", [35.6, 54.8, 49.7, 49.3]),
            ("hurwicz", [32.3, 42.5, 26.25, 35.8]),
            ("minimax_regret", [-40.5, -15.3, -42.9, -24.3]),
        ],
    )
    def test_investments(self, criterion, scores):
        found = act_scores(self.MASSES, self.SETS, self.UTILITIES, criterion)
        np.testing.assert_allclose(found, scores, atol=1e-12)
        assert decide(self.MASSES, self.SETS, self.UTILITIES, criterion) == 1

    def test_probabilities_leave_one_act(self, rng):
        sets = FocalSets.singletons(3, empty=False, frame=False)
        masses = rng.dirichlet(np.ones(3), size=20)
        best = decide(masses, sets, self.UTILITIES)
        for criterion in ("interval", "maximality", "e_admissibility"):
            kept = admissible_acts(masses, sets, self.UTILITIES, criterion)
            np.testing.assert_array_equal(kept, np.eye(4, dtype=bool)[best])

    def test_partial_assignments(self):
        # Ma and Denœux: with tolerance 0.8, pairs are worth 0.8 and three 0.682.
        utilities, acts = partial_utilities(np.eye(3), 0.8)
        three = acts.index([0, 1, 2])
        ratio = (0.3 + np.sqrt(0.09 + 4 * 0.2 * 0.8)) / 0.4
        expected = ratio**2 / (1 + ratio + ratio**2)
        np.testing.assert_allclose(utilities[three], expected, rtol=1e-12)
        assert expected == pytest.approx(0.682, abs=5e-4)
        np.testing.assert_allclose(
            utilities[acts.index([0, 2])], [0.8, 0.0, 0.8], atol=1e-12
        )
        np.testing.assert_allclose(utilities[acts.index([1])], [0, 1, 0])

    def test_limits_of_the_tolerance(self, rng):
        single = rng.random((4, 3))
        for tolerance, summary in ((0.0, np.min), (0.5, np.mean), (1.0, np.max)):
            utilities, acts = partial_utilities(single, tolerance)
            for row, members in zip(utilities, acts, strict=True):
                np.testing.assert_allclose(
                    row, summary(single[list(members)], axis=0), atol=1e-12
                )

    def test_ignorance_is_answered_with_all_clusters(self):
        utilities, acts = partial_utilities(np.eye(3), 0.8)
        masses = [[0, 0, 0, 0, 0, 0, 0, 1.0], [1.0, 0, 0, 0, 0, 0, 0, 0]]
        chosen = decide(masses, FULL, utilities, "maximin")
        assert [acts.names[j] for j in chosen] == ["Ω", "Ω"]


VACUOUS = np.eye(8)[7]
EYE = np.eye(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: act_scores(VACUOUS, FULL, EYE, "best"), "criterion must be one of"),
        (lambda: act_scores(VACUOUS, FULL, np.eye(2)), "utilities must have shape"),
        (lambda: act_scores(VACUOUS, FULL, [1.0, 2, 3]), "utilities must have shape"),
        (lambda: act_scores(VACUOUS, FULL, EYE * np.nan), "utilities must be finite"),
        (lambda: act_scores([0.1] * 8, FULL, EYE), "masses must sum to 1"),
        (lambda: decide(VACUOUS, FULL, EYE, pessimism=2), "pessimism must be a"),
        (lambda: admissible_acts(VACUOUS, FULL, EYE, "all"), "criterion must be one"),
        (lambda: partial_utilities(EYE, 1.5), "tolerance must be a finite number"),
        (lambda: partial_utilities(EYE, 0.8, [()]), "subsets must be sets of the 3"),
        (lambda: partial_utilities(EYE, 0.8, FocalSets.full(2)), "subsets must be"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
