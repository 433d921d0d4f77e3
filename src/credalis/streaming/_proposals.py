"""From the rejected objects of a stream to clusters that could be added."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from credalis.streaming._balls import Balls, Reference

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ProposedCluster:
    """Rejected objects near each other that could be a cluster of their own.

    Attributes
    ----------
    objects : array of shape (size, n_features)
        The objects, oldest first.
    center : array of shape (n_features,)
        Their mean.
    spread : float
        Root mean squared distance of an object from the centre. It is to be compared
        with that of the known clusters, about 0.7 times ``radius_`` of the monitor.
    log_evidence : float
        Logarithm of the largest weighted evidence w_j E_j of a ball in the cluster.
    """

    objects: Array
    center: Array
    spread: float
    log_evidence: float

    @property
    def size(self) -> int:
        """Number of objects."""
        return len(self.objects)

    def __repr__(self) -> str:
        center = np.array2string(self.center, precision=3, threshold=6)
        return (
            f"ProposedCluster({self.size} objects, center={center}, "
            f"spread={self.spread:.3g})"
        )


def proposed_clusters(
    balls: Balls, log_weighted: Array, log_threshold: float, reference: Reference
) -> list[ProposedCluster]:
    """Groups of balls that overlap and are each hit too often, largest first.

    Balls whose own weighted evidence reaches the threshold are the cores; cores within
    one radius of each other belong together, and rejected objects within one radius of
    a core belong to its group: the rule of DBSCAN with a test in place of a count.

    Parameters
    ----------
    balls : Balls
        The rejected objects that are kept.
    log_weighted : array of shape (n_balls,)
        log(w_j E_j) of each of them.
    log_threshold : float
        What makes a ball a core.
    reference : Reference
        Metric and radius.
    """
    cores = np.flatnonzero(log_weighted >= log_threshold)
    if len(cores) == 0:
        return []
    points = balls.points[cores]
    links = csr_array(reference.are_close(points, points))
    n_groups, group_of_core = connected_components(links, directed=False)
    # Each object goes to the group of the first, that is strongest, core it is near.
    order = np.argsort(-log_weighted[cores], kind="stable")
    near = reference.are_close(balls.points, points[order])
    group = np.where(near.any(axis=1), group_of_core[order][near.argmax(axis=1)], -1)
    # At the end of the numbers a core may have no distance to itself.
    group[cores] = group_of_core
    clusters = []
    for k in range(n_groups):
        objects = balls.objects[group == k]
        # In a large unit, so that no sum overflows; a power of two rounds nothing.
        center = np.ldexp(np.ldexp(objects, -30).mean(axis=0), 30)
        deviations = balls.points[group == k]
        deviations = deviations - deviations.mean(axis=0)
        spread = float(np.sqrt(np.square(deviations).sum(axis=1).mean()))
        evidence = float(log_weighted[cores[group_of_core == k]].max())
        clusters.append(ProposedCluster(objects, center, spread, evidence))
    return sorted(clusters, key=lambda cluster: -cluster.size)
