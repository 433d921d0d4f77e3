"""What the attributes of a fitted estimator may be, as far as all methods share them.

Sizes that other attributes must agree with: ``n_features`` of X, ``n_dimensions`` where
distances are taken, ``n_clusters``, ``n_focal_sets``, ``n_samples`` of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from credalis import _archive
from credalis._archive import (
    Array,
    Each,
    Entries,
    Fields,
    Fitted,
    Instance,
    Integer,
    Number,
    OneOf,
    Sizes,
    Text,
    check_size,
)
from credalis._checks import shown
from credalis._novelty import Calibration, NeighborNovelty
from credalis.belief import FocalSets
from credalis.network import Standardization
from credalis.partition import CoverageCalibration, CredalPartition


@dataclass(frozen=True)
class SetsRule:
    """Focal sets; they say how many clusters and sets there are."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse other objects."""
        Instance(FocalSets).check(name, value, sizes)
        check_size(f"{name}.n_clusters", "n_clusters", value.n_clusters, sizes)
        check_size(f"len({name})", "n_focal_sets", len(value), sizes)
        sizes["n_empty_sets"] = int(value.empty_index is not None)


@dataclass(frozen=True)
class PartitionRule:
    """A partition of the training objects; it says how many they are."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse other objects, and partitions about other clusters."""
        Instance(CredalPartition).check(name, value, sizes)
        SetsRule().check(f"{name}.focal_sets", value.focal_sets, sizes)
        check_size(f"len({name})", "n_samples", len(value), sizes)


@dataclass(frozen=True)
class TransformerRule:
    """None or a fitted transformer; it says how many dimensions distances have."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse what is no transformer, and one of other features."""
        if value is None:
            n_seen = sizes.get("n_encoded", sizes.get("n_features"))
            if n_seen is not None:
                check_size(name, "n_dimensions", n_seen, sizes)
            return
        if not hasattr(value, "transform"):
            raise ValueError(f"{name} must be a transformer, got {value!r}")
        n_features = getattr(value, "n_features_in_", None)
        if n_features is None:
            raise ValueError(f"{name} must be fitted, got {value!r}")
        check_size(f"{name}.n_features_in_", "n_features", n_features, sizes)
        n_dimensions = len(value.get_feature_names_out())
        check_size(f"features of {name}", "n_dimensions", n_dimensions, sizes)


@dataclass(frozen=True)
class CalibrationRule:
    """Thresholds for sets of clusters."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse those about other clusters."""
        Instance(CoverageCalibration).check(name, value, sizes)
        check_size(f"{name}.n_clusters", "n_clusters", value.n_clusters, sizes)


@dataclass(frozen=True)
class ReferenceRule:
    """What gives the p-values of new objects."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse references that new objects cannot be compared with."""
        Instance(NeighborNovelty, Calibration).check(name, value, sizes)
        if sizes.get("n_empty_sets") != 1:
            raise ValueError(f"{name} must not be there without ∅ among the focal sets")
        if isinstance(value, Calibration):
            return
        if value.points is not None:
            n_columns = value.points.shape[1]
            check_size(f"{name}.points.shape[1]", "n_dimensions", n_columns, sizes)
        elif value.columns.max() >= sizes["n_features"]:
            raise ValueError(
                f"each entry of {name}.columns must be less than n_features = "
                f"{sizes['n_features']}, got {value.columns.max()}"
            )


@dataclass(frozen=True)
class InputsRule:
    """A standardization; it says how many inputs the network has."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse other objects."""
        Instance(Standardization).check(name, value, sizes)
        check_size(f"len({name}.mean)", "n_inputs", len(value.mean), sizes)


@dataclass(frozen=True)
class PreparationRule:
    """What becomes of a table; it says how many columns an estimator sees."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse other objects, and one that is not for Gower's dissimilarity."""
        # From the layer above, which is there where such an object is.
        from credalis.tabular import Preparation

        Instance(Preparation).check(name, value, sizes)
        if value.gower() is None:
            raise ValueError(f"{name} must be one for Gower's dissimilarity")
        sizes["n_encoded"] = len(value.feature_names)


