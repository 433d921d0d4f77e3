import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

import credalis
from credalis import NNEVCLUS, FocalSets
from credalis.cluster.nnevclus._network import TrainedWeights, decay_of
from credalis.cluster.nnevclus._settings import Settings
from credalis.constraints import random_pairs
from credalis.datasets import make_circles_in_ring, make_four_class
from credalis.dissimilarity import MAX_STORED
from credalis.network import BlockTrainer
from helpers import PAPER_NNEVCLUS, assert_valid_partition

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
]


CENTERS = np.array([[0.0, 0.0], [7.0, 0.0], [3.0, 7.0]])


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(120, centers=CENTERS, random_state=2)


def quick(**parameters):
    return NNEVCLUS(3, n_init=2, max_iter=200, random_state=0, **parameters)


def test_separated_clusters_are_found(blobs):
    X, y = blobs
    assert adjusted_rand_score(y, quick().fit(X).labels_) > 0.95


@pytest.mark.parametrize("solver", ["lbfgs", "adaptive", "adam", "rmsprop"])
def test_every_solver_finds_separated_clusters(blobs, solver):
    X, y = blobs
    model = NNEVCLUS(
        3, solver=solver, batch_size=40, max_iter=300, n_init=3, random_state=1
    )
    assert adjusted_rand_score(y, model.fit(X).labels_) > 0.9
    assert_valid_partition(model.partition_, n_samples=len(X))
    assert model.history_[-1] == model.loss_
    assert model.loss_ < model.history_[0]


def test_full_batch_loss_is_the_stress_of_the_partition(blobs):
    X, _ = blobs
    model = quick(init="random", empty_set="stress", weight_decay=0.0).fit(X)
    conflicts = credalis.belief.conflict_matrix(
        model.partition_.masses, model.focal_sets_
    )
    targets = 1 - np.exp(np.log(0.05) * cdist(X, X) ** 2 / model.scale_**2)
    off_diagonal = ~np.eye(len(X), dtype=bool)
    stress = ((conflicts - targets)[off_diagonal] ** 2).mean()
    assert model.stress_ == pytest.approx(stress, rel=1e-9)
    assert model.loss_ == pytest.approx(stress, rel=1e-9)


def test_automatic_weight_decay_is_a_hundredth(blobs):
    X, _ = blobs
    models = [quick(weight_decay=decay).fit(X) for decay in ("auto", 0.01, 0.0)]
    masses = [model.partition_.masses for model in models]
    np.testing.assert_array_equal(masses[0], masses[1])
    assert models[0].loss_ > models[0].stress_
    assert (masses[0] != masses[2]).any()


def test_a_module_has_no_automatic_weight_decay():
    assert decay_of("auto", None) == 0.01
    assert decay_of("auto", object()) == 0.0
    assert decay_of(0.3, object()) == 0.3


def test_scale_is_the_quantile_of_the_distances(blobs):
    X, _ = blobs
    model = quick(dissimilarity_quantile=0.3).fit(X)
    assert model.scale_ == pytest.approx(np.quantile(pdist(X), 0.3))
    assert quick(dissimilarity_scale=2.5).fit(X).scale_ == 2.5


@pytest.mark.parametrize(
    ("n_clusters", "quantile"),
    [(2, 0.9), (4, 0.9), (5, 0.4), (10, 0.2), (15, 2 / 15), (31, 0.1)],
)
def test_quantile_of_the_paper_follows_the_number_of_clusters(
    blobs, n_clusters, quantile
):
    model = NNEVCLUS(
        n_clusters,
        dissimilarity_quantile="paper",
        n_init=1,
        max_iter=1,
        random_state=0,
    ).fit(blobs[0])
    assert model.scale_ == pytest.approx(np.quantile(pdist(blobs[0]), quantile))


@pytest.mark.parametrize("factor", [1e-30, 1e-6, 1e30])
@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_units_do_not_matter(blobs, factor, solver):
    X, _ = blobs
    model = quick(solver=solver, novelty_detector="ocsvm")
    usual = clone(model).fit(X).partition_.plausibility
    other = clone(model).fit(X * factor).partition_.plausibility
    # float32 training follows rounding, so that only the decisions can be compared.
    assert (usual.argmax(axis=1) == other.argmax(axis=1)).mean() > 0.97


