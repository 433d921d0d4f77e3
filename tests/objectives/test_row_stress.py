"""Stress as a function of some rows: it must be the stress."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis import FocalSets
from credalis.dissimilarity import EuclideanSimilarities, sample_pairs
from credalis.objectives import (
    CommonStress,
    DenseStress,
    PairConstraints,
    PartnerStress,
    RowCost,
    SampledStress,
)
from helpers import focal_set_lists

N = 24


@pytest.fixture
def points(rng):
    return rng.normal(size=(N, 2))


def common(points, n_landmarks, focal_sets, is_stored):
    similarities = EuclideanSimilarities.from_points(points, 2.0)
    stored = None
    if is_stored:
        stored = similarities.matrix()[:, :n_landmarks].copy()
        stored[np.arange(n_landmarks), np.arange(n_landmarks)] = 1.0
    return CommonStress(similarities, n_landmarks, focal_sets, stored)


def partners(points, focal_sets, n_partners, **options):
    similarities = EuclideanSimilarities.from_points(points, 2.0)
    rows, columns = sample_pairs(len(points), n_partners, np.random.RandomState(0))
    values = similarities.pairs(rows, columns)
    return PartnerStress(rows, columns, values, len(points), focal_sets, **options)


def stresses(points, focal_sets):
    n = len(points)
    return [
        common(points, n, focal_sets, True),
        common(points, n, focal_sets, False),
        common(points, 7, focal_sets, True),
        common(points, 7, focal_sets, False),
        partners(points, focal_sets, 5),
    ]


def random_masses(rng, n, focal_sets):
    return rng.dirichlet(np.ones(len(focal_sets)), size=n)


def test_all_pairs_are_the_dense_stress(points, rng):
    focal_sets = FocalSets.pairs(3)
    masses = random_masses(rng, N, focal_sets)
    stress = common(points, N, focal_sets, True)
    dense = DenseStress(stress.similarities.matrix(), focal_sets)
    assert stress.value(masses) == pytest.approx(dense.value(masses.T), rel=1e-12)


def test_landmarks_are_sampled_pairs_with_the_same_partners(points, rng):
    focal_sets = FocalSets.pairs(3)
    masses = random_masses(rng, N, focal_sets)
    rows, columns = np.nonzero(~np.eye(N, 7, dtype=bool))
    stress = common(points, 7, focal_sets, True)
    values = stress.similarities.pairs(rows, columns)
    sampled = SampledStress(rows, columns, values, N, focal_sets)
    assert stress.value(masses) == pytest.approx(sampled.value(masses.T), rel=1e-12)


def test_partners_are_sampled_pairs(points, rng):
    focal_sets = FocalSets.pairs(3)
    masses = random_masses(rng, N, focal_sets)
    stress = partners(points, focal_sets, 6)
    sampled = SampledStress(
        stress.rows, stress.columns, stress.similarities, N, focal_sets
    )
    assert stress.value(masses) == pytest.approx(sampled.value(masses.T), rel=1e-12)


@settings(max_examples=40)
@given(st.integers(0, 1000), focal_set_lists())
def test_row_problem_and_coupling_say_how_the_cost_changes(seed, focal_sets):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(N, 2))
    masses = random_masses(rng, N, focal_sets)
    other = random_masses(rng, N, focal_sets)
    must, cannot = np.array([[0, 1], [2, 9], [1, 15]]), np.array([[0, 5], [3, 20]])
    constraints = PairConstraints(must, cannot, N, focal_sets)
    for stress in stresses(points, focal_sets):
        edge = getattr(stress, "n_landmarks", N)
        blocks = [slice(0, 5), slice(2, 3), slice(0, edge), slice(edge, N)]
        for cost in (RowCost(stress), RowCost(stress, constraints, 0.7)):
            for rows in blocks:
                if rows.start == rows.stop:
                    continue
                direction = other[rows] - masses[rows]
                problem = cost.row_problem(masses, rows)
                moved = problem.products(direction)
                slope = 2 * (moved * masses[rows] - problem.linear * direction).sum()
                polynomial = np.array([slope, (moved * direction).sum(), 0, 0])
                polynomial[1:] += cost.coupling(masses, rows, direction)
                for t in (0.3, 1.0):
                    shifted = masses.copy()
                    shifted[rows] += t * direction
                    change = cost.value(shifted) - cost.value(masses)
                    predicted = t ** np.arange(1, 5) @ polynomial
                    assert predicted == pytest.approx(change, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("focal_sets", [FocalSets.pairs(3), FocalSets.full(5)])
def test_starts_together_are_the_starts_alone(points, rng, focal_sets):
    starts = np.stack([random_masses(rng, N, focal_sets) for _ in range(3)])
    others = np.stack([random_masses(rng, N, focal_sets) for _ in range(3)])
    must, cannot = np.array([[0, 1], [2, 9]]), np.array([[0, 5], [3, 20]])
    constraints = PairConstraints(must, cannot, N, focal_sets)
    for stress in stresses(points, focal_sets):
        cost = RowCost(stress, constraints, 0.7)
        for rows in (slice(0, 4), slice(7, N)):
            steps = others[:, rows] - starts[:, rows]
            problem = cost.row_problem(starts, rows)
            moved = problem.products(steps.reshape(-1, len(focal_sets)))
            alone = [cost.row_problem(each, rows) for each in starts]
            np.testing.assert_allclose(
                moved,
                np.concatenate(
                    [p.products(step) for p, step in zip(alone, steps, strict=True)]
                ),
                atol=1e-14,
            )
            np.testing.assert_allclose(
                problem.linear, np.concatenate([p.linear for p in alone])
            )
            couplings = [
                cost.coupling(each, rows, step)
                for each, step in zip(starts, steps, strict=True)
            ]
            np.testing.assert_allclose(
                cost.coupling(starts, rows, steps), couplings, atol=1e-15
            )


def test_one_sided_problem_is_that_of_the_partners_alone(points, rng):
    focal_sets = FocalSets.pairs(3)
    masses = random_masses(rng, N, focal_sets)
    stress = partners(points, focal_sets, 6, one_sided=True)
    problem = stress.row_problem(masses, slice(4, 5))
    own = stress.rows == 4
    against = masses[stress.columns[own]] @ focal_sets.disjoint
    weight = 2 / len(stress.rows)
    np.testing.assert_allclose(problem.gram[0], weight * against.T @ against)
    targets = 1 - stress.similarities[own]
    np.testing.assert_allclose(problem.linear[0], weight * targets @ against)


def test_every_object_is_in_one_block(points):
    for stress in stresses(points, FocalSets.singletons(2)):
        rows = np.concatenate([np.arange(N)[block] for block in stress.blocks()])
        np.testing.assert_array_equal(rows, np.arange(N))


@pytest.mark.parametrize("n_sets", [2, 11])
def test_sums_over_groups_are_those_over_gathered_partners(rng, points, n_sets):
    focal_sets = FocalSets.pairs(4)
    stress = partners(points, focal_sets, 9)
    other = partners(points, focal_sets, 9)
    vars(other)["_can_be_counted"] = False
    masses = np.zeros((N, len(focal_sets)))
    for row in masses:
        row[rng.choice(len(row), n_sets, replace=False)] = rng.dirichlet(
            np.ones(n_sets)
        )
    rows = slice(5, 17)
    assert stress._forms_by_moments(masses, rows) is not None
    forms, gathered = (each.row_problem(masses, rows) for each in (stress, other))
    np.testing.assert_allclose(forms.gram, gathered.gram, atol=1e-15)
    np.testing.assert_allclose(forms.linear, gathered.linear, atol=1e-15)


def test_conflicts_read_among_all_are_those_gathered(points, rng):
    focal_sets = FocalSets.pairs(3)
    masses = random_masses(rng, N, focal_sets)
    stress = partners(points, focal_sets, 6)
    against = masses @ focal_sets.disjoint
    read, gathered = (
        np.concatenate([found for _, found in conflicts(masses, against)])
        for conflicts in (stress._read_conflicts, stress._gathered_conflicts)
    )
    np.testing.assert_allclose(read, gathered, rtol=1e-13)


@pytest.mark.parametrize("is_counted", [True, False])
def test_pairs_that_are_apart_count_as_much_as_others(points, rng, is_counted):
    focal_sets = FocalSets.singletons(3)
    stress = partners(points * [1, 40], focal_sets, 9)
    assert 0 < (stress.similarities < 1e-20).sum() < len(stress.rows)
    vars(stress)["_can_be_counted"] = is_counted
    masses = random_masses(rng, N, focal_sets)
    linear = stress.row_problem(masses, slice(0, N)).linear
    against = masses @ focal_sets.disjoint
    expected = np.zeros_like(linear)
    targets = (1 - stress.similarities)[:, None] / len(stress.rows)
    np.add.at(expected, stress.rows, targets * against[stress.columns])
    np.add.at(expected, stress.columns, targets * against[stress.rows])
    np.testing.assert_allclose(linear, expected, rtol=1e-12)


def test_sums_in_single_precision_err_by_no_more_than_that(rng):
    focal_sets = FocalSets.singletons(3)
    points = rng.normal(size=(1200, 2))
    stress = partners(points, focal_sets, 100)
    single = replace(stress, accuracy=1e-6)
    masses = rng.dirichlet(np.ones(len(focal_sets)), 1200)
    masses[masses < 0.2] = 0.0
    masses /= masses.sum(axis=1, keepdims=True)
    rows = slice(5, 60)
    exact, rounded = (each.row_problem(masses, rows) for each in (stress, single))
    assert (exact.gram != rounded.gram).any()
    np.testing.assert_allclose(rounded.gram, exact.gram, rtol=1e-5)
    np.testing.assert_allclose(rounded.linear, exact.linear, rtol=1e-5)
    assert single.value(masses) == stress.value(masses)
