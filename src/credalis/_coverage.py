"""Decisions with a level: sets of clusters that cover, and outliers with a rate.

A set holds the clusters whose pignistic probability reaches a threshold. Let p_i be the
probability of the right cluster of row i, for n rows that were not used for anything
else. With the k-th largest p_i as the threshold, k = ⌈(n + 1) ℓ⌉, the set of a further
row holds its right cluster with a probability of at least ℓ, if this row and the others
could have come in any order (split conformal prediction). The best cluster is always in
the set, so that none is empty; this can only raise the probability.

References
----------
V. Vovk, A. Gammerman and G. Shafer (2005), Algorithmic learning in a random world,
Springer. S. Bates et al. (2023), Testing for outliers with conformal p-values, Annals
of Statistics 51, 149-178. A. N. Angelopoulos et al. (2024), Conformal risk control,
International Conference on Learning Representations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from credalis._checks import check_number

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

# The level that is shown where none is asked for.
DEFAULT_LEVEL = 0.9

# Thresholds that are kept, however many rows there were.
_MAX_THRESHOLDS = 1000

# Products that are equal on paper differ by rounding.
_ROUNDING = 1e-12

# What a set of a level means, for each kind of rows that the thresholds come from.
_ASSUMPTIONS = {
    "labels": (
        "The set of a new row holds the cluster of its true class with the asked "
        "probability, on average over rows and over the choice of the {n_rows} "
        "labelled rows, if new rows come from where these come from. Nothing is "
        "promised for single rows, nor within each cluster."
    ),
    "replicate": (
        "The set of a new row holds the cluster in which another clustering by the "
        "same method puts it, with the asked probability, on average over rows and "
        "over the clusterings that were made for this, and about so for clusterings "
        "of further data, if new rows come from where the {n_rows} rows of the "
        "calibration come from. This is about repeatability: what all clusterings get "
        "wrong is not seen."
    ),
    "model": (
        "An estimate, not a guarantee: if the data came from the mixtures of Gaussian "
        "and of t distributions that were fitted to them, sets of refitted models "
        "would hold the right component about as often as asked. Data of other shapes "
        "may be covered less."
    ),
}

TARGETS = tuple(_ASSUMPTIONS)


@dataclass(frozen=True, eq=False)
class CoverageCalibration:
    """Which threshold gives sets of clusters of which level, and what that rests on.

    Attributes
    ----------
    target : {"labels", "replicate", "model"}
        What the sets shall hold: the true class, what another clustering says, or the
        component of a fitted mixture.
    n_clusters : int
        Number of clusters of the model.
    n_rows : int
        Rows that the thresholds come from.
    levels : array of shape (n_thresholds,)
        Levels, ascending.
    thresholds : array of shape (n_thresholds,)
        The least pignistic probability of a cluster in a set of this level, descending;
        negative where no set suffices.
    classes : tuple or None
        For labels, the class that each cluster stands for; None for a cluster that
        stands for none.
    """

    target: str
    n_clusters: int
    n_rows: int
    levels: Array
    thresholds: Array
    classes: tuple[Any, ...] | None = None

    def __repr__(self) -> str:
        return (
            f"CoverageCalibration(target={self.target!r}, {self.n_rows} rows, levels "
            f"up to {self.max_level:.4g})"
        )

    @property
    def assumption(self) -> str:
        """What a level promises, and on what condition."""
        return _ASSUMPTIONS[self.target].format(n_rows=self.n_rows)

    @property
    def max_level(self) -> float:
        """The highest level that there are enough rows for; 0 if there is none."""
        reached = self.levels[self.thresholds >= 0]
        return float(reached[-1]) if len(reached) else 0.0

    def threshold(self, level: float) -> float:
        """The least pignistic probability of a cluster in a set of this level.

        Parameters
        ----------
        level : float
            Above 0 and at most `max_level`.
        """
        level = check_level(level)
        if level * (1 - _ROUNDING) > self.max_level:
            raise ValueError(
                f"level must be at most {self.max_level:.4g}, which is what "
                f"{self.n_rows} rows with target={self.target!r} can support, got "
                f"{level:g}: calibrate with more rows"
            )
        first = np.searchsorted(self.levels, level * (1 - _ROUNDING))
        return float(self.thresholds[first])

    def relabel(self, new_labels: Sequence[int]) -> "CoverageCalibration":
        """The same where cluster k is called ``new_labels[k]``.

        Thresholds hold for all clusters alike; only the classes change their places.
        """
        if self.classes is None:
            return self
        moved = dict(zip(new_labels, self.classes, strict=True))
        return replace(self, classes=tuple(moved[k] for k in range(self.n_clusters)))

    def to_state(self) -> dict[str, Any]:
        """Plain values and arrays."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "CoverageCalibration":
        """Inverse of `to_state`."""
        return cls(**state)


