"""Known classes of some objects."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.objectives._base import Array, Objective


@dataclass(frozen=True, eq=False)
class LabelFit(Objective):
    """P = (1 / n_labelled) Σ_i Σ_k (pl_ik - y_ik)² over the labelled objects.

    Parameters
    ----------
    objects : array of int, shape (n_labelled,)
        The labelled objects; an object may occur several times.
    labels : array of int, shape (n_labelled,)
        Their clusters; y_ik is 1 for this cluster and 0 for the others.
    focal_sets : FocalSets
        What the rows of the masses stand for.
    """

    objects: NDArray[np.intp]
    labels: NDArray[np.intp]
    focal_sets: FocalSets

    @cached_property
    def _has_repetitions(self) -> bool:
        """Whether some object occurs several times, which takes slower sums."""
        return bool((np.bincount(self.objects) > 1).any())

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """P and ∂P/∂M = 2 F (PL - Y) / n_labelled in the columns of these objects."""
        members = self.focal_sets.membership.astype(float)
        n_labelled = len(self.objects)
        residuals = members.T @ masses[:, self.objects]
        residuals[self.labels, np.arange(n_labelled)] -= 1.0
        gradient = np.zeros_like(masses)
        slopes = (members @ residuals) * (2.0 / n_labelled)
        if self._has_repetitions:
            np.add.at(gradient.T, self.objects, slopes.T)
        else:
            gradient[:, self.objects] = slopes
        return float(np.vdot(residuals, residuals)) / n_labelled, gradient
