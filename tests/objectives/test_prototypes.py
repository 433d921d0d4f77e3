import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from credalis import FocalSets
from credalis.cluster.prototypes._bcm import bcm_model
from credalis.cluster.prototypes._ccm import ccm_model
from credalis.objectives import (
    cluster_scatters,
    ecm_centers,
    ecm_model,
    masses_from_costs,
    prototype_costs,
    prototype_masses,
    prototype_moments,
    set_prototypes,
    updated_centers,
)
from helpers import central_differences, focal_set_lists

N_FEATURES = 2


def positive_definite(rng, n_matrices):
    """Matrices of determinant 1."""
    factors = rng.normal(size=(n_matrices, N_FEATURES, N_FEATURES))
    matrices = factors @ factors.transpose(0, 2, 1) + 0.1 * np.eye(N_FEATURES)
    return matrices / np.linalg.det(matrices)[:, None, None] ** (1 / N_FEATURES)


@st.composite
def problems(draw):
    """A method, data, prototypes, and metrics or None."""
    focal_sets = draw(focal_set_lists(max_clusters=4))
    assume(focal_sets.membership.any(axis=0).all())
    beta = draw(st.sampled_from([1.5, 2.0, 3.0]))
    model = draw(
        st.sampled_from(
            [
                ecm_model(focal_sets, 1.5, beta, 2.0),
                ccm_model(focal_sets, 0.7, beta, 2.0),
                bcm_model(focal_sets, 1.0, 0.3, beta, 2.0),
            ]
        )
    )
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    X = rng.normal(size=(12, N_FEATURES)) * [1, 3]
    centers = rng.normal(size=(focal_sets.n_clusters, N_FEATURES))
    is_adaptive = draw(st.booleans())
    metrics = positive_definite(rng, len(centers)) if is_adaptive else None
    return model, X, centers, metrics, rng


def squared(difference, metric):
    return float(difference @ metric @ difference)


def direct_costs(model, X, centers, metrics):
    """The definition of the class, one object and one set at a time."""
    if metrics is None:
        metrics = np.tile(np.eye(N_FEATURES), (len(centers), 1, 1))
    result = np.empty((len(model.focal_sets), len(X)))
    for j, subset in enumerate(model.focal_sets):
        chosen = list(subset)
        if not chosen:
            result[j] = model.delta**2
            continue
        mean, metric = centers[chosen].mean(axis=0), metrics[chosen].mean(axis=0)
        scatter = sum(squared(center - mean, metric) for center in centers[chosen])
        factor = len(chosen) ** model.alpha * model.scales[j]
        for i, x in enumerate(X):
            distance = squared(x - mean, metric) + model.spreads[j] * scatter
            result[j, i] = factor * distance
    return result


@settings(max_examples=40)
@given(problems())
def test_costs_are_the_definition(problem):
    model, X, centers, metrics, _ = problem
    sets = set_prototypes(centers, metrics, model)
    expected = direct_costs(model, X, centers, metrics)
    assert_allclose(prototype_costs(X, sets, model), expected, rtol=1e-10, atol=1e-14)


@settings(max_examples=40)
@given(problems())
def test_moments_sum_over_the_best_masses(problem):
    model, X, centers, metrics, _ = problem
    sets = set_prototypes(centers, metrics, model)
    cost = direct_costs(model, X, centers, metrics)
    best = masses_from_costs(cost, model.beta)
    assert_allclose(prototype_masses(X, sets, model), best.T, atol=1e-10)
    weights = best**model.beta
    sums = prototype_moments(X, sets, model)
    assert sums.loss == pytest.approx((weights * cost).sum())
    assert_allclose(sums.weight_sums, weights.sum(axis=1), rtol=1e-9, atol=1e-12)
    apart = X - sets.barycenters[:, None, :]
    expected = (weights[:, :, None] * apart).sum(axis=1)
    assert_allclose(sums.deviations, expected, atol=1e-10)
    if metrics is not None:
        expected = np.einsum("ji,jia,jib->jab", weights, apart, apart)
        assert_allclose(sums.scatters, expected, rtol=1e-8, atol=1e-10)


