"""Belief, plausibility, probabilities and normalisation of mass functions."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from credalis.belief import (
    FocalSets,
    belief,
    commonality,
    conjunctive,
    contour,
    dempster_normalize,
    empty_mass,
    implicability,
    is_consonant,
    pignistic,
    plausibility,
    plausibility_transform,
    yager_normalize,
)
from helpers import focal_set_lists, mass_matrices

# A slow moment of a busy machine is no failure.
quick = settings(max_examples=40)

FULL = FocalSets.full(3)
# {0}: .6, {0,1}: .3, Ω: .1 and {0,1}: .5, {2}: .2, Ω: .3 and {0}: .1, {1}: .1, {2}: .8.
M1 = np.array([0, 0.6, 0, 0.3, 0, 0, 0, 0.1])
M2 = np.array([0, 0, 0, 0.5, 0.2, 0, 0, 0.3])
M3 = np.array([0, 0.1, 0.1, 0, 0.8, 0, 0, 0])


@st.composite
def masses_and_sets(draw, **sizes):
    focal_sets = draw(focal_set_lists(**sizes))
    return draw(mass_matrices(focal_sets)), focal_sets


def defining_sum(masses, focal_sets, condition):
    """Σ m(B) over the focal sets B with condition(A, B), for every subset A."""
    return np.array(
        [
            [
                sum(
                    mass
                    for mass, subset in zip(row, focal_sets, strict=True)
                    if condition(set(wanted), set(subset))
                )
                for wanted in FocalSets.full(focal_sets.n_clusters)
            ]
            for row in masses
        ]
    )


class TestWorkedExamples:
    @pytest.mark.parametrize(
        ("function", "masses", "expected"),
        [
            (belief, M1, [0, 0.6, 0, 0.9, 0, 0.6, 0, 1]),
            (belief, M2, [0, 0, 0, 0.5, 0.2, 0.2, 0.2, 1]),
            (plausibility, M1, [0, 1, 0.4, 1, 0.1, 1, 0.4, 1]),
            (plausibility, M2, [0, 0.8, 0.8, 0.8, 0.5, 1, 1, 1]),
            (commonality, M1, [1, 1, 0.4, 0.4, 0.1, 0.1, 0.1, 0.1]),
            (commonality, M2, [1, 0.8, 0.8, 0.8, 0.5, 0.3, 0.3, 0.3]),
        ],
    )
    def test_set_functions_on_all_subsets(self, function, masses, expected):
        np.testing.assert_allclose(function(masses, FULL, FULL), expected, atol=1e-15)

    def test_contour_functions(self):
        np.testing.assert_allclose(
            contour([M1, M2, M3], FULL),
            [[1, 0.4, 0.1], [0.8, 0.8, 0.5], [0.1, 0.1, 0.8]],
        )

    def test_contour_functions_with_very_many_clusters(self, rng):
        focal_sets = FocalSets.pairs(120, [(3, 7), (119, 0)])
        masses = rng.dirichlet(np.ones(len(focal_sets)), size=4)
        np.testing.assert_allclose(
            contour(masses, focal_sets), masses @ focal_sets.membership, rtol=1e-13
        )

    def test_plausibility_transform(self):
        np.testing.assert_allclose(
            plausibility_transform(M1, FULL), [2 / 3, 4 / 15, 1 / 15]
        )

    def test_pignistic_probabilities(self):
        np.testing.assert_allclose(
            pignistic([M1, M2], FULL),
            [[0.7833333333, 0.1833333333, 0.0333333333], [0.35, 0.35, 0.3]],
            atol=5e-11,
        )

    def test_pignistic_probability_of_a_combination_is_normalised(self):
        combined, focal_sets = conjunctive(M1, FULL, M2)
        np.testing.assert_allclose(
            pignistic(combined, focal_sets),
            [0.7743902439, 0.1890243902, 0.0365853659],
            atol=5e-11,
        )

    def test_normalisations_of_a_combination(self):
        combined, focal_sets = conjunctive(M1, FULL, M2)
        np.testing.assert_allclose(
            dempster_normalize(combined, focal_sets)[0],
            [0, 0.5853658537, 0, 0.3536585366, 0.0243902439, 0, 0, 0.0365853659],
            atol=5e-11,
        )
        np.testing.assert_allclose(
            yager_normalize(combined, focal_sets)[0],
            [0, 0.48, 0, 0.29, 0.02, 0, 0, 0.21],
            atol=1e-15,
        )


class TestSetFunctions:
    @pytest.mark.parametrize(
        ("function", "condition"),
        [
            (belief, lambda a, b: b and b <= a),
            (implicability, lambda a, b: b <= a),
            (plausibility, lambda a, b: a & b),
            (commonality, lambda a, b: b >= a),
        ],
    )
    @quick
    @given(case=masses_and_sets())
    def test_values_are_the_defining_sums(self, function, condition, case):
        masses, focal_sets = case
        every = FocalSets.full(focal_sets.n_clusters)
        np.testing.assert_allclose(
            function(masses, focal_sets, every),
            defining_sum(masses, focal_sets, condition),
            atol=1e-14,
        )

    @quick
    @given(masses_and_sets())
    def test_belief_and_plausibility_bound_each_other(self, case):
        masses, focal_sets = case
        every = FocalSets.full(focal_sets.n_clusters)
        complements = FocalSets.from_subsets(
            every.n_clusters,
            [set(range(every.n_clusters)) - set(subset) for subset in every],
        )
        lower = belief(masses, focal_sets, every)
        upper = plausibility(masses, focal_sets, every)
        assert (lower <= upper + 1e-15).all()
        inside = 1 - empty_mass(masses, focal_sets)
        np.testing.assert_allclose(lower[:, -1], inside, atol=1e-14)
        np.testing.assert_allclose(upper[:, -1], inside, atol=1e-14)
        # Pl(A) = Bel(Ω) - Bel(Ā) = 1 - b(Ā)
        opposite = belief(masses, focal_sets, complements)
        np.testing.assert_allclose(upper, lower[:, -1:] - opposite, atol=1e-14)
        np.testing.assert_allclose(
            upper, 1 - implicability(masses, focal_sets, complements), atol=1e-14
        )

    @quick
    @given(masses_and_sets())
    def test_everything_includes_the_empty_set(self, case):
        masses, focal_sets = case
        np.testing.assert_allclose(commonality(masses, focal_sets, [()]), 1.0)
        np.testing.assert_allclose(
            implicability(masses, focal_sets, [()])[:, 0],
            empty_mass(masses, focal_sets),
        )
        assert (plausibility(masses, focal_sets, [()]) == 0).all()
        assert (belief(masses, focal_sets, [()]) == 0).all()

    @quick
    @given(st.data(), st.floats(0, 1))
    def test_belief_and_plausibility_are_linear_in_the_masses(self, data, weight):
        focal_sets = data.draw(focal_set_lists())
        first = data.draw(mass_matrices(focal_sets, 3, 3))
        second = data.draw(mass_matrices(focal_sets, 3, 3))
        mixture = weight * first + (1 - weight) * second
        every = FocalSets.full(focal_sets.n_clusters)
        for function in (belief, plausibility, commonality, implicability):
            np.testing.assert_allclose(
                function(mixture, focal_sets, every),
                weight * function(first, focal_sets, every)
                + (1 - weight) * function(second, focal_sets, every),
                atol=1e-14,
            )

    @quick
    @given(st.data())
    def test_plausibility_of_a_union_is_the_maximum_for_consonant_masses(self, data):
        n_clusters = data.draw(st.integers(2, 4))
        order = data.draw(st.permutations(range(n_clusters)))
        chain = FocalSets.from_subsets(
            n_clusters, [order[:size] for size in range(n_clusters + 1)]
        )
        masses = data.draw(mass_matrices(chain))
        assert is_consonant(masses, chain).all()
        every = FocalSets.full(n_clusters).subsets
        first = data.draw(st.sampled_from(every))
        second = data.draw(st.sampled_from(every))
        union, a, b = plausibility(masses, chain, [{*first, *second}, first, second]).T
        np.testing.assert_allclose(union, np.maximum(a, b), atol=1e-15)

    def test_the_single_clusters_are_the_default(self):
        masses = [M1, M2]
        singletons = [(0,), (1,), (2,)]
        for function in (belief, plausibility, commonality, implicability):
            np.testing.assert_array_equal(
                function(masses, FULL), function(masses, FULL, singletons)
            )
        np.testing.assert_allclose(plausibility(masses, FULL), contour(masses, FULL))

    def test_leading_axes_are_kept(self):
        stack = np.stack([[M1, M2], [M2, M3]])
        for function in (belief, contour, pignistic, plausibility_transform):
            values = function(stack, FULL)
            assert values.shape == (2, 2, 3)
            np.testing.assert_allclose(values[1, 0], function(M2, FULL))
        for normalize in (dempster_normalize, yager_normalize):
            values, _ = normalize(stack, FULL)
            np.testing.assert_allclose(values, stack, atol=1e-15)

    @pytest.mark.parametrize(
        ("masses", "message"),
        [
            ([0.5, 0.5], r"one column for each of the 8 focal sets, got shape \(2,\)"),
            (np.ones((8, 3)), r"each of the 8 focal sets, got shape \(8, 3\)"),
            (1.0, r"each of the 8 focal sets, got shape \(\)"),
            (["a"] * 8, "masses must be an array of numbers"),
            ([[0.5], [0.5, 0.5]], "masses must be an array of numbers"),
        ],
    )
    @pytest.mark.parametrize(
        "function", [belief, contour, pignistic, empty_mass, dempster_normalize]
    )
    def test_arrays_that_do_not_match_the_focal_sets_are_refused(
        self, function, masses, message
    ):
        with pytest.raises(ValueError, match=message):
            function(masses, FULL)

    @pytest.mark.parametrize(
        ("subsets", "message"),
        [
            (FocalSets.full(2), "subsets of the same 3 clusters, got subsets of 2"),
            ([(0, 3)], r"between 0 and 2, got \(0, 3\)"),
            ([0], "cluster numbers, got 0"),
            (0, "subsets must be an iterable of subsets, got 0"),
        ],
    )
    def test_subsets_of_another_frame_are_refused(self, subsets, message):
        with pytest.raises(ValueError, match=message):
            plausibility(M1, FULL, subsets)


class TestProbabilities:
    @quick
    @given(masses_and_sets())
    def test_pignistic_probability_lies_between_belief_and_plausibility(self, case):
        masses, focal_sets = case
        values = pignistic(masses, focal_sets, normalize=False)
        assert (belief(masses, focal_sets) <= values + 1e-15).all()
        assert (values <= contour(masses, focal_sets) + 1e-15).all()
        np.testing.assert_allclose(
            values.sum(axis=1), 1 - empty_mass(masses, focal_sets), atol=1e-14
        )

    @quick
    @given(masses_and_sets())
    def test_both_probabilities_sum_to_one(self, case):
        masses, focal_sets = case
        for function in (pignistic, plausibility_transform):
            values = function(masses, focal_sets)
            assert (values >= 0).all()
            np.testing.assert_allclose(values.sum(axis=1), 1.0)

    @quick
    @given(masses_and_sets())
    def test_probabilities_do_not_change_under_dempster_normalisation(self, case):
        masses, focal_sets = case
        normalized = dempster_normalize(masses, focal_sets)
        for function in (pignistic, plausibility_transform):
            np.testing.assert_allclose(
                function(*normalized), function(masses, focal_sets), atol=1e-13
            )

    @quick
    @given(st.data())
    def test_bayesian_masses_are_their_own_probabilities(self, data):
        focal_sets = FocalSets.singletons(4, empty=False, frame=False)
        masses = data.draw(mass_matrices(focal_sets))
        np.testing.assert_allclose(pignistic(masses, focal_sets), masses)
        np.testing.assert_allclose(plausibility_transform(masses, focal_sets), masses)

    def test_nothing_but_the_empty_set_gives_equal_probabilities(self):
        certain = np.eye(8)[0]
        np.testing.assert_array_equal(pignistic(certain, FULL), [1 / 3] * 3)
        np.testing.assert_array_equal(
            plausibility_transform(certain, FULL), [1 / 3] * 3
        )
        np.testing.assert_array_equal(pignistic(certain, FULL, normalize=False), 0)

    @pytest.mark.parametrize("left", [1e-6, 1e-9, 1e-11])
    def test_little_mass_outside_the_empty_set_keeps_its_proportions(self, left):
        masses = np.array([1 - left, 0.75 * left, 0, 0.25 * left])
        focal_sets = FocalSets.full(2)
        for values in (
            pignistic(masses, focal_sets),
            dempster_normalize(masses, focal_sets)[0]
            @ [[0, 0], [1, 0], [0, 1], [0.5, 0.5]],
        ):
            np.testing.assert_allclose(values, [0.875, 0.125], rtol=1e-12)


class TestNormalisation:
    @quick
    @given(masses_and_sets())
    def test_nothing_is_left_on_the_empty_set(self, case):
        masses, focal_sets = case
        for normalize in (dempster_normalize, yager_normalize):
            normalized, sets = normalize(masses, focal_sets)
            assert (normalized >= 0).all()
            assert (empty_mass(normalized, sets) == 0).all()
            np.testing.assert_allclose(normalized.sum(axis=1), 1.0)
            again, same_sets = normalize(normalized, sets)
            assert same_sets == sets
            np.testing.assert_allclose(again, normalized)

    @quick
    @given(masses_and_sets())
    def test_dempster_keeps_proportions(self, case):
        masses, focal_sets = case
        inside = 1 - empty_mass(masses, focal_sets)
        assume((inside > 1e-9).all())
        normalized, sets = dempster_normalize(masses, focal_sets)
        assert sets == focal_sets
        expected = masses / inside[:, None]
        expected[:, focal_sets.cardinality == 0] = 0
        np.testing.assert_allclose(normalized, expected, rtol=1e-6, atol=1e-12)

    @quick
    @given(masses_and_sets())
    def test_yager_changes_the_frame_only(self, case):
        masses, focal_sets = case
        normalized, sets = yager_normalize(masses, focal_sets)
        # Belief in what is smaller than Ω stays.
        smaller = FocalSets.full(focal_sets.n_clusters, frame=False)
        np.testing.assert_allclose(
            belief(normalized, sets, smaller), belief(masses, focal_sets, smaller)
        )

    @pytest.mark.parametrize("normalize", [dempster_normalize, yager_normalize])
    def test_nothing_but_the_empty_set_becomes_vacuous(self, normalize):
        focal_sets = FocalSets.singletons(3, frame=False)
        masses = [[1, 0, 0, 0], [0, 0.2, 0.3, 0.5]]
        normalized, sets = normalize(masses, focal_sets)
        assert sets == FocalSets.singletons(3)
        np.testing.assert_array_equal(
            normalized, [[0, 0, 0, 0, 1], [0, 0.2, 0.3, 0.5, 0]]
        )

    def test_a_row_that_sums_to_one_only_roughly_becomes_vacuous_too(self):
        # The mass on ∅ is below 1, yet there is nothing else to divide.
        normalized, _ = dempster_normalize([1 - 5e-7, 0, 0, 0], FocalSets.full(2))
        np.testing.assert_array_equal(normalized, [0, 0, 0, 1])

    def test_the_frame_is_added_only_when_it_is_needed(self):
        focal_sets = FocalSets.singletons(2, frame=False)
        assert dempster_normalize([0.5, 0.5, 0], focal_sets)[1] == focal_sets
        assert yager_normalize([0.5, 0.5, 0], focal_sets)[1].names[-1] == "Ω"
        without = FocalSets.singletons(2, empty=False, frame=False)
        assert yager_normalize([0.5, 0.5], without)[1] == without

    @pytest.mark.parametrize("normalize", [dempster_normalize, yager_normalize])
    def test_the_given_masses_are_left_alone(self, normalize):
        masses = np.array([0.2, 0.3, 0.1, 0.4])
        before = masses.copy()
        normalize(masses, FocalSets.full(2))
        np.testing.assert_array_equal(masses, before)
