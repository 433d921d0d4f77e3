"""The δ-Bel graph against its definition, published numbers and invariances."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from credalis import _neighbors, peaks
from credalis.peaks import DeltaBel, delta_bel


def brute_force(distances, n_neighbors, quantile):
    """Bel and δ by loops over the definition; lower row numbers first where tied."""
    n_samples = len(distances)
    neighbors = [
        sorted(set(range(n_samples)) - {i}, key=lambda j: (distances[i, j], j))
        for i in range(n_samples)
    ]
    neighbors = [others[:n_neighbors] for others in neighbors]
    belief = np.empty(n_samples)
    for i in range(n_samples):
        doubt = 1.0
        for j in neighbors[i]:
            scale = 1.0
            if quantile is not None:
                scale = np.quantile(distances[j, neighbors[j]], quantile)
            near = distances[i, j] == 0
            ratio = 0.0 if near else np.inf if scale == 0 else distances[i, j] / scale
            doubt *= 1 - np.exp(-(ratio**2)) / n_neighbors
        belief[i] = 1 - doubt
    return belief


def brute_force_delta(distances, belief):
    """δ from Bel; lower row numbers first where Bel is tied."""
    order = sorted(range(len(belief)), key=lambda i: (-belief[i], i))
    delta = np.empty(len(belief))
    for rank, i in enumerate(order[1:], start=1):
        delta[i] = min(distances[i, j] for j in order[:rank])
    delta[order[0]] = max(delta[order[1:]])
    return delta


def assert_defined_by(graph, distances, n_neighbors, quantile=0.9):
    assert graph.n_neighbors == n_neighbors
    expected = brute_force(distances, n_neighbors, quantile)
    np.testing.assert_allclose(graph.belief, expected, rtol=1e-12, atol=1e-15)
    # Bel tied in theory may differ in the last digit: δ is judged by the computed Bel.
    expected = brute_force_delta(distances, graph.belief)
    np.testing.assert_allclose(graph.delta, expected, rtol=1e-12)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(300, centers=5, cluster_std=0.7, random_state=2)


def test_worked_example():
    graph = delta_bel([[0], [1], [2], [10], [11]], n_neighbors=2, quantile=0.9)
    np.testing.assert_allclose(
        graph.belief, [0.31867444, 0.61438893, 0.31867444, 0.49261898, 0.49070486]
    )
    np.testing.assert_array_equal(graph.delta, [1, 9, 1, 9, 1])
    assert graph.suggest().tolist() == graph.suggest(2).tolist() == [1, 3]


@pytest.mark.parametrize(("n_neighbors", "suffix"), [(50, ""), (100, "_K100")])
def test_values_of_the_independent_program(
    n_neighbors, suffix, reference, benchmark_data
):
    expected = reference("delta_Bel_fourclass_K50_q09.json")
    X, y = benchmark_data("fourclass")
    graph = delta_bel(X, n_neighbors=n_neighbors, quantile=0.9)
    np.testing.assert_allclose(graph.belief, expected[f"BelC{suffix}"], rtol=1e-12)
    np.testing.assert_allclose(graph.delta, expected[f"delta{suffix}"], rtol=1e-12)
    assert sorted(y[graph.suggest()]) == sorted(y[graph.suggest(4)]) == [0, 1, 2, 3]


@st.composite
def tables(draw):
    """Few objects; on a coarse grid there are many copies and ties."""
    n_samples = draw(st.integers(2, 14))
    n_features = draw(st.sampled_from([1, 2, 3, 11]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        n_values = draw(st.integers(1, 5))
        return rng.integers(0, n_values, (n_samples, n_features)).astype(float)
    return rng.normal(size=(n_samples, n_features))


@given(
    X=tables(),
    share=st.floats(0, 1),
    quantile=st.one_of(st.none(), st.sampled_from([0.0, 0.5, 0.9, 1.0])),
    metric=st.sampled_from(["euclidean", "cityblock", "chebyshev", "precomputed"]),
)
@example(X=np.zeros((4, 2)), share=0.5, quantile=0.9, metric="euclidean")
@example(X=np.zeros((4, 11)), share=1.0, quantile=0.0, metric="euclidean")
def test_graph_follows_the_definition(X, share, quantile, metric):
    n_neighbors = 1 + round(share * (len(X) - 2))
    known = metric == "precomputed"
    distances = squareform(pdist(X, "euclidean" if known else metric))
    graph = delta_bel(
        distances if known else X,
        n_neighbors=n_neighbors,
        quantile=quantile,
        metric=metric,
    )
    assert_defined_by(graph, distances, n_neighbors, quantile)


@pytest.mark.parametrize("n_features", [2, 12])
@pytest.mark.parametrize("n_values", [3, 12])
def test_many_ties_are_broken_by_row_number(n_features, n_values, rng):
    X = rng.integers(0, n_values, (250, n_features)).astype(float)
    graph = delta_bel(X, n_neighbors=6)
    assert_defined_by(graph, squareform(pdist(X)), 6)


@pytest.mark.parametrize("n_features", [2, 12])
def test_ties_are_broken_when_only_one_object_is_left_out(n_features, seed):
    X = np.random.default_rng(seed).integers(0, 3, (12, n_features)).astype(float)
    graph = delta_bel(X, n_neighbors=10)
    assert_defined_by(graph, squareform(pdist(X)), 10)


def test_copies_are_neighbors_but_an_object_is_not_its_own():
    # Nothing supports a centre more than K copies of it.
    graph = delta_bel([[0], [0], [0], [5], [9]], n_neighbors=2)
    np.testing.assert_allclose(graph.belief[:3], 1 - (1 - 1 / 2) ** 2)
    assert (graph.belief[3:] < 0.5).all()
    assert graph.delta[:3].tolist() == [5, 0, 0]


def test_a_callable_that_is_no_metric_is_taken_at_its_word(rng):
    X = rng.normal(size=(40, 2))

    def squared(a, b):
        return ((a - b) ** 2).sum()

    expected = delta_bel(X, metric="sqeuclidean", n_neighbors=7)
    graph = delta_bel(X, metric=squared, n_neighbors=7)
    np.testing.assert_allclose(graph.belief, expected.belief)
    np.testing.assert_allclose(graph.delta, expected.delta)
    assert_defined_by(expected, cdist(X, X, "sqeuclidean"), 7)


def test_haversine_distances(rng):
    X = rng.uniform(-1, 1, (60, 2))
    graph = delta_bel(X, metric="haversine", n_neighbors=6)
    first, second = X[:, None], X[None]
    half = np.sin((first - second) / 2) ** 2
    cosines = np.cos(first[..., 0]) * np.cos(second[..., 0])
    distances = 2 * np.arcsin(np.sqrt(half[..., 0] + cosines * half[..., 1]))
    assert_defined_by(graph, distances, 6)


@pytest.mark.parametrize("n_features", [3, 14])
def test_graph_does_not_depend_on_units_origin_and_axes(n_features, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, n_features))
    rotation, _ = np.linalg.qr(rng.normal(size=(n_features, n_features)))
    graph = delta_bel(X)
    for unit in (1e-30, 1e30):
        moved = delta_bel(unit * X)
        np.testing.assert_allclose(moved.belief, graph.belief)
        np.testing.assert_allclose(moved.delta, unit * graph.delta)
    for moved in (delta_bel(X + 1e5), delta_bel(X @ rotation)):
        np.testing.assert_allclose(moved.belief, graph.belief, rtol=1e-7)
        np.testing.assert_allclose(moved.delta, graph.delta, rtol=1e-7)
        np.testing.assert_array_equal(moved.suggest(), graph.suggest())


def test_rows_in_another_order_give_the_same_graph_in_that_order(blobs, seed):
    X, _ = blobs
    order = np.random.default_rng(seed).permutation(len(X))
    graph, shuffled = delta_bel(X), delta_bel(X[order])
    np.testing.assert_allclose(shuffled.belief, graph.belief[order])
    np.testing.assert_allclose(shuffled.delta, graph.delta[order])
    assert order[shuffled.suggest()].tolist() == graph.suggest().tolist()


@pytest.mark.parametrize("n_features", [2, 12])
def test_small_blocks_change_nothing(n_features, rng, monkeypatch):
    X = rng.integers(0, 6, (200, n_features)).astype(float)
    expected = delta_bel(X, n_neighbors=4)
    monkeypatch.setattr(_neighbors, "_BLOCK_ENTRIES", 50)
    graph = delta_bel(X, n_neighbors=4)
    np.testing.assert_array_equal(graph.belief, expected.belief)
    np.testing.assert_array_equal(graph.delta, expected.delta)


def test_without_a_quantile_gamma_is_one(rng):
    X = rng.normal(size=(30, 2))
    distances = squareform(pdist(X))
    assert_defined_by(delta_bel(X, n_neighbors=5, quantile=None), distances, 5, None)


@pytest.mark.parametrize(
    ("n_samples", "expected"),
    [(2, 1), (5, 1), (12, 3), (100, 20), (400, 40), (3000, 75)],
)
def test_automatic_number_of_neighbors(n_samples, expected):
    X = np.random.default_rng(0).normal(size=(n_samples, 2))
    assert delta_bel(X).n_neighbors == expected


def test_automatic_number_of_neighbors_grows_slowly():
    numbers = [peaks._checked_n_neighbors("auto", n) for n in (5625, 10_000, 10**6)]
    assert numbers == [75, 100, 150]


@pytest.mark.parametrize("name", ["fourclass", "s2", "s4", "d31"])
def test_number_and_centers_of_clusters_on_benchmark_sets(name, benchmark_data):
    X, y = benchmark_data(name)
    centers = delta_bel(X).suggest()
    assert len(centers) == len(np.unique(y))
    assert len(np.unique(y[centers])) == len(centers)


@pytest.mark.parametrize("name", ["iris", "wine", "ecoli", "heart"])
def test_number_and_centers_of_clusters_on_scaled_tables(name, benchmark_data):
    X, y = benchmark_data(name)
    centers = delta_bel(StandardScaler().fit_transform(X)).suggest()
    assert sorted(y[centers]) == np.unique(y).tolist()


def test_suggestions_are_ordered_and_nested(blobs):
    X, y = blobs
    graph = delta_bel(X)
    assert sorted(y[graph.suggest()]) == [0, 1, 2, 3, 4]
    assert (np.diff(graph.importance[graph.suggest(20)]) <= 0).all()
    assert graph.suggest(9)[:4].tolist() == graph.suggest(4).tolist()
    assert graph.importance.max() == 1
    assert graph.importance.min() == 0


def test_suggested_centers_lie_at_different_places(seed):
    X = np.random.default_rng(seed).integers(0, 2, (60, 2)).astype(float)
    graph = delta_bel(X, n_neighbors=3)
    assert len(np.unique(X[graph.suggest(4)], axis=0)) == 4
    with pytest.raises(ValueError, match="number of distinct objects, 4, got 5"):
        graph.suggest(5)


def test_copies_of_one_object_have_no_centers():
    graph = delta_bel(np.ones((6, 2)), n_neighbors=3)
    assert not graph.delta.any()
    with pytest.raises(ValueError, match="number of distinct objects, 1, got 2"):
        graph.suggest()


def test_two_objects():
    graph = delta_bel([[0.0], [3.0]])
    np.testing.assert_allclose(graph.belief, np.exp(-1))
    assert graph.delta.tolist() == [3, 3]
    assert graph.suggest().tolist() == [0, 1]


def test_largest_drop_is_weighted_by_the_root_of_the_number():
    # Logarithms 0, -1, -2.2, -3, -4, ...: 1.2 √2 < 1 √4 only if the fifth is a drop.
    logs = np.array([0, -1, -2.2, -2.4, -3.4, -3.5, -3.6, -3.7])
    values = np.concatenate([np.exp(logs), np.full(40, np.exp(-3.8))])
    graph = DeltaBel(np.ones(48), values, 5)
    assert len(graph.suggest()) == 4


def test_objects_of_no_importance_are_not_suggested():
    belief = np.concatenate([[1, 0.9, 0.8], np.full(47, 0.2)])
    graph = DeltaBel(belief, np.ones(50), 5)
    assert graph.suggest().tolist() == [0, 1, 2]


def test_threshold_takes_a_corner_of_the_graph(blobs):
    X, _ = blobs
    graph = delta_bel(X)
    rows = graph.threshold(min_delta=1.0, min_belief=0.5)
    inside = (graph.delta > 1.0) & (graph.belief > 0.5)
    assert sorted(rows) == np.flatnonzero(inside).tolist()
    assert (np.diff(graph.importance[rows]) <= 0).all()
    assert graph.threshold(1e9, 0).tolist() == []
    # The bounds themselves are outside.
    assert DeltaBel([1, 2], [1, 3], 1).threshold(1, 0).tolist() == [1]


def test_graph_is_immutable(blobs):
    X, _ = blobs
    graph = delta_bel(X)
    assert repr(graph) == "DeltaBel(300 objects, n_neighbors=35)"
    assert len(graph) == 300
    with pytest.raises(FrozenInstanceError):
        graph.delta = graph.belief
    for values in (graph.belief, graph.delta, graph.importance):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1


X4 = [[0.0, 0], [1, 0], [0, 1], [9, 9]]
D3 = np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]])


@pytest.mark.parametrize(
    ("X", "parameters", "message"),
    [
        (X4, {"n_neighbors": 4}, "n_neighbors must be less than .* objects, 4, got 4"),
        (X4, {"n_neighbors": 0}, "n_neighbors must be an integer >= 1, got 0"),
        (X4, {"n_neighbors": 1.5}, "n_neighbors must be an integer >= 1, got 1.5"),
        (X4, {"n_neighbors": "all"}, "n_neighbors must be one of 'auto', got 'all'"),
        (X4, {"quantile": 1.1}, "quantile must be .*>= 0 and <= 1, got 1.1"),
        (X4, {"quantile": -0.1}, "quantile must be .*>= 0 and <= 1, got -0.1"),
        (X4, {"metric": "round"}, "metric must be one of .*'euclidean'.*got 'round'"),
        (X4, {"metric": "mahalanobis"}, "metric must be one of"),
        (
            X4,
            {"metric": "correlation"},
            "'correlation' must be finite and >= 0, got nan",
        ),
        (np.array(X4) * 1e200, {}, "X must have distances that can be squared"),
        (np.eye(12) * 1e200, {}, "X must have distances that can be squared"),
        ([[1.0, 2]], {}, "minimum of 2"),
        ([1.0, 2], {}, "1D array"),
        ([[1.0], [np.nan]], {}, "X contains NaN"),
        ([[1.0], [np.inf]], {}, "X contains infinity"),
        ([["a"], ["b"]], {}, "could not convert string to float"),
        (X4, {"metric": "precomputed"}, r"X must be a square .*shape \(4, 2\)"),
        (-D3, {"metric": "precomputed"}, "X must hold no negative .* smallest is -3"),
        (D3 + 1, {"metric": "precomputed"}, "X must have a zero diagonal.* 1"),
        (np.triu(D3), {"metric": "precomputed"}, "X must be symmetric.*by up to 3"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_bad_input_is_refused(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        delta_bel(X, **parameters)


def test_asymmetric_dissimilarities_are_averaged_on_request():
    graph = delta_bel(2 * np.triu(D3), metric="precomputed", symmetrize=True)
    assert_defined_by(graph, D3, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda graph: graph.suggest(1), "n_clusters must be an integer >= 2, got 1"),
        (lambda graph: graph.suggest(5), "distinct objects, 4, got 5"),
        (lambda graph: graph.threshold(np.nan, 0), "min_delta must be a finite number"),
        (lambda graph: graph.threshold(0, "0"), "min_belief must be a finite number"),
    ],
)
def test_bad_requests_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(delta_bel(X4))


@pytest.mark.parametrize(
    ("belief", "delta"), [([1.0, 2], [1.0]), ([1.0], [1.0, 2]), ([[1.0]], [[1.0]])]
)
def test_values_that_do_not_match_are_refused(belief, delta):
    with pytest.raises(ValueError, match="one number for each object"):
        DeltaBel(belief, delta, 1)
