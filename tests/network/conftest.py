"""Derivatives by differences."""

import numpy as np
import pytest

from helpers import central_differences


@pytest.fixture(scope="session")
def assert_gradient():
    """Compare the gradient that a function returns with differences of its values."""

    def check(function, parameters, rtol=1e-6, step=1e-5):
        gradient = function(parameters)[1].copy()
        assert gradient.shape == parameters.shape
        expected = central_differences(lambda x: function(x)[0], parameters, step)
        size = np.abs(expected).max()
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=rtol * size)

    return check
