"""Mixtures of Gaussian and of t distributions by EM."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

from credalis.cluster.consensus._mixtures import (
    FAMILIES,
    RIDGE,
    best_fit,
    fit_mixture,
    maximized,
    one_hot,
    rounding_ridge,
)

SHAPES = [(family, dof) for family in FAMILIES for dof in (None, 5.0)]


@pytest.fixture(scope="module")
def data():
    X, y = make_blobs(
        150, centers=3, n_features=3, cluster_std=[1, 2, 3], random_state=0
    )
    X = X @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 1.0]])
    return X / np.sqrt(X.var(axis=0).mean()), y


def scale_matrix(mixture, k):
    """Σ_k, whatever the family."""
    d = mixture.means.shape[1]
    if mixture.family == "full":
        factor = mixture.factors[k]
    elif mixture.family == "tied":
        factor = mixture.factors
    elif mixture.family == "diag":
        factor = np.diag(mixture.factors[k])
    elif mixture.family == "isotropic":
        factor = mixture.factors * np.eye(d)
    else:
        factor = mixture.factors[k] * np.eye(d)
    return np.linalg.inv(factor @ factor.T)


@pytest.mark.parametrize(("family", "dof"), SHAPES)
def test_the_likelihood_never_falls(data, family, dof):
    X, _ = data
    start = one_hot(np.arange(len(X)) % 3, 3)
    # From a mixture that is fitted to nothing, without any help of a ridge.
    start = 0.5 * start + 0.5 * one_hot((X[:, 0] > 0).astype(int), 3)
    values = [
        fit_mixture(
            X, start, family, dof=dof, ridge=0.0, tol=-np.inf, max_iter=n
        ).log_likelihood
        for n in range(1, 25)
    ]
    assert np.diff(values).min() > -1e-10
    assert values[-1] > values[0] + 0.1


@pytest.mark.parametrize(("family", "dof"), SHAPES)
def test_densities_are_those_of_scipy(data, family, dof):
    X, y = data
    mixture = maximized(X, one_hot(y, 3), family, dof=dof)
    for k in range(3):
        scale = scale_matrix(mixture, k)
        law = (
            multivariate_normal(mixture.means[k], scale)
            if dof is None
            else multivariate_t(mixture.means[k], scale, df=dof)
        )
        expected = np.log(mixture.weights[k]) + law.logpdf(X)
        np.testing.assert_allclose(mixture.log_joint(X)[:, k], expected, rtol=1e-8)
    np.testing.assert_allclose(mixture.memberships(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("family", ["full", "tied", "diag", "spherical"])
def test_gaussian_mixtures_are_those_of_scikit_learn(data, family):
    X, y = data
    known = GaussianMixture(
        3,
        covariance_type=family,
        reg_covar=RIDGE,
        means_init=[X[y == k].mean(axis=0) for k in range(3)],
        tol=1e-10,
        max_iter=2000,
        random_state=0,
    ).fit(X)
    ours = fit_mixture(X, known.predict_proba(X), family, tol=1e-12, max_iter=2000)
    assert ours.log_likelihood == pytest.approx(known.score(X), abs=1e-6)
    np.testing.assert_allclose(ours.memberships, known.predict_proba(X), atol=1e-3)


def test_the_same_sphere_for_all_has_the_mean_variance(data):
    X, y = data
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    mixture = maximized(X, one_hot(y, 3), "isotropic", ridge=0.0)
    assert mixture.factors.shape == (1,)
    assert mixture.factors[0] ** -2 == pytest.approx(np.square(X - means[y]).mean())


def test_heavy_tails_resist_outliers(rng):
    X = np.vstack([rng.normal(size=(100, 2)), [[60.0, 0.0]] * 5])
    start = np.ones((len(X), 1))
    plain = fit_mixture(X, start, "full").mixture
    heavy = fit_mixture(X, start, "full", dof=5.0).mixture
    assert abs(heavy.means[0, 0]) < 0.5 < 2.0 < plain.means[0, 0]


def test_the_best_of_several_starts_is_kept(data):
    X, y = data
    good, bad = one_hot(y, 3), one_hot(np.arange(len(X)) % 3, 3)
    best = best_fit(X, [bad, good], "full").log_likelihood
    assert best >= fit_mixture(X, bad, "full").log_likelihood
    assert best >= fit_mixture(X, good, "full").log_likelihood - 1e-3


def test_a_component_without_objects_does_no_harm(data):
    X, y = data
    fit = fit_mixture(X, one_hot(y, 4), "full")
    assert np.isfinite(fit.log_likelihood)
    assert fit.memberships[:, 3].max() < 1e-6


def test_rounded_columns_get_the_variance_of_rounding(rng):
    X = np.column_stack([rng.normal(size=200), np.round(rng.normal(size=200))])
    X = np.column_stack([X, np.where(np.arange(200) < 3, 100.0, 0.0), np.ones(200)])
    ridge = rounding_ridge(X)
    assert ridge[0] == RIDGE
    assert ridge[1] == pytest.approx(1 / 12)
    # Not more than the column has, however wide its grid.
    assert ridge[2] == pytest.approx(X[:, 2].var())
    assert ridge[3] == RIDGE


def test_labels_below_zero_belong_everywhere():
    memberships = one_hot(np.array([1, -1, 0]), 2)
    np.testing.assert_array_equal(memberships, [[0, 1], [0.5, 0.5], [1, 0]])
