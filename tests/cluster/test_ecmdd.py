import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from credalis import ECMdd, FocalSets
from credalis.cluster.relational._ecmdd_prototypes import (
    SingleMedoids,
    WeightedMedoids,
    cluster_weights,
    set_weights,
    single_distances,
)
from credalis.cluster.relational._medoid_descent import set_medoids, single_update
from credalis.exceptions import CollapseWarning, ExperimentalWarning
from credalis.objectives import mass_weights, masses_from_costs, set_costs
from helpers import assert_decreasing

pytestmark = pytest.mark.filterwarnings(
    "ignore::credalis.exceptions.ExperimentalWarning"
)

LINE = np.array([[0.0], [1], [2], [10], [11], [12]])
FRAME = FocalSets.full(2)


@pytest.fixture(scope="module")
def blobs():
    centers = [[0, 0], [8, 0], [0, 8]]
    return make_blobs(120, centers=centers, cluster_std=1.5, random_state=2)[0]


def worked_example():
    return ECMdd(2, beta=2.0, delta=5, init=[1, 4], metric="manhattan").fit(LINE)


def test_worked_example_of_single_medoids():
    matrix = cdist(LINE, LINE)
    medoids = np.array([1, 4])
    chosen = set_medoids(medoids, matrix[medoids], FRAME, eta=1.0)
    assert chosen.tolist() == [-1, 1, 4, 2]
    distances = single_distances(matrix[medoids], matrix[chosen], FRAME, gamma=1.0)
    assert_allclose(distances[3], [4, 3, 2.5, 6.5, 7, 8])

    model = worked_example()
    expected = [
        [0.03351743, 0.83793563, 0.07617597, 0.05237098],
        [0.03362552, 0.09340422, 0.84063802, 0.03233223],
    ]
    assert_allclose(model.partition_.masses[[0, 3]], expected, atol=5e-9)
    assert model.history_[0] == pytest.approx(3.338330565, abs=5e-10)
    assert model.medoids_.tolist() == [1, 4]
    assert model.set_medoids_.tolist() == [-1, 1, 4, 2]


def test_worked_example_of_weights():
    weights = worked_example().partition_.masses[:, 1] ** 2
    sums = weights[None] @ cdist(LINE, LINE)
    expected = [
        0.2554065372,
        0.4188668562,
        0.2456488841,
        0.0294536591,
        0.0265148218,
        0.0241092416,
    ]
    assert_allclose(cluster_weights(sums, psi=2.0)[0], expected, atol=5e-11)


@pytest.mark.parametrize("prototypes", ["single", "weighted"])
@pytest.mark.parametrize("delta_exponent", [1, 2])
def test_loss_is_the_objective_as_written(blobs, prototypes, delta_exponent):
    model = ECMdd(
        3,
        prototypes=prototypes,
        alpha=1.5,
        beta=1.3,
        psi=1.4,
        xi=2.0,
        zeta=0.5,
        eta=0.7,
        gamma=0.4,
        delta_exponent=delta_exponent,
        empty_set="noise",
        random_state=0,
    ).fit(blobs)
    matrix = cdist(blobs, blobs)
    masses = model.partition_.masses
    objective = 0.0
    for j, subset in enumerate(model.focal_sets_):
        members = list(subset)
        if not members:
            objective += model.delta_**delta_exponent * (masses[:, j] ** 1.3).sum()
            continue
        if prototypes == "single":
            to_medoids = matrix[:, model.medoids_[members]]
            distances = to_medoids[:, 0]
            if len(members) > 1:
                p = np.argmin(to_medoids.var(axis=1) + 0.7 * to_medoids.mean(axis=1))
                distances = (matrix[:, p] + 0.4 * to_medoids.mean(axis=1)) / 1.4
        else:
            weights = model.weights_[members]
            shared = weights[0]
            if len(members) > 1:
                spread = weights.max(axis=0) - weights.min(axis=0)
                shared = weights.min(axis=0) ** 2 / spread**0.5
                shared = shared / shared.sum()
            distances = matrix @ shared**1.4
        objective += len(members) ** 1.5 * (masses[:, j] ** 1.3 * distances).sum()
    assert model.loss_ == pytest.approx(objective, rel=1e-9)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_medoids_minimise_the_terms_of_single_clusters(seed, n_clusters):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    matrix = cdist(X, X, "cityblock")
    focal_sets = FocalSets.pairs(n_clusters)
    weights = rng.random((len(focal_sets), 20))
    previous = np.arange(n_clusters)
    medoids = single_update(matrix, weights, focal_sets, previous)
    assert len(set(medoids)) == n_clusters
    taken = []
    for k, medoid in enumerate(medoids):
        sums = matrix @ weights[focal_sets.index((k,))]
        sums[taken] = np.inf
        assert medoid == sums.argmin()
        taken.append(medoid)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from([1.1, 1.5, 2.0, 4.0]))
