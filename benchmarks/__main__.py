"""``python -m benchmarks [NAME ...]``: run benchmarks, print a table, write JSON."""

import argparse
import json
from pathlib import Path

from benchmarks import (
    bootclus,
    ecm,
    eknnclus,
    evclus,
    evclust_port,
    indices,
    nnevclus,
    prototypes,
    relational,
)
from benchmarks.harness import Skipped, environment, table

BENCHMARKS = {
    "bootclus": bootclus.run,
    "ecm": ecm.run,
    "eknnclus": eknnclus.run,
    "evclus": evclus.run,
    "evclust_port": evclust_port.run,
    "indices": indices.run,
    "nnevclus": nnevclus.run,
    "prototypes": prototypes.run,
    "relational": relational.run,
}
RESULTS = Path(__file__).parent / "results"


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    names = parser.parse_args().names or list(BENCHMARKS)
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        parser.error(
            f"unknown benchmark {unknown[0]!r}, known: {', '.join(BENCHMARKS)}"
        )
    RESULTS.mkdir(exist_ok=True)
    for name in names:
        try:
            measurements = BENCHMARKS[name]()
        except Skipped as reason:
            print(f"{name}: skipped, {reason}\n")
            continue
        print(f"{name}\n{table(measurements)}\n")
        content = {
            "environment": environment(),
            "measurements": [vars(measurement) for measurement in measurements],
        }
        path = RESULTS / f"{name}.json"
        path.write_text(json.dumps(content, indent=1) + "\n")


main()
