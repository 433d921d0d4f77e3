"""Mass functions as dictionaries of frozensets: slow, plain, and written apart.

What `credalis.belief` computes on arrays is compared with sums over these.
"""

from itertools import combinations

import numpy as np

from credalis.belief import FocalSets

TOLERANCE = 1e-12


def power_set(n_clusters):
    return [
        frozenset(members)
        for size in range(n_clusters + 1)
        for members in combinations(range(n_clusters), size)
    ]


def random_lists(rng, *, n_clusters=None, must_hold=()):
    """Ten lists of focal sets: full ones, singletons, and any subsets in any order."""
    for number in range(10):
        c = n_clusters or 1 + number % 5
        if number in (2, 4):
            yield FocalSets.full(c)
        elif number == 8:
            yield FocalSets.singletons(c)
        else:
            every = power_set(c)
            n_sets = rng.integers(1, min(len(every), 9) + 1)
            chosen = [every[j] for j in rng.choice(len(every), n_sets, replace=False)]
            for name in must_hold:
                wanted = frozenset() if name == "empty" else frozenset(range(c))
                if wanted not in chosen:
                    chosen.append(wanted)
            yield FocalSets.from_subsets(c, chosen)


def random_rows(rng, focal_sets, n_rows=100):
    """Masses with exact zeros in many places."""
    weights = rng.exponential(size=(n_rows, len(focal_sets)))
    weights[rng.random(weights.shape) < 0.3] = 0.0
    weights[weights.sum(axis=1) == 0, 0] = 1.0
    return weights / weights.sum(axis=1, keepdims=True)


def as_dictionary(row, focal_sets):
    return {
        frozenset(s): float(value) for s, value in zip(focal_sets, row, strict=True)
    }


def add(target, subset, value):
    target[subset] = target.get(subset, 0.0) + value


def normalized(function):
    empty = frozenset()
    total = sum(value for subset, value in function.items() if subset != empty)
    return {s: value / total for s, value in function.items() if s != empty}


def assert_same(row, focal_sets, expected):
    """A row of masses is the mass function in the dictionary."""
    found = as_dictionary(row, focal_sets)
    for subset in found.keys() | expected.keys():
        difference = found.get(subset, 0.0) - expected.get(subset, 0.0)
        assert abs(difference) <= TOLERANCE, (set(subset), difference)
    np.testing.assert_allclose(row.sum(), 1.0, atol=TOLERANCE)
