"""A multilayer perceptron with rectified hidden units and a softmax output.

Objects are columns: an array of activations has shape (n_units, n_samples). The first
row of the inputs and of every hidden layer is the constant 1, so that the biases are
the first columns of the weight matrices and no addition is left.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Perceptron:
    """The shape of a network, and its forward and backward passes.

    Parameters are one flat vector; `layers` gives the weight matrices as views of it.

    Parameters
    ----------
    sizes : tuple of int
        Numbers of inputs, of units in each hidden layer, and of outputs.
    """

    sizes: tuple[int, ...]

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Shape (n_out, n_in + 1) of each weight matrix, biases first."""
        return tuple(
            (n_out, n_in + 1)
            for n_in, n_out in zip(self.sizes[:-1], self.sizes[1:], strict=True)
        )

    @cached_property
    def n_parameters(self) -> int:
        """Length of the vector of parameters."""
        return sum(rows * columns for rows, columns in self.shapes)

    def layers(self, parameters: Array) -> list[Array]:
        """The weight matrices, as views of the vector of parameters."""
        views, start = [], 0
        for rows, columns in self.shapes:
            views.append(
                parameters[start : start + rows * columns].reshape(rows, columns)
            )
            start += rows * columns
        return views

    def initial_parameters(self, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Weights uniform on ±1/√(n_in + 1), biases included."""
        return np.concatenate(
            [
                rng.uniform(-1, 1, size=rows * columns) / np.sqrt(columns)
                for rows, columns in self.shapes
            ]
        )

    def forward(self, layers: list[Array], inputs: Array) -> list[Array]:
        """Activations of all layers: the inputs, the hidden units, the softmax.

        Parameters
        ----------
        layers : list of arrays
            Weight matrices.
        inputs : array of shape (n_inputs + 1, n_samples)
            Inputs, the first row ones.

        Returns
        -------
        list of arrays
            The last one has shape (n_outputs, n_samples), columns summing to one.
        """
        activations = [inputs]
        n_samples = inputs.shape[1]
        for weights in layers[:-1]:
            units = np.empty((len(weights) + 1, n_samples), dtype=inputs.dtype)
            units[0] = 1.0
            hidden = units[1:]
            np.matmul(weights, activations[-1], out=hidden)
            np.maximum(hidden, 0.0, out=hidden)
            activations.append(units)
        outputs = layers[-1] @ activations[-1]
        outputs -= outputs.max(axis=0)
        np.exp(outputs, out=outputs)
        outputs /= outputs.sum(axis=0)
        activations.append(outputs)
        return activations

    def backward(
        self,
        layers: list[Array],
        activations: list[Array],
        output_gradient: Array,
        gradients: list[Array],
    ) -> None:
        """Derivatives with respect to the weights, written into ``gradients``.

        Parameters
        ----------
        layers, activations : list of arrays
            Weights, and what `forward` returned for them.
        output_gradient : array of shape (n_outputs, n_samples)
            Derivatives with respect to the softmax outputs. Overwritten.
        gradients : list of arrays
            Shaped like the layers.
        """
        outputs = activations[-1]
        # ∂L/∂u = m ∘ (g - Σ g m), the derivative of the softmax.
        deltas = output_gradient
        deltas -= (deltas * outputs).sum(axis=0)
        deltas *= outputs
        for depth in range(len(layers) - 1, 0, -1):
            units = activations[depth]
            np.matmul(deltas, units.T, out=gradients[depth])
            deltas = layers[depth][:, 1:].T @ deltas
            deltas *= units[1:] > 0
        np.matmul(deltas, activations[0].T, out=gradients[0])


def with_constant(X: Array, dtype: type = np.float64) -> Array:
    """Rows of X as columns below a row of ones, shape (n_features + 1, n_samples)."""
    inputs = np.empty((X.shape[1] + 1, len(X)), dtype=dtype)
    inputs[0] = 1.0
    inputs[1:] = X.T
    return inputs


@dataclass(frozen=True, eq=False)
class DeferredInputs:
    """Inputs of more objects than should be held twice.

    Those of a part of the objects are made when they are asked for.

    Attributes
    ----------
    attributes : array of shape (n_rows, n_features)
        What the inputs are made from.
    standardize : callable
        Takes rows of the attributes, returns inputs.
    objects : array of int, shape (n_samples,)
        Which of the rows are the objects.
    dtype : type
        Of the inputs.
    """

    attributes: NDArray[np.float64]
    standardize: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    objects: NDArray[np.intp]
    dtype: type = np.float64

    @property
    def shape(self) -> tuple[int, int]:
        """Of all inputs with their row of ones."""
        return self.attributes.shape[1] + 1, len(self.objects)

    def of(self, objects: NDArray[np.intp]) -> Array:
        """Columns of some objects."""
        rows = self.attributes[self.objects[objects]]
        return with_constant(self.standardize(rows), self.dtype)

    def part(self, objects: NDArray[np.intp]) -> "DeferredInputs":
        """The same for some objects, still to be made."""
        chosen = self.objects[objects]
        return DeferredInputs(self.attributes, self.standardize, chosen, self.dtype)