@dataclass(frozen=True)
class WeightsRule:
    """Weights of layers, each with as many columns as the one before has rows.

    The first column of a layer are its constants. Those of a module have names and any
    shapes.
    """

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse layers that make no network from the inputs to the focal sets."""
        if isinstance(value, dict):
            for part, values in value.items():
                check_part(f"{name}[{part!r}]", values)
            return
        Each(Array("f", (None, None)), at_least=1).check(name, value, sizes)
        n_before = sizes["n_inputs"]
        for j, layer in enumerate(value):
            if layer.shape[1] != n_before + 1 or len(layer) == 0:
                raise ValueError(
                    f"{name}[{j}] must have {n_before + 1} columns, for a constant and "
                    f"{n_before} inputs, got shape {layer.shape}"
                )
            n_before = len(layer)
        check_size(f"len({name}[-1])", "n_focal_sets", n_before, sizes)


def check_part(name: str, value: Any) -> None:
    """Refuse a part of a module that is no array of finite numbers."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fib":
        raise ValueError(f"{name} must be an array of numbers, got {shown(value)}")
    if not np.isfinite(value).all():
        raise ValueError(f"{name} must be finite")


def covariance_shape(
    covariance_type: str, n_components: int, n_features: int
) -> tuple[int, ...]:
    """Shape of the covariances of a mixture."""
    return {
        "full": (n_components, n_features, n_features),
        "tied": (n_features, n_features),
        "diag": (n_components, n_features),
        "spherical": (n_components,),
        "isotropic": (1,),
    }[covariance_type]


def check_points(
    name: str, points: np.ndarray | None, rows: np.ndarray, n_features: int
) -> None:
    """Refuse rows without points that are no columns of a matrix of dissimilarities."""
    if points is None and len(rows) and rows.max() >= n_features:
        raise ValueError(
            f"each entry of {name} must be less than n_features_in_ = {n_features} of "
            f"a model of dissimilarities, got {rows.max()}"
        )


ESTIMATOR = Fitted(
    Fields(
        {
            "n_features_in_": Integer(at_least=1, size="n_features"),
            "focal_sets_": SetsRule(),
            "loss_": Number(),
            "n_iter_": Integer(at_least=0),
        },
        {
            "feature_names_in_": Array("U", ("n_features",)),
            "history_": Array("f", (None,)),
            "reference_": ReferenceRule(),
            "calibration_": CalibrationRule(),
            "partition_": PartitionRule(),
            "labels_": Array("i", ("n_samples",), at_least=0, below="n_clusters"),
            # With the rounding that `CredalPartition` forgives.
            "training_masses_": Array(
                "f", ("n_samples", "n_focal_sets"), at_least=-1e-8, at_most=1 + 1e-6
            ),
            "decisions_": Each(Text()),
        },
        first={"preparation_": PreparationRule()},
    )
)

# Those whose predictions rest on the masses of the training objects.
WITH_PARTITION: dict[str, _archive.Rule] = {"partition_": PartitionRule()}


def check_inputs_are_features(owner: str, parameters: Entries, fitted: Entries) -> None:
    """Refuse a network whose inputs are not the features of the estimator."""
    n_inputs, n_features = len(fitted["standardization_"].mean), n_seen(fitted)
    if n_inputs != n_features:
        raise ValueError(
            f"{owner}.standardization_ must be about n_features_in_ = {n_features} "
            f"features, got {n_inputs}"
        )


def n_seen(fitted: Entries) -> int:
    """Number of columns that an estimator sees: of X, or of what becomes of a table."""
    if "preparation_" in fitted:
        return len(fitted["preparation_"].feature_names)
    return int(fitted["n_features_in_"])


_COUNT = Integer(at_least=0)

# What a checkpoint holds of the training of a network.
TRAINING = Fields(
    {
        "sample": Array("f", (None, None)),
        "seeds": Array("i", (None,), at_least=0),
        "n_rows": Integer(at_least=2),
        "parameters": Array("f", ("n_parameters",)),
        "optimizer": OneOf(
            Fields({}),
            Fields(
                {
                    "sums": Array("f", (None, "n_parameters")),
                    "n_steps": Array("i", (), at_least=0),
                }
            ),
        ),
        "n_steps": _COUNT,
        "pass": _COUNT,
        "buffer": _COUNT,
        "losses": Each(Number()),
        "weights": Each(Number(at_least=0)),
        "history": Each(Number()),
    }
)


def check_training(
    owner: str, entries: Entries, n_features: int, n_parameters: int
) -> None:
    """Refuse a training that is not one of this network."""
    if len(entries["seeds"]) < 2:
        raise ValueError(f"{owner}.seeds must hold at least 2, got {entries['seeds']}")
    if len(entries["losses"]) != len(entries["weights"]):
        raise ValueError(f"{owner}.losses must be as many as its weights")
    if entries["sample"].shape[1] != n_features or len(entries["sample"]) < 2:
        raise ValueError(
            f"{owner}.sample must have {n_features} columns and 2 rows or more, got "
            f"shape {entries['sample'].shape}"
        )
    if len(entries["parameters"]) != n_parameters:
        raise ValueError(
            f"{owner}.parameters must be the {n_parameters} of its network, got "
            f"{len(entries['parameters'])}"
        )
