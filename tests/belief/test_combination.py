"""Rules of combination and the degree of conflict."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from credalis.belief import (
    FocalSets,
    conflict,
    conflict_matrix,
    conjunctive,
    dempster,
    disjunctive,
    empty_mass,
    mass_apart,
    masses_to_commonality,
    masses_to_implicability,
)
from helpers import focal_set_lists, mass_matrices

# A slow moment of a busy machine is no failure.
quick = settings(max_examples=40)

FULL = FocalSets.full(3)
M1 = np.array([0, 0.6, 0, 0.3, 0, 0, 0, 0.1])
M2 = np.array([0, 0, 0, 0.5, 0.2, 0, 0, 0.3])
M3 = np.array([0, 0.1, 0.1, 0, 0.8, 0, 0, 0])

RULES = [conjunctive, disjunctive]


def on_all_subsets(masses, focal_sets):
    """Masses as a function of all subsets in binary order, for comparison."""
    values = np.zeros((*masses.shape[:-1], 2**focal_sets.n_clusters))
    codes = [sum(2**k for k in subset) for subset in focal_sets]
    values[..., codes] = masses
    return values


@st.composite
def sources(draw, n_sources):
    """Mass functions on different lists of focal sets of the same clusters."""
    n_clusters = draw(st.integers(1, 4))
    if n_clusters == 1:
        lists = st.sampled_from(
            [FocalSets.singletons(1), FocalSets.singletons(1, empty=False)]
        )
    else:
        lists = focal_set_lists(min_clusters=n_clusters, max_clusters=n_clusters)
    result = []
    for _ in range(n_sources):
        sets = draw(lists)
        result.append((draw(mass_matrices(sets, 2, 2)), sets))
    return result


class TestWorkedExamples:
    def test_degrees_of_conflict(self):
        np.testing.assert_allclose(
            conflict_matrix([M1, M2, M3], FULL),
            [[0, 0.18, 0.78], [0.18, 0.2, 0.44], [0.78, 0.44, 0.34]],
            atol=1e-15,
        )
        assert conflict(M1, M3, FULL) == pytest.approx(0.78, abs=1e-15)

    def test_conjunctive_rule(self):
        masses, focal_sets = conjunctive(M1, FULL, M2)
        assert focal_sets == FULL
        np.testing.assert_allclose(
            masses, [0.18, 0.48, 0, 0.29, 0.02, 0, 0, 0.03], atol=1e-15
        )

    def test_disjunctive_rule(self):
        masses, focal_sets = disjunctive(M1, FULL, M3)
        assert focal_sets == FULL
        np.testing.assert_allclose(
            masses, [0, 0.06, 0, 0.12, 0, 0.48, 0, 0.34], atol=1e-15
        )

    def test_dempsters_rule(self):
        masses, focal_sets = dempster(M1, FULL, M2)
        assert focal_sets == FULL
        np.testing.assert_allclose(
            masses,
            [0, 0.5853658537, 0, 0.3536585366, 0.0243902439, 0, 0, 0.0365853659],
            atol=5e-11,
        )

    def test_conflict_of_two_clusters(self):
        kappa = conflict(
            [0.1, 0.2, 0.3, 0.4], [0.05, 0.6, 0.25, 0.1], FocalSets.full(2)
        )
        assert kappa == pytest.approx(0.375, abs=1e-15)


class TestAlgebra:
    @pytest.mark.parametrize("rule", RULES)
    @quick
    @given(pair=sources(2))
    def test_the_result_is_what_the_definition_says(self, rule, pair):
        (first, first_sets), (second, second_sets) = pair
        expected = np.zeros((2, 2**first_sets.n_clusters))
        for i, a in enumerate(first_sets):
            for j, b in enumerate(second_sets):
                met = set(a) & set(b) if rule is conjunctive else set(a) | set(b)
                expected[:, sum(2**k for k in met)] += first[:, i] * second[:, j]
        combined = rule(first, first_sets, second, second_sets)
        np.testing.assert_allclose(on_all_subsets(*combined), expected, atol=1e-15)
        assert (combined[0] >= 0).all()
        np.testing.assert_allclose(combined[0].sum(axis=1), 1.0)

    @pytest.mark.parametrize("rule", RULES)
    @quick
    @given(pair=sources(2))
    def test_rules_commute(self, rule, pair):
        first, second = pair
        np.testing.assert_allclose(
            on_all_subsets(*rule(*first, *second)),
            on_all_subsets(*rule(*second, *first)),
            atol=1e-15,
        )

    @pytest.mark.parametrize("rule", RULES)
    @quick
    @given(triple=sources(3))
    def test_rules_associate(self, rule, triple):
        first, second, third = triple
        np.testing.assert_allclose(
            on_all_subsets(*rule(*rule(*first, *second), *third)),
            on_all_subsets(*rule(*first, *rule(*second, *third))),
            atol=1e-14,
        )

    @quick
    @given(sources(1))
    def test_knowing_nothing_changes_nothing(self, single):
        masses, focal_sets = single[0]
        frame = FocalSets.from_subsets(
            focal_sets.n_clusters, [range(focal_sets.n_clusters)]
        )
        combined = conjunctive(masses, focal_sets, [1.0], frame)
        np.testing.assert_allclose(
            on_all_subsets(*combined), on_all_subsets(masses, focal_sets)
        )

    @quick
    @given(sources(1))
    def test_the_empty_set_is_neutral_for_the_disjunctive_rule(self, single):
        masses, focal_sets = single[0]
        nothing = FocalSets.from_subsets(focal_sets.n_clusters, [()])
        combined = disjunctive(masses, focal_sets, [1.0], nothing)
        np.testing.assert_allclose(
            on_all_subsets(*combined), on_all_subsets(masses, focal_sets)
        )

    @pytest.mark.parametrize("rule", RULES)
    @quick
    @given(data=st.data())
    def test_sums_of_products_equal_the_way_through_transforms(self, rule, data):
        full = FocalSets.full(data.draw(st.integers(2, 5)))
        first = data.draw(mass_matrices(full, 2, 2))
        second = data.draw(mass_matrices(full, 2, 2))
        # The same sets in another order are not "the full list": sums of products.
        backwards = FocalSets.from_subsets(full.n_clusters, full.subsets[::-1])
        np.testing.assert_allclose(
            rule(first, full, second)[0],
            on_all_subsets(
                *rule(first[:, ::-1], backwards, second[:, ::-1], backwards)
            ),
            atol=1e-15,
        )

    @quick
    @given(st.data())
    def test_commonalities_and_implicabilities_multiply(self, data):
        full = FocalSets.full(data.draw(st.integers(1, 4)))
        pairs = FocalSets.pairs(full.n_clusters)
        first = data.draw(mass_matrices(full, 2, 2))
        second = data.draw(mass_matrices(pairs, 2, 2))
        spread = on_all_subsets(second, pairs)
        for rule, transform in (
            (conjunctive, masses_to_commonality),
            (disjunctive, masses_to_implicability),
        ):
            combined = on_all_subsets(*rule(first, full, second, pairs))
            np.testing.assert_allclose(
                transform(combined), transform(first) * transform(spread), atol=1e-14
            )

    @pytest.mark.parametrize("rule", RULES)
    def test_differences_of_transforms_leave_no_negative_masses(self, rule, rng):
        full = FocalSets.full(6)
        weights = rng.random((50, 64)) * (rng.random((50, 64)) < 0.2)
        masses = weights / weights.sum(axis=1, keepdims=True)
        combined, _ = rule(masses, full, masses[::-1])
        assert (combined >= 0).all()
        np.testing.assert_allclose(combined.sum(axis=1), 1.0, rtol=1e-13)

    def test_leading_axes_broadcast(self):
        masses, _ = conjunctive([[M1], [M2]], FULL, [M2, M3])
        assert masses.shape == (2, 2, 8)
        np.testing.assert_allclose(masses[1, 0], conjunctive(M2, FULL, M2)[0])
        np.testing.assert_allclose(
            conflict([[M1], [M2]], [M2, M3], FULL), [[0.18, 0.78], [0.2, 0.44]]
        )

    def test_a_hundred_clusters_are_no_obstacle(self):
        first = FocalSets.from_subsets(100, [(0, 70), (99,), ()])
        second = FocalSets.from_subsets(100, [(70, 99), (1,)])
        masses, focal_sets = conjunctive([0.5, 0.4, 0.1], first, [0.8, 0.2], second)
        assert focal_sets.subsets == ((), (70,), (99,))
        np.testing.assert_allclose(masses, [0.28, 0.4, 0.32])
        masses, focal_sets = disjunctive([0.5, 0.4, 0.1], first, [0.8, 0.2], second)
        assert focal_sets.subsets == (
            (1,),
            *((1, 99), (70, 99)),
            *((0, 1, 70), (0, 70, 99)),
        )
        np.testing.assert_allclose(masses, [0.02, 0.08, 0.4, 0.1, 0.4])


class TestConflict:
    @quick
    @given(sources(1), st.data())
    def test_conflict_is_the_conjunctive_mass_of_the_empty_set(self, single, data):
        first, focal_sets = single[0]
        second = data.draw(mass_matrices(focal_sets, 2, 2))
        kappa = conflict(first, second, focal_sets)
        assert (kappa >= 0).all()
        assert (kappa <= 1 + 1e-15).all()
        combined = conjunctive(first, focal_sets, second)
        np.testing.assert_allclose(kappa, empty_mass(*combined), atol=1e-15)
        np.testing.assert_allclose(
            kappa, conflict_matrix(first, focal_sets, second).diagonal(), atol=1e-15
        )
        np.testing.assert_allclose(
            conflict_matrix(first, focal_sets, second),
            conflict_matrix(second, focal_sets, first).T,
            atol=1e-15,
        )

    def test_certain_masses_conflict_unless_they_agree(self):
        np.testing.assert_array_equal(
            conflict_matrix(np.eye(4), FocalSets.full(2)), FocalSets.full(2).disjoint
        )


class TestDempster:
    @quick
    @given(sources(2))
    def test_it_is_the_normalised_conjunctive_rule(self, pair):
        masses, focal_sets = conjunctive(*pair[0], *pair[1])
        inside = 1 - empty_mass(masses, focal_sets)
        assume((inside > 1e-9).all())
        combined, sets = dempster(*pair[0], *pair[1])
        assert sets == focal_sets
        expected = np.where(focal_sets.cardinality > 0, masses / inside[:, None], 0)
        np.testing.assert_allclose(combined, expected, rtol=1e-6, atol=1e-12)

    @pytest.mark.parametrize(
        "focal_sets", [FocalSets.full(2), FocalSets.pairs(3)], ids=["full", "list"]
    )
    def test_total_conflict_is_refused(self, focal_sets):
        first = np.zeros((3, len(focal_sets)))
        first[:, focal_sets.index((0,))] = 1.0
        second = np.zeros((3, len(focal_sets)))
        second[[0, 2], focal_sets.index((1,))] = 1.0
        second[1, focal_sets.index((0,))] = 1.0
        with pytest.raises(ValueError, match=r"total conflict, got 2 pair\(s\)"):
            dempster(first, focal_sets, second)
        np.testing.assert_array_equal(
            dempster(first[1], focal_sets, second[1])[0], first[1]
        )

    def test_nearly_total_conflict_leaves_what_both_allow(self):
        focal_sets = FocalSets.singletons(3)
        left = 1e-10
        first = [0, 1 - left, 0, 0, left]
        second = [0, 0, 1 - left, 0, left]
        masses, sets = dempster(first, focal_sets, second)
        assert sets == focal_sets
        np.testing.assert_allclose(
            masses, [0, 0.5, 0.5, 0, left / 2], rtol=1e-9, atol=0
        )


class TestBadInput:
    @pytest.mark.parametrize("rule", [*RULES, dempster])
    def test_sources_about_different_clusters_are_refused(self, rule):
        with pytest.raises(ValueError, match="the same clusters: expected 3, got 2"):
            rule(M1, FULL, [0, 1, 0, 0], FocalSets.full(2))

    @pytest.mark.parametrize("rule", [*RULES, dempster])
    def test_masses_that_do_not_match_their_focal_sets_are_refused(self, rule):
        with pytest.raises(ValueError, match=r"8 focal sets, got shape \(4,\)"):
            rule(M1, FULL, [0, 1, 0, 0])

    def test_conflict_needs_matching_masses(self):
        with pytest.raises(ValueError, match=r"8 focal sets, got shape \(4,\)"):
            conflict(M1, [0, 1, 0, 0], FULL)
        with pytest.raises(ValueError, match=r"8 focal sets, got shape \(1, 4\)"):
            conflict_matrix([M1], FULL, [[0, 1, 0, 0]])


@quick
@given(focal_set_lists(), st.integers(0, 1000))
def test_mass_apart_is_the_product_with_the_disjoint_sets(focal_sets, seed):
    masses = np.random.default_rng(seed).random((2, 3, len(focal_sets)))
    expected = masses @ focal_sets.disjoint.astype(float)
    np.testing.assert_allclose(mass_apart(masses, focal_sets), expected)


def test_mass_apart_of_all_subsets_is_fast_and_the_same(rng):
    focal_sets = FocalSets.full(7)
    masses = rng.dirichlet(np.ones(128), size=4)
    expected = masses @ focal_sets.disjoint.astype(float)
    np.testing.assert_allclose(mass_apart(masses, focal_sets), expected)
    np.testing.assert_allclose(conflict_matrix(masses, focal_sets), expected @ masses.T)
