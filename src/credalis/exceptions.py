"""Exceptions and warnings of credalis."""

__all__ = [
    "CollapseWarning",
    "ContrastWarning",
    "EmptyClusterWarning",
    "ExperimentalWarning",
    "FitCancelledError",
    "InvalidMassError",
    "MergedClustersWarning",
    "NoClustersWarning",
    "OutlierWarning",
    "PowerWarning",
    "ResultWarning",
    "StrayRowsWarning",
    "UnitsWarning",
]


class FitCancelledError(RuntimeError):
    """A fit was cancelled before there was anything that it could return."""


class InvalidMassError(ValueError):
    """Numbers that were offered as mass functions are not mass functions."""


class ResultWarning(UserWarning):
    """The result of a fit is hardly what was hoped for.

    The base of the warnings that concern a result, not the data or the method.
    """


class CollapseWarning(ResultWarning):
    """The prototypes of different clusters have become the same point."""


class ContrastWarning(UserWarning):
    """Nearly all dissimilarities of the objects, or all δ* of them, are equal."""


class EmptyClusterWarning(ResultWarning):
    """Some clusters are the most plausible one of no object."""


class ExperimentalWarning(UserWarning):
    """A method rests on formulas that could not be confirmed."""


class MergedClustersWarning(ResultWarning):
    """A cluster holds groups with a gap between them, which k-means tells apart."""


class NoClustersWarning(ResultWarning):
    """The data show no gaps between groups, so that clusters may only divide one.

    `credalis.Consensus` gives it. It is not a claim that there are no clusters: those
    that overlap without a dent between them look the same.
    """


class OutlierWarning(ResultWarning):
    """More objects were declared outliers than can be."""


class PowerWarning(UserWarning):
    """There are so few objects that a test notices only large effects."""


class StrayRowsWarning(UserWarning):
    """Rows are so far away from all others that the clusters were found without them.

    `credalis.Consensus` gives it. A wrong decimal point in one cell is enough.
    """


class UnitsWarning(UserWarning):
    """The columns have such different spreads that some do not count."""
