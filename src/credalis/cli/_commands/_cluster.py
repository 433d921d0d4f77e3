"""Arguments of ``credalis cluster``."""

from typing import Any

import click

from credalis._choices import CLEAR_LEVEL
from credalis.cli._shared._names import DEFAULT, DEFAULT_OF_MIXED, METHODS
from credalis.cli._shared._options import (
    PATH,
    SETTINGS,
    calibration_options,
    clear_level_option,
    column_options,
    csv_safe_option,
    data_argument,
    debug_option,
    examples,
    fields_option,
    json_option,
    n_jobs_option,
    quiet_option,
    seed_option,
    together,
)
from credalis.cli._shared._values import NumberOfClusters

_output_options = together(
    click.option(
        "-o",
        "--output",
        type=PATH,
        help="Where to write the memberships: .csv, .tsv (both also .gz), .parquet, "
        ".feather or .npy; - writes CSV to standard output and the summary to standard "
        "error.",
    ),
    fields_option,
    csv_safe_option,
    click.option(
        "--model", type=PATH, help="Where to save the model, for credalis predict."
    ),
    click.option(
        "--report", type=PATH, help="Where to write an HTML page about the result."
    ),
)
_side_options = together(
    click.option(
        "--labels",
        type=PATH,
        help="Table with two columns, row and known label. Rows are named by their "
        "--id or, without --id, by their number, starting at 0.",
    ),
    click.option(
        "--must-link", type=PATH, help="Table of pairs of rows in the same cluster."
    ),
    click.option(
        "--cannot-link", type=PATH, help="Table of pairs of rows in different clusters."
    ),
    click.option(
        "--answers",
        type=PATH,
        help="Answers about pairs of rows, as credalis ask writes them, with what they "
        "imply.",
    ),
    click.option(
        "--weights",
        metavar="COLUMN",
        help="Column that says how often each row counts: 2 for two equal rows, 0 for "
        "one that only gets memberships. It is no attribute.",
    ),
)


@click.command(
    context_settings=SETTINGS,
    epilog=examples(
        "credalis cluster flowers.csv -c 3 -o memberships.csv --report report.html",
        "credalis cluster sales.parquet -c auto --id customer --model sales.credalis",
    ),
)
@data_argument
@click.option(
    "-c",
    "--clusters",
    "n_clusters",
    type=NumberOfClusters(),
    metavar="K|auto|A-B",
    help="Number of clusters; auto tries 2 to 10 or more and says if there seem to be "
    "none, A-B tries that range.",
)
@click.option(
    "-m",
    "--method",
    type=click.Choice(METHODS, case_sensitive=False),
    metavar="NAME",
    help=f"One of {', '.join(METHODS)}.  [default: {DEFAULT}, or "
    f"{DEFAULT_OF_MIXED} with categories or missing cells]",
)
@click.option(
    "--param",
    "parameters",
    metavar="KEY=VALUE",
    multiple=True,
    help="A parameter of the method. Can be repeated.",
)
@click.option(
    "--outlier-rate",
    type=float,
    metavar="P",
    help="Share of ordinary rows that may be called outliers, as in 0.05: the "
    "parameter outlier_rate of the methods that calibrate ∅.  [default: that of the "
    "method]",
)
@clear_level_option(f"{CLEAR_LEVEL:g}")
@_output_options
@calibration_options
@column_options
@_side_options
@seed_option
@n_jobs_option
@json_option
@quiet_option
@debug_option
@click.pass_context
def cluster(context: click.Context, data: str, **options: Any) -> None:
    """Cluster the rows of a table.

    DATA is a CSV, TSV, Parquet, Arrow, Feather, NPY or NPZ file, a workbook of Excel
    (.xlsx) or OpenDocument (.ods), a folder of Parquet files, or - for standard input;
    CSV and TSV may be compressed with gzip.
    """
    from credalis.cli._cluster import run

    run(context, data, **options)
