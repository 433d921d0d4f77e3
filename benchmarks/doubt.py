"""Does a clustering know what it does not know?

The labelled tables of ``CREDALIS_DATA/choose``, standardised, and generated mixtures
whose posteriors are known. The number of clusters is told. Every method is fitted
twice: to a table, for all scores but one, and to the table with planted rows, anywhere
in a box around it, for their average precision.

The columns: gain of doubt, which is the area under accuracy against coverage, 0 for
random order and 1 for the oracle; mean error over coverages; accuracy of the surer half
of the rows; calibration error of the confidence; how often the sets at level 0.9 have
the right cluster, their size, and that size by the size of the Bayes sets; average
precision of planted rows; clean rows flagged as outliers; seconds.
"""

import numpy as np

from benchmarks import generated, scores
from benchmarks.choose import choose_cases
from benchmarks.comparison import (
    fitted,
    label_scores,
    matching,
    means,
    measured,
    parser,
    selected,
)
from benchmarks.contenders import Answer, baselines
from benchmarks.harness import Skipped, table
from benchmarks.journal import RESULTS

N_SEEDS = 2
MAX_ROWS = 500
QUICK_ROWS = 250
FAMILIES = ("choose", "mixtures")
PLANTED_SHARE = 0.05
N_COVERAGES = 20
BAYES = "Bayes, true posterior"
COLUMNS = {
    "ARI": "ari",
    "gain": "gain",
    "error": "aurc",
    "surer half": "surer half",
    "ECE": "ece",
    "coverage": "coverage",
    "size": "size",
    "by Bayes": "size by Bayes",
    "AP": "precision",
    "flagged": "flagged",
    "s": "seconds",
}


def main(arguments):
    # Before the hours, not after them, if matplotlib is missing.
    from benchmarks.doubt_figure import figure

    options = parser("doubt", __doc__, N_SEEDS, FAMILIES)
    options.add_argument("--markdown", action="store_true", help="tables for a page")
    options = options.parse_args(arguments)
    options.seeds = options.seeds or (1 if options.quick else N_SEEDS)
    cases = generated.MIXTURES[::2] if options.quick else generated.MIXTURES
    try:
        cases = (*choose_cases(QUICK_ROWS if options.quick else MAX_ROWS), *cases)
    except Skipped as reason:
        print(f"choose left out: {reason}")
    cases = selected(cases, options)
    records = [*measured("doubt", cases, run, options), *bayes_records(cases, options)]
    form = markdown if options.markdown else table
    for family in FAMILIES:
        rows = means(records, COLUMNS, family)
        if rows:
            rows.sort(key=lambda row: row.means["error"])
            n_tables = len({r["case"] for r in records if r["family"] == family})
            print(f"\n{family}, {n_tables} tables\n\n{form(rows)}")
    path = RESULTS / "doubt.png"
    names = {contender.name for contender in baselines()}
    figure(records, BAYES, names).savefig(path, dpi=110)
    print(f"\nfigure: {path.relative_to(path.parents[2])}")


def run(contender, case, seed):
    """The scores of one method on one table, by name."""
    drawn = case.table(seed)
    answer, seconds, warned = fitted(contender, drawn, seed)
    record = {"seconds": seconds, "warnings": warned, **about(drawn, answer)}
    with_planted = planted(drawn, np.random.default_rng([seed, len(drawn.X)]))
    answer, _, _ = fitted(contender, with_planted, seed)
    if answer.outlier_score is not None:
        record["precision"] = scores.average_precision(
            with_planted.is_planted, answer.outlier_score
        )
    return record


def bayes_records(cases, options):
    """The same scores of the true posteriors: what cannot be surpassed."""
    records = []
    for case in cases:
        for seed in range(options.seeds):
            drawn = case.table(seed)
            if drawn.posterior is not None:
                answer = Answer(
                    drawn.posterior.argmax(axis=1),
                    drawn.posterior.max(axis=1),
                    scores.smallest_sets(drawn.posterior),
                )
                of = {"method": BAYES, "case": case.name, "family": case.family}
                records.append(of | about(drawn, answer))
    return records


def about(drawn, answer):
    """Scores of an answer about clean rows."""
    rows = drawn.y >= 0
    y, matched = drawn.y[rows], matching(drawn, answer)
    right = scores.is_right(y, answer.labels[rows], matched)
    curve = scores.accuracy_by_coverage(right, answer.ranking[rows])
    steps = np.ceil(np.arange(1, N_COVERAGES + 1) / N_COVERAGES * len(curve))
    record = label_scores(drawn, answer) | {
        "curve": curve[steps.astype(int) - 1].tolist()
    }
    if answer.sets is not None:
        size = answer.sets[rows].sum(axis=1).mean()
        record["coverage"] = scores.is_covered(y, answer.sets[rows], matched).mean()
        record["size"] = size
        if drawn.posterior is not None:
            bayes_size = scores.smallest_sets(drawn.posterior[rows]).sum(axis=1).mean()
            record["size by Bayes"] = size / bayes_size
    if answer.is_outlier is not None:
        record["flagged"] = answer.is_outlier[rows].mean()
    return record


def planted(drawn, rng):
    """The table and rows that are uniform in a box half as large again on each side."""
    n_planted = max(round(PLANTED_SHARE * len(drawn.X)), 1)
    low, high = drawn.X.min(axis=0), drawn.X.max(axis=0)
    margin = (high - low) / 2
    outliers = rng.uniform(low - margin, high + margin, (n_planted, len(low)))
    order = rng.permutation(len(drawn.X) + n_planted)
    return generated.Table(
        np.concatenate([drawn.X, outliers])[order],
        np.append(drawn.y, np.full(n_planted, -1))[order],
        drawn.n_clusters,
        is_planted=order >= len(drawn.X),
    )


def markdown(rows):
    """The table as it stands in the documentation."""
    header = rows[0].HEADER
    lines = [header, ["---"] * len(header), *(row.cells for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
