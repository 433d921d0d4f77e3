import subprocess
import sys

import pytest

from credalis import plots
from credalis.plots import HistoryDisplay

COMPUTE = """
import sys
from types import SimpleNamespace
from credalis import CredalPartition, plots
partition = CredalPartition.from_labels([0, 0, 1])
plots.CredalPartitionDisplay.from_partition(partition, [[0, 1], [1, 1], [2, 3]])
plots.MassDisplay.from_partition(partition)
plots.HistoryDisplay.from_estimator(SimpleNamespace(history_=[2.0, 1.0]))
plots.ConsistencyDisplay.from_scores(["a"], [0.9], [0.1])
estimator = SimpleNamespace(
    predict_partition=lambda X: CredalPartition.from_labels([0] * len(X), 2)
)
plots.ContourDisplay.from_estimator(estimator, [[0, 1], [1, 0]], grid_resolution=4)
plots.ShepardDisplay.from_partition(partition, [1.0, 2.0, 3.0], scale=2.0)
plots.DeltaBelDisplay.from_data([[0.0], [1.0], [5.0], [6.0]])
plots.SelectionDisplay(
    parameter="n_clusters", values=[2, 3], curves={"stability": [0.5, 0.9]}, errors={},
    preferred={}, reasons={}, best=None, reason="",
)
plots.ConstraintDisplay.from_pairs([[0.0], [1.0]], must_link=[(0, 1)])
plots.FeatureDisplay.from_features([[0.0], [1.0]], [0, 1])
identity = SimpleNamespace(transform=lambda X: X)
plots.DistanceMatrixDisplay.from_transformer(identity, [[0.0], [1.0]], [0, 1])
assert "matplotlib" not in sys.modules
"""


def test_computing_does_not_import_matplotlib():
    subprocess.run([sys.executable, "-c", COMPUTE], check=True)


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"HistoryDisplay needs matplotlib: pip inst"):
        HistoryDisplay(history=[1.0]).plot()


def test_reprs_are_short(four_classes):
    estimator, X = four_classes
    displays = [
        plots.CredalPartitionDisplay.from_estimator(estimator, X),
        plots.MassDisplay.from_estimator(estimator),
        plots.ContourDisplay.from_estimator(estimator, X, grid_resolution=3),
        plots.HistoryDisplay.from_estimator(estimator),
        plots.ConsistencyDisplay.from_scores(["a", "b"], [0.9, 0.8], [0.1, 0.2]),
    ]
    assert [repr(display) for display in displays] == [
        "CredalPartitionDisplay(400 objects, 4 clusters)",
        "MassDisplay(400 objects, 12 focal sets, heatmap)",
        "ContourDisplay(plausibility: cluster 0, cluster 1, cluster 2, cluster 3)",
        "HistoryDisplay(4 iterations)",
        "ConsistencyDisplay(a, b)",
    ]
