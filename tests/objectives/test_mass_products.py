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


def assert_sums(products, masses, counts):
    sums = products.sums(counts[products.order])
    expected = np.einsum("ja,jb,ji->abi", masses, masses, counts)
    above = np.triu_indices(N_SETS)
    np.testing.assert_allclose(sums[above], expected[above], rtol=1e-12, atol=1e-15)
    assert not sums[np.tril_indices(N_SETS, -1)].any()


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


def test_groups_are_old_when_all_objects_have_moved(sparse):
    masses = sparse(30)
    products = MassProducts(masses)
    for first in (0, 10, 20):
        assert not products.is_old
        masses = masses.copy()
        masses[first : first + 10] *= 0.9
        products.update(masses)
    assert products.is_old
