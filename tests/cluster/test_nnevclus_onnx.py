"""ONNX files say what predict_partition says."""

import numpy as np
import pytest
from scipy.spatial import distance
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from credalis import NNEVCLUS, FocalSets
from credalis.cluster.nnevclus._network import FittedNetwork
from credalis.datasets import make_four_class

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
]

# Scores are differences of nearly equal numbers, times a large factor.
PRECISION = {"float32": 2e-4, "float64": 1e-12}


@pytest.fixture(scope="module")
def X():
    return make_four_class(100, random_state=0)[0]


def run(path, X, dtype):
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    assert names == ["masses", "plausibility", "label"]
    results = dict(zip(names, session.run(None, {"X": X.astype(dtype)}), strict=True))
    results["focal_sets"] = session.get_modelmeta().custom_metadata_map["focal_sets"]
    return results


def assert_same(model, X, path, dtype):
    model.to_onnx(path, dtype=dtype)
    found, partition = run(path, X, dtype), model.predict_partition(X)
    assert found["masses"].dtype == np.dtype(dtype)
    tolerance = PRECISION[dtype]
    np.testing.assert_allclose(found["masses"], partition.masses, atol=tolerance)
    np.testing.assert_allclose(
        found["plausibility"], partition.plausibility, atol=tolerance
    )
    # Labels of objects whose two best clusters are equal to rounding may differ.
    best, second = np.sort(partition.plausibility, axis=1)[:, :-3:-1].T
    clear = best - second > 10 * tolerance
    assert clear.mean() > 0.7
    np.testing.assert_array_equal(found["label"][clear], partition.labels[clear])
    assert found["focal_sets"] == ", ".join(model.focal_sets_.names)


def far_and_near(X, rng):
    return np.concatenate([X, 100 * rng.normal(size=(20, X.shape[1]))])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"hidden_layer_sizes": (5, 4, 6), "focal_sets": "full"},
        {"novelty_detector": "ocsvm"},
        {"novelty_detector": "ocsvm", "novelty_link": "paper"},
        {"novelty_detector": OneClassSVM(gamma=2.0, nu=0.3), "solver": "adam"},
        {
            "focal_sets": FocalSets.from_subsets(
                4, [(0,), (1, 2), (), (1,), (2,), (3,)]
            ),
            "novelty_detector": "ocsvm",
        },
    ],
    ids=["plain", "deep", "reference", "paper", "given", "empty set inside"],
)
def test_a_perceptron_and_its_novelty_model(parameters, dtype, X, rng, tmp_path):
    given = {"empty_set": "stress", "n_init": 1, "max_iter": 30, **parameters}
    model = NNEVCLUS(4, random_state=0, **given).fit(X)
    assert_same(model, far_and_near(X, rng), str(tmp_path / "model.onnx"), dtype)


def all_kinds_of_rows(X, rng):
    """The training rows, copies, near and far ones, and some that would overflow."""
    n_features = X.shape[1]
    near = X[:30] + rng.normal(scale=0.3, size=(30, n_features))
    far = 100 * rng.normal(size=(20, n_features))
    extreme = np.outer([1e6, -1e30, 1e100, 1e200], np.ones(n_features))
    return np.concatenate([X, X[:3], near, far, extreme])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"outlier_rate": 0.2, "focal_sets": "singletons"},
        {"focal_sets": FocalSets.from_subsets(4, [(0,), (1,), (), (2,), (3,)])},
        {"novelty_detector": "ocsvm"},
        {"novelty_detector": OneClassSVM(gamma=2.0, nu=0.3), "novelty_link": "paper"},
        {"metric": "l2"},
    ],
    ids=["plain", "rate", "empty set inside", "ocsvm", "paper", "other name"],
)
def test_novelty_in_double_precision(parameters, X, rng, tmp_path):
    model = NNEVCLUS(
        4, empty_set="novelty", n_init=1, max_iter=30, random_state=0, **parameters
    ).fit(X)
    rows, path = all_kinds_of_rows(X, rng), str(tmp_path / "model.onnx")
    model.to_onnx(path, dtype="float64")
    found, partition = run(path, rows, "float64"), model.predict_partition(rows)
    np.testing.assert_allclose(found["masses"], partition.masses, atol=1e-9)
    np.testing.assert_array_equal(found["label"], partition.labels)
    flagged = found["masses"][:, model.focal_sets_.empty_index] >= 0.5
    np.testing.assert_array_equal(flagged, partition.outlier_mass >= 0.5)
    assert 0 < flagged.mean() < 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("empty_set", ["stress", "novelty"])
