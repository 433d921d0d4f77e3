"""What stands for a cluster in MECM: an object, found by trying all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.cluster._inputs._medoids import Core
from credalis.cluster.relational._medoid_descent import (
    medoid_separation,
    set_medoids,
    single_update,
    weighted_sums,
)
from credalis.objectives import cluster_shares

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Entries of one temporary array in the search for medoids.
_BLOCK_ENTRIES = 2**14

# The objects that stand for sets are chosen as in ECMdd, with its default eta.
_MEAN_WEIGHT = 1.0

# Relative error of sums of many dissimilarities.
_ROUNDING = 1e-9

META_DISSIMILARITIES = ("mean", "prototype")
UPDATE_TERMS = ("all", "single")


def total_differences(distances: Array) -> Array:
    """Σ_{k<l} |d_k - d_l| for each column, (n_clusters, n) → (n,)."""
    size = len(distances)
    # Sorted, d_(r) is added once for each smaller one, and subtracted for the others.
    signs = np.linspace(1.0 - size, size - 1.0, size)
    return signs @ np.sort(distances, axis=0)


def median_distances(
    to_medoids: Array,
    first: Array,
    separations: Array,
    focal_sets: FocalSets,
    gamma: float,
    eta: float,
) -> Array:
    """Dissimilarities of objects to sets of clusters.

    d_ik for one cluster; for several (gamma f_ij + ρ_ij min_k d_ik) / (gamma + 1), with
    ρ_ij = Σ_{k<l} |d_ik - d_il| / (eta Σ_{k<l} τ(v_k, v_l)).

    Parameters
    ----------
    to_medoids : array of shape (n_clusters, n_samples)
        d_ik = τ(x_i, v_k).
    first : array of shape (n_focal_sets, n_samples)
        f_ij.
    separations : array of shape (n_focal_sets,)
        Σ_{k<l} τ(v_k, v_l) over the clusters of each set.
    focal_sets : FocalSets
        The sets.
    gamma, eta : float
        Weight of f_ij, and divisor of ρ_ij.

    Returns
    -------
    array of shape (n_focal_sets, n_samples)
    """
    distances = np.zeros((len(focal_sets), to_medoids.shape[1]))
    for j, subset in enumerate(focal_sets):
        if len(subset) == 1:
            distances[j] = to_medoids[subset[0]]
        elif subset:
            members = to_medoids[list(subset)]
            ratio = total_differences(members) / (eta * _positive(separations[j]))
            distances[j] = gamma * first[j] + ratio * members.min(axis=0)
            distances[j] /= gamma + 1
    return distances


def set_separations(between: Array, focal_sets: FocalSets) -> Array:
    """Σ_{k<l} τ(v_k, v_l) over the clusters of each set, (n_focal_sets,)."""
    members = focal_sets.membership.astype(np.float64)
    return ((members @ between) * members).sum(axis=1) / 2


@dataclass(frozen=True, eq=False)
class MedianMedoids:
    """MECM: prototypes are the row numbers of objects, (n_clusters,)."""

    gamma: float
    eta: float
    power: float
    meta: str
    terms: str
    attribute: ClassVar[str] = "medoids_"

    def start(self, matrix: Array, seeds: Indices) -> Indices:
        """The seeds themselves."""
        return seeds

    def nearest(self, matrix: Array, core: Core, beta: float) -> Array:
        """Costs of the nearest prototype of a hard partition."""
        return matrix[core.medoids].min(axis=0) ** self.power

    def distances(
        self,
        matrix: Array,
        prototypes: Indices,
        focal_sets: FocalSets,
    ) -> Array:
        """Dissimilarities of all objects to the sets, (n_focal_sets, n_samples)."""
        to_medoids = matrix[prototypes]
        separations = set_separations(to_medoids[:, prototypes], focal_sets)
        to_sets = self._to_sets(matrix, prototypes, focal_sets)
        return self.set_distances(to_medoids, to_sets, separations, focal_sets)

    def _to_sets(
        self, matrix: Array, medoids: Indices, focal_sets: FocalSets
    ) -> Array | None:
        """Dissimilarities to the objects that stand for the sets, if they count."""
        if self.meta == "mean":
            return None
        chosen = set_medoids(medoids, matrix[medoids], focal_sets, _MEAN_WEIGHT)
        return matrix[chosen]

    def set_distances(
        self,
        to_medoids: Array,
        to_sets: Array | None,
        separations: Array,
        focal_sets: FocalSets,
    ) -> Array:
        """Dissimilarities to the sets, (n_focal_sets, n), from those to objects.

        Parameters
        ----------
        to_medoids : array of shape (n_clusters, n)
            Dissimilarities to the medoids of the clusters.
        to_sets : array of shape (n_focal_sets, n) or None
            Those to the objects that stand for the sets; None if they do not count.
        separations : array of shape (n_focal_sets,)
            Sums of the dissimilarities of the medoids in each set.
        focal_sets : FocalSets
            The sets.
        """
        first = to_sets
        if first is None:
            first = cluster_shares(focal_sets) @ to_medoids
        distances = median_distances(
            to_medoids, first, separations, focal_sets, self.gamma, self.eta
        )
        return distances if self.power == 1 else distances**self.power

    def updated(
        self,
        matrix: Array,
        prototypes: Indices,
        weights: Array,
        focal_sets: FocalSets,
        alpha: float,
    ) -> Indices:
        """The prototypes of the next iteration.

        Each medoid in turn where J, or its terms of single clusters, are lowest, the
        masses and the other medoids given.
        """
        if self.terms == "single":
            return single_update(matrix, weights, focal_sets, prototypes, self.power)
        medoids = prototypes.copy()
        sizes = np.maximum(focal_sets.cardinality, 1).astype(np.float64)
        weights = weights * (sizes**alpha)[:, None]
        to_sets = self._to_sets(matrix, medoids, focal_sets)
        search = _MedoidSearch(self, matrix, medoids, weights, focal_sets, to_sets)
        for k in range(len(medoids)):
            medoids[k] = search.best_medoid(k)
        return medoids

    def separation(self, matrix: Array, prototypes: Indices) -> tuple[float, float]:
        """Largest dissimilarity of two prototypes, and that of objects on average."""
        return medoid_separation(matrix, prototypes)

    def fitted(
        self, matrix: Array, prototypes: Indices, focal_sets: FocalSets
    ) -> tuple[dict[str, Any], Indices]:
        """Attributes per set, and row numbers of the objects prediction needs."""
        to_medoids = matrix[prototypes]
        per_set: dict[str, Any] = {
            "set_separations_": set_separations(to_medoids[:, prototypes], focal_sets)
        }
        references = prototypes
        if self.meta == "prototype":
            chosen = set_medoids(prototypes, to_medoids, focal_sets, _MEAN_WEIGHT)
            per_set["set_medoids_"] = chosen
            references = np.append(prototypes, chosen[chosen >= 0])
        return per_set, np.unique(references)


@dataclass(frozen=True, eq=False)
class _MedoidSearch:
    """Where J is lowest as a function of one medoid, all else given.

    The medoids may move from one search to the next.
    """

    method: MedianMedoids
    matrix: Array
    medoids: Indices
    weights: Array
    focal_sets: FocalSets
    to_sets: Array | None

    def best_medoid(self, k: int) -> int:
        """The object that makes J lowest as medoid of cluster k.

        Candidates are tried in the order of lower bounds of their costs, as long as a
        bound is below the lowest cost so far.
        """
        are_apart = np.all(self.matrix[np.delete(self.medoids, k)] > 0, axis=0)
        candidates = np.flatnonzero(are_apart)
        bounds = self._bounds(k)[candidates]
        order = np.argsort(bounds, kind="stable")
        best = int(self.medoids[k])
        lowest = self._costs(np.array([best]), k)[0]
        n_rows = max(1, _BLOCK_ENTRIES // len(self.matrix))
        for start in range(0, len(order), n_rows):
            block = order[start : start + n_rows]
            if bounds[block[0]] >= lowest:
                break
            costs = self._costs(candidates[block], k)
            if costs.min() < lowest:
                best, lowest = int(candidates[block[costs.argmin()]]), costs.min()
        return best

    def _bounds(self, k: int) -> Array:
        """Lower bounds of `_costs`, of all objects: without ρ_ij.

        What is left is, for power 1, a sum of dissimilarities with weights, and for
        power 2 one of dissimilarities and of their squares.
        """
        gamma, power = self.method.gamma, self.method.power
        linear, quadratic = np.zeros((2, len(self.matrix)))
        constant = 0.0
        for j, subset in enumerate(self.focal_sets):
            if k not in subset:
                continue
            # f_ij is then scale * (τ(x_i, x_p) + rest_i).
            scale, rest = 1.0, np.zeros(len(self.matrix))
            if len(subset) > 1:
                scale = gamma / ((gamma + 1) * len(subset))
                others = self.medoids[[each for each in subset if each != k]]
                rest = self.matrix[others].sum(0)
                if self.to_sets is not None:
                    # What the object that stands for the set adds to its cost.
                    fixed = (gamma / (gamma + 1) * self.to_sets[j]) ** power
                    constant += fixed @ self.weights[j]
                    continue
            if power == 1:
                linear += scale * self.weights[j]
                constant += scale * (rest @ self.weights[j])
            else:
                quadratic += scale**2 * self.weights[j]
                linear += 2 * scale**2 * rest * self.weights[j]
                constant += scale**2 * (rest**2 @ self.weights[j])
        bounds = linear @ self.matrix + constant
        if power == 2:
            bounds += weighted_sums(quadratic[None], self.matrix, 2)[0]
        # Less by what rounding may have added.
        return bounds * (1 - _ROUNDING)

    def _costs(self, candidates: Indices, k: int) -> Array:
        """What depends on the medoid of cluster k in J, for each candidate."""
        to_candidates = self.matrix[candidates]
        costs = np.zeros(len(candidates))
        for j, subset in enumerate(self.focal_sets):
            if k not in subset:
                continue
            if len(subset) == 1:
                distances = to_candidates
            else:
                others = self.medoids[[each for each in subset if each != k]]
                distances = self._candidate_distances(
                    to_candidates,
                    self.matrix[others],
                    others,
                    None if self.to_sets is None else self.to_sets[j],
                )
            if self.method.power != 1:
                distances = distances**self.method.power
            costs += distances @ self.weights[j]
        return costs

    def _candidate_distances(
        self,
        to_candidates: Array,
        to_others: Array,
        others: Sequence[int] | Indices,
        to_set: Array | None,
    ) -> Array:
        """Dissimilarities to a set with each candidate in it, (n_candidates, n)."""
        # ρ_ij, its numerator and its denominator parted by what a candidate changes.
        differences = np.repeat(
            total_differences(to_others)[None], len(to_candidates), axis=0
        )
        for row in to_others:
            differences += np.abs(to_candidates - row)
        separations = to_others[:, others].sum() / 2
        separations = separations + to_candidates[:, others].sum(axis=1)
        result = np.minimum(to_candidates, to_others.min(axis=0))
        result *= differences
        result /= (self.method.eta * _positive(separations))[:, None]
        if to_set is None:
            first = to_candidates + to_others.sum(axis=0)
            first *= self.method.gamma / (len(to_others) + 1)
            result += first
        else:
            result += self.method.gamma * to_set
        result /= self.method.gamma + 1
        return result


def _positive(values: Any) -> Any:
    """Values that can be divided by."""
    return np.maximum(values, np.finfo(np.float64).tiny)
