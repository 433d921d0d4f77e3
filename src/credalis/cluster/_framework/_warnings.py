"""Warnings of results that are not what the user hopes for."""

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from credalis.cluster._framework._solution import Solution
from credalis.exceptions import CollapseWarning, OutlierWarning
from credalis.partition import CredalPartition

# Prototypes closer than this, relative to the spread of the data, have collapsed.
_COLLAPSED = 1e-3


class ResultWarnings:
    """What an estimator says about its result when it is done."""

    _outlier_advice = "scale the data"
    _collapse_advice = "Lower beta, it is {beta:g}"

    n_clusters: Any
    partition_: CredalPartition
    get_params: Any

    def _warn_of_collapse(
        self, separation: float, spread: float, *, is_collapsing: bool = False
    ) -> None:
        """Warn if the prototypes of all clusters are the same point, or could be."""
        is_collapsed = separation < _COLLAPSED * spread
        if self.n_clusters == 1 or not (is_collapsed or is_collapsing):
            return
        state = "coincide" if is_collapsed else "might as well coincide"
        warnings.warn(
            f"the prototypes of all clusters {state} (largest distance "
            f"{separation:.3g}, spread of the data {spread:.3g}): the partition says "
            "next to nothing about the data. "
            + self._collapse_advice.format(**self.get_params(deep=False)),
            CollapseWarning,
            stacklevel=5,
        )

    def _warn(self, solution: Solution, n_iter: int) -> None:
        self._warn_of_convergence(solution, n_iter, stacklevel=5)
        self._warn_of_partition(self.partition_, stacklevel=5)

    def _warn_of_convergence(
        self, solution: Solution, n_iter: int, stacklevel: int
    ) -> None:
        if solution.is_interrupted:
            warnings.warn(
                f"{type(self).__name__} was interrupted: the result is the best found "
                "until then",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )
        elif not solution.trace.converged:
            warnings.warn(
                f"{type(self).__name__} did not converge in max_iter={n_iter} "
                "iterations: increase max_iter or tol",
                ConvergenceWarning,
                stacklevel=stacklevel,
            )

    def _warn_of_partition(self, partition: CredalPartition, stacklevel: int) -> None:
        if getattr(self, "n_clusters", None) == 1:
            # scikit-learn's own checks fit every clusterer with one cluster, so that
            # this cannot be an error.
            warnings.warn(
                "n_clusters=1 tells only outliers from the rest: n_clusters should be "
                ">= 2",
                UserWarning,
                stacklevel=stacklevel,
            )
        share = partition.is_outlier.mean()
        if share > 0.5:
            warnings.warn(
                f"{share:.0%} of the objects are outliers: {self._outlier_advice}",
                OutlierWarning,
                stacklevel=stacklevel,
            )
