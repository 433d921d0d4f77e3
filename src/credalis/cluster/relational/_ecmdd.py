"""ECMdd: evidential c-medoids."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis import _archive
from credalis._checks import check_choice, check_factor, check_number
from credalis._progress import Report
from credalis._warnings import warn_experimental
from credalis.belief import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster._framework._soundness import warn_of_collapse
from credalis.cluster._inputs._geometry import Metric
from credalis.cluster._inputs._medoids import Core
from credalis.cluster.relational._clusterer import (
    RelationalClusterer,
    RelationalProblem,
    check_medoids,
)
from credalis.cluster.relational._ecmdd_prototypes import (
    SingleMedoids,
    WeightedMedoids,
    single_distances,
)
from credalis.cluster.relational._medoid_descent import (
    MedoidDescent,
    MedoidPrototypes,
)

PROTOTYPES = ("single", "weighted")


def _check_prototypes(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    if parameters.get("prototypes") != "weighted":
        check_medoids(owner, fitted, "medoids_", "set_medoids_")
    elif "weights_" not in fitted:
        raise ValueError(f"{owner}.weights_ is missing")


class ECMdd(RelationalClusterer):
    """Evidential c-medoids: objects as prototypes, for any dissimilarities.

    Minimises

        J = Σ_i Σ_{A_j ≠ ∅} |A_j|^α m_ij^β d_ij + δ² Σ_i m_i∅^β

    where d_ij, which is not squared, comes from the dissimilarities τ of the objects.

    With ``prototypes="single"`` (sECMdd) one object v_k, the medoid, stands for each
    cluster, and d_ij = τ(x_i, v_k) for A_j = {k}. For several clusters an object p
    stands for the set: the one whose dissimilarities to the medoids of these clusters
    have the smallest variance + η mean; then
    d_ij = (τ(x_i, p) + γ mean_k τ(x_i, v_k)) / (1 + γ).
    Medoids are moved to minimise Σ_i m_i({k})^β τ(x_i, v_k).

    With ``prototypes="weighted"`` (wECMdd) all objects stand for each cluster, with
    weights v_kl that sum to 1: d_ij = Σ_l v_jl^ψ τ(x_i, x_l). Weights of the clusters
    minimise Σ_i m_i({k})^β d_ik; those of a set of clusters are proportional to
    (min_k v_kl)^ξ / (max_k v_kl - min_k v_kl)^ζ.

    The masses are optimal for the prototypes. The prototypes are optimal for the masses
    on single clusters only, so that J can increase where sets of clusters carry mass;
    the best prototypes that are met are kept. The matrix of all dissimilarities is held
    in memory.

    Two points could not be confirmed from the literature, and are parameters:

    - the weights of sets of clusters with ``prototypes="weighted"``. Published
      experiments name ξ and ψ only, so that ζ = 0 is the default. A fit that uses them
      gives an `ExperimentalWarning`, once in a process;
    - whether δ enters J as δ² although d_ij is not squared (``delta_exponent``).

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters c. With one cluster, which is warned about, objects are told
        from outliers and nothing else.
    prototypes : {"single", "weighted"}, default="single"
        What stands for a cluster.
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
    delta_exponent : {1, 2}, default=2
        Whether a unit of mass on ∅ costs δ² or δ.
    eta, gamma : float, default=1.0
        η and γ, for ``prototypes="single"``. η has the unit of the dissimilarities,
        since it makes a mean comparable with a variance.
    psi : float, default=1.2
        ψ > 1, for ``prototypes="weighted"``: the larger, the more objects count.
    xi, zeta : float, default=5.0 and 0.0
        ξ and ζ, for ``prototypes="weighted"``.
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
    medoids_ : array of int, shape (n_clusters,)
        Row numbers of the medoids, with ``prototypes="single"``.
    set_medoids_ : array of int, shape (n_focal_sets,)
        Row numbers of the objects that stand for the focal sets, -1 for ∅, with
        ``prototypes="single"``.
    weights_ : array of shape (n_clusters, n_samples)
        Weights of the objects, with ``prototypes="weighted"``; rows sum to 1.
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
        Number of features, or of training objects for a precomputed matrix.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.
    references_, reference_points_, metric_, transformer_
        Where the dissimilarities of new objects come from.

    References
    ----------
    K. Zhou, A. Martin, Q. Pan and Z. Liu (2016), ECMdd: Evidential c-medoids clustering
    with multiple prototypes, Pattern Recognition 60, 239-257.

    Examples
    --------
    >>> from credalis import ECMdd
    >>> X = [[0], [1], [2], [10], [11], [12]]
    >>> model = ECMdd(n_clusters=2, metric="manhattan", init=[1, 4], delta=5).fit(X)
    >>> model.medoids_, model.labels_
    (array([1, 4]), array([0, 0, 0, 1, 1, 1]))
    """

    _words = "objects were compared with objects that represent the clusters"
    _variants: ClassVar = {"sECMdd": {}, "wECMdd": {"prototypes": "weighted"}}

    _schema = RelationalClusterer._schema.extended(
        {},
        {
            "medoids_": _archive.Array("i", ("n_clusters",), at_least=0),
            # -1 for ∅.
            "set_medoids_": _archive.Array("i", ("n_focal_sets",), at_least=-1),
            "weights_": _archive.Array(
                "f", ("n_clusters", "n_references"), at_least=0, at_most=1 + 1e-6
            ),
        },
        _check_prototypes,
    )

    # Above, weights of prototypes are the same in all clusters on most data.
    _largest_beta = 1.2

    medoids_: NDArray[np.intp]
    set_medoids_: NDArray[np.intp]
    weights_: NDArray[np.float64]

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        prototypes: str = "single",
        focal_sets: str | FocalSets = "auto",
        metric: Metric = "euclidean",
        symmetrize: bool = False,
        alpha: float = 2.0,
        beta: float | str = "auto",
        delta: float | str = "auto",
        empty_set: str = "auto",
        outlier_rate: float = 0.01,
        delta_exponent: int = 2,
        eta: float = 1.0,
        gamma: float = 1.0,
        psi: float = 1.2,
        xi: float = 5.0,
        zeta: float = 0.0,
        init: str | ArrayLike = "auto",
        n_init: int | str = "auto",
        max_iter: int = 200,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.prototypes = prototypes
        self.focal_sets = focal_sets
        self.metric = metric
        self.symmetrize = symmetrize
        self.alpha = alpha
        self.beta = beta
        self.delta = delta
        self.empty_set = empty_set
        self.outlier_rate = outlier_rate
        self.delta_exponent = delta_exponent
        self.eta = eta
        self.gamma = gamma
        self.psi = psi
        self.xi = xi
        self.zeta = zeta
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("prototypes", self.prototypes, PROTOTYPES)
        check_factor("eta", self.eta, above=0)
        check_factor("gamma", self.gamma, at_least=0)
        check_number("psi", self.psi, above=1)
        check_number("xi", self.xi, at_least=0)
        check_number("zeta", self.zeta, at_least=0)
        if check_number("delta_exponent", self.delta_exponent) not in (1, 2):
            raise ValueError(
                f"delta_exponent must be 1 or 2, got {self.delta_exponent!r}"
            )

    @property
    def _delta_power(self) -> float:
        return float(self.delta_exponent)

    def _descent(self, beta: float) -> MedoidDescent:
        prototypes: MedoidPrototypes = SingleMedoids(self.eta, self.gamma)
        if self.prototypes == "weighted":
            prototypes = WeightedMedoids(self.psi, self.xi, self.zeta)
        return MedoidDescent(prototypes, self.alpha, beta, float(self.delta_exponent))

    def _automatic_delta(
        self, matrix: NDArray[np.float64], core: Core, beta: float
    ) -> float:
        return self._descent(beta).automatic_delta(matrix, core)

    def _solve(
        self,
        problem: RelationalProblem,
        focal_sets: FocalSets,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> Solution:
        return self._descent(problem.beta).solve(
            problem,
            focal_sets,
            self._seeds(problem, rng) if previous is None else previous,
            tol=self.tol,
            max_iter=self.max_iter,
            report=report,
        )

    def _check_solution(self, problem: RelationalProblem, solution: Solution) -> bool:
        if self.prototypes == "weighted" and self.focal_sets_.cardinality.max() > 1:
            warn_experimental(
                "ECMdd(prototypes='weighted')",
                "the weights of sets of clusters could not be confirmed from the "
                "literature, see xi and zeta",
            )
        return warn_of_collapse(
            self, *self._descent(problem.beta).separation(problem, solution)
        )

    def _costs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        descent, focal_sets = self._descent(self.beta_), self.focal_sets_
        if self.prototypes == "weighted":
            distances = descent.prototypes.distances(values, self.weights_, focal_sets)
        else:
            distances = single_distances(
                values[self._among_references(self.medoids_)],
                values[self._among_references(self.set_medoids_)],
                focal_sets,
                self.gamma,
            )
        return descent.costs(distances, focal_sets, self.delta_)
