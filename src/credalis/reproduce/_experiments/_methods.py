"""The methods of the paper, each with one declared setting, and the exceptions.

Settings are JSON values: they are kept with the results and tell finished cells from
outdated ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import OneClassSVM

from credalis.belief import FocalSets
from credalis.cluster import BaseCredalClusterer, estimator_classes
from credalis.partition import CredalPartition
from credalis.reproduce._framework._data import SETS

CLASSES = {cls.__name__: cls for cls in estimator_classes()}

# Settings that are no JSON values, by the words that stand for them.
PAIRS_WITHOUT_FRAME = "pairs without Ω"
PAPER_DETECTOR = "one-class SVM, nu 0.2, gamma 0.2"

# The heuristic of the paper's experiments for δ₀: a quantile of the dissimilarities.
_FEW_CLUSTERS, _QUANTILE_FEW = 4, 0.9
_LEAST_QUANTILE = 0.1

# The paper's settings, whatever the defaults of the library are.
_PAPER: dict[str, dict[str, Any]] = {
    "EVCLUS": {"init": "k-means++", "empty_set": "stress"},
    "NNEVCLUS": {"init": "random", "empty_set": "stress", "weight_decay": 0.0},
    "ECM": {"alpha": 1.0, "beta": 2.0, "init": "k-means++", "empty_set": "noise"},
    "CECM": {"alpha": 1.0, "init": "k-means++", "empty_set": "noise"},
    "CCM": {"beta": 2.0, "gamma": 1.0, "init": "k-means++", "empty_set": "noise"},
    "BPEC": {
        "alpha": 1.0,
        "beta": 2.0,
        "metric": "adaptive",
        "init": "peaks",
        "empty_set": "noise",
    },
    "ECMdd": {
        "alpha": 2.0,
        "beta": 1.2,
        "psi": 1.2,
        "init": "k-medoids",
        "empty_set": "noise",
    },
    "RECM": {"alpha": 1.0, "beta": 1.5, "init": "k-means++", "empty_set": "noise"},
    "Bootclus": {"confidence": 0.9, "covariance_type": "auto"},
}


@dataclass(frozen=True)
class Setting:
    """An estimator's class, its parameters, and how attributes are prepared."""

    estimator: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_standardized: bool = True
    is_deterministic: bool = False

    def changed(self, exception: "ExceptionalSetting") -> "Setting":
        """The setting with what an exception changes."""
        return Setting(
            self.estimator,
            {**self.parameters, **exception.parameters},
            exception.is_standardized,
            self.is_deterministic,
        )


@dataclass(frozen=True)
class ExceptionalSetting:
    """What differs for one cell, and the reason, which the report prints."""

    parameters: Mapping[str, Any]
    reason: str
    is_standardized: bool = True


def paper_quantile(n_clusters: int) -> float:
    """Quantile for δ₀: 0.9 up to four clusters, then 2 / c but at least 0.1."""
    if n_clusters <= _FEW_CLUSTERS:
        return _QUANTILE_FEW
    return max(_LEAST_QUANTILE, 2 / n_clusters)


def paper_parameters(estimator: str, n_clusters: int, **given: Any) -> dict[str, Any]:
    """The paper's settings of an estimator, and what an experiment says besides."""
    parameters = dict(_PAPER[estimator])
    if estimator in ("EVCLUS", "NNEVCLUS"):
        parameters["dissimilarity_quantile"] = paper_quantile(n_clusters)
    return {**parameters, **given}


def outliers(partition: CredalPartition) -> NDArray[np.bool_]:
    """Objects whose largest mass is on ∅: whom the paper calls outliers."""
    return partition.focal_sets.cardinality[partition.maximum_mass_index] == 0


def build(
    estimator: str, n_clusters: int, parameters: Mapping[str, Any], seed: int
) -> BaseCredalClusterer:
    """The estimator that a setting describes."""
    given = dict(parameters)
    if given.get("focal_sets") == PAIRS_WITHOUT_FRAME:
        given["focal_sets"] = FocalSets.pairs(n_clusters, frame=False)
    if given.get("novelty_detector") == PAPER_DETECTOR:
        given["novelty_detector"] = OneClassSVM(nu=0.2, gamma=0.2)
    if isinstance(given.get("hidden_layer_sizes"), list):
        given["hidden_layer_sizes"] = tuple(given["hidden_layer_sizes"])
    return CLASSES[estimator](n_clusters, random_state=seed, **given)


def attribute_setting(method: str, title: str) -> Setting:
    """How a method of the table of attribute data is run on a set."""
    n_clusters = SETS[title].n_clusters
    setting = _declared(n_clusters)[method]
    paper = paper_parameters(setting.estimator, n_clusters, **setting.parameters)
    setting = replace(setting, parameters=paper)
    exception = EXCEPTIONS.get((title, method))
    return setting if exception is None else setting.changed(exception)


def _declared(n_clusters: int) -> dict[str, Setting]:
    """The settings of all methods, in the order of the paper."""
    # The paper: above three clusters the pairs of the two-step strategy.
    c_means_sets = PAIRS_WITHOUT_FRAME if n_clusters <= 3 else "two-step"
    c_means = {"delta": 5, "focal_sets": c_means_sets}
    ccm = {"delta": 5, "focal_sets": PAIRS_WITHOUT_FRAME}
    medoids = {"delta": 5, "focal_sets": "pairs", "n_init": 5}
    # Starts at the belief peaks draw no random numbers: all repetitions are equal.
    return {
        "EVCLUS": Setting("EVCLUS", {"n_init": 5}),
        "NN-EVCLUS": Setting("NNEVCLUS", {"n_init": 5}),
        "NN-EVCLUS-bp": Setting("NNEVCLUS", {"n_init": 5, "init": "peaks"}),
        "ECM": Setting("ECM", {**c_means, "n_init": 5}),
        "ECM-bp": Setting("ECM", {**c_means, "init": "peaks"}, is_deterministic=True),
        "CCM": Setting("CCM", {**ccm, "n_init": 5}),
        "CCM-bp": Setting("CCM", {**ccm, "init": "peaks"}, is_deterministic=True),
        "sECMdd": Setting("ECMdd", medoids),
        "wECMdd": Setting("ECMdd", {**medoids, "prototypes": "weighted"}),
        "BPEC": Setting("BPEC", {**c_means, "init": "peaks"}, is_deterministic=True),
        "Bootclus": Setting("Bootclus", {"n_bootstrap": 500}),
    }


METHODS = tuple(_declared(2))

_RAW_IRIS = ExceptionalSetting(
    {"dissimilarity_quantile": 0.5},
    "attributes as they are and δ₀ the median distance",
    is_standardized=False,
)

EXCEPTIONS: dict[tuple[str, str], ExceptionalSetting] = {
    ("Iris", "EVCLUS"): _RAW_IRIS,
    ("Iris", "NN-EVCLUS"): _RAW_IRIS,
    ("Iris", "NN-EVCLUS-bp"): _RAW_IRIS,
    ("Wine", "Bootclus"): ExceptionalSetting(
        {"covariance_type": "tied"}, "one covariance matrix for all clusters"
    ),
}
