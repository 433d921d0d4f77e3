"""What a report is about: the result, the objects, and the table a reader knows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from credalis._drawing.inputs import check_features, seen_by
from credalis.dissimilarity import Gower
from credalis.partition import CLEAR_LEVEL, CredalPartition, Verdicts
from credalis.report._content.columns import Column, columns_of
from credalis.report._content.text import plain

# How scikit-learn writes a step that does nothing.
_PASSED = "passthrough"


@dataclass(frozen=True, eq=False)
class Subject:
    """The checked arguments of `report`.

    Parameters
    ----------
    partition : CredalPartition
    verdicts : Verdicts
        Which objects are clear, between clusters, and outliers.
    estimator : object or None
        What made the partition, if it is known.
    X : array-like
        What the estimator was fitted to, as given.
    matrix : array of shape (n_samples, n_columns)
        X as checked numbers.
    columns : list of Column
        The table as the reader knows it; empty for dissimilarities without one.
    feature_names : list of str or None
        Names of the columns of X, if they are known.
    names : list of str
        Names of the objects, no two alike.
    has_names : bool
        Whether the names are more than row numbers.
    dissimilarities : array-like or None
        What ``fit`` was given beside X.
    described : list of Column
        Columns that the objects were not compared by.
    cluster_names : list of str or None
        Names of the clusters, if they have some.
    steps : list
        Transformers of a pipeline that made X of the table, in their order.
    pipeline : tuple of a Pipeline and what it was fitted to, or None
        If the result was one, and nothing else is the table.
    """

    partition: CredalPartition
    verdicts: Verdicts
    estimator: Any
    X: Any
    matrix: NDArray[np.float64]
    columns: list[Column]
    feature_names: list[str] | None
    names: list[str]
    has_names: bool
    dissimilarities: Any
    described: list[Column] = field(default_factory=list)
    cluster_names: list[str] | None = None
    steps: list[Any] = field(default_factory=list)
    pipeline: tuple[Any, Any] | None = None

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return self.partition.n_samples

    @property
    def is_precomputed(self) -> bool:
        """Whether X holds dissimilarities."""
        return _is_precomputed(self.estimator)

    @property
    def compared_by(self) -> list[str] | None:
        """Names of what the objects are compared by, if they are known."""
        if isinstance(getattr(self.estimator, "metric_", None), Gower) and self.columns:
            # Several columns of X stand for one of the table.
            return [column.name for column in self.columns]
        return self.feature_names

    @cached_property
    def groups(self) -> NDArray[np.intp]:
        """Most plausible cluster of each object, -1 for outliers, (n_samples,)."""
        return np.where(self.verdicts.is_outlier, -1, self.partition.labels)

    @cached_property
    def numeric(self) -> list[Column]:
        """Columns of numbers that are not all equal."""
        return [column for column in self.columns if column.is_varying]

    def title(self, i: int) -> str:
        """How an object is called in a sentence."""
        return self.names[i] if self.has_names else f"object {i}"

    def largest_masses(self, i: int, n_most: int) -> list[tuple[str, str]]:
        """Sets that an object has most mass on, and the masses, for a reader."""
        masses, names = self.partition.masses[i], self.partition.focal_sets.names
        order = np.argsort(-masses, kind="stable")[:n_most]
        return [(names[j], f"{masses[j]:.2f}") for j in order if masses[j] >= 0.005]

    def sample(self, n_most: int, keep: NDArray[np.intp]) -> NDArray[np.intp]:
        """Ascending row numbers of all objects, or of those to keep and others.

        The others are chosen at random, always the same ones.
        """
        if self.n_samples <= n_most:
            return np.arange(self.n_samples)
        rng = check_random_state(0)
        chosen = rng.choice(self.n_samples, n_most, replace=False)
        return np.union1d(chosen, keep)


def subject_of(
    result: Any,
    X: Any,
    dissimilarities: Any,
    data: Any,
    ids: Any,
    clear_level: float = CLEAR_LEVEL,
    *,
    described: Sequence[str] = (),
    cluster_names: Sequence[str] | None = None,
) -> Subject:
    """The arguments of `report`, checked."""
    steps: list[Any] = []
    made_names = pipeline = None
    if isinstance(result, Pipeline):
        if data is None or hasattr(X, "columns"):
            pipeline = (result, X)
        data = X if data is None else data
        X, made_names, steps = _unpacked(result, X)
        result = result[-1]
    partition = getattr(result, "partition_", result)
    if not isinstance(partition, CredalPartition):
        raise ValueError(
            "result must be a CredalPartition or a fitted estimator with partition_, "
            f"got {type(result).__name__}"
        )
    if partition.n_samples == 0:
        raise ValueError("result must be about at least 1 object, got a partition of 0")
    estimator = None if result is partition else result
    seen = seen_by(estimator, X)
    if seen is not X:
        # A table that the estimator was fitted to is what the reader knows.
        X, data = seen, X if data is None else data
    matrix = check_features(X, partition.n_samples)
    n_columns = getattr(estimator, "n_features_in_", matrix.shape[1])
    if _is_precomputed(estimator) and matrix.shape[1] != n_columns:
        raise ValueError(
            "X must hold the dissimilarities that result was fitted to, in "
            f"{n_columns} columns, got {matrix.shape[1]}"
        )
    if data is not None:
        columns = columns_of(data, partition.n_samples)
    elif _is_precomputed(estimator):
        columns = []
    else:
        columns = columns_of(X, partition.n_samples, estimator)
    known = {column.name for column in columns}
    for name in described:
        if plain(name) not in known:
            raise ValueError(
                f"described must name columns of data, got {name!r}, which is none"
            )
    aside = {plain(name) for name in described}
    compared = [column for column in columns if column.name not in aside]
    if ids is None:
        ids = _index_of(X if data is None else data)
    return Subject(
        partition=partition,
        verdicts=partition.verdicts(clear_level),
        estimator=estimator,
        X=X,
        matrix=matrix,
        columns=compared,
        feature_names=_feature_names(
            made_names, X, matrix.shape[1], estimator, compared
        ),
        names=_checked_names(ids, partition.n_samples),
        has_names=ids is not None,
        dissimilarities=dissimilarities,
        described=[column for column in columns if column.name in aside],
        cluster_names=_checked_cluster_names(cluster_names, partition.n_clusters),
        steps=steps,
        pipeline=pipeline,
    )


def _unpacked(pipeline: Pipeline, X: Any) -> tuple[Any, list[str] | None, list[Any]]:
    """What the last step of a pipeline was fitted to, its names, and the steps before.

    Features are called as the transformers call them, where they know.
    """
    steps = [step for _, step in pipeline.steps[:-1] if step not in (None, _PASSED)]
    if not steps:
        return X, None, steps
    transformers = pipeline[:-1]
    made = transformers.transform(X)
    if not hasattr(X, "columns"):
        return made, None, steps
    try:
        return made, list(transformers.get_feature_names_out()), steps
    except (AttributeError, ValueError):
        return made, None, steps


def _checked_cluster_names(
    names: Sequence[str] | None, n_clusters: int
) -> list[str] | None:
    if names is None:
        return None
    if isinstance(names, str) or len(names) != n_clusters:
        raise ValueError(
            f"cluster_names must hold a name for each of {n_clusters} clusters, got "
            f"{names!r}"
        )
    return [plain(name, 40) for name in names]


def _is_precomputed(estimator: Any) -> bool:
    metric = getattr(estimator, "metric", None)
    return isinstance(metric, str) and metric == "precomputed"


def _feature_names(
    known: Any, X: Any, n_features: int, estimator: Any, columns: list[Column]
) -> list[str] | None:
    """Names that are known, by X or the estimator, or of a table of the same width."""
    if known is None:
        known = getattr(X, "columns", getattr(estimator, "feature_names_in_", None))
    if known is not None and len(known) == n_features:
        return [plain(name) for name in known]
    if len(columns) == n_features:
        return [column.name for column in columns]
    return None


def _index_of(data: Any) -> Any:
    """Names of the rows of a pandas frame, unless they are just numbers from 0."""
    index = getattr(data, "index", None)
    if not hasattr(data, "iloc") or index is None or len(index) != len(data):
        return None
    if np.array_equal(np.asarray(index), np.arange(len(index))):
        return None
    return list(index)


def _checked_names(ids: Any, n_samples: int) -> list[str]:
    """One name for each object; those that occur twice get their row number."""
    if ids is None:
        return [str(i) for i in range(n_samples)]
    expected = f"ids must hold one name for each of the {n_samples} objects"
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__iter__"):
        raise ValueError(f"{expected}, got {ids!r}")
    ids = list(ids)
    if len(ids) != n_samples:
        raise ValueError(f"{expected}, got {len(ids)}")
    names = [plain(each, 40) for each in ids]
    counts = Counter(names)
    return [
        name if name and counts[name] == 1 else f"{name} (row {i})".lstrip()
        for i, name in enumerate(names)
    ]
