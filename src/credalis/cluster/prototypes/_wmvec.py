"""WMVEC: weighted multi-view evidential clustering."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import kmeans_plusplus

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_exponent,
    check_factor,
    check_finite,
    check_numbers,
    check_spread,
)
from credalis._progress import Report
from credalis.belief import FocalSets
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._fit import fit
from credalis.cluster._framework._solution import Solution
from credalis.cluster._framework._soundness import warn_of_collapse
from credalis.cluster._inputs._clusters import (
    noise_factor,
    robust_centers,
    robust_scale,
)
from credalis.cluster._inputs._geometry import FARTHEST, within_reach
from credalis.cluster._inputs._medoids import MAX_SAMPLE, belief_peaks
from credalis.cluster._inputs._views import (
    MAX_NOISE,
    Views,
    ViewsRule,
    check_view_columns,
    joined,
    joined_again,
    view_columns,
)
from credalis.cluster.prototypes._clusterer import exponent
from credalis.cluster.prototypes._view_weights import (
    ViewCosts,
    ViewWeights,
    column_moments,
    fitted_weights,
    noise_like,
)
from credalis.objectives import (
    PrototypeModel,
    PrototypeMoments,
    ecm_model,
    prototype_masses,
    set_prototypes,
    updated_centers,
)
from credalis.optimize import Trace, iterate

Array = NDArray[np.float64]

INITS = ("k-means", "k-means++", "peaks")
SCALES = ("noise", "variance", "none")

_LARGEST = 1e300

# What the clusters of noise leave of its variance; of as few objects as clusters
# nothing would be left.
_LEAST_SHARE = 1e-3
# As many objects of noise as are enough, but no more draws than this.
_MAX_DRAWS = 10


@dataclass(frozen=True, eq=False)
class ViewProblem:
    """What all starts share.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        Data.
    costs : ViewCosts
        Views, and how their weights are learned.
    beta, delta : float
        Exponent of the masses, and distance to noise.
    starts : list of arrays of shape (n_clusters, n_features)
        Prototypes, of which the best are kept; none if they are drawn.
    candidates : array of int
        Objects from which random prototypes are drawn.
    """

    X: Array
    costs: ViewCosts
    beta: float
    delta: float
    starts: list[Array]
    candidates: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ViewStep:
    """Prototypes and weights at which the loss is known, and those of the next step."""

    centers: Array
    weights: ViewWeights
    next_centers: Array
    next_weights: ViewWeights


def _check_columns(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    """Refuse weights of columns that do not belong to the views."""
    check_view_columns(owner, parameters, fitted)
    features, views = fitted["feature_weights_"], fitted["views_"]
    is_free = np.ones(len(fitted["column_weights_"]), dtype=bool)
    for columns in views.values():
        is_free[columns] = False
    if fitted["column_weights_"][is_free].any():
        raise ValueError(
            f"{owner}.column_weights_ must be 0 for columns that are in no view"
        )
    if features is None:
        return
    if features.keys() != views.keys() or any(
        features[name].shape != columns.shape for name, columns in views.items()
    ):
        raise ValueError(f"{owner}.feature_weights_ must be about the columns of views")


def _comparable(units: Array) -> Array:
    """Factors that make views of these units alike."""
    with np.errstate(over="ignore"):
        scales: Array = units.mean() / units
    if not np.isfinite(scales).all():
        raise ValueError(
            "views must have variances of comparable size, got "
            f"{units.min():.3g} and {units.max():.3g}"
        )
    return scales


def _say_nothing(iteration: int, loss: float) -> None:
    """Report nothing."""


class WMVEC(BaseCredalClusterer):
    """Weighted multi-view evidential clustering: ECM that finds out which views count.

    A view is a group of columns, or a table of its own, about the same objects.
    Minimises

        J = Σ_v r_v F_v + δ² Σ_i m_i∅^β + λ Σ_v r_v ln r_v,
        F_v = Σ_i Σ_{A_j ≠ ∅} |A_j|^α m_ij^β ‖x_iv - v̄_jv‖²

    over one credal partition m for all views, the prototypes v_kv of the clusters in
    each view, and the weights r_v of the views, which sum to 1; v̄_jv is the mean of the
    prototypes of the clusters in A_j. The weights are r_v ∝ exp(-F_v / λ), so that a
    view in which the clusters are no clusters hardly counts. Masses, prototypes and
    weights are updated in turn, each exactly, so that J never increases. With one view
    WMVEC is ECM.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters c. With one cluster, which is warned about, objects are told
        from outliers and nothing else.
    views : mapping from names to columns, list of lists of columns or None, \
