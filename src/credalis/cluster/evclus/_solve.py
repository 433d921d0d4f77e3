"""One start of EVCLUS, from the problem to a solution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._progress import Report
from credalis.belief import FocalSets, mass_apart
from credalis.cluster._framework._solution import Solution
from credalis.cluster.evclus._gradient import solve_by_gradient
from credalis.cluster.evclus._problem import EvclusProblem, given_masses
from credalis.cluster.evclus._rows import (
    MassesAndCost,
    descend_in_turn,
    descend_together,
    has_few_sets,
    is_far_behind,
    masses_from_similarities,
    optimality_gap,
)
from credalis.objectives import RowCost
from credalis.optimize import Trace
from credalis.partition import CredalPartition

if TYPE_CHECKING:
    from credalis.cluster.evclus._evclus import EVCLUS

Array = NDArray[np.float64]

# Starts made on a subset of the objects, of which the best goes on with all.
_N_SUBSET_STARTS = 5
_SUBSET_TOLERANCE = 1e-4

# Relative decrease below which a descent without constraints goes on with them.
_FREE_TOLERANCE = 1e-3

# Candidates for each further seed of k-means++, next to the logarithm of their number.
_MIN_CANDIDATES = 2

# Objects that are placed at a time when a subset has been fitted.
_BLOCK_ROWS = 2048


def solve(
    estimator: EVCLUS,
    problem: EvclusProblem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
    *,
    previous: Solution | None,
    report: Report,
) -> Solution:
    """Minimise from a random start, from masses that are given, or a previous step."""
    if problem.solver == "two-sided":
        return solve_together(
            estimator, problem, focal_sets, [rng], previous=previous, reports=[report]
        )[0]
    known = _known_start(estimator, problem, focal_sets, previous)
    if problem.solver == "gradient":
        masses, trace, stress, extra = solve_by_gradient(
            estimator, problem, focal_sets, rng, known, report
        )
        return _solution(problem, masses, trace, stress, extra)
    cost = problem.cost(focal_sets)
    return _solution_of_rows(
        problem, cost, _in_turn(estimator, problem, cost, known, rng, report)
    )


def solve_together(
    estimator: EVCLUS,
    problem: EvclusProblem,
    focal_sets: FocalSets,
    rngs: list[np.random.RandomState],
    *,
    previous: Solution | None,
    reports: list[Report],
) -> list[Solution]:
    """The same for several starts of the method that never increases the cost."""
    known = _known_start(estimator, problem, focal_sets, previous)
    cost = problem.cost(focal_sets)
    settings: dict[str, Any] = {
        "tol": estimator.tol,
        "max_iter": estimator.max_iter,
        "reports": reports,
    }
    interrupted = False
    if known is not None:
        starts = [known] * len(rngs)
    else:
        starts, interrupted = _starts(estimator, problem, focal_sets, rngs)
        if cost.constraints is not None and not interrupted:
            # From a random start, constraints fix in which clusters objects are before
            # the dissimilarities say where the clusters are.
            # That is only where the descent begins: it need not be exact.
            rough = {**settings, "tol": max(estimator.tol, _FREE_TOLERANCE)}
            free = descend_together(RowCost(cost.stress), starts, **rough)
            starts = [trace.state[0] for trace in free]
            interrupted = any(trace.interrupted for trace in free)
    if interrupted:
        traces = [_interrupted(cost, start) for start in starts]
    else:
        traces = descend_together(cost, starts, **settings)
    return [_solution_of_rows(problem, cost, trace) for trace in traces]


def _in_turn(
    estimator: EVCLUS,
    problem: EvclusProblem,
    cost: RowCost,
    start: Array | None,
    rng: np.random.RandomState,
    report: Report,
) -> Trace[MassesAndCost]:
    """The descent of the reference program, each row to its own minimum."""
    settings: dict[str, Any] = {
        "tol": estimator.tol,
        "max_iter": estimator.max_iter,
        "report": report,
    }
    if start is None:
        sets = cost.stress.focal_sets
        [start], interrupted = _starts(estimator, problem, sets, [rng])
        if cost.constraints is not None and not interrupted:
            free = descend_in_turn(RowCost(cost.stress), start, **settings)
            start, interrupted = free.state[0], free.interrupted
        if interrupted:
            return _interrupted(cost, start)
    return descend_in_turn(cost, start, **settings)


def _interrupted(cost: RowCost, start: Array) -> Trace[MassesAndCost]:
    """A descent that the user has ended before it began."""
    loss = cost.value(start)
    return Trace((start, loss), np.array([loss]), False, True)


def _solution_of_rows(
    problem: EvclusProblem, cost: RowCost, trace: Trace[MassesAndCost]
) -> Solution:
    """Where a row-wise descent has ended."""
    masses, loss = trace.state
    stress = loss if cost.constraints is None else cost.stress.value(masses)
    extra = {"kkt_residual_": optimality_gap(cost, masses)}
    return _solution(problem, masses, trace, stress, extra)


def _solution(
    problem: EvclusProblem,
    masses: Array,
    trace: Trace[Any],
    stress: float,
    extra: dict[str, Any],
) -> Solution:
    references = problem.references
    geometry = problem.geometry
    other = {
        "stress_": stress,
        "scale_": problem.scale,
        "metric_": geometry.metric,
        "transformer_": problem.transformer,
        "points_": None if geometry.is_precomputed else geometry.values[references],
        **extra,
    }
    if problem.weights is not None:
        other["landmark_weights_"] = problem.reference_weights
    return Solution(
        problem.in_order_of_rows(masses),
        trace,
        row_numbers={"landmarks_": references},
        other=other,
        is_interrupted=trace.interrupted,
    )


def _known_start(
    estimator: EVCLUS,
    problem: EvclusProblem,
    focal_sets: FocalSets,
    previous: Solution | None,
) -> Array | None:
    """Masses to start from, in the order of the problem; None for a random start."""
    name = "init"
    known: CredalPartition | ArrayLike
    if previous is not None:
        # Sets that the first of two steps did not have start without mass.
        singletons = FocalSets.singletons(focal_sets.n_clusters)
        known = CredalPartition(previous.masses, singletons)
    elif estimator._is_warm:
        known = CredalPartition(estimator._trained_masses, estimator.focal_sets_)
        name = "partition_ (warm_start)"
    elif not isinstance(estimator.init, str):
        known = estimator.init
    else:
        return None
    masses = given_masses(known, problem.n_rows, focal_sets, name)
    return masses[problem.order]


def _starts(
    estimator: EVCLUS,
    problem: EvclusProblem,
    focal_sets: FocalSets,
    rngs: list[np.random.RandomState],
) -> tuple[list[Array], bool]:
    """Masses of all objects to start from, and whether the user has interrupted.

    With many objects, or landmarks, some of them are clustered first, several times;
    the others are placed by their dissimilarities to those. After an interrupt there
    may be fewer starts, but one.
    """
    init = estimator.init
    if init == "auto":
        init = "k-means++" if problem.solver == "two-sided" else "random"
    if init == "random" and problem.solver == "reference":
        return [
            _random_masses(problem.n_samples, focal_sets, rng) for rng in rngs
        ], False
    stress = problem.subset(focal_sets)

    def make(rngs: list[np.random.RandomState]) -> list[Array]:
        if init == "random":
            return [_random_masses(stress.n_samples, focal_sets, rng) for rng in rngs]
        everything = slice(0, stress.n_samples)
        similarities = stress.block(everything, everything)
        return masses_from_seeds(similarities, focal_sets, rngs, stress.weights)

    if stress.n_samples == problem.n_samples:
        return make(rngs), False
    # A cluster that is lost comes back only through sets that hold it and another.
    comes_back = np.any(
        (focal_sets.cardinality > 1) & ~focal_sets.membership.all(axis=1)
    )
    starts = []
    for rng in rngs:
        traces = descend_together(
            RowCost(stress),
            make([rng] * _N_SUBSET_STARTS),
            tol=max(estimator.tol, _SUBSET_TOLERANCE),
            max_iter=estimator.max_iter,
            has_lost=None if comes_back else is_far_behind,
        )
        best = min(traces, key=lambda trace: trace.loss)
        starts.append(_place_others(problem, best.state[0], focal_sets))
        if any(trace.interrupted for trace in traces):
            return starts, True
    return starts, False


def _place_others(
    problem: EvclusProblem, masses: Array, focal_sets: FocalSets
) -> Array:
    """Masses of all objects, given those of the first ones."""
    first = slice(0, len(masses))
    weights = None if problem.weights is None else problem.weights[first]
    parts = [masses]
    for start in range(first.stop, problem.n_samples, _BLOCK_ROWS):
        rows = slice(start, min(start + _BLOCK_ROWS, problem.n_samples))
        if problem.stored is not None:
            similarities = problem.stored[rows, first]
        else:
            similarities = problem.similarities.block(rows, first)
        begin = masses[similarities.argmax(axis=1)]
        parts.append(
            masses_from_similarities(similarities, masses, focal_sets, weights, begin)
        )
    return np.concatenate(parts)


def _random_masses(
    n_samples: int, focal_sets: FocalSets, rng: np.random.RandomState
) -> Array:
    """Uniform random numbers, divided by their sum in each row."""
    masses = rng.uniform(size=(n_samples, len(focal_sets)))
    return masses / masses.sum(axis=1, keepdims=True)


def masses_from_seeds(
    similarities: Array,
    focal_sets: FocalSets,
    rngs: list[np.random.RandomState],
    weights: Array | None = None,
) -> list[Array]:
    """Masses that fit the dissimilarities to distant objects, one for each cluster.

    The seeds are certain of their cluster, or of the smallest set that it is in. Each
    start has seeds of its own, drawn by its generator.
    """
    n_clusters = focal_sets.n_clusters
    to_seeds = []
    for rng in rngs:
        seeds = _distant_objects(similarities, n_clusters, rng, weights)
        to_seeds.append(similarities[:, seeds])
    certain = np.zeros((n_clusters, len(focal_sets)))
    for cluster in range(n_clusters):
        holds = focal_sets.membership[:, cluster]
        sizes = np.where(holds, focal_sets.cardinality, n_clusters + 1)
        certain[cluster, sizes.argmin()] = 1.0
    # Seeds of the same cluster are as certain in all starts: that is one problem.
    every = np.concatenate(to_seeds)
    begin = _of_any_sign(every, certain, focal_sets)
    masses = masses_from_similarities(every, certain, focal_sets, begin=begin)
    return np.split(masses, len(rngs))


def _of_any_sign(
    similarities: Array, seeds: Array, focal_sets: FocalSets
) -> Array | None:
    """Masses that would fit the dissimilarities if they could be negative, cut at 0.

    None with many more sets than seeds: there most masses are 0 in the end, but not
    these.
    """
    if not has_few_sets(focal_sets):
        return None
    n_sets = len(focal_sets)
    conditions = np.vstack([mass_apart(seeds, focal_sets), np.ones(n_sets)])
    sides = np.pad(1.0 - similarities, ((0, 0), (0, 1)), constant_values=1.0)
    even = np.full(n_sets, 1.0 / n_sets)
    masses = even + (sides - conditions @ even) @ np.linalg.pinv(conditions).T
    masses = np.maximum(masses, 0.0)
    return np.asarray(masses / masses.sum(axis=1, keepdims=True))


def _distant_objects(
    similarities: Array,
    n_objects: int,
    rng: np.random.RandomState,
    weights: Array | None = None,
) -> NDArray[np.intp]:
    """Objects drawn by k-means++: the farther from those before, the more probable.

    Each is the best of a few candidates, in the sense that all objects together are
    then nearest to those drawn. Objects with weights are as many copies.
    """
    n_candidates = _MIN_CANDIDATES + int(np.log(n_objects))
    counts = np.ones(len(similarities)) if weights is None else weights
    if weights is None:
        chosen = [rng.randint(len(similarities))]
    else:
        chosen = [int(rng.choice(len(similarities), p=weights / weights.sum()))]
    nearest = 1.0 - similarities[chosen[0]]
    for _ in range(n_objects - 1):
        squares = counts * np.maximum(nearest, 0.0) ** 2
        squares[chosen] = 0.0
        if not squares.any():
            squares[:] = 1.0
            squares[chosen] = 0.0
        candidates = rng.choice(len(squares), n_candidates, p=squares / squares.sum())
        distances = np.minimum(nearest, 1.0 - similarities[candidates])
        best = (np.square(distances) * counts).sum(axis=1).argmin()
        chosen.append(int(candidates[best]))
        nearest = distances[best]
    return np.array(chosen)
