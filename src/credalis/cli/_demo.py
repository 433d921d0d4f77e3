"""``credalis demo``: a first look at what the library says about data."""

from pathlib import Path

import click

from credalis._files import naming_errors
from credalis.cli._shared._console import Console
from credalis.cli._shared._interrupts import stop_if_asked
from credalis.cluster import Consensus
from credalis.datasets import make_four_class
from credalis.report import report

_N_CLUSTERS = 4


def run(output: str, seed: int) -> None:
    """Do what the options say."""
    X, _ = make_four_class(random_state=seed)
    # Not every draw of four groups shows the gaps between them.
    with Console().hearing_warnings():
        model = Consensus(_N_CLUSTERS, random_state=seed).fit(X)
    stop_if_asked()
    click.echo(model.partition_.summary())
    with naming_errors(output):
        report(model, X, output, title="Built-in data: four classes")
    click.echo(f"\nReport written to {Path(output).resolve()}")
    click.echo("Next: credalis cluster data.csv -c 4 --report report.html")
