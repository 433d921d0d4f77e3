"""Arguments of ``credalis app``."""

import click

from credalis.cli._shared._options import PATH, SETTINGS, debug_option, examples


@click.command(
    context_settings=SETTINGS,
    short_help="Cluster a table in the browser.",
    epilog=examples("credalis app", "credalis app flowers.csv"),
)
@click.argument("table", type=PATH, required=False)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Where the server listens on this machine; 0 takes any free port.",
)
@click.option(
    "--browser/--no-browser",
    "opens_browser",
    default=True,
    help="Whether to open the page in a browser.",
)
@click.option(
    "--folder",
    type=PATH,
    help="Where the work is kept.  [default: a private folder of yours]",
)
@debug_option
def app(table: str | None, port: int, opens_browser: bool, folder: str | None) -> None:
    """Open a page that leads from a table to clusters and asks what it cannot tell.

    The page is served on this machine alone, and nothing leaves it. Without TABLE, it
    takes up the work that was left, or begins with a file that you drop.
    """
    from credalis.app import run

    run(table, port=port, opens_browser=opens_browser, folder=folder)
