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

# The columns of sets with a level and of reasons; they are there if they were asked
# for.
_COVERAGE, _WHY = "coverage", "why"


def membership_schema(
    focal_sets: FocalSets,
    key: "pa.Field",
    fields: Sequence[str] = FIELDS,
    *,
    has_coverage: bool = False,
    has_reasons: bool = False,
    cluster_names: Sequence[str] | None = None,
) -> "pa.Schema":
    """Names and types of the columns: the key of the row, then the fields.

    With ``has_coverage`` and ``has_reasons`` the columns "coverage" and "why" follow.

    The names are those of ``CredalPartition.to_pandas``: "pl {0}" is the plausibility
    of cluster 0, "m {0,1}" the mass of the set of clusters 0 and 1. With
    ``cluster_names`` the clusters have those, and labels are text.
    """
    import pyarrow as pa

    for name in fields:
        check_choice("fields", name, FIELDS)
    single = {
        "label": pa.int64() if cluster_names is None else pa.string(),
        "set": pa.string(),
        "outlier": pa.bool_(),
        "ambiguous": pa.bool_(),
        "doubt": pa.float64(),
    }
    many = {
        "plausibilities": _plausibility_names(focal_sets, cluster_names),
        "masses": _mass_names(focal_sets, cluster_names),
    }
    columns = [key]
    for name in FIELDS:
        if name in fields and name in single:
            columns.append(pa.field(name, single[name]))
        elif name in fields:
            columns += [pa.field(column, pa.float64()) for column in many[name]]
    if has_coverage:
        columns.append(pa.field(_COVERAGE, pa.string()))
    if has_reasons:
        columns.append(pa.field(_WHY, pa.string()))
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
    cluster_names: Sequence[str] | None = None,
    reasons: Sequence[str] | None = None,
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
    cluster_names : sequence of str, default=None
        The names that the schema was made with.
    reasons : sequence of n_kept str, default=None
        Why rows are where they are, for a schema that has them.
    """
    import pyarrow as pa

    values = _values(schema, partition, clear_level, cluster_names)
    if coverage_sets is not None:
        values[_COVERAGE] = _sets(coverage_sets, cluster_names)
    if reasons is not None:
        values[_WHY] = np.array(reasons, dtype=object)
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


def _plausibility_names(
    focal_sets: FocalSets, cluster_names: Sequence[str] | None
) -> list[str]:
    called = cluster_names or range(focal_sets.n_clusters)
    return [f"pl {{{name}}}" for name in called]


def _mass_names(
    focal_sets: FocalSets, cluster_names: Sequence[str] | None
) -> list[str]:
    if cluster_names is None:
        return [f"m {name}" for name in focal_sets.names]
    return [f"m {name}" for name in _sets(focal_sets.membership, cluster_names)]


def _sets(
    sets: NDArray[np.bool_], cluster_names: Sequence[str] | None
) -> NDArray[np.object_]:
    """Sets of clusters as text, as in "{0,1}" or "{cat,dog}"."""
    if cluster_names is None:
        return np.array(set_names(sets), dtype=object)
    empty = set_names(np.zeros((1, len(cluster_names)), dtype=bool))[0]
    texts = np.empty(len(sets), dtype=object)
    for i, members in enumerate(np.asarray(sets, dtype=bool)):
        inside = ",".join(cluster_names[k] for k in np.flatnonzero(members).tolist())
        texts[i] = f"{{{inside}}}" if inside else empty
    return texts


def _values(
    schema: "pa.Schema",
    partition: CredalPartition,
    clear_level: float,
    cluster_names: Sequence[str] | None,
) -> dict[str, Any]:
    """Arrays by name of the column."""
    verdicts = partition.verdicts(clear_level)
    labels: NDArray[Any] = partition.labels
    if cluster_names is not None:
        labels = np.array(cluster_names, dtype=object)[labels]
    values: dict[str, Any] = {
        "label": labels,
        "outlier": verdicts.is_outlier,
        "ambiguous": verdicts.is_between,
    }
    names = set(schema.names)
    if "set" in names:
        values["set"] = _sets(verdicts.sets, cluster_names)
    if "doubt" in names:
        values["doubt"] = partition.doubt
    of_clusters = _plausibility_names(partition.focal_sets, cluster_names)
    if of_clusters[0] in names:
        plausibility = np.asfortranarray(partition.plausibility)
        values |= dict(zip(of_clusters, plausibility.T, strict=True))
    of_sets = _mass_names(partition.focal_sets, cluster_names)
    if of_sets[0] in names:
        masses = np.asfortranarray(partition.masses)
        values |= dict(zip(of_sets, masses.T, strict=True))
    return values
