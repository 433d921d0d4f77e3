"""What stands for a cluster in ECMdd: one object, or all objects with weights."""

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
)
from credalis.objectives import (
    SMALLEST_COST,
    cluster_shares,
    mass_weights,
    masses_from_costs,
)

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Sums of dissimilarities below this share of their mean count as it: the object at 0
# from all members of a cluster would get all the weight.
_FLOOR = 1e-10

# Differences of the weights of an object below this share of its largest count as it.
_SPREAD_FLOOR = 1e-6

_SMALLEST = np.finfo(np.float64).tiny

# Iterations that make a hard partition soft.
_N_SOFTENING = 10


@dataclass(frozen=True, eq=False)
class SingleMedoids:
    """sECMdd: prototypes are the row numbers of objects, (n_clusters,)."""

    eta: float
    gamma: float
    attribute: ClassVar[str] = "medoids_"

    def start(self, matrix: Array, seeds: Indices) -> Indices:
        """The seeds themselves."""
        return seeds

    def nearest(self, matrix: Array, core: Core, beta: float) -> Array:
        """Dissimilarities to the nearest prototype of a hard partition."""
        return matrix[core.medoids].min(axis=0)

    def distances(
        self,
        matrix: Array,
        prototypes: Indices,
        focal_sets: FocalSets,
    ) -> Array:
        """Dissimilarities of all objects to the sets, (n_focal_sets, n_samples)."""
        to_medoids = matrix[prototypes]
        chosen = set_medoids(prototypes, to_medoids, focal_sets, self.eta)
        return single_distances(to_medoids, matrix[chosen], focal_sets, self.gamma)

    def updated(
        self,
        matrix: Array,
        prototypes: Indices,
        weights: Array,
        focal_sets: FocalSets,
        alpha: float,
    ) -> Indices:
        """The prototypes of the next iteration."""
        return single_update(matrix, weights, focal_sets, prototypes)

    def separation(self, matrix: Array, prototypes: Indices) -> tuple[float, float]:
        """Largest dissimilarity of two prototypes, and that of objects on average."""
        return medoid_separation(matrix, prototypes)

    def fitted(
        self, matrix: Array, prototypes: Indices, focal_sets: FocalSets
    ) -> tuple[dict[str, Any], Indices]:
        """Attributes per set, and row numbers of the objects prediction needs."""
        chosen = set_medoids(prototypes, matrix[prototypes], focal_sets, self.eta)
        references = np.unique(np.append(prototypes, chosen[chosen >= 0]))
        return {"set_medoids_": chosen}, references


def single_distances(
    to_medoids: Array,
    to_sets: Array,
    focal_sets: FocalSets,
    gamma: float,
) -> Array:
    """Dissimilarities of objects to sets of clusters.

    τ(x_i, v_k) for one cluster, and for several the mean of the dissimilarity to the
    medoid of the set, with weight 1, and of the mean one to the medoids of its
    clusters, with weight gamma.

    Parameters
    ----------
    to_medoids : array of shape (n_clusters, n_samples)
        Dissimilarities to the medoids of the clusters.
    to_sets : array of shape (n_focal_sets, n_samples)
        Dissimilarities to the medoids of the sets; that of ∅ is not read.
    focal_sets : FocalSets
        The sets.
    gamma : float
        Weight of the medoids of the clusters.

    Returns
    -------
    array of shape (n_focal_sets, n_samples)
    """
    means = cluster_shares(focal_sets) @ to_medoids
    distances = (to_sets + gamma * means) / (1 + gamma)
    is_single = focal_sets.cardinality == 1
    distances[is_single] = means[is_single]
    return distances


