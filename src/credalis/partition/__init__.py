"""The credal partition, the one result of every evidential clustering."""

from credalis import _archive
from credalis.belief import FocalSets
from credalis.partition._partition import CredalPartition, uncopied_partition

__all__ = ["CredalPartition", "uncopied_partition"]

_archive.register(FocalSets, to_state=FocalSets.to_dict, from_state=FocalSets.from_dict)
_archive.register(CredalPartition)
