"""The methods that take part, each behind the same small function.

A contender is a name and a function ``fit_predict(X, n_clusters, seed) -> Answer``. To
take part, add one to `baselines`; estimators of credalis come from its registry.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.mixture import GaussianMixture

from benchmarks.scores import smallest_sets
from credalis import CredalPartition
from credalis.cluster import named_estimators

# Rows for methods whose cost grows faster than the number of rows.
FEW_ROWS = 600


class Answer(NamedTuple):
    """What a method says about the rows that it was fitted to."""

    labels: np.ndarray  # cluster of each row, -1 for noise
    confidence: np.ndarray  # in [0, 1], how sure that label is
    sets: np.ndarray | None = None  # (n, n_clusters), the clusters a row may be in
    outlier_score: np.ndarray | None = None  # the larger, the stranger
    is_outlier: np.ndarray | None = None  # None where a method flags nothing
    # By what rows are ranked, if not by one minus the confidence.
    doubt: np.ndarray | None = None
    # For methods that give more than this: masses, and masses of new rows.
    partition: CredalPartition | None = None
    model: Any = None

    @property
    def ranking(self):
        """The larger, the surer."""
        return self.confidence if self.doubt is None else -self.doubt


@dataclass(frozen=True)
class Contender:
    name: str
    fit_predict: Callable[[np.ndarray, int, int], Answer]
    max_rows: int | None = None
    is_ours: bool = False


def contenders():
    """All of them, by name."""
    everyone = (*_ours(), *baselines())
    return {contender.name: contender for contender in everyone}


def baselines():
    return (
        Contender("KMeans", k_means),
        Contender("GaussianMixture", gaussian_mixture),
        Contender("fuzzy c-means", fuzzy_c_means),
        Contender("HDBSCAN", hdbscan),
    )


def _ours():
    for name, estimator in named_estimators(for_data_alone=True).items():
        limit = None if estimator._is_for_many_rows else FEW_ROWS
        yield Contender(name, evidential(estimator), limit, is_ours=True)


def evidential(estimator):
    """An estimator of credalis with the parameters it has."""

    def fit_predict(X, n_clusters, seed):
        model = clone(estimator)
        names = model.get_params(deep=False)
        settings = {"n_clusters": n_clusters, "random_state": seed}
        model.set_params(**{k: v for k, v in settings.items() if k in names})
        partition = model.fit(X).partition_
        return Answer(
            partition.labels,
            partition.pignistic[np.arange(len(X)), partition.labels],
            smallest_sets(partition.pignistic),
            partition.outlier_mass,
            partition.is_outlier,
            partition.doubt,
            partition,
            model,
        )

    return fit_predict


def k_means(X, n_clusters, seed):
    """Confidence: the distance to the second centre by the sum of those to both."""
    model = KMeans(n_clusters, n_init=10, random_state=seed).fit(X)
    distances = np.sort(model.transform(X), axis=1)
    nearest, second = distances[:, 0], distances[:, min(1, n_clusters - 1)]
    total = nearest + second
    share = np.divide(second, total, out=np.full(len(X), 0.5), where=total > 0)
    sets = model.labels_[:, None] == np.arange(n_clusters)
    return Answer(model.labels_, share, sets, nearest)


def gaussian_mixture(X, n_clusters, seed):
    """Full covariances; posteriors as confidence, density as outlier score."""
    model = GaussianMixture(
        n_clusters, n_init=3, reg_covar=1e-3, random_state=seed
    ).fit(X)
    return _probabilistic(model.predict_proba(X), -model.score_samples(X))


def hdbscan(X, n_clusters, seed):
    """Strength of membership as confidence; finds its own number of clusters."""
    model = HDBSCAN(copy=True).fit(X)
    labels, strength = model.labels_, np.nan_to_num(model.probabilities_)
    sets = labels[:, None] == np.arange(labels.max() + 1)
    return Answer(labels, strength, sets, 1.0 - strength, labels == -1)


def fuzzy_c_means(X, n_clusters, seed, fuzzifier=2.0, tol=1e-5, max_iter=300):
    """Fuzzy c-means (Bezdek, 1981) from the centres of k-means++."""
    start = KMeans(n_clusters, n_init=1, max_iter=1, random_state=seed).fit(X)
    centers = start.cluster_centers_
    for _ in range(max_iter):
        memberships = fuzzy_memberships(X, centers, fuzzifier)
        weights = memberships**fuzzifier
        previous, centers = centers, weights.T @ X / weights.sum(axis=0)[:, None]
        if np.abs(centers - previous).max() < tol:
            break
    return _probabilistic(fuzzy_memberships(X, centers, fuzzifier), None)


def fuzzy_memberships(X, centers, fuzzifier=2.0):
    """u_ik ∝ d_ik^(-2 / (fuzzifier - 1)), shape (n, n_clusters)."""
    squared = ((X[:, None] - centers) ** 2).sum(axis=2)
    log_weights = -np.log(np.maximum(squared, 1e-300)) / (fuzzifier - 1)
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def _probabilistic(memberships, outlier_score):
    """Probabilities of the clusters are masses of the singletons."""
    return Answer(
        memberships.argmax(axis=1),
        memberships.max(axis=1),
        smallest_sets(memberships),
        outlier_score,
        partition=CredalPartition.from_fuzzy(memberships),
    )
