import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from credalis import FocalSets
from credalis.objectives import mass_weights, masses_from_costs, row_blocks, set_costs

FULL = FocalSets.full(2)


@pytest.mark.parametrize(
    ("alpha", "beta", "expected"),
    [
        (1, 2, [0.0373444, 0.06639004, 0.59751037, 0.29875519]),
        (2, 2, [0.04390244, 0.07804878, 0.70243902, 0.17560976]),
        (1, 1.5, [0.00308489, 0.00974978, 0.78973226, 0.19743307]),
    ],
)
def test_worked_example(alpha, beta, expected):
    # An object at 0.5 between prototypes at -1 and 1, with delta = 2.
    squared = np.array([[0.0, 2.25, 0.25, 0.25]]).T
    masses = masses_from_costs(set_costs(squared, FULL, alpha, 2.0), beta)
    np.testing.assert_allclose(masses[:, 0], expected, atol=5e-9)


positive_costs = arrays(np.float64, (5, 4), elements=st.floats(1e-6, 1e6))


@given(positive_costs, st.sampled_from([1.1, 1.5, 2.0, 3.0]))
def test_update_satisfies_the_optimality_conditions(costs, beta):
    masses = masses_from_costs(costs, beta)
    np.testing.assert_allclose(masses.sum(axis=0), 1)
    # The derivatives beta m^(beta - 1) c of the Lagrangian are equal; in logarithms,
    # since they spread over many orders of magnitude, where the mass has not
    # underflowed.
    with np.errstate(divide="ignore"):
        slopes = (beta - 1) * np.log(masses) + np.log(costs)
    for row, mass in zip(slopes.T, masses.T, strict=True):
        alive = row[mass > 1e-250]
        np.testing.assert_allclose(alive, alive[0], atol=1e-8)


@given(positive_costs, st.floats(0.01, 0.99), st.integers(0, 4), st.integers(0, 4))
def test_no_other_masses_cost_less(costs, share, source, target):
    beta = 2.0
    best = masses_from_costs(costs, beta)
    other = best.copy()
    moved = share * other[source]
    other[source] -= moved
    other[target] += moved
    best_cost = (mass_weights(best, beta) * costs).sum(axis=0)
    other_cost = (mass_weights(other, beta) * costs).sum(axis=0)
    assert (best_cost <= other_cost * (1 + 1e-12)).all()


@pytest.mark.parametrize("beta", [1 + 1e-9, 1.01, 2, 50])
def test_powers_never_overflow(beta):
    costs = np.array([[1e-300, 1e300, 1.0], [1.0, 1e299, 1.0], [1e300, 1e300, 1.0]])
    masses = masses_from_costs(costs, beta)
    assert np.isfinite(masses).all()
    np.testing.assert_allclose(masses.sum(axis=0), 1)


def test_beta_near_one_gives_the_cheapest_set_everything():
    masses = masses_from_costs(np.array([[1.0], [1.001], [2.0]]), 1 + 1e-6)
    np.testing.assert_allclose(masses, [[1], [0], [0]], atol=1e-12)


def test_object_on_a_prototype_belongs_to_it():
    squared = np.array([[0.0], [0.0], [4.0], [1.0]])
    masses = masses_from_costs(set_costs(squared, FULL, 1.0, 2.0), 2.0)
    np.testing.assert_allclose(masses, [[0], [1], [0], [0]], atol=1e-300)


def test_object_on_several_prototypes_shares_by_cardinality():
    squared = np.zeros((4, 1))
    masses = masses_from_costs(set_costs(squared, FULL, 1.0, 2.0), 2.0)
    np.testing.assert_allclose(masses, [[0], [0.4], [0.4], [0.2]], atol=1e-12)


@given(st.integers(0, 5000), st.integers(1, 4096))
def test_blocks_cover_every_object_once(n_samples, n_focal_sets):
    covered = [
        i
        for rows in row_blocks(n_samples, n_focal_sets)
        for i in range(n_samples)[rows]
    ]
    assert covered == list(range(n_samples))
