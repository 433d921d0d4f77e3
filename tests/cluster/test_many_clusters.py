"""NNEVCLUS of many clusters, which its networks begin with."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from credalis import NNEVCLUS, FocalSets
from credalis.cluster.nnevclus._blocks import _anchors
from credalis.cluster.nnevclus._linear import can_be_linear, linear_start
from credalis.cluster.nnevclus._settings import MANY_CLUSTERS, Settings
from credalis.network import CredalNetwork, Perceptron, Standardization, with_constant
from credalis.sources import ArraySource

N_CLUSTERS = 40


def many(n_samples, n_clusters=N_CLUSTERS, n_features=3, seed=0, spread=0.5):
    """Round clusters on a grid of places, sorted."""
    places = np.stack(np.meshgrid(*[np.arange(4.0)] * n_features), -1)
    places = places.reshape(-1, n_features)
    law = np.random.RandomState(0)
    centers = 5 * places[law.permutation(len(places))[:n_clusters]]
    rng = np.random.RandomState(seed + 1)
    y = np.sort(
        np.append(
            np.arange(n_clusters), rng.randint(n_clusters, size=n_samples - n_clusters)
        )
    )
    return centers[y] + spread * rng.normal(size=(n_samples, n_features)), y


@pytest.mark.parametrize("n_hidden", [6, 9, 3, 5])
def test_outputs_tell_the_nearest_centre(n_hidden):
    X, y = many(400, 12)
    focal_sets = FocalSets.singletons(12)
    network = CredalNetwork(Perceptron((3, n_hidden, len(focal_sets))), 0)
    standardize = Standardization.of(X)
    start = network.initial_parameters(np.random.RandomState(0))
    parameters = linear_start(network, start, X, y, standardize, focal_sets)
    masses = network.masses(parameters, with_constant(standardize(X))).T
    centers = np.array([X[y == k].mean(axis=0) for k in range(12)])
    squares = cdist(X, centers, "sqeuclidean")
    singles = masses[:, [focal_sets.index((k,)) for k in range(12)]]
    assert_array_equal(singles.argmax(axis=1), squares.argmin(axis=1))
    # Posterior probabilities of round clusters of one size.
    variance = squares[np.arange(400), y].mean() / 3
    posterior = np.exp(-0.5 * (squares - squares.min(axis=1)[:, None]) / variance)
    posterior /= posterior.sum(axis=1)[:, None]
    shares = singles / singles.sum(axis=1)[:, None]
    assert_allclose(shares, posterior, atol=1e-8)
    assert 0 < masses[:, focal_sets.empty_index].max() < 0.1
    assert_array_equal(start, network.initial_parameters(np.random.RandomState(0)))


def test_too_few_or_too_many_layers_have_no_linear_start():
    for sizes, expected in [
        ((3, 3, 9), True),
        ((3, 2, 9), False),
        ((3, 5, 5, 9), False),
    ]:
        assert can_be_linear(CredalNetwork(Perceptron(sizes), 0)) == expected


@pytest.mark.parametrize("focal_sets", ["auto", "two-step"])
def test_many_clusters_are_found(focal_sets):
    X, y = many(1500)
    model = NNEVCLUS(N_CLUSTERS, focal_sets=focal_sets, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.97
    assert_array_equal(model.predict(X), model.labels_)
    assert len(np.unique(model.labels_)) == N_CLUSTERS


def test_hidden_units_do_not_grow_with_many_clusters():
    def units(n_clusters):
        settings = Settings.of(NNEVCLUS(n_clusters), 5000)
        return settings.hidden_sizes(FocalSets.singletons(n_clusters))[0]

    assert units(MANY_CLUSTERS - 1) == round(1.5 * (MANY_CLUSTERS + 1))
    assert units(98) == units(500) == 150


def test_many_clusters_are_refined_by_smaller_steps():
    def rates(**parameters):
        settings = Settings.of(NNEVCLUS(N_CLUSTERS, **parameters), 5000)
        return settings.learning_rate, settings.beginning_with_clusters().learning_rate

    assert rates() == (0.01, 0.003)
    assert rates(learning_rate_init=0.02) == (0.02, 0.02)
    assert rates(solver="lbfgs") == (0.0, 0.0)


def test_anchors_are_clear_rows():
    focal_sets = FocalSets.pairs(3)
    rng = np.random.RandomState(0)
    masses = rng.dirichlet(np.full(len(focal_sets), 0.2), size=300)
    anchors = _anchors(masses, focal_sets)
    rest = 1 - masses[:, focal_sets.empty_index]
    singles = masses[:, [focal_sets.index((k,)) for k in range(3)]] / rest[:, None]
    is_clear = singles.max(axis=1) >= 2 / 3
    assert_array_equal(anchors >= 0, is_clear)
    assert_array_equal(anchors[is_clear], singles[is_clear].argmax(axis=1))


@pytest.mark.slow
def test_many_clusters_stay_in_blocks(tmp_path):
    X, y = many(6000, spread=1.0)
    path = tmp_path / "fit"
    model = NNEVCLUS(N_CLUSTERS, random_state=0).fit(ArraySource(X), checkpoint=path)
    assert adjusted_rand_score(y, model.predict(X)) > 0.93
    again = NNEVCLUS(N_CLUSTERS, random_state=0).fit(ArraySource(X), checkpoint=path)
    assert_array_equal(again.transform(X), model.transform(X))
