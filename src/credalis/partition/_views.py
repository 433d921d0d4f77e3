"""What can be read off the masses of a credal partition without a parameter."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis import belief
from credalis.belief import FocalSets
from credalis.belief._transforms import nonempty_mass

# Sums in another order differ by rounding where they are equal on paper.
_ROUNDING = 1e-12

_BLOCK_ROWS = 10_000


class MassViews:
    """Lazy, read-only views of ``masses`` over ``focal_sets``, each computed once."""

    masses: NDArray[np.float64]
    focal_sets: FocalSets

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return len(self.masses)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.focal_sets.n_clusters

    @cached_property
    def plausibility(self) -> NDArray[np.float64]:
        """Plausibility of each cluster (contour function), (n_samples, n_clusters)."""
        return read_only(belief.contour(self.masses, self.focal_sets))

    @cached_property
    def belief(self) -> NDArray[np.float64]:
        """Belief in each cluster, shape (n_samples, n_clusters)."""
        return read_only(belief.belief(self.masses, self.focal_sets))

    @cached_property
    def pignistic(self) -> NDArray[np.float64]:
        """Pignistic probability, (n_samples, n_clusters); uniform where m(∅) = 1."""
        return read_only(belief.pignistic(self.masses, self.focal_sets))

    @cached_property
    def normalized_plausibility(self) -> NDArray[np.float64]:
        """Plausibility divided by its sum: the plausibility transform."""
        return read_only(belief.plausibility_transform(self.masses, self.focal_sets))

    @cached_property
    def outlier_mass(self) -> NDArray[np.float64]:
        """m(∅), the support for "none of these clusters", shape (n_samples,)."""
        return read_only(belief.empty_mass(self.masses, self.focal_sets))

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """Cluster of maximal plausibility; ties go to the lowest number."""
        return self._column_by_row(
            lambda masses: first_maximum(belief.contour(masses, self.focal_sets))
        )

    @cached_property
    def maximum_mass_index(self) -> NDArray[np.intp]:
        """Column of the focal set with the largest mass; ties go to the first."""
        return self._column_by_row(lambda masses: masses.argmax(axis=1))

    @cached_property
    def maximum_mass_sets(self) -> NDArray[np.bool_]:
        """Clusters in the focal set of largest mass, (n_samples, n_clusters)."""
        return read_only(self.focal_sets.membership[self.maximum_mass_index])

    @cached_property
    def interval_dominance_sets(self) -> NDArray[np.bool_]:
        """Clusters at least as plausible as the largest belief: none beats them."""
        best = self.belief.max(axis=1, keepdims=True)
        return read_only(self.plausibility >= best * (1 - _ROUNDING))

    @cached_property
    def lower(self) -> NDArray[np.bool_]:
        """Lower approximations: objects certainly in a cluster.

        Shape (n_samples, n_clusters); see `lower_approximation` for the other rule.
        """
        sets = self.maximum_mass_sets
        return read_only(sets & (sets.sum(axis=1, keepdims=True) == 1))

    @cached_property
    def upper(self) -> NDArray[np.bool_]:
        """Upper approximations: objects possibly in a cluster.

        Shape (n_samples, n_clusters); see `upper_approximation` for the other rule.
        """
        return self.maximum_mass_sets

    @cached_property
    def is_outlier(self) -> NDArray[np.bool_]:
        """Whether the largest mass of an object is on ∅, shape (n_samples,)."""
        return read_only(self.focal_sets.cardinality[self.maximum_mass_index] == 0)

    @cached_property
    def is_ambiguous(self) -> NDArray[np.bool_]:
        """Whether the largest mass of an object is on two clusters or more."""
        return read_only(self.focal_sets.cardinality[self.maximum_mass_index] > 1)

    @cached_property
    def nonspecificity(self) -> NDArray[np.float64]:
        """N(m) / log₂ c of each object: 0 if it is precise, 1 if nothing is known."""
        if self.n_clusters == 1:
            return read_only(np.zeros(self.n_samples))
        bits = belief.nonspecificity(self.masses, self.focal_sets)
        return read_only(bits / np.log2(self.n_clusters))

    def _column_by_row(
        self, choose: Callable[[NDArray[np.float64]], NDArray[np.intp]]
    ) -> NDArray[np.intp]:
        """A column for each row, some rows at a time.

        All plausibilities, or the copy that argmax makes of a read-only array, are more
        numbers than should be held beside the masses.
        """
        columns = np.empty(self.n_samples, dtype=np.intp)
        for start in range(0, self.n_samples, _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            columns[rows] = choose(self.masses[rows])
        return read_only(columns)

    @property
    def average_nonspecificity(self) -> float:
        """Mean of `nonspecificity`, the index N of the literature, in [0, 1].

        NaN for a partition of no objects.
        """
        return float(self.nonspecificity.mean()) if self.n_samples else float("nan")

    @cached_property
    def doubt(self) -> NDArray[np.float64]:
        """One minus the largest belief in a single cluster, in [0, 1].

        0: certainly in one cluster. 1: nothing speaks for a single cluster, because
        the object lies between clusters or outside of all.
        """
        return read_only(np.clip(1.0 - self.belief.max(axis=1), 0.0, 1.0))

    @cached_property
    def cluster_similarity(self) -> NDArray[np.float64]:
        """Σ pl_ik pl_il over the objects, (n_clusters, n_clusters).

        Plausibilities are divided by 1 - m(∅); objects wholly on ∅ do not count. Two
        clusters are similar when the same objects may belong to both.
        """
        inside = nonempty_mass(self.masses, self.focal_sets)
        counts = inside > _ROUNDING
        plausibility = self.plausibility[counts] / inside[counts, None]
        return read_only(plausibility.T @ plausibility)


def first_maximum(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """First column of each row that holds its largest value, up to rounding."""
    largest = values.max(axis=1, keepdims=True)
    return (values >= largest * (1 - _ROUNDING)).argmax(axis=1)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, protected against writing."""
    array.setflags(write=False)
    return array
