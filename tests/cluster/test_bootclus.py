import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from credalis import Bootclus, CredalPartition, FocalSets
from credalis.cluster.bootstrap import _bootclus as bootclus
from helpers import assert_decreasing, assert_valid_partition


@pytest.fixture(scope="module")
def overlapping():
    return make_blobs(120, centers=[[0, 0], [3, 0], [0, 3]], random_state=0)


def test_clusters_beyond_doubt_are_a_hard_partition():
    X, y = make_blobs(90, centers=[[0, 0], [99, 0], [0, 99]], random_state=0)
    model = Bootclus(3, n_bootstrap=20, random_state=0).fit(X)
    hard = CredalPartition.from_labels(model.labels_)
    singles = model.focal_sets_.cardinality == 1
    np.testing.assert_allclose(
        model.partition_.masses[:, singles], hard.masses[:, 1:4], atol=1e-6
    )
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.loss_ < 1e-12


def test_loss_never_increases(overlapping, seed):
    model = Bootclus(3, n_bootstrap=30, random_state=seed, tol=1e-9)
    assert_decreasing(model.fit(overlapping[0]).history_)


def test_belief_and_plausibility_cover_most_of_the_replicates(overlapping):
    X, _ = overlapping
    model = Bootclus(3, n_bootstrap=100, random_state=0).fit(X)
    posteriors = model.replicates_.posteriors(X)
    together = np.einsum("bik,bjk->bij", posteriors, posteriors)
    about_pairs = model.partition_.pairwise_masses()
    slack = 0.02
    is_inside = (together >= about_pairs[..., 1] - slack) & (
        together <= 1 - about_pairs[..., 2] + slack
    )
    i, j = np.triu_indices(len(X), 1)
    assert 0.85 < is_inside[:, i, j].mean() < 0.99


def test_more_confidence_is_less_precision(overlapping):
    vagueness = [
        Bootclus(3, n_bootstrap=50, confidence=confidence, random_state=0)
        .fit(overlapping[0])
        .partition_.average_nonspecificity
        for confidence in (0.0, 0.5, 0.9)
    ]
    assert vagueness[0] < vagueness[1] < vagueness[2]


def test_between_two_clusters_both_are_possible(overlapping):
    model = Bootclus(3, n_bootstrap=50, random_state=0).fit(overlapping[0])
    way = np.column_stack([np.linspace(0, 3, 31), np.zeros(31)])
    partition = model.predict_partition(way)
    first, last = partition.labels[[0, -1]]
    assert first != last
    both = partition.masses[:, model.focal_sets_.index([first, last])]
    assert both.max() > 0.2
    assert both.max() > 2 * max(both[0], both[-1])
    assert partition.is_ambiguous.any()
    assert not partition.is_ambiguous[[0, -1]].any()


