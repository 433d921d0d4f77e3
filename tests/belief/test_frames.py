"""Refinement, coarsening and product frames."""

from itertools import product

import numpy as np
import pytest

from credalis.belief import (
    FocalSets,
    coarsen,
    marginalize,
    pignistic,
    refine,
    vacuous_extension,
)
from powerset import add, as_dictionary, assert_same, random_lists, random_rows

FULL = FocalSets.full(3)


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def random_groups(rng, n_elements, n_groups):
    """A partition of the elements into groups that are not empty."""
    owner = np.concatenate(
        [np.arange(n_groups), rng.integers(n_groups, size=n_elements - n_groups)]
    )
    owner = rng.permutation(owner)
    return [np.flatnonzero(owner == k).tolist() for k in range(n_groups)]


class TestAgainstBruteForce:
    def test_refine(self, rng):
        for focal_sets in random_lists(rng):
            masses = random_rows(rng, focal_sets)
            groups = random_groups(rng, 7, focal_sets.n_clusters)
            found, found_sets = refine(masses, focal_sets, groups)
            assert found_sets.n_clusters == 7
            for row, result in zip(masses, found, strict=True):
                expected = {
                    frozenset(e for k in subset for e in groups[k]): value
                    for subset, value in as_dictionary(row, focal_sets).items()
                }
                assert_same(result, found_sets, expected)

    @pytest.mark.parametrize("inner", [False, True])
    def test_coarsen(self, rng, inner):
        for focal_sets in random_lists(rng):
            masses = random_rows(rng, focal_sets)
            n_groups = rng.integers(1, focal_sets.n_clusters + 1)
            groups = random_groups(rng, focal_sets.n_clusters, n_groups)
            found, found_sets = coarsen(masses, focal_sets, groups, inner=inner)
            assert found_sets.n_clusters == n_groups
            for row, result in zip(masses, found, strict=True):
                expected = {}
                for subset, value in as_dictionary(row, focal_sets).items():
                    image = frozenset(
                        k
                        for k, group in enumerate(groups)
                        if (subset >= set(group) if inner else subset & set(group))
                    )
                    add(expected, image, value)
                assert_same(result, found_sets, expected)

    @pytest.mark.parametrize("axes", [(0,), (1,), (2, 0), (1, 2)])
    def test_product_frames(self, rng, axes):
        sizes = (2, 1, 2)
        elements = list(product(*map(range, sizes)))
        kept = list(product(*(range(sizes[axis]) for axis in axes)))

        def project(element):
            return kept.index(tuple(element[axis] for axis in axes))

        for focal_sets in random_lists(rng, n_clusters=4):
            masses = random_rows(rng, focal_sets)
            found, found_sets = marginalize(masses, focal_sets, sizes, axes)
            for row, result in zip(masses, found, strict=True):
                expected = {}
                for subset, value in as_dictionary(row, focal_sets).items():
                    add(
                        expected, frozenset(project(elements[e]) for e in subset), value
                    )
                assert_same(result, found_sets, expected)
        for focal_sets in random_lists(rng, n_clusters=len(kept)):
            masses = random_rows(rng, focal_sets)
            found, found_sets = vacuous_extension(masses, focal_sets, sizes, axes)
            for row, result in zip(masses, found, strict=True):
                expected = {}
                for subset, value in as_dictionary(row, focal_sets).items():
                    cylinder = frozenset(
                        e
                        for e, element in enumerate(elements)
                        if project(element) in subset
                    )
                    add(expected, cylinder, value)
                assert_same(result, found_sets, expected)


class TestWorkedExamples:
    def test_a_rule_between_two_variables(self):
        # "If the first is 0 then the second is 0", with 0.8: pairs (0,0), (1,0), (1,1).
        sets = FocalSets.from_subsets(4, [(0, 2, 3), (0, 1, 2, 3)])
        masses, second = marginalize([0.8, 0.2], sets, (2, 2), 1)
        assert second.names == ("Ω",)
        np.testing.assert_allclose(masses, [1.0])

    def test_marginals_of_probabilities(self, rng):
        table = rng.dirichlet(np.ones(6))
        sets = FocalSets.singletons(6, empty=False, frame=False)
        masses, kept = marginalize(table, sets, (2, 3), 1)
        np.testing.assert_allclose(
            pignistic(masses, kept), table.reshape(2, 3).sum(axis=0)
        )

    def test_coarsening_undoes_refinement(self, rng):
        masses = random_rows(rng, FULL)
        groups = [(4,), (0, 2), (1, 3)]
        for inner in (False, True):
            back, sets = coarsen(*refine(masses, FULL, groups), groups, inner=inner)
            for row, result in zip(masses, back, strict=True):
                assert_same(result, sets, as_dictionary(row, FULL))

    def test_marginals_undo_extensions(self, rng):
        masses = random_rows(rng, FULL)
        extended = vacuous_extension(masses, FULL, (4, 3, 5), 1)
        assert extended[1].n_clusters == 60
        back, sets = marginalize(*extended, (4, 3, 5), 1)
        for row, result in zip(masses, back, strict=True):
            assert_same(result, sets, as_dictionary(row, FULL))


VACUOUS = np.eye(8)[7]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: refine(VACUOUS, FULL, [(0,), (1,)]), "groups must be 3"),
        (lambda: refine(VACUOUS, FULL, [(0,), (1,), ()]), "groups must be a part"),
        (lambda: refine(VACUOUS, FULL, [(0,), (1,), (1,)]), "groups must be a part"),
        (lambda: refine(VACUOUS, FULL, 3), "groups must be a partition"),
        (lambda: refine([0.1] * 8, FULL, [(0,), (1,), (2,)]), "masses must sum"),
        (lambda: coarsen(VACUOUS, FULL, [(0,), (1,)]), "groups must hold each"),
        (
            lambda: coarsen(VACUOUS, FULL, [(0,), (1, 2)], inner="no"),
            "inner must be a bool",
        ),
        (lambda: marginalize(VACUOUS, FULL, (2, 2), 0), "sizes must have the product"),
        (lambda: marginalize(VACUOUS, FULL, 3, 0), "sizes must be a sequence"),
        (lambda: marginalize(VACUOUS, FULL, (3, 1), 2), "axes must be an integer"),
        (lambda: marginalize(VACUOUS, FULL, (3, 1), (0, 0)), "axes must be one or"),
        (lambda: marginalize(VACUOUS, FULL, (2**15,), 0), "the product of sizes"),
        (
            lambda: vacuous_extension(VACUOUS, FULL, (2, 2), 0),
            "focal_sets must be about the 2 elements",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
