"""EVCLUS: masses whose conflicts match dissimilarities, found row by row."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis import _archive
from credalis._novelty import METRIC
from credalis._progress import Report
from credalis.belief import FocalSets
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._fit import fit
from credalis.cluster._framework._schema import (
    WITH_PARTITION,
    TransformerRule,
    check_points,
)
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._geometry import (
    EARLIER_DEFAULTS,
    FARTHEST,
    Metric,
    check_not_negative,
    within_reach,
)
from credalis.cluster._inputs._side_information import Transformer, placed
from credalis.cluster.evclus._gradient import masses_from_dissimilarities
from credalis.cluster.evclus._problem import (
    EvclusProblem,
    check_parameters,
    prepare,
)
from credalis.cluster.evclus._rows import masses_from_similarities
from credalis.cluster.evclus._solve import solve, solve_together
from credalis.dissimilarity import dissimilarities_between, transform
from credalis.partition import CredalPartition

Array = NDArray[np.float64]

# Dissimilarities of new objects computed at a time.
_MAX_ENTRIES = 2_000_000

# One start of many objects is made of several starts of some of them.
_MAX_FOR_SEVERAL_STARTS = 1000


def _check_landmarks(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    landmarks = fitted["landmarks_"]
    if len(landmarks) == 0:
        raise ValueError(f"{owner}.landmarks_ must hold at least one, got none")
    check_points(
        f"{owner}.landmarks_", fitted["points_"], landmarks, fitted["n_features_in_"]
    )
    if ("conflict_coefficients_" in fitted) != ("offset_" in fitted):
        raise ValueError(f"{owner}.conflict_coefficients_ must come with offset_")


class EVCLUS(BaseCredalClusterer):
    """Evidential clustering of dissimilarities, with or without pair constraints.

    Minimises over the masses of all objects

        L = mean (κ_ij - δ*_ij)² + ξ / (2 (|ML| + |CL|)) (P_ML + P_CL)

    where κ_ij is the degree of conflict of the objects i and j,
    δ*_ij = 1 - exp(-γ d_ij²) their transformed dissimilarity, with γ such that
    δ* = 0.95 at d = δ0, P_ML the sum of Pl(different) + 1 - Pl(same) over must-links
    and P_CL that of Pl(same) + 1 - Pl(different) over cannot-links. The mean is over
    all pairs, over random partners of each object, or over all pairs of an object and a
    landmark. The dissimilarities need not be distances.

    Given the other objects, L is a quadratic function of the masses of one object, with
    its minimum on the simplex found exactly. Sweeps over all objects repeat this; L
    never increases. With constraints the method is known as CEVCLUS, with sampled pairs
    as k-EVCLUS and k-CEVCLUS.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters c. With one cluster, which is warned about, objects are told
        from outliers and nothing else.
    focal_sets : {"auto", "singletons", "pairs", "full", "two-step"} or FocalSets, \
