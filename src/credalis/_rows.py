"""Rows of whatever is a table: arrays, lists, frames, columns or views by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from credalis._checks import check_dense, is_frame, naming
from credalis.sources import as_source

Rows = NDArray[np.intp]


def check_in_memory(X: Any) -> None:
    """Refuse what fits would read in blocks, after which they know no partition."""
    if as_source(X) is not None:
        raise ValueError(
            "X must be one array or frame in memory, got batches of rows in a "
            f"{type(X).__name__}"
        )


def number_of_rows(X: Any) -> int:
    """Number of rows of a table that is in memory, or a ValueError."""
    check_dense("X", X)
    check_in_memory(X)
    try:
        n_rows = _length(X)
    except (TypeError, IndexError) as error:
        raise ValueError(f"X must have rows, got {type(X).__name__}") from error
    if n_rows == 0:
        raise ValueError("X must have rows, got none")
    return n_rows


def _length(X: Any) -> int:
    if isinstance(X, Mapping):
        lengths = {_length(part) for part in X.values()}
        if len(lengths) > 1:
            raise ValueError(
                f"X must have columns of one length, got lengths {sorted(lengths)}"
            )
        return lengths.pop() if lengths else 0
    return int(X.shape[0] if hasattr(X, "shape") else len(X))


def take_rows(X: Any, rows: Rows, *, is_pairwise: bool = False) -> Any:
    """Some rows of a table; of a matrix of pairs also those columns."""
    if isinstance(X, Mapping):
        return {
            name: take_rows(part, rows, is_pairwise=is_pairwise)
            for name, part in X.items()
        }
    if is_pairwise:
        with naming("X"):
            matrix = np.asarray(X)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                "X must be a square matrix of dissimilarities, got shape "
                f"{matrix.shape}"
            )
        return matrix[np.ix_(rows, rows)]
    if type(X).__module__.partition(".")[0] == "pyarrow":
        # scikit-learn 1.6 takes rows of pandas and polars alone.
        return X.take(rows)
    if is_frame(X):
        return _safe_indexing(X, rows)
    is_array = hasattr(X, "shape") and not isinstance(X, memoryview)
    return (X if is_array else np.asarray(X))[rows]
