"""Objects worth a look: typical, between clusters, outlying, with reasons."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from credalis.partition._presentation import set_counts
from credalis.report._content.alike import grouped
from credalis.report._content.profiles import Profiles
from credalis.report._content.subject import Subject
from credalis.report._content.text import counted, listed, number

Indices = NDArray[np.intp]

# An object between clusters is rather in one that is at least as probable as this.
_RATHER = 0.6
# Plausibilities that differ by less than this are equal to a reader.
_DECIMALS = 2
# Objects named as typical of a cluster, rows of the tables of objects, columns of the
# reader's table and masses in them, and sets listed where the doubt lies.
_N_TYPICAL, _N_ROWS, _N_COLUMNS, _N_MASSES, _N_SETS = 3, 30, 8, 3, 5
# Objects named beside one that they are almost the same as.
_N_ALIKE = 12


@dataclass(frozen=True, eq=False)
class TableColumn:
    """One column of a table that the reader can sort, by values or by the cells.

    If it is descending, the first click brings the largest value to the top.
    """

    heading: str
    cells: Sequence[str]
    values: Sequence[float] | None = None
    is_descending: bool = False

    def sort_key(self, row: int) -> str:
        """What a row is sorted by; nothing if the value is missing."""
        value = self.values[row] if self.values is not None else np.nan
        return f"{value:.9g}" if np.isfinite(value) else ""


@dataclass(frozen=True, eq=False)
class ObjectList:
    """Objects of one kind: what is said about them, and a table that names them.

    Beside each object of the table stand some that are almost the same; the sizes count
    it and all of these.
    """

    text: str
    objects: list[int]
    columns: list[TableColumn]
    alike: list[list[int]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    @property
    def named(self) -> list[int]:
        """All objects that the table names."""
        return [*self.objects, *(i for each in self.alike for i in each)]


def typical_objects(subject: Subject) -> list[Indices]:
    """For each cluster its most plausible objects, of equals the most central first."""
    partition = subject.partition
    spread = subject.matrix.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    chosen = []
    for k in range(partition.n_clusters):
        members = np.flatnonzero(subject.groups == k)
        if len(members) == 0:
            chosen.append(members)
            continue
        plausibility = partition.plausibility[members, k].round(_DECIMALS)
        if subject.is_precomputed:
            remoteness = subject.matrix[np.ix_(members, members)].mean(axis=1)
        else:
            points = subject.matrix[members] / scale
            remoteness = np.linalg.norm(points - points.mean(axis=0), axis=1)
        order = np.lexsort((remoteness, -plausibility))
        chosen.append(members[order[:_N_TYPICAL]])
    return chosen


def reason(subject: Subject, i: int, profiles: Profiles | None = None) -> str:
    """Why an object is where it is, as in "between 2 and 3"."""
    partition, verdicts = subject.partition, subject.verdicts
    if verdicts.is_outlier[i]:
        return _outlier_reason(subject, i, profiles)
    clusters = np.flatnonzero(verdicts.sets[i]).tolist()
    if verdicts.is_clear[i]:
        return f"clearly in {clusters[0]}"
    if len(clusters) == partition.n_clusters > 2:
        return "could be in any cluster"
    own = partition.labels[i]
    rather = f", rather in {own}" if partition.pignistic[i, own] >= _RATHER else ""
    return f"between {listed(clusters, limit=6)}{rather}"


def _outlier_reason(subject: Subject, i: int, profiles: Profiles | None) -> str:
    """Far from all clusters; what is unusual, and which cluster is closest."""
    parts = ["far from all"]
    unusual = profiles.unusual(i) if profiles is not None else ""
    if unusual:
        parts.append(unusual)
    if subject.partition.plausibility[i].max() >= 0.01:
        parts.append(f"closest to {subject.partition.labels[i]}")
    return "; ".join(parts)


def objects_between(subject: Subject) -> ObjectList:
    """Objects between clusters, the most doubtful first."""
    verdicts, doubt = subject.verdicts, subject.partition.doubt
    between = np.flatnonzero(verdicts.is_between)
    if len(between) == 0:
        return ObjectList("No object is between clusters.", [], [])
    order = np.argsort(-doubt[between], kind="stable")
    groups = grouped(subject, between[order], _N_ROWS)
    counts = set_counts(verdicts.sets[between])
    where = [
        f"{number(count)} between {listed(subset, 6)}"
        for subset, count in counts[:_N_SETS]
    ]
    where[0] = where[0].replace("between", "between clusters")
    n_other = len(between) - sum(count for _, count in counts[:_N_SETS])
    if n_other:
        where.append(f"{number(n_other)} between others")
    text = (
        f"{'; '.join(where)}. An object is between the clusters that are at least half "
        "as plausible as the most plausible one, and at least between two. Doubt is "
        "one minus the largest probability of a cluster, or the mass on ∅ if that is "
        "more. " + _extent(groups, len(between))
    )
    return _object_list(text, groups, _columns(subject, groups))


def outlying_objects(subject: Subject, profiles: Profiles) -> ObjectList:
    """Outliers and what is unusual about them, those of largest mass on ∅ first."""
    outliers = np.flatnonzero(subject.verdicts.is_outlier)
    if len(outliers) == 0:
        return ObjectList("No object is an outlier.", [], [])
    order = np.argsort(-subject.partition.outlier_mass[outliers], kind="stable")
    groups = grouped(subject, outliers[order], _N_ROWS)
    text = (
        "At least half of the mass of these objects is on ∅: no cluster fits them. "
        + _extent(groups, len(outliers))
    )
    return _object_list(text, groups, _columns(subject, groups, profiles))


def _extent(groups: list[list[int]], n_all: int) -> str:
    """How many rows a table has, what they stand for, and how they are ordered."""
    n_objects = sum(map(len, groups))
    if n_all == 1:
        return ""
    parts = []
    if n_objects > len(groups):
        parts.append(
            "Objects that are almost the same share a row, named after the worst."
        )
    if n_objects < n_all:
        rows = f" in {counted(len(groups), 'row')}" if len(groups) < n_objects else ""
        parts.append(
            f"{number(n_objects)} of {number(n_all)} are listed{rows}, the worst first"
        )
    else:
        parts.append("The worst come first")
    return f"{' '.join(parts)}; click a heading to sort."


def _object_list(
    text: str, groups: list[list[int]], columns: list[TableColumn]
) -> ObjectList:
    """A row for each group, named after its first object."""
    return ObjectList(
        text,
        [group[0] for group in groups],
        columns,
        [group[1 : _N_ALIKE + 1] for group in groups],
        [len(group) for group in groups],
    )


def _columns(
    subject: Subject, groups: list[list[int]], profiles: Profiles | None = None
) -> list[TableColumn]:
    """Objects with reasons, doubts and their rows of the table."""
    partition = subject.partition
    objects = [group[0] for group in groups]
    doubt, empty = partition.doubt[objects], partition.outlier_mass[objects]
    names = [subject.names[i] for i in objects]
    masses = [
        ", ".join(map("\N{NO-BREAK SPACE}".join, subject.largest_masses(i, _N_MASSES)))
        for i in objects
    ]
    columns = [
        TableColumn("object", names, None if subject.has_names else objects),
        TableColumn("why", [reason(subject, i, profiles) for i in objects]),
        TableColumn("largest masses", masses),
        TableColumn("doubt", [f"{each:.2f}" for each in doubt], doubt.tolist(), True),
        TableColumn("m(∅)", [f"{each:.2f}" for each in empty], empty.tolist(), True),
    ]
    for column in subject.columns[:_N_COLUMNS]:
        cells = [column.cell(i) for i in objects]
        values = column.values[objects].tolist() if column.is_numeric else None
        columns.append(TableColumn(column.name, cells, values, column.is_numeric))
    return columns
