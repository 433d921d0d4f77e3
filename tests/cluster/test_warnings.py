"""Warnings of a fit name the file of the caller, whatever the way to the result."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import CCM, ECM, NNEVCLUS
from credalis.cluster import estimator_classes
from credalis.exceptions import CollapseWarning, ExperimentalWarning, OutlierWarning
from credalis.sources import ArraySource

pytestmark = pytest.mark.usefixtures("nobody_was_told")

OURS = (
    ConvergenceWarning,
    CollapseWarning,
    ExperimentalWarning,
    OutlierWarning,
    UserWarning,
)


@pytest.fixture(scope="module")
def rows():
    return make_blobs(60, centers=3, random_state=0)[0]


def told(fit):
    """Warnings of a fit that there is something to say about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    ours = [each for each in caught if issubclass(each.category, OURS)]
    assert ours, "nothing was said"
    return ours


def talkative(cls):
    """An estimator that does not converge, or finds one cluster."""
    parameters = cls().get_params(deep=False)
    if "n_clusters" not in parameters:
        return cls(n_neighbors=50, quantile=1.0, random_state=0)
    settings = {"n_clusters": 1, "max_iter": 1, "random_state": 0}
    return cls(**settings | ({"n_bootstrap": 5} if "n_bootstrap" in parameters else {}))


@pytest.mark.parametrize("cls", estimator_classes())
def test_in_memory(cls, rows):
    for warning in told(lambda: talkative(cls).fit(rows)):
        assert warning.filename == __file__, warning.message


@pytest.mark.parametrize("cls", [NNEVCLUS, ECM, CCM])
@pytest.mark.parametrize("way", ["source", "checkpoint"])
def test_in_blocks(cls, way, rows, tmp_path):
    X = ArraySource(rows) if way == "source" else rows
    checkpoint = None if way == "source" else tmp_path / "fit.checkpoint"
    for warning in told(lambda: talkative(cls).fit(X, checkpoint=checkpoint)):
        assert warning.filename == __file__, warning.message


def test_in_partitions(rows):
    da = pytest.importorskip("dask.array")
    lazy = da.from_array(rows, chunks=(20, 2))
    for warning in told(lambda: talkative(NNEVCLUS).fit(lazy)):
        assert warning.filename == __file__, warning.message


def test_behind_a_pipeline(rows):
    pipeline = make_pipeline(StandardScaler(), talkative(ECM))
    for warning in told(lambda: pipeline.fit(np.asarray(rows))):
        assert warning.filename == __file__, warning.message
