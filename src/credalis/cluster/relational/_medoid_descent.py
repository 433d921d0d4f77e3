"""What ECMdd and MECM share: masses and medoids in turn, the best kept."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from credalis._progress import Report
from credalis.belief import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._medoids import (
    Core,
    nearest_distinct_objects,
    ordinary_value,
)
from credalis.cluster.relational._clusterer import RelationalProblem
from credalis.objectives import mass_weights, masses_from_costs, set_costs
from credalis.optimize import iterate_to_best

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Iterations without a lower J after which a start ends.
_PATIENCE = 10

# Columns of a matrix that are raised to a power at a time.
_BLOCK_COLUMNS = 64


class MedoidPrototypes(Protocol):
    """What stands for the clusters, and how it moves; see `SingleMedoids`."""

    @property
    def attribute(self) -> str:
        """Name of the fitted attribute that holds the prototypes."""

    def start(self, matrix: Array, seeds: Indices) -> NDArray[Any]:
        """Prototypes to start with, from row numbers of objects."""

    def nearest(self, matrix: Array, core: Core, beta: float) -> Array:
        """Costs of the nearest prototype of a hard partition, (n_samples,)."""

    def distances(
        self, matrix: Array, prototypes: NDArray[Any], focal_sets: FocalSets
    ) -> Array:
        """Dissimilarities of all objects to the sets, (n_focal_sets, n_samples)."""

    def updated(
        self,
        matrix: Array,
        prototypes: NDArray[Any],
        weights: Array,
        focal_sets: FocalSets,
        alpha: float,
    ) -> NDArray[Any]:
        """The prototypes of the next iteration."""

    def separation(
        self, matrix: Array, prototypes: NDArray[Any]
    ) -> tuple[float, float]:
        """How far prototypes are apart at most, and what this is compared with."""

    def fitted(
        self, matrix: Array, prototypes: NDArray[Any], focal_sets: FocalSets
    ) -> tuple[dict[str, Any], Indices]:
        """Attributes per set, and row numbers of the objects prediction needs."""


@dataclass(frozen=True, eq=False)
class MedoidDescent:
    """Masses and medoids in turn, the best kept.

    Attributes
    ----------
    prototypes : MedoidPrototypes
        What stands for the clusters.
    alpha, beta : float
        Exponents of cardinality and masses.
    delta_exponent : float
        δ to this power is what a unit of mass on ∅ costs.
    """

    prototypes: MedoidPrototypes
    alpha: float
    beta: float
    delta_exponent: float = 2.0

    def automatic_delta(self, matrix: Array, core: Core) -> float:
        """The distance to noise that suits the data."""
        nearest = self.prototypes.nearest(matrix, core, self.beta)
        return ordinary_value(nearest, matrix.mean()) ** (1 / self.delta_exponent)

    def costs(self, distances: Array, focal_sets: FocalSets, delta: float) -> Array:
        """Cost of a unit of mass, (n_focal_sets, n_samples)."""
        # Squared there.
        noise = delta ** (self.delta_exponent / 2)
        return set_costs(distances, focal_sets, self.alpha, noise)

    def solve(
        self,
        problem: RelationalProblem,
        focal_sets: FocalSets,
        start: Indices | Solution,
        *,
        tol: float,
        max_iter: int,
        report: Report,
    ) -> Solution:
        """The best masses and prototypes from row numbers, or a solution, on."""
        matrix, model = problem.matrix, self.prototypes
        if isinstance(start, Solution):
            first = start.per_cluster[model.attribute]
        else:
            first = model.start(matrix, start)

        def iteration(before: _MedoidStep) -> tuple[_MedoidStep, float]:
            prototypes = before.next_prototypes
            distances = model.distances(matrix, prototypes, focal_sets)
            costs = self.costs(distances, focal_sets, problem.delta)
            masses = masses_from_costs(costs, self.beta)
            weights = mass_weights(masses, self.beta)
            moved = model.updated(matrix, prototypes, weights, focal_sets, self.alpha)
            after = _MedoidStep(prototypes, masses, moved)
            return after, float(np.vdot(weights, costs))

        trace = iterate_to_best(
            iteration,
            _MedoidStep(first, np.empty((0, 0)), first),
            tol=tol,
            max_iter=max_iter,
            patience=_PATIENCE,
            report=report,
        )
        prototypes = trace.state.prototypes
        per_set, references = model.fitted(matrix, prototypes, focal_sets)
        return Solution(
            masses=trace.state.masses.T,
            trace=trace,
            per_cluster={model.attribute: prototypes},
            per_set=per_set,
            other=problem.fitted(references),
            is_interrupted=trace.interrupted,
        )

    def separation(
        self, problem: RelationalProblem, solution: Solution
    ) -> tuple[float, float]:
        """How far prototypes are apart at most, and what this is compared with."""
        prototypes = solution.per_cluster[self.prototypes.attribute]
        return self.prototypes.separation(problem.matrix, prototypes)


@dataclass(frozen=True, eq=False)
class _MedoidStep:
    """The prototypes at which the loss is known, and those of the next step."""

    prototypes: NDArray[Any]
    masses: Array
    next_prototypes: NDArray[Any]


def set_medoids(
    medoids: Indices,
    to_medoids: Array,
    focal_sets: FocalSets,
    eta: float,
) -> Indices:
    """The object that stands for each set of clusters, -1 for ∅.

    For several clusters it is the object p whose dissimilarities to their medoids have
    the smallest variance + eta * mean; for one cluster it is the medoid.

    Parameters
    ----------
    medoids : array of int, shape (n_clusters,)
        Row numbers of the medoids.
    to_medoids : array of shape (n_clusters, n_samples)
        Dissimilarities to the medoids.
    focal_sets : FocalSets
        The sets.
    eta : float
        Weight of the mean.

    Returns
    -------
    array of int, shape (n_focal_sets,)
    """
    chosen = np.full(len(focal_sets), -1, dtype=np.intp)
    for j, subset in enumerate(focal_sets):
        if len(subset) == 1:
            chosen[j] = medoids[subset[0]]
        elif subset:
            members = to_medoids[list(subset)]
            chosen[j] = (members.var(axis=0) + eta * members.mean(axis=0)).argmin()
    return chosen


def single_update(
    matrix: Array,
    weights: Array,
    focal_sets: FocalSets,
    previous: Indices,
    power: float = 1,
) -> Indices:
    """Medoids v_k = argmin_p Σ_i m_i({k})^beta τ(x_i, x_p)^power, no two the same.

    Parameters
    ----------
    matrix : array of shape (n_samples, n_samples)
        Dissimilarities.
    weights : array of shape (n_focal_sets, n_samples)
        m_ij^beta.
    focal_sets : FocalSets
        The sets; a cluster that is none of them keeps its medoid.
    previous : array of int, shape (n_clusters,)
        Medoids so far.
    power : float, default=1
        Exponent of the dissimilarities.

    Returns
    -------
    array of int, shape (n_clusters,)
    """
    of_clusters = np.zeros((len(previous), len(matrix)))
    of_clusters[np.arange(len(previous)), previous] = 1.0
    for k in range(len(previous)):
        if (k,) in focal_sets:
            of_clusters[k] = weights[focal_sets.index((k,))]
    scores = weighted_sums(of_clusters, matrix, power)
    return nearest_distinct_objects(scores, matrix)


def weighted_sums(weights: Array, matrix: Array, power: float) -> Array:
    """Σ_i w_ki d_il^power, (n_clusters, n_samples), without a second matrix."""
    if power == 1:
        return weights @ matrix
    sums = np.empty_like(weights)
    for start in range(0, len(matrix), _BLOCK_COLUMNS):
        columns = slice(start, start + _BLOCK_COLUMNS)
        sums[:, columns] = weights @ matrix[:, columns] ** power
    return sums


def medoid_separation(matrix: Array, medoids: Indices) -> tuple[float, float]:
    """Largest dissimilarity of two medoids, and that of objects on average."""
    return float(matrix[np.ix_(medoids, medoids)].max()), float(matrix.mean())
