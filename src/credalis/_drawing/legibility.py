"""What keeps a picture of many objects legible: limits, sizes, means of rows."""

import numpy as np
from numpy.typing import NDArray

# More clusters are numbered in the picture, not listed beside it.
MAX_LISTED = 10
# More objects are drawn as an image inside vector files, without outlines.
MAX_OUTLINED = 2000
# More pairs are counted in cells: as dots they would hide each other.
MAX_DOTS = 2000


def point_size(n_samples: int) -> float:
    """Area of a marker in square points, smaller for many objects."""
    return float(np.clip(600 / np.sqrt(n_samples), 2.0, 38.0))


def averaged_rows(masses: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    """At most n_rows rows, means of neighbouring rows in blocks of (almost) one size.

    Left to itself, an image with more rows than pixels shows some and drops the rest.
    """
    if len(masses) <= n_rows:
        return masses
    starts = np.arange(n_rows) * len(masses) // n_rows
    sizes = np.diff(np.append(starts, len(masses)))
    return np.add.reduceat(masses, starts, axis=0) / sizes[:, None]


def group_name(group: int, n_clusters: int, *, is_short: bool = False) -> str:
    """Name of a cluster, or of the outliers, which are the group after the last one."""
    if group < n_clusters:
        return str(group) if is_short else f"cluster {group}"
    return "∅" if is_short else "outliers"


def group_bounds(
    groups: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Start, end (exclusive) and value of each run of equal values."""
    starts = np.flatnonzero(np.append(True, groups[1:] != groups[:-1]))
    return starts, np.append(starts[1:], len(groups)), groups[starts]
