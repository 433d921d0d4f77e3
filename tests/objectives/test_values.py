"""Values that arrays and tensors share are those of the terms with gradients."""

import numpy as np
import pytest

from credalis import FocalSets
from credalis.dissimilarity import EuclideanSimilarities
from credalis.objectives import (
    DenseStress,
    LabelFit,
    PairConstraints,
    SampledStress,
    label_penalty,
    pair_penalty,
    sampled_stress,
    stress_sum,
)

MUST_LINK = np.array([[0, 1], [5, 2], [0, 1]])
CANNOT_LINK = np.array([[3, 8]])
NO_PAIRS = np.empty((0, 2), dtype=np.intp)
OBJECTS, LABELS = np.array([0, 4, 4]), np.array([1, 2, 0])


@pytest.fixture
def focal_sets():
    return FocalSets.pairs(3)


@pytest.fixture
def masses(focal_sets, rng):
    return rng.dirichlet(np.ones(len(focal_sets)), size=9).T


@pytest.fixture
def similarities(rng):
    return EuclideanSimilarities.from_points(rng.normal(size=(9, 2)), 2.0)


def one_hot(labels, n_clusters):
    return (np.arange(n_clusters)[:, None] == labels).astype(float)


def test_strips_add_up_to_the_stress(focal_sets, masses, similarities):
    matrix, disjoint = similarities.matrix(), focal_sets.disjoint.astype(float)
    expected = DenseStress(matrix, focal_sets).value(masses)
    whole = stress_sum(masses, matrix, disjoint)
    assert whole / (9 * 8) == pytest.approx(expected, rel=1e-12)
    strips = [slice(0, 4), slice(4, 5), slice(5, 9)]
    total = sum(stress_sum(masses, matrix[s], disjoint, s) for s in strips)
    assert total == pytest.approx(whole, rel=1e-12)


def test_stress_of_given_pairs(focal_sets, masses, similarities, rng):
    rows, columns = np.array([0, 3, 3, 7]), np.array([5, 4, 4, 1])
    known = similarities.pairs(rows, columns)
    expected = SampledStress(rows, columns, known, 9, focal_sets).value(masses)
    disjoint = focal_sets.disjoint.astype(float)
    value = sampled_stress(masses, rows, columns, known, disjoint)
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("must_link", "cannot_link"),
    [(MUST_LINK, CANNOT_LINK), (MUST_LINK, NO_PAIRS), (NO_PAIRS, CANNOT_LINK)],
)
def test_penalty_of_pairs(focal_sets, masses, must_link, cannot_link):
    expected = PairConstraints(must_link, cannot_link, 9, focal_sets).value(masses)
    value = pair_penalty(masses, must_link, cannot_link, focal_sets.apartness)
    assert value == pytest.approx(expected, rel=1e-12)


def test_penalty_of_labels(focal_sets, masses):
    expected = LabelFit(OBJECTS, LABELS, focal_sets).value(masses)
    members = focal_sets.membership.astype(float)
    value = label_penalty(masses, OBJECTS, one_hot(LABELS, 3), members)
    assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("term", ["stress", "sampled", "pairs", "labels"])
def test_automatic_gradients_are_the_closed_forms(
    term, focal_sets, masses, similarities
):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(masses, requires_grad=True)
    disjoint = torch.tensor(focal_sets.disjoint.astype(float))
    rows, columns = np.array([0, 3, 3, 7]), np.array([5, 4, 4, 1])
    if term == "stress":
        matrix = similarities.matrix()
        objective = DenseStress(matrix, focal_sets)
        value = stress_sum(tensor, torch.tensor(matrix), disjoint) / (9 * 8)
    elif term == "sampled":
        known = similarities.pairs(rows, columns)
        objective = SampledStress(rows, columns, known, 9, focal_sets)
        value = sampled_stress(tensor, rows, columns, torch.tensor(known), disjoint)
    elif term == "pairs":
        objective = PairConstraints(MUST_LINK, CANNOT_LINK, 9, focal_sets)
        apartness = torch.tensor(focal_sets.apartness.copy())
        value = pair_penalty(
            tensor, torch.tensor(MUST_LINK), torch.tensor(CANNOT_LINK), apartness
        )
    else:
        objective = LabelFit(OBJECTS, LABELS, focal_sets)
        value = label_penalty(
            tensor,
            torch.tensor(OBJECTS),
            torch.tensor(one_hot(LABELS, 3)),
            torch.tensor(focal_sets.membership.astype(float)),
        )
    value.backward()
    expected, gradient = objective.value_and_gradient(masses)
    assert value.item() == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(tensor.grad.numpy(), gradient, rtol=0, atol=1e-14)
