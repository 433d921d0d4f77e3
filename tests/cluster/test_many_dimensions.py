"""Prototypes stay apart in many dimensions; ∅ of the c-means as novelty."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

import credalis
from credalis import BCM, BPEC, CCM, CECM, ECM, MECM, RECM, ECMdd, FocalSets
from credalis.checkpoints import Checkpoint
from credalis.cluster._inputs._clusters import robust_scale
from credalis.cluster._inputs._medoids import k_means
from credalis.exceptions import CollapseWarning
from credalis.objectives import (
    automatic_exponent,
    ecm_model,
    mean_squared_cosine,
    mean_squared_cosine_within,
    prototype_moments,
    set_prototypes,
)
from credalis.sources import ArraySource
from helpers import assert_valid_partition

pytestmark = pytest.mark.filterwarnings(
    "ignore::credalis.exceptions.ExperimentalWarning"
)

METHODS = [ECM, CCM, BCM, CECM, BPEC, RECM, ECMdd, MECM]
WITH_BETA = [ECM, CCM, BCM, RECM]


def blobs(sizes, n_features, seed=0, distance=6.0):
    """Round clusters with this distance between the nearest centres."""
    rng = np.random.RandomState(seed)
    centers = rng.normal(size=(len(sizes), n_features))
    centers *= distance / pdist(centers).min()
    y = np.repeat(np.arange(len(sizes)), sizes)
    return centers[y] + rng.normal(size=(len(y), n_features)), y


@pytest.fixture(scope="module")
def ten():
    return blobs([60] * 10, 10, distance=5.0)


@pytest.fixture(scope="module")
def twenty():
    return blobs([60] * 10, 20, distance=5.0)


@pytest.fixture(scope="module")
def plane():
    return blobs([60, 60, 60], 2, distance=8.0)


def collapse(estimator, X):
    """What a fit says about its prototypes, None if nothing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X)
    told = [each for each in caught if issubclass(each.category, CollapseWarning)]
    return str(told[0].message) if told else None


# The exponent.


@pytest.mark.parametrize("n_features", [2, 5, 10, 50])
def test_cosines_know_the_dimension(n_features):
    rng = np.random.RandomState(0)
    around = rng.normal(size=(3000, n_features))
    assert mean_squared_cosine(around) == pytest.approx(1 / n_features, rel=0.1)
    # Directions without spread do not count, nor do units, nor the number of columns.
    flat = np.c_[around, np.zeros((3000, 40))]
    assert mean_squared_cosine(1e200 * flat) == pytest.approx(
        mean_squared_cosine(around)
    )


def test_cosines_of_few_rows_and_of_none():
    rng = np.random.RandomState(1)
    tall = rng.normal(size=(30, 7))
    directions = tall / np.linalg.norm(tall, axis=1, keepdims=True)
    expected = np.square(directions @ directions.T).mean()
    assert mean_squared_cosine(tall) == pytest.approx(expected)
    assert mean_squared_cosine(tall[:5]) == pytest.approx(
        np.square(directions[:5] @ directions[:5].T).mean()
    )
    assert mean_squared_cosine(np.zeros((4, 3))) == 1.0
    assert mean_squared_cosine(np.r_[tall, np.zeros((9, 7))]) == pytest.approx(expected)


def test_distances_alone_know_the_dimension(ten):
    X, y = ten
    means = np.array([X[y == k].mean(axis=0) for k in range(10)])
    squares = cdist(X, X, "sqeuclidean")
    assert mean_squared_cosine_within(squares, y, 10) == pytest.approx(
        mean_squared_cosine(X - means[y])
    )
    assert mean_squared_cosine_within(np.zeros((5, 5)), y[:5], 10) == 1.0


def test_automatic_exponent_is_the_published_one_in_the_plane():
    assert automatic_exponent(0.5) == 2.0
    assert automatic_exponent(0.8) == 2.0
    assert automatic_exponent(0.1) == pytest.approx(1.2)
    assert automatic_exponent(0.1, power=1) == pytest.approx(1.1)


