import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from credalis import ECM, RECM, FocalSets
from credalis.cluster.relational._recm import recm_coefficients, recm_costs
from credalis.datasets import load_butterfly
from credalis.exceptions import CollapseWarning
from credalis.objectives import (
    ecm_model,
    prototype_costs,
    prototype_moments,
    set_prototypes,
    updated_centers,
)
from helpers import assert_decreasing, assert_valid_partition, focal_set_lists


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, centers=3, cluster_std=1.5, random_state=5)[0]


@pytest.fixture(scope="module")
def butterfly():
    X = load_butterfly().data
    return cdist(X, X, "sqeuclidean")


BUTTERFLY = {
    "butterfly_b15_dsqrt50": ("m0", {"beta": 1.5, "delta": np.sqrt(50)}),
    "butterfly_b2_d10": ("m0b", {"beta": 2.0, "delta": 10.0}),
}


def from_masses(start, **parameters):
    return RECM(
        2,
        focal_sets="full",
        metric="precomputed",
        squared=True,
        init=start,
        **parameters,
    )


@pytest.mark.parametrize("name", BUTTERFLY)
def test_reference_program_from_the_same_masses(reference, butterfly, name):
    values = reference("recm_fixed_m0.json")
    start, parameters = BUTTERFLY[name]
    recm = from_masses(values[start], tol=1e-15, **parameters).fit(butterfly)
    expected = values[name]
    assert recm.loss_ == pytest.approx(expected["crit"][0], rel=1e-12)
    # The stopping rule looks at J, whose error is the square of that of the masses.
    assert_allclose(recm.partition_.masses, expected["mass"], atol=1e-6)


@pytest.mark.parametrize("name", BUTTERFLY)
def test_reference_program_iterates_and_stops_the_same(reference, butterfly, name):
    values = reference("recm_fixed_m0.json")
    start, parameters = BUTTERFLY[name]
    # Lines of the form "[1] J change": the change is that of the masses.
    losses, changes = np.array(
        [line.split()[1:] for line in values[name]["log"]], dtype=float
    ).T
    for tol in (1e-3, 1e-6):
        recm = from_masses(
            values[start], stopping="reference", tol=tol, **parameters
        ).fit(butterfly)
        n_iter = int(np.argmax(changes <= tol)) + 1
        assert recm.n_iter_ == n_iter
        assert_allclose(recm.history_, losses[:n_iter], rtol=1e-12)


def test_reference_program_on_four_classes(reference, benchmark_data):
    X, _ = benchmark_data("fourclass")
    expected = reference("recm_fixed_m0.json")["fourclass_b2_d10"]
    i, j = np.arange(1, 401)[:, None], np.arange(1, 17)
    start = (7 * i + 3 * j + i * j * j) % 101 + 0.5
    recm = RECM(
        4,
        focal_sets="full",
        beta=2.0,
        delta=10,
        init=start / start.sum(axis=1, keepdims=True),
        tol=1e-14,
    ).fit(X)
    assert recm.loss_ == pytest.approx(expected["crit"][0], rel=1e-9)
    assert_allclose(recm.partition_.masses, expected["mass"], atol=1e-4)


def test_reference_program_from_random_masses(reference, butterfly):
    # It stopped by its own rule, short of the minimum; δ² = 50 was found by trying.
    expected = reference("butterfly_recm_mass.csv")
    recm = from_masses("random", beta=1.5, delta=np.sqrt(50), tol=1e-14, random_state=0)
    masses = recm.fit(butterfly).partition_.masses
    if masses[0, 1] > masses[0, 2]:
        masses = masses[:, [0, 2, 1, 3]]
    assert_allclose(masses, expected, atol=2e-3)


@st.composite
def problems(draw):
    """Points, focal sets that cover all clusters, and parameters."""
    focal_sets = draw(focal_set_lists(max_clusters=3))
    assume(focal_sets.membership.any(axis=0).all())
    seed = draw(st.integers(0, 1000))
    X = np.random.default_rng(seed).normal(size=(25, 2)) * [1, draw(st.floats(0.1, 5))]
    parameters = {
        "focal_sets": focal_sets,
        "alpha": draw(st.sampled_from([0.0, 1.0, 2.5])),
        "beta": draw(st.sampled_from([1.05, 1.5, 2.0, 3.0])),
        "delta": draw(st.floats(0.2, 10)),
    }
    return X, focal_sets.n_clusters, parameters, seed


