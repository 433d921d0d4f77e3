"""Novelty detectors and the size of their scores."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from credalis.network import KernelScores, NoveltyScorer, _detector, fit_novelty


@pytest.fixture
def X(rng):
    return rng.normal(size=(120, 3))


@pytest.fixture
def new(rng):
    return 3 * rng.normal(size=(50, 3))


def scorer_for(detector, X, seed=0):
    return fit_novelty(detector, X, np.asarray, np.random.RandomState(seed))[0]


class Scores:
    """A detector that was fitted before, and cannot be fitted."""

    def __init__(self, function):
        self.function = function

    def decision_function(self, X):
        return self.function(X)


@pytest.mark.parametrize("gamma", [0.2, "scale", "auto"])
def test_plain_arrays_score_like_the_support_vector_machine(gamma, X, new):
    X = 2 * X + 1
    machine = OneClassSVM(nu=0.3, gamma=gamma)
    scorer = scorer_for(machine, X)
    assert isinstance(scorer.detector, KernelScores)
    assert not hasattr(machine, "support_vectors_")
    expected = machine.fit(X).decision_function(new)
    np.testing.assert_allclose(
        scorer.detector.decision_function(new), expected, rtol=1e-9, atol=1e-12
    )


def test_default_rate_of_a_machine_for_constant_data():
    X = np.zeros((10, 2))
    scorer = scorer_for(OneClassSVM(gamma="scale"), X)
    expected = OneClassSVM(gamma="scale").fit(X).decision_function([[0.5, 0.0]])
    np.testing.assert_allclose(
        scorer.detector.decision_function(np.array([[0.5, 0.0]])), expected, rtol=1e-9
    )


def test_a_machine_with_another_kernel_is_used_as_it_is(X, new):
    scorer = scorer_for(OneClassSVM(kernel="linear"), X)
    assert isinstance(scorer.detector, OneClassSVM)
    expected = OneClassSVM(kernel="linear").fit(X).decision_function(new)
    np.testing.assert_allclose(scorer.detector.decision_function(new), expected)


def test_scores_of_many_objects_are_their_scores(X, new):
    # So many that they are scored in several blocks.
    detector = scorer_for("ocsvm", X).detector
    scores = detector.decision_function(np.tile(new, (1500, 1)))
    expected = np.tile(detector.decision_function(new), 1500)
    np.testing.assert_allclose(scores, expected, rtol=1e-13)


def test_reference_values_of_the_support_vector_machine(reference, benchmark_data):
    # ksvm(type="one-svc", nu=.2, sigma=.2) standardises with the divisor n - 1. Both
    # programs stop at the same tolerance; 1e-10 would change the fourth digit.
    X, _ = benchmark_data("fourclass")
    standardised = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    scorer = scorer_for(OneClassSVM(nu=0.2, gamma=0.2), standardised)
    np.testing.assert_allclose(
        scorer.detector.decision_function(standardised),
        reference("fourclass_fhat.csv"),
        rtol=0,
        atol=1e-10,
    )


def test_name_stands_for_a_gaussian_machine(X):
    detector = scorer_for("ocsvm", X).detector
    expected = OneClassSVM(nu=0.2, gamma=0.4 / 3).fit(X).decision_function(X)
    np.testing.assert_allclose(
        detector.decision_function(X), expected, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("n_samples", [30, 120, 600])
def test_typical_score_does_not_depend_on_the_number_of_objects(n_samples, rng):
    X = rng.normal(size=(n_samples, 2))
    scores = scorer_for("ocsvm", X)(X)
    assert np.quantile(scores, 0.75) == pytest.approx(3.7, rel=1e-12)
    assert (scores < 0).mean() == pytest.approx(0.2, abs=0.1)


def test_far_objects_score_less_than_any_training_object(X):
    scorer = scorer_for("ocsvm", X)
    assert scorer(np.full((1, 3), 20.0))[0] < scorer(X).min()


def test_the_machine_sees_a_sample_of_many_objects(monkeypatch, X):
    monkeypatch.setattr(_detector, "_MAX_SAMPLE", 50)
    scorer = scorer_for("ocsvm", X)
    assert len(scorer.detector.support_vectors) <= 50
    assert {*map(tuple, scorer.detector.support_vectors)} <= {*map(tuple, X)}
    # The typical score is that of all objects.
    assert np.quantile(scorer(X), 0.75) == pytest.approx(3.7, rel=1e-12)
    again, other = scorer_for("ocsvm", X), scorer_for("ocsvm", X, seed=1)
    np.testing.assert_array_equal(scorer(X), again(X))
    assert (scorer(X) != other(X)).any()


def test_an_estimator_is_cloned_and_fitted(X):
    forest = IsolationForest(n_estimators=10, random_state=0)
    scorer = scorer_for(forest, X)
    assert not hasattr(forest, "estimators_")
    scores = IsolationForest(n_estimators=10, random_state=0).fit(X)
    scores = scores.decision_function(X)
    np.testing.assert_allclose(scorer(X), scores * 3.7 / np.quantile(scores, 0.75))


@pytest.mark.parametrize("in_pipeline", [False, True])
def test_an_estimator_without_seed_takes_it_from_the_generator(in_pipeline, X):
    forest = IsolationForest(n_estimators=5)
    detector = make_pipeline(StandardScaler(), forest) if in_pipeline else forest
    first, again, other = (scorer_for(detector, X, seed)(X) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert forest.random_state is None


def test_an_object_without_fit_is_used_as_it_is(X, new):
    detector = Scores(lambda X: 4 - (X**2).sum(axis=1))
    scorer = scorer_for(detector, X)
    assert scorer.detector is detector
    typical = np.quantile(detector.decision_function(X), 0.75)
    np.testing.assert_allclose(
        scorer(new), 3.7 / typical * detector.decision_function(new)
    )


def test_scores_keep_their_order_whatever_their_sign(X):
    detector = Scores(lambda X: X[:, 0] - 10)
    scorer = scorer_for(detector, X)
    assert scorer.factor > 0
    assert np.quantile(np.abs(scorer(X)), 0.75) == pytest.approx(3.7)


def test_scores_that_are_all_zero_stay(X):
    assert scorer_for(Scores(lambda X: np.zeros(len(X))), X).factor == 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X: X, r"got shape \(120, 3\)"),
        (lambda X: X[1:, 0], r"got shape \(119,\)"),
        (lambda X: X[:, :1], r"got shape \(120, 1\)"),
        (lambda X: 1.0, r"got shape \(\)"),
        (lambda X: np.where(X[:, 0] > 0, np.nan, 1), "got nan"),
        (lambda X: np.where(X[:, 0] > 0, np.inf, 1), "got inf"),
    ],
)
def test_bad_scores_are_refused(function, message, X):
    with pytest.raises(ValueError, match=f"novelty_detector must return .*{message}"):
        scorer_for(Scores(function), X)


def test_states_restore_scorer_and_machine(X, new):
    scorer = scorer_for("ocsvm", X)
    state = scorer.to_state()
    machine = KernelScores.from_state(state["detector"].to_state())
    restored = NoveltyScorer.from_state({**state, "detector": machine})
    np.testing.assert_array_equal(restored(new), scorer(new))
