"""Nearest neighbours, with ties and rounding taken care of."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import VALID_METRICS, KDTree, NearestNeighbors

from credalis._checks import check_choice, check_lengths
from credalis._nearest import FewNearest, suits

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

EUCLIDEAN = ("euclidean", "l2", "minkowski")
_TREES = {
    **dict.fromkeys(
        [*EUCLIDEAN, "chebyshev", "cityblock", "l1", "manhattan"], "kd_tree"
    ),
    "haversine": "ball_tree",
}
# What distances of any estimator can be taken with.
METRIC_NAMES = sorted(VALID_METRICS["brute"])
# With more features, a tree visits most objects and plain search is faster.
_MAX_TREE_FEATURES = 10
# With no more, a tree is faster whatever the data are like, if there are many objects.
# Between the two it is if it visits no more than this share of the objects, as measured
# on some of them: a visit takes this many times as long as one of all comparisons.
_MAX_SURE_FEATURES = 5
_LARGEST_SHARE, _LARGEST_SHARE_FOR_FEW = 1 / 2, 1 / 16
_N_PROBED = 16
# These need parameters that depend on all the data.
PARAMETRIC = {"mahalanobis", "seuclidean"}
_BLOCK_ENTRIES = 2**22


def check_metric(metric: Any, *others: str) -> None:
    """Refuse what is neither callable nor a metric that needs no parameters.

    ``others`` are further names that the caller knows what to do about.
    """
    if not callable(metric):
        known = {*VALID_METRICS["brute"], *others} - PARAMETRIC
        check_choice("metric", metric, sorted(known))


def batches(n_rows: int, n_columns: int) -> Iterator[Indices]:
    """Row numbers, so many at a time that a block with these columns stays small."""
    size = max(1, _BLOCK_ENTRIES // n_columns)
    for start in range(0, n_rows, size):
        yield np.arange(start, min(start + size, n_rows))


class NeighborSearch:
    """The objects nearest to given points.

    A tree searches if there are few features and the metric is Euclidean, city-block,
    Chebyshev or haversine; otherwise all objects are compared. Between 6 features and
    "few" ones it depends on the data whether a tree is of use: Euclidean neighbours of
    some of the objects are searched for first, to see how many objects it visits.

    Parameters
    ----------
    X : array of shape (n_samples, n_features) or None
        Objects to search in; not needed if the metric is "precomputed".
    metric : str or callable
        Metric that `check_metric` passes.
    max_tree_features : int, default=10
        What "few" means. Without clusters or with few objects, a tree is of no use
        earlier.
    """

    def __init__(
        self,
        X: Array | None,
        metric: Any,
        *,
        max_tree_features: int = _MAX_TREE_FEATURES,
    ) -> None:
        self._X, self._metric = X, metric
        self._search: NearestNeighbors | None = None
        self._few: FewNearest | None = None
        self._uses_tree: bool | None = None
        self._max_tree_features = max_tree_features
        # A metric with blocks of its own, such as Gower's, is no function of pairs.
        self._blocks = getattr(metric, "between", None)

    def query(self, points: Array, n_neighbors: int) -> tuple[Indices, Array]:
        """Row numbers and distances (n_points, n_neighbors), nearest first.

        With precomputed dissimilarities, the points are their dissimilarities to all
        objects.
        """
        if self._blocks is not None:
            return self._query_blocks(points, n_neighbors)
        if self._X is None or self._metric == "precomputed":
            return _smallest(points, n_neighbors)
        if self._uses_tree is None:
            self._uses_tree = self._finds_by_tree(self._X, n_neighbors)
        compares_all = self._metric in EUCLIDEAN and not self._uses_tree
        if compares_all and suits(len(self._X), n_neighbors):
            few = self._few
            if few is None or few.n_neighbors != n_neighbors:
                self._few = few = FewNearest(self._X, n_neighbors)
            return few.query(points)
        return self._query_many(self._X, points, n_neighbors, is_rough=compares_all)

    def _query_many(
        self, X: Array, points: Array, n_neighbors: int, *, is_rough: bool
    ) -> tuple[Indices, Array]:
        """Neighbours by scikit-learn."""
        # Without a tree, squared Euclidean distances are |x|² - 2 x·y + |y|², which
        # costs digits: the fewer, the nearer to 0 the data; lengths are computed again.
        if self._search is None:
            kind = _TREES[self._metric] if self._uses_tree else "brute"
            self._origin = X.mean(axis=0) if is_rough else 0.0
            search = NearestNeighbors(metric=self._metric, algorithm=kind)
            self._search = search.fit(X - self._origin if is_rough else X)
        centered = points - self._origin if is_rough else points
        # Points may be so far away that distances, or the sum in which scikit-learn
        # looks for infinite entries, are infinite.
        with np.errstate(over="ignore", invalid="ignore"):
            lengths, found = self._search.kneighbors(centered, n_neighbors)
            if is_rough:
                squares = sum(
                    (point[:, None] - x[found]) ** 2
                    for point, x in zip(points.T, X.T, strict=True)
                )
                lengths = np.sqrt(squares)
        return found, lengths

    def _finds_by_tree(self, X: Array, n_neighbors: int) -> bool:
        """Whether a tree shall search, for about so many neighbours."""
        n_features = X.shape[1]
        if n_features > self._max_tree_features or str(self._metric) not in _TREES:
            return False
        if self._metric not in EUCLIDEAN or n_features <= _MAX_SURE_FEATURES:
            return True
        is_few = suits(len(X), n_neighbors)
        share = _LARGEST_SHARE_FOR_FEW if is_few else _LARGEST_SHARE
        return not _visits_more(X, n_neighbors, share)

    def _query_blocks(self, points: Array, n_neighbors: int) -> tuple[Indices, Array]:
        """All objects compared, some points at a time."""
        assert self._blocks is not None
        assert self._X is not None
        found = np.empty((len(points), n_neighbors), dtype=np.intp)
        lengths = np.empty((len(points), n_neighbors))
        for rows in batches(len(points), len(self._X)):
            # A copy, lest equal arrays count as the same objects.
            block = self._blocks(points[rows], self._X)
            found[rows], lengths[rows] = _smallest(block, n_neighbors)
        return found, lengths


def _visits_more(X: Array, n_neighbors: int, share: float) -> bool:
    """Whether a tree looks at more than this share of the objects, for some of them."""
    probed = X[:: -(-len(X) // _N_PROBED)]
    tree = KDTree(X)
    tree.reset_n_calls()
    with np.errstate(over="ignore", invalid="ignore"):
        tree.query(probed, min(n_neighbors, len(X)))
    return bool(tree.get_n_calls() > share * len(probed) * len(X))


def nearest_neighbors(X: Array, metric: Any, n_neighbors: int) -> tuple[Indices, Array]:
    """Row numbers and distances (n, K) of the objects nearest to each object.

    An object is not its own neighbour, but copies of it are. Objects tied at the last
    place are taken by row number: the search is repeated with twice as many neighbours
    until all that are tied are known.
    """
    search = NeighborSearch(X, metric)
    first = owner = np.arange(len(X))
    if metric != "precomputed":
        # Copies of an object share one search.
        _, first, owner = np.unique(X, axis=0, return_index=True, return_inverse=True)
    n_kept = n_neighbors + 1  # with the object itself
    found = np.empty((len(first), n_kept), dtype=np.intp)
    lengths = np.empty((len(first), n_kept))
    n_asked, pending = n_kept + 1, np.arange(len(first))
    while len(pending):
        n_asked = min(n_asked, len(X))
        is_tied = np.zeros(len(first), dtype=bool)
        for batch in batches(len(pending), n_asked):
            asked = pending[batch]
            columns, values = search.query(X[first[asked]], n_asked)
            if n_asked > n_kept + 1 or n_asked == len(X):
                ranked = np.lexsort((columns, values))
                columns = np.take_along_axis(columns, ranked, axis=1)
                values = np.take_along_axis(values, ranked, axis=1)
            found[asked], lengths[asked] = columns[:, :n_kept], values[:, :n_kept]
            is_tied[asked] = values[:, -1] <= lengths[asked].max(axis=1) * (1 + 1e-9)
        pending = np.flatnonzero(is_tied & (n_asked < len(X)))
        n_asked *= 2
    check_lengths(lengths, metric)
    return _without_self(found[owner.ravel()], lengths[owner.ravel()])


def _smallest(D: Array, n_neighbors: int) -> tuple[Indices, Array]:
    """Columns and values of the smallest entries of each row, smallest first."""
    columns = np.argpartition(D, n_neighbors - 1, axis=1)[:, :n_neighbors]
    columns.sort(axis=1)
    order = np.argsort(np.take_along_axis(D, columns, axis=1), axis=1, kind="stable")
    columns = np.take_along_axis(columns, order, axis=1)
    return columns, np.take_along_axis(D, columns, axis=1)


def _without_self(found: Indices, lengths: Array) -> tuple[Indices, Array]:
    """One column less: without the object itself or, if it is not there, the last."""
    dropped = found == np.arange(len(found))[:, None]
    dropped[~dropped.any(axis=1), -1] = True
    shape = (len(found), found.shape[1] - 1)
    return found[~dropped].reshape(shape), lengths[~dropped].reshape(shape)
