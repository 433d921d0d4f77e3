"""Clear, between, outlier: one word for each object, whatever its masses."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from credalis import CredalPartition, FocalSets
from helpers import credal_partitions

quick = settings(max_examples=60)

WITHOUT_EMPTY = FocalSets.from_subsets(2, [(0,), (1,), (0, 1)], empty=False)

EXTREMES = [
    CredalPartition([[1, 0, 0, 0]], FocalSets.full(2)),
    CredalPartition([[0, 0, 0, 1]], FocalSets.full(2)),
    CredalPartition([[1]], FocalSets.from_subsets(3, [(0, 1, 2)], empty=False)),
    CredalPartition([[0.5, 0.5], [0.4, 0.6], [1, 0]], FocalSets.singletons(1)),
    CredalPartition([[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]], WITHOUT_EMPTY),
    # Sums that are one only roughly, and next to nothing beside ∅.
    CredalPartition([[0.4999995, 0.5], [0.5 - 1e-7, 0.5]], FocalSets.singletons(1)),
    CredalPartition([[1 - 1e-16, 1e-300, 0, 0]], FocalSets.full(2)),
    CredalPartition([[np.nextafter(0.5, 0), 0, 0, 0.5]], FocalSets.full(2)),
]

levels = st.floats(2 / 3, 1, exclude_min=True)


def with_extremes(test):
    for partition in EXTREMES:
        for level in (0.7, 1.0):
            test = example(partition, level)(test)
    return quick(given(credal_partitions(), levels)(test))


class TestAnyMasses:
    @with_extremes
    def test_the_three_words_add_up(self, partition, level):
        verdicts = partition.verdicts(level)
        words = [verdicts.is_outlier, verdicts.is_clear, verdicts.is_between]
        np.testing.assert_array_equal(np.sum(words, axis=0), 1)
        n_clusters = verdicts.sets.sum(axis=1)
        np.testing.assert_array_equal(n_clusters == 0, verdicts.is_outlier)
        np.testing.assert_array_equal(n_clusters == 1, verdicts.is_clear)
        np.testing.assert_array_equal(n_clusters >= 2, verdicts.is_between)

    @with_extremes
    def test_words_follow_from_the_normalised_masses(self, partition, level):
        verdicts = partition.verdicts(level)
        np.testing.assert_array_equal(
            verdicts.is_outlier, partition.outlier_mass >= 0.5
        )
        best = partition.normalized().belief.max(axis=1)
        inside = ~verdicts.is_outlier
        assert (best[verdicts.is_clear] >= level - 1e-9).all()
        assert (best[inside & ~verdicts.is_clear] < level).all()

    @with_extremes
    def test_sets_hold_the_most_plausible_clusters(self, partition, level):
        verdicts = partition.verdicts(level)
        inside = np.flatnonzero(~verdicts.is_outlier)
        assert verdicts.sets[inside, partition.labels[inside]].all()
        for i in inside:
            plausibility, members = partition.plausibility[i], verdicts.sets[i]
            others = plausibility[~members]
            assert others.max(initial=0) <= 0.5 * plausibility.max()
            least = min(0.5 * plausibility.max(), *np.sort(plausibility)[-2:])
            assert plausibility[members].min() >= least - 1e-9
            if verdicts.is_between[i]:
                assert members[plausibility >= least].all()

    @quick
    @given(st.floats(0, 1), st.floats(-1e-7, 1e-7), levels)
    def test_one_cluster_has_nothing_beside_it(self, empty, gap, level):
        masses = [[empty, max(0.0, 1 - empty + gap)]]
        verdicts = CredalPartition(masses, FocalSets.singletons(1)).verdicts(level)
        assert verdicts.is_outlier[0] == (empty >= 0.5)
        assert verdicts.is_clear[0] == (empty < 0.5)

    @quick
    @given(credal_partitions(), levels, levels)
    def test_a_higher_level_leaves_fewer_objects_clear(self, partition, one, other):
        low, high = sorted([one, other])
        assert (
            partition.verdicts(high).is_clear <= partition.verdicts(low).is_clear
        ).all()

    @quick
    @given(credal_partitions())
    def test_views_are_those_of_the_default_level(self, partition):
        verdicts = partition.verdicts(0.7)
        np.testing.assert_array_equal(partition.is_clear, verdicts.is_clear)
        np.testing.assert_array_equal(partition.is_ambiguous, verdicts.is_between)
        np.testing.assert_array_equal(partition.is_outlier, verdicts.is_outlier)
        np.testing.assert_array_equal(partition.verdict_sets, verdicts.sets)
        np.testing.assert_array_equal(
            partition.between_sets, verdicts.sets & verdicts.is_between[:, None]
        )
        np.testing.assert_array_equal(partition.decide("verdict"), verdicts.sets)
        np.testing.assert_array_equal(
            partition.decide(outlier=-1) == -1, partition.is_outlier
        )


class TestWorkedExamples:
    def test_an_outlier_has_half_of_its_mass_on_the_empty_set(self):
        # The largest mass alone is not enough, and a tie is.
        partition = CredalPartition(
            [[0.4, 0.3, 0.3, 0], [0.5, 0, 0, 0.5], [0.6, 0.4, 0, 0]], FocalSets.full(2)
        )
        assert partition.is_outlier.tolist() == [False, True, True]
        assert partition.set_names("maximum_mass") == ["∅", "∅", "∅"]
        assert partition.set_names("verdict") == ["Ω", "∅", "∅"]

    def test_belief_counts_without_the_empty_set(self):
        # 0.42 / 0.6 = 0.7, and just less.
        partition = CredalPartition(
            [[0.4, 0.42, 0.1, 0.08], [0.4, 0.41, 0.1, 0.09]], FocalSets.full(2)
        )
        assert partition.is_clear.tolist() == [True, False]

    def test_nothing_is_flagged_without_the_empty_set(self):
        partition = CredalPartition(np.eye(3), WITHOUT_EMPTY)
        assert not partition.is_outlier.any()
        assert partition.set_names("verdict") == ["{0}", "{1}", "Ω"]

    def test_singletons_alone_can_say_between(self):
        partition = CredalPartition.from_fuzzy(
            [[0.5, 0.3, 0.15, 0.05], [0.65, 0.1, 0.15, 0.1], [0.3, 0.3, 0.2, 0.2]]
        )
        assert partition.set_names("verdict") == ["{0,1}", "{0,2}", "Ω"]

    def test_clusters_that_share_the_second_place_come_together(self):
        partition = CredalPartition.from_fuzzy(
            [[0.15, 0.2, 0.65, 0.0], [0.2, 0.6, 0.2, 0]]
        )
        assert partition.set_names("verdict") == ["{1,2}", "{0,1,2}"]

    def test_representation_counts(self):
        partition = CredalPartition.from_labels([0, 0, 1, -1])
        text = "Verdicts(3 clear, 0 between, 1 outliers at clear_level=0.9)"
        assert repr(partition.verdicts(0.9)) == text

    @pytest.mark.parametrize("level", [2 / 3, 0.5, 1.01, np.nan, "0.8", None, True])
    def test_levels_that_make_no_sense_are_refused(self, level):
        partition = CredalPartition.from_labels([0, 1])
        with pytest.raises(ValueError, match=r"clear_level must be .* > 0\.666667 and"):
            partition.verdicts(level)

    def test_blocks_do_not_matter(self, rng, monkeypatch):
        masses = rng.dirichlet(np.full(8, 0.3), size=25)
        whole = CredalPartition(masses, FocalSets.full(3)).verdicts(0.8)
        monkeypatch.setattr("credalis.partition._partition._BLOCK_ROWS", 4)
        parts = CredalPartition(masses, FocalSets.full(3)).verdicts(0.8)
        for name in ("is_outlier", "is_clear", "is_between", "sets"):
            np.testing.assert_array_equal(getattr(whole, name), getattr(parts, name))
