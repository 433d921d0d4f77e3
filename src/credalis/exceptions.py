"""Exceptions and warnings of credalis."""

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
