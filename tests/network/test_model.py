"""The network from attributes and scores to masses, and the gradient of its cost."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from credalis import FocalSets
from credalis.dissimilarity import EuclideanSimilarities, transform
from credalis.network import (
    CredalNetwork,
    Perceptron,
    SideInformation,
    Standardization,
    TrainingData,
    full_objective,
    masses_in_blocks,
    with_constant,
)
from credalis.objectives import BlockStress, DenseStress, SampledStress

NO_OBJECTS = np.empty(0, dtype=np.intp)
NO_PAIRS = np.empty((0, 2), dtype=np.intp)
NOTHING_KNOWN = SideInformation(NO_OBJECTS, NO_OBJECTS, NO_PAIRS, NO_PAIRS, 0.0, 0.0)

EXCERPT = Path(__file__).parents[1] / "reference" / "evclust_nnevclus.json"


def evaluated(network, parameters, inputs, scores, objective):
    """Value and gradient of an objective."""
    gradient = np.full(network.n_parameters, np.nan)
    value = network.value_and_gradient(
        parameters, inputs, scores, objective.value_and_gradient, gradient
    )
    return value, gradient


# Gradients of every combination of terms.

HIDDEN = [(3,), (3, 2), (2, 3, 2)]
LINKS = [None, "reference", "paper"]


def stress_of(kind, points, focal_sets, rng):
    similarities = EuclideanSimilarities.from_points(points, 2.0)
    if kind == "block":
        return BlockStress(similarities, focal_sets)
    if kind == "dense":
        return DenseStress(similarities.matrix(), focal_sets)
    n_samples = len(points)
    rows = np.repeat(np.arange(n_samples), 3)
    columns = (rows + rng.integers(1, n_samples, size=len(rows))) % n_samples
    values = similarities.pairs(rows, columns)
    return SampledStress(rows, columns, values, n_samples, focal_sets)


@pytest.mark.parametrize("stress", ["dense", "sampled", "block"])
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize(
    ("labels", "constraints", "weight_decay"),
    list(product([False, True], [False, True], [0.0, 0.3])),
)
def test_gradient(
    hidden, link, stress, labels, constraints, weight_decay, rng, assert_gradient
):
    focal_sets = FocalSets.singletons(3)
    n_samples = 9
    X = rng.normal(size=(n_samples, 2))
    information = SideInformation(
        np.array([0, 4, 4]) if labels else NO_OBJECTS,
        np.array([1, 2, 2]) if labels else NO_OBJECTS,
        np.array([[0, 1], [5, 2]]) if constraints else NO_PAIRS,
        np.array([[3, 8]]) if constraints else NO_PAIRS,
        0.4,
        0.6,
    )
    objective = information.stress_weight * stress_of(stress, X, focal_sets, rng)
    extra = information.objective(n_samples, focal_sets)
    if extra is not None:
        objective = objective + extra
    network = CredalNetwork(
        Perceptron((2, *hidden, len(focal_sets))),
        focal_sets.empty_index,
        link,
        weight_decay,
    )
    parameters = rng.normal(size=network.n_parameters)
    inputs, scores = with_constant(X), rng.normal(size=n_samples)
    assert_gradient(
        lambda parameters: evaluated(network, parameters, inputs, scores, objective),
        parameters,
    )


@pytest.mark.parametrize("link", ["reference", "paper"])
def test_gradient_with_the_empty_set_elsewhere(link, rng, assert_gradient):
    focal_sets = FocalSets.from_subsets(2, [(0,), (0, 1), (), (1,)])
    X, scores = rng.normal(size=(7, 2)), rng.normal(size=7)
    network = CredalNetwork(Perceptron((2, 3, 4)), focal_sets.empty_index, link)
    assert network.empty_index == 2
    stress = stress_of("dense", X, focal_sets, rng)
    assert_gradient(
        lambda p: evaluated(network, p, with_constant(X), scores, stress),
        rng.normal(size=network.n_parameters),
    )


def test_no_subnormal_numbers_in_training_with_float32(rng):
    """Where masses are nearly hard, the gradient is that of float64 all the same."""
    focal_sets = FocalSets.singletons(3)
    network = CredalNetwork(Perceptron((2, 6, 5)), focal_sets.empty_index)
    inputs = with_constant(rng.normal(size=(40, 2)))
    parameters = 12 * rng.normal(size=network.n_parameters)
    targets = rng.dirichlet(np.ones(5), size=40).T
    seen = []

    def objective(masses):
        seen.append(masses.copy())
        slopes = (masses - targets).astype(masses.dtype)
        return 0.5 * np.square(slopes).sum(), slopes

    gradients = []
    for dtype in (np.float64, np.float32):
        gradient = np.empty(network.n_parameters, dtype=dtype)
        network.value_and_gradient(
            parameters.astype(dtype), inputs.astype(dtype), None, objective, gradient
        )
        gradients.append(gradient)
    exact, rounded = seen
    least = np.sqrt(np.finfo(np.float32).tiny)
    assert ((exact > 0) & (exact < least)).any()
    assert not ((rounded > 0) & (rounded < least)).any()
    scale = np.abs(gradients[0]).max()
    np.testing.assert_allclose(gradients[1], gradients[0], atol=1e-5 * scale)


# Masses.


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("hidden", HIDDEN)
def test_masses_sum_to_one(link, hidden, rng):
    network = CredalNetwork(Perceptron((2, *hidden, 5)), 0, link)
    masses = network.masses(
        rng.normal(size=network.n_parameters),
        with_constant(10 * rng.normal(size=(20, 2))),
        10 * rng.normal(size=20),
    )
    assert masses.shape == (5, 20)
    assert (masses >= 0).all()
    np.testing.assert_allclose(masses.sum(axis=0), 1, rtol=1e-13)


@pytest.mark.parametrize(("link", "beta0"), [("reference", -1e3), ("paper", 1e18)])
def test_weight_one_equals_no_coupling(link, beta0, rng):
    focal_sets = FocalSets.full(2)
    X, scores = rng.normal(size=(8, 2)), rng.normal(size=8)
    inputs = with_constant(X)
    plain = CredalNetwork(Perceptron((2, 3, 4)), 0, weight_decay=0.1)
    coupled = CredalNetwork(Perceptron((2, 3, 4)), 0, link, weight_decay=0.1)
    weights = rng.normal(size=plain.n_parameters)
    parameters = np.concatenate([weights, [beta0, 0.0]])
    np.testing.assert_allclose(
        coupled.masses(parameters, inputs, scores),
        plain.masses(weights, inputs),
        rtol=1e-14,
    )
    stress = stress_of("dense", X, focal_sets, rng)
    value, gradient = evaluated(plain, weights, inputs, None, stress)
    again, slopes = evaluated(coupled, parameters, inputs, scores, stress)
    assert again == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(slopes[:-2], gradient, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(slopes[-2:], 0, atol=1e-15)


def as_given(standardize):
    """The same function, which nobody can tell to be a standardisation."""
    return lambda rows: standardize(rows)


@pytest.mark.parametrize("hidden", [(), (4,), (5, 3)])
@pytest.mark.parametrize(
    ("center", "unit"), [(0.0, 1.0), (900.0, 1.0), (1e9, 1.0), (0.0, 1e-40)]
)
def test_masses_in_blocks_are_those_of_standardised_rows(hidden, center, unit, rng):
    # More rows than a block holds, the last ones too far away for a product.
    network = CredalNetwork(Perceptron((2, *hidden, 5)), 0)
    parameters = rng.normal(size=network.n_parameters)
    X = unit * (center + rng.normal(size=(2500, 2)))
    standardize = Standardization.of(X)
    X[-3:] *= 1e60
    masses = masses_in_blocks(network, parameters, X, standardize, None)
    inputs = with_constant(standardize(X))
    expected = network.masses(parameters, inputs).T
    np.testing.assert_allclose(masses, expected, rtol=1e-9, atol=1e-12)
    others = masses_in_blocks(network, parameters, X, as_given(standardize), None)
    np.testing.assert_allclose(others, expected, rtol=1e-9, atol=1e-12)


def test_masses_in_blocks_take_scores_or_what_gives_them(rng):
    network = CredalNetwork(Perceptron((2, 4, 5)), 0, "reference")
    parameters = rng.normal(size=network.n_parameters)
    X = 3 + rng.normal(size=(2500, 2))
    standardize = Standardization.of(X)
    expected = network.masses(
        parameters, with_constant(standardize(X)), standardize(X).sum(axis=1)
    )
    for scores in (standardize(X).sum(axis=1), lambda inputs: inputs.sum(axis=1)):
        masses = masses_in_blocks(network, parameters, X, standardize, scores)
        np.testing.assert_allclose(masses, expected.T, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1.0, 39.0, 41.0, 299.0, 301.0, 1e4])
def test_outputs_of_any_size_have_masses(dtype, size):
    # Only the differences of the outputs count.
    perceptron = Perceptron((1, 3))
    layers = [np.array([[size, 0.0], [size, 1.0], [size, -1.0]], dtype=dtype)]
    inputs = with_constant(np.array([[0.0], [0.5], [-1.0]]), dtype)
    masses = perceptron.forward(layers, inputs)[-1]
    plain = np.exp(np.array([[0.0], [1.0], [-1.0]]) * inputs[1])
    np.testing.assert_allclose(masses, plain / plain.sum(axis=0), rtol=2e-3)
    far = perceptron.forward(
        [layers[0] * np.array([[1.0], [-1.0], [0.0]], dtype)], inputs
    )
    assert np.isfinite(far[-1]).all()
    np.testing.assert_allclose(far[-1].sum(axis=0), 1.0, rtol=1e-6)


@pytest.mark.parametrize("link", LINKS)
def test_extreme_parameters_do_not_overflow(link, rng):
    focal_sets = FocalSets.full(2)
    X, scores = rng.normal(size=(8, 2)), 1e4 * rng.normal(size=8)
    network = CredalNetwork(Perceptron((2, 3, 4)), 0, link)
    value, gradient = evaluated(
        network,
        1e6 * rng.normal(size=network.n_parameters),
        with_constant(X),
        scores,
        stress_of("block", X, focal_sets, rng),
    )
    assert 0 <= value <= 1
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("link", LINKS)
def test_relabelling_clusters_changes_nothing(link, rng):
    # Rows of the output layer follow the new names of their focal sets.
    focal_sets = FocalSets.full(3)
    X, scores = rng.normal(size=(8, 2)), rng.normal(size=8)
    inputs = with_constant(X)
    network = CredalNetwork(Perceptron((2, 3, 8)), 0, link)
    parameters = rng.normal(size=network.n_parameters)
    order = [focal_sets.index(subset) for subset in focal_sets.relabel([2, 0, 1])]
    renamed = parameters.copy()
    last = network.perceptron.layers(renamed)[-1]
    last[order] = network.perceptron.layers(parameters)[-1]
    np.testing.assert_allclose(
        network.masses(renamed, inputs, scores)[order],
        network.masses(parameters, inputs, scores),
        rtol=1e-13,
    )
    stress = stress_of("dense", X, focal_sets, rng)
    value, gradient = evaluated(network, parameters, inputs, scores, stress)
    again, slopes = evaluated(network, renamed, inputs, scores, stress)
    assert again == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(
        network.perceptron.layers(slopes)[-1][order],
        network.perceptron.layers(gradient)[-1],
        rtol=1e-10,
        atol=1e-14,
    )


@pytest.mark.parametrize("link", LINKS)
def test_single_precision_is_good_to_four_digits(link, rng):
    focal_sets = FocalSets.full(2)
    X, scores = rng.normal(size=(30, 2)), rng.normal(size=30)
    network = CredalNetwork(Perceptron((2, 5, 4)), 0, link, weight_decay=0.1)
    parameters = rng.normal(size=network.n_parameters)
    value, gradient = evaluated(
        network,
        parameters,
        with_constant(X),
        scores,
        BlockStress(EuclideanSimilarities.from_points(X, 2.0), focal_sets),
    )
    slopes = np.empty(network.n_parameters, dtype=np.float32)
    single = BlockStress(
        EuclideanSimilarities.from_points(X, 2.0, np.float32), focal_sets
    )
    again = network.value_and_gradient(
        parameters.astype(np.float32),
        with_constant(X, np.float32),
        scores.astype(np.float32),
        single.value_and_gradient,
        slopes,
    )
    assert again == pytest.approx(value, rel=1e-4)
    np.testing.assert_allclose(
        slopes, gradient, rtol=0, atol=1e-4 * np.abs(gradient).max()
    )


@pytest.mark.parametrize("link", LINKS)
def test_initial_parameters_end_with_those_of_the_coupling(link, seed):
    perceptron = Perceptron((2, 3, 4))
    network = CredalNetwork(perceptron, 0, link)
    draw = network.initial_parameters(np.random.RandomState(seed))
    assert draw.shape == (network.n_parameters,)
    n_weights = perceptron.n_parameters
    np.testing.assert_array_equal(
        draw[:n_weights], perceptron.initial_parameters(np.random.RandomState(seed))
    )
    expected = {None: [], "reference": [0, -1], "paper": [0, 1]}
    np.testing.assert_array_equal(draw[n_weights:], expected[link])


@pytest.mark.parametrize("link", ["reference", "paper"])
def test_a_coupling_needs_the_empty_set(link):
    with pytest.raises(ValueError, match="focal_sets must contain the empty set"):
        CredalNetwork(Perceptron((2, 3, 4)), None, link)
    assert CredalNetwork(Perceptron((2, 3, 4)), None).n_parameters == 25


# A worked example, computed apart from this code to ten digits: three objects on a
# line, two clusters, two hidden units; weight matrices row by row.

EXAMPLE_X = np.array([[-1.0], [0.5], [2.0]])
EXAMPLE_SCORES = np.array([0.5, 1.0, -0.5])
EXAMPLE_V = [0.1, 1, 0.2, -1]
EXAMPLE_W = [0, 0.1, 0.2, 0.1, 1, -1, -0.1, -1, 1, 0.3, 0.2, 0.1]
EXAMPLE_BETA = {None: [], "paper": [0, 1], "reference": [0, -1]}
EXAMPLE_MASSES = [
    [0.2073732072, 0.0542997761, 0.4900562123, 0.2482708044],
    [0.2084429083, 0.3953079899, 0.0974817501, 0.2987673517],
    [0.0992985525, 0.7264219135, 0.0089185287, 0.1653610052],
]


def example_cost(link, weight_decay=0.0, constraint_weight=0.0, label_weight=0.0):
    """Value, derivatives by V, by W and by β."""
    focal_sets = FocalSets.full(2)
    information = SideInformation(
        np.array([0, 2]) if label_weight else NO_OBJECTS,
        np.array([0, 1]) if label_weight else NO_OBJECTS,
        np.array([[0, 1]]) if constraint_weight else NO_PAIRS,
        np.array([[0, 2]]) if constraint_weight else NO_PAIRS,
        label_weight,
        constraint_weight,
    )
    data = TrainingData(
        with_constant(EXAMPLE_X),
        EXAMPLE_SCORES,
        EuclideanSimilarities.from_points(EXAMPLE_X, 2.0),
        focal_sets,
        information,
    )
    network = CredalNetwork(Perceptron((1, 2, 4)), 0, link, weight_decay)
    parameters = np.array([*EXAMPLE_V, *EXAMPLE_W, *EXAMPLE_BETA[link]])
    value, gradient = full_objective(network, data)(parameters)
    return value, gradient[:4], gradient[4:16], gradient[16:]


def test_worked_example_of_targets_masses_and_conflicts():
    targets = transform(cdist(EXAMPLE_X, EXAMPLE_X), 2.0)[np.triu_indices(3, 1)]
    np.testing.assert_allclose(
        targets, [0.814574001, 0.998817823, 0.814574001], rtol=0, atol=1e-9
    )
    for link, conflicts in (
        ("paper", [0.8799953548, 0.9432754469, 0.8834005535]),
        ("reference", [0.7787053517, 0.8771630768, 0.7536651183]),
    ):
        network = CredalNetwork(Perceptron((1, 2, 4)), 0, link)
        parameters = np.array([*EXAMPLE_V, *EXAMPLE_W, *EXAMPLE_BETA[link]])
        inputs = with_constant(EXAMPLE_X)
        coupled = network.masses(parameters, inputs, EXAMPLE_SCORES)
        table = coupled.T @ FocalSets.full(2).disjoint @ coupled
        np.testing.assert_allclose(
            table[np.triu_indices(3, 1)], conflicts, rtol=0, atol=1e-9
        )
        plain = CredalNetwork(Perceptron((1, 2, 4)), 0)
        np.testing.assert_allclose(
            plain.masses(parameters[:16], inputs).T, EXAMPLE_MASSES, rtol=0, atol=1e-9
        )


@pytest.mark.parametrize(
    ("link", "terms", "expected"),
    [
        (None, {}, 0.1304472069),
        ("paper", {}, 0.0040340011),
        ("paper", {"weight_decay": 0.1}, 0.0472006678),
        ("paper", {"constraint_weight": 0.5}, 0.2523763027),
        ("paper", {"label_weight": 0.5}, 0.4594465052),
        ("reference", {}, 0.0065987764),
        ("reference", {"weight_decay": 0.1}, 0.0497654431),
        ("reference", {"constraint_weight": 0.5}, 0.2515482603),
        ("reference", {"label_weight": 0.5}, 0.4827458882),
    ],
)
def test_worked_example_of_costs(link, terms, expected):
    assert example_cost(link, **terms)[0] == pytest.approx(expected, rel=0, abs=1e-9)


@pytest.mark.parametrize(
    ("link", "terms", "part", "expected"),
    [
        (None, {}, "V", [0.0384872431, 0.0263490583, -0.0348343628, 0.0348343628]),
        ("paper", {}, "V", [-0.0009526437, -0.0012793407, -0.0002301817, 0.0002301817]),
        (
            "paper",
            {},
            "W",
            [
                *(0.0031786529, 0.0020013423, 0.0007797647),
                *(-0.0008082381, -0.0013390974, -0.0000069179),
                *(-0.0002868537, 0.0000859941, -0.0004020047),
                *(-0.002083561, -0.000748239, -0.0003708421),
            ],
        ),
        ("paper", {}, "β", [-0.0053169625, -0.002176333]),
        ("paper", {"constraint_weight": 0.5}, "β", [-0.008110658, 0.000324267]),
        ("paper", {"label_weight": 0.5}, "β", [0.0061948557, -0.0045894497]),
        (
            "reference",
            {},
            "V",
            [0.0012254399, 0.0002245345, -0.0038286085, 0.0038286085],
        ),
        ("reference", {}, "β", [-0.0133343422, -0.0019378935]),
    ],
)
def test_worked_example_of_gradients(link, terms, part, expected):
    gradient = dict(zip("VWβ", example_cost(link, **terms)[1:], strict=True))[part]
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-9)


# Values of an independent program; tests/reference/README.md says which.

# Not in the file; they follow from its values to 14 digits.
WEIGHT_DECAY, LABEL_WEIGHT, CONSTRAINT_WEIGHT = 0.1, 0.5, 0.5


def matrices_by_rows(gradient, shapes):
    """The file stacks the columns of each matrix; here they are stored row by row."""
    rows, start = [], 0
    for n_rows, n_columns in shapes:
        part = np.array(gradient[start : start + n_rows * n_columns])
        rows.append(part.reshape(n_columns, n_rows).T.ravel())
        start += n_rows * n_columns
    return np.concatenate([*rows, gradient[start:]])


class Program:
    """The problem in a file of reference values."""

    def __init__(self, values):
        self.values = values
        membership = self.array("F").astype(bool)
        self.n_clusters = membership.shape[1]
        self.focal_sets = FocalSets.from_subsets(
            self.n_clusters, [np.flatnonzero(row) for row in membership]
        )
        self.inputs = with_constant(self.array("x"))
        self.scores = self.array("fhat")
        self.n_samples = len(self.scores)
        partners = self.array("J") - 1
        self.stress = SampledStress(
            np.repeat(np.arange(self.n_samples), partners.shape[1]),
            partners.ravel(),
            1 - self.array("Dnorm").ravel(),
            self.n_samples,
            self.focal_sets,
        )

    def array(self, name):
        return np.array(self.values[name])

    def information(self, label_weight, constraint_weight):
        return SideInformation(
            self.array("Is") - 1 if label_weight else NO_OBJECTS,
            self.array("y") - 1 if label_weight else NO_OBJECTS,
            self.array("ML") - 1 if constraint_weight else NO_PAIRS,
            self.array("CL") - 1 if constraint_weight else NO_PAIRS,
            label_weight,
            constraint_weight,
        )

    def cost(self, matrices, link, weight_decay=0.0, xi=0.0, nu=0.0):
        """Value and gradient of (1 - ν) L + ν P / c + ξ C + λ D."""
        # The label term is divided by c there. Divided by (1 - ν) + ν / c, its
        # weights of stress and labels add up to one.
        total = 1 - nu + nu / self.n_clusters
        information = self.information(nu / self.n_clusters / total, xi / total)
        objective = information.stress_weight * self.stress
        extra = information.objective(self.n_samples, self.focal_sets)
        if extra is not None:
            objective = objective + extra
        layers = [self.array(name) for name in matrices]
        sizes = (layers[0].shape[1] - 1, *(len(layer) for layer in layers))
        network = CredalNetwork(Perceptron(sizes), 0, link, weight_decay / total)
        parameters = np.concatenate([layer.ravel() for layer in layers])
        if link is not None:
            parameters = np.concatenate([parameters, self.array("beta")])
        value, gradient = evaluated(
            network, parameters, self.inputs, self.scores, objective
        )
        if link is None:
            # There the coefficients stay in the vector, without effect.
            gradient = np.concatenate([gradient, [0.0, 0.0]])
        return total * value, total * gradient, network.perceptron.shapes


ONE_HIDDEN, TWO_HIDDEN = ("V", "W"), ("U", "V2", "W2")
CASES = {
    "plain": {"link": None},
    "fhat": {"link": "reference"},
    "fhat_lambda": {"link": "reference", "weight_decay": WEIGHT_DECAY},
    "fhat_semi": {"link": "reference", "nu": LABEL_WEIGHT},
    "fhat_pairs": {"link": "reference", "xi": CONSTRAINT_WEIGHT},
    "all": {
        "link": "reference",
        "weight_decay": WEIGHT_DECAY,
        "xi": CONSTRAINT_WEIGHT,
        "nu": LABEL_WEIGHT,
    },
}


def assert_same_cost(values, matrices, section, case):
    expected = values[section][case]
    value, gradient, shapes = Program(values).cost(matrices, **CASES[case])
    assert value == pytest.approx(expected["fun"][0], rel=1e-12)
    np.testing.assert_allclose(
        gradient, matrices_by_rows(expected["grad"], shapes), rtol=1e-10, atol=1e-14
    )


@pytest.mark.parametrize("case", ["plain", "all"])
@pytest.mark.parametrize(
    ("section", "matrices"), [("one_hidden", ONE_HIDDEN), ("two_hidden", TWO_HIDDEN)]
)
def test_excerpt_of_reference_costs(section, matrices, case):
    values = json.loads(EXCERPT.read_text())
    assert_same_cost(values, matrices, section, case)


@pytest.mark.parametrize("case", CASES)
def test_reference_costs_with_one_hidden_layer(reference, case):
    values = reference("nnevclus_loss_grad.json")
    assert_same_cost(values, ONE_HIDDEN, "one_hidden", case)


@pytest.mark.parametrize("case", ["plain", "all"])
def test_reference_costs_with_two_hidden_layers(reference, case):
    values = reference("nnevclus_loss_grad.json")
    assert_same_cost(values, TWO_HIDDEN, "two_hidden", case)


def test_reference_costs_of_a_block(reference):
    values = reference("nnevclus_loss_grad.json")
    program = Program(values)
    network = CredalNetwork(Perceptron((2, 3, 4)), 0, "reference")
    parameters = np.concatenate(
        [program.array(name).ravel() for name in ("V", "W", "beta")]
    )
    similarities = EuclideanSimilarities.from_points(
        program.array("x"), values["d0"][0]
    )
    labels = program.information(1.0, 0.0).objective(
        program.n_samples, program.focal_sets
    )
    # Part 1 is the stress over all pairs of a block, part 2 the label term over c.
    for part, objective in (
        ("online_part1", BlockStress(similarities, program.focal_sets)),
        ("online_part2", 1 / program.n_clusters * labels),
    ):
        value, gradient = evaluated(
            network, parameters, program.inputs, program.scores, objective
        )
        assert value == pytest.approx(values[part]["fun"][0], rel=1e-10)
        np.testing.assert_allclose(
            gradient,
            matrices_by_rows(values[part]["grad"], network.perceptron.shapes),
            rtol=1e-9,
            atol=1e-14,
        )


def test_reference_masses_of_a_trained_network(reference):
    values = reference("nnevclus_loss_grad.json")
    program, trained = Program(values), values["train_from_param0"]
    network = CredalNetwork(Perceptron((2, 3, 4)), 0, "reference")
    parameters = np.concatenate(
        [np.array(trained[name]).ravel() for name in ("V", "W", "beta")]
    )
    np.testing.assert_allclose(
        network.masses(parameters, program.inputs, program.scores).T,
        trained["mass"],
        rtol=1e-12,
        atol=1e-14,
    )
    new = with_constant(np.array(trained["predict_newdata"], dtype=float))
    np.testing.assert_allclose(
        network.masses(parameters, new, np.array(trained["predict_fhat"])).T,
        trained["predict_mass"],
        rtol=1e-12,
        atol=1e-14,
    )