@pytest.mark.parametrize("delta", [2.0, 1e3])
@pytest.mark.parametrize("sets", ["singletons", "pairs", "full"])
def test_one_point_holds_prototypes_beyond_the_bound_only(sets, delta):
    """β = 1 / (1 - 2 λ), whatever the focal sets and δ, objects counted as J does."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(400, 6)) * [1.5, 1, 1, 1, 1, 1]
    X = np.r_[X, -X]  # the mean is the point
    focal_sets = getattr(FocalSets, sets)(3)
    directions = X / np.linalg.norm(X, axis=1, keepdims=True)
    moves = rng.normal(size=(3, 1))
    moves -= moves.mean()

    def loss(beta, size, axis):
        model = ecm_model(focal_sets, 1.0, beta, delta)
        return prototype_moments(
            X, set_prototypes(size * moves * axis, None, model), model
        ).loss

    def bound(beta):
        """λ, with the weights that ∅ leaves to the objects at this β, and its axis."""
        squares = np.square(X).sum(axis=1)
        power = 1 / (beta - 1)
        sizes = focal_sets.cardinality[focal_sets.cardinality > 0]
        kept = (sizes.astype(float) ** -power).sum() * squares**-power
        weights = kept * (kept + delta ** (-2 * power)) ** -beta / squares
        F = (weights[:, None] * directions).T @ directions / weights.sum()
        values, vectors = np.linalg.eigh(F)
        return values[-1], vectors[:, -1]

    for beta in (1.15, 1.25, 1.35, 1.5, 1.8, 2.5):
        share, axis = bound(beta)
        holds = beta > 1 / (1 - 2 * share)
        if abs(beta * (1 - 2 * share) - 1) > 0.02:
            assert (loss(beta, 1e-3, axis) > loss(beta, 0.0, axis)) == holds


@pytest.mark.parametrize("method", [ECM, CCM, BCM, BPEC, RECM])
def test_in_the_plane_the_exponent_is_the_published_one(method, plane):
    X, _ = plane
    model = method(3, random_state=0).fit(X)
    assert model.beta_ == 2.0
    same = method(3, beta=2.0, random_state=0).fit(X)
    assert_array_equal(same.partition_.masses, model.partition_.masses)


@pytest.mark.parametrize("method", [ECM, CCM, BCM, BPEC, RECM, ECMdd, MECM])
def test_clusters_in_ten_dimensions_are_found(method, ten):
    X, y = ten
    model = method(10, random_state=0)
    assert collapse(model, X) is None
    assert 1 < model.beta_ < 1.25
    found = KMeans(10, n_init=10, random_state=0).fit_predict(X)
    agreement = adjusted_rand_score(y, model.labels_)
    assert agreement > adjusted_rand_score(y, found) - 0.05
    assert model.partition_.is_outlier.mean() < 0.03


@pytest.mark.parametrize("method", [ECM, CCM, BCM, RECM])
@pytest.mark.parametrize(
    ("sizes", "n_features"), [([140, 14, 140], 2), ([150, 15] * 2, 5), ([60] * 5, 50)]
)
def test_small_clusters_and_many_dimensions_are_found(method, sizes, n_features):
    X, y = blobs(sizes, n_features, seed=len(sizes), distance=7.0)
    model = method(len(sizes), random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_a_matrix_has_the_exponent_of_its_points(ten):
    X, _ = ten
    points = RECM(10, random_state=0).fit(X)
    matrix = RECM(10, metric="precomputed", random_state=0).fit(cdist(X, X))
    ecm = ECM(10, random_state=0).fit(X)
    assert matrix.beta_ == pytest.approx(points.beta_)
    assert points.beta_ == pytest.approx(ecm.beta_, rel=0.02)


def test_adaptive_metric_has_as_many_dimensions_as_the_data(ten):
    X, _ = ten
    assert ECM(10, metric="adaptive", random_state=0).fit(X).beta_ == 1.2
    flat = np.c_[X, X[:, :2].sum(axis=1), np.ones(len(X))]
    assert ECM(10, metric="adaptive", random_state=0).fit(flat).beta_ == 1.2


@pytest.mark.parametrize("method", [*WITH_BETA, BPEC, ECMdd, MECM])
@pytest.mark.parametrize("beta", ["2", 1.0, None, True])
def test_bad_exponents(method, beta, plane):
    with pytest.raises(ValueError, match="beta must be"):
        method(3, beta=beta).fit(plane[0])


# Starts.


def test_means_from_distances_alone_are_those_of_k_means(ten):
    X, _ = ten
    squares = cdist(X, X, "sqeuclidean")
    objects, labels = k_means(squares, 10, np.random.RandomState(0), 5)
    expected = KMeans(10, n_init=5, random_state=0).fit(X)
    assert adjusted_rand_score(expected.labels_, labels) == 1.0
    nearest = cdist(expected.cluster_centers_, X).argmin(axis=1)
    assert sorted(objects) == sorted(nearest)


@pytest.mark.parametrize("far", [None, 30.0, 1e8])
def test_start_is_where_the_clusters_are(far):
    # Either a small cluster, whose objects are isolated, or a gross outlier.
    X, y = blobs([100, 100, 8 if far is None else 50], 2, distance=10.0)
    rows = X if far is None else np.r_[X, [[far, far]]]
    centers = robust_scale(rows, 3, np.random.RandomState(0)).centers
    means = [X[y == k].mean(axis=0) for k in range(3)]
    assert cdist(means, centers).min(axis=1).max() < 0.5


# Warnings whose advice works.


@pytest.mark.parametrize("method", WITH_BETA)
def test_following_the_advice_mends_a_collapse(method, twenty):
    X, y = twenty
    model = method(10, beta=2.0, random_state=0)
    assert "let beta='auto' choose it" in collapse(model, X)
    assert adjusted_rand_score(y, model.labels_) < 0.5
    assert collapse(model.set_params(beta="auto"), X) is None
    assert adjusted_rand_score(y, model.labels_) > 0.95


@pytest.mark.parametrize("method", [CCM, BCM])
def test_following_the_advice_about_structureless_data(method):
    # Sets of clusters that are apart cost more, so that the bound is lower.
    X = np.random.RandomState(0).normal(size=(200, 10))
    model = method(3, random_state=0)
    told = collapse(model, X)
    assert told is not None
    beta = float(told.split("Set beta=")[1].split(",")[0])
    assert collapse(method(3, beta=beta, random_state=0), X) is None


def test_following_the_advice_of_the_method_without_exponent(twenty):
    X, y = twenty
    model = CECM(10, random_state=0)
    assert "PCA(3)" in collapse(model, X)
    before = adjusted_rand_score(y, model.labels_)
    assert collapse(model.set_params(metric=PCA(3)), X) is None
    assert adjusted_rand_score(y, model.labels_) > before + 0.2


def test_peaks_are_no_centres_in_many_dimensions():
    X, y = blobs([100] * 5, 50, distance=5.0)
    with pytest.warns(UserWarning, match=r"in 50 dimensions.*ECM\(init='peaks'\)"):
        fixed = BPEC(5, random_state=0).fit(X)
    moved = ECM(5, init="peaks", random_state=0).fit(X)
    agreement = adjusted_rand_score(y, moved.labels_)
    assert agreement > 0.9
    assert adjusted_rand_score(y, fixed.labels_) < agreement - 0.2
    # At the means nothing is said.
    BPEC(5, init=np.array([X[y == k].mean(axis=0) for k in range(5)])).fit(X)


# What ∅ stands for.


@pytest.mark.parametrize("method", METHODS)
def test_novelty_is_at_the_rate_and_prediction_says_what_the_fit_said(
    method, plane, tmp_path
):
    X, _ = plane
    model = method(3, random_state=0).fit(X)
    assert_valid_partition(model.partition_)
    assert model.partition_.is_outlier.mean() <= 0.03
    assert_array_equal(model.predict_partition(X).masses, model.partition_.masses)
    p_values = model.outlier_p_values(X)
    assert_array_equal(model.partition_.outlier_mass >= 0.5, p_values <= 0.01)
    far = X[:3] + 1e3
    assert (model.predict_partition(far).outlier_mass > 0.99).all()
    model.save(tmp_path / "model.credalis")
    loaded = credalis.load(tmp_path / "model.credalis")
    assert_array_equal(
        loaded.predict_partition(far).masses, model.predict_partition(far).masses
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_samples", [60, 300])
def test_planted_objects_are_found_and_few_others(method, n_samples):
    X, _ = blobs([n_samples // 3] * 3, 2, distance=9.0)
    rng = np.random.RandomState(1)
    angles = rng.uniform(0, 2 * np.pi, size=n_samples // 20)
    radius = np.linalg.norm(X - X.mean(axis=0), axis=1).max() + 8
    planted = X.mean(axis=0) + radius * np.c_[np.cos(angles), np.sin(angles)]
    rows = np.r_[X, planted]
    partition = method(3, random_state=0).fit(rows).partition_
    assert partition.is_outlier[n_samples:].mean() >= 0.9
    assert partition.is_outlier[:n_samples].mean() <= 0.02


@pytest.mark.parametrize("method", METHODS)
def test_only_the_mass_on_the_empty_set_is_told_otherwise(method, plane):
    X, _ = plane
    told = method(3, delta=4.0, empty_set="novelty", random_state=0).fit(X)
    noise = method(3, delta=4.0, empty_set="noise", random_state=0).fit(X)
    assert noise.loss_ == told.loss_
    assert not hasattr(noise, "reference_")
    inside = noise.partition_.plausibility / (
        1 - noise.partition_.outlier_mass[:, None]
    )
    expected = told.partition_.plausibility / (
        1 - told.partition_.outlier_mass[:, None]
    )
    assert_allclose(inside, expected, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_given_distance_to_noise_is_what_an_outlier_is(method, plane):
    X, _ = plane
    given = method(3, delta=3.0, random_state=0).fit(X)
    noise = method(3, delta=3.0, empty_set="noise", random_state=0).fit(X)
    assert_array_equal(given.partition_.masses, noise.partition_.masses)
    with pytest.raises(ValueError, match="empty_set='novelty'"):
        given.outlier_p_values(X)
    assert hasattr(method(3, delta=3.0, empty_set="novelty").fit(X), "reference_")
    with pytest.raises(ValueError, match="empty_set must be one of 'auto', 'noise'"):
        method(3, empty_set="stress").fit(X)


@pytest.mark.parametrize("method", METHODS)
def test_automatic_distance_to_noise_is_twice_as_large_for_novelty(method, plane):
    X, _ = plane
    told = method(3, random_state=0).fit(X)
    noise = method(3, empty_set="noise", random_state=0).fit(X)
    # Dissimilarities that are not squared cost as much as the square of delta.
    power = 1 if method in (ECMdd, MECM) else 2
    assert told.delta_ == pytest.approx(2 ** (power / 2) * noise.delta_)


def test_shares_among_the_clusters_do_not_depend_on_delta(plane):
    X, _ = plane
    center = np.array([X[:60].mean(axis=0), X[60:120].mean(axis=0)])
    models = [
        BPEC(2, metric="euclidean", init=center, delta=delta, empty_set="novelty").fit(
            X
        )
        for delta in (1.0, 50.0)
    ]
    assert_allclose(
        models[0].partition_.masses, models[1].partition_.masses, atol=1e-12
    )


@pytest.mark.filterwarnings("ignore::credalis.exceptions.UnitsWarning")
@pytest.mark.filterwarnings("ignore::credalis.exceptions.MergedClustersWarning")
def test_novelty_with_an_adaptive_metric_knows_no_units(plane):
    X, _ = plane
    units = np.array([1.0, 1000.0])
    model = ECM(3, metric="adaptive", empty_set="novelty", random_state=0).fit(
        X * units
    )
    assert model.predict_partition(
        (X[:3] + np.array([60.0, 0.0])) * units
    ).is_outlier.all()
    plain = ECM(3, empty_set="novelty", random_state=0).fit(X * units)
    assert not plain.predict_partition(
        (X[:3] + np.array([60.0, 0.0])) * units
    ).is_outlier.any()


@pytest.mark.parametrize("method", [ECM, CCM])
def test_blocks_carry_exponent_and_novelty(method, ten, tmp_path):
    X, y = ten
    source = method(10, random_state=0).fit(ArraySource(X))
    assert source.beta_ == pytest.approx(method(10, random_state=0).fit(X).beta_, 0.01)
    assert adjusted_rand_score(y, source.predict(X)) > 0.95
    assert source.predict_partition(X).is_outlier.mean() < 0.03
    assert source.predict_partition(X[:3] + 100).is_outlier.all()
    path = tmp_path / "fit.checkpoint"
    first = method(10, random_state=0).fit(X, checkpoint=Checkpoint(path, seconds=0))
    again = method(10, random_state=0).fit(X, checkpoint=path)
    assert_array_equal(first.partition_.masses, again.partition_.masses)
    assert again.beta_ == first.beta_
    with pytest.raises(ValueError, match="empty_set='auto' instead of 'noise'"):
        method(10, empty_set="noise", random_state=0).fit(X, checkpoint=path)


def test_squares_of_a_matrix_have_the_same_novelty(plane):
    X, _ = plane
    D = cdist(X, X)
    plain = RECM(3, metric="precomputed", random_state=0).fit(D)
    squared = clone(plain).set_params(squared=True).fit(D**2)
    assert_allclose(squared.outlier_p_values(D**2), plain.outlier_p_values(D))
    with pytest.raises(ValueError, match="no negative dissimilarities"):
        squared.outlier_p_values(-(D**2))
