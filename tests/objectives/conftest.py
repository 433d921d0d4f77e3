"""Derivatives by differences."""

import numpy as np
import pytest

from helpers import central_differences


@pytest.fixture(scope="session")
def assert_gradient():
    """Compare the gradient of an objective with differences of its values."""

    def check(objective, masses, rtol=1e-6):
        value, gradient = objective.value_and_gradient(masses)
        assert gradient.shape == masses.shape
        assert value == pytest.approx(objective.value(masses), rel=1e-12)
        # No term has an entry of the masses in a power above the second, so that
        # central differences are exact but for rounding, and may be wide.
        expected = central_differences(objective.value, masses, step=0.25)
        size = max(np.abs(expected).max(), abs(value))
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=rtol * size + 1e-14)

    return check
