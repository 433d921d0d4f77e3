"""The stress of 2004."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from credalis import FocalSets
from credalis.objectives import AffineStress, Entropy
from helpers import central_differences

FOCAL_SETS = FocalSets.full(3)


@pytest.fixture
def masses(rng):
    return rng.dirichlet(np.ones(8), size=9).T


@pytest.fixture(params=[False, True], ids=["distinct", "duplicates"])
def stress(request, rng):
    points = rng.normal(size=(9, 2))
    if request.param:
        points[1] = points[0]
    return AffineStress(cdist(points, points), FOCAL_SETS)


def test_value_is_the_definition(stress, masses):
    a, b = 1.7, 0.2
    conflicts = masses.T @ FOCAL_SETS.disjoint @ masses
    i, j = np.triu_indices(9, 1)
    d = stress.dissimilarities[i, j]
    divisors = d + 0.1 * d.mean() if (d == 0).any() else d
    expected = ((a * conflicts[i, j] + b - d) ** 2 / divisors).sum() / d.sum()
    value, _, _ = stress.value_and_gradient(masses, np.array([a, b]))
    assert value == pytest.approx(expected, rel=1e-12)


def test_gradients_are_those_of_finite_differences(stress, masses):
    coefficients = np.array([1.7, 0.2])
    _, slopes, ends = stress.value_and_gradient(masses, coefficients)
    np.testing.assert_allclose(
        slopes,
        central_differences(
            lambda m: stress.value_and_gradient(m, coefficients)[0], masses, 1e-6
        ),
        atol=1e-8,
    )
    np.testing.assert_allclose(
        ends,
        central_differences(
            lambda c: stress.value_and_gradient(masses, c)[0], coefficients, 1e-6
        ),
        atol=1e-8,
    )


def test_entropy_of_vacuous_and_certain_masses(masses):
    entropy = Entropy(FOCAL_SETS)
    certain = np.zeros((8, 1))
    certain[FOCAL_SETS.index((0,))] = 1
    assert entropy.value(certain) == pytest.approx(0)
    vacuous = np.zeros((8, 1))
    vacuous[FOCAL_SETS.frame_index] = 1
    assert entropy.value(vacuous) == pytest.approx(np.log2(3))
    # Away from 0, where the logarithm bends too much for differences.
    inner = 0.5 * masses + 0.5 / len(masses)
    np.testing.assert_allclose(
        entropy.value_and_gradient(inner)[1],
        central_differences(entropy.value, inner, 1e-6),
        atol=1e-6,
    )
