"""All objects with weights as the prototype of each cluster."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.cluster._inputs._medoids import Core
from credalis.objectives._mass_costs import (
    SMALLEST_COST,
    mass_weights,
    masses_from_costs,
)

# Sums of dissimilarities below this share of their mean count as it: the object at 0
# from all members of a cluster would get all the weight.
_FLOOR = 1e-10

# Differences of the weights of an object below this share of its largest count as it.
_SPREAD_FLOOR = 1e-6

_SMALLEST = np.finfo(np.float64).tiny


def cluster_weights(sums: NDArray[np.float64], psi: float) -> NDArray[np.float64]:
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


def set_weights(
    weights: NDArray[np.float64], focal_sets: FocalSets, xi: float, zeta: float
) -> NDArray[np.float64]:
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
            values = (smallest / (smallest.max() or 1.0)) ** xi
            if zeta > 0:
                largest = members.max(axis=0)
                spread = np.maximum(largest - smallest, _SPREAD_FLOOR * largest)
                values /= np.maximum(spread / largest.max(), _SMALLEST) ** zeta
            total = values.sum()
            result[j] = values / total if total > 0 else 1 / len(values)
    return result


# Iterations that make a hard partition soft.
_N_SOFTENING = 10


@dataclass(frozen=True, eq=False)
class WeightedMedoids:
    """wECMdd: prototypes are weights of the objects, (n_clusters, n_samples)."""

    psi: float
    xi: float
    zeta: float

    def start(self, matrix: NDArray[np.float64], seeds: NDArray[np.intp]) -> Any:
        """Weights of the hard clusters around the seeds."""
        labels = matrix[seeds].argmin(axis=0)
        members = labels == np.arange(len(seeds))[:, None]
        return cluster_weights(members.astype(np.float64) @ matrix, self.psi)

    def nearest(
        self, matrix: NDArray[np.float64], core: Core, beta: float
    ) -> NDArray[np.float64]:
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
        matrix: NDArray[np.float64],
        prototypes: NDArray[np.float64],
        focal_sets: FocalSets,
    ) -> NDArray[np.float64]:
        """d_ij = Σ_l v_jl^psi τ(x_i, x_l), (n_focal_sets, n_samples)."""
        of_sets = set_weights(prototypes, focal_sets, self.xi, self.zeta)
        return of_sets**self.psi @ matrix

    def updated(
        self,
        matrix: NDArray[np.float64],
        prototypes: NDArray[np.float64],
        weights: NDArray[np.float64],
        focal_sets: FocalSets,
        alpha: float,
    ) -> Any:
        """The weights that fit the masses on single clusters best."""
        updated = prototypes.copy()
        clusters = [k for k in range(len(prototypes)) if (k,) in focal_sets]
        singles = [focal_sets.index((k,)) for k in clusters]
        updated[clusters] = cluster_weights(weights[singles] @ matrix, self.psi)
        return updated

    def separation(
        self, matrix: NDArray[np.float64], prototypes: NDArray[np.float64]
    ) -> tuple[float, float]:
        """Largest difference in total weight of two prototypes, of at most 1."""
        differences = [
            np.abs(prototypes - other).sum(axis=1).max() / 2 for other in prototypes
        ]
        return float(max(differences)), 1.0

    def fitted(
        self,
        matrix: NDArray[np.float64],
        prototypes: NDArray[np.float64],
        focal_sets: FocalSets,
    ) -> tuple[dict[str, Any], dict[str, Any], NDArray[np.intp]]:
        """Attributes per cluster and per set, and the objects prediction needs."""
        return {"weights_": prototypes}, {}, np.arange(len(matrix))

    def new_distances(
        self, estimator: Any, values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Dissimilarities of new objects to the sets, (n_focal_sets, n_new)."""
        return self.distances(values, estimator.weights_, estimator.focal_sets_)
