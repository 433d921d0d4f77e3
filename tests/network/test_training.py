"""Costs over all objects, and over blocks of them."""

from dataclasses import replace

import numpy as np
import pytest

from credalis import FocalSets
from credalis.dissimilarity import (
    DeferredSimilarities,
    EuclideanSimilarities,
    MatrixSimilarities,
    sample_pairs,
)
from credalis.network import (
    BlockTrainer,
    CredalNetwork,
    DeferredInputs,
    Perceptron,
    SideInformation,
    TrainingData,
    _training,
    full_objective,
    stress_objective,
    with_constant,
)
from credalis.objectives import (
    BlockStress,
    DenseStress,
    SampledStress,
    block_stress,
)

FOCAL_SETS = FocalSets.full(2)
N_SAMPLES = 24
LINKS = [None, "reference", "paper"]

every_link = pytest.mark.parametrize("link", LINKS)
informed_or_not = pytest.mark.parametrize("informed", [False, True])


def side_information(informed):
    def indices(values):
        return np.array(values if informed else values[:0], dtype=np.intp)

    return SideInformation(
        indices([0, 5, 7]),
        indices([0, 1, 1]),
        indices([[0, 3], [5, 9]]).reshape(-1, 2),
        indices([[0, 5], [20, 21]]).reshape(-1, 2),
        0.4,
        0.6,
    )


def training_data(informed=False, pairs=None, dtype=np.float64, n_samples=N_SAMPLES):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 2))
    return TrainingData(
        with_constant(X, dtype),
        rng.normal(size=n_samples).astype(dtype),
        EuclideanSimilarities.from_points(X, 2.0, dtype),
        FOCAL_SETS,
        side_information(informed),
        pairs,
    )


def network_with(link, weight_decay=0.1):
    return CredalNetwork(Perceptron((2, 3, 4)), 0, link, weight_decay)


def parameters_of(network, seed=1):
    return np.random.default_rng(seed).normal(size=network.n_parameters)


def do_nothing(parameters, gradient):
    pass


def descend(parameters, gradient):
    parameters -= 0.1 * gradient


def assert_close(result, expected):
    assert result[0] == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(result[1], expected[1], rtol=1e-10, atol=1e-14)


# All objects at once.


@every_link
@informed_or_not
def test_full_cost_is_the_weighted_sum_of_its_terms(link, informed):
    data, network = training_data(informed), network_with(link)
    parameters = parameters_of(network)
    masses = network.masses(parameters, data.inputs, data.scores)
    stress = DenseStress(data.similarities.matrix(), FOCAL_SETS).value(masses)
    layers = network.perceptron.layers(parameters)
    decay = 0.1 / 2 * sum((layer**2).mean() for layer in layers)
    expected = stress + decay
    if informed:
        extra = data.information.objective(N_SAMPLES, FOCAL_SETS).value(masses)
        expected = 0.6 * stress + extra + decay
    value, _ = full_objective(network, data)(parameters)
    assert value == pytest.approx(expected, rel=1e-12)


@every_link
@informed_or_not
def test_gradient_of_the_full_cost(link, informed, assert_gradient):
    network = network_with(link)
    assert_gradient(
        full_objective(network, training_data(informed)), parameters_of(network)
    )


@every_link
@informed_or_not
@pytest.mark.parametrize("n_partners", [None, 3])
def test_a_stack_of_networks_costs_what_each_does(link, informed, n_partners):
    pairs = None
    if n_partners is not None:
        pairs = sample_pairs(N_SAMPLES, n_partners, np.random.RandomState(0))
    network = network_with(link)
    cost = full_objective(network, training_data(informed, pairs))
    stack = np.array([parameters_of(network, seed) for seed in range(3)])
    values, gradients = cost(stack)
    for k, parameters in enumerate(stack):
        value, gradient = cost(parameters)
        assert values[k] == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(gradients[k], gradient, rtol=1e-11, atol=1e-15)


