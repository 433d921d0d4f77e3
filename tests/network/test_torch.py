"""Cost and gradient under PyTorch are those of the closed forms."""

from itertools import product

import numpy as np
import pytest

from credalis import FocalSets
from credalis.dissimilarity import EuclideanSimilarities, StoredSimilarities
from credalis.network import (
    BlockTrainer,
    CredalNetwork,
    Perceptron,
    SideInformation,
    TrainingData,
    full_objective,
    torch_engine,
    with_constant,
)
from credalis.optimize import Adam, RMSprop

torch = pytest.importorskip("torch")
engine = torch_engine()


NO_OBJECTS = np.empty(0, dtype=np.intp)
NO_PAIRS = np.empty((0, 2), dtype=np.intp)
LINKS = [None, "reference", "paper"]
FOCAL_SETS = FocalSets.from_subsets(3, [(0,), (1,), (), (2,), (0, 1), (0, 1, 2)])


def training_data(rng, *, labels=True, pairs=True, sampled=False, n_samples=11):
    X = rng.normal(size=(n_samples, 2))
    information = SideInformation(
        np.array([0, 4, 4]) if labels else NO_OBJECTS,
        np.array([1, 2, 2]) if labels else NO_OBJECTS,
        np.array([[0, 1], [5, 2]]) if pairs else NO_PAIRS,
        np.array([[3, 8]]) if pairs else NO_PAIRS,
        0.4,
        0.6,
    )
    partners = (np.array([0, 3, 3, 7]), np.array([5, 4, 4, 1])) if sampled else None
    return TrainingData(
        with_constant(X),
        rng.normal(size=n_samples),
        EuclideanSimilarities.from_points(X, 2.0),
        FOCAL_SETS,
        information,
        partners,
    )


def network_of(link, hidden=(4, 3), weight_decay=0.3):
    perceptron = Perceptron((2, *hidden, len(FOCAL_SETS)))
    return CredalNetwork(perceptron, FOCAL_SETS.empty_index, link, weight_decay)


def as_module(network):
    """The same perceptron with the layers of torch."""
    layers = []
    for rows, columns in network.perceptron.shapes:
        layers += [torch.nn.Linear(columns - 1, rows), torch.nn.ReLU()]
    return engine.ModuleNetwork(
        torch.nn.Sequential(*layers[:-1]),
        (network.perceptron.sizes[0],),
        len(FOCAL_SETS),
        network.empty_index,
        network.link,
        network.weight_decay,
    )


def in_order_of_torch(network, vector):
    """Weights and biases apart, the former first."""
    parts = []
    for layer in network.perceptron.layers(vector):
        parts += [layer[:, 1:].ravel(), layer[:, 0]]
    return np.concatenate([*parts, vector[network.perceptron.n_parameters :]])


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(
    ("labels", "pairs", "sampled"), list(product([False, True], repeat=3))
)
def test_cost_and_gradient_of_all_objects(link, labels, pairs, sampled, rng):
    data = training_data(rng, labels=labels, pairs=pairs, sampled=sampled)
    network = network_of(link)
    parameters = rng.normal(size=network.n_parameters)
    expected, gradient = full_objective(network, data)(parameters)
    value, slopes = engine.torch_objective(network, data)(parameters)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(slopes, gradient, rtol=0, atol=1e-13)
    module = as_module(network)
    assert module.n_parameters == network.n_parameters
    value, slopes = engine.torch_objective(module, data)(
        in_order_of_torch(network, parameters)
    )
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(
        slopes, in_order_of_torch(network, gradient), rtol=0, atol=1e-13
    )


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("is_stored", [False, True])
@pytest.mark.parametrize("labels", [False, True])
def test_cost_of_blocks_and_an_epoch(link, is_stored, labels, rng):
    data = training_data(rng, labels=labels, pairs=labels)
    if is_stored:
        stored = StoredSimilarities(data.similarities.matrix())
        data = TrainingData(
            data.inputs, data.scores, stored, FOCAL_SETS, data.information
        )
    network = network_of(link)
    parameters = rng.normal(size=network.n_parameters)
    first, second = (
        BlockTrainer(network, data, 4),
        engine.TorchTrainer(network, data, 4),
    )
    vector = second.vector(parameters)
    assert second.evaluate(vector) == pytest.approx(
        first.evaluate(parameters), rel=1e-12
    )
    moved = first.vector(parameters)
    losses = [
        trainer.epoch(
            where, np.random.RandomState(0), trainer.optimizer("adam", 0.1).step
        )
        for trainer, where in ((first, moved), (second, vector))
    ]
    assert losses[1] == pytest.approx(losses[0], rel=1e-12)
    np.testing.assert_allclose(second.array(vector), moved, rtol=0, atol=1e-9)
    assert not np.allclose(moved, parameters)


