"""The perceptron: layout of its parameters, forward and backward pass."""

import numpy as np
import pytest

from credalis.network import Perceptron, with_constant

DEPTHS = [(3, 4), (3, 5, 4), (3, 5, 2, 4), (3, 2, 3, 2, 4)]

every_depth = pytest.mark.parametrize("sizes", DEPTHS)


def random_network(sizes, rng):
    perceptron = Perceptron(sizes)
    return perceptron, rng.normal(size=perceptron.n_parameters)


def outputs_of(perceptron, parameters, X):
    layers = perceptron.layers(parameters)
    return perceptron.forward(layers, with_constant(X))[-1]


def by_definition(layers, x):
    """Masses of one object, unit by unit."""
    for weights in layers[:-1]:
        x = np.array([max(0.0, row[0] + row[1:] @ x) for row in weights])
    logits = np.array([row[0] + row[1:] @ x for row in layers[-1]])
    return np.exp(logits) / np.exp(logits).sum()


@every_depth
def test_parameters_are_the_weight_matrices_row_by_row(sizes):
    perceptron = Perceptron(sizes)
    parameters = np.arange(float(perceptron.n_parameters))
    layers = perceptron.layers(parameters)
    expected = list(zip(sizes[1:], np.add(sizes[:-1], 1), strict=True))
    assert [layer.shape for layer in layers] == expected
    np.testing.assert_array_equal(
        np.concatenate([layer.ravel() for layer in layers]), parameters
    )
    assert all(np.shares_memory(layer, parameters) for layer in layers)


@every_depth
def test_forward_pass_is_the_definition(sizes, rng):
    perceptron, parameters = random_network(sizes, rng)
    X = rng.normal(size=(6, 3))
    outputs = outputs_of(perceptron, parameters, X)
    layers = perceptron.layers(parameters)
    np.testing.assert_allclose(
        outputs.T, [by_definition(layers, x) for x in X], rtol=1e-12
    )


@every_depth
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outputs_are_masses_of_the_type_of_the_inputs(sizes, dtype, rng):
    perceptron, parameters = random_network(sizes, rng)
    activations = perceptron.forward(
        perceptron.layers(parameters.astype(dtype)),
        with_constant(rng.normal(size=(6, 3)), dtype),
    )
    assert all(activation.dtype == dtype for activation in activations)
    assert (activations[-1] >= 0).all()
    rounding = 10 * np.finfo(dtype).eps
    np.testing.assert_allclose(activations[-1].sum(axis=0), 1, rtol=rounding)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_logits_do_not_overflow(dtype):
    perceptron = Perceptron((1, 2, 3))
    parameters = np.zeros(perceptron.n_parameters, dtype=dtype)
    hidden, output = perceptron.layers(parameters)
    hidden[:] = [[0, 1], [0, -1]]
    output[:] = [[0, 0, 0], [0, 1e30, 0], [0, 0, 1e30]]
    outputs = outputs_of(perceptron, parameters, np.array([[0.0], [1.0], [-1.0]]))
    expected = [[1 / 3, 1 / 3, 1 / 3], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_allclose(outputs.T, expected, rtol=1e-6)


@every_depth
def test_permuted_output_rows_permute_the_masses(sizes, rng):
    perceptron, parameters = random_network(sizes, rng)
    X = rng.normal(size=(6, 3))
    outputs = outputs_of(perceptron, parameters, X)
    order = rng.permutation(4)
    last = perceptron.layers(parameters)[-1]
    last[:] = last[order]
    np.testing.assert_allclose(
        outputs_of(perceptron, parameters, X), outputs[order], rtol=1e-13
    )


def test_permuted_hidden_units_change_nothing(rng):
    perceptron, parameters = random_network((3, 5, 4), rng)
    X = rng.normal(size=(6, 3))
    outputs = outputs_of(perceptron, parameters, X)
    order = rng.permutation(5)
    hidden, output = perceptron.layers(parameters)
    hidden[:] = hidden[order]
    output[:, 1:] = output[:, 1:][:, order]
    np.testing.assert_allclose(
        outputs_of(perceptron, parameters, X), outputs, rtol=1e-12
    )


@every_depth
def test_backward_pass_is_the_derivative(sizes, rng, assert_gradient):
    perceptron, parameters = random_network(sizes, rng)
    inputs = with_constant(rng.normal(size=(6, 3)))
    slopes = rng.normal(size=(4, 6))

    def linear(parameters):
        layers = perceptron.layers(parameters)
        gradient = np.full_like(parameters, np.nan)
        activations = perceptron.forward(layers, inputs)
        perceptron.backward(
            layers, activations, slopes.copy(), perceptron.layers(gradient)
        )
        return np.vdot(slopes, activations[-1]), gradient

    assert_gradient(linear, parameters)


def test_a_unit_at_its_kink_passes_nothing_back():
    perceptron = Perceptron((1, 1, 2))
    parameters = np.array([0.0, 0.0, 1.0, 2.0, 3.0, -4.0])
    layers = perceptron.layers(parameters)
    gradient = np.empty(6)
    activations = perceptron.forward(layers, with_constant(np.array([[5.0]])))
    perceptron.backward(
        layers, activations, np.array([[1.0], [0.0]]), perceptron.layers(gradient)
    )
    np.testing.assert_array_equal(gradient[:2], 0)
    assert gradient[2] != 0


@every_depth
def test_initial_weights_lie_within_their_bounds(sizes, seed):
    perceptron = Perceptron(sizes)
    draw = perceptron.initial_parameters(np.random.RandomState(seed))
    for layer in perceptron.layers(draw):
        assert np.abs(layer).max() <= 1 / np.sqrt(layer.shape[1])
    again = perceptron.initial_parameters(np.random.RandomState(seed))
    np.testing.assert_array_equal(draw, again)
    other = perceptron.initial_parameters(np.random.RandomState(seed + 1))
    assert (draw != other).all()


def test_initial_weights_are_uniform_up_to_their_bounds():
    perceptron = Perceptron((24, 200, 10))
    draw = perceptron.initial_parameters(np.random.RandomState(0))
    for layer, bound in zip(
        perceptron.layers(draw), (1 / 5, 1 / np.sqrt(201)), strict=True
    ):
        # A sample of 2000 or more comes close to both ends and to the variance.
        assert layer.max() > 0.99 * bound
        assert layer.min() < -0.99 * bound
        assert layer.var() == pytest.approx(bound**2 / 3, rel=0.1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_with_constant_puts_ones_above_the_columns(dtype):
    inputs = with_constant(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), dtype)
    np.testing.assert_array_equal(inputs, [[1, 1, 1], [1, 3, 5], [2, 4, 6]])
    assert inputs.dtype == dtype
    assert inputs.flags.c_contiguous