def test_constraints_alone_leave_the_stress_its_weight():
    known = side_information(informed=True)
    nobody = np.empty(0, dtype=np.intp)
    constraints = SideInformation(
        nobody, nobody, known.must_link, known.cannot_link, 0.4, 0.6
    )
    plain = training_data()
    data = TrainingData(
        plain.inputs, plain.scores, plain.similarities, FOCAL_SETS, constraints
    )
    network = network_with(None)
    parameters = parameters_of(network)
    masses = network.masses(parameters, data.inputs)
    expected = full_objective(network, plain)(parameters)[0]
    expected += constraints.objective(N_SAMPLES, FOCAL_SETS).value(masses)
    value = full_objective(network, data)(parameters)[0]
    assert value == pytest.approx(expected, rel=1e-12)


def test_gradients_of_two_evaluations_do_not_share_memory():
    network = network_with("reference")
    function = full_objective(network, training_data(informed=True))
    first = function(parameters_of(network))[1]
    kept = first.copy()
    function(parameters_of(network, seed=2))
    np.testing.assert_array_equal(first, kept)


def test_stress_of_all_pairs_is_kept_in_memory_or_not(monkeypatch):
    data, network = training_data(), network_with("reference")
    parameters = parameters_of(network)
    assert isinstance(stress_objective(data), DenseStress)
    expected = full_objective(network, data)(parameters)
    monkeypatch.setattr(_training, "_MAX_DENSE", N_SAMPLES - 1)
    assert isinstance(stress_objective(data), BlockStress)
    assert_close(full_objective(network, data)(parameters), expected)


