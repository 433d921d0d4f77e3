"""Numbers of clusters: known data, equal conditions, any estimator, wrong input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import ECM, NNEVCLUS
from credalis.datasets import load_butterfly
from credalis.metric_learning import DissimilarityPCA
from credalis.model_selection import Selection, select_n_clusters
from helpers import assert_valid_partition

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*did not converge"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
]


def blobs(n_clusters, n_samples=120):
    angles = 2 * np.pi * np.arange(n_clusters) / n_clusters
    centers = 8 * np.column_stack([np.cos(angles), np.sin(angles)])
    return make_blobs(n_samples, centers=centers, random_state=n_clusters)[0]


@pytest.fixture
def network():
    return NNEVCLUS(n_init=2, max_iter=100, tol=1e-3)


@pytest.mark.parametrize("n_clusters", [2, 3, 5])
def test_clear_clusters_are_counted(n_clusters):
    ecm, X = ECM(focal_sets="singletons", n_init=2), blobs(n_clusters)
    selection = select_n_clusters(ecm, X, range(2, 7), n_resamples=4, random_state=0)
    assert selection.best == n_clusters
    assert selection.votes["peaks"].value == n_clusters
    assert selection.votes["stability"].value == n_clusters
    assert selection.curves["stability"][n_clusters - 2] > 0.95
    assert selection.reason.startswith(f"{n_clusters} clusters by peaks and stability")
    assert selection.best_estimator.n_clusters == n_clusters
    assert_valid_partition(selection.best_estimator.partition_, len(X))


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_the_stress_has_its_elbow_at_clear_clusters(n_clusters, network):
    X = blobs(n_clusters, 90)
    selection = select_n_clusters(
        network, X, range(2, 6), criteria=["stress", "peaks"], random_state=0
    )
    assert selection.best == n_clusters
    assert selection.votes["stress"].value == n_clusters
    assert (selection.curves["stress"] > 0).all()
    assert "stability" not in selection.columns()


def test_fits_can_be_compared(network):
    X = blobs(3, 90)
    selection = select_n_clusters(
        network, X, [2, 3, 9], criteria="nonspecificity", random_state=0
    )
    assert set(selection.fixed_params) == {"focal_sets", "dissimilarity_scale"}
    fitted = selection.estimators.values()
    assert len({each.scale_ for each in fitted}) == 1
    # δ0 as for the number in the middle, sets as for the largest number.
    seeded = clone(network).set_params(n_clusters=3, random_state=0)
    assert next(iter(fitted)).scale_ == pytest.approx(seeded.fit(X).scale_)
    assert {len(each.focal_sets_) - each.n_clusters for each in fitted} == {2}


def test_delta_of_ecm_is_the_same_for_all_numbers():
    selection = select_n_clusters(
        ECM(), blobs(3), range(2, 5), criteria="nonspecificity", random_state=0
    )
    assert len({each.delta_ for each in selection.estimators.values()}) == 1
    assert selection.fixed_params["focal_sets"] == "pairs"


def test_parameters_that_are_given_stay():
    ecm = ECM(delta=3.0, focal_sets="singletons", random_state=7)
    selection = select_n_clusters(ecm, blobs(3), [2, 3], criteria="peaks")
    assert selection.fixed_params == {}
    assert selection.best == 3
    expected = clone(ecm).set_params(n_clusters=3).fit(blobs(3))
    assert selection.best_estimator.partition_ == expected.partition_


@pytest.mark.parametrize("make", [ECM, NNEVCLUS])
def test_same_seed_same_result_for_any_number_of_jobs(make, seed):
    X = blobs(3, 60)
    model = make(focal_sets="singletons", n_init=1, max_iter=50)
    one, two = (
        select_n_clusters(
            model, X, [2, 3, 4], n_resamples=3, random_state=seed, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    )
    assert one.columns().keys() == two.columns().keys()
    for name, column in one.columns().items():
        np.testing.assert_array_equal(column, two.columns()[name])
    assert one.reason == two.reason
    for c in (2, 3, 4):
        assert one.estimators[c].partition_ == two.estimators[c].partition_


def test_fits_that_follow_each_other_are_the_same_for_any_number_of_jobs(seed):
    # Each begins with what the one with a cluster fewer has found.
    X = blobs(3, 60)
    one, two = (
        select_n_clusters(
            NNEVCLUS(focal_sets="singletons", max_iter=50),
            X,
            [2, 3, 4],
            n_resamples=3,
            random_state=seed,
            n_jobs=n_jobs,
        )
        for n_jobs in (1, 2)
    )
    for name, column in one.columns().items():
        np.testing.assert_array_equal(column, two.columns()[name])
    for c in (2, 3, 4):
        assert one.estimators[c].partition_ == two.estimators[c].partition_
        assert "_fewer" not in vars(one.estimators[c])


def test_another_seed_draws_other_resamples():
    X = make_blobs(60, centers=3, cluster_std=4.0, random_state=0)[0]
    first, second = (
        select_n_clusters(ECM(n_init=1), X, [3, 4], n_resamples=3, random_state=seed)
        for seed in (0, 1)
    )
    assert (first.curves["stability"] != second.curves["stability"]).any()


def test_every_resample_gets_its_rows_pairs_and_labels(recorder, seen):
    X = np.column_stack([np.arange(30), np.zeros(30)])
    labels, must = np.arange(30) % 3 - 1, [(0, 7), (4, 11), (7, 29)]
    matrix = cdist(X, X)
    select_n_clusters(
        recorder(),
        X,
        [3, 4],
        criteria="stability",
        n_resamples=5,
        resample_share=0.6,
        partial_labels=labels,
        must_link=must,
        dissimilarities=matrix[np.triu_indices(30, 1)],
        random_state=0,
    )
    assert len(seen) == 2 * (1 + 5)
    parts = [each for each in seen if len(each["rows"]) < 30]
    assert len(parts) == 10
    for each in parts:
        rows = each["rows"]
        assert len(set(rows)) == len(rows) == 18
        np.testing.assert_array_equal(each["partial_labels"], labels[rows])
        np.testing.assert_array_equal(
            each["dissimilarities"], matrix[np.ix_(rows, rows)]
        )
        inside = {p for p in must if set(p) <= set(rows.tolist())}
        assert {tuple(pair) for pair in rows[each["must_link"]].tolist()} == inside
    # The same parts for both numbers, and a seed for each part.
    assert len({each["rows"].tobytes() for each in parts}) == 5
    assert len({each["random_state"] for each in parts}) == 5


def test_both_axes_of_a_matrix_are_restricted(recorder, seen):
    matrix = np.add.outer(100.0 * np.arange(20), np.arange(20.0))
    np.fill_diagonal(matrix, np.arange(20))
    model = recorder(metric="precomputed")
    select_n_clusters(model, matrix, [2, 3], criteria="stability", n_resamples=3)
    for each in seen:
        np.testing.assert_array_equal(
            each["X"], matrix[np.ix_(each["rows"], each["rows"])]
        )


def test_a_dissimilarity_matrix_has_peaks_too(network):
    X = blobs(3, 60)
    network.set_params(metric="precomputed", focal_sets="singletons")
    selection = select_n_clusters(
        network, cdist(X, X), [2, 3, 4], n_resamples=3, random_state=0
    )
    assert selection.votes["peaks"].value == 3
    assert selection.best == 3


@pytest.mark.parametrize("form", ["square", "condensed"])
def test_peaks_of_dissimilarities_given_apart(network, form):
    X = blobs(3, 60)
    given = cdist(X, X) if form == "square" else pdist(X)
    noise = np.random.default_rng(0).normal(size=(60, 2))
    selection = select_n_clusters(
        network, noise, [2, 3, 4], criteria="peaks", dissimilarities=given
    )
    assert selection.best == 3


def test_pipelines_see_what_their_clusterer_sees():
    X = blobs(4) * [1.0, 1e6]
    pipeline = make_pipeline(StandardScaler(), ECM(n_init=10))
    selection = select_n_clusters(
        pipeline, X, range(2, 6), n_resamples=3, random_state=0
    )
    assert selection.best == selection.votes["peaks"].value == 4
    assert selection.best_estimator["ecm"].n_clusters == 4
    assert pipeline["ecm"].n_clusters == 2


def test_peaks_in_the_space_of_a_learned_metric(network):
    rng = np.random.default_rng(0)
    X = np.column_stack([blobs(3, 60), 100 * rng.normal(size=60)])
    network.set_params(metric=FirstTwo(), focal_sets="singletons")
    selection = select_n_clusters(network, X, [2, 3, 4], criteria="peaks")
    assert selection.best == 3


class FirstTwo(DissimilarityPCA):
    def __init__(self):
        pass

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X[:, :2]


def test_peaks_that_cannot_be_found_do_not_decide(recorder):
    model = recorder(metric="weird")
    selection = select_n_clusters(model, blobs(3, 60), [2, 3], criteria="peaks")
    assert selection.best is None
    assert "no δ-Bel graph (metric must be one of" in selection.reason
    with pytest.raises(ValueError, match="there is no best n_clusters"):
        selection.best_estimator  # noqa: B018


def test_a_number_of_peaks_outside_of_the_range_is_told():
    selection = select_n_clusters(ECM(), blobs(5), [2, 3], criteria=("peaks",))
    assert selection.best is None
    assert selection.votes["peaks"].reason == "5 peaks stand out, which was not tried"


@pytest.mark.parametrize(("name", "n_clusters"), [("wine", 3), ("fourclass", 4)])
def test_all_criteria_of_ecm_find_the_classes(benchmark_data, name, n_clusters):
    X = StandardScaler().fit_transform(benchmark_data(name)[0])
    model = ECM(focal_sets="full", beta=2.0, empty_set="noise", n_init=2)
    selection = select_n_clusters(model, X, range(2, 6), n_resamples=5, random_state=0)
    assert selection.best == n_clusters
    assert {vote.value for vote in selection.votes.values()} == {n_clusters}


def test_the_classes_of_iris_are_found_although_two_are_more_stable(benchmark_data):
    X = StandardScaler().fit_transform(benchmark_data("iris")[0])
    selection = select_n_clusters(ECM(), X, range(2, 6), n_resamples=5, random_state=0)
    assert selection.best == 3
    assert selection.votes["stability"].value == 2


def test_the_butterfly_has_two_wings():
    X = load_butterfly().data
    model = ECM(beta=2.0, init="k-means++", empty_set="noise")
    selection = select_n_clusters(model, X, range(2, 5), random_state=0)
    assert selection.best == 2
    assert selection.votes["stability"].value == 2


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_clusters"), [("wine", 3), ("fourclass", 4)])
def test_all_criteria_of_the_network_find_the_classes(benchmark_data, name, n_clusters):
    X = StandardScaler().fit_transform(benchmark_data(name)[0])
    selection = select_n_clusters(NNEVCLUS(), X, range(2, 7), random_state=0)
    assert selection.best == n_clusters
    for criterion in ("peaks", "stability", "stress"):
        assert selection.votes[criterion].value == n_clusters


@pytest.mark.slow
def test_fifteen_clusters_of_s2_are_found(benchmark_data):
    X = StandardScaler().fit_transform(benchmark_data("s2")[0])
    model = ECM(focal_sets="singletons")
    selection = select_n_clusters(
        model, X, range(11, 20), n_resamples=4, random_state=0
    )
    assert selection.best == 15
    assert selection.votes["stability"].value == 15


def test_labels_bound_the_numbers_from_below(network):
    X = blobs(3, 60)
    labels = np.full(60, -1)
    labels[:3] = [0, 1, 2]
    selection = select_n_clusters(
        network, X, [3, 4, 5], criteria="stress", partial_labels=labels, random_state=0
    )
    assert len(selection) == 3


def test_numbers_with_empty_clusters_are_not_preferred(recorder):
    class Parity(recorder):
        def predict(self, X):
            return np.rint(X[:, 0]).astype(int) % 2

    X = np.column_stack([np.arange(30.0), np.zeros(30)])
    selection = select_n_clusters(Parity(), X, [2, 3], criteria="stability")
    assert selection.curves["stability"].tolist() == [1, 1]
    assert selection.columns()["n_nonempty"].tolist() == [2, 2]
    assert selection.best == 2


def test_warnings_are_told_once_with_their_number():
    model = ECM(max_iter=2, n_init=1, tol=0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter.*\(8 of 8 fits\)") as told:
        select_n_clusters(
            model, blobs(3), [2, 3], criteria="stability", n_resamples=3, random_state=0
        )
    assert len(told) == 1


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_in_and_tables_out(frame):
    X = blobs(3, 60)
    table = frame({"height": X[:, 0], "weight": X[:, 1]})
    selection = select_n_clusters(ECM(), table, [2, 3], n_resamples=3, random_state=0)
    assert isinstance(selection, Selection)
    assert repr(selection) == "Selection(n_clusters: 3 of 2 values tried)"
    names = [
        "n_clusters",
        "peaks",
        "stability",
        "stability_error",
        "nonspecificity",
        "n_nonempty",
    ]
    assert list(selection.to_pandas().columns) == names
    assert list(selection.to_polars().columns) == names
    assert [row["n_clusters"] for row in selection.rows()] == [2, 3]
    summary = selection.summary().splitlines()
    assert summary[0].split() == names
    assert summary[-1] == selection.reason
    assert any(line.startswith("peaks: 3, 3 objects") for line in summary)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 3}, "n_clusters must be a list or range of numbers"),
        ({"n_clusters": "23"}, "n_clusters must be a list or range of numbers"),
        ({"n_clusters": [1, 2]}, "n_clusters must be an integer >= 2, got 1"),
        ({"n_clusters": [2, 2]}, "n_clusters must hold two or more different numbers"),
        ({"n_clusters": [3]}, "n_clusters must hold two or more different numbers"),
        ({"n_clusters": [2, 2.5]}, "n_clusters must be an integer >= 2, got 2.5"),
        ({"n_clusters": [2, 100]}, "n_clusters must not exceed the number of distinct"),
        ({"criteria": "elbow"}, "criteria must be one of 'auto', 'consensus'"),
        ({"criteria": ["peaks", "gap"]}, "criteria must be one of 'peaks'"),
        ({"criteria": []}, "criteria must hold one or more different names"),
        ({"criteria": ["peaks", "peaks"]}, "criteria must hold one or more different"),
        ({"criteria": 5}, "criteria must be a list of names, got 5"),
        ({"estimator": KMeans()}, "estimator must find credal partitions.* got KMeans"),
        ({"X": [[0.0, 1.0]]}, "X must have at least 3 rows, got 1"),
        ({"n_jobs": 0}, "n_jobs must be .* got 0"),
        ({"random_state": -1}, "random_state must be an integer >= 0 .* got -1"),
        ({"criteria": ["stress"]}, "criteria must not hold 'stress' for ECM"),
        ({"criteria": "stress"}, "criteria must not hold 'stress' for ECM"),
        ({"n_resamples": 2}, "n_resamples must be an integer >= 3, got 2"),
        ({"resample_share": 0.3}, "resample_share must be a finite number >= 0.5"),
        ({"must_link": [(0, 1)]}, "ECM uses must_link and cannot_link only for"),
        ({"estimator": StandardScaler()}, "estimator must have the parameter n_clus"),
        ({"estimator": "ECM"}, "estimator must be a clusterer or a pipeline"),
        ({"X": 3}, "X must have rows, got int"),
        ({"X": [[0.0], [np.nan], [1.0], [2.0]]}, "Input X contains NaN"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    given = {"estimator": ECM(), "X": blobs(2, 40), "n_clusters": [2, 3], **arguments}
    with pytest.raises(ValueError, match=message):
        select_n_clusters(**given)


def test_numbers_are_judged_by_the_masses_that_were_trained(network):
    X = blobs(3, 60)
    stress, novelty = (
        select_n_clusters(
            clone(network).set_params(empty_set=empty_set, dissimilarity_quantile=0.2),
            X,
            [2, 3, 4],
            n_resamples=3,
            random_state=0,
        )
        for empty_set in ("stress", "novelty")
    )
    assert novelty.best == stress.best
    for column, values in stress.columns().items():
        np.testing.assert_allclose(novelty.columns()[column], values, atol=1e-12)
