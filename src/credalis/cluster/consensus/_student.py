"""The network that has learned from a committee, as one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from credalis import _archive
from credalis.belief import FocalSets
from credalis.cluster._framework._schema import InputsRule, SetsRule, WeightsRule
from credalis.network import (
    CredalNetwork,
    Perceptron,
    Standardization,
    masses_in_blocks,
)

if TYPE_CHECKING:
    from credalis.cluster.consensus._consensus import Consensus

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Student:
    """A network, its parameters and its inputs: all that prediction needs.

    The only reader and writer of the fitted attributes that are about the network.

    Attributes
    ----------
    network : CredalNetwork
        The network.
    parameters : array of shape (n_parameters,)
        Its parameters.
    focal_sets : FocalSets
        Its outputs.
    standardize : Standardization
        From rows to its inputs.
    """

    network: CredalNetwork
    parameters: Array
    focal_sets: FocalSets
    standardize: Standardization

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "focal_sets": SetsRule(),
            "standardize": InputsRule(),
            "weights": WeightsRule(),
            "weight_decay": _archive.Number(at_least=0),
        }
    )

    @classmethod
    def of(cls, estimator: Consensus) -> Student:
        """What an estimator was fitted with, whatever its parameters are now."""
        return cls._of_layers(
            estimator.weights_, estimator.focal_sets_, estimator.standardization_
        )

    @classmethod
    def _of_layers(
        cls,
        weights: list[Array],
        focal_sets: FocalSets,
        standardize: Standardization,
        weight_decay: float = 0.0,
    ) -> Student:
        sizes = (weights[0].shape[1] - 1, *(len(layer) for layer in weights))
        network = CredalNetwork(
            Perceptron(sizes), focal_sets.empty_index, None, weight_decay
        )
        parameters = np.concatenate([layer.ravel() for layer in weights])
        return cls(network, parameters, focal_sets, standardize)

    @property
    def layers(self) -> list[Array]:
        """Copies of the weights of each layer."""
        layers = self.network.weights(self.parameters)
        return [layer.astype(np.float64) for layer in layers]

    def fitted_attributes(self) -> dict[str, Any]:
        """Attributes of an estimator with this network."""
        return {"weights_": self.layers, "standardization_": self.standardize}

    def masses(self, X: Array) -> Array:
        """Masses of rows, shape (n_samples, n_focal_sets)."""
        return masses_in_blocks(
            self.network, self.parameters, X, self.standardize, None
        )

    def renumbered(self, columns: Indices, focal_sets: FocalSets) -> Student:
        """The same with output ``columns[j]`` as output j, for these focal sets."""
        parameters = self.parameters.copy()
        output = self.network.weights(parameters)[-1]
        output[...] = output[columns]
        return replace(self, parameters=parameters, focal_sets=focal_sets)

    def to_state(self) -> dict[str, Any]:
        """What a checkpoint holds."""
        return {
            "weights": self.layers,
            "focal_sets": self.focal_sets,
            "standardize": self.standardize,
            "weight_decay": self.network.weight_decay,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Student:
        """Inverse of `to_state`."""
        return cls._of_layers(**state)


_archive.register(Student)