def test_shift_does_not_matter(blobs):
    X, _ = blobs
    shifted = quick().fit(X + 1e6)
    assert adjusted_rand_score(quick().fit(X).labels_, shifted.labels_) > 0.97


def test_relabelling_the_outputs_relabels_the_partition(blobs):
    X, _ = blobs
    model = quick().fit(X)
    order = [2, 0, 1]
    columns = [model.focal_sets_.relabel(order).index(s) for s in model.focal_sets_]
    turned = clone(model).fit(X)
    turned.weights_ = [*model.weights_[:-1], model.weights_[-1][columns]]
    expected = model.partition_.relabel(order)
    assert turned.predict_partition(X).allclose(expected, atol=1e-12)


def test_precomputed_distances_give_the_clusters_and_predict(blobs):
    X, y = blobs
    train, new = np.arange(90), np.arange(90, 120)
    model = quick(metric="precomputed").fit(cdist(X[train], X[train]))
    assert adjusted_rand_score(y[train], model.labels_) > 0.9
    predicted = model.predict(cdist(X[new], X[train]))
    assert adjusted_rand_score(y[new], predicted) > 0.9
    assert model.score(cdist(X[new], X[train])) > -0.05
    assert model.__sklearn_tags__().input_tags.pairwise


def test_separate_dissimilarities_replace_the_metric(blobs):
    X, _ = blobs
    # Few iterations, so that rounding has no time to grow.
    model = quick(**PAPER_NNEVCLUS).set_params(max_iter=5)
    usual = clone(model).fit(X)
    square = clone(model).fit(X, dissimilarities=cdist(X, X))
    condensed = clone(model).fit(X, dissimilarities=pdist(X))
    assert square.partition_.allclose(usual.partition_, atol=1e-6)
    assert condensed.partition_ == square.partition_
    with pytest.raises(ValueError, match="fit was given dissimilarities of its own"):
        square.score(X)
    strange = clone(model).fit(X, dissimilarities=cdist(X[:, :1], X[:, :1]))
    assert not strange.partition_.allclose(usual.partition_, atol=1e-2)


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
@pytest.mark.parametrize("metric", ["manhattan", "cosine", PCA(1)])
def test_other_metrics_and_transformers(blobs, metric, solver):
    X, _ = blobs
    model = quick(metric=metric, solver=solver, batch_size=40)
    model.set_params(dissimilarity_quantile=0.9).fit(X)
    assert_valid_partition(model.partition_)
    assert np.isfinite(model.score(X))
    if isinstance(metric, PCA):
        Z = model.transformer_.transform(X)
        assert model.scale_ == pytest.approx(np.quantile(pdist(Z), 0.9))


def test_score_is_the_negative_stress_of_the_given_rows(blobs):
    X, _ = blobs
    model = quick().fit(X)
    assert model.score(X) == pytest.approx(-model.stress_, rel=1e-9)


def test_search_over_weight_decay(blobs):
    X, _ = blobs
    model = NNEVCLUS(3, n_init=1, max_iter=30, dissimilarity_scale=8, random_state=0)
    search = GridSearchCV(model, {"weight_decay": [0.0, 1.0]}, cv=3).fit(X)
    assert search.best_params_ == {"weight_decay": 0.0}


def test_partial_labels_fix_the_numbers_of_the_clusters(blobs):
    X, y = blobs
    for labels in (y, (y + 1) % 3):
        partial = np.full(len(X), -1)
        known = np.flatnonzero(np.arange(len(X)) % 10 == 0)
        partial[known] = labels[known]
        fitted = quick().fit(X, partial_labels=partial)
        assert (fitted.labels_ == labels).mean() > 0.95


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_all_side_information_together(blobs, solver):
    X, y = blobs
    partial = np.where(np.arange(len(X)) % 20 == 0, y, -1)
    must, cannot = random_pairs(y, 40, random_state=0)
    model = quick(solver=solver, batch_size=30, novelty_detector="ocsvm")
    model.fit(X, partial_labels=partial, must_link=must, cannot_link=cannot)
    assert (model.labels_ == y).mean() > 0.95
    assert model.loss_ > model.stress_ * 0.5


