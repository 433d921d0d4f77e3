"""Attributes and novelty scores to masses, with gradients of any objective."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from credalis import _archive
from credalis.network._novelty import INITIAL_COEFFICIENTS, couple, mass_weight

Array = NDArray[np.floating]

# Rows looked at together where one pass over the data is enough.
_STANDARDIZED_ROWS = 10_000

# Products of smaller ones are subnormal numbers, which take ten times as long.
_LEAST_FLOAT32 = np.sqrt(np.finfo(np.float32).tiny)

# Half a gigabyte; a solver needs many times as much.
_MOST_PARAMETERS = 2**26


@dataclass(frozen=True)
class Perceptron:
    """The shape of a network, and its forward and backward passes.

    Parameters are one flat vector; `layers` gives the weight matrices as views of it.
    Several networks are a stack: their parameters are the rows of a matrix, and all
    other arrays have one more axis in front.

    Parameters
    ----------
    sizes : tuple of int
        Numbers of inputs, of units in each hidden layer, and of outputs.
    """

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.n_parameters > _MOST_PARAMETERS:
            raise ValueError(
                f"hidden_layer_sizes must give no more than {_MOST_PARAMETERS} "
                f"weights, got {self.n_parameters} with layers of {self.sizes} units"
            )

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
            part = parameters[..., start : start + rows * columns]
            views.append(part.reshape(*parameters.shape[:-1], rows, columns))
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

    def room(self, n_samples: int) -> list[Array]:
        """Arrays for the activations of one network, of the hidden layers and last."""
        hidden = [np.empty((n_units + 1, n_samples)) for n_units in self.sizes[1:-1]]
        return [*hidden, np.empty((self.sizes[-1], n_samples))]

    def forward(
        self, layers: list[Array], inputs: Array, room: list[Array] | None = None
    ) -> list[Array]:
        """Activations of all layers: the inputs, the hidden units, the softmax.

        Parameters
        ----------
        layers : list of arrays
            Weight matrices.
        inputs : array of shape (n_inputs + 1, n_samples)
            Inputs, the first row ones.
        room : list of arrays, default=None
            What `room` gave for as many samples or more, to be overwritten: new arrays
            for each of many calls take as long as much of the arithmetic.

        Returns
        -------
        list of arrays
            The last one has shape (n_outputs, n_samples), columns summing to one.
        """
        activations = [inputs]
        n_samples = inputs.shape[1]
        outputs: Array | None = None
        if room is not None:
            *room, outputs = (each[:, :n_samples] for each in room)
        # NumPy takes the maximum with an array in a third of the time.
        zeros = np.zeros(n_samples, dtype=inputs.dtype)
        for depth, weights in enumerate(layers[:-1]):
            *stacked, n_units, _ = weights.shape
            if room is None:
                units = np.empty((*stacked, n_units + 1, n_samples), dtype=inputs.dtype)
            else:
                units = room[depth]
            units[..., 0, :] = 1.0
            np.matmul(weights, activations[-1], out=units[..., 1:, :])
            np.maximum(units, zeros, out=units)
            activations.append(units)
        outputs = np.matmul(layers[-1], activations[-1], out=outputs)
        outputs -= np.maximum.reduce(outputs, axis=-2, keepdims=True)
        np.exp(outputs, out=outputs)
        outputs *= np.reciprocal(np.add.reduce(outputs, axis=-2, keepdims=True))
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
        deltas -= np.add.reduce(deltas * outputs, axis=-2, keepdims=True)
        deltas *= outputs
        _flush(deltas)
        for depth in range(len(layers) - 1, 0, -1):
            units = activations[depth]
            np.matmul(deltas, units.swapaxes(-1, -2), out=gradients[depth])
            deltas = layers[depth][..., 1:].swapaxes(-1, -2) @ deltas
            deltas *= units[..., 1:, :] > 0
        np.matmul(deltas, activations[0].T, out=gradients[0])


def _flush(numbers: Array) -> None:
    """Numbers in float32 that add nothing to a sum of others become 0."""
    if numbers.dtype == np.float32:
        numbers[np.abs(numbers) < _LEAST_FLOAT32] = 0.0


# Deviations that objects may be away from the mean, as float32 numbers with room for
# sums and products. Those that are farther count as this far in their direction.
_MOST = 1e30
# Means that may be taken off after a product with the weights, in standard deviations.
_NEAR = 1e3


@dataclass(frozen=True, eq=False)
class Standardization(_archive.SavedFields):
    """x becomes (x - mean) / scale, column by column."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "mean": _archive.Array("f", ("n_inputs",)),
            "scale": _archive.Array("f", ("n_inputs",), above=0),
        }
    )

    @classmethod
    def of(cls, X: NDArray[np.float64]) -> "Standardization":
        """Means and standard deviations of X; a constant column is only centred."""
        # In units of the largest entry, so that no square over- or underflows.
        mean = X.mean(axis=0)
        unit = np.maximum(X.max(axis=0) - mean, mean - X.min(axis=0))
        unit[unit == 0] = 1.0
        squares = np.zeros(X.shape[1])
        for rows in gen_batches(len(X), _STANDARDIZED_ROWS):
            squares += np.square((X[rows] - mean) / unit).sum(axis=0)
        deviation = unit * np.sqrt(squares / len(X))
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    @classmethod
    def weighted(
        cls, X: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> "Standardization":
        """Means and standard deviations of rows that count as their weights say."""
        shares = weights / weights.sum()
        mean = shares @ X
        unit = np.abs(X - mean).max(axis=0)
        unit[unit == 0] = 1.0
        deviation = unit * np.sqrt(shares @ np.square((X - mean) / unit))
        # Rounding is no variation.
        deviation[(X[0] == X).all(axis=0)] = 0.0
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    @classmethod
    def alike(cls, X: NDArray[np.float64]) -> "Standardization":
        """One mean and one deviation for all columns, which belong together."""
        common = cls.of(X.reshape(-1, 1))
        n_features = X.shape[1]
        return cls(
            np.repeat(common.mean, n_features), np.repeat(common.scale, n_features)
        )

    @property
    def is_moderate(self) -> bool:
        """Whether a network may do it by weights, with no rounding to speak of."""
        is_near = np.abs(self.mean) <= _NEAR * self.scale
        return bool(is_near.all() and 1 / _MOST < self.scale.min() < _MOST)

    def reaches(self, X: NDArray[np.float64]) -> bool:
        """Whether no row of X is so far away that it counts as nearer."""
        # A sum of squares takes less time than to look for a large number.
        return float(np.vdot(X, X)) < (_MOST / _NEAR * self.scale.min()) ** 2

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standardise the rows of X; no result is infinite."""
        with np.errstate(over="ignore"):
            result = (X - self.mean) / self.scale
        if not (result.max(initial=0.0) < _MOST and result.min(initial=0.0) > -_MOST):
            is_far = np.abs(result).max(axis=1) >= _MOST
            deviations = X[is_far] - self.mean
            deviations /= np.abs(deviations).max(axis=1, keepdims=True)
            directions = deviations * (self.scale.min() / self.scale)
            directions /= np.abs(directions).max(axis=1, keepdims=True)
            result[is_far] = _MOST * directions
        return result


_archive.register(Standardization)


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


# From masses to a value and its derivatives, or from a stack of masses to both of each.
MassObjective = Callable[[Array], tuple[Any, Array]]

# Objects scored at a time; a few arrays of this many columns fit in the cache.
_BLOCK_ROWS = 1024


@dataclass(frozen=True)
class CredalNetwork:
    """A perceptron whose outputs are masses, with an optional one-class coupling.

    Parameters are one flat vector: the weights, then β0 and β1 if there is a coupling.

    Parameters
    ----------
    perceptron : Perceptron
        The network.
    empty_index : int or None
        Which output is the mass on ∅.
    link : {"reference", "paper"} or None
        Convention of the coupling; None: no coupling.
    weight_decay : float
        λ of the penalty (λ/2) Σ over the layers of the mean squared weight.
    """

    perceptron: Perceptron
    empty_index: int | None
    link: str | None = None
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        check_coupling(self.link, self.empty_index)

    @property
    def n_outputs(self) -> int:
        """Number of focal sets."""
        return self.perceptron.sizes[-1]

    @property
    def n_parameters(self) -> int:
        """Length of the vector of parameters."""
        return self.perceptron.n_parameters + (2 if self.link else 0)

    def initial_parameters(self, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Random weights; the coupling starts by trusting ordinary objects."""
        parameters = self.perceptron.initial_parameters(rng)
        if self.link is None:
            return parameters
        return np.concatenate([parameters, INITIAL_COEFFICIENTS[self.link]])

    def weights(self, parameters: Array) -> list[Array]:
        """The weight matrices, as views of the vector of parameters."""
        return self.perceptron.layers(parameters)

    def before(self, standardize: Standardization, parameters: Array) -> Array:
        """Parameters that take attributes as these take standardised ones."""
        parameters = parameters.astype(np.float64)
        first = self.perceptron.layers(parameters)[0]
        first[:, 1:] /= standardize.scale
        first[:, 0] -= first[:, 1:] @ standardize.mean
        return parameters

    def masses(
        self,
        parameters: Array,
        inputs: Array,
        scores: Array | None = None,
        room: list[Array] | None = None,
    ) -> Array:
        """Masses of the columns of inputs, shape (n_focal_sets, n_samples).

        They may lie in the room, see `Perceptron.forward`.
        """
        layers = self.perceptron.layers(parameters)
        masses = self.perceptron.forward(layers, inputs, room)[-1]
        if self.link is None:
            return masses
        assert scores is not None
        assert self.empty_index is not None
        weights, _ = mass_weight(scores, parameters[..., -2:], self.link)
        return couple(masses, weights, self.empty_index)

    def value_and_gradient(
        self,
        parameters: Array,
        inputs: Array,
        scores: Array | None,
        objective: MassObjective,
        gradient: Array,
    ) -> Any:
        """Value of the objective at the masses, plus weight decay.

        Parameters
        ----------
        parameters : array of shape (n_parameters,) or (n_stacked, n_parameters)
            Where, or where for each of a stack of networks.
        inputs : array of shape (n_inputs + 1, n_samples)
            Inputs, the first row ones.
        scores : array of shape (n_samples,) or None
            Novelty scores.
        objective : callable
            Takes masses (n_focal_sets, n_samples), or a stack of them, returns the
            value or values and the derivatives with respect to the masses, which may
            be overwritten.
        gradient : array like the parameters
            Receives the derivatives with respect to them.

        Returns
        -------
        float, or array of shape (n_stacked,)
        """
        layers = self.perceptron.layers(parameters)
        gradients = self.perceptron.layers(gradient)
        activations = self.perceptron.forward(layers, inputs)
        masses = activations[-1]
        _flush(masses)
        if self.link is None:
            value, slopes = objective(masses)
        else:
            assert scores is not None
            assert self.empty_index is not None
            link = parameters[..., -2:]
            weights, weight_slopes = mass_weight(scores, link, self.link)
            value, slopes = objective(couple(masses, weights, self.empty_index))
            # ∂L/∂ω = Σ_r g_r (m_r - e_∅r)
            by_weight = np.einsum("...ij,...ij->...j", slopes, masses)
            by_weight -= slopes[..., self.empty_index, :]
            by_weight *= weight_slopes
            gradient[..., -2] = by_weight.sum(axis=-1)
            gradient[..., -1] = by_weight @ scores
            slopes *= weights[..., None, :]
        self.perceptron.backward(layers, activations, slopes, gradients)
        if self.weight_decay:
            for weights, slope in zip(layers, gradients, strict=True):
                scale = self.weight_decay / (weights.shape[-2] * weights.shape[-1])
                squares = np.einsum("...ij,...ij->...", weights, weights)
                value = value + 0.5 * scale * squares
                slope += scale * weights
        return value


def check_coupling(link: str | None, empty_index: int | None) -> None:
    """Refuse a coupling without an empty set."""
    if link is not None and empty_index is None:
        raise ValueError(
            "focal_sets must contain the empty set if there is a novelty detector: "
            "novel objects move their mass to it"
        )


def masses_in_blocks(
    network: Any,
    parameters: Array,
    attributes: NDArray[np.float64],
    standardize: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    scores: Array | Callable[[NDArray[np.float64]], Array] | None,
) -> NDArray[np.float64]:
    """Masses of any number of objects, needing little memory beyond the result.

    Parameters
    ----------
    network : CredalNetwork or ModuleNetwork
        The network.
    parameters : array of shape (n_parameters,)
        Its parameters.
    attributes : array of shape (n_samples, n_inputs)
        Attributes of the objects.
    standardize : callable
        Turns attributes into inputs.
    scores : array of shape (n_samples,), callable or None
        Novelty scores, or what gives them for inputs.

    Returns
    -------
    array of shape (n_samples, n_focal_sets)
    """
    masses = np.empty((len(attributes), network.n_outputs))
    masses_of = network.masses
    scaling: Standardization | None = None
    if isinstance(network, CredalNetwork):
        n_rows = min(len(attributes), _BLOCK_ROWS)
        masses_of = partial(masses_of, room=network.perceptron.room(n_rows))
        if (
            isinstance(standardize, Standardization)
            and standardize.is_moderate
            and scores is None
        ):
            scaling, scaled = standardize, network.before(standardize, parameters)
    for rows in gen_batches(len(attributes), _BLOCK_ROWS):
        inputs, used = attributes[rows], parameters
        if scaling is not None and scaling.reaches(inputs):
            used = scaled
        else:
            inputs = standardize(inputs)
        of_block: Array | None = None
        if scores is not None:
            of_block = scores(inputs) if callable(scores) else scores[rows]
        masses[rows] = masses_of(used, with_constant(inputs), of_block).T
    return masses
