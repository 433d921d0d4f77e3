"""Warnings name the line of the caller."""

import warnings

import pytest

from credalis._warnings import warn_experimental, warn_user
from credalis.exceptions import ExperimentalWarning

pytestmark = pytest.mark.usefixtures("nobody_was_told")


def test_experimental_methods_are_told_once_each():
    with pytest.warns(ExperimentalWarning, match="A is experimental: not sure"):
        warn_experimental("A", "not sure")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_experimental("A", "not sure")
    with pytest.warns(ExperimentalWarning, match="B is experimental"):
        warn_experimental("B", "not sure")


def test_experimental_methods_are_told_again_when_a_warning_was_an_error():
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ExperimentalWarning):
                warn_experimental("A", "not sure")


def test_a_warning_names_the_first_file_outside_of_the_package():
    with pytest.warns(UserWarning, match="look here") as caught:
        warn_user("look here", UserWarning)
    assert caught[0].filename == __file__
