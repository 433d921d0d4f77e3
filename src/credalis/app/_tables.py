"""What the page shows of a table before anything is computed."""

from collections.abc import Sequence
from typing import Any

from credalis.app._begin import Beginnings, options_of, parsed
from credalis.cli._main import message_of
from credalis.cli._shared._data import Data, DataOptions
from credalis.report._content.text import plain
from credalis.tables import Table, kind_of

_N_ROWS = 8
_MAX_CELL = 80


def preview(beginnings: Beginnings, words: Sequence[str]) -> dict[str, Any]:
    """Columns, first rows, decisions, and what is wrong, if something is.

    A table that cannot be opened is an error. One that can be opened, but whose columns
    cannot be clustered, is shown with what is wrong, so that other columns can be
    chosen.
    """
    data, options = options_of(parsed(words))
    table = DataOptions.of(options).open(data)
    shown: dict[str, Any] = {
        "format": table.format,
        "n_rows": table.n_rows,
        "rows": _first_rows(table),
        "problem": None,
        "decisions": list(table.notes),
        "warnings": [],
        "method": None,
        "is_gower": False,
        "n_dropped": 0,
    }
    try:
        beginning, ear = beginnings.read(words)
    except (ValueError, OSError, ImportError) as error:
        shown["problem"] = message_of(error)
        shown["columns"] = [_raw_column(table, name) for name in table.columns]
        return shown
    found = beginning.table
    shown |= {
        "n_rows": len(found.columns),
        "columns": [_column(table, found, name) for name in table.columns],
        "decisions": found.decisions,
        "warnings": ear.warnings,
        "method": beginning.method,
        "is_gower": found.metric is not None,
        "n_dropped": found.n_dropped,
    }
    return shown


def _first_rows(table: Table) -> list[list[str]]:
    batch = next(table.batches(table.columns), None)
    if batch is None:
        return []
    columns = [batch.column(name).slice(0, _N_ROWS) for name in table.columns]
    cells = [each.to_pylist() for each in columns]
    return [[_cell(value) for value in row] for row in zip(*cells, strict=True)]


def _cell(value: Any) -> str:
    """What stands in a cell, for a reader."""
    if value is None or value != value:
        return ""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return plain(int(value) if is_whole else value, _MAX_CELL)


def _raw_column(table: Table, name: str) -> dict[str, Any]:
    """A column as the file has it."""
    kind = kind_of(table.schema.field(name).type) or "other"
    role = "counts" if kind == "number" else "out"
    return {"name": name, "kind": kind, "role": role, "why": "", "n_missing": None}


def _column(table: Table, data: Data, name: str) -> dict[str, Any]:
    """A column as it is used."""
    columns = data.columns
    sources = columns.plan.sources
    own = [each for each in columns.names if sources.get(each, each) == name]
    known = data.prepared.n_missing
    raw = _raw_column(table, name)
    if name == data.id_column:
        return {**raw, "role": "id"}
    if not own:
        why = next(
            (
                line.partition(" left out: ")[2]
                for line in data.decisions
                if " left out: " in line and repr(name) in line
            ),
            "",
        )
        return {**raw, "role": "out", "why": why}
    kind = "category" if name in columns.texts else "number"
    reading = columns.plan.readings.get(own[0], "")
    if "days" in reading or own != [name]:
        kind = "date"
    elif name in columns.plan.orders:
        kind = "ordered"
    missing = max((known.get(each, 0) for each in own), default=0)
    return {**raw, "kind": kind, "role": "counts", "n_missing": missing}
