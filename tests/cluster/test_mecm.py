import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from credalis import MECM, FocalSets
from credalis.cluster.relational._mecm_prototypes import (
    MedianMedoids,
    median_distances,
    set_separations,
    total_differences,
)
from credalis.exceptions import ExperimentalWarning
from credalis.objectives import mass_weights, masses_from_costs, set_costs
from helpers import assert_decreasing

pytestmark = pytest.mark.filterwarnings(
    "ignore::credalis.exceptions.ExperimentalWarning"
)

MODELS = [
    MedianMedoids(gamma, eta, power, meta, terms)
    for gamma, eta in ((0.5, 1.0), (2.0, 0.7))
    for power in (1, 2)
    for meta in ("mean", "prototype")
    for terms in ("all", "single")
]


@pytest.fixture(scope="module")
def blobs():
    centers = [[0, 0], [8, 0], [0, 8]]
    return make_blobs(120, centers=centers, cluster_std=1.5, random_state=2)[0]


def test_distances_by_hand():
    # Objects at 0, 4 and 1 with prototypes at 0 and 4: τ(v_1, v_2) = 4.
    to_medoids = np.array([[0.0, 4, 1], [4, 0, 3]])
    focal_sets = FocalSets.full(2)
    separations = set_separations(np.array([[0.0, 4], [4, 0]]), focal_sets)
    assert separations.tolist() == [0, 0, 0, 4]
    first = np.array([[0.0] * 3] * 3 + [[2.0, 2, 2]])
    distances = median_distances(
        to_medoids, first, separations, focal_sets, gamma=0.5, eta=1.0
    )
    assert_allclose(distances[1:3], to_medoids)
    # ρ = 1, 1 and 2/4; (0.5 * 2 + ρ min) / 1.5.
    assert_allclose(distances[3], [1 / 1.5, 1 / 1.5, (1 + 0.5) / 1.5])


@given(st.integers(0, 1000), st.integers(1, 6))
def test_total_differences_are_those_of_all_pairs(seed, n_clusters):
    distances = np.random.default_rng(seed).random((n_clusters, 4))
    pairs = np.abs(distances[:, None] - distances).sum(axis=(0, 1)) / 2
    assert_allclose(total_differences(distances), pairs, atol=1e-12)


def objective(model, matrix, medoids, weights, focal_sets, alpha):
    """J of given masses, without ∅."""
    distances = model.distances(matrix, medoids, focal_sets)
    sizes = focal_sets.cardinality[:, None] ** alpha
    return (weights * sizes * distances)[focal_sets.cardinality > 0].sum()


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.sampled_from([m for m in MODELS if m.meta == "mean" and m.terms == "all"]),
    st.sampled_from([FocalSets.pairs(3), FocalSets.full(4), FocalSets.singletons(5)]),
)
def test_each_medoid_is_the_best_of_all_objects(seed, model, focal_sets):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(18, 2))
    matrix = cdist(X, X)
    weights = rng.random((len(focal_sets), 18)) ** 3
    medoids = rng.choice(18, focal_sets.n_clusters, replace=False)
    updated = model.updated(matrix, medoids, weights, focal_sets, 1.5)
    assert len(set(updated)) == focal_sets.n_clusters
    expected = medoids.copy()
    for k in range(focal_sets.n_clusters):
        losses = np.full(18, np.inf)
        for p in set(range(18)) - set(np.delete(expected, k)):
            expected[k] = p
            losses[p] = objective(model, matrix, expected, weights, focal_sets, 1.5)
        expected[k] = losses.argmin()
        assert losses[updated[k]] == pytest.approx(losses.min(), rel=1e-12)
        expected[k] = updated[k]


@settings(max_examples=40)
@given(
    st.integers(0, 10_000),
    st.sampled_from([m for m in MODELS if m.meta == "mean" and m.terms == "all"]),
    st.sampled_from([1.1, 1.5, 2.0]),
)
def test_objective_never_increases(seed, model, beta):
    # Steps as they are, without the best of them being kept.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 2))
    matrix = cdist(X, X)
    focal_sets = FocalSets.pairs(3)
    medoids = rng.choice(25, 3, replace=False)
    losses = []
    for _ in range(8):
        distances = model.distances(matrix, medoids, focal_sets)
        costs = set_costs(distances, focal_sets, 1.0, 1.5)
        weights = mass_weights(masses_from_costs(costs, beta), beta)
        losses.append((weights * costs).sum())
        medoids = model.updated(matrix, medoids, weights, focal_sets, 1.0)
    assert_decreasing(losses)


@pytest.mark.filterwarnings("ignore::credalis.exceptions.MergedClustersWarning")
@pytest.mark.parametrize("update_terms", ["all", "single"])
@pytest.mark.parametrize("meta_dissimilarity", ["mean", "prototype"])
@pytest.mark.parametrize("power", [1, 2])
def test_every_choice_finds_clear_clusters(
    blobs, power, meta_dissimilarity, update_terms
):
    model = MECM(
        3,
        power=power,
        meta_dissimilarity=meta_dissimilarity,
        update_terms=update_terms,
        beta=2.0,
        empty_set="noise",
        random_state=0,
    ).fit(blobs)
    assert_decreasing(model.history_)
    matrix = cdist(blobs, blobs)
    prototypes = MedianMedoids(
        model.gamma, model.eta, power, meta_dissimilarity, update_terms
    )
    distances = prototypes.distances(matrix, model.medoids_, model.focal_sets_)
    costs = set_costs(distances, model.focal_sets_, model.alpha, model.delta_)
    loss = (model.partition_.masses.T**2 * costs).sum()
    assert model.loss_ == pytest.approx(loss, rel=1e-9)
    assert len(set(model.labels_[model.medoids_])) == 3


def test_power_two_without_sets_is_median_c_means_of_squares(blobs):
    singletons = FocalSets.singletons(3, empty=False, frame=False)
    settings = {"focal_sets": singletons, "beta": 2.0, "init": [0, 1, 2]}
    squares = MECM(3, power=2, **settings).fit(blobs)
    plain = MECM(3, metric="sqeuclidean", **settings).fit(blobs)
    assert squares.medoids_.tolist() == plain.medoids_.tolist()
    assert_allclose(squares.partition_.masses, plain.partition_.masses, atol=1e-9)


def test_agreement_on_four_classes(benchmark_data):
    X, y = benchmark_data("fourclass")
    model = MECM(4, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.7


@pytest.mark.usefixtures("nobody_was_told")
def test_open_formulas_are_told_once_in_a_process(blobs):
    with pytest.warns(ExperimentalWarning, match="MECM is experimental") as told:
        MECM(3, random_state=0).fit(blobs)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MECM(3, random_state=1).fit(blobs)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": -1}, r"gamma must be a finite number >= 0, got -1"),
        ({"eta": 0}, r"eta must be a finite number > 0, got 0"),
        ({"power": 3}, r"power must be 1 or 2, got 3"),
        ({"meta_dissimilarity": "least"}, r"meta_dissimilarity must be one of 'mean'"),
        ({"update_terms": "none"}, r"update_terms must be one of 'all', 'single'"),
    ],
)
def test_bad_parameters(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        MECM(3, **parameters).fit(blobs)
