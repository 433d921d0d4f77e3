import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from credalis.datasets import make_bananas, make_circles_in_ring, make_four_class

GENERATORS = [make_four_class, make_circles_in_ring, make_bananas]
every_generator = pytest.mark.parametrize("generator", GENERATORS)
every_seed = pytest.mark.parametrize("seed", range(3))


@every_generator
def test_objects_are_float_rows_with_integer_labels(generator):
    X, y = generator(60, random_state=0)
    assert X.shape == (60, 2)
    assert X.dtype == np.float64
    assert y.shape == (60,)
    assert y.dtype == np.int64
    assert np.isfinite(X).all()


@every_generator
def test_same_seed_gives_the_same_set(generator):
    for first, second in zip(
        generator(random_state=7), generator(random_state=7), strict=True
    ):
        assert_array_equal(first, second)


@every_generator
def test_another_seed_gives_another_set(generator):
    assert not np.array_equal(
        generator(random_state=7)[0], generator(random_state=8)[0]
    )


@every_generator
def test_a_random_state_instance_advances_from_call_to_call(generator):
    rng = np.random.RandomState(0)
    first, second = generator(random_state=rng)[0], generator(random_state=rng)[0]
    assert not np.array_equal(first, second)


@every_generator
def test_the_global_generator_is_left_alone_when_a_seed_is_given(generator):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    generator(random_state=0)
    assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@every_generator
def test_unshuffled_objects_come_cluster_by_cluster(generator):
    y = generator(53, shuffle=False, random_state=0)[1]
    assert (np.diff(y) >= 0).all()


@every_generator
def test_shuffling_changes_the_order_and_nothing_else(generator):
    X, y = generator(53, shuffle=False, random_state=0)
    shuffled_X, shuffled_y = generator(53, shuffle=True, random_state=0)
    assert not np.array_equal(y, shuffled_y)
    rows, shuffled_rows = np.c_[X, y], np.c_[shuffled_X, shuffled_y]
    assert_array_equal(
        rows[np.lexsort(rows.T)], shuffled_rows[np.lexsort(shuffled_rows.T)]
    )


@given(n_samples=st.integers(4, 300))
def test_cluster_sizes_are_as_equal_as_possible(n_samples):
    for generator, n_clusters in [(make_four_class, 4), (make_bananas, 2)]:
        sizes = np.bincount(generator(n_samples, random_state=0)[1])
        assert len(sizes) == n_clusters
        assert sizes.sum() == n_samples
        assert sizes.max() - sizes.min() <= 1


@given(n_samples=st.integers(2, 300))
def test_two_fifths_of_the_objects_lie_inside_the_ring(n_samples):
    inside, ring = np.bincount(make_circles_in_ring(n_samples, random_state=0)[1])
    assert inside + ring == n_samples
    assert abs(inside - 2 * n_samples / 5) <= 0.5


@every_seed
@pytest.mark.parametrize("df", [1.0, 5.0, 30.0])
def test_four_class_clusters_are_bivariate_t(df, seed):
    X, y = make_four_class(4000, df=df, random_state=seed)
    centered = X - 4.0 * np.column_stack([y // 2, y % 2])
    squared_radii = (centered**2).sum(axis=1)
    # The coordinates are t and share their denominator: |x|² / 2 is F(2, df).
    assert stats.kstest(centered[:, 0], stats.t(df).cdf).pvalue > 1e-3
    assert stats.kstest(centered[:, 1], stats.t(df).cdf).pvalue > 1e-3
    assert stats.kstest(squared_radii / 2, stats.f(2, df).cdf).pvalue > 1e-3


@every_seed
def test_four_class_clusters_lie_around_the_corners_of_a_square(seed):
    X, y = make_four_class(4000, random_state=seed)
    medians = [np.median(X[y == cluster], axis=0) for cluster in range(4)]
    assert_allclose(medians, [[0, 0], [0, 4], [4, 0], [4, 4]], atol=0.2)


@every_seed
def test_the_inner_cluster_is_standard_normal(seed):
    X, y = make_circles_in_ring(5000, random_state=seed)
    assert stats.kstest(X[y == 0].ravel(), "norm").pvalue > 1e-3


@every_seed
def test_the_ring_has_normal_radii_and_uniform_angles(seed):
    X, y = make_circles_in_ring(5000, radius=8.0, noise=0.25, random_state=seed)
    ring = X[y == 1]
    radii = np.hypot(*ring.T)
    turns = np.arctan2(ring[:, 1], ring[:, 0]) / (2 * np.pi) + 0.5
    assert stats.kstest(radii, stats.norm(8.0, 0.25).cdf).pvalue > 1e-3
    assert stats.kstest(turns, "uniform").pvalue > 1e-3


def test_a_ring_without_noise_is_a_circle():
    X, y = make_circles_in_ring(100, radius=3.0, noise=0.0, random_state=0)
    assert_allclose(np.hypot(*X[y == 1].T), 3.0)


@every_seed
def test_bananas_without_noise_are_arcs_of_circles(seed):
    X, y = make_bananas(2000, radius=2.0, noise=0.0, random_state=seed)
    first = X[y == 0]
    second = np.array([2.0, 1.0]) - X[y == 1]  # turned back onto the first
    for arc in (first, second):
        # Measured from straight down, where neither arc is.
        angles = np.mod(np.arctan2(arc[:, 1], arc[:, 0]) + np.pi / 2, 2 * np.pi)
        share = (angles - 2 * np.pi / 5) / (6 * np.pi / 5)
        assert_allclose(np.hypot(*arc.T), 2.0)
        assert stats.kstest(share, "uniform").pvalue > 1e-3


def test_banana_noise_has_the_given_standard_deviation():
    X, _ = make_bananas(4000, noise=0.3, shuffle=False, random_state=0)
    arcs, _ = make_bananas(4000, noise=0.0, shuffle=False, random_state=0)
    assert_allclose((X - arcs).std(axis=0), 0.3, rtol=0.1)


@pytest.mark.parametrize(
    ("generator", "parameters", "message"),
    [
        (make_four_class, {"n_samples": 3}, "n_samples must be an integer >= 4, got 3"),
        (make_four_class, {"n_samples": 9.0}, "n_samples must be an integer"),
        (make_four_class, {"df": 0.5}, "df must be a finite number >= 1, got 0.5"),
        (make_circles_in_ring, {"n_samples": 1}, "n_samples must be an integer >= 2"),
        (make_circles_in_ring, {"radius": 0}, "radius must be a finite number > 0"),
        (make_circles_in_ring, {"noise": -1}, "noise must be a finite number >= 0"),
        (make_bananas, {"n_samples": True}, "n_samples must be an integer"),
        (make_bananas, {"radius": np.inf}, "radius must be a finite number > 0"),
        (make_bananas, {"noise": "no"}, "noise must be a finite number >= 0, got 'no'"),
    ],
)
def test_a_bad_parameter_is_named_with_what_was_expected(
    generator, parameters, message
):
    with pytest.raises(ValueError, match=message):
        generator(**parameters)
