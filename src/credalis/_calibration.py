"""Thresholds of a fitted model for sets of clusters with a level.

They come from labelled rows, from clusterings of other rows, or from data drawn from
mixtures; `credalis._coverage` has the mathematics.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from credalis._checks import (
    check_choice,
    check_dense,
    check_flag,
    check_integer,
    naming,
)
from credalis._coverage import (
    TARGETS,
    CoverageCalibration,
    conformal_thresholds,
    matched_clusters,
    most_cautious,
    right_probabilities,
    shared_mass,
)
from credalis._worlds import fitted_worlds
from credalis.partition import CredalPartition

if TYPE_CHECKING:
    from credalis.cluster._framework._estimator import BaseCredalClusterer

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

# Labels that find out which class is which cluster, for each cluster; the rest, at
# least half of them, calibrates.
_LABELS_PER_CLUSTER = 10

# For a replication, share of the rows that calibrate, and share of the others that a
# clustering is made of: no more than half, so that clusterings differ.
_CALIBRATING_SHARE = 1 / 3
_CLUSTERED_SHARE = 1 / 2

# Fewer rows say nothing even about moderate levels.
_MIN_LABELS = 20
_MIN_ROWS = 60

# Share of the rows that the model is refitted to for a replication.
_REFIT_SHARE = 0.4

# Rows of a simulation at most, and new rows of it that are looked at.
_SIMULATED_ROWS = 1000
_TESTED_ROWS = 500

# Larger ones are not exact as floats.
_LARGEST_LABEL = 2.0**53

# Rows whose masses are computed together.
_BLOCK_ROWS = 2**16


def calibration_of(
    estimator: BaseCredalClusterer,
    X: Any,
    target: str,
    labels: ArrayLike | None,
    *,
    refit: bool,
    n_refits: int,
) -> CoverageCalibration:
    """The thresholds of a fitted estimator; with ``refit`` it is fitted again before.

    Parameters are those of `BaseCredalClusterer.calibrate`.
    """
    _check_arguments(X, target, labels, refit, n_refits)
    check_dense("X", X)
    if not hasattr(X, "shape") or isinstance(X, memoryview):
        with naming("X"):
            X = np.asarray(X)
    if len(X.shape) < 2:
        raise ValueError(f"X must have rows and columns, got shape {X.shape}")
    if refit or target != "labels":
        _check_repeatable(estimator, X, target)
    rng = check_random_state(estimator.random_state)
    if target == "model":
        return _simulated(estimator, X, n_refits, rng)
    rows = np.arange(X.shape[0])
    groups: NDArray[np.intp] | None = None
    classes: list[Any] = []
    if labels is not None:
        classes, groups = _known_classes(labels, len(rows))
        rows = np.flatnonzero(groups >= 0)
    rows = rng.permutation(rows)
    if refit:
        n_clusters = estimator._parameter("n_clusters")
        if isinstance(n_clusters, int):
            # Before the model that is there is lost.
            _check_classes(classes, n_clusters)
        fitted, rows = _parted(rows, X.shape[0], target)
        estimator.fit(_safe_indexing(X, fitted))
    elif estimator._remembered is not None:
        _check_new(estimator, _safe_indexing(X, rows), target)
    if groups is None:
        return _replicated(estimator, X, rows, n_refits, rng)
    return _labelled(estimator, _safe_indexing(X, rows), groups[rows], classes)


def _check_arguments(
    X: Any, target: str, labels: ArrayLike | None, refit: bool, n_refits: int
) -> None:
    """Refuse what does not go together, before any work."""
    check_choice("target", target, TARGETS)
    check_flag("refit", refit)
    check_integer("n_refits", n_refits, at_least=1)
    if hasattr(X, "__dask_graph__"):
        raise ValueError(
            "X must not be a Dask collection for calibrate, which needs a few hundred "
            "rows: call compute on some of them"
        )
    if (labels is not None) != (target == "labels"):
        expected = "the classes of rows" if target == "labels" else "None"
        raise ValueError(
            f"labels must be {expected} for target={target!r}, got "
            f"{'None' if labels is None else 'labels'}"
        )
    if refit and target == "model":
        raise ValueError(
            "refit must be False for target='model', which may use the rows of the fit"
        )


def _check_repeatable(estimator: BaseCredalClusterer, X: Any, target: str) -> None:
    """Refuse a method that cannot be applied to other rows as it stands."""
    name = type(estimator).__name__
    what = "refit=True" if target == "labels" else f"target={target!r}"
    if target != "labels" and X.shape[0] < _MIN_ROWS:
        raise ValueError(
            f"X must have at least {_MIN_ROWS} rows for {what}, got {X.shape[0]}"
        )
    has_own = getattr(estimator, "has_given_dissimilarities_", False)
    if estimator._is_precomputed or has_own:
        raise ValueError(
            f"{what} needs {name} to be fitted to attributes alone, because other rows "
            "are clustered again: with dissimilarities use target='labels' and new rows"
        )
    init = estimator._parameter("init")
    prototypes = (estimator._parameter("n_clusters"), *X.shape[1:])
    is_about_rows = isinstance(init, CredalPartition) or not (
        init is None or isinstance(init, str) or np.shape(init) == prototypes
    )
    if is_about_rows:
        raise ValueError(
            f"{what} needs a start of {name} that makes sense for other rows, got an "
            "init about the rows of the fit"
        )


def _labelled(
    estimator: BaseCredalClusterer,
    X: Any,
    groups: NDArray[np.intp],
    classes: list[Any],
) -> CoverageCalibration:
    """Thresholds that cover the clusters of the true classes; rows in random order."""
    n_clusters = estimator.focal_sets_.n_clusters
    _check_classes(classes, n_clusters)
    pignistic = _pignistic(estimator, X)
    # The first rows say which class is which cluster, before the others are looked at.
    n_first = min(len(groups) // 2, _LABELS_PER_CLUSTER * n_clusters)
    shared = shared_mass(groups[:n_first], len(classes), pignistic[:n_first])
    clusters = matched_clusters(shared)
    right = clusters[groups[n_first:]]
    probabilities = right_probabilities(pignistic[n_first:], right)
    names = dict(zip(clusters.tolist(), classes, strict=True))
    return CoverageCalibration(
        "labels",
        n_clusters,
        len(probabilities),
        *conformal_thresholds(probabilities),
        classes=tuple(names.get(k) for k in range(n_clusters)),
    )


def _replicated(
    estimator: BaseCredalClusterer,
    X: Any,
    rows: Rows,
    n_refits: int,
    rng: np.random.RandomState,
) -> CoverageCalibration:
    """Thresholds that cover what clusterings of other rows say."""
    n_new = round(_CALIBRATING_SHARE * len(rows))
    new = _safe_indexing(X, rows[:n_new])
    others = rows[n_new:]
    pignistic = _pignistic(estimator, new)
    found = []
    for _ in range(n_refits):
        part = rng.permutation(others)[: round(_CLUSTERED_SHARE * len(others))]
        found.append(_second_probabilities(estimator, X, part, new, pignistic, rng))
    return CoverageCalibration(
        "replicate",
        estimator.focal_sets_.n_clusters,
        n_new,
        *conformal_thresholds(np.stack(found, axis=1)),
    )


def _second_probabilities(
    estimator: BaseCredalClusterer,
    X: Any,
    rows: Rows,
    new: Any,
    pignistic: Array,
    rng: np.random.RandomState,
) -> Array:
    """Probability that a model gives to what a clustering of other rows says."""
    known = _safe_indexing(X, np.sort(rows))
    other = _unfitted(estimator, rng).fit(known)
    # Aligned on the rows that it was made from: the new ones stay untouched.
    shared = shared_mass(
        _labels(other, known),
        other.focal_sets_.n_clusters,
        _pignistic(estimator, known),
    )
    return right_probabilities(pignistic, matched_clusters(shared)[_labels(other, new)])


def _simulated(
    estimator: BaseCredalClusterer,
    X: Any,
    n_refits: int,
    rng: np.random.RandomState,
) -> CoverageCalibration:
    """Thresholds that cover the components of mixtures, the lower one of two worlds."""
    n_clusters = estimator.focal_sets_.n_clusters
    rows = estimator._validate(X, reset=False)
    n_rows = min(len(rows), _SIMULATED_ROWS)
    if len(rows) > n_rows:
        rows = rows[rng.choice(len(rows), n_rows, replace=False)]
    tables = []
    for world in fitted_worlds(rows, n_clusters, rng):
        found = [
            _component_probabilities(
                _unfitted(estimator, rng, has_matrix=True), world, n_rows, rng
            )
            for _ in range(n_refits)
        ]
        tables.append(conformal_thresholds(np.concatenate(found)))
    return CoverageCalibration("model", n_clusters, n_rows, *most_cautious(tables))


def _component_probabilities(
    model: BaseCredalClusterer, world: Any, n_rows: int, rng: np.random.RandomState
) -> Array:
    """What a model fitted to a drawn table says about new rows of known components."""
    X, _ = world.draw(n_rows, rng)
    known, new = world.draw(n_rows, rng), world.draw(_TESTED_ROWS, rng)
    with warnings.catch_warnings():
        # They would be about data that nobody has given.
        warnings.simplefilter("ignore")
        model.fit(X)
    shared = shared_mass(known[1], len(world.weights), _pignistic(model, known[0]))
    clusters = matched_clusters(shared)
    return right_probabilities(_pignistic(model, new[0]), clusters[new[1]])


def _check_classes(classes: list[Any], n_clusters: int) -> None:
    if len(classes) > n_clusters:
        raise ValueError(
            "labels must have at most as many classes as there are clusters, got "
            f"{len(classes)} classes and {n_clusters} clusters: a class without a "
            "cluster cannot be covered. Fit with more clusters, or merge classes"
        )


def _known_classes(
    labels: ArrayLike, n_rows: int
) -> tuple[list[Any], NDArray[np.intp]]:
    """The classes as plain values, and the number of each row's, -1 if not known."""
    with naming("labels"):
        values = np.asarray(labels)
    if values.shape != (n_rows,):
        raise ValueError(
            f"labels must have shape ({n_rows},), one label for each row of X, got "
            f"shape {values.shape}"
        )
    if values.dtype.kind == "O" and all(isinstance(each, str) for each in values):
        values = values.astype(str)
    if (
        values.dtype.kind == "f"
        and ((values == np.round(values)) & (np.abs(values) < _LARGEST_LABEL)).all()
    ):
        values = values.astype(np.int64)
    if values.dtype.kind not in "iuU":
        raise ValueError(
            "labels must be integers, -1 where they are not known, or strings, '' "
            f"where they are not known, got an array of {values.dtype}"
        )
    is_known = values != ("" if values.dtype.kind == "U" else -1)
    classes, numbers = np.unique(values[is_known], return_inverse=True)
    if len(numbers) < _MIN_LABELS:
        raise ValueError(
            f"labels must be known for at least {_MIN_LABELS} rows, better for 60 to "
            f"120, got {len(numbers)}"
        )
    groups = np.full(n_rows, -1, dtype=np.intp)
    groups[is_known] = numbers
    return classes.tolist(), groups


