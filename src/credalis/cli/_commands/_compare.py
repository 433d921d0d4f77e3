"""Arguments of ``credalis compare``."""

from typing import Any

import click

from credalis.cli._shared._names import FOR_DATA_ALONE, FOR_MANY_ROWS, MAX_ROWS_FOR_ALL
from credalis.cli._shared._options import (
    PATH,
    SETTINGS,
    column_options,
    data_argument,
    debug_option,
    examples,
    json_option,
    n_jobs_option,
    quiet_option,
    seed_option,
)


@click.command(
    context_settings=SETTINGS,
    short_help="Compare several methods side by side.",
    epilog=examples(
        "credalis compare flowers.csv -c 3 --truth species --methods ECM,EVCLUS",
    ),
)
@data_argument
@click.option(
    "-c",
    "--clusters",
    "n_clusters",
    type=click.IntRange(min=2),
    metavar="K",
    required=True,
    help="Number of clusters; EkNNclus finds its own.",
)
@click.option(
    "--methods",
    metavar="A,B,...",
    help=f"One or more of {', '.join(FOR_DATA_ALONE)}.  [default: all; with more "
    f"than {MAX_ROWS_FOR_ALL} rows, {', '.join(FOR_MANY_ROWS)}]",
)
@click.option(
    "--truth",
    metavar="COLUMN",
    help="Column of true classes. The results are compared with it; no method sees it.",
)
@click.option(
    "--plot",
    type=PATH,
    help="Where to plot consistency against nonspecificity: .png, .svg or .pdf; needs "
    "--truth.",
)
@column_options
@seed_option
@n_jobs_option
@json_option
@quiet_option
@debug_option
def compare(data: str, **options: Any) -> None:
    """Cluster a table with several methods and put the results side by side.

    One of them is recommended, by agreement with the others, stability on a part of
    the rows, and warnings; the true classes have no part in that.
    """
    from credalis.cli._compare import run

    run(data, **options)