@settings(max_examples=40)
@given(problems())
def test_distances_and_coefficients_are_those_of_ecm(problem):
    X, n_clusters, parameters, seed = problem
    focal_sets, alpha = parameters["focal_sets"], parameters["alpha"]
    rng = np.random.default_rng(seed)
    weights = rng.random((len(focal_sets), len(X))) + 0.01
    equal = np.full((n_clusters, len(X)), 1 / len(X))
    coefficients = recm_coefficients(weights, focal_sets, alpha, equal)
    assert_allclose(coefficients.sum(axis=1), 1.0, atol=1e-9)

    start = equal @ X
    model = ecm_model(focal_sets, alpha, 2.0, 3.0)
    sums = prototype_moments(
        X, set_prototypes(start, None, model), model, np.sqrt(weights).T
    )
    centers = updated_centers(sums, model, start, None)
    assert_allclose(coefficients @ X, centers, atol=1e-8)

    products = coefficients @ cdist(X, X, "sqeuclidean")
    relational = recm_costs(
        products, coefficients @ products.T, focal_sets, alpha, 3.0, floor=0.0
    )
    expected = prototype_costs(X, set_prototypes(centers, None, model), model)
    assert_allclose(relational, expected, atol=1e-8)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::credalis.exceptions.CollapseWarning")
@pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")
@settings(max_examples=40)
@given(problems(), st.sampled_from(["k-means++", "random"]))
def test_objective_never_increases_on_euclidean_distances(problem, init):
    X, n_clusters, parameters, seed = problem
    recm = RECM(
        n_clusters,
        init=init,
        n_init=1,
        tol=0,
        max_iter=40,
        random_state=seed,
        **parameters,
    ).fit(X)
    assert_decreasing(recm.history_, rtol=1e-9)
    assert_valid_partition(recm.partition_)


@pytest.mark.parametrize("beta", [1.3, 2.0])
@pytest.mark.parametrize("focal_sets", ["singletons", "pairs", "full"])
def test_euclidean_distances_give_ecm(blobs, beta, focal_sets):
    seeds = [0, 1, 2]
    common = {"focal_sets": focal_sets, "beta": beta, "delta": 6.0, "tol": 1e-13}
    ecm = ECM(3, init=blobs[seeds], **common).fit(blobs)
    recm = RECM(3, init=seeds, **common).fit(blobs)
    n_iter = min(ecm.n_iter_, recm.n_iter_)
    assert_allclose(recm.history_[:n_iter], ecm.history_[:n_iter], rtol=1e-9)
    assert_allclose(recm.partition_.masses, ecm.partition_.masses, atol=1e-5)
    assert_allclose(recm.coefficients_ @ blobs, ecm.centers_, atol=1e-5)
    new = blobs[:10] + 0.5
    assert_allclose(recm.transform(new), ecm.transform(new), atol=1e-5)


def test_squared_says_what_the_matrix_holds(blobs):
    D = cdist(blobs, blobs)
    plain = RECM(3, metric="precomputed", random_state=0).fit(D)
    squared = RECM(3, metric="precomputed", squared=True, random_state=0).fit(D**2)
    assert_allclose(squared.partition_.masses, plain.partition_.masses, atol=1e-9)
    assert_allclose(squared.transform(D[:5] ** 2), plain.transform(D[:5]), atol=1e-9)
    # Neighbours are compared by the metric as it is, squared there.
    plain = RECM(3, empty_set="noise", random_state=0).fit(blobs)
    by_name = clone(plain).set_params(metric="sqeuclidean", squared=True).fit(blobs)
    assert_allclose(by_name.partition_.masses, plain.partition_.masses, atol=1e-6)


def test_automatic_delta_is_about_that_of_ecm(blobs):
    ecm, recm = ECM(3, random_state=0).fit(blobs), RECM(3, random_state=0).fit(blobs)
    assert recm.delta_ == pytest.approx(ecm.delta_, rel=0.1)


def test_loss_is_the_objective_of_the_partition(blobs):
    recm = RECM(3, alpha=1.5, beta=1.7, empty_set="noise", random_state=0).fit(blobs)
    centers = recm.coefficients_ @ blobs
    model = ecm_model(recm.focal_sets_, 1.5, 1.7, recm.delta_)
    by_set = prototype_costs(blobs, set_prototypes(centers, None, model), model)
    objective = (recm.partition_.masses.T**1.7 * by_set).sum()
    assert recm.loss_ == pytest.approx(objective, rel=1e-9)


# J may go up and down there.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_dissimilarities_without_points_behind_them_do_no_harm():
    rng = np.random.default_rng(0)
    D = rng.uniform(size=(40, 40)) ** 3
    D = np.triu(D, 1) + np.triu(D, 1).T
    recm = RECM(3, metric="precomputed", beta=1.1, random_state=0)
    assert_valid_partition(recm.fit(D).partition_)


def test_collapsed_prototypes_are_a_warning():
    X = np.random.default_rng(0).normal(size=(200, 10))
    with pytest.warns(CollapseWarning, match=r"coincide.*Lower beta, it is 5"):
        RECM(3, beta=5.0, delta=5, tol=1e-12, random_state=0).fit(X)


def test_given_masses_fix_the_numbers_of_the_clusters(blobs):
    usual = RECM(3, random_state=0).fit(blobs)
    order = [2, 0, 1]
    start = usual.partition_.relabel(order)
    columns = [start.focal_sets.index(subset) for subset in usual.focal_sets_]
    again = RECM(3, init=start.masses[:, columns], delta=usual.delta_).fit(blobs)
    assert again.labels_.tolist() == np.array(order)[usual.labels_].tolist()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"stopping": "never"}, r"stopping must be one of 'loss', 'reference'"),
        ({"squared": 1}, r"squared must be a bool, got 1"),
        (
            {"init": np.full((150, 4), 0.25)},
            r"init must have shape \(n_samples, n_focal_sets\) = \(150, 8\)",
        ),
        ({"init": np.full((150, 8), 0.25)}, r"each row of init must sum to 1"),
    ],
)
def test_bad_parameters(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        RECM(3, **parameters).fit(blobs)


def on_protein(**parameters):
    """The published setting: D as it is, ∅, singletons and Ω."""
    return RECM(
        4,
        focal_sets="singletons",
        metric="precomputed",
        squared=True,
        **{"beta": 1.5, "init": "k-means++"} | parameters,
    )


@pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")
def test_protein_as_published_is_where_the_reference_rule_happens_to_stop(protein):
    D, y = protein
    agreement, losses = [], []
    for seed in range(12):
        recm = on_protein(
            delta=np.sqrt(D.max()),
            init="random",
            stopping="reference",
            tol=1e-4,
            n_init=1,
            random_state=seed,
        ).fit(D)
        assert recm.n_iter_ <= 4
        losses.append(recm.loss_)
        agreement.append(adjusted_rand_score(y, recm.labels_))
    # Published: 0.863. The objective does not tell these stops apart.
    assert min(losses) > 536.29
    assert max(losses) < 536.5
    assert min(agreement) < 0.6
    assert min(abs(value - 0.863) for value in agreement) < 0.02


def test_protein_from_random_masses_collapses_when_it_converges(protein):
    D, _ = protein
    with pytest.warns(CollapseWarning, match="Lower beta, it is 1.5"):
        recm = on_protein(
            delta=np.sqrt(D.max()), init="random", tol=1e-13, random_state=0
        ).fit(D)
    assert recm.loss_ == pytest.approx(536.293, abs=1e-3)


@pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")
def test_protein_from_distant_objects_has_a_lower_objective(protein):
    D, _ = protein
    recm = on_protein(delta=np.sqrt(D.max()), random_state=0, tol=1e-10).fit(D)
    assert recm.loss_ < 534


@pytest.mark.parametrize(("squared", "expected"), [(True, 0.92), (False, 0.989)])
def test_protein_with_a_beta_that_suits_it(protein, squared, expected):
    D, y = protein
    delta = np.sqrt(D.max()) if squared else D.max()
    recm = on_protein(beta=1.1, delta=delta, random_state=0)
    recm.set_params(squared=squared).fit(D)
    assert adjusted_rand_score(y, recm.labels_) == pytest.approx(expected, abs=0.005)


def test_s2_is_as_good_as_ecm_is(benchmark_data):
    X, y = benchmark_data("s2")
    X, y = X[::5] / X.std(axis=0), y[::5]
    recm = RECM(15, delta=5, random_state=0).fit(X)
    assert adjusted_rand_score(y, recm.labels_) == pytest.approx(0.93, abs=0.03)


def test_too_few_iterations_are_a_warning(blobs):
    with pytest.warns(ConvergenceWarning, match="max_iter=2 iterations: increase"):
        RECM(3, max_iter=2, n_init=1, random_state=0).fit(blobs)


def test_cluster_without_mass_keeps_its_prototype():
    focal_sets = FocalSets.singletons(2, frame=False)
    weights = np.array([[0.0, 0, 0], [1, 1, 1], [0, 0, 0]])
    previous = np.array([[1.0, 0, 0], [0, 0, 1]])
    coefficients = recm_coefficients(weights, focal_sets, 1.0, previous)
    assert_allclose(coefficients, [[1 / 3] * 3, [0, 0, 1]], atol=1e-12)
