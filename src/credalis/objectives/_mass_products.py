"""Products of two masses of each object, kept while a few objects move at a time."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Array = NDArray[np.float64]

# How many times as many products as at first there may be, and which share of the
# objects may have got masses on other sets, before objects are grouped anew.
_MAX_GROWTH = 2.0
_MAX_CHANGED = 0.5

# A group of its own takes as long as so many products.
_PRODUCTS_PER_GROUP = 1500


class MassProducts:
    """m_ja m_jb for the sets A and B that objects j have masses on.

    Objects are grouped so that those of a group have masses on the same few sets: the
    sums of products that many rows need, one for each pair of sets, are a few products
    of small matrices. What is kept belongs to the masses that came last; only objects
    that have moved since then are looked at.

    Parameters
    ----------
    masses : array of shape (n_samples, n_focal_sets)
        The masses.
    dtype : type, default=np.float64
        Of the products: float32 takes half the time.
    """

    def __init__(self, masses: Array, dtype: type = np.float64) -> None:
        self._masses = masses.copy()
        self._dtype = dtype
        labels = _labels(masses > 0)
        order = np.argsort(labels, kind="stable")
        starts = np.flatnonzero(np.diff(labels.take(order), prepend=-1))
        ordered = masses.take(order, axis=0)
        self._is_used = np.logical_or.reduceat(ordered > 0, starts, axis=0)
        self._groups = [
            _Group.of(objects, used)
            for objects, used in zip(
                np.split(order, starts[1:]), self._is_used, strict=True
            )
        ]
        # The group of each object, and its place there.
        self._group_of = labels
        self._place = np.empty_like(order)
        for group in self._groups:
            self._place[group.objects] = np.arange(len(group.objects))
        self._lay_out()
        self._size = self._counted_size()
        self._first_size, self._n_changed = self._size, 0

    def _lay_out(self) -> None:
        """Where sums of each group go, and which of them are of the same sets."""
        n_sets = self._masses.shape[1]
        first, second = (
            np.concatenate([getattr(group, name) for group in self._groups])
            for name in ("first", "second")
        )
        self._bounds = np.cumsum([0, *(len(group.first) for group in self._groups)])
        # A product of two sets is that of the same sets the other way round.
        own, other = np.arange(len(first)), np.flatnonzero(first != second)
        turned = second[other] * n_sets + first[other]
        pairs = np.concatenate([first * n_sets + second, turned])
        places = pairs, np.concatenate([own, other])
        shape = n_sets**2, len(first)
        self._of_pairs = csr_array(
            (np.ones(len(pairs), self._dtype), places), shape=shape
        )

    @property
    def size(self) -> int:
        """Number of products."""
        return self._size

    def _counted_size(self) -> int:
        """The same, asked of all groups: once for each change, not in each block."""
        return sum(group.size for group in self._groups)

    @property
    def is_old(self) -> bool:
        """Whether other groups may have clearly fewer products.

        There are more than at first, or many objects have masses on other sets.
        """
        has_grown = self.size > _MAX_GROWTH * self._first_size
        return has_grown or self._n_changed > _MAX_CHANGED * len(self._masses)

    def update(self, masses: Array) -> None:
        """Follow the masses of all objects."""
        # To look for the few numbers that differ is faster than to ask every row.
        differs = np.flatnonzero(masses != self._masses) // masses.shape[1]
        objects = differs[np.diff(differs, prepend=-1) > 0]
        moved = masses[objects]
        is_used = moved > 0
        is_other = is_used != (self._masses[objects] > 0)
        self._n_changed += int(is_other.any(axis=1).sum())
        self._masses[objects] = moved
        is_new = is_used & ~self._is_used[self._group_of[objects]]
        strays = np.flatnonzero(is_new.any(axis=1))
        if len(strays):
            self._place_anew(objects[strays], is_used[strays])
        owners = self._group_of[objects]
        by_group = np.argsort(owners, kind="stable")
        places, moved = self._place[objects[by_group]], moved[by_group]
        bounds = np.searchsorted(owners[by_group], np.arange(len(self._groups) + 1))
        for group, (start, stop) in zip(self._groups, pairwise(bounds), strict=True):
            if start < stop and group.products is not None:
                group.products[places[start:stop]] = group.multiplied(moved[start:stop])

    def _place_anew(
        self, objects: NDArray[np.intp], is_used: NDArray[np.bool_]
    ) -> None:
        """Objects that have got masses on sets which their groups do not have.

        Each goes where that adds fewest products. It leaves zeros behind.
        """
        products = self._computed()
        for k, place in zip(self._group_of[objects], self._place[objects], strict=True):
            products[k][place] = 0.0
        used, of_groups = (part.astype(np.float64) for part in (is_used, self._is_used))
        n_before = of_groups.sum(axis=1)
        n_after = n_before + used @ (1.0 - of_groups).T
        sizes = np.array([len(group.objects) for group in self._groups])
        added = (sizes + 1) * _n_pairs(n_after) - sizes * _n_pairs(n_before)
        chosen = added.argmin(axis=1)
        self._group_of[objects] = chosen
        has_more = False
        for k in np.unique(chosen):
            mine = chosen == k
            some, group = objects[mine], self._groups[k]
            now = self._is_used[k] | is_used[mine].any(axis=0)
            if (now == self._is_used[k]).all():
                self._place[some] = len(group.objects) + np.arange(len(some))
                group.append(some, products[k])
                continue
            has_more = True
            # Without those that have left.
            own = np.flatnonzero(self._group_of == k)
            self._place[own] = np.arange(len(own))
            self._is_used[k] = now
            self._groups[k] = _Group.of(own, now)
        if has_more:
            self._lay_out()
        self._size = self._counted_size()

    def _computed(self) -> list[Array]:
        """The products of each group."""
        return [group.computed(self._masses, self._dtype) for group in self._groups]

    def sums(self, counts: NDArray) -> Array:
        """Σ_j counts_ji m_ja m_jb for all pairs of sets.

        Parameters
        ----------
        counts : array of shape (n_samples, n_rows)
            Any numbers.

        Returns
        -------
        array of shape (n_focal_sets, n_focal_sets, n_rows)
        """
        sums = np.empty((self._bounds[-1], counts.shape[1]), self._dtype)
        for group, products, (start, stop) in zip(
            self._groups, self._computed(), pairwise(self._bounds), strict=True
        ):
            # Small numbers become large ones where they are needed, in the cache.
            some: Array = counts.take(group.objects, axis=0).astype(self._dtype)
            np.matmul(products.T, some, out=sums[start:stop])
        n_sets = self._masses.shape[1]
        return (self._of_pairs @ sums).reshape(n_sets, n_sets, -1)


def _labels(is_used: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Groups of objects, given the sets that each of them has masses on.

    A group is divided by whether objects have a mass on one of the sets, as long as
    that saves products.
    """
    packed = np.packbits(is_used, axis=1)
    keys = packed.view(f"V{packed.shape[1]}")[:, 0]
    _, firsts, kinds = np.unique(keys, return_index=True, return_inverse=True)
    patterns = is_used[firsts].astype(np.float64)
    n_objects = np.bincount(kinds).astype(np.float64)
    labels = np.empty(len(patterns), dtype=np.intp)
    waiting, n_groups = [np.arange(len(patterns))], 0
    while waiting:
        group = waiting.pop()
        used, sizes = patterns[group], n_objects[group]
        n_with = sizes @ used
        with_it = n_with * _n_products(used.T @ used)
        without_it = (sizes.sum() - n_with) * _n_products((1.0 - used).T @ used)
        divided = with_it + without_it + _PRODUCTS_PER_GROUP
        best = int(divided.argmin())
        if divided[best] < sizes.sum() * _n_products(used.sum(axis=0)):
            waiting += [group[used[:, best] > 0], group[used[:, best] == 0]]
        else:
            labels[group] = n_groups
            n_groups += 1
    return labels[kinds]


