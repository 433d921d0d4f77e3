"""EkNNclus on s2 against the method as it stands in a textbook, object by object."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors

from benchmarks.harness import benchmark_data, compare
from credalis import EkNNclus
from credalis._neighbors import NeighborSearch

N_NEIGHBORS = 200
QUANTILE = 0.5


def run():
    X = benchmark_data("s2")

    def ours():
        return EkNNclus(n_neighbors=N_NEIGHBORS, quantile=QUANTILE, random_state=0).fit(
            X
        )

    def baseline():
        return textbook_eknnclus(X, np.random.RandomState(0))

    # Random orders lead to slightly different partitions of about the same loss.
    model, (labels, loss, masses) = ours(), baseline()
    assert model.n_clusters_ == labels.max() + 1
    np.testing.assert_allclose(model.loss_, loss, rtol=0.01)
    np.testing.assert_allclose(masses.sum(axis=1), 1.0)
    new = X[:2000] + 0.01
    np.testing.assert_allclose(
        model.transform(new)[:, 1:], textbook_prediction(model, new), atol=1e-9
    )
    return [
        compare(
            f"EkNNclus fit, s2, K={N_NEIGHBORS}",
            ours,
            "loop over objects",
            baseline,
            repeats=3,
            baseline_repeats=1,
        ),
        compare(
            "masses of 2000 new objects",
            lambda: model.transform(new),
            "loop over objects",
            lambda: textbook_prediction(model, new),
            repeats=3,
            baseline_repeats=1,
        ),
        *(neighbors(name, X) for name, X in searched().items()),
    ]


def searched():
    """Objects in ten dimensions among which a tree is of use, and of none."""
    clustered, _ = make_blobs(20_000, n_features=10, centers=8, random_state=0)
    normal = np.random.default_rng(0).normal(size=(20_000, 10))
    return {"8 clusters": clustered, "no clusters": normal}


def neighbors(name, X):
    """Our search, which sees whether a tree is of use, against a tree."""
    n_neighbors, new = 424, X[:2000] + 0.01
    tree = NearestNeighbors(algorithm="kd_tree").fit(X)
    return compare(
        f"{n_neighbors} neighbours of 2000 objects, n=20000, d=10, {name}",
        lambda: NeighborSearch(X, "euclidean").query(new, n_neighbors),
        "scikit-learn's kd_tree",
        lambda: tree.kneighbors(new, n_neighbors),
        repeats=3,
    )


def textbook_eknnclus(X, rng):
    """Denoeux, Kanjanatarakul and Sriboonchitta (2015), one object at a time."""
    n_samples = len(X)
    neighbors = np.empty((n_samples, N_NEIGHBORS), dtype=int)
    lengths = np.empty((n_samples, N_NEIGHBORS))
    for i, x in enumerate(X):
        distances = np.sqrt(((X - x) ** 2).sum(axis=1))
        distances[i] = np.inf
        neighbors[i] = np.argsort(distances)[:N_NEIGHBORS]
        lengths[i] = distances[neighbors[i]]
    alpha = np.maximum(np.exp(-lengths / np.quantile(lengths, QUANTILE)), 1e-6)
    weights = -np.log(1 - alpha)
    labels = np.arange(n_samples)
    n_moved = n_samples
    while n_moved:
        n_moved = 0
        for i in rng.permutation(n_samples):
            near = labels[neighbors[i]]
            candidates = np.unique(near)
            votes = np.array([weights[i][near == k].sum() for k in candidates])
            own = weights[i][near == labels[i]].sum()
            if votes.max() > own * (1 + 1e-12):
                labels[i] = candidates[votes.argmax()]
                n_moved += 1
    labels = np.unique(labels, return_inverse=True)[1]
    masses = np.array(
        [
            combined(alpha[i], labels[neighbors[i]], labels.max() + 1)
            for i in range(n_samples)
        ]
    )
    loss = 0.5 * (weights * (labels[neighbors] != labels[:, None])).sum()
    return labels, loss, masses


def combined(alpha, near, n_clusters):
    """Dempster's rule for one object: m({k}) ∝ (1 - S_k) Π_{l≠k} S_l."""
    log_doubt = np.log1p(-alpha)
    doubts = np.array([log_doubt[near == k].sum() for k in range(n_clusters)])
    total = doubts.sum()
    masses = np.empty(n_clusters + 1)
    for k in range(n_clusters):
        masses[k] = (1 - np.exp(doubts[k])) * np.exp(total - doubts[k] - doubts.min())
    masses[-1] = np.exp(total - doubts.min())
    return masses / masses.sum()


def textbook_prediction(model, X):
    """The same rule for new objects."""
    masses = []
    for x in X:
        distances = np.sqrt(((model.points_ - x) ** 2).sum(axis=1))
        nearest = np.argsort(distances)[: model.n_neighbors_]
        alpha = np.exp(-model.gamma_ * np.maximum(distances[nearest], 1e-6))
        near = model.assignments_[nearest]
        masses.append(combined(np.maximum(alpha, 1e-6), near, model.n_clusters_))
    return np.array(masses)
