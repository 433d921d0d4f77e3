"""Derivatives by differences."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def assert_gradient():
    """Compare the gradient that a function returns with differences of its values."""

    def check(function, parameters, rtol=1e-6, step=1e-5):
        gradient = function(parameters)[1].copy()
        assert gradient.shape == parameters.shape
        expected = np.empty_like(parameters)
        for index in range(len(parameters)):
            values = []
            for sign in (1, -1):
                moved = parameters.copy()
                moved[index] += sign * step
                values.append(function(moved)[0])
            expected[index] = (values[0] - values[1]) / (2 * step)
        size = np.abs(expected).max()
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=rtol * size)

    return check
