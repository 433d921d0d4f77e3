"""Arguments of ``credalis peaks``."""

from typing import Any

import click

from credalis.cli._shared._options import (
    PATH,
    SETTINGS,
    column_options,
    data_argument,
    debug_option,
    examples,
    json_option,
    quiet_option,
    seed_option,
)


@click.command(
    context_settings=SETTINGS,
    short_help="Suggest a number of clusters.",
    epilog=examples(
        "credalis peaks flowers.csv --plot peaks.png",
    ),
)
@data_argument
@click.option(
    "-c",
    "--clusters",
    "n_clusters",
    type=click.IntRange(min=2),
    metavar="K",
    help="How many centres to list.  [default: as many as stand out]",
)
@click.option(
    "--n-neighbors",
    type=click.IntRange(min=1),
    metavar="K",
    help="Number of neighbours that support a centre.  [default: depends on the number "
    "of rows]",
)
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    metavar="N",
    default=20_000,
    help="Use at most this many rows, drawn at random; 0 for all.",
)
@click.option("--plot", type=PATH, help="Where to draw the graph: .png, .svg or .pdf.")
@column_options
@seed_option
@json_option
@quiet_option
@debug_option
def peaks(data: str, **options: Any) -> None:
    """Suggest a number of clusters from the δ-Bel graph of a table.

    A centre has many near neighbours, and hence a high degree of belief (Bel) that it
    is a centre, and it is far (δ) from every object with a higher degree.
    """
    from credalis.cli._peaks import run

    run(data, **options)