def test_weights_minimise_what_they_should(seed, psi):
    rng = np.random.default_rng(seed)
    sums = rng.uniform(0.1, 2.0, size=(2, 8))
    weights = cluster_weights(sums, psi)
    assert_allclose(weights.sum(axis=1), 1.0)
    best = (weights**psi * sums).sum(axis=1)
    for _ in range(20):
        other = rng.dirichlet(np.ones(8), size=2)
        mixed = 0.9 * weights + 0.1 * other
        assert ((mixed**psi * sums).sum(axis=1) >= best - 1e-12).all()


@settings(max_examples=30)
@given(
    st.integers(0, 10_000),
    st.sampled_from([1.1, 1.5, 2.0]),
    st.sampled_from([SingleMedoids(1.0, 1.0), WeightedMedoids(1.3, 5.0, 0.0)]),
)
def test_objective_never_increases_without_sets_of_clusters(seed, beta, model):
    # Steps as they are, without the best of them being kept.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 2))
    matrix = cdist(X, X)
    focal_sets = FocalSets.singletons(3, frame=False)
    prototypes = model.start(matrix, rng.choice(25, 3, replace=False))
    losses, are_moved_freely = [], True
    for _ in range(15):
        costs = set_costs(
            model.distances(matrix, prototypes, focal_sets), focal_sets, 1.0, 1.5
        )
        weights = mass_weights(masses_from_costs(costs, beta), beta)
        losses.append((weights * costs).sum())
        prototypes = model.updated(matrix, prototypes, weights, focal_sets, 1.0)
        if isinstance(model, SingleMedoids):
            # Two clusters that want the same object cannot both have it.
            wanted = (weights[1:] @ matrix).argmin(axis=1)
            are_moved_freely = are_moved_freely and len(set(wanted)) == 3
            if not are_moved_freely:
                break
    assert_decreasing(losses, rtol=1e-9)


@pytest.mark.parametrize("prototypes", ["single", "weighted"])
def test_history_is_the_lowest_so_far(blobs, prototypes, seed):
    model = ECMdd(3, prototypes=prototypes, beta=1.8, random_state=seed)
    assert_decreasing(model.fit(blobs).history_)


def test_medoids_are_distinct_objects_even_among_duplicates():
    X = np.repeat([[0.0], [1.0], [9.0]], 5, axis=0)
    model = ECMdd(3, random_state=0).fit(X)
    assert sorted(X[model.medoids_].ravel()) == [0.0, 1.0, 9.0]


def test_cluster_that_is_no_focal_set_keeps_its_prototype():
    focal_sets = FocalSets.from_subsets(2, [(), (0,), (0, 1)])
    common = {"focal_sets": focal_sets, "init": [0, 4], "delta": 5}
    single = ECMdd(2, **common).fit(LINE)
    assert single.focal_sets_ == focal_sets
    assert single.medoids_[1] == 4
    weighted = ECMdd(2, prototypes="weighted", **common).fit(LINE)
    start = WeightedMedoids(1.2, 5.0, 0.0).start(cdist(LINE, LINE), np.array([0, 4]))
    assert_array_equal(weighted.weights_[1], start[1])


