"""CatECM: evidential c-means of categories."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.validation import validate_data

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_exponent,
    check_integer,
    is_automatic,
    naming,
)
from credalis._progress import Report
from credalis._weights import copied
from credalis.belief import FocalSets
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._fit import fit
from credalis.cluster._framework._solution import Solution
from credalis.cluster._framework._soundness import warn_of_collapse
from credalis.cluster._inputs._clusters import (
    ORDINARY_SHARE,
    noise_factor,
    robust_scale,
)
from credalis.cluster.prototypes._catecm_modes import (
    as_modes,
    matching_costs,
    updated_modes,
)
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
    PrototypeModel,
    ecm_model,
    mass_weights,
    masses_from_costs,
)
from credalis.optimize import iterate

Array = NDArray[np.float64]

INITS = ("k-means", "k-means++")
PROTOTYPES = ("modes", "shares")

# The exponent of the masses in the authors' program.
_PUBLISHED_BETA = 1.2

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
    """Evidential c-means of categories: clusters have a category in each column.

    Minimises

        J = Σ_i Σ_{A_j ≠ ∅} |A_j|^α m_ij^β D_ij² + δ² Σ_i m_i∅^β,
        D_ij = Σ_l (1 - w̄_jl(x_il)) / |A_j|,

    over the masses m and the prototypes w_kl of attribute l in cluster k, which have a
    single category: w_kl(x) is 1 for it and 0 for the others. w̄_jl is the mean of the
    prototypes of the clusters in A_j, so that D of an object and a single cluster is
    the number of attributes in which they differ. Masses and prototypes are updated in
    turn, so that J never increases. Cells that are missing are left out, and the others
    count more.

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
    prototypes : {"modes", "shares"}, default="modes"
        What stands for a cluster. "modes": a category in each attribute, as published.
        "shares": shares p_kl of all categories, not negative and of sum 1, with the
        squared distance D_ij² = Σ_l ½ ‖e_il - p̄_jl‖² to the indicators e_il of the
        categories of an object; this is ours, see Notes.
    alpha : float or "auto", default="auto"
        Exponent of the cardinality: the larger, the less mass on large sets. With modes
        a set costs |A|^(α - 2) of the squared mean of the distances to its clusters, so
        that none is preferred from 2 on. "auto" takes 2 - log 2 / (2 log c): Ω costs
        0.71 of a cluster for an object as far from all. With shares an object that has
        half of its categories of two clusters is half as far from the two as from one
        of them, and "auto" is 0.5.
    beta : float or "auto", default="auto"
        Exponent of the masses, > 1: the larger, the less certain the result. Too large
        a value for the data makes all prototypes coincide, which is warned about.
        "auto" is 1.2 for modes, as in the authors' program. For shares it is 2 in up to
        two dimensions and about 1 + 2/d in d; see `beta_`.
    delta : float or "auto", default="auto"
        Distance to noise: an object farther than this from all clusters is rather an
        outlier. "auto" takes twice the 0.95 quantile of D to the nearest of the
        clusters that k-means finds.
    n_bins : int, default=5
        Columns of more than 32 different numbers are cut into so many intervals, with
        as many different numbers in each.
    init : {"k-means", "k-means++"}, default="k-means"
        Initial prototypes: those of the clusters that k-means finds among the
        indicators of the categories, or the categories of objects that are drawn.
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
        Prototypes of the clusters: the shares of the categories of all columns, side
        by side in the order of `categories_`. With modes, 1 for one of each column.
    categories_ : list of lists of str
        The categories of each column.
    edges_ : list of arrays
        Where the numbers of each column are cut into intervals, each with its upper
        edge; empty where they are not.
    alpha_ : float
        Exponent of the cardinality that was used.
    beta_ : float
        Exponent of the masses that was used. For shares "auto" takes min(2, 1 + 2 s),
        where 1/s is the effective dimension of the clusters that k-means finds, or of
        the data if that is larger: s is the mean squared cosine of the angles between
        deviations from the centres.
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
    J, its dissimilarity, the masses and the prototypes are those of the program that
    the authors of the article have published (catecm, abdjiber), which is the
    reference; the article itself was not consulted. That program takes as prototype of
    cluster k the categories with the largest Σ_i m_ik^β. This minimises Σ_i m_ik^β D_ik
    over single clusters instead of J, which has squares and all sets: J increases in
    some of its iterations. Here that update is taken where it lowers J, and then each
    category is exchanged for the one of the smallest J, one after another. Automatic
    parameters, starts by k-means, weights and missing cells are ours.

    With ``prototypes="shares"`` CatECM is the evidential c-means of the indicators of
    the categories, up to a factor and to shares that cannot be negative. It needs a
    smaller exponent, and says more about clusters in which no category prevails.

    Categories of new objects that the fit has not seen differ from all others.

    References
    ----------
    A. J. Djiberou Mahamadou, V. Antoine, G. J. Christie and S. Moreno (2019),
    Evidential clustering for categorical data, IEEE International Conference on Fuzzy
    Systems.

    Examples
    --------
    >>> from credalis import CatECM
    >>> table = [["red", "round"], ["red", "round"], ["red", "long"],
    ...          ["blue", "long"], ["blue", "long"], ["blue", "round"]]
    >>> model = CatECM(n_clusters=2, random_state=0).fit(table)
    >>> model.categories_
    [['blue', 'red'], ['long', 'round']]
    >>> labels = model.predict([["red", "round"], ["blue", "long"], ["red", None]])
    >>> bool(labels[0] == labels[2] != labels[1])
    True
    """

    _words = "objects were compared with the categories of the clusters"
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
        {"alpha_": _archive.Number(at_least=0)},
        _check_shares,
    )

    # Earlier versions knew nothing but shares.
    _earlier_defaults: ClassVar = {"prototypes": "shares"}
    _earlier_numbers: ClassVar = {"alpha_": "alpha"}

    max_iter: int

    shares_: Array
    categories_: list[list[str]]
    edges_: list[Array]
    alpha_: float
    beta_: float
    delta_: float

    # What the columns of the table that is being fitted hold.
    _columns: list[Column]

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        prototypes: str = "modes",
        alpha: float | str = "auto",
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
        self.prototypes = prototypes
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
        check_choice("prototypes", self.prototypes, PROTOTYPES)
        if not is_automatic("alpha", self.alpha):
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
        centers = np.zeros((self.n_clusters, len(is_used)))
        centers[:, is_used] = scale.centers
        start = self._as_prototypes(centers, sizes)
        beta, delta = self.beta, self.delta
        if isinstance(beta, str):
            beta = _PUBLISHED_BETA
            if not self._has_modes:
                beta = exponent(points, scale, None)
        if isinstance(delta, str):
            ordinary = scale.distance
            if self._has_modes:
                ordinary = _ordinary_differences(points, start[:, is_used])
            delta = noise_factor(is_about_novelty=True) * ordinary
        return CategoryProblem(
            objects,
            float(beta),
            float(delta),
            is_used,
            start=start if self.init == "k-means" else None,
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
        model = self._model(focal_sets, problem.beta, problem.delta)
        costs_of, updated = category_costs, updated_shares
        if self._has_modes:
            costs_of, updated = matching_costs, updated_modes
        if previous is not None:
            start = previous.per_cluster["shares_"]
        elif problem.start is not None:
            start = problem.start
        else:
            drawn = np.zeros((self.n_clusters, len(problem.is_used)))
            drawn[:, problem.is_used], _ = kmeans_plusplus(
                problem.candidates, self.n_clusters, random_state=rng
            )
            start = self._as_prototypes(drawn, objects.sizes)

        def step(before: CategoryStep) -> tuple[CategoryStep, float]:
            shares = before.following
            costs = costs_of(objects, shares, model)
            masses = masses_from_costs(costs, model.beta)
            weights = mass_weights(masses, model.beta)
            if problem.weights is not None:
                weights = weights * problem.weights
            loss = float(np.vdot(weights, costs))
            moved = updated(weights, objects, shares, model)
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
                "alpha_": model.alpha,
                "beta_": model.beta,
                "delta_": model.delta,
            },
            is_interrupted=trace.interrupted,
        )

    def _check_solution(self, problem: CategoryProblem, solution: Solution) -> bool:
        separation = np.sqrt(0.5) * pdist(solution.per_cluster["shares_"])
        points = problem.objects.points
        spread = np.sqrt(copied(points, points, problem.weights).var(axis=0).sum())
        return warn_of_collapse(self, separation.max(initial=0.0), spread)

    def _predict_masses(self, X: Array) -> Array:
        model = self._model(self.focal_sets_, self.beta_, self.delta_, self.alpha_)
        costs_of = matching_costs if self._has_modes else category_costs
        masses = np.empty((len(X), len(self.focal_sets_)))
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            objects = Indicators.of(X[rows], self._sizes)
            costs = costs_of(objects, self.shares_, model)
            masses[rows] = masses_from_costs(costs, model.beta).T
        return masses

    @property
    def _has_modes(self) -> bool:
        return self.prototypes == "modes"

    def _as_prototypes(self, points: Array, sizes: NDArray[np.intp]) -> Array:
        shares = as_shares(points, sizes)
        return as_modes(shares, sizes) if self._has_modes else shares

    def _model(
        self,
        focal_sets: FocalSets,
        beta: float,
        delta: float,
        alpha: float | str | None = None,
    ) -> PrototypeModel:
        """What is minimised; by default with the exponent that was asked for."""
        if alpha is None:
            alpha = self.alpha
        if isinstance(alpha, str):
            alpha = _automatic_alpha(self.n_clusters) if self._has_modes else 0.5
        return ecm_model(focal_sets, float(alpha), beta, delta)

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
    start : array of shape (n_clusters, n_categories) or None
        Prototypes that all starts have in common.
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


def _automatic_alpha(n_clusters: int) -> float:
    """The exponent with which Ω costs √½ of a cluster for an object as far from all."""
    return 2.0 - math.log(2) / (2 * math.log(max(n_clusters, 2)))


def _ordinary_differences(points: Array, modes: Array) -> float:
    """The 0.95 quantile of the number of attributes that differ from the nearest mode.

    At least 1: where almost all objects are like a prototype, one that differs in an
    attribute is no outlier yet.

    Parameters
    ----------
    points : array of shape (n_samples, n_categories)
        `Indicators.points`.
    modes : array of shape (n_clusters, n_categories)
        Prototypes.
    """
    values = points * math.sqrt(2)
    n_known = values.sum(axis=1)
    differing = 1.0 - (values @ modes.T).max(axis=1) / np.maximum(n_known, 1.0)
    n_attributes = modes.sum(axis=1).max()
    return max(1.0, float(np.quantile(n_attributes * differing, ORDINARY_SHARE)))


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
