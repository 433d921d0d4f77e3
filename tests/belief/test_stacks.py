"""Combination of many sources in one call."""

import math
from functools import reduce
from itertools import product

import numpy as np
import pytest

from credalis.belief import (
    FocalSets,
    bold,
    cautious,
    combine,
    conjunctive_weights,
    conjunctive_weights_to_masses,
)
from powerset import (
    add,
    as_dictionary,
    assert_same,
    normalized,
    power_set,
    random_lists,
    random_rows,
)

FULL = FocalSets.full(3)
EMPTY = frozenset()


@pytest.fixture
def rng():
    return np.random.default_rng(2)


def every_choice(functions):
    """One focal set of each source, with their masses: all such choices."""
    carried = [[(s, v) for s, v in f.items() if v > 0] for f in functions]
    for choice in product(*carried):
        sets, values = zip(*choice, strict=True)
        yield sets, values, math.prod(values)


def brute_conjunctive(functions, frame):
    result = {}
    for sets, _, value in every_choice(functions):
        add(result, frozenset.intersection(*sets), value)
    return result


def brute_dempster(functions, frame):
    return normalized(brute_conjunctive(functions, frame))


def brute_yager(functions, frame):
    result = brute_conjunctive(functions, frame)
    add(result, frame, result.pop(EMPTY, 0.0))
    return result


def brute_disjunctive(functions, frame):
    result = {}
    for sets, _, value in every_choice(functions):
        add(result, frozenset.union(*sets), value)
    return result


def brute_dubois_prade(functions, frame):
    result = {}
    for sets, _, value in every_choice(functions):
        add(result, frozenset.intersection(*sets) or frozenset.union(*sets), value)
    return result


def brute_pcr6(functions, frame):
    result = {}
    for sets, values, value in every_choice(functions):
        if common := frozenset.intersection(*sets):
            add(result, common, value)
        else:
            for subset, own in zip(sets, values, strict=True):
                add(result, subset, value * own / sum(values))
    return result


def brute_mean(functions, frame):
    result = {}
    for function in functions:
        for subset, value in function.items():
            add(result, subset, value / len(functions))
    return result


BRUTE = {
    "conjunctive": brute_conjunctive,
    "dempster": brute_dempster,
    "yager": brute_yager,
    "dubois_prade": brute_dubois_prade,
    "pcr6": brute_pcr6,
    "disjunctive": brute_disjunctive,
    "mean": brute_mean,
}


@pytest.mark.parametrize("rule", BRUTE)
def test_rule_against_brute_force(rng, rule):
    # Ten times 100 rows: two sources on different lists, or three on one list.
    for number, sets in enumerate(random_lists(rng, must_hold=["frame"])):
        n_clusters = sets.n_clusters
        if number % 2 or sets.is_full:
            lists = [sets] * (3 if len(sets) < 9 else 2)
        else:
            other = [power_set(n_clusters)[j] for j in (0, 1, -1)]
            lists = [sets, FocalSets.from_subsets(n_clusters, dict.fromkeys(other))]
        stack = [random_rows(rng, one) for one in lists]
        for masses, one in zip(stack, lists, strict=True):
            masses[:, one.frame_index] += 0.2
            masses /= masses.sum(axis=1, keepdims=True)
        found, found_sets = combine(stack, lists, rule)
        frame = frozenset(range(n_clusters))
        for i, result in enumerate(found):
            functions = [
                as_dictionary(masses[i], one)
                for masses, one in zip(stack, lists, strict=True)
            ]
            assert_same(result, found_sets, BRUTE[rule](functions, frame))


def test_lns_against_brute_force(rng):
    # Separable sources: conjunctive combinations of simple ones.
    for number in range(10):
        n_clusters = 1 + number % 5
        columns = FocalSets.full(n_clusters)
        every = power_set(n_clusters)
        weights = rng.uniform(0.2, 0.9, size=(4, 100, len(columns)))
        weights[rng.random(weights.shape) < 0.6] = 1.0
        stack = conjunctive_weights_to_masses(weights)
        found, found_sets = combine(stack, columns, "lns")
        for i, result in enumerate(found):
            counts, products = {}, {}
            for subset in every[:-1]:
                mine = [w[i, columns.index(subset)] for w in weights]
                counts[subset] = sum(value < 1 for value in mine)
                products[subset] = math.prod(mine)
            n_all = sum(counts.values())
            function = {every[-1]: 1.0}
            for subset, n_simple in counts.items():
                if n_simple:
                    strength = n_simple / n_all * (1 - products[subset])
                    simple = {subset: strength, every[-1]: 1 - strength}
                    function = brute_conjunctive([function, simple], every[-1])
            assert_same(result, found_sets, function)


