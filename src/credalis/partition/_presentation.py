"""A credal partition as text, as HTML and as a table."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import naming
from credalis.belief._focal_sets import subset_name

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from credalis._coverage import CoverageCalibration
    from credalis.partition._partition import CredalPartition
    from credalis.partition._verdicts import Verdicts

# More rows than this are counted, not listed.
_MAX_CLUSTERS_SHOWN = 30
_MAX_SETS_SHOWN = 5
# Rows looked at together.
_PIECE = 1000


def summary(partition: "CredalPartition", verdicts: "Verdicts") -> str:
    """Text about the clusters: objects that are clear, between them, or outliers."""
    lines = [
        f"Credal partition of {partition.n_samples} objects in "
        f"{partition.n_clusters} clusters ({len(partition.focal_sets)} focal sets)",
        "",
        *text_table(CLUSTER_HEADER, _cluster_rows(partition, verdicts)),
        "",
        *word_lines(_counts(verdicts), verdicts.clear_level, _largest_sets(verdicts)),
        f"nonspecificity  {partition.average_nonspecificity:.3f}"
        "  (0 precise, 1 nothing is known)",
    ]
    return "\n".join([*lines, *silences(partition)])


def html(partition: "CredalPartition", verdicts: "Verdicts") -> str:
    """A small table for notebooks."""
    counts = _counts(verdicts)
    n_clear, n_between, n_outliers = _shares(counts, sum(counts))
    said = "".join(f"<p>{escape(line)}</p>" for line in silences(partition))
    return (
        "<div class='credalis-partition'>"
        f"<p><b>Credal partition</b> of {partition.n_samples} objects in "
        f"{partition.n_clusters} clusters</p>"
        f"{html_table(CLUSTER_HEADER, _cluster_rows(partition, verdicts))}"
        f"<p>clear {n_clear}, between {n_between}, outliers {n_outliers}, "
        f"nonspecificity {partition.average_nonspecificity:.3f}</p>{said}</div>"
    )


def word_lines(
    counts: tuple[int, int, int], clear_level: float, sets: str = "", n_rows: int = 0
) -> list[str]:
    """Three lines about clear objects, those between clusters, and outliers.

    Parameters
    ----------
    counts : tuple of three int
        How many there are of each.
    clear_level : float
        What "clear" asked for.
    sets : str, default=""
        What to say about the sets that objects are between.
    n_rows : int, default=0
        What the shares are of, if it is more than all of them together.
    """
    total = max(n_rows, sum(counts))
    n_clear, n_between, n_outliers = _shares(counts, total)
    return [
        f"clear           {n_clear}  (belief in one cluster at least {clear_level:g})",
        f"between         {n_between}{sets}",
        f"outliers        {n_outliers}  (at least half of the mass on ∅)",
    ]


def set_sizes(sets: NDArray[np.bool_]) -> NDArray[np.intp]:
    """How many sets have 0, 1, ... clusters, shape (n_clusters + 1,)."""
    return np.bincount(sets.sum(axis=1), minlength=sets.shape[1] + 1)


def coverage_lines(
    sizes: NDArray[np.integer], level: float, calibration: "CoverageCalibration"
) -> list[str]:
    """How large the sets of a level are, which class is which cluster, what it means.

    Parameters
    ----------
    sizes : array of int, shape (n_clusters + 1,)
        From `set_sizes`.
    level : float
        The level.
    calibration : CoverageCalibration
        Where the threshold came from.
    """
    used = np.flatnonzero(sizes).tolist()
    shares = _shares([int(sizes[size]) for size in used], int(sizes.sum()))
    counts = [
        f"{size} cluster{'s' if size > 1 else ''} {share}"
        for size, share in zip(used, shares, strict=True)
    ]
    lines = [f"sets at level {level:g}: " + ", ".join(counts)]
    if calibration.classes is not None:
        named = [
            f"{k} is {name}"
            for k, name in enumerate(calibration.classes)
            if name is not None
        ]
        lines.append("clusters by their classes: " + ", ".join(named))
    return [*lines, calibration.assumption]


def silences(partition: "CredalPartition") -> list[str]:
    """What the masses cannot say, in sentences: outliers, or any doubt."""
    if partition.n_samples == 0:
        return []
    return silence_lines(
        has_empty_mass=bool(partition.outlier_mass.any()), is_hard=is_hard(partition)
    )


def silence_lines(*, has_empty_mass: bool, is_hard: bool) -> list[str]:
    """The sentences of `silences`."""
    lines = []
    if not has_empty_mass:
        lines.append("No mass is on ∅: this result says nothing about outliers.")
    if is_hard:
        lines.append(
            "All mass of an object is on one cluster or on ∅: no doubt is expressed."
        )
    return lines


def is_hard(partition: "CredalPartition") -> bool:
    """Whether all masses are 0 or 1, with none on sets of clusters."""
    is_larger = partition.focal_sets.cardinality > 1
    # Piece by piece: most partitions are not, and the first piece shows it.
    for start in range(0, partition.n_samples, _PIECE):
        masses = partition.masses[start : start + _PIECE]
        if masses[:, is_larger].any() or ((masses > 0) & (masses < 1)).any():
            return False
    return True


def set_names(sets: NDArray[np.bool_]) -> list[str]:
    """Names of the rows of a boolean (n_samples, n_clusters) matrix."""
    keys, subsets = _keys(sets)
    names = {key: subset_name(subset, sets.shape[1]) for key, subset in subsets.items()}
    return [names[key] for key in keys]


def set_counts(sets: NDArray[np.bool_]) -> list[tuple[tuple[int, ...], int]]:
    """The distinct rows as sets and how often they occur, the most frequent first."""
    keys, subsets = _keys(sets)
    return sorted(
        ((subsets[key], count) for key, count in Counter(keys).items()),
        key=lambda pair: (-pair[1], len(pair[0]), pair[0]),
    )


def _keys(sets: NDArray[np.bool_]) -> tuple[list[bytes], dict[bytes, tuple[int, ...]]]:
    """A key for each row, and the set of each key.

    Few sets occur many times; the bytes of a row are a quick key.
    """
    packed = np.packbits(sets, axis=1)
    keys = packed.view(f"V{packed.shape[1]}").ravel().tolist()
    last = dict(zip(keys, range(len(keys)), strict=True))
    return keys, {key: tuple(sets[i].nonzero()[0].tolist()) for key, i in last.items()}


def to_pandas(
    partition: "CredalPartition", index: Any, verdicts: "Verdicts"
) -> "pd.DataFrame":
    """Columns of `columns` as a pandas frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_pandas needs pandas: pip install pandas") from error
    with naming("index"):
        return pd.DataFrame(columns(partition, verdicts), index=index)


