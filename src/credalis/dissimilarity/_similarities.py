"""Similarities exp(-γ d²) of any block of pairs, never those of all pairs at once."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_array

from credalis._checks import check_flag, naming
from credalis.dissimilarity._gower import Gower

# φ(δ0): objects δ0 apart should be in conflict to this degree.
TARGET_AT_SCALE = 0.95

# Rows of a matrix that are compared with its columns at a time.
_ROWS = 128

# Relative asymmetry that passes as rounding.
_SYMMETRY_TOLERANCE = 1e-8


def decay_rate(scale: float) -> float:
    """γ = -log(0.05) / δ0²."""
    return -np.log(1 - TARGET_AT_SCALE) / scale**2


def transform(dissimilarities: ArrayLike, scale: float) -> NDArray[np.float64]:
    """φ(d) = 1 - exp(-γ d²): 0 at 0, 0.95 at ``scale``, towards 1 beyond.

    Parameters
    ----------
    dissimilarities : array-like
        d, not negative.
    scale : float
        δ0, positive.

    Examples
    --------
    >>> from credalis.dissimilarity import transform
    >>> transform([0, 1, 2], scale=2).round(4)
    array([0.    , 0.5271, 0.95  ])
    """
    return -np.expm1(_exponents(np.asarray(dissimilarities, float), decay_rate(scale)))


def _exponents(
    dissimilarities: NDArray[np.float64], rate: float
) -> NDArray[np.float64]:
    """-γ d², minus infinity where that is no number."""
    with np.errstate(over="ignore"):
        return -rate * np.square(dissimilarities)


def check_dissimilarities(
    D: ArrayLike, *, symmetrize: bool = False, name: str = "X"
) -> NDArray[np.float64]:
    """A square, finite, non-negative, symmetric matrix with zero diagonal.

    Parameters
    ----------
    D : array-like of shape (n_samples, n_samples)
        Dissimilarities.
    symmetrize : bool, default=False
        Replace an asymmetric matrix by (D + Dᵀ) / 2 instead of refusing it.
    name : str, default="X"
        What the matrix is called in messages.
    """
    check_flag("symmetrize", symmetrize)
    with naming(name):
        matrix = check_array(D, dtype=np.float64, input_name=name, ensure_min_samples=2)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} must be a square matrix of dissimilarities, got shape "
            f"{matrix.shape}"
        )
    if matrix.min() < 0:
        raise ValueError(
            f"{name} must hold no negative dissimilarities, the smallest is "
            f"{matrix.min():.3g}"
        )
    if np.diagonal(matrix).any():
        raise ValueError(
            f"{name} must have a zero diagonal, the largest entry on it is "
            f"{np.diagonal(matrix).max():.3g}"
        )
    gap = _largest_asymmetry(matrix)
    if gap == 0:
        return matrix
    if gap > _SYMMETRY_TOLERANCE * matrix.max() and not symmetrize:
        raise ValueError(
            f"{name} must be symmetric, entries differ from their mirror image by up "
            f"to {gap:.3g} (the largest entry is {matrix.max():.3g}): pass "
            "symmetrize=True to use the mean of both"
        )
    mean = matrix + matrix.T
    mean /= 2
    return mean


def _largest_asymmetry(matrix: NDArray[np.float64]) -> float:
    """The largest |d_ij - d_ji|, some rows at a time: a second matrix may not fit."""
    starts = range(0, len(matrix), _ROWS)
    blocks = [slice(start, start + _ROWS) for start in starts]
    return max(float(np.abs(matrix[b] - matrix[:, b].T).max()) for b in blocks)


def dissimilarities_between(
    X: NDArray[np.float64], Y: NDArray[np.float64] | None, metric: Any
) -> NDArray[np.float64]:
    """Dissimilarities of the rows of X and Y, or of X, by any metric, (n_X, n_Y)."""
    if isinstance(metric, Gower):
        return metric.between(X, Y)
    # Callers look at what is not finite.
    with np.errstate(over="ignore", invalid="ignore"):
        return pairwise_distances(X, Y, metric=metric)


def sample_pairs(
    n_samples: int,
    n_partners: int,
    rng: np.random.RandomState,
    dtype: type[np.signedinteger] = np.intp,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """For each object i a random set J(i) of other objects, without repetition.

    Parameters
    ----------
    n_samples, n_partners : int
        Number of objects, and how many are in each set.
    rng : RandomState
        Draws them.
    dtype : type, default=np.intp
        Of the numbers of the objects: shorter ones take less room.

    Returns
    -------
    rows, columns : array of int, shape (n_samples * n_partners,)
    """
    if n_partners > n_samples - 1:
        raise ValueError(
            f"pairs_per_sample must be <= n_samples - 1 = {n_samples - 1}, "
            f"got {n_partners}"
        )
    columns = np.empty((n_samples, n_partners), dtype=dtype)
    objects = np.arange(n_samples, dtype=dtype)
    # The legacy generator would shuffle all objects to draw the partners of one.
    generator = np.random.default_rng(rng.randint(2**31, size=4))
    for partners in columns:
        partners[:] = generator.choice(
            n_samples - 1, n_partners, replace=False, shuffle=False
        )
    # Objects from i on have the numbers after theirs.
    columns += columns >= objects[:, None]
    return np.repeat(objects, n_partners), columns.ravel()


Array = NDArray[np.floating]

# Rounding of -γ d² that may pass, although the similarity can exceed 1 by as much. It
# is far below the noise of the blocks on which a network is trained in float32.
_ROUNDING_TOLERANCE = 1e-3

# Exponents below this count as this one: the similarity is 0 for all purposes.
_SMALLEST_EXPONENT = -80.0

# Any centre of the points will do; this many of them give one.
_CENTER_POINTS = 1000

# Coordinates gathered at a time for pairs.
_MAX_GATHERED = 50_000

# Coordinates up to which points are prepared once and for all.
MAX_STORED = 2**20


class Similarities(ABC):
    """exp(-γ d_ij²) for the pairs of any two ranges of objects."""

    n_samples: int

    @abstractmethod
    def take(self, objects: NDArray[np.intp]) -> "Similarities":
        """The same for some objects, in the order given."""

    @abstractmethod
    def between(self, rows: slice) -> "Similarities":
        """The same for a range of objects, without copying."""

    @abstractmethod
    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        """Write the similarities of rows and columns, shape (n_rows, n_columns)."""

    def block(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        """The similarities of rows and columns, (n_rows, n_columns)."""
        shape = [len(range(*each.indices(self.n_samples))) for each in (rows, columns)]
        out = np.empty(shape)
        self.fill(rows, columns, out)
        return out

    def matrix(self) -> NDArray[np.float64]:
        """The similarities of all pairs, (n_samples, n_samples)."""
        return self.block(slice(None), slice(None))

    @abstractmethod
    def pairs(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """The similarities of the pairs (rows[k], columns[k])."""


@dataclass(frozen=True, eq=False)
class EuclideanSimilarities(Similarities):
    """Similarities from Euclidean distances between points, or from their squares.

    -γ ‖x_i - x_j‖² is one product of two augmented matrices: with y = √(2γ) x it is
    (y_i, -‖y_i‖²/2, 1) · (y_j, 1, -‖y_j‖²/2). If dissimilarities are the squared
    distances, -γ ‖x_i - x_j‖⁴ is minus the square of such a product, with √γ for γ.

    Attributes
    ----------
    left, right : array of shape (n_features + 2, n_samples)
        The augmented points, as columns.
    has_rounding : bool
        Whether rounding can make squares of distances clearly negative, as it does far
        from the centre.
    has_underflow : bool
        Whether similarities can be too small for a normal number; processors are slow
        at such numbers.
    is_squared : bool
        Whether dissimilarities are the squared distances.
    """

    left: Array
    right: Array
    has_rounding: bool = False
    has_underflow: bool = False
    is_squared: bool = False

    @classmethod
    def from_points(
        cls,
        points: NDArray[np.float64],
        scale: float,
        dtype: type = np.float64,
        *,
        is_squared: bool = False,
    ) -> "EuclideanSimilarities":
        """From points (n_samples, n_features) and the scale δ0."""
        rate = decay_rate(scale)
        if is_squared:
            rate = np.sqrt(rate)
        # Differences do not change when a centre is removed, but their rounding does;
        # far outliers would move the mean away from all the others.
        some = points[:: 1 + len(points) // _CENTER_POINTS]
        # What overflows is refused below.
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.subtract(points.T, np.median(some, axis=0)[:, None], order="C")
            scaled *= np.sqrt(2 * rate)
            half_norms = -0.5 * np.einsum("ij,ij->j", scaled, scaled)
        limits = np.finfo(dtype)
        farthest = half_norms.min(initial=0.0)
        lowest, smallest = limits.min, np.log(limits.tiny)
        if is_squared:
            lowest, smallest = -np.sqrt(limits.max), -np.sqrt(-smallest)
        if not farthest > lowest / 4:
            raise ValueError(
                f"X must have distances that can be squared as {limits.dtype}, the "
                f"farthest are {np.sqrt(-farthest):.3g} times δ0: scale the data, "
                "remove outliers, or set dtype='float64'"
            )
        left: Array = np.empty((len(scaled) + 2, len(points)), dtype=dtype)
        left[:-2], left[-2], left[-1] = scaled, half_norms, 1.0
        right = np.empty_like(left)
        right[:-2], right[-2], right[-1] = left[:-2], 1.0, left[-2]
        return cls(
            left,
            right,
            bool(limits.eps * farthest < -_ROUNDING_TOLERANCE),
            # Points on opposite sides are at most twice as far from each other.
            bool(4 * farthest < smallest),
            is_squared,
        )

    @property
    def n_samples(self) -> int:  # type: ignore[override]
        """Number of objects."""
        return self.left.shape[1]

    def take(self, objects: NDArray[np.intp]) -> "EuclideanSimilarities":
        """The same for some objects."""
        return EuclideanSimilarities(
            np.take(self.left, objects, axis=1),
            np.take(self.right, objects, axis=1),
            self.has_rounding,
            self.has_underflow,
            self.is_squared,
        )

    def between(self, rows: slice) -> "EuclideanSimilarities":
        """The same for a range of objects."""
        return EuclideanSimilarities(
            self.left[:, rows],
            self.right[:, rows],
            self.has_rounding,
            self.has_underflow,
            self.is_squared,
        )

    @property
    def exponent_bounds(self) -> tuple[float, float]:
        """What exponents are cut at, infinite where no rounding asks for it."""
        lowest = _SMALLEST_EXPONENT if self.has_underflow else -np.inf
        return lowest, 0.0 if self.has_rounding else np.inf

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        """One matrix product and one exponential."""
        np.matmul(self.left[:, rows].T, self.right[:, columns], out=out)
        # NumPy compares with an array several times as fast as with a number.
        if self.has_rounding:
            np.minimum(out, np.zeros(out.shape[1], out.dtype), out=out)
        if self.is_squared:
            np.square(out, out=out)
            np.negative(out, out=out)
        if self.has_underflow:
            floor = np.full(out.shape[1], _SMALLEST_EXPONENT, out.dtype)
            np.maximum(out, floor, out=out)
        np.exp(out, out=out)

    def pairs(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """From differences of the points, of as many pairs as fit in the cache."""
        points = self.left[:-2]
        values: NDArray[Any] = np.empty(len(rows), points.dtype)
        size = max(1, _MAX_GATHERED // max(1, len(points)))
        for start in range(0, len(rows), size):
            part = slice(start, start + size)
            difference = points.take(rows[part], axis=1)
            difference -= points.take(columns[part], axis=1)
            np.square(difference, out=difference)
            exponents = -0.5 * difference.sum(axis=0)
            np.exp(
                -np.square(exponents) if self.is_squared else exponents, values[part]
            )
        return values


@dataclass(frozen=True, eq=False)
class DeferredSimilarities(Similarities):
    """Similarities of more points than should be held twice.

    Those of a part of the objects are prepared when they are asked for.

    Attributes
    ----------
    points : array of shape (n_points, n_features)
        Points.
    objects : array of int, shape (n_samples,)
        Which of them are the objects.
    scale : float
        δ0.
    dtype : type
        Of the numbers that are computed.
    is_squared : bool
        Whether dissimilarities are the squared distances.
    """

    points: NDArray[np.float64]
    objects: NDArray[np.intp]
    scale: float
    dtype: type = np.float64
    is_squared: bool = False

    @property
    def n_samples(self) -> int:  # type: ignore[override]
        """Number of objects."""
        return len(self.objects)

    def take(self, objects: NDArray[np.intp]) -> Similarities:
        """The same for some objects, prepared if they are few."""
        chosen = self.objects[objects]
        if len(chosen) * self.points.shape[1] > MAX_STORED:
            return replace(self, objects=chosen)
        return self._prepared(chosen)

    def between(self, rows: slice) -> Similarities:
        """The same for a range of objects."""
        return self.take(np.arange(self.n_samples)[rows])

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        """Prepare both ranges together, then one product and one exponential."""
        first, second = self.objects[rows], self.objects[columns]
        both = self._prepared(np.concatenate([first, second]))
        both.fill(slice(len(first)), slice(len(first), None), out)

    def pairs(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """From differences of the points, some pairs at a time."""
        values = np.empty(len(rows))
        n_pairs = max(1, MAX_STORED // self.points.shape[1])
        for start in range(0, len(rows), n_pairs):
            part = slice(start, start + n_pairs)
            difference = (
                self.points[self.objects[rows[part]]]
                - self.points[self.objects[columns[part]]]
            )
            values[part] = np.einsum("ij,ij->i", difference, difference)
        if self.is_squared:
            values *= values
        return np.exp(-decay_rate(self.scale) * values)

    def _prepared(self, objects: NDArray[np.intp]) -> EuclideanSimilarities:
        return EuclideanSimilarities.from_points(
            self.points[objects], self.scale, self.dtype, is_squared=self.is_squared
        )


@dataclass(frozen=True, eq=False)
class MatrixSimilarities(Similarities):
    """Similarities from a matrix of dissimilarities."""

    matrix_: NDArray[np.float64]
    rate: float
    objects: NDArray[np.intp]

    @classmethod
    def from_matrix(cls, D: NDArray[np.float64], scale: float) -> "MatrixSimilarities":
        """From dissimilarities (n_samples, n_samples) and the scale δ0."""
        return cls(D, decay_rate(scale), np.arange(len(D)))

    @property
    def n_samples(self) -> int:  # type: ignore[override]
        """Number of objects."""
        return len(self.objects)

    def take(self, objects: NDArray[np.intp]) -> "MatrixSimilarities":
        """The same for some objects."""
        return MatrixSimilarities(self.matrix_, self.rate, self.objects[objects])

    def between(self, rows: slice) -> "MatrixSimilarities":
        """The same for a range of objects."""
        return MatrixSimilarities(self.matrix_, self.rate, self.objects[rows])

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        """Look up, square, exponential."""
        block = self.matrix_[np.ix_(self.objects[rows], self.objects[columns])]
        np.exp(_exponents(block, self.rate), out=out, casting="same_kind")

    def pairs(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Look up, square, exponential."""
        values = self.matrix_[self.objects[rows], self.objects[columns]]
        return np.exp(_exponents(values, self.rate))


