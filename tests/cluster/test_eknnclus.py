import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import credalis
from credalis import EkNNclus, FocalSets
from credalis.cluster.votes._votes import disagreement
from helpers import assert_decreasing, assert_valid_partition


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(200, centers=4, cluster_std=0.8, random_state=1)


def test_fourclass_ends_where_the_reference_does(benchmark_data, reference, seed):
    X, _ = benchmark_data("fourclass")
    expected = reference("eknn_fourclass.json")
    model = EkNNclus(n_neighbors=60, quantile=0.9, exponent=2, random_state=seed)
    model.fit(X)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(expected["y.pl"], model.labels_) > 0.97


def test_five_starts_are_as_good_as_the_reference(benchmark_data, reference):
    X, _ = benchmark_data("fourclass")
    y = np.array(reference("eknn_fourclass.json")["y.pl"])
    model = EkNNclus(
        n_neighbors=60, quantile=0.9, exponent=2, n_init=5, random_state=0
    ).fit(X)
    problem = model._prepare(X, np.random.RandomState(0))
    assert model.loss_ <= disagreement(problem.neighbors, problem.weights, y)


@pytest.mark.parametrize(
    ("name", "n_clusters", "agreement"), [("s2", 15, 0.93), ("s4", 15, 0.63)]
)
def test_the_number_of_clusters_is_found(benchmark_data, name, n_clusters, agreement):
    X, y = benchmark_data(name)
    model = EkNNclus(random_state=0).fit(StandardScaler().fit_transform(X))
    assert model.n_clusters_ == n_clusters
    assert adjusted_rand_score(y, model.labels_) > agreement


@pytest.mark.filterwarnings("ignore:all objects are in one cluster")
@given(st.integers(0, 1000))
def test_loss_never_increases_when_neighborhood_is_mutual(seed):
    X = np.random.RandomState(seed).normal(size=(20, 2))
    model = EkNNclus(n_neighbors=19, quantile=0.1, exponent=2, random_state=seed)
    assert_decreasing(model.fit(X).history_)


def test_the_result_is_a_fixed_point(blobs):
    model = EkNNclus(random_state=0).fit(blobs[0])
    np.testing.assert_array_equal(model.labels_, model.assignments_)
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()
    assert model.focal_sets_ == FocalSets.singletons(4)
    assert (model.partition_.outlier_mass == 0).all()


def test_no_sweep_is_the_last_unless_all_are_content(blobs):
    with pytest.warns(UserWarning, match=r"did not converge in max_iter=1"):
        EkNNclus(max_iter=1, random_state=0).fit(blobs[0])


def test_dissimilarities_give_the_same_as_their_points(blobs):
    X, _ = blobs
    D = cdist(X, X)
    by_points = EkNNclus(random_state=0).fit(X)
    by_matrix = EkNNclus(metric="precomputed", random_state=0).fit(D)
    assert by_matrix.partition_.allclose(by_points.partition_)
    new = X[:20] + 0.1
    assert by_matrix.predict_partition(cdist(new, X)).allclose(
        by_points.predict_partition(new)
    )
    assert get_tags(by_matrix).input_tags.pairwise
    assert not get_tags(by_points).input_tags.pairwise


def test_asymmetric_dissimilarities_need_to_be_allowed(blobs, rng):
    D = cdist(blobs[0], blobs[0])
    skewed = D * rng.uniform(0.9, 1.1, D.shape)
    model = EkNNclus(metric="precomputed", random_state=0)
    with pytest.raises(ValueError, match="X must be symmetric"):
        model.fit(skewed)
    expected = EkNNclus(metric="precomputed", random_state=0).fit(
        (skewed + skewed.T) / 2
    )
    assert (
        model.set_params(symmetrize=True)
        .fit(skewed)
        .partition_.allclose(expected.partition_)
    )
    with pytest.raises(ValueError, match=r"must be finite and >= 0, got -"):
        model.predict(-D)


def test_a_transformer_is_the_metric(blobs, rng, tmp_path):
    X = np.column_stack([blobs[0], rng.normal(scale=0.1, size=(200, 3))])
    model = EkNNclus(metric=PCA(2), random_state=0).fit(X)
    expected = EkNNclus(random_state=0).fit(PCA(2).fit_transform(X))
    assert model.partition_.allclose(expected.partition_)
    model.save(tmp_path / "model.credalis")
    loaded = credalis.load(tmp_path / "model.credalis")
    assert loaded.predict_partition(X) == model.predict_partition(X)


def test_a_training_object_votes_for_itself_in_prediction(blobs):
    X, _ = blobs
    model = EkNNclus(random_state=0).fit(X)
    predicted = model.predict_partition(X)
    np.testing.assert_array_equal(predicted.labels, model.labels_)
    own = np.arange(len(X)), model.labels_
    assert (predicted.belief[own] >= model.partition_.belief[own] - 1e-12).all()


