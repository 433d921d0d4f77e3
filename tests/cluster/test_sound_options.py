"""Defaults: ∅ as novelty, hard clusters to start from, δ0 from the pairs apart."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import credalis
from credalis import EVCLUS, NNEVCLUS
from credalis.cluster._inputs._clusters import hard_clusters, rough_share_apart
from credalis.cluster._inputs._geometry import Geometry
from credalis.dissimilarity import transform
from credalis.sources import ArraySource
from helpers import assert_valid_partition


def blobs(sizes, n_features=2, spread=8.0, seed=0):
    rng = np.random.RandomState(seed)
    centers = spread * rng.normal(size=(len(sizes), n_features))
    while cdist(centers, centers)[np.triu_indices(len(sizes), 1)].min() < 7:
        centers = spread * rng.normal(size=(len(sizes), n_features))
    y = np.repeat(np.arange(len(sizes)), sizes)
    return centers[y] + rng.normal(size=(len(y), n_features)), y


@pytest.fixture(scope="module")
def table():
    return blobs([80, 80, 80, 80])


@pytest.fixture(scope="module")
def model(table):
    X, _ = table
    return NNEVCLUS(4, random_state=0).fit(X)


CASES = [
    ([200, 20], 2),
    ([100] * 4, 5),
    ([30] * 12, 2),
    ([300, 30, 300, 30], 3),
    ([60] * 6, 20),
    ([100] * 15, 10),
]


@pytest.mark.parametrize(("sizes", "n_features"), CASES)
def test_starts_from_hard_clusters_lose_none(sizes, n_features):
    X, y = blobs(sizes, n_features, spread=8.0 + len(sizes), seed=len(sizes))
    kmeans = KMeans(len(sizes), n_init=20, random_state=0).fit(X)
    model = NNEVCLUS(len(sizes), random_state=0).fit(X)
    assert len(np.unique(model.labels_)) == len(sizes)
    agreement = adjusted_rand_score(y, model.labels_)
    assert agreement >= adjusted_rand_score(y, kmeans.labels_) - 0.02
    assert model.partition_.is_outlier.mean() <= 0.05


def test_contrast_is_the_share_of_pairs_that_are_apart():
    for sizes in ([50, 50], [150, 15], [40] * 6):
        X, _ = blobs(sizes)
        geometry = Geometry(X)
        share = hard_clusters(
            geometry, len(sizes), np.random.RandomState(0)
        ).share_apart
        expected = 1 - np.square(np.array(sizes) / len(X)).sum()
        assert share == pytest.approx(expected, abs=0.02)
        scale = geometry.contrast_scale(share, np.random.RandomState(0))
        pairs = cdist(X, X)[np.triu_indices(len(X), 1)]
        assert transform(pairs, scale).mean() == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.999])
def test_some_of_many_pairs_tell_where_to_look_for_the_scale(rng, share):
    # Almost all objects are copies, and the others are far away.
    for X in (
        rng.normal(size=(800, 2)),
        np.where(rng.uniform(size=(800, 1)) < 0.1, rng.normal(size=(800, 2)), 0.0),
        np.exp(20 * rng.normal(size=(800, 1))),
    ):
        scale = Geometry(X).contrast_scale(share, np.random.RandomState(0))
        pairs = cdist(X, X)[np.triu_indices(len(X), 1)]
        expected = min(share, 0.999 * (pairs > 0).mean())
        assert transform(pairs, scale).mean() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.999])
def test_pairs_inside_parts_of_many_objects_tell_the_scale_of_all(rng, share):
    X = rng.normal(size=(2000, 2))
    scale = Geometry(X).contrast_scale(share, np.random.RandomState(0))
    pairs = cdist(X, X)[np.triu_indices(len(X), 1)]
    assert transform(pairs, scale).mean() == pytest.approx(share, rel=0.01)


def test_prediction_says_what_the_fit_said(table, model):
    X, _ = table
    assert_valid_partition(model.partition_)
    assert_array_equal(model.predict_partition(X).masses, model.partition_.masses)
    assert model.score(X) == pytest.approx(-model.stress_)


def test_far_objects_are_outliers_at_the_rate_that_is_asked_for(table, model):
    X, _ = table
    assert (model.predict_partition(X + 1e3).outlier_mass > 0.99).all()
    assert model.partition_.is_outlier.mean() <= 0.02
    p_values = model.outlier_p_values(X)
    assert_array_equal(model.partition_.outlier_mass >= 0.5, p_values <= 0.01)
    loose = NNEVCLUS(4, random_state=0, outlier_rate=0.2).fit(X)
    assert loose.partition_.is_outlier.mean() > model.partition_.is_outlier.mean()


def test_only_the_mass_on_the_empty_set_is_reported_otherwise(table, model):
    X, _ = table
    plain = NNEVCLUS(4, random_state=0, empty_set="stress").fit(X)
    assert plain.stress_ == model.stress_
    inside = 1 - plain.partition_.outlier_mass[:, None]
    told = 1 - model.partition_.outlier_mass[:, None]
    assert_allclose(
        plain.partition_.plausibility / inside,
        model.partition_.plausibility / told,
        atol=1e-9,
    )


def test_files_sources_streams_and_detectors_carry_the_score(table, tmp_path):
    X, _ = table
    far = X[:3] + 1e3
    models = {
        "file": NNEVCLUS(4, random_state=0).fit(X),
        "source": NNEVCLUS(4, random_state=0).fit(ArraySource(X)),
        "stream": NNEVCLUS(4, random_state=0).partial_fit(X).partial_fit(X),
        "detector": NNEVCLUS(4, random_state=0, novelty_detector="ocsvm").fit(X),
        "dissimilarities": NNEVCLUS(4, random_state=0).fit(
            X, dissimilarities=cdist(X, X)
        ),
        "EVCLUS": EVCLUS(4, random_state=0).fit(X),
    }
    for name, model in models.items():
        assert (model.predict_partition(far).outlier_mass > 0.5).all(), name
        assert model.predict_partition(X).is_outlier.mean() < 0.05, name
        model.save(tmp_path / name)
        loaded = credalis.load(tmp_path / name)
        assert_array_equal(
            loaded.predict_partition(X).masses, model.predict_partition(X).masses
        )


def test_dissimilarities_and_other_metrics_have_starts_and_scores(table):
    X, y = table
    matrix = cdist(X, X)
    model = NNEVCLUS(4, metric="precomputed", n_components=3, random_state=0).fit(
        matrix
    )
    assert adjusted_rand_score(y, model.labels_) > 0.98
    assert (model.predict_partition(cdist(X[:3] + 1e3, X)).outlier_mass > 0.5).all()
    for metric in ("manhattan", "cosine"):
        model = NNEVCLUS(4, metric=metric, random_state=0).fit(X)
        assert len(np.unique(model.labels_)) == 4


@pytest.mark.filterwarnings("ignore::credalis.exceptions.EmptyClusterWarning")
def test_p_values_need_novelty(table):
    X, _ = table
    model = NNEVCLUS(4, n_init=1, empty_set="stress", random_state=0).fit(X)
    with pytest.raises(ValueError, match="empty_set='novelty'"):
        model.outlier_p_values(X)
    with pytest.raises(ValueError, match="empty_set must be"):
        NNEVCLUS(4, empty_set="nothing").fit(X)
    with pytest.raises(ValueError, match="outlier_rate must be"):
        NNEVCLUS(4, outlier_rate=0.0).fit(X)


def test_scores_of_dissimilarities_are_about_the_masses_that_were_trained(table):
    X, _ = table
    matrix = cdist(X, X)
    model = NNEVCLUS(
        4, metric="precomputed", n_components=2, n_init=1, random_state=0
    ).set_params(dissimilarity_quantile=0.5)
    scores = [
        model.set_params(empty_set=meaning).fit(matrix).score(matrix[:50])
        for meaning in ("stress", "novelty")
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)
    # Nothing but the matrix could give them back.
    assert model.training_masses_.shape == model.partition_.masses.shape
    assert not hasattr(NNEVCLUS(4, empty_set="novelty").fit(X), "training_masses_")


def test_fits_in_blocks_of_many_dimensions_keep_small_clusters():
    X, y = blobs([500, 500, 50, 50, 50], n_features=50, spread=1.0, seed=0)
    model = NNEVCLUS(5, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.98


def test_objects_between_the_clusters_are_outliers():
    X, _ = blobs([150, 150], n_features=1)
    X[:150], X[150:] = X[:150] - X[:150].mean(), X[150:] - X[150:].mean() + 14
    for estimator in (NNEVCLUS, EVCLUS):
        model = estimator(2, n_init=1, random_state=0).fit(X)
        assert model.predict_partition([[7.0]]).outlier_mass[0] > 0.9


def test_a_warm_start_goes_on_without_other_clusters(table):
    X, _ = table
    model = NNEVCLUS(4, random_state=0, warm_start=True, max_iter=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = model.fit(X).labels_
        assert adjusted_rand_score(before, model.fit(X).labels_) == 1.0
        assert (before == model.labels_).all()


def test_inner_objects_are_told_alike_in_many_dimensions():
    rng = np.random.RandomState(0)
    shares = []
    for n_features in (2, 50):
        X = rng.normal(size=(400, n_features))
        X[200:, 0] += 6
        clusters = hard_clusters(Geometry(X), 2, np.random.RandomState(0))
        shares.append((clusters.ratios <= 0.7).mean())
    assert min(shares) > 0.95


def test_only_some_of_many_objects_are_clustered_to_start_from():
    X, _ = blobs([5000, 5000])
    clusters = hard_clusters(Geometry(X), 2, np.random.RandomState(0))
    assert len(clusters.objects) == len(clusters.labels) == 2000
    objects, labels = clusters.inner()
    assert set(objects) <= set(clusters.objects)
    assert adjusted_rand_score(objects >= 5000, labels) == 1.0


@pytest.mark.parametrize("sizes", [(50, 50), (90, 20, 10), (30,) * 6])
def test_single_runs_give_the_share_of_pairs_apart(sizes):
    geometry, n_clusters = Geometry(blobs(sizes)[0]), len(sizes)
    clusters = hard_clusters(geometry, n_clusters, np.random.RandomState(0))
    share = rough_share_apart(geometry, n_clusters, np.random.RandomState(1))
    assert share == pytest.approx(clusters.share_apart)
