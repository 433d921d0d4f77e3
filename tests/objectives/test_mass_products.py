"""Sums of products of masses over groups of objects."""

import numpy as np
import pytest

from credalis.objectives._mass_products import MassProducts

N_SETS = 6


@pytest.fixture
def sparse(rng):
    """A function that draws masses on three sets of each object."""

    def draw(n_samples):
        masses = np.zeros((n_samples, N_SETS))
        for row in masses:
            row[rng.choice(N_SETS, 3, replace=False)] = rng.dirichlet(np.ones(3))
        return masses

    return draw


def assert_sums(products, masses, counts, rtol=1e-12):
    sums = products.sums(counts)
    expected = np.einsum("ja,jb,ji->abi", masses, masses, counts)
    np.testing.assert_allclose(sums, expected, rtol=rtol, atol=1e-15)


def test_sums_are_those_over_all_objects(rng, sparse):
    masses, counts = sparse(40), rng.integers(3, size=(40, 7))
    assert_sums(MassProducts(masses), masses, counts)


def test_objects_that_move_are_followed(rng, sparse):
    masses, counts = sparse(40), rng.integers(3, size=(40, 7))
    products = MassProducts(masses)
    assert_sums(products, masses, counts)
    for _ in range(6):
        masses = masses.copy()
        rows = rng.choice(40, 5, replace=False)
        # Some on new sets, some on the same ones, some that lose one.
        masses[rows[:2]] = sparse(2)
        masses[rows[2:4]] *= rng.uniform(0.5, 1.0, size=(2, N_SETS))
        masses[rows[4], masses[rows[4]].argmin()] = 0.0
        products.update(masses)
        assert_sums(products, masses, counts)


def test_products_grow_with_the_sets_of_a_group():
    masses = np.zeros((30, N_SETS))
    masses[:, 0] = 1.0
    products = MassProducts(masses)
    assert (products.size, products.is_old) == (30, False)
    moved = masses.copy()
    moved[3] = 1.0 / N_SETS
    products.update(moved)
    assert products.size == 30 * N_SETS * (N_SETS + 1) // 2
    assert products.is_old


def test_objects_on_other_sets_join_a_group_that_has_them():
    masses = np.zeros((4000, N_SETS))
    masses[:2000, :2] = masses[2000:, 2:4] = 0.5
    products = MassProducts(masses)
    counts = np.ones((4000, 2))
    assert_sums(products, masses, counts)
    for moves in ([5], [5, 6, 3000]):
        moved = masses.copy()
        moved[moves, :4] = moved[moves, 3::-1]
        products.update(moved)
        assert_sums(products, moved, counts)
    # A place in the other group for each of the three, and one for the way back.
    products.update(masses)
    assert_sums(products, masses, counts)
    assert products.size <= 3 * (4000 + 6)


def test_groups_are_old_when_objects_have_masses_on_other_sets(sparse):
    masses = sparse(30)
    products = MassProducts(masses)
    moved = masses.copy()
    moved *= 0.9
    products.update(moved)
    assert not products.is_old
    moved[:20, 0] = np.where(masses[:20, 0] > 0, 0.0, 0.1)
    products.update(moved)
    assert products.is_old


def test_objects_on_the_same_sets_share_a_group(rng):
    # Two kinds of objects that share a set: apart they have 3 products each, not 6.
    masses = np.zeros((4000, N_SETS))
    masses[:, 0] = 0.5
    masses[np.arange(4000), rng.integers(1, 3, size=4000)] = 0.5
    products = MassProducts(masses)
    assert products.size == 3 * 4000
    counts = rng.integers(3, size=(4000, 7))
    assert_sums(products, masses, counts)


def test_products_in_single_precision(rng, sparse):
    masses, counts = sparse(400), rng.integers(3, size=(400, 7))
    products = MassProducts(masses, np.float32)
    assert products.sums(counts).dtype == np.float32
    assert_sums(products, masses, counts, rtol=1e-5)
