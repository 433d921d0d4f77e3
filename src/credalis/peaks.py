"""The δ-Bel graph: which objects look like cluster centres, and how many there are.

A centre has many near neighbours, hence a high degree of belief Bel that it is one, and
is far from every object with a higher degree, hence a large δ. Centres stand apart in
the upper right corner of the graph of Bel against δ.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

from credalis._checks import (
    check_choice,
    check_integer,
    check_lengths,
    check_number,
    check_spread,
    naming,
    try_metric,
)
from credalis._neighbors import (
    EUCLIDEAN,
    batches,
    check_metric,
    nearest_neighbors,
)
from credalis._refusals import refuses_by_name
from credalis.dissimilarity import Gower, check_dissimilarities, dissimilarities_between

__all__ = ["DeltaBel", "delta_bel"]

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class DeltaBel:
    """Belief in each object as a cluster centre, and its distance to better ones.

    The result of `delta_bel`.

    Parameters
    ----------
    belief : array of shape (n_samples,)
        Degree of belief Bel that the object is a centre, in [0, 1].
    delta : array of shape (n_samples,)
        Distance δ to the nearest object with a higher degree; for the object with the
        highest one, the largest δ of the others.
    n_neighbors : int
        Number of neighbours that the degrees rest on.

    Examples
    --------
    >>> from credalis.peaks import delta_bel
    >>> graph = delta_bel([[0], [1], [2], [10], [11]], n_neighbors=2)
    >>> graph.belief.round(3)
    array([0.319, 0.614, 0.319, 0.493, 0.491])
    >>> graph.delta
    array([1., 9., 1., 9., 1.])
    >>> graph.suggest(n_clusters=2)
    array([1, 3])
    >>> graph.threshold(min_delta=5, min_belief=0.4)
    array([1, 3])
    """

    belief: Array
    delta: Array
    n_neighbors: int

    def __post_init__(self) -> None:
        for name in ("belief", "delta"):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.ndim != 1 or values.shape != np.shape(self.delta):
                raise ValueError(
                    "belief and delta must hold one number for each object, got shapes "
                    f"{np.shape(self.belief)} and {np.shape(self.delta)}"
                )
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.belief)

    def __repr__(self) -> str:
        return f"DeltaBel({len(self)} objects, n_neighbors={self.n_neighbors})"

    @cached_property
    def importance(self) -> Array:
        """Product of both values, each scaled to [0, 1], shape (n_samples,).

        Bel is scaled by its smallest and its largest value, δ by its largest.
        """
        low, high = self.belief.min(), self.belief.max()
        belief = (self.belief - low) / (high - low) if high > low else 1.0
        values = np.asarray(belief * self.delta / (self.delta.max() or 1.0))
        values.setflags(write=False)
        return values

    @cached_property
    def drops(self) -> Array:
        """√k log(p_k / p_{k+1}) of the k-th largest `importance` p, for k from 2 to √n.

        The factor is there because drops between objects that are no centres become
        smaller as k grows. Copies of an object count once. Shape (n_drops,).
        """
        ranked = self.importance[self._ranked(self.delta > 0)]
        n_most = min(int(np.sqrt(len(self))), len(ranked) - 1)
        numbers = np.arange(2, n_most + 1)
        # Zeros are no centres: the drop to the first of them is infinite.
        with np.errstate(divide="ignore", invalid="ignore"):
            drops = np.sqrt(numbers) * np.log(ranked[1:n_most] / ranked[2 : n_most + 1])
        values = np.where(np.isnan(drops), 0.0, drops)
        values.setflags(write=False)
        return values

    @refuses_by_name
    def suggest(self, n_clusters: int | None = None) -> Indices:
        """Row numbers of likely centres, the most important one first.

        These are the objects with the largest `importance`. Without a number of
        clusters, it is the one after which the drop is largest, see `drops`.

        Parameters
        ----------
        n_clusters : int, default=None
            How many; None chooses the number.

        Returns
        -------
        array of int, shape (n_clusters,)
            Of objects at different places: copies of an object count once.
        """
        # A copy of an object that comes before it has delta = 0.
        candidates = self._ranked(self.delta > 0)
        n_distinct = max(1, len(candidates))
        if n_clusters is None:
            n_clusters = 2 + int(self.drops.argmax()) if len(self.drops) else 2
        if check_integer("n_clusters", n_clusters, at_least=2) > n_distinct:
            raise ValueError(
                "n_clusters must not exceed the number of distinct objects, "
                f"{n_distinct}, got {n_clusters}"
            )
        return candidates[:n_clusters]

    @refuses_by_name
    def threshold(self, min_delta: float, min_belief: float) -> Indices:
        """Row numbers of the objects with δ > min_delta and Bel > min_belief.

        Parameters
        ----------
        min_delta, min_belief : float
            The lower left corner of a region of the graph.

        Returns
        -------
        array of int, shape (n_chosen,)
            The most important one first; empty if no object qualifies.
        """
        min_delta = check_number("min_delta", min_delta)
        min_belief = check_number("min_belief", min_belief)
        return self._ranked((self.delta > min_delta) & (self.belief > min_belief))

    def _ranked(self, chosen: NDArray[np.bool_]) -> Indices:
        """Row numbers of the chosen objects by decreasing importance."""
        rows = np.flatnonzero(chosen)
        return rows[np.argsort(-self.importance[rows], kind="stable")]


@refuses_by_name
def delta_bel(
    X: ArrayLike,
    *,
    n_neighbors: int | str = "auto",
    quantile: float | None = 0.9,
    metric: str | Callable | Gower = "euclidean",
    symmetrize: bool = False,
) -> DeltaBel:
    """The δ-Bel graph of a table of objects or of a dissimilarity matrix.

    Each of the K nearest neighbours j of object i is evidence that i is a centre, the
    more so the nearer it is. With Dempster's rule,

        Bel_i = 1 - prod_{j in N_K(i)} [1 - exp(-γ_j² d_ij²) / K],

    where 1/γ_j is a quantile of the distances of j to its own K neighbours. An object
    is not its own neighbour, but copies of it are; of neighbours at equal distances,
    those with lower row numbers come first. Then

        δ_i = min {d_ij : Bel_j > Bel_i},

    and for the highest Bel the largest δ of the others. Objects with equal Bel are
    taken in the order of the rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        Objects, or with ``metric="precomputed"`` their symmetric dissimilarities.
        Features in different units should be scaled.
    n_neighbors : int or "auto", default="auto"
        K, smaller than the smallest cluster and large enough to smooth out chance.
        "auto" is 2 √n, at most 75; from n = 5625 objects on √n, at most 150; and never
        more than n / 4. See Notes.
    quantile : float in [0, 1] or None, default=0.9
        Quantile of the distances that sets γ; None: γ = 1, which depends on the unit of
        the distances.
    metric : str, callable or Gower, default="euclidean"
        A metric of scikit-learn's NearestNeighbors that needs no parameters, "gower",
        or "precomputed".
    symmetrize : bool, default=False
        Whether to replace asymmetric precomputed dissimilarities by the mean of both,
        instead of refusing them.

    Returns
    -------
    DeltaBel

    Notes
    -----
    The paper has K = 50 for 400 objects in 4 clusters, and no rule. On benchmark sets,
    values from a fifth of the size of a cluster up to its size mostly find the centres;
    the automatic choice lies there for clusters of 30 or more among a few hundred
    objects, and of 100 or more among thousands. If the graph shows no gap, try others.

    A tree finds the neighbours if there are at most 10 features and the metric is
    Euclidean, city-block, Chebyshev or haversine; otherwise the time grows with n².
    Memory is of the order of n K.

    References
    ----------
    Z.-G. Su and T. Denœux (2019), BPEC: Belief-peaks evidential clustering, IEEE
    Transactions on Fuzzy Systems 27(1), 111-123.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from credalis.peaks import delta_bel
    >>> X, y = make_blobs(500, centers=5, cluster_std=0.7, random_state=2)
    >>> graph = delta_bel(X)
    >>> sorted(y[graph.suggest()].tolist())
    [0, 1, 2, 3, 4]
    """
    if quantile is not None:
        quantile = check_number("quantile", quantile, at_least=0, at_most=1)
    check_metric(metric, "gower")
    if metric == "precomputed":
        objects = check_dissimilarities(X, symmetrize=symmetrize)
    else:
        with naming("X"):
            objects = check_array(
                X, dtype=np.float64, ensure_min_samples=2, input_name="X"
            )
        if isinstance(metric, str) and metric in EUCLIDEAN:
            check_spread("X", objects)
        if not isinstance(metric, Gower):
            try_metric(metric, objects)
    if isinstance(metric, str) and metric == "gower":
        metric = Gower.of_numbers(objects)
    n_neighbors = _checked_n_neighbors(n_neighbors, len(objects))
    neighbors, lengths = nearest_neighbors(objects, metric, n_neighbors)
    belief = _center_belief(neighbors, lengths, quantile)
    delta = _separation(objects, metric, neighbors, lengths, belief)
    return DeltaBel(belief, delta, n_neighbors)


def _center_belief(neighbors: Indices, lengths: Array, quantile: float | None) -> Array:
    """Bel of each object from its neighbours and their distances, both (n, K)."""
    n_samples, n_neighbors = lengths.shape
    # 1 / γ_j; it is 0 if j has more than K copies, which then support only each other.
    scales = np.ones(n_samples)
    if quantile is not None:
        scales = np.quantile(lengths, quantile, axis=1)
    belief = np.empty(n_samples)
    for rows in batches(n_samples, n_neighbors):
        near = lengths[rows]
        with np.errstate(divide="ignore", over="ignore"):
            ratios = np.divide(
                near, scales[neighbors[rows]], out=np.zeros_like(near), where=near > 0
            )
            log_doubts = np.log1p(-np.exp(-(ratios**2)) / n_neighbors)
        belief[rows] = -np.expm1(log_doubts.sum(axis=1))
    return belief


def _separation(
    X: Array, metric: Any, neighbors: Indices, lengths: Array, belief: Array
) -> Array:
    """δ of each object.

    If a neighbour comes earlier in the order of Bel, the nearest such neighbour is the
    nearest such object; only for the other objects all earlier ones are searched.
    """
    order = np.argsort(-belief, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    is_earlier = rank[neighbors] < rank[:, None]
    delta = np.where(is_earlier, lengths, np.inf).min(axis=1)
    open_ranks = 1 + np.flatnonzero(np.isinf(delta[order[1:]]))
    for batch in batches(len(open_ranks), len(order)):
        ranks = open_ranks[batch]
        block = _distances(X, metric, order[ranks], order[: ranks[-1]])
        block[np.arange(ranks[-1]) >= ranks[:, None]] = np.inf
        delta[order[ranks]] = block.min(axis=1)
    delta[order[0]] = delta[order[1:]].max()
    return delta


def _distances(X: Array, metric: Any, rows: Indices, columns: Indices) -> Array:
    """A block of distances of its own, (n_rows, n_columns)."""
    if metric == "precomputed":
        return X[np.ix_(rows, columns)]
    if metric in EUCLIDEAN:
        block = cdist(X[rows], X[columns])
    else:
        block = dissimilarities_between(X[rows], X[columns], metric)
    check_lengths(block, metric)
    return block


def _checked_n_neighbors(n_neighbors: object, n_samples: int) -> int:
    """The number given, or the automatic one."""
    if isinstance(n_neighbors, str):
        check_choice("n_neighbors", n_neighbors, ("auto",))
        root = np.sqrt(n_samples)
        return max(1, round(min(max(min(2 * root, 75), root), 150, n_samples / 4)))
    number = check_integer("n_neighbors", n_neighbors, at_least=1)
    if number >= n_samples:
        raise ValueError(
            f"n_neighbors must be less than the number of objects, {n_samples}, got "
            f"{number}"
        )
    return number