def to_polars(partition: "CredalPartition", verdicts: "Verdicts") -> "pl.DataFrame":
    """Columns of `columns` as a polars frame."""
    try:
        import polars as pl
    except ImportError as error:
        raise ImportError("to_polars needs polars: pip install polars") from error
    return pl.DataFrame(columns(partition, verdicts))


def columns(partition: "CredalPartition", verdicts: "Verdicts") -> dict[str, Any]:
    """Everything known about each object, column by column."""
    table: dict[str, Any] = {
        "label": np.array(partition.labels),
        "set": set_names(verdicts.sets),
        "outlier": np.array(verdicts.is_outlier),
        "ambiguous": np.array(verdicts.is_between),
        "doubt": np.array(partition.doubt),
    }
    for k in range(partition.n_clusters):
        table[f"pl {{{k}}}"] = partition.plausibility[:, k].copy()
    for j, name in enumerate(partition.focal_sets.names):
        table[f"m {name}"] = partition.masses[:, j].copy()
    return table


CLUSTER_HEADER = ("cluster", "clear", "between", "most plausible")


def cluster_counts(
    partition: "CredalPartition", verdicts: "Verdicts"
) -> NDArray[np.intp]:
    """For each cluster: clear objects, those between it and others, and all labels.

    Shape (3, n_clusters). An object between clusters counts in each of them.
    """
    clear = verdicts.sets & verdicts.is_clear[:, None]
    return np.stack(
        [
            clear.sum(axis=0),
            verdicts.between_sets.sum(axis=0),
            np.bincount(partition.labels, minlength=partition.n_clusters),
        ]
    )


def _cluster_rows(
    partition: "CredalPartition", verdicts: "Verdicts"
) -> list[tuple[str, ...]]:
    """Cells of `cluster_counts`, of the first clusters if they are many."""
    counts = cluster_counts(partition, verdicts)
    rows: list[tuple[str, ...]] = [
        (str(k), *map(str, counts[:, k]))
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


def _counts(verdicts: "Verdicts") -> tuple[int, int, int]:
    """How many objects are clear, between clusters, outliers."""
    return (
        int(verdicts.is_clear.sum()),
        int(verdicts.is_between.sum()),
        int(verdicts.is_outlier.sum()),
    )


def _shares(counts: Sequence[int], total: int) -> list[str]:
    """Counts and their shares in the total, as in "12 (30.0%)".

    If the counts add up to the total, the shares add up to 100 %: what rounding down
    has left goes to those that lost most by it.
    """
    if not total:
        return ["0"] * len(counts)
    tenths = [1000 * count // total for count in counts]
    if sum(counts) == total:
        left = 1000 - sum(tenths)
        lost = [1000 * count % total for count in counts]
        for j in sorted(range(len(counts)), key=lambda j: -lost[j])[:left]:
            tenths[j] += 1
    else:
        tenths = [round(1000 * count / total) for count in counts]
    return [
        f"{count} ({share / 10:.1f}%)"
        for count, share in zip(counts, tenths, strict=True)
    ]


def _largest_sets(verdicts: "Verdicts") -> str:
    """The most frequent sets of objects between clusters, as in ": {0,1} 12, Ω 3"."""
    if not verdicts.is_between.any():
        return ""
    counts = set_counts(verdicts.sets[verdicts.is_between])
    n_clusters = verdicts.sets.shape[1]
    listed = [
        f"{subset_name(subset, n_clusters)} {count}"
        for subset, count in counts[:_MAX_SETS_SHOWN]
    ]
    if len(counts) > _MAX_SETS_SHOWN:
        listed.append("...")
    return ": " + ", ".join(listed)
