"""Evidential clustering: every object gets a mass function over sets of clusters.

>>> from credalis import NNEVCLUS
>>> from credalis.datasets import make_four_class
>>> X, _ = make_four_class(random_state=0)
>>> partition = NNEVCLUS(n_clusters=4, random_state=0).fit(X).partition_
>>> partition
CredalPartition(400 objects, 4 clusters, 12 focal sets)

Importing the package imports nothing else: a name is imported when it is first used.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from credalis._listing import class_names

__version__ = "0.2.0"

if TYPE_CHECKING:
    from credalis import belief as belief
    from credalis import constraints as constraints
    from credalis import datasets as datasets
    from credalis import metric_learning as metric_learning
    from credalis import metrics as metrics
    from credalis import model_selection as model_selection
    from credalis import peaks as peaks
    from credalis import plots as plots
    from credalis._compare import compare as compare
    from credalis._control import FitControl as FitControl
    from credalis._control import FitEvent as FitEvent
    from credalis._explain import explain as explain
    from credalis.belief import FocalSets as FocalSets
    from credalis.cluster import *  # noqa: F403
    from credalis.io import load as load
    from credalis.partition import CredalPartition as CredalPartition
    from credalis.report import report as report

_MODULE_OF = {
    **dict.fromkeys(class_names(), "credalis.cluster"),
    "CredalPartition": "credalis.partition",
    "FitControl": "credalis._control",
    "FitEvent": "credalis._control",
    "FocalSets": "credalis.belief",
    "compare": "credalis._compare",
    "explain": "credalis._explain",
    "load": "credalis.io",
    "report": "credalis.report",
}
_LISTED_SUBPACKAGES = (
    "belief",
    "constraints",
    "datasets",
    "metric_learning",
    "metrics",
    "model_selection",
    "peaks",
    "plots",
)
_OTHER_SUBPACKAGES = (
    "anndata",
    "checkpoints",
    "cluster",
    "dissimilarity",
    "distributed",
    "exceptions",
    "io",
    "network",
    "objectives",
    "optimize",
    "partition",
    "reproduce",
    "sources",
    "streaming",
    "tables",
    "tabular",
    "topics",
)

# Not by assignment: a type checker that cannot evaluate the list would take it for
# empty.
globals()["__all__"] = sorted((*_MODULE_OF, *_LISTED_SUBPACKAGES))

# A type checker reads the imports above, and would take any name for known.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _MODULE_OF:
            value = getattr(importlib.import_module(_MODULE_OF[name]), name)
        elif name in (*_LISTED_SUBPACKAGES, *_OTHER_SUBPACKAGES):
            value = importlib.import_module(f"credalis.{name}")
        else:
            raise AttributeError(f"module 'credalis' has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *globals()["__all__"], *_OTHER_SUBPACKAGES})


class _Package(ModuleType):
    """Lets `credalis.report` be the function, whenever its subpackage is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "report" and isinstance(value, ModuleType):
            value = value.report
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