default=None
        The columns of each view, by numbers or names. Columns that are in none are not
        used. None: one view of all columns, or the tables that X holds.
    focal_sets : {"auto", "singletons", "pairs", "full", "two-step"} or FocalSets, \
default="auto"
        Which sets of clusters may carry mass. "auto" takes all pairs up to four
        clusters and singletons above; "two-step" fits with singletons first and then
        adds the pairs of neighbouring clusters. ∅ and Ω are included. Without ∅ no
        object is an outlier; with singletons alone ECM is fuzzy c-means.
    scale_views : {"noise", "variance", "none"}, default="noise"
        What squared distances in a view are divided by, and multiplied by the mean of
        it over all views. "variance": its variance, summed over its columns, so that
        units do not count. "noise": the F_v that ECM reaches if the view is uniform
        noise with the same principal axes, so that the number of its columns does not
        count, either: any c clusters, and the sets of them, divide few columns more
        easily than many. "none": 1, as published.
    view_entropy : float, default=0.3
        λ: the larger it is, the more equal are the weights of the views. It is in units
        of the mean of what the costs of views are divided by.
    feature_entropy : float or None, default=None
        If given, the columns p of a view have weights u_vp as well, with mean 1 in each
        view, and γ Σ_v Σ_p (u_vp / d_v) ln u_vp is added to J: u_vp decreases with the
        cost of the column. This is γ, in the unit of `view_entropy`; much less than 1
        leaves a single column.
    alpha : float, default=1.0
        Exponent of the cardinality: the larger, the less mass on large sets.
    beta : float or "auto", default="auto"
        Exponent of the masses, > 1: the larger, the less certain the result. Too large
        a value for the data makes all prototypes coincide, which is warned about.
        "auto" is the published 2 in up to two dimensions and about 1 + 2/d in d; see
        `beta_`.
    delta : float or "auto", default="auto"
        Distance to noise: an object farther than this from all prototypes is rather an
        outlier. "auto" takes as delta² the 0.95 quantile of the squared distances to
        the nearest of the centres that k-means finds.
    empty_set : {"auto", "noise", "novelty"}, default="auto"
        What the reported mass on ∅ stands for. "noise": being farther than delta from
        all prototypes, as published. "novelty": being unlike all training objects, by
        the distances to the nearest of them; the other masses are normalised and share
        the rest, and delta only keeps outliers from moving the prototypes, for which an
        automatic one is twice as large. "auto" is "noise" if delta is a number,
        "novelty" else.
    outlier_rate : float, default=0.01
        Share of ordinary objects that may be called outliers, with
        ``empty_set="novelty"``; see `outlier_p_values`.
    init : "k-means", "k-means++", "peaks" or array-like of shape \
