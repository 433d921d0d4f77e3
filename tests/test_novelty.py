"""p-values of novelty: honest for new objects, sharp for strange ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from credalis import CredalPartition, FocalSets, _archive
from credalis._novelty import (
    MAX_REFERENCES,
    Calibration,
    NeighborNovelty,
    empty_masses,
    report_novelty,
)


def blobs(n_samples, n_features, rng, n_clusters=3):
    centers = 10 * np.eye(n_clusters, n_features)
    labels = rng.randint(n_clusters, size=n_samples)
    return centers[labels] + rng.normal(size=(n_samples, n_features))


def fitted(X, metric="euclidean", seed=0):
    return NeighborNovelty.of(X, metric, np.random.RandomState(seed))


@pytest.mark.parametrize("n_features", [2, 10, 50])
@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_new_ordinary_objects_are_flagged_at_the_rate(n_features, rate):
    shares = []
    for seed in range(8):
        rng = np.random.RandomState(seed)
        novelty = fitted(blobs(500, n_features, rng))
        shares.append((novelty.p_values(blobs(2000, n_features, rng)) <= rate).mean())
    # 16 000 objects, but only 8 calibrations of 500 scores each.
    error = np.std(shares) / np.sqrt(len(shares))
    assert abs(np.mean(shares) - rate) < max(3 * error, 0.3 * rate)


@pytest.mark.parametrize("n_samples", [60, 500])
@pytest.mark.parametrize("n_features", [2, 10])
def test_planted_objects_in_the_table_are_flagged_and_few_others(n_samples, n_features):
    found, false = [], []
    for seed in range(10):
        rng = np.random.RandomState(seed)
        X = blobs(n_samples, n_features, rng)
        n_planted = max(3, n_samples // 20)
        directions = rng.normal(size=(n_planted, n_features))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        lengths = np.sqrt(n_features) + 6 + 10 + 6 * rng.uniform(size=(n_planted, 1))
        planted = X.mean(axis=0) + lengths * directions
        far = cdist(planted, X).min(axis=1) > 6
        everything = np.concatenate([X, planted[far]])
        is_flagged = fitted(everything).p_values(everything) <= 0.01
        found += is_flagged[n_samples:].tolist()
        false.append(is_flagged[:n_samples].mean())
    assert np.mean(found) >= 0.9
    assert np.mean(false) <= 0.02


def test_strangers_among_few_objects_of_many_clusters_are_flagged():
    found, false = [], []
    for seed in range(10):
        rng = np.random.RandomState(seed)
        centers = 8 * np.array([[i, j] for i in range(3) for j in range(2)])
        X = np.repeat(centers, 10, axis=0) + rng.normal(size=(60, 2))
        planted = np.array([[-9.0, 4.0], [8.0, -10.0], [26.0, 18.0]])
        is_flagged = (
            fitted(np.concatenate([X, planted])).p_values(np.concatenate([X, planted]))
            <= 0.01
        )
        found += is_flagged[60:].tolist()
        false.append(is_flagged[:60].mean())
    assert np.mean(found) >= 0.9
    assert np.mean(false) <= 0.02


def test_objects_between_the_clusters_are_novel():
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.normal(size=(200, 2)), rng.normal([14, 0], size=(200, 2))])
    assert fitted(X).p_values(np.array([[7.0, 0.0]]))[0] < 0.001


def test_a_training_object_is_scored_as_if_it_were_new():
    rng = np.random.RandomState(1)
    X = rng.normal(size=(80, 3))
    novelty = fitted(X)
    alone = cdist(X, X)
    alone.sort(axis=1)
    means = alone[:, 1 : novelty.n_neighbors + 1].mean(axis=1)
    expected = np.log(np.maximum(means, novelty.floor))
    assert_allclose(novelty.scores(X), expected, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-150, 1e-3, 1e3, 1e150])
def test_units_change_nothing(unit):
    rng = np.random.RandomState(2)
    X, new = rng.normal(size=(100, 2)), rng.normal(size=(20, 2)) * 3
    assert_allclose(
        fitted(unit * X).p_values(unit * new), fitted(X).p_values(new), rtol=1e-6
    )


def test_copies_and_grids_do_not_make_ordinary_objects_strange():
    rng = np.random.RandomState(3)
    copies = np.repeat(rng.normal(size=(50, 2)), 20, axis=0)
    assert (fitted(copies).p_values(copies) <= 0.01).mean() <= 0.02
    grid = rng.randint(6, size=(400, 3)).astype(float)
    assert (fitted(grid).p_values(grid) <= 0.01).mean() <= 0.02
    same = np.ones((30, 2))
    assert (fitted(same).p_values(same) > 0.01).all()


def test_dissimilarities_and_points_agree():
    rng = np.random.RandomState(4)
    X, new = rng.normal(size=(60, 3)), 2 * rng.normal(size=(10, 3))
    matrix = fitted(cdist(X, X), "precomputed")
    assert_allclose(matrix.p_values(cdist(new, X)), fitted(X).p_values(new), rtol=1e-9)


def test_the_number_of_reference_objects_is_bounded():
    rng = np.random.RandomState(5)
    X = rng.normal(size=(3 * MAX_REFERENCES, 2))
    novelty = fitted(X)
    assert len(novelty.points) == MAX_REFERENCES
    assert 0.003 < (novelty.p_values(X) <= 0.01).mean() < 0.025


def test_p_values_fall_with_the_distance():
    rng = np.random.RandomState(6)
    p = fitted(rng.normal(size=(200, 2))).p_values(
        np.column_stack([np.linspace(3, 1e6, 200), np.zeros(200)])
    )
    assert (np.diff(p) <= 0).all()
    assert p[-1] < 1e-6


@given(
    st.floats(0.001, 0.5),
    st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=20),
)
def test_half_of_the_mass_just_at_the_rate(rate, p_values):
    p = np.array([rate, np.nextafter(rate, 1), *p_values])
    masses = empty_masses(p, rate)
    assert_array_equal(masses >= 0.5, p <= rate)
    assert ((masses >= 0) & (masses <= 1)).all()
    order = np.argsort(p)
    assert (np.diff(masses[order]) <= 0).all()


def test_files_keep_all_bits(tmp_path):
    rng = np.random.RandomState(7)
    X, new = rng.normal(size=(50, 2)), 4 * rng.normal(size=(9, 2))
    novelty = fitted(X)
    _archive.save(novelty, tmp_path / "file")
    loaded = _archive.load(tmp_path / "file", NeighborNovelty)
    assert_array_equal(loaded.p_values(new), novelty.p_values(new))


def test_ranks_are_conformal():
    scores = np.arange(99.0)
    calibration = Calibration.of(scores)
    assert calibration.p_values(np.array([98.0])) == pytest.approx(2 / 100)
    assert calibration.p_values(np.array([-1.0])) == 1.0


def test_distances_that_overflow_are_certain_outliers(rng):
    X = rng.normal(size=(50, 2))
    rows = np.outer([1e150, 1e155, 1e200, 1e300], [1.0, -1.0])
    assert_array_equal(fitted(X).p_values(rows), 0.0)


def test_scores_that_rounding_makes_differ_tie():
    calibration = Calibration.of(np.linspace(1.0, 2.0, 50))
    scores = calibration.scores
    expected = calibration.p_values(scores)
    assert_array_equal(calibration.p_values(scores * (1 + 1e-14)), expected)
    assert_array_equal(calibration.p_values(scores * (1 - 1e-14)), expected)
    # Copies have the score of the floor, whatever their other neighbours are.
    X = np.repeat(np.arange(20.0)[:, None] ** 2, 8, axis=0)
    assert len(np.unique(fitted(X).scores(X))) == 1


def test_labels_of_certain_outliers_are_still_those_of_the_method():
    focal_sets = FocalSets.singletons(3)
    masses = np.array([[0.1, 0.1, 0.2, 0.5, 0.1], [0.0, 0.7, 0.2, 0.1, 0.0]])
    reported = report_novelty(masses, focal_sets, np.ones(2))
    partition = CredalPartition(reported, focal_sets)
    assert partition.labels.tolist() == [2, 0]
    assert_array_equal(partition.outlier_mass, 1.0)
