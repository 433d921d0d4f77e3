"""Objects that stand for the clusters when NNEVCLUS starts."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import kmeans_plusplus

from credalis._checks import check_finite, check_numbers, naming
from credalis.cluster._inputs._geometry import Geometry
from credalis.cluster._inputs._medoids import belief_peaks, check_rows

# Of EVCLUS for seeds: late sweeps move small masses, not the best object of a cluster.
_SEED_TOLERANCE = 1e-4


INITS = ("auto", "random", "peaks", "evclus", "k-means++")


def fixed_seeds(
    init: Any,
    X: NDArray[np.float64],
    geometry: Geometry,
    scale: float,
    n_clusters: int,
    rng: np.random.RandomState,
) -> NDArray[np.intp] | None:
    """Row numbers of seeds that are the same for all starts, one for each cluster.

    None for "k-means++", which draws them for every start.
    """
    if isinstance(init, str):
        if init == "peaks":
            return belief_peaks(geometry.values, n_clusters, metric=geometry.metric)
        if init == "evclus":
            return _most_plausible(geometry, scale, n_clusters, rng)
        return None
    with naming("init"):
        values = np.asarray(init)
    if values.ndim == 1:
        return check_rows(values, len(X), n_clusters)
    if values.ndim > 2:
        # Images and the like are rows in here.
        values = values.reshape(len(values), -1)
    centers = check_numbers("init", values)
    if centers.shape != (n_clusters, X.shape[1]):
        raise ValueError(
            f"init must have shape (n_clusters, n_features) = ({n_clusters}, "
            f"{X.shape[1]}) or (n_clusters,), got {centers.shape}"
        )
    centers = check_finite("init", centers)
    return _nearest_distinct(cdist(centers, X, "sqeuclidean"))


def random_seeds(
    geometry: Geometry,
    inputs: NDArray[np.float64],
    n_clusters: int,
    rng: np.random.RandomState,
) -> NDArray[np.intp]:
    """Row numbers of distant objects drawn by k-means++."""
    # Without points of their own the dissimilarities are close to those of the inputs.
    points = geometry.values if geometry.is_euclidean else inputs
    _, rows = kmeans_plusplus(points, n_clusters, random_state=rng)
    return np.asarray(rows, dtype=np.intp)


def _most_plausible(
    geometry: Geometry, scale: float, n_clusters: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """The object of maximal plausibility of each cluster that EVCLUS finds.

    Objects between clusters have the plausibility 1 of both; belief tells those from
    the objects inside.
    """
    # Only this start needs another method.
    from credalis.cluster.evclus._evclus import EVCLUS

    model = EVCLUS(
        n_clusters,
        metric=geometry.metric,
        dissimilarity_scale=scale,
        init="k-means++",
        # Objects that fit into no cluster should not become seeds.
        empty_set="stress",
        tol=_SEED_TOLERANCE,
        random_state=rng,
    )
    with warnings.catch_warnings():
        # Whatever there is to warn of concerns the partition, not the seeds.
        warnings.simplefilter("ignore")
        partition = model.fit(geometry.values).partition_
    return _nearest_distinct(-(partition.plausibility + partition.belief).T)


def _nearest_distinct(distances: NDArray[np.float64]) -> NDArray[np.intp]:
    """For each row the nearest column that no earlier row has taken.

    The distances are overwritten.
    """
    chosen = np.empty(len(distances), dtype=np.intp)
    for k, row in enumerate(distances):
        chosen[k] = row.argmin()
        distances[:, chosen[k]] = np.inf
    return chosen
