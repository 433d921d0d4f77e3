"""The search: folds of side information, equal scales, and scikit-learn's contract."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import ECM, NNEVCLUS
from credalis.model_selection import CredalSearchCV, search

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
]

MUST, CANNOT = [(0, 3), (4, 11), (3, 9)], [(1, 2), (10, 5)]


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, centers=3, cluster_std=1.2, random_state=1)


@pytest.fixture
def network():
    return NNEVCLUS(3, focal_sets="singletons", n_init=1, max_iter=30, tol=1e-3)


def as_sets(pairs):
    return {frozenset(pair) for pair in np.asarray(pairs).tolist()}


def test_every_fold_gets_its_pairs_and_labels_in_its_own_numbers(recorder, seen):
    X = np.column_stack([np.arange(12), np.zeros(12)])
    labels = np.arange(12) % 4 - 1
    found = search(
        recorder(),
        {"power": [0, 1]},
        X,
        partial_labels=labels,
        must_link=MUST,
        cannot_link=CANNOT,
        cv=3,
        random_state=0,
    )
    assert len(seen) == 2 * 3 + 1
    assert [len(each["rows"]) for each in seen] == [8] * 6 + [12]
    for each in seen:
        rows = each["rows"]
        np.testing.assert_array_equal(each["partial_labels"], labels[rows])
        for name, pairs in (("must_link", MUST), ("cannot_link", CANNOT)):
            inside = {p for p in as_sets(pairs) if p <= set(rows.tolist())}
            assert as_sets(rows[each[name]]) == inside
    assert any(len(each["must_link"]) < len(MUST) for each in seen)
    assert found.best_params_ == {"power": 0}
    assert as_sets(seen[-1]["must_link"]) == as_sets(MUST)


def test_pairs_reach_the_last_step_of_a_pipeline(recorder, seen):
    X = np.column_stack([np.arange(12.0), np.zeros(12)])
    pipeline = make_pipeline("passthrough", recorder())
    grid = {"recorder__power": [1, 2]}
    found = search(pipeline, grid, X, must_link=MUST, cv=2, random_state=0)
    assert found.best_params_ == {"recorder__power": 1}
    for each in seen:
        inside = {p for p in as_sets(MUST) if p <= set(each["rows"].tolist())}
        assert as_sets(each["rows"][each["must_link"]]) == inside


def test_both_axes_of_a_matrix_are_restricted(recorder, seen):
    matrix = np.add.outer(100.0 * np.arange(10), np.arange(10.0))
    np.fill_diagonal(matrix, np.arange(10))
    search(recorder(metric="precomputed"), {"power": [0]}, matrix, must_link=[(0, 9)])
    assert len(seen) == 6
    for each in seen:
        rows = each["rows"]
        np.testing.assert_array_equal(each["X"], matrix[np.ix_(rows, rows)])
        assert len(each["must_link"]) == (0 in rows and 9 in rows)


def test_dissimilarities_are_restricted_too(recorder, seen):
    X = np.column_stack([np.arange(10), np.zeros(10)])
    matrix = cdist(X, X)
    search(
        recorder(),
        {"power": [0, 1]},
        X,
        dissimilarities=matrix,
        scoring=lambda fitted, X, y=None: -fitted.power,
        cv=2,
    )
    for each in seen:
        rows = each["rows"]
        np.testing.assert_array_equal(
            each["dissimilarities"], matrix[np.ix_(rows, rows)]
        )


def test_metadata_routing_changes_nothing(recorder, seen):
    X = np.column_stack([np.arange(12), np.zeros(12)])
    with config_context(enable_metadata_routing=True):
        search(recorder(), {"power": [0]}, X, must_link=MUST, cv=2, random_state=0)
    assert len(seen) == 3
    for each in seen:
        inside = {p for p in as_sets(MUST) if p <= set(each["rows"].tolist())}
        assert as_sets(each["rows"][each["must_link"]]) == inside


def test_without_side_information_it_is_grid_search(blobs, network):
    X, _ = blobs
    network.set_params(random_state=0, dissimilarity_scale=5.0)
    grid = {"weight_decay": [0.0, 0.1], "hidden_layer_sizes": [(2,), (6,)]}
    folds = KFold(3, shuffle=True, random_state=0)
    ours = CredalSearchCV(network, grid, cv=folds).fit(X)
    theirs = GridSearchCV(network, grid, cv=folds).fit(X)
    for name, values in theirs.cv_results_.items():
        if name.startswith(("mean_test", "split", "rank", "param")):
            np.testing.assert_array_equal(ours.cv_results_[name], values)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == theirs.best_score_
    assert ours.best_estimator_.partition_ == theirs.best_estimator_.partition_
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    assert ours.score(X) == theirs.score(X)
    assert type(ours.best_estimator_) is NNEVCLUS
    assert ours.n_features_in_ == 2


def test_scale_is_that_of_all_rows_in_every_fit(blobs, network):
    X, _ = blobs
    found = search(network, {"n_clusters": [2, 6]}, X, cv=3, random_state=0)
    whole = clone(network).fit(X).scale_
    assert found.fixed_params_ == {"dissimilarity_scale": pytest.approx(whole)}
    assert found.best_estimator_.scale_ == pytest.approx(whole)
    # The default quantile is another one for six clusters.
    assert clone(network).set_params(n_clusters=6).fit(X).scale_ < 0.9 * whole


@pytest.mark.parametrize(
    ("grid", "name"),
    [
        ({"dissimilarity_quantile": [0.5, 0.9]}, "dissimilarity_quantile"),
        ([{"weight_decay": [0.0]}, {"metric": ["cityblock"]}], "metric"),
        ({"dissimilarity_scale": [1.0]}, "dissimilarity_scale"),
    ],
)
def test_scores_at_different_scales_are_not_compared(blobs, network, grid, name):
    with pytest.raises(ValueError, match=f"must not hold '{name}' unless scoring"):
        search(network, grid, blobs[0])


def test_other_steps_need_a_score_that_can_be_compared(blobs, network):
    pipeline = make_pipeline(StandardScaler(), network)
    grid = {"standardscaler__with_mean": [True, False]}
    with pytest.raises(ValueError, match="must not hold 'standardscaler__with_mean'"):
        search(pipeline, grid, blobs[0])


def test_a_score_of_the_user_may_compare_anything(blobs):
    X, y = blobs

    def agreement(fitted, X, y):
        assert len(fitted["ecm"].partition_) in (40, 60)
        return adjusted_rand_score(y, fitted.predict(X))

    found = search(
        make_pipeline(StandardScaler(), ECM()),
        {"ecm__n_clusters": [2, 3], "standardscaler__with_std": [True, False]},
        X,
        y,
        scoring=agreement,
        cv=3,
        random_state=0,
    )
    assert found.best_params_["ecm__n_clusters"] == 3
    assert found.best_score_ > 0.9
    assert found.fixed_params_ == {}
    assert found.score(X[:40], y[:40]) > 0.9


def test_several_scores_by_name(blobs):
    X, y = blobs
    names = ["adjusted_rand_score", "v_measure_score"]
    found = CredalSearchCV(
        ECM(random_state=0), {"n_clusters": [2, 3]}, scoring=names, refit=names[0], cv=3
    ).fit(X, y)
    assert found.multimetric_
    assert found.best_params_ == {"n_clusters": 3}
    assert found.cv_results_["mean_test_v_measure_score"][1] > 0.9


def test_same_seed_same_result_for_any_number_of_jobs(blobs, network, seed):
    X, _ = blobs
    grid = {"weight_decay": [0.0, 0.01]}
    one, two = (
        search(network, grid, X, must_link=[(0, 1)], cv=3, n_jobs=n, random_state=seed)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )
    assert one.best_estimator_.partition_ == two.best_estimator_.partition_
    other = search(network, grid, X, cv=3, random_state=seed + 10)
    assert (
        one.cv_results_["mean_test_score"] != other.cv_results_["mean_test_score"]
    ).any()


def test_precomputed_matrices_are_scored_between_folds(blobs):
    X, _ = blobs
    model = NNEVCLUS(3, metric="precomputed", n_init=1, max_iter=30, tol=1e-3)
    found = search(
        model, {"weight_decay": [0.0, 10.0]}, cdist(X, X), cv=3, random_state=0
    )
    assert found.best_params_ == {"weight_decay": 0.0}
    assert found.predict(cdist(X[:5], X)).shape == (5,)


def test_frames_keep_their_names(blobs, network):
    frame = pd.DataFrame(blobs[0], columns=["a", "b"])
    found = search(network, {"weight_decay": [0.0]}, frame, cv=2)
    assert found.feature_names_in_.tolist() == ["a", "b"]


def test_clone_and_no_refit(blobs, network):
    model = CredalSearchCV(network, {"weight_decay": [0.0, 1.0]}, cv=2, random_state=5)
    copy = clone(model).set_params(refit=False, estimator__n_clusters=2)
    assert copy.random_state == 5
    copy.fit(blobs[0])
    assert not hasattr(copy, "best_estimator_")
    # Much decay leaves a network that tells nothing apart.
    assert copy.best_params_ == {"weight_decay": 0.0}
    assert network.random_state is None
    assert network.dissimilarity_scale is None


def test_a_clusterer_without_score_needs_scoring(blobs):
    with pytest.raises(ValueError, match="scoring must be given for ECM"):
        search(ECM(), {"beta": [1.5, 2.0]}, blobs[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"must_link": [(0, 60)]}, "must_link must hold row numbers from 0 to 59"),
        ({"partial_labels": [0]}, "partial_labels must have one entry for each"),
        ({"must_link": [(0, 1)], "cannot_link": [(1, 0)]}, "must_link joins them"),
        ({"dissimilarities": np.ones((60, 60))}, "scoring must be given with dissim"),
        ({"cv": 1}, "cv must be an integer >= 2"),
        ({"cv": 61}, "cv must be an integer >= 2 and <= 60"),
    ],
)
def test_wrong_arguments_are_refused(blobs, network, arguments, message):
    with pytest.raises(ValueError, match=message):
        search(network, {"weight_decay": [0.0]}, blobs[0], **arguments)