def test_far_from_all_objects_little_is_known(blobs):
    model = EkNNclus(random_state=0).fit(blobs[0])
    assert model.predict_partition([[1e3, 1e3]]).masses[0, -1] > 0.99


def test_copies_are_no_trouble(blobs):
    X = np.repeat(blobs[0][:40], 5, axis=0)
    model = EkNNclus(n_neighbors=20, random_state=0).fit(X)
    assert_valid_partition(model.partition_, n_samples=200)
    labels = model.labels_.reshape(40, 5)
    assert (labels == labels[:, :1]).all()


def test_one_cluster_is_warned_about(rng):
    X = rng.normal(size=(30, 2))
    with pytest.warns(UserWarning, match="in one cluster: .* it was 29"):
        model = EkNNclus(n_neighbors=29, quantile=1.0, random_state=0).fit(X)
    assert model.n_clusters_ == 1
    assert (model.partition_.masses == [0, 1]).all()
    assert (model.predict(X) == 0).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1, got 0"),
        ({"n_neighbors": "all"}, "n_neighbors must be one of 'auto', got 'all'"),
        ({"n_neighbors": 200}, "n_neighbors must be less than .* 200, got 200"),
        ({"quantile": 1.5}, "quantile must be a finite number >= 0 and <= 1, got 1.5"),
        ({"exponent": 0}, "exponent must be a finite number > 0, got 0"),
        ({"metric": "nearness"}, "metric must be one of .* got 'nearness'"),
    ],
)
def test_bad_parameter_is_named(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        EkNNclus(**parameters).fit(blobs[0])


@pytest.mark.slow
def test_a_million_objects_are_predicted(blobs):
    X, _ = blobs
    model = EkNNclus(random_state=0).fit(X)
    labels = model.predict(np.tile(X, (5000, 1)))
    np.testing.assert_array_equal(labels, np.tile(model.labels_, 5000))


def test_given_labels_are_where_it_starts():
    X, labels = make_blobs(60, centers=3, cluster_std=0.5, random_state=1)
    model = EkNNclus(n_neighbors=10, init=labels, random_state=0).fit(X)
    assert adjusted_rand_score(labels, model.assignments_) == 1
    assert model.n_iter_ <= 2
    # Two labels can only become one.
    assert EkNNclus(init=1 * (labels > 0))._start(60).max() == 1


def test_objects_of_no_label_are_clusters_of_their_own():
    X, _ = make_blobs(60, centers=3, random_state=1)
    nobody = EkNNclus(init=np.full(60, -1), random_state=0).fit(X)
    assert nobody.partition_ == EkNNclus(random_state=0).fit(X).partition_
    start = EkNNclus(init=[7, -1, 7, -1, 2])._start(5)
    assert start.tolist() == [1, 2, 1, 3, 0]


def test_mutual_votes_never_raise_the_loss_of_the_start():
    X, labels = make_blobs(60, centers=4, cluster_std=1.5, random_state=2)
    model = EkNNclus(
        n_neighbors=59, quantile=0.1, exponent=2, init=labels, random_state=0
    ).fit(X)
    problem = model._prepare(X, np.random.RandomState(0))
    assert model.loss_ <= disagreement(problem.neighbors, problem.weights, labels)


@pytest.mark.parametrize(
    "init", [[0, 1], [[0]] * 10, ["a"] * 10, [0.5] * 10, [-2] * 10, "peaks", 3]
)
def test_starts_that_are_no_labels_are_refused_by_name(init):
    X = make_blobs(10, centers=2, random_state=0)[0]
    with pytest.raises(ValueError, match=r"init must .* got "):
        EkNNclus(init=init).fit(X)


def test_a_graph_of_neighbours_is_the_same_as_their_search(blobs):
    X, _ = blobs
    graph = NearestNeighbors(n_neighbors=30).fit(X).kneighbors_graph(mode="distance")
    found = EkNNclus(n_neighbors=30, random_state=0).fit(X)
    given = EkNNclus(random_state=0).fit(X, neighbor_graph=graph)
    assert given.n_neighbors_ == 30
    np.testing.assert_allclose(
        given.partition_.masses, found.partition_.masses, atol=1e-9
    )
    assert given.predict_partition(X[:5]).allclose(found.predict_partition(X[:5]))
    fewer = EkNNclus(n_neighbors=20, random_state=0).fit(X, neighbor_graph=graph)
    assert fewer.n_neighbors_ == 20


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.eye(4), r"must be a sparse matrix of shape \(4, 4\), got ndarray"),
        (csr_array(np.eye(3)), r"got csr_array of shape \(3, 3\)"),
        (csr_array(np.eye(4)), r"object 0 has none"),
        (csr_array(np.ones((4, 4)) * -1), r"must hold distances"),
    ],
)
def test_graphs_that_are_none_are_refused_by_name(graph, message):
    with pytest.raises(ValueError, match=rf"neighbor_graph .*{message}"):
        EkNNclus().fit(np.arange(8.0).reshape(4, 2), neighbor_graph=graph)
