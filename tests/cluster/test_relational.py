"""What RECM, ECMdd and MECM share: dissimilarities in, prediction from them."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import credalis
from credalis import MECM, RECM, ECMdd, FocalSets
from credalis.exceptions import OutlierWarning
from helpers import assert_valid_partition

pytestmark = pytest.mark.filterwarnings(
    "ignore::credalis.exceptions.ExperimentalWarning"
)

ESTIMATORS = {
    "RECM": RECM(3),
    "sECMdd": ECMdd(3),
    "wECMdd": ECMdd(3, prototypes="weighted"),
    "MECM": MECM(3),
    "MECM of squares": MECM(3, power=2),
}


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return clone(ESTIMATORS[request.param]).set_params(random_state=0)


CENTERS = [[0, 0], [8, 0], [0, 8]]


@pytest.fixture(scope="module")
def data():
    X, y = make_blobs(120, centers=CENTERS, cluster_std=1.2, random_state=5)
    return X[:90], X[90:], y[:90]


def test_clusters_are_found(estimator, data):
    X, _, y = data
    assert adjusted_rand_score(y, estimator.fit(X).labels_) > 0.95


def test_a_matrix_gives_what_its_points_give(estimator, data):
    X, new, _ = data
    points = clone(estimator).fit(X)
    matrix = estimator.set_params(metric="precomputed").fit(cdist(X, X))
    assert matrix.delta_ == pytest.approx(points.delta_)
    assert_allclose(matrix.partition_.masses, points.partition_.masses, atol=1e-9)
    assert_allclose(
        matrix.predict_partition(cdist(new, X)).masses,
        points.predict_partition(new).masses,
        atol=1e-9,
    )


def test_prediction_from_a_matrix_on_the_training_objects_is_the_fit(estimator, data):
    D = cdist(data[0], data[0], "cityblock")
    estimator.set_params(metric="precomputed").fit(D)
    assert estimator.predict_partition(D) == estimator.partition_
    assert_array_equal(estimator.predict(D), estimator.labels_)


def test_precomputed_input_has_the_pairwise_tag(estimator):
    assert not get_tags(estimator).input_tags.pairwise
    estimator.set_params(metric="precomputed")
    assert get_tags(estimator).input_tags.pairwise


def test_a_search_takes_rows_and_columns_of_a_matrix(estimator, data):
    def negative_nonspecificity(fitted, D, y=None):
        return -fitted.predict_partition(D).average_nonspecificity

    search = GridSearchCV(
        estimator.set_params(metric="precomputed", n_init=1),
        {"n_clusters": [2, 3]},
        scoring=negative_nonspecificity,
        cv=2,
    )
    D = cdist(data[0], data[0])
    assert search.fit(D).best_estimator_.n_features_in_ == len(D)


def test_saved_with_a_matrix_and_with_a_transformer(estimator, data, tmp_path):
    X, new, _ = data
    for number, (metric, train, test) in enumerate(
        [
            ("precomputed", cdist(X, X), cdist(new, X)),
            (StandardScaler(), X, new),
        ]
    ):
        fitted = clone(estimator).set_params(metric=metric, n_init=1).fit(train)
        path = tmp_path / f"{number}.credalis"
        fitted.save(path)
        loaded = credalis.load(path)
        assert loaded.predict_partition(test) == fitted.predict_partition(test)


def test_a_transformer_gives_the_space_of_the_distances(estimator, data):
    X, new, _ = data
    stretched, new_stretched = X * [1, 100], new * [1, 100]
    scaler = StandardScaler().fit(stretched)
    expected = clone(estimator).fit(scaler.transform(stretched))
    fitted = estimator.set_params(metric=StandardScaler()).fit(stretched)
    assert fitted.partition_ == expected.partition_
    assert fitted.predict_partition(new_stretched) == expected.predict_partition(
        scaler.transform(new_stretched)
    )


def test_a_transformer_that_learns_from_labels_is_refused(estimator, data):
    estimator.set_params(metric=LinearDiscriminantAnalysis())
    with pytest.raises(ValueError, match="learns from labels or pairs, which this"):
        estimator.fit(data[0])


def test_metrics_by_name_and_as_a_function(estimator, data):
    X, new, _ = data
    named = clone(estimator).set_params(metric="manhattan").fit(X)

    def manhattan(x, y):
        return np.abs(x - y).sum()

    other = estimator.set_params(metric=manhattan).fit(X)
    assert_allclose(other.partition_.masses, named.partition_.masses, atol=1e-9)
    assert_allclose(other.transform(new), named.transform(new), atol=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda D: D[:5], r"square matrix of dissimilarities, got shape \(5, 90\)"),
        (lambda D: -D, "no negative dissimilarities, the smallest is -"),
        (lambda D: D + np.eye(len(D)), "zero diagonal, the largest entry on it is 1"),
        (lambda D: D + np.triu(D), "X must be symmetric.*pass symmetrize=True"),
        (lambda D: D * np.nan, "NaN"),
    ],
)
def test_bad_matrices(estimator, data, change, message):
    D = change(cdist(data[0], data[0]))
    with pytest.raises(ValueError, match=message):
        estimator.set_params(metric="precomputed").fit(D)


def test_bad_rows_at_prediction(estimator, data):
    X, new, _ = data
    estimator.set_params(metric="precomputed").fit(cdist(X, X))
    with pytest.raises(ValueError, match="no negative dissimilarities"):
        estimator.predict(-cdist(new, X))
    with pytest.raises(ValueError, match="expecting 90 features"):
        estimator.predict(cdist(new, new))


def test_an_asymmetric_matrix_can_be_symmetrized(estimator, data):
    D = cdist(data[0], data[0])
    rng = np.random.default_rng(0)
    lopsided = D * rng.uniform(0.9, 1.1, size=D.shape)
    mean = (lopsided + lopsided.T) / 2
    estimator.set_params(metric="precomputed")
    usual = clone(estimator).fit(mean)
    fitted = estimator.set_params(symmetrize=True).fit(lopsided)
    assert fitted.loss_ == usual.loss_
    # Rows as they are given, so that prediction on them is the same.
    assert fitted.predict_partition(lopsided) == fitted.partition_


def test_the_matrix_of_the_user_is_left_alone(estimator, data):
    D = cdist(data[0], data[0])
    before = D.copy()
    D.setflags(write=False)
    estimator.set_params(metric="precomputed").fit(D)
    assert_array_equal(D, before)


@pytest.mark.filterwarnings("ignore::credalis.exceptions.MergedClustersWarning")
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_no_more_than_one_matrix_of_all_pairs_is_held(estimator, metric):
    # Twice as many objects need four times the memory of a matrix; what scales
    # guess from a sample of 2000 objects is a part of both.
    peaks = []
    for n_samples in (400, 800):
        X = make_blobs(n_samples, centers=CENTERS, random_state=0)[0]
        X = cdist(X, X) if metric == "precomputed" else X
        given = {"beta": 1.5, "delta": 2.0, "init": [0, 1, 2]}
        estimator.set_params(metric=metric, n_init=1, **given)
        tracemalloc.start()
        estimator.fit(X)
        peaks.append(tracemalloc.get_traced_memory()[1] / 8)
        tracemalloc.stop()
    in_matrices = (peaks[1] - peaks[0]) / (800**2 - 400**2)
    assert in_matrices < 1.3


def test_automatic_delta_adapts_to_the_units(estimator, data):
    # ECMdd's choice of objects for sets of clusters depends on the unit. One start:
    # rounding decides between equally good ones.
    focal_sets = FocalSets.singletons(3, frame=False)
    # Ranks of p-values may change places by rounding.
    estimator.set_params(focal_sets=focal_sets, empty_set="noise", n_init=1)
    usual = clone(estimator).fit(data[0])
    for factor in (1e-30, 1e30):
        other = clone(estimator).fit(data[0] * factor)
        assert_allclose(other.partition_.masses, usual.partition_.masses, atol=1e-6)


def test_planted_outlier_is_found(estimator, data):
    X = np.vstack([data[0], [[60.0, 60.0]]])
    partition = estimator.fit(X).partition_
    assert partition.is_outlier[-1]
    assert partition.is_outlier.mean() < 0.2


def test_too_many_outliers_are_a_warning_with_advice(estimator, data):
    with pytest.warns(OutlierWarning, match="outliers: increase delta"):
        estimator.set_params(delta=1e-3).fit(data[0])


def test_given_objects_fix_the_numbers_of_the_clusters(estimator, data):
    X, _, y = data
    seeds = [int(np.flatnonzero(y == k)[0]) for k in (2, 0, 1)]
    labels = estimator.set_params(init=seeds).fit(X).labels_
    assert labels[seeds].tolist() == [0, 1, 2]


def test_as_many_clusters_as_objects(estimator):
    X = np.array([[0.0], [1.0], [5.0]])
    assert sorted(estimator.fit(X).labels_) == [0, 1, 2]


def test_duplicates_do_no_harm(estimator):
    X = np.repeat(np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]), 6, axis=0)
    estimator.fit(X)
    assert_valid_partition(estimator.partition_)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 6), estimator.labels_) == 1


def test_more_objects_than_the_scale_is_measured_on(estimator):
    X, y = make_blobs(2300, centers=CENTERS, random_state=0)
    estimator.set_params(n_init=1, max_iter=50).fit(X)
    assert adjusted_rand_score(y, estimator.labels_) > 0.95


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1}, r"alpha must be a finite number >= 0, got -1"),
        ({"beta": 1.0}, r"beta must be a finite number > 1, got 1.0"),
        ({"delta": 0}, r"delta must be a finite number > 0, got 0"),
        ({"delta": "large"}, r"delta must be one of 'auto', got 'large'"),
        ({"init": "best"}, r"init must be one of .*, got 'best'"),
        ({"init": [0, 1]}, r"init must hold 3 distinct row numbers .* got \[0, 1\]"),
        ({"init": [0, 1, 90]}, r"init must hold 3 distinct row numbers between 0"),
        ({"init": [0, 1, 1]}, r"init must hold 3 distinct row numbers"),
        ({"metric": "nonsense"}, r"metric must be .* a metric of scikit-learn's"),
        ({"symmetrize": "yes"}, r"symmetrize must be a bool, got 'yes'"),
    ],
)
def test_bad_parameters(estimator, data, parameters, message):
    with pytest.raises(ValueError, match=message):
        estimator.set_params(**parameters).fit(data[0])


def test_a_metric_that_gives_negative_numbers_is_named(data):
    with pytest.raises(ValueError, match=r"the matrix of metric=.* no negative"):
        ECMdd(3, metric=lambda x, y: (x - y).sum()).fit(data[0])


@pytest.mark.filterwarnings("ignore::credalis.exceptions.MergedClustersWarning")
def test_pca_as_metric_is_saved(data, tmp_path):
    X, new, _ = data
    fitted = RECM(3, metric=PCA(1, random_state=0), random_state=0).fit(X)
    fitted.save(tmp_path / "model.credalis")
    loaded = credalis.load(tmp_path / "model.credalis")
    assert loaded.predict_partition(new) == fitted.predict_partition(new)
