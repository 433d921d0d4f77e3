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

import numpy as np

from benchmarks import generated, scores
from benchmarks.bars import bars
from benchmarks.choose import choose_cases
from benchmarks.comparison import (
    fitted,
    label_scores,
    matching,
    means,
    measured,
    parser,
    rows_for,
    selected,
)
from benchmarks.harness import Skipped, table

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


def main(arguments):
    options = parser("defaults", __doc__, N_SEEDS, FAMILIES).parse_args(arguments)
    options.seeds = options.seeds or (1 if options.quick else N_SEEDS)
    cases = generated.QUICK if options.quick else generated.CASES
    try:
        cases = (*choose_cases(QUICK_ROWS if options.quick else None), *cases)
    except Skipped as reason:
        print(f"choose left out: {reason}")
    records = measured("defaults", selected(cases, options), run, options)
    for family in FAMILIES:
        rows = means(records, COLUMNS, family)
        if rows:
            n_tables = len({r["case"] for r in records if r["family"] == family})
            print(f"\n{family}, {n_tables} tables\n{table(rows)}")
    outcome = bars(records)
    if outcome:
        print(f"\nbars\n{table(outcome)}")


def run(contender, case, seed):
    """The measures of one fit, by name."""
    drawn = rows_for(contender, case.table(seed), seed)
    answer, seconds, warned = fitted(contender, drawn, seed)
    n_found = len({*answer.labels.tolist()} - {-1})
    return {
        "seconds": seconds,
        "warnings": warned,
        "empty": max(drawn.n_clusters - n_found, 0),
        **label_scores(drawn, answer),
        **about_outliers(drawn, answer),
        **about_words(drawn, answer),
    }


def about_outliers(drawn, answer):
    """Flags among clean, planted and new rows."""
    planted = planted_rows(drawn)
    measures = {}
    if answer.is_outlier is not None:
        measures["flagged"] = answer.is_outlier[~planted].mean()
        if planted.any():
            measures["found"] = answer.is_outlier[planted].mean()
    if answer.outlier_score is not None and planted.any():
        measures["precision"] = scores.average_precision(planted, answer.outlier_score)
    if drawn.new_rows is not None and answer.model is not None:
        new = answer.model.predict_partition(drawn.new_rows).is_outlier
        measures["new flagged"] = new[~drawn.new_is_novel].mean()
        measures["found"] = new[drawn.new_is_novel].mean()
    return measures


def planted_rows(drawn):
    if drawn.is_planted is None:
        return np.zeros(len(drawn.X), dtype=bool)
    return drawn.is_planted


def about_words(drawn, answer):
    """Shares of clear and between rows, and how true the words are."""
    if answer.partition is None:
        return {}
    said = answer.partition.verdicts()
    clean = ~planted_rows(drawn)
    measures = {
        "clear": said.is_clear[clean].mean(),
        "between": said.is_between[clean].mean(),
    }
    if not (drawn.y >= 0).any():
        return measures
    classed, matched = drawn.y >= 0, matching(drawn, answer)
    right = scores.is_right(drawn.y, answer.labels, matched)
    covered = scores.is_covered(drawn.y, said.between_sets, matched)
    sizes = said.between_sets.sum(axis=1)
    measures |= {
        "clear error": scores.mean(~right[classed & said.is_clear]),
        "rest error": scores.mean(~right[classed & ~said.is_clear]),
        "between coverage": scores.mean(covered[classed & said.is_between]),
        "between size": scores.mean(sizes[classed & said.is_between]),
    }
    return measures
