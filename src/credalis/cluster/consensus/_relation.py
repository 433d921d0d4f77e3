"""A committee that compares objects by dissimilarities: what it sees, and its members.

There are no coordinates, so that no mixture can be fitted and no density judged: the
members are methods that need nothing but the dissimilarities of all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import SpectralClustering

from credalis import _archive
from credalis._checks import check_lengths
from credalis._neighbors import NeighborSearch
from credalis._novelty import METRIC
from credalis.cluster._inputs._medoids import k_medoids
from credalis.cluster.consensus._mixtures import one_hot
from credalis.cluster.evclus._evclus import EVCLUS
from credalis.dissimilarity import Gower, dissimilarities_between

Array = NDArray[np.float64]

RELATIONAL_MEMBERS = ("spectral", "kernel", "average", "ward", "medoids", "evclus")

# Why the other members are not among them.
NO_MIXTURES = "mixtures and densities need attributes, not dissimilarities"

# Neighbours of the graph of spectral clustering.
_N_GRAPH = 10

# Width of the kernel, as a share of the median dissimilarity.
_KERNEL_SHARE = 0.5

# Starts of the medoids.
_N_MEDOIDS = 10

# Parameters by which a clusterer says that it takes dissimilarities.
_TAKES_MATRIX = {"metric": "precomputed", "affinity": "precomputed_nearest_neighbors"}


@dataclass(frozen=True, eq=False)
class Relation(_archive.SavedFields):
    """How objects are compared; in the place of a frame.

    Attributes
    ----------
    metric : Gower, str or callable
        Between rows; "precomputed" if a row holds the dissimilarities of an object to
        the objects of the committee.
    """

    metric: Any

    _schema: ClassVar[_archive.Rule] = _archive.Fields({"metric": METRIC})

    def __call__(self, rows: Array) -> Array:
        """Rows as the members see them."""
        return rows

    def search(self, rows: Array) -> NeighborSearch:
        """Who finds the nearest of these rows."""
        return NeighborSearch(rows, self.metric)

    def matrix(self, rows: Array) -> Array:
        """Dissimilarities of all pairs of the rows of the committee, (n, n)."""
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return rows
        values = dissimilarities_between(rows, None, self.metric)
        check_lengths(values, self.metric)
        return values

    def lengths(self, matrix: Array) -> Array:
        """What is most like Euclidean distances.

        Those are the roots of Gower's dissimilarities, if no cell is missing (J. C.
        Gower, 1971).
        """
        return np.sqrt(matrix) if isinstance(self.metric, Gower) else matrix


_archive.register(Relation)


def relational_memberships(
    member: str, relation: Relation, matrix: Array, n_clusters: int, seed: int
) -> Array:
    """Memberships that one member finds, (n, n_clusters).

    Parameters
    ----------
    member : str
        One of `RELATIONAL_MEMBERS`.
    relation : Relation
        How objects are compared.
    matrix : array of shape (n, n)
        Their dissimilarities.
    n_clusters : int
        Number of clusters.
    seed : int
        Of its random numbers.
    """
    if member == "evclus":
        model = EVCLUS(n_clusters, metric="precomputed", random_state=seed)
        return model.fit(matrix).partition_.pignistic.copy()
    if member == "medoids":
        rng = np.random.RandomState(seed)
        labels = k_medoids(matrix, n_clusters, rng, n_starts=_N_MEDOIDS)[1]
    elif member == "average":
        labels = _hierarchy(matrix, "average", n_clusters)
    elif member == "ward":
        labels = _hierarchy(relation.lengths(matrix), "ward", n_clusters)
    else:
        graph, values = "precomputed_nearest_neighbors", matrix
        if member == "kernel":
            graph, values = "precomputed", gaussian_kernel(matrix)
        labels = SpectralClustering(
            n_clusters,
            affinity=graph,
            n_neighbors=min(_N_GRAPH, len(matrix) - 1),
            random_state=seed,
        ).fit_predict(values)
    return one_hot(labels, n_clusters)


def gaussian_kernel(matrix: Array) -> Array:
    """exp(-(d / h)²) with h half of the median dissimilarity of different objects."""
    apart = matrix[matrix > 0]
    width = _KERNEL_SHARE * float(np.median(apart)) if len(apart) else 1.0
    # What is beyond all measure is apart.
    with np.errstate(over="ignore"):
        return np.exp(-np.square(matrix / width))


def takes_matrix(parameters: dict[str, Any]) -> bool:
    """Whether a clusterer of the user's is to be given dissimilarities."""
    return any(
        isinstance(parameters.get(name), str) and parameters[name] == value
        for name, value in _TAKES_MATRIX.items()
    )


def _hierarchy(matrix: Array, method: str, n_clusters: int) -> NDArray[np.intp]:
    tree = linkage(squareform(matrix, checks=False), method)
    return cut_tree(tree, n_clusters)[:, 0].astype(np.intp)
