"""From the options about a table to the numbers that are clustered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from credalis._checks import check_choice
from credalis._choices import DATE_PARTS
from credalis.cli._shared._console import Console
from credalis.dissimilarity import Gower
from credalis.tables import Table, as_floats, as_text, kind_of, open_table
from credalis.tables._days import moments
from credalis.tables._table import listed, option
from credalis.tabular import (
    Columns,
    Prepared,
    choose_columns,
    decide,
    missing_counts,
    prepare,
    read_columns,
)

# Names of attributes that are listed in a note.
_SCALED = {
    "standard": "scaled to mean 0 and standard deviation 1 (--scale none keeps units)",
    "robust": "scaled to median 0 and interquartile range 1",
    "none": "not scaled",
}


@dataclass(frozen=True)
class DataOptions:
    """The options that `column_options` adds to a command."""

    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    id_column: str | None = None
    scale: str | None = None
    missing: str | None = None
    one_hot: bool = False
    describe: tuple[str, ...] = ()
    strict: bool = False
    dates: str | None = None
    cyclic: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    precomputed: bool = False
    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None
    encoding: str | None = None
    sheet: str | None = None
    missing_values: tuple[str, ...] = ()

    @classmethod
    def take(cls, options: dict[str, Any]) -> "DataOptions":
        """Take these options out of all options of a command."""
        names = [name for name in cls.__dataclass_fields__ if name in options]
        return cls(**{name: options.pop(name) for name in names})

    @classmethod
    def of(cls, options: dict[str, Any]) -> "DataOptions":
        """These options among all options of a command, which stay as they are."""
        return cls.take(dict(options))

    def open(self, path: str, text_columns: Sequence[str] = ()) -> Table:
        """Open the table."""
        delimiter = self.delimiter
        if delimiter is not None:
            delimiter = delimiter.replace("\\t", "\t")
            if len(delimiter) != 1:
                raise ValueError(
                    f"--delimiter must be one character, got {self.delimiter!r}"
                )
        keys = () if self.id_column is None else (self.id_column,)
        return open_table(
            path,
            delimiter=delimiter,
            header=self.header,
            decimal=self.decimal,
            encoding=self.encoding,
            sheet=self.sheet,
            text_columns=(*keys, *text_columns),
            missing_values=self.missing_values,
        )


@dataclass(frozen=True, eq=False)
class Data:
    """A table that has been read and prepared.

    Attributes
    ----------
    name : str
        What it is called in messages.
    columns : Columns
        The values in original units, all rows.
    prepared : Prepared
        The matrix to be clustered.
    key : pyarrow.Field
        Name and type of what identifies a row in the output.
    decisions : list of str
        What was decided about the file and its columns, a line each.
    described : tuple of str
        Columns that do not count but describe the clusters.
    weights : array of shape (n_rows,) or None
        How often each row of the matrix counts; None: once.
    """

    name: str
    columns: Columns
    prepared: Prepared
    key: pa.Field
    id_column: str | None = None
    decisions: list[str] = field(default_factory=list)
    described: tuple[str, ...] = ()
    weights: NDArray[np.float64] | None = None
    _texts: list[Any] = field(default_factory=list)

    @property
    def X(self) -> NDArray[np.float64]:  # noqa: N802
        """The matrix."""
        return self.prepared.X

    @cached_property
    def metric(self) -> Gower | None:
        """Gower's dissimilarity of the rows, if that is what they are compared by."""
        return self.prepared.preparation.gower()

    @property
    def n_dropped(self) -> int:
        """Rows left out because of missing values."""
        return int((~self.prepared.is_kept).sum())

    def keys(self, start: int, stop: int) -> pa.Array:
        """Identifiers of some rows of the table."""
        if self.id_column is None:
            return pa.array(np.arange(start, stop))
        piece = self.columns.others[self.id_column].slice(start, stop - start)
        return piece.combine_chunks() if piece.num_chunks != 1 else piece.chunk(0)

    def key_texts(self) -> list[str]:
        """Identifiers of all rows as text; a missing one is empty."""
        if self.id_column is None:
            return [str(row) for row in range(len(self.columns))]
        if not self._texts:
            texts = as_text(self.columns.others[self.id_column])
            self._texts.extend("" if text is None else text for text in texts)
        return self._texts

    def originals(self) -> dict[str, Any]:
        """The rows that were clustered, column by column, in original units.

        Columns that describe the clusters come last.
        """
        kept, columns = self.prepared.is_kept, self.columns
        numbers = columns.numbers if kept.all() else columns.numbers[kept]
        table: dict[str, Any] = {
            name: numbers[:, j] for j, name in enumerate(columns.numeric)
        }
        for j, name in enumerate(columns.cyclic):
            table[name] = columns.cycles[kept, j]
        for name, reading in columns.plan.readings.items():
            if name in table and reading.endswith(" days"):
                table[name] = moments(table[name])
        for name, order in columns.plan.orders.items():
            table[name] = _ranked(table[name], order)
        for name, values in columns.texts.items():
            table[name] = _texts(values, kept)
        for name in self.described:
            values = columns.others[name]
            is_number = kind_of(values.type) == "number"
            cells = as_floats(values)[kept] if is_number else _texts(values, kept)
            table[name] = cells
        return table


