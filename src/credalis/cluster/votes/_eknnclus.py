"""EkNNclus: objects join the cluster that their neighbours vote for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_factor,
    check_integer,
    check_lengths,
    check_number,
    naming,
    shown,
)
from credalis._neighbors import (
    NeighborSearch,
    batches,
    check_metric,
    nearest_neighbors,
)
from credalis._novelty import METRIC
from credalis._progress import Report
from credalis._warnings import warn_user
from credalis.belief import FocalSets
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._fit import fit
from credalis.cluster._framework._schema import TransformerRule
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._geometry import (
    FARTHEST,
    Metric,
    attribute_geometry,
    within_reach,
)
from credalis.cluster._inputs._side_information import Transformer, placed
from credalis.cluster.votes._votes import (
    LARGEST_EXPONENT,
    count_votes,
    disagreement,
    discontent,
    evidence_weights,
    masses_from_votes,
    neighbor_scale,
    visit_in_turn,
)
from credalis.dissimilarity import check_dissimilarities
from credalis.optimize import iterate

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# The number of neighbours is this many times √n, as in the published examples.
_NEIGHBORS_PER_ROOT = 3.0


def _check_objects(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    n_objects, n_features = len(fitted["assignments_"]), fitted["n_features_in_"]
    if fitted["n_neighbors_"] > n_objects:
        raise ValueError(
            f"{owner}.n_neighbors_ must not exceed the {n_objects} objects, got "
            f"{fitted['n_neighbors_']}"
        )
    if fitted["points_"] is None and n_objects != n_features:
        raise ValueError(
            f"{owner}.assignments_ must be about n_features_in_ = {n_features} objects "
            f"of a model of dissimilarities, got {n_objects}"
        )
    if (fitted["points_"] is None) != (fitted["metric_"] == "precomputed"):
        raise ValueError(
            f"{owner}.metric_ must be 'precomputed' just without points_, got "
            f"{fitted['metric_']!r}"
        )


class EkNNclus(BaseCredalClusterer):
    """Evidential k-nearest-neighbour clustering; it finds the number of clusters.

    Each of the K nearest neighbours j of object i is evidence, with mass
    α_ij = exp(-γ d_ij^b), that i is in the same cluster as j. With the weights of
    evidence w_ij = -log(1 - α_ij), a partition y goes against the evidence

        L(y) = ½ Σ_i Σ_{j ∈ N_K(i)} w_ij 1(y_i ≠ y_j).

    At first every object is a cluster of its own, or in one that is given. Then, in
    random order, objects join the cluster with the largest sum of weights among their
    neighbours, until none wants to move. If neighbourhood is mutual, as with K = n - 1,
    no move increases L; in general L usually falls, and the number of sweeps is
    limited. L is 0 for a single cluster: what is sought is a local minimum on the way
    from n clusters downwards.

    The masses of an object combine the evidence of its neighbours by Dempster's rule.
    They are on the clusters and on Ω, never on ∅.

    Parameters
    ----------
    n_neighbors : int or "auto", default="auto"
        K. The larger, the fewer clusters are found. "auto" is 3 √n, as in the published
        examples.
    quantile : float, default=0.5
        1/γ is this quantile of all d_ij^b. The larger, the fewer clusters.
    exponent : float, default=1.0
        b.
    metric : str, callable, Gower or transformer, default="euclidean"
        Dissimilarity of two rows of X: a metric of scikit-learn's NearestNeighbors that
        needs no parameters, "gower" for the mean difference as a share of the range of
        each column, where X may be a data frame with categories, dates and gaps, the
        ``metric_`` of a `credalis.tabular.TablePreparation` for the matrix it makes of
        one, "precomputed" if X is a square matrix of dissimilarities, or a transformer
        in whose space Euclidean distances are taken; it is cloned and fitted to X.
    symmetrize : bool, default=False
        Replace an asymmetric matrix by the mean of it and its transpose instead of
        refusing it.
    init : "objects" or array-like of int, shape (n_samples,), default="objects"
        Clusters to start from. "objects": every object is a cluster of its own. Given
        labels are numbers of clusters, -1 for objects that are clusters of their own;
        there are never more clusters than at the start.
    n_init : int or "auto", default="auto"
        Number of starts, each with other random orders, of which the one with the
        lowest L is kept; that is often the one with fewest clusters. "auto" is 1.
    max_iter : int, default=100
        Largest number of iterations of one start. An iteration is a sweep over the
        objects.
    n_jobs : int, default=None
        Number of starts run at the same time, as in joblib. It does not change the
        result.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts. A start is a random order of the objects in each sweep.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Attributes
    ----------
    partition_ : CredalPartition
        The mass functions of the objects.
    labels_ : array of shape (n_samples,)
        Cluster of maximal plausibility; the largest cluster is number 0.
    n_clusters_ : int
        Number of clusters found.
    assignments_ : array of int, shape (n_samples,)
        Clusters y that the objects joined; those of `labels_` but for ties.
    n_neighbors_ : int
        K that was used.
    gamma_ : float
        γ.
    focal_sets_ : FocalSets
        ∅, the clusters and Ω.
    loss_ : float
        L.
    history_ : array of shape (n_iter_,)
        L after each sweep.
    n_iter_ : int
        Number of sweeps.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.

    Notes
    -----
    Prediction applies the rule of the masses to the K training objects that are
    nearest. It differs from the fit for the training objects themselves: in the fit an
    object is not its own neighbour; in prediction it is, at distance 0, so that
    its masses are more certain. The model, and a file of it, holds the training data.

    Distances below 1e-6 times γ^(-1/b) count as this much, and α as at least 1e-6.

    References
    ----------
    T. Denœux, O. Kanjanatarakul and S. Sriboonchitta (2015), EK-NNclus: A clustering
    procedure based on the evidential K-nearest neighbor rule, Knowledge-Based Systems
    88, 57-69.

    Examples
    --------
    >>> from credalis import EkNNclus
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=4, random_state=1)
    >>> model = EkNNclus(random_state=0).fit(X)
    >>> model.n_clusters_
    4
    >>> model.predict(X[:3]).tolist() == model.labels_[:3].tolist()
    True
    """

    _words = "each object followed the votes of its nearest neighbours"
    _reads_dissimilarities = True
    _outlier_advice = "increase n_neighbors"

    _schema = BaseCredalClusterer._schema.extended(
        {
            "transformer_": TransformerRule(),
            "assignments_": _archive.Array(
                "i", ("n_objects",), at_least=0, below="n_clusters"
            ),
            "points_": _archive.OneOf(
                _archive.Nothing(), _archive.Array("f", ("n_objects", "n_dimensions"))
            ),
            "gamma_": _archive.Number(at_least=0),
            "metric_": METRIC,
            "n_clusters_": _archive.Integer(size="n_clusters"),
            "n_neighbors_": _archive.Integer(at_least=1),
        },
        None,
        _check_objects,
    )

    max_iter: int

    assignments_: Indices
    gamma_: float
    metric_: Metric
    n_clusters_: int
    n_neighbors_: int
    points_: Array | None
    transformer_: Transformer | None

    def __init__(
        self,
        *,
        n_neighbors: int | str = "auto",
        quantile: float = 0.5,
        exponent: float = 1.0,
        metric: Metric = "euclidean",
        symmetrize: bool = False,
        init: str | ArrayLike = "objects",
        n_init: int | str = "auto",
        max_iter: int = 100,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.quantile = quantile
        self.exponent = exponent
        self.metric = metric
        self.symmetrize = symmetrize
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, neighbor_graph: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : ignored
            Present for compatibility with pipelines and searches.
        neighbor_graph : sparse matrix of shape (n_samples, n_samples), default=None
            Distances of each object to its neighbours, if these have been found before;
            what is not stored is no neighbour. K is the smallest number of neighbours
            of an object, or `n_neighbors` if that is a smaller number. X serves
            prediction alone.

        Returns
        -------
        self
        """
        fit(self, X, neighbor_graph=neighbor_graph)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.n_neighbors, str):
            check_choice("n_neighbors", self.n_neighbors, ("auto",))
        else:
            check_integer("n_neighbors", self.n_neighbors, at_least=1)
        check_number("quantile", self.quantile, at_least=0, at_most=1)
        check_factor("exponent", self.exponent, above=0, at_most=LARGEST_EXPONENT)
        if not hasattr(self.metric, "transform"):
            check_metric(self.metric, "gower")
        if isinstance(self.init, str):
            check_choice("init", self.init, ("objects",))

    def _check_n_clusters(self) -> None:
        pass

    def _check_enough_objects(self, X: Array) -> None:
        if not isinstance(self.n_neighbors, str) and self.n_neighbors >= len(X):
            raise ValueError(
                f"n_neighbors must be less than the number of objects, {len(X)}, got "
                f"{self.n_neighbors}"
            )

    def _first_focal_sets(self) -> None:
        return None

    def _has_fixed_order(self, problem: VoteProblem) -> bool:
        # The largest cluster comes first; `_solve` sees to it.
        return True

    def _prepare(
        self, X: Array, rng: np.random.RandomState, **given: Any
    ) -> VoteProblem:
        n_neighbors = self.n_neighbors
        if isinstance(n_neighbors, str):
            n_neighbors = round(_NEIGHBORS_PER_ROOT * np.sqrt(len(X)))
            n_neighbors = min(n_neighbors, len(X) - 1)
        space, graph = self._space(X, rng), given.get("neighbor_graph")
        if graph is None:
            neighbors, lengths = nearest_neighbors(
                space.objects, space.metric, n_neighbors
            )
        else:
            neighbors, lengths = neighbors_of_graph(graph, len(X))
            if not isinstance(self.n_neighbors, str):
                n_neighbors = min(self.n_neighbors, neighbors.shape[1])
                neighbors, lengths = (
                    neighbors[:, :n_neighbors],
                    lengths[:, :n_neighbors],
                )
            check_lengths(lengths, "neighbor_graph")
        gamma = neighbor_scale(lengths, self.quantile, self.exponent)
        weights = evidence_weights(lengths, gamma, self.exponent)
        return VoteProblem(space, neighbors, weights, gamma, self._start(len(X)))

    def _start(self, n_samples: int) -> Indices:
        """Clusters 0, 1, ... that the objects are in at first."""
        if isinstance(self.init, str):
            return np.arange(n_samples)
        with naming("init"):
            labels = np.asarray(self.init)
        is_whole = labels.dtype.kind in "iu" and labels.shape == (n_samples,)
        if not is_whole or labels.min() < -1:
            raise ValueError(
                f"init must hold a cluster >= 0, or -1, for each of the {n_samples} "
                f"objects, got {shown(self.init)}"
            )
        labels = labels.astype(np.intp)
        is_alone = labels == -1
        labels[is_alone] = labels.max() + 1 + np.arange(is_alone.sum())
        return np.unique(labels, return_inverse=True)[1]

    def _space(self, X: Array, rng: np.random.RandomState) -> _Space:
        """The matrix of dissimilarities, or the points and their metric."""
        if self._is_precomputed:
            matrix = check_dissimilarities(X, symmetrize=self.symmetrize)
            return _Space(matrix, "precomputed", None)
        geometry, transformer = attribute_geometry(X, self._own_metric, rng)
        return _Space(geometry.values, geometry.metric, transformer)

    def _solve(
        self,
        problem: VoteProblem,
        focal_sets: FocalSets | None,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> Solution:
        neighbors, weights = problem.neighbors, problem.weights
        everyone = np.arange(len(neighbors))

        def step(labels: Indices) -> tuple[Indices, float]:
            # A table of votes for very many clusters would take longer than to visit
            # all objects, of whom most then want to move anyhow.
            n_clusters = int(labels.max()) + 1
            visited = everyone
            if n_clusters <= neighbors.shape[1]:
                visited = discontent(neighbors, weights, labels, n_clusters)
            labels = labels.copy()
            visit_in_turn(rng.permutation(visited), neighbors, weights, labels)
            labels = np.unique(labels, return_inverse=True)[1]
            return labels, disagreement(neighbors, weights, labels)

        trace = iterate(
            step, problem.start, tol=0, max_iter=self.max_iter, report=report
        )
        labels, masses = _largest_first(trace.state, neighbors, weights)
        n_clusters = masses.shape[1] - 1
        focal_sets = FocalSets.singletons(n_clusters)
        fitted = {
            "assignments_": labels,
            "gamma_": problem.gamma,
            "metric_": problem.space.metric,
            "n_clusters_": n_clusters,
            "n_neighbors_": neighbors.shape[1],
            "points_": None if self._is_precomputed else problem.space.objects,
            "transformer_": problem.space.transformer,
        }
        return Solution(
            masses=_with_empty_set(masses, focal_sets),
            trace=trace,
            other=fitted,
            focal_sets=focal_sets,
            is_interrupted=trace.interrupted,
        )

    def _fitted_masses(self, X: Array, solution: Solution) -> Array:
        return solution.masses

    def _check_solution(self, problem: VoteProblem, solution: Solution) -> None:
        if self.n_clusters_ == 1:
            warn_user(
                f"all objects are in one cluster: lower n_neighbors, it was "
                f"{self.n_neighbors_}, or quantile",
                UserWarning,
            )

    def _predict_masses(self, X: Array) -> Array:
        search = NeighborSearch(self.points_, self.metric_)
        if self.points_ is None:
            X = np.minimum(X, FARTHEST)
        else:
            X = placed(self.transformer_, X)
            X = within_reach(X, self.points_.mean(axis=0))
        masses = np.empty((len(X), len(self.focal_sets_)))
        for rows in batches(len(X), self.n_neighbors_ + self.n_clusters_):
            neighbors, lengths = search.query(X[rows], self.n_neighbors_)
            # Some metrics know no distance of some rows: those are far away.
            lengths = np.where(np.isnan(lengths), FARTHEST, lengths)
            check_lengths(lengths, self.metric_)
            weights = evidence_weights(lengths, self.gamma_, self.exponent)
            votes = count_votes(self.assignments_[neighbors], weights, self.n_clusters_)
            masses[rows] = _with_empty_set(masses_from_votes(votes), self.focal_sets_)
        return masses


@dataclass(frozen=True, eq=False)
class _Space:
    """Objects and how far they are from each other."""

    objects: Array
    metric: Metric
    transformer: Transformer | None


@dataclass(frozen=True, eq=False)
class VoteProblem:
    """What all starts share."""

    space: _Space
    neighbors: Indices
    weights: Array
    gamma: float
    start: Indices


def neighbors_of_graph(graph: Any, n_samples: int) -> tuple[Indices, Array]:
    """Neighbours and distances, nearest first, as many as every object has.

    Parameters
    ----------
    graph : sparse matrix of shape (n_samples, n_samples)
        Distances; the diagonal does not count.
    n_samples : int
        Number of objects.

    Returns
    -------
    neighbors : array of int, shape (n_samples, n_neighbors)
    lengths : array of shape (n_samples, n_neighbors)
    """
    if not issparse(graph) or graph.shape != (n_samples, n_samples):
        got = f"{type(graph).__name__} of shape {getattr(graph, 'shape', None)}"
        raise ValueError(
            f"neighbor_graph must be a sparse matrix of shape ({n_samples}, "
            f"{n_samples}), got {got}"
        )
    entries = graph.tocoo()
    is_other = entries.row != entries.col
    rows, columns = entries.row[is_other], entries.col[is_other]
    lengths = np.asarray(entries.data[is_other], dtype=np.float64)
    if not np.isfinite(lengths).all() or (lengths < 0).any():
        raise ValueError("neighbor_graph must hold distances, finite and not negative")
    order = np.lexsort((columns, lengths, rows))
    counts = np.bincount(rows, minlength=n_samples)
    if not counts.all():
        raise ValueError(
            "neighbor_graph must hold a neighbour of each object, object "
            f"{int(counts.argmin())} has none"
        )
    starts = np.cumsum(counts) - counts
    chosen = order[starts[:, None] + np.arange(counts.min())]
    return columns[chosen].astype(np.intp), lengths[chosen]


def _largest_first(
    labels: Indices,
    neighbors: Indices,
    weights: Array,
) -> tuple[Indices, Array]:
    """Labels and masses (n_samples, n_clusters + 1), numbered by decreasing size."""
    n_clusters = int(labels.max()) + 1
    votes = np.concatenate(
        [
            count_votes(labels[neighbors[rows]], weights[rows], n_clusters)
            for rows in batches(len(labels), neighbors.shape[1] + n_clusters)
        ]
    )
    # The cluster of maximal plausibility is the one with most votes.
    sizes = np.bincount(votes.argmax(axis=1), minlength=n_clusters)
    order = np.argsort(-sizes, kind="stable")
    new_labels = np.argsort(order)
    return new_labels[labels], masses_from_votes(votes[:, order])


def _with_empty_set(masses: Array, focal_sets: FocalSets) -> Array:
    """Masses of the clusters and Ω as masses of ∅, the clusters and Ω."""
    if focal_sets.n_clusters == 1:
        # The cluster is the frame.
        masses = masses.sum(axis=1, keepdims=True)
    return np.concatenate([np.zeros((len(masses), 1)), masses], axis=1)
