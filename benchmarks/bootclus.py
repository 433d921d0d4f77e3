"""Intervals and row problems of Bootclus against loops over pairs and objects.

There the mixtures are fitted beforehand and are part of neither. Then whole fits with
landmarks, against all pairs and against fewer objects.
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import nnls
from sklearn.datasets import make_blobs

from benchmarks.harness import benchmark_data, compare
from credalis import Bootclus, FocalSets
from credalis.cluster.bootstrap._interval_masses import IntervalFit
from credalis.cluster.bootstrap._replicates import (
    best_mixture,
    bootstrap,
    pair_intervals,
)

N_CLUSTERS = 4
N_BOOTSTRAP = 500
N_SWEEPS = 8
CONFIDENCE = 0.9
# Weight of the sum of the masses in the least-squares problem of a row.
SUM_WEIGHT = 1e4


def run():
    X = benchmark_data("fourclass")
    mixture, _ = best_mixture(
        X, (N_CLUSTERS,), ("full",), reg_covar=1e-6, n_init=2, seed=0, n_jobs=None
    )
    _, posteriors = bootstrap(
        X, mixture, np.arange(N_BOOTSTRAP), n_jobs=None, report=lambda *_: None
    )
    focal_sets = FocalSets.pairs(N_CLUSTERS, frame=False)
    start = np.zeros((len(X), len(focal_sets) - 1))
    start[:, :N_CLUSTERS] = mixture.predict_proba(X)

    def ours():
        lower, upper = pair_intervals(posteriors, CONFIDENCE)
        fit = IntervalFit.of(lower, upper, focal_sets)
        masses = start
        for _ in range(N_SWEEPS):
            masses = fit.sweep(masses)
        return fit, masses

    def baseline():
        bounds = textbook_intervals(posteriors)
        return textbook_masses(*bounds, focal_sets, start)

    (fit, masses), expected = ours(), baseline()
    np.testing.assert_allclose(fit.loss(masses), fit.loss(expected), rtol=0.01)
    np.testing.assert_allclose(
        pair_intervals(posteriors[:, :50], CONFIDENCE),
        textbook_intervals(posteriors[:, :50]),
        atol=1e-6,
    )
    lower, upper = fit.lower, fit.upper

    def sweeps():
        masses = start
        for _ in range(N_SWEEPS):
            masses = fit.sweep(masses)

    name = f"fourclass, B={N_BOOTSTRAP}"
    return [
        compare(
            f"Bootclus after the mixtures, {name}, {N_SWEEPS} sweeps",
            ours,
            "loop over pairs and objects",
            baseline,
            repeats=3,
            baseline_repeats=1,
        ),
        compare(
            f"intervals alone, {name}",
            lambda: pair_intervals(posteriors, CONFIDENCE),
            "loop over pairs",
            lambda: textbook_intervals(posteriors),
            repeats=3,
            baseline_repeats=1,
        ),
        compare(
            f"row problems alone, {N_SWEEPS} sweeps",
            sweeps,
            "loop over objects, SciPy's nnls",
            lambda: textbook_masses(lower, upper, focal_sets, start),
            repeats=3,
            baseline_repeats=1,
        ),
        landmarks(X),
        many_objects(),
    ]


def landmarks(X):
    """How near to all pairs, and how much faster, the masses of landmarks are."""

    def fit(pairs):
        return Bootclus(N_CLUSTERS, pairs=pairs, random_state=0).fit(X)

    masses = [fit(pairs).partition_.masses for pairs in ("landmarks", "all")]
    gap = np.abs(masses[0] - masses[1]).max()
    return compare(
        f"Bootclus, fourclass, 300 landmarks (largest difference {gap:.3f})",
        lambda: fit("landmarks"),
        "all pairs",
        lambda: fit("all"),
        repeats=2,
    )


def many_objects():
    """Twice as many objects are to take twice as long."""
    X, _ = make_blobs(10_000, centers=4, cluster_std=2.0, random_state=0)

    def fit(n_samples):
        model = Bootclus(4, covariance_type="tied", n_bootstrap=100, random_state=0)
        model.fit(X[:n_samples])

    result = compare(
        "Bootclus, 10^4 objects, B=100",
        lambda: fit(10_000),
        "twice 5000 objects",
        lambda: fit(5000),
        repeats=2,
    )
    twice = 2 * result.baseline_seconds
    return replace(result, baseline_seconds=twice, ratio=twice / result.seconds)


def textbook_intervals(posteriors):
    """Percentile intervals of P_ij, one pair at a time."""
    posteriors = posteriors.astype(float)
    n_samples = posteriors.shape[1]
    levels = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    bounds = np.empty((2, n_samples, n_samples))
    for i in range(n_samples):
        for j in range(i, n_samples):
            together = (posteriors[:, i] * posteriors[:, j]).sum(axis=1)
            bounds[:, i, j] = bounds[:, j, i] = np.quantile(together, levels)
    return bounds


def textbook_masses(lower, upper, focal_sets, masses):
    """Denoeux (2020): one row at a time, a quadratic program on the simplex each."""
    masses = masses.copy()
    single = np.diag(focal_sets.same_singleton.diagonal()[1:].astype(float))
    disjoint = focal_sets.disjoint[1:, 1:].astype(float)
    moments = masses.T @ masses
    for _ in range(N_SWEEPS):
        for i, row in enumerate(masses):
            others = np.arange(len(masses)) != i
            rest = moments - np.outer(row, row)
            form = single @ rest @ single + disjoint @ rest @ disjoint
            linear = single @ (masses[others].T @ lower[i, others])
            linear += disjoint @ (masses[others].T @ (1 - upper[i, others]))
            changed = on_simplex(form, linear)
            moments = rest + np.outer(changed, changed)
            masses[i] = changed
    return masses


def on_simplex(form, linear):
    """Minimise ½ xᵀ Q x - dᵀ x over the simplex as a non-negative least squares."""
    ridge = 1e-9 * np.trace(form) * np.eye(len(form))
    factor = np.linalg.cholesky(form + ridge).T
    scale = SUM_WEIGHT * np.sqrt(np.trace(form))
    system = np.vstack([factor, np.full(len(form), scale)])
    side = np.append(np.linalg.solve(factor.T, linear), scale)
    found, _ = nnls(system, side)
    return found / found.sum()