def _ranked(ranks: NDArray[np.float64], order: Sequence[str]) -> NDArray[np.object_]:
    """Categories of ranks, for a reader."""
    return np.array(
        [None if np.isnan(rank) else order[int(rank)] for rank in ranks], dtype=object
    )


def _texts(values: Any, kept: NDArray[np.bool_]) -> NDArray[np.object_]:
    """Words of the rows that were kept, None where there is nothing."""
    return np.array(as_text(values), dtype=object)[kept]


def load_data(
    path: str,
    options: DataOptions,
    console: Console,
    *,
    others: Sequence[str] = (),
    text_columns: Sequence[str] = (),
    is_described: bool = False,
    weights: str | None = None,
    by: str = "",
    takes_gower: bool = False,
    wants_gower: bool = False,
) -> Data:
    """Read and prepare a table, and say what was done.

    Parameters
    ----------
    path : str
        The file, or "-".
    options : DataOptions
        What to use of it.
    console : Console
        Where to say it.
    others : sequence of str
        Columns that are read but are no attributes.
    text_columns : sequence of str
        Those of them that are not parsed.
    is_described : bool
        Whether columns that are excluded are read as well, to describe the clusters.
    weights : str or None
        Column that says how often rows count.
    by : str
        The method, for notes.
    takes_gower, wants_gower : bool
        Whether it can compare rows by Gower's dissimilarity, and shall in any case.
    """
    table = options.open(path, text_columns)
    keys = () if options.id_column is None else (options.id_column,)
    excluded, described = (
        _names(table, names) for names in (options.exclude, options.describe)
    )
    shown = [*described, *excluded] if is_described else described
    counting = () if weights is None else (weights,)
    others = list(dict.fromkeys([*keys, *others, *counting, *shown]))
    console.progress(f"reading {table.name} ...")
    chosen = _names(table, options.columns) if options.columns else None
    decisions: list[str] = []
    if options.strict or options.precomputed:
        columns = _as_told(table, chosen, excluded, others, options)
    else:
        columns, decisions = decide(
            table,
            chosen,
            exclude=excluded,
            others=others,
            date_parts=_date_parts(options.dates),
            orders=_orders(options.orders),
            cyclic=_periods(options.cyclic),
        )
        decisions = [*table.notes, *_decimal_notes(table, options), *decisions]
    if console.shows_progress:
        console.progress(" " * 60 + "\r")
    scaling = options.scale or ("none" if options.precomputed else "standard")
    missing, metric = _treatment(
        columns, options, decisions, by, takes_gower, wants_gower
    )
    counts = None
    if weights is not None:
        counts = weights_of(table.name, columns.others[weights], weights)
    prepared = prepare(
        columns,
        scaling=scaling,
        missing=missing,
        metric=metric,
        sample_weight=counts,
        name=table.name,
    )
    if options.precomputed:
        _check_square(table.name, prepared.X.shape)
    key = (
        pa.field("row", pa.int64())
        if options.id_column is None
        else pa.field(options.id_column, columns.others[options.id_column].type)
    )
    n_rows = len(prepared.X)
    if n_rows < 2 and not options.precomputed:
        raise ValueError(
            f"{table.name} has {n_rows or 'no'} row{'' if n_rows else 's'} to cluster; "
            "two are the least"
        )
    data = Data(
        table.name,
        columns,
        prepared,
        key,
        options.id_column,
        decisions,
        tuple(dict.fromkeys(shown)),
        None if counts is None else counts[prepared.is_kept],
    )
    _note_what_was_read(data, scaling, missing, options, console)
    return data


