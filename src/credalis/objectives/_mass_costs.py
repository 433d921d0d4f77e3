"""The mass update common to all methods with prototypes.

Arrays have the focal sets on the first axis and the objects on the second: sums over
the few focal sets then run along contiguous memory, which is several times as fast.
"""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets

# Stands for a distance of zero, where the update would divide by it.
SMALLEST_COST = np.finfo(np.float64).tiny

# Entries of one temporary array: a few of them fit in the cache of a core.
_BLOCK_ENTRIES = 2**14
_MIN_BLOCK_ROWS = 64


def row_blocks(n_samples: int, n_focal_sets: int) -> Iterator[slice]:
    """Slices of objects, so that their arrays over the focal sets stay in the cache."""
    n_rows = max(_MIN_BLOCK_ROWS, _BLOCK_ENTRIES // n_focal_sets)
    for start in range(0, n_samples, n_rows):
        yield slice(start, start + n_rows)


@lru_cache(maxsize=8)
def cluster_shares(focal_sets: FocalSets) -> NDArray[np.float64]:
    """1 / |A_j| for the clusters of A_j, 0 elsewhere, (n_focal_sets, n_clusters)."""
    shares = focal_sets.membership / np.maximum(focal_sets.cardinality, 1)[:, None]
    shares.setflags(write=False)
    return shares


def set_costs(
    squared_distances: NDArray[np.float64],
    focal_sets: FocalSets,
    alpha: float,
    delta: float,
) -> NDArray[np.float64]:
    """Cost of a unit of mass: |A_j|^alpha d_ij², and delta² for the empty set.

    Parameters
    ----------
    squared_distances : array of shape (n_focal_sets, n_samples)
        d_ij²; the row of the empty set is not read. Overwritten.
    focal_sets : FocalSets
        What the rows stand for.
    alpha : float
        Exponent of the cardinality.
    delta : float
        Distance to noise.

    Returns
    -------
    array of shape (n_focal_sets, n_samples), all positive
    """
    costs = np.maximum(squared_distances, SMALLEST_COST, out=squared_distances)
    if alpha != 0:
        sizes = np.maximum(focal_sets.cardinality, 1).astype(np.float64)
        costs *= (sizes**alpha)[:, None]
    costs[focal_sets.cardinality == 0] = delta**2
    return costs


def masses_from_costs(costs: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """Masses minimising Σ_j m_ij^beta c_ij: m_ij proportional to c_ij^(-1 / (beta-1)).

    The costs are compared with the smallest of their object, so that no power
    overflows however close beta is to 1. An object on a prototype gives it all its
    mass; on several, the mass is shared according to the cardinalities.

    Parameters
    ----------
    costs : array of shape (n_focal_sets, n_samples)
        Positive costs.
    beta : float
        Exponent of the masses, > 1.

    Returns
    -------
    array of shape (n_focal_sets, n_samples)
    """
    masses = costs.min(axis=0) / costs
    if beta != 2:
        np.power(masses, 1 / (beta - 1), out=masses)
    masses /= masses.sum(axis=0)
    return masses


def mass_weights(masses: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """m_ij^beta."""
    return masses * masses if beta == 2 else masses**beta
