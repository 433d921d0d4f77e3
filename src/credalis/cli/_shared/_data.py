"""From the options about a table to the numbers that are clustered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from credalis.cli._shared._console import Console
from credalis.tables import Table, as_text, open_table
from credalis.tables._table import listed
from credalis.tabular import Columns, Prepared, choose_columns, prepare, read_columns

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
    missing: str = "error"
    one_hot: bool = False
    precomputed: bool = False
    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None
    encoding: str | None = None
    missing_values: tuple[str, ...] = ()

    @classmethod
    def take(cls, options: dict[str, Any]) -> "DataOptions":
        """Take these options out of all options of a command."""
        names = [name for name in cls.__dataclass_fields__ if name in options]
        return cls(**{name: options.pop(name) for name in names})

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
    """

    name: str
    columns: Columns
    prepared: Prepared
    key: pa.Field
    id_column: str | None = None
    _texts: list[Any] = field(default_factory=list)

    @property
    def X(self) -> NDArray[np.float64]:  # noqa: N802
        """The matrix."""
        return self.prepared.X

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
        """The rows that were clustered, column by column, in original units."""
        kept = self.prepared.is_kept
        numbers = self.columns.numbers if kept.all() else self.columns.numbers[kept]
        table: dict[str, Any] = {
            name: numbers[:, j] for j, name in enumerate(self.columns.numeric)
        }
        for name, values in self.columns.texts.items():
            texts = np.array(as_text(values), dtype=object)[kept]
            table[name] = np.array(["" if t is None else t for t in texts], object)
        return table


def load_data(
    path: str,
    options: DataOptions,
    console: Console,
    *,
    others: Sequence[str] = (),
    text_columns: Sequence[str] = (),
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
    """
    table = options.open(path, text_columns)
    keys = () if options.id_column is None else (options.id_column,)
    table.check_columns([*keys, *others])
    numeric, text = choose_columns(
        table,
        _names(table, options.columns) if options.columns else None,
        exclude=[*_names(table, options.exclude), *keys, *others],
        one_hot=options.one_hot,
    )
    if options.precomputed:
        _check_precomputed_options(options, text)
    console.progress(f"reading {table.name} ...")
    columns = read_columns(table, numeric, text, (*keys, *others))
    if console.shows_progress:
        console.progress(" " * 60 + "\r")
    scaling = options.scale or ("none" if options.precomputed else "standard")
    prepared = prepare(
        columns, scaling=scaling, missing=options.missing, name=table.name
    )
    if options.precomputed:
        _check_square(table.name, prepared.X.shape)
    key = (
        pa.field("row", pa.int64())
        if options.id_column is None
        else pa.field(options.id_column, columns.others[options.id_column].type)
    )
    data = Data(table.name, columns, prepared, key, options.id_column)
    _note_what_was_read(data, scaling, options, console)
    return data


def _note_what_was_read(
    data: Data, scaling: str, options: DataOptions, console: Console
) -> None:
    """What was read, scaled, left out or filled in."""
    n_rows = len(data.columns)
    if options.precomputed:
        console.note(f"{data.name}: dissimilarities of {n_rows} objects")
        return
    names = data.prepared.preparation.columns
    console.note(
        f"{data.name}: {n_rows} rows, {len(names)} columns ({listed(names)}), "
        f"{_SCALED[scaling]}"
    )
    if data.prepared.n_missing:
        counts = ", ".join(f"{k!r} {n}" for k, n in data.prepared.n_missing.items())
        if options.missing == "drop":
            console.note(
                f"{data.n_dropped} of {n_rows} rows left out because of missing "
                f"values: {counts}"
            )
        else:
            console.note(f"medians filled in for missing values: {counts}")
    for note in data.prepared.notes:
        console.warn(f"{data.name}: {note}")
    for name in _counting_columns(data.columns):
        console.warn(
            f"{data.name}: column {name!r} numbers the rows; if it identifies them, "
            f"use --id {name}"
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
    if options.missing != "error":
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
