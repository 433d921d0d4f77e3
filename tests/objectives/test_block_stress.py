"""Stress with similarities computed on the fly, in one tile or in strips."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from credalis import FocalSets
from credalis.dissimilarity import (
    EuclideanSimilarities,
    MatrixSimilarities,
    MetricSimilarities,
    decay_rate,
)
from credalis.objectives import (
    BlockStress,
    DenseStress,
    block_stress,
    residual_store,
)
from helpers import focal_set_lists

SCALE = 2.0
# One tile; the largest one; two strips, the last one short; strips that fit; one more.
SIZES = [2, 3, 256, 257, 384, 385]


def similarities_of(kind, points, dtype=np.float64):
    if kind == "euclidean":
        return EuclideanSimilarities.from_points(points, SCALE, dtype)
    if kind == "matrix":
        return MatrixSimilarities.from_matrix(cdist(points, points), SCALE)
    return MetricSimilarities(points, "euclidean", decay_rate(SCALE))


def by_definition(masses, matrix, focal_sets, weights=None):
    """Value and gradient with all residuals at once."""
    n_samples = len(matrix)
    if weights is None:
        weights = np.full(matrix.shape, 1 / (n_samples * (n_samples - 1)))
    against = focal_sets.disjoint @ masses
    residuals = masses.T @ against - (1 - matrix)
    np.fill_diagonal(residuals, 0)
    return (weights * residuals**2).sum(), 4 * against @ (weights * residuals)


@given(focal_set_lists(), st.integers(2, 6), st.integers(0, 999))
@settings(max_examples=40)
def test_gradient(assert_gradient, focal_sets, n_samples, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n_samples, 2))
    masses = rng.normal(size=(len(focal_sets), n_samples))
    assert_gradient(
        BlockStress(similarities_of("euclidean", points), focal_sets), masses
    )


@pytest.mark.parametrize("kind", ["euclidean", "matrix", "metric"])
@pytest.mark.parametrize("n_samples", SIZES)
def test_strips_add_up_to_the_whole(n_samples, kind, rng):
    focal_sets = FocalSets.pairs(3)
    points = rng.normal(size=(n_samples, 2))
    masses = rng.dirichlet(np.ones(len(focal_sets)), size=n_samples).T
    similarities = similarities_of(kind, points)
    expected, slopes = by_definition(masses, similarities.matrix(), focal_sets)
    value, gradient = BlockStress(similarities, focal_sets).value_and_gradient(masses)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("n_samples", SIZES)
def test_strips_of_stored_and_weighted_pairs_add_up_to_the_whole(n_samples, rng):
    focal_sets = FocalSets.pairs(3)
    masses = rng.dirichlet(np.ones(len(focal_sets)), size=n_samples).T
    matrix = similarities_of("euclidean", rng.normal(size=(n_samples, 2))).matrix()
    weights = rng.random((n_samples, n_samples)) / n_samples**2
    weights += weights.T
    for weights_or_mean in (None, weights):
        expected, slopes = by_definition(masses, matrix, focal_sets, weights_or_mean)
        stress = DenseStress(matrix, focal_sets, weights_or_mean)
        value, gradient = stress.value_and_gradient(masses)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("kind", ["euclidean", "matrix", "metric"])
@pytest.mark.parametrize("n_samples", SIZES)
def test_single_precision_is_good_to_five_digits(n_samples, kind, rng):
    focal_sets = FocalSets.pairs(3)
    points = rng.normal(size=(n_samples, 2))
    masses = rng.dirichlet(np.ones(len(focal_sets)), size=n_samples).T
    expected, slopes = by_definition(
        masses, similarities_of(kind, points).matrix(), focal_sets
    )
    value, gradient = block_stress(
        masses.astype(np.float32),
        similarities_of(kind, points, np.float32),
        focal_sets.disjoint.astype(np.float32),
    )
    assert isinstance(value, float)
    assert gradient.dtype == np.float32
    assert value == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(
        gradient, slopes, rtol=0, atol=1e-5 * np.abs(slopes).max()
    )


@pytest.mark.parametrize("n_samples", [5, 300])
def test_masses_are_read_in_any_memory_layout_and_kept(n_samples, rng):
    focal_sets = FocalSets.full(2)
    similarities = similarities_of("euclidean", rng.normal(size=(n_samples, 2)))
    rows = rng.dirichlet(np.ones(4), size=n_samples)
    kept = rows.copy()
    stress = BlockStress(similarities, focal_sets)
    value, gradient = stress.value_and_gradient(rows.T)
    again, slopes = stress.value_and_gradient(np.ascontiguousarray(rows.T))
    np.testing.assert_array_equal(rows, kept)
    assert value == pytest.approx(again, rel=1e-14)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize("n_samples", [40, 300])
def test_order_of_the_objects_does_not_matter(n_samples, rng):
    focal_sets = FocalSets.full(2)
    similarities = similarities_of("euclidean", rng.normal(size=(n_samples, 2)))
    masses = rng.dirichlet(np.ones(4), size=n_samples).T
    order = rng.permutation(n_samples)
    value, gradient = BlockStress(similarities, focal_sets).value_and_gradient(masses)
    again, slopes = BlockStress(
        similarities.take(order), focal_sets
    ).value_and_gradient(masses[:, order])
    assert again == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(slopes, gradient[:, order], rtol=1e-10, atol=1e-16)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_stored", [*SIZES, 600])
def test_blocks_of_any_smaller_size_share_a_store(n_stored, dtype, rng):
    focal_sets = FocalSets.full(2)
    disjoint = focal_sets.disjoint.astype(dtype)
    store = residual_store(n_stored, dtype)
    for n_samples in (size for size in SIZES if size <= n_stored):
        store.fill(np.nan)
        similarities = similarities_of("euclidean", rng.normal(size=(n_samples, 2)))
        masses = rng.dirichlet(np.ones(4), size=n_samples).T.astype(dtype)
        expected, slopes = block_stress(masses, similarities, disjoint)
        value, gradient = block_stress(masses, similarities, disjoint, store=store)
        assert value == expected
        np.testing.assert_array_equal(gradient, slopes)
