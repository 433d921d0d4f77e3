"""Gower's dissimilarity: columns of several kinds, cells that may be unknown.

    d_ij = Σ_k w_k p_ik p_jk d_ijk / Σ_k w_k p_ik p_jk

p_ik is 1 where the cell of row i in column k is known, else 0, and d_ijk in [0, 1] is

- |x_ik - x_jk| / (high_k - low_k) of numbers and ranks, cut at low_k and high_k,
- 0 or 1 of categories, equal or not,
- the shorter way round as a share of half the period, of cyclic columns.

Rows without a column that both know are at 1: nothing says that they are alike.

The sum over the numbers is a city-block distance with 0 for what is unknown, less what
that adds; everything less, and the categories, is one product of two matrices. So the
dissimilarities of a block of pairs cost about as much as Euclidean distances.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_finite,
    check_number,
    check_numbers,
    naming,
    shown,
)
from credalis._refusals import refuses_by_name

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

SCALINGS = ("range", "robust")

# What "robust" cuts off at either end.
_ROBUST_TAIL = 0.05

# Entries of a block of pairs, few enough for the cache of a processor, and rows that
# are made ready together.
_BLOCK_ENTRIES = 2**16
_READY_ROWS = 2**13

# Balanced weights: rows that mean ways round are taken of, and the least share of pairs
# that categories are taken to differ in.
_SAMPLE_ROWS = 1000
_LEAST_DIFFERENCE = 0.1

# Sums of weights that are no whole numbers round; a dissimilarity below this is 0.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class GowerPoints:
    """Rows, made ready for the dissimilarities of any block of pairs.

    Attributes
    ----------
    positions : array of shape (n, n_numbers)
        w_k times the place between low_k and high_k, 0 where that is unknown.
    turns : array of shape (n, n_cyclic)
        Share of the period, 0 where it is unknown.
    turn_weights : array of shape (n, n_cyclic)
        w_k where it is known, else 0.
    is_turned : array of bool, shape (n, n_cyclic)
        Where it is known.
    left, right : array of shape (n, n_terms)
        Σ_t left_it right_jt is what equal categories and unknown numbers take away,
        below 0.
    weights, known : array of shape (n, n_gappy)
        w_k p_ik and p_ik of the columns that may be unknown, categories first.
    n_unknown_categories : int
        How many of these columns are categories.
    category_total, total : float
        Sum of the weights of the categories that are always known, and of all columns
        that are.
    """

    positions: Array
    turns: Array
    turn_weights: Array
    is_turned: NDArray[np.bool_]
    left: Array
    right: Array
    weights: Array
    known: Array
    n_unknown_categories: int
    category_total: float
    total: float

    @classmethod
    def of(
        cls,
        positions: Array,
        turns: Array,
        categories: Sequence[Array],
        is_known: NDArray[np.bool_],
        weights: Array,
        is_gappy: NDArray[np.bool_],
    ) -> GowerPoints:
        """Make rows ready.

        Parameters
        ----------
        positions : array of shape (n, n_numbers)
            In [0, 1], anything where they are unknown.
        turns : array of shape (n, n_cyclic)
            In [0, 1), anything where they are unknown.
        categories : sequence of arrays of shape (n, n_own)
            For each column of categories an indicator of each; a row of zeros is none
            of them.
        is_known : array of bool, shape (n, n_columns)
            Of numbers, cyclic columns and categories, in this order.
        weights : array of shape (n_columns,)
            w_k.
        is_gappy : array of bool, shape (n_columns,)
            Which columns may be unknown, in these rows or in those that they are
            compared with.
        """
        places = np.cumsum([positions.shape[1], turns.shape[1]])
        of_numbers, of_turns, of_categories = np.split(weights, places)
        has_number, has_turn, has_category = np.split(is_known, places, axis=1)
        positions = np.where(has_number, positions * of_numbers, 0.0)
        left, right = _category_terms(categories, has_category, of_categories)
        # Categories first: what they add in all begins with their part of the total.
        order = np.argsort(np.arange(len(weights)) < places[1], kind="stable")
        is_last = is_gappy[order]
        may_miss = order[is_last]
        is_sure = ~is_gappy[places[1] :]
        gappy = np.flatnonzero(is_gappy[: places[0]])
        if len(gappy):
            unknown = (~has_number[:, gappy]).astype(np.float64)
            left += [-unknown, -positions[:, gappy]]
            right += [positions[:, gappy], unknown]
        empty = np.empty((len(is_known), 0))
        return cls(
            np.ascontiguousarray(positions),
            np.where(has_turn, turns, 0.0),
            has_turn * of_turns,
            has_turn,
            np.concatenate([empty, *left], axis=1),
            np.concatenate([empty, *right], axis=1),
            is_known[:, may_miss] * weights[may_miss],
            is_known[:, may_miss].astype(np.float64),
            int((~is_sure).sum()),
            float(of_categories[is_sure].sum()),
            float(weights[~is_gappy].sum()),
        )

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, rows: slice) -> GowerPoints:
        """Some of the rows."""
        return GowerPoints(
            self.positions[rows],
            self.turns[rows],
            self.turn_weights[rows],
            self.is_turned[rows],
            self.left[rows],
            self.right[rows],
            self.weights[rows],
            self.known[rows],
            self.n_unknown_categories,
            self.category_total,
            self.total,
        )


def _category_terms(
    categories: Sequence[Array], is_known: NDArray[np.bool_], weights: Array
) -> tuple[list[Array], list[Array]]:
    """Factors of -Σ_k w_k Σ_a z_ika z_jka with indicators z."""
    left: list[Array] = []
    right: list[Array] = []
    for indicators, weight, flags in zip(categories, weights, is_known.T, strict=True):
        inside = np.where(flags[:, None], indicators, 0.0)
        left.append(-weight * inside)
        right.append(inside)
    return left, right


def gower_block(rows: GowerPoints, columns: GowerPoints) -> Array:
    """d_ij of all pairs of two sets of rows, (n_rows, n_columns)."""
    if rows.positions.shape[1]:
        sums = cdist(rows.positions, columns.positions, "cityblock")
    else:
        sums = np.zeros((len(rows), len(columns)))
    sums += rows.category_total
    if rows.left.shape[1]:
        sums += rows.left @ columns.right.T
    for k in range(rows.turns.shape[1]):
        ways = _ways_round(rows.turns[:, k, None], columns.turns[:, k])
        sums += ways * rows.turn_weights[:, k, None] * columns.is_turned[:, k]
    n_first, n_gappy = rows.n_unknown_categories, rows.weights.shape[1]
    if not n_gappy:
        sums /= rows.total
        return _without_rounding(sums)
    totals: Array | float = 0.0
    if n_first:
        totals = rows.weights[:, :n_first] @ columns.known[:, :n_first].T
        sums += totals
    if n_first < n_gappy:
        totals = totals + rows.weights[:, n_first:] @ columns.known[:, n_first:].T
    return _divided(sums, np.asarray(totals + rows.total))


def gower_pairs(rows: GowerPoints, columns: GowerPoints) -> Array:
    """D of row k of one set and row k of the other, (n,)."""
    sums = np.abs(rows.positions - columns.positions).sum(axis=1)
    sums += np.einsum("ij,ij->i", rows.left, columns.right)
    ways = _ways_round(rows.turns, columns.turns)
    sums += (ways * rows.turn_weights * columns.is_turned).sum(axis=1)
    common = rows.weights * columns.known
    sums += rows.category_total
    sums += common[:, : rows.n_unknown_categories].sum(axis=1)
    return _divided(sums, rows.total + common.sum(axis=1))


def _ways_round(one: Array, other: Array) -> Array:
    """The shorter way between shares of a period, as a share of half of it."""
    ways = np.abs(one - other)
    return 2.0 * np.minimum(ways, 1.0 - ways)


def _divided(sums: Array, totals: Array) -> Array:
    """Sums by totals, 1 where there is no total; the sums are overwritten."""
    if totals.min(initial=1.0) > 0:
        sums /= totals
    else:
        is_void = totals <= 0
        np.divide(sums, totals, out=sums, where=~is_void)
        sums[is_void] = 1.0
    return _without_rounding(sums)


def _without_rounding(values: Array) -> Array:
    values *= values >= _ROUNDING
    return values


@dataclass(frozen=True, eq=False)
class Gower(_archive.SavedFields):
    """Gower's dissimilarity between rows of an encoded table, as a ``metric``.

    The rows are what `credalis.tabular.TablePreparation` makes of a table: finite
    numbers, indicators of categories, cosine and sine of cyclic columns, and for each
    column with gaps an indicator of them. Estimators with a ``metric`` take it in place
    of a name; ``metric="gower"`` stands for one of which all columns are numbers.

    Attributes
    ----------
    n_features : int
        Columns of the encoded table.
    numbers : array of int, shape (n_numbers,)
        Which of them are numbers, ranks or truth values.
    low, high : array of shape (n_numbers,)
        Where these begin and end: a difference beyond counts no more.
    cyclic : array of int, shape (n_cyclic,)
        Which are cosines; the sine is next to its cosine.
    categories : tuple of tuples of int
        For each column of categories the places of their indicators.
    gaps : array of int, shape (n_columns,)
        For each number, cyclic column and column of categories the place of the
        indicator of unknown cells, -1 if there is none.
    weights : array of shape (n_columns,)
        w_k.
    """

    n_features: int
    numbers: Indices
    low: Array
    high: Array
    cyclic: Indices
    categories: tuple[tuple[int, ...], ...]
    gaps: Indices
    weights: Array

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "n_features": _archive.Integer(at_least=1, size="n_features"),
            "numbers": _archive.Array(
                "i", ("n_numbers",), at_least=0, below="n_features"
            ),
            "low": _archive.Array("f", ("n_numbers",)),
            "high": _archive.Array("f", ("n_numbers",)),
            "cyclic": _archive.Array("i", (None,), at_least=0, below="n_features"),
            "categories": _archive.Each(
                _archive.Each(_archive.Integer(at_least=0), at_least=1)
            ),
            "gaps": _archive.Array(
                "i", ("n_columns",), at_least=-1, below="n_features"
            ),
            "weights": _archive.Array("f", ("n_columns",), above=0),
        },
        relations=(lambda owner, entries: _check_layout(owner, entries),),
    )

    @classmethod
    def of_numbers(cls, X: Array, scaling: str = "range") -> Gower:
        """All columns of a matrix are numbers, of the range that they have there."""
        low, high = extent_of(X, scaling)
        n_features = X.shape[1]
        return cls(
            n_features,
            np.arange(n_features),
            low,
            high,
            np.empty(0, dtype=np.intp),
            (),
            np.full(n_features, -1),
            np.ones(n_features),
        )

    def __repr__(self) -> str:
        parts = {
            "numbers": len(self.numbers),
            "cyclic": len(self.cyclic),
            "categories": len(self.categories),
        }
        shown_parts = ", ".join(f"{name}={n}" for name, n in parts.items() if n)
        return f"Gower({shown_parts})"

    def __call__(self, x: ArrayLike, y: ArrayLike) -> float:
        """The dissimilarity of two rows."""
        return float(self.between(np.atleast_2d(x), np.atleast_2d(y))[0, 0])

    def points(self, X: Array) -> GowerPoints:
        """Rows of an encoded table, made ready."""
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X must have the {self.n_features} columns that metric={self!r} is "
                f"about, got {X.shape[1]}"
            )
        cosines, sines = X[:, self.cyclic], X[:, self.cyclic + 1]
        return GowerPoints.of(
            _placed(X[:, self.numbers], self.low, self.high),
            np.arctan2(sines, cosines) / (2 * np.pi) % 1.0,
            [X[:, list(places)] for places in self.categories],
            self._known(X),
            self.weights,
            self.gaps >= 0,
        )

    def balanced(self, X: Array) -> Gower:
        """The same with weights by which all columns add alike, on average over pairs.

        A category differs in most pairs, a number by a fifth of its range: with equal
        weights, categories outvote numbers. No category counts more than ten times as
        much as one that differs in every pair, however rarely it differs.
        """
        points = replace(self, weights=np.ones(len(self.weights))).points(X)
        has_number, has_turn, has_category = np.split(
            self._known(X),
            np.cumsum([len(self.numbers), len(self.cyclic)]),
            axis=1,
        )
        means = [
            _mean_difference(values[known])
            for values, known in zip(points.positions.T, has_number.T, strict=True)
        ]
        means += [
            _mean_way_round(values[known])
            for values, known in zip(points.turns.T, has_turn.T, strict=True)
        ]
        for places, known in zip(self.categories, has_category.T, strict=True):
            shares = X[np.ix_(known, list(places))].mean(axis=0) if known.any() else 0.0
            means.append(max(1.0 - float(np.square(shares).sum()), _LEAST_DIFFERENCE))
        weights = 1.0 / np.array([mean if mean > 0 else 1.0 for mean in means])
        return replace(self, weights=weights / weights.mean())

    def _known(self, X: Array) -> NDArray[np.bool_]:
        """Which cells of each column are known, (n_rows, n_columns)."""
        is_known = np.ones((len(X), len(self.gaps)), dtype=bool)
        has_gaps = self.gaps >= 0
        is_known[:, has_gaps] = X[:, self.gaps[has_gaps]] < 0.5
        return is_known

    def without_gaps(self, X: Array) -> Array:
        """The columns of X that say something other than which cells are unknown."""
        return np.delete(X, self.gaps[self.gaps >= 0], axis=1)

    def between(self, X: Array, Y: Array | None = None) -> Array:
        """Dissimilarities of the rows of X and Y, or of X, (n_X, n_Y).

        A block at a time: beside the result, memory does not grow with the rows.
        """
        return in_blocks(self.points, X, None if Y is X else Y)

    def pairs(self, X: Array, Y: Array) -> Array:
        """Dissimilarities of row k of X and row k of Y, (n,)."""
        values = np.empty(len(X))
        n_rows = _READY_ROWS
        for start in range(0, len(X), n_rows):
            part = slice(start, start + n_rows)
            values[part] = gower_pairs(self.points(X[part]), self.points(Y[part]))
        return values


def _check_layout(owner: str, entries: _archive.Entries) -> None:
    """Refuse places outside the encoded table, and columns without room."""
    n_features = entries["n_features"]
    places = [place for own in entries["categories"] for place in own]
    places += [int(place) + 1 for place in entries["cyclic"]]
    if places and max(places) >= n_features:
        raise ValueError(
            f"{owner} must be about {n_features} columns, got a place {max(places)}"
        )
    if (entries["low"] > entries["high"]).any():
        raise ValueError(f"{owner}.low must not be above its high")
    kinds = ("numbers", "cyclic", "categories")
    n_columns = sum(len(entries[kind]) for kind in kinds)
    if n_columns == 0 or len(entries["gaps"]) != n_columns:
        raise ValueError(
            f"{owner}.gaps must have an entry for each of {n_columns} columns, got "
            f"{len(entries['gaps'])}"
        )


_archive.register(Gower)


def _mean_difference(values: Array) -> float:
    """Mean |x_i - x_j| over all pairs, from the order of the values."""
    n = len(values)
    if n < 2:
        return 0.0
    factors = 2.0 * np.arange(n) - (n - 1)
    return float(2.0 * (factors * np.sort(values)).sum() / n**2)


def _mean_way_round(turns: Array) -> float:
    """Mean way round over the pairs of some rows."""
    some = turns[:: 1 + len(turns) // _SAMPLE_ROWS]
    return float(_ways_round(some[:, None], some).mean()) if len(some) else 0.0


def _placed(X: Array, low: Array, high: Array) -> Array:
    """Places between low and high, in [0, 1]; 0 in a column without room."""
    # In halves, so that no difference overflows.
    room = high / 2 - low / 2
    inside = np.clip(X, low, high) / 2 - low / 2
    return np.divide(inside, room, out=np.zeros_like(inside), where=room > 0)


def extent_of(X: Array, scaling: str) -> tuple[Array, Array]:
    """Where the known values of each column begin and end; 0 if there are none."""
    check_choice("scaling", scaling, SCALINGS)
    low, high = np.zeros((2, X.shape[1]))
    for j, column in enumerate(X.T):
        values = column[~np.isnan(column)]
        if not len(values):
            continue
        low[j], high[j] = values.min(), values.max()
        if scaling == "robust":
            inner = np.quantile(values, [_ROBUST_TAIL, 1 - _ROBUST_TAIL])
            # With one value nearly everywhere, the others are all that differ.
            if inner[1] > inner[0]:
                low[j], high[j] = inner
    return low, high


@refuses_by_name
def gower_distances(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    categorical: Sequence[int] = (),
    cyclic: Mapping[int, float] | None = None,
    scaling: str = "range",
    weights: ArrayLike | None = None,
) -> Array:
    """Gower's dissimilarities between the rows of arrays of numbers.

    Tables with text, dates and truth values become such numbers through
    `credalis.tabular.TablePreparation`.

    Parameters
    ----------
    X : array-like of shape (n_X, n_columns)
        Numbers, NaN where a cell is unknown. Categories that have no order are any
        numbers; ordered ones are their ranks.
    Y : array-like of shape (n_Y, n_columns), default=None
        Other rows; None: those of X.
    categorical : sequence of int, default=()
        Columns whose values are equal or not, and nothing else.
    cyclic : dict of int to float, default=None
        Columns that begin again, and their periods: ``{3: 24}`` for an hour.
    scaling : {"range", "robust"}, default="range"
        What a difference of numbers is a share of: the range of X and Y together, or
        the range from the 0.05 to the 0.95 quantile, beyond which values are cut.
    weights : array-like of shape (n_columns,), default=None
        How much each column counts; None: all alike.

    Returns
    -------
    array of shape (n_X, n_Y)
        In [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.dissimilarity import gower_distances
    >>> X = [[1.0, 0], [3.0, 1], [5.0, np.nan]]
    >>> gower_distances(X, categorical=[1])
    array([[0.  , 0.75, 1.  ],
           [0.75, 0.  , 0.5 ],
           [1.  , 0.5 , 0.  ]])
    """
    rows = _checked_rows("X", X)
    others = rows if Y is None else _checked_rows("Y", Y)
    n_columns = rows.shape[1]
    if others.shape[1] != n_columns:
        raise ValueError(
            f"Y must have the {n_columns} columns of X, got {others.shape[1]}"
        )
    if not (cyclic is None or isinstance(cyclic, Mapping)):
        raise ValueError(
            f"cyclic must be a dictionary of columns and periods, got {shown(cyclic)}"
        )
    periods = dict(cyclic or {})
    with naming("categorical"):
        listed = list(categorical)
    kinds = _checked_kinds(listed, periods, n_columns)
    weighted = np.ones(n_columns)
    if weights is not None:
        weighted = check_finite("weights", check_numbers("weights", weights))
        if weighted.shape != (n_columns,) or (weighted <= 0).any():
            raise ValueError(
                f"weights must hold a positive number for each of {n_columns} columns, "
                f"got {shown(weights)}"
            )
    both = rows if Y is None else np.concatenate([rows, others])
    low, high = extent_of(both[:, kinds["numbers"]], scaling)
    values = [np.unique(both[~np.isnan(both[:, j]), j]) for j in kinds["categorical"]]
    order = np.concatenate(list(kinds.values())).astype(np.intp)
    is_gappy = np.isnan(both).any(axis=0)[order]

    def points(part: Array) -> GowerPoints:
        lengths = np.array([periods[j] for j in kinds["cyclic"]])
        return GowerPoints.of(
            _placed(part[:, kinds["numbers"]], low, high),
            part[:, kinds["cyclic"]] / lengths % 1.0,
            [
                (part[:, j, None] == known).astype(np.float64)
                for j, known in zip(kinds["categorical"], values, strict=True)
            ],
            ~np.isnan(part[:, order]),
            weighted[order],
            is_gappy,
        )

    found = in_blocks(points, rows, None if Y is None else others)
    # Rounding may carry a mean of numbers in [0, 1] just outside.
    return np.minimum(found, 1.0, out=found)


def in_blocks(
    points: Callable[[Array], GowerPoints], rows: Array, others: Array | None
) -> Array:
    """Dissimilarities of all pairs, (n_rows, n_others), a block at a time.

    Without others, each pair of rows is looked at once.
    """
    if others is None:
        return _among(points(rows))
    values = np.empty((len(rows), len(others)))
    columns = points(others)
    for first in range(0, len(rows), _READY_ROWS):
        ready = points(rows[first : first + _READY_ROWS])
        part = values[first : first + _READY_ROWS]
        for above in _tiles(len(ready)):
            for beside in _tiles(len(columns)):
                part[above, beside] = gower_block(ready[above], columns[beside])
    return values


def _tiles(n: int) -> list[slice]:
    """Ranges as long as the sides of a block."""
    size = max(1, int(np.sqrt(_BLOCK_ENTRIES)))
    return [slice(start, start + size) for start in range(0, n, size)]


def _among(points: GowerPoints) -> Array:
    """Dissimilarities of all pairs of the same rows, (n, n)."""
    values = np.empty((len(points), len(points)))
    tiles = _tiles(len(points))
    for k, rows in enumerate(tiles):
        for columns in tiles[k:]:
            block = gower_block(points[rows], points[columns])
            if rows is columns:
                block = np.triu(block, 1)
                block += block.T
            values[rows, columns] = block
            values[columns, rows] = block.T
    return values


def _checked_rows(name: str, X: ArrayLike) -> Array:
    values = check_numbers(name, X).astype(np.float64)
    if values.ndim != 2 or np.isinf(values).any():
        raise ValueError(
            f"{name} must be a matrix of finite numbers and NaN, got {shown(X)}"
        )
    return values


def _checked_kinds(
    categorical: Sequence[int], periods: Mapping[int, float], n_columns: int
) -> dict[str, list[int]]:
    """Columns by their kind."""
    special = [*categorical, *periods]
    with naming("categorical"):
        hash(tuple(special))
    if len(set(special)) < len(special) or not set(special) <= set(range(n_columns)):
        raise ValueError(
            f"categorical and cyclic must name different columns from 0 to "
            f"{n_columns - 1}, got {shown(list(categorical))} and "
            f"{shown(dict(periods))}"
        )
    for j, period in periods.items():
        check_number(f"cyclic[{j}]", period, above=0)
    return {
        "numbers": [j for j in range(n_columns) if j not in set(special)],
        "cyclic": list(periods),
        "categorical": list(categorical),
    }
