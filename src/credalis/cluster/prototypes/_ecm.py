"""ECM: evidential c-means."""

from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from credalis._checks import check_exponent
from credalis.belief import FocalSets
from credalis.checkpoints import Checkpoint
from credalis.cluster._framework._fit import fit
from credalis.cluster._inputs._side_information import Transformer
from credalis.cluster.prototypes._blocks import CHECKPOINT, start_blocks, train_blocks
from credalis.cluster.prototypes._clusterer import PrototypeClusterer
from credalis.objectives import PrototypeModel, ecm_model


class ECM(PrototypeClusterer):
    """Evidential c-means: prototypes for the clusters and for sets of clusters.

    Minimises

        J = Σ_i Σ_{A_j ≠ ∅} |A_j|^α m_ij^β (x_i - v̄_j)ᵀ S̄_j (x_i - v̄_j) + δ² Σ_i m_i∅^β

    over the masses m and the prototypes v_k of the clusters, where v̄_j is the mean of
    the prototypes of the clusters in A_j. S̄_j is the identity, or, with an adaptive
    metric, the mean of the matrices S_k of the clusters in A_j, and J is minimised over
    these as well, under det S_k = 1. Masses, prototypes and matrices are updated in
    turn, each exactly, so that J never increases.

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
    metric : "euclidean", "adaptive" or transformer, default="euclidean"
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

    References
    ----------
    M.-H. Masson and T. Denœux (2008), ECM: An evidential version of the fuzzy c-means
    algorithm, Pattern Recognition 41(4), 1384-1397.

    V. Antoine, B. Quost, M.-H. Masson and T. Denœux (2012), CECM: Constrained
    evidential c-means algorithm, Computational Statistics and Data Analysis 56(4),
    894-914 (for the adaptive metric).

    Examples
    --------
    >>> from credalis import ECM
    >>> from credalis.datasets import load_butterfly
    >>> X = load_butterfly().data
    >>> ecm = ECM(n_clusters=2, delta=5, init=[[-3, 0], [3, 0]]).fit(X)
    >>> ecm.partition_.set_names()[5], ecm.partition_.set_names()[11]
    ('Ω', '∅')
    """

    _words = (
        "objects were compared with the centres of clusters and of sets of clusters"
    )
    _variants: ClassVar = {"ECM": {}, "ECM-bp": {"init": "peaks"}}
    _is_for_many_rows = True
    _reads_blocks = True
    _reads_partitions = True
    _checkpoint_schema = CHECKPOINT
    _start_blocks = start_blocks
    _train_blocks = train_blocks

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        metric: str | Transformer = "euclidean",
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
        self.focal_sets = focal_sets
        self.metric = metric
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

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        partial_labels: ArrayLike | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
    ) -> Self:
        """Cluster the rows of X.

        Labels and pairs are for a transformer as `metric` that learns from them; they
        are refused if there is none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), source or Dask collection
            Data. A source (see `credalis.sources`) is read once for a sample of 10 000
            rows, whose fit gives `delta_` and the start, and once in every further
            iteration; ``partition_`` and ``labels_`` are absent then. Workers of Dask
            hold its partitions and send sums over their rows.
        y : ignored
            Present for compatibility with pipelines and searches.
        partial_labels : array-like of int, shape (n_samples,), default=None
            Known clusters, -1 for unknown.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), default=None
            Row numbers of objects known to be in the same cluster, and in different
            ones.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: a row of weight 2 counts as two equal rows, one
            of weight 0 is not used and only gets masses. Where X is read in
            blocks it must be None: all count once.
        checkpoint : str, path-like or `credalis.checkpoints.Checkpoint`, default=None
            File to continue from after the fit has been killed; X is read in blocks.

        Returns
        -------
        self
        """
        fit(
            self,
            X,
            checkpoint,
            sample_weight=sample_weight,
            partial_labels=partial_labels,
            must_link=must_link,
            cannot_link=cannot_link,
        )
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_exponent("alpha", self.alpha, self.n_clusters)

    def _model(
        self, focal_sets: FocalSets, beta: float, delta: float
    ) -> PrototypeModel:
        return ecm_model(focal_sets, self.alpha, beta, delta)