@pytest.mark.parametrize("novelty_link", ["reference", "paper"])
def test_labels_beside_a_large_mass_on_the_empty_set(
    novelty_link, empty_set, dtype, X, rng, tmp_path
):
    model = NNEVCLUS(
        4,
        novelty_detector="ocsvm",
        novelty_link=novelty_link,
        empty_set=empty_set,
        n_init=1,
        max_iter=30,
        random_state=0,
    ).fit(X)
    lengths = 10.0 ** rng.uniform(0, 30, size=(500, 1))
    rows = np.concatenate([lengths, np.full((500, 1), 10.0)]) * rng.normal(
        size=(1000, 2)
    )
    # Rows that the type holds, so that both see the same.
    rows = rows.astype(dtype).astype(np.float64)
    partition = model.predict_partition(rows)
    if novelty_link == "paper" and empty_set == "stress":
        assert partition.plausibility.max(axis=1).min() < np.finfo(np.float32).tiny
    path = str(tmp_path / "model.onnx")
    model.to_onnx(path, dtype=dtype)
    found = run(path, rows, dtype)["label"]
    np.testing.assert_array_equal(found, partition.labels)
    assert len(np.unique(found)) == 4


def test_labels_of_objects_with_nothing_but_the_empty_set(X, tmp_path):
    model = NNEVCLUS(4, empty_set="stress", n_init=1, max_iter=5, random_state=0).fit(X)
    # The output of ∅ is larger than the others by more than masses can tell.
    model.weights_[-1][0, 0] += 2000.0
    path = str(tmp_path / "model.onnx")
    for dtype in ("float32", "float64"):
        model.to_onnx(path, dtype=dtype)
        np.testing.assert_array_equal(run(path, X, dtype)["label"], model.predict(X))


@pytest.mark.filterwarnings("ignore::credalis.exceptions.UnitsWarning")
@pytest.mark.parametrize(
    "make",
    [
        lambda rng: 1e6 + rng.normal(size=(80, 2)),
        lambda rng: rng.normal(size=(80, 30)),
        lambda rng: np.repeat(rng.normal(size=(20, 2)), 4, axis=0),
        lambda rng: rng.integers(0, 5, size=(90, 2)).astype(float),
        lambda rng: rng.normal(size=(80, 3)) * [1e-8, 1.0, 1e8],
        lambda rng: rng.normal(size=(6, 2)),
    ],
    ids=["far from 0", "many features", "copies", "grid", "units", "few"],
)
@pytest.mark.filterwarnings("ignore::credalis.exceptions.UnitsWarning")
def test_novelty_of_awkward_tables(make, rng, tmp_path):
    X = make(rng)
    parameters = {"n_init": 1, "max_iter": 10, "random_state": 0}
    model = NNEVCLUS(2, empty_set="novelty", **parameters).fit(X)
    path = str(tmp_path / "model.onnx")
    model.to_onnx(path, dtype="float64")
    shift = X.std(axis=0) * rng.normal(size=(20, X.shape[1]))
    rows = np.concatenate([X, X[:20] + shift[: len(X)], X[:5] + 1e3 * X.std(axis=0)])
    found = run(path, rows, "float64")["masses"]
    np.testing.assert_allclose(found, model.transform(rows), atol=1e-6)


def test_novelty_in_single_precision(X, rng, tmp_path):
    # Rows that float32 holds, so that a copy stays a copy.
    X = X.astype(np.float32).astype(np.float64)
    model = NNEVCLUS(4, empty_set="novelty", n_init=1, max_iter=30, random_state=0)
    model.fit(X)
    rows, path = far_and_near(X, rng), str(tmp_path / "model.onnx")
    model.to_onnx(path)
    found, partition = run(path, rows, "float32"), model.predict_partition(rows)
    np.testing.assert_allclose(found["masses"], partition.masses, atol=2e-4)
    # Where float32 has nothing left for the clusters, all of them are alike.
    outside = FittedNetwork.of(model).masses(rows)[:, model.focal_sets_.empty_index]
    known = outside < 1 - 1e-6
    assert known.sum() > 100
    np.testing.assert_array_equal(found["label"][known], partition.labels[known])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_novelty_of_dissimilarities(dtype, X, tmp_path):
    matrix = np.linalg.norm(X[:, None] - X, axis=2)
    matrix = matrix.astype(np.float32).astype(np.float64)
    parameters = {"n_init": 1, "max_iter": 30, "random_state": 0}
    model = NNEVCLUS(4, metric="precomputed", empty_set="novelty", **parameters)
    rows = np.concatenate([matrix, 20 * matrix[:5]])
    assert_same(model.fit(matrix), rows, str(tmp_path / "model.onnx"), dtype)


