"""NNEVCLUS with PyTorch: the same numbers, and modules of the user."""

import pickle
from functools import partial

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.ensemble import IsolationForest
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import credalis
from credalis import NNEVCLUS
from credalis.constraints import random_pairs
from credalis.datasets import make_four_class
from helpers import assert_valid_partition

torch = pytest.importorskip("torch")
nn = torch.nn

pytestmark = [
    # Few steps are enough to compare.
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
]

FULL_BATCH, MINI_BATCH = ("lbfgs", "adaptive"), ("adam", "rmsprop")


@pytest.fixture(scope="module")
def data():
    X, y = make_four_class(90, random_state=0)
    must_link, cannot_link = random_pairs(y, 12, random_state=0)
    labels = np.full(len(X), -1)
    labels[::9] = y[::9]
    pairs = {"must_link": must_link, "cannot_link": cannot_link}
    return X, {"labels": {"partial_labels": labels}, "pairs": pairs}


# Equal weights, equal losses.

CASES = {
    "plain": ({}, ()),
    "labels": ({}, ("labels",)),
    "pairs": ({}, ("pairs",)),
    "decay": ({"weight_decay": 0.1, "hidden_layer_sizes": (7, 5)}, ()),
    "reference": ({"novelty_detector": "ocsvm"}, ()),
    "paper": ({"novelty_detector": "ocsvm", "novelty_link": "paper"}, ()),
    "all": (
        {"novelty_detector": "ocsvm", "weight_decay": 0.01, "focal_sets": "full"},
        ("labels", "pairs"),
    ),
}


def engines_of(parameters, X, information):
    """The same fit by both engines, 50 steps from the same random weights."""
    parameters = {"max_iter": 50, "init": "random"} | parameters
    model = NNEVCLUS(4, n_init=1, tol=0, random_state=0, **parameters)
    return [
        clone(model).set_params(engine=engine).fit(X, **information)
        for engine in ("numpy", "torch")
    ]


def assert_same_losses(first, second, rtol):
    assert len(first.history_) == len(second.history_) > 1
    # A trial that the adaptive method rejects is an iteration without an entry.
    assert len(first.history_) >= first.max_iter - 5
    np.testing.assert_allclose(second.history_, first.history_, rtol=rtol)
    assert second.stress_ == pytest.approx(first.stress_, rel=rtol)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("solver", [*FULL_BATCH, *MINI_BATCH])
def test_losses_of_the_first_steps_agree(solver, case, data):
    X, known = data
    parameters, names = CASES[case]
    information = {key: v for name in names for key, v in known[name].items()}
    parameters = {"solver": solver, "dtype": "float64", **parameters}
    # Three blocks in an epoch, so that twenty epochs are sixty steps.
    if solver in MINI_BATCH:
        parameters |= {"batch_size": 30, "max_iter": 20}
    # The line searches of L-BFGS amplify rounding.
    rtol = 1e-4 if solver == "lbfgs" else 1e-8
    assert_same_losses(*engines_of(parameters, X, information), rtol=rtol)


@pytest.mark.parametrize("batch_size", [30, 90])
@pytest.mark.parametrize("case", ["plain", "all"])
@pytest.mark.parametrize("solver", MINI_BATCH)
def test_losses_agree_in_single_precision(solver, case, batch_size, data):
    X, known = data
    parameters, names = CASES[case]
    information = {key: v for name in names for key, v in known[name].items()}
    parameters = {
        "solver": solver,
        "dtype": "float32",
        "batch_size": batch_size,
        "max_iter": 20 if batch_size == 30 else 50,
        **parameters,
    }
    assert_same_losses(*engines_of(parameters, X, information), rtol=1e-4)


