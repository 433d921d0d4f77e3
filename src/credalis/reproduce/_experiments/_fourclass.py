"""The fourclass example: EVCLUS, NN-EVCLUS, and what the network adds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import OneClassSVM

from credalis.cluster import EVCLUS, NNEVCLUS
from credalis.datasets import make_four_class
from credalis.metrics import adjusted_rand_index
from credalis.peaks import delta_bel
from credalis.plots import (
    ContourDisplay,
    CredalPartitionDisplay,
    DeltaBelDisplay,
    HistoryDisplay,
    ShepardDisplay,
)
from credalis.reproduce._experiments._methods import (
    PAPER_DETECTOR,
    build,
    outliers,
    paper_parameters,
)
from credalis.reproduce._framework._cells import Cell, Outcome
from credalis.reproduce._framework._data import attributes
from credalis.reproduce._framework._experiment import Experiment, Part, Shown
from credalis.reproduce._framework._figures import image, lines, new_figure, panels, png
from credalis.reproduce._framework._findings import (
    Finding,
    claimed,
    compared,
)
from credalis.reproduce._framework._published import published
from credalis.reproduce._framework._render import Picture, Text
from credalis.reproduce._framework._runner import Results
from credalis.reproduce._framework._tables import (
    finding_table,
    pictures_of,
    written_picture,
)

NAME = "fourclass"
DATA = "fourclass"
N_NEW = 1000
# Of the study of the loss: the paper's figure has no numbers on its axis in the text.
HIDDEN = (5, 10, 15, 20, 30, 45, 60)
DECAYS = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
# Starts of the study, of which the best is kept.
N_STARTS, N_QUICK_STARTS = 5, 1
QUICK_HIDDEN = (5, 20, 45)
QUICK_DECAYS = (0.0, 1e-5, 1e-2)
# A loss within three percent is the same minimum from another draw of pairs.
RELATIVE_TOLERANCE = 0.03
_EVCLUS = paper_parameters(
    "EVCLUS", 4, focal_sets="pairs", pairs_per_sample=100, n_init=5
)
_NETWORK = paper_parameters(
    "NNEVCLUS",
    4,
    focal_sets="pairs",
    hidden_layer_sizes=[20],
    pairs_per_sample=100,
    novelty_detector=PAPER_DETECTOR,
    novelty_link="reference",
    n_init=5,
)

CAPTIONS = {
    "evclus-partition": "EVCLUS: lower (solid) and upper (broken) approximations of "
    "the four clusters; outliers are marked.",
    "evclus-convergence": "EVCLUS: loss against iterations.",
    "evclus-shepard": "EVCLUS: conflict against transformed dissimilarity.",
    "delta-bel": "δ–Bel graph with 50 neighbours and q = 0.9: the four centres are at "
    "the upper right.",
    "svm": "One-class SVM (ν = 0.2, σ = 0.2): f(x); the white line is f(x) = 0.",
    "nn-empty": "NN-EVCLUS: mass on ∅.",
    "nn-learning-curve": "NN-EVCLUS: learning curve; the broken line is the published "
    "loss of EVCLUS.",
    "nn-shepard": "NN-EVCLUS: conflict against transformed dissimilarity.",
    "nn-partition": "NN-EVCLUS: approximations of the four clusters.",
    "nn-prediction": "NN-EVCLUS: predicted approximations for 1000 new vectors of the "
    "same distribution.",
    "nn-singletons": "NN-EVCLUS: masses on the four clusters.",
    "nn-pairs": "NN-EVCLUS: masses on the pairs of contiguous clusters.",
    "nn-plausibility": "NN-EVCLUS: plausibilities of the four clusters.",
}


def with_evclus(*, parameters: dict[str, Any], seed: int) -> Outcome:
    """The partition, the convergence and the Shepard diagram of EVCLUS."""
    X, y = attributes(DATA, is_standardized=False)
    model = build("EVCLUS", 4, parameters, seed)
    assert isinstance(model, EVCLUS)
    model.fit(X)
    partition = CredalPartitionDisplay.from_estimator(model, X, rule="maximum_mass")
    return Outcome(
        _numbers(model, y),
        {
            "evclus-partition": image(partition, (8.4, 5.2)),
            "evclus-convergence": image(
                HistoryDisplay.from_estimator(model), (5.4, 3.8)
            ),
            "evclus-shepard": image(
                ShepardDisplay.from_estimator(model, X), (5.4, 4.4)
            ),
        },
    )


def _numbers(model: Any, y: Any) -> dict[str, Any]:
    return {
        "loss": float(model.loss_),
        "ari": float(adjusted_rand_index(y, model.labels_)),
        "outliers": int(outliers(model.partition_).sum()),
        "iterations": int(model.n_iter_),
    }


def peaks(*, n_neighbors: int, quantile: float) -> Outcome:
    """The δ–Bel graph, and the classes of the four suggested centres."""
    X, y = attributes(DATA, is_standardized=False)
    graph = delta_bel(X, n_neighbors=n_neighbors, quantile=quantile)
    centers = graph.suggest(4)
    display = DeltaBelDisplay.from_delta_bel(graph, n_clusters=4)
    return Outcome(
        {
            "centers": [int(i) for i in centers],
            "classes": sorted(int(k) for k in y[centers]),
            "suggested": len(graph.suggest()),
        },
        {"delta-bel": image(display, (6.4, 4.4))},
    )


def with_network(
    *, parameters: dict[str, Any], seed: int, evclus_loss: float, new_seed: int
) -> Outcome:
    """All figures of the network, and its prediction for new vectors."""
    X, y = attributes(DATA, is_standardized=False)
    model = build("NNEVCLUS", 4, parameters, seed)
    assert isinstance(model, NNEVCLUS)
    model.fit(X)
    new, y_new = make_four_class(N_NEW, random_state=new_seed)
    predicted = model.predict_partition(new)
    figures = {
        "nn-learning-curve": _learning_curve(model, evclus_loss),
        "nn-shepard": image(ShepardDisplay.from_estimator(model, X), (5.4, 4.4)),
        "nn-partition": image(
            CredalPartitionDisplay.from_estimator(model, X, rule="maximum_mass"),
            (8.4, 5.2),
        ),
        "nn-prediction": image(
            CredalPartitionDisplay.from_partition(predicted, new, rule="maximum_mass"),
            (8.4, 5.2),
        ),
        "svm": _svm_contour(X),
        **_contours(model, X),
    }
    values = {
        **_numbers(model, y),
        "new_ari": float(adjusted_rand_index(y_new, model.predict(new))),
        "new_outliers": int(outliers(predicted).sum()),
    }
    return Outcome(values, figures)


def _learning_curve(model: Any, evclus_loss: float) -> bytes:
    figure = new_figure((5.4, 3.8))
    ax = figure.subplots()
    HistoryDisplay.from_estimator(model).plot(ax=ax)
    ax.axhline(evclus_loss, linestyle="--", color="#5a6876")
    ax.set_yscale("log")
    return png(figure)


def _contours(model: Any, X: Any) -> dict[str, bytes]:
    """Masses on ∅, singletons and contiguous pairs, and plausibilities."""

    def mass(focal_set: Any) -> ContourDisplay:
        return ContourDisplay.from_estimator(
            model, X, response="mass", focal_set=focal_set, grid_resolution=100
        )

    plausibility = ContourDisplay.from_estimator(model, X, grid_resolution=100)
    return {
        "nn-empty": panels(mass([()]), 1, 1, (5.2, 4.2)),
        "nn-singletons": panels(mass([(k,) for k in range(4)]), 4, 2, (8.4, 6.6)),
        "nn-pairs": panels(mass(_contiguous(model, X)), 4, 2, (8.4, 6.6)),
        "nn-plausibility": panels(plausibility, 4, 2, (8.4, 6.6)),
    }


def _contiguous(model: Any, X: Any) -> list[tuple[int, int]]:
    """The four pairs of clusters whose centres are nearest: the sides of the square."""
    centers = np.array([np.median(X[model.labels_ == k], axis=0) for k in range(4)])
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    pairs.sort(key=lambda pair: np.linalg.norm(centers[pair[0]] - centers[pair[1]]))
    return sorted(pairs[:4])


def _svm_contour(X: Any) -> bytes:
    """The output of the one-class SVM; no Display is about detectors alone."""
    detector = OneClassSVM(nu=0.2, gamma=0.2).fit(X)
    margin = 0.05 * np.ptp(X, axis=0)
    x, y = (
        np.linspace(low, high, 120)
        for low, high in zip(
            X.min(axis=0) - margin, X.max(axis=0) + margin, strict=True
        )
    )
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = detector.decision_function(grid).reshape(len(y), len(x))
    figure = new_figure((5.2, 4.2))
    ax = figure.subplots()
    filled = ax.contourf(x, y, values, levels=12, cmap="viridis")
    ax.contour(x, y, values, levels=[0], colors="white", linewidths=1.5)
    ax.scatter(X[:, 0], X[:, 1], s=5, color="black", alpha=0.5)
    figure.colorbar(filled, label="f(x)")
    return png(figure)


def loss_study(
    *, n_hidden: int, weight_decay: float, n_init: int, seed: int
) -> Outcome:
    """Stress on the training set and on new vectors, at the same δ₀."""
    X, _ = attributes(DATA, is_standardized=False)
    new, _ = make_four_class(N_NEW, random_state=1)
    parameters = {
        **_NETWORK,
        "hidden_layer_sizes": [n_hidden],
        "weight_decay": weight_decay,
        "n_init": n_init,
    }
    model = build("NNEVCLUS", 4, parameters, seed)
    assert isinstance(model, NNEVCLUS)
    model.fit(X)
    return Outcome({"train": -float(model.score(X)), "test": -float(model.score(new))})


def study_name(n_hidden: int, weight_decay: float, n_init: int) -> str:
    """Name of a cell of the study; quick and full runs do not replace each other."""
    return f"loss-{n_hidden}-{weight_decay:g}-{n_init}"


def cells(is_quick: bool) -> list[Cell]:
    """The three models and the study of the loss."""
    found = [
        Cell(NAME, "evclus", with_evclus, {"parameters": _EVCLUS, "seed": 0}, DATA, 5),
        Cell(NAME, "delta-bel", peaks, {"n_neighbors": 50, "quantile": 0.9}, DATA),
        Cell(
            NAME,
            "nn-evclus",
            with_network,
            {"parameters": _NETWORK, "seed": 0, "evclus_loss": 0.00475, "new_seed": 1},
            DATA,
            10,
        ),
    ]
    settings = [(n_hidden, 0.0) for n_hidden in (QUICK_HIDDEN if is_quick else HIDDEN)]
    settings += [(50, decay) for decay in (QUICK_DECAYS if is_quick else DECAYS)]
    n_init = N_QUICK_STARTS if is_quick else N_STARTS
    for n_hidden, decay in settings:
        given = {"n_hidden": n_hidden, "weight_decay": decay, "n_init": n_init}
        name = study_name(n_hidden, decay, n_init)
        found.append(Cell(NAME, name, loss_study, {**given, "seed": 0}, DATA, 10))
    return found


def show(results: Results, is_quick: bool, directory: Path) -> Shown:
    """Losses beside the published ones, and all figures."""
    found = [
        _loss_finding(results, "evclus", "EVCLUS", "loss_evclus"),
        _loss_finding(results, "nn-evclus", "NN-EVCLUS", "loss_nn_evclus"),
        *_claims(results),
    ]
    parts: list[Part] = [
        Text(
            "400 vectors of four bivariate t distributions, as they are (no scaling); "
            "∅, the clusters, their pairs and Ω as focal sets; 100 pairs for each "
            "object; NN-EVCLUS with 20 hidden units and the one-class SVM of the "
            "paper, best of five starts. The losses are means over the pairs drawn."
        ),
        finding_table(found, "Every value", ("model", "quantity")),
        *pictures_of(results, NAME, CAPTIONS, directory),
        *_study(results, directory),
    ]
    return Shown(parts, found)


def _loss_finding(results: Results, cell: str, row: str, key: str) -> Finding:
    printed = 1000 * published()["fourclass"][key]
    ours, why = None, ""
    values = results.values(NAME, cell)
    if values is not None:
        ours = 1000 * values["loss"]
        why = f"ARI {values['ari']:.3f}, {values['outliers']} outliers"
    tolerance = RELATIVE_TOLERANCE * printed
    return compared(
        row, "loss × 1000", printed, ours, tolerance, why, lower_is_better=True
    )


def _claims(results: Results) -> list[Finding]:
    """What the text says and can be counted; 1 stands for true."""
    found = []
    peaks = results.values(NAME, "delta-bel")
    if peaks is not None:
        holds = peaks["classes"] == [0, 1, 2, 3]
        found.append(
            claimed("δ–Bel", "the four centres are of the four classes", holds)
        )
    network = results.values(NAME, "nn-evclus")
    if network is not None:
        # "Correctly identified" has no number in the paper: as well as on the data.
        gap = network["new_ari"] - network["ari"]
        found.append(
            claimed(
                "NN-EVCLUS",
                "new vectors and outliers are identified",
                gap >= -0.05 and network["new_outliers"] > 0,
                f"ARI {network['new_ari']:.3f} on new vectors, {network['ari']:.3f} on "
                f"the data; {network['new_outliers']} of 1000 new ones are outliers",
            )
        )
    return found


def _study(results: Results, directory: Path) -> list[Picture]:
    """Loss against the number of hidden units, and against weight decay."""
    printed = published()["fourclass"]
    plateau, smallest = printed["n_hidden_plateau"], printed["weight_decay_minimum"]
    curves = (
        (
            "loss-hidden",
            {n: (n, 0.0) for n in HIDDEN},
            "hidden units n_H",
            "linear",
            f"The paper's test loss reaches a plateau at {plateau} hidden units.",
        ),
        (
            "loss-decay",
            {decay: (50, decay) for decay in DECAYS if decay > 0},
            "weight decay λ, with 50 hidden units",
            "log",
            f"The paper's test loss is smallest at λ = {smallest:g}.",
        ),
    )
    pictures = []
    for name, settings, label, scale, published_text in curves:
        found = _curve(results, settings)
        if not found:
            continue
        x = list(found)
        train = [values["train"] for values in found.values()]
        test = [values["test"] for values in found.values()]
        drawing = lines(
            x,
            {"training": train, "new vectors": test},
            x_label=label,
            y_label="loss",
            x_scale=scale,
        )
        caption = (
            f"Loss on the training set and on new vectors against {label}. Ours on new "
            f"vectors is smallest at {x[np.argmin(test)]:g}. {published_text}"
        )
        pictures.append(written_picture(directory, f"{NAME}-{name}", drawing, caption))
    return pictures


def _curve(
    results: Results, settings: Mapping[Any, tuple[int, float]]
) -> dict[Any, dict[str, float]]:
    """Values by what varies, those of the full run if there are any."""
    for n_init in (N_STARTS, N_QUICK_STARTS):
        found = {
            x: results.values(NAME, study_name(*each, n_init))
            for x, each in settings.items()
        }
        curve = {x: values for x, values in found.items() if values is not None}
        if curve:
            return curve
    return {}


EXPERIMENT = Experiment(NAME, "fourclass: EVCLUS and NN-EVCLUS", cells, show)
