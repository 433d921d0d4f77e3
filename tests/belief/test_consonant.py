"""Consonant mass functions from contour functions and from probabilities."""

from itertools import pairwise

import numpy as np
import pytest

from credalis.belief import (
    FocalSets,
    consonant_masses,
    contour,
    is_consonant,
    isopignistic_masses,
    pignistic,
)
from powerset import add, assert_same


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def brute_consonant(plausibilities):
    """Level sets: m({ω : pl(ω) >= t}) for each level t, by the step to the next."""
    levels = sorted({0.0, 1.0, *plausibilities})
    result = {}
    for lower, upper in pairwise(levels):
        level_set = frozenset(k for k, v in enumerate(plausibilities) if v >= upper)
        add(result, level_set, upper - lower)
    return result


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 4, 5])
def test_contours_against_level_sets(rng, n_clusters):
    rows = rng.random((1000, n_clusters))
    rows[::2] = np.round(rows[::2], 1)  # ties, zeros and ones
    masses, focal_sets = consonant_masses(rows)
    assert is_consonant(masses, focal_sets).all()
    np.testing.assert_allclose(contour(masses, focal_sets), rows, atol=1e-14)
    for row, found in zip(rows[:200], masses[:200], strict=True):
        assert_same(found, focal_sets, brute_consonant(row.tolist()))


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 4, 5])
def test_probabilities_against_level_sets(rng, n_clusters):
    rows = rng.dirichlet(np.ones(n_clusters), size=1000)
    rows[::2] = rng.multinomial(6, np.ones(n_clusters) / n_clusters, size=500) / 6
    masses, focal_sets = isopignistic_masses(rows)
    np.testing.assert_allclose(pignistic(masses, focal_sets), rows, atol=1e-14)
    for row, found in zip(rows[:200], masses[:200], strict=True):
        # Dubois, Prade and Smets: pl(ω) = Σ min(p(ω), p(ω')). Sums in one order,
        # so that equal probabilities have equal plausibilities.
        ordered = sorted(row.tolist())
        levels = [sum(min(p, q) for q in ordered) for p in row.tolist()]
        assert_same(found, focal_sets, brute_consonant(levels))


def test_worked_example():
    # p = (0.5, 0.3, 0.2): 0.2 on the first, 2 x 0.1 on two, 3 x 0.2 on all three.
    masses, focal_sets = isopignistic_masses([0.5, 0.3, 0.2])
    assert focal_sets == FocalSets.from_subsets(3, [(0,), (0, 1), (0, 1, 2)])
    np.testing.assert_allclose(masses, [0.2, 0.2, 0.6])


def test_uniform_probabilities_become_vacuous():
    masses, focal_sets = isopignistic_masses(np.full((2, 3, 4), 0.25))
    assert focal_sets.names == ("Ω",)
    assert masses.shape == (2, 3, 1)


def test_no_rows():
    assert consonant_masses(np.zeros((0, 3)))[0].shape == (0, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: consonant_masses([0.5, 1.2]), "contour must lie between"),
        (lambda: consonant_masses([np.nan, 1.0]), "contour must lie between"),
        (lambda: consonant_masses(0.5), "contour must have one column"),
        (lambda: consonant_masses(["a"]), "contour must be an array of numbers"),
        (lambda: isopignistic_masses([0.5, 0.6]), "probabilities must sum to 1"),
        (lambda: isopignistic_masses([-0.5, 1.5]), "probabilities must be >= 0"),
        (lambda: isopignistic_masses([]), "probabilities must have one column"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
