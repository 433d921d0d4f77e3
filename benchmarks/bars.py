"""What must hold of the defaults, and whether it does in ``benchmarks.defaults``."""

from dataclasses import dataclass

import numpy as np

from benchmarks import scores
from benchmarks.comparison import by_case

# A bar about nearly all tables.
NEARLY_ALL = 0.9


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
    lost, base = lost_to_k_means(records, method, "blobs")
    easy = {case: value for case, value in lost.items() if base[case]["ari"] > 0.95}
    hard = {case: value for case, value in lost.items() if case not in easy}
    yield from at_most(method, "ARI lost to k-means on easy blobs", easy, 0.02)
    yield from at_most(method, "ARI lost to k-means on other blobs", hard, 0.07)
    empty = of_measure(records, method, "empty", "blobs")
    yield from at_most(method, "empty clusters on blobs", empty, 0)
    lost, _ = lost_to_k_means(records, "Consensus", "blobs")
    yield from at_most("Consensus", "ARI lost to k-means on blobs", lost, 0.01)


def labels_of_choose(records, method="NNEVCLUS"):
    lost, _ = lost_to_k_means(records, method, "choose")
    yield from mean_at_most(method, "mean ARI lost to k-means, choose", lost, 0.02)


def lost_to_k_means(records, method, family):
    """ARI of k-means minus that of the method by case, and what k-means has."""
    ours, base = (by_case(records, name, family) for name in (method, "KMeans"))
    return {
        case: base[case]["ari"] - ours[case]["ari"] for case in ours if case in base
    }, base


def of_measure(records, method, measure, *families):
    """One measure by case."""
    cases = by_case(records, method, *families)
    return {case: value[measure] for case, value in cases.items()}


def false_flags(records, method="NNEVCLUS"):
    for name, families in {
        "choose": ("choose",),
        "generated": ("blobs", "elliptical", "t-distributed", "planted", "novelty"),
    }.items():
        flagged = of_measure(records, method, "flagged", *families)
        yield from mean_at_most(method, f"clean rows flagged, {name}", flagged, 0.02)
        if flagged:
            share = np.mean([value <= 0.05 for value in flagged.values()])
            bar = f"tables with at most 5 % flagged, {name} >= {NEARLY_ALL}"
            yield Bar(method, bar, share, share >= NEARLY_ALL, largest(flagged))


def outliers_found(records, method="NNEVCLUS"):
    found = of_measure(records, method, "found", "planted")
    smallest = {case: value for case, value in found.items() if "n=60," in case}
    between = of_measure(records, method, "found", "novelty")
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
