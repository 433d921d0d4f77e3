"""``credalis peaks``: how many clusters the data suggest, and where."""

from typing import Any

import numpy as np

from credalis.cli._shared._console import Console
from credalis.cli._shared._data import DataOptions, load_data
from credalis.cli._shared._outputs import check_figure, check_outputs, write_figure
from credalis.partition._presentation import text_table
from credalis.peaks import delta_bel
from credalis.plots import DeltaBelDisplay


def run(data: str, **options: Any) -> None:
    """Do what the options say."""
    console = Console(quiet=options["quiet"], as_json=options["as_json"])
    check_figure(options["plot"])
    check_outputs(data, {"--plot": options["plot"]})
    table_options = DataOptions.take(options)
    with console.hearing_warnings():
        table = load_data(data, table_options, console, by="peaks", takes_gower=True)
        rows = _sample(len(table.X), options["sample"], options["seed"])
        if len(rows) < len(table.X):
            console.note(f"using {len(rows)} rows, drawn at random (--sample)")
        is_square = table_options.precomputed
        metric = "precomputed" if is_square else table.metric or "euclidean"
        graph = delta_bel(
            table.X[np.ix_(rows, rows)] if is_square else table.X[rows],
            n_neighbors=options["n_neighbors"] or "auto",
            metric=metric,
        )
        centers = graph.suggest(options["n_clusters"])
        all_keys = table.key_texts()
        places = np.flatnonzero(table.prepared.is_kept)[rows]
        keys = [all_keys[place] for place in places]
        if options["plot"]:
            # The names of the table below: rows may be a sample, or some left out.
            names = keys if table.id_column else [f"row {key}" for key in keys]
            display = DeltaBelDisplay.from_delta_bel(
                graph, centers=centers, object_names=names
            )
            write_figure(options["plot"], lambda axes: display.plot(ax=axes))
    listed = [
        {
            table.key.name: keys[i],
            "delta": float(graph.delta[i]),
            "belief": float(graph.belief[i]),
            "importance": float(graph.importance[i]),
        }
        for i in centers
    ]
    _show(console, listed, graph, len(table.X), options)


def _show(
    console: Console,
    listed: list[dict[str, Any]],
    graph: Any,
    n_rows: int,
    options: dict[str, Any],
) -> None:
    values = {
        "n_clusters": len(listed),
        "centers": listed,
        "rows": n_rows,
        "looked_at": len(graph),
        "n_neighbors": graph.n_neighbors,
        "written": options["plot"],
        "warnings": console.warnings,
    }
    suggested = "asked for" if options["n_clusters"] else "suggested"
    cells = [
        tuple(f"{v:.3g}" if isinstance(v, float) else str(v) for v in center.values())
        for center in listed
    ]
    lines = [
        f"{len(listed)} clusters {suggested}; of {len(graph)} objects, these look like "
        f"centres, judged by {graph.n_neighbors} neighbours",
        "",
        *text_table(tuple(listed[0]), cells),
    ]
    if options["plot"]:
        lines += ["", f"graph  {options['plot']}"]
    console.result("\n".join(lines), values)


def _sample(n_rows: int, at_most: int, seed: int) -> np.ndarray:
    """Row numbers, increasing."""
    if not at_most or n_rows <= at_most:
        return np.arange(n_rows)
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(n_rows, at_most, replace=False))