def check_level(value: object) -> float:
    """A level above 0 and below 1, or a ValueError."""
    level = check_number("level", value, above=0, at_most=1)
    if level == 1:
        raise ValueError(
            "level must be below 1, got 1: only sets of all clusters hold the right "
            "one for certain"
        )
    return level


def conformal_thresholds(probabilities: Array) -> tuple[Array, Array]:
    """Levels k / (K (n + 1)), and the k-th largest probability as their thresholds.

    Where each row has K answers that may be right, the level is the mean probability
    that the set holds one of them (conformal risk control).

    Parameters
    ----------
    probabilities : array of shape (n_rows,) or (n_rows, n_answers)
        Pignistic probability of the right cluster; negative for rows without one.

    Returns
    -------
    levels, thresholds : arrays of shape (min(n_rows * n_answers, 1000),)
        Of many levels some are kept; one between two of them takes the threshold of the
        higher one, which covers more.
    """
    n_values = probabilities.size
    n_answers = n_values // len(probabilities)
    ranks = np.arange(1, n_values + 1)
    if n_values > _MAX_THRESHOLDS:
        steps = np.linspace(1, n_values, _MAX_THRESHOLDS)
        ranks = np.unique(np.ceil(steps).astype(np.intp))
    descending = np.sort(probabilities, axis=None)[::-1]
    return ranks / (n_answers * (len(probabilities) + 1)), descending[ranks - 1]


def most_cautious(
    tables: Sequence[tuple[Array, Array]],
) -> tuple[Array, Array]:
    """Levels of the first table, and the lowest threshold of all tables at each."""
    levels = tables[0][0]
    found = []
    for known, thresholds in tables:
        first = np.searchsorted(known, levels * (1 - _ROUNDING))
        # Beyond the last level nothing is known: no set suffices.
        found.append(np.append(thresholds, -1.0)[first])
    return levels, np.min(found, axis=0)


def coverage_sets(
    pignistic: Array, labels: NDArray[np.intp], threshold: float
) -> Flags:
    """Clusters as probable as the threshold, and the most plausible one in any case.

    Parameters
    ----------
    pignistic : array of shape (n_samples, n_clusters)
        Probabilities.
    labels : array of int, shape (n_samples,)
        The cluster that is always in.
    threshold : float
        From `CoverageCalibration.threshold`.

    Returns
    -------
    array of bool, shape (n_samples, n_clusters)
    """
    sets = pignistic >= threshold * (1 - _ROUNDING)
    sets[np.arange(len(sets)), labels] = True
    return sets


def matched_clusters(shared: Array) -> NDArray[np.intp]:
    """The cluster of each group such that most is shared; -1 for groups without one.

    Parameters
    ----------
    shared : array of shape (n_groups, n_clusters)
        How much a group and a cluster have in common.
    """
    clusters = np.full(len(shared), -1, dtype=np.intp)
    groups, found = linear_sum_assignment(-shared)
    clusters[groups] = found
    return clusters


def shared_mass(groups: NDArray[np.intp], n_groups: int, pignistic: Array) -> Array:
    """Probability of each cluster summed over each group, (n_groups, n_clusters)."""
    shared = np.zeros((n_groups, pignistic.shape[1]))
    np.add.at(shared, groups, pignistic)
    return shared


def right_probabilities(pignistic: Array, clusters: NDArray[np.intp]) -> Array:
    """Probability of the right cluster of each row, -1 where there is none."""
    found = pignistic[np.arange(len(pignistic)), clusters]
    return np.where(clusters >= 0, found, -1.0)


def false_discovery_flags(p_values: Array, fdr: float) -> Flags:
    """Rows called outliers by the procedure of Benjamini and Hochberg.

    Those up to the largest p_(k) <= k fdr / n in ascending order.
    """
    n = len(p_values)
    ascending = np.sort(p_values)
    is_below = ascending <= fdr * np.arange(1, n + 1) / n * (1 + _ROUNDING)
    if not is_below.any():
        return np.zeros(n, dtype=bool)
    return p_values <= ascending[np.flatnonzero(is_below)[-1]]
