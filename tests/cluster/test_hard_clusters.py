"""Hard clusters that methods start from, and δ0 by some of the pairs."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from credalis.cluster._inputs import _clusters, _geometry
from credalis.cluster._inputs._clusters import hard_clusters
from credalis.cluster._inputs._geometry import Geometry


class Counted(KMeans):
    """k-means that is counted, with sums of squares that someone else gives."""

    n_fits = 0
    inertias = None

    def fit(self, X):
        super().fit(X)
        if self.inertias is not None:
            self.inertia_ = self.inertias[Counted.n_fits % len(self.inertias)]
        Counted.n_fits += 1
        return self


@pytest.fixture
def counted(monkeypatch):
    monkeypatch.setattr(_clusters, "KMeans", Counted)
    monkeypatch.setattr(Counted, "n_fits", 0)
    return Counted


def blobs(n_samples=1500):
    return make_blobs(n_samples, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]


def test_random_seeds_end_where_the_hierarchy_has_found_the_clusters(counted):
    hard_clusters(Geometry(blobs()), 3, np.random.RandomState(0))
    # Of all objects, and of those that are not isolated.
    assert counted.n_fits == 2 * (1 + _clusters._PATIENCE)


def test_random_seeds_go_on_as_long_as_they_find_something_better(counted, monkeypatch):
    sums = 1.0 - 0.01 * np.arange(1 + _clusters._N_KMEANS)
    monkeypatch.setattr(counted, "inertias", sums)
    hard_clusters(Geometry(blobs()), 3, np.random.RandomState(0))
    assert counted.n_fits == 2 * (1 + _clusters._N_KMEANS)


def test_random_seeds_of_few_objects_are_tried_in_one_go(counted):
    hard_clusters(Geometry(blobs(300)), 3, np.random.RandomState(0))
    assert counted.n_fits == 2 * (1 + 1)


def test_hard_clusters_are_those_of_the_data(rng):
    X, y = make_blobs(1500, centers=[[0, 0], [9, 0], [0, 9]], random_state=1)
    outliers = rng.uniform(40, 60, size=(5, 2))
    found = hard_clusters(
        Geometry(np.vstack([X, outliers])), 3, np.random.RandomState(0)
    )
    is_known = found.objects < len(X)
    labels, objects = found.labels[is_known], found.objects[is_known]
    table = np.zeros((3, 3))
    np.add.at(table, (labels, y[objects]), 1)
    assert table.max(axis=0).sum() == len(objects)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_scale_by_pairs_inside_parts_is_that_of_all_pairs(metric, rng, monkeypatch):
    X = rng.normal(size=(1600, 3)) + 4 * rng.integers(2, size=(1600, 1))
    geometry = Geometry(X, metric)
    by_parts = geometry.contrast_scale(0.5, np.random.RandomState(0))
    lengths = geometry._sampled_lengths(np.random.RandomState(0))
    assert len(lengths) == 6 * 266 * 265 / 2 + 4 * 266
    monkeypatch.setattr(_geometry, "_MAX_TOGETHER", 1600)
    assert len(geometry._sampled_lengths(np.random.RandomState(0))) == 1600 * 1599 / 2
    of_all = geometry.contrast_scale(0.5, np.random.RandomState(0))
    assert by_parts == pytest.approx(of_all, rel=0.01)
    assert by_parts != of_all
