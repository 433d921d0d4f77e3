"""Products of two masses of each object, kept while a few objects move at a time."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# How many times as many products as at first there may be before objects are grouped
# anew.
_MAX_GROWTH = 1.25


class MassProducts:
    """m_ja m_jb for the sets A and B that objects j have masses on.

    Objects whose largest masses are on the same set have masses on few sets: the sums
    of products that many rows need, one for each pair of sets, are a few products of
    small matrices. What is kept belongs to the masses that came last; only objects that
    have moved since then are looked at.

    Parameters
    ----------
    masses : array of shape (n_samples, n_focal_sets)
        The masses.
    """

    def __init__(self, masses: Array) -> None:
        self._masses = masses.copy()
        # Small numbers are sorted in linear time.
        leaders = masses.argmax(axis=1).astype(np.uint16)
        self.order = np.argsort(leaders, kind="stable")
        self._place = np.empty_like(self.order)
        self._place[self.order] = np.arange(len(masses))
        is_first = np.diff(leaders.take(self.order), prepend=-1) != 0
        starts = np.flatnonzero(is_first)
        self._ends = np.append(starts, len(masses))
        self._group_of = np.cumsum(is_first) - 1
        ordered = masses.take(self.order, axis=0)
        self._is_used = np.logical_or.reduceat(ordered > 0, starts, axis=0)
        self._groups = [
            _Group.of(slice(*ends), used)
            for ends, used in zip(pairwise(self._ends), self._is_used, strict=True)
        ]
        self._first_size, self._n_moved = self.size, 0

    @property
    def size(self) -> int:
        """Number of products."""
        return sum(group.size for group in self._groups)

    @property
    def is_old(self) -> bool:
        """Whether other groups may have clearly fewer products.

        There are more than at first, or as many objects have moved as there are.
        """
        has_grown = self.size > _MAX_GROWTH * self._first_size
        return has_grown or self._n_moved >= len(self._masses)

    def update(self, masses: Array) -> None:
        """Follow the masses of all objects."""
        places = np.sort(self._place[(masses != self._masses).any(axis=1)])
        self._n_moved += len(places)
        rows = self.order[places]
        moved = self._masses[rows] = masses[rows]
        owners = self._group_of[places]
        is_new = (moved > 0) & ~self._is_used[owners]
        for k in np.unique(owners[is_new.any(axis=1)]):
            self._is_used[k] |= is_new[owners == k].any(axis=0)
            self._groups[k] = _Group.of(self._groups[k].places, self._is_used[k])
        bounds = np.searchsorted(places, self._ends)
        for group, (start, stop) in zip(self._groups, pairwise(bounds), strict=True):
            if start < stop and group.products is not None:
                own = places[start:stop] - group.places.start
                group.products[own] = group.multiplied(moved[start:stop])

    def sums(self, counts: NDArray) -> Array:
        """Σ_j counts_ji m_ja m_jb for pairs of sets with a <= b, others are 0.

        Parameters
        ----------
        counts : array of shape (n_samples, n_rows)
            Any numbers, objects in the order of `order`.

        Returns
        -------
        array of shape (n_focal_sets, n_focal_sets, n_rows)
        """
        n_sets = self._masses.shape[1]
        sums = np.zeros((n_sets**2, counts.shape[1]))
        for group in self._groups:
            if group.products is None:
                own = self._masses[self.order[group.places]]
                group.products = group.multiplied(own)
            pairs = group.first * n_sets + group.second
            sums[pairs] += group.products.T @ counts[group.places]
        return sums.reshape(n_sets, n_sets, -1)


@dataclass(eq=False)
class _Group:
    """Some objects next to each other in the order, and the sets they have masses on.

    Attributes
    ----------
    places : slice
        Which objects.
    first, second : array of shape (n_pairs,)
        Numbers of the sets that are multiplied.
    products : array of shape (n_objects, n_pairs), or None
        The products; None if they are still to be computed.
    """

    places: slice
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    products: Array | None = None

    @classmethod
    def of(cls, places: slice, is_used: NDArray[np.bool_]) -> "_Group":
        """With all pairs of the sets that are used."""
        used = np.flatnonzero(is_used)
        first, second = _upper_triangle(len(used))
        return cls(places, used[first], used[second])

    @property
    def size(self) -> int:
        """Number of products."""
        return (self.places.stop - self.places.start) * len(self.first)

    def multiplied(self, masses: Array) -> Array:
        """Products of masses, (n_some, n_pairs)."""
        return masses.take(self.first, axis=1) * masses.take(self.second, axis=1)


@lru_cache
def _upper_triangle(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of a matrix on and above its diagonal."""
    return np.triu_indices(size)