@settings(max_examples=40)
@given(problems())
def test_sums_of_two_halves_add_up(problem):
    model, X, centers, metrics, _ = problem
    sets = set_prototypes(centers, metrics, model)
    whole = prototype_moments(X, sets, model)
    some, others = X[:5], X[5:]
    parts = prototype_moments(some, sets, model) + prototype_moments(
        others, sets, model, prototype_masses(others, sets, model)
    )
    assert parts.loss == pytest.approx(whole.loss)
    assert_allclose(parts.weight_sums, whole.weight_sums, rtol=1e-9, atol=1e-12)
    assert_allclose(parts.deviations, whole.deviations, atol=1e-9)
    if metrics is None:
        assert parts.scatters is None
    else:
        assert_allclose(parts.scatters, whole.scatters, rtol=1e-8, atol=1e-9)


@settings(max_examples=60)
@given(problems())
def test_centers_are_where_the_gradient_vanishes(problem):
    model, X, start, metrics, rng = problem
    given_masses = rng.dirichlet(np.ones(len(model.focal_sets)), size=len(X))

    def objective(centers):
        return prototype_moments(
            X, set_prototypes(centers, metrics, model), model, given_masses
        ).loss

    sums = prototype_moments(
        X, set_prototypes(start, metrics, model), model, given_masses
    )
    centers = updated_centers(sums, model, start, metrics)
    assert objective(centers) <= objective(start) * (1 + 1e-12)
    slopes = central_differences(objective, centers, 1e-5)
    assert_allclose(slopes, 0, atol=1e-6 * max(1.0, objective(centers)))


@settings(max_examples=40)
@given(problems())
def test_scatters_follow_the_prototypes(problem):
    model, X, start, metrics, rng = problem
    assume(metrics is not None)
    given_masses = rng.dirichlet(np.ones(len(model.focal_sets)), size=len(X))
    sums = prototype_moments(
        X, set_prototypes(start, metrics, model), model, given_masses
    )
    moved = start + rng.normal(size=start.shape)
    scatters = cluster_scatters(sums, model, start, moved)

    # J is Σ_k tr(S_k Σ_k) plus what belongs to the empty set, for any metrics.
    other = positive_definite(rng, len(start))
    weights = given_masses.T**model.beta
    cost = direct_costs(model, X, moved, other)
    is_set = model.focal_sets.cardinality > 0
    expected = (weights * cost)[is_set].sum()
    assert np.vdot(other, scatters) == pytest.approx(expected)


def test_cluster_that_lost_all_its_mass_keeps_its_prototype():
    model = ecm_model(FocalSets.singletons(2, frame=False), 1.0, 2.0, 1.0)
    X = np.array([[0.0], [1.0], [2.0]])
    all_in_the_first = np.tile([0.0, 1.0, 0.0], (3, 1))
    previous = np.array([[5.0], [9.0]])
    sums = prototype_moments(
        X, set_prototypes(previous, None, model), model, all_in_the_first
    )
    centers = updated_centers(sums, model, previous, None)
    assert_allclose(centers, [[1.0], [9.0]], atol=1e-12)


def test_centers_of_ecm_from_plain_sums(rng):
    model = ecm_model(FocalSets.full(3), 1.5, 2.0, 1.0)
    X, previous = rng.normal(size=(20, 2)), rng.normal(size=(3, 2))
    given_masses = rng.dirichlet(np.ones(8), size=20)
    sums = prototype_moments(
        X, set_prototypes(previous, None, model), model, given_masses
    )
    weights = given_masses.T**2
    centers = ecm_centers(
        weights.sum(axis=1), weights @ X, model.focal_sets, 1.5, previous
    )
    assert_allclose(centers, updated_centers(sums, model, previous, None))


def test_blocks_change_nothing(rng):
    model = ecm_model(FocalSets.full(3), 1.0, 2.0, 5.0)
    X, centers = rng.normal(size=(10_000, 2)), rng.normal(size=(3, 2))
    for metrics in (None, positive_definite(rng, 3)):
        sets = set_prototypes(centers, metrics, model)
        whole = prototype_moments(X, sets, model)
        halves = prototype_moments(X[:3000], sets, model) + prototype_moments(
            X[3000:], sets, model
        )
        assert whole.loss == pytest.approx(halves.loss, rel=1e-12)
        assert_allclose(
            updated_centers(whole, model, centers, metrics),
            updated_centers(halves, model, centers, metrics),
            rtol=1e-10,
        )
