"""The credal partition, the one result of every evidential clustering."""

from credalis import _archive
from credalis._coverage import CoverageCalibration
from credalis.belief import FocalSets
from credalis.partition._partition import CredalPartition, uncopied_partition
from credalis.partition._verdicts import CLEAR_LEVEL, Verdicts

__all__ = [
    "CLEAR_LEVEL",
    "CoverageCalibration",
    "CredalPartition",
    "Verdicts",
    "uncopied_partition",
]

_archive.register(FocalSets, to_state=FocalSets.to_dict, from_state=FocalSets.from_dict)
_archive.register(CredalPartition)
_archive.register(CoverageCalibration)
