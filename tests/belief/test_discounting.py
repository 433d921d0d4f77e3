"""Discounting, conditioning and deconditioning."""

import numpy as np
import pytest

from credalis.belief import (
    FocalSets,
    condition,
    contextual_discount,
    decondition,
    discount,
)
from powerset import (
    add,
    as_dictionary,
    assert_same,
    normalized,
    power_set,
    random_lists,
    random_rows,
)

FULL = FocalSets.full(3)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


class TestAgainstBruteForce:
    def test_discount(self, rng):
        for focal_sets in random_lists(rng):
            masses = random_rows(rng, focal_sets)
            rates = rng.random(len(masses))
            found, found_sets = discount(masses, focal_sets, rates)
            frame = frozenset(range(focal_sets.n_clusters))
            for row, rate, result in zip(masses, rates, found, strict=True):
                given = as_dictionary(row, focal_sets)
                expected = {s: (1 - rate) * value for s, value in given.items()}
                add(expected, frame, rate)
                assert_same(result, found_sets, expected)

    def test_contextual_discount(self, rng):
        for focal_sets in random_lists(rng):
            masses = random_rows(rng, focal_sets)
            every = power_set(focal_sets.n_clusters)
            contexts = [every[j] for j in rng.integers(len(every), size=3)]
            rates = rng.random((len(masses), 3))
            rates[:, 1] *= rng.random() < 0.7
            found, found_sets = contextual_discount(masses, focal_sets, rates, contexts)
            for row, row_rates, result in zip(masses, rates, found, strict=True):
                function = as_dictionary(row, focal_sets)
                for context, rate in zip(contexts, row_rates, strict=True):
                    combined = {}
                    for subset, value in function.items():
                        add(combined, subset, value * (1 - rate))
                        add(combined, subset | context, value * rate)
                    function = combined
                assert_same(result, found_sets, function)

    @pytest.mark.parametrize("normalize", [True, False])
    def test_condition(self, rng, normalize):
        for focal_sets in random_lists(rng, must_hold=["frame"]):
            masses = random_rows(rng, focal_sets)
            masses[:, focal_sets.frame_index] += 0.1
            masses /= masses.sum(axis=1, keepdims=True)
            every = power_set(focal_sets.n_clusters)
            known = every[rng.integers(1, len(every))]
            found, found_sets = condition(
                masses, focal_sets, known, normalize=normalize
            )
            for row, result in zip(masses, found, strict=True):
                expected = {}
                for subset, value in as_dictionary(row, focal_sets).items():
                    add(expected, subset & known, value)
                assert_same(
                    result, found_sets, normalized(expected) if normalize else expected
                )

    def test_decondition(self, rng):
        for focal_sets in random_lists(rng):
            every = power_set(focal_sets.n_clusters)
            known = every[rng.integers(1, len(every))]
            given = FocalSets.from_subsets(
                focal_sets.n_clusters, {frozenset(s) & known for s in focal_sets}
            )
            masses = random_rows(rng, given)
            found, found_sets = decondition(masses, given, known)
            for row, result in zip(masses, found, strict=True):
                expected = {
                    subset | (every[-1] - known): value
                    for subset, value in as_dictionary(row, given).items()
                }
                assert_same(result, found_sets, expected)


class TestWorkedExamples:
    def test_contexts_on_three_clusters(self):
        # m({0}) = m({2}) = 0.5; unreliable with 0.4 in {0} and with 0.2 in {1, 2}.
        masses, focal_sets = contextual_discount(
            [0.5, 0.5],
            FocalSets.from_subsets(3, [(0,), (2,)]),
            [0.4, 0.2],
            [(0,), (1, 2)],
        )
        assert_same(
            masses,
            focal_sets,
            {
                frozenset([0]): 0.4,  # 0.5 x 0.8, with or without the first context
                frozenset([2]): 0.24,  # 0.5 x 0.6 x 0.8
                frozenset([0, 2]): 0.16,  # 0.5 x 0.4 x 0.8
                frozenset([1, 2]): 0.06,  # 0.5 x 0.6 x 0.2
                frozenset([0, 1, 2]): 0.14,  # the rest
            },
        )

    def test_the_frame_as_context_is_discounting(self, rng):
        masses = random_rows(rng, FULL)
        np.testing.assert_allclose(
            contextual_discount(masses, FULL, [0.3], [(0, 1, 2)])[0],
            discount(masses, FULL, 0.3)[0],
            atol=1e-15,
        )

    def test_conditioning_undoes_deconditioning(self, rng):
        given = FocalSets.from_subsets(4, [(), (1,), (3,), (1, 3)])
        masses = random_rows(rng, given)
        back, sets = condition(
            *decondition(masses, given, [1, 3]), [1, 3], normalize=False
        )
        assert sets == given
        np.testing.assert_allclose(back, masses, atol=1e-15)

    def test_a_stack_of_matrices_keeps_its_shape(self, rng):
        masses = random_rows(rng, FULL, 6).reshape(2, 3, 8)
        assert discount(masses, FULL, 0.1)[0].shape == (2, 3, 8)
        assert contextual_discount(masses, FULL, [0.1] * 3)[0].shape == (2, 3, 8)
        assert condition(masses, FULL, [0, 1])[0].shape == (2, 3, 4)


VACUOUS = [0, 0, 0, 0, 0, 0, 0, 1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: discount([0.5] * 8, FULL, 0.1), "masses must sum to 1"),
        (lambda: discount([1.0, 0.0], FULL, 0.1), "masses must have one column"),
        (lambda: discount(VACUOUS, FULL, 1.2), "rate must lie between"),
        (lambda: discount(VACUOUS, FULL, np.nan), "rate must lie between"),
        (lambda: discount([VACUOUS], FULL, [0.1, 0.2]), "rate must be a number"),
        (lambda: contextual_discount(VACUOUS, FULL, [0.1]), "rates must have shape"),
        (
            lambda: contextual_discount(VACUOUS, FULL, [0.1], [(7,)]),
            "contexts: .*a subset must",
        ),
        (
            lambda: contextual_discount(
                np.eye(1, 22)[0], FocalSets.singletons(20), [0.1] * 20
            ),
            "contexts must not lead to more than 16384",
        ),
        (lambda: condition(VACUOUS, FULL, []), "subset must hold at least one"),
        (lambda: condition(VACUOUS, FULL, [5]), "subset: .*a subset must"),
        (lambda: condition([0, 1, 0, 0, 0, 0, 0, 0], FULL, [1]), "must be plausible"),
        (lambda: condition(VACUOUS, FULL, [1], normalize="no"), "normalize must be"),
        (lambda: decondition(VACUOUS, FULL, [1]), "masses must be on subsets of"),
        (
            lambda: decondition(
                np.zeros((0, 1)), FocalSets.from_subsets(2, [(0,)]), [1]
            ),
            "focal_sets must hold a subset",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