def _n_products(counts: Array) -> Array:
    """Pairs of sets that are used at all, (...)."""
    return _n_pairs((counts > 0).sum(axis=-1))


def _n_pairs(n_sets: NDArray) -> Array:
    """Pairs of so many sets, those of a set with itself included."""
    return n_sets * (n_sets + 1) / 2


@dataclass(eq=False)
class _Group:
    """Some objects, and the sets they have masses on.

    Attributes
    ----------
    objects : array of int, shape (n_objects,)
        Which objects, also those that have left.
    first, second : array of shape (n_pairs,)
        Numbers of the sets that are multiplied.
    products : array of shape (n_objects, n_pairs), or None
        The products, 0 of objects that have left; None if they are still to be
        computed.
    """

    objects: NDArray[np.intp]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    products: Array | None = None

    @classmethod
    def of(cls, objects: NDArray[np.intp], is_used: NDArray[np.bool_]) -> "_Group":
        """With all pairs of the sets that are used."""
        used = np.flatnonzero(is_used)
        first, second = _upper_triangle(len(used))
        return cls(objects, used[first], used[second])

    @property
    def size(self) -> int:
        """Number of products."""
        return len(self.objects) * len(self.first)

    def multiplied(self, masses: Array) -> Array:
        """Products of masses, (n_some, n_pairs)."""
        return masses.take(self.first, axis=1) * masses.take(self.second, axis=1)

    def computed(self, masses: Array, dtype: type) -> Array:
        """The products, from the masses of all objects if there are none yet."""
        if self.products is None:
            self.products = self.multiplied(masses[self.objects]).astype(dtype)
        return self.products

    def append(self, objects: NDArray[np.intp], products: Array) -> None:
        """More objects, 0 after the products of the others."""
        self.objects = np.concatenate([self.objects, objects])
        room = np.zeros((len(objects), products.shape[1]), products.dtype)
        self.products = np.concatenate([products, room])


@lru_cache
def _upper_triangle(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of a matrix on and above its diagonal."""
    return np.triu_indices(size)
