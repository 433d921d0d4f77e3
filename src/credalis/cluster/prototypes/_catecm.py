"""CatECM: evidential c-means of categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.validation import validate_data

from credalis import _archive
from credalis._checks import check_choice, check_exponent, check_integer, naming
from credalis._progress import Report
from credalis._warnings import warn_experimental
from credalis._weights import copied
from credalis.belief import FocalSets
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._fit import fit
from credalis.cluster._framework._solution import Solution
from credalis.cluster._framework._soundness import warn_of_collapse
from credalis.cluster._inputs._clusters import noise_factor, robust_scale
from credalis.cluster.prototypes._catecm_prototypes import (
    category_costs,
    updated_shares,
)
from credalis.cluster.prototypes._categories import (
    Column,
    Indicators,
    attribute_of,
    codes_of,
    hashes_of,
)
from credalis.cluster.prototypes._clusterer import exponent
from credalis.objectives import (
    ecm_model,
    mass_weights,
    masses_from_costs,
)
from credalis.optimize import iterate

Array = NDArray[np.float64]

INITS = ("k-means", "k-means++")

# New objects whose masses are computed at a time.
_BLOCK_ROWS = 4096


def _check_shares(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    """Refuse shares that are none of the categories, and intervals of nothing."""
    categories, edges = fitted["categories_"], fitted["edges_"]
    if not len(categories) == len(edges) == fitted["n_features_in_"]:
        raise ValueError(
            f"{owner}.categories_ and edges_ must be about n_features_in_ = "
            f"{fitted['n_features_in_']} columns, got {len(categories)} and "
            f"{len(edges)}"
        )
    for names, cuts in zip(categories, edges, strict=True):
        if len(cuts) and (len(cuts) != len(names) - 1 or (np.diff(cuts) <= 0).any()):
            raise ValueError(
                f"{owner}.edges_ must be ascending, and one less than categories, got "
                f"{len(cuts)} for {len(names)}"
            )
    sizes = np.array([len(names) for names in categories])
    shares = fitted["shares_"]
    if shares.shape[1] != sizes.sum():
        raise ValueError(
            f"{owner}.shares_ must be about {sizes.sum()} categories, got "
            f"{shares.shape[1]}"
        )
    totals = np.zeros((len(sizes), len(shares)))
    np.add.at(totals, attribute_of(sizes), shares.T)
    if not np.allclose(totals[sizes > 0], 1.0, atol=1e-6):
        raise ValueError(f"{owner}.shares_ must sum to 1 in each attribute")


class CatECM(BaseCredalClusterer):
    """Evidential c-means of categories: clusters are shares of categories.

    The published article could not be consulted for its formulas, which is why this
    class is experimental and warns so once; see Notes. Minimises

        J = Σ_i Σ_{A_j ≠ ∅} |A_j|^α m_ij^β D_ij² + δ² Σ_i m_i∅^β,
        D_ij² = Σ_l ½ ‖e_il - p̄_jl‖²,

    over the masses m and the shares p_kl of the categories of attribute l in cluster k,
    which are not negative and sum to 1. e_il is 1 for the category of object i and 0
    for the others, and p̄_jl is the mean of the shares of the clusters in A_j. D² of an
    object and a cluster of one category in each attribute is the number of attributes
    in which they differ. Masses and shares are updated in turn, so that J never
    increases. Cells that are missing are left out, and the others count more.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters c. With one cluster, which is warned about, objects are told
        from outliers and nothing else.
    focal_sets : {"auto", "singletons", "pairs", "full", "two-step"} or FocalSets, \