@dataclass(frozen=True, eq=False)
class MetricSimilarities(Similarities):
    """Similarities from Gower's or any metric of scikit-learn, block by block."""

    points: NDArray[np.float64]
    metric: str | Callable
    rate: float

    @property
    def n_samples(self) -> int:  # type: ignore[override]
        """Number of objects."""
        return len(self.points)

    def take(self, objects: NDArray[np.intp]) -> "MetricSimilarities":
        """The same for some objects."""
        return MetricSimilarities(self.points[objects], self.metric, self.rate)

    def between(self, rows: slice) -> "MetricSimilarities":
        """The same for a range of objects."""
        return MetricSimilarities(self.points[rows], self.metric, self.rate)

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        """Distances of the block, then the exponential."""
        lengths = dissimilarities_between(
            self.points[rows], self.points[columns], self.metric
        )
        np.exp(_exponents(lengths, self.rate), out=out, casting="same_kind")

    def pairs(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Distances of all partners of one object at a time."""
        if isinstance(self.metric, Gower):
            values = self.metric.pairs(self.points[rows], self.points[columns])
            return np.exp(-self.rate * np.square(values))
        values = np.empty(len(rows))
        order = np.argsort(rows, kind="stable")
        starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
        for group in np.split(order, starts[1:]):
            values[group] = dissimilarities_between(
                self.points[rows[group[:1]]], self.points[columns[group]], self.metric
            )[0]
        return np.exp(_exponents(values, self.rate))


@dataclass(frozen=True, eq=False)
class BlendedSimilarities(Similarities):
    """Σ_v q_v exp(-γ_v d_ijv²): the same objects, compared in several ways.

    Attributes
    ----------
    parts : tuple of Similarities
        Those of each way.
    shares : array of shape (n_parts,)
        q_v, which sum to 1.
    """

    parts: tuple[Similarities, ...]
    shares: NDArray[np.float64]

    @property
    def n_samples(self) -> int:  # type: ignore[override]
        """Number of objects."""
        return self.parts[0].n_samples

    def take(self, objects: NDArray[np.intp]) -> "BlendedSimilarities":
        """The same for some objects."""
        parts = tuple(part.take(objects) for part in self.parts)
        return BlendedSimilarities(parts, self.shares)

    def between(self, rows: slice) -> "BlendedSimilarities":
        """The same for a range of objects."""
        parts = tuple(part.between(rows) for part in self.parts)
        return BlendedSimilarities(parts, self.shares)

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        """A sum of blocks."""
        block, total = np.empty_like(out), np.zeros_like(out)
        for part, share in zip(self.parts, self.shares, strict=True):
            part.fill(rows, columns, block)
            block *= out.dtype.type(share)
            total += block
        out[...] = total

    def pairs(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """A sum of values."""
        values = [part.pairs(rows, columns) for part in self.parts]
        return self.shares @ np.array(values)


# Of a `RoundedMatrix`, between 0 and 1.
_STEPS = 65535


@dataclass(frozen=True, eq=False)
class StoredSimilarities(Similarities):
    """Similarities that are all in memory."""

    values: NDArray[np.float64]

    @property
    def n_samples(self) -> int:  # type: ignore[override]
        """Number of objects."""
        return len(self.values)

    def take(self, objects: NDArray[np.intp]) -> "StoredSimilarities":
        """The same for some objects."""
        return StoredSimilarities(self.values[np.ix_(objects, objects)])

    def between(self, rows: slice) -> "StoredSimilarities":
        """The same for a range of objects."""
        return StoredSimilarities(self.values[rows, rows])

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        """A copy."""
        out[...] = self.values[rows, columns]

    def pairs(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Look up."""
        return self.values[rows, columns]


@dataclass(frozen=True, eq=False)
class RoundedMatrix:
    """Numbers in [0, 1] to nearly five digits, in a quarter of the memory.

    Attributes
    ----------
    codes : array of uint16
        The numbers in steps of 1 / 65535.
    """

    codes: NDArray[np.uint16]

    @classmethod
    def empty(cls, n_rows: int, n_columns: int) -> "RoundedMatrix":
        """A matrix to be written to."""
        return cls(np.empty((n_rows, n_columns), dtype=np.uint16))

    def __getitem__(self, place: Any) -> NDArray[np.float64]:
        """Some of the numbers, as a copy."""
        return self.codes[place] * (1.0 / _STEPS)

    def __setitem__(self, place: Any, values: Any) -> None:
        """Write numbers, rounded."""
        self.codes[place] = np.rint(np.multiply(values, _STEPS))
