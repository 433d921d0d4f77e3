"""Thresholds that cover, sets, matching and false discoveries."""

import numpy as np
import pytest

from credalis import CredalPartition, FocalSets
from credalis._coverage import (
    CoverageCalibration,
    conformal_thresholds,
    coverage_sets,
    false_discovery_flags,
    matched_clusters,
    most_cautious,
    right_probabilities,
    shared_mass,
)


def calibration(probabilities, n_clusters=3, **others):
    probabilities = np.asarray(probabilities, dtype=float)
    table = conformal_thresholds(probabilities)
    return CoverageCalibration(
        "labels", n_clusters, len(probabilities), *table, **others
    )


class TestThresholds:
    def test_the_kth_largest_of_n_plus_one_levels(self):
        levels, thresholds = conformal_thresholds(np.array([0.2, 0.9, 0.5, 0.7]))
        np.testing.assert_allclose(levels, [0.2, 0.4, 0.6, 0.8])
        np.testing.assert_array_equal(thresholds, [0.9, 0.7, 0.5, 0.2])

    def test_rounding_does_not_shift_a_level(self):
        # 0.1 + 0.2 and 3 * 0.1 are the third of nine levels, not the fourth.
        found = calibration(np.arange(9, 0, -1) / 10)
        assert found.threshold(0.1 + 0.2) == found.threshold(0.3) == 0.7
        assert found.threshold(0.9) == 0.1
        assert found.threshold(0.31) == 0.6

    @pytest.mark.parametrize("n_answers", [1, 4])
    @pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
    def test_a_new_row_is_covered_as_often_as_asked(self, level, n_answers):
        rng = np.random.default_rng(0)
        n, n_trials = 19, 4000
        hits = 0.0
        for _ in range(n_trials):
            # Answers about one row are alike, rows are independent.
            rows = rng.random((n + 1, 1)) + rng.normal(0, 0.3, (n + 1, n_answers))
            rows = 1 / (1 + np.exp(-rows))
            threshold = calibration(rows[:n]).threshold(level)
            hits += (rows[n] >= threshold).mean()
        # Four standard errors below the level, and one answer in n + 1 above it.
        error = 4 * np.sqrt(level * (1 - level) / n_trials)
        assert level - error <= hits / n_trials <= level + 1 / (n + 1) + error

    def test_many_rows_keep_few_thresholds_and_cover_no_less(self):
        values = np.random.default_rng(0).random(50_000)
        found = calibration(values)
        assert len(found.levels) <= 1000
        for level in (0.5, 0.8, 0.9, 0.95, 0.999):
            covered = (values >= found.threshold(level)).mean()
            assert level <= covered <= level + 0.0015

    def test_what_few_rows_cannot_promise_is_refused(self):
        found = calibration(np.linspace(0.1, 0.9, 19))
        assert found.max_level == pytest.approx(0.95)
        found.threshold(0.95)
        with pytest.raises(ValueError, match=r"level must be at most 0.95, .*19 rows"):
            found.threshold(0.96)

    def test_rows_without_a_right_cluster_limit_the_level(self):
        found = calibration([0.9, 0.8, 0.7, -1.0])
        assert found.max_level == pytest.approx(0.6)
        with pytest.raises(ValueError, match=r"level must be at most 0.6"):
            found.threshold(0.7)
        assert calibration([-1.0, -1.0]).max_level == 0

    @pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, np.nan, "0.9", True])
    def test_levels_are_probabilities(self, level):
        with pytest.raises(ValueError, match="level must be"):
            calibration(np.ones(50)).threshold(level)

    def test_the_more_cautious_table_counts_at_each_level(self):
        one = conformal_thresholds(np.array([0.9, 0.8, 0.1]))
        other = conformal_thresholds(np.array([0.7, 0.6, 0.5]))
        levels, thresholds = most_cautious([one, other])
        np.testing.assert_allclose(levels, [0.25, 0.5, 0.75])
        np.testing.assert_array_equal(thresholds, [0.7, 0.6, 0.1])

    def test_a_level_that_one_table_lacks_has_no_threshold(self):
        long = conformal_thresholds(np.linspace(0.9, 0.1, 9))
        short = conformal_thresholds(np.array([0.8, 0.7, 0.6]))
        _, thresholds = most_cautious([long, short])
        assert (thresholds[long[0] > 0.75] < 0).all()
        assert (thresholds[long[0] <= 0.75] >= 0).all()


