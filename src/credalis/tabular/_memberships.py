"""A credal partition as columns for a file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import check_choice
from credalis.belief import FocalSets
from credalis.partition import CredalPartition

if TYPE_CHECKING:
    import pyarrow as pa

FIELDS = ("label", "set", "outlier", "ambiguous", "doubt", "plausibilities", "masses")


def membership_schema(
    focal_sets: FocalSets, key: "pa.Field", fields: Sequence[str] = FIELDS
) -> "pa.Schema":
    """Names and types of the columns: the key of the row, then the fields.

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
    """
    import pyarrow as pa

    values = _values(schema, partition)
    n_rows = len(is_kept)
    arrays = [keys]
    for field in list(schema)[1:]:
        column = values[field.name]
        if len(column) < n_rows:
            full = np.zeros(n_rows, dtype=column.dtype)
            full[is_kept] = column
            arrays.append(_array(pa.array(full, mask=~is_kept), field, partition))
        else:
            arrays.append(_array(pa.array(column), field, partition))
    return pa.record_batch(arrays, schema=schema)


def _values(schema: "pa.Schema", partition: CredalPartition) -> dict[str, Any]:
    """Arrays by name of the column; sets by their number."""
    values: dict[str, Any] = {
        "label": partition.labels,
        "set": partition.maximum_mass_index,
        "outlier": partition.is_outlier,
        "ambiguous": partition.is_ambiguous,
    }
    names = set(schema.names)
    if "doubt" in names:
        values["doubt"] = partition.doubt
    if "pl {0}" in names:
        plausibility = np.asfortranarray(partition.plausibility)
        values |= {f"pl {{{k}}}": column for k, column in enumerate(plausibility.T)}
    set_names = partition.focal_sets.names
    if f"m {set_names[0]}" in names:
        masses = np.asfortranarray(partition.masses)
        columns = zip(set_names, masses.T, strict=True)
        values |= {f"m {name}": column for name, column in columns}
    return values


def _array(array: Any, field: "pa.Field", partition: CredalPartition) -> Any:
    import pyarrow as pa

    if field.name != "set":
        return array.cast(field.type)
    names = pa.array(partition.focal_sets.names)
    return pa.DictionaryArray.from_arrays(array.cast(pa.int32()), names).cast(
        pa.string()
    )
