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


def unfitted_state(machine: OneClassSVM) -> dict[str, Any]:
    """Parameters of a one-class SVM; fitted, a Gaussian one is saved as arrays."""
    if hasattr(machine, "support_"):
        raise ValueError(
            f"a OneClassSVM with kernel={machine.kernel!r} cannot be saved once it is "
            "fitted, only one with kernel='rbf': use skops or joblib to store the "
            "whole object"
        )
    return {"parameters": machine.get_params(), "fitted": {}}


def restorer(cls: type) -> Any:
    """The inverse of `to_state` for a class."""

    def from_state(state: dict[str, Any]) -> Any:
        transformer = cls(**state["parameters"])
        for name, value in state["fitted"].items():
            setattr(transformer, name, value)
        return transformer

    return from_state
