import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from credalis import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._medoids import (
    core_of,
    draw_seeds,
    k_medoids,
    nearest_distinct_objects,
    objects_near,
    ordinary_value,
    settled_medoids,
)

CENTERS = [[0, 0], [9, 0], [0, 9]]


@pytest.fixture(scope="module")
def data():
    X, y = make_blobs(150, centers=CENTERS, random_state=0)
    return cdist(X, X), y


def test_seeds_come_from_different_clusters(data, seed):
    matrix, y = data
    rng = np.random.RandomState(seed)
    seeds = draw_seeds(matrix**2, 3, np.arange(len(y)), rng)
    assert len(set(y[seeds])) == 3


def test_seeds_are_distinct_candidates(seed):
    matrix = np.zeros((6, 6))
    candidates = np.array([1, 3, 4, 5])
    seeds = draw_seeds(matrix, 4, candidates, np.random.RandomState(seed))
    assert sorted(seeds) == candidates.tolist()


def test_objects_that_coincide_are_not_chosen_twice():
    points = np.array([[0.0], [0.0], [5.0]])
    scores = np.array([[0.0, 0.1, 0.2], [0.0, 0.1, 0.2]])
    chosen = nearest_distinct_objects(scores, cdist(points, points))
    assert chosen.tolist() == [0, 2]
    # Where all coincide, other row numbers have to do.
    chosen = nearest_distinct_objects(scores, np.zeros((3, 3)))
    assert chosen.tolist() == [0, 1]


def test_medoids_of_clear_clusters(data):
    matrix, y = data
    medoids, labels = k_medoids(matrix, 3, np.random.RandomState(0))
    for k, medoid in enumerate(medoids):
        members = np.flatnonzero(y == y[medoid])
        assert (labels[members] == k).all()
        within = matrix[np.ix_(members, members)].sum(axis=0)
        assert medoid == members[within.argmin()]
    assert settled_medoids(matrix, medoids).tolist() == medoids.tolist()


def test_isolated_objects_are_not_in_the_core(data):
    matrix, _ = data
    far = np.full((151, 151), 500.0)
    far[:150, :150] = matrix
    far[150, 150] = 0
    core = core_of(far, 3, np.random.RandomState(0), are_squared=False)
    assert 150 not in core.objects
    nearest = far[core.medoids].min(axis=0)
    assert 150 not in objects_near(nearest, 3, are_squared=False)
    np.testing.assert_allclose(core.shares.sum(axis=1), 1.0)


def test_ordinary_value_is_never_zero():
    assert ordinary_value(np.array([0.0] * 99 + [3.0]), 1.0) == 3.0
    assert ordinary_value(np.zeros(5), 0.5) == 0.5
    assert ordinary_value(np.zeros(5), 0.0) == 1.0


def test_attributes_of_focal_sets_are_renumbered_with_them():
    focal_sets = FocalSets.singletons(2)
    solution = Solution(
        np.array([[0.1, 0.2, 0.3, 0.4]]),
        trace=None,
        per_cluster={"medoids_": np.array([7, 8])},
        per_set={"set_medoids_": np.array([-1, 7, 8, 9])},
    )
    columns = np.array([focal_sets.index(s) for s in ((), (1,), (0,), (0, 1))])
    turned = solution.renumbered(np.array([1, 0]), columns, focal_sets)
    assert turned.per_cluster["medoids_"].tolist() == [8, 7]
    assert turned.per_set["set_medoids_"].tolist() == [-1, 8, 7, 9]
