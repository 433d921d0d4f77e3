import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from credalis.objectives import MetricSpace

seeds = st.integers(0, 1000)


def scatter_matrices(rng, n_clusters, n_features):
    factors = rng.normal(size=(n_clusters, 4 * n_features, n_features))
    return factors.transpose(0, 2, 1) @ factors


def unit_metrics(n_clusters, n_features):
    return np.tile(np.eye(n_features), (n_clusters, 1, 1))


@given(seeds, st.integers(1, 4), st.sampled_from([1e-20, 1.0, 1e20]))
def test_metric_is_the_scaled_inverse(seed, n_features, unit):
    rng = np.random.default_rng(seed)
    X = unit * rng.normal(size=(30, n_features)) * 10.0 ** np.arange(n_features)
    scatters = scatter_matrices(rng, 3, n_features) * unit**2
    metrics = MetricSpace.of(X).metrics(scatters, 1e9 * unit_metrics(3, n_features))
    roots = np.linalg.det(scatters / unit**2) ** (1 / n_features)
    expected = roots[:, None, None] * np.linalg.inv(scatters / unit**2)
    assert_allclose(metrics, expected, rtol=1e-6, atol=1e-8)
    assert_allclose(np.linalg.det(metrics), 1, rtol=1e-6)


@given(seeds)
def test_no_other_metric_of_determinant_one_costs_less(seed):
    rng = np.random.default_rng(seed)
    space = MetricSpace.of(rng.normal(size=(30, 3)))
    scatters = scatter_matrices(rng, 2, 3)
    best = space.metrics(scatters, unit_metrics(2, 3))
    other = scatter_matrices(rng, 2, 3)
    other /= np.linalg.det(other)[:, None, None] ** (1 / 3)
    for one, another, scatter in zip(best, other, scatters, strict=True):
        assert np.vdot(one, scatter) <= np.vdot(another, scatter) * (1 + 1e-10)


@pytest.mark.parametrize("n_copies", [1, 3])
def test_directions_without_variation_change_nothing(rng, n_copies):
    X = rng.normal(size=(40, 2)) * [1, 5]
    # A constant column, and columns that repeat others.
    wide = np.column_stack([X, np.full(40, 7.0), *[X[:, 0]] * n_copies])
    centered = wide - wide.mean(axis=0)
    scatter = (centered.T @ centered)[None]
    metrics = MetricSpace.of(wide).metrics(scatter, 1e9 * unit_metrics(1, len(wide.T)))
    assert np.isfinite(metrics).all()
    assert (np.linalg.eigvalsh(metrics) > 0).all()
    squared = np.einsum("ia,ab,ib->i", centered, metrics[0], centered)
    # The distances are those without the columns, up to a common factor.
    small = X - X.mean(axis=0)
    inverse = np.linalg.inv(small.T @ small)
    expected = np.einsum("ia,ab,ib->i", small, inverse, small)
    assert_allclose(squared / squared.mean(), expected / expected.mean(), rtol=1e-6)


def test_metric_stays_where_a_flat_cluster_would_make_it_worse():
    X = np.random.default_rng(0).normal(size=(30, 2))
    space = MetricSpace.of(X)
    flat = np.array([[[1.0, 0.0], [0.0, 1e-30]]])
    before = np.diag([1e-8, 1e8])[None]
    assert_allclose(space.metrics(flat, before), before)
    # From the identity, the metric of a slightly wider cluster is an improvement.
    after = space.metrics(flat, unit_metrics(1, 2))
    assert np.vdot(after, flat) < np.vdot(np.eye(2), flat)
    assert np.isfinite(np.linalg.cholesky(after)).all()


def test_cluster_without_mass_weighs_all_directions_equally():
    X = np.random.default_rng(0).normal(size=(30, 2))
    metrics = MetricSpace.of(X).metrics(np.zeros((1, 2, 2)), unit_metrics(1, 2))
    assert np.isfinite(metrics).all()
    assert np.linalg.det(metrics[0]) == pytest.approx(1)


def test_one_feature_has_one_metric():
    X = np.random.default_rng(0).normal(size=(30, 1))
    metrics = MetricSpace.of(X).metrics(np.full((2, 1, 1), 3.0), unit_metrics(2, 1))
    assert_allclose(metrics, 1)
