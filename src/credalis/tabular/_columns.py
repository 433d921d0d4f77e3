"""Which columns of a table are attributes, and their values."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from credalis import _archive
from credalis.tables import Table
from credalis.tables._dialect import is_number
from credalis.tables._table import listed, option
from credalis.tabular._readings import READINGS, as_numbers

if TYPE_CHECKING:
    import pyarrow as pa

# More different texts than this are names, not categories.
MAX_CATEGORIES = 50

# A column of text is one of numbers with a few signs for "missing" if so much of it
# parses, and if no more different cells do not.
_MOSTLY = 0.5
_MAX_SIGNS = 3


@dataclass(frozen=True)
class Plan(_archive.SavedFields):
    """What is read of a table.

    Attributes
    ----------
    numeric : tuple of str
        Columns of the numbers; parts of a date have names of their own.
    text : tuple of str
        Columns of categories.
    sources : dict of str to str
        For parts of a date the column of the table.
    readings : dict of str to str
        How columns are read that are no plain numbers.
    signs : dict of str to list of str
        Texts that stand for a missing number.
    orders : dict of str to list of str
        Categories of a column from the lowest to the highest.
    cyclic : dict of str to float
        Periods of the columns that begin again.
    decisions : list of str
        What was decided, a line each.
    """

    numeric: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)
    readings: dict[str, str] = field(default_factory=dict)
    signs: dict[str, list[str]] = field(default_factory=dict)
    orders: dict[str, list[str]] = field(default_factory=dict)
    cyclic: dict[str, float] = field(default_factory=dict)
    decisions: list[str] = field(default_factory=list)

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "numeric": _archive.Each(_archive.Text()),
            "text": _archive.Each(_archive.Text()),
            "sources": _archive.Named(_archive.Text()),
            "readings": _archive.Named(_archive.Choice(*READINGS)),
            "signs": _archive.Named(_archive.Each(_archive.Text())),
            "orders": _archive.Named(_archive.Each(_archive.Text(), at_least=1)),
            "cyclic": _archive.Named(_archive.Number(above=0)),
            "decisions": _archive.Each(_archive.Text()),
        }
    )

    @property
    def columns(self) -> list[str]:
        """Columns of the table that are read."""
        numeric = [self.sources.get(name, name) for name in self.numeric]
        return list(dict.fromkeys([*numeric, *self.text]))

    def restricted(self, names: Sequence[str]) -> "Plan":
        """The same about some of its columns."""
        kept = set(names)

        def some(entries: dict[str, Any]) -> dict[str, Any]:
            return {name: each for name, each in entries.items() if name in kept}

        return Plan(
            tuple(name for name in self.numeric if name in kept),
            tuple(name for name in self.text if name in kept),
            some(self.sources),
            some(self.readings),
            some(self.signs),
            some(self.orders),
            some(self.cyclic),
            self.decisions,
        )

    def numbers_of(
        self, batch: "pa.RecordBatch | pa.Table", names: Sequence[str]
    ) -> NDArray[np.float64]:
        """Columns of numbers of a batch, (n_rows, n_names), NaN for missing ones."""
        matrix = np.empty((batch.num_rows, len(names)))
        for j, name in enumerate(names):
            matrix[:, j] = as_numbers(
                batch.column(self.sources.get(name, name)),
                self.readings.get(name, "number"),
                name,
                signs=self.signs.get(name, ()),
                order=self.orders.get(name, ()),
            )
        return matrix


_archive.register(Plan)


@dataclass(frozen=True, eq=False)
class Columns:
    """Values of some columns of a table.

    Attributes
    ----------
    numeric : tuple of str
        Names of the columns of numbers.
    numbers : array of shape (n_rows, n_numeric)
        Their values, NaN where one is missing.
    texts : dict of str to pyarrow.ChunkedArray
        The columns of text.
    others : dict of str to pyarrow.ChunkedArray
        Columns that are no attributes: identifiers, classes.
    plan : Plan
        How the cells became these values.
    cycles : array of shape (n_rows, n_cyclic)
        Values of the columns that begin again, which are not among the numbers.
    """

    numeric: tuple[str, ...]
    numbers: NDArray[np.float64]
    texts: dict[str, "pa.ChunkedArray"]
    others: dict[str, "pa.ChunkedArray"]
    plan: Plan = field(default_factory=Plan)
    cycles: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))

    def __post_init__(self) -> None:
        # Without such columns, there are as many rows of them all the same.
        if not self.plan.cyclic:
            object.__setattr__(self, "cycles", np.empty((len(self.numbers), 0)))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def cyclic(self) -> tuple[str, ...]:
        """Names of the columns that begin again."""
        return tuple(self.plan.cyclic)

    @property
    def decisions(self) -> list[str]:
        """What was decided about the columns, a line each."""
        return self.plan.decisions

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all attributes."""
        return (*self.numeric, *self.cyclic, *self.texts)

    def without(self, left_out: Collection[str]) -> "Columns":
        """The same without some attributes."""
        kept = [j for j, name in enumerate(self.numeric) if name not in left_out]
        round_ = [j for j, name in enumerate(self.cyclic) if name not in left_out]
        texts = {
            name: values for name, values in self.texts.items() if name not in left_out
        }
        numeric = tuple(self.numeric[j] for j in kept)
        return Columns(
            numeric,
            self.numbers if len(kept) == len(self.numeric) else self.numbers[:, kept],
            texts,
            self.others,
            self.plan.restricted([*numeric, *(self.cyclic[j] for j in round_), *texts]),
            self.cycles[:, round_],
        )


