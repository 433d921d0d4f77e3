"""Many small quadratic programs on the simplex, solved together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

Array = NDArray[np.float64]

# Weight of the distance to the start, in units of the largest diagonal entry of G: it
# makes the solution unique where G is singular, and moves the optimality conditions by
# no more than itself.
_PROXIMITY = 1e-9

# Violations of the optimality conditions that pass as rounding, in the same units.
_TOLERANCE = 1e-11
_NEGATIVE = 1e-14

# Steps of a row, a variable leaving or entering in each; far fewer are needed.
_MAX_STEPS_PER_VARIABLE = 20

# Rows with larger supports, and with more than a part of all variables, begin at the
# best corner instead: solutions have few entries, and it takes fewer steps to find
# those than to get rid of all the others.
_MAX_SUPPORT = 10
_WIDE_PART = 16

# So many times the number of variables of the wrong sign need not have fallen.
_PATIENCE = 3

# Supports of up to this size are solved together, then up to twice as many, and so on.
_SMALLEST_WIDTH = 4

# Systems with so few numbers in all are solved in one call as they are: to sort them by
# the size of their supports takes longer.
_MAX_WHOLE = 20_000

# Numbers of systems in memory at a time: pages that are new to a process take longer
# than what is written there.
_MAX_AT_ONCE = 40_000

# Where a quartic is looked at first, and how often the best place is narrowed down.
_N_CELLS = 32
_GRID = np.linspace(0.0, 1.0, _N_CELLS + 1)
_N_NARROWINGS = 60
_NARROW = 1e-15
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class RowQuadratics:
    """f(x) = xᵀ G x - 2 hᵀ x for many rows, each with its own h.

    Parameters
    ----------
    gram : array of shape (n_variables, n_variables) or (n_grams, n_variables, \
n_variables)
        G, positive semi-definite, common to all rows, one for each, or one for each
        group of rows.
    linear : array of shape (n_rows, n_variables)
        h.
    removed : array of shape (n_rows, n_variables), default=None
        With common matrices: vectors r of which r rᵀ is taken away, so that the matrix
        of a row is G - r rᵀ, still positive semi-definite.
    owners : array of int, shape (n_rows,), default=None
        With a matrix for each group of rows: the number of the group that a row is in,
        ascending.
    """

    gram: Array
    linear: Array
    removed: Array | None = None
    owners: NDArray[np.intp] | None = None

    def products(self, points: Array) -> Array:
        """G x of every row, (n_rows, n_variables)."""
        if self.owners is not None:
            products = np.empty(points.shape)
            bounds = np.searchsorted(self.owners, np.arange(len(self.gram) + 1))
            for gram, start, stop in zip(self.gram, bounds, bounds[1:], strict=False):
                np.matmul(points[start:stop], gram, out=products[start:stop])
        elif self.gram.ndim == 3:
            return (self.gram @ points[:, :, None])[:, :, 0]
        else:
            products = points @ self.gram
        if self.removed is not None:
            shares = np.einsum("ij,ij->i", self.removed, points)
            products -= shares[:, None] * self.removed
        return products

    def take(self, rows: NDArray[Any]) -> "RowQuadratics":
        """The same for some rows."""
        is_own = self.gram.ndim == 3 and self.owners is None
        return RowQuadratics(
            self.gram[rows] if is_own else self.gram,
            self.linear[rows],
            None if self.removed is None else self.removed[rows],
            None if self.owners is None else self.owners[rows],
        )

    def in_units(self) -> "RowQuadratics":
        """Divided by the largest diagonal entry of G, if it is not 0."""
        units = np.diagonal(self.gram, axis1=-2, axis2=-1).max(axis=-1)
        units = np.where(units > 0, units, 1.0)
        gram = np.divide(self.gram, units[..., None, None], order="C")
        if self.owners is not None:
            units = units[self.owners]
        units = units[..., None]
        removed = None if self.removed is None else self.removed / np.sqrt(units)
        return RowQuadratics(gram, self.linear / units, removed, self.owners)

    def near(self, points: Array, weight: float) -> "RowQuadratics":
        """The same in units, with weight |x - point|² added."""
        # Its matrices are new ones, so that they can be changed.
        scaled = self.in_units()
        size = scaled.gram.shape[-1]
        flat = scaled.gram.reshape(*scaled.gram.shape[:-2], -1)
        flat[..., :: size + 1] += weight
        return replace(scaled, linear=scaled.linear + weight * points)

    def corners(self) -> Array:
        """The corner of the simplex with the lowest value, for every row."""
        diagonal = np.diagonal(self.gram, axis1=-2, axis2=-1)
        if self.owners is not None:
            diagonal = diagonal[self.owners]
        return _corners(diagonal, self.linear, self.removed)

    def systems(
        self,
        rows: NDArray[np.intp],
        columns: NDArray[np.intp],
        is_free: NDArray[np.bool_],
    ) -> tuple[Array, Array]:
        """Equations of the minimum over some variables with Σ x = 1, and their sides.

        Parameters
        ----------
        rows : array of shape (n_some,)
        columns : array of shape (n_some, size)
            The variables of each row, filled up with any.
        is_free : array of shape (n_some, size)
            Which of them are meant; the equations say that the others are 0.

        Returns
        -------
        array of shape (n_some, size + 1, size + 1)
        array of shape (n_some, size + 1, 1)
        """
        # Places in one long array are looked up in a third of the time.
        size = self.linear.shape[1]
        first = columns
        if self.gram.ndim == 3:
            owners = rows if self.owners is None else self.owners[rows]
            first = owners[:, None] * size + columns
        places = (first * size)[:, :, None] + columns[:, None, :]
        inner = self.gram.reshape(-1).take(places)
        if self.removed is not None:
            vectors = self.removed[rows[:, None], columns]
            inner -= vectors[:, :, None] * vectors[:, None, :]
        return _bordered(inner, self.linear[rows[:, None], columns], is_free)

    def apart(self) -> "RowQuadratics":
        """The same with a matrix for each row."""
        if self.gram.ndim == 3 and self.owners is None and self.removed is None:
            return self
        gram = self.gram if self.owners is None else self.gram[self.owners]
        if self.removed is not None:
            gram = gram - self.removed[:, :, None] * self.removed[:, None, :]
        shape = len(self.linear), *gram.shape[-2:]
        return RowQuadratics(np.broadcast_to(gram, shape), self.linear)


@dataclass(frozen=True, eq=False)
class TurnedProducts:
    """Products with F Fᵀ where F = T Sᵀ, S is sparse, and T a fast symmetric map.

    Parameters
    ----------
    turn : callable
        x → T x for rows of an array.
    inner : tuple of sparse arrays of shape (n_factors, n_variables)
        S, one for each group of rows.
    """

    turn: Callable[[Array], Array]
    inner: tuple[csr_array, ...]

    @classmethod
    def of(cls, rows: Array, turn: Callable[[Array], Array]) -> "TurnedProducts":
        """From S as an array, or one for each group, (..., n_factors, n_variables)."""
        matrices = rows.reshape(-1, *rows.shape[-2:])
        return cls(turn, tuple(csr_array(matrix) for matrix in matrices))

    def divided(self, roots: Array) -> "TurnedProducts":
        """With S divided by a number, or one for each group."""
        each = zip(self.inner, np.atleast_1d(roots), strict=True)
        return replace(self, inner=tuple(matrix / root for matrix, root in each))

    def apply(self, points: Array, groups: list[slice]) -> Array:
        """F Fᵀ x of every row."""
        turned = self.turn(points)
        for matrix, rows in zip(self.inner, groups, strict=True):
            if turned[rows].size:
                turned[rows] = (matrix.T @ (matrix @ turned[rows].T)).T
        return self.turn(turned)


@dataclass(frozen=True, eq=False)
class FactoredQuadratics:
    """`RowQuadratics` whose matrices G = F Fᵀ are given by factors F.

    They are never formed: with more variables than factors this takes less time and
    memory.

    Parameters
    ----------
    factor : array of shape (n_variables, n_factors) or (n_grams, n_variables, \
n_factors)
        F, common to all rows, or one for each group of rows.
    linear, removed, owners
        As in `RowQuadratics`.
    ridge : float, default=0.0
        Number added to the diagonal of G.
    turned : TurnedProducts, default=None
        A faster way to products with F Fᵀ.
    """

    factor: Array
    linear: Array
    removed: Array | None = None
    owners: NDArray[np.intp] | None = None
    ridge: float = 0.0
    turned: TurnedProducts | None = None

    def products(self, points: Array) -> Array:
        """G x of every row, (n_rows, n_variables)."""
        if self.turned is not None:
            products = self.turned.apply(points, [rows for _, rows in self._groups()])
        else:
            products = np.empty(points.shape)
            for factor, rows in self._groups():
                np.matmul(points[rows] @ factor, factor.T, out=products[rows])
        products += self.ridge * points
        if self.removed is not None:
            shares = np.einsum("ij,ij->i", self.removed, points)
            products -= shares[:, None] * self.removed
        return products

    def take(self, rows: NDArray[Any]) -> "FactoredQuadratics":
        """The same for some rows."""
        return replace(
            self,
            linear=self.linear[rows],
            removed=None if self.removed is None else self.removed[rows],
            owners=None if self.owners is None else self.owners[rows],
        )

    def in_units(self) -> "FactoredQuadratics":
        """Divided by the largest diagonal entry of F Fᵀ, if it is not 0."""
        units = np.einsum("...ij,...ij->...i", self.factor, self.factor).max(axis=-1)
        roots = np.sqrt(np.where(units > 0, units, 1.0))
        factor = self.factor / roots[..., None, None]
        turned = None if self.turned is None else self.turned.divided(roots)
        roots = (roots if self.owners is None else roots[self.owners])[..., None]
        removed = None if self.removed is None else self.removed / roots
        return FactoredQuadratics(
            factor, self.linear / roots**2, removed, self.owners, self.ridge, turned
        )

    def near(self, points: Array, weight: float) -> "FactoredQuadratics":
        """The same in units, with weight |x - point|² added."""
        scaled = self.in_units()
        linear = scaled.linear + weight * points
        return replace(scaled, linear=linear, ridge=scaled.ridge + weight)

    def corners(self) -> Array:
        """The corner of the simplex with the lowest value, for every row."""
        diagonal = np.einsum("...ij,...ij->...i", self.factor, self.factor)
        if self.owners is not None:
            diagonal = diagonal[self.owners]
        return _corners(diagonal, self.linear, self.removed)

    def systems(
        self,
        rows: NDArray[np.intp],
        columns: NDArray[np.intp],
        is_free: NDArray[np.bool_],
    ) -> tuple[Array, Array]:
        """As in `RowQuadratics`."""
        if self.owners is None:
            some = self.factor[columns]
        else:
            some = self.factor[self.owners[rows][:, None], columns]
        inner = some @ some.transpose(0, 2, 1) + self.ridge * np.eye(columns.shape[1])
        if self.removed is not None:
            vectors = self.removed[rows[:, None], columns]
            inner -= vectors[:, :, None] * vectors[:, None, :]
        return _bordered(inner, self.linear[rows[:, None], columns], is_free)

    def apart(self) -> RowQuadratics:
        """As in `RowQuadratics`."""
        gram = self.factor @ self.factor.swapaxes(-1, -2)
        gram += self.ridge * np.eye(gram.shape[-1])
        return RowQuadratics(gram, self.linear, self.removed, self.owners).apart()

    def _groups(self) -> Iterator[tuple[Array, slice]]:
        if self.owners is None:
            yield self.factor, slice(None)
            return
        bounds = np.searchsorted(self.owners, np.arange(len(self.factor) + 1))
        for factor, start, stop in zip(self.factor, bounds, bounds[1:], strict=False):
            yield factor, slice(start, stop)


Quadratics = RowQuadratics | FactoredQuadratics


def quadratics(
    factor: Array,
    linear: Array,
    removed: Array | None = None,
    owners: NDArray[np.intp] | None = None,
) -> Quadratics:
    """xᵀ F Fᵀ x - 2 hᵀ x, by F or by the matrix, whichever is smaller."""
    if factor.shape[-2] > factor.shape[-1]:
        return FactoredQuadratics(np.ascontiguousarray(factor), linear, removed, owners)
    return RowQuadratics(factor @ factor.swapaxes(-1, -2), linear, removed, owners)


def minimize_on_simplex(
    problems: Quadratics,
    start: Array,
    begin: Array | None = None,
    *,
    at_once: bool = False,
) -> Array:
    """Minimise xᵀ G x - 2 hᵀ x over x >= 0, Σ x = 1, for every row.

    A primal active-set method for all rows at once: on its support, the entries that
    may be positive, the solution of a row is that of a linear system, and rows with
    supports of similar size are solved in one call. Where G is singular the solution
    near the start is taken. The value is never above that of where it begins.

    Parameters
    ----------
    problems : RowQuadratics or FactoredQuadratics
        G and h.
    start : array of shape (n_rows, n_variables)
        Points of the simplex.
    begin : array of shape (n_rows, n_variables), default=None
        Points of the simplex where the search begins; None: at the start. The nearer
        their supports to those of the solutions, the faster.
    at_once : bool, default=False
        Let all variables of the wrong sign enter and leave together, as long as they
        get fewer: a handful of steps, where solutions have many entries. Where G is far
        from regular they do not get fewer, and that was in vain.

    Returns
    -------
    array of shape (n_rows, n_variables)

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.optimize import RowQuadratics, minimize_on_simplex
    >>> h = np.array([[0.9, 0.5, -1.0]])  # G = I: the projection onto the simplex
    >>> problem = RowQuadratics(np.eye(3), h)
    >>> minimize_on_simplex(problem, np.full((1, 3), 1 / 3)).round(6)
    array([[0.7, 0.3, 0. ]])
    """
    problems = problems.near(start, _PROXIMITY)
    points = start if begin is None else begin
    if begin is None and not at_once:
        widest = max(_MAX_SUPPORT, start.shape[1] // _WIDE_PART)
        is_wide = np.flatnonzero((start > 0).sum(axis=1) > widest)
        if len(is_wide):
            points = start.copy()
            points[is_wide] = problems.take(is_wide).corners()
    # Once, not in each step.
    problems = problems.apart() if _is_small(points) else problems
    if at_once:
        points, is_open = _exchange(problems, points)
        if len(is_open):
            points[is_open] = _descend(problems.take(is_open), points[is_open])
    else:
        points = _descend(problems, points)
    return points / points.sum(axis=1, keepdims=True)


def simplex_gap(problems: Quadratics, points: Array) -> Array:
    """How far rows are from the minimum of xᵀ G x - 2 hᵀ x on the simplex, (n_rows,).

    With g the gradient, gᵀx - min_j g_j in units of the largest diagonal entry of G:
    not negative, 0 if and only if the optimality conditions hold, and an upper bound
    on what the row can still gain.
    """
    problems = problems.in_units()
    gradients = 2.0 * (problems.products(points) - problems.linear)
    return np.einsum("ij,ij->i", gradients, points) - gradients.min(axis=1)


def minimize_quartic(coefficients: ArrayLike) -> tuple[float, float]:
    """The t in [0, 1] that minimises c1 t + c2 t² + c3 t³ + c4 t⁴, and the minimum.

    Parameters
    ----------
    coefficients : array of shape (4,)
        c1 to c4.

    Examples
    --------
    >>> from credalis.optimize import minimize_quartic
    >>> t, value = minimize_quartic([-1.0, 1.0, 0.0, 0.0])
    >>> round(t, 6), round(value, 6)
    (0.5, -0.25)
    """
    c1, c2, c3, c4 = (float(c) for c in np.asarray(coefficients))

    def value(t: Any) -> Any:
        return t * (c1 + t * (c2 + t * (c3 + t * c4)))

    def slope(t: float) -> float:
        return c1 + t * (2 * c2 + t * (3 * c3 + t * 4 * c4))

    # Convex from 0 to 1, as it nearly always is: any place is good to begin with.
    low, high, place = 0.0, 1.0, 1.0
    if c2 + min(0.0, 3 * c3) + min(0.0, 6 * c4) < 0:
        at = int(value(_GRID).argmin())
        place = float(_GRID[at])
        low, high = float(_GRID[max(at - 1, 0)]), float(_GRID[min(at + 1, _N_CELLS)])
    first = place
    # Newton's method between bounds, since roots of a cubic with small coefficients are
    # not exact; where it leaves them they are halved.
    for _ in range(_N_NARROWINGS):
        steepness = slope(place)
        low, high = (place, high) if steepness < 0 else (low, place)
        curvature = 2 * c2 + place * (6 * c3 + place * 12 * c4)
        new = place - steepness / curvature if curvature > 0 else low
        if not low < new < high:
            new = 0.5 * (low + high)
        if abs(new - place) <= _NARROW:
            break
        place = new
    best = min((low, high, first), key=value)
    # A whole step is worth more than rounding errors.
    if value(1.0) <= value(best) + _ROUNDING * abs(value(best)):
        best = 1.0
    return (best, value(best)) if value(best) < 0 else (0.0, 0.0)


def _descend(problems: Quadratics, start: Array) -> Array:
    """The primal active-set method: one variable leaves or enters at a time."""
    points, supports = start.copy(), start > 0
    some: Quadratics = problems
    left, tolerance = np.arange(len(start)), _tolerance(problems)
    for _ in range(_MAX_STEPS_PER_VARIABLE * start.shape[1]):
        here, support = points[left], supports[left]
        target, slopes = _solve_on(some, support)
        is_falling = support & (target <= 0) & (target < here)
        goes_on = is_falling.any(axis=1)
        blocked = np.flatnonzero(goes_on)
        reached = np.maximum(target, 0.0)
        if len(blocked):
            reached[blocked], leaves = _to_the_border(
                here[blocked], target[blocked], is_falling[blocked]
            )
            support[blocked] &= ~leaves
        # A row that has reached the minimum on its support takes in the steepest.
        slopes[support] = np.inf
        enters = slopes.argmin(axis=1)
        gains = slopes[np.arange(len(left)), enters]
        is_open = ~goes_on & (gains < -tolerance)
        support[is_open, enters[is_open]] = True
        points[left], supports[left] = reached, support
        goes_on |= is_open
        if not goes_on.any():
            break
        left, some, tolerance = left[goes_on], some.take(goes_on), tolerance[goes_on]
    return points


def _exchange(problems: Quadratics, start: Array) -> tuple[Array, NDArray[np.intp]]:
    """Block principal pivoting: all variables of the wrong sign change sides at once.

    Returns the minima, and the rows where it has not found them, which are left as they
    were: there the number of such variables did not fall.
    """
    points, supports = start.copy(), start > 0
    some: Quadratics = problems
    left, tolerance = np.arange(len(start)), _tolerance(problems)
    fewest = np.full(len(start), start.shape[1] + 1)
    patience = np.full(len(start), _PATIENCE)
    is_open = np.zeros(len(start), dtype=np.bool_)
    while len(left):
        support = supports[left]
        target, slopes = _solve_on(some, support)
        leaves = support & (target < 0)
        enters = ~support & (slopes < -tolerance[:, None])
        n_wrong = (leaves | enters).sum(axis=1)
        is_done = n_wrong == 0
        points[left[is_done]] = target[is_done]
        if is_done.all():
            break
        patience = np.where(n_wrong < fewest, _PATIENCE, patience - 1)
        fewest = np.minimum(fewest, n_wrong)
        is_open[left[~is_done & (patience < 0)]] = True
        goes_on = np.flatnonzero(~is_done & (patience >= 0))
        left, some, tolerance = left[goes_on], some.take(goes_on), tolerance[goes_on]
        fewest, patience = fewest[goes_on], patience[goes_on]
        support, enters = support[goes_on], enters[goes_on]
        enters = _steepest(enters, slopes[goes_on], support.sum(axis=1))
        supports[left] = support ^ (leaves[goes_on] | enters)
    return points, np.flatnonzero(is_open)


def _steepest(
    enters: NDArray[np.bool_], slopes: Array, most: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Of the variables that would enter, as many as there are at most."""
    many = np.flatnonzero(enters.sum(axis=1) > most)
    if len(many):
        falls = np.where(enters[many], slopes[many], np.inf)
        last = np.sort(falls, axis=1)[np.arange(len(many)), most[many] - 1]
        enters[many] &= falls <= last[:, None]
    return enters