def weights_of(name: str, values: Any, column: str) -> NDArray[np.float64]:
    """How often each row of the table counts.

    Parameters
    ----------
    name : str
        What the table is called in messages.
    values : pyarrow.ChunkedArray
        The cells.
    column : str
        Name of the column.
    """
    if kind_of(values.type) != "number":
        raise ValueError(
            f"{name}: --weights must name a column of numbers, {column!r} has other "
            "values"
        )
    weights = as_floats(values)
    is_wrong = ~(np.isfinite(weights) & (weights >= 0))
    if is_wrong.any():
        row = int(is_wrong.argmax())
        found = "none" if np.isnan(weights[row]) else f"{weights[row]:g}"
        raise ValueError(
            f"{name}: weights in {column!r} must be numbers from 0 on, row {row} has "
            f"{found}"
        )
    return weights


def _as_told(
    table: Table,
    chosen: list[str] | None,
    excluded: Sequence[str],
    others: Sequence[str],
    options: DataOptions,
) -> Columns:
    """Columns of numbers, and with --one-hot of text; nothing is guessed."""
    for note in table.notes:
        raise ValueError(f"{table.name}: {note}; --strict guesses nothing")
    table.check_columns(others)
    numeric, text = choose_columns(
        table, chosen, exclude=[*excluded, *others], one_hot=options.one_hot
    )
    if options.precomputed:
        _check_precomputed_options(options, text)
    return read_columns(table, numeric, text, others)


def _decimal_notes(table: Table, options: DataOptions) -> list[str]:
    """That commas were taken for decimal ones, if nobody has said so."""
    dialect = getattr(table, "dialect", None)
    if options.decimal is not None or dialect is None or dialect.decimal == ".":
        return []
    return ["numbers are read with decimal commas (--decimal . says otherwise)"]


def _treatment(
    columns: Columns,
    options: DataOptions,
    decisions: list[str],
    by: str,
    takes_gower: bool,
    wants_gower: bool,
) -> tuple[str, str]:
    """What becomes of missing cells, and what rows are compared by."""
    if options.strict or options.precomputed:
        return options.missing or "error", "euclidean"
    gaps = missing_counts(columns)
    missing = options.missing or "pairwise"
    asks_for_gower = wants_gower or (
        not options.one_hot
        and (bool(columns.texts) or (bool(gaps) and missing == "pairwise"))
    )
    if asks_for_gower and takes_gower:
        if missing == "pairwise" and gaps:
            decisions.append(
                f"missing cells leave a column out of a pair of rows: {counted(gaps)} "
                "(--missing drop, impute or error does otherwise)"
            )
        decisions.append(
            "rows are compared by Gower's dissimilarity: the mean over the columns of "
            "the difference as a share of the range, or of 0 or 1, weighted so that "
            "all columns add alike"
        )
        return missing, "gower"
    if missing == "pairwise" and gaps:
        why = f"{by} needs every cell" if not takes_gower else "with --one-hot"
        decisions.append(
            f"{why}: medians stand in for missing numbers, no category for missing "
            f"words: {counted(gaps)} (--missing drop leaves the rows out)"
        )
    if columns.texts and not options.one_hot:
        decisions.append(
            f"{by} takes Euclidean distances: each category has an indicator of 0 or 1"
        )
    return missing, "euclidean"


def counted(counts: dict[str, int]) -> str:
    """Columns and how many cells they lack."""
    return ", ".join(f"{name!r} {count}" for name, count in counts.items())


def _date_parts(text: str | None) -> list[str]:
    if text is None:
        return ["days"]
    parts = [part.strip() for part in text.split(",") if part.strip()]
    for part in parts:
        check_choice("--dates", part, tuple(DATE_PARTS))
    return parts or ["days"]


def _orders(given: Sequence[str]) -> dict[str, list[str]]:
    """Categories in their order, as in size=S,M,L."""
    orders: dict[str, list[str]] = {}
    for text in given:
        name, sign, values = text.partition("=")
        order = [value.strip() for value in values.split(",") if value.strip()]
        if not sign or len(set(order)) < 2 or len(set(order)) < len(order):
            raise ValueError(
                "--order must name a column and its categories from the lowest to the "
                f"highest, as in size=S,M,L, got {text!r}"
            )
        orders[name.strip()] = order
    return orders


