"""BCM: belief c-means."""

import numpy as np
from numpy.typing import ArrayLike

from credalis._checks import check_exponent, check_factor
from credalis._warnings import warn_experimental
from credalis.belief import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._side_information import Transformer
from credalis.cluster.prototypes._clusterer import (
    PrototypeClusterer,
    PrototypeProblem,
)
from credalis.objectives import PrototypeModel

_LARGEST_GAMMA = 1e12


class BCM(PrototypeClusterer):
    """Belief c-means: sets of clusters are for objects far from all of their members.

    The published article could not be consulted for its formulas, which is why this
    class is experimental and warns so once; see Notes for what is known. Minimises

        J = Σ_i Σ_{A_j ≠ ∅} |A_j|^α m_ij^β D_ij² + δ² Σ_i m_i∅^β

    over the masses m and the prototypes v_k of the clusters, with

        D_ij² = (Σ_{k ∈ A_j} ‖x_i - v_k‖² + γ Σ_{k < l ∈ A_j} ‖v_k - v_l‖²)
                / (|A_j| + γ |A_j| (|A_j| - 1) / 2),

    for one cluster ‖x_i - v_k‖². Masses and prototypes are updated in turn, each
    exactly, so that J never increases.

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
    metric : "euclidean", "adaptive" or transformer, default="euclidean"
        How distances are measured. "adaptive" gives every cluster a Mahalanobis
        distance of its own, with a matrix S_k of determinant 1 that is fitted together
        with the rest. A transformer is cloned and fitted with the labels and pairs
        given to `fit`, if it can use them; distances are then Euclidean in its space.
        "adaptive" goes beyond the published method.
    alpha : float, default=1.0
        Exponent of the cardinality: the larger, the less mass on large sets. 0 leaves
        the cardinality out.
    beta : float or "auto", default="auto"
        Exponent of the masses, > 1: the larger, the less certain the result. Too large
        a value for the data makes all prototypes coincide, which is warned about.
        "auto" is the published 2 in up to two dimensions and about 1 + 2/d in d; see
        `beta_`.
    gamma : float, default=1.0
        Weight of the distances between the prototypes.
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

    Notes
    -----
    The summary of the article says: the mass of a cluster depends on the distance to
    its centre; that of a set on the distances to the centres of its clusters and on the
    distances among these; the barycentre of a set plays no role; an object in the
    middle between clusters has equal masses on them rather than on their set; an
    object that is far from clusters hard to be told apart belongs to their set. D² is
    the simplest form that fits, the mean over the objects' and the prototypes'
    distances. Open are the normalisation of D² and whether the cardinality has a factor
    of its own (``alpha``).

    References
    ----------
    Z.-G. Liu, J. Dezert, G. Mercier and Q. Pan (2012), Belief C-Means: An extension of
    Fuzzy C-Means algorithm in belief functions framework, Pattern Recognition Letters
    33(3), 291-300.

    Examples
    --------
    >>> import warnings
    >>> from credalis import BCM
    >>> from credalis.datasets import load_butterfly
    >>> X = load_butterfly().data
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     bcm = BCM(n_clusters=2, delta=5, init=[[-3, 0], [3, 0]]).fit(X)
    >>> bcm.labels_
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    """

    _words = "objects were compared with the centres of clusters"
    _is_for_many_rows = True

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        metric: str | Transformer = "euclidean",
        alpha: float = 1.0,
        beta: float | str = "auto",
        gamma: float = 1.0,
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
        self.focal_sets = focal_sets
        self.metric = metric
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_exponent("alpha", self.alpha, self.n_clusters)
        # Beyond, the prototypes are at one point but for rounding.
        check_factor("gamma", self.gamma, at_least=0, at_most=_LARGEST_GAMMA)

    def _check_solution(self, problem: PrototypeProblem, solution: Solution) -> bool:
        warn_experimental(
            "BCM", "its distance to sets of clusters is not confirmed by the article"
        )
        return super()._check_solution(problem, solution)

    def _model(
        self, focal_sets: FocalSets, beta: float, delta: float
    ) -> PrototypeModel:
        return bcm_model(focal_sets, self.alpha, float(self.gamma), beta, delta)


def bcm_model(
    focal_sets: FocalSets, alpha: float, gamma: float, beta: float, delta: float
) -> PrototypeModel:
    """D_ij² = (‖x_i - v̄_j‖² + (1/|A_j| + γ) s_j) / (1 + γ (|A_j| - 1) / 2).

    Both sums are about the scatter s_j of the prototypes around their mean v̄_j:
    Σ_{k ∈ A_j} ‖x_i - v_k‖² = |A_j| ‖x_i - v̄_j‖² + s_j, and
    Σ_{k < l ∈ A_j} ‖v_k - v_l‖² = |A_j| s_j.
    """
    size = np.maximum(focal_sets.cardinality, 1)
    scales = 1 / (1 + gamma * (size - 1) / 2)
    return PrototypeModel(focal_sets, alpha, beta, delta, scales, 1 / size + gamma)
