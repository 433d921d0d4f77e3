"""Nearest neighbours: a tree or plain search, the same objects."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from credalis import _neighbors
from credalis._neighbors import NeighborSearch


def clustered(n_features):
    return make_blobs(600, n_features=n_features, centers=6, random_state=0)[0]


def without_clusters(n_features):
    return np.random.default_rng(0).normal(size=(600, n_features))


@pytest.mark.parametrize("n_features", [2, 8, 12])
@pytest.mark.parametrize("data", [clustered, without_clusters])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_the_nearest_are_found(data, n_features, metric):
    X = data(n_features)
    points = X[:40] + 0.01
    found, lengths = NeighborSearch(X, metric).query(points, 15)
    distances = cdist(points, X, metric)
    expected = np.argsort(distances, axis=1)[:, :15]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(
        lengths, np.take_along_axis(distances, expected, axis=1), rtol=1e-12
    )


def test_a_tree_is_used_where_it_visits_few_objects():
    assert not _neighbors._visits_more(clustered(8), 15, 0.5)
    assert _neighbors._visits_more(without_clusters(8), 15, 0.5)
    for X in (clustered(8), without_clusters(8)):
        assert not NeighborSearch(X, "euclidean")._finds_by_tree(X, 15)
        assert NeighborSearch(X, "cityblock")._finds_by_tree(X, 15)
    # Of many neighbours not even products say which they are.
    assert NeighborSearch(X, "euclidean")._finds_by_tree(clustered(8), 100)


def test_how_is_searched_does_not_depend_on_the_points():
    X = without_clusters(8)
    together = NeighborSearch(X, "euclidean").query(X[:30], 5)
    alone = [NeighborSearch(X, "euclidean").query(X[i : i + 1], 5) for i in range(30)]
    for k in range(2):
        parts = np.concatenate([each[k] for each in alone])
        np.testing.assert_array_equal(together[k], parts)
