"""ECM: evidential c-means."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.validation import check_array

from credalis._checks import check_choice
from credalis.belief import FocalSets
from credalis.cluster._base import BaseCredalClusterer
from credalis.cluster._mass_update import (
    check_cost_parameters,
    mass_weights,
    masses_from_costs,
    row_blocks,
    set_costs,
    shares,
)
from credalis.cluster._scale import robust_scale
from credalis.cluster._starts import Solution
from credalis.optimize import iterate


class ECM(BaseCredalClusterer):
    """Evidential c-means: prototypes for the clusters and for sets of clusters.

    Minimises

        J = Σ_i Σ_{A_j ≠ ∅} |A_j|^α m_ij^β ‖x_i - v̄_j‖² + δ² Σ_i m_i∅^β

    over the masses m and the prototypes v_k of the clusters, where v̄_j is the mean of
    the prototypes of the clusters in A_j. Masses and prototypes are updated in turn,
    each exactly, so that J never increases.

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
        object is an outlier; with singletons alone ECM is fuzzy c-means.
    alpha : float, default=1.0
        Exponent of the cardinality: the larger, the less mass on large sets.
    beta : float, default=2.0
        Exponent of the masses, > 1: the larger, the less certain the result. Too large
        a value for the data makes all prototypes coincide, which is warned about.
    delta : float or "auto", default="auto"
        Distance to noise: an object farther than this from all prototypes is rather an
        outlier. "auto" takes as delta² the 0.95 quantile of the squared distances to
        the nearest of the k-means centres of the objects that are not isolated.
    init : "k-means++" or array-like of shape (n_clusters, n_features), \