default="auto"
        Which sets of clusters may carry mass. "auto" takes all pairs up to four
        clusters and singletons above; "two-step" fits with singletons first and then
        adds the pairs of neighbouring clusters. ∅ and Ω are included.
    metric : str, callable, Gower or transformer, default="euclidean"
        Dissimilarity of two rows of X: a metric of scikit-learn's
        ``pairwise_distances``, "gower" for the mean difference as a share of the range
        of each column, where X may be a data frame with categories, dates and gaps, the
        ``metric_`` of a `credalis.tabular.TablePreparation` for the matrix it makes of
        one, "precomputed" if X is a square matrix of dissimilarities, or a transformer
        in whose space Euclidean distances are taken.
        A transformer is cloned and fitted with the side information it can use.
    symmetrize : bool, default=False
        Replace an asymmetric matrix by the mean of it and its transpose instead of
        refusing it.
    dissimilarity_quantile : float, "auto" or "paper", default="auto"
        δ0 as a quantile of the dissimilarities. "auto" takes the δ0 with which the mean
        of δ* over the pairs is the share of pairs in different ones of hard clusters,
        found by k-means or around medoids; it knows the sizes of the clusters. "paper"
        is the quantile of the articles, 0.9 up to four clusters, then 2 / n_clusters
        but at least 0.1.
    dissimilarity_scale : float, default=None
        δ0 as an absolute value; it takes the place of the quantile.
    pairs : {"auto", "all", "sampled", "landmarks"}, default="auto"
        Which pairs of objects count: all; those of each object with random partners of
        its own; or those of each object with landmarks, random objects that are the
        partners of all. Time and memory grow with n² for "all" (memory with n only
        beyond 10,000 objects), with n else. "auto" is "sampled" if `pairs_per_sample`
        is given, otherwise "all" up to 2000 objects and "landmarks" above.
    pairs_per_sample : int, default=None
        Number of partners of each object, or of landmarks. None is 500, or all others
        if there are fewer.
    solver : {"two-sided", "reference", "gradient"}, default="two-sided"
        "two-sided" counts in the problem of an object i all pairs with it, so that L
        never increases. "reference" counts only pairs with partners of i, not those of
        which i is the partner, and updates one object after the other, as the
        published program does; it differs for sampled pairs, and L may then increase.
        "gradient" is the method of 2004: adaptive gradient descent of the stress
        Σ (a κ + b - d)² / d over all pairs, relative to Σ d, with raw dissimilarities
        d and coefficients a and b that are fitted, plus entropies; constraints count
        twice.
    init : {"auto", "random", "k-means++"}, CredalPartition or array-like of shape \