def _periods(given: Sequence[str]) -> dict[str, float]:
    """Periods of columns that begin again, as in hour=24."""
    periods: dict[str, float] = {}
    for text in given:
        name, sign, value = text.partition("=")
        try:
            period = float(value)
        except ValueError:
            period = 0.0
        if not sign or not 0 < period < np.inf:
            raise ValueError(
                "--cyclic must name a column and its period, as in hour=24, got "
                f"{text!r}"
            )
        periods[name.strip()] = period
    return periods


def _note_what_was_read(
    data: Data, scaling: str, missing: str, options: DataOptions, console: Console
) -> None:
    """What was read, scaled, left out or filled in."""
    n_rows = len(data.columns)
    if options.precomputed:
        console.note(f"{data.name}: dissimilarities of {n_rows} objects")
        return
    names = data.columns.names
    how = "" if data.metric is not None else f", {_SCALED[scaling]}"
    console.note(
        f"{data.name}: {n_rows} rows, {len(names)} column{'s' * (len(names) != 1)} "
        f"({listed(names)}){how}"
    )
    for decision in data.decisions:
        console.note(f"- {decision}")
    if data.n_dropped and missing == "pairwise":
        console.note(f"{data.n_dropped} of {n_rows} rows left out: no cell is known")
    elif data.prepared.n_missing and options.missing == "drop":
        console.note(
            f"{data.n_dropped} of {n_rows} rows left out because of missing "
            f"values: {counted(data.prepared.n_missing)}"
        )
    elif data.prepared.n_missing and options.missing == "impute":
        console.note(
            f"medians filled in for missing values: {counted(data.prepared.n_missing)}"
        )
    for note in data.prepared.notes:
        console.warn(f"{data.name}: {note}")
    for name in _counting_columns(data.columns):
        console.warn(
            f"{data.name}: column {name!r} numbers the rows; if it identifies them, "
            f"use {option('--id', [name])}"
        )
    keys = data.key_texts() if data.id_column is not None else []
    if len(set(keys)) < len(keys):
        console.warn(
            f"{data.name}: the identifiers in {data.id_column!r} are not unique, "
            f"{len(keys) - len(set(keys))} of {len(keys)} repeat another"
        )


def _counting_columns(columns: Columns) -> list[str]:
    """Columns that go 0, 1, 2, ... or 1, 2, 3, ...: row numbers, not attributes."""
    numbers = columns.numbers
    if len(numbers) < 3:
        return []
    with np.errstate(invalid="ignore", over="ignore"):
        is_counting = np.isin(numbers[0], (0, 1)) & (
            np.diff(numbers[:3], axis=0) == 1
        ).all(0)
        return [
            columns.numeric[j]
            for j in np.flatnonzero(is_counting)
            if (np.diff(numbers[:, j]) == 1).all()
        ]


def _names(table: Table, given: Sequence[str]) -> list[str]:
    """Names of columns separated by commas, unless a name has a comma itself."""
    names: list[str] = []
    for text in given:
        if text in table.columns:
            names.append(text)
        else:
            names += [part.strip() for part in text.split(",") if part.strip()]
    table.check_columns(names)
    return names


def _check_precomputed_options(options: DataOptions, text: Sequence[str]) -> None:
    if options.scale not in (None, "none"):
        raise ValueError(
            "--precomputed dissimilarities are not scaled: leave out --scale"
        )
    if options.missing not in (None, "error"):
        raise ValueError(
            "--precomputed dissimilarities must be complete: leave out --missing"
        )
    if text:
        raise ValueError(
            f"--precomputed dissimilarities must be numbers, but {listed(text)} is text"
        )


def _check_square(name: str, shape: tuple[int, ...]) -> None:
    if shape[0] == shape[1]:
        return
    advice = ""
    if shape[1] == shape[0] + 1:
        advice = ": if the first column names the objects, say so with --id"
    raise ValueError(
        f"{name} must be square for --precomputed, got {shape[0]} rows and {shape[1]} "
        f"columns{advice}"
    )