class TestSets:
    def test_clusters_at_the_threshold_are_in(self):
        pignistic = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
        sets = coverage_sets(pignistic, np.array([0, 2]), 0.3)
        np.testing.assert_array_equal(sets, [[1, 1, 0], [0, 0, 1]])

    def test_no_set_is_empty(self):
        pignistic = np.array([[0.4, 0.35, 0.25]])
        sets = coverage_sets(pignistic, np.array([0]), 0.9)
        np.testing.assert_array_equal(sets, [[1, 0, 0]])

    def test_a_partition_decides_by_a_calibration(self):
        partition = CredalPartition.from_fuzzy([[0.6, 0.3, 0.1], [0.4, 0.3, 0.3]])
        found = calibration(np.full(99, 0.3))
        for options in ({}, {"level": 0.95}):
            sets = partition.decide("coverage", calibration=found, **options)
            np.testing.assert_array_equal(sets, [[1, 1, 0], [1, 1, 1]])

    def test_relabelled_clusters_have_the_same_sets(self):
        rng = np.random.default_rng(0)
        focal_sets = FocalSets.full(3)
        masses = rng.dirichlet(np.full(len(focal_sets), 0.3), 40)
        partition = CredalPartition(masses, focal_sets)
        found = calibration(rng.random(60), classes=("a", None, "c"))
        moved, names = partition.relabel([2, 0, 1]), found.relabel([2, 0, 1])
        before = partition.decide("coverage", level=0.7, calibration=found)
        after = moved.decide("coverage", level=0.7, calibration=names)
        np.testing.assert_array_equal(after[:, [2, 0, 1]], before)
        assert names.classes == (None, "c", "a")

    def test_options_that_do_not_go_together(self):
        partition = CredalPartition.from_labels([0, 1, 2])
        found = calibration(np.ones(50))
        with pytest.raises(ValueError, match="calibration must be the calibration_ of"):
            partition.decide("coverage")
        with pytest.raises(ValueError, match="level must be None for the rule 'belie"):
            partition.decide("belief", level=0.9)
        with pytest.raises(ValueError, match="calibration must be None for the rule"):
            partition.decide("maximum_mass", calibration=found)
        with pytest.raises(ValueError, match="outlier must be None"):
            partition.decide("coverage", calibration=found, outlier=-1)
        with pytest.raises(ValueError, match=r"about 3 clusters, .* one about 4"):
            partition.decide("coverage", calibration=calibration([0.5] * 50, 4))


class TestMatching:
    def test_groups_and_clusters_that_share_most(self):
        groups = np.array([0, 0, 1, 1, 1])
        pignistic = np.array([[0.2, 0.8], [0.4, 0.6], [0.9, 0.1], [0.7, 0.3], [0, 1.0]])
        shared = shared_mass(groups, 2, pignistic)
        np.testing.assert_allclose(shared, [[0.6, 1.4], [1.6, 1.4]])
        np.testing.assert_array_equal(matched_clusters(shared), [1, 0])

    def test_groups_in_excess_have_no_cluster(self):
        clusters = matched_clusters(np.array([[1.0, 0.0], [5.0, 0.0], [0.0, 3.0]]))
        np.testing.assert_array_equal(clusters, [-1, 0, 1])
        pignistic = np.array([[0.3, 0.7], [0.4, 0.6]])
        found = right_probabilities(pignistic, clusters[[0, 2]])
        np.testing.assert_array_equal(found, [-1.0, 0.6])


class TestFalseDiscoveries:
    def test_flags_up_to_the_last_that_passes(self):
        # The thresholds are 0.02, 0.04, ..., 0.1: the third passes, so do all below.
        p_values = np.array([0.9, 0.055, 0.01, 0.045, 0.2])
        expected = [False, True, True, True, False]
        np.testing.assert_array_equal(false_discovery_flags(p_values, 0.1), expected)

    def test_nothing_is_flagged_without_reason(self):
        assert not false_discovery_flags(np.full(5, 0.5), 0.1).any()

    def test_the_false_share_is_as_asked(self):
        rng = np.random.default_rng(0)
        shares = []
        for _ in range(300):
            p_values = np.append(rng.random(180), rng.random(20) * 1e-4)
            flags = false_discovery_flags(p_values, 0.2)
            shares.append(flags[:180].sum() / max(1, flags.sum()))
        # Benjamini and Hochberg: 0.2 times the share of ordinary rows.
        assert np.mean(shares) == pytest.approx(0.18, abs=0.03)