def test_weights_of_sets_of_clusters():
    weights = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
    plain = set_weights(weights, FRAME, xi=2.0, zeta=0.0)
    assert_array_equal(plain[:3], [[0, 0, 0], *weights])
    assert_allclose(plain[3], np.array([0.01, 0.09, 0.04]) / 0.14)
    # The second object is as typical of one cluster as of the other.
    assert set_weights(weights, FRAME, xi=2.0, zeta=1.0)[3, 1] > 0.999


def test_collapsed_weights_are_a_warning_with_the_published_exponents(benchmark_data):
    X, _ = benchmark_data("wine")
    X = StandardScaler().fit_transform(X)
    with pytest.warns(CollapseWarning, match="Lower beta, it is 2"):
        ECMdd(3, prototypes="weighted", beta=2.0, psi=2.0, random_state=0).fit(X)


# Published: sECMdd 0.24, 0.54, 0.11, -0.006; wECMdd 0.39, 0.66, 0.64, 0.39.
@pytest.mark.parametrize(
    ("name", "n_clusters", "single", "weighted"),
    [
        ("wine", 3, 0.7, 0.88),
        ("iris", 3, 0.6, 0.6),
        ("ecoli", 3, 0.78, 0.75),
        ("heart", 2, 0.25, 0.3),
    ],
)
@pytest.mark.filterwarnings("ignore::credalis.exceptions.CollapseWarning")
def test_agreement_with_the_classes(benchmark_data, name, n_clusters, single, weighted):
    X, y = benchmark_data(name)
    X = StandardScaler().fit_transform(X)
    for prototypes, least in (("single", single), ("weighted", weighted)):
        model = ECMdd(n_clusters, prototypes=prototypes, random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) >= least


# Published: 0.402 and 0.246.
@pytest.mark.filterwarnings("ignore::credalis.exceptions.MergedClustersWarning")
@pytest.mark.parametrize(
    ("prototypes", "parameters", "least"),
    [
        ("single", {}, 0.6),
        ("weighted", {}, 0.7),
        ("weighted", {"beta": 1.2, "init": "k-medoids"}, 0.8),
    ],
)
def test_agreement_on_protein(protein, prototypes, parameters, least):
    D, y = protein
    model = ECMdd(4, prototypes=prototypes, metric="precomputed", random_state=0)
    model.set_params(**parameters)
    assert adjusted_rand_score(y, model.fit(D).labels_) >= least


@pytest.mark.usefixtures("nobody_was_told")
def test_open_formula_is_told_once_in_a_process(blobs):
    model = ECMdd(3, prototypes="weighted", random_state=0)
    with pytest.warns(ExperimentalWarning, match="weights of sets of clusters"):
        model.fit(blobs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(blobs)


@pytest.mark.usefixtures("nobody_was_told")
@pytest.mark.parametrize(
    "model",
    [
        ECMdd(3, random_state=0),
        ECMdd(
            3,
            prototypes="weighted",
            focal_sets=FocalSets.singletons(3, frame=False),
            random_state=0,
        ),
    ],
)
def test_what_is_confirmed_is_not_experimental(blobs, model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(blobs)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prototypes": "many"}, r"prototypes must be one of 'single', 'weighted'"),
        ({"eta": 0}, r"eta must be a finite number > 0, got 0"),
        ({"gamma": -1}, r"gamma must be a finite number >= 0, got -1"),
        ({"psi": 1}, r"psi must be a finite number > 1, got 1"),
        ({"xi": -1}, r"xi must be a finite number >= 0, got -1"),
        ({"zeta": -1}, r"zeta must be a finite number >= 0, got -1"),
        ({"delta_exponent": 3}, r"delta_exponent must be 1 or 2, got 3"),
    ],
)
def test_bad_parameters(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        ECMdd(3, **parameters).fit(blobs)
