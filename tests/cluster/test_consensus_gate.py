"""Which density model may outvote the committee."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from credalis import Consensus
from credalis.cluster.consensus._gate import (
    NEIGHBORHOODS,
    _kernel_scores,
    _log_kernel,
    _occur_once,
    _simplest,
    _trust,
    adequacy,
)
from credalis.cluster.consensus._mixtures import one_hot


def judged(X, n_clusters, labels=None):
    X = X / np.sqrt(X.var(axis=0).mean())
    if labels is None:
        labels = KMeans(n_clusters, n_init=1, random_state=0).fit_predict(X)
    start = one_hot(labels, n_clusters)
    return adequacy(X, [start], n_clusters, np.random.RandomState(0)), X


def test_a_mixture_that_is_true_is_trusted(rng):
    y = rng.integers(2, size=400)
    X = rng.normal(size=(400, 20)) * np.where(y, 1.0, 2.5)[:, None]
    gate, X = judged(X, 2)
    assert gate.trusted == "spherical"
    assert gate.weight > 0.5
    assert gate.z > 1
    labels = gate.mixture.memberships(X).argmax(axis=1)
    assert adjusted_rand_score(y, labels) > 0.8


def test_equal_spheres_are_trusted_as_such(rng):
    y = rng.integers(8, size=600)
    X = 4 * np.eye(8)[y] + rng.normal(size=(600, 8))
    gate, X = judged(X, 8)
    assert gate.trusted == "isotropic"
    assert gate.weight > 0.5
    labels = gate.mixture.memberships(X).argmax(axis=1)
    assert adjusted_rand_score(y, labels) > 0.9


def test_the_simplest_that_is_as_good_is_taken(rng):
    best = rng.normal(size=100)
    noise = rng.normal(size=100)
    worse = best - 0.5 + 0.1 * noise
    nearly = best - 0.01 + noise - noise.mean()
    scores = {"isotropic": worse, "spherical": nearly, "tied": worse, "full": best}
    assert _simplest(scores) == "spherical"
    assert _simplest(scores | {"spherical": worse}) == "full"


def test_a_rival_that_agrees_is_hardly_one():
    assert _trust(2.0, 0.0) == 1.0
    assert _trust(0.0, 0.0) == 0.0
    assert _trust(0.0, 0.9) == pytest.approx(0.9)
    # Unless it is clearly better.
    assert _trust(-2.0, 1.0) == 0.0
    assert _trust(1.0, -0.1) == 0.5


def test_neighborhoods_are_trusted_where_no_mixture_fits():
    X, _ = make_moons(300, noise=0.05, random_state=0)
    gate, _ = judged(X, 2)
    assert gate.trusted == NEIGHBORHOODS
    assert gate.weight == 1.0
    assert gate.mixture is None


@pytest.mark.filterwarnings("ignore::credalis.exceptions.NoClustersWarning")
@pytest.mark.parametrize("seed", range(4))
def test_a_coarse_grid_has_no_neighborhoods(seed):
    X, y = make_blobs(600, centers=3, n_features=3, cluster_std=2.0, random_state=seed)
    grid = np.round(X / 4)
    model = Consensus(3, random_state=0).fit(grid)
    assert model.gate_["trusted"] != NEIGHBORHOODS
    assert adjusted_rand_score(y, model.labels_) > 0.7


def test_rows_that_occur_once():
    X = np.array([[0.0, 1], [2, 1], [0, 1], [3, 3], [0, 1], [2, 2]])
    assert _occur_once(X).tolist() == [False, True, False, True, False, True]


def test_heavy_tails_earn_no_gaussian_any_trust(rng):
    y = rng.integers(3, size=400)
    X = 10 * np.eye(3)[y] + rng.standard_t(2.5, size=(400, 3))
    gate, _ = judged(X, 3, y)
    assert gate.trusted is None
    assert gate.weight == 0
    assert gate.rival.startswith("t ")


def test_one_gaussian_is_not_two(rng):
    gate, _ = judged(rng.normal(size=(300, 2)), 2)
    assert gate.weight < 0.5


def test_few_rows_are_not_judged(rng):
    gate, _ = judged(rng.normal(size=(20, 2)), 2)
    assert gate.trusted is None
    assert gate.rival is None


def test_kernel_density_is_a_density():
    grid = np.linspace(-8, 8, 2001)
    centers = np.array([-1.0, 0.0, 2.0])
    squares = (grid[:, None] - centers) ** 2
    density = np.exp(_log_kernel(squares, 0.5, 1))
    assert trapezoid(density, grid) == pytest.approx(1.0, abs=1e-6)


def test_kernel_scores_do_not_see_their_own_fold(rng):
    X = rng.normal(size=(60, 2))
    folds = np.arange(60) % 3
    scores = _kernel_scores(X, folds)
    far = X.copy()
    far[0] = [50.0, 50.0]
    assert _kernel_scores(far, folds)[0] < scores[0] - 100
