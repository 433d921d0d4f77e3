"""Derivatives by differences."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def assert_gradient():
    """Compare the gradient of an objective with differences of its values."""

    def check(objective, masses, rtol=1e-6):
        value, gradient = objective.value_and_gradient(masses)
        assert gradient.shape == masses.shape
        assert value == pytest.approx(objective.value(masses), rel=1e-12)
        # No term has an entry of the masses in a power above the second, so that
        # central differences are exact but for rounding, and may be wide.
        step = 0.25
        expected = np.empty_like(masses)
        for index in np.ndindex(*masses.shape):
            values = []
            for sign in (1, -1):
                moved = masses.copy()
                moved[index] += sign * step
                values.append(objective.value(moved))
            expected[index] = (values[0] - values[1]) / (2 * step)
        size = max(np.abs(expected).max(), abs(value))
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=rtol * size + 1e-14)

    return check
