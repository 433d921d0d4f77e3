"""Evidential clustering: every object gets a mass function over sets of clusters.

>>> from credalis import NNEVCLUS
>>> from credalis.datasets import make_four_class
>>> X, _ = make_four_class(random_state=0)
>>> partition = NNEVCLUS(n_clusters=4, random_state=0).fit(X).partition_
>>> partition
CredalPartition(400 objects, 4 clusters, 12 focal sets)
"""

__version__ = "0.1.0"

from credalis import (
    belief,
    constraints,
    datasets,
    metric_learning,
    metrics,
    model_selection,
    peaks,
    plots,
)
from credalis._compare import compare
from credalis._control import FitControl, FitEvent
from credalis.belief import FocalSets
from credalis.cluster import *  # noqa: F403
from credalis.cluster import estimator_classes
from credalis.io import load
from credalis.partition import CredalPartition
from credalis.report import report

__all__ = [
    *(cls.__name__ for cls in estimator_classes()),
    "CredalPartition",
    "FitControl",
    "FitEvent",
    "FocalSets",
    "belief",
    "compare",
    "constraints",
    "datasets",
    "load",
    "metric_learning",
    "metrics",
    "model_selection",
    "peaks",
    "plots",
    "report",
]
