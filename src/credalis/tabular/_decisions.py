"""Which columns of a table count without being told, and in what way.

Everything that is decided is said in one line each: what identifies rows, repeats one
value or is free text is left out; words with few values are categories; dates, times,
amounts and shares are numbers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from credalis._choices import DATE_PARTS
from credalis.tables import Table, kind_of
from credalis.tables._table import listed, option
from credalis.tabular._columns import (
    MAX_CATEGORIES,
    Columns,
    Plan,
    read_planned,
)
from credalis.tabular._readings import (
    PERIODS,
    as_strings,
    in_words,
    is_date_of_no_order,
    reading_of,
    signs_of_missing,
)

if TYPE_CHECKING:
    import pyarrow as pa

# A category has so many rows on average; fewer, and the texts name the rows. Of a few
# different texts that is less sure.
_LEAST_ROWS, _LEAST_ROWS_OF_FEW = 3.0, 2.0
_FEW = 10

# How columns that identify rows are called, if their numbers never repeat.
_IDENTIFIER = re.compile(r"(^|[\W_])(id|key|uuid|guid|nr|no)$|[a-z](Id|ID|Key|Nr|No)$")


def decide(
    table: Table,
    columns: Sequence[str] | None = None,
    *,
    exclude: Sequence[str] = (),
    others: Sequence[str] = (),
    date_parts: Sequence[str] = ("days",),
    orders: Mapping[str, Sequence[str]] | None = None,
    cyclic: Mapping[str, float] | None = None,
) -> tuple[Columns, list[str]]:
    """Read a table, its columns as they look, and say what was decided.

    Parameters
    ----------
    table : Table
        The table; it is read once.
    columns : sequence of str, default=None
        The columns that count; None: all that look as if they could.
    exclude : sequence of str, default=()
        Columns that do not count.
    others : sequence of str, default=()
        Columns that do not count but are read.
    date_parts, orders, cyclic
        As in `plan_columns`.

    Returns
    -------
    columns : Columns
        The values.
    decisions : list of str
        A line each.
    """
    table.check_columns([*exclude, *others])
    named = columns is not None
    wanted = table.columns if columns is None else table.check_columns(columns)
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"--columns must name each column once, got {listed(wanted)}")
    no_attributes = {*exclude, *others}
    chosen = [name for name in wanted if name not in no_attributes]
    if not chosen:
        raise ValueError(f"{table.name} has no column left to cluster by")
    batches = table.batches(list(dict.fromkeys([*chosen, *others])))
    first = next(batches, None)
    if first is None:
        raise ValueError(f"{table.name} has a header but no rows")
    plan = plan_columns(
        first,
        chosen,
        named=named,
        unnamed=table.unnamed,
        date_parts=date_parts,
        orders=orders,
        cyclic=cyclic,
    )
    read = read_planned(table, chain([first], batches), plan, others)
    return settled(read, plan, table.name, named=named)


def plan_columns(
    batch: "pa.RecordBatch | pa.Table",
    columns: Sequence[str],
    *,
    named: bool = False,
    unnamed: Sequence[str] = (),
    date_parts: Sequence[str] = ("days",),
    orders: Mapping[str, Sequence[str]] | None = None,
    cyclic: Mapping[str, float] | None = None,
) -> Plan:
    """Decide by the first rows what each column is.

    Parameters
    ----------
    batch : pyarrow RecordBatch or Table
        The first rows.
    columns : sequence of str
        Columns that may count.
    named : bool, default=False
        Whether the user has named them: then none is left out.
    unnamed : sequence of str
        Columns that the header leaves without a name.
    date_parts : sequence of str
        What becomes of dates: "days", "year", "month", "weekday", "hour".
    orders : dict of str to sequence of str
        Columns of categories that have an order, lowest first.
    cyclic : dict of str to float
        Columns of numbers that begin again, and their periods.
    """
    plan = _Draft(dict(orders or {}), dict(cyclic or {}))
    index = [name for name in columns if name in unnamed and not named]
    if index:
        plan.say(
            f"{_shown(index)} left out: no name, as the index of an export "
            f"({option('--columns', index)} uses it)"
        )
    for name in columns:
        if name not in index:
            plan.add(name, batch.column(name), date_parts, is_named=named)
    return plan.done()


def settled(
    columns: Columns, plan: Plan, table: str, *, named: bool = False
) -> tuple[Columns, list[str]]:
    """Columns without those that all rows show to be of no use, and the lines to say.

    Parameters
    ----------
    columns : Columns
        All rows.
    plan : Plan
        What was read.
    table : str
        What the table is called in messages.
    named : bool, default=False
        Whether the user has named the columns.
    """
    left_out: dict[str, str] = {}
    for j, name in enumerate(columns.numeric):
        reason = _uselessness(columns.numbers[:, j], name, is_named=named)
        if reason:
            left_out[name] = reason
    for name, values in zip(columns.cyclic, columns.cycles.T, strict=True):
        if _is_constant(values):
            left_out[name] = "one value everywhere"
    for name, column in columns.texts.items():
        reason = _uselessness_of_text(column, name, is_named=named)
        if reason:
            left_out[name] = reason
    lines = [*plan.decisions]
    for reason in dict.fromkeys(left_out.values()):
        names = [name for name, why in left_out.items() if why == reason]
        lines.append(f"{_shown(names)} left out: {reason}")
    kept = columns.without(left_out)
    if not kept.names:
        raise ValueError(
            f"{table} has no column left to cluster by: {'; '.join(lines)}"
        )
    if kept.texts:
        n_values = ", ".join(
            f"{name!r} {len(_counts(values))}" for name, values in kept.texts.items()
        )
        lines.append(f"categories count, equal or not: {n_values}")
    plan = replace(kept.plan, decisions=lines)
    return replace(kept, plan=plan), list(lines)


class _Draft:
    """A plan in the making."""

    def __init__(
        self, orders: dict[str, Sequence[str]], cyclic: dict[str, float]
    ) -> None:
        self._numeric: list[str] = []
        self._text: list[str] = []
        self._sources: dict[str, str] = {}
        self._readings: dict[str, str] = {}
        self._signs: dict[str, list[str]] = {}
        self._orders = {name: list(order) for name, order in orders.items()}
        self._cyclic = dict(cyclic)
        self._decisions: list[str] = []

    def say(self, line: str) -> None:
        self._decisions.append(line)

    def add(
        self, name: str, column: Any, date_parts: Sequence[str], *, is_named: bool
    ) -> None:
        """Take note of one column."""
        reading = "rank" if name in self._orders else reading_of(column)
        if reading is None and self._holds_words(name, column, is_named):
            self._text.append(name)
        elif reading is not None and reading.endswith(" days"):
            self._add_date(name, reading.partition(" ")[0], date_parts)
        elif reading is not None:
            self._add_number(name, column, reading)

    def _holds_words(self, name: str, column: Any, is_named: bool) -> bool:
        """Whether a column may be one of categories, as far as its first rows tell."""
        found = column.type
        if hasattr(found, "value_type") and hasattr(found, "ordered"):
            found = found.value_type
        elif kind_of(found) != "text":
            if is_named:
                raise ValueError(
                    f"column {name!r} holds neither numbers nor text but {found}"
                )
            self.say(f"{name!r} left out: neither numbers nor text but {found}")
            return False
        if kind_of(found) == "text" and is_date_of_no_order(column):
            self.say(
                f"{name!r} is not read as dates: nothing tells day and month apart "
                "(2024-12-31 would be clear)"
            )
        reason = None if is_named else _uselessness_of_text(column, name)
        # What is constant so far, or has no value so far, may have some further down.
        if reason and len(column.unique().drop_null()) > MAX_CATEGORIES:
            self.say(f"{name!r} left out: {reason}")
            return False
        return True

    def _add_number(self, name: str, column: Any, reading: str) -> None:
        if reading == "rank":
            if name not in self._orders:
                self._orders[name] = [str(v) for v in _dictionary(column)]
            _check_order(name, column, self._orders[name])
            self.say(f"{name!r} is ordered: {' < '.join(self._orders[name])}")
        signs = signs_of_missing(column, reading)
        if signs:
            self._signs[name] = signs
            self.say(f"{listed(signs)} in {name!r} stands for a missing value")
        if reading in ("point", "comma"):
            # The longest: it has whatever the others have.
            cells = [c for c in column.drop_null().to_pylist() if c not in signs]
            sample = max(cells, key=len)
            self.say(f"{name!r} is read as {in_words(reading, sample)}")
        elif reading in ("time", "duration"):
            self.say(f"{name!r} is read as {in_words(reading)}")
        if reading != "number":
            self._readings[name] = reading
        if name in self._cyclic:
            self.say(f"{name!r} begins again after {self._cyclic[name]:g}")
        self._numeric.append(name)

    def _add_date(self, name: str, form: str, date_parts: Sequence[str]) -> None:
        for part in date_parts:
            own = name if part == "days" else f"{name} ({part})"
            self._numeric.append(own)
            self._readings[own] = f"{form} {part}"
            if own != name:
                self._sources[own] = name
            if part in PERIODS:
                self._cyclic[own] = PERIODS[part]
        words = [in_words(f"{form} {part}") for part in date_parts]
        more = (
            f" (--dates {','.join(DATE_PARTS)} takes parts)"
            if list(date_parts) == ["days"]
            else ""
        )
        self.say(f"{name!r} is a date, read as {'; '.join(words)}{more}")

    def done(self) -> Plan:
        """The plan."""
        known = {*self._numeric}
        for option_name, given in (("cyclic", self._cyclic), ("order", self._orders)):
            strange = [name for name in given if name not in known]
            if strange:
                raise ValueError(
                    f"--{option_name} must be about columns that count and are read "
                    f"as numbers, got {listed(strange)}"
                )
        return Plan(
            tuple(self._numeric),
            tuple(self._text),
            self._sources,
            self._readings,
            self._signs,
            self._orders,
            self._cyclic,
            self._decisions,
        )


def _dictionary(column: Any) -> list[Any]:
    """Categories of a column in their order."""
    chunks = getattr(column, "chunks", [column])
    return chunks[0].dictionary.to_pylist() if chunks else []


def _check_order(name: str, column: Any, order: Sequence[str]) -> None:
    """Refuse categories that an order does not name: they would be missing values."""
    found = as_strings(column, name).unique().drop_null().to_pylist()
    strange = sorted(set(found) - set(order))
    if strange:
        raise ValueError(
            f"--order must name all categories of {name!r}, got {listed(order)} "
            f"without {listed(strange)}"
        )


def _shown(names: Sequence[str]) -> str:
    return listed(list(names))


def _is_constant(values: np.ndarray) -> bool:
    known = values[~np.isnan(values)]
    return len(known) == 0 or known.min() == known.max()


def _uselessness(values: np.ndarray, name: str, *, is_named: bool) -> str | None:
    """Why a column of numbers is left out, None if it counts."""
    known = values[~np.isnan(values)]
    if not len(known):
        return "no value at all"
    if is_named or len(values) < 3:
        return None
    if known.min() == known.max():
        return "one value everywhere"
    if len(known) < len(values):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        is_counting = values[0] in (0, 1) and bool((np.diff(values) == 1).all())
    if is_counting:
        return f"numbers the rows ({option('--id', [name])} keeps it in the output)"
    is_whole = bool((np.floor(values) == values).all())
    if is_whole and _IDENTIFIER.search(name) and len(np.unique(values)) == len(values):
        return f"identifies the rows ({option('--id', [name])} keeps it in the output)"
    return None


def _uselessness_of_text(
    column: Any, name: str, *, is_named: bool = False
) -> str | None:
    """Why a column of words is left out, None if it counts."""
    counts = _counts(column)
    n_known = sum(counts.values())
    if not n_known:
        return "no value at all"
    if is_named:
        return None
    if len(counts) == 1:
        return "one value everywhere"
    if len(counts) == n_known and n_known > 2:
        if column.null_count:
            return "no two cells are alike"
        return f"identifies the rows ({option('--id', [name])} keeps it in the output)"
    if len(counts) > MAX_CATEGORIES:
        return f"{len(counts)} different texts, at most {MAX_CATEGORIES} are categories"
    least = _LEAST_ROWS_OF_FEW if len(counts) <= _FEW else _LEAST_ROWS
    if n_known < least * len(counts):
        return f"{len(counts)} different texts in {n_known} rows are no categories"
    return None


def _counts(column: Any) -> dict[Any, int]:
    import pyarrow.compute as pc

    found = pc.value_counts(column.drop_null()).to_pylist()
    return {item["values"]: item["counts"] for item in found}
