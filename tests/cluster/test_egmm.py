"""EGMM: its equations, limiting cases, and what it recovers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import credalis
from credalis import EGMM, CredalPartition, FitControl, FocalSets
from credalis.cluster.prototypes._egmm_mixture import (
    COVARIANCE_TYPES,
    EvidentialMixture,
    ebic,
    expectation,
    maximization,
    ridge_penalty,
    starting_mixture,
    updated_covariances,
    updated_means,
)
from helpers import assert_valid_partition

# {0}, {1}, Ω
TWO = FocalSets.full(2, empty=False)

for_each_type = pytest.mark.parametrize("covariance_type", COVARIANCE_TYPES)


def one_feature(covariance_type, variances, means=(0.0, 1.0)):
    """A mixture of one feature with these variances of the three sets."""
    shape = {"tied": (1, 1), "full": (3, 1, 1), "diag": (3, 1)}[covariance_type]
    covariances = np.array(variances, dtype=float).reshape(shape)
    return EvidentialMixture(
        TWO, np.full(3, 1 / 3), np.c_[list(means)], covariances, covariance_type
    )


class TestByHand:
    """Three objects at 0, 10 and 6, in {0}, {1} and Ω."""

    X = np.array([[0.0], [10.0], [6.0]])

    def test_masses_and_likelihood(self):
        # Distances 1, 1 and 0 from -1, 1 and their mean.
        mixture = one_feature("tied", [1.0], means=(-1.0, 1.0))
        masses, log_likelihood = expectation(np.zeros((1, 1)), mixture)
        e = np.exp(-0.5)
        np.testing.assert_allclose(masses, [[e, e, 1] / (1 + 2 * e)])
        expected = np.log((1 + 2 * e) / 3 / np.sqrt(2 * np.pi))
        assert log_likelihood == pytest.approx(expected)

    def test_means_and_common_variance(self):
        # H = [[5/4, 1/4], [1/4, 5/4]], B = [3, 13]; residuals -1/3, -1/3, 2/3.
        mixture = maximization(self.X, np.eye(3), one_feature("tied", [1.0]), 0.0)
        np.testing.assert_allclose(mixture.means.ravel(), [1 / 3, 31 / 3])
        np.testing.assert_allclose(mixture.set_means[2], [16 / 3])
        np.testing.assert_allclose(mixture.covariances, [[2 / 9]])
        np.testing.assert_allclose(mixture.weights, [1 / 3, 1 / 3, 1 / 3])

    @pytest.mark.parametrize("covariance_type", ["full", "diag"])
    def test_a_set_of_small_variance_has_its_mean_where_its_objects_are(
        self, covariance_type
    ):
        # With variance 1/4 of Ω: H = [[2, 1], [1, 2]], B = [12, 22].
        mixture = one_feature(covariance_type, [1.0, 1.0, 0.25])
        mixture = maximization(self.X, np.eye(3), mixture, 0.0)
        np.testing.assert_allclose(mixture.means.ravel(), [2 / 3, 32 / 3])
        np.testing.assert_allclose(mixture.covariances.ravel(), [4 / 9, 4 / 9, 1 / 9])

    def test_ridge(self):
        # One object in each of three sets: all get as much.
        for covariance_type in COVARIANCE_TYPES:
            n_variances = 1 if covariance_type == "tied" else 3
            mixture = one_feature(covariance_type, [0.5] * n_variances)
            assert ridge_penalty(mixture, 0.3) == pytest.approx(0.3)
            without, ridged = (
                updated_covariances(self.X, np.eye(3), mixture, ridge)
                for ridge in (0.0, 0.3)
            )
            np.testing.assert_allclose(ridged - without, 0.3)

    def test_number_of_parameters(self):
        X = np.arange(12.0).reshape(4, 3)
        # Two weights, six means, and covariances.
        for kind, number in (("tied", 6), ("full", 18), ("diag", 9)):
            mixture = starting_mixture(X, X[:2], TWO, kind, 1.0)
            assert mixture.n_parameters == 2 + 6 + number
            with_empty = starting_mixture(X, X[:2], FocalSets.full(2), kind, 1.0)
            assert with_empty.n_parameters == mixture.n_parameters
        assert ebic(-10.0, 4, 100) == pytest.approx(-10 - 2 * np.log(100))


def random_step(covariance_type, rng):
    """Objects, masses and a mixture with covariances that differ."""
    focal_sets = FocalSets.full(3)
    X = rng.normal(size=(40, 2)) * [1, 5]
    masses = rng.dirichlet(np.ones(7), size=40)
    masses = np.c_[np.zeros(40), masses]
    mixture = starting_mixture(X, X[:3], focal_sets, covariance_type, 0.1)
    factors = 1.0
    if covariance_type != "tied":
        shape = (len(focal_sets),) + (1,) * (mixture.covariances.ndim - 1)
        factors = rng.uniform(0.2, 5, size=shape)
    mixture = EvidentialMixture(
        focal_sets,
        masses.mean(axis=0),
        mixture.means,
        mixture.covariances * factors,
        covariance_type,
    )
    return X, masses, mixture


def expected_likelihood(X, masses, mixture, ridge):
    """Penalised, of objects and sets together, by SciPy's densities."""
    total = -len(X) * ridge_penalty(mixture, ridge)
    for j in np.flatnonzero(mixture.weights):
        covariance = mixture.covariances
        if mixture.covariance_type == "full":
            covariance = covariance[j]
        if mixture.covariance_type == "diag":
            covariance = np.diag(covariance[j])
        normal = multivariate_normal(mixture.set_means[j], covariance)
        total += masses[:, j] @ (normal.logpdf(X) + np.log(mixture.weights[j]))
    return total


