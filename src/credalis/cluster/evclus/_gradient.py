"""The first EVCLUS: gradient descent on a stress of raw dissimilarities."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis._progress import Report
from credalis.belief import FocalSets
from credalis.cluster.evclus._problem import EvclusProblem
from credalis.cluster.evclus._rows import solve_rows
from credalis.objectives import AffineStress, Entropy, Objective
from credalis.optimize import GradientTrace, RowQuadratics, minimize_adaptive

if TYPE_CHECKING:
    from credalis.cluster.evclus._evclus import EVCLUS

Array = NDArray[np.float64]

# Masses that are given are not smaller than this when they become parameters, which
# would not come back from minus infinity.
_SMALLEST_MASS = 1e-3

# Spread of random parameters at the start.
_SPREAD = 0.1

# Numbers gathered at a time in prediction.
_MAX_ENTRIES = 4_000_000


def solve_by_gradient(
    estimator: EVCLUS,
    problem: EvclusProblem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
    known: Array | None,
    report: Report,
) -> tuple[Array, GradientTrace, float, dict[str, Any]]:
    """Masses, how the descent went, the usual stress, further fitted attributes."""
    n_samples, n_sets = problem.n_samples, len(focal_sets)
    values = problem.geometry.distances(problem.order)
    # In units of the largest, which conflicts are to reach.
    unit = float(values.max())
    if unit == 0:
        raise ValueError("X must hold objects that differ, all dissimilarities are 0")
    stress = AffineStress(values / unit, focal_sets)
    terms: list[Objective] = []
    if len(problem.must_link) + len(problem.cannot_link):
        # The mean over all pairs, not half of it as in the row-wise method.
        weight = 2.0 * problem.constraint_weight
        terms.append(weight * problem.constraints(focal_sets))
    if estimator.entropy_weight:
        terms.append(estimator.entropy_weight * Entropy(focal_sets))

    def value_and_gradient(parameters: Array) -> tuple[float, Array]:
        masses = softmax(-parameters[:-2].reshape(n_sets, n_samples))
        value, slopes, ends = stress.value_and_gradient(masses, parameters[-2:])
        for term in terms:
            further, more = term.value_and_gradient(masses)
            value += further
            slopes += more
        slopes = -masses * (slopes - np.einsum("ij,ij->j", slopes, masses))
        return value, np.concatenate([slopes.ravel(), ends])

    if known is None:
        first = _SPREAD * rng.standard_normal((n_sets, n_samples))
    else:
        first = -np.log(np.maximum(known.T, _SMALLEST_MASS))
    trace = minimize_adaptive(
        value_and_gradient,
        np.append(first.ravel(), [1.0, 0.0]),
        tol=estimator.tol,
        max_iter=estimator.max_iter,
        report=report,
    )
    if trace.n_iter > 1:
        # The value at the start belongs to no iteration.
        trace = replace(trace, losses=trace.losses[1:])
    masses = softmax(-trace.state[:-2].reshape(n_sets, n_samples)).T
    extra = {
        "conflict_coefficients_": trace.state[-2:] * unit,
        "offset_": stress.offset * unit,
    }
    return masses, trace, problem.stress(focal_sets).value(masses), extra


# Dissimilarities in units of the coefficients that count as no larger.
_FARTHEST = 1e9


def masses_from_dissimilarities(
    dissimilarities: Array,
    references: Array,
    focal_sets: FocalSets,
    coefficients: Array,
    offset: float,
) -> Array:
    """Minima of Σ_j (a κ_ij + b - d_ij)² / d_ij over the masses of new objects i.

    Parameters
    ----------
    dissimilarities : array of shape (n_samples, n_references)
        d_ij.
    references : array of shape (n_references, n_focal_sets)
        Masses of the reference objects j.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    coefficients : array of shape (2,)
        a and b.
    offset : float
        What is added to the d_ij that are divided by. An object that coincides with
        a reference would count for infinitely much; it counts for as much as at a
        thousandth of the mean dissimilarity.
    """
    a, b = coefficients
    # Far away it makes no difference how far.
    farthest = _FARTHEST * (abs(a) + abs(b) + abs(offset))
    dissimilarities = np.minimum(dissimilarities, farthest)
    against = a * (references @ focal_sets.disjoint.astype(np.float64))
    masses = np.empty((len(dissimilarities), against.shape[1]))
    smallest = 1e-3 * dissimilarities.mean(axis=1, keepdims=True)
    weights = 1.0 / np.maximum(dissimilarities + offset, smallest)
    size = max(1, _MAX_ENTRIES // against.size)
    for start in range(0, len(masses), size):
        rows = slice(start, start + size)
        weighted = weights[rows, :, None] * against
        linear = ((dissimilarities[rows, None, :] - b) @ weighted)[:, 0]
        grams = weighted.transpose(0, 2, 1) @ against
        masses[rows] = solve_rows(RowQuadratics(grams, linear))
    return masses


def softmax(logits: Array) -> Array:
    """Exponentials divided by their sum in each column."""
    weights = np.exp(logits - logits.max(axis=0))
    return weights / weights.sum(axis=0)
