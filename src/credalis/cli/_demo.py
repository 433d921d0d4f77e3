"""``credalis demo``: a first look at what the library says about data."""

import argparse
from pathlib import Path

from credalis.cluster import NNEVCLUS
from credalis.datasets import make_four_class
from credalis.report import report

_N_CLUSTERS = 4


def add_to(commands: argparse._SubParsersAction) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "demo",
        help="cluster a built-in data set and write a report",
        description="Cluster four overlapping groups with NN-EVCLUS, print a "
        "summary and write a report.",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("report.html"),
        help="the report to write (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=_seed, default=0, help="random seed (default: %(default)s)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Cluster, print, write."""
    X, _ = make_four_class(random_state=options.seed)
    model = NNEVCLUS(_N_CLUSTERS, random_state=options.seed).fit(X)
    print(model.partition_.summary())
    report(model, X, options.output)
    print(f"\nReport written to {options.output.resolve()}")


def _seed(text: str) -> int:
    seed = int(text)
    if not 0 <= seed < 2**32:
        raise argparse.ArgumentTypeError(
            f"must be an integer from 0 to {2**32 - 1}, got {text}"
        )
    return seed
