"""Masses about pairs of objects."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis.belief import (
    PAIR_COLUMNS,
    PAIR_FOCAL_SETS,
    FocalSets,
    conflict,
    paired_masses,
    pairwise_blocks,
    pairwise_masses,
    plausibility,
)
from helpers import focal_set_lists, mass_matrices

# A slow moment of a busy machine is no failure.
quick = settings(max_examples=40)

ONE_CLUSTER = st.sampled_from(
    [FocalSets.singletons(1), FocalSets.singletons(1, empty=False)]
)
EXCERPT = Path(__file__).parents[1] / "reference" / "evclust_pairwise.json"


@st.composite
def two_sources(draw):
    focal_sets = draw(focal_set_lists() | ONE_CLUSTER)
    return (
        draw(mass_matrices(focal_sets, 3, 3)),
        draw(mass_matrices(focal_sets, 3, 3)),
        focal_sets,
    )


def from_membership(membership):
    membership = np.array(membership, dtype=bool)
    return FocalSets.from_subsets(
        membership.shape[1], [np.flatnonzero(row) for row in membership]
    )


def assert_same_pairs(masses, focal_sets, expected):
    pairs = pairwise_masses(masses, focal_sets)
    # The diagonal is set to zero there; it is not about a pair of objects.
    different = ~np.eye(len(pairs), dtype=bool)
    for key, column in (("Me", 0), ("M1", 1), ("M0", 2)):
        np.testing.assert_allclose(
            pairs[different][:, column],
            np.array(expected[key])[different],
            rtol=1e-13,
            atol=1e-15,
        )


def test_worked_example_of_one_pair():
    focal_sets = FocalSets.full(2)
    a, b = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.05, 0.6, 0.25, 0.1])
    pair = paired_masses(a, b, focal_sets)
    np.testing.assert_allclose(pair, [0.145, 0.195, 0.23, 0.43], atol=1e-15)
    np.testing.assert_allclose(plausibility(pair, PAIR_FOCAL_SETS), [0.625, 0.66])
    assert a @ focal_sets.apartness @ b == pytest.approx(1.035, abs=1e-15)
    assert PAIR_COLUMNS == ("empty", "same", "different", "either")


def test_worked_example_of_a_partition():
    masses = [[0, 1, 0, 0], [0, 0.6, 0.2, 0.2], [0.1, 0, 0.7, 0.2], [0, 0, 0, 1]]
    pairs = pairwise_masses(masses, FocalSets.full(2))[np.triu_indices(4, 1)]
    np.testing.assert_allclose(
        pairs.T,
        [
            [0, 0.1, 0, 0.1, 0, 0.1],
            [0.6, 0, 0, 0.14, 0, 0],
            [0.2, 0.7, 0, 0.42, 0, 0],
            [0.2, 0.2, 1, 0.34, 1, 0.9],
        ],
        atol=1e-15,
    )


def test_pairs_equal_those_of_an_independent_program():
    expected = json.loads(EXCERPT.read_text(encoding="utf-8"))
    focal_sets = from_membership(expected["F"])
    assert_same_pairs(expected["mass"], focal_sets, expected["PA"])


def test_pairs_equal_all_reference_values(reference):
    partitions = reference("extractMass.json")
    expected = reference("pairwise_credalRI.json")
    names = {"PA": "outA", "PB": "outB", "PH": "hard", "PU": "fuzzy"}
    for key, name in names.items():
        focal_sets = from_membership(partitions[name]["F"])
        assert_same_pairs(partitions[name]["mass"], focal_sets, expected[key])


@quick
@given(two_sources())
def test_the_four_masses_are_a_mass_function(case):
    first, second, focal_sets = case
    pairs = pairwise_masses(first, focal_sets, second)
    assert (pairs >= 0).all()
    np.testing.assert_allclose(pairs.sum(axis=2), 1.0)


@quick
@given(two_sources())
def test_each_mass_is_the_sum_over_the_pairs_of_sets_that_say_so(case):
    first, second, focal_sets = case
    expected = np.zeros((3, 4))
    for i, a in enumerate(focal_sets):
        for j, b in enumerate(focal_sets):
            if not a or not b:
                column = 0
            elif a == b and len(a) == 1:
                column = 1
            elif not set(a) & set(b):
                column = 2
            else:
                column = 3
            expected[:, column] += first[:, i] * second[:, j]
    np.testing.assert_allclose(
        paired_masses(first, second, focal_sets), expected, atol=1e-14
    )


@quick
@given(two_sources())
def test_conflict_and_apartness_are_read_off_the_pair(case):
    first, second, focal_sets = case
    pairs = paired_masses(first, second, focal_sets)
    np.testing.assert_allclose(
        pairs[:, 0] + pairs[:, 2], conflict(first, second, focal_sets), atol=1e-14
    )
    same, different = plausibility(pairs, PAIR_FOCAL_SETS).T
    np.testing.assert_allclose(
        different + 1 - same,
        np.einsum("ij,jk,ik->i", first, focal_sets.apartness, second),
        atol=1e-14,
    )


@quick
@given(two_sources())
def test_row_by_row_is_the_diagonal_of_all_pairs(case):
    first, second, focal_sets = case
    pairs = pairwise_masses(first, focal_sets, second)
    np.testing.assert_allclose(
        paired_masses(first, second, focal_sets),
        pairs[np.arange(3), np.arange(3)],
        atol=1e-15,
    )
    swapped = pairwise_masses(second, focal_sets, first)
    np.testing.assert_allclose(pairs, swapped.transpose(1, 0, 2), atol=1e-15)


@pytest.mark.parametrize("max_bytes", [1, 64 * 9, 64 * 50, 2**26])
def test_blocks_hold_every_pair_of_different_objects(max_bytes, rng):
    focal_sets = FocalSets.pairs(3)
    masses = rng.dirichlet(np.ones(8), size=10)
    expected = pairwise_masses(masses, focal_sets)
    met = np.zeros((10, 10), dtype=int)
    for rows, columns, block in pairwise_blocks(
        masses, focal_sets, max_bytes=max_bytes
    ):
        assert rows.start <= columns.start
        np.testing.assert_allclose(block, expected[rows, columns], atol=1e-15)
        met[rows, columns] += 1
    above = np.triu_indices(10, 1)
    assert (met[above] == 1).all()
    # Below the diagonal only what the diagonal blocks hold anyway.
    assert (met <= 1).all()


def test_blocks_keep_to_the_memory_asked_for(rng):
    focal_sets = FocalSets.singletons(4)
    masses = rng.dirichlet(np.ones(6), size=700)
    max_bytes = 2**20
    tracemalloc.start()
    for _ in pairwise_blocks(masses, focal_sets, max_bytes=max_bytes):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A block of the loop is still held while the next one is made.
    assert peak < 2 * max_bytes


def test_blocks_of_nobody_are_none():
    focal_sets = FocalSets.singletons(2)
    assert list(pairwise_blocks(np.empty((0, 4)), focal_sets)) == []


def test_masses_on_other_focal_sets_are_refused():
    focal_sets = FocalSets.full(2)
    with pytest.raises(ValueError, match=r"4 focal sets, got shape \(3,\)"):
        paired_masses([0, 1, 0, 0], [0, 1, 0], focal_sets)
    with pytest.raises(ValueError, match=r"4 focal sets, got shape \(1, 3\)"):
        pairwise_masses([[0, 1, 0, 0]], focal_sets, [[0, 1, 0]])
