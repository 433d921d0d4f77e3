"""PCCA and KPCCA: many objects of which few are in pairs."""

import numpy as np

from benchmarks.harness import compare
from credalis.constraints import random_pairs, renumber
from credalis.metric_learning import KPCCA, PCCA

N_SAMPLES, N_FEATURES, N_CLASSES = 100_000, 10, 8
N_PAIRS = 1000


def run():
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLASSES, size=N_SAMPLES)
    centers = 3 * rng.normal(size=(N_CLASSES, N_FEATURES))
    X = centers[y] + rng.normal(size=(N_SAMPLES, N_FEATURES))
    must_link, cannot_link = random_pairs(y, N_PAIRS, random_state=0)
    concerned = np.unique(np.concatenate([must_link, cannot_link]))
    few = X[concerned]
    few_links = renumber(must_link, concerned), renumber(cannot_link, concerned)
    return [
        compare(
            f"{name} fit, n={N_SAMPLES}, {N_PAIRS} pairs",
            lambda learner=learner: learner.fit(
                X, must_link=must_link, cannot_link=cannot_link
            ),
            f"the same pairs, n={len(few)}",
            lambda learner=learner: learner.fit(
                few, must_link=few_links[0], cannot_link=few_links[1]
            ),
            repeats=3,
            baseline_repeats=3,
        )
        for name, learner in (
            ("PCCA", PCCA(3, random_state=0)),
            ("KPCCA", KPCCA(3, gamma=0.02, random_state=0)),
        )
    ]
