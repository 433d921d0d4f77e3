"""Processor times beside the paper's."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from credalis.reproduce._experiments._attribute import fit_attributes
from credalis.reproduce._experiments._constrained import METHODS as CONSTRAINED_METHODS
from credalis.reproduce._experiments._constrained import draws_of
from credalis.reproduce._experiments._dissimilarity import METHODS as RELATIONAL_METHODS
from credalis.reproduce._experiments._dissimilarity import fit_dissimilarities, setting
from credalis.reproduce._experiments._methods import (
    PAIRS_WITHOUT_FRAME,
    paper_parameters,
)
from credalis.reproduce._framework._cells import Cell, Outcome
from credalis.reproduce._framework._data import SETS
from credalis.reproduce._framework._experiment import Experiment, Shown
from credalis.reproduce._framework._published import published
from credalis.reproduce._framework._render import Table, Text
from credalis.reproduce._framework._runner import Results
from credalis.reproduce._framework._tables import decimals, runs_of

NAME = "times"
N_RUNS = 5
N_CONSTRAINTS = 200
# The paper's settings of the two large sets, one start a run.
_ATTRIBUTE: dict[str, tuple[str, dict[str, Any]]] = {
    "EVCLUS": ("EVCLUS", {"focal_sets": "singletons", "pairs_per_sample": 500}),
    "NN-EVCLUS": (
        "NNEVCLUS",
        {"focal_sets": "singletons", "hidden_layer_sizes": [30]},
    ),
    "ECM": ("ECM", {"focal_sets": "two-step", "delta": 5}),
    "CCM": ("CCM", {"focal_sets": PAIRS_WITHOUT_FRAME, "delta": 5}),
}


def cells(is_quick: bool) -> list[Cell]:
    """Five single starts of each; one in a quick run, without the second large set."""
    found = []
    seeds = range(1 if is_quick else N_RUNS)
    for title in ("S4",) if is_quick else ("S4", "D31"):
        for method, chosen in _ATTRIBUTE.items():
            for seed in seeds:
                given = _single_start(title, *chosen, seed) | {"is_standardized": True}
                found.append(_timed(title, method, fit_attributes, given, cost=20.0))
    for title in ("Protein",) if is_quick else ("Protein", "Zongker"):
        for method in RELATIONAL_METHODS:
            for seed in seeds:
                given = _single_start(title, *setting(method, title), seed)
                found.append(
                    _timed(title, method, fit_dissimilarities, given, cost=10.0)
                )
    return found


def _single_start(
    title: str, estimator: str, parameters: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    n_clusters = SETS[title].n_clusters
    given = {**parameters, "n_init": 1}
    return {
        "data": SETS[title].name,
        "n_clusters": n_clusters,
        "estimator": estimator,
        "parameters": paper_parameters(estimator, n_clusters, **given),
        "seed": seed,
    }


def _timed(
    title: str,
    method: str,
    compute: Callable[..., Outcome],
    given: dict[str, Any],
    *,
    cost: float,
) -> Cell:
    name = f"{title}-{method}-{given['seed']}"
    return Cell(NAME, name, compute, given, SETS[title].name, cost)


def show(results: Results, is_quick: bool, directory: Path) -> Shown:
    """Three tables; times are beside the paper's, but no verdict."""
    about = Text(
        "Processor seconds, mean (standard deviation), the paper's → ours, and how "
        "many times less that is. One start a run for attribute and dissimilarity "
        "data, best of five starts for constrained clustering, one thread. The "
        "paper's are of R programs on a 2.4 GHz Intel i9 and say little about another "
        "machine: no verdict is given. Zongker is our stand-in of equal size."
    )
    tables = [
        _table(
            "Attribute data",
            published()["seconds_attribute"],
            tuple(_ATTRIBUTE),
            lambda title, method: _seconds(results, title, method),
        ),
        _table(
            "Dissimilarity data",
            published()["seconds_dissimilarity"],
            RELATIONAL_METHODS,
            lambda title, method: _seconds(results, title, method),
        ),
        _table(
            f"Constrained clustering, {N_CONSTRAINTS} pairs",
            published()["seconds_constrained"],
            CONSTRAINED_METHODS,
            lambda title, method: [
                run["seconds"]
                for run in draws_of(results, title, N_CONSTRAINTS, method)
            ],
        ),
    ]
    return Shown([about, *tables], [])


def _seconds(results: Results, title: str, method: str) -> list[float]:
    names = (f"{title}-{method}-{seed}" for seed in range(N_RUNS))
    return [run["seconds"] for run in runs_of(results, NAME, names)]


def _table(caption: str, printed: Any, methods: tuple[str, ...], ours: Any) -> Table:
    rows = tuple(
        (
            title,
            *(_cell(row[method], ours(title, method)) for method in methods),
        )
        for title, row in printed.items()
    )
    return Table(("", *methods), rows, caption)


def _cell(printed: list[float], seconds: list[float]) -> str:
    theirs = f"{printed[0]:g} ({printed[1]:g})"
    if not seconds:
        return f"{theirs} → –"
    mean = float(np.mean(seconds))
    deviation = f" ({np.std(seconds, ddof=1):.2f})" if len(seconds) > 1 else ""
    ratio = f", {printed[0] / mean:.0f}×" if mean > 0 else ""
    return f"{theirs} → {decimals(mean, 2)}{deviation}{ratio}"


EXPERIMENT = Experiment(NAME, "Processor times", cells, show)