default="k-means++"
        Initial prototypes; "k-means++" draws them from the objects that are not far
        from all others. Given ones also fix the numbers of the clusters.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best is kept; "auto" is 5, or 1 for given
        prototypes.
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
    centers_ : array of shape (n_clusters, n_features)
        Prototypes.
    delta_ : float
        Distance to noise that was used.
    focal_sets_ : FocalSets
        Focal sets that were used.
    loss_ : float
        J of `partition_` and `centers_`.
    history_ : array of shape (n_iter_,)
        J at each iteration, with the masses that fit the prototypes best.
    n_iter_ : int
        Number of iterations of the best start.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.

    References
    ----------
    M.-H. Masson and T. Denœux (2008), ECM: An evidential version of the fuzzy c-means
    algorithm, Pattern Recognition 41(4), 1384-1397.

    Examples
    --------
    >>> from credalis import ECM
    >>> from credalis.datasets import load_butterfly
    >>> X = load_butterfly().data
    >>> ecm = ECM(n_clusters=2, delta=5, init=[[-3, 0], [3, 0]]).fit(X)
    >>> ecm.partition_.set_names()[5], ecm.partition_.set_names()[11]
    ('Ω', '∅')
    """

    _outlier_advice = "increase delta"

    def __init__(
        self,
        n_clusters=2,
        *,
        focal_sets="auto",
        alpha=1.0,
        beta=2.0,
        delta="auto",
        init="k-means++",
        n_init="auto",
        max_iter=500,
        tol=1e-6,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.alpha = alpha
        self.beta = beta
        self.delta = delta
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self):
        super()._check_parameters()
        check_cost_parameters(self)
        if isinstance(self.init, str):
            check_choice("init", self.init, ("k-means++",))

    def _has_fixed_order(self, problem):
        return not isinstance(self.init, str)

    def _prepare(self, X, rng, **side_information):
        start = None if isinstance(self.init, str) else self._check_init(X)
        delta, candidates = self.delta, None
        if start is None or isinstance(delta, str):
            scale = robust_scale(X, self.n_clusters, rng)
            candidates = X[scale.is_near]
            delta = scale.distance if isinstance(delta, str) else delta
        return _Problem(X, float(delta), start, candidates)

    def _check_init(self, X):
        centers = check_array(self.init, dtype=np.float64, input_name="init")
        if centers.shape != (self.n_clusters, X.shape[1]):
            raise ValueError(
                f"init must have shape (n_clusters, n_features) = "
                f"({self.n_clusters}, {X.shape[1]}), got {centers.shape}"
            )
        return centers

    def _solve(self, problem, focal_sets, rng, *, previous, report):
        X, settings = problem.X, (focal_sets, self.alpha, self.beta, problem.delta)
        if previous is not None:
            start = previous.per_cluster["centers_"]
        elif problem.start is not None:
            start = problem.start
        else:
            start, _ = kmeans_plusplus(
                problem.candidates, self.n_clusters, random_state=rng
            )

        def step(state):
            centers = state.next_centers
            loss, weight_sums, weighted_sums = ecm_sweep(X, centers, *settings)
            next_centers = ecm_centers(
                weight_sums, weighted_sums, focal_sets, self.alpha, centers
            )
            return _State(centers, next_centers), loss

        trace = iterate(
            step,
            _State(start, start),
            tol=self.tol,
            max_iter=self.max_iter,
            report=report,
        )
        centers = trace.state.centers
        return Solution(
            masses=ecm_masses(X, centers, *settings),
            trace=trace,
            per_cluster={"centers_": centers},
            other={"delta_": problem.delta},
            is_interrupted=trace.interrupted,
        )

    def _check_solution(self, problem, solution):
        separation = pdist(solution.per_cluster["centers_"]).max(initial=0.0)
        self._warn_of_collapse(separation, np.sqrt(problem.X.var(axis=0).sum()))

    def _predict_masses(self, X):
        return ecm_masses(
            X, self.centers_, self.focal_sets_, self.alpha, self.beta, self.delta_
        )


@dataclass(frozen=True, eq=False)
class _Problem:
    """What all starts share."""

    X: NDArray[np.float64]
    delta: float
    start: NDArray[np.float64] | None
    candidates: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class _State:
    """The prototypes at which the loss is known, and those of the next step."""

    centers: NDArray[np.float64]
    next_centers: NDArray[np.float64]


def ecm_costs(
    X: NDArray[np.float64],
    centers: NDArray[np.float64],
    focal_sets: FocalSets,
    alpha: float,
    delta: float,
) -> NDArray[np.float64]:
    """Cost of a unit of mass: |A_j|^alpha ‖x_i - v̄_j‖², and delta² for ∅.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Data.
    centers : array of shape (n_clusters, n_features)
        Prototypes v_k.
    focal_sets : FocalSets
        Focal sets A_j; v̄_j is the mean of the prototypes of its clusters.
    alpha, delta : float
        Exponent of the cardinality, and distance to noise.

    Returns
    -------
    array of shape (n_focal_sets, n_samples)
    """
    barycenters = shares(focal_sets) @ centers
    return set_costs(cdist(barycenters, X, "sqeuclidean"), focal_sets, alpha, delta)


def ecm_masses(
    X: NDArray[np.float64],
    centers: NDArray[np.float64],
    focal_sets: FocalSets,
    alpha: float,
    beta: float,
    delta: float,
) -> NDArray[np.float64]:
    """Masses that minimise J at the given prototypes, (n_samples, n_focal_sets)."""
    masses = np.empty((len(X), len(focal_sets)))
    for rows in row_blocks(*masses.shape):
        costs = ecm_costs(X[rows], centers, focal_sets, alpha, delta)
        masses[rows] = masses_from_costs(costs, beta).T
    return masses


def ecm_sweep(
    X: NDArray[np.float64],
    centers: NDArray[np.float64],
    focal_sets: FocalSets,
    alpha: float,
    beta: float,
    delta: float,
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """J at the best masses for the given prototypes, and what moves the prototypes.

    One pass over the data in blocks; the masses are never held as a whole.

    Returns
    -------
    loss : float
        J = Σ_ij m_ij^beta c_ij.
    weight_sums : array of shape (n_focal_sets,)
        Σ_i m_ij^beta.
    weighted_sums : array of shape (n_focal_sets, n_features)
        Σ_i m_ij^beta x_i.
    """
    loss = 0.0
    weight_sums = np.zeros(len(focal_sets))
    weighted_sums = np.zeros((len(focal_sets), X.shape[1]))
    for rows in row_blocks(len(X), len(focal_sets)):
        costs = ecm_costs(X[rows], centers, focal_sets, alpha, delta)
        weights = mass_weights(masses_from_costs(costs, beta), beta)
        loss += float(np.vdot(weights, costs))
        weight_sums += weights.sum(axis=1)
        weighted_sums += weights @ X[rows]
    return loss, weight_sums, weighted_sums


def ecm_centers(
    weight_sums: NDArray[np.float64],
    weighted_sums: NDArray[np.float64],
    focal_sets: FocalSets,
    alpha: float,
    previous: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Prototypes minimising Σ_ij w_ij |A_j|^alpha ‖x_i - v̄_j‖², from H V = B.

    H_kl = Σ_{A_j ⊇ {k, l}} |A_j|^(alpha - 2) Σ_i w_ij and
    B_k = Σ_{A_j ∋ k} |A_j|^(alpha - 1) Σ_i w_ij x_i.

    Parameters
    ----------
    weight_sums : array of shape (n_focal_sets,)
        Σ_i w_ij; what belongs to the empty set has no effect.
    weighted_sums : array of shape (n_focal_sets, n_features)
        Σ_i w_ij x_i.
    focal_sets : FocalSets
        Focal sets A_j.
    alpha : float
        Exponent of the cardinality.
    previous : array of shape (n_clusters, n_features)
        Where the prototypes were. Where H is singular, because a cluster has lost all
        its mass, the solution nearest to them is taken.

    Returns
    -------
    array of shape (n_clusters, n_features)
    """
    members = focal_sets.membership.astype(float)
    cardinality = np.maximum(focal_sets.cardinality, 1).astype(float)
    shares = members * (cardinality ** (alpha - 2))[:, None]
    H = (shares * weight_sums[:, None]).T @ members
    B = (shares * cardinality[:, None]).T @ weighted_sums
    return previous + np.linalg.lstsq(H, B - H @ previous, rcond=None)[0]
