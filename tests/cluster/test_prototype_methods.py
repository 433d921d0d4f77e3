"""What ECM, CCM, BCM, CECM and BPEC have in common."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import credalis
from credalis import BCM, BPEC, CCM, CECM, ECM
from credalis.exceptions import CollapseWarning
from credalis.peaks import delta_bel
from helpers import assert_decreasing, assert_valid_partition, focal_set_lists

pytestmark = pytest.mark.filterwarnings(
    "ignore::credalis.exceptions.ExperimentalWarning"
)

METHODS = [ECM, CCM, BCM, CECM, BPEC]
METRICS = ["euclidean", "adaptive"]


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, centers=3, cluster_std=1.5, random_state=5)[0]


@pytest.fixture(params=METHODS, ids=lambda each: each.__name__)
def method(request):
    return request.param


@st.composite
def problems(draw):
    """Data, a method with its parameters, and pairs for the one that takes them."""
    method = draw(st.sampled_from(METHODS))
    focal_sets = draw(focal_set_lists(max_clusters=3))
    assume(focal_sets.membership.any(axis=0).all())
    seed = draw(st.integers(0, 1000))
    X = np.random.default_rng(seed).normal(size=(25, 2)) * [1, draw(st.floats(0.1, 5))]
    parameters = {"metric": draw(st.sampled_from(METRICS)), "max_iter": 40, "tol": 0}
    if method is not CECM:
        parameters["beta"] = draw(st.sampled_from([1.05, 1.5, 2.0, 3.0]))
    if method is not CCM:
        parameters["alpha"] = draw(st.sampled_from([0.0, 1.0, 2.5]))
    if method in (CCM, BCM):
        parameters["gamma"] = draw(st.sampled_from([0.0, 1.0, 4.0]))
    if method is CCM:
        parameters["max_cardinality"] = 3
    pairs = {}
    if method is CECM:
        kinds = ["symmetric", "paper", "reference"]
        parameters["penalty"] = draw(st.sampled_from(kinds))
        parameters["constraint_weight"] = draw(st.sampled_from([0.0, 0.3, 0.9]))
        pairs = {"must_link": [(0, 1), (1, 2), (3, 9)], "cannot_link": [(0, 3), (5, 6)]}
    return (
        X,
        pairs,
        method(
            focal_sets.n_clusters,
            focal_sets=focal_sets,
            delta=draw(st.floats(0.2, 10)),
            n_init=1,
            random_state=seed,
            **parameters,
        ),
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::credalis.exceptions.CollapseWarning")
@pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")
@given(problems())
def test_objective_never_increases(problem):
    X, pairs, estimator = problem
    estimator.fit(X, **pairs)
    assert_decreasing(estimator.history_)
    assert_valid_partition(estimator.partition_)


@pytest.mark.parametrize("metric", METRICS)
def test_more_features_than_objects_in_a_cluster(method, metric, rng):
    # Every cluster is flat in some direction: the metric must not run away.
    X = rng.normal(size=(30, 12)) + 20 * np.repeat(np.eye(3, 12), 10, axis=0)
    estimator = method(3, metric=metric, random_state=0, max_iter=2000).fit(X)
    assert_decreasing(estimator.history_)
    assert sorted(np.bincount(estimator.labels_)) == [10, 10, 10]


def test_adaptive_metrics_have_determinant_one(method, blobs):
    estimator = method(3, metric="adaptive", random_state=0).fit(blobs)
    assert_allclose(np.linalg.det(estimator.metrics_), 1)
    assert method(3, metric="euclidean", random_state=0).fit(blobs).metrics_ is None


def test_adaptive_metric_sees_long_clusters(method):
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(size=(100, 2)) * [8, 0.5] + [0, y] for y in (0, 5)])
    y = np.repeat([0, 1], 100)
    start = [[0, 0], [0, 5]]
    estimator = method(2, focal_sets="singletons", init=start, metric="adaptive")
    labels = estimator.set_params(delta=20).fit(X).labels_
    assert (labels == y).mean() > 0.95


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("factor", [1e-30, 1e-3, 1e30])
def test_units_change_nothing(method, blobs, metric, factor):
    # The penalty of CECM has no unit; without pairs there is none.
    usual = method(3, metric=metric, random_state=0).fit(blobs)
    other = method(3, metric=metric, random_state=0).fit(blobs * factor)
    assert other.delta_ == pytest.approx(usual.delta_ * factor)
    assert_allclose(other.partition_.masses, usual.partition_.masses, atol=1e-5)


def test_adaptive_metric_needs_no_scaling_of_the_columns(method, blobs):
    start = blobs[:3]
    factors = np.array([1.0, 100.0])
    # Without the empty set nothing depends on delta, the only thing with a unit.
    focal_sets = credalis.FocalSets.singletons(3, empty=False, frame=False)
    settings = {"metric": "adaptive", "focal_sets": focal_sets, "tol": 1e-13}
    plain = method(3, init=start, **settings).fit(blobs)
    # From the same metric, which is not the identity in the new units.
    scaled = method(3, init=plain.centers_ * factors, max_iter=2000, **settings)
    scaled.fit(blobs * factors)
    assert_allclose(scaled.labels_, plain.labels_)


def test_peaks_are_where_the_graph_says(method, blobs):
    peaks = blobs[delta_bel(blobs).suggest(3)]
    from_peaks = method(3, init="peaks", random_state=0).fit(blobs)
    from_centers = method(3, init=peaks, random_state=0).fit(blobs)
    assert from_peaks.partition_.allclose(from_centers.partition_, atol=1e-12)


def test_start_that_does_not_depend_on_chance_is_one(method, blobs):
    estimator = method(3, init="peaks")
    problem = estimator._prepare(
        blobs,
        np.random.RandomState(0),
        partial_labels=None,
        must_link=None,
        cannot_link=None,
    )
    assert estimator._n_starts(problem) == 1
    assert estimator.set_params(n_init=3)._n_starts(problem) == 3


def test_given_centers_fix_the_numbers_of_the_clusters(method, blobs):
    start = method(3, random_state=0).fit(blobs).centers_
    for order in ([0, 1, 2], [2, 0, 1]):
        centers = method(3, init=start[order], random_state=0).fit(blobs).centers_
        assert_allclose(centers, start[order], atol=0.05)


def test_transformer_is_cloned_and_distances_are_in_its_space(method, blobs):
    scaler = StandardScaler()
    inside = method(3, metric=scaler, random_state=0).fit(blobs)
    assert not hasattr(scaler, "mean_")
    Z = StandardScaler().fit_transform(blobs)
    outside = method(3, metric="euclidean", random_state=0).fit(Z)
    assert inside.partition_ == outside.partition_
    assert inside.predict_partition(blobs) == inside.partition_


def test_given_centers_are_in_the_space_of_the_data(method, blobs):
    start = blobs[:3]
    scaler = StandardScaler().fit(blobs)
    inside = method(3, metric=StandardScaler(), init=start, random_state=0).fit(blobs)
    start = scaler.transform(start)
    outside = method(3, metric="euclidean", init=start, random_state=0)
    outside.fit(scaler.transform(blobs))
    assert inside.partition_.allclose(outside.partition_, atol=1e-12)


def test_transformer_learns_from_labels(method, blobs):
    y = make_blobs(150, centers=3, cluster_std=1.5, random_state=5)[1]
    partial = np.where(np.arange(150) < 40, y, -1)
    estimator = method(3, metric=LinearDiscriminantAnalysis(), random_state=0)
    estimator.fit(blobs, partial_labels=partial)
    expected = LinearDiscriminantAnalysis().fit(blobs[:40], y[:40])
    assert_allclose(estimator.transformer_.scalings_, expected.scalings_)
    with pytest.raises(ValueError, match="learns from labels: pass partial_labels"):
        estimator.fit(blobs)


class RememberPairs(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None, *, must_link=None, cannot_link=None):
        self.pairs_ = (must_link.tolist(), cannot_link.tolist())
        return self

    def transform(self, X):
        return X


def test_transformer_learns_from_pairs(method, blobs):
    estimator = method(3, metric=RememberPairs(), random_state=0)
    estimator.fit(blobs, must_link=[(4, 2)], cannot_link=[(1, 9)])
    assert estimator.transformer_.pairs_ == ([[2, 4]], [[1, 9]])


def test_side_information_that_would_do_nothing_is_refused(method, blobs):
    estimator = method(3)
    with pytest.raises(ValueError, match="partial_labels only for a metric that"):
        estimator.fit(blobs, partial_labels=np.zeros(150, dtype=int))
    if method is not CECM:
        with pytest.raises(ValueError, match="must_link and cannot_link only for"):
            estimator.fit(blobs, must_link=[(0, 1)])


def test_fitted_transformer_and_metrics_survive_a_file(method, blobs, tmp_path):
    path = tmp_path / "model.credalis"
    for metric in ("adaptive", PCA(1)):
        estimator = method(3, metric=metric, random_state=0).fit(blobs)
        estimator.save(path)
        copy = credalis.load(path)
        assert copy.predict_partition(blobs + 1) == estimator.predict_partition(
            blobs + 1
        )


@pytest.mark.parametrize(
    ("method", "parameters", "advice"),
    [
        (ECM, {"beta": 5.0}, "Lower beta, it is 5"),
        (ECM, {"beta": 5.0, "metric": "adaptive"}, "Lower beta, it is 5"),
        (CCM, {"beta": 5.0}, "Lower beta, it is 5"),
        (BCM, {"beta": 5.0}, "Lower beta, it is 5, or let beta='auto' choose it"),
        (CECM, {}, r"few dimensions, for example with .*PCA\(3\)"),
    ],
)
def test_collapsed_prototypes_are_a_warning_with_advice(method, parameters, advice):
    X = np.random.default_rng(0).normal(size=(200, 10))
    estimator = method(3, delta=5, tol=1e-12, max_iter=5000, random_state=0)
    with pytest.warns(CollapseWarning, match=f"coincide.*{advice}"):
        estimator.set_params(**parameters).fit(X)


def test_fixed_prototypes_that_coincide_are_a_warning(blobs):
    with pytest.warns(CollapseWarning, match="Give other prototypes"):
        BPEC(3, delta=100, init=[[0, 0], [0, 1e-9], [1e-9, 0]]).fit(blobs)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"metric": "cosine"}, r"metric must be 'euclidean' or 'adaptive' or a trans"),
        ({"metric": StandardScaler}, r"metric must be 'euclidean' or 'adaptive' or"),
        ({"metric": None}, r"metric must be .* got None"),
        ({"delta": 0}, r"delta must be a finite number > 0, got 0"),
        ({"delta": "large"}, r"delta must be one of 'auto', got 'large'"),
        ({"init": "best"}, r"init must be one of .*'peaks', got 'best'"),
        ({"init": [[0, 0]]}, r"init must have shape .* \(3, 2\), got \(1, 2\)"),
        ({"init": [[np.nan, 0]] * 3}, r"init must be finite, got nan in row 0"),
    ],
)
def test_bad_parameters(method, blobs, parameters, message):
    if method is BPEC and parameters == {"init": "best"}:
        message = "init must be one of 'peaks', got 'best'"
    with pytest.raises(ValueError, match=message):
        method(3, **parameters).fit(blobs)


@pytest.mark.parametrize("metric", METRICS)
def test_constant_and_repeated_columns_do_no_harm(method, blobs, metric):
    X = np.column_stack([blobs, np.full(len(blobs), 7.0), blobs[:, 0]])
    estimator = method(3, metric=metric, random_state=0).fit(X)
    assert_valid_partition(estimator.partition_)
    assert_decreasing(estimator.history_)


@pytest.mark.parametrize("metric", METRICS)
def test_five_thousand_objects(method, metric):
    X, y = make_blobs(5000, centers=4, cluster_std=0.8, random_state=1)
    estimator = method(4, focal_sets="two-step", metric=metric, init="peaks")
    labels = estimator.fit(X).labels_
    assert adjusted_rand_score(y, labels) > 0.95