def test_the_number_of_clusters_is_chosen_by_bic():
    X, _ = make_blobs(120, centers=[[0, 0], [5, 0], [0, 5]], random_state=0)
    model = Bootclus([2, 3, 4], n_bootstrap=10, random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert model.means_.shape == (3, 2)
    assert model.focal_sets_ == FocalSets.pairs(3, frame=False)
    assert_valid_partition(model.partition_)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_cluster_k_is_component_k(overlapping, covariance_type):
    X, _ = overlapping
    model = Bootclus(
        3, covariance_type=covariance_type, n_bootstrap=10, random_state=0
    ).fit(X)
    assert model.covariance_type_ == covariance_type
    mixture = GaussianMixture(3, covariance_type=covariance_type).fit(X)
    assert model.covariances_.shape == mixture.covariances_.shape
    for k in range(3):
        inside = X[model.labels_ == k].mean(axis=0)
        assert np.linalg.norm(inside - model.means_[k]) < 0.5


@pytest.mark.parametrize("unit", [1e-20, 1e20])
def test_units_do_not_matter(overlapping, unit):
    X, _ = overlapping
    model = Bootclus(3, n_bootstrap=10, random_state=0)
    expected = model.fit(X).partition_
    assert model.fit(X * unit).partition_.allclose(expected, atol=1e-3)


def test_prediction_of_the_training_objects_is_near_the_fit(overlapping):
    X, _ = overlapping
    model = Bootclus(3, n_bootstrap=50, random_state=0).fit(X)
    gaps = np.abs(model.predict_partition(X).masses - model.partition_.masses)
    assert gaps.max() < 0.05
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_prediction_needs_no_more_than_some_training_objects(rng):
    X, _ = make_blobs(700, centers=3, cluster_std=2.0, random_state=1)
    model = Bootclus(3, n_bootstrap=20, random_state=0).fit(X)
    assert len(model.landmarks_) == 300
    assert np.mean(model.predict(X) == model.labels_) > 0.97


def test_landmarks_come_near_to_all_pairs(benchmark_data):
    X = StandardScaler().fit_transform(benchmark_data("fourclass")[0])
    settings = {"n_bootstrap": 60, "random_state": 0}
    whole = Bootclus(4, pairs="all", **settings).fit(X)
    some = Bootclus(4, pairs="landmarks", **settings).fit(X)
    assert len(some.landmarks_) == 300
    gaps = np.abs(some.partition_.masses - whole.partition_.masses)
    assert 0 < gaps.max() < 0.02
    assert_decreasing(some.history_)


def test_all_objects_as_landmarks_are_all_pairs(overlapping):
    X, _ = overlapping
    settings = {"n_bootstrap": 20, "random_state": 0}
    whole = Bootclus(3, **settings).fit(X)
    some = Bootclus(3, pairs_per_sample=len(X), **settings).fit(X)
    np.testing.assert_allclose(some.partition_.masses, whole.partition_.masses)
    assert some.loss_ == pytest.approx(whole.loss_)


def test_many_objects_are_compared_with_landmarks(monkeypatch):
    X, _ = make_blobs(500, centers=8, random_state=1)
    monkeypatch.setattr(bootclus, "_MAX_ALL_PAIRS", 400)
    model = Bootclus(8, n_bootstrap=5, random_state=0).fit(X)
    assert len(model.landmarks_) == 320


def test_focal_sets_without_singletons_are_possible(overlapping):
    focal_sets = FocalSets.from_subsets(3, [(0,), (1, 2), (0, 1, 2)])
    model = Bootclus(3, focal_sets=focal_sets, n_bootstrap=10, random_state=0)
    assert_valid_partition(model.fit(overlapping[0]).partition_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": []}, "n_clusters must hold at least one number, got none"),
        ({"n_clusters": [2, 0]}, "n_clusters must be an integer >= 1, got 0"),
        ({"n_clusters": [2, 500]}, "n_clusters must not exceed .*n_clusters=500 and"),
        ({"n_bootstrap": 1}, "n_bootstrap must be an integer >= 2, got 1"),
        ({"confidence": 90}, "confidence must be a finite number .* <= 1, got 90"),
        ({"covariance_type": "round"}, "covariance_type must be one of .* got 'round'"),
        ({"pairs": "sampled"}, "pairs must be one of .* got 'sampled'"),
        ({"pairs_per_sample": 0}, "pairs_per_sample must be an integer >= 1, got 0"),
        (
            {"pairs": "all", "pairs_per_sample": 9},
            "pairs_per_sample must be None for pairs='all', got 9",
        ),
        (
            {"pairs_per_sample": 5000},
            "pairs_per_sample, the number of landmarks, must be between .* got 5000",
        ),
        ({"reg_covar": -1.0}, "reg_covar must be a finite number >= 0, got -1.0"),
    ],
)
def test_bad_parameter_is_named(overlapping, parameters, message):
    with pytest.raises(ValueError, match=message):
        Bootclus(**parameters).fit(overlapping[0])


# Name, clusters, parameters, published ARI. Attributes are standardised. The published
# program chooses among 14 covariance models, scikit-learn's mixture has four: on wine
# the lowest BIC of the four is that of "diag", which ends at 0.85 to 0.90 depending on
# the seed, while "tied" comes to the published agreement. The paper has no value for
# s2, s4 and d31, and heart and glass need models that are missing here.
PUBLISHED = [
    ("wine", 3, {"covariance_type": "tied"}, 0.93),
    ("iris", 3, {}, 0.90),
    ("ecoli", 3, {}, 0.60),
    ("drybean", 7, {}, 0.67),
]


def agreement(benchmark_data, name, n_clusters, parameters, n_bootstrap):
    X, y = benchmark_data(name)
    X = StandardScaler().fit_transform(X)
    model = Bootclus(n_clusters, n_bootstrap=n_bootstrap, random_state=0, **parameters)
    return adjusted_rand_score(y, model.fit(X).labels_), model


@pytest.mark.parametrize(
    ("name", "n_clusters", "parameters", "published"), PUBLISHED[:3]
)
def test_few_samples_come_near_the_published_agreement(
    benchmark_data, name, n_clusters, parameters, published
):
    found, _ = agreement(benchmark_data, name, n_clusters, parameters, 60)
    assert found >= published - 0.03


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_clusters", "parameters", "published"), PUBLISHED)
def test_agreement_is_the_published_one(
    benchmark_data, name, n_clusters, parameters, published
):
    found, _ = agreement(benchmark_data, name, n_clusters, parameters, 500)
    assert found >= published - 0.03


def test_the_model_that_wine_needs_has_not_the_lowest_bic(benchmark_data):
    _, chosen = agreement(benchmark_data, "wine", 3, {}, 2)
    _, tied = agreement(benchmark_data, "wine", 3, {"covariance_type": "tied"}, 2)
    assert chosen.covariance_type_ == "diag"
    assert chosen.bic_ < tied.bic_


@pytest.mark.slow
def test_thousands_of_objects(benchmark_data):
    found, model = agreement(benchmark_data, "s2", 15, {"covariance_type": "full"}, 50)
    assert found > 0.8
    assert_valid_partition(model.partition_, n_samples=5000)
