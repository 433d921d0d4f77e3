"""TECM: evidential c-means that is helped by the clusters of other data."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_array

from credalis import _archive
from credalis._checks import (
    check_exponent,
    check_factor,
    check_finite,
    check_integer,
    check_numbers,
    check_spread,
    naming,
)
from credalis._progress import Report
from credalis._warnings import warn_experimental
from credalis.belief import FocalSets
from credalis.cluster._framework._fit import fit, solve
from credalis.cluster._framework._solution import Solution
from credalis.cluster.prototypes._clusterer import (
    PrototypeClusterer,
    PrototypeProblem,
    prototype_solution,
)
from credalis.cluster.prototypes._ecm import ECM
from credalis.objectives import (
    SMALLEST_COST,
    PrototypeModel,
    PrototypeMoments,
    ecm_model,
    masses_from_costs,
    prototype_moments,
    set_prototypes,
    updated_centers,
)
from credalis.optimize import Trace, iterate

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TransferProblem(PrototypeProblem):
    """What all starts share.

    Attributes
    ----------
    source : array of shape (n_source_clusters, n_features)
        Prototypes of the source, none if there is no source.
    """

    source: Array


@dataclass(frozen=True, eq=False)
class TransferStep:
    """Prototypes at which the loss is known, and those of the next step."""

    centers: Array
    metrics: None
    association: Array
    next_centers: Array


def associations(centers: Array, source: Array) -> tuple[Array, Array]:
    """r_ks that minimise Σ_s r_ks² ‖v_k - ṽ_s‖² under Σ_s r_ks = 1, and what is left.

    They are in proportion to 1 / ‖v_k - ṽ_s‖².

    Parameters
    ----------
    centers : array of shape (n_clusters, n_features)
        Prototypes v_k.
    source : array of shape (n_source_clusters, n_features)
        Prototypes ṽ_s.

    Returns
    -------
    association : array of shape (n_clusters, n_source_clusters)
        r_ks.
    costs : array of shape (n_clusters,)
        Σ_s r_ks² ‖v_k - ṽ_s‖².
    """
    squared = np.maximum(cdist(source, centers, "sqeuclidean"), SMALLEST_COST)
    association = masses_from_costs(squared, beta=2.0)
    return association.T, (association**2 * squared).sum(axis=0)


def pulled(
    sums: PrototypeMoments,
    centers: Array,
    association: Array,
    source: Array,
    strength: float,
    singles: NDArray[np.intp],
) -> PrototypeMoments:
    """The sums with the prototypes of the source as further objects.

    Each of them is an object of weight τ r_ks² in the set of cluster k alone.

    Parameters
    ----------
    sums : PrototypeMoments
        Sums over the objects.
    centers, association, source : array
        v_k, r_ks and ṽ_s.
    strength : float
        τ.
    singles : array of int, shape (n_clusters,)
        Which of the focal sets are the clusters alone.
    """
    weights = strength * association**2
    weight_sums, deviations = sums.weight_sums.copy(), sums.deviations.copy()
    weight_sums[singles] += weights.sum(axis=1)
    deviations[singles] += (
        weights @ source - weights.sum(axis=1, keepdims=True) * centers
    )
    return replace(sums, weight_sums=weight_sums, deviations=deviations)


class TECM(PrototypeClusterer):
    """Transfer evidential c-means: clusters of a source help with few target data.

    Minimises the cost of ECM and a term that draws the prototypes v_k to prototypes ṽ_s
    of a source, which has been clustered before and may have another number of
    clusters:

        J = J_ECM + τ Σ_k Σ_s r_ks² ‖v_k - ṽ_s‖²,   Σ_s r_ks = 1.

    r_ks tells how much cluster k of X is cluster s of the source. It takes as much to
    move v_k from its counterpart as τ objects: with few objects the source decides
    where clusters are, with many the data do. Masses, prototypes and r_ks are updated
    in turn, each exactly, so that J never increases. Without a source TECM is ECM.

    The term is that of transfer fuzzy c-means. How the article weighs the source, whose
    prototypes of sets of clusters it also uses, could not be confirmed. A fit with a
    source gives an `ExperimentalWarning`, once in a process.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters c. With one cluster, which is warned about, objects are told
        from outliers and nothing else.
    source_centers : array-like of shape (n_source_clusters, n_features) or None, \
