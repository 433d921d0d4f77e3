"""A trained network with all that turns rows into its inputs, as one value."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from credalis import _archive
from credalis._checks import check_choice, shown
from credalis._files import atomic_write, naming_errors
from credalis._novelty import Calibration, NeighborNovelty
from credalis.belief import FocalSets
from credalis.cluster._inputs._geometry import FARTHEST, Geometry
from credalis.cluster._inputs._side_information import placed
from credalis.cluster.nnevclus._schema import FITTED_NETWORK
from credalis.metric_learning import DissimilarityPCA
from credalis.network import (
    CredalNetwork,
    NoveltyScorer,
    Perceptron,
    Projection,
    SideInformation,
    Standardization,
    TrainingData,
    masses_in_blocks,
    onnx_model,
    output_weights,
    renamed_subset,
    separating_weights,
    torch_engine,
    weights_for_other_inputs,
    with_constant,
)

if TYPE_CHECKING:
    from credalis.cluster.nnevclus._nnevclus import NNEVCLUS
    from credalis.cluster.nnevclus._settings import Settings

Array = NDArray[np.float64]
Weights = list[Array]
NamedWeights = dict[str, Array]

# λ of networks that nobody has told one: on the tables that defaults are chosen on, it
# improves how doubt tells wrong labels from right ones, and the labels a little.
_DECAY = 0.01

OTHER_SHAPE = (
    "warm_start needs a network of the same shape: hidden_layer_sizes or module, "
    "focal_sets and the number of features must be those of the previous fit"
)


@dataclass(frozen=True, eq=False)
class InputSpace:
    """How rows become inputs of a network, novelty scores and dissimilarities.

    Attributes
    ----------
    standardize : Standardization
        From attributes to inputs.
    embedding : DissimilarityPCA or None
        From rows of a precomputed matrix to attributes.
    transformer, metric : object
        Where dissimilarities come from: the metric between rows, or in the space of
        the fitted transformer if there is one. A projection makes attributes, too.
    has_given_dissimilarities : bool
        Whether they came as a matrix of their own instead.
    scale : float
        δ0.
    novelty : NoveltyScorer or None
        From inputs to novelty scores.
    object_shape : tuple of int or None
        Shape of an object that is not a row of a table.
    """

    standardize: Standardization
    embedding: DissimilarityPCA | None
    transformer: Any
    metric: Any
    has_given_dissimilarities: bool
    scale: float
    novelty: NoveltyScorer | None
    object_shape: tuple[int, ...] | None = None

    @property
    def n_inputs(self) -> int:
        """Number of inputs of the network."""
        return len(self.standardize.mean)

    @property
    def projection(self) -> Projection | None:
        """From rows to places and attributes, if rows have many columns."""
        transformer = self.transformer
        return transformer if isinstance(transformer, Projection) else None

    @property
    def n_features(self) -> int:
        """Number of columns of a row that is no row of a matrix."""
        projection = self.projection
        return self.n_inputs if projection is None else projection.n_features_in_

    def geometry(self, X: Array) -> Geometry:
        """Where the dissimilarities of new rows come from, as they did in the fit."""
        if self.transformer is not None:
            X = np.asarray(self.transformer.transform(X), dtype=np.float64)
        return Geometry(X, self.metric)

    def attributes(self, X: Array) -> Array:
        """Attributes of rows: themselves, or components of many columns or a matrix."""
        projection = self.projection
        if projection is not None:
            return projection.inputs(placed(projection, X))
        if self.embedding is None:
            return X
        if X.min() < 0:
            raise ValueError(
                "X must hold no negative dissimilarities, the smallest is "
                f"{X.min():.3g}"
            )
        return self.embedding.transform(np.minimum(X, FARTHEST))


@dataclass(frozen=True, eq=False)
class TrainedWeights:
    """Weights that a training can start from.

    Attributes
    ----------
    weights : list of arrays, or dict of arrays
        Of each layer, or of a module by name.
    coefficients : array of shape (2,) or None
        β0 and β1 of the novelty coupling, if there was one.
    focal_sets : FocalSets
        The outputs.
    output_order : array of int or None
        Which output of a module is which focal set.
    projection : Projection or None
        What made the inputs, of which the weights are.
    """

    weights: Weights | NamedWeights
    coefficients: Array | None
    focal_sets: FocalSets
    output_order: NDArray[np.intp] | None = None
    projection: Projection | None = None

    @classmethod
    def of(cls, estimator: NNEVCLUS) -> TrainedWeights:
        """The weights of a fitted estimator."""
        transformer = estimator.transformer_
        return cls(
            estimator.weights_,
            getattr(estimator, "novelty_coefficients_", None),
            estimator.focal_sets_,
            getattr(estimator, "output_order_", None),
            transformer if isinstance(transformer, Projection) else None,
        )

    def put_into(self, network: Any, parameters: Array) -> Array:
        """Parameters of a network with these weights, and coefficients if any."""
        views = network.weights(parameters)
        is_other_kind = isinstance(views, dict) != isinstance(self.weights, dict)
        ours, theirs = arrays_of(self.weights), arrays_of(views)
        shapes = [values.shape for values in ours]
        if is_other_kind or [view.shape for view in theirs] != shapes:
            raise ValueError(OTHER_SHAPE)
        for view, values in zip(theirs, ours, strict=True):
            view[...] = values
        if network.link is not None and self.coefficients is not None:
            parameters[-2:] = self.coefficients
        return parameters

    def extended(self, focal_sets: FocalSets) -> TrainedWeights:
        """Weights of a perceptron for more sets; a new one is between its clusters."""
        assert not isinstance(self.weights, dict), "modules do not grow"
        *hidden, known = self.weights
        output = output_weights(
            dict(zip(self.focal_sets, known, strict=True)), focal_sets
        )
        return replace(self, weights=[*hidden, output], focal_sets=focal_sets)

    @property
    def hidden_sizes(self) -> tuple[int, ...]:
        """Units of each hidden layer of a perceptron."""
        return tuple(len(layer) for layer in arrays_of(self.weights)[:-1])


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """A network, its parameters and its inputs: all that prediction needs.

    The only reader and writer of the fitted attributes that are about the network.

    Attributes
    ----------
    network : CredalNetwork or ModuleNetwork
        The network.
    parameters : array of shape (n_parameters,)
        Its parameters.
    focal_sets : FocalSets
        Its outputs.
    space : InputSpace
        Its inputs.
    """

    network: Any
    parameters: Array
    focal_sets: FocalSets
    space: InputSpace

    _schema: ClassVar[_archive.Rule] = FITTED_NETWORK

    @classmethod
    def of(cls, estimator: NNEVCLUS) -> FittedNetwork:
        """What an estimator was fitted with, whatever its parameters are now."""
        space = InputSpace(
            estimator.standardization_,
            estimator.embedding_,
            estimator.transformer_,
            estimator.metric_,
            estimator.has_given_dissimilarities_,
            estimator.scale_,
            estimator.novelty_,
            getattr(estimator, "input_shape_", None),
        )
        weights, focal_sets = estimator.weights_, estimator.focal_sets_
        network: Any
        if isinstance(weights, dict):
            network = _fitted_module(estimator, space)
        else:
            sizes = (weights[0].shape[1] - 1, *(len(layer) for layer in weights))
            network = CredalNetwork(
                Perceptron(sizes),
                focal_sets.empty_index,
                estimator.novelty_link_,
                decay_of(estimator.weight_decay, None),
            )
        parts = [values.ravel() for values in arrays_of(weights)]
        if estimator.novelty_ is not None:
            parts.append(estimator.novelty_coefficients_)
        return cls(network, np.concatenate(parts), focal_sets, space)

    def fitted_attributes(self) -> dict[str, Any]:
        """Attributes of an estimator with this network."""
        space = self.space
        attributes: dict[str, Any] = {
            "weights_": self.weights,
            "scale_": space.scale,
            "standardization_": space.standardize,
            "embedding_": space.embedding,
            "transformer_": space.transformer,
            "has_given_dissimilarities_": space.has_given_dissimilarities,
            "metric_": space.metric,
            "novelty_": space.novelty,
            "novelty_link_": self.network.link,
        }
        if self.network.link is not None:
            attributes["novelty_coefficients_"] = self.coefficients
        if not isinstance(self.network, CredalNetwork):
            attributes["output_order_"] = self._output_order
        if space.object_shape is not None:
            attributes["input_shape_"] = space.object_shape
        return attributes

    @property
    def weights(self) -> Weights | NamedWeights:
        """Copies of the weights of each layer, or of those of a module by name."""
        weights = self.network.weights(self.parameters)
        if isinstance(weights, dict):
            return {name: values.copy() for name, values in weights.items()}
        return [layer.copy() for layer in weights]

    @property
    def coefficients(self) -> Array | None:
        """β0 and β1 of the novelty coupling, None without one."""
        return None if self.network.link is None else self.parameters[-2:].copy()

    @property
    def trained_weights(self) -> TrainedWeights:
        """What another training can start from."""
        return TrainedWeights(self.weights, self.coefficients, self.focal_sets)

    def masses(self, X: Array) -> Array:
        """Masses of rows, shape (n_samples, n_focal_sets)."""
        space = self.space
        inputs: Callable[[Array], Array] = space.standardize
        if space.projection is None:
            X = space.attributes(X)
        else:
            # Some rows at a time: components of all of them may be large, too.
            def inputs(rows: Array) -> Array:
                return space.standardize(space.attributes(rows))

        return masses_in_blocks(self.network, self.parameters, X, inputs, space.novelty)

    def novelty_scores(self, X: Array) -> Array:
        """Scores of rows by the novelty detector, larger for ordinary ones."""
        space = self.space
        assert space.novelty is not None
        return space.novelty(space.standardize(space.attributes(X)))

    def training_data(self, rows: Array, dtype: type) -> TrainingData:
        """Rows as the network sees them, without side information."""
        space = self.space
        geometry, projection = space.geometry(rows), space.projection
        if projection is not None:
            rows = projection.inputs(geometry.values)
        inputs = space.standardize(rows)
        scores: NDArray[np.floating] | None = None
        if space.novelty is not None:
            scores = space.novelty(inputs).astype(dtype)
        return TrainingData(
            with_constant(inputs, dtype),
            scores,
            geometry.similarities(space.scale, dtype),
            self.focal_sets,
            SideInformation.nothing(),
        )

    def renumbered(
        self, columns: NDArray[np.intp], focal_sets: FocalSets
    ) -> FittedNetwork:
        """The same with output ``columns[j]`` as output j, for these focal sets."""
        if (columns == np.arange(len(columns))).all():
            return replace(self, focal_sets=focal_sets)
        if not isinstance(self.network, CredalNetwork):
            network = replace(self.network, order=self._output_order[columns])
            return replace(self, network=network, focal_sets=focal_sets)
        parameters = self.parameters.copy()
        output = self.network.weights(parameters)[-1]
        output[...] = output[columns]
        return replace(self, parameters=parameters, focal_sets=focal_sets)

    def extended(
        self,
        network: CredalNetwork,
        space: InputSpace,
        focal_sets: FocalSets,
        inputs: Array,
        labels: NDArray[np.intp],
        rng: np.random.RandomState,
    ) -> FittedNetwork:
        """A larger network for further clusters, to be trained from there.

        For the sets that both have, it has the outputs of this one.

        Parameters
        ----------
        network : CredalNetwork
            The larger one.
        space : InputSpace
            Its inputs.
        focal_sets : FocalSets
            Its outputs; the new clusters come after the old ones.
        inputs : array of shape (n_samples, n_inputs)
            Objects of old and new clusters as the larger network sees them.
        labels : array of int, shape (n_samples,)
            Their clusters.
        rng : RandomState
            Draws the weights that this network does not have.
        """
        old, old_weights = self.focal_sets, self.weights
        assert not isinstance(old_weights, dict), "modules do not grow"
        parameters = network.initial_parameters(rng)
        layers = network.perceptron.layers(parameters)
        *hidden_weights, outputs = weights_for_other_inputs(
            old_weights, self.space.standardize, space.standardize
        )
        if hidden_weights:
            # Old units do not see the inputs that came with the new clusters.
            layers[0][: len(hidden_weights[0])] = 0.0
        for layer, weights in zip(layers[:-1], hidden_weights, strict=True):
            layer[: len(weights), : weights.shape[1]] = weights
        old_outputs = np.zeros((len(old), layers[-1].shape[1]))
        old_outputs[:, : outputs.shape[1]] = outputs
        units = network.perceptron.forward(layers, with_constant(inputs))[-2]
        hidden = np.asarray(units, np.float64)
        known = {
            renamed_subset(subset, old.n_clusters, focal_sets.n_clusters): row
            for subset, row in zip(old, old_outputs, strict=True)
        }
        others = logsumexp(old_outputs @ hidden, axis=0)
        for cluster in range(old.n_clusters, focal_sets.n_clusters):
            known[(cluster,)] = separating_weights(hidden, others, labels == cluster)
        layers[-1][:] = output_weights(known, focal_sets)
        if network.link is not None:
            parameters[-2:] = self.coefficients
        return FittedNetwork(network, parameters, focal_sets, space)

    def to_onnx(
        self,
        path: str | PathLike[str],
        *,
        n_features: int,
        reference: NeighborNovelty | Calibration | None,
        outlier_rate: float,
        dtype: str,
    ) -> None:
        """Write network and novelty model; see `NNEVCLUS.to_onnx`."""
        check_choice("dtype", dtype, ("float32", "float64"))
        try:
            import onnx  # noqa: F401
        except ImportError as error:
            raise ImportError(
                "to_onnx needs the package onnx: pip install credalis[onnx]"
            ) from error
        space, embedding, projection = (
            self.space,
            self.space.embedding,
            self.space.projection,
        )
        steps: list[Any] = [
            ("Sub", space.standardize.mean),
            ("Div", space.standardize.scale),
        ]
        if embedding is not None:
            steps = [
                ("Sub", embedding.mean_),
                ("MatMul", embedding.components_.T),
                ("Div", embedding.scale_),
                *steps,
            ]
        has_learned = space.transformer is not None and projection is None
        if isinstance(reference, NeighborNovelty) and has_learned:
            raise ValueError(
                "metric must be no transformer for ∅ as novelty to be written as ONNX, "
                f"got {shown(space.transformer)}: fit with empty_set='stress', or with "
                "novelty_detector='ocsvm', whose scores need no distances"
            )
        model = onnx_model(
            self.network,
            self.parameters,
            self.focal_sets,
            input_shape=space.object_shape or (n_features,),
            projection=projection,
            steps=steps,
            novelty=space.novelty,
            reference=reference,
            compares_inputs=space.has_given_dissimilarities,
            outlier_rate=outlier_rate,
            dtype=np.dtype(dtype),
        )
        with naming_errors(os.fspath(path)), atomic_write(path) as stream:
            stream.write(model.SerializeToString())

    def to_state(self) -> dict[str, Any]:
        """What a checkpoint holds; networks of modules have none."""
        return {
            "attributes": self.fitted_attributes(),
            "focal_sets": self.focal_sets,
            "weight_decay": self.network.weight_decay,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> FittedNetwork:
        """Inverse of `to_state`."""
        names = {"focal_sets_": state["focal_sets"]}
        names["weight_decay"] = state["weight_decay"]
        return cls.of(_Attributes(**state["attributes"], **names))  # type: ignore[arg-type]

    @property
    def _output_order(self) -> NDArray[np.intp]:
        order = self.network.order
        return np.arange(self.network.n_outputs) if order is None else order


class _Attributes:
    """What `FittedNetwork.of` reads of an estimator."""

    def __init__(self, **attributes: Any) -> None:
        vars(self).update(attributes)


_archive.register(FittedNetwork)


def decay_of(weight_decay: float | str, module: Any) -> float:
    """λ as a number; an automatic one leaves a module to means of its own."""
    if isinstance(weight_decay, str):
        return _DECAY if module is None else 0.0
    return weight_decay


def network_for(
    settings: Settings,
    space: InputSpace,
    focal_sets: FocalSets,
    hidden: tuple[int, ...] | None = None,
) -> Any:
    """A network that is not trained yet, with hidden layers of its own if given."""
    if settings.module is not None:
        previous = settings.previous
        return torch_engine().ModuleNetwork(
            settings.module,
            space.object_shape or (space.n_inputs,),
            len(focal_sets),
            focal_sets.empty_index,
            settings.novelty_link,
            settings.weight_decay,
            settings.device,
            None if previous is None else previous.output_order,
        )
    if hidden is None:
        hidden = settings.hidden_sizes(focal_sets)
    return CredalNetwork(
        Perceptron((space.n_inputs, *hidden, len(focal_sets))),
        focal_sets.empty_index,
        settings.novelty_link,
        settings.weight_decay,
    )


def arrays_of(weights: Weights | NamedWeights) -> Weights:
    """The arrays, in their order."""
    return list(weights.values()) if isinstance(weights, dict) else weights


def _fitted_module(estimator: NNEVCLUS, space: InputSpace) -> Any:
    """The network around the module an estimator was fitted with."""
    if estimator.module is None:
        raise ValueError(
            "module must be what this model was fitted with, got None: a file holds "
            "the weights of a module but not the module; "
            "call set_params(module=...) after load"
        )
    network = torch_engine().ModuleNetwork(
        estimator.module,
        space.object_shape or (space.n_inputs,),
        len(estimator.focal_sets_),
        estimator.focal_sets_.empty_index,
        estimator.novelty_link_,
        decay_of(estimator.weight_decay, estimator.module),
        estimator.device,
        estimator.output_order_,
    )
    expected = {name: values.shape for name, values in estimator.weights_.items()}
    got = {name: tuple(values.shape) for name, values in network.parts().items()}
    if got != expected:
        raise ValueError(
            "module must be what this model was fitted with: its weights have the "
            f"shapes {expected}, got {got}"
        )
    return network