@pytest.mark.parametrize("solver", FULL_BATCH)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_losses_agree_for_sampled_pairs_and_other_metrics(solver, metric, data):
    X, _ = data
    if metric == "precomputed":
        X = np.abs(X[:, None] - X).sum(axis=2)
    parameters = {"solver": solver, "metric": metric, "pairs_per_sample": 20}
    assert_same_losses(*engines_of(parameters, X, {}), rtol=1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_losses_agree_where_not_all_pairs_fit_in_memory(metric, data, monkeypatch):
    from credalis.network._torch import _training

    monkeypatch.setattr(_training, "_MAX_DENSE", 10)
    monkeypatch.setattr(_training, "_STRIP", 32)
    assert_same_losses(
        *engines_of({"solver": "lbfgs", "metric": metric}, data[0], {}), rtol=1e-4
    )


def test_far_points_and_early_stopping_agree(data):
    X, _ = data
    # Far from the origin exponents are rounded and similarities vanish.
    X = np.concatenate([X, X[:9] + 1e4])
    parameters = {
        "solver": "adam",
        "early_stopping": True,
        "batch_size": 30,
        "dissimilarity_scale": 3.0,
        "dtype": "float64",
    }
    first, second = engines_of(parameters, X, {})
    np.testing.assert_allclose(second.history_, first.history_, rtol=1e-6)


@pytest.mark.parametrize("init", ["k-means++", "peaks"])
def test_seeds_count_for_both_engines(init, data):
    first, second = engines_of({"init": init}, data[0], {})
    np.testing.assert_allclose(second.history_, first.history_, rtol=1e-4)
    np.testing.assert_array_equal(second.labels_, first.labels_)


def test_two_steps_agree(data):
    first, second = engines_of({"focal_sets": "two-step"}, data[0], {})
    assert first.focal_sets_ == second.focal_sets_
    assert second.loss_ == pytest.approx(first.loss_, rel=1e-4)


def test_streams_agree(data):
    X, _ = data
    models = [
        NNEVCLUS(4, engine=engine, random_state=0, novelty_detector="ocsvm")
        for engine in ("numpy", "torch")
    ]
    for _ in range(5):
        for batch in (X[:40], X[40:]):
            for model in models:
                model.partial_fit(batch)
        assert models[1].loss_ == pytest.approx(models[0].loss_, rel=1e-6)


# The contract.


@pytest.mark.filterwarnings("ignore:n_clusters=1:UserWarning")
@parametrize_with_checks(
    [
        NNEVCLUS(engine="torch", max_iter=20, n_init=1),
        NNEVCLUS(
            3,
            engine="torch",
            solver="adam",
            novelty_detector="ocsvm",
            weight_decay=1e-4,
            max_iter=5,
        ),
    ]
)
@pytest.mark.slow
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_the_saved_perceptron_is_that_of_numpy(data, tmp_path):
    X, _ = data
    model = NNEVCLUS(4, engine="torch", n_init=1, max_iter=20, random_state=0).fit(X)
    path = tmp_path / "model.credalis"
    model.save(path)
    copy = credalis.load(path)
    assert copy.get_params() == model.get_params()
    assert copy.predict_partition(X) == model.partition_
    # The weights are all there is: NumPy predicts the same with them.
    assert copy.set_params(engine="numpy").predict_partition(X) == model.partition_


# Modules.


class SmallCNN(nn.Module):
    """Layers of every kind: statistics, random, frozen, integers."""

    def __init__(self, n_outputs, width=4):
        super().__init__()
        self.convolution = nn.Conv2d(1, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.dropout = nn.Dropout(0.1)
        self.output = nn.Linear(4 * width, n_outputs)
        self.frozen = nn.Parameter(torch.ones(1), requires_grad=False)
        self.register_buffer("integers", torch.arange(3))

    def forward(self, x):
        hidden = torch.relu(self.norm(self.convolution(x)))
        hidden = nn.functional.max_pool2d(hidden, 2)
        return self.output(self.dropout(hidden.flatten(1))) * self.frozen


@pytest.fixture(scope="module")
def images():
    """Bars in four places of 4 x 4 pixels, with noise."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 4
    X = rng.normal(scale=0.2, size=(80, 1, 4, 4))
    X[np.arange(80), 0, y] += 2.0
    return X, y


def module_model(module=SmallCNN, **parameters):
    parameters = {"max_iter": 60, "random_state": 0, "batch_size": 40} | parameters
    return NNEVCLUS(4, engine="torch", module=module, **parameters)


def linear(n_inputs, n_outputs):
    return nn.Sequential(nn.Flatten(), nn.Linear(n_inputs, n_outputs))


def test_a_module_clusters_images(images):
    X, y = images
    model = module_model().fit(X)
    assert_valid_partition(model.partition_, n_samples=len(X))
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.n_features_in_ == 16
    assert model.input_shape_ == (1, 4, 4)
    assert model.loss_ == model.history_[-1]
    assert model.predict_partition(X) == model.partition_
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.transform(X), model.partition_.masses)
    np.testing.assert_array_equal(model.predict_proba(X), model.partition_.pignistic)
    # The same rows are predicted alone: no layer looks at the others.
    np.testing.assert_allclose(
        model.transform(X[:3]), model.partition_.masses[:3], atol=1e-12
    )
    assert model.score(X) == pytest.approx(-model.stress_, rel=1e-9)


@pytest.mark.parametrize("solver", [*FULL_BATCH, *MINI_BATCH])
def test_a_module_is_trained_by_every_solver(solver, images):
    X, _ = images
    # The statistics that layers keep follow the weights only after some steps.
    n_steps = 15 if solver in FULL_BATCH else 50
    model = module_model(solver=solver, max_iter=n_steps, weight_decay=1e-3)
    start = clone(model).set_params(max_iter=1).fit(X)
    assert model.fit(X).loss_ < 0.9 * start.loss_


def test_information_about_objects_reaches_a_module(images):
    X, y = images
    labels = np.full(len(X), -1)
    labels[:16] = [2, 0, 3, 1] * 4
    model = module_model(novelty_detector="ocsvm").fit(X, partial_labels=labels)
    assert (model.labels_ == np.array([2, 0, 3, 1])[y]).mean() > 0.95
    # Without a reason in the data, only pairs can tell what belongs together.
    halves = y // 2
    must_link, cannot_link = random_pairs(halves, 150, random_state=0)
    two = module_model(constraint_weight=1.0, weight_decay=1e-3).set_params(
        n_clusters=2, max_iter=100
    )
    two.fit(X, must_link=must_link, cannot_link=cannot_link)
    assert adjusted_rand_score(halves, two.labels_) > 0.95


@pytest.mark.parametrize("has_module", [True, False])
def test_same_seed_same_bits_for_any_number_of_jobs(images, has_module):
    X, _ = images
    model = module_model(n_init=3, max_iter=5)
    if not has_module:
        X = X.reshape(80, 16)
        model.set_params(module=None)
    n_threads = torch.get_num_threads()
    torch.manual_seed(1)
    alone = clone(model).fit(X)
    torch.manual_seed(2)
    together = clone(model).set_params(n_jobs=2).fit(X)
    assert alone.partition_ == together.partition_
    np.testing.assert_array_equal(alone.history_, together.history_)
    assert torch.get_num_threads() == n_threads
    other = clone(model).set_params(random_state=1).fit(X)
    assert other.partition_ != alone.partition_


@pytest.mark.slow
def test_processes_give_the_same_bits_as_threads(images):
    X, _ = images
    # A class of this file is unknown to other processes.
    model = module_model(nn.Sequential(nn.Flatten(), nn.Linear(16, 12)), max_iter=3)
    model.set_params(n_init=2)
    alone = clone(model).fit(X)
    with parallel_config(backend="loky", n_jobs=2):
        together = clone(model).fit(X)
    assert alone.partition_ == together.partition_


def test_many_pixels_are_standardised_block_by_block(images, monkeypatch):
    X, _ = images
    expected = module_model(max_iter=5).fit(X)
    monkeypatch.setattr("credalis.cluster.nnevclus._start.MAX_STORED", 10)
    np.testing.assert_allclose(
        module_model(max_iter=5).fit(X).history_, expected.history_, rtol=1e-6
    )


def test_a_fit_leaves_the_state_of_torch_alone(images):
    X, _ = images
    torch.manual_seed(5)
    n_threads = torch.get_num_threads()
    module_model(max_iter=2).fit(X).predict(X)
    after = torch.rand(3)
    torch.manual_seed(5)
    assert torch.equal(after, torch.rand(3))
    assert torch.get_num_threads() == n_threads


def test_an_instance_is_the_start_and_is_not_changed(images):
    X, _ = images
    module = SmallCNN(12)
    before = {name: values.clone() for name, values in module.state_dict().items()}
    model = module_model(module, max_iter=3).fit(X)
    again = module_model(module, max_iter=3).fit(X)
    assert model.partition_ == again.partition_
    for name, values in module.state_dict().items():
        assert torch.equal(values, before[name])
    other = module_model(SmallCNN(12), max_iter=3).fit(X)
    assert other.partition_ != model.partition_
    np.testing.assert_array_equal(model.weights_["frozen"], [1.0])
    # Statistics of the inputs are part of the result, integers are not.
    assert np.abs(model.weights_["norm.running_mean"]).max() > 0
    assert "integers" not in model.weights_


@pytest.mark.parametrize(
    "module",
    [
        partial(SmallCNN, width=2),
        partial(linear, 16),
        lambda n_outputs: nn.Sequential(nn.Flatten(), nn.LazyLinear(n_outputs)),
    ],
    ids=["class", "function", "lazy"],
)
def test_what_makes_a_module_is_called_with_the_number_of_outputs(images, module):
    X, _ = images
    model = module_model(module, max_iter=5, n_init=2).fit(X)
    assert model.predict_partition(X) == model.partition_


def test_sequences_and_tables_are_inputs(images):
    X, _ = images

    class Recurrent(nn.Module):
        def __init__(self, n_outputs):
            super().__init__()
            self.cells = nn.GRU(4, 5, batch_first=True)
            self.output = nn.Linear(5, n_outputs)

        def forward(self, x):
            return self.output(self.cells(x)[0][:, -1])

    model = module_model(Recurrent, max_iter=5).fit(X[:, 0])
    assert model.input_shape_ == (4, 4)
    table = module_model(partial(nn.Linear, 16), max_iter=5).fit(X.reshape(80, 16))
    assert not hasattr(table, "input_shape_")
    # A table after images: the shape of the images is forgotten.
    model.set_params(module=partial(nn.Linear, 16)).fit(X.reshape(80, 16))
    assert not hasattr(model, "input_shape_")
    model.predict(X.reshape(80, 16))


def test_dissimilarities_of_images_come_from_metric_embedding_or_matrix(images):
    X, _ = images
    flat = X.reshape(80, 16)
    manhattan = np.abs(flat[:, None] - flat).sum(axis=2)
    model = module_model(partial(linear, 16), max_iter=5)
    # Hard clusters to start from are not the same of points and of dissimilarities.
    model.set_params(init="random", dissimilarity_quantile=0.9)
    by_name = clone(model).set_params(metric="manhattan").fit(X)
    by_matrix = clone(model).fit(X, dissimilarities=manhattan)
    np.testing.assert_allclose(by_name.history_, by_matrix.history_, rtol=1e-4)
    rows = FunctionTransformer(lambda rows: rows[:, ::4])
    by_embedding = clone(model).set_params(metric=rows).fit(X)
    expected = clone(model).fit(
        X, dissimilarities=np.linalg.norm(flat[:, None, ::4] - flat[:, ::4], axis=2)
    )
    np.testing.assert_allclose(by_embedding.history_, expected.history_, rtol=1e-4)


def test_centres_may_have_the_shape_of_images(images):
    X, y = images
    centres = np.array([X[y == k].mean(axis=0) for k in (3, 1, 0, 2)])
    model = module_model(init=centres).fit(X)
    assert (model.labels_ == np.array([2, 1, 3, 0])[y]).mean() > 0.95


def test_clusters_without_objects_come_last(images):
    X, y = images
    model = module_model(partial(linear, 16), max_iter=40).set_params(n_clusters=5)
    few = X[y < 2]
    model.fit(few)
    counts = np.bincount(model.labels_, minlength=5)
    assert (np.diff((counts == 0).astype(int)) >= 0).all()
    assert model.predict_partition(few) == model.partition_
    # Where it goes on, the outputs keep the order they were given.
    loss = clone(model).set_params(max_iter=1).fit(few).loss_
    model.set_params(warm_start=True, max_iter=1, learning_rate_init=1e-5)
    assert model.fit(few).loss_ < 0.5 * loss


def test_files_hold_the_weights_and_wait_for_the_module(images, tmp_path):
    X, _ = images
    model = module_model(novelty_detector="ocsvm", max_iter=5).fit(X)
    path = tmp_path / "model.credalis"
    model.save(path)
    copy = credalis.load(path)
    assert copy.partition_ == model.partition_
    with pytest.raises(ValueError, match=r"set_params\(module=...\) after load"):
        copy.predict(X)
    with pytest.raises(ValueError, match="must be what this model was fitted with"):
        copy.set_params(module=partial(SmallCNN, width=2)).predict(X)
    assert copy.set_params(module=SmallCNN).predict_partition(X) == model.partition_
    copy.set_params(module=SmallCNN(len(model.focal_sets_)))
    assert copy.predict_partition(X) == model.partition_
    before = copy.predict_partition(X)
    assert copy.partial_fit(X).predict_partition(X) != before


def test_pickles_hold_everything(images):
    X, _ = images
    model = module_model(SmallCNN(12), max_iter=5).fit(X)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict_partition(X) == model.partition_


def test_a_stream_of_images_is_learned(images):
    X, y = images
    model = module_model(learning_rate_init=0.01)
    for _ in range(40):
        model.partial_fit(X)
    assert not hasattr(model, "partition_")
    assert adjusted_rand_score(y, model.predict(X)) > 0.9


# What cannot be.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"engine": "jax"}, r"engine must be one of 'numpy', 'torch', got 'jax'"),
        ({"engine": "numpy"}, r"engine must be 'torch' with a module, got 'numpy'"),
        ({"device": "abacus"}, r"device must be one that PyTorch .* got 'abacus'"),
        ({"device": 1.5}, r"device must be one that PyTorch .* got 1.5"),
        ({"module": 3}, r"module must be an nn.Module, or a class .* got 3"),
        ({"module": len}, r"module must be an nn.Module, or .* says: object of type"),
        ({"module": str}, r"module must be an nn.Module, or .* it made a str"),
        ({"module": nn.Flatten()}, r"module must have parameters to train"),
        ({"module": SmallCNN(7)}, r"each of the 12 focal sets.*got \(2, 7\)"),
        ({"module": nn.Linear(3, 12)}, r"module must take inputs .*\(1, 4, 4\)"),
        ({"hidden_layer_sizes": (5,)}, r"hidden_layer_sizes must be 'auto' with"),
        ({"focal_sets": "two-step"}, r"focal_sets must not be 'two-step' with"),
    ],
)
def test_bad_parameter_is_a_value_error_that_names_it(images, parameters, message):
    X, _ = images
    with pytest.raises(ValueError, match=message) as caught:
        module_model().set_params(**parameters).fit(X)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("solver", ["adam", "lbfgs"])
def test_a_module_that_returns_another_shape_for_other_numbers_of_objects(
    images, solver
):
    class Reduced(nn.Linear):
        def forward(self, x):
            outputs = super().forward(x.flatten(1))
            return outputs if len(x) == 2 else outputs.sum(0)

    with pytest.raises(ValueError, match=r"return shape \(\d+, 12\) .* got \(12,\)"):
        module_model(lambda n: Reduced(16, n), solver=solver).fit(images[0])


@pytest.mark.parametrize("solver", [*FULL_BATCH, *MINI_BATCH])
def test_a_module_that_returns_nan_is_an_error(images, solver):
    class Broken(nn.Linear):
        def forward(self, x):
            return super().forward(x.flatten(1)) * float("nan")

    with pytest.raises(ValueError, match="finite"):
        module_model(lambda n: Broken(16, n), solver=solver).fit(images[0])


def test_complex_parameters_are_refused(images):
    module = linear(16, 12)
    module.register_parameter("phase", nn.Parameter(torch.ones(1) * 1j))
    with pytest.raises(ValueError, match="module must have real parameters"):
        module_model(module).fit(images[0])


def test_a_device_needs_the_engine(data):
    with pytest.raises(ValueError, match=r"device must be 'cpu' with engine='numpy'"):
        NNEVCLUS(device="cuda").fit(data[0])


def test_objects_of_another_shape_are_refused(images):
    X, _ = images
    model = module_model(max_iter=2).fit(X)
    for other in (X[:, 0], X.reshape(80, 16), X.reshape(80, 1, 2, 8)):
        with pytest.raises(ValueError, match=r"objects of shape \(1, 4, 4\) as in fit"):
            model.predict(other)
    table = module_model(partial(nn.Linear, 16), max_iter=2).fit(X.reshape(80, 16))
    with pytest.raises(ValueError, match=r"objects of shape \(16,\) as in fit"):
        table.predict(X)
    with pytest.raises(ValueError, match="expecting 16 features"):
        table.predict(np.ones((3, 5)))
    with pytest.raises(ValueError, match=r"dim 4|4 dim"):
        NNEVCLUS(4).fit(X)
    bad = X.copy()
    bad[0, 0, 0, 0] = np.nan
    with pytest.raises(ValueError, match="X contains NaN"):
        model.predict(bad)


def test_warm_start_needs_the_same_module(images):
    X, _ = images
    model = module_model(max_iter=2, warm_start=True).fit(X)
    with pytest.raises(ValueError, match="warm_start needs a network of the same"):
        model.set_params(module=partial(SmallCNN, width=2)).fit(X)
    with pytest.raises(ValueError, match="warm_start needs a network of the same"):
        model.set_params(module=None).fit(X.reshape(80, 16))


def test_detectors_see_the_flattened_images(images):
    X, _ = images
    forest = IsolationForest(n_estimators=10, random_state=0)
    model = module_model(novelty_detector=forest, max_iter=5).fit(X)
    assert model.novelty_.detector.n_features_in_ == 16


def test_blobs_are_found_with_the_default_start():
    X, y = make_blobs(150, centers=3, cluster_std=0.5, random_state=1)
    model = NNEVCLUS(3, engine="torch", n_init=1, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.95
