"""The methods of the paper, each with one declared setting, and the exceptions.

Settings are JSON values: they are kept with the results and tell finished cells from
outdated ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.svm import OneClassSVM

from credalis.belief import FocalSets
from credalis.cluster import (
    BPEC,
    CCM,
    CECM,
    ECM,
    EVCLUS,
    NNEVCLUS,
    RECM,
    BaseCredalClusterer,
    Bootclus,
    ECMdd,
)
from credalis.reproduce._framework._data import SETS

CLASSES: dict[str, type[BaseCredalClusterer]] = {
    "EVCLUS": EVCLUS,
    "NNEVCLUS": NNEVCLUS,
    "ECM": ECM,
    "CCM": CCM,
    "ECMdd": ECMdd,
    "BPEC": BPEC,
    "Bootclus": Bootclus,
    "RECM": RECM,
    "CECM": CECM,
}

# Settings that are no JSON values, by the words that stand for them.
PAIRS_WITHOUT_FRAME = "pairs without Ω"
# Exponents and starts that the paper's programs have.
C_MEANS = {"beta": 2.0, "init": "k-means++"}
C_MEDOIDS = {"beta": 1.2, "init": "k-medoids"}

PAPER_DETECTOR = "one-class SVM, nu 0.2, gamma 0.2"


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
    setting = _declared(method, SETS[title].n_clusters)
    exception = EXCEPTIONS.get((title, method))
    return setting if exception is None else setting.changed(exception)


def _declared(method: str, n_clusters: int) -> Setting:
    # The paper: above three clusters the pairs of the two-step strategy.
    c_means_sets = PAIRS_WITHOUT_FRAME if n_clusters <= 3 else "two-step"
    c_means = {"delta": 5, "focal_sets": c_means_sets, **C_MEANS}
    ccm = {"delta": 5, "focal_sets": PAIRS_WITHOUT_FRAME, **C_MEANS}
    medoids = {"delta": 5, "focal_sets": "pairs", "n_init": 5, **C_MEDOIDS}
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
    }[method]


METHODS = (
    "EVCLUS",
    "NN-EVCLUS",
    "NN-EVCLUS-bp",
    "ECM",
    "ECM-bp",
    "CCM",
    "CCM-bp",
    "sECMdd",
    "wECMdd",
    "BPEC",
    "Bootclus",
)

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
