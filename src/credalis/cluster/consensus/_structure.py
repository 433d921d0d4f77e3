"""Whether rows fall into groups at all: a test with a stated error rate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import ward
from scipy.spatial.distance import cdist

from credalis._control import poll
from credalis.cluster.consensus._dip import dip, dip_p_value

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# So often, at most, data without structure are said to have some.
LEVEL = 0.02

# More rows than this make clusters no clearer, only the test slower.
_MAX_ROWS = 1200

# Numbers of pieces that a half is cut into, and neighbours of a piece that are looked
# at. Long and bent clusters show their gaps between small pieces only.
_N_PIECES = (2, 3, 5, 8, 12, 20)
_N_NEIGHBORS = 2
_N_AXES = 5

# Ways to divide the rows into halves, each of which is tested once.
_N_SPLITS = 5
_N_TESTS = 2 * _N_SPLITS

# A decision looks no further if the p-value of the divisions so far is above this. One
# alone may see nothing of groups far apart, if half of the rows are fewer than columns.
_HOPELESS, _LEAST_HOPELESS = 0.5, 4

# Rows without which a corridor says nothing.
_MIN_ROWS = 16

# Share of the mean variance that is added before a scatter matrix is inverted.
_SHRINKAGE = 0.05

# Directions with a smaller share of the largest variance are noise of rounding.
_MIN_SHARE = 1e-10


@dataclass(frozen=True, eq=False)
class Corridor:
    """A convex region and a direction in it.

    Attributes
    ----------
    axes : array of shape (n_features, d)
        From rows to the coordinates of the others.
    direction : array of shape (d,)
        Along which rows are looked at.
    normals : array of shape (n_walls, d)
        Of the half-spaces whose intersection is the region.
    offsets : array of shape (n_walls,)
        A row z is inside if ``normals @ z <= offsets``.
    """

    axes: Array
    direction: Array
    normals: Array
    offsets: Array

    def values(self, X: Array) -> Array:
        """Where the rows inside stand along the direction."""
        points = X @ self.axes
        is_inside = (points @ self.normals.T <= self.offsets).all(axis=1)
        return points[is_inside] @ self.direction


def structure_p_value(X: Array, rng: np.random.RandomState) -> float:
    """p-value of the hypothesis that the rows have no groups with gaps between them.

    One half of the rows is searched for a corridor, a convex region, along which rows
    gather at two places with few between them. Along this corridor the other half is
    tested for a single mode by its dip, whose distribution under the least favourable
    unimodal one, the uniform, has been simulated. The halves then change places, and
    all is done for five divisions; the p-value is ten times the smallest of the ten.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows.
    rng : RandomState
        Draws the halves, and what rounding has taken away.

    Notes
    -----
    The p-value is below α with a probability of at most α if rows are independent and
    their density f is log-concave (Gaussian, uniform in any convex body, exponential,
    with any correlation), or heavier-tailed as the multivariate t of any degrees of
    freedom is: f^(-1/(d - 1)) convex. Such a density, confined to a convex region and
    seen along a line, has a single mode (C. Borell, 1975). The corridor may be chosen
    in any way, as it is chosen by other rows than those which are tested. That the
    uniform is least favourable is proved for many rows and a conjecture for few.

    It sees gaps: clusters that overlap so much that there is no dent between them, such
    as two around the same centre, are not told from one. A single group that is bent,
    as a ring is, has a gap inside and counts as structure.
    """
    return min(1.0, _N_TESTS * min(_p_values(X, rng), default=1.0))


def structure_decision(X: Array, rng: np.random.RandomState) -> float:
    """An upper bound of `structure_p_value` that is as good as it for a decision.

    It looks no further once the decision at `LEVEL` is known, which rows in groups show
    by the first of the ten p-values, or is as good as known, because those so far are
    far from it. Where it ends, ten times the smallest so far is at least ten times the
    smallest of all, so that its error rate is no larger.
    """
    smallest = 1.0
    for number, p_value in enumerate(_p_values(X, rng), start=1):
        smallest = min(smallest, p_value)
        if _N_TESTS * smallest <= LEVEL:
            break
        is_whole = number % 2 == 0 and number >= _LEAST_HOPELESS
        if is_whole and number * smallest > _HOPELESS:
            break
    return min(1.0, _N_TESTS * smallest)


def finding(p_value: float) -> str:
    """What the test says, in words."""
    if p_value <= LEVEL:
        return f"there are gaps between groups of rows (p = {p_value:.2g})"
    return (
        "a test finds no gaps between groups of rows that chance would not leave "
        f"(p = {p_value:.2g}, {LEVEL:g} is asked for)"
    )


def can_be_seen(n_rows: int, n_clusters: int) -> bool:
    """Whether so many clusters have enough rows for the test to see gaps between them.

    Two of them should have twice the rows in a half without which a corridor between
    them says nothing.
    """
    return min(n_rows, _MAX_ROWS) >= 2 * _MIN_ROWS * n_clusters


def _p_values(X: Array, rng: np.random.RandomState) -> Iterator[float]:
    """Of all halves of all divisions; of few rows there are none."""
    if len(X) < 2 * _MIN_ROWS:
        return
    if len(X) > _MAX_ROWS:
        X = X[rng.choice(len(X), _MAX_ROWS, replace=False)]
    for _ in range(_N_SPLITS):
        yield from _p_values_of_halves(X, rng)


def _p_values_of_halves(X: Array, rng: np.random.RandomState) -> Iterator[float]:
    """What each half says about the clearest corridor in the other one."""
    rows = without_rounding(X, rng)
    order = rng.permutation(len(rows))
    halves = rows[order[::2]], rows[order[1::2]]
    for searched, tested in (halves, halves[::-1]):
        poll()
        corridor = clearest_corridor(searched)
        values = np.empty(0) if corridor is None else corridor.values(tested)
        yield dip_p_value(dip(values), len(values)) if len(values) else 1.0


def without_rounding(X: Array, rng: np.random.RandomState) -> Array:
    """Rows with noise as wide as the smallest step of each column, in one unit.

    Numbers rounded to a grid have a mode at each of its points; spread over the steps,
    they are again as smooth as what was rounded.
    """
    # In units of the largest entry, so that no square under- or overflows.
    X = X / (np.abs(X).max() or 1.0)
    steps = np.array([np.diff(np.unique(column)).min(initial=np.inf) for column in X.T])
    steps[np.isinf(steps)] = 0.0
    spread = X + steps * (rng.uniform(size=X.shape) - 0.5)
    centered = spread - spread.mean(axis=0)
    centered /= np.abs(centered).max() or 1.0
    return centered / (np.sqrt(np.square(centered).mean()) or 1.0)


def clearest_corridor(X: Array) -> Corridor | None:
    """The corridor with the largest √m D of the m rows inside; None without any."""
    best, largest = None, -np.inf
    for corridor in _corridors(X):
        values = corridor.values(X)
        if len(values) >= _MIN_ROWS:
            found = np.sqrt(len(values)) * dip(values)
            if found > largest:
                best, largest = corridor, found
    return best


def _corridors(X: Array) -> Iterator[Corridor]:
    """All that are looked at: whole axes, and between neighbouring pieces."""
    variances, vectors = np.linalg.eigh(np.cov(X.T).reshape(X.shape[1], -1))
    is_known = variances > _MIN_SHARE * variances.max()
    variances, vectors = variances[is_known], vectors[:, is_known]
    if not len(variances):
        return
    sphering = vectors / np.sqrt(variances)
    for axis in vectors.T[::-1][:_N_AXES]:
        yield Corridor(vectors, axis @ vectors, *_no_walls(vectors.shape[1]))
    for axes in (vectors, sphering):
        points = X @ axes
        tree = ward(points)
        for n_pieces in _N_PIECES:
            if len(X) < n_pieces * _MIN_ROWS / 2:
                break
            labels = _pieces(tree, n_pieces)
            yield from _between(points, labels, axes)


def _pieces(tree: Array, n_pieces: int) -> Indices:
    """Which piece each row is in, numbered by their first rows."""
    n = len(tree) + 1
    whole = np.arange(2 * n - 1).tolist()
    merges = tree[:, :2].astype(np.intp).tolist()
    for j in range(n - n_pieces - 1, -1, -1):
        for part in merges[j]:
            whole[part] = whole[n + j]
    _, first, piece = np.unique(whole[:n], return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[piece], dtype=np.intp)


def _between(points: Array, labels: Indices, axes: Array) -> Iterator[Corridor]:
    """Corridors from each piece to its nearest neighbours."""
    n_pieces = labels.max() + 1
    centers = np.array([points[labels == k].mean(axis=0) for k in range(n_pieces)])
    distances = cdist(centers, centers)
    nearest = np.argsort(distances, axis=1)[:, 1 : 1 + _N_NEIGHBORS]
    pairs = {(min(k, m), max(k, m)) for k in range(n_pieces) for m in nearest[k]}
    for one, other in sorted(pairs):
        step = centers[other] - centers[one]
        if not step @ step > 0:
            # Beside rows far away, others are equal to all digits.
            continue
        walls = _walls(centers, one, other)
        yield Corridor(axes, step, *walls)
        inside = [points[labels == k] - centers[k] for k in (one, other)]
        yield Corridor(axes, _discriminant(np.concatenate(inside), step), *walls)


def _walls(centers: Array, one: int, other: int) -> tuple[Array, Array]:
    """Half-way from the line between two centres to each of the other centres."""
    start, step = centers[one], centers[other] - centers[one]
    others = np.delete(centers, [one, other], axis=0)
    if not len(others):
        return _no_walls(len(start))
    share = np.clip((others - start) @ step / (step @ step), 0.0, 1.0)
    feet = start + share[:, None] * step
    normals = others - feet
    return normals, np.einsum("ij,ij->i", normals, (feet + others) / 2)


def _no_walls(d: int) -> tuple[Array, Array]:
    return np.empty((0, d)), np.empty(0)


def _discriminant(residuals: Array, step: Array) -> Array:
    """Fisher's direction: Σ⁻¹ times the step between two means."""
    scatter = residuals.T @ residuals / len(residuals)
    mean = np.trace(scatter) / len(scatter)
    ridge = _SHRINKAGE * mean or 1.0
    inverted = np.linalg.solve(scatter + ridge * np.eye(len(scatter)), step)
    return np.asarray(inverted, dtype=np.float64)
