"""Peaks, numbers of clusters, searches, comparisons, monitors, and what is around."""

import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz import data, models
from tests.fuzz.api.evidence import partition
from tests.fuzz.case import (
    Call,
    accepted,
    ensure,
    ensure_finite,
    ensure_partition,
    names_of,
)
from tests.fuzz.values import FEW_OR_NONSENSE, HOSTILE, mostly, pick

import credalis
from credalis import datasets, model_selection, peaks, sources
from credalis.checkpoints import Checkpoint
from credalis.exceptions import FitCancelledError
from credalis.streaming import NewClusterMonitor

Rng = np.random.Generator

# What is callable runs as it was written.
_NOT_CALLABLE = tuple(value for value in HOSTILE if not callable(value))


def graph(rng: Rng) -> Call:
    """The δ-Bel graph and its suggestions."""
    is_matrix = rng.random() < 0.3
    X = data.dissimilarities(rng) if is_matrix else data.dressed(rng, data.numbers(rng))
    metric = "precomputed" if is_matrix else "euclidean"
    given = {
        "metric": mostly(rng, (metric,), ("cosine", "manhattan", *HOSTILE), 0.15),
        "n_neighbors": mostly(rng, ("auto", 1, 3, 5), HOSTILE, 0.2),
        "quantile": mostly(rng, (0.9, None, 0.0, 1.0), HOSTILE, 0.2),
        "symmetrize": mostly(rng, (False, True), HOSTILE, 0.1),
    }
    n_clusters = mostly(rng, (None, 1, 2, 3), HOSTILE, 0.2)
    bounds = (
        mostly(rng, (0.0, 0.5), HOSTILE, 0.3),
        mostly(rng, (0.0, 0.5), HOSTILE, 0.3),
    )

    def run() -> None:
        found = peaks.delta_bel(X, **given)
        ensure_finite(found.belief)
        ensure_finite(found.delta)
        centers = found.suggest(n_clusters)
        ensure(len(set(centers)) == len(centers), "the same centre twice")
        found.threshold(*bounds)

    names = names_of(peaks.delta_bel, peaks.DeltaBel.suggest, peaks.DeltaBel.threshold)
    return Call("peaks.delta_bel", run, names)


def _cheap(rng: Rng) -> Any:
    kind = pick(rng, (credalis.ECM, credalis.EVCLUS, credalis.EkNNclus, credalis.RECM))
    made = kind(n_init=1, max_iter=2, random_state=0)
    return mostly(rng, (made,), HOSTILE, 0.05)


def numbers_of_clusters(rng: Rng) -> Call:
    """Which number of clusters."""
    estimator = _cheap(rng)
    X = data.dressed(rng, data.numbers(rng)[:25])
    numbers = mostly(rng, ([2, 3], (2, 4), range(2, 4)), (*HOSTILE, [0], [2, 2]), 0.15)
    function = model_selection.select_n_clusters
    given = {
        "n_clusters": numbers,
        "criteria": mostly(
            rng, ("auto",), ("stability", ["stability"], *HOSTILE), 0.15
        ),
        "n_resamples": mostly(rng, (3, 3, 4), FEW_OR_NONSENSE, 0.1),
        "resample_share": mostly(rng, (0.8, 0.5), HOSTILE, 0.15),
        "random_state": mostly(rng, (0, None), HOSTILE, 0.1),
        "n_jobs": mostly(rng, (None, 1), ("x", 0, -1.5), 0.05),
    }
    names = names_of(function) | {"estimator"}
    if isinstance(
        estimator, credalis.cluster._framework._estimator.BaseCredalClusterer
    ):
        names |= names_of(type(estimator))
    return Call("select_n_clusters", lambda: function(estimator, X, **given), names)