def test_novelty_beside_dissimilarities_of_their_own(X, tmp_path):
    matrix = np.abs(X[:, :1] - X[:, 0])
    parameters = {"n_init": 1, "max_iter": 30, "random_state": 0}
    model = NNEVCLUS(4, empty_set="novelty", **parameters)
    model.fit(X, dissimilarities=matrix)
    path = str(tmp_path / "model.onnx")
    model.to_onnx(path, dtype="float64")
    rows = np.concatenate([X, 50 + X[:5]])
    found = run(path, rows, "float64")["masses"]
    np.testing.assert_allclose(found, model.transform(rows), atol=1e-9)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("manhattan", "metric must be 'euclidean' or .* got 'manhattan': fit with"),
        ("correlation", "metric must be 'euclidean' or .* 'correlation': fit with"),
        (distance.chebyshev, "metric must be 'euclidean' or .*chebyshev.*: fit with"),
        (StandardScaler(), r"metric must be no transformer .*StandardScaler.*: fit"),
    ],
)
def test_novelty_by_other_distances_is_an_error(metric, message, X, tmp_path):
    parameters = {"n_init": 1, "max_iter": 5, "random_state": 0}
    model = NNEVCLUS(2, metric=metric, empty_set="novelty", **parameters).fit(X)
    with pytest.raises(ValueError, match=message):
        model.to_onnx(tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []
    # What the message says to do.
    for advice in ({"empty_set": "stress"}, {"novelty_detector": "ocsvm"}):
        clone(model).set_params(**advice).fit(X).to_onnx(tmp_path / "model.onnx")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_dissimilarities(dtype, X, tmp_path):
    matrix = np.linalg.norm(X[:, None] - X, axis=2)
    model = NNEVCLUS(4, metric="precomputed", n_init=1, max_iter=30, random_state=0)
    assert_same(model.fit(matrix), matrix, str(tmp_path / "model.onnx"), dtype)


def test_a_stream_and_one_object(X, tmp_path):
    model = NNEVCLUS(4, random_state=0).partial_fit(X)
    path = str(tmp_path / "model.onnx")
    model.to_onnx(path)
    found = run(path, X[:1], np.float32)
    expected = model.transform(X[:1])
    np.testing.assert_allclose(found["masses"], expected, atol=2e-5)


def test_equal_plausibilities_go_to_the_first_cluster(X, tmp_path):
    model = NNEVCLUS(4, n_init=1, max_iter=30, random_state=0).fit(X)
    # All mass on Ω: every cluster is as plausible as the others.
    model.weights_[-1][:] = 0.0
    model.weights_[-1][-1, 0] = 50.0
    model.to_onnx(tmp_path / "model.onnx")
    found = run(str(tmp_path / "model.onnx"), X, np.float32)
    assert (found["label"] == 0).all()
    assert (model.predict(X) == 0).all()


@pytest.mark.parametrize("novelty_detector", [None, "ocsvm"])
def test_a_module(novelty_detector, rng, tmp_path):
    torch = pytest.importorskip("torch")
    nn = torch.nn

    class CNN(nn.Module):
        def __init__(self, n_outputs):
            super().__init__()
            self.layers = nn.Sequential(
                nn.Conv2d(1, 4, 3, padding=1),
                nn.BatchNorm2d(4),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Flatten(),
                nn.Dropout(0.2),
                nn.Linear(16, n_outputs),
            )

        def forward(self, x):
            return self.layers(x)

    images = rng.normal(size=(60, 1, 4, 4))
    images[np.arange(60), 0, np.arange(60) % 4] += 2.0
    model = NNEVCLUS(
        5,
        engine="torch",
        module=CNN,
        empty_set="stress",
        novelty_detector=novelty_detector,
        batch_size=30,
        max_iter=30,
        random_state=0,
    ).fit(images)
    path = str(tmp_path / "model.onnx")
    assert_same(model, images, path, "float32")
    # Clusters that were renumbered are so in the file.
    model.output_order_ = model.output_order_[::-1].copy()
    assert_same(model, images, path, "float32")


def test_a_table_and_a_module_in_double_precision(X, tmp_path):
    torch = pytest.importorskip("torch")

    def make(n_outputs):
        return torch.nn.Sequential(
            torch.nn.Linear(2, 5), torch.nn.Tanh(), torch.nn.Linear(5, n_outputs)
        )

    model = NNEVCLUS(4, engine="torch", module=make, max_iter=5, random_state=0)
    assert_same(model.fit(X), X, str(tmp_path / "model.onnx"), "float64")


def test_other_detectors_are_an_error_and_nothing_is_written(X, tmp_path):
    model = NNEVCLUS(4, novelty_detector=IsolationForest(), n_init=1, max_iter=5).fit(X)
    with pytest.raises(ValueError, match=r"novelty_detector must be .*IsolationForest"):
        model.to_onnx(tmp_path / "model.onnx")
    with pytest.raises(ValueError, match=r"dtype must be one of .* got 'float16'"):
        model.to_onnx(tmp_path / "model.onnx", dtype="float16")
    with pytest.raises(ValueError, match="not fitted yet"):
        NNEVCLUS().to_onnx(tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_module_that_onnx_cannot_express_is_an_error(X, tmp_path):
    torch = pytest.importorskip("torch")

    class Odd(torch.nn.Linear):
        def forward(self, x):
            return super().forward(torch.special.bessel_j0(x))

    model = NNEVCLUS(
        4, engine="torch", module=lambda n_outputs: Odd(2, n_outputs), max_iter=2
    ).fit(X)
    with pytest.raises(ValueError, match=r"module must be one that torch\.onnx"):
        model.to_onnx(tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []
