"""Weights in fit: an object of weight w counts as w equal objects."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import credalis
from credalis import (
    BCM,
    BPEC,
    CCM,
    CECM,
    ECM,
    EGMM,
    EVCLUS,
    NNEVCLUS,
    Consensus,
    FocalSets,
)
from credalis._weights import copies
from credalis.cluster.prototypes._egmm_mixture import (
    COVARIANCE_TYPES,
    expectation,
    maximization,
    starting_mixture,
)
from credalis.dissimilarity import EuclideanSimilarities
from credalis.objectives import (
    CommonStress,
    MetricSpace,
    PairConstraints,
    RowCost,
    WeightedStress,
    ecm_model,
    prototype_moments,
    set_prototypes,
    updated_centers,
)
from credalis.sources import ArraySource
from helpers import assert_decreasing, assert_valid_partition

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning"),
]

NETWORKS = [
    NNEVCLUS(3, max_iter=10, n_init=1, init="random", random_state=0),
    NNEVCLUS(3, max_iter=20, n_init=1, random_state=0),
    NNEVCLUS(3, solver="adam", batch_size=20, max_iter=5, n_init=1, random_state=0),
    NNEVCLUS(3, novelty_detector="ocsvm", max_iter=10, n_init=1, random_state=0),
    NNEVCLUS(3, pairs_per_sample=10, max_iter=10, n_init=1, random_state=0),
]

EVIDENTIAL = [
    EVCLUS(3, max_iter=20, n_init=2, random_state=0),
    EVCLUS(3, focal_sets="two-step", init="random", max_iter=20, random_state=0),
    EVCLUS(3, metric="cityblock", empty_set="stress", max_iter=20, random_state=0),
    EVCLUS(3, metric=StandardScaler(), dissimilarity_quantile=0.8, random_state=0),
    EVCLUS(3, pairs="landmarks", pairs_per_sample=12, max_iter=20, random_state=0),
]

FAMILY = [
    ECM(3, random_state=0),
    ECM(3, metric="adaptive", beta=1.7, delta=4.0, random_state=0),
    ECM(3, focal_sets="two-step", init="peaks", random_state=0),
    ECM(3, init="k-means++", n_init=2, empty_set="noise", random_state=0),
    ECM(3, metric=make_pipeline(StandardScaler(), PCA(2)), random_state=0),
    CCM(3, random_state=0),
    BCM(3, random_state=0),
    BPEC(3, random_state=0),
    CECM(3, random_state=0),
    EGMM(3, random_state=0),
    EGMM(3, covariance_type="full", reg_covar=1e-2, random_state=0),
    EGMM(3, covariance_type="diag", init="k-means++", n_init=2, random_state=0),
]


def blobs(n_samples=40):
    return make_blobs(n_samples, n_features=3, centers=3, random_state=1)[0]


def whole_weights(n_samples, seed, at_least=0):
    return np.random.RandomState(seed).randint(at_least, 4, n_samples)


@pytest.mark.parametrize("estimator", [*FAMILY, *EVIDENTIAL, *NETWORKS], ids=repr)
@pytest.mark.parametrize("seed", [0, 1])
def test_whole_weights_are_repeated_rows(estimator, seed):
    X = blobs()
    weights = whole_weights(len(X), seed)
    few = {"max_iter": 15}
    if isinstance(estimator, NNEVCLUS):
        few = {}
    weighted = clone(estimator).set_params(**few).fit(X, sample_weight=weights)
    repeated = clone(estimator).set_params(**few).fit(np.repeat(X, weights, axis=0))
    # All copies of a row have the same masses, those of weight 0 are predicted.
    expected = repeated.transform(X)
    first = np.cumsum(weights) - weights
    is_used = weights > 0
    expected[is_used] = repeated.partition_.masses[first[is_used]]
    # EVCLUS has flat directions, in which a transformer's rounding grows.
    atol = 1e-5 if isinstance(estimator, EVCLUS) else 1e-8
    np.testing.assert_allclose(weighted.partition_.masses, expected, atol=atol)
    np.testing.assert_allclose(weighted.loss_, repeated.loss_, rtol=1e-8)
    new = make_blobs(20, n_features=3, centers=4, random_state=2)[0]
    np.testing.assert_allclose(
        weighted.transform(new), repeated.transform(new), atol=atol
    )


@pytest.mark.parametrize("estimator", [*FAMILY, *EVIDENTIAL, *NETWORKS], ids=repr)
def test_rows_of_weight_zero_are_predicted_and_have_no_part(estimator):
    X = blobs()
    weights = np.ones(len(X) + 2)
    weights[[3, 20]] = 0
    strangers = np.insert(X, [3, 19], [[1e3] * 3, [-1e3] * 3], axis=0)
    ours = clone(estimator).fit(strangers, sample_weight=weights)
    alone = clone(estimator).fit(X, sample_weight=np.ones(len(X)))
    np.testing.assert_array_equal(
        ours.partition_.masses[weights > 0], alone.partition_.masses
    )
    light = strangers[weights == 0]
    np.testing.assert_array_equal(
        ours.partition_.masses[weights == 0], alone.transform(light)
    )


@pytest.mark.parametrize("estimator", FAMILY, ids=repr)
def test_weights_of_a_common_factor_say_the_same(estimator):
    # Not copies, but how much objects count in relation to each other.
    X = blobs()
    weights = np.random.RandomState(0).uniform(0.5, 2, len(X))
    one = clone(estimator).set_params(max_iter=15).fit(X, sample_weight=weights)
    two = clone(estimator).set_params(max_iter=15).fit(X, sample_weight=64 * weights)
    np.testing.assert_allclose(one.partition_.masses, two.partition_.masses, atol=1e-8)


@given(st.lists(st.integers(0, 6), min_size=12, max_size=12), st.floats(1.2, 3))
@settings(max_examples=20)
def test_sums_and_prototypes_of_repeated_rows(weights, beta):
    X = np.random.RandomState(0).standard_normal((12, 2))
    weights = np.array(weights)
    weights[:2] += 1
    repeated = np.repeat(X, weights, axis=0)
    centers = X[:3]
    model = ecm_model(FocalSets.pairs(3), 1.0, beta, 2.0)
    for metrics in (None, np.tile(np.diag([2.0, 0.5]), (3, 1, 1))):
        sets = set_prototypes(centers, metrics, model)
        ours = prototype_moments(X, sets, model, object_weights=weights.astype(float))
        theirs = prototype_moments(repeated, sets, model)
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-12)
        np.testing.assert_allclose(
            updated_centers(ours, model, centers, metrics),
            updated_centers(theirs, model, centers, metrics),
            atol=1e-9,
        )
    ours, theirs = MetricSpace.of(X, weights), MetricSpace.of(repeated)
    np.testing.assert_allclose(ours.scale, theirs.scale, rtol=1e-9)
    assert ours.unit == pytest.approx(theirs.unit, rel=1e-9)


@given(st.lists(st.integers(0, 6), min_size=12, max_size=12))
@settings(max_examples=20)
def test_a_step_of_em_on_repeated_rows(weights):
    X = np.random.RandomState(0).standard_normal((12, 2))
    weights = np.array(weights) + (np.arange(12) < 4)
    repeated = np.repeat(X, weights, axis=0)
    for kind in COVARIANCE_TYPES:
        given = X[:2], FocalSets.full(2), kind, 1e-2
        ours = starting_mixture(X, *given, weights)
        theirs = starting_mixture(repeated, *given)
        np.testing.assert_allclose(ours.covariances, theirs.covariances, atol=1e-12)
        masses, value = expectation(X, ours, weights)
        copied, expected = expectation(repeated, theirs)
        assert value == pytest.approx(expected, rel=1e-12)
        one = maximization(X, masses, ours, 1e-2, weights)
        two = maximization(repeated, copied, theirs, 1e-2)
        for name in ("weights", "means", "covariances"):
            np.testing.assert_allclose(
                getattr(one, name), getattr(two, name), atol=1e-9, err_msg=name
            )


def test_a_heavy_object_draws_its_prototype():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    settings = {"n_clusters": 2, "init": [[0.5], [10.5]], "beta": 1.1, "delta": 9.0}
    centers = [
        ECM(focal_sets="singletons", **settings)
        .fit(X, sample_weight=[1, weight, 1, 1])
        .centers_[0, 0]
        for weight in (1, 3, 1000)
    ]
    np.testing.assert_allclose(centers, [0.5, 0.75, 1.0], atol=2e-3)


def test_pairs_count_once_whatever_the_weights():
    # Copies share the mass of their object, and with it the pair.
    X = blobs(20)
    pairs = {"must_link": [(0, 1)], "cannot_link": [(2, 3)]}
    weights = np.ones(20)
    weights[[5, 6]] = 3
    repeated = np.concatenate([X, X[[5, 5, 6, 6]]])
    for penalty in ("symmetric", "paper", "reference"):
        cecm = CECM(3, penalty=penalty, random_state=0, delta=5.0, init=X[:3])
        ours = clone(cecm).fit(X, sample_weight=weights, **pairs)
        theirs = clone(cecm).fit(repeated, **pairs)
        np.testing.assert_allclose(
            ours.partition_.masses, theirs.partition_.masses[:20], atol=1e-6
        )
        assert ours.loss_ == pytest.approx(theirs.loss_, rel=1e-8)


def test_pairs_keep_their_row_numbers_beside_rows_of_weight_zero():
    X = blobs(20)
    weights = np.ones(20)
    weights[[0, 7]] = 0
    kept = np.flatnonzero(weights)
    cecm = CECM(3, random_state=0, init=X[[1, 2, 3]])
    ours = clone(cecm).fit(X, sample_weight=weights, cannot_link=[(8, 9), (1, 19)])
    theirs = clone(cecm).fit(X[kept], cannot_link=[(6, 7), (0, 17)])
    np.testing.assert_allclose(
        ours.partition_.masses[kept], theirs.partition_.masses, atol=1e-12
    )
    np.testing.assert_array_equal(ours.constrained_rows_, [1, 8, 9, 19])
    assert not (ours.partition_.masses[[8, 9]] == ours.transform(X[[8, 9]])).all()


def test_knowledge_about_rows_of_weight_zero_is_refused():
    X = blobs(20)
    weights = np.ones(20)
    weights[4] = 0
    with pytest.raises(ValueError, match=r"must_link must be .* that of row 4 is 0"):
        CECM(3).fit(X, sample_weight=weights, must_link=[(4, 5)])


def test_a_transformer_is_fitted_to_copies():
    X = blobs(30) * [1.0, 10.0, 100.0]
    weights = whole_weights(30, 0)
    ecm = ECM(3, metric=StandardScaler(), random_state=0)
    ours = ecm.fit(X, sample_weight=weights).transformer_
    theirs = StandardScaler().fit(X, sample_weight=weights)
    np.testing.assert_allclose(ours.mean_, theirs.mean_, rtol=1e-12)
    np.testing.assert_allclose(ours.scale_, theirs.scale_, rtol=1e-12)


def test_weights_come_as_lists_series_and_through_pipelines():
    X = blobs()
    weights = whole_weights(len(X), 0)
    expected = ECM(3, random_state=0).fit(X, sample_weight=weights).partition_
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), ECM(3))
    pipeline.set_params(ecm__random_state=0).fit(X, ecm__sample_weight=weights)
    assert pipeline[-1].partition_ == expected
    for form in (weights.tolist(), pd.Series(weights)):
        ecm = ECM(3, random_state=0)
        assert ecm.fit(X, sample_weight=form).partition_ == expected
        labels = ecm.fit_predict(X, sample_weight=form)
        np.testing.assert_array_equal(labels, expected.labels)


@pytest.mark.parametrize("cls", [ECM, CCM])
def test_blocks_have_no_weights(cls, tmp_path):
    X = blobs()
    weights = np.ones(len(X))
    for data, more in (
        (ArraySource(X), {}),
        (X, {"checkpoint": tmp_path / "checkpoint"}),
    ):
        with pytest.raises(ValueError, match="sample_weight must be None for data"):
            cls(3).fit(data, sample_weight=weights, **more)


def test_a_saved_model_has_learned_from_its_weights(tmp_path):
    X = blobs()
    weights = whole_weights(len(X), 0)
    model = ECM(3, random_state=0).fit(X, sample_weight=weights)
    model.save(tmp_path / "model.credalis")
    loaded = credalis.load(tmp_path / "model.credalis")
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


def test_repeated_rows_start_alike_in_any_order():
    X = np.repeat(blobs(), 2, axis=0)
    one = ECM(3, random_state=0).fit(X)
    order = np.random.RandomState(0).permutation(len(X))
    two = ECM(3, random_state=0).fit(X[order])
    np.testing.assert_allclose(
        one.partition_.masses[order], two.partition_.masses, atol=1e-8
    )


@pytest.mark.parametrize("estimator", [*FAMILY, *EVIDENTIAL, *NETWORKS], ids=repr)
def test_weights_may_differ_beyond_all_measure(estimator):
    X = blobs()
    weights = np.full(len(X), 1e-30)
    weights[:2] = 1.0
    model = clone(estimator).set_params(max_iter=15).fit(X, sample_weight=weights)
    assert_valid_partition(model.partition_)


def masses_of(n_samples, focal_sets, seed):
    rng = np.random.RandomState(seed)
    return rng.dirichlet(np.ones(len(focal_sets)), n_samples)


def common_stress(X, n_landmarks, focal_sets, weights=None):
    similarities = EuclideanSimilarities.from_points(X, 2.0, np.float64)
    return CommonStress(similarities, n_landmarks, focal_sets, None, weights)


@given(st.lists(st.integers(1, 4), min_size=9, max_size=9), st.integers(0, 100))
@settings(max_examples=20)
def test_stress_of_repeated_rows(weights, seed):
    X = np.random.RandomState(seed).standard_normal((9, 2))
    weights = np.array(weights)
    focal_sets = FocalSets.full(2)
    masses = masses_of(9, focal_sets, seed)
    ours = common_stress(X, 9, focal_sets, weights.astype(float))
    repeated = np.repeat(np.arange(9), weights)
    theirs = common_stress(X[repeated], len(repeated), focal_sets)
    expected = theirs.value(masses[repeated])
    assert ours.value(masses) == pytest.approx(expected, rel=1e-12)
    # W (W - 1) L = Σ_ij w_i w_j (κ_ij - δ_ij)² - Σ_i w_i κ_ii².
    W = weights.sum()
    assert ours.n_pairs == pytest.approx(W * (W - 1))
    kappa = masses @ focal_sets.disjoint @ masses.T
    targets = 1.0 - ours.block(slice(0, 9), slice(0, 9))
    np.testing.assert_allclose(np.diagonal(targets), 0.0)
    total = weights @ np.square(kappa - targets) @ weights
    total -= weights @ np.square(np.diagonal(kappa))
    assert ours.value(masses) == pytest.approx(total / (W * (W - 1)), rel=1e-12)


@pytest.mark.parametrize("n_landmarks", [4, 9])
@pytest.mark.parametrize("focal_sets", [FocalSets.full(2), FocalSets.full(4)])
def test_row_problems_and_coupling_of_objects_with_weights(n_landmarks, focal_sets):
    # Along any direction the cost is what the polynomial of a sweep says.
    rng = np.random.RandomState(0)
    X = rng.standard_normal((9, 2))
    weights = rng.uniform(0.2, 3, 9)
    stress = common_stress(X, n_landmarks, focal_sets, weights)
    pairs = PairConstraints([(0, 5)], [(1, 2)], 9, focal_sets)
    cost = RowCost(stress, pairs, 0.3)
    masses, other = masses_of(9, focal_sets, 1), masses_of(9, focal_sets, 2)
    for rows in (slice(0, 4), slice(2, 3), slice(4, 9)):
        if rows.start < n_landmarks < rows.stop:
            continue
        problem, own = cost.row_problem(masses, rows), masses[rows]
        step = other[rows] - own
        moved = problem.products(step)
        counts = cost.row_weights(rows)
        coefficients = np.zeros(4)
        coefficients[0] = 2 * (counts * (moved * own - problem.linear * step)).sum()
        coefficients[1] = (counts * moved * step).sum()
        coefficients[1:] += cost.coupling(masses, rows, step)
        for t in (0.3, 1.0):
            shifted = masses.copy()
            shifted[rows] += t * step
            change = cost.value(shifted) - cost.value(masses)
            expected = coefficients @ t ** np.arange(1, 5)
            assert change == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("pairs", ["all", "landmarks"])
def test_stress_with_weights_never_increases(pairs):
    X = blobs(60)
    weights = np.random.RandomState(0).exponential(size=60)
    model = EVCLUS(3, pairs=pairs, tol=0, max_iter=40, n_init=1, random_state=0)
    if pairs == "landmarks":
        model.set_params(pairs_per_sample=20)
    model.fit(X, sample_weight=weights, must_link=[(0, 1)], cannot_link=[(2, 3)])
    assert_decreasing(model.history_)
    assert_valid_partition(model.partition_)


def test_evclus_with_a_matrix_and_weights():
    X = blobs(30)
    weights = whole_weights(30, 0)
    D = pairwise_distances(X)
    ours = EVCLUS(3, metric="precomputed", random_state=0)
    ours.fit(D, sample_weight=weights)
    kept = np.flatnonzero(weights)
    theirs = EVCLUS(3, metric="precomputed", random_state=0)
    theirs.fit(D[np.ix_(kept, kept)], sample_weight=weights[kept])
    np.testing.assert_array_equal(
        ours.partition_.masses[kept], theirs.partition_.masses
    )
    np.testing.assert_array_equal(ours.landmarks_, kept)
    light = np.flatnonzero(weights == 0)
    np.testing.assert_allclose(
        ours.partition_.masses[light], ours.transform(D[light]), atol=1e-12
    )


def test_evclus_says_where_it_has_no_weights():
    X, weights = blobs(20), np.ones(20)
    for options, message in (
        ({"solver": "gradient"}, "solver='two-sided', got solver='gradient'"),
        ({"solver": "reference"}, "solver='two-sided', got solver='reference'"),
        ({"pairs": "sampled"}, "sample_weight must be None for pairs='sampled'"),
        ({"pairs_per_sample": 4}, "sample_weight must be None for pairs='sampled'"),
    ):
        with pytest.raises(ValueError, match=message):
            EVCLUS(3, **options).fit(X, sample_weight=weights)


def test_a_saved_evclus_predicts_with_its_weights(tmp_path):
    X = blobs()
    weights = np.random.RandomState(0).exponential(size=len(X))
    model = EVCLUS(3, max_iter=20, random_state=0).fit(X, sample_weight=weights)
    model.save(tmp_path / "model.credalis")
    loaded = credalis.load(tmp_path / "model.credalis")
    new = make_blobs(20, n_features=3, centers=4, random_state=2)[0]
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    plain = EVCLUS(3, max_iter=20, random_state=0).fit(X)
    assert not hasattr(plain, "landmark_weights_")


def test_labels_and_pairs_of_a_network_count_once():
    X = blobs(30)
    weights = np.ones(30)
    weights[[0, 5]] = 3
    known = {"partial_labels": {0: 1, 9: 0}, "must_link": [(5, 6)]}
    model = NNEVCLUS(3, max_iter=10, n_init=1, random_state=0)
    problem = model._prepare(
        X,
        np.random.RandomState(0),
        sample_weight=weights,
        object_shape=None,
        dissimilarities=None,
        cannot_link=None,
        **known,
    )
    assert problem.n_samples == 34
    assert len(problem.information.objects) == 2
    labelled = problem.attributes[problem.information.objects]
    for row, label in zip(labelled, problem.information.labels, strict=True):
        np.testing.assert_array_equal(row, X[0 if label == 1 else 9])
    (pair,) = problem.information.must_link
    found = {tuple(row) for row in problem.attributes[pair]}
    assert found == {tuple(row) for row in X[[5, 6]]}
    assert_valid_partition(model.fit(X, sample_weight=weights, **known).partition_)


def test_rows_that_something_is_known_about_have_a_copy():
    X = blobs(30)
    weights = np.full(30, 1.5)
    weights[4] = 1e-9
    model = NNEVCLUS(3, max_iter=5, n_init=1, random_state=0)
    model.fit(X, sample_weight=weights, must_link=[(4, 5)])
    assert_valid_partition(model.partition_)


def test_networks_say_where_they_have_no_weights(tmp_path):
    X, weights = blobs(20), np.ones(20)
    D = pairwise_distances(X)
    with pytest.raises(ValueError, match="sample_weight must be None for NNEVCLUS"):
        NNEVCLUS(3, metric="precomputed").fit(D, sample_weight=weights)
    with pytest.raises(ValueError, match="sample_weight must be None if dissimilar"):
        NNEVCLUS(3).fit(X, sample_weight=weights, dissimilarities=D)
    with pytest.raises(ValueError, match="init must not be row numbers"):
        NNEVCLUS(3, init=[0, 1, 2]).fit(X, sample_weight=weights)
    with pytest.raises(ValueError, match="sample_weight must be None for data"):
        NNEVCLUS(3).fit(ArraySource(X), sample_weight=weights)
    with pytest.raises(TypeError, match="sample_weight"):
        Consensus(3).fit(X, sample_weight=weights)


def test_blocks_of_copies_have_the_stress_with_weights_as_their_mean():
    # Every pair of copies is as probable to be in a random block.
    X = blobs(6)
    weights = np.array([1, 3, 2, 1, 4, 1])
    focal_sets = FocalSets.full(2)
    masses = masses_of(6, focal_sets, 0)
    drawn = copies(X, weights.astype(float))
    expected = common_stress(X, 6, focal_sets, weights.astype(float)).value(masses)
    means = [
        common_stress(X[list(block)], 3, focal_sets).value(masses[list(block)])
        for block in combinations(drawn, 3)
    ]
    assert np.mean(means) == pytest.approx(expected, rel=1e-10)
    # Weights of terms, over the sum of those in the block, are another thing.
    biased = [
        common_stress(
            X[list(block)], 3, focal_sets, weights[list(block)].astype(float)
        ).value(masses[list(block)])
        for block in combinations(range(6), 3)
    ]
    assert abs(np.mean(biased) / expected - 1) > 0.01


@given(st.lists(st.floats(0.1, 4), min_size=7, max_size=7), st.integers(0, 100))
@settings(max_examples=15)
def test_gradient_of_the_stress_with_weights(weights, seed):
    X = np.random.RandomState(seed).standard_normal((7, 2))
    weights, focal_sets = np.array(weights), FocalSets.full(2)
    masses = masses_of(7, focal_sets, seed).T
    other = common_stress(X, 7, focal_sets, weights)
    matrix = other.block(slice(0, 7), slice(0, 7))
    stress = WeightedStress(matrix, focal_sets, weights)
    value, gradient = stress.value_and_gradient(masses)
    # The same as the stress of EVCLUS, whatever the weights.
    assert value == pytest.approx(other.value(masses.T), rel=1e-10)
    direction = np.random.RandomState(seed).standard_normal(masses.shape)
    step = 1e-6
    change = stress.value(masses + step * direction)
    change -= stress.value(masses - step * direction)
    assert change / (2 * step) == pytest.approx(np.vdot(gradient, direction), abs=1e-7)


def test_many_copies_of_a_row_are_a_weight_of_its_terms():
    X = blobs(30)
    weights = np.random.RandomState(0).randint(1, 20, 30)
    model = NNEVCLUS(3, max_iter=30, n_init=1, init="random", random_state=0)
    model.set_params(dissimilarity_scale=5.0, empty_set="stress")
    assert model._weighs_terms(weights.astype(float))
    ours = clone(model).fit(X, sample_weight=weights)
    repeated = np.repeat(X, weights, axis=0)
    theirs = clone(model).fit(repeated)
    np.testing.assert_allclose(
        ours.standardization_.scale, theirs.standardization_.scale, rtol=1e-12
    )
    np.testing.assert_allclose(ours.partition_.masses, theirs.transform(X), atol=1e-4)
    assert ours.stress_ == pytest.approx(theirs.stress_, rel=1e-4)
    # Not whole, and ten times as many: the same terms but for those of copies.
    half = clone(model).fit(X, sample_weight=weights + 0.5)
    assert len(half.partition_) == 30


def test_a_light_row_has_its_part_in_a_network():
    X = blobs(30)
    weights = np.random.RandomState(0).uniform(0.2, 2, 30)
    model = NNEVCLUS(3, max_iter=10, n_init=1, random_state=0)
    problem = model._prepare(
        X, np.random.RandomState(0), sample_weight=weights, object_shape=None
    )
    assert problem.n_samples == 30
    np.testing.assert_array_equal(problem.weights, weights)
    mean = weights @ X / weights.sum()
    np.testing.assert_allclose(problem.space.standardize.mean, mean)
