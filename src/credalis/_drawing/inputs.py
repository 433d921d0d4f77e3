"""Checks of what pictures are made from: estimators, features, names, classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array

from credalis._checks import naming, shown
from credalis.partition import CredalPartition


def fitted(estimator: Any, attribute: str) -> Any:
    """A fitted attribute, or a NotFittedError (a ValueError) that names it."""
    value = getattr(estimator, attribute, None)
    if value is None:
        raise NotFittedError(
            f"estimator must be fitted and have {attribute}, got "
            f"{type(estimator).__name__} without it"
        )
    return value


def check_partition(value: Any) -> Any:
    """A credal partition, or a ValueError that names it."""
    if not isinstance(value, CredalPartition):
        raise ValueError(f"partition must be a CredalPartition, got {shown(value)}")
    return value


def seen_by(estimator: Any, X: Any) -> Any:
    """X as an estimator sees it: of a table, if it was fitted to one, the matrix."""
    preparation = getattr(estimator, "preparation_", None)
    if preparation is None:
        return X
    if isinstance(X, np.ndarray) and X.shape[1:] == (len(preparation.feature_names),):
        return X  # it is the matrix
    return estimator._validate(X, reset=False, ensure_min_samples=1)


def check_features(
    X: ArrayLike, n_samples: int | None = None, *, name: str = "X"
) -> NDArray[np.float64]:
    """X as a finite float64 matrix with one row for each object."""
    with naming(name):
        array = check_array(X, dtype=np.float64, input_name=name)
    if n_samples is not None and len(array) != n_samples:
        raise ValueError(
            f"X must have one row for each of the {n_samples} objects of the "
            f"partition, got {len(array)} rows"
        )
    return array


def check_feature_names(
    feature_names: Sequence[str] | None, X: Any, n_features: int, estimator: Any = None
) -> list[str]:
    """The names given, those of a data frame, those the estimator saw, or numbers."""
    if feature_names is None:
        feature_names = getattr(X, "columns", None)
    if feature_names is None and hasattr(estimator, "preparation_"):
        feature_names = estimator.preparation_.feature_names
    if feature_names is None:
        feature_names = getattr(estimator, "feature_names_in_", None)
    if feature_names is None:
        return [f"feature {j}" for j in range(n_features)]
    return check_names("feature_names", feature_names, n_features, "features")


def check_names(name: str, names: Sequence[str], count: int, what: str) -> list[str]:
    """As many names as there are things to name, as text."""
    # Of a frame, which counts rows, the names of its columns are listed.
    try:
        listed = [] if isinstance(names, str) else [str(each) for each in names]
        is_right = not isinstance(names, str) and len(names) == len(listed) == count
    except TypeError:
        is_right = False
    if not is_right:
        raise ValueError(
            f"{name} must hold one name for each of the {count} {what}, got "
            f"{names!r:.80}"
        )
    return listed


def check_classes(labels: ArrayLike, n_samples: int) -> NDArray[np.intp]:
    """Labels 0, 1, ... with -1 for none, (n_samples,), or a ValueError."""
    with naming("labels"):
        array = np.asarray(labels)
    is_label = array.shape == (n_samples,) and array.dtype.kind in "iu"
    if not is_label or array.min(initial=0) < -1:
        raise ValueError(
            f"labels must be {n_samples} integers, 0, 1, ... or -1 for none, got "
            f"{labels!r:.80}"
        )
    return array.astype(np.intp)


def transformed(transformer: Any, X: Any) -> NDArray[np.float64]:
    """Features of X under a fitted transformer, (n_samples, n_features_out)."""
    if not hasattr(transformer, "transform"):
        raise ValueError(
            "transformer must have transform, got "
            f"{type(transformer).__name__} without it"
        )
    return np.asarray(transformer.transform(X), dtype=np.float64)
