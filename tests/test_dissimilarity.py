"""Dissimilarities: targets for conflicts, blocks of pairs, sampling, checks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from credalis.dissimilarity import (
    MAX_STORED,
    DeferredSimilarities,
    EuclideanSimilarities,
    MatrixSimilarities,
    MetricSimilarities,
    StoredSimilarities,
    _similarities,
    check_dissimilarities,
    decay_rate,
    sample_pairs,
    transform,
)

KINDS = ("euclidean", "deferred", "matrix", "metric", "stored")
SCALE = 1.7

every_kind = pytest.mark.parametrize("kind", KINDS)


def similarities_of(kind, points, scale=SCALE, dtype=np.float64):
    if kind == "euclidean":
        return EuclideanSimilarities.from_points(points, scale, dtype)
    if kind == "deferred":
        return DeferredSimilarities(points, np.arange(len(points)), scale, dtype)
    if kind == "matrix":
        return MatrixSimilarities.from_matrix(cdist(points, points), scale)
    if kind == "stored":
        return StoredSimilarities(1 - transform(cdist(points, points), scale))
    return MetricSimilarities(points, "euclidean", decay_rate(scale))


def by_definition(points, others=None, scale=SCALE):
    distances = cdist(points, points if others is None else others)
    return np.exp(np.log(0.05) * (distances / scale) ** 2)


@pytest.fixture
def points(rng):
    return rng.normal(size=(40, 3))


def test_transform_takes_the_published_values():
    # Definition of δ0, and two more values of 1 - 0.05^((d / δ0)²).
    scale = 3.7
    values = transform([0, scale / 2, scale, 2 * scale], scale)
    np.testing.assert_allclose(
        values, [0, 0.5271291955, 0.95, 0.99999375], rtol=0, atol=5e-11
    )


@given(
    st.lists(st.floats(0, 1e6), min_size=1),
    st.floats(1e-3, 1e3),
    st.floats(1e-3, 1e3),
)
def test_transform_depends_on_ratios_only_and_increases(values, scale, unit):
    d = np.sort(values)
    targets = transform(d, scale)
    assert (np.diff(targets) >= 0).all()
    assert (targets >= 0).all()
    assert (targets <= 1).all()
    # Squares of the smallest numbers underflow.
    np.testing.assert_allclose(
        transform(unit * d, unit * scale), targets, rtol=1e-9, atol=1e-300
    )


def test_small_dissimilarities_keep_their_digits():
    # Where 1 - exp(-γ d²) would cancel.
    assert transform(1e-9, 1.0) == pytest.approx(decay_rate(1.0) * 1e-18, rel=1e-12)


@every_kind
def test_similarities_are_those_of_the_definition(kind, points):
    similarities = similarities_of(kind, points)
    expected = by_definition(points)
    assert similarities.n_samples == len(points)
    np.testing.assert_allclose(similarities.matrix(), expected, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(
        similarities.matrix(), 1 - transform(cdist(points, points), SCALE), atol=1e-13
    )


@every_kind
def test_single_precision_is_good_to_five_digits(kind, points):
    similarities = similarities_of(kind, points, dtype=np.float32)
    block = np.empty((40, 40), dtype=np.float32)
    similarities.fill(slice(None), slice(None), block)
    np.testing.assert_allclose(block, by_definition(points), rtol=0, atol=1e-5)
    rows, columns = np.triu_indices(40, 1)
    np.testing.assert_allclose(
        similarities.pairs(rows, columns), block[rows, columns], rtol=0, atol=1e-5
    )


slices = st.builds(
    slice, st.none() | st.integers(0, 9), st.none() | st.integers(11, 30)
)


@every_kind
@given(rows=slices, columns=slices, seed=st.integers(0, 9))
@settings(max_examples=30)
def test_fill_writes_any_block(kind, rows, columns, seed):
    points = np.random.default_rng(seed).normal(size=(20, 2))
    expected = by_definition(points)[rows, columns]
    block = np.full(expected.shape, np.nan)
    similarities = similarities_of(kind, points)
    similarities.fill(rows, columns, block)
    np.testing.assert_allclose(block, expected, rtol=1e-11, atol=1e-14)
    np.testing.assert_array_equal(similarities.block(rows, columns), block)


@every_kind
@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 19), st.integers(0, 19)), min_size=1, max_size=60
    )
)
@settings(max_examples=30)
def test_pairs_are_entries_of_the_matrix_in_any_order(kind, pairs):
    points = np.random.default_rng(0).normal(size=(20, 2))
    rows, columns = np.array(pairs).T
    np.testing.assert_allclose(
        similarities_of(kind, points).pairs(rows, columns),
        by_definition(points)[rows, columns],
        rtol=1e-11,
        atol=1e-14,
    )


def test_pairs_are_those_of_fewer_at_a_time(monkeypatch, rng):
    points = rng.normal(size=(20, 3))
    similarities = similarities_of("euclidean", points)
    rows, columns = rng.integers(20, size=(2, 50))
    at_once = similarities.pairs(rows, columns)
    monkeypatch.setattr(_similarities, "_MAX_GATHERED", 21)
    np.testing.assert_array_equal(similarities.pairs(rows, columns), at_once)


@every_kind
def test_take_keeps_the_order_given(kind, points, rng):
    objects = rng.permutation(40)[:15]
    taken = similarities_of(kind, points).take(objects)
    assert taken.n_samples == 15
    np.testing.assert_allclose(
        taken.matrix(), by_definition(points[objects]), rtol=1e-11, atol=1e-14
    )
    twice = taken.take(np.array([3, 1, 1]))
    np.testing.assert_allclose(
        twice.matrix(), by_definition(points[objects[[3, 1, 1]]]), rtol=1e-11
    )
    np.testing.assert_allclose(
        twice.pairs(np.array([0]), np.array([1])), twice.matrix()[0, 1], rtol=1e-11
    )


@every_kind
def test_between_is_a_range_of_what_was_taken(kind, points, rng):
    order = rng.permutation(40)
    part = similarities_of(kind, points).take(order).between(slice(10, 25))
    assert part.n_samples == 15
    np.testing.assert_allclose(
        part.matrix(), by_definition(points[order[10:25]]), rtol=1e-11, atol=1e-14
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "deferred"])
def test_between_copies_nothing(kind, points):
    similarities = similarities_of(kind, points)
    part = similarities.between(slice(5, 9))
    for name, value in vars(part).items():
        if isinstance(value, np.ndarray):
            assert np.shares_memory(value, getattr(similarities, name))


def test_many_of_many_objects_are_still_deferred(points):
    similarities = similarities_of("deferred", points)
    largest = MAX_STORED // points.shape[1]
    some = np.resize(np.arange(35, 5, -1), largest)
    assert isinstance(similarities.take(some), EuclideanSimilarities)
    many = similarities.take(np.append(some, 0))
    assert isinstance(many, DeferredSimilarities)
    expected = by_definition(points[35:5:-1])
    np.testing.assert_allclose(many.take(np.arange(30)).matrix(), expected, atol=1e-12)
    rows, columns = np.triu_indices(30)
    np.testing.assert_allclose(
        many.pairs(rows, columns), expected[rows, columns], atol=1e-12
    )


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-8)]
)
def test_shifted_data_have_the_same_similarities(points, dtype, tolerance):
    similarities = EuclideanSimilarities.from_points(points + 1e6, SCALE, dtype)
    block = np.empty((40, 40), dtype=dtype)
    similarities.fill(slice(None), slice(None), block)
    np.testing.assert_allclose(block, by_definition(points), rtol=0, atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (float, 1e-12)])
@pytest.mark.parametrize("kind", ["prepared", "deferred"])
def test_squares_of_distances_are_dissimilarities_too(points, kind, dtype, tolerance):
    if kind == "prepared":
        similarities = EuclideanSimilarities.from_points(
            points, SCALE, dtype, is_squared=True
        )
    else:
        similarities = DeferredSimilarities(
            points, np.arange(len(points)), SCALE, dtype, is_squared=True
        )
    plain = MetricSimilarities(points, "sqeuclidean", decay_rate(SCALE))
    some = np.array([7, 3, 30, 3, 12])
    for ours, theirs in [
        (similarities, plain),
        (similarities.take(some), plain.take(some)),
        (similarities.between(slice(5, 20)), plain.between(slice(5, 20))),
    ]:
        block = np.empty((ours.n_samples, ours.n_samples), dtype=dtype)
        ours.fill(slice(None), slice(None), block)
        np.testing.assert_allclose(block, theirs.matrix(), rtol=0, atol=tolerance)
        rows, columns = np.triu_indices(ours.n_samples)
        np.testing.assert_allclose(
            ours.pairs(rows, columns), theirs.matrix()[rows, columns], atol=tolerance
        )


def test_far_outliers_do_not_blur_the_other_similarities(points):
    points[:2] += 1e5
    similarities = EuclideanSimilarities.from_points(points, SCALE, np.float32)
    block = np.empty((40, 40), dtype=np.float32)
    similarities.fill(slice(None), slice(None), block)
    expected = by_definition(points)
    np.testing.assert_allclose(block[2:, 2:], expected[2:, 2:], rtol=0, atol=1e-5)
    np.testing.assert_allclose(block[2:, :2], 0, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_similarity_exceeds_one_even_among_far_outliers(points, dtype):
    # The squares of their distances are lost to rounding, and may come out negative.
    points[:10] += 1e9
    similarities = EuclideanSimilarities.from_points(points, SCALE, dtype)
    block = np.empty((40, 40), dtype=dtype)
    similarities.fill(slice(None), slice(None), block)
    assert block.max() <= 1 + 1e-5
    assert block.min() >= 0


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev"])
def test_any_metric_serves(points, metric, rng):
    names = {"manhattan": "cityblock"}
    distances = cdist(points, points, names.get(metric, metric))
    expected = 1 - transform(distances, SCALE)
    similarities = MetricSimilarities(points, metric, decay_rate(SCALE))
    np.testing.assert_allclose(similarities.matrix(), expected, atol=1e-12)
    rows, columns = rng.integers(40, size=(2, 100))
    np.testing.assert_allclose(
        similarities.pairs(rows, columns), expected[rows, columns], atol=1e-12
    )


def test_a_callable_is_a_metric(points):
    similarities = MetricSimilarities(
        points[:6], lambda a, b: np.abs(a - b).max(), decay_rate(SCALE)
    )
    expected = 1 - transform(cdist(points[:6], points[:6], "chebyshev"), SCALE)
    np.testing.assert_allclose(similarities.matrix(), expected, atol=1e-12)


@given(st.integers(2, 30), st.data())
def test_sampled_partners_are_others_and_different(n_samples, data):
    n_partners = data.draw(st.integers(1, n_samples - 1))
    seed = data.draw(st.integers(0, 99))
    rows, columns = sample_pairs(n_samples, n_partners, np.random.RandomState(seed))
    assert (np.bincount(rows, minlength=n_samples) == n_partners).all()
    assert (rows != columns).all()
    assert (columns >= 0).all()
    assert (columns < n_samples).all()
    assert len(set(zip(rows, columns, strict=True))) == n_samples * n_partners
    again = sample_pairs(n_samples, n_partners, np.random.RandomState(seed))
    np.testing.assert_array_equal(again, (rows, columns))
    short = sample_pairs(n_samples, n_partners, np.random.RandomState(seed), np.int32)
    assert all(numbers.dtype == np.int32 for numbers in short)
    np.testing.assert_array_equal(short, (rows, columns))


def test_all_partners_are_all_pairs(seed):
    rows, columns = sample_pairs(7, 6, np.random.RandomState(seed))
    everything = {(i, j) for i in range(7) for j in range(7) if i != j}
    assert set(zip(rows, columns, strict=True)) == everything


def test_every_partner_is_equally_likely():
    rng = np.random.RandomState(0)
    counts = np.zeros((6, 6))
    n_draws = 2000
    for _ in range(n_draws):
        np.add.at(counts, sample_pairs(6, 2, rng), 1)
    off_diagonal = counts[~np.eye(6, dtype=bool)]
    # A partner is drawn with probability 2 / 5; five standard deviations.
    deviation = np.sqrt(n_draws * 0.4 * 0.6)
    assert np.abs(off_diagonal - 0.4 * n_draws).max() < 5 * deviation


def test_another_seed_samples_other_pairs():
    draws = [sample_pairs(30, 3, np.random.RandomState(s))[1] for s in (0, 1)]
    assert (draws[0] != draws[1]).any()


def test_too_many_partners_are_refused():
    with pytest.raises(ValueError, match=r"pairs_per_sample must be <= .* = 4, got 5"):
        sample_pairs(5, 5, np.random.RandomState(0))


GOOD = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])


def changed(entries):
    matrix = GOOD.copy()
    for (i, j), value in entries.items():
        matrix[i, j] = value
    return matrix


def test_a_good_matrix_passes_unchanged():
    np.testing.assert_array_equal(check_dissimilarities(GOOD), GOOD)
    integers = check_dissimilarities(GOOD.astype(int).tolist())
    assert integers.dtype == np.float64
    np.testing.assert_array_equal(integers, GOOD)


@pytest.mark.parametrize("symmetrize", [False, True])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (GOOD[:2], r"D must be a square matrix .* got shape \(2, 3\)"),
        (GOOD[:1, :1], "minimum of 2 is required"),
        (
            changed({(0, 1): -0.5, (1, 0): -0.5}),
            "D must hold no negative dissimilarities, the smallest is -0.5",
        ),
        (changed({(0, 1): np.nan}), "D contains NaN"),
        (changed({(0, 1): np.inf}), "D contains infinity"),
        (
            changed({(1, 1): 0.25}),
            "D must have a zero diagonal, the largest entry on it is 0.25",
        ),
    ],
)
def test_a_bad_matrix_is_refused_with_its_reason(matrix, message, symmetrize):
    with pytest.raises(ValueError, match=message):
        check_dissimilarities(matrix, symmetrize=symmetrize, name="D")


def test_asymmetry_is_refused_with_its_size():
    matrix = changed({(0, 1): 1.25})
    with pytest.raises(ValueError, match=r"X must be symmetric, .* by up to 0.25 "):
        check_dissimilarities(matrix)
    with pytest.raises(ValueError, match="the largest entry is 3"):
        check_dissimilarities(matrix)


@given(arrays(np.float64, (5, 5), elements=st.floats(0, 1e3)))
def test_symmetrize_gives_the_mean_of_both_halves(matrix):
    np.fill_diagonal(matrix, 0)
    given_matrix = matrix.copy()
    result = check_dissimilarities(matrix, symmetrize=True)
    np.testing.assert_array_equal(result, (given_matrix + given_matrix.T) / 2)
    np.testing.assert_array_equal(matrix, given_matrix)


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_asymmetry_of_rounding_passes_and_is_removed(unit):
    matrix = unit * changed({(0, 2): 2 * (1 + 1e-9)})
    result = check_dissimilarities(matrix)
    np.testing.assert_array_equal(result, result.T)
    np.testing.assert_allclose(result, unit * GOOD, rtol=1e-9)
    with pytest.raises(ValueError, match="symmetric"):
        check_dissimilarities(unit * changed({(0, 2): 2 * (1 + 1e-6)}))
