"""Axes that a few extreme objects do not squeeze."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Range = tuple[float, float]

# A cluster counts with this share of its objects, if they are at least so many.
_CORE = (0.05, 0.95)
_MIN_OBJECTS = 5
# What is farther from all clusters than this many of their spans is extreme.
_REACH = 1.0
# It is left out only if the axis would be longer by this factor.
_WORTH = 1.3
# Room between the outermost object and the frame.
_PADDING = 0.05
# A cluster that would squeeze the others into less than this share of the axis does not
# count if it holds no more than this share of the objects.
_SQUEEZED, _FEW = 0.1, 0.01


def robust_range(values: Array, groups: NDArray[np.intp]) -> Range | None:
    """Ends of an axis that shows the clusters; None if it can show all objects.

    Parameters
    ----------
    values : array of shape (n_samples,)
        Coordinates of the objects, NaN where they have none.
    groups : array of int, shape (n_samples,)
        Their clusters, -1 for outliers.
    """
    known = np.isfinite(values)
    values, groups = values[known], groups[known]
    cores = _cores(values, groups)
    if len(cores) == 0:
        return None
    low, high = cores[:, 0].min(), cores[:, 1].max()
    reach = _REACH * (high - low)
    near = values[(values >= low - reach) & (values <= high + reach)]
    if high <= low or len(near) == len(values):
        return None
    low, high = float(near.min()), float(near.max())
    if np.ptp(values) < _WORTH * (high - low):
        return None
    room = _PADDING * (high - low)
    return low - room, high + room


def _cores(values: Array, groups: NDArray[np.intp]) -> Array:
    """Where most objects of each cluster are, (n_clusters, 2)."""
    inside = groups >= 0
    counts = np.bincount(groups[inside])
    used = np.flatnonzero(counts >= _MIN_OBJECTS)
    cores = np.array([np.quantile(values[groups == k], _CORE) for k in used])
    if len(used) < 2:
        return cores.reshape(-1, 2)
    is_large = counts[used] > _FEW * counts.sum()
    if is_large.any():
        main = np.ptp([cores[is_large, 0].min(), cores[is_large, 1].max()])
        if main < _SQUEEZED * np.ptp([cores[:, 0].min(), cores[:, 1].max()]):
            return cores[is_large]
    return cores


def is_beyond(values: Array, limits: Range | None) -> NDArray[np.bool_]:
    """Which objects an axis with these ends does not show."""
    if limits is None:
        return np.zeros(len(values), dtype=bool)
    return (values < limits[0]) | (values > limits[1])
