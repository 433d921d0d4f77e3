"""What a type checker knows about calls; `make types` checks this file as well."""

from typing import assert_type

import numpy as np
import pytest
from numpy.typing import NDArray

from credalis import ECM, CredalPartition, metrics
from credalis.exceptions import PowerWarning
from credalis.metric_learning import FDA, KPCCA, LSI, DissimilarityPCA
from credalis.model_selection import (
    CredalSearchCV,
    Selection,
    search,
    select_n_clusters,
)
from credalis.streaming import NewClusterMonitor, StreamState

X = np.random.default_rng(0).normal(size=(60, 2))
X[::2] += 8
LABELS = [0, 1] * 30


def test_fit_returns_the_class_itself() -> None:
    pairs = {"must_link": [(0, 2)], "cannot_link": [(0, 1)]}
    assert_type(FDA().fit(X, LABELS), FDA)
    assert_type(LSI(random_state=0).fit(X, **pairs), LSI)
    assert_type(KPCCA(n_init=1, random_state=0).fit(X, **pairs), KPCCA)
    assert_type(DissimilarityPCA().fit(np.abs(X[:, :1] - X[:, 0])), DissimilarityPCA)


def test_transformed_data_are_arrays() -> None:
    assert_type(FDA().fit(X, LABELS).transform(X), NDArray[np.float64])


def test_searches_have_results() -> None:
    model = ECM(2, random_state=0)
    grid = {"alpha": [1.0]}
    found = search(model, grid, X, LABELS, scoring="rand_score", cv=2, random_state=0)
    assert_type(found, CredalSearchCV)
    selection = select_n_clusters(
        model, X, range(2, 4), criteria="peaks", random_state=0
    )
    assert_type(selection, Selection)


def test_monitors_tell_their_state() -> None:
    monitor = NewClusterMonitor(ECM(2, random_state=0).fit(X), random_state=0)
    with pytest.warns(PowerWarning):
        assert_type(monitor.fit(X), NewClusterMonitor)
    assert_type(monitor.update(X[:3]), StreamState)


def test_metrics_are_numbers() -> None:
    partition = CredalPartition.from_labels(LABELS)
    assert_type(metrics.credal_rand_index(partition, LABELS), float)


def test_wrong_types_are_noticed() -> None:
    """Were they not, mypy would refuse the comments as unneeded."""
    with pytest.raises(ValueError, match="n_components must be"):
        FDA(n_components=1.5).fit(X, LABELS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="gamma must be"):
        KPCCA(gamma="wide").fit(X, LABELS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_iter must be"):
        LSI(max_iter="many").fit(X, LABELS)  # type: ignore[arg-type]
