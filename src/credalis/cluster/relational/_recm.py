"""RECM: relational evidential c-means."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_distributions,
    check_numbers,
    naming,
)
from credalis._progress import Report
from credalis.belief import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster._framework._soundness import warn_of_collapse
from credalis.cluster._inputs._geometry import Metric, check_not_negative
from credalis.cluster._inputs._medoids import Core, ordinary_value
from credalis.cluster.relational._clusterer import (
    RelationalClusterer,
    RelationalProblem,
)
from credalis.objectives import (
    cluster_shares,
    ecm_centers,
    mass_weights,
    masses_from_costs,
    set_costs,
)
from credalis.optimize import iterate

Array = NDArray[np.float64]

# Squared distances to prototypes below this share of the mean dissimilarity count as
# it: without points behind the dissimilarities they can be negative.
_FLOOR = 1e-10

STOPPING = ("loss", "reference")


class RECM(RelationalClusterer):
    """Relational evidential c-means: ECM from dissimilarities alone.

    Minimises the objective of `ECM`

        J = Σ_i Σ_{A_j ≠ ∅} |A_j|^α m_ij^β d_ij² + δ² Σ_i m_i∅^β

    where the prototype of a set A_j is a weighted mean of the objects, with weights a_j
    that sum to 1, and its distance to object i needs only the matrix D of squared
    dissimilarities: d_ij² = (D a_j)_i - a_jᵀ D a_j / 2. If D holds squared Euclidean
    distances, RECM is ECM and J never increases. For other dissimilarities such a
    "distance" can be negative, is then replaced by a small positive number, and J may
    increase now and then.

    The matrix of all dissimilarities is held in memory.

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
    squared : bool, default=False
        Whether the dissimilarities, given or of the metric, are squared already. False
        squares them; True also serves to use dissimilarities as they are.
    symmetrize : bool, default=False
        Replace an asymmetric matrix by the mean of it and its transpose instead of
        refusing it. `predict` and ``partition_`` use the rows as they are given.
    alpha : float, default=1.0
        Exponent of the cardinality: the larger, the less mass on large sets.
    beta : float or "auto", default="auto"
        Exponent of the masses, > 1: the larger, the less certain the result. Too large
        a value for the data makes all prototypes coincide, which is warned about.
        "auto" is the published 2 in up to two dimensions and about 1 + 2/d in d; see
        `beta_`.
    delta : float or "auto", default="auto"
        Distance to noise. "auto" takes as delta² the 0.95 quantile of the squared
        distances to the nearest mean of hard clusters of the objects that are not
        isolated.
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
    init : {"k-means", "k-means++", "random"} or array-like, default="k-means"
        "k-means" starts with the means of hard clusters, "k-means++" with distant
        objects as prototypes, "random" with random masses. An array of shape
        (n_samples, n_focal_sets) holds masses to start with, a vector of n_clusters
        integers the row numbers of objects; given starts also fix the numbers of the
        clusters.
    stopping : {"loss", "reference"}, default="loss"
        When a start ends: "loss" if J changes by no more than tol times its size,
        "reference" if the Frobenius norm of the change of the masses is no more than
        tol times n_samples times the number of focal sets. The second is the rule of
        the published experiments (with tol=1e-4), there to reproduce them; for many
        objects it ends far from a minimum.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best is kept; "auto" is 5, or 1 if all would be
        the same.
    max_iter : int, default=500
        Largest number of iterations of one start.
    tol : float, default=1e-6
        See ``stopping``.
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
    coefficients_ : array of shape (n_clusters, n_samples)
        Weights of the objects in the prototypes of the clusters; rows sum to 1.
    products_ : array of shape (n_clusters, n_samples)
        Mean squared dissimilarities of each object to the prototypes, with these
        weights.
    beta_ : float
        Exponent of the masses that was used. "auto" takes min(2, 1 + 2 s), where 1/s is
        the effective dimension of hard clusters, or of the data if that is larger: s is
        the mean squared cosine of the angles between deviations from the centres.
    delta_ : float
        Distance to noise that was used.
    floor_ : float
        Smallest squared distance that counts.
    focal_sets_ : FocalSets
        Focal sets that were used.
    loss_ : float
        J.
    history_ : array of shape (n_iter_,)
        J at each iteration, with the masses that fit the prototypes best.
    n_iter_ : int
        Number of iterations of the best start.
    n_features_in_ : int
        Number of features, or of training objects for a precomputed matrix.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.
    references_, reference_points_, metric_, transformer_
        Where the dissimilarities of new objects come from.

    References
    ----------
    M.-H. Masson and T. Denœux (2009), RECM: Relational evidential c-means algorithm,
    Pattern Recognition Letters 30(11), 1015-1026.

    Examples
    --------
    >>> from credalis import RECM
    >>> from credalis.datasets import load_butterfly
    >>> from sklearn.metrics import pairwise_distances
    >>> D = pairwise_distances(load_butterfly().data)
    >>> recm = RECM(n_clusters=2, metric="precomputed", delta=7, init=[2, 8]).fit(D)
    >>> recm.partition_.set_names()[5], recm.partition_.set_names()[11]
    ('Ω', '∅')
    """

    _words = "objects were compared by their dissimilarities to the centres of clusters"

    _schema = RelationalClusterer._schema.extended(
        {
            "coefficients_": _archive.Array("f", ("n_clusters", "n_references")),
            "products_": _archive.Array("f", ("n_clusters", "n_references")),
            "floor_": _archive.Number(at_least=0),
        }
    )

    _inits = ("k-means", "k-means++", "random")

    coefficients_: Array
    products_: Array
    floor_: float

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        metric: Metric = "euclidean",
        squared: bool = False,
        symmetrize: bool = False,
        alpha: float = 1.0,
        beta: float | str = "auto",
        delta: float | str = "auto",
        empty_set: str = "auto",
        outlier_rate: float = 0.01,
        init: str | ArrayLike = "k-means",
        stopping: str = "loss",
        n_init: int | str = "auto",
        max_iter: int = 500,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.metric = metric
        self.squared = squared
        self.symmetrize = symmetrize
        self.alpha = alpha
        self.beta = beta
        self.delta = delta
        self.empty_set = empty_set
        self.outlier_rate = outlier_rate
        self.init = init
        self.stopping = stopping
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _squares(self) -> bool:
        return not self.squared

    @property
    def _has_squares(self) -> bool:
        return True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("stopping", self.stopping, STOPPING)

    def _check_init(self, n_samples: int) -> NDArray[Any]:
        with naming("init"):
            start = np.asarray(self.init)
        if start.ndim != 2:
            return super()._check_init(n_samples)
        expected = (n_samples, len(self._focal_sets_of(self.n_clusters)))
        if start.shape != expected:
            raise ValueError(
                f"init must have shape (n_samples, n_focal_sets) = {expected} or "
                f"(n_clusters,), got {start.shape}"
            )
        return check_distributions("init", check_numbers("init", start))

    def _automatic_delta(self, matrix: Array, core: Core, beta: float) -> float:
        coefficients = core.shares
        products = coefficients @ matrix[core.objects]
        gram = coefficients @ products[:, core.objects].T
        squared = products - np.diagonal(gram)[:, None] / 2
        return np.sqrt(ordinary_value(squared.min(axis=0), matrix.mean() / 2))

    def _solve(
        self,
        problem: RelationalProblem,
        focal_sets: FocalSets,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> Solution:
        matrix, floor = problem.matrix, _FLOOR * problem.matrix.mean()

        def iteration(before: _RecmStep) -> tuple[_RecmStep, float]:
            coefficients = before.next_coefficients
            products = coefficients @ matrix
            costs = recm_costs(
                products,
                coefficients @ products.T,
                focal_sets,
                self.alpha,
                problem.delta,
                floor,
            )
            masses = masses_from_costs(costs, problem.beta)
            weights = mass_weights(masses, problem.beta)
            next_coefficients = recm_coefficients(
                weights, focal_sets, self.alpha, coefficients
            )
            after = _RecmStep(coefficients, products, masses, next_coefficients)
            return after, float(np.vdot(weights, costs))

        def masses_stand_still(before: _RecmStep, after: _RecmStep) -> bool:
            change = np.linalg.norm(after.masses - before.masses)
            return bool(change <= self.tol * after.masses.size)

        start = self._start(problem, focal_sets, rng, previous)
        unknown = np.empty((0, 0))
        trace = iterate(
            iteration,
            _RecmStep(start, unknown, unknown, start),
            tol=self.tol,
            max_iter=self.max_iter,
            report=report,
            has_settled=masses_stand_still if self.stopping == "reference" else None,
        )
        state = trace.state
        return Solution(
            masses=state.masses.T,
            trace=trace,
            per_cluster={
                "coefficients_": state.coefficients,
                "products_": state.products,
            },
            other={**problem.fitted(np.arange(len(matrix))), "floor_": floor},
            is_interrupted=trace.interrupted,
        )

    def _start(
        self,
        problem: RelationalProblem,
        focal_sets: FocalSets,
        rng: np.random.RandomState,
        previous: Solution | None,
    ) -> Array:
        """Coefficients to start with, (n_clusters, n_samples)."""
        if previous is not None:
            return previous.per_cluster["coefficients_"]
        n_samples = len(problem.matrix)
        given = problem.start
        if given is not None and given.ndim == 2:
            masses = given.T
        elif given is None and self.init == "random":
            masses = rng.uniform(size=(len(focal_sets), n_samples))
            masses[focal_sets.cardinality == 0] = 0
            masses /= masses.sum(axis=0)
        else:
            coefficients = np.zeros((self.n_clusters, n_samples))
            if given is None and self.init == "k-means":
                assert problem.core is not None
                coefficients[:, problem.core.objects] = problem.core.shares
            else:
                seeds = self._seeds(problem, rng)
                coefficients[np.arange(self.n_clusters), seeds] = 1.0
            return coefficients
        equal = np.full((self.n_clusters, n_samples), 1 / n_samples)
        weights = mass_weights(masses, problem.beta)
        return recm_coefficients(weights, focal_sets, self.alpha, equal)

    def _check_solution(self, problem: RelationalProblem, solution: Solution) -> bool:
        coefficients = solution.per_cluster["coefficients_"]
        gram = coefficients @ solution.per_cluster["products_"].T
        half_norms = np.diagonal(gram) / 2
        separation = (gram - half_norms - half_norms[:, None]).max()
        return warn_of_collapse(
            self,
            np.sqrt(max(separation, 0.0)),
            np.sqrt(problem.matrix.mean() / 2),
            is_collapsing=self._is_collapsing(problem, solution),
        )

    def _is_collapsing(self, problem: RelationalProblem, solution: Solution) -> bool:
        """Whether all prototypes at one point would cost no more; see `ECM`."""
        if not solution.trace.converged:
            return False
        coefficients = np.empty_like(self.coefficients_)
        coefficients[:] = self.coefficients_.mean(axis=0)
        products = coefficients @ problem.matrix
        costs = recm_costs(
            products,
            coefficients @ products.T,
            self.focal_sets_,
            self.alpha,
            problem.delta,
            self.floor_,
        )
        weights = mass_weights(masses_from_costs(costs, problem.beta), problem.beta)
        return float(np.vdot(weights, costs)) <= solution.trace.loss

    def _points(self, X: Array) -> tuple[Array, Any]:
        points, metric = super()._points(X)
        if self.squared and self._is_precomputed:
            # Novelty is about distances.
            check_not_negative(points)
            points = np.sqrt(points)
        return points, metric

    def _costs(self, values: Array) -> Array:
        return recm_costs(
            self.coefficients_ @ values,
            self.coefficients_ @ self.products_.T,
            self.focal_sets_,
            self.alpha,
            self.delta_,
            self.floor_,
        )


@dataclass(frozen=True, eq=False)
class _RecmStep:
    """The prototypes at which the loss is known, and those of the next step."""

    coefficients: Array
    products: Array
    masses: Array
    next_coefficients: Array


def recm_costs(
    products: Array,
    gram: Array,
    focal_sets: FocalSets,
    alpha: float,
    delta: float,
    floor: float,
) -> Array:
    """Cost of a unit of mass: |A_j|^alpha d_ij², and delta² for ∅.

    d_ij² = (D a_j)_i - a_jᵀ D a_j / 2, where a_j is the mean of the coefficients w_k of
    the clusters in A_j.

    Parameters
    ----------
    products : array of shape (n_clusters, n_samples)
        (D w_k)_i.
    gram : array of shape (n_clusters, n_clusters)
        w_kᵀ D w_l.
    focal_sets : FocalSets
        Focal sets A_j.
    alpha, delta : float
        Exponent of the cardinality, and distance to noise.
    floor : float
        Smallest d_ij² that counts.

    Returns
    -------
    array of shape (n_focal_sets, n_samples)
    """
    means = cluster_shares(focal_sets)
    squared = means @ products
    squared -= ((means @ gram) * means).sum(axis=1, keepdims=True) / 2
    np.maximum(squared, floor, out=squared)
    return set_costs(squared, focal_sets, alpha, delta)


def recm_coefficients(
    weights: Array,
    focal_sets: FocalSets,
    alpha: float,
    previous: Array,
) -> Array:
    """Coefficients of the prototypes of the clusters, (n_clusters, n_samples).

    Those of ECM's prototypes as weighted means of the objects: what `ecm_centers` gives
    if object i is the i-th unit vector. They sum to 1 for each cluster.

    Parameters
    ----------
    weights : array of shape (n_focal_sets, n_samples)
        m_ij^beta.
    focal_sets : FocalSets
        Focal sets.
    alpha : float
        Exponent of the cardinality.
    previous : array of shape (n_clusters, n_samples)
        Coefficients that a cluster without mass keeps.
    """
    # They depend linearly on weights and previous coefficients: solving for the two
    # matrices of this map has far fewer right-hand sides than objects.
    n_sets = len(focal_sets)
    units = np.eye(n_sets + len(previous))
    linear = ecm_centers(
        weights.sum(axis=1), units[:n_sets], focal_sets, alpha, units[n_sets:]
    )
    return linear[:, :n_sets] @ weights + linear[:, n_sets:] @ previous
