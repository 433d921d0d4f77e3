"""Consensus on dissimilarities: its members, Gower's, matrices, new objects, files."""

import warnings

import numpy as np
import pytest
import scipy
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import get_tags

from credalis import Consensus, FocalSets, load
from credalis.cluster.consensus._relation import (
    RELATIONAL_MEMBERS,
    Relation,
    gaussian_kernel,
    relational_memberships,
)
from credalis.dissimilarity import Gower
from credalis.sources import ArraySource
from credalis.tabular import TablePreparation


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(
        210,
        centers=3,
        n_features=3,
        cluster_std=1.2,
        center_box=(-8, 8),
        random_state=4,
    )


@pytest.fixture(scope="module")
def matrix(blobs):
    return cdist(blobs[0], blobs[0])


@pytest.fixture(scope="module")
def by_matrix(matrix):
    return Consensus(3, metric="precomputed", random_state=0).fit(matrix)


@pytest.fixture(scope="module")
def mixed():
    """A table of three groups: two numbers, two kinds of words, a tenth unknown."""
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=180)
    words = np.array(list("abc"), object)
    table = {
        "length": rng.normal(4.0 * y, 1.0),
        "weight": rng.normal(-3.0 * y, 1.0),
        "colour": words[np.where(rng.random(180) < 0.9, y, rng.integers(3, size=180))],
        "shape": words[np.where(rng.random(180) < 0.8, y, rng.integers(3, size=180))],
    }
    for values in table.values():
        is_lost = rng.random(180) < 0.1
        values[is_lost] = None if values.dtype == object else np.nan
    preparation = TablePreparation()
    X = preparation.fit_transform(table)
    return X, preparation.metric_, y


@pytest.fixture(scope="module")
def by_gower(mixed):
    X, metric, _ = mixed
    return Consensus(3, metric=metric, random_state=0).fit(X)


