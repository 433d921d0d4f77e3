"""CCM, BPEC and adaptive ECM on s2 against the same methods, object by object."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.harness import benchmark_data, compare
from credalis import BPEC, CCM, ECM, FocalSets
from credalis.peaks import delta_bel

N_CLUSTERS = 15
DELTA = 5.0
GAMMA = 1.0
# Both do the same number of iterations from the same start.
N_ITER = 10


def run():
    X = benchmark_data("s2")
    start = X[delta_bel(X).suggest(N_CLUSTERS)]
    first = ECM(
        N_CLUSTERS, focal_sets="singletons", beta=2.0, delta=DELTA, init=start
    ).fit(X)
    neighbors = first.partition_.neighboring_clusters()
    few = FocalSets.pairs(N_CLUSTERS, neighbors)
    many = FocalSets.pairs(N_CLUSTERS)
    settings = {
        "beta": 2.0,
        "delta": DELTA,
        "init": start,
        "tol": 0,
        "max_iter": N_ITER,
    }
    adaptive = {"metric": "adaptive", "focal_sets": few, **settings}
    return [
        measure(
            f"CCM fit, s2, all pairs (f={len(many)})",
            CCM(N_CLUSTERS, focal_sets=many, **settings),
            X,
            lambda: textbook_ccm(X, start, many, N_ITER),
        ),
        measure(
            f"ECM fit, s2, adaptive, two-step pairs (f={len(few)})",
            ECM(N_CLUSTERS, **adaptive),
            X,
            lambda: textbook_adaptive(X, start, few, N_ITER, moves_centers=True),
        ),
        measure(
            f"BPEC fit, s2, adaptive, two-step pairs (f={len(few)})",
            BPEC(N_CLUSTERS, **adaptive),
            X,
            lambda: textbook_adaptive(X, start, few, N_ITER, moves_centers=False),
        ),
    ]


def measure(work, estimator, X, baseline):
    def ours():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return estimator.fit(X).loss_

    np.testing.assert_allclose(ours(), baseline(), rtol=1e-8)
    return compare(f"{work}, {N_ITER} iterations", ours, "loop over objects", baseline)


def mass_update(costs):
    """Masses on ∅ and the other sets for beta = 2, and their cost."""
    closeness = np.append(DELTA**-2, 1 / np.maximum(costs, 1e-300))
    masses = closeness / closeness.sum()
    return masses, (DELTA * masses[0]) ** 2 + (masses[1:] ** 2 * costs).sum()


def textbook_ccm(X, centers, focal_sets, n_iter):
    """Liu et al. (2015) with beta = 2, one object at a time."""
    members = focal_sets.membership[focal_sets.cardinality > 0].astype(float)
    size = members.sum(axis=1)
    single = members * ((1 + GAMMA / size) / (size + GAMMA))[:, None]
    joint = GAMMA / (size**2 * (size + GAMMA))
    own = (1 + GAMMA / size**2) / (size + GAMMA)
    for _ in range(n_iter):
        barycenters = members @ centers / size[:, None]
        H = np.zeros((len(centers), len(centers)))
        B = np.zeros_like(centers)
        loss = 0.0
        for x in X:
            to_centers = ((x - centers) ** 2).sum(axis=1)
            to_means = ((x - barycenters) ** 2).sum(axis=1)
            costs = (members @ to_centers + GAMMA * to_means) / (size + GAMMA)
            masses, cost = mass_update(costs)
            loss += cost
            weights = masses[1:] ** 2
            B += np.outer(weights @ single, x)
            H += (members * (weights * joint)[:, None]).T @ members
            H += np.diag((weights * (own - joint)) @ members)
        centers = np.linalg.solve(H, B)
    return loss


def textbook_adaptive(X, centers, focal_sets, n_iter, *, moves_centers):
    """Antoine et al. (2012) without constraints, alpha = 1, one object at a time."""
    members = focal_sets.membership[focal_sets.cardinality > 0].astype(float)
    size = members.sum(axis=1)
    n_clusters, n_features = centers.shape
    metrics = np.tile(np.eye(n_features), (n_clusters, 1, 1))
    for _ in range(n_iter):
        barycenters = members @ centers / size[:, None]
        means = np.tensordot(members / size[:, None], metrics, axes=1)
        masses = np.zeros((len(X), len(size)))
        loss = 0.0
        for i, x in enumerate(X):
            apart = x - barycenters
            costs = size * np.einsum("ja,jab,jb->j", apart, means, apart)
            both, cost = mass_update(costs)
            masses[i] = both[1:]
            loss += cost
        if moves_centers:
            centers = textbook_centers(X, masses, members, size, means)
            barycenters = members @ centers / size[:, None]
        scatters = np.zeros_like(metrics)
        for i, x in enumerate(X):
            apart = x - barycenters
            outer = apart[:, :, None] * apart[:, None, :]
            scatters += np.tensordot(members.T * masses[i] ** 2, outer, axes=1)
        roots = np.linalg.det(scatters) ** (1 / n_features)
        metrics = roots[:, None, None] * np.linalg.inv(scatters)
    return loss


def textbook_centers(X, masses, members, size, means):
    """The block system of Antoine et al. for the prototypes."""
    n_clusters, n_features = members.shape[1], X.shape[1]
    both = (members / size[:, None])[:, :, None] * members[:, None, :]
    H = np.zeros((n_clusters, n_clusters, n_features, n_features))
    B = np.zeros((n_clusters, n_features))
    for i, x in enumerate(X):
        weights = masses[i] ** 2
        H += np.tensordot(both, weights[:, None, None] * means, axes=(0, 0))
        B += members.T @ (weights[:, None] * (means @ x))
    H = H.transpose(0, 2, 1, 3).reshape(n_clusters * n_features, -1)
    return np.linalg.solve(H, B.ravel()).reshape(n_clusters, n_features)
