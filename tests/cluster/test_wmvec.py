"""WMVEC: views of the same objects, and how much each counts."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import credalis
from credalis import ECM, WMVEC
from credalis.cluster._inputs._views import view_columns
from credalis.cluster.prototypes._view_weights import (
    ViewCosts,
    column_moments,
    noise_like,
)
from credalis.objectives import ecm_model
from helpers import assert_decreasing, assert_valid_partition

pytestmark = pytest.mark.filterwarnings(
    "ignore::credalis.exceptions.ExperimentalWarning"
)


def three_views(seed, n_noise=2, n_samples=90):
    """Two views with the same clusters, one without any, and the clusters."""
    rng = np.random.RandomState(seed)
    first, labels = make_blobs(n_samples, centers=3, cluster_std=1.0, random_state=seed)
    second = 3 * rng.normal(size=(3, 4))[labels] + rng.normal(size=(n_samples, 4))
    noise = 10 * rng.uniform(size=(n_samples, n_noise))
    return {"first": first, "second": second, "noise": noise}, labels


@pytest.fixture(scope="module")
def views():
    return three_views(8)[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_noise", [2, 10])
def test_noise_counts_little_and_does_no_harm(seed, n_noise):
    tables, labels = three_views(seed + 6, n_noise)
    two = WMVEC(3, random_state=0).fit([tables["first"], tables["noise"]])
    alone = ECM(3, random_state=0).fit(tables["first"])
    reached = adjusted_rand_score(labels, two.labels_)
    assert two.view_weights_[1] < 0.1
    assert reached >= adjusted_rand_score(labels, alone.labels_) - 0.02
    three = WMVEC(3, random_state=0).fit(tables)
    assert list(three.views_) == ["first", "second", "noise"]
    assert three.view_weights_.argmin() == 2
    np.testing.assert_allclose(three.view_weights_.sum(), 1)


@pytest.mark.parametrize("parameters", [{}, {"delta": 2.0}, {"init": "peaks"}])
def test_one_view_is_ecm(views, parameters):
    X = views["first"]
    one = WMVEC(3, random_state=0, **parameters).fit(X)
    other = ECM(3, random_state=0, **parameters).fit(X)
    np.testing.assert_allclose(
        one.partition_.masses, other.partition_.masses, atol=1e-6
    )
    np.testing.assert_allclose(one.loss_, other.loss_, rtol=1e-6)
    np.testing.assert_array_equal(one.view_weights_, [1.0])


def test_much_entropy_makes_all_views_equal(views):
    X = np.hstack([views["first"], views["second"]])
    groups = [[0, 1], [2, 3, 4, 5]]
    equal = WMVEC(
        3, views=groups, scale_views="none", view_entropy=1e9, delta=5.0, random_state=0
    ).fit(X)
    np.testing.assert_allclose(equal.view_weights_, 0.5, atol=1e-6)
    # Half of the sum of the squares of both.
    plain = ECM(3, delta=5.0, beta=equal.beta_, random_state=0).fit(X / np.sqrt(2))
    np.testing.assert_allclose(
        equal.partition_.masses, plain.partition_.masses, atol=1e-4
    )


def test_weights_of_a_worked_example():
    """Two objects on their prototypes in one view, at 1 and 3 from them in the other.

    With β = 2 and δ² = 4 masses are in proportion to 1 / cost; each has one set and ∅.
    """
    X = np.array([[0.0, 1.0], [0.0, 3.0]])
    views = {"a": np.array([0]), "b": np.array([1])}
    costs = ViewCosts(views, np.ones(2), np.array([True, True]), 2.0, None)
    model = ecm_model(credalis.FocalSets.singletons(1), 1.0, 2.0, 2.0)
    weights = costs.equal_weights()
    centers = np.zeros((1, 2))
    sums = column_moments(X, centers, weights, model)
    # Costs of the cluster are 1/2 and 9/2, of ∅ 4.
    first, second = 4 / 4.5, 4 / 8.5
    scatter = first**2 * 1 + second**2 * 9
    np.testing.assert_allclose(
        sums.scatters(model, centers, centers), [0.0, scatter], rtol=1e-12
    )
    noise = 4 * ((1 - first) ** 2 + (1 - second) ** 2)
    np.testing.assert_allclose(sums.loss, scatter / 2 + noise)
    after = weights.updated(np.array([0.0, scatter]))
    ratio = np.exp(-scatter / 2.0)
    np.testing.assert_allclose(after.views, np.array([1, ratio]) / (1 + ratio))
    expected = 2.0 * (after.views * np.log(2 * after.views)).sum()
    np.testing.assert_allclose(after.penalty, expected)
    assert weights.penalty == 0


def test_weights_of_columns_of_a_worked_example():
    views = {"a": np.array([0, 1, 2])}
    costs = ViewCosts(views, np.ones(1), np.array([True, True, False]), 1.0, 4.0)
    after = costs.equal_weights().updated(np.array([1.0, 3.0, 0.0]))
    # Two columns vary: weights are in proportion to exp(-2 E_p / 4).
    shares = np.exp([-0.5, -1.5]) / np.exp([-0.5, -1.5]).sum()
    np.testing.assert_allclose(after.features[0], [*(2 * shares), 0.0])
    np.testing.assert_allclose(after.penalty, 4 * shares @ np.log(2 * shares))


def test_weights_minimise_the_cost(rng):
    views = {"a": np.array([0, 1]), "b": np.array([2]), "c": np.array([1, 2])}
    costs = ViewCosts(views, rng.uniform(1, 2, 3), np.ones(3, dtype=bool), 0.7, 0.4)
    scatters = rng.uniform(size=3)

    def cost(weights):
        return weights.columns @ scatters + weights.penalty

    before = costs.equal_weights()
    after = before.updated(scatters)
    assert cost(after) < cost(before)
    for _ in range(20):
        other = rng.dirichlet(np.ones(3))
        # Those of views are the best for the weights of columns before.
        best = before.updated(scatters).views
        assert cost(type(before)(costs, best, before.features)) <= cost(
            type(before)(costs, other, before.features)
        )


@given(
    seed=st.integers(0, 1000),
    entropy=st.sampled_from([0.01, 0.3, 3.0]),
    feature_entropy=st.sampled_from([None, 0.1, 1.0]),
    scale=st.sampled_from(["noise", "variance", "none"]),
)
@settings(max_examples=15, deadline=None)
def test_the_cost_never_increases(seed, entropy, feature_entropy, scale):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(30, 4)) * rng.uniform(0.1, 10, size=4)
    model = WMVEC(
        2,
        views=[[0, 1], [2], [1, 3]],
        view_entropy=entropy,
        feature_entropy=feature_entropy,
        scale_views=scale,
        tol=0,
        max_iter=20,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    assert_decreasing(model.history_, rtol=1e-9)
    assert_valid_partition(model.partition_)


def test_neither_units_nor_copies_of_columns_change_the_result(views):
    plain = WMVEC(3, random_state=0).fit(views)
    scaled = WMVEC(3, random_state=0).fit({**views, "noise": 1e6 * views["noise"]})
    np.testing.assert_allclose(scaled.view_weights_, plain.view_weights_, rtol=1e-6)
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)


def test_noise_in_few_columns_is_divided_more_easily():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(400, 11))
    views = {"few": np.array([0]), "many": np.arange(1, 11)}
    model = WMVEC(3, focal_sets="singletons", beta=1.01)
    few, many = model._noise_shares(X, views, np.ones(2), rng)
    # Three equal parts of a uniform distribution leave a ninth of its variance, and
    # masses are nearly those of k-means.
    np.testing.assert_allclose(few, 1 / 9, atol=0.02)
    assert few < 0.5 < many < 1
    # Pairs of clusters divide it further.
    pairs = WMVEC(3, beta=1.01)._noise_shares(X, views, np.ones(2), rng)
    assert pairs[0] < 0.8 * few
    one = WMVEC(1)._noise_shares(X, views, np.ones(2), rng)
    np.testing.assert_array_equal(one, 1.0)


def test_noise_has_the_axes_of_the_data():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(4000, 2)) * [6.0, 3.0] @ [[0.6, 0.8], [-0.8, 0.6]]
    noise = noise_like(X, 20_000, rng)
    np.testing.assert_allclose(noise.std(axis=0), np.sqrt([1 / 3, 1 / 12]), rtol=0.03)
    assert np.abs(noise).max() <= 1


@pytest.mark.filterwarnings("ignore::credalis.exceptions.MergedClustersWarning")
@pytest.mark.parametrize("seed", range(6))
def test_noise_in_one_column_does_no_harm(seed):
    tables, labels = three_views(seed, 1, 150)
    two = WMVEC(3, random_state=0).fit([tables["first"], tables["noise"]])
    alone = ECM(3, random_state=0).fit(tables["first"])
    assert two.view_weights_[1] < 0.1
    reached = adjusted_rand_score(labels, two.labels_)
    assert reached >= adjusted_rand_score(labels, alone.labels_) - 0.02


def test_weights_of_columns_are_those_of_the_authors_program():
    """There w_vp is in proportion to exp(-r_v E_p / γ), one for all clusters."""
    rng = np.random.RandomState(0)
    scatters, gamma = rng.uniform(1, 5, size=5), 2.0
    views = {"a": np.arange(2), "b": np.arange(2, 5)}
    # Squared distances divided by the number of columns, as if weights summed to 1.
    costs = ViewCosts(views, 1 / np.array([2.0, 3.0]), np.ones(5, bool), 3.0, gamma)
    after = costs.equal_weights().updated(scatters)
    for columns, weight, features in zip(
        views.values(), after.views, after.features, strict=True
    ):
        expected = np.exp(-weight * scatters[columns] / gamma)
        np.testing.assert_allclose(features / len(columns), expected / expected.sum())
    np.testing.assert_allclose(
        after.columns,
        np.concatenate(
            [
                weight * features / len(features)
                for weight, features in zip(after.views, after.features, strict=True)
            ]
        ),
    )


def test_columns_of_a_frame_are_views_by_name(views):
    names = ["a", "b", "p", "q", "r", "s"]
    X = np.hstack([views["first"], views["second"]])
    frame = pd.DataFrame(X, columns=names)
    groups = {"first": ["a", "b"], "second": ["p", "q", "r", "s"]}
    by_name = WMVEC(3, views=groups, random_state=0).fit(frame)
    by_number = WMVEC(3, views=[[0, 1], [2, 3, 4, 5]], random_state=0).fit(X)
    tables = WMVEC(3, random_state=0).fit([frame[["a", "b"]], frame[names[2:]]])
    for other in (by_name, tables):
        # Columns of a frame are added in another order.
        np.testing.assert_allclose(
            other.partition_.masses, by_number.partition_.masses, atol=1e-9
        )
    assert by_name.views_["second"].tolist() == [2, 3, 4, 5]
    assert by_name.predict_partition(frame) == by_name.partition_


def test_tables_are_predicted_as_they_were_fitted(views, tmp_path):
    model = WMVEC(3, random_state=0).fit(views)
    assert model.predict_partition(views) == model.partition_
    turned = dict(reversed(views.items()))
    assert model.predict_partition(turned) == model.partition_
    together = np.hstack(list(views.values()))
    np.testing.assert_array_equal(model.predict(together), model.labels_)
    model.save(tmp_path / "model")
    loaded = credalis.load(tmp_path / "model")
    assert loaded.predict_partition(views) == model.partition_
    assert list(loaded.views_) == list(model.views_)
    with pytest.raises(ValueError, match=r"X must have the views .* got \['first'\]"):
        model.predict({"first": views["first"]})
    with pytest.raises(ValueError, match=r"view 'second' of X must have 4 columns"):
        model.predict({**views, "second": views["second"][:, :1]})


def test_columns_in_no_view_are_not_used(views):
    X = np.hstack([views["first"], views["noise"]])
    model = WMVEC(3, views=[[0, 1]], random_state=0).fit(X)
    alone = WMVEC(3, random_state=0).fit(views["first"])
    np.testing.assert_allclose(
        model.partition_.masses, alone.partition_.masses, atol=1e-6
    )
    np.testing.assert_array_equal(model.column_weights_[2:], 0)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("ab", r"views must be a mapping .* got 'ab'"),
        ([], r"views must be a mapping .* got \[\]"),
        (3, r"views must be a mapping .* got 3"),
        ([3], r"views\[0\] must be a list of columns of X, got 3"),
        ({"a": "b"}, r"views\['a'\] must be a list of columns of X, got 'b'"),
        ([[0], [6]], r"views\[1\] must hold numbers between 0 and 5, got 6"),
        ([[0], [True]], r"views\[1\] must hold numbers between 0 and 5, got True"),
        ([["x"]], r"views\[0\] must hold numbers between 0 and 5, got 'x'"),
        ([[0, 0]], r"views\[0\] must hold at least one column and none twice"),
        ([[]], r"views\[0\] must hold at least one column and none twice"),
        ({1: [0], "1": [1]}, r"views must have different names"),
    ],
)
def test_views_that_are_none_are_refused_by_name(groups, message):
    with pytest.raises(ValueError, match=message):
        view_columns(groups, 6)


@pytest.mark.parametrize(
    ("X", "parameters", "message"),
    [
        ({}, {}, "X must hold at least one table"),
        (
            [np.zeros((3, 1)), np.zeros((4, 1))],
            {},
            r"must have as many rows, 3, got 4 in view 1",
        ),
        ({"a": [["x"], ["y"]]}, {}, r"view 'a' of X"),
        (
            [np.eye(4), np.eye(4)],
            {"views": [[0]]},
            r"views must be None where X is several tables",
        ),
        (
            [np.eye(4), np.ones((4, 1))],
            {},
            r"each of the views must have a column that varies, view '1'",
        ),
        (np.eye(4), {"view_entropy": 0}, r"view_entropy must .* got 0"),
        (np.eye(4), {"feature_entropy": -1.0}, r"feature_entropy must .* got -1"),
        (np.eye(4), {"scale_views": True}, r"scale_views must be one of .* got True"),
        (np.eye(4), {"init": [[0.0]]}, r"init must have shape .* = \(2, 4\)"),
    ],
)
def test_bad_input_is_named(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        WMVEC(2, **parameters).fit(X)
