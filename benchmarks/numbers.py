"""How often the number of clusters that is suggested is the number of classes.

The labelled tables with up to ten classes, at most 1000 rows of each, three draws.
"""

import warnings

import numpy as np

from benchmarks.choose import choose_cases
from benchmarks.harness import Score
from credalis.model_selection import suggest_n_clusters

MAX_CLASSES = 10
MAX_ROWS = 1000
N_DRAWS = 3


def run():
    by_draw = []
    for draw in range(N_DRAWS):
        tables = [case.table(draw) for case in choose_cases(MAX_ROWS)]
        found = [
            outcome(table, draw) for table in tables if table.n_clusters <= MAX_CLASSES
        ]
        by_draw.append({what: [one[what] for one in found] for what in found[0]})
        print(draw, {what: sum(hits) for what, hits in by_draw[-1].items()}, flush=True)
    return [
        Score(
            "share of tables",
            what,
            np.mean([each[what] for each in by_draw]),
            np.std([np.mean(each[what]) for each in by_draw], ddof=1),
            N_DRAWS,
            f"{[sum(each[what]) for each in by_draw]} of {len(by_draw[0][what])}",
        )
        for what in by_draw[0]
    ]


def outcome(table, seed):
    """Which of the criteria say the number of classes; whether none are seen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        suggestion = suggest_n_clusters(table.X, random_state=seed)
    return {
        "suggested": suggestion.best == table.n_clusters,
        **{
            name: vote.value == table.n_clusters
            for name, vote in suggestion.votes.items()
        },
        "no clusters seen": suggestion.best == 1,
    }
