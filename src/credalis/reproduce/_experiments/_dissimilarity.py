"""Dissimilarity data: agreement of five methods, and prediction of new objects."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from credalis.cluster import NNEVCLUS
from credalis.metrics import adjusted_rand_index
from credalis.reproduce._experiments._attribute import TOLERANCE, scores
from credalis.reproduce._experiments._explanations import DISSIMILARITY_EXPLANATIONS
from credalis.reproduce._experiments._methods import build, paper_parameters
from credalis.reproduce._framework._cells import Cell, Outcome
from credalis.reproduce._framework._data import SETS, dissimilarities
from credalis.reproduce._framework._experiment import Experiment, Part, Shown
from credalis.reproduce._framework._findings import (
    NOT_COMPARABLE,
    NOT_RUN,
    Finding,
    share_good,
)
from credalis.reproduce._framework._published import published
from credalis.reproduce._framework._render import Text
from credalis.reproduce._framework._runner import Results
from credalis.reproduce._framework._tables import (
    LEGEND,
    agreement_finding,
    consistency_pictures,
    finding_table,
    matrix_table,
    runs_of,
)

NAME = "dissimilarity"
METHODS = ("EVCLUS", "NN-EVCLUS", "RECM", "sECMdd", "wECMdd")
N_REPETITIONS = 3
N_SPLITS, N_QUICK_SPLITS = 10, 1
N_TRAIN = 1000

# The paper's table of parameters: quantile of the dissimilarities for δ₀, principal
# components, hidden units, and quantile for δ of the c-means.
_SETS: dict[str, dict[str, Any]] = {
    "Protein": {"scale": 1.0, "components": 3, "hidden": 20, "noise": 1.0},
    "Zongker": {"scale": 0.3, "components": 20, "hidden": 50, "noise": 0.95},
}


def setting(method: str, title: str) -> tuple[str, dict[str, Any]]:
    """Estimator and parameters of a method on a set."""
    given = _SETS[title]
    stress = {
        "focal_sets": "singletons",
        "dissimilarity_quantile": given["scale"],
        "n_init": 5,
    }
    network = {
        **stress,
        "n_components": given["components"],
        "hidden_layer_sizes": [given["hidden"]],
    }
    noise = {"delta_quantile": given["noise"], "n_init": 5}
    medoids = {"focal_sets": "pairs", **noise}
    estimator, parameters = {
        "EVCLUS": ("EVCLUS", stress),
        "NN-EVCLUS": ("NNEVCLUS", network),
        "RECM": ("RECM", {"focal_sets": "singletons", "squared": True, **noise}),
        "sECMdd": ("ECMdd", medoids),
        "wECMdd": ("ECMdd", {**medoids, "prototypes": "weighted"}),
    }[method]
    n_clusters = SETS[title].n_clusters
    return estimator, paper_parameters(estimator, n_clusters, **parameters)


def resolved(parameters: dict[str, Any], matrix: Any) -> dict[str, Any]:
    """Parameters with δ as a number; RECM's is the root of a squared distance."""
    given = dict(parameters)
    quantile = given.pop("delta_quantile", None)
    if quantile is not None:
        above = matrix[np.triu_indices(len(matrix), 1)]
        delta = float(np.quantile(above, quantile))
        given["delta"] = float(np.sqrt(delta)) if given.get("squared") else delta
    return {**given, "metric": "precomputed"}


def fit_dissimilarities(
    *, data: str, n_clusters: int, estimator: str, parameters: dict[str, Any], seed: int
) -> Outcome:
    """One repetition of one cell."""
    matrix, y = dissimilarities(data)
    model = build(estimator, n_clusters, resolved(parameters, matrix), seed)
    start = time.process_time()
    model.fit(matrix)
    return Outcome(scores(model, y, time.process_time() - start))


def predict_split(
    *, data: str, n_clusters: int, parameters: dict[str, Any], n_train: int, seed: int
) -> Outcome:
    """Fit half of the objects, predict the others from their dissimilarities."""
    matrix, y = dissimilarities(data)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:n_train], order[n_train:]
    inner = matrix[np.ix_(train, train)]
    model = build("NNEVCLUS", n_clusters, resolved(parameters, inner), seed)
    assert isinstance(model, NNEVCLUS)
    model.fit(inner)
    predicted = model.predict(matrix[np.ix_(test, train)])
    return Outcome(
        {
            "train": float(adjusted_rand_index(y[train], model.labels_)),
            "test": float(adjusted_rand_index(y[test], predicted)),
            "loss": float(model.loss_),
        }
    )


