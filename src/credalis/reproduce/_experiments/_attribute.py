"""ARI of eleven methods on fourteen attribute sets, with CI and NS."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from credalis.metrics import (
    adjusted_rand_index,
    consistency_index,
    nonspecificity_index,
)
from credalis.reproduce._experiments._explanations import (
    ABOUT,
    ABOUT_CONSISTENCY,
    COSTS,
    EXPLANATIONS,
)
from credalis.reproduce._experiments._methods import (
    EXCEPTIONS,
    METHODS,
    attribute_setting,
    build,
    outliers,
)
from credalis.reproduce._framework._cells import Cell, Outcome
from credalis.reproduce._framework._data import SETS, attributes
from credalis.reproduce._framework._experiment import Experiment, Shown
from credalis.reproduce._framework._findings import Finding, share_good
from credalis.reproduce._framework._published import published
from credalis.reproduce._framework._render import Table, Text
from credalis.reproduce._framework._runner import Results
from credalis.reproduce._framework._tables import (
    LEGEND,
    agreement_finding,
    consistency_pictures,
    finding_table,
    matrix_table,
    runs_of,
)

NAME = "attribute"
N_REPETITIONS = 3
# One large set and the small ones show every method.
QUICK = ("Wine", "Iris", "Ecoli", "Heart", "S2")
# The paper's tables have two digits; solutions of different programs differ more.
TOLERANCE = 0.03


def scores(model: Any, y: Any, seconds: float) -> dict[str, Any]:
    """What is kept of a fit; the diagrams show the indices of normalised masses."""
    partition = model.partition_
    normalized = partition.normalized()
    return {
        "ari": float(adjusted_rand_index(y, model.labels_)),
        "ci": float(consistency_index(normalized, y)),
        "ns": float(nonspecificity_index(normalized)),
        "ci_with_empty_set": float(consistency_index(partition, y)),
        "ns_with_empty_set": float(nonspecificity_index(partition)),
        "loss": float(model.loss_),
        "outliers": int(np.sum(outliers(partition))),
        "seconds": round(seconds, 4),
    }


def fit_attributes(
    *,
    data: str,
    n_clusters: int,
    estimator: str,
    parameters: dict[str, Any],
    is_standardized: bool,
    seed: int,
) -> Outcome:
    """One repetition of one cell."""
    X, y = attributes(data, is_standardized=is_standardized)
    model = build(estimator, n_clusters, parameters, seed)
    start = time.process_time()
    model.fit(X)
    return Outcome(scores(model, y, time.process_time() - start))


def cells(is_quick: bool) -> list[Cell]:
    """The repetitions of all cells that the paper reports."""
    found = []
    for title, row in published()["ari_attribute"].items():
        each = SETS[title]
        if each.name is None or (is_quick and title not in QUICK):
            continue
        for method in METHODS:
            if row[method] is None:
                continue
            setting = attribute_setting(method, title)
            for seed in range(n_repetitions(method, title, is_quick)):
                found.append(
                    Cell(
                        NAME,
                        cell_name(title, method, seed),
                        fit_attributes,
                        {
                            "data": each.name,
                            "n_clusters": each.n_clusters,
                            "estimator": setting.estimator,
                            "parameters": dict(setting.parameters),
                            "is_standardized": setting.is_standardized,
                            "seed": seed,
                        },
                        each.name,
                        COSTS.get((title, method), 1.0),
                    )
                )
    return found


def n_repetitions(method: str, title: str, is_quick: bool) -> int:
    """One in a quick run, and where every repetition would be the same."""
    is_deterministic = attribute_setting(method, title).is_deterministic
    return 1 if is_quick or is_deterministic else N_REPETITIONS


def cell_name(title: str, method: str, seed: int) -> str:
    """Name of a repetition."""
    return f"{title}-{method}-{seed}"


def _runs(results: Results, title: str, method: str) -> list[dict[str, Any]]:
    """What there is of a cell, whether its repetitions are few or many."""
    names = (cell_name(title, method, seed) for seed in range(N_REPETITIONS))
    return runs_of(results, NAME, names)


def findings(results: Results) -> list[Finding]:
    """One for each published value."""
    found = []
    for title, row in published()["ari_attribute"].items():
        for method in METHODS:
            if row[method] is None:
                continue
            runs = _runs(results, title, method)
            why = EXPLANATIONS.get((title, method), "")
            exception = EXCEPTIONS.get((title, method))
            if exception is not None:
                why = f"Setting of its own: {exception.reason}. {why}".strip()
            found.append(
                agreement_finding(
                    SETS[title], method, row[method], runs, TOLERANCE, why
                )
            )
    return found


def show(results: Results, is_quick: bool, directory: Path) -> Shown:
    """The table, the list of its cells, and the diagrams."""
    found = findings(results)
    seconds = sum(record["seconds"] for record in results.of(NAME))
    good, compared = share_good(found)
    titles = list(published()["ari_attribute"])
    pictures = consistency_pictures(
        NAME,
        titles,
        METHODS,
        lambda title, method: _runs(results, title, method),
        directory,
    )
    return Shown(
        [
            Text(ABOUT),
            Text(
                f"{good} of {compared} comparable cells are within {TOLERANCE} of the "
                f"paper or better. All fits together took {seconds:.0f} processor "
                "seconds."
            ),
            matrix_table(found, METHODS, f"Adjusted Rand index. {LEGEND}"),
            _exceptions_table(),
            finding_table(found, "Every cell", ("data", "method")),
            Text(ABOUT_CONSISTENCY),
            *pictures,
        ],
        found,
    )


def _exceptions_table() -> Table:
    rows = tuple(
        (title, method, each.reason) for (title, method), each in EXCEPTIONS.items()
    )
    return Table(
        ("data", "method", "setting of its own"),
        rows,
        "Exceptions from the declared settings",
        text_columns=(1, 2),
    )


EXPERIMENT = Experiment(
    NAME, "Attribute data: adjusted Rand indices, consistency", cells, show
)
