"""Stress over pairs in memory, all or sampled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis import FocalSets
from credalis.dissimilarity import StoredSimilarities, transform
from credalis.objectives import (
    BlockStress,
    DenseStress,
    PartStress,
    SampledStress,
    _stress,
    block_stress,
    cross_stress,
)
from credalis.objectives._stress import conflicting, low_rank_factor
from helpers import focal_set_lists

quick = settings(max_examples=40)


def symmetric(rng, n_samples):
    matrix = rng.random((n_samples, n_samples))
    return (matrix + matrix.T) / 2


@st.composite
def problems(draw, min_samples=2, max_samples=6):
    """Focal sets, free variables in place of masses, similarities."""
    focal_sets = draw(focal_set_lists())
    n_samples = draw(st.integers(min_samples, max_samples))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    masses = rng.normal(size=(len(focal_sets), n_samples))
    return focal_sets, masses, symmetric(rng, n_samples), rng


def all_pairs(n_samples):
    return np.nonzero(~np.eye(n_samples, dtype=bool))


def by_definition(masses, similarities, focal_sets, weights):
    """Sum over i ≠ j of w_ij (κ_ij - δ*_ij)², pair by pair."""
    total = 0.0
    for i, j in zip(*all_pairs(masses.shape[1]), strict=True):
        conflict = sum(
            masses[a, i] * masses[b, j]
            for a, first in enumerate(focal_sets)
            for b, second in enumerate(focal_sets)
            if not set(first) & set(second)
        )
        total += weights[i, j] * (conflict - (1 - similarities[i, j])) ** 2
    return total


@given(problems())
@quick
def test_all_pairs_give_the_mean_of_the_definition(problem):
    focal_sets, masses, similarities, _ = problem
    n_samples = masses.shape[1]
    weights = np.full(similarities.shape, 1 / (n_samples * (n_samples - 1)))
    expected = by_definition(masses, similarities, focal_sets, weights)
    assert DenseStress(similarities, focal_sets).value(masses) == pytest.approx(
        expected, rel=1e-10
    )


@given(problems())
@quick
def test_gradient_over_all_pairs(assert_gradient, problem):
    focal_sets, masses, similarities, _ = problem
    assert_gradient(DenseStress(similarities, focal_sets), masses)


@given(problems())
@quick
def test_gradient_and_value_with_weights(assert_gradient, problem):
    focal_sets, masses, similarities, rng = problem
    weights = symmetric(rng, len(similarities))
    stress = DenseStress(similarities, focal_sets, weights)
    assert stress.value(masses) == pytest.approx(
        by_definition(masses, similarities, focal_sets, weights), rel=1e-10
    )
    assert_gradient(stress, masses)


@given(problems(), st.integers(1, 20))
@quick
def test_gradient_over_sampled_pairs(assert_gradient, problem, n_pairs):
    # Any pairs: not symmetric, some twice, some objects in none.
    focal_sets, masses, _, rng = problem
    n_samples = masses.shape[1]
    rows = rng.integers(n_samples, size=n_pairs)
    columns = (rows + rng.integers(1, n_samples, size=n_pairs)) % n_samples
    stress = SampledStress(rows, columns, rng.random(n_pairs), n_samples, focal_sets)
    assert_gradient(stress, masses)


@given(problems(), st.integers(1, 20))
@quick
def test_sampled_pairs_are_weights_of_pairs(problem, n_pairs):
    focal_sets, masses, similarities, rng = problem
    n_samples = masses.shape[1]
    rows = rng.integers(n_samples, size=n_pairs)
    columns = (rows + rng.integers(1, n_samples, size=n_pairs)) % n_samples
    counts = np.zeros(similarities.shape)
    np.add.at(counts, (rows, columns), 1 / n_pairs)
    sampled = SampledStress(
        rows, columns, similarities[rows, columns], n_samples, focal_sets
    )
    dense = DenseStress(similarities, focal_sets, (counts + counts.T) / 2)
    value, gradient = sampled.value_and_gradient(masses)
    expected, slopes = dense.value_and_gradient(masses)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-11, atol=1e-13)


@given(problems())
@quick
def test_dense_block_and_sampled_stress_agree_over_all_pairs(problem):
    focal_sets, masses, similarities, rng = problem
    n_samples = masses.shape[1]
    rows, columns = all_pairs(n_samples)
    shuffled = rng.permutation(len(rows))
    rows, columns = rows[shuffled], columns[shuffled]
    expected, slopes = DenseStress(similarities, focal_sets).value_and_gradient(masses)
    for stress in (
        SampledStress(
            rows, columns, similarities[rows, columns], n_samples, focal_sets
        ),
        BlockStress(StoredSimilarities(similarities), focal_sets),
    ):
        value, gradient = stress.value_and_gradient(masses)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-11, atol=1e-13)


@given(problems())
@quick
def test_the_diagonal_is_not_read(problem):
    focal_sets, masses, similarities, _ = problem
    other = similarities.copy()
    np.fill_diagonal(other, 1e3)
    for build in (DenseStress, lambda s, f: BlockStress(StoredSimilarities(s), f)):
        value, gradient = build(similarities, focal_sets).value_and_gradient(masses)
        again, slopes = build(other, focal_sets).value_and_gradient(masses)
        assert value == again
        np.testing.assert_array_equal(gradient, slopes)


@given(st.integers(2, 4), st.integers(0, 999), st.data())
@quick
def test_relabelling_clusters_changes_nothing(n_clusters, seed, data):
    # Masses that follow the new names of their focal sets.
    focal_sets = FocalSets.pairs(n_clusters)
    names = data.draw(st.permutations(range(n_clusters)))
    order = [focal_sets.index(subset) for subset in focal_sets.relabel(names)]
    rng = np.random.default_rng(seed)
    masses = rng.dirichlet(np.ones(len(focal_sets)), size=6).T
    renamed = np.empty_like(masses)
    renamed[order] = masses
    stress = DenseStress(symmetric(rng, 6), focal_sets)
    value, gradient = stress.value_and_gradient(masses)
    new_value, new_gradient = stress.value_and_gradient(renamed)
    assert new_value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(new_gradient[order], gradient, rtol=1e-11, atol=1e-13)


def test_hard_masses_that_match_the_dissimilarities_have_no_stress():
    labels = np.array([0, 0, 1, 2, 1])
    focal_sets = FocalSets.singletons(3)
    masses = np.zeros((len(focal_sets), 5))
    masses[labels + 1, np.arange(5)] = 1
    similarities = (labels[:, None] == labels).astype(float)
    value, gradient = DenseStress(similarities, focal_sets).value_and_gradient(masses)
    assert value == 0
    assert not gradient.any()


@given(focal_set_lists(), st.integers(1, 5), st.integers(1, 5), st.integers(0, 999))
@quick
def test_cross_stress_is_the_mean_over_two_sets(focal_sets, n_first, n_second, seed):
    rng = np.random.default_rng(seed)
    first = rng.dirichlet(np.ones(len(focal_sets)), size=n_first).T
    second = rng.dirichlet(np.ones(len(focal_sets)), size=n_second).T
    distances = rng.random((n_first, n_second))
    squares = [
        (
            first[:, i] @ focal_sets.disjoint @ second[:, j]
            - (1 - 0.05 ** ((distances[i, j] / 0.6) ** 2))
        )
        ** 2
        for i in range(n_first)
        for j in range(n_second)
    ]
    value = cross_stress(first, second, distances, focal_sets, 0.6)
    assert value == pytest.approx(np.mean(squares), rel=1e-12)


def test_cross_stress_of_a_set_with_itself_adds_the_diagonal(rng):
    focal_sets = FocalSets.full(2)
    masses = rng.dirichlet(np.ones(4), size=5).T
    points = rng.normal(size=5)
    distances = np.abs(points[:, None] - points)
    own = np.einsum("ai,ab,bi->i", masses, focal_sets.disjoint, masses)
    stress = DenseStress(1 - transform(distances, 1.3), focal_sets)
    expected = (20 * stress.value(masses) + (own**2).sum()) / 25
    value = cross_stress(masses, masses, distances, focal_sets, 1.3)
    assert value == pytest.approx(expected, rel=1e-12)


def test_block_stress_is_the_function_behind_the_term(rng):
    focal_sets = FocalSets.full(2)
    masses = rng.dirichlet(np.ones(4), size=5).T
    similarities = StoredSimilarities(symmetric(rng, 5))
    value, gradient = BlockStress(similarities, focal_sets).value_and_gradient(masses)
    again, slopes = block_stress(
        masses, similarities, focal_sets.disjoint.astype(float)
    )
    assert value == again
    np.testing.assert_array_equal(gradient, slopes)


@pytest.mark.parametrize(
    "focal_sets",
    [
        FocalSets.singletons(250),
        FocalSets.pairs(200, [(k, k + 1) for k in range(199)]),
        FocalSets.singletons(5),
    ],
)
def test_conflicts_of_many_sets_that_hardly_meet(focal_sets, rng):
    masses = rng.dirichlet(np.ones(len(focal_sets)), size=30).T
    disjoint = focal_sets.disjoint.astype(float)
    found = np.empty_like(masses)
    conflicting(disjoint, masses, found)
    np.testing.assert_allclose(found, disjoint @ masses, rtol=0, atol=1e-14)


@given(problems(max_samples=20))
@quick
def test_one_product_is_as_exact_as_all_residuals(problem):
    focal_sets, _, similarities, rng = problem
    n_samples = len(similarities)
    masses = rng.dirichlet(np.ones(len(focal_sets)), size=n_samples).T
    block = BlockStress(StoredSimilarities(similarities), focal_sets)
    expected, slopes = block.value_and_gradient(masses)
    value, gradient = DenseStress(similarities, focal_sets).value_and_gradient(masses)
    # Sums of numbers up to 1 are subtracted.
    assert value == pytest.approx(expected, rel=1e-14, abs=1e-15)
    np.testing.assert_allclose(gradient, slopes, rtol=0, atol=1e-14)
    assert block.value(masses) == expected


@pytest.mark.parametrize("n_samples", [20, 140])
@pytest.mark.parametrize(
    "focal_sets", [FocalSets.full(6), FocalSets.full(7, empty=False)], ids=len
)
def test_many_sets_give_the_same_in_less_time(focal_sets, n_samples, rng):
    """With few objects by residuals, with all subsets by the Möbius transform."""
    similarities = symmetric(rng, n_samples)
    stack = rng.dirichlet(np.ones(len(focal_sets)), (2, n_samples)).swapaxes(1, 2)
    stress = DenseStress(similarities, focal_sets)
    values, gradients = stress.values_and_gradients(stack)
    block = BlockStress(StoredSimilarities(similarities), focal_sets)
    for k, masses in enumerate(stack):
        expected, slopes = block.value_and_gradient(np.ascontiguousarray(masses))
        assert values[k] == pytest.approx(expected, rel=1e-13)
        np.testing.assert_allclose(gradients[k], slopes, rtol=0, atol=1e-14)


def test_a_perfect_fit_has_no_negative_stress():
    focal_sets = FocalSets.singletons(3)
    labels = np.arange(30) % 3
    masses = np.zeros((len(focal_sets), 30))
    masses[[focal_sets.index((k,)) for k in labels], np.arange(30)] = 1
    # Not quite certain, so that sums are rounded.
    masses = 0.1 * masses.mean(axis=1, keepdims=True) + 0.9 * masses
    conflicts = masses.T @ focal_sets.disjoint @ masses
    stress = DenseStress(1.0 - conflicts, focal_sets)
    assert 0 <= stress.value(masses) < 1e-15


@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_stack_has_the_values_and_gradients_of_each(is_weighted, rng):
    focal_sets = FocalSets.pairs(3)
    weights = symmetric(rng, 7) if is_weighted else None
    stress = DenseStress(symmetric(rng, 7), focal_sets, weights)
    stack = rng.normal(size=(4, len(focal_sets), 7))
    values, gradients = stress.values_and_gradients(stack)
    for k, masses in enumerate(stack):
        value, gradient = stress.value_and_gradient(masses)
        assert values[k] == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(gradients[k], gradient, rtol=1e-11, atol=1e-13)


@pytest.fixture
def near_similarities(rng):
    """Similarities of 250 points on a line, which have a factor of low rank."""
    points = rng.normal(size=250)
    return 1 - transform(np.abs(points[:, None] - points), 1.0)


def test_a_factor_of_low_rank_is_as_accurate_as_it_says(near_similarities):
    for accuracy in (1e-4, 1e-9):
        factor = low_rank_factor(near_similarities, accuracy)
        assert factor.shape[1] < 75
        errors = np.abs(factor @ factor.T - near_similarities)
        assert errors.max() <= accuracy


def test_stress_by_a_factor_is_within_its_bound(near_similarities, rng):
    focal_sets, accuracy = FocalSets.pairs(3), 1e-6
    stack = rng.dirichlet(np.ones(len(focal_sets)), (2, 250)).swapaxes(1, 2)
    exact = DenseStress(near_similarities, focal_sets)
    near = DenseStress(near_similarities, focal_sets, accuracy=accuracy)
    values, slopes = exact.values_and_gradients(stack)
    by_factor, their_slopes = near.values_and_gradients(stack)
    residuals = stack.swapaxes(1, 2) @ focal_sets.disjoint @ stack
    residuals += near_similarities - 1
    gaps = np.abs(by_factor - values)
    assert (gaps > 0).all()
    assert (gaps <= 2 * accuracy * np.abs(residuals).mean(axis=(1, 2))).all()
    np.testing.assert_allclose(their_slopes, slopes, rtol=0, atol=accuracy / 250)


@pytest.fixture
def far_similarities(rng):
    """In many dimensions, so that no factor has low rank."""
    points = rng.normal(size=(_stress._LEAST_SINGLE, 20))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    return 1 - transform(distances, 6.0)


def test_stress_in_single_precision_is_within_the_accuracy(far_similarities, rng):
    focal_sets, n_samples = FocalSets.singletons(8), len(far_similarities)
    masses = rng.dirichlet(np.full(len(focal_sets), 0.2), n_samples).T
    exact = DenseStress(far_similarities, focal_sets)
    near = DenseStress(far_similarities, focal_sets, accuracy=1e-7)
    assert near._targets.similarities.dtype == np.float32
    value, slopes = exact.value_and_gradient(masses)
    found, their_slopes = near.value_and_gradient(masses)
    assert 0 < abs(found - value) <= 1e-7
    # If all δ* were off by ε, a slope would be by 4 ε / n.
    np.testing.assert_allclose(their_slopes, slopes, rtol=0, atol=4e-7 / n_samples)


def test_double_precision_where_single_is_not_enough(far_similarities):
    focal_sets = FocalSets.singletons(3)
    some = far_similarities[:-1, :-1]
    for similarities, accuracy in ((far_similarities, 1e-9), (some, 1e-7)):
        stress = DenseStress(similarities, focal_sets, accuracy=accuracy)
        assert stress._targets.similarities is None


@pytest.mark.parametrize(
    "focal_sets", [FocalSets.pairs(3), FocalSets.full(6)], ids=["few", "many"]
)
@pytest.mark.parametrize("accuracy", [0.0, 1e-7])
def test_parts_count_alike_and_what_is_left_over_does_not(focal_sets, accuracy, rng):
    matrices = np.array([symmetric(rng, 5) for _ in range(3)])
    shape = (2, len(focal_sets), 17)
    stack = rng.dirichlet(np.ones(len(focal_sets)), (2, 17)).swapaxes(1, 2)
    values, slopes = PartStress(matrices, focal_sets, accuracy).values_and_gradients(
        stack
    )
    expected, their_slopes = np.zeros(2), np.zeros(shape)
    for part, matrix in enumerate(matrices):
        own = slice(5 * part, 5 * part + 5)
        dense = DenseStress(matrix, focal_sets)
        of_part, their_slopes[..., own] = dense.values_and_gradients(stack[..., own])
        expected += of_part / 3
    atol = max(1e-12, accuracy)
    np.testing.assert_allclose(values, expected, rtol=0, atol=atol)
    np.testing.assert_allclose(slopes, their_slopes / 3, rtol=0, atol=atol)
    value, slope = PartStress(matrices, focal_sets).value_and_gradient(stack[0])
    assert value == pytest.approx(expected[0], abs=1e-12)
    assert (slope[:, 15:] == 0).all()


def test_no_factor_where_products_would_not_take_less_time(near_similarities, rng):
    assert low_rank_factor(near_similarities[:50, :50], 1e-6) is None
    points = rng.normal(size=(250, 10))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    assert low_rank_factor(1 - transform(distances, 2.0), 1e-6) is None


def test_similarities_that_are_none_of_points_have_no_factor():
    # A is like B and B like C, but A is not like C.
    groups = np.arange(300) % 3
    similarities = 1.0 * (np.abs(groups[:, None] - groups) < 2)
    assert np.linalg.eigvalsh(similarities)[0] < -1
    assert low_rank_factor(similarities, 1e-6) is None
