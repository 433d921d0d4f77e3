"""EVCLUS on s2 against row after row with scipy's non-negative least squares.

The baseline is k-EVCLUS as it is published: for each object it gathers the masses of
its p partners and solves the problem of the row by ``scipy.optimize.nnls`` with a heavy
equation for the sum.
"""

import multiprocessing
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from unittest import mock

import numpy as np
from scipy.optimize import nnls
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.harness import (
    Measurement,
    benchmark_data,
    compare,
    peak_megabytes,
    seconds,
)
from credalis import EVCLUS, FocalSets
from credalis.belief import mass_apart
from credalis.cluster.evclus._problem import prepare
from credalis.cluster.evclus._rows import descend_together, sweep
from credalis.cluster.evclus._solve import masses_from_seeds

N_CLUSTERS = 15
N_PARTNERS = 500
HEAVY = 1e3
N_ROWS = 100
TOL = 1e-5
FOCAL_SETS = FocalSets.singletons(N_CLUSTERS)


def run():
    X = benchmark_data("s2")
    everything = cost_of(X, pairs="all")
    default = cost_of(X)
    sampled = cost_of(X, pairs_per_sample=N_PARTNERS)
    start = random_masses(len(X))
    # Masses as in the middle of a fit: supports are small, as in most sweeps.
    middle = start
    for _ in range(5):
        middle, _ = sweep(everything, middle)
    return [
        *sweeps(default, everything, sampled, middle, "after 5 sweeps"),
        *sweeps(default, everything, sampled, start, "the first"),
        *to_the_same_loss(default, everything, sampled),
        whole_fit(X),
        pairs_of_clusters(X),
        all_subsets(),
        constrained(),
        *landmarks(),
    ]


def cost_of(X, focal_sets=FOCAL_SETS, **parameters):
    estimator = EVCLUS(N_CLUSTERS, **parameters)
    rng = np.random.RandomState(0)
    problem = prepare(
        estimator, X, rng, partial_labels=None, must_link=None, cannot_link=None
    )
    return problem.cost(focal_sets)


def random_masses(n_samples):
    masses = np.random.default_rng(0).uniform(size=(n_samples, len(FOCAL_SETS)))
    return masses / masses.sum(axis=1, keepdims=True)


def seeded_masses(everything):
    """Masses from which all methods find the same clusters."""
    rng = np.random.RandomState(0)
    rows = slice(0, everything.stress.n_samples)
    similarities = everything.stress.block(rows, rows)
    [masses] = masses_from_seeds(similarities, FOCAL_SETS, [rng])
    return masses


def row_by_row(sampled):
    """A function that does one sweep of the baseline, and changes the masses."""
    pairs = sampled.stress
    n_samples = pairs.n_samples
    columns = pairs.columns.reshape(n_samples, -1)
    targets = 1 - pairs.similarities.reshape(n_samples, -1)
    disjoint = FOCAL_SETS.disjoint.astype(float)
    system = np.empty((columns.shape[1] + 1, len(disjoint)))
    system[-1] = HEAVY
    side = np.empty(len(system))
    side[-1] = HEAVY

    def update(masses):
        for i in range(n_samples):
            system[:-1] = masses[columns[i]] @ disjoint
            side[:-1] = targets[i]
            solution, _ = nnls(system, side)
            masses[i] = solution / solution.sum()

    return update


def sweeps(default, everything, sampled, masses, which):
    baseline = row_by_row(sampled)
    n_samples = len(masses)
    per_pair = compare(
        f"sweep over {2 * N_PARTNERS} sampled pairs of each object, {which}",
        lambda: sweep(sampled, masses),
        f"nnls row by row, p={N_PARTNERS}",
        lambda: baseline(masses.copy()),
        repeats=3,
        baseline_repeats=2,
    )
    return [
        compare(
            f"sweep of the default method on s2 (500 landmarks), {which}",
            lambda: sweep(default, masses),
            f"nnls row by row, p={N_PARTNERS}",
            lambda: baseline(masses.copy()),
            repeats=5,
            baseline_repeats=2,
        ),
        compare(
            f"sweep over all {n_samples * (n_samples - 1) // 2} pairs of s2, {which}",
            lambda: sweep(everything, masses),
            f"nnls row by row, p={N_PARTNERS}",
            lambda: baseline(masses.copy()),
            repeats=5,
            baseline_repeats=2,
        ),
        per_pair,
        Measurement(
            "the same per pair",
            f"nnls row by row, p={N_PARTNERS}",
            per_pair.seconds / (2 * N_PARTNERS * n_samples),
            per_pair.baseline_seconds / (N_PARTNERS * n_samples),
            2 * per_pair.ratio,
        ),
    ]


