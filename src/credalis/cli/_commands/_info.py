"""Arguments of ``credalis info``."""

import click

from credalis.cli._shared._options import PATH, SETTINGS, debug_option, json_option


@click.command(context_settings=SETTINGS)
@click.argument("model", type=PATH)
@json_option
@debug_option
def info(model: str, as_json: bool) -> None:
    """Show what a model file holds.

    MODEL is a file written by "credalis cluster --model", or by save in Python. Nothing
    in it is executed.
    """
    from credalis.cli._info import run

    run(model, as_json)