default=None
        Prototypes ṽ_s. None: those that `fit` finds in the source it is given, if any.
    n_source_clusters : int or None, default=None
        Number of clusters of the source that `fit` is given; None: n_clusters.
    transfer : float, default=10.0
        τ, as a number of objects.
    focal_sets : {"auto", "singletons", "pairs", "full", "two-step"} or FocalSets, \
default="auto"
        Which sets of clusters may carry mass. "auto" takes all pairs up to four
        clusters and singletons above; "two-step" fits with singletons first and then
        adds the pairs of neighbouring clusters. ∅ and Ω are included. Without ∅ no
        object is an outlier; with singletons alone ECM is fuzzy c-means.
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
        Initial prototypes. "k-means" takes the centres that k-means finds, "k-means++"
        draws them from the objects that are not far from all others, "peaks" takes the
        belief peaks (`credalis.peaks`) of the data, or of 10 000 evenly spread rows.
        Given ones also fix the numbers of the clusters. A source with as many clusters
        is another start, unless they are given.
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
    centers_ : array of shape (n_clusters, n_features)
        Prototypes.
    source_centers_ : array of shape (n_source_clusters, n_features)
        Prototypes of the source; without rows if there is none.
    association_ : array of shape (n_clusters, n_source_clusters)
        How much each cluster is which of the source; rows sum to 1.
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
        J of `centers_` and the masses that belong to them, with ∅ as noise.
    history_ : array of shape (n_iter_,)
        J at each iteration, with the masses that fit the prototypes best.
    n_iter_ : int
        Number of iterations of the best start.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.
    metrics_, transformer_ : None
        Distances are Euclidean.

    References
    ----------
    L. Jiao, F. Wang, Z. Liu and Q. Pan (2022), TECM: Transfer learning-based evidential
    c-means clustering, Knowledge-Based Systems 257, 109937.

    Z. Deng, Y. Jiang, F.-L. Chung, H. Ishibuchi, K.-S. Choi and S. Wang (2016),
    Transfer prototype-based fuzzy clustering, IEEE Transactions on Fuzzy Systems 24(5),
    1210-1232 (for the term).

    Examples
    --------
    >>> import warnings
    >>> from credalis import TECM
    >>> X = [[0.0], [1.5], [5.5], [7.0]]
    >>> model = TECM(n_clusters=2, source_centers=[[1.0], [6.0]], transfer=100)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     model = model.fit(X)
    >>> model.centers_.round(1).ravel().tolist()
    [1.0, 6.0]
    """

    _words = (
        "objects were compared with the centres of clusters, which other data helped "
        "to find"
    )
    _is_for_more_tables = True
    _earlier_defaults: ClassVar = {}
    _earlier_numbers: ClassVar = {}

    # Distances are Euclidean.
    metric = "euclidean"

    _schema = PrototypeClusterer._schema.extended(
        {
            "source_centers_": _archive.Array("f", ("n_source", "n_dimensions")),
            "association_": _archive.Array(
                "f", ("n_clusters", "n_source"), at_least=0, at_most=1 + 1e-6
            ),
        }
    )

    source_centers_: Array
    association_: Array

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        source_centers: ArrayLike | None = None,
        n_source_clusters: int | None = None,
        transfer: float = 10.0,
        focal_sets: str | FocalSets = "auto",
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
        self.source_centers = source_centers
        self.n_source_clusters = n_source_clusters
        self.transfer = transfer
        self.focal_sets = focal_sets
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

    def fit(  # type: ignore[override]
        self, X: ArrayLike, y: Any = None, *, source: ArrayLike | None = None
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data of the target.
        y : ignored
            Present for compatibility with pipelines and searches.
        source : array-like of shape (n_source_samples, n_features), default=None
            Other data with the same features, which ECM clusters first.

        Returns
        -------
        self
        """
        fit(self, X, source=source)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_exponent("alpha", self.alpha, self.n_clusters)
        check_factor("transfer", self.transfer, at_least=0)
        if self.n_source_clusters is not None:
            check_integer("n_source_clusters", self.n_source_clusters, at_least=1)

    def _model(
        self, focal_sets: FocalSets, beta: float, delta: float
    ) -> PrototypeModel:
        return ecm_model(focal_sets, self.alpha, beta, delta)

    def _prepare(
        self, X: Array, rng: np.random.RandomState, **given: Any
    ) -> TransferProblem:
        found = self._source(X, given.get("source"), rng)
        problem = super()._prepare(
            X, rng, partial_labels=None, must_link=None, cannot_link=None
        )
        return TransferProblem(**vars(problem), source=found)

    def _source(self, X: Array, table: Any, rng: np.random.RandomState) -> Array:
        """Prototypes of the source."""
        if table is None:
            if self.source_centers is None:
                return np.empty((0, X.shape[1]))
            centers = check_numbers("source_centers", self.source_centers)
            if centers.ndim != 2 or not len(centers) or centers.shape[1] != X.shape[1]:
                raise ValueError(
                    "source_centers must have shape (n_source_clusters, n_features) "
                    f"with n_features={X.shape[1]}, got {centers.shape}"
                )
            check_spread("source_centers", check_finite("source_centers", centers))
            return centers
        if self.source_centers is not None:
            raise ValueError("source must be None where source_centers are given")
        with naming("source"):
            rows = check_array(table, dtype=np.float64, ensure_min_samples=2)
        if rows.shape[1] != X.shape[1]:
            raise ValueError(
                f"source must have the {X.shape[1]} features of X, got {rows.shape[1]}"
            )
        number = self.n_source_clusters or self.n_clusters
        ecm = ECM(number, alpha=self.alpha, max_iter=self.max_iter, tol=self.tol)
        with naming("source"):
            check_spread("source", rows)
            ecm._check_enough_objects(rows)
            outcome = solve(ecm, rows, rng, is_quiet=True)
        return outcome.solution.per_cluster["centers_"]

    def _solve(
        self,
        problem: Any,
        focal_sets: FocalSets,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> Solution:
        model = self._model(focal_sets, problem.beta, problem.delta)
        starts = [problem.start]
        if previous is not None:
            starts = [previous.per_cluster["centers_"]]
        else:
            if problem.start is None:
                starts[0], _ = kmeans_plusplus(
                    problem.candidates, self.n_clusters, random_state=rng
                )
            if isinstance(self.init, str) and len(problem.source) == self.n_clusters:
                starts.append(problem.source)
        traces: list[Trace[TransferStep]] = []
        for start in starts:
            traces.append(self._descent(problem, model, start, report))
            if traces[-1].interrupted:
                break
        trace = min(traces, key=lambda each: each.loss)
        found = prototype_solution(trace, problem.X, model, None)  # type: ignore[arg-type]
        return replace(
            found,
            per_cluster={**found.per_cluster, "association_": trace.state.association},
            other={**found.other, "source_centers_": problem.source},
            is_interrupted=traces[-1].interrupted,
        )

    def _descent(
        self,
        problem: TransferProblem,
        model: PrototypeModel,
        start: Array,
        report: Report,
    ) -> Trace[TransferStep]:
        """Masses, associations and prototypes in turn, each exactly."""
        source, strength = problem.source, float(self.transfer)
        sets = model.focal_sets
        is_drawn = len(source) > 0 and strength > 0
        if is_drawn and not all((k,) in sets for k in range(sets.n_clusters)):
            raise ValueError(
                "focal_sets must hold each cluster alone for a source to draw it, got "
                f"{sets!r}"
            )

        def step(before: TransferStep) -> tuple[TransferStep, float]:
            centers = before.next_centers
            sums = prototype_moments(
                problem.X, set_prototypes(centers, None, model), model
            )
            loss, association = sums.loss, np.empty((len(centers), 0))
            if len(source):
                association, costs = associations(centers, source)
                loss += strength * float(costs.sum())
            if is_drawn:
                singles = np.array([sets.index((k,)) for k in range(len(centers))])
                sums = pulled(sums, centers, association, source, strength, singles)
            moved = updated_centers(sums, model, centers, None)
            return TransferStep(centers, None, association, moved), loss

        return iterate(
            step,
            TransferStep(start, None, np.empty((len(start), 0)), start),
            tol=self.tol,
            max_iter=self.max_iter,
            report=report,
        )

    def _check_solution(self, problem: Any, solution: Solution) -> bool:
        if len(problem.source):
            warn_experimental(
                "TECM with a source",
                "how much it counts could not be confirmed from the literature, see "
                "transfer",
            )
        return super()._check_solution(problem, solution)

    def _is_collapsing(self, problem: PrototypeProblem, solution: Solution) -> bool:
        # The source keeps prototypes apart, or says that they are not.
        if len(self.source_centers_):
            return False
        return super()._is_collapsing(problem, solution)
