"""Fits and predictions of all estimators."""

import pickle
from typing import Any

import numpy as np
from sklearn.base import clone
from tests.fuzz import data, models, parameters
from tests.fuzz.case import (
    Call,
    accepted,
    ensure,
    ensure_finite,
    ensure_labels,
    ensure_partition,
    names_of,
)
from tests.fuzz.values import FEW_OR_NONSENSE, HOSTILE, mostly, pick

import credalis
from credalis.cluster import estimator_classes

Rng = np.random.Generator

_CLASSES = estimator_classes()
# Those that take longest come less often.
_OFTEN = [
    cls for cls in _CLASSES for _ in range(1 if cls.__name__ == "Consensus" else 4)
]


def fit(rng: Rng) -> Call:
    """Any estimator with any parameters on any data, with side information."""
    cls = pick(rng, _OFTEN)
    X = data.numbers(rng)
    n_clusters = int(pick(rng, (1, 2, 2, 2, 3, 3, 4, 6)))
    share = pick(rng, (0.0, 0.0, 0.1, 0.5))
    defaults = cls().get_params(deep=False)
    given = parameters.drawn(rng, cls, X, n_clusters, share)
    if "n_clusters" in defaults:
        given.setdefault("n_clusters", n_clusters)
    n_asked = given.get("n_clusters")
    is_large = isinstance(n_asked, int) and n_asked == 12
    if _is_text(given.get("focal_sets"), "full") and is_large:
        # 4096 sets are honest work that takes its time.
        given["n_clusters"] = 7
    is_matrix = _is_text(given.get("metric"), "precomputed")
    if not is_matrix and getattr(cls, "_reads_dissimilarities", False):
        is_matrix = rng.random() < 0.1
        if is_matrix:
            given["metric"] = "precomputed"
    shown = data.dissimilarities(rng, X) if is_matrix else data.dressed(rng, X)
    told = side_information(rng, cls, X, n_clusters)
    return Call(
        f"{cls.__name__}.fit",
        lambda: _fit(rng, cls, given, shown, told),
        names_of(cls, cls.fit) | {"δ0"},
        # The file that a checkpoint names may be none.
        allowed=(OSError,) if told.get("checkpoint") is not None else (),
    )


def _is_text(value: Any, text: str) -> bool:
    return isinstance(value, str) and value == text


def side_information(rng: Rng, cls: type, X: np.ndarray, n_clusters: int) -> dict:
    """Labels, pairs, weights and dissimilarities for those that take some."""
    if rng.random() < 0.65:
        return {}
    known = names_of(cls.fit)
    told = {}
    for name in ("must_link", "cannot_link"):
        if name in known and rng.random() < 0.5:
            told[name] = data.pairs(rng, len(X))
    if "partial_labels" in known and rng.random() < 0.4:
        told["partial_labels"] = data.labels(rng, len(X), n_clusters)
    if "dissimilarities" in known and rng.random() < 0.15:
        told["dissimilarities"] = data.dissimilarities(rng, X)
    if "sample_weight" in known and rng.random() < 0.4:
        told["sample_weight"] = data.weights(rng, len(X))
    if "checkpoint" in known and rng.random() < 0.02:
        told["checkpoint"] = pick(rng, HOSTILE)
    if rng.random() < 0.05:
        told["y"] = data.labels(rng, len(X), n_clusters)
    return told


def _fit(rng: Rng, cls: type, given: dict, shown: Any, told: dict) -> None:
    model = cls(**given).fit(shown, **told)
    ensure_partition(model.partition_)
    n_samples = len(model.partition_)
    n_clusters = model.focal_sets_.n_clusters
    ensure_labels(model.labels_, n_samples, n_clusters)
    ensure_finite(model.history_)
    kind = rng.integers(6)
    if kind == 0:
        labels = accepted(model.predict, shown)
        ensure_labels(labels, n_samples, n_clusters)
    elif kind == 1 and isinstance(shown, np.ndarray):
        rows = data.new_rows(rng, shown)
        if _is_text(given.get("metric"), "precomputed"):
            rows = np.abs(rows)
        ensure_partition(accepted(model.predict_partition, rows), len(rows))
    elif kind == 2 and hasattr(model, "reference_"):
        p_values = accepted(model.outlier_p_values, shown)
        ensure(((p_values >= 0) & (p_values <= 1)).all(), "p-values out of range")
    elif kind == 3:
        copy = pickle.loads(pickle.dumps(model)) if _can_be_pickled(given) else model
        same = copy.predict_partition(shown) == model.predict_partition(shown)
        ensure(same, "a copy predicts otherwise")


def _can_be_pickled(given: dict) -> bool:
    try:
        pickle.dumps(given)
    except Exception:
        return False
    return True


def construct(rng: Rng) -> Call:
    """Parameters alone, nearly all of them hostile."""
    cls = pick(rng, _CLASSES)
    given = parameters.drawn(rng, cls, models.ROWS, 2, 0.9)
    return Call(
        f"{cls.__name__} parameters",
        lambda: ensure_partition(clone(cls(**given)).fit(models.ROWS).partition_),
        names_of(cls, cls.fit) | {"δ0"},
    )


