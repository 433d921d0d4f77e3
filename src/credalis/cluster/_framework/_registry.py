"""Which estimators there are, and what else a model file may hold.

A concrete subclass of the base class registers itself. The public names of the package,
model files, `compare`, the command line, the words of the report and the contract
tests all ask here.
"""

from __future__ import annotations

from inspect import isabstract
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import OneClassSVM

from credalis import _archive
from credalis.metric_learning import (
    FDA,
    KFDA,
    KPCCA,
    LFDA,
    LSI,
    PCCA,
    DissimilarityPCA,
    DMLeig,
)
from credalis.network import KernelScores, NoveltyScorer

if TYPE_CHECKING:
    from credalis.cluster._framework._estimator import BaseCredalClusterer

TRANSFORMERS = (MaxAbsScaler, MinMaxScaler, PCA, RobustScaler, StandardScaler)

_estimators: dict[str, type[BaseCredalClusterer]] = {}


def register(cls: type[BaseCredalClusterer]) -> None:
    """Take note of a subclass of the base class; abstract ones do not count."""
    _estimators[cls.__name__] = cls
    _archive.register(cls)


def estimator_classes() -> tuple[type[BaseCredalClusterer], ...]:
    """All public estimators, those that cannot do without side information last."""
    public = [
        cls
        for name, cls in _estimators.items()
        if not isabstract(cls) and not name.startswith("_")
    ]
    return tuple(sorted(public, key=lambda cls: cls._needs_side_information))


def named_estimators(*, for_data_alone: bool = False) -> dict[str, BaseCredalClusterer]:
    """Estimators under the names that the literature gives to their variants.

    With ``for_data_alone``, without those that are another method unless something is
    known about the objects.
    """
    return {
        name: cls(**parameters)
        for cls in estimator_classes()
        if not (for_data_alone and cls._needs_side_information)
        for name, parameters in cls.variants().items()
    }


def to_state(transformer: BaseEstimator) -> dict[str, Any]:
    """Parameters, and whatever a fit has added."""
    parameters = transformer.get_params(deep=False)
    fitted = {
        name: value
        for name, value in vars(transformer).items()
        if name not in parameters
    }
    return {"parameters": parameters, "fitted": fitted}


def _unfitted_state(machine: OneClassSVM) -> dict[str, Any]:
    """Parameters of a one-class SVM; fitted, a Gaussian one is saved as arrays."""
    if hasattr(machine, "support_"):
        raise ValueError(
            f"a OneClassSVM with kernel={machine.kernel!r} cannot be saved once it is "
            "fitted, only one with kernel='rbf': use skops or joblib to store the "
            "whole object"
        )
    return {"parameters": machine.get_params(), "fitted": {}}


def _restorer(cls: type) -> Any:
    """The inverse of `to_state` for a class."""

    def from_state(state: dict[str, Any]) -> Any:
        transformer = cls(**state["parameters"])
        for name, value in state["fitted"].items():
            setattr(transformer, name, value)
        return transformer

    return from_state


for _class in (
    DMLeig,
    DissimilarityPCA,
    FDA,
    KFDA,
    KPCCA,
    KernelScores,
    LFDA,
    LSI,
    NoveltyScorer,
    PCCA,
):
    _archive.register(_class)
_archive.register(
    OneClassSVM, to_state=_unfitted_state, from_state=_restorer(OneClassSVM)
)
for _class in TRANSFORMERS:
    _archive.register(_class, to_state=to_state, from_state=_restorer(_class))
