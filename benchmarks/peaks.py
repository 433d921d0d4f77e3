"""The δ-Bel graph of s2 against the same object by object."""

import numpy as np

from benchmarks.harness import benchmark_data, compare
from credalis.peaks import delta_bel

N_NEIGHBORS = 50
QUANTILE = 0.9


def run():
    X = benchmark_data("s2")
    graph = delta_bel(X, n_neighbors=N_NEIGHBORS, quantile=QUANTILE)
    belief, delta = textbook_delta_bel(X)
    np.testing.assert_allclose(graph.belief, belief, rtol=1e-9)
    np.testing.assert_allclose(graph.delta, delta, rtol=1e-9)
    return [
        compare(
            f"δ-Bel graph, s2, K={N_NEIGHBORS}",
            lambda: delta_bel(X, n_neighbors=N_NEIGHBORS, quantile=QUANTILE),
            "loop over objects",
            lambda: textbook_delta_bel(X),
            repeats=5,
        )
    ]


def textbook_delta_bel(X):
    """Su and Denoeux (2019), one object at a time."""
    n_samples = len(X)
    neighbors = np.empty((n_samples, N_NEIGHBORS), dtype=int)
    lengths = np.empty((n_samples, N_NEIGHBORS))
    for i in range(n_samples):
        distances = np.sqrt(((X - X[i]) ** 2).sum(axis=1))
        distances[i] = np.inf
        neighbors[i] = np.argsort(distances, kind="stable")[:N_NEIGHBORS]
        lengths[i] = distances[neighbors[i]]
    scales = np.array([np.quantile(row, QUANTILE) for row in lengths])
    belief = np.empty(n_samples)
    for i in range(n_samples):
        ratios = lengths[i] / scales[neighbors[i]]
        belief[i] = 1 - np.prod(1 - np.exp(-(ratios**2)) / N_NEIGHBORS)
    order = np.argsort(-belief, kind="stable")
    delta = np.empty(n_samples)
    for rank in range(1, n_samples):
        i = order[rank]
        delta[i] = np.sqrt(((X[order[:rank]] - X[i]) ** 2).sum(axis=1)).min()
    delta[order[0]] = delta[order[1:]].max()
    return belief, delta
