"""EVCLUS: published and reference values, descent, prediction, constraints."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import credalis
from credalis import EVCLUS, NNEVCLUS, CredalPartition, FocalSets
from credalis.cluster._inputs._geometry import Geometry
from credalis.cluster.evclus import _problem as problems
from credalis.cluster.evclus import _solve as solving
from credalis.cluster.evclus._rows import (
    descend_together,
    is_far_behind,
    masses_from_similarities,
    optimality_gap,
    sweep,
)
from credalis.cluster.nnevclus._seeds import fixed_seeds
from credalis.constraints import random_pairs
from credalis.datasets import load_butterfly
from credalis.dissimilarity import StoredSimilarities, sample_pairs, transform
from credalis.metric_learning import FDA, PCCA
from credalis.objectives import (
    CommonStress,
    DenseStress,
    PairConstraints,
    PartnerStress,
    RowCost,
    SampledStress,
)
from helpers import (
    PAPER_EVCLUS,
    assert_decreasing,
    assert_valid_partition,
    focal_set_lists,
)

# Table 1 of the NN-EVCLUS paper: ∅, {1}, {2}, Ω.
BUTTERFLY_TABLE = np.array(
    [
        [0.11, 0, 0.89, 0],
        [0.082, 0, 0.75, 0.17],
        [0, 0, 0.83, 0.17],
        [0.082, 0, 0.75, 0.17],
        [0, 0.077, 0.56, 0.36],
        [0, 0.29, 0.3, 0.42],
        [0, 0.55, 0.079, 0.37],
        [0.082, 0.73, 0, 0.18],
        [0, 0.81, 0, 0.19],
        [0.082, 0.73, 0, 0.18],
        [0.11, 0.87, 0, 0.02],
        [0.97, 0.03, 0, 0],
    ]
)


@pytest.fixture(scope="module")
def butterfly():
    return load_butterfly().data


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, centers=4, cluster_std=1.0, random_state=3)


@pytest.fixture(scope="module")
def fitted(blobs):
    return quick(n_init=2, tol=1e-5).fit(blobs[0])


def quick(**parameters):
    """Four clusters, few starts, no more sweeps than it takes to see the clusters.

    As in the articles: the masses of the partition are those that were optimised.
    """
    defaults = {"n_clusters": 4, "n_init": 1, "tol": 1e-4, "random_state": 0}
    return EVCLUS(**{**PAPER_EVCLUS, **defaults, **parameters})


def random_masses(rng, n, focal_sets):
    return rng.dirichlet(np.ones(len(focal_sets)), size=n)


def reference_scale(X):
    """δ0 of the reference program: the 0.9 quantile with every pair counted twice."""
    D = cdist(X, X)
    return np.quantile(D[~np.eye(len(D), dtype=bool)], 0.9)


def ignoring_convergence(model, X, **constraints):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **constraints)


def test_butterfly_is_the_published_table(butterfly, seed):
    model = EVCLUS(
        2,
        focal_sets="full",
        dissimilarity_scale=11.0,
        empty_set="stress",
        tol=1e-10,
        random_state=seed,
    ).fit(butterfly)
    assert model.loss_ == pytest.approx(0.00171498, abs=5e-9)
    masses = model.partition_.masses
    if masses[0, 1] > masses[0, 2]:
        masses = masses[:, [0, 2, 1, 3]]
    np.testing.assert_allclose(masses, BUTTERFLY_TABLE, atol=0.0051)
    np.testing.assert_allclose(masses[5], [0, 0.2883, 0.2954, 0.4162], atol=2e-3)
    assert model.kkt_residual_ < 1e-6


def test_one_sweep_of_the_reference_program(butterfly, reference):
    expected = reference("kevclus_fixed_m0.json")
    model = EVCLUS(
        2,
        focal_sets="full",
        empty_set="stress",
        init=expected["m0"],
        solver="reference",
        dissimilarity_scale=reference_scale(butterfly),
        max_iter=1,
    )
    ignoring_convergence(model, butterfly)
    masses = np.array(expected["one_pass"]["mass"])
    np.testing.assert_allclose(model.partition_.masses, masses, atol=1e-6)


@pytest.mark.parametrize("solver", ["reference", "two-sided"])
def test_end_of_the_reference_program(butterfly, reference, solver):
    # Its criterion adds up residuals of rows while later ones still change; what is
    # compared here is the stress of its masses.
    expected = reference("kevclus_fixed_m0.json")
    scale = reference_scale(butterfly)
    masses = np.array(expected["mass"])
    off = ~np.eye(12, dtype=bool)
    targets = transform(cdist(butterfly, butterfly), scale)
    np.testing.assert_allclose(
        targets[off].reshape(12, 11), expected["Dnorm"], atol=1e-12
    )
    conflicts = masses @ FocalSets.full(2).disjoint @ masses.T
    stress = np.square(conflicts - targets)[off].mean()
    model = EVCLUS(
        2,
        focal_sets="full",
        empty_set="stress",
        init=expected["m0"],
        solver=solver,
        dissimilarity_scale=scale,
        tol=1e-11,
        random_state=0,
    ).fit(butterfly)
    assert model.loss_ == pytest.approx(stress, rel=1e-9)
    found = model.partition_.masses
    if abs(found[0, 1] - masses[0, 1]) > 0.5:
        # Another order of updates may end with the clusters exchanged.
        found = found[:, [0, 2, 1, 3]]
    np.testing.assert_allclose(found, masses, atol=1e-4)


def test_iris_from_the_start_of_the_reference_program(benchmark_data, reference):
    # All eight subsets of three clusters make the problems of the rows singular, so
    # that programs may differ in the masses.
    expected = reference("kevclus_fixed_m0.json")["iris"]
    X, _ = benchmark_data("iris")
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    i, j = np.arange(1, 151)[:, None], np.arange(1, 9)
    start = (7 * i + 3 * j + i * j * j) % 101 + 0.5
    focal_sets = FocalSets.full(3)
    targets = transform(cdist(X, X), reference_scale(X))
    masses = np.array(expected["mass"])
    residuals = masses @ focal_sets.disjoint @ masses.T - targets
    np.fill_diagonal(residuals, 0)
    model = EVCLUS(
        3,
        focal_sets="full",
        empty_set="stress",
        init=start / start.sum(axis=1, keepdims=True),
        solver="reference",
        dissimilarity_scale=reference_scale(X),
        max_iter=len(expected["trace"]) - 1,
    )
    ignoring_convergence(model, X)
    theirs = np.square(residuals).sum() / (150 * 149)
    assert model.loss_ == pytest.approx(theirs, rel=1e-6)
    np.testing.assert_allclose(model.partition_.masses, masses, atol=1e-3)


def test_end_of_the_constrained_reference_program(butterfly, reference):
    # Its weight is four times the paper's. Here all constraints can hold exactly, and
    # a start with the paper's weight ends at the same masses.
    expected = reference("kcevclus_fixed_m0.json")
    model = EVCLUS(
        2,
        focal_sets="full",
        empty_set="stress",
        init=expected["m0"],
        solver="reference",
        dissimilarity_scale=reference_scale(butterfly),
        constraint_weight=expected["xi"][0],
        tol=1e-11,
    ).fit(
        butterfly,
        must_link=np.array(expected["ML"]) - 1,
        cannot_link=np.array(expected["CL"]) - 1,
    )
    masses = np.array(expected["mass"])
    np.testing.assert_allclose(model.partition_.masses, masses, atol=1e-5)


def test_a_planted_partition_is_found_again(seed):
    rng = np.random.default_rng(seed)
    focal_sets = FocalSets.pairs(3)
    planted = rng.dirichlet(np.full(len(focal_sets), 0.3), size=60)
    targets = planted @ focal_sets.disjoint @ planted.T
    np.fill_diagonal(targets, 0)
    stress = CommonStress(
        StoredSimilarities(1 - targets), 60, focal_sets, stored=1 - targets
    )
    start = 0.9 * planted + 0.1 * random_masses(rng, 60, focal_sets)
    trace = descend_together(RowCost(stress), [start], tol=0, max_iter=60)[0]
    assert trace.loss < 1e-8


@settings(max_examples=15)
@given(st.integers(0, 10_000), focal_set_lists(), st.integers(1, 19))
def test_the_loss_never_increases(seed, focal_sets, n_partners):
    rng = np.random.default_rng(seed)
    n = 20
    D = cdist(rng.normal(size=(n, 2)), rng.normal(size=(n, 2)))
    similarities = 1 - transform((D + D.T) / 2, 1.5)
    np.fill_diagonal(similarities, 1.0)
    rows, columns = sample_pairs(n, n_partners, np.random.RandomState(seed))
    known = similarities[rows, columns]
    near, near_columns = np.nonzero(~np.eye(n, n_partners, dtype=bool))
    constraints = PairConstraints(
        np.array([[0, 1], [2, 3]]), np.array([[0, 7], [4, 19]]), n, focal_sets
    )
    stored = StoredSimilarities(similarities)
    landmarks = similarities[near, near_columns]
    cases = [
        (
            CommonStress(stored, n, focal_sets, similarities),
            DenseStress(similarities, focal_sets),
        ),
        (
            CommonStress(stored, n_partners, focal_sets),
            SampledStress(near, near_columns, landmarks, n, focal_sets),
        ),
        (
            PartnerStress(rows, columns, known, n, focal_sets),
            SampledStress(rows, columns, known, n, focal_sets),
        ),
    ]
    for stress, independent in cases:
        for weight in (0.0, 0.5):
            objective = independent + weight * constraints
            cost = RowCost(stress, constraints, weight) if weight else RowCost(stress)
            masses = random_masses(rng, n, focal_sets)
            losses = [objective.value(masses.T)]
            for relaxation in (1.0, 1.0, 1.25, 1.9):
                masses, decrease = sweep(cost, masses, relaxation)
                losses.append(objective.value(masses.T))
                assert decrease == pytest.approx(losses[-2] - losses[-1], abs=1e-12)
            assert (np.diff(losses) <= 1e-13).all(), losses
            assert (masses >= 0).all()
            np.testing.assert_allclose(masses.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"pairs_per_sample": 20},
        {"pairs": "landmarks", "pairs_per_sample": 40},
        {"focal_sets": "two-step", "dissimilarity_quantile": 0.5},
        {"solver": "gradient", "max_iter": 200},
    ],
    ids=lambda each: next(iter(each), "default"),
)
def test_history_decreases_and_ends_in_the_loss(blobs, parameters):
    model = quick(**parameters)
    ignoring_convergence(model, blobs[0])
    assert_decreasing(model.history_)
    assert model.history_[-1] == model.loss_
    assert_valid_partition(model.partition_, n_samples=150)
    assert adjusted_rand_score(blobs[1], model.labels_) > 0.8


def test_sweeps_in_single_precision_never_increase_the_loss():
    X, _ = make_blobs(1200, centers=3, cluster_std=2.5, random_state=0)
    model = EVCLUS(3, pairs_per_sample=150, max_iter=6, random_state=0)
    # Not the losses of fits of 1 to 6 sweeps, whose starts differ: max_iter limits
    # what comes before the sweeps as well.
    assert_decreasing(ignoring_convergence(model, X).history_)
    assert len(model.history_) == 6
    exact = EVCLUS(3, pairs_per_sample=150, max_iter=6, tol=1e-9, random_state=0)
    assert ignoring_convergence(exact, X).loss_ == pytest.approx(model.loss_, rel=1e-6)
    assert (exact.partition_.masses != model.partition_.masses).any()


@pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")
def test_converged_rows_satisfy_the_optimality_conditions(blobs):
    model = quick(focal_sets="singletons", tol=1e-9).fit(blobs[0])
    assert model.kkt_residual_ < 1e-6


def test_stress_over_all_pairs_is_that_of_the_partition(fitted, blobs):
    D = cdist(blobs[0], blobs[0])
    objective = DenseStress(1 - transform(D, fitted.scale_), fitted.focal_sets_)
    expected = objective.value(fitted.partition_.masses.T)
    assert fitted.stress_ == pytest.approx(expected, rel=1e-9)
    assert fitted.loss_ == fitted.stress_


@pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")
def test_stored_similarities_change_nothing(blobs, monkeypatch):
    for pairs in ("all", "landmarks"):
        model = quick(pairs=pairs, focal_sets="singletons")
        stored = model.fit(blobs[0]).partition_.masses
        monkeypatch.setattr(problems, "_MAX_STORED", 0)
        model.fit(blobs[0])
        monkeypatch.undo()
        np.testing.assert_allclose(model.partition_.masses, stored, atol=1e-4)


def test_a_start_on_a_subset_finds_the_same_clusters(blobs, monkeypatch):
    monkeypatch.setattr(problems, "_MAX_SMALL", 60)
    monkeypatch.setattr(problems, "_SUBSET_SIZE", 50)
    monkeypatch.setattr(problems, "_SUBSET_PER_CLUSTER", 1)
    for init in ("random", "k-means++"):
        model = quick(init=init).fit(blobs[0])
        assert adjusted_rand_score(blobs[1], model.labels_) > 0.9


def test_a_start_is_given_up_if_it_is_far_behind_and_stays_there():
    assert not is_far_behind([2.0], 1.0)
    assert is_far_behind([2.1, 2.0], 1.0)
    assert not is_far_behind([2.7, 2.0], 1.0)  # soon below
    assert not is_far_behind([1.06, 1.05], 1.0)  # not far


def test_starts_together_find_what_starts_alone_find(blobs, monkeypatch):
    together = quick(n_init=4).fit(blobs[0])
    monkeypatch.setattr(EVCLUS, "_solves_together", lambda self, problem: False)
    alone = quick(n_init=4).fit(blobs[0])
    assert together.loss_ == pytest.approx(alone.loss_, rel=1e-9)
    np.testing.assert_allclose(
        together.partition_.masses, alone.partition_.masses, atol=1e-5
    )


def test_the_number_of_jobs_changes_no_bit(blobs):
    one, two = (quick(n_init=10, tol=1e-2, n_jobs=n).fit(blobs[0]) for n in (1, 2))
    np.testing.assert_array_equal(one.partition_.masses, two.partition_.masses)


def test_all_subsets_of_many_clusters():
    X, _ = make_blobs(60, centers=8, random_state=0)
    model = quick(n_clusters=8, focal_sets="full", n_init=2).fit(X)
    assert len(model.focal_sets_) == 256
    assert_valid_partition(model.partition_)
    assert_decreasing(model.history_)
    assert model.kkt_residual_ < 1e-2


def test_sorted_data_are_no_harder_than_shuffled_ones(blobs):
    X, y = blobs
    order = np.argsort(y, kind="stable")
    for rows in (np.arange(150), order):
        model = quick().fit(X[rows])
        assert adjusted_rand_score(y[rows], model.labels_) > 0.9


def test_matrix_and_points_agree(blobs, fitted):
    X, _ = blobs
    D = cdist(X, X)
    model = quick(metric="precomputed", n_init=2, tol=1e-5).fit(D)
    np.testing.assert_array_equal(model.labels_, fitted.labels_)
    assert model.loss_ == pytest.approx(fitted.loss_, rel=1e-6)
    new = X[:20] + 0.1
    np.testing.assert_allclose(
        model.transform(cdist(new, X)), fitted.transform(new), atol=1e-3
    )
    assert model.__sklearn_tags__().input_tags.pairwise


def test_other_metrics_and_transformers(blobs):
    X, y = blobs
    for metric in ("manhattan", lambda a, b: np.abs(a - b).max(), PCA(2)):
        model = quick(metric=metric).fit(X[:60])
        assert adjusted_rand_score(y[:60], model.labels_) > 0.8
        assert adjusted_rand_score(y, model.predict(X)) > 0.8


def test_metric_learned_from_labels_or_pairs(blobs, rng):
    X, y = blobs
    # A feature of noise that is larger than the distances between the blobs.
    X = np.column_stack([X, rng.normal(scale=50, size=len(X))])
    known = np.where(np.arange(len(X)) % 5 == 0, y, -1)
    must, cannot = random_pairs(y, 60, random_state=0)
    for metric, information in (
        (FDA(), {"partial_labels": known}),
        (PCCA(2, random_state=0), {"must_link": must, "cannot_link": cannot}),
    ):
        model = quick(metric=metric).fit(X, **information)
        assert adjusted_rand_score(y, model.labels_) > 0.8
        assert adjusted_rand_score(y, model.predict(X)) > 0.8


def test_labels_without_a_learner_are_refused(blobs):
    with pytest.raises(ValueError, match="EVCLUS uses partial_labels only"):
        quick().fit(blobs[0], partial_labels=blobs[1])


def test_prediction_is_the_best_row_against_fixed_masses(fitted, blobs, rng):
    X, _ = blobs
    new = rng.normal(size=(5, 2)) * 4
    targets = transform(cdist(new, X), fitted.scale_)
    against = fitted.partition_.masses @ fitted.focal_sets_.disjoint

    def row_costs(masses):
        return np.square(masses @ against.T - targets).sum(axis=1)

    found = row_costs(fitted.transform(new))
    for _ in range(200):
        other = random_masses(rng, 5, fitted.focal_sets_)
        mixed = 0.9 * fitted.transform(new) + 0.1 * other
        assert (row_costs(mixed) >= found - 1e-9).all()


def test_prediction_of_training_objects_is_near_the_fit(fitted, blobs):
    assert np.mean(fitted.predict(blobs[0]) == fitted.labels_) >= 0.97


def test_far_objects_are_outliers(fitted):
    partition = fitted.predict_partition([[500.0, 500.0]])
    assert partition.is_outlier.all()


def test_landmarks_are_what_prediction_needs(blobs):
    X, y = blobs
    model = quick(pairs="landmarks", pairs_per_sample=40).fit(X)
    np.testing.assert_array_equal(model.points_, X[model.landmarks_])
    assert len(model.landmarks_) == 40
    assert adjusted_rand_score(y, model.predict(X)) > 0.9


def test_gradient_method_predicts_and_fits_its_coefficients(blobs, tmp_path):
    X, _ = blobs
    model = quick(solver="gradient", n_init=2)
    ignoring_convergence(model, X)
    assert model.conflict_coefficients_.shape == (2,)
    assert not hasattr(model, "kkt_residual_")
    assert adjusted_rand_score(model.labels_, model.predict(X)) > 0.9
    model.save(tmp_path / "model.credalis")
    copy = credalis.load(tmp_path / "model.credalis")
    assert copy.predict_partition(X) == model.predict_partition(X)


def test_gradient_method_does_not_depend_on_the_unit(blobs):
    X, _ = blobs
    model = quick(solver="gradient", n_init=1, max_iter=50)
    ignoring_convergence(model, X)
    loss, coefficients = model.loss_, model.conflict_coefficients_
    ignoring_convergence(model, 1000 * X)
    assert model.loss_ == pytest.approx(loss, rel=1e-6)
    np.testing.assert_allclose(
        model.conflict_coefficients_, 1000 * coefficients, rtol=1e-5
    )


@pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")
def test_entropy_makes_the_gradient_method_more_certain(blobs):
    X, _ = blobs
    model = quick(solver="gradient", n_init=1, max_iter=100)
    plain = ignoring_convergence(model, X).partition_
    certain = ignoring_convergence(model.set_params(entropy_weight=1e-3), X).partition_
    assert certain.average_nonspecificity < plain.average_nonspecificity


def test_a_given_partition_is_the_start(blobs, fitted):
    X, _ = blobs
    for init in (fitted.partition_, fitted.partition_.masses):
        again = quick(init=init, random_state=1).fit(X)
        np.testing.assert_array_equal(again.labels_, fitted.labels_)
        assert again.loss_ <= fitted.loss_ * (1 + 1e-9)
        assert again.n_iter_ < 10


def test_a_hard_partition_can_be_the_start(blobs):
    X, y = blobs
    model = quick(init=CredalPartition.from_labels(y), random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    # Its numbers are those of the given partition.
    assert np.mean(model.labels_ == y) > 0.95


def test_warm_start_goes_on_from_the_last_fit(blobs):
    X, _ = blobs
    model = quick(max_iter=3, warm_start=True)
    first = ignoring_convergence(model, X).loss_
    second = ignoring_convergence(model, X).loss_
    assert second < first
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X[:50])


@pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")
def test_two_steps_start_from_the_first_masses(blobs):
    single = quick(focal_sets="singletons").fit(blobs[0])
    both = quick(focal_sets="two-step").fit(blobs[0])
    assert len(both.focal_sets_) > len(single.focal_sets_)
    assert both.loss_ <= single.loss_ * (1 + 1e-6)


def test_constraints_are_followed(blobs):
    X, _ = blobs
    model = quick()
    plain = model.fit(X)
    must = [np.flatnonzero(plain.labels_ == k)[:1].tolist() for k in (0, 1)]
    must = [(must[0][0], must[1][0])]
    cannot = [np.flatnonzero(plain.labels_ == 2)[:2].tolist()]
    helped = quick().fit(X, must_link=must, cannot_link=cannot)
    (i, j), (k, m) = must[0], cannot[0]
    assert helped.labels_[i] == helped.labels_[j]
    assert helped.labels_[k] != helped.labels_[m]
    assert helped.loss_ >= helped.stress_ >= plain.stress_ * (1 - 1e-6)


def test_loss_has_the_weight_of_the_paper(blobs):
    X, y = blobs
    must, cannot = credalis.constraints.random_pairs(y, 30, random_state=0)
    for solver in ("two-sided", "reference"):
        model = quick(solver=solver, constraint_weight=0.7, max_iter=5)
        ignoring_convergence(model, X, must_link=must, cannot_link=cannot)
        masses = model.partition_.masses
        apart = model.focal_sets_.apartness
        kept = [masses[i] @ apart @ masses[j] for i, j in must]
        broken = [2 - masses[i] @ apart @ masses[j] for i, j in cannot]
        penalty = 0.7 / (2 * 30) * (sum(kept) + sum(broken))
        assert model.loss_ == pytest.approx(model.stress_ + penalty, rel=1e-9)


@pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")
def test_without_weight_constraints_change_nothing(blobs):
    X, y = blobs
    must, cannot = credalis.constraints.random_pairs(y, 30, random_state=0)
    plain = quick(focal_sets="singletons", tol=1e-8).fit(X)
    same = quick(focal_sets="singletons", tol=1e-8, constraint_weight=0.0)
    same.fit(X, must_link=must, cannot_link=cannot)
    assert same.loss_ == pytest.approx(plain.loss_, rel=1e-4)


def test_constraints_are_handed_on_to_neighbours(blobs):
    X, y = blobs
    must, cannot = credalis.constraints.random_pairs(y, 10, random_state=1)
    model = quick()
    alone = model.fit(X, must_link=must, cannot_link=cannot).loss_
    model.set_params(constraint_neighbors=2)
    assert model.fit(X, must_link=must, cannot_link=cannot).loss_ != alone
    more = credalis.constraints.expand(must, cannot, X, n_neighbors=2)
    given = quick()
    given.fit(X, must_link=more[0], cannot_link=more[1])
    assert given.loss_ == pytest.approx(model.loss_, rel=1e-12)


def test_interrupt_keeps_the_best_and_warns(blobs, monkeypatch):
    calls = []
    real = solving.descend_together

    def descend_and_press(cost, starts, *, reports=None, **settings):
        def press(iteration, loss):
            calls.append(iteration)
            if iteration == 4:
                raise KeyboardInterrupt

        return real(cost, starts, reports=[press] * len(starts), **settings)

    monkeypatch.setattr(solving, "descend_together", descend_and_press)
    model = quick()
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(blobs[0])
    assert model.n_iter_ == 4
    assert calls == [1, 2, 3, 4]
    assert_valid_partition(model.partition_)


def test_interrupt_while_a_subset_is_fitted_still_gives_all_masses(blobs, monkeypatch):
    real = solving.descend_together

    def press(iteration, loss):
        raise KeyboardInterrupt

    def descend_and_press(cost, starts, reports=None, **settings):
        return real(cost, starts, reports=[press] * len(starts), **settings)

    monkeypatch.setattr(solving, "descend_together", descend_and_press)
    model = quick(pairs="landmarks", pairs_per_sample=40)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(blobs[0])
    assert_valid_partition(model.partition_, n_samples=150)


def matrix(n=6):
    D = cdist(np.arange(n)[:, None], np.arange(n)[:, None])
    return D.astype(float)


def changed(i, j, value):
    D = matrix()
    D[i, j] = value
    return D


BAD_MATRICES = {
    "asymmetric": (changed(0, 1, 3.0), r"X must be symmetric.*symmetrize=True"),
    "negative": (-matrix(), r"no negative dissimilarities, the smallest is -5"),
    "NaN": (changed(0, 1, np.nan), "NaN"),
    "diagonal": (changed(2, 2, 1.0), r"zero diagonal"),
    "shape": (matrix()[:, :4], r"square matrix.*\(6, 4\)"),
    "zeros": (np.zeros((6, 6)), r"distinct"),
}


@pytest.mark.parametrize("kind", BAD_MATRICES)
def test_bad_matrix_is_a_value_error(kind):
    D, message = BAD_MATRICES[kind]
    with pytest.raises(ValueError, match=message):
        EVCLUS(2, metric="precomputed").fit(D)


def test_asymmetric_matrix_can_be_symmetrized():
    plain = {"metric": "precomputed", "empty_set": "stress", "random_state": 0}
    model = EVCLUS(2, symmetrize=True, **plain).fit(changed(0, 1, 3.0))
    mean = changed(0, 1, 2.0)
    mean[1, 0] = 2.0
    other = EVCLUS(2, **plain).fit(mean)
    assert model.partition_ == other.partition_


def test_negative_dissimilarities_of_new_objects_are_refused():
    model = EVCLUS(2, metric="precomputed", random_state=0).fit(matrix())
    with pytest.raises(ValueError, match="no negative dissimilarities"):
        model.predict([[1.0, 2, 3, 4, 5, -1]])


BAD_PARAMETERS = [
    ({"pairs": "some"}, r"pairs must be one of 'auto', 'all'.* got 'some'"),
    ({"pairs_per_sample": 0}, r"pairs_per_sample must be an integer >= 1, got 0"),
    ({"pairs_per_sample": 500}, r"pairs_per_sample must be <= n_samples - 1 = 149"),
    ({"pairs": "all", "pairs_per_sample": 5}, r"pairs_per_sample must be None"),
    (
        {"pairs": "landmarks", "pairs_per_sample": 3},
        r"number of landmarks, must be >= n_clusters = 4, got 3",
    ),
    ({"solver": "newton"}, r"solver must be one of .* got 'newton'"),
    (
        {"solver": "gradient", "pairs_per_sample": 5},
        r"pairs must be 'all' for solver='gradient', got 'sampled'",
    ),
    (
        {"solver": "reference", "pairs": "landmarks"},
        r"pairs must be 'all' or 'sampled' for solver='reference'",
    ),
    ({"solver": "gradient", "init": "k-means++"}, r"init must be .* got 'k-means"),
    ({"entropy_weight": 0.1}, r"entropy_weight must be 0 unless solver='gradient'"),
    ({"init": "peaks"}, r"init must be one of 'auto', 'random'.* got 'peaks'"),
    ({"init": np.ones((3, 4))}, r"init must have shape .*\(150, 12\).*\(3, 4\)"),
    ({"init": np.ones((150, 12))}, r"each row of init must sum to 1"),
    (
        {"init": CredalPartition.from_labels([0, 1])},
        r"init must be a partition of 150 objects in 4 clusters, got 2 objects",
    ),
    ({"constraint_weight": -1.0}, r"constraint_weight must be a finite number >= 0"),
    ({"constraint_neighbors": -1}, r"constraint_neighbors must be an integer >= 0"),
    ({"dissimilarity_quantile": 2}, r"dissimilarity_quantile must be .* <= 1, got 2"),
    ({"dissimilarity_scale": 0}, r"dissimilarity_scale must be .* > 0, got 0"),
    ({"metric": "no metric"}, r"metric must be .* a metric of scikit-learn"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_bad_parameter_is_a_value_error_that_names_it(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        quick(**parameters).fit(blobs[0])


def test_mass_outside_the_focal_sets_is_refused(blobs, fitted):
    with pytest.raises(ValueError, match="init must have no mass outside"):
        quick(focal_sets="singletons", init=fitted.partition_).fit(blobs[0])


@pytest.mark.parametrize(
    ("must", "cannot", "message"),
    [
        ([(0, 1)], [(0, 1)], "must_link|cannot_link"),
        ([(0, 1), (1, 2)], [(0, 2)], "0-1-2"),
        ([(0, 150)], None, r"must_link must hold row numbers from 0 to 149"),
        (None, [(3, 3)], "cannot_link"),
    ],
)
def test_contradictory_constraints_are_refused(blobs, must, cannot, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(blobs[0], must_link=must, cannot_link=cannot)


def test_optimality_gap_is_the_largest_of_all_rows(blobs, rng):
    X, _ = blobs
    unknown = dict.fromkeys(("partial_labels", "must_link", "cannot_link"))
    problem = problems.prepare(quick(), X, np.random.RandomState(0), **unknown)
    cost = problem.cost(FocalSets.pairs(4))
    assert optimality_gap(cost, random_masses(rng, 150, FocalSets.pairs(4))) > 1e-2


def test_nnevclus_can_start_from_the_most_plausible_objects(blobs):
    X, y = (values[::2] for values in blobs)
    for geometry in (Geometry(X), Geometry(cdist(X, X), "precomputed")):
        scale = geometry.quantile_scale(0.9, np.random.RandomState(0))
        rng = np.random.RandomState(0)
        seeds = fixed_seeds("evclus", X, geometry, scale, 4, rng)
        assert sorted(y[seeds]) == [0, 1, 2, 3]
    model = NNEVCLUS(4, init="evclus", n_init=1, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.mark.parametrize("n_clusters", [3, 15])
def test_masses_of_seeds_are_minima_wherever_the_search_begins(rng, n_clusters):
    focal_sets = FocalSets.singletons(n_clusters)
    similarities = rng.uniform(size=(60, n_clusters)) ** 4
    # The rest of a row is near no seed.
    similarities[:30] /= 4 * similarities[:30].sum(axis=1, keepdims=True)
    seeds = np.eye(n_clusters, len(focal_sets), k=1)
    begin = solving._of_any_sign(similarities, seeds, focal_sets)
    np.testing.assert_allclose(begin.sum(axis=1), 1.0)
    assert begin.min() >= 0
    cold, warm = (
        masses_from_similarities(similarities, seeds, focal_sets, begin=each)
        for each in (None, begin)
    )
    np.testing.assert_allclose(warm, cold, atol=1e-6)


def test_masses_of_any_sign_are_no_guess_for_many_sets():
    focal_sets = FocalSets.full(4)
    assert solving._of_any_sign(np.ones((5, 4)), np.eye(4, 16), focal_sets) is None


def test_distances_of_a_sample_are_those_of_the_matrix(rng):
    points = rng.normal(size=(1203, 3))
    objects = rng.permutation(1203)
    np.testing.assert_allclose(
        Geometry(points)._lengths(objects),
        pdist(points[objects]),
        rtol=1e-10,
    )