# A graph of neighbours in three pieces is what is hoped for.
@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
@pytest.mark.parametrize("member", RELATIONAL_MEMBERS)
def test_every_member_finds_clusters_that_are_apart(member, blobs, matrix):
    release = tuple(map(int, scipy.__version__.split(".")[:2]))
    if member == "spectral" and release < (1, 16):
        pytest.skip("older SciPy misses eigenvectors of a graph in pieces")
    found = relational_memberships(member, Relation("precomputed"), matrix, 3, seed=0)
    assert found.shape == (210, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert adjusted_rand_score(blobs[1], found.argmax(axis=1)) > 0.9


def test_ward_of_distances_is_that_of_points(blobs, matrix):
    by_points = AgglomerativeClustering(3, linkage="ward").fit_predict(blobs[0])
    found = relational_memberships("ward", Relation("precomputed"), matrix, 3, seed=0)
    assert adjusted_rand_score(by_points, found.argmax(axis=1)) == 1.0


def test_roots_of_gower_of_complete_rows_are_euclidean_distances(rng):
    X = rng.normal(size=(30, 4))
    metric = Gower.of_numbers(X)
    relation = Relation(metric)
    squares = np.square(relation.lengths(relation.matrix(X)))
    centering = np.eye(30) - 1 / 30
    products = -centering @ squares @ centering / 2
    assert np.linalg.eigvalsh(products).min() > -1e-12


def test_the_kernel_has_the_unit_of_the_dissimilarities(matrix):
    kernel = gaussian_kernel(matrix)
    np.testing.assert_allclose(gaussian_kernel(1e100 * matrix), kernel)
    assert (np.diag(kernel) == 1).all()
    # One at half of the median, in the middle of the fall.
    half = np.median(matrix[matrix > 0]) / 2
    assert gaussian_kernel(matrix)[matrix <= half].min() >= np.exp(-1.0)
    assert (gaussian_kernel(np.zeros((3, 3))) == 1).all()


def test_a_matrix_is_clustered(by_matrix, blobs):
    assert adjusted_rand_score(blobs[1], by_matrix.labels_) > 0.95
    assert [each["name"] for each in by_matrix.members_] == list(RELATIONAL_MEMBERS)
    assert by_matrix.failed_members_ == {}
    assert by_matrix.focal_sets_ == FocalSets.singletons(3)
    assert by_matrix.gate_["trusted"] is None
    assert "mixtures and densities need attributes" in by_matrix.describe()


def test_a_mixed_table_is_clustered(by_gower, mixed):
    _, metric, y = mixed
    assert adjusted_rand_score(y, by_gower.labels_) > 0.85
    assert by_gower.metric_ is metric
    assert "mixtures and densities need attributes" in by_gower.describe()


def test_new_rows_are_predicted_from_their_columns(by_gower, mixed):
    X, _, y = mixed
    np.testing.assert_array_equal(by_gower.predict(X), by_gower.labels_)
    part = Consensus(3, metric=mixed[1], random_state=0).fit(X[:120])
    assert adjusted_rand_score(y[120:], part.predict(X[120:])) > 0.8


def test_new_objects_are_predicted_from_their_dissimilarities(by_matrix, blobs, matrix):
    np.testing.assert_array_equal(by_matrix.predict(matrix), by_matrix.labels_)
    others = make_blobs(
        60, centers=3, n_features=3, cluster_std=1.2, center_box=(-8, 8), random_state=4
    )
    rows = cdist(others[0], blobs[0])
    assert adjusted_rand_score(others[1], by_matrix.predict(rows)) > 0.95
    far = by_matrix.predict_partition(rows + 100.0)
    assert far.is_outlier.all()
    with pytest.raises(ValueError, match="features, but Consensus is expecting 210"):
        by_matrix.predict(rows[:, :5])
    with pytest.raises(ValueError, match="no negative dissimilarities"):
        by_matrix.predict(-rows)


def test_no_more_than_the_committee_is_compared(blobs, matrix, mixed, monkeypatch):
    sizes = []
    plain = Relation.matrix

    def counted(self, rows):
        found = plain(self, rows)
        sizes.append(found.shape)
        return found

    monkeypatch.setattr(Relation, "matrix", counted)
    model = Consensus(3, metric="precomputed", committee_size=60, random_state=0)
    model.fit(matrix)
    assert len(model.references_) == 60
    assert adjusted_rand_score(blobs[1], model.labels_) > 0.95
    X, metric, y = mixed
    model = Consensus(3, metric=metric, committee_size=60, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.8
    assert sizes == [(60, 60), (60, 60)]


def test_files_keep_what_prediction_needs(by_matrix, by_gower, matrix, mixed, tmp_path):
    path = tmp_path / "model.credalis"
    for model, rows in ((by_matrix, matrix), (by_gower, mixed[0])):
        model.save(path)
        again = load(path)
        np.testing.assert_array_equal(again.transform(rows), model.transform(rows))
        assert again.describe() == model.describe()


def test_the_tag_says_that_folds_are_cut_both_ways():
    assert get_tags(Consensus(metric="precomputed")).input_tags.pairwise
    assert not get_tags(Consensus(metric="gower")).input_tags.pairwise


@pytest.mark.parametrize("target", ["replicate", "model"])
def test_levels_for_mixed_rows(target, mixed):
    X, metric, _ = mixed
    model = Consensus(3, metric=metric, random_state=0).fit(X[:120])
    rows = X[120:] if target == "replicate" else X[:120]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.calibrate(rows, target, n_refits=2)
    sets = model.predict_sets(X[120:])
    assert sets.any(axis=1).all()


def test_labels_and_pairs_are_heard(blobs, matrix):
    X, y = blobs
    labels = np.full(len(X), -1)
    wanted = (y + 1) % 3
    labels[:30] = wanted[:30]
    model = Consensus(3, metric="precomputed", random_state=0)
    same, other = np.flatnonzero(y == 0)[-2:], np.flatnonzero(y == 1)[-1]
    model.fit(
        matrix,
        partial_labels=labels,
        must_link=[same],
        cannot_link=[(same[0], other)],
    )
    assert (model.labels_ == wanted).mean() > 0.95


def test_clusterers_of_the_user(matrix, blobs, mixed):
    hierarchy = AgglomerativeClustering(metric="precomputed", linkage="complete")
    graph = SpectralClustering(affinity="precomputed_nearest_neighbors", n_neighbors=8)
    model = Consensus(
        3, metric="precomputed", members=["medoids", hierarchy, graph], random_state=0
    ).fit(matrix)
    assert adjusted_rand_score(blobs[1], model.labels_) > 0.9
    assert len(model.members_) == 3
    density = DBSCAN(eps=3.0, metric="precomputed")
    model = Consensus(
        3, metric="precomputed", members=["medoids", density], random_state=0
    ).fit(matrix)
    assert [each["name"] for each in model.members_] == ["medoids", "DBSCAN"]
    # With Gower's they may also look at the columns.
    X, metric, _ = mixed
    kmeans = KMeans(n_init=1)
    model = Consensus(3, metric=metric, members=["ward", kmeans], random_state=0).fit(X)
    assert [each["name"] for each in model.members_] == ["ward", "KMeans"]
    model = Consensus(
        3, metric="precomputed", members=["medoids", kmeans], random_state=0
    )
    with pytest.warns(UserWarning, match="KMeans was left out.*metric='precomputed'"):
        model.fit(matrix)


def test_a_transformer_says_where_rows_are(blobs):
    X = blobs[0]
    model = Consensus(3, metric=PCA(2), random_state=0).fit(X)
    plain = Consensus(3, random_state=0).fit(model.transformer_.transform(X))
    assert adjusted_rand_score(model.labels_, plain.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_other_metrics(blobs):
    X, y = blobs
    model = Consensus(3, metric="cityblock", random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_the_number_of_clusters_of_a_mixed_table(mixed):
    X, metric, _ = mixed
    model = Consensus("auto", metric=metric, random_state=0).fit(X)
    assert model.n_clusters_ == model.partition_.n_clusters >= 2
    assert "agreement" in model.selection_["table"][0]


def test_one_cluster(matrix):
    with pytest.warns(UserWarning, match="n_clusters"):
        model = Consensus(1, metric="precomputed", random_state=0).fit(matrix)
    assert (model.labels_ == 0).all()


def test_blocks_compare_rows_with_the_committee(mixed, monkeypatch):
    X, metric, y = mixed
    monkeypatch.setattr("credalis.cluster._framework._fit.SAMPLE_ROWS", 120)
    model = Consensus(3, metric=metric, max_iter=20, random_state=0)
    model.fit(ArraySource(np.tile(X, (4, 1))))
    assert adjusted_rand_score(y, model.predict(X)) > 0.8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"members": ["full"]}, "members must not hold 'full'.*need attributes"),
        ({"members": ["nobody"]}, "members must be one of 'spectral', 'kernel'"),
        ({"n_clusters": "auto"}, "n_clusters must be a number .*'precomputed'"),
        ({"metric": "nothing"}, "metric must be 'gower', a metric of scikit-learn"),
        ({"symmetrize": 3}, "symmetrize must be a bool, got 3"),
    ],
)
def test_bad_parameters(parameters, message, matrix):
    model = Consensus(**{"metric": "precomputed", "random_state": 0, **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(matrix)


def test_bad_matrices(matrix):
    model = Consensus(metric="precomputed", random_state=0)
    with pytest.raises(ValueError, match="X must be a square matrix"):
        model.fit(matrix[:, :5])
    with pytest.raises(ValueError, match="X must hold no negative"):
        model.fit(-matrix)
    lopsided = matrix + np.triu(matrix)
    with pytest.raises(ValueError, match="X must be symmetric"):
        model.fit(lopsided)
    model.set_params(symmetrize=True).fit(lopsided)
    np.testing.assert_array_equal(model.predict(lopsided), model.labels_)
    with pytest.raises(ValueError, match="exceed the number of distinct"):
        model.fit(np.zeros((9, 9)))
    with pytest.raises(ValueError, match="metric must not be 'precomputed'"):
        model.fit(ArraySource(matrix))
    with pytest.raises(ValueError, match="metric must be no transformer"):
        Consensus(metric=PCA(2)).fit(ArraySource(matrix))
