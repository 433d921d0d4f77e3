"""Dask arrays and data frames as sources, and lazy predictions about them."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from credalis._parallel import arrived, sent_out
from credalis.sources._base import Array, Source
from credalis.sources._placement import leveled


class DaskSource(Source):
    """The partitions of a Dask array or data frame, kept by the workers while in use.

    Parameters
    ----------
    collection : dask array of shape (n_rows, n_features) or dask data frame
        Numbers.
    """

    def __init__(self, collection: Any) -> None:
        self._delayed, self.feature_names = _partitions(collection)
        self.n_rows = None
        # Of a data frame whose columns are known, the number of columns is.
        self.n_features = int(collection.shape[1])

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Rows of each partition."""
        count = _dask().delayed(len)
        sizes = np.array(_dask().compute(*(count(part) for part in self._parts_held)))
        self.n_rows = int(sizes.sum())
        return sizes

    def level(self) -> None:
        """Move partitions so that all workers have about as many rows."""
        self._parts_held = leveled(self._parts_held, self.sizes.tolist())

    def each(
        self, function: Callable[..., Any], arguments: Sequence[Any]
    ) -> tuple[Any, ...]:
        """What a function of a partition and its argument returns, for each of them."""
        dask = _dask()
        with sent_out(function) as sent:
            delayed = dask.delayed(sent, pure=False)
            answers = dask.compute(
                *(
                    delayed(part, argument)
                    for part, argument in zip(self._parts_held, arguments, strict=True)
                )
            )
        return tuple(arrived(answers))

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function returns, computed by a worker: the client may be small."""
        dask = _dask()
        with sent_out(function) as sent:
            answers = dask.compute(dask.delayed(sent)(*arguments))
        (result,) = arrived(answers)
        return result

    def sample(self, rng: np.random.RandomState, size: int) -> Array:
        """Rows drawn without replacement, all with the same chance, in their order."""
        assert self.sizes is not None, "counts the rows"
        return super().sample(rng, size)

    def fingerprint(self) -> str:
        """There is none: work that is lost is done again by Dask."""
        raise ValueError("checkpoint must be None for a Dask collection")

    def _parts(self, max_rows: int) -> Iterator[Array]:
        for part in self._parts_held:
            yield from _dask().compute(part)

    def _rows(self, chosen: NDArray[np.intp]) -> Array:
        edges = np.concatenate([[0], np.cumsum(self.sizes)])
        cuts = np.searchsorted(chosen, edges)
        numbers = [
            chosen[cuts[k] : cuts[k + 1]] - edges[k] for k in range(len(self.sizes))
        ]
        return np.concatenate(self.each(_taken, numbers))

    @cached_property
    def _parts_held(self) -> tuple[Any, ...]:
        """Checked partitions, computed once and kept by the workers."""
        dask = _dask()
        check = dask.delayed(_checked)
        return dask.persist(*(check(part) for part in self._delayed))


def lazily(model: Any, X: Any, method: str) -> Any:
    """What a method of a fitted model says about a Dask collection, not yet computed.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : dask array or data frame
        Rows.
    method : {"predict", "predict_proba", "transform"}
        The method to call.

    Returns
    -------
    dask array of shape (n_rows,) or (n_rows, n_columns)
    """
    import dask.array as da

    check_is_fitted(model)
    parts, names = _partitions(X)
    known = getattr(model, "feature_names_in_", None)
    if names is not None and known is not None and list(names) != list(known):
        raise ValueError(
            "X must have the columns that the model was fitted to, in their order: "
            f"{', '.join(known)}; got {', '.join(names)}"
        )
    n_columns = {
        "predict_proba": model.focal_sets_.n_clusters,
        "transform": len(model.focal_sets_),
    }
    tail = (n_columns[method],) if method in n_columns else ()
    dtype = np.float64 if tail else np.intp
    lengths = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(parts)
    predicted = _dask().delayed(_predicted)
    blocks = [
        da.from_delayed(predicted(part, model, method), (length, *tail), dtype=dtype)
        for part, length in zip(parts, lengths, strict=True)
    ]
    return da.concatenate(blocks)


def _partitions(X: Any) -> tuple[list[Any], tuple[str, ...] | None]:
    """Delayed partitions, and the names of the columns if there are any."""
    columns = getattr(X, "columns", None)
    if columns is None and getattr(X, "ndim", None) != 2:
        raise ValueError(
            "X must be a Dask array of two dimensions or a Dask data frame, got "
            f"{type(X).__name__}"
        )
    if columns is not None:
        return list(X.to_delayed()), tuple(str(name) for name in columns)
    return list(X.rechunk({1: -1}).to_delayed().ravel()), None


def _checked(part: Any) -> Array:
    """A partition as an array of finite numbers."""
    try:
        rows = np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers in all partitions: {error}") from error
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(
            f"X must be finite, got {rows[row, column]} in row {row}, column {column} "
            "of a partition"
        )
    return rows


def _taken(rows: Array, chosen: NDArray[np.intp]) -> Array:
    return rows[chosen]


def _predicted(part: Any, model: Any, method: str) -> NDArray[Any]:
    if not hasattr(part, "columns") and hasattr(model, "feature_names_in_"):
        # An array has the columns by their place; nobody need be warned of that.
        model = type(model).from_state(model.to_state())
        del model.feature_names_in_
    return np.asarray(getattr(model, method)(part))


def _dask() -> Any:
    try:
        import dask
    except ImportError as error:
        raise ImportError(
            'Dask collections need Dask: pip install "credalis[dask]"'
        ) from error
    return dask
