"""One object as the prototype of each cluster, and of each set of clusters."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.cluster._inputs._medoids import Core, nearest_distinct_objects
from credalis.objectives._mass_costs import shares

# Columns of a matrix that are raised to a power at a time.
_BLOCK_COLUMNS = 64


def set_medoids(
    medoids: NDArray[np.intp],
    to_medoids: NDArray[np.float64],
    focal_sets: FocalSets,
    eta: float,
) -> NDArray[np.intp]:
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


def single_distances(
    to_medoids: NDArray[np.float64],
    to_sets: NDArray[np.float64],
    focal_sets: FocalSets,
    gamma: float,
) -> NDArray[np.float64]:
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
    means = shares(focal_sets) @ to_medoids
    distances = (to_sets + gamma * means) / (1 + gamma)
    is_single = focal_sets.cardinality == 1
    distances[is_single] = means[is_single]
    return distances


def single_update(
    matrix: NDArray[np.float64],
    weights: NDArray[np.float64],
    focal_sets: FocalSets,
    previous: NDArray[np.intp],
    power: float = 1,
) -> NDArray[np.intp]:
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


def weighted_sums(
    weights: NDArray[np.float64], matrix: NDArray[np.float64], power: float
) -> NDArray[np.float64]:
    """Σ_i w_ki d_il^power, (n_clusters, n_samples), without a second matrix."""
    if power == 1:
        return weights @ matrix
    sums = np.empty_like(weights)
    for start in range(0, len(matrix), _BLOCK_COLUMNS):
        columns = slice(start, start + _BLOCK_COLUMNS)
        sums[:, columns] = weights @ matrix[:, columns] ** power
    return sums


@dataclass(frozen=True, eq=False)
class SingleMedoids:
    """sECMdd: prototypes are the row numbers of objects, (n_clusters,)."""

    eta: float
    gamma: float

    def start(self, matrix: NDArray[np.float64], seeds: NDArray[np.intp]) -> Any:
        """The seeds themselves."""
        return seeds

    def nearest(
        self, matrix: NDArray[np.float64], core: Core, beta: float
    ) -> NDArray[np.float64]:
        """Dissimilarities to the nearest prototype of a hard partition."""
        return matrix[core.medoids].min(axis=0)

    def distances(
        self,
        matrix: NDArray[np.float64],
        prototypes: NDArray[np.intp],
        focal_sets: FocalSets,
    ) -> NDArray[np.float64]:
        """Dissimilarities of all objects to the sets, (n_focal_sets, n_samples)."""
        to_medoids = matrix[prototypes]
        chosen = set_medoids(prototypes, to_medoids, focal_sets, self.eta)
        return single_distances(to_medoids, matrix[chosen], focal_sets, self.gamma)

    def updated(
        self,
        matrix: NDArray[np.float64],
        prototypes: NDArray[np.intp],
        weights: NDArray[np.float64],
        focal_sets: FocalSets,
        alpha: float,
    ) -> Any:
        """The prototypes of the next iteration."""
        return single_update(matrix, weights, focal_sets, prototypes)

    def separation(
        self, matrix: NDArray[np.float64], prototypes: NDArray[np.intp]
    ) -> tuple[float, float]:
        """Largest dissimilarity of two prototypes, and that of objects on average."""
        return medoid_separation(matrix, prototypes)

    def fitted(
        self,
        matrix: NDArray[np.float64],
        prototypes: NDArray[np.intp],
        focal_sets: FocalSets,
    ) -> tuple[dict[str, Any], dict[str, Any], NDArray[np.intp]]:
        """Attributes per cluster and per set, and the objects prediction needs."""
        chosen = set_medoids(prototypes, matrix[prototypes], focal_sets, self.eta)
        references = np.unique(np.append(prototypes, chosen[chosen >= 0]))
        return {"medoids_": prototypes}, {"set_medoids_": chosen}, references

    def new_distances(
        self, estimator: Any, values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Dissimilarities of new objects to the sets, (n_focal_sets, n_new)."""
        return single_distances(
            values[position(estimator, estimator.medoids_)],
            values[position(estimator, estimator.set_medoids_)],
            estimator.focal_sets_,
            self.gamma,
        )


def medoid_separation(
    matrix: NDArray[np.float64], medoids: NDArray[np.intp]
) -> tuple[float, float]:
    """Largest dissimilarity of two medoids, and that of objects on average."""
    return float(matrix[np.ix_(medoids, medoids)].max()), float(matrix.mean())


def position(estimator: Any, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where rows are among the references; any place for those that are none."""
    return np.searchsorted(estimator.references_, rows)
