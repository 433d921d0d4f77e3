"""New clusters in a stream: false alarms, delay of the alarm, and the extended network.

A network learns 14 of 15 Gaussian clusters in the plane, placed anew for each seed, or
of the clusters of s2. The monitor then sees a long stream of these 14, and after it a
stream of all 15. Delays are counted in objects of the new cluster. After 200 of these
the network is extended from what the monitor has kept, and its agreement with the true
clusters, on objects that no fit has seen, is compared with that of a network fitted to
all 15. Another stream has scattered outliers in place of a new cluster.
"""

import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.svm import OneClassSVM

from benchmarks.harness import Score, Skipped, benchmark_data, benchmark_labels
from credalis import NNEVCLUS
from credalis.streaming import NewClusterMonitor

N_CLUSTERS = 15
N_SEEDS = 10
N_FITTED = N_CALIBRATION = 2500
N_ORDINARY = 100_000
N_TEST = 10_000
BATCH = 500
# A stream of the known clusters with this share of outliers, uniform on a square.
N_DIRTY = 40  # batches
OUTLIER_SHARE = 0.05
# Objects of the new cluster after which the network is extended.
N_NEW = 200
# A kernel about as wide as a cluster: the default is made for few large ones.
DETECTOR = OneClassSVM(nu=0.2, gamma=5.0)


def run():
    found = {"s2-like": [like_s2(seed) for seed in range(N_SEEDS)]}
    try:
        X, y = benchmark_data("s2"), benchmark_labels("s2")
        found["s2"] = [real_s2(X, y, seed) for seed in range(N_SEEDS)]
    except Skipped as reason:
        print(f"s2 left out: {reason}")
    scores = []
    for data, runs in found.items():
        for name in runs[0]:
            values = np.array([one[name] for one in runs], dtype=float)
            scores.append(
                Score(
                    data,
                    name,
                    values.mean(),
                    values.std(ddof=1),
                    len(values),
                    f"from {values.min():.4g} to {values.max():.4g}",
                )
            )
    return scores


def like_s2(seed):
    """One network, one stream without and one with the new cluster."""
    rng = np.random.default_rng(seed)
    draw = gaussian_clusters(rng)
    ordinary = np.arange(N_CLUSTERS - 1)
    stream = (draw(BATCH, ordinary)[0] for _ in range(N_ORDINARY // BATCH))
    with_new = (draw(BATCH, np.arange(N_CLUSTERS)) for _ in range(60))
    dirty = (with_outliers(draw(BATCH, ordinary)[0], rng) for _ in range(N_DIRTY))
    return outcomes(
        draw(N_FITTED, ordinary)[0],
        draw(N_CALIBRATION, ordinary)[0],
        stream,
        dirty,
        ((X, y == N_CLUSTERS - 1) for X, y in with_new),
        draw(N_FITTED + N_CALIBRATION, np.arange(N_CLUSTERS))[0],
        draw(N_TEST, np.arange(N_CLUSTERS)),
        seed,
    )


def gaussian_clusters(rng):
    """A sampler of clusters whose sizes and distances are those of s2."""
    centers = []
    while len(centers) < N_CLUSTERS:
        center = rng.uniform(-1.7, 1.7, size=2)
        if all(np.hypot(*(center - other)) > 0.64 for other in centers):
            centers.append(center)
    angles = rng.uniform(0, np.pi, N_CLUSTERS)
    cosines, sines = np.cos(angles), np.sin(angles)
    rotations = np.array([[cosines, -sines], [sines, cosines]]).transpose(2, 0, 1)
    factors = rotations * rng.uniform(0.11, 0.21, size=(N_CLUSTERS, 1, 2))

    def draw(n_objects, clusters):
        y = rng.choice(clusters, n_objects)
        normal = rng.standard_normal((n_objects, 2))
        return np.array(centers)[y] + np.einsum("nij,nj->ni", factors[y], normal), y

    return draw


def with_outliers(X, rng):
    """The same with some of the objects somewhere in a square around all clusters."""
    is_outlier = rng.random(len(X)) < OUTLIER_SHARE
    scattered = rng.uniform(-2.5, 2.5, size=X.shape)
    return np.where(is_outlier[:, None], scattered, X)


def real_s2(X, y, seed):
    """The same with one cluster of s2; the stream draws from held-out objects."""
    rng = np.random.default_rng(seed)
    is_new = y == seed % N_CLUSTERS
    old = rng.permutation(np.flatnonzero(~is_new))
    new = rng.permutation(np.flatnonzero(is_new))
    fitted, calibration, held_out = np.array_split(old, 3)
    shown, unseen = np.array_split(new, [N_NEW])
    # No object a second time in the stream: drawn again it would be a dense place.
    passed, met = np.array_split(held_out, 2)
    mixed = rng.permutation(np.concatenate([met, shown]))
    test = np.concatenate([held_out, unseen])
    return outcomes(
        X[fitted],
        X[calibration],
        [X[passed]],
        [with_outliers(X[passed], rng)],
        [(X[rows], is_new[rows]) for rows in np.array_split(mixed, 20)],
        X[np.concatenate([fitted, calibration, shown])],
        (X[test], y[test]),
        seed,
    )


def outcomes(fitted, calibration, stream, dirty, with_new, everything, test, seed):
    """What happened, by name."""
    model = network(N_CLUSTERS - 1, seed).fit(fitted)
    monitor = NewClusterMonitor(model, random_state=seed).fit(calibration)
    for X in dirty:
        monitor.update(X)
    of_outliers = int(monitor.alarm_)
    monitor.fit(calibration)
    for X in stream:
        monitor.update(X)
    false_alarms = int(monitor.alarm_)
    n_ordinary = monitor.n_seen_
    if monitor.alarm_:
        monitor.fit(calibration)
    start, is_new = monitor.n_seen_, np.empty(0, dtype=bool)
    for X, is_new_object in with_new:
        monitor.update(X)
        is_new = np.append(is_new, is_new_object)
        if monitor.alarm_ and is_new.sum() >= N_NEW:
            break
    delay = is_new[: monitor.alarm_at_ - start].sum() if monitor.alarm_ else np.inf
    clusters = monitor.propose()
    larger = monitor.extend()
    X, y = test
    of_larger = adjusted_rand_score(y, larger.predict(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_full = adjusted_rand_score(
            y, network(N_CLUSTERS, seed).fit(everything).predict(X)
        )
    return {
        "objects without the new cluster": n_ordinary,
        "false alarms": false_alarms,
        "false alarms of outliers": of_outliers,
        "new objects until the alarm": delay,
        "clusters proposed": len(clusters),
        "ARI of the extended network": of_larger,
        "ARI of a fit to everything": of_full,
        "ARI lost": of_full - of_larger,
    }


def network(n_clusters, seed):
    return NNEVCLUS(
        n_clusters, novelty_detector=DETECTOR, init="peaks", random_state=seed
    )
