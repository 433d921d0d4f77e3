"""Which families of cases there are, and how a seed becomes a case."""

from collections.abc import Callable

import numpy as np
from tests.fuzz.api import choices, estimators, evidence, knowledge
from tests.fuzz.case import Call, Outcome, finish

# Rooms of the public functions and classes, and how often each is visited.
_API: dict[Callable[[np.random.Generator], Call], int] = {
    estimators.fit: 38,
    estimators.construct: 8,
    estimators.predict: 10,
    estimators.predict_hostile: 8,
    estimators.calibrate: 1,
    estimators.stream: 1,
    evidence.arithmetic: 8,
    evidence.sets: 3,
    evidence.partitions: 6,
    evidence.indices: 3,
    evidence.asked_partition: 1,
    knowledge.pairs: 4,
    knowledge.learners: 4,
    knowledge.transforms: 2,
    knowledge.dissimilarity_pca: 1,
    choices.graph: 2,
    choices.numbers_of_clusters: 0.5,
    choices.quantiles: 0.3,
    choices.searches: 0.5,
    choices.comparisons: 0.3,
    choices.suggestions: 0.3,
    choices.monitors: 2,
    choices.generators: 1,
    choices.benchmarks: 0.2,
    choices.blocks: 1,
    choices.checkpoints: 0.3,
    choices.saving: 0.8,
    choices.displays: 1.5,
    choices.whole: 0.3,
}
_SHARES = np.array(list(_API.values()), dtype=float)
_SHARES /= _SHARES.sum()


def _api(rng: np.random.Generator) -> Call:
    return list(_API)[rng.choice(len(_API), p=_SHARES)](rng)


FAMILIES: dict[str, Callable[[np.random.Generator], Call]] = {"api": _api}


def run_case(case: str) -> Outcome:
    """Run the case that a family and a seed name, as in ``api:17``."""
    family, seed = case.split(":")
    if family not in FAMILIES:
        raise ValueError(
            f"the family must be one of {', '.join(FAMILIES)}, got {family}"
        )
    rng = np.random.default_rng([list(FAMILIES).index(family), int(seed)])
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        call = FAMILIES[family](rng)
    with np.errstate(divide="warn", over="warn", invalid="warn", under="ignore"):
        return finish(case, call)
