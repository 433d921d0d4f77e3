"""The typical objects of a cluster that are most like an object."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from credalis._explain._columns import Array
from credalis.partition import CredalPartition, Verdicts

Indices = NDArray[np.intp]

# Of each cluster, so many of its objects at most are typical ones.
_MAX_TYPICAL = 200


def typical_objects(
    partition: CredalPartition, verdicts: Verdicts
) -> dict[int, Indices]:
    """For each cluster the clear objects most believed to be in it, ascending.

    The better half of them, at most 200; the most plausible object if none is clear.
    """
    belief, labels = partition.belief, partition.labels
    found = {}
    for k in range(partition.n_clusters):
        members = np.flatnonzero((labels == k) & verdicts.is_clear)
        if len(members) == 0:
            members = np.flatnonzero((labels == k) & ~verdicts.is_outlier)
            if len(members):
                members = members[[partition.plausibility[members, k].argmax()]]
        count = min((len(members) + 1) // 2, _MAX_TYPICAL)
        order = np.argsort(-belief[members, k], kind="stable")
        found[k] = np.sort(members[order[:count]])
    return found


def nearest(matrix: Array, row: int, candidates: Indices, count: int) -> Indices:
    """Of some rows those nearest to a row, without itself, (at most count,)."""
    candidates = candidates[candidates != row]
    if len(candidates) == 0:
        return candidates
    distances = cdist(matrix[[row]], matrix[candidates])[0]
    return candidates[np.argsort(distances, kind="stable")[:count]]
