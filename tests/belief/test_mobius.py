"""Fast Möbius transforms against the sums that define them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from credalis.belief import (
    FocalSets,
    commonality,
    commonality_to_masses,
    implicability,
    implicability_to_masses,
    masses_to_commonality,
    masses_to_implicability,
)
from helpers import mass_matrices

# A slow moment of a busy machine is no failure.
quick = settings(max_examples=40)

PAIRS = [
    (masses_to_commonality, commonality_to_masses),
    (masses_to_implicability, implicability_to_masses),
]


@st.composite
def full_masses(draw):
    focal_sets = FocalSets.full(draw(st.integers(1, 5)))
    return draw(mass_matrices(focal_sets, max_rows=3)), focal_sets


@quick
@given(full_masses())
def test_transforms_equal_the_defining_sums(case):
    masses, focal_sets = case
    np.testing.assert_allclose(
        masses_to_commonality(masses), commonality(masses, focal_sets, focal_sets)
    )
    np.testing.assert_allclose(
        masses_to_implicability(masses), implicability(masses, focal_sets, focal_sets)
    )


@pytest.mark.parametrize(("forward", "backward"), PAIRS)
@quick
@given(
    values=st.integers(0, 5).flatmap(
        lambda c: arrays(np.float64, (2, 2**c), elements=st.floats(-10, 10))
    )
)
def test_the_inverse_undoes_the_transform_of_any_numbers(forward, backward, values):
    np.testing.assert_allclose(backward(forward(values)), values, atol=1e-12)
    np.testing.assert_allclose(forward(backward(values)), values, atol=1e-12)


@pytest.mark.parametrize("transform", [f for pair in PAIRS for f in pair])
def test_memory_order_and_leading_axes_make_no_difference(transform, rng):
    values = rng.random((3, 4, 8))
    expected = np.stack([[transform(row) for row in block] for block in values])
    np.testing.assert_allclose(transform(values), expected)
    np.testing.assert_allclose(transform(np.asfortranarray(values)), expected)
    np.testing.assert_allclose(transform(values[::-1, ::-1]), expected[::-1, ::-1])


@pytest.mark.parametrize("transform", [f for pair in PAIRS for f in pair])
def test_the_given_array_is_left_alone(transform):
    values = np.arange(8.0)
    transform(values)
    np.testing.assert_array_equal(values, np.arange(8.0))


@pytest.mark.parametrize("shape", [(), (0,), (3,), (4, 6)])
@pytest.mark.parametrize("transform", [f for pair in PAIRS for f in pair])
def test_the_number_of_subsets_must_be_a_power_of_two(transform, shape):
    with pytest.raises(ValueError, match=r"2 \*\* n_clusters entries.*got shape"):
        transform(np.zeros(shape))