def test_stress_of_parts_is_the_mean_of_theirs():
    data, network = training_data(), network_with("reference")
    parameters, size = parameters_of(network), N_SAMPLES // 3
    parts = [data.take(np.arange(k * size, (k + 1) * size)) for k in range(3)]
    each = [full_objective(network, part)(parameters) for part in parts]
    value, gradient = full_objective(network, replace(data, n_parts=3))(parameters)
    assert value == pytest.approx(np.mean([cost for cost, _ in each]), rel=1e-6)
    mean = np.mean([slope for _, slope in each], axis=0)
    np.testing.assert_allclose(gradient, mean, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("n_partners", [1, 5, N_SAMPLES - 1])
def test_stress_of_sampled_pairs_is_dense_or_sparse(n_partners, monkeypatch, seed):
    pairs = sample_pairs(N_SAMPLES, n_partners, np.random.RandomState(seed))
    data, network = training_data(pairs=pairs), network_with("paper")
    parameters = parameters_of(network)
    assert isinstance(stress_objective(data), DenseStress)
    dense = full_objective(network, data)(parameters)
    monkeypatch.setattr(_training, "_DENSE_SHARE", 1.0)
    assert isinstance(stress_objective(data), SampledStress)
    assert_close(full_objective(network, data)(parameters), dense)
    monkeypatch.setattr(_training, "_DENSE_SHARE", 0.0)
    monkeypatch.setattr(_training, "_MAX_DENSE", N_SAMPLES - 1)
    assert isinstance(stress_objective(data), SampledStress)
    if n_partners == N_SAMPLES - 1:
        assert_close(dense, full_objective(network, training_data())(parameters))


# Some objects.


@informed_or_not
def test_taken_objects_are_data_of_their_own(informed, rng):
    X, scores = rng.normal(size=(N_SAMPLES, 2)), rng.normal(size=N_SAMPLES)
    distances = np.abs(X[:, None] - X).sum(axis=2)
    objects = np.array([5, 0, 21, 9, 20, 4, 11])

    def data_of(chosen):
        return TrainingData(
            with_constant(X[chosen]),
            scores[chosen],
            MatrixSimilarities.from_matrix(distances[np.ix_(chosen, chosen)], 2.0),
            FOCAL_SETS,
            side_information(informed).restricted(chosen, N_SAMPLES),
        )

    taken = data_of(np.arange(N_SAMPLES)).take(objects)
    expected = data_of(objects)
    assert taken.n_samples == len(objects)
    np.testing.assert_array_equal(taken.inputs, expected.inputs)
    np.testing.assert_array_equal(taken.scores, expected.scores)
    if informed:
        np.testing.assert_array_equal(taken.information.cannot_link, [[1, 0], [4, 2]])
    network = network_with("reference")
    parameters = parameters_of(network)
    assert_close(
        full_objective(network, taken)(parameters),
        full_objective(network, expected)(parameters),
    )


@informed_or_not
@pytest.mark.parametrize("together", [1, 8, 10**6])
def test_training_on_deferred_data_is_the_same(informed, together, monkeypatch):
    rng = np.random.default_rng(0)
    X, scores = 3 * rng.normal(size=(30, 2)) + 5, rng.normal(size=30)
    everything = np.arange(30)

    def data_of(inputs, similarities):
        information = side_information(informed)
        return TrainingData(inputs, scores, similarities, FOCAL_SETS, information)

    stored = data_of(
        with_constant((X - 5) / 3), EuclideanSimilarities.from_points(X, 2.0)
    )
    deferred = data_of(
        DeferredInputs(X, lambda rows: (rows - 5) / 3, everything),
        DeferredSimilarities(X, everything, 2.0),
    )
    assert deferred.n_samples == 30
    monkeypatch.setattr(_training, "MAX_STORED", 3 * together)
    network = network_with("reference")
    part = np.array([0, 3, 4, 5, 7, 9, 12, 20, 21, 29])
    for prepare in (lambda data: data, lambda data: data.take(part)):
        results = []
        for data in (stored, deferred):
            parameters = parameters_of(network)
            trainer = BlockTrainer(network, prepare(data), 5)
            loss = trainer.epoch(parameters, np.random.RandomState(0), descend)
            results.append((loss, parameters))
        assert_close(*results)


def test_data_without_scores_are_taken_without():
    data = training_data()
    plain = TrainingData(
        data.inputs, None, data.similarities, FOCAL_SETS, data.information
    )
    assert plain.take(np.arange(3)).scores is None


# Blocks.


class Recorder:
    """In place of a network: remembers which objects it was shown."""

    def __init__(self):
        self.blocks = []
        self.scores = []

    def value_and_gradient(self, parameters, inputs, scores, objective, gradient):
        self.blocks.append(inputs[1].astype(int))
        self.scores.append(scores)
        gradient[:] = len(self.blocks)
        return float(len(self.blocks))


def numbered(n_samples, informed=False):
    """Objects whose attribute is their number."""
    numbers = np.arange(n_samples, dtype=float)[:, None]
    return TrainingData(
        with_constant(numbers),
        10 * numbers[:, 0],
        EuclideanSimilarities.from_points(numbers, 2.0),
        FOCAL_SETS,
        side_information(informed),
    )


@pytest.mark.parametrize("n_samples", [24, 25, 31, 40])
@pytest.mark.parametrize("batch_size", [2, 7, 24, 100])
def test_an_epoch_visits_every_object_once(n_samples, batch_size):
    recorder = Recorder()
    trainer = BlockTrainer(recorder, numbered(n_samples), batch_size)
    rng = np.random.RandomState(0)
    for _ in range(2):
        trainer.epoch(np.zeros(1), rng, do_nothing)
    first, second = recorder.blocks[: trainer.n_blocks], recorder.blocks[-1:]
    np.testing.assert_array_equal(np.sort(np.concatenate(first)), np.arange(n_samples))
    assert len(recorder.blocks) == 2 * trainer.n_blocks
    sizes = [len(block) for block in first]
    assert min(sizes) >= min(batch_size, n_samples)
    assert max(sizes) - min(sizes) <= 1
    # Another order in the next epoch.
    assert (second[0] != first[-1]).any()
    for block, scores in zip(recorder.blocks, recorder.scores, strict=True):
        np.testing.assert_array_equal(scores, 10 * block)


def test_every_block_has_an_update_after_it():
    recorder, seen = Recorder(), []
    trainer = BlockTrainer(recorder, numbered(24), 6)
    parameters = np.zeros(3)

    def update(point, gradient):
        seen.append(gradient.copy())
        point -= gradient

    value = trainer.epoch(parameters, np.random.RandomState(0), update)
    assert value == pytest.approx(np.mean([1, 2, 3, 4]))
    np.testing.assert_array_equal(seen, np.outer([1, 2, 3, 4], np.ones(3)))
    np.testing.assert_array_equal(parameters, -10)


@pytest.mark.parametrize("batch_size", [2, 100])
def test_what_is_known_comes_with_every_block(batch_size):
    recorder = Recorder()
    trainer = BlockTrainer(recorder, numbered(24, informed=True), batch_size)
    trainer.epoch(np.zeros(1), np.random.RandomState(0), do_nothing)
    size = 24 // trainer.n_blocks
    order = np.concatenate([block[:size] for block in recorder.blocks])
    np.testing.assert_array_equal(np.sort(order), np.arange(24))
    concerned = {0, 3, 5, 7, 9, 20, 21}
    for block, scores in zip(recorder.blocks, recorder.scores, strict=True):
        assert concerned.issuperset(block[size:])
        np.testing.assert_array_equal(scores, 10 * block)
        # At most two labels and two pairs, or everything.
        n_known = len(block) - size
        assert n_known <= 6 if batch_size == 2 else n_known == len(concerned)


@every_link
@informed_or_not
@pytest.mark.parametrize("batch_size", [13, N_SAMPLES, 1000])
def test_one_block_is_the_full_cost(link, informed, batch_size, seed):
    data, network = training_data(informed), network_with(link)
    parameters = parameters_of(network)
    trainer = BlockTrainer(network, data, batch_size)
    assert trainer.n_blocks == 1
    gradients = []
    value = trainer.epoch(
        parameters,
        np.random.RandomState(seed),
        lambda _, gradient: gradients.append(gradient.copy()),
    )
    expected = full_objective(network, data)(parameters)
    assert_close((value, gradients[0]), expected)
    assert trainer.evaluate(parameters) == pytest.approx(expected[0], rel=1e-12)


@every_link
def test_the_cost_of_an_epoch_is_the_mean_over_its_blocks(link, seed):
    data, network = training_data(), network_with(link)
    parameters = parameters_of(network)
    value = BlockTrainer(network, data, 6).epoch(
        parameters, np.random.RandomState(seed), do_nothing
    )
    order = np.random.RandomState(seed).permutation(N_SAMPLES)
    costs = [
        full_objective(network, data.take(block))(parameters)[0]
        for block in order.reshape(4, 6)
    ]
    assert value == pytest.approx(np.mean(costs), rel=1e-12)


@every_link
def test_evaluation_deals_out_the_objects_in_turn(link):
    data, network = training_data(), network_with(link)
    parameters = parameters_of(network)
    blocks = [np.arange(first, N_SAMPLES, 4) for first in range(4)]
    costs = [
        full_objective(network, data.take(block))(parameters)[0] for block in blocks
    ]
    value = BlockTrainer(network, data, 6).evaluate(parameters)
    assert value == pytest.approx(np.mean(costs), rel=1e-12)


@informed_or_not
def test_evaluation_is_deterministic_and_changes_nothing(informed):
    data, network = training_data(informed), network_with("reference")
    parameters = parameters_of(network)
    kept = parameters.copy()
    trainer = BlockTrainer(network, data, 2)
    np.random.seed(0)  # noqa: NPY002
    first = trainer.evaluate(parameters)
    np.random.seed(1)  # noqa: NPY002
    assert trainer.evaluate(parameters) == first
    np.testing.assert_array_equal(parameters, kept)


@every_link
@informed_or_not
@pytest.mark.parametrize("batch_size", [2, 5])
def test_gradient_of_a_block(link, informed, batch_size, assert_gradient):
    # Two items of side information, or all of it, beside the objects of the block.
    data, network = training_data(informed), network_with(link)
    trainer = BlockTrainer(network, data, batch_size)
    order = np.random.RandomState(3).permutation(N_SAMPLES)
    block = next(iter(trainer._blocks(order, np.random.RandomState(4))))

    def function(parameters):
        gradient = np.full_like(parameters, np.nan)
        return block(parameters, gradient), gradient

    assert_gradient(function, parameters_of(network))


def test_blocks_can_be_evaluated_in_any_order():
    # Each remembers its own objects.
    data, network = training_data(informed=True), network_with("reference")
    parameters = parameters_of(network)
    gradient = np.empty_like(parameters)
    trainer = BlockTrainer(network, data, 6)
    order = np.arange(N_SAMPLES)
    one_by_one = [
        block(parameters, gradient)
        for block in trainer._blocks(order, np.random.RandomState(0))
    ]
    blocks = list(trainer._blocks(order, np.random.RandomState(0)))
    backwards = [block(parameters, gradient) for block in reversed(blocks)]
    np.testing.assert_allclose(backwards[::-1], one_by_one, rtol=1e-13)
    assert len(set(one_by_one)) == 4


@every_link
@informed_or_not
def test_single_precision_is_good_to_four_digits(link, informed):
    network = network_with(link)
    parameters = parameters_of(network)
    results = []
    for dtype in (np.float64, np.float32):
        trainer = BlockTrainer(network, training_data(informed, dtype=dtype), 6)
        gradients = []
        value = trainer.epoch(
            parameters.astype(dtype),
            np.random.RandomState(0),
            lambda _, gradient, kept=gradients: kept.append(gradient.copy()),
        )
        assert all(gradient.dtype == dtype for gradient in gradients)
        results.append((value, np.array(gradients)))
    (value, gradients), (single, slopes) = results
    assert single == pytest.approx(value, rel=1e-4)
    np.testing.assert_allclose(
        slopes, gradients, rtol=0, atol=1e-4 * np.abs(gradients).max()
    )


def test_epochs_are_reproducible():
    data, network = training_data(informed=True), network_with("reference")
    trainer = BlockTrainer(network, data, 2)

    def step(parameters, gradient):
        parameters -= 0.01 * gradient

    runs = []
    for seed in (0, 0, 1):
        rng, parameters = np.random.RandomState(seed), parameters_of(network)
        losses = [trainer.epoch(parameters, rng, step) for _ in range(3)]
        runs.append((losses, parameters))
    assert runs[0][0] == runs[1][0]
    np.testing.assert_array_equal(runs[0][1], runs[1][1])
    assert runs[0][0] != runs[2][0]


def test_steps_along_the_gradients_lower_the_cost():
    data, network = training_data(), network_with("reference", weight_decay=0.0)
    trainer = BlockTrainer(network, data, 6)
    parameters = parameters_of(network)
    before = trainer.evaluate(parameters)

    def step(parameters, gradient):
        parameters -= gradient

    rng = np.random.RandomState(0)
    for _ in range(50):
        trainer.epoch(parameters, rng, step)
    assert trainer.evaluate(parameters) < 0.95 * before


def test_blocks_share_the_memory_of_their_residuals(monkeypatch):
    stores = []

    def recorded(masses, *, store, **others):
        stores.append(store)
        return block_stress(masses, store=store, **others)

    monkeypatch.setattr(_training, "block_stress", recorded)
    network = network_with("reference")
    trainer = BlockTrainer(network, training_data(n_samples=29), 6)
    trainer.epoch(parameters_of(network), np.random.RandomState(0), do_nothing)
    assert len(stores) == trainer.n_blocks == 4
    assert all(store is stores[0] for store in stores)
