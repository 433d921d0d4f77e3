"""The credal partition, the one result of every evidential clustering."""

from credalis import _archive
from credalis._choices import CLEAR_LEVEL
from credalis._coverage import TARGETS, CoverageCalibration
from credalis.belief import FocalSets
from credalis.partition._partition import (
    CredalPartition,
    index_of,
    uncopied_partition,
)
from credalis.partition._verdicts import Verdicts

__all__ = [
    "CLEAR_LEVEL",
    "CoverageCalibration",
    "CredalPartition",
    "Verdicts",
    "index_of",
    "uncopied_partition",
]

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


def _check_levels(owner: str, entries: _archive.Entries) -> None:
    levels, thresholds = entries["levels"], entries["thresholds"]
    if (levels[1:] < levels[:-1]).any() or (thresholds[1:] > thresholds[:-1]).any():
        raise ValueError(
            f"{owner}.levels must be ascending, and its thresholds descending"
        )
    classes = entries["classes"]
    if classes is not None and len(classes) != entries["n_clusters"]:
        raise ValueError(
            f"{owner}.classes must be one for each of {entries['n_clusters']} "
            f"clusters, got {len(classes)}"
        )


_archive.register(
    CoverageCalibration,
    schema=_archive.Fields(
        {
            "target": _archive.Choice(*TARGETS),
            "n_clusters": _archive.Integer(at_least=1),
            "n_rows": _archive.Integer(at_least=1),
            "levels": _archive.Array("f", ("n_levels",), at_least=0, at_most=1),
            "thresholds": _archive.Array("f", ("n_levels",), at_most=1 + 1e-6),
            "classes": _archive.OneOf(
                _archive.Nothing(), _archive.Each(_archive.Plain())
            ),
        },
        relations=(_check_levels,),
    ),
)
