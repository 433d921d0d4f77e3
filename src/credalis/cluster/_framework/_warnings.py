"""What is said about results that are not what the user hopes for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.exceptions import ConvergenceWarning

from credalis._warnings import warn_user
from credalis.cluster._framework._solution import Solution
from credalis.exceptions import CollapseWarning, OutlierWarning
from credalis.partition import CredalPartition

if TYPE_CHECKING:
    from credalis.cluster._framework._estimator import BaseCredalClusterer

# Prototypes closer than this, relative to the spread of the data, have collapsed.
_COLLAPSED = 1e-3


def warn_of_collapse(
    estimator: BaseCredalClusterer,
    separation: float,
    spread: float,
    *,
    is_collapsing: bool = False,
) -> None:
    """Warn if the prototypes of all clusters are the same point, or could be.

    Parameters
    ----------
    estimator : BaseCredalClusterer
        What was fitted.
    separation : float
        Largest distance of two prototypes.
    spread : float
        Spread of the data, in the same unit.
    is_collapsing : bool, default=False
        Whether prototypes at one point would cost no more.
    """
    parameters = estimator.get_params(deep=False)
    is_collapsed = separation < _COLLAPSED * spread
    if parameters["n_clusters"] == 1 or not (is_collapsed or is_collapsing):
        return
    state = "coincide" if is_collapsed else "might as well coincide"
    warn_user(
        f"the prototypes of all clusters {state} (largest distance "
        f"{separation:.3g}, spread of the data {spread:.3g}): the partition says "
        "next to nothing about the data. "
        + estimator._collapse_advice.format(**parameters),
        CollapseWarning,
    )


def warn_of_convergence(method: str, solution: Solution, max_iter: int) -> None:
    """Warn of a fit that was interrupted, or ended before it had settled."""
    if solution.is_interrupted:
        warn_user(
            f"{method} was interrupted: the result is the best found until then",
            ConvergenceWarning,
        )
    elif not solution.trace.converged:
        warn_user(
            f"{method} did not converge in max_iter={max_iter} iterations: increase "
            "max_iter or tol",
            ConvergenceWarning,
        )


def warn_of_partition(
    estimator: BaseCredalClusterer, partition: CredalPartition
) -> None:
    """Warn of a single cluster, and of more outliers than other objects."""
    if getattr(estimator, "n_clusters", None) == 1:
        # scikit-learn's own checks fit every clusterer with one cluster, so that
        # this cannot be an error.
        warn_user(
            "n_clusters=1 tells only outliers from the rest: n_clusters should be >= 2",
            UserWarning,
        )
    share = partition.is_outlier.mean()
    if share > 0.5:
        warn_user(
            f"{share:.0%} of the objects are outliers: {estimator._outlier_advice}",
            OutlierWarning,
        )
