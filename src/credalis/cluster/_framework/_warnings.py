"""What is said about prototypes that say nothing about the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credalis._warnings import warn_user
from credalis.exceptions import CollapseWarning

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
        "next to nothing about the data. " + estimator._collapse_advice,
        CollapseWarning,
    )