@pytest.mark.parametrize("link", LINKS)
def test_masses_of_a_module_in_the_order_of_the_focal_sets(link, rng):
    network = network_of(link)
    parameters = rng.normal(size=network.n_parameters)
    inputs, scores = with_constant(rng.normal(size=(5, 2))), rng.normal(size=5)
    expected = network.masses(parameters, inputs, scores)
    module = as_module(network)
    vector = in_order_of_torch(network, parameters)
    np.testing.assert_allclose(
        module.masses(vector, inputs, scores), expected, atol=1e-14
    )
    order = np.array([3, 0, 2, 1, 5, 4])
    turned = engine.ModuleNetwork(
        module.source, (2,), 6, network.empty_index, link, order=order
    )
    plain = engine.ModuleNetwork(module.source, (2,), 6, network.empty_index)
    if link is None:
        np.testing.assert_array_equal(
            turned.masses(vector, inputs), plain.masses(vector, inputs)[order]
        )
    # What is trained is what is predicted.
    data = training_data(rng, labels=True)
    costs = []
    for each in (
        turned,
        engine.ModuleNetwork(module.source, (2,), 6, network.empty_index, link),
    ):
        costs.append(engine.torch_objective(each, data)(vector)[0])
    assert costs[0] != pytest.approx(costs[1], rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("solver", "ours"), [("adam", Adam), ("rmsprop", RMSprop)])
def test_updates_are_those_of_numpy(solver, ours, dtype, rng):
    first = rng.normal(size=6).astype(dtype)
    vector = torch.tensor(first)
    update, theirs = ours(0.05), engine.TorchUpdate(solver, 0.05)
    for step in range(60):
        # Gradients of all sizes, and one that is always 0.
        gradient = (rng.normal(size=6) * 10.0 ** np.arange(-4, 2)).astype(dtype)
        gradient[-1] = 0.0
        rate = None if step % 2 else 0.01
        update.step(first, gradient, learning_rate=rate)
        # A stream passes another vector every time.
        vector = vector.clone()
        theirs.step(vector, torch.tensor(gradient), learning_rate=rate)
    tolerance = 1e-5 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(vector.numpy(), first, rtol=tolerance)


def test_shared_weights_are_one_part_of_the_vector(rng):
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(2, 2)
            self.second = self.first
            self.last = torch.nn.Linear(2, 6)

        def forward(self, x):
            return self.last(torch.relu(self.second(torch.relu(self.first(x)))))

    network = engine.ModuleNetwork(Tied(), (2,), 6, FOCAL_SETS.empty_index)
    assert network.n_parameters == 6 + 18
    data = training_data(rng)
    objective = engine.torch_objective(network, data)
    parameters = rng.normal(size=24)
    _, gradient = objective(parameters)
    for k in (0, 3, 4, 20):
        step = np.zeros(24)
        step[k] = 1e-6
        values = objective(parameters + step)[0] - objective(parameters - step)[0]
        assert gradient[k] == pytest.approx(values / 2e-6, abs=1e-8)


def test_a_module_can_be_taken_out_with_its_weights(rng):
    network = as_module(network_of(None))
    parameters = rng.normal(size=network.n_parameters)
    inputs = rng.normal(size=(5, 2))
    with torch.no_grad():
        outputs = network.trained(parameters)(torch.tensor(inputs))
    np.testing.assert_allclose(
        torch.softmax(outputs, 1).numpy().T,
        network.masses(parameters, with_constant(inputs)),
        atol=1e-14,
    )


def test_a_coupling_needs_the_empty_set():
    with pytest.raises(ValueError, match="focal_sets must contain the empty set"):
        engine.ModuleNetwork(torch.nn.Linear(2, 3), (2,), 3, None, "reference")
