"""What "clear" and doubt mean on the labelled tables, by level of clearness.

At most 2000 rows of each table, two seeds. A figure is a mean over the tables, once for
each seed. The last lines are about noise: which share of 500 normal rows in two and in
five dimensions, five draws, is called clear if three clusters are asked for, and how
often Consensus warns that there may be none.
"""

import warnings

import numpy as np

from benchmarks import scores
from benchmarks.choose import choose_cases
from benchmarks.comparison import fitted, matching
from benchmarks.contenders import contenders
from benchmarks.harness import Score
from credalis import ECM, NNEVCLUS, Consensus
from credalis.exceptions import NoClustersWarning

METHODS = ("NNEVCLUS", "ECM", "CCM")
LEVELS = (0.7, 0.8)
N_SEEDS = 2
MAX_ROWS = 2000
NOISE_COLUMNS, N_DRAWS = (2, 5), 5


def run():
    everyone, found = contenders(), []
    for name in METHODS:
        by_seed = {}
        for seed in range(N_SEEDS):
            records = [
                about_words(everyone[name], case.table(seed), seed)
                for case in choose_cases(MAX_ROWS)
            ]
            for what in records[0]:
                mean = scores.mean(record[what] for record in records)
                by_seed.setdefault(what, []).append(mean)
        found += [score(what, name, values) for what, values in by_seed.items()]
    for n_columns in NOISE_COLUMNS:
        for method in (NNEVCLUS, ECM, Consensus):
            clear, told = about_noise(method, n_columns)
            work = f"noise in {n_columns} columns"
            found.append(score(f"{work} called clear", method.__name__, clear))
            if method is Consensus:
                found.append(score(f"{work} warned of", method.__name__, told))
    return found


def score(work, method, values):
    spread = f"from {min(values):.3f} to {max(values):.3f}"
    return Score(
        work, method, np.mean(values), np.std(values, ddof=1), len(values), spread
    )


def about_words(contender, table, seed):
    """Gains of two orders, and shares of clear and of wrong rows by level."""
    answer, _, _ = fitted(contender, table, seed)
    rows, matched = table.y >= 0, matching(table, answer)
    partition, y = answer.partition, table.y[rows]
    right = scores.is_right(y, answer.labels[rows], matched)
    belief = partition.belief.max(axis=1)[rows]
    record = {
        "gain of doubt": scores.gain_of_doubt(right, answer.ranking[rows]),
        "gain of belief": scores.gain_of_doubt(right, belief),
    }
    for level in LEVELS:
        said = partition.verdicts(clear_level=level)
        clear = said.is_clear[rows]
        record |= {
            f"clear at {level}": said.is_clear.mean(),
            f"wrong of the clear at {level}": scores.mean(~right[clear]),
            f"wrong of the others at {level}": scores.mean(~right[~clear]),
        }
    said = partition.verdicts()
    covered = scores.is_covered(y, said.between_sets[rows], matched)
    record["right cluster in the set between"] = scores.mean(
        covered[said.is_between[rows]]
    )
    return record


def about_noise(method, n_columns):
    """Share of clear rows for each draw, and whether the fit has warned of no gaps."""
    clear, told = [], []
    for seed in range(N_DRAWS):
        X = np.random.default_rng(seed).normal(size=(500, n_columns))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            partition = method(3, random_state=seed).fit(X).partition_
        clear.append(partition.is_clear.mean())
        told.append(
            any(issubclass(each.category, NoClustersWarning) for each in caught)
        )
    return clear, told
