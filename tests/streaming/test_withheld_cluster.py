"""One of fifteen clusters like those of s2 is missing at first, and comes later."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.svm import OneClassSVM

from credalis import NNEVCLUS
from credalis.streaming import NewClusterMonitor

N_CLUSTERS = 15
NEW = N_CLUSTERS - 1
EVERYTHING = np.arange(N_CLUSTERS)
# What the alarm and the extended network must reach.
MAX_DELAY = 200
MAX_LOSS = 0.03


@dataclass
class Outcome:
    n_ordinary: int
    is_false: bool
    delay: int
    agreement: float
    full_agreement: float

    def check(self):
        assert not self.is_false
        assert self.delay <= MAX_DELAY
        assert self.agreement >= self.full_agreement - MAX_LOSS


def gaussian_clusters(rng):
    """A sampler of clusters with sizes and distances like those of s2."""
    centers = []
    while len(centers) < N_CLUSTERS:
        center = rng.uniform(-1.7, 1.7, size=2)
        if all(np.hypot(*(center - other)) > 0.64 for other in centers):
            centers.append(center)
    factors = np.array(
        [
            np.linalg.qr(rng.normal(size=(2, 2)))[0] * rng.uniform(0.11, 0.21, size=2)
            for _ in EVERYTHING
        ]
    )

    def draw(n_objects, clusters=EVERYTHING):
        y = rng.choice(clusters, n_objects)
        normal = rng.standard_normal((n_objects, 2))
        return np.array(centers)[y] + np.einsum("nij,nj->ni", factors[y], normal), y

    return draw


def outcome(make, fitted, calibration, ordinary, mixed, everything, test):
    """Watch ordinary and mixed objects, extend, and compare.

    Mixed batches are objects and which of them are new; they end with the 200th.
    """
    model = make(N_CLUSTERS - 1).fit(fitted)
    monitor = NewClusterMonitor(model, random_state=0).fit(calibration)
    for X in ordinary:
        monitor.update(X)
    n_ordinary, is_false = monitor.n_seen_, monitor.alarm_
    is_new = np.empty(0, dtype=bool)
    for X, is_new_object in mixed:
        monitor.update(X)
        is_new = np.append(is_new, is_new_object)
        if is_new.sum() >= MAX_DELAY:
            break
    assert monitor.alarm_
    X, y = test
    return Outcome(
        n_ordinary,
        is_false,
        int(is_new[: monitor.alarm_at_ - n_ordinary].sum()),
        adjusted_rand_score(y, monitor.extend().predict(X)),
        adjusted_rand_score(y, make(N_CLUSTERS).fit(everything).predict(X)),
    )


def generated(seed, n_fitted, n_ordinary, **parameters):
    draw = gaussian_clusters(np.random.default_rng(seed))
    old = EVERYTHING[:NEW]
    batches = (draw(500) for _ in range(60))
    return outcome(
        lambda n_clusters: network(n_clusters, seed, **parameters),
        draw(n_fitted, old)[0],
        draw(n_fitted, old)[0],
        (draw(1000, old)[0] for _ in range(n_ordinary // 1000)),
        ((X, y == NEW) for X, y in batches),
        draw(2 * n_fitted)[0],
        draw(5000),
    )


def network(n_clusters, seed, **parameters):
    # A kernel about as wide as a cluster: the default is made for few large ones.
    detector = OneClassSVM(nu=0.2, gamma=5.0)
    return NNEVCLUS(
        n_clusters,
        novelty_detector=detector,
        init="peaks",
        random_state=seed,
        **parameters,
    )


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.slow
def test_new_cluster_is_noticed_and_learned(seed):
    found = generated(seed, 1200, 10_000, max_iter=100)
    assert found.n_ordinary == 10_000
    found.check()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_new_cluster_after_a_long_stream(seed):
    found = generated(seed, 2500, 100_000)
    assert found.n_ordinary == 100_000
    found.check()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_new_cluster_of_s2(seed, benchmark_data):
    X, y = benchmark_data("s2")
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    old = rng.permutation(np.flatnonzero(y != seed))
    new = rng.permutation(np.flatnonzero(y == seed))
    fitted, calibration, held_out = np.array_split(old, 3)
    shown, unseen = np.array_split(new, [MAX_DELAY])
    # No object comes twice: drawn again it would be a dense place.
    passed, met = np.array_split(held_out, 2)
    mixed = rng.permutation(np.concatenate([met, shown]))
    test = np.concatenate([held_out, unseen])
    outcome(
        lambda n_clusters: network(n_clusters, seed),
        X[fitted],
        X[calibration],
        [X[passed]],
        [(X[mixed], y[mixed] == seed)],
        X[np.concatenate([fitted, calibration, shown])],
        (X[test], y[test]),
    ).check()
