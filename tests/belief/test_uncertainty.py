"""Nonspecificity, entropy and the kinds of mass functions."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis.belief import (
    FocalSets,
    conjunctive,
    entropy,
    is_bayesian,
    is_certain,
    is_consonant,
    is_logical,
    is_normalized,
    is_vacuous,
    nonspecificity,
)
from helpers import focal_set_lists, mass_matrices

# A slow moment of a busy machine is no failure.
quick = settings(max_examples=40)

FULL = FocalSets.full(3)
M1 = np.array([0, 0.6, 0, 0.3, 0, 0, 0, 0.1])
M2 = np.array([0, 0, 0, 0.5, 0.2, 0, 0, 0.3])
M3 = np.array([0, 0.1, 0.1, 0, 0.8, 0, 0, 0])

ONE_CLUSTER = st.sampled_from(
    [FocalSets.singletons(1), FocalSets.singletons(1, empty=False)]
)


@st.composite
def masses_and_sets(draw):
    focal_sets = draw(focal_set_lists() | ONE_CLUSTER)
    return draw(mass_matrices(focal_sets)), focal_sets


class TestNonspecificity:
    def test_worked_examples(self):
        np.testing.assert_allclose(
            nonspecificity([M1, M2, M3], FULL),
            [0.4584962501, 0.9754887502, 0],
            atol=5e-11,
        )
        combined = conjunctive(M1, FULL, M2)
        assert nonspecificity(*combined) == pytest.approx(0.6228421252, abs=5e-11)

    @quick
    @given(masses_and_sets())
    def test_it_lies_between_none_and_that_of_the_frame(self, case):
        masses, focal_sets = case
        values = nonspecificity(masses, focal_sets)
        assert (values >= 0).all()
        assert (values <= np.log2(focal_sets.n_clusters) + 1e-12).all()

    def test_vacuous_and_empty_masses_are_maximally_nonspecific(self):
        np.testing.assert_allclose(
            nonspecificity([np.eye(8)[7], np.eye(8)[0]], FULL), np.log2(3)
        )


class TestEntropy:
    @quick
    @given(masses_and_sets())
    def test_it_is_at_least_the_nonspecificity(self, case):
        masses, focal_sets = case
        values = entropy(masses, focal_sets)
        assert (values >= nonspecificity(masses, focal_sets) - 1e-12).all()

    def test_certain_masses_have_none_and_even_bets_have_their_bits(self):
        focal_sets = FocalSets.singletons(4, empty=False, frame=False)
        assert entropy([0, 1, 0, 0], focal_sets) == 0.0
        assert entropy([0.25] * 4, focal_sets) == pytest.approx(2.0)
        assert entropy([0.5, 0.5, 0, 0], focal_sets) == pytest.approx(1.0)

    def test_the_worked_masses_by_hand(self):
        # Σ m log2(|A| / m): .6 log2(1/.6) + .3 log2(2/.3) + .1 log2(3/.1)
        by_hand = -0.6 * np.log2(0.6) - 0.3 * np.log2(0.15) - 0.1 * np.log2(0.1 / 3)
        assert entropy(M1, FULL) == pytest.approx(by_hand)

    def test_the_empty_set_counts_as_the_frame(self):
        assert entropy(np.eye(8)[0], FULL) == pytest.approx(np.log2(3))


class TestKinds:
    def test_worked_examples(self):
        masses = [M1, M2, M3]
        np.testing.assert_array_equal(is_consonant(masses, FULL), [True, False, False])
        np.testing.assert_array_equal(is_bayesian(masses, FULL), [False, False, True])

    def test_certain_masses_of_every_focal_set(self):
        masses = np.eye(8)
        size = FULL.cardinality
        assert is_logical(masses, FULL).all()
        assert is_consonant(masses, FULL).all()
        np.testing.assert_array_equal(is_certain(masses, FULL), size == 1)
        np.testing.assert_array_equal(is_bayesian(masses, FULL), size == 1)
        np.testing.assert_array_equal(is_vacuous(masses, FULL), size == 3)
        np.testing.assert_array_equal(is_normalized(masses, FULL), size > 0)

    @quick
    @given(masses_and_sets())
    def test_kinds_are_what_the_sets_with_mass_say(self, case):
        masses, focal_sets = case
        for row in masses:
            carried = [
                set(subset)
                for subset, mass in zip(focal_sets, row, strict=True)
                if mass > 1e-12
            ]
            assert is_logical(row, focal_sets) == (len(carried) == 1)
            assert is_normalized(row, focal_sets) == all(carried)
            bayesian = all(len(subset) == 1 for subset in carried)
            assert is_bayesian(row, focal_sets) == bayesian
            assert is_certain(row, focal_sets) == (bayesian and len(carried) == 1)
            assert is_vacuous(row, focal_sets) == (
                carried == [set(range(focal_sets.n_clusters))]
            )
            chain = sorted(carried, key=len)
            nested = all(small <= large for small, large in pairwise(chain))
            assert is_consonant(row, focal_sets) == nested

    def test_rounding_counts_as_zero_and_the_tolerance_can_be_chosen(self):
        masses = np.array([1e-14, 1 - 2e-14, 1e-14, 0])
        focal_sets = FocalSets.full(2)
        for kind in (is_certain, is_normalized, is_consonant):
            assert kind(masses, focal_sets)
        assert not is_normalized(masses, focal_sets, tol=0.0)
        assert not is_certain(masses, focal_sets, tol=0.0)
        assert is_certain([0, 0.96, 0.04, 0], focal_sets, tol=0.05)

    @pytest.mark.parametrize(
        "function", [nonspecificity, entropy, is_logical, is_consonant, is_vacuous]
    )
    def test_masses_on_other_focal_sets_are_refused(self, function):
        with pytest.raises(ValueError, match=r"8 focal sets, got shape \(4,\)"):
            function([0, 1, 0, 0], FULL)
