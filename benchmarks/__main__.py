"""``python -m benchmarks [NAME ...]``: run benchmarks, print a table, write JSON."""

import argparse
import json
import sys

from benchmarks import (
    answers,
    bootclus,
    command_line,
    constrained,
    dask_speedup,
    defaults,
    doubt,
    earlier,
    ecm,
    eknnclus,
    evclus,
    evclust_port,
    explanations,
    gower,
    growth,
    images,
    indices,
    large,
    levels,
    many,
    methods,
    metric_learning,
    mixed,
    neighbors,
    nnevclus,
    numbers,
    out_of_core,
    page,
    peaks,
    prototypes,
    relational,
    row_costs,
    sizes,
    small,
    streams,
    suggestions,
    words,
)
from benchmarks.harness import Skipped, environment, table
from benchmarks.journal import RESULTS

BENCHMARKS = {
    "bootclus": bootclus.run,
    "ecm": ecm.run,
    "eknnclus": eknnclus.run,
    "evclus": evclus.run,
    "evclust_port": evclust_port.run,
    "gower": gower.run,
    "indices": indices.run,
    "methods": methods.run,
    "metric_learning": metric_learning.run,
    "neighbors": neighbors.run,
    "nnevclus": nnevclus.run,
    "peaks": peaks.run,
    "prototypes": prototypes.run,
    "relational": relational.run,
}
# About quality or memory; they take minutes and run only when they are named.
EXPERIMENTS = {
    "answers": answers.run,
    "command_line": command_line.run,
    "constrained": constrained.run,
    "dask_speedup": dask_speedup.run,
    "earlier": earlier.run,
    "explanations": explanations.run,
    "growth": growth.run,
    "images": images.run,
    "large": large.run,
    "levels": levels.run,
    "many": many.run,
    "mixed": mixed.run,
    "numbers": numbers.run,
    "out_of_core": out_of_core.run,
    "row_costs": row_costs.run,
    "small": small.run,
    "streams": streams.run,
    "suggestions": suggestions.run,
    "words": words.run,
}
ALL = BENCHMARKS | EXPERIMENTS
# They take hours, can be interrupted, and have options of their own.
COMPARISONS = {"defaults": defaults.main, "doubt": doubt.main, "sizes": sizes.main}


def main():
    if sys.argv[1:2] and sys.argv[1] in COMPARISONS:
        COMPARISONS[sys.argv[1]](sys.argv[2:])
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = f"{', '.join(ALL)}; alone, with options: {', '.join(COMPARISONS)}"
    parser.add_argument("names", nargs="*", metavar="NAME", help=known)
    parser.add_argument(
        "--store", action="store_true", help="write the runs to the site's page as well"
    )
    arguments = parser.parse_args()
    names = arguments.names or list(BENCHMARKS)
    unknown = sorted(set(names) - set(ALL))
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}, known: {', '.join(ALL)}")
    RESULTS.mkdir(exist_ok=True)
    for name in names:
        try:
            measurements = ALL[name]()
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
        if arguments.store and name in BENCHMARKS:
            page.store(name, content)


main()
