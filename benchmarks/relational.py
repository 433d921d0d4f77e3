"""RECM and ECMdd on fourclass against the methods object by object."""

import warnings

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from benchmarks.harness import benchmark_data, compare
from credalis import RECM, ECMdd, FocalSets

N_CLUSTERS = 4
DELTA = 5.0
# Both do the same number of iterations from the same start, about what a fit takes.
N_ITER = 60
# Our runs are short beside what else a machine does.
REPEATS = 20
SEEDS = [0, 100, 200, 300]


def run():
    X = benchmark_data("fourclass")
    D = cdist(X, X)
    focal_sets = FocalSets.pairs(N_CLUSTERS)
    return [measure_recm(D, focal_sets), measure_ecmdd(D, focal_sets)]


def measure_recm(D, focal_sets):
    def ours():
        recm = RECM(
            N_CLUSTERS,
            focal_sets=focal_sets,
            metric="precomputed",
            beta=2.0,
            delta=DELTA,
            init=SEEDS,
            tol=0,
            max_iter=N_ITER,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return recm.fit(D).loss_

    def baseline():
        return textbook_recm(D**2, focal_sets, N_ITER)

    np.testing.assert_allclose(ours(), baseline(), rtol=1e-9)
    return compare(
        f"RECM fit, fourclass, pairs (f={len(focal_sets)}), {N_ITER} iterations",
        ours,
        "loop over objects",
        baseline,
        repeats=REPEATS,
    )


def textbook_recm(D, focal_sets, n_iter):
    """Masson and Denoeux (2009) with alpha = 1 and beta = 2, one object at a time."""
    members = focal_sets.membership[focal_sets.cardinality > 0].astype(float)
    size = members.sum(axis=1)
    n_samples, floor = len(D), 1e-10 * D.mean()
    coefficients = np.eye(n_samples)[SEEDS]
    for _ in range(n_iter):
        means = members @ coefficients / size[:, None]
        half_norms = np.array([a @ D @ a / 2 for a in means])
        masses = np.zeros((n_samples, len(size) + 1))
        loss = 0.0
        for i in range(n_samples):
            squared = np.maximum(means @ D[i] - half_norms, floor)
            costs = size * squared
            closeness = np.append(DELTA**-2, 1 / costs)
            masses[i] = closeness / closeness.sum()
            loss += (DELTA * masses[i, 0]) ** 2 + (masses[i, 1:] ** 2 * costs).sum()
        H = np.zeros((N_CLUSTERS, N_CLUSTERS))
        U = np.zeros((N_CLUSTERS, n_samples))
        for i in range(n_samples):
            weights = masses[i, 1:] ** 2
            H += (members * (weights / size)[:, None]).T @ members
            U[:, i] = weights @ members
        coefficients = np.linalg.solve(H, U)
    return loss


def measure_ecmdd(D, focal_sets):
    def ours():
        ecmdd = ECMdd(
            N_CLUSTERS,
            focal_sets=focal_sets,
            metric="precomputed",
            beta=2.0,
            delta=DELTA,
            init=SEEDS,
        ).fit(D)
        return ecmdd.loss_, ecmdd.n_iter_

    loss, n_iter = ours()

    def baseline():
        return textbook_ecmdd(D, focal_sets, n_iter)

    np.testing.assert_allclose(loss, baseline(), rtol=1e-9)
    return compare(
        f"ECMdd fit, fourclass, pairs (f={len(focal_sets)}), {n_iter} iterations",
        ours,
        "loop over objects",
        baseline,
        repeats=REPEATS,
    )


def textbook_ecmdd(D, focal_sets, n_iter):
    """Zhou et al. (2016) with alpha = beta = 2, eta = gamma = 1, object by object."""
    subsets = [list(subset) for subset in focal_sets if subset]
    size = np.array([len(subset) for subset in subsets], dtype=float)
    medoids, lowest = list(SEEDS), np.inf
    for _ in range(n_iter):
        prototypes = []
        for subset in subsets:
            scores = [
                np.var(D[p, [medoids[k] for k in subset]])
                + np.mean(D[p, [medoids[k] for k in subset]])
                for p in range(len(D))
            ]
            prototypes.append(int(np.argmin(scores)))
        masses = np.zeros((len(D), len(subsets) + 1))
        loss = 0.0
        for i, row in enumerate(D):
            distances = np.array(
                [
                    row[medoids[subset[0]]]
                    if len(subset) == 1
                    else (row[p] + np.mean(row[[medoids[k] for k in subset]])) / 2
                    for subset, p in zip(subsets, prototypes, strict=True)
                ]
            )
            costs = np.maximum(size**2 * distances, 1e-300)
            closeness = np.append(DELTA**-2, 1 / costs)
            masses[i] = closeness / closeness.sum()
            loss += (DELTA * masses[i, 0]) ** 2 + (masses[i, 1:] ** 2 * costs).sum()
        lowest = min(lowest, loss)
        for k in range(N_CLUSTERS):
            column = 1 + subsets.index([k])
            sums = [masses[:, column] ** 2 @ D[p] for p in range(len(D))]
            order = np.argsort(sums, kind="stable")
            medoids[k] = next(int(p) for p in order if p not in medoids[:k])
    return lowest
