"""PCCA and KPCCA: worked values, gradients, an independent program, identities."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from credalis.constraints import random_pairs
from credalis.metric_learning import KPCCA, PCCA
from credalis.metric_learning._pair_loss import PairLoss, turned
from credalis.optimize import minimize_adaptive
from helpers import assert_decreasing, central_differences


def random_problem(rng, n_samples=12, n_features=4, beta=1.7, regularization=0.3):
    points = rng.normal(size=(n_samples, n_features))
    must, cannot = random_pairs(rng.integers(3, size=n_samples), 20, random_state=0)
    return PairLoss.of(points, must, cannot, beta, regularization)


def distances(Z):
    return ((Z[:, None] - Z) ** 2).sum(axis=2)


@pytest.mark.parametrize(
    ("beta", "expected"), [(1.0, 0.3618490391), (3.0, 0.0162369179)]
)
def test_worked_example(beta, expected):
    # A must-link of squared length 0 and a cannot-link of squared length 4.
    points = np.array([[0.0], [0.0], [2.0]])
    loss = PairLoss.of(points, np.array([(0, 1)]), np.array([(0, 2)]), beta, 0.0)
    value, _ = loss.value_and_gradient(np.eye(1))
    assert 2 * value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("n_components", [1, 2, 4])
def test_gradient_equals_finite_differences(n_components, seed):
    rng = np.random.default_rng(seed)
    loss = random_problem(rng)
    L = rng.normal(size=(n_components, 4))
    slopes = central_differences(lambda at: loss.value_and_gradient(at)[0], L, 1e-6)
    np.testing.assert_allclose(loss.value_and_gradient(L)[1], slopes, atol=1e-8)


def test_gradient_is_that_of_the_formula(rng):
    loss = random_problem(rng, regularization=0.0)
    L = rng.normal(size=(2, 4))
    d = loss.incidence @ loss.points
    y, beta = loss.kinds, loss.beta
    weights = y / (1 + np.exp(-beta * y * (((d @ L.T) ** 2).sum(axis=1) - 1)))
    expected = 2 * L @ (d.T * weights) @ d / len(y)
    np.testing.assert_allclose(loss.value_and_gradient(L)[1], expected, rtol=1e-10)


def test_turning_changes_no_distance(rng):
    L = rng.normal(size=(3, 5))
    found = turned(L)
    np.testing.assert_allclose(found.T @ found, L.T @ L, atol=1e-12)
    lengths = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(found @ found.T, np.diag(lengths**2), atol=1e-12)
    assert (np.diff(lengths) <= 0).all()


@pytest.fixture(scope="module")
def iris(reference, benchmark_data):
    """Standardised iris, and the 50 constraints of the reference program."""
    import csv
    import os
    from pathlib import Path

    X, _ = benchmark_data("iris")
    path = Path(os.environ["CREDALIS_REFERENCE"]) / "iris_constraints50.csv"
    with path.open() as stream:
        rows = list(csv.DictReader(stream))
    pairs = {
        kind: np.array(
            [(int(r["i"]) - 1, int(r["j"]) - 1) for r in rows if r["type"] == kind]
        )
        for kind in ("ML", "CL")
    }
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), pairs["ML"], pairs["CL"]


@pytest.mark.parametrize("beta", [1, 5])
def test_reference_loss_and_gradient(reference, iris, beta):
    # evclust:::fg.pcca, which sums over the 50 pairs; l is stored by columns.
    expected = reference("pcca_iris.json")
    L = np.array(expected["l"]).reshape(4, 2).T
    value, gradient = PairLoss.of(*iris, float(beta), 0.0).value_and_gradient(L)
    expected = expected[f"beta{beta}"]
    np.testing.assert_allclose(50 * value, expected["fun"][0], rtol=1e-12)
    np.testing.assert_allclose(50 * gradient.T.ravel(), expected["grad"], rtol=1e-11)


def test_reference_descent(reference, iris):
    # The adaptive-step descent of the reference program, evaluation by evaluation.
    expected = reference("pcca_iris.json")
    loss = PairLoss.of(*iris, 1.0, 0.0)

    def flat(parameters):
        value, gradient = loss.value_and_gradient(parameters.reshape(4, 2).T)
        return 50 * value, 50 * gradient.T.ravel()

    trace = minimize_adaptive(flat, expected["l"], tol=1e-5)
    assert trace.loss == pytest.approx(expected["harris_from_l"]["value"][0], rel=1e-12)
    assert trace.n_evaluations == len(expected["harris_from_l"]["trace"])


def test_reference_optimum(reference, iris):
    X, must_link, cannot_link = iris
    expected = reference("pcca_iris.json")["pcca_seed1"]
    plain = PCCA(2, random_state=0)
    plain.fit(X, must_link=must_link, cannot_link=cannot_link)
    assert 50 * plain.loss_ <= expected["loss"][0] * (1 + 1e-8)
    pcca = PCCA(2, tol=1e-10, random_state=0)
    pcca.fit(X, must_link=must_link, cannot_link=cannot_link)
    assert 50 * pcca.loss_ == pytest.approx(expected["loss"][0], rel=1e-8)
    L = np.array(expected["L"])
    np.testing.assert_allclose(
        pcca.components_.T @ pcca.components_, L.T @ L, rtol=1e-3
    )


def test_reference_kernel_features(reference, iris):
    # kpcca() stops early in a loss without regularisation: its coefficients must have
    # its losses under our formula, and our features must say what its features say.
    X, must_link, cannot_link = iris
    expected = reference("kpcca_iris.json")
    K, A = rbf_kernel(X, gamma=0.2), np.array(expected["A"])
    loss = PairLoss.of(K, must_link, cannot_link, 1.0, 0.0)
    start, _ = loss.value_and_gradient(np.array(expected["A0"]))
    end, _ = loss.value_and_gradient(A)
    np.testing.assert_allclose(50 * start, expected["loss_A0"][0], rtol=1e-12)
    np.testing.assert_allclose(50 * end, expected["loss"][0], rtol=1e-12)
    reference_features = np.array(expected["z"])[:, 0]
    np.testing.assert_allclose(K @ A[0], reference_features, atol=1e-12)

    pairs = {"must_link": must_link, "cannot_link": cannot_link}
    without = KPCCA(1, gamma=0.2, regularization=0.0, random_state=0).fit(X, **pairs)
    assert 50 * without.loss_ < expected["loss"][0]
    features = KPCCA(1, gamma=0.2, regularization=1e-4, random_state=0).fit(X, **pairs)
    assert (
        abs(np.corrcoef(features.transform(X)[:, 0], reference_features)[0, 1]) > 0.999
    )


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=80)
    X = rng.normal(size=(3, 5))[y] * 1.5 + rng.normal(size=(80, 5))
    must_link, cannot_link = random_pairs(y, 60, random_state=0)
    return X, {"must_link": must_link, "cannot_link": cannot_link}


@pytest.mark.parametrize("n_components", [1, 2, 5])
def test_linear_kernel_spans_pcca(problem, n_components):
    X, pairs = problem
    settings = {"regularization": 0.01, "tol": 1e-12, "random_state": 0}
    linear = PCCA(n_components, **settings).fit(X, **pairs)
    kernel = KPCCA(n_components, kernel="linear", **settings).fit(X, **pairs)
    assert kernel.loss_ == pytest.approx(linear.loss_, rel=1e-8)
    new = X[:20] + 0.3
    np.testing.assert_allclose(
        distances(kernel.transform(new)), distances(linear.transform(new)), rtol=1e-3
    )


def test_loss_is_the_one_at_the_components(problem):
    X, pairs = problem
    pcca = PCCA(2, beta=2.0, regularization=0.05, random_state=0).fit(X, **pairs)
    both = np.concatenate(list(pairs.values()))
    square = ((X[both[:, 0]] - X[both[:, 1]]) ** 2).sum(axis=1).mean()
    loss = PairLoss.of(X, *pairs.values(), 2.0, 0.05 * square)
    assert loss.value_and_gradient(pcca.components_)[0] == pytest.approx(pcca.loss_)


def test_kernel_loss_is_the_one_at_the_coefficients(problem):
    X, pairs = problem
    kpcca = KPCCA(2, regularization=0.0, random_state=0).fit(X, **pairs)
    K = rbf_kernel(X, kpcca.support_, gamma=kpcca.gamma_)
    loss = PairLoss.of(K, *pairs.values(), 1.0, 0.0)
    assert loss.value_and_gradient(kpcca.dual_coef_.T)[0] == pytest.approx(kpcca.loss_)


@pytest.mark.parametrize("learner", [PCCA(2), KPCCA(2)])
def test_objective_never_increases(problem, learner, seed):
    X, pairs = problem
    learner.set_params(random_state=seed).fit(X, **pairs)
    assert_decreasing(learner.history_)
    assert learner.loss_ == learner.history_[-1]
    assert learner.n_iter_ == len(learner.history_)


@pytest.mark.parametrize("learner", [PCCA(2), KPCCA(2)])
def test_more_starts_never_give_a_higher_loss(problem, learner):
    X, pairs = problem
    learner.set_params(random_state=0)
    one = learner.set_params(n_init=1).fit(X, **pairs).loss_
    assert learner.set_params(n_init=6).fit(X, **pairs).loss_ <= one


def test_only_objects_of_pairs_are_kept(problem):
    X, pairs = problem
    concerned = np.unique(np.concatenate(list(pairs.values())))
    kpcca = KPCCA(1, random_state=0).fit(X, **pairs)
    np.testing.assert_array_equal(kpcca.support_, X[concerned])


def test_other_objects_do_not_matter(problem):
    X, pairs = problem
    more = np.concatenate([X, 100 + X])
    for learner in (PCCA(2, random_state=0), KPCCA(2, gamma=0.1, random_state=0)):
        Z = learner.fit(X, **pairs).transform(X)
        other = learner.fit(more, **pairs).transform(X)
        np.testing.assert_allclose(distances(other), distances(Z), rtol=1e-4, atol=1e-6)


def test_a_descent_that_does_not_end_is_a_warning(problem):
    X, pairs = problem
    with pytest.warns(ConvergenceWarning, match="PCCA did not converge in max_iter=2"):
        PCCA(2, max_iter=2, random_state=0).fit(X, **pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PCCA(2, random_state=0).fit(X, **pairs)


def test_many_labels_give_a_sample_of_their_pairs(rng):
    y = rng.integers(2, size=1000)
    X = rng.normal(size=(1000, 3)) + y[:, None] * [3, 0, 0]
    pcca = PCCA(1, random_state=0).fit(X, y)
    assert abs(pcca.components_[0]).argmax() == 0
    np.testing.assert_array_equal(
        pcca.components_, PCCA(1, random_state=0).fit(X, y).components_
    )


def test_large_data_with_few_pairs():
    # Only the objects of pairs count: 10⁵ rows are no burden.
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=100_000)
    X = rng.normal(size=(4, 6))[y] * 3 + rng.normal(size=(100_000, 6))
    must_link, cannot_link = random_pairs(y, 200, random_state=0)
    for learner in (PCCA(2, random_state=0), KPCCA(2, random_state=0)):
        learner.fit(X, must_link=must_link, cannot_link=cannot_link)
        assert learner.transform(X[:10]).shape == (10, 2)
    assert len(learner.support_) <= 400


def test_the_default_starts_find_the_lowest_loss(problem):
    X, pairs = problem
    default = PCCA(1, random_state=0).fit(X, **pairs)
    many = PCCA(1, n_init=100, tol=1e-12, random_state=1).fit(X, **pairs)
    assert default.loss_ <= many.loss_ * (1 + 1e-6)