@pytest.mark.parametrize(
    ("name", "rule", "index"), [("cautious", cautious, 7), ("bold", bold, 0)]
)
def test_idempotent_rules_do_not_depend_on_grouping(rng, name, rule, index):
    stack = rng.dirichlet(np.ones(8), size=(4, 20)) + 0.1 * np.eye(8)[index]
    stack /= stack.sum(axis=-1, keepdims=True)
    one_by_one = reduce(lambda one, other: rule(one, FULL, other)[0], stack)
    np.testing.assert_allclose(combine(stack, FULL, name)[0], one_by_one, atol=1e-13)


class TestWorkedExamples:
    def test_pcr6_of_two_sources(self):
        # Conflict 0.6 x 0.3 goes back 0.12 to {0} and 0.06 to {1}.
        stack = [[0, 0.6, 0, 0.4], [0, 0, 0.3, 0.7]]
        masses, _ = combine(stack, FocalSets.full(2), "pcr6")
        np.testing.assert_allclose(masses, [0, 0.54, 0.18, 0.28], atol=1e-15)

    def test_zadeh(self):
        stack = [[0.9, 0, 0.1], [0, 0.9, 0.1]]
        sets = FocalSets.singletons(3, empty=False, frame=False)
        masses, found = combine(stack, sets, "dubois_prade")
        assert_same(
            masses,
            found,
            {
                frozenset([2]): 0.01,
                frozenset([0, 1]): 0.81,
                frozenset([0, 2]): 0.09,
                frozenset([1, 2]): 0.09,
            },
        )
        masses, found = combine(stack, sets, "dempster")
        assert masses[found.index([2])] == pytest.approx(1.0)

    def test_lns_follows_the_majority(self):
        # Three sources say {0} with 0.5, one says {1} with 0.8: 0.75 x 0.875 against
        # 0.25 x 0.8.
        masses, _ = combine(
            [[0, 0.5, 0, 0.5]] * 3 + [[0, 0, 0.8, 0.2]], FocalSets.full(2), "lns"
        )
        first, second = 0.75 * 0.875, 0.25 * 0.8
        np.testing.assert_allclose(
            masses,
            [
                first * second,
                first * (1 - second),
                (1 - first) * second,
                (1 - first) * (1 - second),
            ],
        )

    def test_thousand_sources_are_no_trouble(self):
        stack = [[0, 0.6, 0.4, 0]] * 1000
        np.testing.assert_allclose(
            combine(stack, FocalSets.full(2))[0], [0, 1, 0, 0], atol=1e-15
        )
        simple = [[0, 0.6, 0, 0.4]] * 1000
        masses, _ = combine(simple, FocalSets.full(2), "lns")
        np.testing.assert_allclose(masses, [0, 1, 0, 0], atol=1e-15)
        assert conjunctive_weights(simple, FocalSets.full(2)).shape == (1000, 4)


@pytest.mark.parametrize("rule", [*BRUTE, "cautious", "bold", "lns"])
def test_one_source_and_shapes(rule):
    weights = np.array([0.8, 0.9, 1, 1, 1, 1, 1, 1])
    masses = np.tile(conjunctive_weights_to_masses(weights), (2, 3, 1))
    found, sets = combine([masses], FULL, rule)
    assert found.shape == (2, 3, 8)
    assert sets == FULL
    assert combine([masses[:0]] * 2, FULL, rule)[0].shape == (0, 3, 8)
    both, _ = combine([masses, masses[0, 0]], FULL, rule)
    assert both.shape == (2, 3, 8)
    np.testing.assert_allclose(both[1, 2], both[0, 0])


VACUOUS = np.eye(8)[7]
DEBT = [0, 0, 0, 0.3, 0, 0, 0.5, 0.2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: combine([VACUOUS], FULL, "best"), "rule must be one of"),
        (lambda: combine([], FULL), "sources must hold at least one"),
        (lambda: combine(3, FULL), "sources must be a sequence"),
        (lambda: combine([VACUOUS, [1.0]], FULL), r"sources\[1\] must have one column"),
        (lambda: combine([VACUOUS, VACUOUS], [FULL]), "focal_sets must be FocalSets"),
        (
            lambda: combine([VACUOUS, [0, 0, 0, 1]], [FULL, FocalSets.full(2)]),
            "focal_sets must be about the same",
        ),
        (
            lambda: combine([[VACUOUS] * 2, [VACUOUS] * 3], FULL),
            "sources must have leading axes",
        ),
        (lambda: combine([np.eye(8)[1], np.eye(8)[2]], FULL), "total conflict"),
        (
            lambda: combine([VACUOUS, np.eye(8)[1]], FULL, "cautious"),
            r"sources\[1\]: masses must have mass on Ω",
        ),
        (lambda: combine([DEBT], FULL, "lns"), "sources must be separable"),
        (
            lambda: combine(np.full((7, 8), 0.125), FULL, "pcr6"),
            "sources must have no more than 1048576",
        ),
        (
            lambda: combine(
                np.full((2, 2**11), 2.0**-11), FocalSets.full(11), "dubois_prade"
            ),
            "focal_sets must give no more than 1048576",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