def test_circles_are_separated_when_the_distance_is_the_radius():
    X, y = make_circles_in_ring(200, random_state=0)
    radius = np.hypot(*X.T)[:, None]
    must, cannot = random_pairs(y, 50, random_state=0)
    model = NNEVCLUS(2, hidden_layer_sizes=(30,), constraint_weight=0.1, random_state=0)
    model.fit(
        X, dissimilarities=cdist(radius, radius), must_link=must, cannot_link=cannot
    )
    assert adjusted_rand_score(y, model.labels_) >= 0.95


@pytest.mark.parametrize("init", ["peaks", "k-means++"])
@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_seeded_starts_find_the_clusters(blobs, init, solver):
    X, y = blobs
    model = NNEVCLUS(
        3, init=init, solver=solver, batch_size=40, max_iter=150, random_state=0
    )
    assert adjusted_rand_score(y, model.fit(X).labels_) > 0.95


def test_given_seeds_fix_the_numbers_of_the_clusters(blobs):
    X, y = blobs
    centers = np.array([X[y == k].mean(axis=0) for k in (2, 0, 1)])
    by_centers = quick(init=centers).fit(X)
    rows = [np.flatnonzero(y == k)[0] for k in (2, 0, 1)]
    by_rows = quick(init=rows).fit(X)
    expected = np.array([1, 2, 0])[y]
    assert (by_centers.labels_ == expected).mean() > 0.95
    assert (by_rows.labels_ == expected).mean() > 0.95


def test_two_steps_start_from_the_network_of_the_first():
    old, new = FocalSets.singletons(3), FocalSets.pairs(3, [(0, 2)])
    weights = [np.ones((4, 3)), np.arange(25.0).reshape(5, 5)]
    hidden, output = TrainedWeights(weights, None, old).extended(new).weights
    assert hidden is weights[0]
    assert_allclose(output[[0, 1, 2, 3, 5]], weights[1])
    between = weights[1][[1, 3]].mean(axis=0)
    assert_allclose(output[4], between - [1, 0, 0, 0, 0])


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_second_step_fits_at_least_as_well_as_the_first(solver):
    X, _ = make_blobs(300, centers=6, cluster_std=1.5, random_state=0)
    model = NNEVCLUS(6, solver=solver, n_init=1, max_iter=300, random_state=0)
    first = clone(model).set_params(focal_sets="singletons").fit(X)
    second = model.set_params(focal_sets="two-step").fit(X)
    assert len(second.focal_sets_) > len(first.focal_sets_)
    assert second.stress_ < 1.05 * first.stress_
    np.testing.assert_array_equal(second.predict(X), second.labels_)


@pytest.mark.parametrize("link", ["reference", "paper"])
@pytest.mark.parametrize(
    "detector", ["ocsvm", OneClassSVM(nu=0.1), LocalOutlierFactor(novelty=True)]
)
def test_far_objects_are_outliers(blobs, detector, link):
    X, _ = blobs
    model = quick(novelty_detector=detector, novelty_link=link).fit(X)
    far = X.mean(axis=0) + 1e3 * np.array([[1, 0], [0, 1], [-1, -1]])
    near = model.predict_partition(X).outlier_mass
    assert (model.predict_partition(far).outlier_mass > np.median(near) + 0.2).all()


def test_cluster_absent_from_training_shows_up_as_outliers():
    X, y = make_blobs(300, centers=[*CENTERS, [10, 8]], random_state=0)
    seen, unseen = X[y != 3], X[y == 3]
    model = NNEVCLUS(
        3, novelty_detector="ocsvm", n_init=2, max_iter=300, random_state=0
    ).fit(seen)
    assert model.predict_partition(unseen).is_outlier.mean() > 0.8
    assert model.partition_.is_outlier.mean() < 0.2


def test_early_stopping_keeps_the_best_network_on_held_out_objects(blobs):
    X, y = blobs
    model = NNEVCLUS(
        3, early_stopping=True, batch_size=30, max_iter=400, tol=1e-3, random_state=0
    ).fit(X)
    assert model.n_iter_ < 400
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_warm_start_goes_on_where_the_last_fit_ended(blobs):
    X, _ = blobs
    model = quick(warm_start=True).set_params(max_iter=20).fit(X)
    first = model.loss_
    model.set_params(n_init="auto", max_iter=200).fit(X)
    assert model.loss_ < model.history_[0] <= first
    with pytest.raises(ValueError, match="warm_start needs a network of the same"):
        model.set_params(hidden_layer_sizes=(2,)).fit(X)