def to_the_same_loss(default, everything, sampled):
    """Seconds until the stress over all pairs is that at which the baseline ends.

    Only its own pairs enter the problem of a row, so that the stress over others need
    not become as low; how low it became is said.
    """
    start = seeded_masses(everything)
    with threadpool_limits(limits=1):
        update = row_by_row(sampled)
        masses, last, baseline_seconds = start.copy(), np.inf, 0.0
        while True:
            begin = time.process_time()
            update(masses)
            baseline_seconds += time.process_time() - begin
            loss = sampled.value(masses)
            if abs(last - loss) <= TOL * loss:
                break
            last = loss
        goal = everything.value(masses)
        results = []
        for name, cost in (
            ("landmarks", default),
            ("all pairs", everything),
            ("sampled pairs", sampled),
        ):
            ours, seconds, n_sweeps = start, 0.0, 0
            while n_sweeps < 50 and everything.value(ours) > goal:
                begin = time.process_time()
                ours, _ = sweep(cost, ours)
                seconds += time.process_time() - begin
                n_sweeps += 1
            reached = everything.value(ours)
            work = f"to stress {goal:.4g}, {name} ({n_sweeps} sweeps, {reached:.4g})"
            results.append(
                Measurement(
                    work,
                    "nnls row by row until it ends",
                    seconds,
                    baseline_seconds,
                    baseline_seconds / seconds,
                )
            )
    return results


def whole_fit(X):
    """A fit that starts on a subset against one descent from a random start."""
    cost, start = cost_of(X, pairs="all"), random_masses(len(X))
    return compare(
        "whole fit of s2, all pairs",
        lambda: EVCLUS(N_CLUSTERS, pairs="all", random_state=0).fit(X),
        "our own descent from one random start",
        lambda: descend_together(cost, [start], tol=1e-6, max_iter=1000),
        repeats=2,
        baseline_repeats=2,
    )


def pairs_of_clusters(X):
    """A sweep with 122 focal sets and 500 landmarks, in the middle of a fit.

    The baseline does some of the rows; as long as one takes, all would take n / N_ROWS
    times as long as these.
    """
    focal_sets = FocalSets.pairs(N_CLUSTERS)
    cost = cost_of(X, focal_sets)
    masses = np.full((len(X), len(focal_sets)), 1 / len(focal_sets))
    for _ in range(3):
        masses, _ = sweep(cost, masses)
    against = masses[:N_PARTNERS] @ focal_sets.disjoint
    rows = slice(N_PARTNERS, N_PARTNERS + N_ROWS)
    similarities = cost.stress.block(rows, slice(0, N_PARTNERS))
    system = np.vstack([against, np.full(len(focal_sets), HEAVY)])

    def baseline():
        for targets in 1 - similarities:
            nnls(system, np.append(targets, HEAVY))

    some = compare(
        "sweep of the default method on s2, 122 focal sets, after 3 sweeps",
        lambda: sweep(cost, masses),
        f"nnls row by row, p={N_PARTNERS} ({N_ROWS} rows, scaled up)",
        baseline,
        repeats=3,
    )
    whole = some.baseline_seconds * len(X) / N_ROWS
    return replace(some, baseline_seconds=whole, ratio=whole / some.seconds)


def all_subsets():
    """Conflicts by the Möbius transform against the product with C."""
    focal_sets = FocalSets.full(10)
    masses = np.random.default_rng(0).dirichlet(np.ones(len(focal_sets)), 1000)
    disjoint = focal_sets.disjoint.astype(float)
    np.testing.assert_allclose(mass_apart(masses, focal_sets), masses @ disjoint)
    return compare(
        "m C of 1000 objects, 1024 focal sets",
        lambda: mass_apart(masses, focal_sets),
        "product with the matrix",
        lambda: masses @ disjoint,
    )


def constrained():
    """Five starts in the same calls against one after the other."""
    X, y = load_iris(return_X_y=True)
    pairs = np.random.RandomState(0).permutation(len(X)).reshape(-1, 2)
    together = y[pairs[:, 0]] == y[pairs[:, 1]]

    def fit():
        model = EVCLUS(3, n_init=5, random_state=0)
        model.fit(X, must_link=pairs[together], cannot_link=pairs[~together])

    def in_turn():
        with mock.patch.object(EVCLUS, "_solves_together", return_value=False):
            fit()

    return compare("CEVCLUS, iris, 75 pairs", fit, "start after start", in_turn)


def landmarks():
    """Fits of 10^5 objects against ten times those of 10^4, and the memory.

    Each in a process of its own, whose peak is that of nothing else.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as processes:
        few, many = processes.map(fit_to_landmarks, (10_000, 100_000))
    return [
        Measurement(
            f"landmarks, 10^5 objects, d=10, c=10, 10 sweeps (peak {many[1]:.0f} MB)",
            "10 times 10^4 objects",
            many[0],
            10 * few[0],
            10 * few[0] / many[0],
        )
    ]


def fit_to_landmarks(n_samples):
    """Seconds of one fit, and the peak of this process in megabytes."""
    X, _ = make_blobs(
        n_samples, n_features=10, centers=10, cluster_std=3.0, random_state=0
    )
    model = EVCLUS(10, pairs="landmarks", max_iter=10, tol=0, random_state=0)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        spent = seconds(lambda: model.fit(X))
    return spent, peak_megabytes()
