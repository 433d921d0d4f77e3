"""Why objects are where they are: the answer, for readers and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from credalis._explain._tree import PartitionTree

if TYPE_CHECKING:
    import pandas as pd

# The "cluster" of what makes an outlier.
NO_CLUSTER = -1


@dataclass(frozen=True)
class Reason:
    """A cell that speaks for or against a cluster.

    Attributes
    ----------
    cluster : int
        The cluster; -1 in a reason why the object fits none.
    feature : str
        Name of the column.
    value : str
        The cell of the object.
    typical : str
        The typical cell of the cluster, or for -1 that of the nearest cluster.
    weight : float
        How much the plausibility of the cluster, as a share of all clusters', would
        fall on average if the cell were one that is typical of some cluster; negative
        if the cell speaks against the cluster. For -1 how much less mass would be on ∅.
    """

    cluster: int
    feature: str
    value: str
    typical: str
    weight: float

    @property
    def cell(self) -> str:
        """Name and value, as in "width 3.1"."""
        return f"{self.feature} {self.value}"


@dataclass(frozen=True)
class Explanation:
    """Why one object is where it is.

    Attributes
    ----------
    row : int
        Its number in X.
    verdict : {"clear", "between", "outlier"}
        As in `CredalPartition.verdicts`.
    clusters : tuple of int
        The clusters that compete, the most plausible first: those that the object is
        between, else the two most plausible ones.
    plausibility : tuple of float
        Of these.
    reasons : tuple of Reason
        The most important first, for each of these clusters, and for -1 if the object
        is an outlier.
    typical : dict of int to tuple of int
        For each of these clusters, the typical objects that are most like this one.
    names : tuple of str
        Names of all clusters.
    """

    row: int
    verdict: str
    clusters: tuple[int, ...]
    plausibility: tuple[float, ...]
    reasons: tuple[Reason, ...]
    typical: dict[int, tuple[int, ...]]
    names: tuple[str, ...]

    def speaking(self, cluster: int) -> tuple[Reason, ...]:
        """Reasons for a cluster, the strongest first; -1: for none."""
        return tuple(r for r in self.reasons if r.cluster == cluster and r.weight > 0)

    def objecting(self, cluster: int) -> tuple[Reason, ...]:
        """Reasons against a cluster, the strongest first."""
        return tuple(r for r in self.reasons if r.cluster == cluster and r.weight < 0)

    @property
    def place(self) -> str:
        """Where the object is, as in "between 1 and 2"."""
        called = [self.names[k] for k in self.clusters]
        if self.verdict == "clear":
            return f"clearly in {called[0]}"
        if self.verdict == "between":
            return f"between {_listed(called)}"
        return f"fits no cluster, nearest is {called[0]}"

    @property
    def sentence(self) -> str:
        """Everything in one line, as in "between 1 and 2: width 3.1 speaks for 1"."""
        parts = []
        if self.verdict == "outlier":
            cells = [reason.cell for reason in self.speaking(NO_CLUSTER)]
            if cells:
                parts.append(f"{_listed(cells)} {_are(cells)} unusual")
        else:
            asked = self.clusters[:1] if self.verdict == "clear" else self.clusters
            for cluster in asked:
                cells = [reason.cell for reason in self.speaking(cluster)]
                if cells:
                    verb = "speaks" if len(cells) == 1 else "speak"
                    parts.append(f"{_listed(cells)} {verb} for {self.names[cluster]}")
        return f"{self.place}: {'; '.join(parts) or 'no single column decides'}"

    def __str__(self) -> str:
        lines = [f"object {self.row}: {self.place}"]
        if self.verdict == "outlier":
            lines += _reason_lines("unusual", self.speaking(NO_CLUSTER))
        for cluster, plausibility in zip(self.clusters, self.plausibility, strict=True):
            lines.append(f"  {self.names[cluster]}, plausibility {plausibility:.2f}")
            lines += _reason_lines("for", self.speaking(cluster))
            lines += _reason_lines("against", self.objecting(cluster))
            alike = ", ".join(map(str, self.typical.get(cluster, ())))
            if alike:
                lines.append(f"    {'like it':<9}{alike}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Explanations(Sequence[Explanation]):
    """Why some objects are where they are, and what the partition rests on.

    ``explanations[i]`` is about the i-th of the rows that were asked for.

    Attributes
    ----------
    objects : tuple of Explanation
        In the order in which they were asked for.
    tree : PartitionTree
        A few questions about the columns that lead to most decisions.
    basis : str
        Who says what would be if a cell were another one: the model, or the rows that
        are most alike if there is no model that predicts.
    """

    objects: tuple[Explanation, ...]
    tree: PartitionTree
    basis: str

    @overload
    def __getitem__(self, place: int) -> Explanation: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Explanation, ...]: ...
    def __getitem__(self, place: int | slice) -> Explanation | tuple[Explanation, ...]:
        return self.objects[place]

    def __len__(self) -> int:
        return len(self.objects)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.objects)

    def __repr__(self) -> str:
        return (
            f"Explanations({len(self.objects)} objects, tree of {self.tree.n_leaves} "
            f"leaves)"
        )

    def __str__(self) -> str:
        parts = [*map(str, self.objects), str(self.tree)]
        return "\n\n".join(parts)

    def to_pandas(self) -> "pd.DataFrame":
        """Table with one row for each reason, or for an object without any.

        Columns: row, verdict, cluster, plausibility, feature, value, typical, weight.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        names = (
            *("row", "verdict", "cluster", "plausibility"),
            *("feature", "value", "typical", "weight"),
        )
        rows = []
        for each in self.objects:
            known = dict(zip(each.clusters, each.plausibility, strict=True))
            for r in each.reasons:
                plausibility = known.get(r.cluster, float("nan"))
                start = (each.row, each.verdict, r.cluster, plausibility)
                rows.append((*start, r.feature, r.value, r.typical, r.weight))
            if not each.reasons:
                first, plausibility = each.clusters[0], each.plausibility[0]
                start = (each.row, each.verdict, first, plausibility)
                rows.append((*start, "", "", "", float("nan")))
        return pd.DataFrame(rows, columns=list(names))


def _reason_lines(word: str, reasons: Sequence[Reason]) -> list[str]:
    if not reasons:
        return []
    cells = [f"{reason.cell} (typical {reason.typical})" for reason in reasons]
    return [f"    {word:<9}{', '.join(cells)}"]


def _listed(items: Sequence[str]) -> str:
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def _are(items: Sequence[str]) -> str:
    return "is" if len(items) == 1 else "are"
