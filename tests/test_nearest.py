"""The few nearest of some objects: what comparing all of them by differences finds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from credalis import _nearest
from credalis._nearest import FewNearest, suits
from credalis._neighbors import NeighborSearch


def by_differences(X, points, n_neighbors):
    """All distances, column by column, and the first by length and row number."""
    X, points = np.float64(X), np.float64(points)
    squares = np.zeros((len(points), len(X)))
    with np.errstate(over="ignore", under="ignore"):
        for j in range(X.shape[1]):
            squares += (points[:, j, None] - X[:, j]) ** 2
    lengths = np.sqrt(squares)
    found = np.argsort(lengths, axis=1, kind="stable")[:, :n_neighbors]
    return found, np.take_along_axis(lengths, found, axis=1)


def assert_nearest(X, points, n_neighbors):
    answer = FewNearest(X, n_neighbors).query(points)
    for ours, expected in zip(
        answer, by_differences(X, points, n_neighbors), strict=True
    ):
        assert_array_equal(ours, expected)


def n_left_over(monkeypatch):
    """Points that were compared with all objects by differences, as a list."""
    left = []
    compare_all = FewNearest._nearest_of_all

    def counting(self, points):
        left.append(len(points))
        return compare_all(self, points)

    monkeypatch.setattr(FewNearest, "_nearest_of_all", counting)
    return left


NUMBERS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "grid": lambda rng, shape: rng.integers(3, size=shape),
    "bits": lambda rng, shape: rng.integers(2, size=shape),
    "same": lambda rng, shape: np.full(shape, 0.1),
    "clusters": lambda rng, shape: (
        1e4 * rng.integers(3, size=shape) + rng.normal(size=shape)
    ),
    "tight clusters": lambda rng, shape: (
        rng.integers(3, size=shape) + 1e-9 * rng.normal(size=shape)
    ),
    "heavy tails": lambda rng, shape: rng.standard_cauchy(shape) ** 3,
    "all orders": lambda rng, shape: (
        rng.normal(size=shape) * 10.0 ** rng.integers(-160, 155, size=shape)
    ),
    "far from 0": lambda rng, shape: 1e8 + rng.normal(size=shape),
    "progression": lambda rng, shape: (
        np.arange(shape[0])[:, None] + 0.01 * rng.normal(size=shape)
    ),
}
UNITS = [1.0, 1e-320, 1e-310, 1e-160, 1e-140, 1e-30, 1e30, 1e140, 1e153, 1e154]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", NUMBERS)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(30, 300),
    st.integers(1, 12),
    st.integers(1, 9),
    st.sampled_from(UNITS),
    st.sampled_from(list(NUMBERS)),
)
def test_the_nearest_are_those_by_differences(
    name, dtype, seed, n_samples, n_features, n_neighbors, unit, name_of_points
):
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore", under="ignore"):
        X = unit * NUMBERS[name](rng, (n_samples, n_features))
        new = unit * NUMBERS[name_of_points](rng, (20, n_features))
        X = np.clip(X, -1e308, 1e308)
        if dtype is np.float32:
            X, new = np.clip(X, -3e38, 3e38), np.clip(new, -3e38, 3e38)
        X = X.astype(dtype)
        points = np.concatenate([X[:20], np.clip(new, -1e308, 1e308).astype(dtype)])
    assert_nearest(X, points, n_neighbors)


def test_far_points_and_objects_at_the_end_of_the_numbers(rng):
    X = rng.normal(size=(300, 4))
    scales = 10.0 ** np.arange(-320, 309, 4)
    points = scales[:, None] * rng.normal(size=(len(scales), 4)).clip(-1, 1)
    assert_nearest(X, points, 5)
    X[[3, 50, 51]] = np.array([[1e308], [-1e308], [1e200]])
    assert_nearest(X, points, 5)
    assert_nearest(1e307 * rng.normal(size=(100, 4)).clip(-9, 9), points, 5)


@pytest.mark.parametrize("n_features", [1, 3, 10, 60])
@pytest.mark.parametrize("n_samples", [100, 2000])
def test_hardly_any_ordinary_point_is_compared_with_all(
    n_samples, n_features, rng, monkeypatch
):
    left = n_left_over(monkeypatch)
    X, points = (
        rng.normal(size=(n_samples, n_features)),
        rng.normal(size=(500, n_features)),
    )
    assert_nearest(X, points, 6)
    assert sum(left) <= 5


def test_outliers_among_the_objects_spoil_the_search_of_no_others(rng, monkeypatch):
    left = n_left_over(monkeypatch)
    X = rng.normal(size=(1000, 5))
    X[:20] *= 1e12
    assert_nearest(X, X[100:600], 6)
    assert sum(left) == 0


def test_double_precision_helps_where_single_does_not(rng, monkeypatch):
    left = n_left_over(monkeypatch)
    X = 1e5 * rng.integers(3, size=(1000, 1)) + rng.normal(size=(1000, 5))
    single = FewNearest(X, 6)._screens[0]
    assert (single.candidates(X)[2] == 0).mean() > 0.5
    assert_nearest(X, X[:500], 6)
    assert sum(left) == 0


def test_copies_of_objects_are_no_candidates(rng, monkeypatch):
    left = n_left_over(monkeypatch)
    X = rng.normal(size=(40, 5))[rng.integers(40, size=1000)]
    assert_nearest(X, rng.normal(size=(200, 5)), 6)
    assert sum(left) == 0
    assert_nearest(np.ones((1000, 5)), rng.normal(size=(200, 5)), 6)


def test_neighbours_do_not_depend_on_the_other_points(rng, monkeypatch):
    X = rng.normal(size=(500, 7))
    points = np.concatenate([rng.normal(size=(90, 7)), 1e9 * X[:5], X[:5]])
    together = FewNearest(X, 4).query(points)
    search = FewNearest(X, 4)
    alone = [search.query(point[None]) for point in points]
    for ours, parts in zip(together, zip(*alone, strict=True), strict=True):
        assert_array_equal(ours, np.concatenate(parts))
    monkeypatch.setattr(_nearest, "_MAX_BATCH_POINTS", 37)
    monkeypatch.setattr(_nearest, "_BLOCK_PRODUCTS", 1)
    monkeypatch.setattr(_nearest, "_BLOCK_DIFFERENCES", 1)
    for ours, again in zip(together, FewNearest(X, 4).query(points), strict=True):
        assert_array_equal(ours, again)


def test_the_layout_in_memory_changes_nothing(rng):
    X, points = rng.normal(size=(500, 7)), rng.normal(size=(90, 7))
    expected = FewNearest(X, 4).query(points)
    answer = FewNearest(np.asfortranarray(X), 4).query(np.asfortranarray(points))
    for ours, other in zip(answer, expected, strict=True):
        assert_array_equal(ours, other)


def test_the_nearest_are_candidates_in_either_precision(rng):
    # Numbers of which single precision keeps little: the slack is needed, and enough.
    X = 1e3 + rng.normal(size=(200, 6))
    points = 1e3 + rng.normal(size=(50, 6))
    nearest = by_differences(X, points, 5)[0]
    for screen in FewNearest(X, 5)._screens:
        owners, candidates, counts = screen.candidates(points)
        for i in np.flatnonzero(counts):
            assert np.isin(nearest[i], candidates[owners == i]).all()


def test_no_points_have_no_neighbours():
    found, lengths = FewNearest(np.eye(5), 1).query(np.empty((0, 5)))
    assert found.shape == lengths.shape == (0, 1)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(value):
    X = np.eye(5)
    X[2, 3] = value
    with pytest.raises(ValueError, match="contains"):
        FewNearest(X, 1)
    with pytest.raises(ValueError, match="contains"):
        FewNearest(np.eye(5), 1).query(X)


def test_few_neighbours_are_searched_for_in_this_way(rng, monkeypatch):
    X = rng.normal(size=(200, 12))
    assert suits(200, 6)
    assert not suits(200, 100)
    search = NeighborSearch(X, "euclidean")
    for n_neighbors in (6, 9, 100, 6):
        answer = search.query(X[:30], n_neighbors)
        expected = by_differences(X, X[:30], n_neighbors)
        for ours, other in zip(answer, expected, strict=True):
            assert_array_equal(ours, other)
    assert search._few.n_neighbors == 6