def test_streams_are_learned(rng):
    X, y = make_blobs(3000, centers=CENTERS, random_state=2)
    model = NNEVCLUS(3, batch_size=50, random_state=0)
    for _ in range(20):
        for batch in np.array_split(rng.permutation(len(X)), 10):
            model.partial_fit(X[batch])
    assert not hasattr(model, "partition_")
    assert model.n_iter_ == 200
    assert adjusted_rand_score(y, model.predict(X)) > 0.95


def test_stream_continues_a_fit(blobs):
    X, _ = blobs
    model = quick().fit(X)
    before = model.score(X)
    model.partial_fit(X)
    assert model.score(X) > 2 * before
    with pytest.raises(ValueError, match="metric must not be 'precomputed'"):
        quick(metric="precomputed").partial_fit(cdist(X, X))


def test_a_stream_that_diverges_leaves_the_network_as_it_was(blobs):
    X, _ = blobs
    model = quick().fit(X)
    before = model.transform(X)
    model.set_params(learning_rate_init=1e300)
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match=r"must stay finite.*lower learning_rate_init"),
    ):
        model.partial_fit(X)
    np.testing.assert_array_equal(model.transform(X), before)
    loss = model.set_params(learning_rate_init=1e-3).partial_fit(X).loss_
    assert np.isfinite(loss)


def test_a_stream_goes_on_from_what_it_can_go_on_from(blobs):
    X, _ = blobs
    with pytest.raises(ValueError, match=r"n_clusters must stay 3.*got 4"):
        quick().fit(X).set_params(n_clusters=4).partial_fit(X)
    model = quick().fit(X, dissimilarities=cdist(X, X))
    with pytest.raises(ValueError, match="dissimilarities of its own"):
        model.partial_fit(X)


def test_interrupt_keeps_the_best_network_and_warns(blobs, monkeypatch):
    X, _ = blobs
    calls = []

    def interrupt(self, run, iteration, loss):
        calls.append(iteration)
        if len(calls) == 15:
            raise KeyboardInterrupt

    monkeypatch.setattr("credalis._progress.Progress.report", interrupt)
    for solver in ("lbfgs", "adam"):
        calls.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "", credalis.exceptions.ResultWarning)
            with pytest.warns(ConvergenceWarning, match="was interrupted"):
                model = NNEVCLUS(
                    3, solver=solver, batch_size=40, random_state=0, verbose=1
                ).fit(X)
        assert len(calls) == 15
        assert_valid_partition(model.partition_)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"novelty_detector": "ocsvm", "hidden_layer_sizes": (6, 5)},
        {"novelty_detector": OneClassSVM(nu=0.3, gamma="scale")},
    ],
)
def test_loaded_model_predicts_the_same_bits(blobs, parameters, tmp_path):
    X, _ = blobs
    model = quick(**parameters).fit(X)
    model.save(tmp_path / "model.credalis")
    loaded = credalis.load(tmp_path / "model.credalis")
    assert loaded.predict_partition(X + 0.3) == model.predict_partition(X + 0.3)
    assert repr(loaded) == repr(model)
    assert clone(loaded).fit(X).partition_ == model.partition_


def test_a_detector_that_came_fitted_is_saved_as_its_parameters(blobs, tmp_path):
    X, _ = blobs
    model = quick(novelty_detector=OneClassSVM(nu=0.3).fit(X[:9])).fit(X)
    model.save(tmp_path / "model.credalis")
    loaded = credalis.load(tmp_path / "model.credalis")
    assert not hasattr(loaded.novelty_detector, "support_")
    assert clone(loaded).fit(X).partition_ == model.partition_


def test_the_fit_of_a_machine_without_a_file_form_is_not_lost_silently(blobs, tmp_path):
    model = quick(novelty_detector=OneClassSVM(kernel="linear")).fit(blobs[0])
    with pytest.raises(ValueError, match="kernel='linear' cannot be saved"):
        model.save(tmp_path / "model.credalis")
    assert list(tmp_path.iterdir()) == []


def test_precomputed_model_is_saved_with_its_embedding(blobs, tmp_path):
    X, _ = blobs
    D = cdist(X, X)
    model = quick(metric="precomputed").fit(D)
    model.save(tmp_path / "model.credalis")
    assert credalis.load(tmp_path / "model.credalis").predict_partition(D) == (
        model.partition_
    )


def test_detector_without_a_file_form_is_named(blobs, tmp_path):
    X, _ = blobs
    model = quick(novelty_detector=IsolationForest(random_state=0)).fit(X)
    with pytest.raises(ValueError, match=r"cannot be saved.*IsolationForest"):
        model.save(tmp_path / "model.credalis")
    # Saved without what it has learned, it would be another detector.
    model = quick(novelty_detector=OneClassSVM(kernel="poly")).fit(X)
    with pytest.raises(ValueError, match=r"OneClassSVM.* it is fitted"):
        model.save(tmp_path / "model.credalis")
    assert list(tmp_path.iterdir()) == []


# From 200 000 rows on they are read in blocks, which takes room of its own.
def memory_beyond_data_and_result(n_samples):
    rng = np.random.default_rng(0)
    centers = 5 * rng.normal(size=(3, 10))
    X = centers[np.arange(n_samples) % 3] + rng.normal(size=(n_samples, 10))
    tracemalloc.start()
    model = NNEVCLUS(3, focal_sets="singletons", max_iter=1, random_state=0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak - model.partition_.masses.nbytes - model.labels_.nbytes


@pytest.mark.slow
@pytest.mark.parametrize("n_samples", [60_000, 100_000, 120_000, 200_000])
def test_memory_beyond_data_and_result_is_that_of_a_few_buffers(n_samples):
    # Of so many numbers each; all rows, or those of the last and of the next one.
    assert memory_beyond_data_and_result(n_samples) < 6 * 8 * MAX_STORED


@pytest.mark.slow
def test_memory_beyond_data_and_result_does_not_grow():
    sizes = 240_000, 480_000
    beyond = [memory_beyond_data_and_result(n_samples) for n_samples in sizes]
    # A few numbers for each object, such as their random order, and no copy of X.
    assert beyond[1] - beyond[0] < 40 * (sizes[1] - sizes[0])


def test_prediction_does_not_depend_on_the_block(blobs):
    X, _ = blobs
    model = quick(novelty_detector="ocsvm").fit(X)
    many = np.tile(X, (40, 1))
    assert_allclose(
        model.transform(many)[: len(X)], model.partition_.masses, atol=1e-12
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"hidden_layer_sizes": (0,)}, r"hidden_layer_sizes must be an integer >= 1"),
        ({"hidden_layer_sizes": "big"}, r"hidden_layer_sizes must be one of 'auto'"),
        ({"metric": "nearness"}, r"metric must be .* a metric of .* got 'nearness'"),
        ({"dissimilarity_quantile": 1.5}, r"dissimilarity_quantile must be .* <= 1"),
        ({"dissimilarity_scale": 0}, r"dissimilarity_scale must be .* > 0, got 0"),
        ({"novelty_detector": "magic"}, r"novelty_detector must be one of 'ocsvm'"),
        ({"novelty_detector": 3}, r"object with decision_function, got 3"),
        ({"novelty_link": "other"}, r"novelty_link must be one of 'reference'"),
        ({"weight_decay": "much"}, r"weight_decay must be one of 'auto', got 'much'"),
        ({"weight_decay": -1}, r"weight_decay must be a finite number >= 0, got -1"),
        ({"init": "magic"}, r"init must be one of 'auto', 'random', 'peaks'"),
        ({"init": [0, 0, 1]}, r"init must hold 3 distinct row numbers"),
        ({"init": [[0.0, 0.0]]}, r"init must have shape .*\(3, 2\)"),
        ({"solver": "sgd"}, r"solver must be one of 'auto', 'lbfgs'"),
        ({"learning_rate_init": 0}, r"learning_rate_init must be .* > 0, got 0"),
        ({"batch_size": 1}, r"batch_size must be an integer >= 2, got 1"),
        ({"pairs_per_sample": 500}, r"pairs_per_sample must be <= n_samples - 1 = 119"),
        (
            {"pairs_per_sample": 5, "solver": "adam"},
            r"pairs_per_sample must be None .* got 5 with solver='adam'",
        ),
        (
            {"early_stopping": True, "solver": "lbfgs"},
            r"early_stopping must be False .* got solver='lbfgs'",
        ),
        (
            {"validation_fraction": 0},
            r"validation_fraction must be .* > 0 and <= 0.9, got 0",
        ),
        ({"label_weight": 2}, r"label_weight must be .* <= 1, got 2"),
        ({"constraint_weight": -1}, r"constraint_weight must be .* >= 0, got -1"),
        ({"dtype": "int8"}, r"dtype must be one of 'auto', 'float32', 'float64'"),
        ({"max_iter": "long"}, r"max_iter must be one of 'auto', got 'long'"),
    ],
)
def test_bad_parameters(blobs, parameters, message):
    X, _ = blobs
    with pytest.raises(ValueError, match=message):
        NNEVCLUS(3, **parameters).fit(X)


@pytest.mark.parametrize(
    ("information", "message"),
    [
        ({"partial_labels": [0, 1]}, r"partial_labels must have one label for each"),
        ({"partial_labels": np.full(120, 3)}, r"n_clusters - 1 = 2, got 3"),
        ({"partial_labels": np.full(120, 0.5)}, r"partial_labels must be integers"),
        ({"must_link": [[0, 500]]}, r"must_link must hold row numbers from 0 to 119"),
        ({"cannot_link": [[0, 0]]}, r"cannot_link"),
        (
            {"must_link": [[0, 1], [1, 2]], "cannot_link": [[0, 2]]},
            r"cannot_link holds \(0, 2\), but must_link joins them",
        ),
        ({"dissimilarities": np.zeros((3, 3))}, r"about the 120 rows of X, got 3"),
        ({"dissimilarities": [1.0, 2.0]}, r"dissimilarities must hold 7140 values"),
    ],
)
def test_bad_side_information(blobs, information, message):
    X, _ = blobs
    with pytest.raises(ValueError, match=message):
        NNEVCLUS(3).fit(X, **information)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda D: D[:5], r"square matrix of dissimilarities, got shape \(5, 120\)"),
        (lambda D: -D, r"no negative dissimilarities"),
        (lambda D: D + 1, r"zero diagonal"),
        (lambda D: np.tril(D) * 2, r"must be symmetric, .* differ .* symmetrize=True"),
    ],
)
def test_bad_dissimilarity_matrices(blobs, change, message):
    X, _ = blobs
    with pytest.raises(ValueError, match=message):
        NNEVCLUS(3, metric="precomputed").fit(change(cdist(X, X)))


def test_asymmetric_matrix_is_symmetrized_when_asked(blobs):
    X, y = blobs
    D = cdist(X, X)
    lopsided = D * np.random.default_rng(0).uniform(0.95, 1.05, size=D.shape)
    model = quick(metric="precomputed", symmetrize=True, dissimilarity_quantile=0.9)
    model.fit(lopsided)
    assert model.scale_ == pytest.approx(
        np.quantile(((lopsided + lopsided.T) / 2)[np.triu_indices(len(D), 1)], 0.9)
    )
    assert adjusted_rand_score(y, model.labels_) > 0.95
    np.testing.assert_array_equal(model.predict(lopsided), model.labels_)


def test_parameters_changed_after_the_fit_do_not_change_predictions(blobs):
    X, _ = blobs
    model = quick(novelty_detector="ocsvm").fit(X)
    before, score = model.predict_partition(X), model.score(X)
    model.set_params(
        hidden_layer_sizes=(4,),
        novelty_link="paper",
        novelty_detector=None,
        metric="manhattan",
    )
    assert model.predict_partition(X) == before
    assert model.score(X) == score


def test_stress_does_not_depend_on_the_order_of_many_rows():
    X, y = make_blobs(6000, centers=CENTERS, random_state=0)
    model = NNEVCLUS(3, max_iter=3, random_state=0).fit(X[:500])
    order = np.argsort(y)
    assert model.score(X[order]) == pytest.approx(model.score(X), rel=0.05)


def test_hidden_units_do_not_grow_with_sets_of_many_clusters():
    settings = Settings.of(NNEVCLUS(3), 100)
    for focal_sets, n_units in (
        (FocalSets.full(6), 96),
        (FocalSets.full(10), 96),
        (FocalSets.full(12), 120),
        (FocalSets.pairs(15), 183),
        # Many clusters have few units, see test_many_clusters.
        (FocalSets.singletons(200), 150),
    ):
        assert settings.hidden_sizes(focal_sets) == (n_units,)


@pytest.mark.parametrize(
    ("parameters", "n_seeded", "n_random"),
    [
        ({}, 1, 8),
        ({"solver": "adaptive"}, 1, 5),
        ({"n_init": 4}, 4, 4),
    ],
)
def test_number_of_starts(parameters, n_seeded, n_random):
    settings = Settings.of(NNEVCLUS(**parameters), 100)
    assert settings.n_starts(True) == n_seeded
    assert settings.n_starts(False) == n_random
    is_halved = n_random == 8
    assert bool(settings.halvings(False)) == is_halved
    assert settings.halvings(True) == ()


@pytest.mark.parametrize(
    ("parameters", "n_samples", "may_sample"),
    [
        ({}, 500, False),
        ({}, 501, True),
        ({}, 10**6, True),
        ({"solver": "lbfgs"}, 800, False),
        ({"max_iter": 50}, 800, False),
        ({"pairs_per_sample": 50}, 800, False),
        ({"n_clusters": 33}, 800, False),
    ],
)
def test_when_some_objects_stand_for_all(parameters, n_samples, may_sample):
    settings = Settings.of(NNEVCLUS(**{"n_clusters": 4, **parameters}), n_samples)
    assert settings.may_sample is may_sample


def test_parts_of_the_objects_lead_where_all_pairs_do():
    X, y = make_blobs(800, centers=4, cluster_std=1.5, random_state=0)
    parts, pairs = (
        NNEVCLUS(4, solver=solver, random_state=0).fit(X)
        for solver in ("auto", "lbfgs")
    )
    found, wanted = (adjusted_rand_score(y, each.labels_) for each in (parts, pairs))
    assert found >= wanted - 0.02
    assert parts.stress_ <= 1.1 * pairs.stress_
    assert parts.n_iter_ < pairs.n_iter_


def test_fractions_of_weights_count_in_all_pairs():
    X, _ = make_blobs(800, centers=3, random_state=0)
    weights = np.where(np.arange(800) % 2, 1.3, 0.7)
    by_default, told = (
        NNEVCLUS(3, solver=solver, random_state=0).fit(X, sample_weight=weights)
        for solver in ("auto", "lbfgs")
    )
    assert np.array_equal(by_default.partition_.masses, told.partition_.masses)


def test_peaks_lead_to_the_same_clusters_as_random_starts():
    X, y = make_four_class(random_state=0)
    random = NNEVCLUS(4, random_state=0).fit(X)
    peaks = NNEVCLUS(4, init="peaks", random_state=0).fit(X)
    best = adjusted_rand_score(y, random.labels_)
    assert adjusted_rand_score(y, peaks.labels_) > best - 0.03


def test_detector_that_calls_half_of_the_objects_novel_still_trains(blobs):
    X, y = blobs
    model = quick(novelty_detector=OneClassSVM(nu=0.5)).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.mark.parametrize(
    ("partial", "pairs", "message"),
    [
        ([0, 1], {"must_link": [(0, 1)]}, r"agree with must_link.* 0 and 1"),
        ([0, -1, 1], {"must_link": [(0, 1), (1, 2)]}, r"agree with must_link"),
        ([0, 0], {"cannot_link": [(0, 1)]}, r"agree with cannot_link"),
        (
            [0, 0, -1],
            {"must_link": [(1, 2)], "cannot_link": [(0, 2)]},
            r"agree with cannot_link",
        ),
    ],
)
def test_labels_that_contradict_pairs_are_refused(blobs, partial, pairs, message):
    X, _ = blobs
    labels = np.full(len(X), -1)
    labels[: len(partial)] = partial
    with pytest.raises(ValueError, match=message):
        NNEVCLUS(3).fit(X, partial_labels=labels, **pairs)


def test_labels_and_seeds_are_not_mixed(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match=r"init must be 'auto' or 'random' with"):
        NNEVCLUS(3, init="peaks").fit(X, partial_labels=y)