def choose_columns(
    table: Table,
    columns: Sequence[str] | None = None,
    *,
    exclude: Sequence[str] = (),
    one_hot: bool = False,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the attributes that are numbers, and of those that are text.

    Parameters
    ----------
    table : Table
        The table.
    columns : sequence of str, default=None
        The attributes; None: all columns but those in `exclude`.
    exclude : sequence of str, default=()
        Columns that are no attributes.
    one_hot : bool, default=False
        Whether text is allowed.

    Raises
    ------
    ValueError
        If a name is not in the table, if no attribute is left, or if one holds neither
        numbers nor text that is allowed.
    """
    table.check_columns(exclude)
    wanted = table.columns if columns is None else table.check_columns(columns)
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"--columns must name each column once, got {listed(wanted)}")
    excluded = set(exclude)
    chosen = [name for name in wanted if name not in excluded]
    if not chosen:
        raise ValueError(f"{table.name} has no column left to cluster by")
    kinds = table.kinds
    numeric = tuple(name for name in chosen if kinds[name] == "number")
    text = tuple(name for name in chosen if kinds[name] == "text")
    other = [name for name in chosen if kinds[name] == "other"]
    if other:
        types = ", ".join(f"{name!r} {table.schema.field(name).type}" for name in other)
        raise ValueError(
            f"{table.name} has columns that are neither numbers nor text ({types}): "
            f"leave them out with {option('--exclude', other)}"
        )
    if text and not one_hot:
        raise ValueError(_about_text(table, text))
    return numeric, text


def read_columns(
    table: Table,
    numeric: Sequence[str],
    text: Sequence[str] = (),
    others: Sequence[str] = (),
) -> Columns:
    """Read columns batch by batch, so that a file is not in memory as well."""
    plan = Plan(tuple(numeric), tuple(text))
    names = list(dict.fromkeys([*plan.columns, *others]))
    return read_planned(table, table.batches(names), plan, others)


def read_planned(
    table: Table,
    batches: Iterable["pa.RecordBatch"],
    plan: Plan,
    others: Sequence[str] = (),
) -> Columns:
    """Values of all batches, read as planned."""
    import pyarrow as pa

    numeric = [name for name in plan.numeric if name not in plan.cyclic]
    numbers: list[NDArray[np.float64]] = []
    cycles: list[NDArray[np.float64]] = []
    rest: dict[str, list[Any]] = {name: [] for name in (*plan.text, *others)}
    for batch in batches:
        numbers.append(plan.numbers_of(batch, numeric))
        cycles.append(plan.numbers_of(batch, list(plan.cyclic)))
        for name, chunks in rest.items():
            chunks.append(batch.column(name))
    if not numbers:
        raise ValueError(f"{table.name} has a header but no rows")
    columns = {name: pa.chunked_array(chunks) for name, chunks in rest.items()}
    return Columns(
        numeric=tuple(numeric),
        numbers=numbers[0] if len(numbers) == 1 else np.concatenate(numbers),
        texts={name: columns[name] for name in plan.text},
        others={name: columns[name] for name in others},
        plan=plan,
        cycles=cycles[0] if len(cycles) == 1 else np.concatenate(cycles),
    )


def _about_text(table: Table, text: Sequence[str]) -> str:
    """What can be done about columns of text; signs for "missing" are recognised."""
    for name in text:
        signs = _signs_of_missing(table, name)
        if signs:
            shown = " ".join(f"--na {sign!r}" for sign in signs)
            return (
                f"{table.name}, column {name!r}: most cells are numbers, but not "
                f"{listed(signs)}; if that stands for a missing value: {shown}"
            )
    return (
        f"{table.name} has columns of text: {listed(text)}; leave them out with "
        f"{option('--exclude', text)}, use their categories with --one-hot, or name "
        "the one that identifies the rows with --id"
    )


def _signs_of_missing(table: Table, name: str) -> list[str]:
    dialect = getattr(table, "dialect", None)
    if dialect is None:
        return []
    place = dialect.names.index(name)
    cells = [row[place].strip() for row in dialect.sample if len(row) > place]
    strange = sorted({cell for cell in cells if cell and not is_number(cell)})
    n_numbers = sum(map(is_number, cells))
    is_mostly_numbers = n_numbers > _MOSTLY * len(cells)
    return strange if is_mostly_numbers and 0 < len(strange) <= _MAX_SIGNS else []
