import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

from credalis.cluster.bootstrap._mixtures import (
    Mixture,
    expectation_maximization,
    responsibilities,
)
from credalis.cluster.bootstrap._replicates import (
    best_mixture,
    bootstrap,
    pair_intervals,
)

# What Bootclus takes.
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


def random_posteriors(rng, n_bootstrap, n_samples, n_components, concentration=0.3):
    alpha = np.full(n_components, concentration)
    return rng.dirichlet(alpha, (n_bootstrap, n_samples)).astype(np.float32)


def mixture_of(X, number=3, types=("full",), seed=0):
    return best_mixture(
        X, (number,), types, reg_covar=1e-6, n_init=2, seed=seed, n_jobs=None
    )


@pytest.fixture(scope="module")
def X():
    return make_blobs(150, centers=[[0, 0], [5, 0], [0, 5]], random_state=2)[0]


@pytest.mark.parametrize("confidence", [0.0, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n_bootstrap", [2, 21, 100])
def test_intervals_are_the_quantiles_over_the_samples(rng, n_bootstrap, confidence):
    posteriors = random_posteriors(rng, n_bootstrap, 150, 3)
    lower, upper = pair_intervals(posteriors, confidence)
    exact = np.einsum("bik,bjk->bij", *[posteriors.astype(float)] * 2)
    levels = [(1 - confidence) / 2, (1 + confidence) / 2]
    expected = np.quantile(exact, levels, axis=0)
    np.testing.assert_allclose([lower, upper], expected, atol=1e-6)
    np.testing.assert_array_equal(lower, lower.T)


def test_intervals_with_other_objects_are_part_of_those_with_all(rng):
    posteriors = random_posteriors(rng, 30, 140, 4)
    whole = pair_intervals(posteriors, 0.9)
    part = pair_intervals(posteriors[:, :50], 0.9, posteriors[:, 50:])
    for all_of_them, some in zip(whole, part, strict=True):
        np.testing.assert_allclose(some, all_of_them[:50, 50:], atol=1e-6)


@pytest.mark.parametrize("with_others", [False, True])
def test_intervals_of_objects_that_are_never_together_are_zero(rng, with_others):
    # Components that are far apart, and objects in any order.
    component = rng.integers(4, size=200)
    posteriors = random_posteriors(rng, 20, 200, 2)
    sure = np.full((20, 200, 8), 1e-9, np.float32)
    for k in (0, 1):
        chosen = np.broadcast_to(2 * component + k, (20, 200))
        np.put_along_axis(sure, chosen[..., None], posteriors[..., k : k + 1], axis=2)
    others = sure[:, 130:] if with_others else None
    lower, upper = pair_intervals(sure, 0.9, others)
    exact = np.einsum("bik,bjk->bij", *[sure.astype(float)] * 2)
    expected = np.quantile(exact, [0.05, 0.95], axis=0)
    if with_others:
        expected = expected[:, :, 130:]
    np.testing.assert_allclose([lower, upper], expected, atol=1e-6)
    assert (upper == 0).mean() > 0.2


def test_the_order_of_the_components_does_not_matter(rng):
    posteriors = random_posteriors(rng, 30, 40, 4)
    switched = np.array([each[:, rng.permutation(4)] for each in posteriors])
    for mine, other in zip(
        pair_intervals(posteriors, 0.9), pair_intervals(switched, 0.9), strict=True
    ):
        np.testing.assert_allclose(mine, other, atol=1e-6)


def test_samples_that_agree_give_intervals_of_no_width(rng):
    posteriors = np.repeat(random_posteriors(rng, 1, 60, 3), 25, axis=0)
    lower, upper = pair_intervals(posteriors, 0.9)
    np.testing.assert_array_equal(lower, upper)


def test_the_samples_of_all_pairs_are_never_held(rng):
    n_bootstrap, n_samples = 100, 500
    posteriors = random_posteriors(rng, n_bootstrap, n_samples, 3)
    tracemalloc.start()
    pair_intervals(posteriors, 0.9)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    two_matrices = 2 * n_samples**2 * 4
    assert peak < two_matrices + posteriors.nbytes + 4e6
    assert peak < 0.1 * n_bootstrap * n_samples**2 * 4


def test_bic_chooses_model_and_number(X):
    types = {}
    for covariance_type in COVARIANCE_TYPES:
        types[covariance_type] = mixture_of(X, types=(covariance_type,))[1]
    mixture, bic = mixture_of(X, types=COVARIANCE_TYPES)
    assert bic == min(types.values())
    assert types[mixture.covariance_type] == bic
    chosen, _ = best_mixture(
        X, (2, 3, 4), ("full",), reg_covar=1e-6, n_init=2, seed=0, n_jobs=None
    )
    assert chosen.n_components == 3


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_replicates_know_the_posteriors_again(X, covariance_type):
    mixture, _ = mixture_of(X, types=(covariance_type,))
    reports = []
    replicates, posteriors = bootstrap(
        X,
        mixture,
        np.arange(30),
        n_jobs=None,
        report=lambda done, loss: reports.append((done, loss)),
    )
    np.testing.assert_allclose(replicates.posteriors(X), posteriors, atol=1e-6)
    assert [done for done, _ in reports] == [25, 30]
    # The samples differ, and stay near the mixture they started from.
    assert not np.array_equal(posteriors[0], posteriors[1])
    assert np.abs(posteriors.mean(axis=0) - mixture.predict_proba(X)).mean() < 0.1


@pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)
def test_em_with_counts_is_em_with_repeated_objects(X, rng, covariance_type):
    mixture, _ = mixture_of(X, types=(covariance_type,))
    chosen = rng.integers(len(X), size=len(X))
    settings = {"reg_covar": 1e-3, "tol": 1e-5, "max_iter": 100}
    theirs = GaussianMixture(
        3,
        covariance_type=covariance_type,
        weights_init=mixture.weights_,
        means_init=mixture.means_,
        precisions_init=mixture.precisions_,
        **settings,
    ).fit(X[chosen])
    ours, likelihood = expectation_maximization(
        X,
        np.bincount(chosen, minlength=len(X)),
        Mixture(mixture.weights_, mixture.means_, mixture.precisions_cholesky_),
        covariance_type,
        **settings,
    )
    np.testing.assert_allclose(ours.weights, theirs.weights_, rtol=1e-7)
    np.testing.assert_allclose(ours.means, theirs.means_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        ours.precisions_cholesky, theirs.precisions_cholesky_, rtol=1e-6, atol=1e-9
    )
    shares, densities = responsibilities(X.T, ours, covariance_type)
    np.testing.assert_allclose(shares.T, theirs.predict_proba(X), atol=1e-7)
    np.testing.assert_allclose(densities, theirs.score_samples(X), rtol=1e-6)
    assert likelihood == pytest.approx(theirs.lower_bound_, rel=1e-7)


def test_a_component_without_spread_is_an_error(X):
    flat = np.column_stack([X[:, 0], np.zeros(len(X))])
    start = Mixture(np.ones(1), np.zeros((1, 2)), np.eye(2)[None])
    counts = np.ones(len(X), dtype=int)
    with pytest.raises(ValueError, match="increase reg_covar or lower n_clusters"):
        expectation_maximization(
            flat, counts, start, "full", reg_covar=0.0, tol=1e-4, max_iter=5
        )
