"""Rows far from everything: slips of the pen that no clustering should be built on."""

import numpy as np
from numpy.typing import NDArray

from credalis._neighbors import NeighborSearch

Array = NDArray[np.float64]

# Rows whose middle and spread are looked at, so many at most.
_MAX_ROWS = 2000
# The share of them that is ordinary. Rows twice as far from the middle as all of these
# are looked at again: only these can be so far from their neighbours.
_ORDINARY_SHARE, _FAR = 0.95, 2.0
# A row that is far away with so many others is in a group of them.
_N_COMPANIONS = 5
# In units of the ordinary distance to the middle; has a square.
_FARTHEST = 1e100


def stray_rows(rows: Array) -> NDArray[np.intp]:
    """Numbers of the rows that are farther from their neighbours than others can be.

    That is, the fifth nearest row is farther away than any two ordinary rows are from
    each other: all but the outermost twentieth lie in a ball around the middle, whose
    diameter this is. A cell with a wrong decimal point is such a row. Two groups of
    rows are none, however far apart, unless one has no more than five.

    Parameters
    ----------
    rows : array of shape (n_samples, n_features)
        Points in Euclidean space.

    Returns
    -------
    array of int
        Ascending; none for nearly all tables.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.cluster._inputs._stray import stray_rows
    >>> rows = np.append(np.linspace(0.0, 2.0, 50), 150.0)
    >>> stray_rows(rows[:, None])
    array([50])
    """
    every = -(-len(rows) // _MAX_ROWS)
    middle = np.median(rows[::every], axis=0)
    lengths = _lengths(rows - middle)
    radius = np.quantile(lengths[::every], _ORDINARY_SHARE)
    distant = np.flatnonzero(lengths > _FAR * radius)
    if radius == 0 or len(distant) == 0 or len(rows) <= _N_COMPANIONS:
        return np.empty(0, dtype=np.intp)
    scaled = np.clip((rows - middle) / radius, -_FARTHEST, _FARTHEST)
    search = NeighborSearch(scaled[::every], "euclidean")
    reach = search.query(scaled[distant], _N_COMPANIONS + 1)[1]
    # A row that is searched among finds itself, or a copy.
    company = np.where(reach[:, 0] == 0, reach[:, -1], reach[:, -2])
    return distant[company > _FAR]


def _lengths(differences: Array) -> Array:
    """Euclidean lengths of rows, whose squares might overflow."""
    unit = np.abs(differences).max() or 1.0
    return unit * np.sqrt(np.square(differences / unit).sum(axis=1))
