"""Belief peaks as places to start from."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.peaks import delta_bel

_MAX_PEAK_OBJECTS = 10_000


def belief_peaks(
    values: NDArray[np.float64],
    n_clusters: int,
    *,
    metric: Any = "euclidean",
    **settings: Any,
) -> NDArray[np.intp]:
    """Row numbers of the likeliest centres on the δ-Bel graph, one for each cluster.

    Parameters
    ----------
    values : array of shape (n_samples, n_features) or (n_samples, n_samples)
        Objects, or with ``metric="precomputed"`` their dissimilarities.
    n_clusters : int
        Number of clusters.
    metric : str or callable, default="euclidean"
        Metric between objects.
    **settings
        Further parameters of `delta_bel`.
    """
    n_samples = len(values)
    # Evenly spread rows: a graph of all of many objects takes minutes.
    rows = np.arange(0, n_samples, -(-n_samples // _MAX_PEAK_OBJECTS))
    values = values[rows]
    if isinstance(metric, str) and metric == "precomputed":
        values = values[:, rows]
    graph = delta_bel(values, metric=metric, **settings)
    if n_clusters == 1:
        return rows[[graph.belief.argmax()]]
    return rows[graph.suggest(n_clusters)]