def quantiles(rng: Rng) -> Call:
    """Which quantile of the dissimilarities."""
    kind = pick(
        rng, (credalis.EVCLUS, credalis.EVCLUS, credalis.NNEVCLUS, credalis.ECM)
    )
    estimator = kind(n_init=1, max_iter=2, random_state=0)
    X = data.dressed(rng, data.numbers(rng)[:25])
    function = model_selection.select_dissimilarity_quantile
    given = {
        "quantiles": mostly(
            rng, ((0.5, 0.9), [0.3, 0.6]), (*HOSTILE, [2], [0.5]), 0.15
        ),
        "n_resamples": mostly(rng, (3, 3, 4), FEW_OR_NONSENSE, 0.1),
        "random_state": mostly(rng, (0, None), HOSTILE, 0.1),
    }
    names = names_of(function, type(estimator))
    return Call(
        "select_dissimilarity_quantile", lambda: function(estimator, X, **given), names
    )


def _score(fitted: Any, X: Any, y: Any = None) -> float:
    return float(fitted.predict_partition(X).n_clusters)


def searches(rng: Rng) -> Call:
    """A search over parameters, with side information."""
    estimator = _cheap(rng)
    X = data.numbers(rng)[:25]
    grid = mostly(
        rng,
        ({"n_init": [1]}, {"max_iter": [1, 2]}, [{"n_init": [1]}]),
        ({"nonsense": [1]}, {"n_init": []}, {"n_init": [0]}, {}, [], *HOSTILE),
        0.15,
    )
    told: dict[str, Any] = {}
    if rng.random() < 0.3:
        told["partial_labels"] = data.labels(rng, len(X))
    if rng.random() < 0.3:
        told["must_link"] = data.pairs(rng, len(X))
    given = {
        "cv": mostly(rng, (2, 3), HOSTILE, 0.1),
        "scoring": mostly(rng, (_score, _score, None), _NOT_CALLABLE, 0.1),
        "random_state": mostly(rng, (0, None), HOSTILE, 0.1),
        "refit": mostly(rng, (True, False), _NOT_CALLABLE, 0.1),
    }
    shown = data.dressed(rng, X, 0.1)
    function = model_selection.search
    names = names_of(
        function, type(estimator).fit if hasattr(estimator, "fit") else function
    )
    if hasattr(estimator, "get_params"):
        names |= estimator.get_params().keys()
    return Call(
        "model_selection.search",
        lambda: function(estimator, grid, shown, **told, **given),
        names,
    )


def comparisons(rng: Rng) -> Call:
    """Methods side by side."""
    X = data.dressed(rng, data.numbers(rng)[:20])
    methods = mostly(
        rng,
        (["ECM"], ["ECM", "EkNNclus"], {"mine": credalis.ECM(2, n_init=1)}, ("RECM",)),
        (["nonsense"], [], {}, [3], ["ECM", "ECM"], *HOSTILE),
        0.15,
    )
    n_clusters = mostly(rng, (2, 3, 1), HOSTILE, 0.1)
    given: dict[str, Any] = {"random_state": mostly(rng, (0,), HOSTILE, 0.1)}
    if rng.random() < 0.4:
        given["y"] = data.labels(rng, data.n_rows(rng))
    names = names_of(credalis.compare, credalis.ECM)
    return Call(
        "compare", lambda: credalis.compare(X, n_clusters, methods, **given), names
    )


def explanations(rng: Rng) -> Call:
    """Why objects are where they are, under a model or a mere partition."""
    made: Any = partition(rng)
    X = data.numbers(rng)
    if rng.random() < 0.3:
        made = models.saved_object("table")
        X = {"a": X[:, 0], "b": X[:, -1], "colour": rng.choice(["red", "no"], len(X))}
    elif rng.random() < 0.7:
        name = str(pick(rng, models.ESTIMATORS))
        made, X = models.estimator(name), models.training_data(name)
        X = data.new_rows(rng, X) if rng.random() < 0.5 else X
    elif rng.random() < 0.7:
        made = made[rng.integers(len(made), size=len(X))]
    model = mostly(rng, (made,), HOSTILE, 0.1)
    shown = X if isinstance(X, dict) else data.dressed(rng, X, 0.2)
    given = {
        "rows": mostly(rng, (None, [0], 0, [], [1, 0]), (*HOSTILE, [-1], [10**9]), 0.2),
        "n_features": mostly(rng, (1, 3), FEW_OR_NONSENSE, 0.1),
        "n_typical": mostly(rng, (0, 3), FEW_OR_NONSENSE, 0.1),
        "clear_level": mostly(rng, (0.7, 1.0), HOSTILE, 0.1),
        "cluster_names": mostly(rng, (None,), (*HOSTILE, ["a"]), 0.1),
    }

    def run() -> None:
        found = credalis.explain(model, shown, **given)
        tree = found.tree
        ensure(0 <= tree.fidelity <= 1, f"a fidelity of {tree.fidelity}")
        for each in found:
            ensure_finite([reason.weight for reason in each.reasons])
            ensure(len(each.clusters) > 0, "no cluster competes")
        str(found)

    return Call("explain", run, names_of(credalis.explain))


