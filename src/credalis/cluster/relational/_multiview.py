"""MultiviewECMdd: evidential c-medoids with several dissimilarities."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis import _archive
from credalis._checks import check_choice, check_factor
from credalis._neighbors import check_metric
from credalis._progress import Report
from credalis.belief import FocalSets
from credalis.cluster._framework._fit import fit
from credalis.cluster._framework._solution import Solution
from credalis.cluster._framework._soundness import warn_of_collapse
from credalis.cluster._inputs._geometry import Metric, attribute_geometry
from credalis.cluster._inputs._medoids import (
    Core,
    core_of,
    nearest_distinct_objects,
    objects_near,
    ordinary_value,
)
from credalis.cluster._inputs._views import (
    Views,
    ViewsRule,
    check_view_columns,
    joined,
    joined_again,
    view_columns,
)
from credalis.cluster.relational._clusterer import (
    RelationalClusterer,
    RelationalProblem,
    check_medoids,
    dissimilarities,
)
from credalis.cluster.relational._ecmdd_prototypes import single_distances
from credalis.cluster.relational._medoid_descent import medoid_separation, set_medoids
from credalis.dissimilarity import check_dissimilarities
from credalis.objectives import (
    mass_weights,
    masses_from_costs,
    set_costs,
)
from credalis.optimize import iterate_to_best

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

WEIGHTS = ("global", "local")

# Iterations without a lower J after which a start ends.
_PATIENCE = 10

# A view that the clusters cost less than this share of the others counts as it.
_LEAST_COST = 1e-6


@dataclass(frozen=True, eq=False)
class MultiviewProblem(RelationalProblem):
    """What all starts share; ``matrix`` is the sum of the matrices of all views.

    Attributes
    ----------
    matrices : array of shape (n_views, n_samples, n_samples)
        Dissimilarities of each view, in its unit.
    views : dict from str to array of int
        Columns of each view.
    scales : array of shape (n_views,)
        What the dissimilarities of the views were multiplied by.
    """

    matrices: Array
    views: Views
    scales: Array


@dataclass(frozen=True, eq=False)
class MultiviewStep:
    """Medoids and weights at which the loss is known, and those of the next step."""

    medoids: Indices
    weights: Array
    masses: Array
    next_medoids: Indices
    next_weights: Array


def view_costs(
    distances: Array, mass_powers: Array, focal_sets: FocalSets, alpha: float
) -> Array:
    """What sets of clusters cost in each view, F_jv = |A_j|^α Σ_i m_ij^β d_ijv.

    That of ∅, which is not near to anything in any view, is 0.

    Parameters
    ----------
    distances : array of shape (n_views, n_focal_sets, n_samples)
        d_ijv; those of ∅ are not read.
    mass_powers : array of shape (n_focal_sets, n_samples)
        m_ij^β.
    focal_sets : FocalSets
        The sets.
    alpha : float
        Exponent of the cardinality.

    Returns
    -------
    array of shape (n_focal_sets, n_views)
    """
    sizes = focal_sets.cardinality.astype(np.float64)
    of_sets = np.einsum("vji,ji->jv", distances, mass_powers)
    of_sets[sizes == 0] = 0.0
    costs: Array = sizes[:, None] ** alpha * of_sets
    return costs


def product_weights(costs: Array) -> Array:
    """λ_v = (Π_h F_h)^(1/V) / F_v, which minimise Σ_v λ_v F_v under Π_v λ_v = 1.

    Parameters
    ----------
    costs : array of shape (..., n_views)
        F_v; the smallest count as a millionth of the largest.

    Returns
    -------
    array of shape (..., n_views)
    """
    largest = costs.max(axis=-1, keepdims=True)
    costs = np.where(largest > 0, np.maximum(costs, _LEAST_COST * largest), 1.0)
    logs = np.log(costs)
    return np.exp(logs.mean(axis=-1, keepdims=True) - logs)


def multiview_distances(
    to_medoids: Array,
    to_sets: Array,
    weights: Array,
    focal_sets: FocalSets,
    gamma: float,
) -> tuple[Array, Array]:
    """Dissimilarities of objects to sets of clusters, in each view and together.

    Parameters
    ----------
    to_medoids : array of shape (n_views, n_clusters, n_samples)
        Dissimilarities to the medoids of the clusters.
    to_sets : array of shape (n_views, n_focal_sets, n_samples)
        Dissimilarities to the medoids of the sets; that of ∅ is not read.
    weights : array of shape (n_focal_sets, n_views)
        λ_jv.
    focal_sets : FocalSets
        The sets.
    gamma : float
        Weight of the medoids of the clusters in the dissimilarity to a set.

    Returns
    -------
    of_views : array of shape (n_views, n_focal_sets, n_samples)
    together : array of shape (n_focal_sets, n_samples)
    """
    of_views = np.array(
        [
            single_distances(*each, focal_sets, gamma)
            for each in zip(to_medoids, to_sets, strict=True)
        ]
    )
    return of_views, np.einsum("jv,vji->ji", weights, of_views)


def cluster_weights(weights: Array, focal_sets: FocalSets) -> Array:
    """λ_kv of the clusters, (n_clusters, n_views).

    Those that are no focal sets have the means over the sets they are in.
    """
    found = []
    for k in range(focal_sets.n_clusters):
        rows = focal_sets.membership[:, k] > 0
        if (k,) in focal_sets:
            rows = np.arange(len(focal_sets)) == focal_sets.index((k,))
        found.append(weights[rows].mean(axis=0) if rows.any() else weights.mean(axis=0))
    return np.array(found)


def _check_views(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    check_view_columns(owner, parameters, fitted)
    check_medoids(owner, fitted, "medoids_", "set_medoids_")
    n_views, weights = len(fitted["views_"]), fitted["view_weights_"]
    shape: tuple[int, ...] = (n_views,)
    if parameters.get("weights") == "local":
        shape = (len(fitted["set_medoids_"]), n_views)
    if weights.shape != shape:
        raise ValueError(
            f"{owner}.view_weights_ must have shape {shape}, got {weights.shape}"
        )
    if fitted["reference_points_"] is None:
        rows = fitted["references_"]
        if any(rows.max() >= len(each) for each in fitted["views_"].values()):
            raise ValueError(f"{owner}.views_ must hold a column for each reference")


class MultiviewECMdd(RelationalClusterer):
    """Evidential c-medoids for several views, and weights that tell which count.

    A view is a group of columns, a table of its own, or a matrix of dissimilarities,
    about the same objects. Minimises

        J = Σ_i Σ_{A_j ≠ ∅} |A_j|^α m_ij^β Σ_v λ_jv d_ijv + δ² Σ_i m_i∅^β

    where d_ijv is the dissimilarity of object i and set A_j in view v, as in ECMdd with
    single medoids; the medoids are the same objects in all views. The weights of the
    views are positive numbers whose product is 1: the more the clusters cost in a view,
    the less it counts. With ``weights="global"`` (MECMdd-RWG) they are the same for all
    sets, λ_v = (Π_h F_h)^(1/V) / F_v with F_v = Σ_ij |A_j|^α m_ij^β d_ijv. With
    ``weights="local"`` (MECMdd-RWL) each set of clusters has its own, from its part
    F_jv of the sum.

    Masses and weights are optimal for the medoids. The medoids are optimal for the
    masses on single clusters only, so that J can increase where sets of clusters carry
    mass; the best that are met are kept. The matrices of all dissimilarities are held
    in memory. With one view this is ECMdd, with ∅ as noise.

    The definitions are those of the program of the authors (evclust 0.2 for Python),
    with the form of the weights that it calls "prod". Two things differ. A medoid v_k
    minimises Σ_i m_i({k})^β Σ_v λ_kv d_v(i, v_k), as in ECMdd, where the program sums
    the dissimilarities of an object to all others. And the medoids of sets are chosen
    by weighted dissimilarities, where it gives all views the same weight.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters c. With one cluster, which is warned about, objects are told
        from outliers and nothing else.
    views : mapping from names to columns, list of lists of columns or None, \
