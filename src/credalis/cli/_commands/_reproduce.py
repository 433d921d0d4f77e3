"""Arguments of ``credalis reproduce``."""

from collections.abc import Sequence
from typing import Any

import click

from credalis.cli._shared._options import (
    SETTINGS,
    debug_option,
    examples,
    json_option,
    n_jobs_option,
    quiet_option,
)


@click.command(
    context_settings=SETTINGS,
    short_help="Run the experiments of the NN-EVCLUS paper.",
    epilog=examples(
        "credalis reproduce list",
        "credalis reproduce --quick --data benchmarks/",
        "credalis reproduce attribute times --data benchmarks/ --n-jobs 2",
    ),
)
@click.argument("names", nargs=-1, metavar="[list | all | NAME...]")
@click.option(
    "--quick",
    is_flag=True,
    help="Run representative cells with few repetitions, in a few minutes.",
)
@click.option(
    "--data",
    type=click.Path(),
    metavar="DIR",
    help="Directory of the benchmark data sets.  [default: $CREDALIS_DATA]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="DIR",
    default="reproduction",
    help="Directory for the report and the finished cells.",
)
@n_jobs_option
@json_option
@quiet_option
@debug_option
def reproduce(names: Sequence[str], **options: Any) -> None:
    """Run experiments of the NN-EVCLUS paper and show its values beside ours.

    Without names, all experiments are run. An interrupted run resumes where it stopped:
    finished cells are kept in the output directory.
    """
    from credalis.cli._reproduce import run

    run(names, **options)
