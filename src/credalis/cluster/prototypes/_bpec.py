"""BPEC: belief-peak evidential clustering."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from credalis._checks import check_exponent
from credalis._warnings import warn_user
from credalis.belief import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._medoids import belief_peaks
from credalis.cluster._inputs._side_information import Transformer
from credalis.cluster.prototypes._clusterer import (
    PrototypeClusterer,
    PrototypeProblem,
)
from credalis.objectives import PrototypeModel, ecm_model

# In so many dimensions it is looked whether peaks are centres: in fewer, a peak away
# from the mean may well be right for a cluster that is not round. Then no more than
# this share of the objects should change cluster if the peaks were at the means.
_MANY_DIMENSIONS = 10
_LARGEST_UNSETTLED = 0.1


class BPEC(PrototypeClusterer):
    """Belief-peak evidential clustering: fixed prototypes at the peaks of the data.

    The prototypes v_k are the c objects that stand out on the δ-Bel graph: many objects
    near them, and none of higher degree of belief nearby (`credalis.peaks`). With them
    fixed,

        J = Σ_i Σ_{A_j ≠ ∅} |A_j|^α m_ij^β (x_i - v̄_j)ᵀ S̄_j (x_i - v̄_j) + δ² Σ_i m_i∅^β

    is minimised over the masses m and, with an adaptive metric, over the matrices S_k
    of the clusters, under det S_k = 1. v̄_j and S̄_j are the means of the prototypes and
    the matrices of the clusters in A_j. Masses and matrices are updated in turn, each
    exactly, so that J never increases; with Euclidean distances the first masses are
    the answer. For prototypes that start at the peaks and move, see
    ``ECM(init="peaks")``.

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
    metric : "euclidean", "adaptive" or transformer, default="adaptive"
        How distances are measured. "adaptive" gives every cluster a Mahalanobis
        distance of its own, with a matrix S_k of determinant 1 that is fitted together
        with the rest. A transformer is cloned and fitted with the labels
        and pairs given to `fit`, if it can use them; distances are then Euclidean in
        its space.
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
    init : "peaks" or array-like of shape (n_clusters, n_features), default="peaks"
        Prototypes, which stay where they are. "peaks" takes the most important objects
        of the δ-Bel graph of the data, or of 10 000 evenly spread rows. Given ones, for
        example chosen on the graph by eye, also fix the numbers of the clusters.
    n_neighbors : int or "auto", default="auto"
        Number of neighbours K of the δ-Bel graph, see `credalis.peaks.delta_bel`.
    quantile : float in [0, 1] or None, default=0.9
        Quantile of the distances to the neighbours that sets the scale of the graph.
    n_init : int or "auto", default="auto"
        Number of starts. Nothing in them depends on chance, so that "auto" is 1.
    max_iter : int, default=500
        Largest number of iterations of one start.
    tol : float, default=1e-6
        Relative change of J below which a start ends.
    n_jobs : int, default=None
        Number of starts run at the same time, as in joblib. It does not change the
        result.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample that ``delta="auto"`` looks at in large data.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Attributes
    ----------
    partition_ : CredalPartition
        The mass functions of the objects.
    labels_ : array of shape (n_samples,)
        Cluster of maximal plausibility.
    centers_ : array of shape (n_clusters, n_features)
        Prototypes, in the space of the transformer if there is one.
    metrics_ : array of shape (n_clusters, n_features, n_features) or None
        Matrices S_k of the adaptive metric.
    transformer_ : object or None
        The fitted transformer.
    beta_ : float
        Exponent of the masses that was used. "auto" takes min(2, 1 + 2 s), where 1/s is
        the effective dimension of the clusters that k-means finds, or of the data if
        that is larger: s is the mean squared cosine of the angles between deviations
        from the centres. With an adaptive metric 1/s is the number of dimensions.
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

    References
    ----------
    Z.-G. Su and T. Denœux (2019), BPEC: Belief-peaks evidential clustering, IEEE
    Transactions on Fuzzy Systems 27(1), 111-123.

    Examples
    --------
    >>> from credalis import BPEC
    >>> from credalis.datasets import make_four_class
    >>> X, _ = make_four_class(random_state=0)
    >>> bpec = BPEC(n_clusters=4, delta=5).fit(X)
    >>> bpec.centers_.shape, bpec.metrics_.shape
    ((4, 2), (4, 2, 2))
    """

    _words = "centres with many near neighbours were found first, then their clusters"
    _inits = ("peaks",)
    _moves_centers = False
    _collapse_advice = "Give other prototypes, or another n_neighbors"

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        metric: str | Transformer = "adaptive",
        alpha: float = 1.0,
        beta: float | str = "auto",
        delta: float | str = "auto",
        empty_set: str = "auto",
        outlier_rate: float = 0.01,
        init: str | ArrayLike = "peaks",
        n_neighbors: int | str = "auto",
        quantile: float | None = 0.9,
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
        self.alpha = alpha
        self.beta = beta
        self.delta = delta
        self.empty_set = empty_set
        self.outlier_rate = outlier_rate
        self.init = init
        self.n_neighbors = n_neighbors
        self.quantile = quantile
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_exponent("alpha", self.alpha, self.n_clusters)

    def _peaks(self, X: NDArray[np.float64]) -> NDArray[np.intp]:
        return belief_peaks(
            X, self.n_clusters, n_neighbors=self.n_neighbors, quantile=self.quantile
        )

    def _check_solution(self, problem: PrototypeProblem, solution: Solution) -> bool:
        is_collapsed = super()._check_solution(problem, solution)
        X, n_features = problem.X, problem.X.shape[1]
        if not isinstance(self.init, str) or n_features < _MANY_DIMENSIONS:
            return is_collapsed
        share = share_unsettled(X, self.centers_)
        if share > _LARGEST_UNSETTLED:
            warn_user(
                "the belief peaks, which are objects, are far from the centres of "
                f"their clusters in {n_features} dimensions: {share:.0%} of the "
                "objects would change cluster if they moved there. ECM(init='peaks') "
                "lets them move",
                UserWarning,
            )
        return is_collapsed

    def _model(
        self, focal_sets: FocalSets, beta: float, delta: float
    ) -> PrototypeModel:
        return ecm_model(focal_sets, self.alpha, beta, delta)


def share_unsettled(X: NDArray[np.float64], prototypes: NDArray[np.float64]) -> float:
    """Share of objects that change cluster if prototypes move to the means of theirs.

    Clusters are those of the nearest prototypes.
    """
    labels = cdist(X, prototypes).argmin(axis=1)
    members = labels == np.arange(len(prototypes))[:, None]
    means = members @ X / np.maximum(members.sum(axis=1, keepdims=True), 1)
    return float((cdist(X, means).argmin(axis=1) != labels).mean())
