"""Several views of the same objects: groups of columns of a table, or tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from credalis._archive import Entries, Sizes, check_size
from credalis._checks import naming, shown

Indices = NDArray[np.intp]
Views = dict[str, Indices]


def are_tables(X: Any) -> bool:
    """Whether X is a mapping or list of tables instead of one."""
    if isinstance(X, Mapping):
        # Some sparse matrices are mappings, too.
        return not hasattr(X, "shape")
    if not isinstance(X, (list, tuple)) or not X:
        return False
    return all(len(getattr(each, "shape", ())) == 2 for each in X)


def joined(X: Any, views: Any) -> tuple[Any, Views | None]:
    """One table of all columns, and which of them are which view.

    What is no collection of tables is left as it is, and its views are None.

    Parameters
    ----------
    X : array-like, or mapping or list of array-likes
        Tables of the same objects.
    views : object
        The parameter; it must be None where there are several tables.
    """
    if not are_tables(X):
        return X, None
    if views is not None:
        raise ValueError(
            "views must be None where X is several tables, which are the views, got "
            f"{shown(views)}"
        )
    names, tables = _named_tables(X)
    starts = np.cumsum([0, *(table.shape[1] for table in tables)])
    columns = {
        name: np.arange(start, end)
        for name, start, end in zip(names, starts, starts[1:], strict=False)
    }
    return np.hstack(tables), columns


def joined_again(X: Any, views: Views) -> Any:
    """One table of all columns, as those of the fit were joined."""
    if not are_tables(X):
        return X
    if isinstance(X, Mapping) and set(X) == set(views):
        X = {name: X[name] for name in views}
    names, tables = _named_tables(X)
    if names != list(views):
        raise ValueError(f"X must have the views {list(views)} of the fit, got {names}")
    for name, table in zip(names, tables, strict=True):
        if table.shape[1] != len(views[name]):
            raise ValueError(
                f"view {name!r} of X must have {len(views[name])} columns as in the "
                f"fit, got {table.shape[1]}"
            )
    return np.hstack(tables)


def _named_tables(X: Any) -> tuple[list[str], list[NDArray[np.float64]]]:
    pairs = list(X.items()) if isinstance(X, Mapping) else list(enumerate(X))
    if not pairs:
        raise ValueError("X must hold at least one table, got none")
    tables = []
    for name, table in pairs:
        with naming(f"view {name!r} of X"):
            tables.append(check_array(table, dtype=np.float64))
        if len(tables[-1]) != len(tables[0]):
            raise ValueError(
                f"all views of X must have as many rows, {len(tables[0])}, got "
                f"{len(tables[-1])} in view {name!r}"
            )
    return _distinct([str(name) for name, _ in pairs]), tables


def view_columns(views: Any, n_features: int, feature_names: Any = None) -> Views:
    """Numbers of the columns of each view.

    Parameters
    ----------
    views : mapping or sequence of sequences, or None
        Columns of each view, by number or name; None: one view of all columns.
    n_features : int
        Number of columns.
    feature_names : sequence of str or None
        Their names.
    """
    if views is None:
        return {"all": np.arange(n_features)}
    is_sequence = isinstance(views, Sequence) and not isinstance(views, (str, bytes))
    if not (isinstance(views, Mapping) or is_sequence) or len(views) == 0:
        raise ValueError(
            "views must be a mapping from names to columns, or a list of lists of "
            f"columns, got {shown(views)}"
        )
    pairs = list(views.items()) if isinstance(views, Mapping) else enumerate(views)
    found = [
        (str(name), _columns(name, columns, n_features, feature_names))
        for name, columns in pairs
    ]
    _distinct([name for name, _ in found])
    return dict(found)


def _columns(
    view: Any, columns: Any, n_features: int, feature_names: Any
) -> NDArray[np.intp]:
    """Numbers of the columns of one view."""
    of_view = f"views[{view!r}]"
    if isinstance(columns, (str, bytes)) or not hasattr(columns, "__len__"):
        raise ValueError(
            f"{of_view} must be a list of columns of X, got {shown(columns)}"
        )
    known = [] if feature_names is None else list(feature_names)
    numbers = []
    for column in columns:
        is_number = isinstance(column, (int, np.integer)) and not isinstance(
            column, bool
        )
        if is_number and 0 <= column < n_features:
            numbers.append(int(column))
        elif isinstance(column, str) and column in known:
            numbers.append(known.index(column))
        else:
            what = f"numbers between 0 and {n_features - 1}"
            what += " or names of columns" if known else ""
            raise ValueError(f"{of_view} must hold {what}, got {shown(column)}")
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(
            f"{of_view} must hold at least one column and none twice, got "
            f"{shown(columns)}"
        )
    return np.array(numbers, dtype=np.intp)


# Objects of noise that views are compared with.
MAX_NOISE = 500


def uniform_noise(
    lengths: NDArray[np.float64], n_objects: int, rng: np.random.RandomState
) -> NDArray[np.float64]:
    """Objects without clusters in a box with axes of these lengths.

    Of all data with one hump, uniform ones look most as if they had clusters (as for
    the gap statistic, Tibshirani, Walther and Hastie, 2001).
    """
    return rng.uniform(-1.0, 1.0, size=(n_objects, len(lengths))) * lengths


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError(f"views must have different names, got {names}")
    return names


@dataclass(frozen=True)
class ViewsRule:
    """Columns of each view in a file; it says how many views there are."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse what are no columns of X."""
        if not isinstance(value, dict) or not value:
            raise ValueError(f"{name} must be columns of views, got {shown(value)}")
        for view, columns in value.items():
            is_array = isinstance(columns, np.ndarray) and columns.ndim == 1
            if not is_array or columns.dtype.kind != "i" or not len(columns):
                raise ValueError(f"{name}[{view!r}] must be numbers of columns")
            if columns.min() < 0 or columns.max() >= sizes["n_features"]:
                raise ValueError(
                    f"{name}[{view!r}] must be less than n_features = "
                    f"{sizes['n_features']} and not negative"
                )
        check_size(f"len({name})", "n_views", len(value), sizes)


def check_view_columns(owner: str, parameters: Entries, fitted: Entries) -> None:
    """Refuse a file in which views are not all columns, as they are unless told."""
    if parameters.get("views") is not None:
        return
    columns = np.sort(np.concatenate(list(fitted["views_"].values())))
    if not np.array_equal(columns, np.arange(fitted["n_features_in_"])):
        raise ValueError(f"{owner}.views_ must hold each column of X once")
