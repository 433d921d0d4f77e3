"""Files that a command writes."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._files import atomic_write, check_writable, naming_errors
from credalis.cli._shared._data import Data
from credalis.partition import CredalPartition
from credalis.tables import write_table
from credalis.tables._table import BATCH_ROWS
from credalis.tabular import membership_batch, membership_schema

_FIGURES = (".png", ".svg", ".pdf")


def check_outputs(source: str, outputs: dict[str, str | None]) -> None:
    """Refuse what cannot be written, or would destroy something, before the work.

    Parameters
    ----------
    source : str
        The table that is read.
    outputs : dict of str to str or None
        For each option its file.
    """
    taken = {} if source == "-" else {os.path.realpath(source): "the input"}
    for option, path in outputs.items():
        if path is None or path == "-":
            continue
        place = os.path.realpath(path)
        if place in taken and not _is_device(place):
            raise ValueError(f"{option} {path} would overwrite {taken[place]}")
        taken[place] = f"what {option} writes"
        check_writable(path)


def write_memberships(
    path: str,
    data: Data,
    partition: CredalPartition,
    fields: Sequence[str],
    clear_level: float,
    coverage_sets: NDArray[np.bool_] | None = None,
    *,
    csv_safe: bool,
    cluster_names: Sequence[str] | None = None,
) -> None:
    """Write one row for each row of the table, block by block."""
    is_kept = data.prepared.is_kept
    schema = membership_schema(
        partition.focal_sets,
        data.key,
        fields,
        has_coverage=coverage_sets is not None,
        cluster_names=cluster_names,
    )
    n_before = 0
    with write_table(path, schema, csv_safe=csv_safe) as write:
        for start in range(0, len(is_kept), BATCH_ROWS):
            kept = is_kept[start : start + BATCH_ROWS]
            n_kept = int(kept.sum())
            rows = slice(n_before, n_before + n_kept)
            keys = data.keys(start, start + len(kept))
            sets = None if coverage_sets is None else coverage_sets[rows]
            batch = membership_batch(
                schema, partition[rows], keys, kept, clear_level, sets, cluster_names
            )
            write(batch)
            n_before += n_kept


def write_report(
    estimator: Any,
    data: Data,
    path: str,
    command: str,
    *,
    is_precomputed: bool,
    clear_level: float,
    coverage: float | None = None,
    cluster_names: Sequence[str] | None = None,
) -> None:
    """The page about a result, with the table in its own units."""
    from credalis import report

    keys = zip(data.key_texts(), data.prepared.is_kept, strict=True)
    with naming_errors(path):
        report(
            estimator,
            data.X,
            path,
            data=None if is_precomputed else data.originals(),
            ids=[key for key, is_kept in keys if is_kept],
            command=command,
            clear_level=clear_level,
            coverage=coverage,
            described=() if is_precomputed else data.described,
            cluster_names=cluster_names,
            notes=data.decisions,
            title=os.path.basename(data.name.rstrip("/")) or None,
        )


def check_report(path: str | None) -> None:
    """Refuse a report that could not be drawn, before the work."""
    if path is None:
        return
    try:
        import jinja2  # noqa: F401
        import plotly  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'reports need plotly and Jinja2: pip install "credalis[report]"'
        ) from error


def check_figure(path: str | None) -> None:
    """Refuse a figure that could not be drawn, before the work."""
    if path is None:
        return
    if Path(path).suffix.lower() not in _FIGURES:
        raise ValueError(
            f"--plot must end in {', '.join(_FIGURES)}, got {os.fspath(path)!r}"
        )
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            'figures need matplotlib: pip install "credalis[plot]"'
        ) from error


def write_figure(path: str, draw: Callable[[Any], Any]) -> None:
    """Draw on axes of a figure and write it; no window is opened."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    draw(figure.subplots())
    with naming_errors(path), atomic_write(path) as stream:
        figure.savefig(stream, format=Path(path).suffix[1:].lower(), dpi=150)


def _is_device(place: str) -> bool:
    return os.path.exists(place) and not os.path.isfile(place)
