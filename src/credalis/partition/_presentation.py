"""A credal partition as text, as HTML and as a table."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis.belief._focal_sets import subset_name

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from credalis.partition._partition import CredalPartition

# More rows than this are counted, not listed.
_MAX_CLUSTERS_SHOWN = 30
_MAX_SETS_SHOWN = 5


def summary(partition: "CredalPartition") -> str:
    """Text about the clusters, the ambiguous objects and the outliers."""
    lines = [
        f"Credal partition of {partition.n_samples} objects in "
        f"{partition.n_clusters} clusters ({len(partition.focal_sets)} focal sets)",
        "",
        *text_table(_CLUSTER_HEADER, _cluster_rows(partition)),
        "",
        f"clear objects      {_share(_is_clear(partition))}",
        f"ambiguous objects  {_share(partition.is_ambiguous)}"
        f"{_largest_sets(partition)}",
        f"outliers           {_share(partition.is_outlier)}",
        f"nonspecificity     {partition.average_nonspecificity:.3f}"
        "  (0 precise, 1 nothing is known)",
    ]
    return "\n".join(lines)


def html(partition: "CredalPartition") -> str:
    """A small table for notebooks."""
    return (
        "<div class='credalis-partition'>"
        f"<p><b>Credal partition</b> of {partition.n_samples} objects in "
        f"{partition.n_clusters} clusters</p>"
        f"{html_table(_CLUSTER_HEADER, _cluster_rows(partition))}"
        f"<p>clear {_share(_is_clear(partition))}, "
        f"ambiguous {_share(partition.is_ambiguous)}, "
        f"outliers {_share(partition.is_outlier)}, "
        f"nonspecificity {partition.average_nonspecificity:.3f}</p></div>"
    )


def set_names(sets: NDArray[np.bool_]) -> list[str]:
    """Names of the rows of a boolean (n_samples, n_clusters) matrix."""
    # Few sets are named many times; the bytes of a row are a quick key to its name.
    packed = np.packbits(sets, axis=1)
    keys = packed.view(f"V{packed.shape[1]}").ravel().tolist()
    names = {
        key: subset_name(tuple(sets[i].nonzero()[0].tolist()), sets.shape[1])
        for key, i in dict(zip(keys, range(len(keys)), strict=True)).items()
    }
    return [names[key] for key in keys]


def to_pandas(partition: "CredalPartition", index: Any) -> "pd.DataFrame":
    """Columns of `columns` as a pandas frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_pandas needs pandas: pip install pandas") from error
    return pd.DataFrame(columns(partition), index=index)


def to_polars(partition: "CredalPartition") -> "pl.DataFrame":
    """Columns of `columns` as a polars frame."""
    try:
        import polars as pl
    except ImportError as error:
        raise ImportError("to_polars needs polars: pip install polars") from error
    return pl.DataFrame(columns(partition))


def columns(partition: "CredalPartition") -> dict[str, Any]:
    """Everything known about each object, column by column."""
    table: dict[str, Any] = {
        "label": np.array(partition.labels),
        "set": partition.set_names(),
        "outlier": np.array(partition.is_outlier),
        "ambiguous": np.array(partition.is_ambiguous),
        "doubt": np.array(partition.doubt),
    }
    for k in range(partition.n_clusters):
        table[f"pl {{{k}}}"] = partition.plausibility[:, k].copy()
    for j, name in enumerate(partition.focal_sets.names):
        table[f"m {name}"] = partition.masses[:, j].copy()
    return table


_CLUSTER_HEADER = ("cluster", "certainly in", "possibly in", "most plausible")


def _cluster_rows(partition: "CredalPartition") -> list[tuple[str, ...]]:
    """For each cluster: certain, possible, and hard members."""
    lower = partition.lower.sum(axis=0)
    upper = partition.upper.sum(axis=0)
    hard = np.bincount(partition.labels, minlength=partition.n_clusters)
    rows: list[tuple[str, ...]] = [
        (str(k), str(lower[k]), str(upper[k]), str(hard[k]))
        for k in range(min(partition.n_clusters, _MAX_CLUSTERS_SHOWN))
    ]
    n_hidden = partition.n_clusters - len(rows)
    if n_hidden:
        rows.append((f"... {n_hidden} more", "", "", ""))
    return rows


def text_table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Lines of a table with aligned columns."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in (header, *rows)
    ]


def html_table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """The same for a notebook."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _is_clear(partition: "CredalPartition") -> NDArray[np.bool_]:
    return np.asarray(partition.lower.any(axis=1))


def _share(selected: NDArray[np.bool_]) -> str:
    if len(selected) == 0:
        return "0"
    return f"{selected.sum()} ({selected.mean():.1%})"


def _largest_sets(partition: "CredalPartition") -> str:
    """The most frequent ambiguous sets, as in ": {0,1} 12, {1,2} 3"."""
    ambiguous = partition.maximum_mass_index[partition.is_ambiguous]
    if len(ambiguous) == 0:
        return ""
    counts = np.bincount(ambiguous, minlength=len(partition.focal_sets))
    frequent = np.argsort(-counts, kind="stable")[:_MAX_SETS_SHOWN]
    listed = [
        f"{partition.focal_sets.names[j]} {counts[j]}" for j in frequent if counts[j]
    ]
    if np.count_nonzero(counts) > _MAX_SETS_SHOWN:
        listed.append("...")
    return ": " + ", ".join(listed)
