"""Exceptions and warnings of credalis."""

import warnings

__all__ = [
    "CollapseWarning",
    "ExperimentalWarning",
    "InvalidMassError",
    "OutlierWarning",
]


class InvalidMassError(ValueError):
    """Numbers that were offered as mass functions are not mass functions."""


class CollapseWarning(UserWarning):
    """The prototypes of different clusters have become the same point."""


class ExperimentalWarning(UserWarning):
    """A method rests on formulas that could not be confirmed."""


class OutlierWarning(UserWarning):
    """More than half of the objects were declared outliers."""


_told: set[str] = set()


def warn_experimental(method: str, what: str, *, stacklevel: int = 2) -> None:
    """Warn, once in a process for each method, of what could not be confirmed."""
    if method in _told:
        return
    warnings.warn(
        f"{method} is experimental: {what}",
        ExperimentalWarning,
        stacklevel=stacklevel + 1,
    )
    # Only now: where warnings are errors, the next call should tell it again.
    _told.add(method)
