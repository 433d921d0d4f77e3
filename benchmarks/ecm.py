"""ECM on s2 against the method as it stands in a textbook, object by object."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.harness import benchmark_data, compare
from credalis import ECM, FocalSets

N_CLUSTERS = 15
DELTA = 5.0
# Both do the same number of iterations from the same start.
N_ITER = 20


def run():
    X = benchmark_data("s2")
    start = X[np.random.default_rng(0).choice(len(X), N_CLUSTERS, replace=False)]
    first = ECM(
        N_CLUSTERS, focal_sets="singletons", beta=2.0, delta=DELTA, init=start
    ).fit(X)
    pairs = first.partition_.neighboring_clusters()
    return [
        measure(X, start, FocalSets.singletons(N_CLUSTERS), "singletons"),
        measure(X, start, FocalSets.pairs(N_CLUSTERS, pairs), "two-step pairs"),
    ]


def measure(X, start, focal_sets, name):
    def ours():
        ecm = ECM(
            N_CLUSTERS,
            focal_sets=focal_sets,
            beta=2.0,
            delta=DELTA,
            init=start,
            tol=0,
            max_iter=N_ITER,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return ecm.fit(X).loss_

    def baseline():
        return textbook_ecm(X, start, focal_sets, N_ITER)

    np.testing.assert_allclose(ours(), baseline(), rtol=1e-10)
    return compare(
        f"ECM fit, s2, {name} (f={len(focal_sets)}), {N_ITER} iterations",
        ours,
        "loop over objects",
        baseline,
    )


def textbook_ecm(X, centers, focal_sets, n_iter):
    """Masson and Denoeux (2008) with alpha = 1 and beta = 2, one object at a time."""
    members = focal_sets.membership[focal_sets.cardinality > 0].astype(float)
    size = members.sum(axis=1)
    n_clusters = members.shape[1]
    for _ in range(n_iter):
        barycenters = members @ centers / size[:, None]
        masses = np.zeros((len(X), len(size) + 1))
        loss = 0.0
        for i, x in enumerate(X):
            costs = np.maximum(size * ((x - barycenters) ** 2).sum(axis=1), 1e-300)
            closeness = np.append(DELTA**-2, 1 / costs)
            masses[i] = closeness / closeness.sum()
            loss += (DELTA * masses[i, 0]) ** 2 + (masses[i, 1:] ** 2 * costs).sum()
        H = np.zeros((n_clusters, n_clusters))
        B = np.zeros((n_clusters, X.shape[1]))
        for i, x in enumerate(X):
            weights = masses[i, 1:] ** 2
            H += (members * (weights / size)[:, None]).T @ members
            B += np.outer(weights @ members, x)
        centers = np.linalg.solve(H, B)
    return loss