def predict(rng: Rng) -> Call:
    """Finite rows, which all have masses."""
    name = str(pick(rng, models.ESTIMATORS))
    model, X = models.estimator(name), models.training_data(name)
    rows = data.new_rows(rng, X)
    if _is_matrix(model):
        rows = np.abs(rows)
    verb = str(pick(rng, ("predict", "predict_proba", "transform", "p", "partition")))
    return Call(f"{type(model).__name__}.predict", lambda: _ask(model, verb, rows))


def _is_matrix(model: Any) -> bool:
    return model.get_params(deep=False).get("metric") == "precomputed"


def _ask(model: Any, verb: str, rows: np.ndarray) -> None:
    n_clusters = model.focal_sets_.n_clusters
    if verb == "predict":
        ensure_labels(accepted(model.predict, rows), len(rows), n_clusters)
    elif verb == "partition":
        ensure_partition(accepted(model.predict_partition, rows), len(rows))
    elif verb == "p":
        if hasattr(model, "reference_"):
            p_values = accepted(model.outlier_p_values, rows)
            ensure(((p_values >= 0) & (p_values <= 1)).all(), "p-values out of range")
    else:
        values = accepted(getattr(model, verb), rows)
        ensure(np.isfinite(values).all() and (values >= 0).all(), "NaN or negative")
        ensure(np.abs(values.sum(axis=1) - 1).max() < 1e-9, "sums that are not 1")


def predict_hostile(rng: Rng) -> Call:
    """Rows as users may give them, and a level or rate that they may ask for."""
    name = str(pick(rng, models.ESTIMATORS))
    model = models.saved_object("calibrated") if rng.random() < 0.2 else None
    model = models.estimator(name) if model is None else model
    n_features = model.n_features_in_
    X = data.numbers(rng, n_features if rng.random() < 0.9 else None)
    shown = data.dressed(rng, np.abs(X) if _is_matrix(model) else X, 0.5)
    asked = str(pick(rng, ("predict", "transform", "flag", "sets", "p", "score")))
    names = {
        "X",
        "level",
        "rate",
        "fdr",
        "calibrate",
        "empty_set",
        type(model).__name__,
    }
    level = mostly(rng, (0.5, 0.9), HOSTILE, 0.5)
    return Call(
        f"{type(model).__name__}.predict on anything",
        lambda: _ask_anything(model, asked, shown, level),
        names,
    )


def _ask_anything(model: Any, asked: str, shown: Any, level: Any) -> None:
    if asked == "flag":
        flags = model.flag_outliers(shown, rate=level)
        ensure(flags.dtype == bool, "flags that are no truth values")
        flags = model.flag_outliers(shown, fdr=level)
        ensure(flags.dtype == bool, "flags that are no truth values")
    elif asked == "sets":
        sets = model.predict_sets(shown, level)
        ensure(sets.any(axis=1).all(), "an empty set")
    elif asked == "p":
        ensure_finite(model.outlier_p_values(shown))
    elif asked == "score":
        if hasattr(model, "score"):
            ensure_finite(model.score(shown))
    else:
        values = getattr(model, asked)(shown)
        ensure_finite(values)


def calibrate(rng: Rng) -> Call:
    """Levels for sets of clusters."""
    name = str(pick(rng, ("ECM", "EkNNclus", "BPEC", "NNEVCLUS", "ECM one")))
    model = models.estimator(name)
    n = int(pick(rng, (5, 20, 70, 70, 120)))
    X = data.ordinary(rng, n, model.n_features_in_)
    target = mostly(rng, ("labels", "labels", "labels", "replicate"), HOSTILE, 0.1)
    labels = rng.integers(3, size=n) if rng.random() < 0.7 else data.labels(rng, n)
    n_refits = mostly(rng, (1, 2), FEW_OR_NONSENSE, 0.1)
    refit = mostly(rng, (False, False, True), HOSTILE, 0.1)
    shown = data.dressed(rng, X, 0.1)
    asked = {"refit": refit, "n_refits": n_refits}
    return Call(
        "calibrate",
        lambda: _calibrate(model, shown, target, labels, asked),
        names_of(model.calibrate, type(model)),
    )


def _calibrate(model: Any, X: Any, target: Any, labels: Any, asked: dict) -> None:
    model = pickle.loads(pickle.dumps(model))
    # A start is enough.
    if "max_iter" in model.get_params():
        model.set_params(max_iter=3)
    model.calibrate(X, target, labels, **asked)
    rows = np.zeros((2, model.n_features_in_))
    ensure(accepted(model.predict_sets, rows, 0.5).any(axis=1).all(), "an empty set")


def stream(rng: Rng) -> Call:
    """A network that learns from batches."""
    n_clusters = int(pick(rng, (1, 2, 3)))
    model = credalis.NNEVCLUS(n_clusters, max_iter=3, random_state=0)
    d = int(pick(rng, (1, 2, 3)))
    batches = [data.dressed(rng, data.numbers(rng, d), 0.05) for _ in range(2)]
    return Call(
        "NNEVCLUS.partial_fit",
        lambda: _stream(model, batches, d),
        names_of(type(model), type(model).fit),
    )


def _stream(model: Any, batches: list, d: int) -> None:
    for batch in batches:
        model.partial_fit(batch)
    if model.n_features_in_ == d:
        ensure_partition(accepted(model.predict_partition, np.zeros((1, d))), 1)
