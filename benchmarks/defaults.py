"""What the defaults of every estimator are worth, against k-means and a mixture.

The labelled tables of ``CREDALIS_DATA/choose``, standardised, and generated ones: blobs
of many numbers, sizes and dimensions, elliptical and t-distributed clusters, planted
outliers, novelty amid the clusters, and noise without clusters. The number of clusters
is told. Tables show means over tables and seeds; the last one shows which bars are met.

The columns after ARI: clusters without a row; share of clean rows flagged as outliers;
share of clear rows, their error, and the error of all others; share of rows between
clusters, how often their set has the right one, and its size; gain of doubt, and what
it is with the confidence in place of `doubt`; accuracy of the surer half; calibration
error of the confidence; share of planted or novel rows found, and average precision of
the planted ones; seconds.
"""

import argparse
import json
import time
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks import generated, scores
from benchmarks.choose import choose_cases
from benchmarks.contenders import contenders, words
from benchmarks.harness import Skipped, environment, table
from benchmarks.journal import RESULTS, Journal, fingerprint

N_SEEDS = 3
QUICK_ROWS = 600
FAMILIES = (
    "choose",
    "blobs",
    "elliptical",
    "t-distributed",
    "planted",
    "novelty",
    "noise",
)
# A bar about nearly all tables.
NEARLY_ALL = 0.9


def main(arguments):
    options = parse(arguments)
    rivals = contenders()
    methods = [
        name for name in rivals if not options.methods or name in options.methods
    ]
    cases = chosen_cases(options)
    journal = Journal(RESULTS / "defaults.jsonl")
    records = []
    for name in methods:
        start = time.process_time()
        records += measure_all(journal, rivals[name], cases, options)
        print(f"{name}: {time.process_time() - start:.0f} s", flush=True)
    for family in FAMILIES:
        rows = [Means.of(records, name, family) for name in methods]
        if any(row.n_fits for row in rows):
            n_tables = len({r["case"] for r in records if r["family"] == family})
            print(f"\n{family}, {n_tables} tables\n{table(rows)}")
    met = bars(records)
    if met:
        print(f"\nbars\n{table(met)}")
    content = {"environment": environment(), "records": records}
    (RESULTS / "defaults.json").write_text(json.dumps(content, indent=1) + "\n")


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks defaults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="some minutes, one seed")
    parser.add_argument(
        "--methods", nargs="+", metavar="NAME", help=", ".join(contenders())
    )
    parser.add_argument("--families", nargs="+", choices=FAMILIES)
    parser.add_argument("--sets", nargs="+", metavar="TEXT", help="parts of names")
    parser.add_argument("--seeds", type=int, help=f"how many, {N_SEEDS} if not told")
    options = parser.parse_args(arguments)
    unknown = sorted({*(options.methods or ())} - {*contenders()})
    if unknown:
        parser.error(f"unknown method {unknown[0]!r}, known: {', '.join(contenders())}")
    options.seeds = options.seeds or (1 if options.quick else N_SEEDS)
    return options


def chosen_cases(options):
    cases = generated.QUICK if options.quick else generated.CASES
    try:
        cases = (*choose_cases(QUICK_ROWS if options.quick else None), *cases)
    except Skipped as reason:
        print(f"choose left out: {reason}")
    return [
        case
        for case in cases
        if (not options.families or case.family in options.families)
        and (not options.sets or any(text in case.name for text in options.sets))
    ]


def measure_all(journal, contender, cases, options):
    """Records of one method: all cases, all seeds."""
    sources = fingerprint(of_credalis=contender.is_ours)
    for case in cases:
        for seed in range(options.seeds):
            key = {
                "method": contender.name,
                "case": case.name,
                "seed": seed,
                "quick": options.quick,
                "sources": sources,
            }
            about = {"method": contender.name, "case": case.name, "family": case.family}
            yield about | journal.recall(key, lambda: run(contender, case, seed))  # noqa: B023


def run(contender, case, seed):
    """The measures of one fit, by name."""
    drawn = case.table(seed)
    if contender.max_rows is not None:
        drawn = drawn.sample(contender.max_rows, np.random.default_rng(seed))
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(limits=1):
        warnings.simplefilter("always")
        answer = contender.fit_predict(drawn.X, drawn.n_clusters, seed)
        seconds = time.process_time() - start
        new = None
        if drawn.new_X is not None and answer.model is not None:
            new = words(answer.model.predict_partition(drawn.new_X)).is_outlier
    return {
        "seconds": seconds,
        "warnings": sorted({each.category.__name__ for each in caught}),
        **about_labels(drawn, answer),
        **about_outliers(drawn, answer, new),
        **about_words(drawn, answer),
    }