def cells(is_quick: bool) -> list[Cell]:
    """Repetitions of the sets available, and the splits."""
    found = []
    titles = ("Protein",) if is_quick else tuple(_SETS)
    for title in titles:
        each = SETS[title]
        for method in METHODS:
            estimator, parameters = setting(method, title)
            for seed in range(1 if is_quick else N_REPETITIONS):
                given = {
                    "data": each.name,
                    "n_clusters": each.n_clusters,
                    "estimator": estimator,
                    "parameters": parameters,
                    "seed": seed,
                }
                name = f"{title}-{method}-{seed}"
                cost = 2.0 if title == "Protein" else 60.0
                found.append(
                    Cell(NAME, name, fit_dissimilarities, given, each.name, cost)
                )
    each = SETS["Zongker"]
    for seed in range(N_QUICK_SPLITS if is_quick else N_SPLITS):
        given = {
            "data": each.name,
            "n_clusters": each.n_clusters,
            "parameters": {**setting("NN-EVCLUS", "Zongker")[1], "n_init": 1},
            "n_train": N_TRAIN,
            "seed": seed,
        }
        found.append(
            Cell(NAME, f"prediction-{seed}", predict_split, given, each.name, 30.0)
        )
    return found


def _runs(results: Results, title: str, method: str) -> list[dict[str, Any]]:
    names = (f"{title}-{method}-{seed}" for seed in range(N_REPETITIONS))
    return runs_of(results, NAME, names)


def findings(results: Results) -> list[Finding]:
    """One for each published ARI."""
    return [
        agreement_finding(
            SETS[title],
            method,
            row[method],
            _runs(results, title, method),
            TOLERANCE,
            DISSIMILARITY_EXPLANATIONS.get((title, method), ""),
        )
        for title, row in published()["ari_dissimilarity"].items()
        for method in METHODS
    ]


def _prediction_findings(results: Results) -> list[Finding]:
    names = (f"prediction-{seed}" for seed in range(N_SPLITS))
    runs = runs_of(results, NAME, names)
    found = []
    for part, (mean, _) in published()["prediction"].items():
        values = tuple(run[part] for run in runs)
        verdict = NOT_COMPARABLE if values else NOT_RUN
        why = SETS["Zongker"].deviation
        found.append(
            Finding("Zongker", f"{part} ARI", mean, values, None, verdict, why)
        )
    return found


def show(results: Results, is_quick: bool, directory: Path) -> Shown:
    """The table, its cells, the split experiment and the diagrams."""
    found = findings(results)
    good, compared = share_good(found)
    pictures = consistency_pictures(
        NAME, _SETS, METHODS, lambda *cell: _runs(results, *cell), directory
    )
    prediction = _prediction_findings(results)
    parts: list[Part] = [
        Text(
            "Settings of the paper's table of parameters; sECMdd and wECMdd with the "
            "exponents of this library (β = ψ = 1.2), because the printed ones (2) let "
            "the prototypes collapse. Asymmetric matrices are replaced by the mean of "
            "the matrix and its transpose. Digits compared by the image distortion "
            "model stand in for Zongker, of which no copy was found: their values are "
            "printed beside the paper's, but cannot be compared with them."
        ),
        Text(
            f"{good} of {compared} comparable cells are within {TOLERANCE} of the "
            "paper or better."
        ),
        matrix_table(found, METHODS, f"Adjusted Rand index. {LEGEND}"),
        finding_table(found, "Every cell", ("data", "method")),
        finding_table(
            prediction,
            "Prediction: half of the objects are fitted (one start), the others "
            "predicted",
            ("data", "quantity"),
        ),
        *pictures,
    ]
    return Shown(parts, [*found, *prediction])


EXPERIMENT = Experiment(
    NAME, "Dissimilarity data: adjusted Rand indices, prediction", cells, show
)