def test_warm_start_keeps_the_coupling_and_wants_the_same_sets(blobs):
    X, _ = blobs
    model = quick(warm_start=True, novelty_detector="ocsvm").set_params(max_iter=30)
    first = model.fit(X).loss_
    assert model.fit(X).history_[0] <= first
    with pytest.raises(ValueError, match="warm_start needs a network of the same"):
        clone(model).fit(X).set_params(focal_sets="full", hidden_layer_sizes=(12,)).fit(
            X
        )
    with pytest.raises(ValueError, match="warm_start must be False"):
        quick(warm_start=True, focal_sets="two-step").fit(X)


@pytest.mark.parametrize("parameters", [{"init": "peaks"}, {"focal_sets": "two-step"}])
def test_interrupt_is_told_in_every_phase(blobs, parameters, monkeypatch):
    X, _ = blobs
    epochs = []

    def interrupt(*arguments):
        epochs.append(1)
        if len(epochs) == 3:
            raise KeyboardInterrupt
        return original(*arguments)

    original = BlockTrainer.epoch
    monkeypatch.setattr(BlockTrainer, "epoch", interrupt)
    model = quick(solver="adam", batch_size=40, **parameters).set_params(n_init=1)
    with pytest.warns(ConvergenceWarning, match="was interrupted"):
        model.fit(X)
    assert len(epochs) == 3
    assert_valid_partition(model.partition_)


@pytest.mark.parametrize("metric", ["chebyshev", "sqeuclidean"])
def test_every_metric_of_scikit_learn_is_taken(blobs, metric):
    X, _ = blobs
    assert_valid_partition(quick(metric=metric).fit(X).partition_)


def test_pipeline_that_needs_labels_is_fitted_with_them(blobs):
    X, y = blobs
    partial = np.where(np.arange(len(X)) % 4 == 0, y, -1)
    metric = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    model = quick(metric=metric).fit(X, partial_labels=partial)
    assert (model.labels_ == y).mean() > 0.95
    with pytest.raises(ValueError, match="pass partial_labels to fit"):
        quick(metric=metric).fit(X)


@pytest.mark.parametrize("metric", [PCA(1), StandardScaler()])
def test_model_with_a_transformer_is_saved(blobs, metric, tmp_path):
    X, _ = blobs
    model = quick(metric=metric).fit(X)
    model.save(tmp_path / "model.credalis")
    loaded = credalis.load(tmp_path / "model.credalis")
    assert loaded.predict_partition(X) == model.partition_
    assert loaded.score(X) == model.score(X)


def test_fit_forgets_a_stream(blobs):
    X, _ = blobs
    model = NNEVCLUS(3, max_iter=5, random_state=0).partial_fit(X)
    model.set_params(n_clusters=4).fit(X).partial_fit(X)
    assert model.predict(X).max() <= 3


def test_negative_dissimilarities_are_not_predicted(blobs):
    X, _ = blobs
    D = cdist(X, X)
    model = quick(metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="no negative dissimilarities"):
        model.predict(-D)


def test_one_hidden_layer_may_be_a_number(blobs):
    X, _ = blobs
    assert quick(hidden_layer_sizes=7).fit(X).weights_[0].shape == (7, 3)


def test_known_novelty_scores_are_those_of_a_detector(tmp_path):
    X = make_blobs(60, centers=2, random_state=0)[0]
    detector = OneClassSVM(nu=0.2, gamma=0.2)
    settings = {"max_iter": 40, "n_init": 1, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = NNEVCLUS(2, novelty_detector=detector, **settings).fit(X)
        scores = fitted.novelty_.detector.decision_function(fitted.standardization_(X))
        given = NNEVCLUS(2, novelty_detector=scores, **settings).fit(X)
    np.testing.assert_allclose(
        given.partition_.masses, fitted.partition_.masses, atol=1e-6
    )
    # What is next to an object has its score.
    near = given.predict_partition(X + 1e-9)
    assert near.allclose(given.partition_, atol=1e-6)
    given.save(tmp_path / "model")
    loaded = credalis.load(tmp_path / "model")
    assert loaded.predict_partition(X) == given.predict_partition(X)


@pytest.mark.parametrize("scores", [[1.0, 2.0], [[1.0]], ["a"], [np.nan] * 20])
def test_novelty_scores_that_are_none_are_refused_by_name(scores):
    X = make_blobs(20, centers=2, random_state=0)[0]
    with pytest.raises(ValueError, match="novelty_detector"):
        NNEVCLUS(2, novelty_detector=scores).fit(X)
