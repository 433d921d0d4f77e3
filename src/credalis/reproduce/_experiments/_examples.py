"""Example 1 (conflict of mass functions) and Table 1 (butterfly)."""

from pathlib import Path

import numpy as np

from credalis.belief import FocalSets, conflict
from credalis.cluster import EVCLUS
from credalis.datasets import load_butterfly
from credalis.plots import CredalPartitionDisplay, MassDisplay
from credalis.reproduce._experiments._methods import outliers, paper_parameters
from credalis.reproduce._framework._cells import Cell, Outcome
from credalis.reproduce._framework._experiment import Experiment, Part, Shown
from credalis.reproduce._framework._figures import image
from credalis.reproduce._framework._findings import (
    Finding,
    claimed,
    compared,
)
from credalis.reproduce._framework._published import published
from credalis.reproduce._framework._render import Table, Text
from credalis.reproduce._framework._runner import Results
from credalis.reproduce._framework._tables import decimals, finding_table, pictures_of

NAME = "examples"
# The paper does not name δ₀. With the 0.9-quantile 13.2, masses differ by up to 0.14;
# with 11 by less than 0.005, the rounding of the table.
SCALE = 11.0
MASS_TOLERANCE = 0.01
_QUANTITIES = {
    "kappa_12": "conflict of objects 1 and 2",
    "kappa_13": "conflict of objects 1 and 3",
    "pl_same_12": "plausibility that 1 and 2 are of one class",
    "pl_same_13": "plausibility that 1 and 3 are of one class",
}


def example_1() -> Outcome:
    """Conflict of the three mass functions of the first example."""
    focal_sets = FocalSets.full(3)
    given: list[dict[tuple[int, ...], float]] = [
        {(0,): 0.6, (0, 1): 0.3, (0, 1, 2): 0.1},
        {(0, 1): 0.5, (2,): 0.2, (0, 1, 2): 0.3},
        {(0,): 0.1, (1,): 0.1, (2,): 0.8},
    ]
    first, second, third = (_mass_function(focal_sets, each) for each in given)
    kappa_12 = float(conflict(first, second, focal_sets))
    kappa_13 = float(conflict(first, third, focal_sets))
    return Outcome(
        {
            "kappa_12": kappa_12,
            "kappa_13": kappa_13,
            "pl_same_12": 1 - kappa_12,
            "pl_same_13": 1 - kappa_13,
        }
    )


def _mass_function(
    focal_sets: FocalSets, given: dict[tuple[int, ...], float]
) -> np.ndarray:
    return np.array([given.get(subset, 0.0) for subset in focal_sets.subsets])


def butterfly(*, scale: float, n_init: int, seed: int) -> Outcome:
    """EVCLUS of the twelve points, clusters numbered as in the paper."""
    X = load_butterfly().data
    parameters = paper_parameters(
        "EVCLUS",
        2,
        focal_sets="full",
        dissimilarity_scale=scale,
        n_init=n_init,
        tol=1e-10,
    )
    model = EVCLUS(2, random_state=seed, **parameters).fit(X)
    partition = model.partition_
    # In the paper the first object, at the left, is in the second cluster.
    if model.labels_[0] == 0:
        partition = partition.relabel([1, 0])
    names = [str(number) for number in range(1, len(X) + 1)]
    points = CredalPartitionDisplay.from_partition(partition, X, rule="maximum_mass")
    bars = MassDisplay.from_partition(
        partition, kind="bars", order=None, object_names=names
    )
    return Outcome(
        {
            "masses": _columns(partition),
            "lower": _members(partition.lower),
            "upper": _members(partition.upper),
            "outliers": (np.flatnonzero(outliers(partition)) + 1).tolist(),
            "loss": float(model.loss_),
        },
        {
            "butterfly": image(points, (6.4, 3.8)),
            "butterfly-masses": image(bars, (7.2, 3.6)),
        },
    )


def _columns(partition) -> list[list[float]]:
    """Masses on ∅, the clusters and Ω, in the order of the table."""
    order = [partition.focal_sets.subsets.index(s) for s in ((), (0,), (1,), (0, 1))]
    return np.round(partition.masses[:, order], 6).tolist()


def _members(approximation: np.ndarray) -> dict[str, list[int]]:
    return {
        str(k + 1): (np.flatnonzero(column) + 1).tolist()
        for k, column in enumerate(approximation.T)
    }


def cells(is_quick: bool) -> list[Cell]:
    """Both are quick."""
    return [
        Cell(NAME, "example-1", example_1, {}),
        Cell(NAME, "butterfly", butterfly, {"scale": SCALE, "n_init": 5, "seed": 0}),
    ]


def show(results: Results, is_quick: bool, directory: Path) -> Shown:
    """Four numbers, the table of masses, and the two figures."""
    found = _conflict_findings(results)
    values = results.values(NAME, "butterfly")
    parts: list[Part] = [
        Text(
            "Mass functions of three objects and the conflict between them, and the "
            "credal partition of twelve points by EVCLUS. The paper does not print δ₀ "
            f"of the second; {SCALE:g} gives its table, the 0.9-quantile of the "
            "distances (13.2) masses that differ by up to 0.14."
        )
    ]
    if values is not None:
        found += _butterfly_findings(values)
        parts.append(_masses_table(values))
    parts.append(finding_table(found, "Every value", ("example", "quantity")))
    captions = {
        "butterfly": "Butterfly (the paper's Figure 1a) with the approximations of the "
        "two clusters: object 6 is between them, object 12 is an outlier.",
        "butterfly-masses": "Masses of the twelve objects (the paper's Figure 1b).",
    }
    return Shown([*parts, *pictures_of(results, NAME, captions, directory)], found)


def _conflict_findings(results: Results) -> list[Finding]:
    values = results.values(NAME, "example-1") or {}
    return [
        compared("Example 1", _QUANTITIES[name], printed, values.get(name), 5e-3)
        for name, printed in published()["conflict"].items()
    ]


def _butterfly_findings(values: dict) -> list[Finding]:
    printed = published()["butterfly"]
    gap = float(np.abs(np.array(values["masses"]) - printed["rows"]).max())
    same = all(values[name] == printed[name] for name in ("lower", "upper", "outliers"))
    return [
        compared(
            "Table 1",
            "largest difference of a mass",
            0.0,
            gap,
            MASS_TOLERANCE,
            f"within {MASS_TOLERANCE} is the rounding of the table",
            lower_is_better=True,
        ),
        claimed("Table 1", "approximations and outlier as in the text", same),
    ]


def _masses_table(values: dict) -> Table:
    printed = published()["butterfly"]["rows"]
    rows = tuple(
        (
            str(number),
            *(
                f"{decimals(theirs, 3)} → {decimals(ours, 3)}"
                for theirs, ours in zip(pair[0], pair[1], strict=True)
            ),
        )
        for number, pair in enumerate(zip(printed, values["masses"], strict=True), 1)
    )
    header = ("object", "m(∅)", "m({ω₁})", "m({ω₂})", "m(Ω)")
    return Table(header, rows, "Table 1: published → ours")


EXPERIMENT = Experiment(NAME, "Example 1 and Table 1", cells, show)