default="auto"
        Which sets of clusters may carry mass. "auto" takes all pairs up to four
        clusters and singletons above; "two-step" fits with singletons first and then
        adds the pairs of neighbouring clusters. ∅ and Ω are included. Without ∅ no
        object is an outlier.
    alpha : float, default=0.5
        Exponent of the cardinality: the larger, the less mass on large sets. No object
        is at the mean of two clusters, as it can be among numbers: one that has half of
        its categories of each is half as far from the two as from one of them, so that
        with 1 all three cost the same.
    beta : float or "auto", default="auto"
        Exponent of the masses, > 1: the larger, the less certain the result. Too large
        a value for the data makes all prototypes coincide, which is warned about.
        "auto" is the published 2 in up to two dimensions and about 1 + 2/d in d; see
        `beta_`.
    delta : float or "auto", default="auto"
        Distance to noise: an object farther than this from all clusters is rather an
        outlier. "auto" takes as delta² twice the 0.95 quantile of D² to the nearest of
        the clusters that k-means finds.
    n_bins : int, default=5
        Columns of more than 32 different numbers are cut into so many intervals, with
        as many different numbers in each.
    init : {"k-means", "k-means++"}, default="k-means"
        Initial shares: those of the clusters that k-means finds among the indicators
        of the categories, or the categories of objects that are drawn.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best is kept; "auto" is 5, or 1 if all would be
        the same.
    max_iter : int, default=500
        Largest number of iterations of one start.
    tol : float, default=1e-6
        Relative change of J below which a start ends.
    n_jobs : int, default=None
        Number of starts run at the same time, as in joblib. It does not change the
        result.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Attributes
    ----------
    partition_ : CredalPartition
        The mass functions of the objects.
    labels_ : array of shape (n_samples,)
        Cluster of maximal plausibility.
    shares_ : array of shape (n_clusters, n_categories)
        Shares p_k of the categories of all columns, side by side in the order of
        `categories_`.
    categories_ : list of lists of str
        The categories of each column.
    edges_ : list of arrays
        Where the numbers of each column are cut into intervals, each with its upper
        edge; empty where they are not.
    beta_ : float
        Exponent of the masses that was used. "auto" takes min(2, 1 + 2 s), where 1/s is
        the effective dimension of the clusters that k-means finds, or of the data if
        that is larger: s is the mean squared cosine of the angles between deviations
        from the centres.
    delta_ : float
        Distance to noise that was used.
    focal_sets_ : FocalSets
        Focal sets that were used.
    loss_ : float
        J of `shares_` and the masses that belong to them.
    history_ : array of shape (n_iter_,)
        J at each iteration, with the masses that fit the shares best.
    n_iter_ : int
        Number of iterations of the best start.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns, if X had any.

    Notes
    -----
    The article has prototypes of categories, a dissimilarity of objects to sets of
    them, and updates in turn; its dissimilarity could not be confirmed. Here it is the
    one that makes CatECM the evidential c-means of the indicators of the categories,
    up to a factor and to shares that cannot be negative, and with single categories as
    prototypes k-modes.

    Categories of new objects that the fit has not seen differ from all others.

    References
    ----------
    A. J. Djiberou Mahamadou, V. Antoine, G. J. Christie and S. Moreno (2019),
    Evidential clustering for categorical data, IEEE International Conference on Fuzzy
    Systems.

    Examples
    --------
    >>> import warnings
    >>> from credalis import CatECM
    >>> warnings.simplefilter("ignore")
    >>> table = [["red", "round"], ["red", "round"], ["red", "long"],
    ...          ["blue", "long"], ["blue", "long"], ["blue", "round"]]
    >>> model = CatECM(n_clusters=2, random_state=0).fit(table)
    >>> model.categories_
    [['blue', 'red'], ['long', 'round']]
    >>> labels = model.predict([["red", "round"], ["blue", "long"], ["red", None]])
    >>> bool(labels[0] == labels[2] != labels[1])
    True
    """

    _words = "objects were compared with how frequent each category is in the clusters"
    _depends_on_units = False
    _is_for_many_rows = True
    _is_for_categories = True
    _outlier_advice = "increase delta"

    _schema = BaseCredalClusterer._schema.extended(
        {
            "shares_": _archive.Array(
                "f", ("n_clusters", "n_categories"), at_least=0, at_most=1 + 1e-6
            ),
            "categories_": _archive.Each(_archive.Each(_archive.Text())),
            "edges_": _archive.Each(_archive.Array("f", (None,))),
            "beta_": _archive.Number(above=1),
            "delta_": _archive.Number(above=0, at_most=1e153),
        },
        None,
        _check_shares,
    )

    max_iter: int

    shares_: Array
    categories_: list[list[str]]
    edges_: list[Array]
    beta_: float
    delta_: float

    # What the columns of the table that is being fitted hold.
    _columns: list[Column]

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        alpha: float = 0.5,
        beta: float | str = "auto",
        delta: float | str = "auto",
        n_bins: int = 5,
        init: str = "k-means",
        n_init: int | str = "auto",
        max_iter: int = 500,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.alpha = alpha
        self.beta = beta
        self.delta = delta
        self.n_bins = n_bins
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any = None, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Cluster the rows of a table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Categories: text, numbers, truth values, or a mixture of them. None and NaN
            are missing.
        y : ignored
            Present for compatibility with pipelines and searches.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: a row of weight 2 counts as two equal rows, one
            of weight 0 is not used and only gets masses. None: all count once.

        Returns
        -------
        self
        """
        fit(self, X, sample_weight=sample_weight)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_exponent("alpha", self.alpha, self.n_clusters)
        check_integer("n_bins", self.n_bins, at_least=2, at_most=1000)
        check_choice("init", self.init, INITS)

    def _validate(
        self, X: Any, *, reset: bool = True, ensure_min_samples: int = 2
    ) -> Array:
        """Numbers of the categories, NaN for missing cells."""
        with naming("X"):
            table = validate_data(
                self,
                X,
                dtype=None,
                reset=reset,
                ensure_min_samples=ensure_min_samples,
                ensure_all_finite="allow-nan",
            )
        if reset:
            check_integer("n_bins", self.n_bins, at_least=2, at_most=1000)
            self._columns = [Column.of(cells, self.n_bins) for cells in table.T]
            return codes_of(table, self._columns)
        return codes_of(table, list(map(Column, self.categories_, self.edges_)))

    def _n_starts(self, problem: CategoryProblem) -> int:
        if isinstance(self.n_init, str) and problem.start is not None:
            return 1
        return super()._n_starts(problem)

    def _prepare(
        self,
        X: Array,
        rng: np.random.RandomState,
        *,
        sample_weight: Array | None = None,
        **given: Any,
    ) -> CategoryProblem:
        sizes = np.array([len(column.names) for column in self._columns], dtype=np.intp)
        objects = Indicators.of(X, sizes)
        if not objects.values.any():
            raise ValueError("X must hold categories, all cells are missing")
        # Categories of objects that do not count must not count, either.
        is_used = objects.values.max(axis=0) > 0
        points = copied(
            objects.points[:, is_used],
            hashes_of(X, self._columns),
            sample_weight,
            self.n_clusters,
        )
        scale = robust_scale(points, self.n_clusters, rng)
        beta, delta = self.beta, self.delta
        if isinstance(beta, str):
            beta = exponent(points, scale, None)
        if isinstance(delta, str):
            delta = noise_factor(is_about_novelty=True) * scale.distance
        return CategoryProblem(
            objects,
            float(beta),
            float(delta),
            is_used,
            start=scale.centers if self.init == "k-means" else None,
            candidates=points[scale.is_near],
            weights=sample_weight,
        )

    def _solve(
        self,
        problem: CategoryProblem,
        focal_sets: FocalSets,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> Solution:
        objects = problem.objects
        model = ecm_model(focal_sets, self.alpha, problem.beta, problem.delta)
        if previous is not None:
            start = previous.per_cluster["shares_"]
        else:
            centers = problem.start
            if centers is None:
                centers, _ = kmeans_plusplus(
                    problem.candidates, self.n_clusters, random_state=rng
                )
            start = np.zeros((self.n_clusters, len(problem.is_used)))
            start[:, problem.is_used] = centers
            start = as_shares(start, objects.sizes)

        def step(before: CategoryStep) -> tuple[CategoryStep, float]:
            shares = before.following
            costs = category_costs(objects, shares, model)
            masses = masses_from_costs(costs, model.beta)
            weights = mass_weights(masses, model.beta)
            if problem.weights is not None:
                weights = weights * problem.weights
            loss = float(np.vdot(weights, costs))
            moved = updated_shares(weights, objects, shares, model)
            return CategoryStep(shares, moved, masses), loss

        trace = iterate(
            step,
            CategoryStep(start, start, np.empty((0, 0))),
            tol=self.tol,
            max_iter=self.max_iter,
            report=report,
        )
        return Solution(
            trace.state.masses.T.copy(),
            trace,
            per_cluster={"shares_": trace.state.shares},
            other={
                "categories_": [column.names for column in self._columns],
                "edges_": [column.edges for column in self._columns],
                "beta_": model.beta,
                "delta_": model.delta,
            },
            is_interrupted=trace.interrupted,
        )

    def _check_solution(self, problem: CategoryProblem, solution: Solution) -> bool:
        warn_experimental(
            "CatECM", "its dissimilarity to clusters is not confirmed by the article"
        )
        separation = np.sqrt(0.5) * pdist(solution.per_cluster["shares_"])
        points = problem.objects.points
        spread = np.sqrt(copied(points, points, problem.weights).var(axis=0).sum())
        return warn_of_collapse(self, separation.max(initial=0.0), spread)

    def _predict_masses(self, X: Array) -> Array:
        model = ecm_model(self.focal_sets_, self.alpha, self.beta_, self.delta_)
        masses = np.empty((len(X), len(self.focal_sets_)))
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            objects = Indicators.of(X[rows], self._sizes)
            costs = category_costs(objects, self.shares_, model)
            masses[rows] = masses_from_costs(costs, model.beta).T
        return masses

    @property
    def _sizes(self) -> NDArray[np.intp]:
        return np.array([len(names) for names in self.categories_], dtype=np.intp)

    def _points(self, X: Array) -> tuple[Array, Any]:
        return Indicators.of(X, self._sizes).points, "euclidean"


@dataclass(frozen=True, eq=False)
class CategoryProblem:
    """What all starts share.

    Attributes
    ----------
    objects : Indicators
        Categories of the objects.
    beta, delta : float
        Exponent of the masses, and distance to noise.
    is_used : array of bool, shape (n_categories,)
        Categories that some objects have.
    start : array of shape (n_clusters, n_used_categories) or None
        Centres that all starts have in common.
    candidates : array of shape (n_candidates, n_used_categories)
        Objects that others are drawn from.
    weights : array of shape (n_samples,) or None
        How often each object counts; None: once.
    """

    objects: Indicators
    beta: float
    delta: float
    is_used: NDArray[np.bool_]
    start: Array | None
    candidates: Array
    weights: Array | None


@dataclass(frozen=True, eq=False)
class CategoryStep:
    """Shares at which the loss is known, those of the next step, and the masses."""

    shares: Array
    following: Array
    masses: Array


def as_shares(points: Array, sizes: NDArray[np.intp]) -> Array:
    """Points that are no shares, as missing cells leave them, made to sum to 1.

    An attribute of which nothing is known has equal shares.
    """
    attributes = attribute_of(sizes)
    totals = np.zeros((len(points), len(sizes)))
    np.add.at(totals.T, attributes, points.T)
    totals = totals[:, attributes]
    equal = 1.0 / sizes[attributes]
    known = np.where(totals > 0, totals, 1.0)
    return np.where(totals > 0, points / known, equal)
