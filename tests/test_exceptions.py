import warnings

import pytest

from credalis import exceptions
from credalis.exceptions import ExperimentalWarning, warn_experimental


@pytest.fixture(autouse=True)
def nobody_was_told(monkeypatch):
    monkeypatch.setattr(exceptions, "_told", set())


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


def test_every_public_name_exists():
    assert all(hasattr(exceptions, name) for name in exceptions.__all__)
