"""The fourclass example: EVCLUS, NN-EVCLUS, and what the network adds."""

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
from credalis.reproduce._cells import Cell, Outcome
from credalis.reproduce._data import attributes
from credalis.reproduce._figures import image, new_figure, panels, png
from credalis.reproduce._methods import PAPER_DETECTOR, build

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
_EVCLUS = {"focal_sets": "pairs", "pairs_per_sample": 100, "n_init": 5}
_NETWORK = {
    "focal_sets": "pairs",
    "hidden_layer_sizes": [20],
    "pairs_per_sample": 100,
    "novelty_detector": PAPER_DETECTOR,
    "n_init": 5,
}


def with_evclus(*, parameters: dict[str, Any], seed: int) -> Outcome:
    """The partition, the convergence and the Shepard diagram of EVCLUS."""
    X, y = attributes(DATA, is_standardized=False)
    model = build("EVCLUS", 4, parameters, seed)
    assert isinstance(model, EVCLUS)
    model.fit(X)
    partition = CredalPartitionDisplay.from_estimator(model, X)
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
        "outliers": int(model.partition_.is_outlier.sum()),
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
            CredalPartitionDisplay.from_estimator(model, X), (8.4, 5.2)
        ),
        "nn-prediction": image(
            CredalPartitionDisplay.from_partition(predicted, new), (8.4, 5.2)
        ),
        "svm": _svm_contour(X),
        **_contours(model, X),
    }
    values = {
        **_numbers(model, y),
        "new_ari": float(adjusted_rand_index(y_new, model.predict(new))),
        "new_outliers": int(predicted.is_outlier.sum()),
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