default=None
        The columns of each view, by numbers or names. Columns that are in none are not
        used. None: one view of all columns, or the tables that X holds.
    weights : {"global", "local"}, default="global"
        Whether a view has one weight, or one for each set of clusters.
    focal_sets : {"auto", "singletons", "pairs", "full", "two-step"} or FocalSets, \
default="auto"
        Which sets of clusters may carry mass. "auto" takes all pairs up to four
        clusters and singletons above; "two-step" fits with singletons first and then
        adds the pairs of neighbouring clusters. ∅ and Ω are included.
    metric : str or callable, default="euclidean"
        Dissimilarity of two rows of a view: a metric of scikit-learn's
        ``pairwise_distances``, or "precomputed" if each view is a square matrix of
        dissimilarities.
    symmetrize : bool, default=False
        Replace an asymmetric matrix by the mean of it and its transpose instead of
        refusing it. `predict` and ``partition_`` use the rows as they are given.
    alpha : float, default=2.0
        Exponent of the cardinality: the larger, the less mass on large sets.
    beta : float or "auto", default="auto"
        Exponent of the masses, > 1: the larger, the less certain the result. Too large
        a value for the data makes all prototypes coincide, which is warned about.
        "auto" is about 1 + q/d in d dimensions, if J has the power q of the
        dissimilarities; see `beta_`.
    delta : float or "auto", default="auto"
        Distance to noise. "auto" takes as cost of noise the 0.95 quantile of the
        dissimilarities to the nearest prototype of hard clusters of the objects that
        are not isolated.
    eta, gamma : float, default=1.0
        η and γ, for the medoids of sets of clusters and the dissimilarities to them;
        see `ECMdd`.
    init : {"auto", "k-medoids", "k-means++", "random"} or array-like of int, \
