"""Arguments of ``credalis predict``."""

from typing import Any

import click

from credalis._choices import CLEAR_LEVEL, MISSING
from credalis.cli._shared._options import (
    PATH,
    SETTINGS,
    clear_level_option,
    coverage_option,
    csv_safe_option,
    debug_option,
    examples,
    fields_option,
    file_options,
    id_option,
    json_option,
    quiet_option,
)


@click.command(
    context_settings=SETTINGS,
    short_help="Score new rows with a saved model.",
    epilog=examples(
        "credalis predict sales.credalis new.csv -o scored.csv",
        "credalis predict sales.credalis new.csv --fields label,set --explain",
        "zcat new.csv.gz | credalis predict sales.credalis - | head",
    ),
)
@click.argument("model", type=PATH)
@click.argument("data", type=PATH)
@click.option(
    "-o",
    "--output",
    type=PATH,
    help="Where to write the memberships, as in credalis cluster.  [default: CSV on "
    "standard output, nothing with --json]",
)
@fields_option
@csv_safe_option
@id_option
@click.option(
    "--missing",
    type=click.Choice(MISSING),
    help="What to do with missing values.  [default: as in the fit]",
)
@clear_level_option(f"as in the fit, else {CLEAR_LEVEL:g}")
@coverage_option(
    "The model must have been fitted with --coverage.  [default: as in the fit]"
)
@click.option(
    "--explain",
    is_flag=True,
    help='Add a last column "why": a sentence about each row that says which clusters '
    "compete for it and which cells speak for each.",
)
@file_options
@json_option
@quiet_option
@debug_option
def predict(model: str, data: str, **options: Any) -> None:
    """Score new rows with a saved model, and flag those that fit no cluster.

    MODEL is a file written by "credalis cluster --model". DATA must have the columns
    that the model was fitted to, in any order; it is read piece by piece, so it may be
    larger than memory.
    """
    from credalis.cli._predict import run

    run(model, data, **options)
