"""Many methods on many tables: options, the loop over fits, means as a table."""

import argparse
import json
import time
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks import scores
from benchmarks.contenders import contenders
from benchmarks.harness import environment
from benchmarks.journal import RESULTS, Journal, fingerprint


def parser(name, description, n_seeds, families):
    """The options that every comparison has."""
    options = argparse.ArgumentParser(
        prog=f"python -m benchmarks {name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = list(contenders())
    options.add_argument("--quick", action="store_true", help="a part, one seed")
    options.add_argument("--methods", nargs="+", choices=known, default=known)
    options.add_argument("--families", nargs="+", choices=families, default=families)
    options.add_argument("--sets", nargs="+", metavar="TEXT", help="parts of names")
    options.add_argument("--seeds", type=int, help=f"how many, {n_seeds} if not told")
    return options


def selected(cases, options):
    """The cases of the families and with the names that were asked for."""
    return [
        case
        for case in cases
        if case.family in options.families
        and (not options.sets or any(text in case.name for text in options.sets))
    ]


def measured(benchmark, cases, measure, options):
    """Records of ``measure(contender, case, seed)`` for all methods, cases and seeds.

    Those that a run of the same sources has left in the journal are taken from there.
    All of them are written to one JSON file besides. A fit that fails is named, counts
    nowhere, and is tried again the next time.
    """
    journal = Journal(RESULTS / f"{benchmark}.jsonl")
    everyone, records = contenders(), []
    for name in options.methods:
        start = time.process_time()
        contender = everyone[name]
        sources = fingerprint(benchmark, of_credalis=contender.is_ours)
        for case in cases:
            for seed in range(options.seeds):
                about = {"method": name, "case": case.name, "seed": seed}
                key = about | {"quick": options.quick, "sources": sources}
                try:
                    record = journal.recall(key, measure, contender, case, seed)
                except Exception as error:
                    print(f"{name} fails on {case.name}, seed {seed}: {error!r}")
                    continue
                records.append(about | {"family": case.family} | record)
        print(f"{name}: {time.process_time() - start:.0f} s", flush=True)
    content = {"environment": environment(), "records": records}
    path = RESULTS / f"{benchmark}.json"
    path.write_text(json.dumps(content, indent=1) + "\n")
    return records


def fitted(contender, table, seed):
    """Answer of a contender, processor seconds, and the kinds of warnings it gave."""
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(limits=1):
        warnings.simplefilter("always")
        answer = contender.fit_predict(table.X, table.n_clusters, seed)
    seconds = time.process_time() - start
    return answer, seconds, sorted({each.category.__name__ for each in caught})


def rows_for(contender, table, seed):
    """The table, or as many of its rows as the method can be asked to read."""
    if contender.max_rows is None:
        return table
    return table.sample(contender.max_rows, np.random.default_rng(seed))


def matching(table, answer):
    """Class of each cluster, by the rows that have a class."""
    rows = table.y >= 0
    n_clusters = answer.labels.max() + 1
    if answer.sets is not None:
        n_clusters = answer.sets.shape[1]
    return scores.class_of_cluster(table.y[rows], answer.labels[rows], n_clusters)


def label_scores(table, answer):
    """Agreement with the classes, and how well doubt tells right from wrong.

    Nothing if no row has a class.
    """
    rows = table.y >= 0
    if not rows.any():
        return {}
    y, labels = table.y[rows], answer.labels[rows]
    right = scores.is_right(y, labels, matching(table, answer))
    ranking, confidence = answer.ranking[rows], answer.confidence[rows]
    return {
        "ari": adjusted_rand_score(y, labels),
        "accuracy": right.mean(),
        "gain": scores.gain_of_doubt(right, ranking),
        "gain of confidence": scores.gain_of_doubt(right, confidence),
        "aurc": scores.error_over_coverages(right, ranking),
        "surer half": scores.surer_half(right, ranking),
        "ece": scores.calibration_error(right, confidence),
    }


@dataclass(frozen=True)
class Means:
    """Means of one method over the tables of some families and over seeds."""

    method: str
    n_fits: int
    means: dict

    @property
    def cells(self):
        numbers = (f"{value:.3f}" for value in self.means.values())
        return (
            self.method,
            str(self.n_fits),
            *("" if number == "nan" else number for number in numbers),
        )

    @property
    def HEADER(self):  # noqa: N802
        return ("method", "fits", *self.means)


def means(records, columns, *families):
    """A `Means` for each method that has been measured on the families.

    ``columns`` has the measure of each column.
    """
    rows = []
    for method in dict.fromkeys(record["method"] for record in records):
        of_case = by_case(records, method, *families)
        if of_case:
            n_fits = sum(case["n_fits"] for case in of_case.values())
            values = {
                column: scores.mean(case.get(measure) for case in of_case.values())
                for column, measure in columns.items()
            }
            rows.append(Means(method, n_fits, values))
    return rows


def by_case(records, method, *families):
    """Means over seeds: {case: {measure: mean}}."""
    cases = {}
    for record in records:
        if record["method"] == method and record["family"] in families:
            cases.setdefault(record["case"], []).append(record)
    return {
        case: {
            "n_fits": len(runs),
            **{
                measure: scores.mean(run.get(measure) for run in runs)
                for measure, value in runs[0].items()
                if isinstance(value, int | float)
            },
        }
        for case, runs in cases.items()
    }