default="auto"
        Objects to start from. "auto" takes the medoids of the best hard clusters that
        are found, "k-medoids" those of hard clusters found from distant objects,
        "k-means++" distant objects, "random" any objects. Given row numbers, n_clusters
        of them, also fix the numbers of the clusters.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best is kept; "auto" is 5, or 1 if all would be
        the same.
    max_iter : int, default=200
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
        Columns of each view; those of matrices are side by side.
    view_weights_ : array of shape (n_views,) or (n_focal_sets, n_views)
        Weights λ_v or λ_jv, in the order of `views_`; those of ∅ are 1.
    view_scales_ : array of shape (n_views,)
        What dissimilarities of a view were multiplied by, so that their mean is the
        same in all views. This makes weights comparable and changes nothing else.
    medoids_ : array of int, shape (n_clusters,)
        Row numbers of the medoids.
    set_medoids_ : array of int, shape (n_focal_sets,)
        Row numbers of the objects that stand for the focal sets, -1 for ∅.
    beta_ : float
        Exponent of the masses that was used. "auto" takes min(1.2, 1 + s), where 1/s
        is the effective dimension of hard clusters, or of the data if that is larger:
        s is the mean squared cosine of the angles between deviations from the centres.
    delta_ : float
        Distance to noise that was used.
    focal_sets_ : FocalSets
        Focal sets that were used.
    loss_ : float
        J.
    history_ : array of shape (n_iter_,)
        The lowest J so far at each iteration.
    n_iter_ : int
        Number of iterations of the best start.
    n_features_in_ : int
        Number of features, or of columns of all matrices together.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.
    references_, reference_points_, metric_, transformer_
        Where the dissimilarities of new objects come from.

    References
    ----------
    A. Soubeiga, V. Antoine and S. Moreno (2024), Multi-view relational evidential
    c-medoid clustering with adaptive weighted, IEEE 11th International Conference on
    Data Science and Advanced Analytics (DSAA).

    A. Soubeiga, V. Antoine, A. Corteval, N. Kerckhove, S. Moreno, I. Falih and J.
    Phalip (2025), Clustering and interpretation of time-series trajectories of chronic
    pain using evidential c-means, Expert Systems with Applications 260, 125369.

    F. de A. T. de Carvalho, Y. Lechevallier and F. M. de Melo (2012), Partitioning hard
    clustering algorithms based on multiple dissimilarity matrices, Pattern Recognition
    45(1), 447-464 (for the weights).

    Examples
    --------
    >>> import numpy as np
    >>> from credalis import MultiviewECMdd
    >>> from sklearn.datasets import make_blobs
    >>> shape, _ = make_blobs(90, centers=3, random_state=3)
    >>> noise = np.random.RandomState(0).uniform(size=(90, 2))
    >>> model = MultiviewECMdd(3, random_state=0).fit({"shape": shape, "noise": noise})
    >>> bool(model.view_weights_[0] > 2 * model.view_weights_[1])
    True
    """

    _words = (
        "objects were compared in several views with objects that represent the "
        "clusters"
    )
    _is_for_more_tables = True
    _variants: ClassVar = {"MECMdd-RWG": {}, "MECMdd-RWL": {"weights": "local"}}

    _schema = RelationalClusterer._schema.extended(
        {
            "views_": ViewsRule(),
            "view_weights_": _archive.Array("f", None, above=0),
            "view_scales_": _archive.Array("f", ("n_views",), above=0),
            "medoids_": _archive.Array("i", ("n_clusters",), at_least=0),
            # -1 for ∅.
            "set_medoids_": _archive.Array("i", ("n_focal_sets",), at_least=-1),
        },
        None,
        _check_views,
    )

    _largest_beta = 1.2
    # ∅ is noise: distances to training objects would need all of them in each view.
    _earlier_defaults: ClassVar = {}
    _earlier_numbers: ClassVar = {}

    views_: Views
    view_weights_: Array
    view_scales_: Array
    medoids_: Indices
    set_medoids_: Indices

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        views: Any = None,
        weights: str = "global",
        focal_sets: str | FocalSets = "auto",
        metric: Metric = "euclidean",
        symmetrize: bool = False,
        alpha: float = 2.0,
        beta: float | str = "auto",
        delta: float | str = "auto",
        eta: float = 1.0,
        gamma: float = 1.0,
        init: str | ArrayLike = "auto",
        n_init: int | str = "auto",
        max_iter: int = 200,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.weights = weights
        self.focal_sets = focal_sets
        self.metric = metric
        self.symmetrize = symmetrize
        self.alpha = alpha
        self.beta = beta
        self.delta = delta
        self.eta = eta
        self.gamma = gamma
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
            Data. Several tables or matrices, with the same objects in their rows, are
            the views; `predict` and the like then take them in the same form.
        y : ignored
            Present for compatibility with pipelines and searches.

        Returns
        -------
        self
        """
        table, columns = joined(X, self.views)
        if columns is None and self.views is not None and self._is_precomputed:
            # Matrices side by side are no matrix that data are warned of by.
            columns = {}
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
        check_choice("weights", self.weights, WEIGHTS)
        check_metric(self.metric, "precomputed")
        check_factor("eta", self.eta, above=0)
        check_factor("gamma", self.gamma, at_least=0)

    def _prepare(
        self, X: Array, rng: np.random.RandomState, **given: Any
    ) -> MultiviewProblem:
        start = None if isinstance(self.init, str) else self._check_init(len(X))
        views = given.get("view_columns")
        if not views:
            names = getattr(self, "feature_names_in_", None)
            views = view_columns(self.views, X.shape[1], names)
        matrices = np.array(
            [self._matrix(name, X[:, columns], rng) for name, columns in views.items()]
        )
        scales = np.ones(len(views))
        if len(views) > 1:
            # One after the other, so that no sum overflows.
            means = np.array([each.mean() for each in matrices])
            if not means.all():
                name = list(views)[int(means.argmin())]
                raise ValueError(
                    "each of the views must tell objects apart, all dissimilarities "
                    f"of view {name!r} are 0"
                )
            with np.errstate(over="ignore"):
                scales = (means / len(means)).sum() / means
            if not np.isfinite(scales).all():
                raise ValueError(
                    "views must have dissimilarities of comparable size, got means "
                    f"of {means.min():.3g} and {means.max():.3g}"
                )
            matrices *= scales[:, None, None]
        matrix = matrices.sum(axis=0)
        with np.errstate(over="ignore"):
            is_infinite = not np.isfinite(np.square(matrix.max()) * matrix.size)
        if is_infinite:
            raise ValueError(
                "X must have dissimilarities whose squares can be added, got values "
                f"from {X.min():.3g} to {X.max():.3g}: scale the data"
            )
        core, candidates = None, np.arange(len(X))
        beta, delta = self.beta, self.delta
        if start is None or isinstance(beta, str) or isinstance(delta, str):
            core = core_of(matrix, self.n_clusters, rng, are_squared=False)
            nearest = matrix[core.medoids].min(axis=0)
            candidates = objects_near(nearest, self.n_clusters, are_squared=False)
            if isinstance(beta, str):
                beta = self._automatic_beta(matrix, core)
            if isinstance(delta, str):
                delta = self._automatic_delta(matrix, core, beta)
        return MultiviewProblem(
            matrix,
            None if self._is_precomputed else X,
            self.metric,
            None,
            start,
            core,
            candidates,
            float(beta),
            float(delta),
            matrices,
            views,
            scales,
        )

    def _matrix(self, name: str, X: Array, rng: np.random.RandomState) -> Array:
        """Dissimilarities of the objects in a view."""
        if self._is_precomputed:
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    "each of the views must be a square matrix of dissimilarities, got "
                    f"shape {X.shape} for view {name!r}"
                )
            matrix = check_dissimilarities(X, symmetrize=bool(self.symmetrize))
            return matrix
        geometry, _ = attribute_geometry(X, self.metric, rng)
        matrix = dissimilarities(
            geometry.values, geometry.values, self.metric, squared=False
        )
        return check_dissimilarities(
            matrix, name=f"the matrix of metric={self.metric!r}"
        )

    def _automatic_delta(self, matrix: Array, core: Core, beta: float) -> float:
        nearest = matrix[core.medoids].min(axis=0)
        return float(np.sqrt(ordinary_value(nearest, matrix.mean())))

    def _solve(
        self,
        problem: MultiviewProblem,
        focal_sets: FocalSets,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> Solution:
        n_views = len(problem.views)
        weights = np.ones((len(focal_sets), n_views))
        if previous is None:
            medoids = self._seeds(problem, rng)
        else:
            medoids = previous.per_cluster["medoids_"]
            if self.weights == "global":
                found = previous.attributes()["view_weights_"]
                weights = np.broadcast_to(found, weights.shape)

        def step(before: MultiviewStep) -> tuple[MultiviewStep, float]:
            medoids, weights = before.next_medoids, before.next_weights
            chosen = self._set_medoids(problem, medoids, weights, focal_sets)
            of_views, distances = multiview_distances(
                problem.matrices[:, medoids],
                problem.matrices[:, chosen],
                weights,
                focal_sets,
                self.gamma,
            )
            costs = set_costs(distances, focal_sets, self.alpha, problem.delta)
            masses = masses_from_costs(costs, problem.beta)
            powers = mass_weights(masses, problem.beta)
            after = self._updated_weights(
                view_costs(of_views, powers, focal_sets, self.alpha)
            )
            moved = _updated_medoids(problem, powers, after, focal_sets, medoids)
            return MultiviewStep(medoids, weights, masses, moved, after), float(
                np.vdot(powers, costs)
            )

        trace = iterate_to_best(
            step,
            MultiviewStep(medoids, weights, np.empty((0, 0)), medoids, weights),
            tol=self.tol,
            max_iter=self.max_iter,
            patience=_PATIENCE,
            report=report,
        )
        medoids, weights = trace.state.medoids, trace.state.weights
        chosen = self._set_medoids(problem, medoids, weights, focal_sets)
        references = np.unique(np.append(medoids, chosen[chosen >= 0]))
        per_set: dict[str, NDArray[Any]] = {"set_medoids_": chosen}
        other = {
            **problem.fitted(references),
            "views_": problem.views,
            "view_scales_": problem.scales,
        }
        if self.weights == "local":
            per_set["view_weights_"] = weights
        else:
            other["view_weights_"] = weights[0]
        return Solution(
            masses=trace.state.masses.T,
            trace=trace,
            per_cluster={"medoids_": medoids},
            per_set=per_set,
            other=other,
            is_interrupted=trace.interrupted,
        )

    def _updated_weights(self, costs: Array) -> Array:
        """λ_jv from F_jv, (n_focal_sets, n_views)."""
        if self.weights == "global":
            costs = np.broadcast_to(costs.sum(axis=0), costs.shape)
        return product_weights(costs)

    def _set_medoids(
        self,
        problem: MultiviewProblem,
        medoids: Indices,
        weights: Array,
        focal_sets: FocalSets,
    ) -> Indices:
        of_clusters = cluster_weights(weights, focal_sets)
        to_medoids = np.einsum("kv,vki->ki", of_clusters, problem.matrices[:, medoids])
        return set_medoids(medoids, to_medoids, focal_sets, self.eta)

    def _check_solution(self, problem: MultiviewProblem, solution: Solution) -> bool:
        medoids = solution.per_cluster["medoids_"]
        return warn_of_collapse(self, *medoid_separation(problem.matrix, medoids))

    def _to_references(self, X: Array) -> Array:
        """Dissimilarities to the references, (n_new, n_views * n_references)."""
        of_views = []
        for columns, scale in zip(self.views_.values(), self.view_scales_, strict=True):
            if self.reference_points_ is None:
                values = X[:, columns[self.references_]]
            else:
                values = dissimilarities(
                    X[:, columns],
                    self.reference_points_[:, columns],
                    self.metric_,
                    squared=False,
                )
            of_views.append(scale * values)
        return np.hstack(of_views)

    def _costs(self, values: Array) -> Array:
        n_views = len(self.views_)
        values = values.reshape(n_views, len(self.references_), -1)
        weights = self.view_weights_
        if weights.ndim == 1:
            weights = np.tile(weights, (len(self.focal_sets_), 1))
        _, distances = multiview_distances(
            values[:, self._among_references(self.medoids_)],
            values[:, self._among_references(self.set_medoids_)],
            weights,
            self.focal_sets_,
            self.gamma,
        )
        return set_costs(distances, self.focal_sets_, self.alpha, self.delta_)

    def _points(self, X: Array) -> tuple[Array, Any]:
        # One matrix, or rows: those of several matrices are not asked for.
        return X, self.metric_


def _updated_medoids(
    problem: MultiviewProblem,
    mass_powers: Array,
    weights: Array,
    focal_sets: FocalSets,
    previous: Indices,
) -> Indices:
    """Medoids v_k = argmin_p Σ_i m_i({k})^β Σ_v λ_kv d_v(i, p), no two the same.

    A cluster that is no focal set keeps its medoid.
    """
    of_clusters = np.zeros((len(previous), len(problem.matrix)))
    of_clusters[np.arange(len(previous)), previous] = 1.0
    for k in range(len(previous)):
        if (k,) in focal_sets:
            of_clusters[k] = mass_powers[focal_sets.index((k,))]
    scores = np.zeros_like(of_clusters)
    of_views = cluster_weights(weights, focal_sets).T
    for of_view, matrix in zip(of_views, problem.matrices, strict=True):
        scores += of_view[:, None] * (of_clusters @ matrix)
    return nearest_distinct_objects(scores, problem.matrix)
