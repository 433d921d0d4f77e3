"""Why objects are where they are: columns for and against, and a tree of rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._explain import Explanation, Explanations, Reason, explain
from credalis._explain._cells import MODEL
from credalis._explain._explanation import NO_CLUSTER
from credalis.partition import CredalPartition
from credalis.report._content.subject import Subject
from credalis.report._content.text import listed, plain, quantity

Array = NDArray[np.float64]

_MAX_LENGTH = 400
# Clusters and unusual cells that a sentence names.
_N_RIVALS, _N_UNUSUAL = 3, 2
# Typical objects named for each cluster.
_N_TYPICAL = 2
# X is a column of the table in other units if it is so up to this share of its spread.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Side:
    """What speaks for and against one of the clusters that compete for an object."""

    title: str
    speaking: str
    objecting: str
    alike: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Why:
    """Reasons of some objects, by their row numbers, and rules for all.

    Parameters
    ----------
    sentences : dict of int to str
        What speaks for which cluster, or what is unusual, in a line.
    sides : dict of int to list of Side
        The same in detail.
    rules : tuple of str
        Lines of a small tree that leads to most decisions.
    caption : str
        How often the tree is right.
    basis : str
        Who says what would be if a cell were another one.
    """

    sentences: dict[int, str] = field(default_factory=dict)
    sides: dict[int, list[Side]] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    caption: str = ""
    basis: str = ""

    @property
    def note(self) -> str:
        """How to read the reasons, and who says so; "" without any."""
        if not self.sides:
            return ""
        text = "Open a reason to see what speaks for and against each cluster."
        if self.basis == MODEL:
            return text
        return (
            f"{text} The rows that are most like an object tell what another cell "
            "would change."
        )

    @property
    def named(self) -> list[int]:
        """Typical objects that are named beside others."""
        return [
            i for sides in self.sides.values() for side in sides for i in side.alike
        ]


class Read:
    """Cells of reasons in the words of the page, as in "width 3.1 (typical 2.4)"."""

    def __init__(self, subject: Subject) -> None:
        # Dates are already written as such.
        self._numeric = {
            plain(column.name, 40)
            for column in subject.columns
            if column.is_numeric and not column.is_date
        }

    def __call__(self, reason: Reason, *, has_typical: bool = False) -> str:
        is_numeric = plain(reason.feature, 40) in self._numeric
        value, typical = (
            _number(text) if is_numeric else text
            for text in (reason.value, reason.typical)
        )
        text = f"{reason.feature} {value}"
        return f"{text} (typical {typical})" if has_typical else text


def why(subject: Subject, objects: list[int]) -> Why:
    """Reasons for these objects in the units of the table; none without a table."""
    if not subject.columns or subject.n_samples < 2:
        return Why()
    found = _explanations(subject, objects)
    read = Read(subject)
    return Why(
        sentences={each.row: _sentence(each, read) for each in found},
        sides={each.row: _sides(each, read) for each in found},
        rules=tuple(plain_line(line) for line in found.tree.lines),
        caption=found.tree.caption,
        basis=found.basis,
    )


def plain_line(line: str) -> str:
    """A line of the tree, its indentation kept."""
    text = line.lstrip("│ ")
    return line[: len(line) - len(text)] + plain(text, _MAX_LENGTH)


def _explanations(subject: Subject, objects: list[int]) -> Explanations:
    """From the model if it can be asked in the units of the table, else from rows."""
    options: dict[str, Any] = {
        "rows": objects,
        "partition": subject.partition,
        "clear_level": subject.verdicts.clear_level,
        "cluster_names": subject.cluster_names,
        "n_typical": _N_TYPICAL,
    }
    if subject.pipeline is not None:
        return explain(*subject.pipeline, **options)
    model = _in_units_of_the_table(subject)
    if model is not None:
        return explain(model, model.table, **options)
    table = {column.name: column.contents for column in subject.columns}
    return explain(subject.partition, table, **options)


@dataclass(frozen=True, eq=False)
class _InUnits:
    """A model that takes the columns of the table, of which X holds multiples."""

    table: Array
    feature_names_in_: NDArray[Any]
    slopes: Array
    offsets: Array
    predict: Callable[[Array], CredalPartition]
    # Read by `credalis._explain`.
    date_columns_: tuple[int, ...]

    def predict_partition(self, rows: Array) -> CredalPartition:
        return self.predict(rows * self.slopes + self.offsets)


def _in_units_of_the_table(subject: Subject) -> _InUnits | None:
    """The estimator for rows of the table, if X is the table, scaled or not."""
    predict = getattr(subject.estimator, "predict_partition", None)
    names = subject.feature_names
    by_name = {column.name: column for column in subject.columns}
    if predict is None or subject.is_precomputed or names is None:
        return None
    if len(by_name) < len(subject.columns) or sorted(by_name) != sorted(names):
        return None
    columns = [by_name[name] for name in names]
    if not all(each.is_numeric and np.isfinite(each.values).all() for each in columns):
        return None
    table = np.column_stack([column.values for column in columns])
    fitted = _linear(table, subject.matrix)
    if fitted is None:
        return None
    dates = tuple(j for j, column in enumerate(columns) if column.is_date)
    return _InUnits(table, np.array(names, dtype=object), *fitted, predict, dates)


def _linear(table: Array, matrix: Array) -> tuple[Array, Array] | None:
    """Slopes and offsets that make the matrix of the table, if there are such."""
    if np.array_equal(table, matrix):
        width = matrix.shape[1]
        return np.ones(width), np.zeros(width)
    with np.errstate(all="ignore"):
        low, high = table.argmin(axis=0), table.argmax(axis=0)
        places = np.arange(table.shape[1])
        spans = table[high, places] - table[low, places]
        rises = matrix[high, places] - matrix[low, places]
        slopes = np.where(spans > 0, rises / np.where(spans > 0, spans, 1.0), 0.0)
        offsets = matrix[low, places] - slopes * table[low, places]
        gaps = np.abs(table * slopes + offsets - matrix).max(axis=0)
        is_close = bool((gaps <= _ROUNDING * np.maximum(np.abs(rises), 1e-300)).all())
    return (slopes, offsets) if is_close and np.isfinite(offsets).all() else None


def _sentence(explanation: Explanation, read: Read) -> str:
    """The strongest reasons, as in "width 3.1 speaks for 1; mass 20 speaks for 2"."""
    if explanation.verdict == "outlier":
        cells = [read(each) for each in explanation.speaking(NO_CLUSTER)[:_N_UNUSUAL]]
        return plain(f"unusual: {', '.join(cells)}", _MAX_LENGTH) if cells else ""
    strongest = {
        explanation.names[k]: explanation.speaking(k)[0]
        for k in explanation.clusters[:_N_RIVALS]
        if explanation.speaking(k)
    }
    parts = [f"{read(reason)} speaks for {name}" for name, reason in strongest.items()]
    return plain("; ".join(parts) or "no single column decides", _MAX_LENGTH)


def _sides(explanation: Explanation, read: Read) -> list[Side]:
    """A side for each of the clusters that compete."""

    def cells(reasons: Sequence[Reason]) -> str:
        texts = [read(reason, has_typical=True) for reason in reasons]
        return plain(listed(texts), _MAX_LENGTH) if texts else ""

    return [
        Side(
            plain(f"{explanation.names[k]}, plausibility {plausibility:.2f}"),
            cells(explanation.speaking(k)),
            cells(explanation.objecting(k)),
            tuple(explanation.typical.get(k, ())),
        )
        for k, plausibility in zip(
            explanation.clusters, explanation.plausibility, strict=True
        )
    ]


def _number(text: str) -> str:
    """A number as the tables of the page write it; anything else as it is."""
    try:
        return quantity(float(text))
    except ValueError:
        return text
