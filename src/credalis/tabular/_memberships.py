"""A credal partition as columns for a file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import check_choice
from credalis._choices import FIELDS
from credalis.belief import FocalSets
from credalis.partition import CLEAR_LEVEL, CredalPartition
from credalis.partition._presentation import set_names

if TYPE_CHECKING:
    import pyarrow as pa

# The column of sets with a level; it is there if they were asked for.
_COVERAGE = "coverage"


def membership_schema(
    focal_sets: FocalSets,
    key: "pa.Field",
    fields: Sequence[str] = FIELDS,
    *,
    has_coverage: bool = False,
) -> "pa.Schema":
    """Names and types of the columns: the key of the row, then the fields.

    With ``has_coverage`` the column "coverage" is the last one.

    The names are those of ``CredalPartition.to_pandas``: "pl {0}" is the plausibility
    of cluster 0, "m {0,1}" the mass of the set of clusters 0 and 1.
    """
    import pyarrow as pa

    for name in fields:
        check_choice("fields", name, FIELDS)
    single = {
        "label": pa.int64(),
        "set": pa.string(),
        "outlier": pa.bool_(),
        "ambiguous": pa.bool_(),
        "doubt": pa.float64(),
    }
    many = {
        "plausibilities": [f"pl {{{k}}}" for k in range(focal_sets.n_clusters)],
        "masses": [f"m {name}" for name in focal_sets.names],
    }
    columns = [key]
    for name in FIELDS:
        if name in fields and name in single:
            columns.append(pa.field(name, single[name]))
        elif name in fields:
            columns += [pa.field(column, pa.float64()) for column in many[name]]
    if has_coverage:
        columns.append(pa.field(_COVERAGE, pa.string()))
    names = [column.name for column in columns]
    if key.name in names[1:]:
        raise ValueError(
            f"the column that identifies the rows must not be called {key.name!r}, "
            "which is a column of the memberships"
        )
    return pa.schema(columns)


def membership_batch(
    schema: "pa.Schema",
    partition: CredalPartition,
    keys: "pa.Array",
    is_kept: NDArray[np.bool_],
    clear_level: float = CLEAR_LEVEL,
    coverage_sets: NDArray[np.bool_] | None = None,
) -> "pa.RecordBatch":
    """One row for each key; rows that are not in the partition are empty.

    Parameters
    ----------
    schema : pyarrow.Schema
        What `membership_schema` returns.
    partition : CredalPartition
        Of the rows that were kept.
    keys : pyarrow.Array of length n_rows
        Identifiers of all rows.
    is_kept : array of bool, shape (n_rows,)
        Which rows the partition is about.
    clear_level : float, default=0.7
        As in `CredalPartition.verdicts`.
    coverage_sets : array of bool, shape (n_kept, n_clusters), default=None
        Sets with a level, for a schema that has them.
    """
    import pyarrow as pa

    values = _values(schema, partition, clear_level)
    if coverage_sets is not None:
        values[_COVERAGE] = np.array(set_names(coverage_sets), dtype=object)
    n_rows = len(is_kept)
    arrays = [keys]
    for field in list(schema)[1:]:
        column = values[field.name]
        if len(column) < n_rows:
            full = np.zeros(n_rows, dtype=column.dtype)
            full[is_kept] = column
            arrays.append(pa.array(full, mask=~is_kept).cast(field.type))
        else:
            arrays.append(pa.array(column).cast(field.type))
    return pa.record_batch(arrays, schema=schema)


def _values(
    schema: "pa.Schema", partition: CredalPartition, clear_level: float
) -> dict[str, Any]:
    """Arrays by name of the column."""
    verdicts = partition.verdicts(clear_level)
    values: dict[str, Any] = {
        "label": partition.labels,
        "outlier": verdicts.is_outlier,
        "ambiguous": verdicts.is_between,
    }
    names = set(schema.names)
    if "set" in names:
        values["set"] = np.array(set_names(verdicts.sets), dtype=object)
    if "doubt" in names:
        values["doubt"] = partition.doubt
    if "pl {0}" in names:
        plausibility = np.asfortranarray(partition.plausibility)
        values |= {f"pl {{{k}}}": column for k, column in enumerate(plausibility.T)}
    focal_names = partition.focal_sets.names
    if f"m {focal_names[0]}" in names:
        masses = np.asfortranarray(partition.masses)
        columns = zip(focal_names, masses.T, strict=True)
        values |= {f"m {name}": column for name, column in columns}
    return values
