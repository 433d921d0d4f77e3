"""What the attributes of a fitted network may be, and what its checkpoints hold."""

from __future__ import annotations

import math

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
    Rule,
)
from credalis._novelty import METRIC
from credalis.cluster._framework._schema import (
    TRAINING,
    InputsRule,
    SetsRule,
    TransformerRule,
    WeightsRule,
    check_training,
    n_seen,
)
from credalis.cluster._inputs._views import ViewsRule
from credalis.cluster.nnevclus._views import used_columns
from credalis.metric_learning import DissimilarityPCA
from credalis.network import NoveltyScorer, Projection


def check_network(owner: str, fitted: Entries) -> None:
    """Refuse parts of a network that do not fit together."""
    n_inputs = len(fitted["standardization_"].mean)
    embedding, novelty = fitted["embedding_"], fitted["novelty_"]
    if embedding is not None and embedding.components_.shape[0] != n_inputs:
        raise ValueError(
            f"{owner}.embedding_ must have {n_inputs} components, as many as there are "
            f"inputs, got {embedding.components_.shape[0]}"
        )
    transformer = fitted["transformer_"]
    if isinstance(transformer, Projection) and transformer.n_inputs != n_inputs:
        raise ValueError(
            f"{owner}.transformer_ must have {n_inputs} components, as many as there "
            f"are inputs, got {transformer.n_inputs}"
        )
    if (novelty is None) != (fitted["novelty_link_"] is None):
        raise ValueError(f"{owner}.novelty_link_ must be None just as novelty_ is")
    if novelty is not None:
        if "novelty_coefficients_" not in fitted:
            raise ValueError(f"{owner}.novelty_coefficients_ is missing")
        n_columns = novelty.detector.n_inputs
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
    n_inputs, n_features = len(fitted["standardization_"].mean), n_seen(fitted)
    embedding, transformer = fitted["embedding_"], fitted["transformer_"]
    expected = n_inputs if embedding is None else embedding.n_features_in_
    if isinstance(transformer, Projection):
        expected = transformer.n_features_in_
    if "views_" in fitted:
        _check_views(owner, parameters, fitted, expected)
        return
    if n_features != expected:
        raise ValueError(
            f"{owner}.n_features_in_ must be {expected}, the number of features of its "
            f"standardization_ or embedding_, got {n_features}"
        )


def _check_views(
    owner: str, parameters: Entries, fitted: Entries, n_columns: int
) -> None:
    """Refuse views whose columns are not what the network reads."""
    n_used = len(used_columns(fitted["views_"]))
    if n_used != n_columns:
        raise ValueError(
            f"{owner}.views_ must use {n_columns} columns, as many as the network "
            f"reads, got {n_used}"
        )
    if parameters.get("views") is None and n_used != n_seen(fitted):
        raise ValueError(f"{owner}.views_ must hold each column of X")
    missing = {"view_weights_", "view_factors_", "view_scales_"} - fitted.keys()
    if missing:
        raise ValueError(f"{owner}.{min(missing)} is missing, views_ is there")


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

# What only a fit in memory has.
VIEWS: dict[str, Rule] = {
    "views_": ViewsRule(),
    "view_weights_": Array("f", ("n_views",), at_least=0, at_most=1 + 1e-6),
    "view_factors_": Array("f", ("n_views",), above=0),
    "view_scales_": Array("f", ("n_views",), above=0),
    "view_units_": Array("f", ("n_views",), above=0),
}

FITTED_NETWORK = Fields(
    {
        "focal_sets": SetsRule(),
        "attributes": Fields(NETWORK.required, NETWORK.optional, (check_network,)),
        "weight_decay": Number(at_least=0),
    }
)


def training_schema(network: type, estimator: type) -> Fields:
    """What a checkpoint holds of a training, given classes that are defined later."""
    return TRAINING.extended(
        {},
        # Files of version 0.1 hold an estimator in place of its network.
        {
            "network": Instance(network),
            "model": Instance(estimator),
            "held_out": Array("i", (None,), at_least=0),
            "anchors": Array("i", (None,), at_least=-1),
            "best": Array("f", ("n_parameters",)),
            "best_loss": Number(),
            "best_pass": Integer(at_least=0),
            "informed": Fields(
                {
                    "partial_labels": Array("i", (None,), at_least=-1),
                    "must_link": Array("i", (None, 2), at_least=0),
                    "cannot_link": Array("i", (None, 2), at_least=0),
                }
            ),
        },
        _check_training,
    )


def _check_training(owner: str, entries: Entries) -> None:
    n_sample = len(entries["sample"])
    for name, values in entries.get("informed", {}).items():
        if name == "partial_labels":
            is_about_sample = len(values) == n_sample
        else:
            is_about_sample = values.max(initial=-1) < n_sample
        if not is_about_sample:
            raise ValueError(f"{owner}.informed.{name} must be about its sample")
    if "anchors" in entries and len(entries["anchors"]) != n_sample:
        raise ValueError(f"{owner}.anchors must be about its sample")
    if "held_out" in entries and entries["held_out"].max(initial=-1) >= n_sample:
        raise ValueError(f"{owner}.held_out must be about its sample")
    if ("network" in entries) == ("model" in entries):
        raise ValueError(f"{owner} must have either a network or a model")
    if "model" in entries:
        model = entries["model"]
        n_more = 0 if model.novelty_ is None else 2
        n_parameters = sum(layer.size for layer in model.weights_) + n_more
        check_training(owner, entries, model.n_features_in_, n_parameters)
    else:
        network = entries["network"]
        n_features = network.space.n_features
        check_training(owner, entries, n_features, len(network.parameters))