def about_labels(drawn, answer):
    """Agreement with the classes, and how well doubt tells right from wrong."""
    n_found = len({*answer.labels.tolist()} - {-1})
    measures = {"empty": max(drawn.n_clusters - n_found, 0)}
    rows = drawn.y >= 0
    if not rows.any():
        return measures
    y, labels = drawn.y[rows], answer.labels[rows]
    right = scores.is_right(y, labels, matching(drawn, answer))
    ranking, confidence = answer.ranking[rows], answer.confidence[rows]
    measures |= {
        "ari": adjusted_rand_score(y, labels),
        "accuracy": right.mean(),
        "gain": scores.gain_of_doubt(right, ranking),
        "gain of confidence": scores.gain_of_doubt(right, confidence),
        "aurc": scores.error_over_coverages(right, ranking),
        "surer half": scores.surer_half(right, ranking),
        "ece": scores.calibration_error(right, confidence),
    }
    return measures


def about_outliers(drawn, answer, new):
    """Flags among clean, planted and new rows."""
    planted = drawn.is_planted
    if planted is None:
        planted = np.zeros(len(drawn.X), dtype=bool)
    measures = {}
    if answer.is_outlier is not None:
        measures["flagged"] = answer.is_outlier[~planted].mean()
        if planted.any():
            measures["found"] = answer.is_outlier[planted].mean()
    if answer.outlier_score is not None and planted.any():
        measures["precision"] = scores.average_precision(planted, answer.outlier_score)
    if new is not None:
        measures["new flagged"] = new[~drawn.new_is_novel].mean()
        measures["found"] = new[drawn.new_is_novel].mean()
    return measures


def about_words(drawn, answer):
    """Shares of clear and between rows, and how true the words are."""
    if answer.partition is None:
        return {}
    said = words(answer.partition)
    clean = (
        np.ones(len(drawn.X), bool) if drawn.is_planted is None else ~drawn.is_planted
    )
    between = said.between_sets.any(axis=1)
    measures = {"clear": said.is_clear[clean].mean(), "between": between[clean].mean()}
    if not (drawn.y >= 0).any():
        return measures
    matched = matching(drawn, answer)
    right = scores.is_right(drawn.y, answer.labels, matched)
    covered = scores.is_covered(drawn.y, said.between_sets, matched)
    classed = drawn.y >= 0
    sizes = said.between_sets.sum(axis=1)
    measures |= {
        "clear error": scores.mean(~right[classed & said.is_clear]),
        "rest error": scores.mean(~right[classed & ~said.is_clear]),
        "between coverage": scores.mean(covered[classed & between]),
        "between size": scores.mean(sizes[classed & between]),
    }
    return measures


def matching(drawn, answer):
    """Class of each cluster, by the rows that have a class."""
    rows = drawn.y >= 0
    n_clusters = answer.labels.max() + 1
    if answer.sets is not None:
        n_clusters = answer.sets.shape[1]
    return scores.class_of_cluster(drawn.y[rows], answer.labels[rows], n_clusters)


@dataclass(frozen=True)
class Means:
    """Means of one method over the tables of one family and over seeds."""

    method: str
    n_fits: int
    means: dict

    COLUMNS = {
        "ARI": "ari",
        "empty": "empty",
        "flagged": "flagged",
        "clear": "clear",
        "error": "clear error",
        "of rest": "rest error",
        "between": "between",
        "coverage": "between coverage",
        "size": "between size",
        "gain": "gain",
        "by conf.": "gain of confidence",
        "surer half": "surer half",
        "ECE": "ece",
        "found": "found",
        "AP": "precision",
        "s": "seconds",
    }
    HEADER = ("method", "fits", *COLUMNS)

    @classmethod
    def of(cls, records, method, family):
        of_case = by_case(records, method, family)
        means = {
            measure: scores.mean(case.get(measure) for case in of_case.values())
            for measure in cls.COLUMNS.values()
        }
        n_fits = sum(
            record["method"] == method and record["family"] == family
            for record in records
        )
        return cls(method, n_fits, means)

    @property
    def cells(self):
        numbers = (f"{self.means[name]:.3f}" for name in self.COLUMNS.values())
        return (
            self.method,
            str(self.n_fits),
            *("" if number == "nan" else number for number in numbers),
        )


