"""MECM: median evidential c-means."""

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
from credalis.cluster.relational._mecm_prototypes import (
    META_DISSIMILARITIES,
    UPDATE_TERMS,
    MedianMedoids,
)
from credalis.cluster.relational._medoid_descent import MedoidDescent


def _check_prototypes(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    check_medoids(owner, fitted, "medoids_")
    if parameters.get("meta_dissimilarity") == "prototype":
        check_medoids(owner, fitted, "set_medoids_")


class MECM(RelationalClusterer):
    """Median evidential c-means: ECM with prototypes among the objects.

    Minimises

        J = Σ_i Σ_{A_j ≠ ∅} |A_j|^α m_ij^β d_ij^q + δ² Σ_i m_i∅^β

    over the masses m and the prototypes v_k of the clusters, which are objects. With
    the dissimilarities τ, d_ik = τ(x_i, v_k) for one cluster, and for several

        d_ij = (γ f_ij + ρ_ij min_k d_ik) / (γ + 1),
        ρ_ij = Σ_{k<l} |d_ik - d_il| / (η Σ_{k<l} τ(v_k, v_l)),

    where k and l are clusters of A_j and f_ij is the mean of d_ik over them: objects at
    the same distance from several prototypes are near to the set of these clusters.

    Masses are optimal for the prototypes. Each prototype in turn is the best of all
    objects for the masses and the other prototypes, so that J never increases with the
    default parameters; with others the best prototypes that are met are kept. No two
    prototypes coincide. An iteration takes time in proportion to the square of the
    number of objects times the sum of the squares of the sizes of the focal sets, and
    the matrix of all dissimilarities is held in memory.

    Three points could not be confirmed from the literature, and are parameters; a fit
    gives an `ExperimentalWarning`, once in a process:

    - f_ij: the mean of d_ik, or the dissimilarity to an object that stands for the set
      (``meta_dissimilarity``);
    - whether J has d_ij or its square (``power``);
    - which terms of J the prototypes minimise (``update_terms``).

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
    symmetrize : bool, default=False
        Replace an asymmetric matrix by the mean of it and its transpose instead of
        refusing it. `predict` and ``partition_`` use the rows as they are given.
    alpha : float, default=1.0
        Exponent of the cardinality: the larger, the less mass on large sets.
    beta : float or "auto", default="auto"
        Exponent of the masses, > 1: the larger, the less certain the result. Too large
        a value for the data makes all prototypes coincide, which is warned about.
        "auto" is about 1 + q/d in d dimensions, if J has the power q of the
        dissimilarities; see `beta_`.
    delta : float or "auto", default="auto"
        Distance to noise. "auto" takes as delta² the 0.95 quantile of d_ik^q to the
        nearest medoid of hard clusters of the objects that are not isolated.
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
    gamma, eta : float, default=0.5 and 1.0
        γ and η.
    power : {1, 2}, default=1
        q.
    meta_dissimilarity : {"mean", "prototype"}, default="mean"
        f_ij: the mean of d_ik, or the dissimilarity to the object whose dissimilarities
        to the prototypes of the clusters have the smallest variance + mean.
    update_terms : {"all", "single"}, default="all"
        A prototype minimises all terms of J that depend on it, or those of its cluster
        alone, which takes less time.
    init : {"auto", "k-medoids", "k-means++", "random"} or array-like of int, \
default="auto"
        Objects to start from. "auto" takes the medoids of the best hard clusters that
        are found, "k-medoids" those of hard clusters found from distant objects,
        "k-means++" distant objects, "random" any objects. Given row numbers, n_clusters
        of them, also fix the numbers of the clusters.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best is kept; "auto" is 5, or 1 if all would be
        the same.
    max_iter : int, default=100
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
        Row numbers of the prototypes.
    set_separations_ : array of shape (n_focal_sets,)
        Σ_{k<l} τ(v_k, v_l) over the clusters of each focal set.
    set_medoids_ : array of int, shape (n_focal_sets,)
        Row numbers of the objects that stand for the focal sets, -1 for ∅, with
        ``meta_dissimilarity="prototype"``.
    beta_ : float
        Exponent of the masses that was used. "auto" takes min(2, 1 + q s), where 1/s is
        the effective dimension of hard clusters, or of the data if that is larger: s is
        the mean squared cosine of the angles between deviations from the centres.
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
    K. Zhou, A. Martin, Q. Pan and Z. Liu (2015), Median evidential c-means algorithm
    and its application to community detection, Knowledge-Based Systems 74, 69-88.

    Examples
    --------
    >>> import warnings
    >>> from credalis import MECM
    >>> from credalis.exceptions import ExperimentalWarning
    >>> warnings.simplefilter("ignore", ExperimentalWarning)
    >>> X = [[0], [1], [2], [6], [10], [11], [12]]
    >>> model = MECM(n_clusters=2, init=[1, 5], empty_set="noise").fit(X)
    >>> model.medoids_, model.partition_.set_names()[3]
    (array([1, 5]), 'Ω')
    """

    _words = "objects were compared with objects that represent the clusters"

    _schema = RelationalClusterer._schema.extended(
        {
            "medoids_": _archive.Array("i", ("n_clusters",), at_least=0),
            "set_separations_": _archive.Array("f", ("n_focal_sets",), at_least=0),
        },
        # -1 for ∅.
        {"set_medoids_": _archive.Array("i", ("n_focal_sets",), at_least=-1)},
        _check_prototypes,
    )

    medoids_: NDArray[np.intp]
    set_separations_: NDArray[np.float64]
    set_medoids_: NDArray[np.intp]

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        metric: Metric = "euclidean",
        symmetrize: bool = False,
        alpha: float = 1.0,
        beta: float | str = "auto",
        delta: float | str = "auto",
        empty_set: str = "auto",
        outlier_rate: float = 0.01,
        gamma: float = 0.5,
        eta: float = 1.0,
        power: int = 1,
        meta_dissimilarity: str = "mean",
        update_terms: str = "all",
        init: str | ArrayLike = "auto",
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.metric = metric
        self.symmetrize = symmetrize
        self.alpha = alpha
        self.beta = beta
        self.delta = delta
        self.empty_set = empty_set
        self.outlier_rate = outlier_rate
        self.gamma = gamma
        self.eta = eta
        self.power = power
        self.meta_dissimilarity = meta_dissimilarity
        self.update_terms = update_terms
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_factor("gamma", self.gamma, at_least=0)
        check_factor("eta", self.eta, above=0)
        check_choice(
            "meta_dissimilarity", self.meta_dissimilarity, META_DISSIMILARITIES
        )
        check_choice("update_terms", self.update_terms, UPDATE_TERMS)
        if check_number("power", self.power) not in (1, 2):
            raise ValueError(f"power must be 1 or 2, got {self.power!r}")

    @property
    def _power(self) -> float:
        return float(self.power)

    @property
    def _prototypes(self) -> MedianMedoids:
        return MedianMedoids(
            self.gamma, self.eta, self.power, self.meta_dissimilarity, self.update_terms
        )

    def _descent(self, beta: float) -> MedoidDescent:
        return MedoidDescent(self._prototypes, self.alpha, beta)

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
        warn_experimental(
            "MECM",
            "its formulas could not be confirmed from the literature, see "
            "meta_dissimilarity, power and update_terms",
        )
        return warn_of_collapse(
            self, *self._descent(problem.beta).separation(problem, solution)
        )

    def _costs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        to_sets = None
        if self.meta_dissimilarity == "prototype":
            to_sets = values[self._among_references(self.set_medoids_)]
        distances = self._prototypes.set_distances(
            values[self._among_references(self.medoids_)],
            to_sets,
            self.set_separations_,
            self.focal_sets_,
        )
        return self._descent(self.beta_).costs(distances, self.focal_sets_, self.delta_)