(n_samples, n_focal_sets), default="auto"
        Starting point: random masses; masses that fit the dissimilarities to distant
        objects, one for each cluster; or a partition of the objects or its masses,
        which fixes the numbers of the clusters. "auto" is "k-means++" for "two-sided"
        and "random" else. Above 1000 objects, and with landmarks, a random start of
        "two-sided" is the best of five fits of a subset of the objects, the others
        being placed by their dissimilarities to them; with singletons, fits that are
        far behind the best are given up. Constraints count only after a first, rough
        descent without them, unless the start is given.
    constraint_weight : float, default=0.5
        ξ.
    constraint_neighbors : int, default=0
        If positive, number K of pairs of neighbours that each constraint is handed on
        to, see `credalis.constraints.expand`.
    empty_set : {"novelty", "stress"}, default="novelty"
        What the reported mass on ∅ stands for. "novelty": being unlike all training
        objects, by the distances to the nearest of them, for which the model keeps at
        most 2000 of them; the other masses are normalised and share the rest. "stress":
        what the minimisation has left there, as in the articles. `loss_` and `stress_`
        always belong to the masses of the minimisation.
    outlier_rate : float, default=0.01
        Share of ordinary objects that may be called outliers, with
        ``empty_set="novelty"``; see `outlier_p_values`.
    entropy_weight : float, default=0.0
        Weight of the entropies, for "gradient".
    warm_start : bool, default=False
        Start from the partition of the previous fit.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best is kept; "auto" is 5 up to 1000 objects, and
        1 above or if the start is given.
    max_iter : int, default=1000
        Largest number of iterations of one start. An iteration is a sweep over the
        objects, or a step of "gradient".
    tol : float, default=1e-6
        Relative decrease of L below which a start ends. From 1e-6 on, sweeps over
        sampled pairs of more than 1000 objects may work in single precision; `loss_` is
        in double precision whatever it is.
    n_jobs : int, default=None
        Number of starts run at the same time, as in joblib. It does not change the
        result.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts. Pairs that are sampled depend on it, too.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Attributes
    ----------
    partition_ : CredalPartition
        The mass functions of the objects.
    labels_ : array of shape (n_samples,)
        Cluster of maximal plausibility.
    scale_ : float
        δ0 that was used.
    focal_sets_ : FocalSets
        Focal sets that were used.
    loss_ : float
        L of the masses of the minimisation, or the objective of "gradient".
    stress_ : float
        The mean of (κ_ij - δ*_ij)² alone, without constraints.
    kkt_residual_ : float
        Largest violation of the optimality conditions over all objects: an upper bound
        on what one object can still gain, relative to the curvature of its problem.
        Absent for "gradient".
    landmarks_ : array of int
        Row numbers of the objects that new ones are compared with: the landmarks if
        there are any, otherwise all objects. Of rows that are equal, the first.
    points_ : array of shape (n_landmarks, n_features) or None
        Where these are; None for ``metric="precomputed"``.
    landmark_weights_ : array of shape (n_landmarks,)
        How often each of them counts, if rows repeat or have weights.
    conflict_coefficients_ : array of shape (2,)
        a and b, for "gradient".
    history_ : array of shape (n_iter_,)
        L after each sweep.
    n_iter_ : int
        Number of sweeps of the best start.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.

    Notes
    -----
    The masses are the parameters of the method, there is no model behind them. New
    objects get the masses whose conflicts with those of the training objects (or the
    landmarks), which stay as they are, fit their dissimilarities best. For a training
    object this is not its masses in `partition_`, though usually near: as a new object
    it has itself among the objects it is compared with, at distance 0; constraints on
    it are not known; and with sampled pairs it had fewer partners. ``predict(X)`` can
    therefore differ from `labels_` for objects between clusters.

    References
    ----------
    T. Denœux and M.-H. Masson (2004), EVCLUS: Evidential clustering of proximity data,
    IEEE Transactions on Systems, Man and Cybernetics B 34(1), 95-109.

    T. Denœux, S. Sriboonchitta and O. Kanjanatarakul (2016), Evidential clustering of
    large dissimilarity data, Knowledge-Based Systems 106, 179-195.

    F. Li, S. Li and T. Denœux (2018), k-CEVCLUS: Constrained evidential clustering of
    large dissimilarity data, Knowledge-Based Systems 142, 29-44.

    Examples
    --------
    >>> from credalis import EVCLUS
    >>> from credalis.datasets import load_butterfly
    >>> X = load_butterfly().data
    >>> model = EVCLUS(2, dissimilarity_scale=11, empty_set="stress", random_state=0)
    >>> model = model.fit(X)
    >>> model.partition_.set_names()[5], model.partition_.set_names()[11]
    ('Ω', '∅')
    """

    _words = "dissimilar objects were given contradictory evidence"
    _reads_dissimilarities = True
    _uses_pairs = True
    _predicts_from_partition = True
    _outlier_advice = (
        "set empty_set='novelty', with which only objects unlike all others are"
    )
    _earlier_defaults = EARLIER_DEFAULTS

    _schema = BaseCredalClusterer._schema.extended(
        {
            **WITH_PARTITION,
            "stress_": _archive.Number(),
            "scale_": _archive.Number(above=0),
            "metric_": METRIC,
            "transformer_": TransformerRule(),
            "landmarks_": _archive.Array(
                "i", ("n_landmarks",), at_least=0, below="n_samples"
            ),
            "points_": _archive.OneOf(
                _archive.Nothing(),
                _archive.Array("f", ("n_landmarks", "n_dimensions")),
            ),
        },
        {
            "kkt_residual_": _archive.Number(at_least=0),
            "conflict_coefficients_": _archive.Array("f", (2,)),
            "offset_": _archive.Number(),
            "landmark_weights_": _archive.Array("f", ("n_landmarks",), at_least=0),
        },
        _check_landmarks,
    )

    max_iter: int

    scale_: float
    landmarks_: NDArray[np.intp]
    points_: Array | None
    metric_: Metric
    transformer_: Transformer | None
    conflict_coefficients_: Array
    offset_: float
    landmark_weights_: Array

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        metric: Metric = "euclidean",
        symmetrize: bool = False,
        dissimilarity_quantile: float | str = "auto",
        dissimilarity_scale: float | None = None,
        pairs: str = "auto",
        pairs_per_sample: int | None = None,
        solver: str = "two-sided",
        init: str | CredalPartition | ArrayLike = "auto",
        constraint_weight: float = 0.5,
        constraint_neighbors: int = 0,
        empty_set: str = "novelty",
        outlier_rate: float = 0.01,
        entropy_weight: float = 0.0,
        warm_start: bool = False,
        n_init: int | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.metric = metric
        self.symmetrize = symmetrize
        self.dissimilarity_quantile = dissimilarity_quantile
        self.dissimilarity_scale = dissimilarity_scale
        self.pairs = pairs
        self.pairs_per_sample = pairs_per_sample
        self.solver = solver
        self.init = init
        self.constraint_weight = constraint_weight
        self.constraint_neighbors = constraint_neighbors
        self.empty_set = empty_set
        self.outlier_rate = outlier_rate
        self.entropy_weight = entropy_weight
        self.warm_start = warm_start
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        partial_labels: ArrayLike | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, or with ``metric="precomputed"`` a square matrix of dissimilarities.
        y : ignored
            Present for compatibility with pipelines and searches.
        partial_labels : array-like of int, shape (n_samples,), default=None
            Known clusters, -1 for unknown, for a transformer as `metric` that learns
            from them; refused if there is none.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), default=None
            Row numbers of objects known to be in the same cluster, and in different
            ones.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: a row of weight 2 counts as two equal rows, which
            share their masses, one of weight 0 is not used and only gets masses. None:
            all count once; so it must be unless the solver is "two-sided" and pairs are
            not "sampled". Pairs are between rows, and count once whatever the weights,
            which must not be 0.

        Returns
        -------
        self
        """
        fit(
            self,
            X,
            sample_weight=sample_weight,
            partial_labels=partial_labels,
            must_link=must_link,
            cannot_link=cannot_link,
        )
        return self

    @property
    def _trained_masses(self) -> Array:
        """Masses of the training objects before ∅ was told as novelty."""
        return getattr(self, "training_masses_", self.partition_.masses)

    @property
    def _is_warm(self) -> bool:
        return self.warm_start and hasattr(self, "partition_")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(self)

    def _prepare(
        self, X: Array, rng: np.random.RandomState, **given: Any
    ) -> EvclusProblem:
        return prepare(self, X, rng, **given)

    def _has_fixed_order(self, problem: EvclusProblem) -> bool:
        return not isinstance(self.init, str) or self._is_warm

    def _n_starts(self, problem: EvclusProblem) -> int:
        is_large = problem.n_samples > _MAX_FOR_SEVERAL_STARTS
        if isinstance(self.n_init, str) and is_large:
            return 1
        return super()._n_starts(problem)

    def _solve(
        self,
        problem: EvclusProblem,
        focal_sets: FocalSets,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> Solution:
        return solve(self, problem, focal_sets, rng, previous=previous, report=report)

    def _solves_together(self, problem: EvclusProblem) -> bool:
        is_small = problem.n_samples <= _MAX_FOR_SEVERAL_STARTS
        return is_small and problem.solver == "two-sided"

    def _solve_together(
        self,
        problem: EvclusProblem,
        focal_sets: FocalSets,
        rngs: list[np.random.RandomState],
        *,
        previous: Solution | None,
        reports: list[Report],
    ) -> list[Solution]:
        return solve_together(
            self, problem, focal_sets, rngs, previous=previous, reports=reports
        )

    def _fitted_masses(self, X: Array, solution: Solution) -> Array:
        return solution.masses

    def _predict_masses(self, X: Array) -> Array:
        references = self._trained_masses[self.landmarks_]
        masses = np.empty((len(X), len(self.focal_sets_)))
        size = max(1, _MAX_ENTRIES // len(references))
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            distances = self._to_landmarks(X[rows])
            if hasattr(self, "conflict_coefficients_"):
                masses[rows] = masses_from_dissimilarities(
                    distances,
                    references,
                    self.focal_sets_,
                    self.conflict_coefficients_,
                    self.offset_,
                )
            else:
                similarities = 1.0 - transform(distances, self.scale_)
                masses[rows] = masses_from_similarities(
                    similarities,
                    references,
                    self.focal_sets_,
                    getattr(self, "landmark_weights_", None),
                )
        return masses

    def _to_landmarks(self, X: Array) -> Array:
        """Dissimilarities of new objects to the landmarks, (n_samples, n_landmarks)."""
        if self.points_ is None:
            check_not_negative(X)
            return np.minimum(X[:, self.landmarks_], FARTHEST)
        points = placed(self.transformer_, X)
        points = within_reach(points, self.points_.mean(axis=0))
        distances = dissimilarities_between(points, self.points_, self.metric_)
        # Some metrics know no distance of some rows: those are far away.
        return np.fmin(distances, FARTHEST)