def suggestions(rng: Rng) -> Call:
    """Whether there are clusters at all."""
    X = data.dressed(rng, data.numbers(rng)[:20])
    function = model_selection.suggest_n_clusters
    given = {
        "n_clusters": mostly(rng, ([2, 3], range(2, 4)), (*HOSTILE, "auto"), 0.15),
        "members": mostly(rng, (["full"], ["ward"]), HOSTILE, 0.2),
        "may_be_one": mostly(rng, (True, False), HOSTILE, 0.15),
        "random_state": mostly(rng, (0,), HOSTILE, 0.1),
    }
    return Call("suggest_n_clusters", lambda: function(X, **given), names_of(function))


def monitors(rng: Rng) -> Call:
    """A monitor, its stream and its proposals."""
    name = str(pick(rng, ("ECM", "NNEVCLUS", "EkNNclus", "BPEC", "NNEVCLUS ocsvm")))
    model = mostly(rng, (models.estimator(name),), (credalis.ECM(), *HOSTILE), 0.05)
    given = {
        "false_alarm_rate": mostly(rng, (0.01, 0.5), HOSTILE, 0.04),
        "rejection_rate": mostly(rng, (0.2, 0.5, 0.05), HOSTILE, 0.04),
        "min_share": mostly(rng, (0.005, 0.0, 0.5), HOSTILE, 0.04),
        "radius": mostly(rng, ("auto", 1.0, 1e-300, 1e300), HOSTILE, 0.04),
        "max_rejected": mostly(rng, (2, 10, 100), HOSTILE, 0.04),
        "max_replay": mostly(rng, (2, 10, 100), HOSTILE, 0.04),
        "random_state": mostly(rng, (0, None), HOSTILE, 0.1),
    }
    X = data.ordinary(rng, int(pick(rng, (3, 12, 30, 60))), 2)
    calibration = data.dressed(rng, X, 0.1)
    stream = data.dressed(rng, data.new_rows(rng, X), 0.2)

    def run() -> None:
        monitor = NewClusterMonitor(model, **given).fit(calibration)
        for _ in range(3):
            state = monitor.update(stream)
            ensure(0 <= state.p_value <= 1, f"a p-value of {state.p_value}")
        for proposed in monitor.propose():
            ensure_finite(proposed.center)

    cls = NewClusterMonitor
    return Call("NewClusterMonitor", run, names_of(cls, cls.fit, cls.update))


def generators(rng: Rng) -> Call:
    """Generated data."""
    name = str(pick(rng, ("make_bananas", "make_circles_in_ring", "make_four_class")))
    function = getattr(datasets, name)
    possible = names_of(function)
    values = {
        "n_samples": mostly(rng, (1, 4, 50), FEW_OR_NONSENSE, 0.4),
        "radius": mostly(rng, (1.0, 5.0), HOSTILE, 0.4),
        "noise": mostly(rng, (0.0, 0.5), HOSTILE, 0.4),
        "df": mostly(rng, (1.0, 5.0), HOSTILE, 0.4),
        "shuffle": mostly(rng, (True, False), HOSTILE, 0.3),
        "random_state": mostly(rng, (0, None), HOSTILE, 0.3),
    }
    given = {k: v for k, v in values.items() if k in possible and rng.random() < 0.5}

    def run() -> None:
        X, y = function(**given)
        ensure_finite(X)
        ensure(len(X) == len(y), "other numbers of rows and labels")

    return Call(f"datasets.{name}", run, possible)


