"""The credal partition, the one result of every evidential clustering."""

from credalis import _archive
from credalis.belief import FocalSets
from credalis.partition._partition import CredalPartition, uncopied_partition
from credalis.partition._verdicts import CLEAR_LEVEL, Verdicts

__all__ = ["CLEAR_LEVEL", "CredalPartition", "Verdicts", "uncopied_partition"]

_archive.register(
    FocalSets,
    to_state=FocalSets.to_dict,
    from_state=FocalSets.from_dict,
    schema=_archive.Fields(
        {
            "n_clusters": _archive.Integer(at_least=1),
            "subsets": _archive.Each(_archive.Each(_archive.Integer(at_least=0)), 1),
        }
    ),
)
_archive.register(CredalPartition)
