"""NNEVCLUS with several views of the objects, and how much each counts."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import credalis
from credalis import NNEVCLUS, FocalSets
from credalis.cluster._inputs._geometry import Geometry
from credalis.cluster.nnevclus._views import NetworkViews
from credalis.dissimilarity import (
    BlendedSimilarities,
    EuclideanSimilarities,
    MatrixSimilarities,
)
from credalis.network import (
    CredalNetwork,
    Perceptron,
    SideInformation,
    TrainingData,
    full_objective,
    mean_stress,
    with_constant,
)
from helpers import assert_decreasing, assert_valid_partition, contents, write


def two_views(seed, n_noise=2, n_samples=120):
    """A view with three clusters, one without any, and the clusters."""
    rng = np.random.RandomState(seed)
    shape, labels = make_blobs(n_samples, centers=3, random_state=seed)
    return {
        "shape": shape,
        "noise": 10 * rng.uniform(size=(n_samples, n_noise)),
    }, labels


@pytest.fixture(scope="module")
def tables():
    return two_views(6)[0]


@pytest.fixture(scope="module")
def model(tables):
    return NNEVCLUS(3, random_state=0).fit(tables)


@pytest.mark.parametrize(("seed", "n_noise"), [(6, 1), (7, 2), (9, 10)])
def test_noise_counts_little_and_does_no_harm(seed, n_noise):
    views, labels = two_views(seed, n_noise)
    both = NNEVCLUS(3, random_state=0).fit(views)
    alone = NNEVCLUS(3, random_state=0).fit(views["shape"])
    assert both.view_weights_[1] < 0.05
    np.testing.assert_allclose(both.view_weights_.sum(), 1)
    reached = adjusted_rand_score(labels, both.labels_)
    assert reached >= adjusted_rand_score(labels, alone.labels_) - 0.02
    assert_valid_partition(both.partition_)


def test_views_with_the_same_clusters_share_the_weight():
    rng = np.random.RandomState(0)
    first, labels = make_blobs(120, centers=3, random_state=8)
    second = 6 * rng.normal(size=(3, 4))[labels] + rng.normal(size=(120, 4))
    model = NNEVCLUS(3, random_state=0).fit({"first": first, "second": second})
    assert model.view_weights_.min() > 0.2
    assert adjusted_rand_score(labels, model.labels_) > 0.97
    assert list(model.views_) == ["first", "second"]


@pytest.mark.parametrize("parameters", [{}, {"solver": "adam", "max_iter": 5}])
def test_one_view_is_a_fit_without_views(tables, parameters):
    X = tables["shape"]
    plain = NNEVCLUS(3, random_state=0, **parameters).fit(X)
    one = NNEVCLUS(3, views=[[0, 1]], random_state=0, **parameters).fit(X)
    np.testing.assert_array_equal(one.partition_.masses, plain.partition_.masses)
    np.testing.assert_array_equal(one.history_, plain.history_)
    assert (one.loss_, one.stress_, one.scale_) == (
        plain.loss_,
        plain.stress_,
        plain.scale_,
    )
    np.testing.assert_array_equal(one.view_weights_, [1.0])


def test_the_objective_never_increases(model):
    assert_decreasing(model.history_)
    assert model.history_[-1] == model.loss_


def network_and_views(seed=0, n_samples=12):
    """A small network, two views with fixed weights, and data with their targets."""
    rng = np.random.RandomState(seed)
    first, second = rng.normal(size=(n_samples, 2)), rng.normal(size=(n_samples, 3))
    views = NetworkViews(
        {"a": np.arange(2), "b": np.arange(2, 5)},
        (Geometry(first), Geometry(squareform(pdist(second)), "precomputed")),
        np.array([2.0, 3.0]),
        np.array([0.02, 0.05]),
        0.3,
        np.array([0.7, 0.3]),
    )
    focal_sets = FocalSets.pairs(3)
    network = CredalNetwork(
        Perceptron((5, 4, len(focal_sets))), focal_sets.empty_index, None, 0.1
    )
    information = SideInformation(
        np.array([0, 1, 2]),
        np.array([0, 1, 2]),
        np.array([[0, 3]]),
        np.array([[1, 4]]),
        0.2,
        0.4,
    )
    inputs = with_constant(np.hstack([first, second]))

    def data(similarities):
        return TrainingData(inputs, None, similarities, focal_sets, information)

    return network, views, data, network.initial_parameters(rng)


def test_gradient_of_blended_targets_is_that_of_the_weighted_costs():
    network, views, data, parameters = network_and_views()
    costs = [full_objective(network, data(each)) for each in views.of_each()]

    def weighted(point):
        return views.loss(np.array([cost(point)[0] for cost in costs]))

    blended = full_objective(network, data(views.similarities(np.float64)))
    gradient = views.total * blended(parameters)[1]
    expected = approx_fprime(parameters, weighted, 1e-7)
    np.testing.assert_allclose(gradient, expected, atol=1e-5)
    other = parameters + np.random.RandomState(1).normal(size=len(parameters))
    difference = views.total * (blended(other)[0] - blended(parameters)[0])
    # Up to the rounding of stored targets.
    np.testing.assert_allclose(
        difference, weighted(other) - weighted(parameters), atol=1e-6
    )


def test_weights_of_a_worked_example():
    _, views, _, _ = network_and_views()
    # 1 / 0.02 and 1 / 0.05 have the mean 35.
    np.testing.assert_allclose(views.factors, [50 / 35, 20 / 35])
    np.testing.assert_allclose(views.total, 0.7 * 50 / 35 + 0.3 * 20 / 35)
    np.testing.assert_allclose(views.shares, np.array([35, 6]) / 41)
    costs = np.array([0.01, 0.04])
    after = views.updated(costs)
    # Costs are 0.5 and 0.8 of those of noise.
    expected = np.exp(-np.array([0.5, 0.8]) / 0.3)
    np.testing.assert_allclose(after.weights, expected / expected.sum())
    smallest = -0.3 / 35 * np.log(np.mean(expected))
    np.testing.assert_allclose(after.loss(costs), smallest)
    assert after.loss(costs) < views.loss(costs)
    equal = views.updated(np.array([0.02, 0.05]))
    np.testing.assert_allclose(equal.weights, [0.5, 0.5])
    np.testing.assert_allclose(equal.penalty, 0, atol=1e-15)
    assert views.updated(np.array([np.inf, 0.04])).weights.tolist() == [0.0, 1.0]


def test_blended_similarities_are_sums():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(9, 2))
    D = squareform(pdist(rng.normal(size=(9, 3))))
    parts = (
        EuclideanSimilarities.from_points(X, 2.0),
        MatrixSimilarities.from_matrix(D, 3.0),
    )
    blended = BlendedSimilarities(parts, np.array([0.25, 0.75]))
    expected = 0.25 * parts[0].matrix() + 0.75 * parts[1].matrix()
    np.testing.assert_allclose(blended.matrix(), expected)
    some = np.array([5, 0, 7])
    np.testing.assert_allclose(
        blended.take(some).matrix(), expected[np.ix_(some, some)]
    )
    np.testing.assert_allclose(
        blended.between(slice(2, 6)).matrix(), expected[2:6, 2:6]
    )
    rows, columns = np.array([0, 3]), np.array([8, 1])
    np.testing.assert_allclose(blended.pairs(rows, columns), expected[rows, columns])
    assert blended.n_samples == 9


def test_tables_and_columns_are_the_same_views(tables, model):
    X = np.hstack([tables["noise"], np.full((120, 1), 3.0), tables["shape"]])
    frame = pd.DataFrame(X, columns=["p", "q", "unused", "a", "b"])
    groups = {"shape": ["a", "b"], "noise": ["p", "q"]}
    columns = NNEVCLUS(3, views=groups, random_state=0).fit(frame)
    assert {name: each.tolist() for name, each in columns.views_.items()} == {
        "shape": [3, 4],
        "noise": [0, 1],
    }
    assert columns.n_features_in_ == 5
    np.testing.assert_allclose(columns.view_weights_, model.view_weights_, atol=1e-6)
    np.testing.assert_allclose(columns.view_scales_, model.view_scales_, rtol=1e-6)
    assert adjusted_rand_score(columns.labels_, model.labels_) == 1
    others = frame.assign(unused=7.0)
    assert columns.predict_partition(others) == columns.partition_
    assert model.predict_partition(tables) == model.partition_
    # In another order, and as one table.
    swapped = {name: tables[name] for name in ("noise", "shape")}
    np.testing.assert_array_equal(model.predict(swapped), model.labels_)
    both = np.hstack([tables["shape"], tables["noise"]])
    np.testing.assert_array_equal(model.predict(both), model.labels_)


def test_dissimilarities_are_views(tables):
    X = np.hstack([tables["shape"], tables["noise"]])
    matrices = {name: squareform(pdist(each)) for name, each in tables.items()}
    given = NNEVCLUS(3, random_state=0).fit(X, dissimilarities=matrices)
    assert list(given.views_) == ["shape", "noise"]
    assert given.view_weights_[0] > 0.95
    assert given.predict_partition(X) == given.partition_
    rows = NNEVCLUS(3, metric="precomputed", random_state=0).fit(matrices)
    assert rows.view_weights_[0] > 0.95
    assert rows.n_features_in_ == 120
    assert rows.predict_partition(matrices) == rows.partition_
    some = {name: cdist(each[:5], each) for name, each in tables.items()}
    np.testing.assert_array_equal(rows.predict(some), rows.labels_[:5])
    assert adjusted_rand_score(given.labels_, rows.labels_) > 0.95


def test_fitted_views_are_saved(model, tables, tmp_path):
    model.save(tmp_path / "m")
    loaded = credalis.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.view_weights_, model.view_weights_)
    assert loaded.predict_partition(tables) == model.partition_
    header, arrays = contents(tmp_path / "m")
    scales = header["object"]["state"]["fitted"]["items"].pop("view_scales_")
    del arrays[scales["name"]]
    write(tmp_path / "m", header, arrays)
    with pytest.raises(ValueError, match="view_scales_"):
        credalis.load(tmp_path / "m")


def test_score_is_the_negative_stress(model, tables):
    np.testing.assert_allclose(model.score(tables), -model.stress_, rtol=1e-6)
    part = Geometry(tables["shape"]).similarities(model.view_scales_[0], float)
    masses = model._predict_masses(np.hstack(list(tables.values())))
    alone = mean_stress(masses.T, part, model.focal_sets_)
    # The noise hardly counts.
    np.testing.assert_allclose(alone, model.stress_, rtol=0.02)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.slow
def test_views_with_other_options(tables):
    labels = np.full(120, -1)
    options = {"max_iter": 30, "random_state": 0, "n_init": 2}
    plain = NNEVCLUS(3, **options).fit(tables)
    for cluster in range(3):
        labels[np.flatnonzero(plain.labels_ == cluster)[:4]] = cluster
    informed = NNEVCLUS(3, **options).fit(tables, partial_labels=labels)
    assert (informed.labels_[labels >= 0] == labels[labels >= 0]).all()
    weighted = NNEVCLUS(3, **options).fit(
        tables, sample_weight=np.linspace(0.5, 9.5, 120)
    )
    assert weighted.view_weights_[0] > 0.9
    stepped = NNEVCLUS(3, focal_sets="two-step", **options).fit(tables)
    assert stepped.view_weights_[0] > 0.9
    blocks = NNEVCLUS(3, solver="adam", max_iter=5, random_state=0).fit(tables)
    assert blocks.view_weights_[0] > 0.9
    many = NNEVCLUS(3, random_state=0, max_iter="auto").fit(two_views(6, 2, 1100)[0])
    assert many.view_weights_[0] > 0.95


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_number_of_jobs_changes_nothing(tables):
    options = {"solver": "adaptive", "n_init": 2, "max_iter": 15, "random_state": 0}
    one = NNEVCLUS(3, **options).fit(tables)
    two = NNEVCLUS(3, n_jobs=2, **options).fit(tables)
    np.testing.assert_array_equal(one.partition_.masses, two.partition_.masses)
    np.testing.assert_array_equal(one.view_weights_, two.view_weights_)


def test_what_views_cannot_be_is_refused(tables, model):
    X = np.hstack(list(tables.values()))
    D = squareform(pdist(X))
    fit = NNEVCLUS(3, views=[[0], [1]]).fit
    with pytest.raises(ValueError, match="views must be None where dissimilarities"):
        fit(X, dissimilarities=D)
    with pytest.raises(ValueError, match="dissimilarities must be None where X is"):
        NNEVCLUS(3).fit(tables, dissimilarities=D)
    with pytest.raises(ValueError, match="metric must be 'euclidean' with views"):
        NNEVCLUS(3, metric="cityblock").fit(tables)
    with pytest.raises(ValueError, match="metric must be 'euclidean' with views"):
        NNEVCLUS(3, metric="precomputed", views=[[0], [1]]).fit(D)
    with pytest.raises(ValueError, match="view_entropy must be a finite number > 0"):
        NNEVCLUS(3, view_entropy=0.0).fit(tables)
    with pytest.raises(ValueError, match="view 'still'"):
        NNEVCLUS(3).fit({"shape": tables["shape"], "still": np.ones((120, 2))})
    with pytest.raises(ValueError, match=r"views\['a'\] must hold"):
        NNEVCLUS(3, views={"a": [9]}).fit(X)
    with pytest.raises(ValueError, match="views must be None"):
        NNEVCLUS(3, views=[[0], [1]]).partial_fit(X)
    with pytest.raises(ValueError, match="must have the views"):
        model.predict({"shape": tables["shape"]})
    with pytest.raises(ValueError, match="view 'b' of dissimilarities"):
        NNEVCLUS(3).fit(X, dissimilarities={"a": D, "b": D[:5, :5]})
    with pytest.raises(ValueError, match="views must use all columns"):
        model.to_onnx("nowhere")


def test_a_list_of_tables_is_one_table_in_batches(tables):
    X = tables["shape"]
    model = NNEVCLUS(3, max_iter=5, random_state=0).fit([X[:60], X[60:]])
    assert model.n_features_in_ == X.shape[1]
    assert not hasattr(model, "view_weights_")
