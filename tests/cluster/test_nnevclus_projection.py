"""NNEVCLUS of rows of many columns, and of their directions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score, pairwise_distances

import credalis
from credalis import NNEVCLUS
from credalis.cluster.nnevclus._extension import extended
from credalis.dissimilarity import MetricSimilarities, decay_rate
from credalis.network import Projection
from credalis.sources import ArraySource

N_FEATURES = 120


def embedded(n_samples, n_clusters=4, seed=0, noise=0.1):
    """Clusters in five dimensions, turned into many, of length 1, sorted."""
    law = np.random.RandomState(0)
    centers = 3 * law.normal(size=(12, 5))[:n_clusters]
    axes = np.linalg.qr(law.normal(size=(N_FEATURES, 5)))[0]
    rng = np.random.RandomState(seed + 1)
    y = np.sort(rng.randint(n_clusters, size=n_samples))
    X = (centers[y] + 0.4 * rng.normal(size=(n_samples, 5))) @ axes.T
    X += noise * rng.normal(size=X.shape)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def network(n_clusters=4, **parameters):
    base = {"max_iter": 10, "solver": "adam", "n_init": 1, "random_state": 0}
    return NNEVCLUS(n_clusters, **base | parameters)


@pytest.fixture(scope="module")
def rows():
    return embedded(300)


@pytest.fixture(scope="module")
def fitted(rows):
    return network().fit(rows[0])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_clusters_of_many_columns_are_found(rows, metric):
    X, y = rows
    model = network(metric=metric, max_iter="auto").fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    projection = model.transformer_
    assert isinstance(projection, Projection)
    assert projection.n_inputs == model.weights_[0].shape[1] - 1 < 20
    assert projection.normalizes == (metric == "cosine")
    assert_array_equal(model.predict(X), model.labels_)
    assert_allclose(model.predict_partition(X[7:8]).masses[0], model.transform(X)[7])
    assert model.score(X) == pytest.approx(-model.stress_, rel=1e-3)


def test_none_takes_all_columns(rows):
    model = network(n_components=None, max_iter=2).fit(rows[0])
    assert model.transformer_ is None
    assert model.weights_[0].shape[1] == N_FEATURES + 1
    few = network(n_components=3, max_iter=2).fit(rows[0])
    assert few.weights_[0].shape[1] == 4


def test_directions_decide_with_cosines(rows):
    X, _ = rows
    lengths = np.random.RandomState(3).uniform(0.1, 10, size=(len(X), 1))
    model = network(metric="cosine").fit(X)
    other = network(metric="cosine").fit(X * lengths)
    assert_allclose(other.partition_.masses, model.partition_.masses, atol=1e-6)
    assert other.metric_ == "sqeuclidean"


@pytest.mark.parametrize("n_components", ["auto", None])
def test_cosine_dissimilarities_are_those_of_the_metric(n_components):
    X = np.random.RandomState(0).normal(size=(60, 5))
    model = network(3, metric="cosine", n_components=n_components).fit(X)
    similarities = (
        credalis.cluster.nnevclus._network.FittedNetwork.of(model)
        .space.geometry(X)
        .similarities(model.scale_, float)
    )
    expected = MetricSimilarities(X, "cosine", decay_rate(model.scale_))
    assert_allclose(similarities.matrix(), expected.matrix(), atol=1e-12)


def test_strangers_off_the_components_are_outliers(rows, fitted):
    X, _ = rows
    components = fitted.transformer_.components
    strange = np.random.RandomState(0).normal(size=(5, N_FEATURES))
    strange -= strange @ components.T @ components
    assert fitted.predict_partition(strange + X.mean(axis=0)).is_outlier.all()
    assert fitted.partition_.is_outlier.mean() < 0.05


def test_files_hold_the_projection(rows, fitted, tmp_path):
    path = tmp_path / "model.credalis"
    fitted.save(path)
    loaded = credalis.load(path)
    assert_array_equal(loaded.transform(rows[0]), fitted.transform(rows[0]))


def test_files_of_other_components_are_refused(rows, tmp_path):
    model = network(max_iter=1, empty_set="stress").fit(rows[0])
    projection = model.transformer_
    model.transformer_ = Projection(
        N_FEATURES, False, projection.mean, projection.components[:-1]
    )
    with pytest.raises(ValueError, match="transformer_ must have"):
        model.save(tmp_path / "model.credalis")


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.slow
def test_sorted_rows_in_blocks(metric, tmp_path):
    X, y = embedded(3000, n_clusters=6)
    model = NNEVCLUS(6, metric=metric, random_state=0)
    model.fit(ArraySource(X.astype(np.float32)), checkpoint=tmp_path / "fit")
    assert adjusted_rand_score(y, model.predict(X)) > 0.95
    again = NNEVCLUS(6, metric=metric, random_state=0)
    again.fit(ArraySource(X.astype(np.float32)), checkpoint=tmp_path / "fit")
    assert_array_equal(again.transform(X), model.transform(X))


def test_streams_have_the_projection_of_their_first_batch(rows):
    X, _ = rows
    order = np.random.RandomState(0).permutation(len(X))
    model = network().partial_fit(X[order[:200]])
    first = model.transformer_
    model.partial_fit(X[order[200:]])
    assert model.transformer_ is first
    assert model.predict(X).shape == (len(X),)


def test_a_warm_start_keeps_the_components(rows):
    X, _ = rows
    model = network(warm_start=True).fit(X)
    first = model.transformer_
    loss = model.loss_
    model.fit(X)
    assert model.transformer_ is first
    assert model.loss_ < loss * 1.05


def test_centres_are_rows(rows):
    X, y = rows
    centers = np.array([X[y == k].mean(axis=0) for k in range(4)])
    model = network(init=centers, max_iter=60).fit(X)
    assert (model.labels_ == y).mean() > 0.95
    with pytest.raises(ValueError, match=r"init must have shape .* = \(4, 120\)"):
        network(init=centers[:, :-1]).fit(X)


def test_dissimilarities_of_their_own_keep_the_projected_inputs(rows):
    X, _ = rows
    D = pairwise_distances(X)
    model = network(max_iter=2).fit(X, dissimilarities=D)
    assert model.weights_[0].shape[1] < 30
    assert model.predict(X).shape == (len(X),)


def test_new_clusters_bring_their_directions(rows, fitted):
    X, _ = rows
    rng = np.random.RandomState(5)
    new = rng.normal(size=N_FEATURES)
    new = new / np.linalg.norm(new) + 0.02 * rng.normal(size=(60, N_FEATURES))
    larger = extended(fitted, X, fitted.labels_, [new])
    assert larger.transformer_.n_inputs == fitted.transformer_.n_inputs + 1
    assert (larger.predict(new) == 4).mean() > 0.95
    assert (larger.predict(X) == fitted.labels_).mean() > 0.95


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_components", ["auto", None])
def test_onnx_projects_too(rows, metric, n_components, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, _ = rows
    model = network(metric=metric, n_components=n_components, max_iter=3).fit(X)
    model.to_onnx(tmp_path / "model.onnx", dtype="float64")
    session = runtime.InferenceSession(
        tmp_path / "model.onnx", providers=["CPUExecutionProvider"]
    )
    strange = np.random.RandomState(0).normal(size=(3, N_FEATURES))
    for given in (X, strange):
        masses, _, labels = session.run(None, {"X": given})
        assert_allclose(masses, model.transform(given), atol=1e-9)
        assert_array_equal(labels, model.predict(given))


def test_components_that_make_no_sense_are_refused(rows):
    X, _ = rows
    with pytest.raises(ValueError, match="n_components must be 'auto' or None with"):
        network(metric="manhattan", n_components=3).fit(X)
    with pytest.raises(ValueError, match="n_components must be an integer or 'auto'"):
        network(metric="precomputed", n_components=None).fit(pairwise_distances(X))
    with pytest.raises(ValueError, match=r"n_components must be .* <= 120, got 121"):
        network(n_components=121).fit(X)
