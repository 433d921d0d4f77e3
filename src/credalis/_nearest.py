"""The few nearest of some thousand objects, exactly, with every object looked at.

Squared Euclidean distances of many points are a product of matrices, |x|² − 2 x·y +
|y|², which takes a fraction of the time of differences but has lost some of their
digits. Here the product only says which objects can be among the k nearest, and these
few are compared by differences. With S the squared distance and L the product without
|y|², made smaller by all that rounding can have added, for |y|² = N,

    L ≤ S − N + 2cN,   S ≤ L + N + 2cN + 4c|x|²,   |x|² ≤ 2N + 2S,

where c bounds the relative error of the product. So k objects with L ≤ b are as near as
S ≤ B = (b + N + 10cN) / (1 − 8c), and those with L > B − N + 2cN are farther. As b
serves the k-th smallest of the minima of groups, which is nearly the k-th smallest of
all if there are many more groups than k, and takes a single pass.

Which objects are compared by differences depends on rounding; which are found and how
far they are does not: the same bits, whichever other points are asked about.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.utils import assert_all_finite

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Products of a block of points with all objects: they stay in the cache, and a block
# has points enough for products and calls of NumPy to be worth it.
_BLOCK_PRODUCTS = 2**20
_MAX_BLOCK_POINTS = 1024
# Points whose candidates are compared together; among many objects they are fewer, as
# each may have a share of the objects as candidates.
_MAX_BATCH_POINTS, _BATCH_PRODUCTS = 4096, 2**23
# Differences of a block of points with all objects, likewise.
_BLOCK_DIFFERENCES = 2**15

# Objects whose median is the origin: near most, however far away some are.
_N_CENTRAL = 101
# Coordinates within 2 to the power of ± this have squares that are numbers, with room.
_MAX_EXPONENT = 480
# Bounds of the relative error above this say nothing.
_MAX_ERROR = 0.01
# An object compared by differences takes this many times as long if it is one of few
# as if all are compared.
_PRICE_OF_CHOICE = 8
# Products in single precision leave more candidates; up to this many for each neighbour
# they are cheaper than products in double precision.
_CANDIDATES_OF_ROUGH = 8
# Groups of fewer objects are no help to find the nearest.
_LEAST_GROUP = 3


def suits(n_samples: int, n_neighbors: int) -> bool:
    """Whether so many neighbours are few of so many objects."""
    return _group_size(n_samples, n_neighbors) >= _LEAST_GROUP


class FewNearest:
    """The objects nearest to given points in Euclidean distance, ties by row number.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Objects to search in, finite.
    n_neighbors : int
        How many are asked for, at most the number of objects.
    """

    def __init__(self, X: Array, n_neighbors: int) -> None:
        self.n_neighbors = n_neighbors
        # Sums of entries may be infinite, and squares of points that are far away.
        with np.errstate(over="ignore", invalid="ignore"):
            assert_all_finite(X)
        self._rows = _without_copies(X, n_neighbors)
        kept = X[self._rows] if len(self._rows) < len(X) else X
        kept = np.asarray(kept, dtype=np.float64)
        self._columns = np.ascontiguousarray(kept.T)
        self._screens = _screens(kept, n_neighbors)

    def query(self, points: Array) -> tuple[Indices, Array]:
        """Row numbers and distances (n_points, n_neighbors), nearest first."""
        points = np.asarray(points, dtype=np.float64)
        found = np.empty((len(points), self.n_neighbors), dtype=np.intp)
        lengths = np.empty((len(points), self.n_neighbors))
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            assert_all_finite(points)
            size = max(1, _BATCH_PRODUCTS // self._columns.shape[1])
            size = min(_MAX_BATCH_POINTS, size)
            for start in range(0, len(points), size):
                batch = slice(start, start + size)
                self._find(points[batch], found[batch], lengths[batch])
        return self._rows[found], lengths

    def _find(self, points: Array, found: Indices, lengths: Array) -> None:
        """Neighbours of points, by candidates where these are few."""
        pending = np.arange(len(points))
        for screen in self._screens:
            if len(pending) == 0:
                return
            owners, candidates, counts = screen.candidates(points[pending])
            columns = np.ascontiguousarray(points[pending].T)
            # Padded to the length of the longest, lists of about the same length.
            low, high = self.n_neighbors - 1, 2 * self.n_neighbors
            while low < counts.max():
                is_in = (counts > low) & (counts <= high)
                if is_in.any():
                    chosen = is_in[owners]
                    who = np.flatnonzero(is_in)
                    found[pending[who]], lengths[pending[who]] = self._nearest(
                        columns, owners[chosen], candidates[chosen], counts[who]
                    )
                low, high = high, 2 * high
            pending = pending[counts < self.n_neighbors]
        size = max(1, _BLOCK_DIFFERENCES // self._columns.shape[1])
        for start in range(0, len(pending), size):
            rows = pending[start : start + size]
            found[rows], lengths[rows] = self._nearest_of_all(points[rows])

    def _nearest(
        self, columns: Array, owners: Indices, candidates: Indices, counts: Indices
    ) -> tuple[Indices, Array]:
        """The nearest of some candidates, which come by owner and row number."""
        squares = np.zeros(len(owners))
        for point, x in zip(columns, self._columns, strict=True):
            difference = point.take(owners)
            difference -= x.take(candidates)
            difference *= difference
            squares += difference
        is_listed = np.arange(counts.max()) < counts[:, None]
        lengths = np.full(is_listed.shape, np.inf)
        found = np.zeros(is_listed.shape, dtype=np.intp)
        lengths[is_listed], found[is_listed] = np.sqrt(squares), candidates
        # Stable, so that what is beyond a list comes after infinite distances.
        order = lengths.argsort(axis=1, kind="stable")[:, : self.n_neighbors]
        return (
            np.take_along_axis(found, order, axis=1),
            np.take_along_axis(lengths, order, axis=1),
        )

    def _nearest_of_all(self, points: Array) -> tuple[Indices, Array]:
        """The nearest of all objects, by differences."""
        k, n_samples = self.n_neighbors, self._columns.shape[1]
        squares = np.zeros((len(points), n_samples))
        difference = np.empty_like(squares)
        for point, x in zip(points.T, self._columns, strict=True):
            np.subtract(x, point[:, None], out=difference)
            difference *= difference
            squares += difference
        lengths = np.sqrt(squares)
        last = np.partition(lengths, k - 1, axis=1)[:, k - 1 : k]
        is_nearer, is_last = lengths < last, lengths == last
        n_free = k - is_nearer.sum(axis=1, keepdims=True)
        is_nearer |= is_last & (is_last.cumsum(axis=1) <= n_free)
        found = (np.flatnonzero(is_nearer) % n_samples).reshape(len(points), k)
        values = np.take_along_axis(lengths, found, axis=1)
        order = values.argsort(axis=1, kind="stable")
        return (
            np.take_along_axis(found, order, axis=1),
            np.take_along_axis(values, order, axis=1),
        )


@dataclass(frozen=True, eq=False)
class _Screen:
    """Which objects can be among the nearest, by products of some precision.

    Attributes
    ----------
    centered : array of shape (n_samples, n_features)
        Objects minus the origin, times the factor.
    n_neighbors : int
        How many are asked for.
    dtype : type
        Precision of the products.
    max_candidates : int
        Points with more are left out.
    origin : array of shape (n_features,)
        What is subtracted from points, which are then multiplied by the factor.
    factor : float
        A power of 2 that makes the largest coordinate of an object about 1.
    """

    centered: Array
    n_neighbors: int
    dtype: type[np.floating]
    max_candidates: int
    origin: Array
    factor: float

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return len(self.centered)

    @cached_property
    def n_groups(self) -> int:
        """Number of groups, of which the minima are taken."""
        return -(-self.n_samples // _group_size(self.n_samples, self.n_neighbors))

    @cached_property
    def error(self) -> float:
        """The bound c of the relative error."""
        return _error(self.centered.shape[1], self.dtype)

    @cached_property
    def objects(self) -> NDArray[np.floating]:
        """−2x and |x|² made smaller, of shape (n_padded, n_features + 1).

        The first of a group is followed by the others in steps of the number of groups:
        objects that are neighbours in the table, and may be in space, are in different
        groups. The last ones are there for groups of equal size, infinitely far away.
        """
        n_padded = -(-self.n_samples // self.n_groups) * self.n_groups
        objects = np.zeros((n_padded, self.centered.shape[1] + 1), dtype=self.dtype)
        kept = objects[: self.n_samples]
        kept[:, :-1] = self.centered
        kept[:, -1] = (1 - 2 * self.error) * _squares(kept[:, :-1])
        kept[:, :-1] *= -2
        objects[self.n_samples :, -1] = np.inf
        return objects

    def candidates(self, points: Array) -> tuple[Indices, Indices, Indices]:
        """Points and objects of all candidates, in order, and how many a point has.

        Points without any are those that have too many, or are too far away.
        """
        n_points, n_all = len(points), len(self.objects)
        extended = np.ones((n_points, points.shape[1] + 1), dtype=self.dtype)
        extended[:, :-1] = self.factor * (points - self.origin)
        squares = _squares(extended[:, :-1])
        is_far = ~(squares <= self._largest_square())
        extended[is_far], squares[is_far] = 0.0, 0.0
        size = min(_block_size(n_all), n_points)
        room = np.empty(n_all * size, dtype=self.dtype)
        found = []
        for start in range(0, n_points, size):
            block = slice(start, min(start + size, n_points))
            width = block.stop - start
            products = room[: n_all * width].reshape(n_all, width)
            np.matmul(self.objects, extended[block].T, out=products)
            keys = self._near(products, squares[block], is_far[block])
            found.append(keys + start * self.n_samples)
        keys = np.concatenate(found)
        keys.sort()
        owners, candidates = np.divmod(keys, self.n_samples)
        counts = np.bincount(owners, minlength=n_points)
        is_long = counts > self.max_candidates
        if is_long.any():
            kept = ~is_long[owners]
            owners, candidates = owners[kept], candidates[kept]
            counts[is_long] = 0
        return owners, candidates, counts

    def _near(
        self, products: NDArray[np.floating], squares: Array, is_far: NDArray[np.bool_]
    ) -> Indices:
        """Point times the number of objects plus object, of candidates of a block."""
        n_points = products.shape[1]
        n_grouped = self.n_groups * n_points
        minima = products.reshape(-1, n_grouped).min(axis=0)
        minima = np.ascontiguousarray(minima.reshape(self.n_groups, n_points).T)
        last = self.n_neighbors - 1
        least = np.partition(minima, last, axis=1)[:, last]
        limits = self._limits(least.astype(np.float64), squares)
        limits[is_far] = -np.inf
        is_near = minima <= limits[:, None]
        if np.count_nonzero(is_near) > 2 * self.n_neighbors * n_points:
            is_near[is_near.sum(axis=1) > self.max_candidates] = False
        hits = np.flatnonzero(is_near)
        if len(hits) == 0:
            return hits
        owners, groups = np.divmod(hits, self.n_groups)
        members = products.reshape(-1, n_grouped)
        members = members.take(groups * n_points + owners, axis=1)
        is_candidate = members <= limits[owners]
        places, hits = np.divmod(np.flatnonzero(is_candidate), len(hits))
        objects = places * self.n_groups + groups[hits]
        return owners[hits] * self.n_samples + objects

    def _limits(self, least: Array, squares: Array) -> NDArray[np.floating]:
        """Above which products are those of objects that are farther than others.

        This is B − N + 2cN of the module's docstring with one c more for what is
        rounded here, in N, and where distances are compared.
        """
        c = self.error
        reach = np.maximum(least + (1 + 12 * c) * squares, 0.0)
        limits = (1 + 10 * c) * reach - (1 - 4 * c) * squares + self._underflow()
        return np.nextafter(limits.astype(self.dtype), self.dtype(np.inf))

    def _underflow(self) -> float:
        """What is lost of products and squares of differences below all numbers."""
        n_terms = self.objects.shape[1]
        own, common = np.finfo(self.dtype), np.finfo(np.float64)
        of_squares = self.factor**2 * float(common.smallest_subnormal)
        return 8 * n_terms * (float(own.tiny) + of_squares)

    def _largest_square(self) -> float:
        """N up to which there are products, and squared distances that are finite."""
        largest = float(np.finfo(self.dtype).max)
        return min(largest**0.6, 2.0**1000 * self.factor**2)


def _block_size(n_objects: int) -> int:
    """Points of a block: 16 times an odd number.

    Columns that are a power of 2 apart would share a few lines of the cache.
    """
    most = min(_MAX_BLOCK_POINTS, _BLOCK_PRODUCTS // n_objects)
    return max(16, most // 32 * 32 - 16)


def _screens(X: Array, n_neighbors: int) -> list[_Screen]:
    """Screens to try one after the other, none if they are of no use."""
    n_samples, n_features = X.shape
    most = max(n_samples // _PRICE_OF_CHOICE, 2 * n_neighbors)
    if n_samples <= most:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        origin = np.median(X[:: -(-n_samples // _N_CENTRAL)], axis=0)
        centered = X - origin
        largest = max(-centered.min(initial=0.0), centered.max(initial=0.0))
    if not 2.0**-_MAX_EXPONENT < largest < 2.0**_MAX_EXPONENT:
        return []
    factor = 2.0 ** -np.frexp(largest)[1]
    centered *= factor
    rough = min(most, _CANDIDATES_OF_ROUGH * n_neighbors)
    return [
        _Screen(centered, n_neighbors, dtype, limit, origin, factor)
        for dtype, limit in ((np.float32, rough), (np.float64, most))
        if _error(n_features, dtype) < _MAX_ERROR
    ]


def _group_size(n_samples: int, n_neighbors: int) -> int:
    """Objects of a group.

    Each group has a minimum to be ranked, and of about one group for each neighbour
    all objects are looked at: as much of the one as of the other.
    """
    return max(1, round(np.sqrt(n_samples / n_neighbors)))


def _error(n_features: int, dtype: DTypeLike) -> float:
    """A bound of the error of |x|² − 2 x·y in units of (|x| + |y|)².

    Half of a last digit for each of the d + 1 terms of the product, in whatever order
    they are added, and of the d terms of |x|², and a few for coordinates that have been
    rounded. Distances by differences, of d terms, are as exact.
    """
    return (2 * n_features + 10) * float(np.finfo(dtype).eps) / 2


def _squares(X: NDArray[np.floating]) -> Array:
    """Squared norms of rows, in double precision."""
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def _without_copies(X: Array, n_kept: int) -> Indices:
    """Rows without those that have this many equal ones before them.

    They are never among so many nearest, and would only be further candidates.
    """
    if len(np.unique(X[:, 0])) == len(X):
        return np.arange(len(X))
    _, owner = np.unique(X, axis=0, return_inverse=True)
    order = np.argsort(owner.ravel(), kind="stable")
    ordered = owner.ravel()[order]
    first = np.searchsorted(ordered, ordered)
    return np.sort(order[np.arange(len(X)) - first < n_kept])
