"""What is said about each object in one word: clear, between or outlier.

This is the one definition of these words; text, tables, reports and the command line
take them from here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import check_number

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# At this belief in one cluster, another one can be just half as plausible.
_LOWEST_LEVEL = 2 / 3
# Mass on ∅ that makes an outlier.
OUTLIER_MASS = 0.5
# A cluster this plausible, compared with the most plausible one, is not ruled out.
_PLAUSIBLE_SHARE = 0.5
# Sums in another order differ by rounding where they are equal on paper.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Every object is an outlier, clear, or between clusters, and just one of these.

    Parameters
    ----------
    is_outlier : array of bool, shape (n_samples,)
        At least half of the mass is on ∅.
    is_clear : array of bool, shape (n_samples,)
        No outlier, and belief / (1 - m(∅)) reaches the level in one cluster.
    is_between : array of bool, shape (n_samples,)
        Neither of these.
    sets : array of bool, shape (n_samples, n_clusters)
        The one cluster of a clear object; for an object between clusters those at
        least half as plausible as the most plausible one, and at least the two most
        plausible; none for an outlier.
    clear_level : float
        What "clear" asks for.
    """

    is_outlier: Flags
    is_clear: Flags
    is_between: Flags
    sets: Flags
    clear_level: float

    def __repr__(self) -> str:
        return (
            f"Verdicts({self.is_clear.sum()} clear, {self.is_between.sum()} between, "
            f"{self.is_outlier.sum()} outliers at clear_level={self.clear_level:g})"
        )

    @property
    def between_sets(self) -> Flags:
        """`sets` of the objects between clusters, nothing for the others."""
        return self.sets & self.is_between[:, None]


def check_clear_level(value: Any) -> float:
    """A level above 2/3, at which no second cluster is half as plausible."""
    return check_number("clear_level", value, above=_LOWEST_LEVEL, at_most=1)


def verdicts(
    beliefs: Array, plausibilities: Array, empty: Array, inside: Array, level: float
) -> Verdicts:
    """Words and sets from belief and plausibility of clusters, m(∅) and the rest.

    Parameters
    ----------
    beliefs, plausibilities : arrays of shape (n_samples, n_clusters)
        Not normalised.
    empty, inside : arrays of shape (n_samples,)
        m(∅), and the sum of the other masses.
    level : float
        What "clear" asks for, as `check_clear_level` returns it.
    """
    is_outlier = empty >= OUTLIER_MASS
    reached = beliefs.max(axis=1) >= level * inside * (1 - _ROUNDING)
    is_clear = reached & ~is_outlier
    is_between = ~reached & ~is_outlier
    sets = np.zeros(beliefs.shape, dtype=bool)
    sets[is_clear, beliefs[is_clear].argmax(axis=1)] = True
    sets[is_between] = plausible_sets(plausibilities[is_between])
    return Verdicts(is_outlier, is_clear, is_between, sets, level)


def plausible_sets(plausibilities: Array) -> Flags:
    """Clusters half as plausible as the first, and the second in any case.

    Those that share the second place come together.
    """
    two = np.sort(plausibilities, axis=1)[:, -2:]
    least = np.minimum(two[:, 0], _PLAUSIBLE_SHARE * two[:, -1])
    return np.asarray(plausibilities >= least[:, None] * (1 - _ROUNDING))