def by_case(records, method, *families):
    """Means over seeds: {case: {measure: mean}}."""
    cases = {}
    for record in records:
        if record["method"] == method and record["family"] in families:
            cases.setdefault(record["case"], []).append(record)
    return {
        case: {
            measure: scores.mean(run.get(measure) for run in runs)
            for measure, value in runs[0].items()
            if isinstance(value, int | float)
        }
        for case, runs in cases.items()
    }


@dataclass(frozen=True)
class Bar:
    """Something that must hold of a method's defaults, and whether it does."""

    method: str
    bar: str
    figure: float
    is_met: bool
    where: str = ""

    HEADER = ("method", "bar", "figure", "", "worst table")

    @property
    def cells(self):
        verdict = "pass" if self.is_met else "miss"
        return (self.method, self.bar, f"{self.figure:.3f}", verdict, self.where)


def bars(records):
    """The bars that these records can tell about."""
    return [
        *labels_of_blobs(records),
        *labels_of_choose(records),
        *false_flags(records),
        *outliers_found(records),
        *true_words(records),
    ]


def labels_of_blobs(records, method="NNEVCLUS"):
    ours, base = (by_case(records, name, "blobs") for name in (method, "KMeans"))
    lost = {
        case: base[case]["ari"] - ours[case]["ari"] for case in ours if case in base
    }
    easy = {case: value for case, value in lost.items() if base[case]["ari"] > 0.95}
    hard = {case: value for case, value in lost.items() if case not in easy}
    yield from at_most(method, "ARI lost to k-means on easy blobs", easy, 0.02)
    yield from at_most(method, "ARI lost to k-means on other blobs", hard, 0.07)
    empty = {case: value["empty"] for case, value in ours.items()}
    yield from at_most(method, "empty clusters on blobs", empty, 0)
    consensus = by_case(records, "Consensus", "blobs")
    lost = {
        case: base[case]["ari"] - consensus[case]["ari"]
        for case in consensus
        if case in base
    }
    yield from at_most("Consensus", "ARI lost to k-means on blobs", lost, 0.01)


def labels_of_choose(records, method="NNEVCLUS"):
    ours, base = (by_case(records, name, "choose") for name in (method, "KMeans"))
    lost = {
        case: base[case]["ari"] - ours[case]["ari"] for case in ours if case in base
    }
    yield from mean_at_most(method, "mean ARI lost to k-means, choose", lost, 0.02)


def false_flags(records, method="NNEVCLUS"):
    for name, families in {
        "choose": ("choose",),
        "generated": ("blobs", "elliptical", "t-distributed", "planted", "novelty"),
    }.items():
        cases = by_case(records, method, *families)
        flagged = {case: value["flagged"] for case, value in cases.items()}
        yield from mean_at_most(method, f"clean rows flagged, {name}", flagged, 0.02)
        if flagged:
            share = np.mean([value <= 0.05 for value in flagged.values()])
            bar = f"tables with at most 5 % flagged, {name} >= {NEARLY_ALL}"
            yield Bar(method, bar, share, share >= NEARLY_ALL, largest(flagged))


def outliers_found(records, method="NNEVCLUS"):
    found = {
        case: value["found"]
        for case, value in by_case(records, method, "planted").items()
    }
    smallest = {case: value for case, value in found.items() if "n=60," in case}
    between = {
        case: value["found"]
        for case, value in by_case(records, method, "novelty").items()
    }
    for bar, values in {
        "planted rows found": found,
        "planted rows found at n = 60": smallest,
        "novelty amid the clusters found": between,
    }.items():
        if values:
            figure = scores.mean(values.values())
            worst = largest({case: -value for case, value in values.items()})
            yield Bar(method, f"{bar} >= 0.9", figure, figure >= 0.9, worst)


def true_words(records, method="NNEVCLUS"):
    cases = by_case(records, method, "choose")
    both = [
        case
        for case in cases.values()
        if not np.isnan([case["clear error"], case["rest error"]]).any()
    ]
    if both:
        clear = scores.mean(case["clear error"] for case in both)
        rest = scores.mean(case["rest error"] for case in both)
        bar = "error of clear by error of the rest, choose <= 0.5"
        yield Bar(method, bar, clear / rest, clear <= rest / 2)


def at_most(method, bar, values, limit):
    if values:
        worst = largest(values)
        figure = values[worst]
        yield Bar(method, f"{bar} <= {limit}", figure, figure <= limit, worst)


def mean_at_most(method, bar, values, limit):
    if values:
        figure = scores.mean(values.values())
        yield Bar(method, f"{bar} <= {limit}", figure, figure <= limit, largest(values))


def largest(values):
    """Name of the largest value."""
    return max(values, key=values.get)
