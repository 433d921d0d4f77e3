"""Which families of cases there are, and how a seed becomes a case."""

from collections.abc import Callable, Mapping

import numpy as np
from joblib import parallel_config
from tests.fuzz import disks, files, kills, tables, workers
from tests.fuzz.api import choices, estimators, evidence, knowledge, raw, uses
from tests.fuzz.case import Call, Outcome, finish
from tests.fuzz.models import quiet

Kinds = Mapping[Callable[[np.random.Generator], Call], float]

# What is drawn, and how often.
_API: Kinds = {
    estimators.fit: 38,
    estimators.construct: 8,
    estimators.predict: 10,
    estimators.predict_hostile: 8,
    estimators.calibrate: 1,
    estimators.stream: 1,
    evidence.arithmetic: 8,
    evidence.further: 3,
    evidence.sets: 3,
    evidence.partitions: 6,
    evidence.indices: 3,
    evidence.asked_partition: 1,
    knowledge.pairs: 4,
    knowledge.learners: 4,
    knowledge.transforms: 2,
    knowledge.dissimilarity_pca: 1,
    knowledge.gower: 1,
    choices.graph: 2,
    choices.numbers_of_clusters: 0.5,
    choices.quantiles: 0.3,
    choices.searches: 0.5,
    choices.comparisons: 0.3,
    choices.explanations: 1,
    choices.suggestions: 0.3,
    choices.monitors: 2,
    choices.generators: 1,
    choices.benchmarks: 0.2,
    choices.blocks: 1,
    choices.checkpoints: 0.3,
    choices.saving: 0.8,
    choices.displays: 1.5,
    choices.whole: 0.3,
    choices.controls: 0.5,
    uses.preparations: 1,
    uses.tables: 1.5,
    uses.comparisons: 0.2,
    uses.views: 1,
    uses.sources: 1,
    uses.topics: 0.5,
    uses.cells: 0.5,
    uses.reports: 0.3,
    raw.choices: 0.3,
    raw.uses: 0.7,
    raw.without_model: 0.5,
}

FAMILIES: dict[str, Kinds] = {
    "api": _API,
    "files": files.KINDS,
    "tables": tables.KINDS,
    "kills": kills.KINDS,
    "disks": disks.KINDS,
    "workers": workers.KINDS,
}

# Processor time in seconds: others start processes, or fit again and again.
_BUDGETS = {"api": 20.0, "files": 20.0, "tables": 20.0, "workers": 120.0}


def drawn(case: str) -> Call:
    """The call that a family and a seed name, as in ``api:17``.

    One kind of the family may be named, as in ``api/uses.reports:17``.
    """
    family, kind, seed = _parts(case)
    kinds = FAMILIES[family]
    if kind:
        kinds = {each: 1.0 for each in kinds if _name(each) == kind}
    if not kinds:
        listed = ", ".join(_name(each) for each in FAMILIES[family])
        raise ValueError(f"{case!r}: the kinds of {family} are {listed}")
    shares = np.array(list(kinds.values()), dtype=float)
    rng = np.random.default_rng([list(FAMILIES).index(family), seed])
    with np.errstate(all="ignore"), quiet():
        return list(kinds)[rng.choice(len(kinds), p=shares / shares.sum())](rng)


def _parts(case: str) -> tuple[str, str, int]:
    """Family, kind (or none) and seed of a case."""
    named, _, seed = case.partition(":")
    family, _, kind = named.partition("/")
    if family not in FAMILIES or not seed.isdecimal():
        raise ValueError(
            f"a case must be a seed of one of {', '.join(FAMILIES)}, as in api:17, "
            f"got {case!r}"
        )
    return family, kind, int(seed)


def _name(kind: Callable) -> str:
    """How a kind is called in a case: ``uses.reports``."""
    return f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"


def run_case(case: str) -> Outcome:
    """Run the case that a family and a seed name."""
    family, call = _parts(case)[0], drawn(case)
    budget = _BUDGETS.get(family, 60.0)
    with np.errstate(divide="warn", over="warn", invalid="warn", under="ignore"):
        if family == "workers":
            return finish(case, call, budget)
        # Processes of joblib would outlive the case; threads do the same.
        with parallel_config(backend="threading"):
            return finish(case, call, budget)
