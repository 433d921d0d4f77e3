"""What the user is told about a result that is not what was hoped for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from credalis._warnings import warn_user
from credalis.cluster._framework import _soundness
from credalis.cluster._framework._solution import Solution
from credalis.exceptions import (
    CollapseWarning,
    ContrastWarning,
    EmptyClusterWarning,
    MergedClustersWarning,
    OutlierWarning,
    UnitsWarning,
)
from credalis.partition import CredalPartition

if TYPE_CHECKING:
    from credalis.cluster._framework._estimator import BaseCredalClusterer

# Prototypes closer than this, relative to the spread of the data, have collapsed.
_COLLAPSED = 1e-3


def warn_of_collapse(
    estimator: BaseCredalClusterer,
    separation: float,
    spread: float,
    *,
    is_collapsing: bool = False,
) -> bool:
    """Warn if the prototypes of all clusters are the same point, or could be.

    Parameters
    ----------
    estimator : BaseCredalClusterer
        What was fitted.
    separation : float
        Largest distance of two prototypes.
    spread : float
        Spread of the data, in the same unit.
    is_collapsing : bool, default=False
        Whether prototypes at one point would cost no more.

    Returns
    -------
    bool
        Whether there was something to say.
    """
    parameters = estimator.get_params(deep=False)
    is_collapsed = separation < _COLLAPSED * spread
    if parameters["n_clusters"] == 1 or not (is_collapsed or is_collapsing):
        return False
    state = "coincide" if is_collapsed else "might as well coincide"
    warn_user(
        f"the prototypes of all clusters {state} (largest distance "
        f"{separation:.3g}, spread of the data {spread:.3g}): the partition says "
        "next to nothing about the data. " + estimator._collapse_advice,
        CollapseWarning,
    )
    return True


def warn_of_convergence(
    estimator: BaseCredalClusterer, solution: Solution, max_iter: int
) -> None:
    """Warn of a fit that was interrupted, or ended before it had settled."""
    method = type(estimator).__name__
    if solution.is_interrupted:
        warn_user(
            f"{method} was interrupted: the result is the best found until then",
            ConvergenceWarning,
        )
    elif not solution.trace.converged:
        warn_user(
            f"{method} did not converge in max_iter={max_iter} iterations: increase "
            "max_iter or tol",
            ConvergenceWarning,
        )


def warn_of_outliers(
    estimator: BaseCredalClusterer, partition: CredalPartition
) -> None:
    """Warn of more outliers than the rate allows for, or than other objects."""
    rate = None
    if hasattr(estimator, "reference_"):
        rate = float(estimator._parameter("outlier_rate"))
    n_outliers = int(partition.is_outlier.sum())
    if not _soundness.are_too_many_outliers(n_outliers, partition.n_samples, rate):
        return
    told = f"{n_outliers / partition.n_samples:.0%} of the objects are outliers"
    if rate is None:
        warn_user(f"{told}: {estimator._outlier_advice}", OutlierWarning)
        return
    empty = partition.masses[:, partition.focal_sets.empty_index]
    suited = _soundness.rate_that_suits(empty, rate)
    advice = "look at them, they are far away from everything else"
    if suited > _soundness.LEAST_RATE:
        advice = (
            "they may be sparse clusters rather than outliers: lower outlier_rate to "
            f"{suited:.1g}"
        )
    warn_user(
        f"{told}, many more than the {rate:g} of ordinary ones that outlier_rate "
        f"allows for: {advice}",
        OutlierWarning,
    )


def warn_of_empty_clusters(
    estimator: BaseCredalClusterer, partition: CredalPartition, *, is_informed: bool
) -> None:
    """Warn of a single cluster, and of clusters without objects."""
    n_clusters = estimator._parameter("n_clusters")
    if n_clusters == 1:
        # scikit-learn's own checks fit every clusterer with one cluster, so that
        # this cannot be an error.
        warn_user(
            "n_clusters=1 tells only outliers from the rest: n_clusters should be >= 2",
            UserWarning,
        )
        return
    n_empty = _soundness.count_empty(partition.labels, partition.focal_sets)
    # A method that finds the number of clusters was not asked for any.
    if n_empty > 0 and n_clusters is not None:
        warn_user(
            f"{n_empty} of {partition.n_clusters} clusters are empty, they are the "
            f"most plausible one of no object: {estimator._start_advice(is_informed)}",
            EmptyClusterWarning,
        )


def warn_of_data(
    estimator: BaseCredalClusterer,
    X: NDArray[np.float64],
    partition: CredalPartition,
    *,
    is_collapsed: bool,
) -> None:
    """Warn of what the data themselves say against the result.

    Parameters
    ----------
    estimator : BaseCredalClusterer
        What was fitted.
    X : array of shape (n_samples, n_features) or (n_samples, n_samples)
        Objects, or their dissimilarities.
    partition : CredalPartition
        Of the same objects.
    is_collapsed : bool
        Whether the user knows that the clusters are none.
    """
    is_matrix = estimator._reads_dissimilarities and estimator._is_precomputed
    metric = getattr(estimator, "metric_", "euclidean")
    objects = _soundness.looked_at(len(X), metric)
    X = X[np.ix_(objects, objects)] if is_matrix else X[objects]
    if not is_matrix:
        _warn_of_units(estimator, X)
    geometry = _soundness.in_one_unit(*estimator._points(X))
    groups = _soundness.find_groups(geometry, partition.n_clusters)
    spread = _soundness.relative_spread(geometry)
    if _soundness.lacks_contrast(spread, groups):
        warn_user(
            "nearly all dissimilarities are equal (their standard deviation is "
            f"{spread:.1%} of their mean) and no groups have gaps between them: the "
            "data show hardly any structure, and the clusters may be chance. Leave out "
            "columns without information, or take another metric",
            ContrastWarning,
        )
        return
    finds_number = estimator._parameter("n_clusters") is None
    if groups is None or finds_number or is_collapsed:
        return
    labels = partition.labels[objects]
    cluster = _soundness.find_merged(geometry, groups, labels)
    if cluster is not None:
        excess = _soundness.excess_of_squares(geometry, groups, labels)
        warn_user(
            f"cluster {cluster} holds groups with a gap between them, which k-means "
            f"tells apart (the sum of squares of the clusters is {excess:.0%} "
            f"larger): {estimator._start_advice(is_informed=False)}",
            MergedClustersWarning,
        )


def _warn_of_units(estimator: BaseCredalClusterer, X: NDArray[np.float64]) -> None:
    """Warn of columns that do not count because others have larger numbers."""
    metric = estimator._parameter("metric")
    if metric is None:
        metric = "euclidean" if estimator._depends_on_units else "none"
    if not _soundness.depends_on_units(metric):
        return
    spreads = _soundness.column_spreads(X)
    columns = _soundness.unequal_columns(spreads)
    if columns is None:
        return
    names = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    large, small = (f"{names[j]!r} ({spreads[j]:.3g})" for j in columns)
    warn_user(
        f"the spread of column {large} is more than {_soundness.UNEQUAL_SPREADS:.0f} "
        f"times that of column {small}, which hardly counts in the distances: if "
        "their units differ, scale them with "
        f"make_pipeline(StandardScaler(), {type(estimator).__name__}(...)), or "
        "--scale standard on the command line",
        UnitsWarning,
    )
