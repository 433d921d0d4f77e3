"""Arguments of ``credalis demo``."""

import click

from credalis.cli._shared._options import PATH, SETTINGS, debug_option, seed_option


@click.command(
    context_settings=SETTINGS, short_help="Cluster built-in data and write a report."
)
@click.option(
    "-o",
    "--output",
    type=PATH,
    default="report.html",
    help="Where to write the report.",
)
@seed_option
@debug_option
def demo(output: str, seed: int) -> None:
    """Cluster four overlapping groups by a consensus of methods and write a report."""
    from credalis.cli._demo import run

    run(output, seed)