@for_each_type
def test_each_update_is_a_maximum(covariance_type, rng):
    X, masses, mixture = random_step(covariance_type, rng)
    ridge = 0.05
    before = expected_likelihood(X, masses, mixture, ridge)
    means = updated_means(X, masses, mixture)

    def with_means(values):
        changed = EvidentialMixture(
            mixture.focal_sets,
            mixture.weights,
            values,
            mixture.covariances,
            covariance_type,
        )
        return changed, expected_likelihood(X, masses, changed, ridge)

    moved, best = with_means(means)
    assert best > before
    for _ in range(20):
        assert with_means(means + 0.01 * rng.normal(size=means.shape))[1] < best

    covariances = updated_covariances(X, masses, moved, ridge)

    def with_covariances(values):
        changed = EvidentialMixture(
            mixture.focal_sets, mixture.weights, means, values, covariance_type
        )
        return expected_likelihood(X, masses, changed, ridge)

    highest = with_covariances(covariances)
    assert highest > best
    for _ in range(20):
        change = 0.01 * rng.normal(size=covariances.shape)
        if covariance_type != "diag":
            change = change + np.swapaxes(change, -1, -2)
        assert with_covariances(covariances * (1 + change)) < highest


@for_each_type
def test_the_mean_of_a_cluster_without_mass_stays(covariance_type, rng):
    X, masses, mixture = random_step(covariance_type, rng)
    lost = mixture.focal_sets.membership[:, 2]
    masses = np.where(lost, 0.0, masses)
    means = updated_means(X, masses, mixture)
    np.testing.assert_allclose(means[2], mixture.means[2], atol=1e-9)
    assert np.abs(means[:2] - mixture.means[:2]).max() > 0.1
    # And so does the covariance of a set.
    if covariance_type != "tied":
        covariances = updated_covariances(X, masses, mixture, 0.1)
        np.testing.assert_array_equal(covariances[lost], mixture.covariances[lost])