def _to_the_border(
    here: Array, target: Array, is_falling: NDArray[np.bool_]
) -> tuple[Array, NDArray[np.bool_]]:
    """As far towards the targets as no entry is negative, and which become 0."""
    lengths = np.full(here.shape, np.inf)
    np.divide(here, here - target, out=lengths, where=is_falling)
    length = lengths.min(axis=1, keepdims=True)
    leaves = lengths <= length
    reached = np.maximum(here + length * (target - here), 0.0)
    reached[leaves] = 0.0
    return reached, leaves


def _corners(diagonal: Array, linear: Array, removed: Array | None) -> Array:
    """The corner with the lowest value, given the diagonals of the matrices."""
    values = diagonal - 2.0 * linear
    if removed is not None:
        values -= removed**2
    corners = np.zeros(linear.shape)
    corners[np.arange(len(corners)), values.argmin(axis=1)] = 1.0
    return corners


def _bordered(
    inner: Array, linear: Array, is_free: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Equations with those of variables that are not free replaced, and Σ x = 1."""
    n_rows, size = is_free.shape
    matrices = np.empty((n_rows, size + 1, size + 1))
    meets = is_free[:, :, None] & is_free[:, None, :]
    np.multiply(inner, meets, out=matrices[:, :size, :size])
    matrices[:, size, :size] = matrices[:, :size, size] = is_free
    matrices[:, size, size] = 0.0
    matrices.reshape(n_rows, -1)[:, : -1 : size + 2] += ~is_free
    sides = np.ones((n_rows, size + 1, 1))
    np.multiply(linear, is_free, out=sides[:, :size, 0])
    return matrices, sides


def _tolerance(problems: Quadratics) -> Array:
    """Slopes that pass as 0, (n_rows,)."""
    return _TOLERANCE * np.maximum(1.0, np.abs(problems.linear).max(axis=1))


def _solved(matrices: Array, sides: Array) -> Array:
    """Solutions of systems, the shortest ones where rounding leaves many."""
    try:
        found = np.linalg.solve(matrices, sides)
    except np.linalg.LinAlgError:
        found = np.linalg.pinv(matrices) @ sides
    return np.asarray(found[:, :, 0], dtype=np.float64)


def _is_small(rows: NDArray[Any]) -> bool:
    """Whether the systems of all these rows are solved in one call."""
    return rows.size * rows.shape[1] <= _MAX_WHOLE


def _solve_on(problems: Quadratics, supports: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Minimisers with Σ x = 1 that are 0 outside the supports, signs not restricted.

    Returns them, and the slopes G x - h less their common value on the support.
    """
    if _is_small(supports):
        problems = problems.apart()
        solved = _solved(*_bordered(problems.gram, problems.linear, supports))
        points, level = solved[:, :-1], solved[:, -1:]
        return points, problems.products(points) - problems.linear + level
    points = np.zeros(supports.shape)
    levels = np.empty(len(supports))
    sizes = supports.sum(axis=1)
    # Few calls with some zeros cost less than one call for each size.
    widths = _SMALLEST_WIDTH * 2 ** np.arange(supports.shape[1].bit_length())
    groups = np.searchsorted(widths, sizes)
    for group in np.flatnonzero(np.bincount(groups)):
        alike = np.flatnonzero(groups == group)
        widest = int(sizes[alike].max())
        some = max(1, _MAX_AT_ONCE // (widest + 1) ** 2)
        for start in range(0, len(alike), some):
            rows = alike[start : start + some]
            is_free = np.arange(widest) < sizes[rows, None]
            columns = np.zeros(is_free.shape, dtype=np.intp)
            columns[is_free] = np.flatnonzero(supports[rows]) % supports.shape[1]
            solved = _solved(*problems.systems(rows, columns, is_free))
            owners = np.broadcast_to(rows[:, None], is_free.shape)
            points[owners[is_free], columns[is_free]] = solved[:, :-1][is_free]
            levels[rows] = solved[:, -1]
    slopes = problems.products(points) - problems.linear + levels[:, None]
    return points, slopes
