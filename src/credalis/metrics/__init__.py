"""Numbers about one credal partition, or about two partitions of the same objects.

Two partitions are compared through what they say about each pair of objects: the same
cluster or different ones. Numbers of clusters, their names and the focal sets may
therefore differ.
"""

from credalis.metrics._dominance import dominates, non_dominated
from credalis.metrics._pairs import consistency_index, nonspecificity_index
from credalis.metrics._rand import adjusted_rand_index, credal_rand_index
from credalis.metrics._similarity import similarity_index

__all__ = [
    "adjusted_rand_index",
    "consistency_index",
    "credal_rand_index",
    "dominates",
    "non_dominated",
    "nonspecificity_index",
    "similarity_index",
]
