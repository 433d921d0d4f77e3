"""Canonical decomposition, cautious and bold rules."""

import math

import numpy as np
import pytest

from credalis.belief import (
    FocalSets,
    bold,
    cautious,
    conjunctive_weights,
    conjunctive_weights_to_masses,
    disjunctive_weights,
    disjunctive_weights_to_masses,
)
from powerset import as_dictionary, assert_same, power_set, random_lists, random_rows

FULL = FocalSets.full(3)


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def rows_with(rng, focal_sets, index, n_rows=100):
    masses = random_rows(rng, focal_sets, n_rows)
    masses[:, index] += 0.3
    return masses / masses.sum(axis=1, keepdims=True)


def brute_conjunctive(function, every):
    """w(A) by its definition as a product of powers of commonalities."""
    q = {a: sum(v for b, v in function.items() if b >= a) for a in every}
    return {
        a: math.prod(
            q[b] if (len(b) - len(a)) % 2 else 1 / q[b] for b in every if b >= a
        )
        for a in every[:-1]
    }


def brute_disjunctive(function, every):
    b = {a: sum(v for s, v in function.items() if s <= a) for a in every}
    return {
        a: math.prod(
            b[s] if (len(a) - len(s)) % 2 else 1 / b[s] for s in every if s <= a
        )
        for a in every[1:]
    }


def brute_from_conjunctive(weights, every):
    q = {a: math.prod(w for b, w in weights.items() if not b >= a) for a in every}
    return {
        a: sum((-1) ** (len(b) - len(a)) * q[b] for b in every if b >= a) for a in every
    }


def brute_from_disjunctive(weights, every):
    b = {a: math.prod(v for s, v in weights.items() if not s <= a) for a in every}
    return {
        a: sum((-1) ** (len(a) - len(s)) * b[s] for s in every if s <= a) for a in every
    }


CASES = {
    "frame": (
        conjunctive_weights,
        brute_conjunctive,
        conjunctive_weights_to_masses,
        brute_from_conjunctive,
        cautious,
    ),
    "empty": (
        disjunctive_weights,
        brute_disjunctive,
        disjunctive_weights_to_masses,
        brute_from_disjunctive,
        bold,
    ),
}


@pytest.mark.parametrize("needed", CASES)
class TestAgainstBruteForce:
    def test_weights_and_back(self, rng, needed):
        decompose, brute, compose, _, _ = CASES[needed]
        for focal_sets in random_lists(rng, must_hold=[needed]):
            index = getattr(focal_sets, f"{needed}_index")
            masses = rows_with(rng, focal_sets, index)
            every = power_set(focal_sets.n_clusters)
            columns = FocalSets.full(focal_sets.n_clusters)
            weights = decompose(masses, focal_sets)
            back = compose(weights)
            for row, found, again in zip(masses, weights, back, strict=True):
                function = as_dictionary(row, focal_sets)
                for subset, weight in brute(function, every).items():
                    value = found[columns.index(subset)]
                    assert value == pytest.approx(weight, rel=1e-12)
                assert_same(again, columns, function)

    def test_rule(self, rng, needed):
        _, brute, _, brute_back, rule = CASES[needed]
        for number, first_sets in enumerate(random_lists(rng, must_hold=[needed])):
            second_sets = FocalSets.full(first_sets.n_clusters)
            first = rows_with(rng, first_sets, getattr(first_sets, f"{needed}_index"))
            index = getattr(second_sets, f"{needed}_index")
            second = rows_with(rng, second_sets, index)
            if number % 2:
                first, first_sets, second, second_sets = (
                    second,
                    second_sets,
                    first,
                    first_sets,
                )
            every = power_set(first_sets.n_clusters)
            found, found_sets = rule(first, first_sets, second, second_sets)
            for one, other, result in zip(first, second, found, strict=True):
                mine = brute(as_dictionary(one, first_sets), every)
                yours = brute(as_dictionary(other, second_sets), every)
                smaller = {a: min(mine[a], yours[a]) for a in mine}
                assert_same(result, found_sets, brute_back(smaller, every))

    def test_a_source_with_itself_is_the_same_source(self, rng, needed):
        rule = CASES[needed][-1]
        masses = rows_with(rng, FULL, getattr(FULL, f"{needed}_index"), 5)
        np.testing.assert_allclose(rule(masses, FULL, masses)[0], masses, atol=1e-14)


def test_weights_of_a_mass_function_that_is_not_separable():
    # Denœux (2008): m({0,1}) = 0.3, m({1,2}) = 0.5, m(Ω) = 0.2 has a weight above 1.
    weights = conjunctive_weights([0, 0, 0, 0.3, 0, 0, 0.5, 0.2], FULL)
    np.testing.assert_allclose(weights, [1, 1, 7 / 4, 2 / 5, 1, 1, 2 / 7, 1])


def test_the_stronger_of_two_simple_sources_remains():
    one, other = [0, 0.6, 0, 0, 0, 0, 0, 0.4], [0, 0.3, 0, 0, 0, 0, 0, 0.7]
    np.testing.assert_allclose(cautious(one, FULL, other)[0], one, atol=1e-15)


VACUOUS = np.eye(8)[7]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: conjunctive_weights(np.eye(8)[1], FULL), "masses must have mass on Ω"),
        (lambda: disjunctive_weights(VACUOUS, FULL), "masses must have mass on ∅"),
        (lambda: conjunctive_weights([2.0] * 8, FULL), "masses must sum to 1"),
        (
            lambda: conjunctive_weights(np.eye(22)[21], FocalSets.singletons(20)),
            "focal_sets must be about at most 12",
        ),
        (
            lambda: conjunctive_weights(
                [0.2] * 5 + [1e-300],
                FocalSets.singletons(5, empty=False),
            ),
            "masses must have weights that are float64",
        ),
        (
            lambda: conjunctive_weights_to_masses([1e300] * 8),
            "weights must be those of a mass function",
        ),
        (lambda: conjunctive_weights_to_masses([1.0] * 3), "weights must have 2 "),
        (lambda: conjunctive_weights_to_masses([0.0, 1.0]), "weights must be positive"),
        (
            lambda: disjunctive_weights_to_masses([1.0, 2.0]),
            "weights must be those of a mass function",
        ),
        (
            lambda: cautious(VACUOUS, FULL, [0, 0, 0, 1.0], FocalSets.full(2)),
            "second_focal_sets must be about the same",
        ),
        (lambda: cautious(VACUOUS, FULL, VACUOUS, 3), "second_focal_sets must be"),
        (lambda: cautious([VACUOUS] * 2, FULL, [VACUOUS] * 3), "second must have as"),
        (lambda: conjunctive_weights(VACUOUS, None), "focal_sets must be"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
