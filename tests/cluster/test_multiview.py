"""MultiviewECMdd: several dissimilarities of the same objects."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import credalis
from credalis import ECMdd, FocalSets, MultiviewECMdd
from credalis.cluster.relational._multiview import (
    cluster_weights,
    multiview_distances,
    product_weights,
    view_costs,
)
from helpers import assert_decreasing, assert_valid_partition


def two_views(seed=0):
    """A view with three clusters, one of noise, and the clusters."""
    X, labels = make_blobs(60, centers=3, cluster_std=0.8, random_state=seed)
    noise = np.random.RandomState(seed).uniform(size=(60, 8))
    return {"good": X, "noise": noise}, labels


@pytest.mark.parametrize("weights", ["global", "local"])
@pytest.mark.parametrize("seed", [1, 3, 4])
def test_noise_counts_less(seed, weights):
    views, labels = two_views(seed)
    model = MultiviewECMdd(3, weights=weights, random_state=0).fit(views)
    if weights == "global":
        alone = ECMdd(3, random_state=0).fit(views["good"])
        reached = adjusted_rand_score(labels, model.labels_)
        assert reached >= adjusted_rand_score(labels, alone.labels_) - 0.02
    good, noise = np.moveaxis(model.view_weights_, -1, 0)
    np.testing.assert_allclose(good * noise, 1)
    if weights == "local":
        is_cluster = model.focal_sets_.cardinality == 1
        assert model.view_weights_.shape == (len(model.focal_sets_), 2)
        good, noise = good[is_cluster], noise[is_cluster]
    assert (noise < good / 2).all()
    assert_decreasing(model.history_)
    assert_valid_partition(model.partition_)


@pytest.mark.parametrize("parameters", [{}, {"weights": "local"}, {"init": [0, 1, 5]}])
def test_one_view_is_ecmdd(parameters):
    X = two_views()[0]["good"]
    one = MultiviewECMdd(3, delta=2.0, random_state=0, **parameters).fit(X)
    parameters.pop("weights", None)
    other = ECMdd(3, delta=2.0, random_state=0, **parameters).fit(X)
    np.testing.assert_allclose(
        one.partition_.masses, other.partition_.masses, atol=1e-12
    )
    np.testing.assert_array_equal(one.medoids_, other.medoids_)
    np.testing.assert_array_equal(one.view_weights_, np.ones_like(one.view_weights_))


def test_weights_and_costs_of_a_worked_example():
    """One cluster and Ω of two; two objects; two views."""
    sets = FocalSets.from_subsets(2, [(), (0,), (0, 1)])
    distances = np.array([[[7, 7], [1, 2], [3, 4]], [[7, 7], [4, 8], [0, 1]]], float)
    powers = np.array([[9.0, 9.0], [0.5, 0.25], [0.1, 0.2]])
    costs = view_costs(distances, powers, sets, alpha=2.0)
    np.testing.assert_allclose(
        costs, [[0, 0], [0.5 + 0.5, 2 + 2], [4 * (0.3 + 0.8), 4 * 0.2]]
    )
    np.testing.assert_allclose(product_weights(np.array([2.0, 8.0])), [2.0, 0.5])
    np.testing.assert_allclose(product_weights(np.zeros(2)), [1.0, 1.0])
    # As in the program of the authors: (F_1 F_2)^(1/2) / F_v for each set.
    np.testing.assert_allclose(product_weights(costs)[:2], [[1, 1], [2, 0.5]])


def test_weights_minimise_the_cost_under_a_product_of_one(rng):
    costs = rng.uniform(0.1, 5, size=(4, 3))
    best = product_weights(costs)
    np.testing.assert_allclose(best.prod(axis=1), 1)
    for _ in range(50):
        other = np.exp(rng.normal(size=(4, 3)))
        other /= other.prod(axis=1, keepdims=True) ** (1 / 3)
        assert ((best * costs).sum(axis=1) <= (other * costs).sum(axis=1) + 1e-12).all()


def test_dissimilarities_to_sets_are_weighted():
    sets = FocalSets.full(2)
    to_medoids = np.array([[[1.0], [3.0]], [[2.0], [6.0]]])
    to_sets = np.array([[[0], [1], [3], [5]], [[0], [2], [6], [7]]], float)
    weights = np.array([[1.0, 1.0], [1.0, 2.0], [3.0, 4.0], [2.0, 5.0]])
    of_views, together = multiview_distances(to_medoids, to_sets, weights, sets, 1.0)
    # Ω: (5 + 2)/2 and (7 + 4)/2.
    np.testing.assert_allclose(of_views[:, 3, 0], [3.5, 5.5])
    np.testing.assert_allclose(
        together[1:, 0], [1 + 2 * 2, 3 * 3 + 4 * 6, 2 * 3.5 + 5 * 5.5]
    )
    np.testing.assert_array_equal(cluster_weights(weights, sets), weights[1:3])
    # A cluster that is no focal set has the weights of those it is in.
    some = FocalSets.from_subsets(2, [(), (0,), (0, 1)])
    found = cluster_weights(weights[:3], some)
    np.testing.assert_array_equal(found, [weights[1], weights[2]])


def test_matrices_tables_and_columns_are_the_same():
    views, _ = two_views()
    tables = MultiviewECMdd(3, random_state=0).fit(views)
    X = np.hstack(list(views.values()))
    groups = {"good": [0, 1], "noise": list(range(2, 10))}
    columns = MultiviewECMdd(3, views=groups, random_state=0).fit(X)
    assert columns.partition_ == tables.partition_
    matrices = {name: cdist(each, each) for name, each in views.items()}
    model = MultiviewECMdd(3, metric="precomputed", random_state=0)
    given = model.fit(matrices)
    np.testing.assert_allclose(
        given.partition_.masses, tables.partition_.masses, atol=1e-9
    )
    beside = np.hstack(list(matrices.values()))
    halves = [list(range(60)), list(range(60, 120))]
    joined = MultiviewECMdd(3, views=halves, metric="precomputed", random_state=0)
    assert joined.fit(beside).partition_ == given.partition_
    assert given.predict_partition(matrices) == given.partition_


def test_units_change_weights_no_more_than_rounding():
    # Without Ω: η, which chooses its medoid, has a unit.
    sets = FocalSets.from_subsets(3, [(), (0,), (1,), (2,)])
    views, _ = two_views()
    model = MultiviewECMdd(3, focal_sets=sets, random_state=0)
    plain = clone(model).fit(views)
    scaled = clone(model).fit({**views, "noise": 1000 * views["noise"]})
    np.testing.assert_allclose(scaled.view_weights_, plain.view_weights_, rtol=1e-9)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)


@pytest.mark.parametrize("weights", ["global", "local"])
def test_new_objects_after_a_file(weights, tmp_path):
    views, _ = two_views()
    model = MultiviewECMdd(3, weights=weights, random_state=0).fit(views)
    model.save(tmp_path / "model")
    loaded = credalis.load(tmp_path / "model")
    new = {name: each[:5] + 0.01 for name, each in views.items()}
    assert loaded.predict_partition(new) == model.predict_partition(new)
    np.testing.assert_array_equal(model.predict(new), model.labels_[:5])


@pytest.mark.parametrize(
    ("X", "parameters", "message"),
    [
        (np.eye(4), {"weights": "some"}, r"weights must be one of .* got 'some'"),
        (np.eye(4), {"metric": "gower"}, r"metric must be one of .* got 'gower'"),
        (
            [1 - np.eye(4), np.ones((4, 3))],
            {"metric": "precomputed"},
            r"each of the views must be a square matrix .* \(4, 3\) for view '1'",
        ),
        (
            [np.eye(4), np.ones((4, 3))],
            {},
            r"all dissimilarities of view '1' are 0",
        ),
        ([np.eye(4), 1e300 * np.eye(4)], {}, r"X must have|X is too|spread"),
    ],
)
def test_bad_input_is_named(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        MultiviewECMdd(2, **parameters).fit(X)
