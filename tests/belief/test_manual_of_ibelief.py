"""The mass functions of the manual of ibelief, an R package, combined by its rules.

The mass functions are those of the examples of the functions DST, PCR6 and LCPrincple
in the manual of ibelief 1.3.1; its columns are in binary order, as those of
`FocalSets.full`. The manual does not print results. Those below are fractions that
follow from the definitions of the rules, worked out apart from this library.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from credalis.belief import FocalSets, combine, discount, isopignistic_masses

FULL = FocalSets.full(3)
FIRST = [0, 0.4, 0.1, 0.2, 0.2, 0, 0, 0.1]
SECOND = [0, 0.2, 0.3, 0.1, 0.1, 0, 0.2, 0.1]


def tenths(masses):
    return [Fraction(round(10 * mass), 10) for mass in masses]


def pairs():
    """Sets of both, as bits, their masses, and the product of these."""
    first, second = tenths(FIRST), tenths(SECOND)
    for a, b in product(range(8), repeat=2):
        yield a, b, first[a], second[b], first[a] * second[b]


def test_smets_and_its_normalisations():
    expected = [Fraction(0)] * 8
    for a, b, _, _, both in pairs():
        expected[a & b] += both
    assert expected[0] == Fraction(41, 100)
    found = combine([FIRST, SECOND], FULL, "conjunctive")[0]
    np.testing.assert_allclose(found, [float(each) for each in expected], atol=1e-15)
    np.testing.assert_allclose(
        found, [0.41, 0.22, 0.2, 0.05, 0.09, 0.0, 0.02, 0.01], atol=1e-15
    )
    np.testing.assert_allclose(
        combine([FIRST, SECOND], FULL, "dempster")[0][1:], found[1:] / 0.59, atol=1e-15
    )
    yager = combine([FIRST, SECOND], FULL, "yager")[0]
    np.testing.assert_allclose(yager[7], 0.42, atol=1e-15)
    np.testing.assert_allclose(yager[1:7], found[1:7], atol=1e-15)


def test_unions_and_means():
    expected = [Fraction(0)] * 8
    for a, b, _, _, both in pairs():
        expected[a | b] += both
    np.testing.assert_allclose(
        combine([FIRST, SECOND], FULL, "disjunctive")[0],
        [float(each) for each in expected],
        atol=1e-15,
    )
    np.testing.assert_allclose(
        combine([FIRST, SECOND], FULL, "mean")[0],
        [0, 0.3, 0.2, 0.15, 0.15, 0, 0.1, 0.1],
        atol=1e-15,
    )


def test_proportional_redistribution():
    expected = [Fraction(0)] * 8
    for a, b, of_first, of_second, both in pairs():
        if a & b:
            expected[a & b] += both
        elif both:
            expected[a] += both * of_first / (of_first + of_second)
            expected[b] += both * of_second / (of_first + of_second)
    assert sum(expected) == 1
    np.testing.assert_allclose(
        combine([FIRST, SECOND], FULL, "pcr6")[0],
        [float(each) for each in expected],
        atol=1e-15,
    )


def test_many_sources_of_which_one_differs():
    """Five sources are about {0}, with little certainty, and one about {1}.

    The rule for large numbers of sources discounts what is said about a set by the
    share of the sources about it, as the package does with its default.
    """
    certain = [0.12, 0.16, 0.15, 0.11, 0.14]
    stack = np.zeros((6, 8))
    stack[:5, 1], stack[5, 2] = certain, 0.95
    stack[:, 7] = 1 - stack.sum(axis=1)
    doubts = np.prod(1 - np.array(certain))
    first, second = 5 / 6 * (1 - doubts), 1 / 6 * 0.95
    expected = np.zeros(8)
    expected[[0, 1, 2, 7]] = (
        first * second,
        first * (1 - second),
        (1 - first) * second,
        (1 - first) * (1 - second),
    )
    found = combine(stack, FULL, "lns")[0]
    np.testing.assert_allclose(found, expected, atol=1e-14)
    # The one source does not decide, as it would by the conjunctive rule.
    assert found.argmax() != 2
    assert combine(stack, FULL, "conjunctive")[0].argmax() in (0, 2)


def test_discounting_is_by_one_minus_the_reliability():
    # The package's second argument is the reliability, 0.95.
    found, _ = discount(FIRST, FULL, 1 - 0.95)
    np.testing.assert_allclose(found[:7], 0.95 * np.array(FIRST[:7]), atol=1e-15)
    np.testing.assert_allclose(found[7], 0.145, atol=1e-15)


def test_least_committed_masses():
    masses, sets = isopignistic_masses([0.25, 0.25, 0.25, 0.25])
    assert masses[sets.index([0, 1, 2, 3])] == pytest.approx(1.0)
    # The second vector of the manual, 0.3, 0.2, 0.2 and 0.1, divided by its sum.
    masses, sets = isopignistic_masses([0.375, 0.25, 0.25, 0.125])
    found = {names: mass for names, mass in zip(sets, masses, strict=True) if mass > 0}
    assert found == {
        (0,): pytest.approx(0.125),
        (0, 1, 2): pytest.approx(0.375),
        (0, 1, 2, 3): pytest.approx(0.5),
    }