def benchmarks(rng: Rng) -> Call:
    """Names of data sets that are not there."""
    name = mostly(rng, ("wine", "no such set", "../wine"), HOSTILE, 0.5)
    home = mostly(rng, (None,), HOSTILE, 0.2)
    return Call(
        "datasets.fetch_benchmark",
        lambda: datasets.fetch_benchmark(
            name, data_home=home, download_if_missing=False
        ),
        names_of(datasets.fetch_benchmark),
        allowed=(FileNotFoundError, NotADirectoryError),
    )


def blocks(rng: Rng) -> Call:
    """A fit that reads blocks."""
    X = data.numbers(rng, 2)
    cls = pick(rng, (credalis.ECM, credalis.CCM, credalis.NNEVCLUS))
    model = cls(2, max_iter=2, random_state=mostly(rng, (0,), HOSTILE, 0.1))
    if cls is credalis.NNEVCLUS:
        model.set_params(solver="adam")
    kind = int(rng.integers(5))
    parts: Any = np.array_split(X, 3)
    if kind == 0:
        parts = mostly(rng, (parts,), _NOT_CALLABLE, 0.4)
        make = lambda: sources.BatchSource(parts)  # noqa: E731
    elif kind == 1:
        parts[1] = data.dressed(rng, X, 0.6)
        make = lambda: sources.BatchSource(lambda: iter(parts))  # noqa: E731
    elif kind == 2:
        shown = data.dressed(rng, X, 0.3)
        names = mostly(rng, (None, ["a", "b"]), HOSTILE, 0.3)
        make = lambda: sources.ArraySource(shown, names)  # noqa: E731
    elif kind == 3:
        make = lambda: X  # noqa: E731
    else:
        make = lambda: sources.as_source(data.dressed(rng, X, 0.6))  # noqa: E731
    checkpoint = kind == 3

    def run() -> None:
        source = make()
        if not checkpoint:
            model.fit(source)
            return
        with tempfile.TemporaryDirectory() as folder:
            file = Checkpoint(Path(folder) / "state", 0.0)
            model.fit(X, checkpoint=file)
            again = pickle.loads(pickle.dumps(model)).fit(X, checkpoint=file)
            ensure(again.partition_ == model.partition_, "continued to another end")

    given = {sources.BatchSource, sources.ArraySource, sources.as_source}
    names = names_of(cls, cls.fit, *given) | {"batch"}
    return Call(f"{cls.__name__}.fit in blocks", run, names)


def checkpoints(rng: Rng) -> Call:
    """What may be given as a checkpoint."""
    path = mostly(rng, ("state",), HOSTILE, 0.6)
    seconds = mostly(rng, (0, 1.5), HOSTILE, 0.6)
    return Call("Checkpoint", lambda: Checkpoint(path, seconds), names_of(Checkpoint))


def saving(rng: Rng) -> Call:
    """Paths and keys."""
    made = models.saved_object(str(pick(rng, ("partition", "ECM", "EkNNclus"))))
    key = mostly(rng, (None, b"a" * 16, "k" * 20), HOSTILE, 0.2)
    other = mostly(rng, (key,), (None, b"b" * 16, *HOSTILE), 0.3)
    hostile_path = pick(rng, [v for v in HOSTILE if not isinstance(v, (int, bytes))])
    is_hostile = rng.random() < 0.2

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            made.save(path, key=key)
            ensure(os.listdir(folder) == ["model"], "more files than one")
            credalis.load(hostile_path if is_hostile else path, key=other)

    return Call(
        "save and load",
        run,
        names_of(credalis.load, made.save) | {"model", str(hostile_path)},
        allowed=(FileNotFoundError, IsADirectoryError, OSError) if is_hostile else (),
    )