def _parted(rows: Rows, n_rows: int, target: str) -> tuple[Rows, Rows]:
    """Rows to fit the model to, ascending, and those that remain to calibrate it."""
    if target == "replicate":
        n_fitted = round(_REFIT_SHARE * n_rows)
        return np.sort(rows[:n_fitted]), rows[n_fitted:]
    # Where most rows have labels, half of all rows remain for the fit.
    rows = rows[: max(n_rows // 2, 1)]
    is_fitted = np.ones(n_rows, dtype=bool)
    is_fitted[rows] = False
    return np.flatnonzero(is_fitted), rows


def _check_new(estimator: BaseCredalClusterer, X: Any, target: str) -> None:
    """Refuse rows of the fit, about which a model is surer than about others."""
    assert estimator._remembered is not None
    rows = estimator._validate(X, reset=False, ensure_min_samples=1)
    n_known = estimator._remembered.n_among(rows)
    if n_known:
        raise ValueError(
            f"X must hold new rows for target={target!r}, but about {n_known} of "
            f"{len(rows)} are among those that the model was fitted to: give others, "
            "or refit=True to fit the model without them"
        )


def _unfitted(
    estimator: BaseCredalClusterer,
    rng: np.random.RandomState,
    *,
    has_matrix: bool = False,
) -> BaseCredalClusterer:
    """The same method with another seed, in silence.

    A number of clusters that was left open is the one that was found. With
    ``has_matrix`` it is for the matrix that a table has become.
    """
    seed = rng.randint(np.iinfo(np.int32).max)
    model = clone(estimator).set_params(random_state=seed, verbose=0)
    if isinstance(estimator._parameter("n_clusters"), str):
        model.set_params(n_clusters=estimator.focal_sets_.n_clusters)
    if has_matrix and hasattr(estimator, "preparation_"):
        model.set_params(metric=estimator.preparation_.gower())
    return model


def _blocks(X: Any) -> list[Any]:
    n_rows = X.shape[0]
    starts = range(0, n_rows, _BLOCK_ROWS)
    return [
        _safe_indexing(X, np.arange(start, min(start + _BLOCK_ROWS, n_rows)))
        for start in starts
    ]


def _labels(estimator: BaseCredalClusterer, X: Any) -> NDArray[np.intp]:
    """Clusters of the rows, some of them at a time."""
    return np.concatenate([estimator.predict(block) for block in _blocks(X)])


def _pignistic(estimator: BaseCredalClusterer, X: Any) -> Array:
    """Probabilities of the clusters, some rows at a time."""
    return np.concatenate([estimator.predict_proba(block) for block in _blocks(X)])
