"""``credalis compare``: several methods side by side."""

from typing import Any

import click
import numpy as np

from credalis import _compare
from credalis.cli._shared._console import Console
from credalis.cli._shared._data import Data, DataOptions, load_data
from credalis.cli._shared._interrupts import stop_if_asked
from credalis.cli._shared._n_clusters import check_n_clusters
from credalis.cli._shared._names import (
    FOR_DATA_ALONE,
    FOR_MANY_ROWS,
    MAX_ROWS_FOR_ALL,
    METHODS,
)
from credalis.cli._shared._outputs import check_figure, check_outputs, write_figure
from credalis.tables import as_text

_LEGEND = (
    "agreement with the clusters of the other methods, stability over parts of the "
    "rows: 1 is the same; nonspecificity: 0 is precise, 1 says nothing"
)


def run(data: str, **options: Any) -> None:
    """Do what the options say."""
    console = Console(quiet=options["quiet"], as_json=options["as_json"])
    truth, plot = options["truth"], options["plot"]
    if plot and not truth:
        raise click.UsageError(
            "--plot needs the true classes: add --truth COLUMN",
            click.get_current_context(),
        )
    check_figure(plot)
    check_outputs(data, {"--plot": plot})
    methods = _names(options["methods"])
    table_options = DataOptions.take(options)
    if table_options.precomputed:
        raise ValueError(
            "credalis compare needs attributes: to compare methods on --precomputed "
            "dissimilarities, use credalis.compare in Python"
        )
    others = [truth] if truth else []
    with console.hearing_warnings():
        table = load_data(
            data,
            table_options,
            console,
            others=others,
            text_columns=others,
            by="credalis compare",
        )
        check_n_clusters(options["n_clusters"], table.name, len(table.X))
        if methods is None:
            methods = _methods_for(len(table.X), console)
        result = _compare.compare(
            table.X,
            options["n_clusters"],
            methods,
            _classes(table, truth) if truth else None,
            n_jobs=options["n_jobs"],
            random_state=options["seed"],
        )
        stop_if_asked()
        if plot:
            write_figure(plot, lambda axes: result.plot(ax=axes))
    values = {
        "methods": [vars(each) for each in result.scores],
        "recommended": result.recommended,
        "reason": result.reason,
        "not_dominated": result.non_dominated if truth else None,
        "rows": len(table.columns),
        "dropped": table.n_dropped,
        "written": plot,
        "warnings": console.warnings,
    }
    text = f"{result!r}\n{_LEGEND}"
    console.result(text + (f"\n\ndiagram  {plot}" if plot else ""), values)


def _names(text: str | None) -> list[str] | None:
    """Names of methods as they are written in the library."""
    if text is None:
        return None
    known = {name.lower(): name for name in FOR_DATA_ALONE}
    names = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if part.lower() not in known:
            hint = ""
            if part.upper() in METHODS:
                hint = f" ({part.upper()} needs pairs, which compare does not have)"
            raise click.UsageError(
                f"--methods must be one or more of {', '.join(known.values())}, got "
                f"{part!r}{hint}",
                click.get_current_context(),
            )
        names.append(known[part.lower()])
    return names or None


def _methods_for(n_rows: int, console: Console) -> list[str]:
    if n_rows <= MAX_ROWS_FOR_ALL:
        return list(FOR_DATA_ALONE)
    console.note(
        f"{n_rows} rows: only {', '.join(FOR_MANY_ROWS)} are run; name others with "
        "--methods, but their memory or time may grow with the square of the number of "
        "rows"
    )
    return list(FOR_MANY_ROWS)


def _classes(table: Data, truth: str) -> np.ndarray:
    """Classes as text; a row without one is an error."""
    texts = as_text(table.columns.others[truth])
    kept = [
        text for text, flag in zip(texts, table.prepared.is_kept, strict=True) if flag
    ]
    n_missing = sum(text is None for text in kept)
    if n_missing:
        raise ValueError(
            f"{table.name}: {n_missing} of {len(kept)} rows have no class in {truth!r}"
        )
    return np.array(kept, dtype=str)
