"""Exceptions and warnings of credalis."""

__all__ = ["CollapseWarning", "InvalidMassError", "OutlierWarning"]


class InvalidMassError(ValueError):
    """Numbers that were offered as mass functions are not mass functions."""


class CollapseWarning(UserWarning):
    """The prototypes of different clusters have become the same point."""


class OutlierWarning(UserWarning):
    """More than half of the objects were declared outliers."""
