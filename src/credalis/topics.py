"""A cluster model for topic modelling: labels, and -1 for documents of no topic."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from credalis._checks import check_number, shown
from credalis._refusals import refuses_by_name, takes_any_number
from credalis._rows import check_in_memory
from credalis.cluster import ECM, BaseCredalClusterer
from credalis.partition import CredalPartition

__all__ = ["TopicClusterer"]


class TopicClusterer(ClusterMixin, BaseEstimator):
    """Clusters with -1 for a share of objects that belong to no cluster clearly enough.

    Topic models such as BERTopic take any cluster model that has ``fit``, ``predict``
    and ``labels_``, with -1 for documents that are left out. Here, the share of them is
    chosen: left out are the objects whose cluster has the smallest mass of its own, be
    it that they are unlike all others or that they lie between clusters.

    Parameters
    ----------
    estimator : estimator of credalis or None, default=None
        What finds the clusters, which is cloned; None: ``ECM(n_clusters)``, whose cost
        is linear in the number of documents.
    n_clusters : int or None, default=None
        Number of clusters, that of the estimator if None; 10 without one.
    outlier_share : float, default=0.1
        Share of the training objects that get -1, at most. It is less if many masses
        are the same.
    random_state : int, RandomState instance or None, default=None
        Seed, if the estimator has none of its own.

    Attributes
    ----------
    estimator_ : estimator
        The fitted one.
    labels_ : array of int, shape (n_samples,)
        Clusters, -1 for objects that are left out.
    threshold_ : float
        Objects whose cluster has less mass than this are left out.
    probabilities_ : array of shape (n_samples,)
        Mass on the cluster of each object alone, 0 for those that are left out.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.

    Examples
    --------
    >>> from credalis.topics import TopicClusterer
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(200, centers=4, random_state=1)
    >>> model = TopicClusterer(n_clusters=4, outlier_share=0.05, random_state=0)
    >>> int((model.fit(X).labels_ == -1).sum())
    10

    With BERTopic: ``BERTopic(hdbscan_model=TopicClusterer(n_clusters=20))``.
    """

    estimator_: BaseCredalClusterer
    labels_: NDArray[np.intp]
    threshold_: float
    probabilities_: NDArray[np.float64]

    def __init__(
        self,
        estimator: BaseCredalClusterer | None = None,
        *,
        n_clusters: int | None = None,
        outlier_share: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_clusters = n_clusters
        self.outlier_share = outlier_share
        self.random_state = random_state

    @refuses_by_name
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, for example embeddings of documents with fewer dimensions.
        y : ignored
            Present for compatibility.

        Returns
        -------
        self
        """
        share = check_number(
            "outlier_share", self.outlier_share, at_least=0, at_most=0.9
        )
        check_in_memory(X)
        model = self._model().fit(X)
        self.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        masses = _own_masses(model.partition_)
        self.estimator_ = model
        self.threshold_ = _threshold(masses, share)
        self.labels_, self.probabilities_ = self._decided(model.partition_)
        return self

    @takes_any_number
    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Clusters of the rows of X, -1 for those that are left out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to assign.

        Returns
        -------
        ndarray of int, shape (n_samples,)
        """
        check_is_fitted(self)
        return self._decided(self.estimator_.predict_partition(X))[0]

    def _model(self) -> BaseCredalClusterer:
        """The estimator to fit."""
        if self.estimator is None:
            model: BaseCredalClusterer = ECM(10)
        elif isinstance(self.estimator, BaseCredalClusterer):
            model = clone(self.estimator)
        else:
            raise ValueError(
                "estimator must be an estimator of credalis, got "
                f"{shown(self.estimator)}"
            )
        known = model.get_params(deep=False)
        if self.n_clusters is not None:
            if "n_clusters" not in known:
                raise ValueError(
                    f"n_clusters must be None for {type(model).__name__}, which finds "
                    f"it, got {shown(self.n_clusters)}"
                )
            model.set_params(n_clusters=self.n_clusters)
        if known["random_state"] is None:
            model.set_params(random_state=self.random_state)
        return model

    def _decided(
        self, partition: CredalPartition
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Labels and probabilities."""
        masses = _own_masses(partition)
        is_out = masses < self.threshold_
        return np.where(is_out, -1, partition.labels), np.where(is_out, 0.0, masses)


def _own_masses(partition: CredalPartition) -> NDArray[np.float64]:
    """Mass of the most plausible cluster of each object alone, (n_samples,)."""
    rows = np.arange(len(partition))
    return np.asarray(partition.belief[rows, partition.labels])


def _threshold(masses: NDArray[np.float64], share: float) -> float:
    """The mass below which so many objects, and no more, are."""
    n_out = int(np.floor(share * len(masses)))
    return float(np.partition(masses, n_out)[n_out])
