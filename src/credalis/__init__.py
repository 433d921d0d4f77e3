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
from credalis.belief import FocalSets
from credalis.cluster import (
    BCM,
    BPEC,
    CCM,
    CECM,
    ECM,
    EVCLUS,
    MECM,
    NNEVCLUS,
    RECM,
    Bootclus,
    ECMdd,
    EkNNclus,
)
from credalis.io import load
from credalis.partition import CredalPartition
from credalis.report import report

__all__ = [
    "BCM",
    "BPEC",
    "CCM",
    "CECM",
    "ECM",
    "EVCLUS",
    "MECM",
    "NNEVCLUS",
    "RECM",
    "Bootclus",
    "CredalPartition",
    "ECMdd",
    "EkNNclus",
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
