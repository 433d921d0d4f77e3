"""LSI and DML-eig: feasible, and optimal as a generic solver and certificates say."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from credalis.constraints import random_pairs
from credalis.metric_learning import LSI, DMLeig
from credalis.metric_learning._mahalanobis import (
    factor,
    inverse_root,
    mean_root,
    smooth_minimum,
)
from helpers import central_differences


def problem(seed, n_features=2, n_pairs=25):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=30)
    X = rng.normal(size=(30, n_features)) + np.outer(y, rng.normal(size=n_features)) * 2
    must_link, cannot_link = random_pairs(y, n_pairs, random_state=seed)
    return X, {"must_link": must_link, "cannot_link": cannot_link}


def squares(X, pairs, A):
    d = X[pairs[:, 0]] - X[pairs[:, 1]]
    return np.einsum("ij,jk,ik->i", d, A, d)


def ridge(X, pairs, A, regularization):
    """What the regularisation adds to the mean squared length of must-links."""
    return (
        regularization * squares(X, pairs, np.eye(len(A))).mean() * A.trace() / len(A)
    )


def objective(learner, X, pairs, A):
    lengths = squares(X, pairs["cannot_link"], A)
    return np.sqrt(lengths).mean() if isinstance(learner, LSI) else lengths.min()


def generic_optimum(learner, X, pairs, regularization):
    """The best value SLSQP finds over A = BᵀB, from several starts.

    The scale of A follows from the constraint, which is always active.
    """
    n_features = X.shape[1]

    def scaled(B):
        A = B.reshape(n_features, n_features)
        A = A.T @ A
        size = squares(X, pairs["must_link"], A).mean()
        return A / (size + ridge(X, pairs["must_link"], A, regularization))

    best = -np.inf
    for seed in range(5):
        start = np.random.default_rng(seed).normal(size=n_features**2)
        if isinstance(learner, LSI):
            found = minimize(lambda B: -objective(learner, X, pairs, scaled(B)), start)
            best = max(best, -found.fun)
            continue
        # max t such that every cannot-link is at least t: smooth constraints.
        first = np.append(start, 0.0)
        found = minimize(
            lambda p: -p[-1],
            first,
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda p: (
                    squares(X, pairs["cannot_link"], scaled(p[:-1])) - p[-1]
                ),
            },
            options={"maxiter": 500, "ftol": 1e-12},
        )
        best = max(best, objective(learner, X, pairs, scaled(found.x[:-1])))
    return best


LEARNERS = [LSI(), DMLeig(smoothing=1e-5)]


@pytest.fixture(params=LEARNERS, ids=lambda each: type(each).__name__)
def learner(request):
    return request.param


@pytest.mark.parametrize("n_features", [2, 3])
@pytest.mark.parametrize("regularization", [0.0, 0.1])
def test_generic_solver_finds_nothing_better(learner, n_features, regularization, seed):
    X, pairs = problem(seed, n_features)
    learner.set_params(regularization=regularization).fit(X, **pairs)
    best = generic_optimum(learner, X, pairs, regularization)
    assert learner.objective_ >= best * (1 - 1e-3)
    assert best <= (learner.objective_ + learner.gap_) * (1 + 1e-6)


@pytest.mark.parametrize("regularization", [0.0, 0.01, 1.0])
def test_constraints_hold(learner, regularization, seed):
    X, pairs = problem(seed, 4)
    learner.set_params(regularization=regularization).fit(X, **pairs)
    A = learner.matrix_
    np.testing.assert_allclose(A, A.T, atol=1e-12 * np.abs(A).max())
    assert np.linalg.eigvalsh(A)[0] >= -1e-12 * A.trace()
    # The constraint is active: mean of must-links plus ridge is 1.
    size = squares(X, pairs["must_link"], A).mean()
    extra = ridge(X, pairs["must_link"], A, regularization)
    assert size + extra == pytest.approx(1.0)
    assert size <= 1 + 1e-9
    assert learner.objective_ == pytest.approx(objective(learner, X, pairs, A))


def test_certificates_are_small(seed):
    X, pairs = problem(seed, 4, n_pairs=60)
    lsi = LSI().fit(X, **pairs)
    assert 0 <= lsi.gap_ <= 1e-5 * lsi.objective_
    dml = DMLeig().fit(X, **pairs)
    assert 0 <= dml.gap_ <= 2e-2 * dml.objective_


def test_optimality_conditions_of_lsi(seed):
    # ∇g = ν W - Z with Z ⪰ 0 and ⟨Z, A⟩ = 0, for the multiplier ν of the constraint.
    X, pairs = problem(seed, 3)
    A = LSI(regularization=0.0).fit(X, **pairs).matrix_
    far = X[pairs["cannot_link"][:, 0]] - X[pairs["cannot_link"][:, 1]]
    near = X[pairs["must_link"][:, 0]] - X[pairs["must_link"][:, 1]]
    lengths = np.sqrt(np.einsum("ij,jk,ik->i", far, A, far))
    gradient = (far / (2 * lengths[:, None])).T @ far / len(far)
    W = near.T @ near / len(near)
    multiplier = np.vdot(gradient, A)
    slack = multiplier * W - gradient
    assert np.linalg.eigvalsh(slack)[0] >= -1e-4 * np.linalg.norm(gradient)
    assert abs(np.vdot(slack, A)) < 1e-9


def test_distances_are_those_of_the_matrix(learner, rng):
    X, pairs = problem(0, 4)
    Z = learner.set_params(regularization=1e-3).fit(X, **pairs).transform(X)
    some = rng.integers(30, size=(10, 2))
    found = ((Z[some[:, 0]] - Z[some[:, 1]]) ** 2).sum(axis=1)
    np.testing.assert_allclose(found, squares(X, some, learner.matrix_), atol=1e-9)


def test_leading_features_are_those_of_largest_weight(rng):
    X, pairs = problem(0, 4)
    whole = LSI().fit(X, **pairs).transform(X)
    np.testing.assert_allclose(LSI(2).fit(X, **pairs).transform(X), whole[:, :2])


@pytest.mark.parametrize("function", [mean_root, smooth_minimum(0.3)])
def test_gradients_equal_finite_differences(function, rng):
    forms = rng.uniform(0.5, 2, size=7)
    slopes = central_differences(lambda at: function(at)[0], forms, 1e-6)
    np.testing.assert_allclose(function(forms)[1], slopes, atol=1e-8)


def test_smooth_minimum_lies_just_above_the_minimum(rng):
    forms = rng.uniform(0.5, 2, size=50)
    for smoothing in (1.0, 0.1, 1e-3):
        value, weights = smooth_minimum(smoothing)(forms)
        assert forms.min() <= value <= forms.min() + smoothing * np.log(50) + 1e-12
        assert weights.sum() == pytest.approx(1.0)


def test_roots_and_factors(rng):
    B = rng.normal(size=(4, 4))
    M = B @ B.T
    root = inverse_root(M, 0.0)
    np.testing.assert_allclose(root @ M @ root, np.eye(4), atol=1e-9)
    L = factor(M)
    np.testing.assert_allclose(L.T @ L, M)
    assert (np.diff(np.linalg.norm(L, axis=1)) <= 0).all()


def test_equal_rows_among_cannot_links_are_left_out(learner):
    X, pairs = problem(0)
    learner.set_params(regularization=1e-3)
    expected = learner.fit(X, **pairs).matrix_.copy()
    X = np.concatenate([X, X[:1]])
    more = np.concatenate([pairs["cannot_link"], [(0, 30)]])
    learner.fit(X, must_link=pairs["must_link"], cannot_link=more)
    np.testing.assert_allclose(learner.matrix_, expected, rtol=1e-6)
    for kind in pairs:
        with pytest.raises(ValueError, match=f"{kind} must hold pairs of different"):
            learner.fit(X, **{**pairs, kind: [(0, 30)]})


def test_a_search_that_does_not_end_is_a_warning(learner):
    X, pairs = problem(0, 4)
    try:
        with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=1"):
            learner.set_params(max_iter=1).fit(X, **pairs)
    finally:
        learner.set_params(max_iter=1000)