def test_of_single_clusters_it_is_the_mixture_with_a_common_covariance():
    X, y = make_blobs(90, centers=3, cluster_std=2.0, random_state=3)
    X *= [1, 10]
    sets = FocalSets.singletons(3, empty=False, frame=False)
    start = np.array([X[y == k][0] for k in range(3)])
    first = starting_mixture(X / X.std(axis=0), start / X.std(axis=0), sets, "tied", 0)
    first = first.in_units(np.zeros(2), X.std(axis=0))
    theirs = GaussianMixture(
        3,
        covariance_type="tied",
        tol=0,
        reg_covar=0,
        max_iter=20,
        weights_init=first.weights,
        means_init=start,
        precisions_init=np.linalg.inv(first.covariances),
    )
    # The first iteration of ours is about the start.
    ours = EGMM(3, focal_sets=sets, init=start, reg_covar=0, tol=0, max_iter=21)
    with pytest.warns(ConvergenceWarning):
        theirs.fit(X)
    with pytest.warns(ConvergenceWarning):
        ours.fit(X)
    np.testing.assert_allclose(ours.weights_, theirs.weights_, rtol=1e-6)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-6)
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_, rtol=1e-6)
    posteriors = theirs.predict_proba(X)
    np.testing.assert_allclose(ours.partition_.masses, posteriors, atol=1e-6)
    assert ours.log_likelihood_ == pytest.approx(theirs.score(X) * len(X), rel=1e-9)
    assert ours.ebic_ == pytest.approx(-0.5 * theirs.bic(X), rel=1e-9)
    assert ours.loss_ == pytest.approx(-theirs.score(X), rel=1e-9)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_clusters = draw(st.integers(1, 4))
    n_samples = draw(st.integers(n_clusters + 4, 40))
    X = rng.normal(size=(n_samples, draw(st.integers(1, 3))))
    X += draw(st.sampled_from([0, 3, 100])) * rng.integers(3, size=(n_samples, 1))
    if draw(st.booleans()):
        X[: n_samples // 3] = X[0]
        X[-n_clusters:] += np.arange(n_clusters)[:, None]
    model = EGMM(
        n_clusters,
        focal_sets=draw(st.sampled_from(["auto", "singletons", "full"])),
        covariance_type=draw(st.sampled_from(COVARIANCE_TYPES)),
        reg_covar=draw(st.sampled_from([1e-6, 1e-2])),
        init=draw(st.sampled_from(["k-means", "k-means++"])),
        n_init=1,
        max_iter=60,
        tol=0,
        random_state=0,
    )
    return X, model


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")
@pytest.mark.filterwarnings("ignore:n_clusters=1:UserWarning")
@settings(max_examples=60, deadline=None)
@given(problems())
def test_the_penalised_likelihood_never_falls(problem):
    X, model = problem
    model.fit(X)
    losses = model.history_
    assert (np.diff(losses) <= 1e-9 * np.abs(losses[:-1])).all()
    assert_valid_partition(model.partition_)


@for_each_type
def test_the_loss_is_the_penalised_likelihood_of_what_is_fitted(covariance_type):
    X = make_blobs(80, centers=3, random_state=2)[0] * [1, 100]
    model = EGMM(3, covariance_type=covariance_type, reg_covar=0.01, random_state=0)
    model.fit(X)
    mixture = EvidentialMixture(
        model.focal_sets_,
        model.weights_,
        model.means_,
        model.covariances_,
        covariance_type,
    )
    masses, log_likelihood = expectation(X, mixture)
    np.testing.assert_allclose(model.partition_.masses, masses, atol=1e-9)
    assert model.log_likelihood_ == pytest.approx(log_likelihood)
    standardised = mixture.in_units(np.zeros(2), 1 / X.std(axis=0))
    penalty = ridge_penalty(standardised, 0.01)
    assert model.loss_ == pytest.approx(penalty - log_likelihood / len(X))
    assert model.loss_ == model.history_[-1]


@pytest.mark.parametrize("focal_sets", ["full", "pairs"])
def test_iris_as_by_the_published_equations(focal_sets):
    X, y = load_iris(return_X_y=True)
    model = EGMM(3, focal_sets=focal_sets, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == pytest.approx(0.886, abs=0.01)


MEANS = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
COVARIANCE = np.array([[1.0, 0.5], [0.5, 1.5]])
SETS = FocalSets.pairs(3, empty=False)
WEIGHTS = np.array([0.25, 0.2, 0.2, 0.15, 0.0, 0.1, 0.1])


@pytest.fixture(scope="module")
def simulated():
    """Objects from a mixture of sets of three clusters, and their sets."""
    rng = np.random.default_rng(0)
    mixture = EvidentialMixture(SETS, WEIGHTS, MEANS, COVARIANCE, "tied")
    sets = rng.choice(len(SETS), size=500, p=WEIGHTS)
    noise = rng.multivariate_normal([0, 0], COVARIANCE, size=500)
    X = mixture.set_means[sets] + noise
    return X, sets, expectation(X, mixture)[0]


@pytest.mark.slow
def test_number_and_masses_of_simulated_data_are_recovered(simulated):
    X, sets, masses = simulated
    model = EGMM([2, 3, 4, 5], init="k-means++", n_init=10, random_state=0).fit(X)
    assert model.n_clusters_ == 3
    # Clusters in the order of those of the simulation.
    order = np.array([np.square(model.means_ - m).sum(axis=1).argmin() for m in MEANS])
    renamed = model.focal_sets_.relabel(np.argsort(order))
    columns = [renamed.index(subset) for subset in SETS]
    np.testing.assert_allclose(model.means_[order], MEANS, atol=0.4)
    np.testing.assert_allclose(model.weights_[columns], WEIGHTS, atol=0.05)
    np.testing.assert_allclose(model.covariances_, COVARIANCE, atol=0.2)
    found = model.partition_.masses[:, columns]
    assert np.abs(found - masses).sum(axis=1).mean() < 0.1
    assert np.mean(found.argmax(axis=1) == sets) > 0.9


def test_of_several_numbers_the_one_with_the_highest_criterion_is_taken():
    X, _ = make_blobs(90, centers=3, random_state=4)
    alone = [EGMM(number, random_state=0).fit(X).ebic_ for number in (2, 3, 4)]
    model = EGMM([2, 3, 4], random_state=0).fit(X)
    assert model.n_clusters_ == (2, 3, 4)[int(np.argmax(alone))]
    assert model.ebic_ == pytest.approx(max(alone), rel=1e-6)
    assert model.focal_sets_.n_clusters == model.n_clusters_
    assert EGMM((2, 3, 4), n_jobs=2, random_state=0).fit(X).partition_ == (
        model.partition_
    )


def test_a_choice_that_is_cancelled_is_among_the_numbers_so_far():
    X, _ = make_blobs(60, centers=3, random_state=4)
    with (
        FitControl(lambda event: control.cancel()) as control,
        pytest.warns(ConvergenceWarning, match="EGMM was cancelled"),
    ):
        model = EGMM([2, 3], random_state=0).fit(X)
    assert model.n_clusters_ == 2


@for_each_type
def test_units_do_not_count(covariance_type):
    X, _ = make_blobs(90, centers=3, random_state=4)
    units = np.array([1e-3, 1e5])
    model = EGMM(3, covariance_type=covariance_type, random_state=0)
    ours = model.fit(X).partition_.masses
    criterion = model.ebic_
    np.testing.assert_allclose(model.fit(X * units).partition_.masses, ours, atol=1e-6)
    expected = criterion - len(X) * np.log(units).sum()
    assert model.ebic_ == pytest.approx(expected, rel=1e-6)


@for_each_type
@pytest.mark.parametrize("unit", [1e-140, 1e-153])
def test_a_column_of_tiny_numbers_counts(covariance_type, unit):
    X, _ = make_blobs(90, centers=3, random_state=4)
    settings = {"covariance_type": covariance_type, "random_state": 0}
    expected = EGMM(3, **settings).fit(X).partition_.masses
    masses = EGMM(3, **settings).fit(X * [unit, 1]).partition_.masses
    np.testing.assert_allclose(masses, expected, atol=1e-6)


def test_a_column_without_a_variance_in_floating_point_is_refused():
    X, _ = make_blobs(90, centers=3, random_state=4)
    with pytest.raises(ValueError, match="each column of X must have distances"):
        EGMM(3).fit(X * [1e-165, 1])


@for_each_type
def test_far_rows_get_the_masses_of_their_direction(covariance_type):
    X, _ = make_blobs(90, centers=3, random_state=4)
    model = EGMM(3, covariance_type=covariance_type, random_state=0).fit(X * [1, 1e6])
    far = model.predict_partition([[3e8, -1e14]]).masses
    farther = model.predict_partition([[3e294, -1e300]]).masses
    np.testing.assert_allclose(far, farther, atol=1e-6)
    assert far.max() > 0.999


@for_each_type
def test_a_constant_column_changes_nothing(covariance_type):
    X, _ = make_blobs(90, centers=3, random_state=4)
    settings = {"covariance_type": covariance_type, "random_state": 0}
    without = EGMM(3, **settings).fit(X).partition_
    wide = np.c_[X, np.full(len(X), 7.0)]
    masses = EGMM(3, **settings).fit(wide).partition_.masses
    np.testing.assert_allclose(masses, without.masses, atol=1e-6)


def test_more_columns_than_rows(rng):
    X = rng.normal(size=(20, 50))
    X[:10] += 5
    labels = EGMM(2, random_state=0).fit(X).labels_
    assert adjusted_rand_score(np.arange(20) < 10, labels) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"covariance_type": "round"}, "covariance_type must be one of .* 'round'"),
        ({"reg_covar": -1}, "reg_covar must be a finite number >= 0, got -1"),
        ({"n_clusters": []}, "n_clusters must hold at least one number, got none"),
        ({"n_clusters": [2, 0]}, "n_clusters must be an integer >= 1, got 0"),
        ({"init": "random"}, "init must be one of .* got 'random'"),
        ({"init": [[0, 0]]}, r"init must have shape .* = \(2, 2\), got \(1, 2\)"),
        (
            {"n_clusters": [2, 3], "focal_sets": FocalSets.full(2)},
            "focal_sets must be about n_clusters=3",
        ),
        ({"reg_covar": 0}, "reg_covar must be larger for these data"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X = np.c_[np.arange(10.0), 2 * np.arange(10.0)]
    with pytest.raises(ValueError, match=message):
        EGMM(**parameters).fit(X)


@for_each_type
def test_files(covariance_type, tmp_path):
    X, _ = make_blobs(60, centers=3, random_state=4)
    model = EGMM([2, 3], covariance_type=covariance_type, random_state=0).fit(X)
    path = tmp_path / "model.credalis"
    model.save(path)
    new = X + 0.5
    partition = credalis.load(path).predict_partition(new)
    assert isinstance(partition, CredalPartition)
    assert partition == model.predict_partition(new)
    for attribute, wrong, message in (
        ("covariances_", -model.covariances_, "must be positive definite"),
        ("covariances_", np.ones(5), "covariances_ must have shape"),
        ("weights_", model.weights_ / 2, "weights_ must sum to 1"),
    ):
        good = getattr(model, attribute)
        setattr(model, attribute, wrong)
        with pytest.raises(ValueError, match=message):
            model.save(path)
        setattr(model, attribute, good)


def test_centres_out_of_reach_are_refused():
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    with pytest.raises(ValueError, match="init must be within"):
        EGMM(2, init=[[0.0], [1e200]], n_init=1).fit(X)
