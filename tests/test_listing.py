"""What is known of the methods without importing them."""

import pytest

from credalis import _listing
from credalis.cluster import estimator_classes, named_estimators


def test_what_is_read_from_the_sources_is_what_the_classes_say():
    assert _listing.class_names() == tuple(cls.__name__ for cls in estimator_classes())
    known = named_estimators()
    assert [method.name for method in _listing.listed_methods()] == list(known)
    for method in _listing.listed_methods():
        cls = type(known[method.name])
        assert method.parameters == cls.variants()[method.name]
        assert method.needs_side_information == cls._needs_side_information
        assert method.is_for_many_rows == cls._is_for_many_rows
        assert method.is_for_categories == cls._is_for_categories
        assert method.is_for_more_tables == cls._is_for_more_tables


@pytest.mark.parametrize("error", [FileNotFoundError("sources"), ValueError("a sum")])
def test_without_sources_the_classes_are_asked(monkeypatch, error):
    def fail(*arguments):
        raise error

    names, methods = _listing.class_names(), _listing.listed_methods()
    is_unreadable = isinstance(error, FileNotFoundError)
    monkeypatch.setattr(_listing, "_parsed" if is_unreadable else "_literals", fail)
    assert _listing.class_names.__wrapped__() == names
    assert _listing.listed_methods.__wrapped__() == methods
