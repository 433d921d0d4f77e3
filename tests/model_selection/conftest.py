"""A clusterer that remembers what each of its fits was given."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin

from credalis import CredalPartition

SEEN = []


class Recorder(ClusterMixin, BaseEstimator):
    """Clusters by thirds of the first column, which holds the row number."""

    def __init__(self, n_clusters=3, metric="euclidean", power=0, random_state=None):
        self.n_clusters = n_clusters
        self.metric = metric
        self.power = power
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def fit(
        self,
        X,
        y=None,
        *,
        partial_labels=None,
        must_link=None,
        cannot_link=None,
        dissimilarities=None,
    ):
        X = np.asarray(X)
        rows = X.diagonal() if self.metric == "precomputed" else X[:, 0]
        self.rows_ = np.rint(rows).astype(int)
        SEEN.append(
            {
                "rows": self.rows_,
                "X": X,
                "partial_labels": partial_labels,
                "must_link": must_link,
                "cannot_link": cannot_link,
                "dissimilarities": dissimilarities,
                "random_state": self.random_state,
            }
        )
        self.n_features_in_ = X.shape[1]
        self.labels_ = self.predict(X)
        self.partition_ = CredalPartition.from_labels(self.labels_, self.n_clusters)
        return self

    def predict(self, X):
        return np.arange(len(X)) % self.n_clusters

    def score(self, X, y=None):
        return -float(self.power)


@pytest.fixture
def recorder():
    SEEN.clear()
    yield Recorder
    SEEN.clear()


@pytest.fixture
def seen():
    return SEEN
