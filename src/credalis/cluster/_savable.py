"""Which parts of other libraries an estimator can be saved with."""

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import OneClassSVM

TRANSFORMERS = (MaxAbsScaler, MinMaxScaler, PCA, RobustScaler, StandardScaler)


def to_state(transformer: BaseEstimator) -> dict[str, Any]:
    """Parameters, and whatever a fit has added."""
    parameters = transformer.get_params(deep=False)
    fitted = {
        name: value
        for name, value in vars(transformer).items()
        if name not in parameters
    }
    return {"parameters": parameters, "fitted": fitted}


def detector_to_state(detector: OneClassSVM) -> dict[str, Any]:
    """Parameters of a detector that every fit clones; fits keep its scores apart."""
    if hasattr(detector, "support_vectors_"):
        raise ValueError(
            f"{detector!r} cannot be saved: it is fitted, and only unfitted ones, with "
            "a Gaussian kernel, have a safe file form here; give sklearn.base.clone(it)"
        )
    return {"parameters": detector.get_params(deep=False), "fitted": {}}


def restorer(cls: type) -> Any:
    """The inverse of `to_state` for a class."""

    def from_state(state: dict[str, Any]) -> Any:
        transformer = cls(**state["parameters"])
        for name, value in state["fitted"].items():
            setattr(transformer, name, value)
        return transformer

    return from_state
