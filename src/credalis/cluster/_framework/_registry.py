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
from credalis._archive import (
    Array,
    Fields,
    Fitted,
    Integer,
    Nothing,
    Number,
    OneOf,
    Rule,
    Text,
)
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
from credalis.network import KernelScores, NearestScores, NoveltyScorer

if TYPE_CHECKING:
    from credalis.cluster._framework._estimator import BaseCredalClusterer

_PER_FEATURE = Array("f", ("n_features",))
_MAYBE_PER_FEATURE = OneOf(Nothing(), _PER_FEATURE)
_SCALE = Array("f", ("n_features",), above=0)
_MAYBE_SCALE = OneOf(Nothing(), _SCALE)
_PER_COMPONENT = Array("f", ("n_components",), at_least=0)
# How many objects a fit has seen: a number, or one for each column.
_N_SEEN = OneOf(
    Array("i", ("n_features",), at_least=0),
    Array("f", ("n_features",), at_least=0),
    Number(at_least=0),
)


def _transformer_schema(required: dict[str, Rule]) -> Fitted:
    return Fitted(
        Fields(
            {"n_features_in_": Integer(at_least=1, size="n_features"), **required},
            {
                "feature_names_in_": Array("U", ("n_features",)),
                "_sklearn_output_config": Fields({}, {"transform": Text()}),
            },
        )
    )


# What fitted transformers of scikit-learn may hold; others have no file form.
SCHEMAS: dict[type, Fitted] = {
    MaxAbsScaler: _transformer_schema(
        {"max_abs_": _PER_FEATURE, "scale_": _SCALE, "n_samples_seen_": _N_SEEN}
    ),
    MinMaxScaler: _transformer_schema(
        {
            "data_max_": _PER_FEATURE,
            "data_min_": _PER_FEATURE,
            "data_range_": _PER_FEATURE,
            "min_": _PER_FEATURE,
            "n_samples_seen_": _N_SEEN,
            "scale_": _SCALE,
        }
    ),
    PCA: _transformer_schema(
        {
            "_fit_svd_solver": Text(),
            "n_components_": Integer(at_least=1, size="n_components"),
            "components_": Array("f", ("n_components", "n_features")),
            "explained_variance_": _PER_COMPONENT,
            "explained_variance_ratio_": _PER_COMPONENT,
            "mean_": _PER_FEATURE,
            "n_samples_": Integer(at_least=1),
            "noise_variance_": Number(at_least=0),
            "singular_values_": _PER_COMPONENT,
        }
    ),
    RobustScaler: _transformer_schema(
        {"center_": _MAYBE_PER_FEATURE, "scale_": _MAYBE_SCALE}
    ),
    StandardScaler: _transformer_schema(
        {
            "mean_": _MAYBE_PER_FEATURE,
            "n_samples_seen_": _N_SEEN,
            "scale_": _MAYBE_SCALE,
            "var_": _MAYBE_PER_FEATURE,
        }
    ),
}
TRANSFORMERS = tuple(SCHEMAS)

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
        transformer._validate_params()
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
    NearestScores,
    NoveltyScorer,
    PCCA,
):
    _archive.register(_class)
_archive.register(
    OneClassSVM,
    to_state=_unfitted_state,
    from_state=_restorer(OneClassSVM),
    schema=Fitted(Fields({})),
)
for _transformer, _schema in SCHEMAS.items():
    _archive.register(
        _transformer,
        to_state=to_state,
        from_state=_restorer(_transformer),
        schema=_schema,
    )