def displays(rng: Rng) -> Call:
    """What a picture computes before it is drawn."""
    from credalis import plots

    made = partition(rng)
    n = len(made)
    X = data.dressed(rng, data.ordinary(rng, n, int(pick(rng, (1, 2, 3)))), 0.2)
    fitted = models.estimator("ECM")
    offered = mostly(rng, (made,), HOSTILE, 0.15)
    calls = {
        "ConsistencyDisplay.from_scores": lambda f: f(
            mostly(rng, (["a", "b"],), HOSTILE, 0.3),
            mostly(rng, ([0.1, 0.2],), HOSTILE, 0.3),
            mostly(rng, ([0.5, 0.2],), HOSTILE, 0.3),
        ),
        "ConstraintDisplay.from_pairs": lambda f: f(
            X, data.pairs(rng, n), data.pairs(rng, n)
        ),
        "CredalPartitionDisplay.from_partition": lambda f: f(
            offered, X, clear_level=mostly(rng, (0.7,), HOSTILE, 0.3)
        ),
        "MassDisplay.from_partition": lambda f: f(
            offered,
            kind=mostly(rng, ("heatmap", "bars"), HOSTILE, 0.3),
            objects=mostly(rng, (None, [0, 1]), HOSTILE, 0.3),
            order=mostly(rng, ("cluster", None), HOSTILE, 0.3),
        ),
        "DeltaBelDisplay.from_data": lambda f: f(
            X, n_clusters=mostly(rng, (None, 2), HOSTILE, 0.3)
        ),
        "FeatureDisplay.from_features": lambda f: f(X, data.labels(rng, n)),
        "HistoryDisplay.from_estimator": lambda f: f(
            mostly(rng, (fitted,), HOSTILE, 0.6)
        ),
        "ShepardDisplay.from_partition": lambda f: f(
            offered,
            data.dissimilarities(rng),
            scale=mostly(rng, (1.0, 5.0), HOSTILE, 0.4),
            n_pairs=mostly(rng, (5, 100), FEW_OR_NONSENSE, 0.2),
        ),
        "ContourDisplay.from_estimator": lambda f: f(
            fitted,
            data.dressed(rng, data.ordinary(rng, n, 2), 0.2),
            response=mostly(rng, ("plausibility", "belief"), HOSTILE, 0.3),
            grid_resolution=mostly(rng, (2, 5), FEW_OR_NONSENSE, 0.3),
        ),
    }
    name = str(pick(rng, tuple(calls)))
    cls, method = name.split(".")
    # The pictures themselves are matplotlib's.
    display = type(cls, (getattr(plots, cls),), {"plot": lambda self, **_: self})
    return Call(
        f"plots.{name}",
        lambda: calls[name](getattr(display, method)),
        names_of(getattr(display, method)) | {"partition"},
    )


def whole(rng: Rng) -> Call:
    """A fit, its file, and what the file says."""
    name = str(pick(rng, models.SAVED))
    made = models.saved_object(name)

    def run() -> None:
        made_again = pickle.loads(pickle.dumps(made))
        for first, second in zip(
            models.predictions(made_again),
            models.predictions(pickle.loads(pickle.dumps(made))),
            strict=True,
        ):
            ensure(np.array_equal(first, second), "a copy predicts otherwise")
        if hasattr(made, "partition_"):
            rows = np.zeros((1, made.n_features_in_))
            ensure_partition(accepted(made.predict_partition, rows), 1)

    return Call("copies", run)


def controls(rng: Rng) -> Call:
    """A fit that somebody listens to, and may cancel."""
    listener = mostly(rng, (None,), _NOT_CALLABLE, 0.4)
    at = int(pick(rng, (1, 2, 3, 100)))
    X = data.dressed(rng, data.numbers(rng))
    cls = pick(rng, (credalis.ECM, credalis.EVCLUS, credalis.NNEVCLUS, credalis.BPEC))

    def run() -> None:
        heard: list[Any] = []
        control = credalis.FitControl(listener)

        def listen(event: Any) -> None:
            heard.append(event)
            if len(heard) >= at:
                control.cancel()

        if listener is None:
            control = credalis.FitControl(listen)
        with control:
            model = cls(max_iter=5, n_init=2, random_state=0).fit(X)
        ensure_partition(model.partition_)

    names = names_of(cls, cls.fit, credalis.FitControl)
    return Call("FitControl", run, names, (FitCancelledError,))
