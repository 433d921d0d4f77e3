"""What the attributes of a fitted network may be, and what its checkpoints hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from credalis._archive import (
    Array,
    Choice,
    Each,
    Entries,
    Fields,
    Flag,
    Instance,
    Integer,
    Nothing,
    Number,
    OneOf,
    Sizes,
    check_size,
)
from credalis._checks import shown
from credalis.cluster._framework._schema import METRIC, SetsRule, TransformerRule
from credalis.cluster._inputs._scale import Standardization
from credalis.metric_learning import DissimilarityPCA
from credalis.network import NoveltyScorer


@dataclass(frozen=True)
class InputsRule:
    """A standardization; it says how many inputs the network has."""

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Refuse other objects."""
        Instance(Standardization).check(name, value, sizes)
        check_size(f"len({name}.mean)", "n_inputs", len(value.mean), sizes)


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


def check_network(owner: str, fitted: Entries) -> None:
    """Refuse parts of a network that do not fit together."""
    n_inputs = len(fitted["standardization_"].mean)
    embedding, novelty = fitted["embedding_"], fitted["novelty_"]
    if embedding is not None and embedding.components_.shape[0] != n_inputs:
        raise ValueError(
            f"{owner}.embedding_ must have {n_inputs} components, as many as there are "
            f"inputs, got {embedding.components_.shape[0]}"
        )
    if (novelty is None) != (fitted["novelty_link_"] is None):
        raise ValueError(f"{owner}.novelty_link_ must be None just as novelty_ is")
    if novelty is not None:
        if "novelty_coefficients_" not in fitted:
            raise ValueError(f"{owner}.novelty_coefficients_ is missing")
        n_columns = novelty.detector.support_vectors.shape[1]
        if n_columns != n_inputs:
            raise ValueError(
                f"{owner}.novelty_ must be about {n_inputs} inputs, got {n_columns}"
            )
    is_module = isinstance(fitted["weights_"], dict)
    if is_module != ("output_order_" in fitted):
        raise ValueError(f"{owner}.output_order_ must be there just with a module")
    order = fitted.get("output_order_")
    if order is not None and len(np.unique(order)) != len(order):
        raise ValueError(f"{owner}.output_order_ must be a permutation, got {order}")
    shape = fitted.get("input_shape_")
    if shape is not None and math.prod(shape) != n_inputs:
        raise ValueError(
            f"{owner}.input_shape_ must have {n_inputs} entries, got {shape}"
        )


def check_inputs(owner: str, parameters: Entries, fitted: Entries) -> None:
    """Refuse a network whose inputs are not the features of the estimator."""
    check_network(owner, fitted)
    n_inputs, n_features = (
        len(fitted["standardization_"].mean),
        fitted["n_features_in_"],
    )
    embedding = fitted["embedding_"]
    expected = n_inputs if embedding is None else embedding.n_features_in_
    if n_features != expected:
        raise ValueError(
            f"{owner}.n_features_in_ must be {expected}, the number of features of its "
            f"standardization_ or embedding_, got {n_features}"
        )


NETWORK = Fields(
    {
        "standardization_": InputsRule(),
        "embedding_": OneOf(Nothing(), Instance(DissimilarityPCA)),
        "transformer_": TransformerRule(),
        "metric_": METRIC,
        "has_given_dissimilarities_": Flag(),
        "scale_": Number(above=0),
        "novelty_": OneOf(Nothing(), Instance(NoveltyScorer)),
        "novelty_link_": OneOf(Nothing(), Choice("reference", "paper")),
        "weights_": WeightsRule(),
    },
    {
        "novelty_coefficients_": Array("f", (2,)),
        "output_order_": Array(
            "i", ("n_focal_sets",), at_least=0, below="n_focal_sets"
        ),
        "input_shape_": Each(Integer(at_least=1), at_least=1),
    },
)

FITTED_NETWORK = Fields(
    {
        "focal_sets": SetsRule(),
        "attributes": Fields(NETWORK.required, NETWORK.optional, (check_network,)),
        "weight_decay": Number(at_least=0),
    }
)

_COUNT = Integer(at_least=0)


def training_schema(network: type, estimator: type) -> Fields:
    """What a checkpoint holds of a training, given classes that are defined later."""
    return Fields(
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
        },
        # Files of version 0.1 hold an estimator in place of its network.
        {"network": Instance(network), "model": Instance(estimator)},
        (_check_training,),
    )


def _check_training(owner: str, entries: Entries) -> None:
    if ("network" in entries) == ("model" in entries):
        raise ValueError(f"{owner} must have either a network or a model")
    if len(entries["seeds"]) < 2:
        raise ValueError(f"{owner}.seeds must hold at least 2, got {entries['seeds']}")
    if len(entries["losses"]) != len(entries["weights"]):
        raise ValueError(f"{owner}.losses must be as many as its weights")
    if "model" in entries:
        model = entries["model"]
        n_features, weights = model.n_features_in_, model.weights_
        n_more = 0 if model.novelty_ is None else 2
        n_parameters = sum(layer.size for layer in weights) + n_more
    else:
        network = entries["network"]
        n_features, n_parameters = network.space.n_inputs, len(network.parameters)
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