@dataclass(frozen=True, eq=False)
class WeightedMedoids:
    """wECMdd: prototypes are weights of the objects, (n_clusters, n_samples)."""

    psi: float
    xi: float
    zeta: float
    attribute: ClassVar[str] = "weights_"

    def start(self, matrix: Array, seeds: Indices) -> Array:
        """Weights of the hard clusters around the seeds."""
        labels = matrix[seeds].argmin(axis=0)
        members = labels == np.arange(len(seeds))[:, None]
        return cluster_weights(members.astype(np.float64) @ matrix, self.psi)

    def nearest(self, matrix: Array, core: Core, beta: float) -> Array:
        """Dissimilarities to the nearest prototype near a hard partition.

        Weights depend much on how hard the partition is: some iterations without ∅ and
        sets of clusters make it as soft as ``beta`` wants it.
        """
        weights = cluster_weights(core.shares @ matrix[core.objects], self.psi)
        for _ in range(_N_SOFTENING):
            distances = np.maximum(weights**self.psi @ matrix, SMALLEST_COST)
            memberships = mass_weights(masses_from_costs(distances, beta), beta)
            weights = cluster_weights(memberships @ matrix, self.psi)
        return (weights**self.psi @ matrix).min(axis=0)

    def distances(
        self,
        matrix: Array,
        prototypes: Array,
        focal_sets: FocalSets,
    ) -> Array:
        """d_ij = Σ_l v_jl^psi τ(x_i, x_l), (n_focal_sets, n_samples)."""
        of_sets = set_weights(prototypes, focal_sets, self.xi, self.zeta)
        return of_sets**self.psi @ matrix

    def updated(
        self,
        matrix: Array,
        prototypes: Array,
        weights: Array,
        focal_sets: FocalSets,
        alpha: float,
    ) -> Array:
        """The weights that fit the masses on single clusters best."""
        updated = prototypes.copy()
        clusters = [k for k in range(len(prototypes)) if (k,) in focal_sets]
        singles = [focal_sets.index((k,)) for k in clusters]
        updated[clusters] = cluster_weights(weights[singles] @ matrix, self.psi)
        return updated

    def separation(self, matrix: Array, prototypes: Array) -> tuple[float, float]:
        """Largest difference in total weight of two prototypes, of at most 1."""
        differences = [
            np.abs(prototypes - other).sum(axis=1).max() / 2 for other in prototypes
        ]
        return float(max(differences)), 1.0

    def fitted(
        self, matrix: Array, prototypes: Array, focal_sets: FocalSets
    ) -> tuple[dict[str, Any], Indices]:
        """No attributes per set, and all objects."""
        return {}, np.arange(len(matrix))


def cluster_weights(sums: Array, psi: float) -> Array:
    """Weights v_kl proportional to (Σ_i m_i({k})^beta τ(x_i, x_l))^(-1 / (psi - 1)).

    They minimise Σ_l v_kl^psi s_kl under Σ_l v_kl = 1.

    Parameters
    ----------
    sums : array of shape (n_clusters, n_samples)
        s_kl, not negative.
    psi : float
        Exponent of the weights, > 1.

    Returns
    -------
    array of shape (n_clusters, n_samples), rows sum to 1
    """
    floor = _FLOOR * sums.mean(axis=1, keepdims=True)
    sums = np.maximum(sums, np.maximum(floor, _SMALLEST))
    weights = (sums.min(axis=1, keepdims=True) / sums) ** (1 / (psi - 1))
    return weights / weights.sum(axis=1, keepdims=True)


def set_weights(weights: Array, focal_sets: FocalSets, xi: float, zeta: float) -> Array:
    """Weights of the objects in the prototypes of the sets.

    Those of the cluster for one cluster; for several clusters proportional to
    (min_k v_kl)^xi / (max_k v_kl - min_k v_kl)^zeta.

    Parameters
    ----------
    weights : array of shape (n_clusters, n_samples)
        v_kl.
    focal_sets : FocalSets
        The sets.
    xi, zeta : float
        Exponents.

    Returns
    -------
    array of shape (n_focal_sets, n_samples), rows sum to 1, for ∅ to 0
    """
    result = np.zeros((len(focal_sets), weights.shape[1]))
    for j, subset in enumerate(focal_sets):
        if len(subset) == 1:
            result[j] = weights[subset[0]]
        elif subset:
            members = weights[list(subset)]
            smallest = members.min(axis=0)
            inner = smallest / (smallest.max() or 1.0)
            values = inner**xi
            if zeta > 0:
                largest = members.max(axis=0)
                spread = np.maximum(largest - smallest, _SPREAD_FLOOR * largest)
                spread = np.maximum(spread / largest.max(), _SMALLEST)
                with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                    values /= spread**zeta
                if not np.isfinite(values.sum()):
                    values = _quotient_of_powers(inner, xi, spread, zeta)
            total = values.sum()
            result[j] = values / total if total > 0 else 1 / len(values)
    return result


def _quotient_of_powers(first: Array, xi: float, second: Array, zeta: float) -> Array:
    """first^xi / second^zeta in units of the largest, whatever the exponents."""
    logs = xi * np.log(np.maximum(first, _SMALLEST)) - zeta * np.log(second)
    return np.where(first > 0, np.exp(logs - logs.max()), 0.0 if xi else 1.0)