(n_clusters, n_features), default="k-means"
        Initial prototypes. "k-means" takes the centres that k-means finds in all views
        together, and starts again from the clusters of each view alone; "k-means++"
        draws them from the objects that are not far from all others, "peaks" takes the
        belief peaks (`credalis.peaks`) of the data, or of 10 000 evenly spread rows.
        Given ones also fix the numbers of the clusters.
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
    views_ : dict from str to array of int
        Columns of each view.
    view_weights_ : array of shape (n_views,)
        Weights r_v, in the order of `views_`.
    feature_weights_ : dict from str to array, or None
        Weights u_vp of the columns of each view; 0 for those that do not vary.
    column_weights_ : array of shape (n_features,)
        What squared differences in a column are multiplied by: the product of the
        weights above and of the factor of `scale_views`.
    centers_ : array of shape (n_clusters, n_features)
        Prototypes, in the units of X.
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
        J of the prototypes and weights and of the masses that belong to them, with ∅ as
        noise; the entropies are counted from equal weights, for which they are 0.
    history_ : array of shape (n_iter_,)
        J at each iteration, with the masses that fit the prototypes best.
    n_iter_ : int
        Number of iterations of the best start.
    n_features_in_ : int
        Number of features, those of all tables together.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.

    Notes
    -----
    In each view the prototypes solve the system of ECM, with weights |A_j|^(α-2) m_ij^β
    and |A_j|^(α-1) m_ij^β x_iv; r_v occurs on both sides. With `feature_entropy` this
    is WMVEC-FP, the form with feature preference: as in the authors' program, a column
    has one weight for all clusters. There the weights of the columns of a view sum to
    1; here they have mean 1, so that equal ones change nothing, which is the same for
    views whose squared distances are divided by their number of columns.

    A single column can be divided into c parts so well that noise there may get all the
    weight if the clusters of the other views overlap so much that they look like noise.

    References
    ----------
    Z. Liu, H. Huang, S. Letchmunan and M. Deveci (2024), Adaptive weighted multi-view
    evidential clustering with feature preference, Knowledge-Based Systems 294, 111770.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis import WMVEC
    >>> from sklearn.datasets import make_blobs
    >>> shape, _ = make_blobs(90, centers=3, random_state=3)
    >>> noise = np.random.RandomState(0).uniform(size=(90, 2))
    >>> model = WMVEC(3, random_state=0).fit({"shape": shape, "noise": noise})
    >>> bool(model.view_weights_[0] > 0.95)
    True
    """

    _words = (
        "objects were compared with the centres of clusters in several views, each as "
        "much as it tells"
    )
    _empty_sets = ("auto", "noise", "novelty")
    _outlier_advice = "increase delta"
    _is_for_many_rows = True
    _is_for_more_tables = True
    _inits: ClassVar[tuple[str, ...]] = INITS

    _schema = BaseCredalClusterer._schema.extended(
        {
            "views_": ViewsRule(),
            "view_weights_": _archive.Array(
                "f", ("n_views",), at_least=0, at_most=1 + 1e-6
            ),
            "feature_weights_": _archive.OneOf(
                _archive.Nothing(),
                _archive.Named(_archive.Array("f", (None,), at_least=0)),
            ),
            "column_weights_": _archive.Array("f", ("n_features",), at_least=0),
            "centers_": _archive.Array("f", ("n_clusters", "n_features")),
            "beta_": _archive.Number(above=1),
            "delta_": _archive.Number(above=0, at_most=1e153),
        },
        None,
        _check_columns,
    )

    max_iter: int

    views_: Views
    view_weights_: Array
    feature_weights_: dict[str, Array] | None
    column_weights_: Array
    centers_: Array
    beta_: float
    delta_: float

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        views: Any = None,
        focal_sets: str | FocalSets = "auto",
        scale_views: str = "noise",
        view_entropy: float = 0.3,
        feature_entropy: float | None = None,
        alpha: float = 1.0,
        beta: float | str = "auto",
        delta: float | str = "auto",
        empty_set: str = "auto",
        outlier_rate: float = 0.01,
        init: str | ArrayLike = "k-means",
        n_init: int | str = "auto",
        max_iter: int = 500,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.focal_sets = focal_sets
        self.scale_views = scale_views
        self.view_entropy = view_entropy
        self.feature_entropy = feature_entropy
        self.alpha = alpha
        self.beta = beta
        self.delta = delta
        self.empty_set = empty_set
        self.outlier_rate = outlier_rate
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the objects.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or mapping or list of these
            Data. Several tables, with the same objects in their rows, are the views;
            `predict` and the like then take them in the same form.
        y : ignored
            Present for compatibility with pipelines and searches.

        Returns
        -------
        self
        """
        table, columns = joined(X, self.views)
        fit(self, table, view_columns=columns)
        return self

    def _validate(
        self, X: Any, *, reset: bool = True, ensure_min_samples: int = 2
    ) -> Array:
        if not reset:
            X = joined_again(X, self.views_)
        return super()._validate(X, reset=reset, ensure_min_samples=ensure_min_samples)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_exponent("alpha", self.alpha, self.n_clusters)
        check_choice("scale_views", self.scale_views, SCALES)
        check_factor("view_entropy", self.view_entropy, above=0)
        if self.feature_entropy is not None:
            check_factor("feature_entropy", self.feature_entropy, above=0)
        if isinstance(self.init, str):
            check_choice("init", self.init, INITS)

    def _has_fixed_order(self, problem: ViewProblem | None) -> bool:
        return not isinstance(self.init, str)

    def _n_starts(self, problem: ViewProblem) -> int:
        if isinstance(self.n_init, str) and problem.starts:
            return 1
        return super()._n_starts(problem)

    def _prepare(
        self, X: Array, rng: np.random.RandomState, **given: Any
    ) -> ViewProblem:
        check_spread("X", X)
        views = given.get("view_columns")
        if views is None:
            names = getattr(self, "feature_names_in_", None)
            views = view_columns(self.views, X.shape[1], names)
        costs = self._view_costs(X, views, rng)
        # Where squared distances are those of equally weighted views.
        roots = np.sqrt(costs.equal_weights().columns)
        Z = X * roots
        check_spread("X", Z)
        starts = self._fixed_starts(X, Z)
        beta, delta, candidates = self.beta, self.delta, np.arange(len(X))
        if not starts or isinstance(beta, str) or isinstance(delta, str):
            scale = robust_scale(Z, self.n_clusters, rng)
            candidates = np.flatnonzero(scale.is_near)
            if self._is_by_k_means:
                starts = self._starts(X, Z, roots, views, scale.centers, rng)
            beta = exponent(Z, scale, None) if isinstance(beta, str) else beta
            if isinstance(delta, str):
                factor = noise_factor(is_about_novelty=self._is_about_novelty)
                delta = factor * scale.distance
        return ViewProblem(X, costs, float(beta), float(delta), starts, candidates)

    def _view_costs(
        self, X: Array, views: Views, rng: np.random.RandomState
    ) -> ViewCosts:
        """Scales of the views, and the entropies in the unit of J."""
        # From the first row, so that equal values have no variance.
        variances = (X - X[0]).var(axis=0)
        units = np.array([variances[columns].sum() for columns in views.values()])
        for name, unit in zip(views, units, strict=True):
            if unit == 0 and len(views) > 1:
                raise ValueError(
                    "each of the views must have a column that varies, view "
                    f"{name!r} has none"
                )
        scales = np.ones(len(views))
        if self.scale_views != "none" and len(views) > 1:
            if self.scale_views == "noise":
                units *= self._noise_shares(X, views, _comparable(units), rng)
            scales = _comparable(units)
        total, least = len(X) * float(units.mean()), np.finfo(np.float64).tiny
        of_features = None
        if self.feature_entropy is not None:
            of_features = max(self.feature_entropy * total, least)
        of_views = max(self.view_entropy * total, least)
        return ViewCosts(views, scales, variances > 0, of_views, of_features)

    def _noise_shares(
        self, X: Array, views: Views, scales: Array, rng: np.random.RandomState
    ) -> Array:
        """F_v, as a share of the variance, if the views were noise."""
        if self.n_clusters == 1:
            return np.ones(len(views))
        beta = self.beta
        if isinstance(beta, str):
            equal = ViewCosts(views, scales, np.ones(X.shape[1], dtype=bool), 1.0, None)
            Z = X * np.sqrt(equal.equal_weights().columns)
            beta = exponent(Z, robust_scale(Z, self.n_clusters, rng), None)
        n_draws = -(-MAX_NOISE // len(X))
        shares = [
            [
                self._noise_share(X[:, columns], float(beta), rng)
                for _ in range(min(n_draws, _MAX_DRAWS))
            ]
            for columns in views.values()
        ]
        return np.maximum(np.mean(shares, axis=1), _LEAST_SHARE)

    def _noise_share(self, X: Array, beta: float, rng: np.random.RandomState) -> float:
        """The same of one view: that of ECM for noise with the same axes."""
        n_objects = min(MAX_NOISE, max(len(X), 2 * self.n_clusters))
        noise = noise_like(X, n_objects, rng)
        columns = {"noise": np.arange(noise.shape[1])}
        varies = np.ones(noise.shape[1], dtype=bool)
        costs = ViewCosts(columns, np.ones(1), varies, 1.0, None)
        scale = robust_scale(noise, self.n_clusters, rng)
        factor = noise_factor(is_about_novelty=self._is_about_novelty)
        problem = ViewProblem(noise, costs, beta, factor * scale.distance, [], varies)
        focal_sets = self._focal_sets_of(self.n_clusters)
        model = ecm_model(focal_sets, self.alpha, beta, problem.delta)
        equal = costs.equal_weights()
        trace = self._descent(problem, model, scale.centers, equal, _say_nothing)
        centers = trace.state.centers
        sums = column_moments(noise, centers, equal, model)
        cost = equal.view_costs(sums.scatters(model, centers, centers))[0]
        return float(cost / (len(noise) * noise.var(axis=0).sum()))

    @property
    def _is_by_k_means(self) -> bool:
        return isinstance(self.init, str) and self.init == "k-means"

    def _fixed_starts(self, X: Array, Z: Array) -> list[Array]:
        """Prototypes at peaks or given ones, none for others."""
        if isinstance(self.init, str):
            if self.init == "peaks":
                return [X[belief_peaks(Z, self.n_clusters)]]
            return []
        centers = check_finite("init", check_numbers("init", self.init))
        if centers.shape != (self.n_clusters, X.shape[1]):
            raise ValueError(
                f"init must have shape (n_clusters, n_features) = "
                f"({self.n_clusters}, {X.shape[1]}), got {centers.shape}"
            )
        check_spread("init", centers)
        return [centers]

    def _starts(
        self,
        X: Array,
        Z: Array,
        roots: Array,
        views: Views,
        centers: Array,
        rng: np.random.RandomState,
    ) -> list[Array]:
        """Means of the clusters of all views together, and of each view alone.

        Where one view is mostly noise, so are the clusters of all together.
        """
        # Columns that are in no view are of no importance.
        together = np.divide(
            centers, roots, out=np.zeros_like(centers), where=roots > 0
        )
        starts, found = [together], []
        if len(views) > 1:
            objects = np.arange(len(X))
            if len(X) > MAX_SAMPLE:
                objects = rng.choice(len(X), MAX_SAMPLE, replace=False)
            for columns in views.values():
                rows = Z[:, columns]
                if len(np.unique(rows[objects], axis=0)) >= self.n_clusters:
                    of_view = robust_centers(rows[objects], self.n_clusters, rng)
                    found.append((rows, of_view))
        for rows, of_view in found:
            labels = cdist(rows, of_view).argmin(axis=1)
            if len(np.unique(labels)) == self.n_clusters:
                means = [X[labels == k].mean(axis=0) for k in range(self.n_clusters)]
                starts.append(np.array(means))
        return starts

    def _solve(
        self,
        problem: ViewProblem,
        focal_sets: FocalSets,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> Solution:
        model = ecm_model(focal_sets, self.alpha, problem.beta, problem.delta)
        weights, starts = problem.costs.equal_weights(), problem.starts
        if previous is not None:
            starts = [previous.per_cluster["centers_"]]
            weights = weights.like(previous.other)
        elif not starts:
            rows = problem.X[problem.candidates]
            Z = rows * np.sqrt(weights.columns)
            _, chosen = kmeans_plusplus(Z, self.n_clusters, random_state=rng)
            starts = [rows[chosen]]
        traces = []
        for start in starts:
            traces.append(self._descent(problem, model, start, weights, report))
            if traces[-1].interrupted:
                break
        trace = min(traces, key=lambda each: each.loss)
        return self._solution(problem, model, trace, traces[-1].interrupted)

    def _descent(
        self,
        problem: ViewProblem,
        model: PrototypeModel,
        start: Array,
        weights: ViewWeights,
        report: Report,
    ) -> Trace[ViewStep]:
        """Masses, prototypes and weights in turn, each exactly."""
        X = problem.X

        def step(before: ViewStep) -> tuple[ViewStep, float]:
            centers, weights = before.next_centers, before.next_weights
            sums = column_moments(X, centers, weights, model)
            moments = PrototypeMoments(
                sums.loss, sums.weight_sums, sums.deviations, None
            )
            # The weight of a view is on both sides of its equations.
            moved = updated_centers(moments, model, centers, None)
            after = weights.updated(sums.scatters(model, centers, moved))
            return ViewStep(centers, weights, moved, after), sums.loss + weights.penalty

        return iterate(
            step,
            ViewStep(start, weights, start, weights),
            tol=self.tol,
            max_iter=self.max_iter,
            report=report,
        )

    def _solution(
        self,
        problem: ViewProblem,
        model: PrototypeModel,
        trace: Trace[ViewStep],
        is_interrupted: bool,
    ) -> Solution:
        centers, weights = trace.state.centers, trace.state.weights
        roots = np.sqrt(weights.columns)
        sets = set_prototypes(centers * roots, None, model)
        return Solution(
            prototype_masses(problem.X * roots, sets, model),
            trace,
            per_cluster={"centers_": centers},
            other={
                **fitted_weights(weights),
                "beta_": model.beta,
                "delta_": model.delta,
            },
            is_interrupted=is_interrupted,
        )

    def _check_solution(self, problem: ViewProblem, solution: Solution) -> bool:
        roots = np.sqrt(self.column_weights_)
        separation = pdist(self.centers_ * roots).max(initial=0.0)
        spread = np.sqrt((problem.X * roots).var(axis=0).sum())
        return warn_of_collapse(self, separation, spread)

    def _predict_masses(self, X: Array) -> Array:
        model = ecm_model(self.focal_sets_, self.alpha, self.beta_, self.delta_)
        roots = np.sqrt(self.column_weights_)
        sets = set_prototypes(self.centers_ * roots, None, model)
        return prototype_masses(self._measured(X), sets, model)

    def _measured(self, X: Array) -> Array:
        """Objects where distances are Euclidean, near enough for their squares."""
        roots = np.sqrt(self.column_weights_)
        with np.errstate(over="ignore"):
            points = np.clip(X * roots, -_LARGEST, _LARGEST)
        sizes = np.maximum(self.focal_sets_.cardinality, 1).astype(np.float64)
        farthest = FARTHEST / max(1.0, np.sqrt((sizes**self.alpha).max()))
        return within_reach(points, self.centers_.mean(axis=0) * roots, farthest)

    def _points(self, X: Array) -> tuple[Array, Any]:
        return self._measured(X), "euclidean"
