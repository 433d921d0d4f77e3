"""Whether a result can be what the user hoped for, and what is said if it cannot.

Pure functions decide, and a warning says it with what to do about it.

Groups that k-means finds are a yardstick, not the truth: round and of similar size.
Elongated or nested clusters rightly have larger sums of squares. What no method should
do is to put two groups with a gap between them into one cluster while it has other
clusters to spare. Gaps are looked for in objects that k-means has not seen: in many
dimensions, the halves of any sample are far apart along the line between their means.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import binom
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from credalis._control import is_cancelled
from credalis._warnings import warn_user
from credalis.belief import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._clusters import count_distinct
from credalis.cluster._inputs._geometry import Geometry
from credalis.cluster._inputs._medoids import k_medoids
from credalis.cluster._inputs._side_information import placed
from credalis.dissimilarity import dissimilarities_between, transform
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

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Objects that are looked at, fewer if each pair of them takes memory: half of them to
# find groups, half to judge them.
_MAX_SAMPLE, _MAX_WITH_PAIRS = 1000, 400
_N_STARTS = 2

# Two groups have a gap between them if their means are so many times the sum of their
# standard deviations apart: 1.3 for the halves of a normal distribution, 1.7 for those
# of a uniform one, 3 for normal clusters at six standard deviations.
GAP = 2.5

# A cluster holds a group if it has this share of its objects, and a part of it if it
# has that.
_HELD, _PART = 0.8, 0.2

# The groups must have a sum of squares that is smaller by this share, so that a bad run
# of k-means accuses nobody.
_EXCESS = 0.05

# Groups smaller than this share of the average cluster are outliers rather than
# clusters, and of so few objects nothing can be said.
_LEAST_SHARE = 0.1
_LEAST_OBJECTS = 5

# With a rate of false flags, this many flags are still ordinary: real outliers occur.
_SHARE_OF_OUTLIERS = 0.1
_SURE = 0.999

# Rates below this have no meaning: such objects are outliers at any rate.
LEAST_RATE = 1e-6

# Without a rate: more outliers than other objects.
_MOST = 0.5

# Columns whose spread is so many times smaller than another one's do not count.
UNEQUAL_SPREADS = 100.0

# Dissimilarities whose standard deviation is less than this share of their mean are
# nearly equal; that of normal noise is 0.7 / √d.
_EQUAL_LENGTHS = 0.1
_MAX_PAIRS_OF = 300

# Values of δ* with a smaller standard deviation than this are nearly equal; if one pair
# in a thousand is alike and all others are not, it is 0.03.
_EQUAL_TARGETS = 0.01

# Prototypes closer than this, relative to the spread of the data, have collapsed.
_COLLAPSED = 1e-3

# Metrics in which a column of large numbers counts more than others.
_METRICS_WITH_UNITS = {
    "chebyshev",
    "cityblock",
    "cosine",
    "euclidean",
    "l1",
    "l2",
    "manhattan",
    "minkowski",
    "nan_euclidean",
    "sqeuclidean",
}


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups found in one half of the objects, and the other half in them.

    Attributes
    ----------
    rows : array of int, shape (n_judged,)
        Row numbers of the other half.
    labels : array of int, shape (n_judged,)
        Their groups.
    to_means : array of shape (n_judged, n_groups)
        Squared distances to the means of the groups, up to a constant for each group.
    """

    rows: Indices
    labels: Indices
    to_means: Array

    @property
    def sizes(self) -> Indices:
        """Number of objects in each group."""
        return np.bincount(self.labels, minlength=self.to_means.shape[1])

    def gap(self, one: int, other: int, is_looked_at: NDArray[np.bool_]) -> float:
        """Distance of two groups, in sums of their standard deviations.

        Taken along the line between the means, where u is a difference of squared
        distances: |mean u_i - mean u_j| / (sd u_i + sd u_j).
        """
        along = self.to_means[:, one] - self.to_means[:, other]
        first = along[is_looked_at & (self.labels == one)]
        second = along[is_looked_at & (self.labels == other)]
        spread = float(first.std() + second.std())
        distance = abs(float(first.mean() - second.mean()))
        if spread > 0:
            return distance / spread
        return np.inf if distance > 0 else 0.0


def looked_at(n_samples: int, metric: Any) -> Indices:
    """Row numbers of the objects that checks look at, in random order."""
    is_euclidean = isinstance(metric, str) and metric == "euclidean"
    n_rows = _MAX_SAMPLE if is_euclidean else _MAX_WITH_PAIRS
    return np.random.RandomState(0).permutation(n_samples)[:n_rows]


def in_one_unit(values: Array, metric: Any) -> Geometry:
    """Objects with distances of the order of 1, whose squares can be added."""
    if isinstance(metric, str) and metric == "precomputed":
        values = (values + values.T) / 2
        return Geometry(values / (values.max() or 1.0), metric)
    if isinstance(metric, str) and metric == "euclidean":
        unit = np.abs(values).max() or 1.0
        values = values / unit
        return Geometry(values - values.mean(axis=0))
    return Geometry(values, metric)


@config_context(assume_finite=True, skip_parameter_validation=True)
def find_groups(geometry: Geometry, n_groups: int) -> Groups | None:
    """Groups by k-means, or around medoids where there are only dissimilarities.

    None if there are too few objects to find groups in one half and judge the other.
    """
    n_samples = len(geometry.values)
    half = n_samples // 2
    seen, rows = np.arange(half), np.arange(half, n_samples)
    if half < _LEAST_OBJECTS * n_groups:
        return None
    values, rng = geometry.values, np.random.RandomState(0)
    if geometry.is_euclidean:
        if count_distinct(values[seen], n_groups) < n_groups:
            return None
        kmeans = KMeans(n_groups, n_init=_N_STARTS, random_state=rng).fit(values[seen])
        to_means = cdist(values[rows], kmeans.cluster_centers_, "sqeuclidean")
        return Groups(rows, to_means.argmin(axis=1), to_means)
    _, labels = k_medoids(geometry.distances(seen), n_groups, rng)
    if geometry.is_precomputed:
        lengths = values[np.ix_(rows, seen)]
    else:
        lengths = dissimilarities_between(values[rows], values[seen], geometry.metric)
    members = labels[:, None] == np.arange(n_groups)
    shares = members / np.maximum(members.sum(axis=0), 1)
    # The mean squared distance to the members is that to their mean, up to the spread
    # of the group.
    return Groups(rows, (lengths @ shares).argmin(axis=1), np.square(lengths) @ shares)


def count_empty(labels: Indices, focal_sets: FocalSets) -> int:
    """How many clusters have no object.

    Clusters that are no focal set of their own cannot be told from others.
    """
    is_single = focal_sets.cardinality == 1
    single = focal_sets.membership[is_single].argmax(axis=1)
    return len(np.setdiff1d(single, labels))


def excess_of_squares(geometry: Geometry, groups: Groups, labels: Indices) -> float:
    """By what share the sum of squares of clusters exceeds that of groups."""
    ours = _sum_of_squares(geometry, groups.rows, labels[groups.rows])
    theirs = _sum_of_squares(geometry, groups.rows, groups.labels)
    if theirs > 0:
        return ours / theirs - 1.0
    return np.inf if ours > 0 else 0.0


def find_merged(geometry: Geometry, groups: Groups, labels: Indices) -> int | None:
    """A cluster that holds a group and, beyond a gap, another one or a part of it.

    None if there is none, or if the sum of squares of the clusters is not larger than
    that of the groups.

    Parameters
    ----------
    geometry : Geometry
        Where the objects are.
    groups : Groups
        As many as there are clusters, so that another cluster is empty or has only a
        part of a group.
    labels : array of int, shape (n_samples,)
        Clusters of all objects.
    """
    ours = labels[groups.rows]
    sizes = groups.sizes
    least = max(_LEAST_OBJECTS, _LEAST_SHARE * len(ours) / len(sizes))
    table = np.zeros((len(sizes), int(labels.max()) + 1))
    np.add.at(table, (groups.labels, ours), 1.0)
    for cluster, numbers in enumerate(table.T):
        is_here = ours == cluster
        is_part = (numbers >= least) & (numbers >= _PART * sizes)
        parts = np.flatnonzero(is_part)
        for held in parts[numbers[parts] >= _HELD * sizes[parts]]:
            for part in parts[parts != held]:
                if groups.gap(held, part, is_here) >= GAP:
                    excess = excess_of_squares(geometry, groups, labels)
                    return cluster if excess >= _EXCESS else None
    return None


def has_gaps(groups: Groups) -> bool:
    """Whether any two groups have a gap between them."""
    everything = np.ones(len(groups.rows), dtype=bool)
    large = np.flatnonzero(groups.sizes >= _LEAST_OBJECTS).tolist()
    return any(
        groups.gap(one, other, everything) >= GAP
        for one, other in combinations(large, 2)
    )


def are_too_many_outliers(
    n_outliers: int, n_samples: int, outlier_rate: float | None
) -> bool:
    """Whether more objects are flagged than ordinary data and a few outliers explain.

    Parameters
    ----------
    n_outliers, n_samples : int
        Objects that are flagged, and all.
    outlier_rate : float or None
        Share of ordinary objects that may be flagged; None: the method has no rate, and
        more than half are too many.
    """
    if outlier_rate is None:
        return n_outliers > _MOST * n_samples
    allowed = binom.ppf(_SURE, n_samples, outlier_rate)
    return n_outliers > allowed + _SHARE_OF_OUTLIERS * n_samples


def rate_that_suits(empty: Array, outlier_rate: float) -> float:
    """The rate at which the share of outliers that is ordinary would be flagged.

    One digit, rounded down, so that it works as it is said.

    Parameters
    ----------
    empty : array of shape (n_samples,)
        Masses on ∅, which have the odds (r / p)² at the rate r.
    outlier_rate : float
        The rate r that they were found with.
    """
    odds = np.quantile(empty, 1.0 - _SHARE_OF_OUTLIERS)
    rate = outlier_rate * float(np.sqrt((1.0 - odds) / odds))
    if rate == 0:
        return 0.0
    unit = 10.0 ** np.floor(np.log10(rate))
    return float(np.floor(rate / unit) * unit)


def depends_on_units(metric: object) -> bool:
    """Whether distances depend on the units of the columns."""
    return isinstance(metric, str) and metric in _METRICS_WITH_UNITS


def column_spreads(X: Array) -> Array:
    """Distances of the outer deciles of the columns, (n_features,).

    0 for columns that are constant but for a few objects.
    """
    low, high = np.quantile(X, [0.1, 0.9], axis=0)
    return high - low


def unequal_columns(spreads: Array) -> tuple[int, int] | None:
    """The columns of largest and smallest spread, if one makes the other not count.

    Columns without spread say nothing in any unit.
    """
    varying = np.flatnonzero(spreads > 0)
    if len(varying) < 2:
        return None
    largest = int(varying[spreads[varying].argmax()])
    smallest = int(varying[spreads[varying].argmin()])
    is_unequal = spreads[largest] > UNEQUAL_SPREADS * spreads[smallest]
    return (largest, smallest) if is_unequal else None


def relative_spread(geometry: Geometry) -> float:
    """Standard deviation of the dissimilarities as a share of their mean."""
    lengths = _lengths_of_pairs(geometry)
    return float(lengths.std() / lengths.mean()) if lengths.any() else 0.0


def _lengths_of_pairs(geometry: Geometry) -> Array:
    """Dissimilarities of all pairs of some objects."""
    objects = np.arange(min(len(geometry.values), _MAX_PAIRS_OF))
    if geometry.is_euclidean:
        return pdist(geometry.values[objects])
    return squareform(geometry.distances(objects), checks=False)


def lacks_contrast(spread: float, groups: Groups | None) -> bool:
    """Whether dissimilarities of this relative spread tell next to nothing apart.

    In many dimensions, clusters far apart can have such dissimilarities, too; then
    there are gaps between groups.
    """
    return spread < _EQUAL_LENGTHS and (groups is None or not has_gaps(groups))


def mean_and_spread_of_targets(geometry: Geometry, scale: float) -> tuple[float, float]:
    """Mean and standard deviation of δ* over the pairs of some objects."""
    targets = transform(_lengths_of_pairs(geometry), scale)
    return float(targets.mean()), float(targets.std())


def _sum_of_squares(geometry: Geometry, rows: Indices, labels: Indices) -> float:
    """Squared distances of objects to the means of their clusters, added.

    Of dissimilarities: the mean square of those to the others of the cluster, halved.
    """
    total = 0.0
    for cluster in np.unique(labels):
        members = rows[labels == cluster]
        if geometry.is_euclidean:
            points = geometry.values[members]
            total += float(np.square(points - points.mean(axis=0)).sum())
        else:
            squares = np.square(geometry.distances(members))
            total += float(squares.sum()) / (2 * len(members))
    return total


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
    is_collapsed = separation < _COLLAPSED * spread
    n_clusters = estimator._parameter("n_clusters")
    if n_clusters == 1 or not (is_collapsed or is_collapsing):
        return False
    state = "coincide" if is_collapsed else "might as well coincide"
    warn_user(
        f"the prototypes of all clusters {state} (largest distance "
        f"{separation:.3g}, spread of the data {spread:.3g}): the partition says "
        "next to nothing about the data. "
        + (estimator._collapse_advice or _exponent_advice(estimator)),
        CollapseWarning,
    )
    return True


def _exponent_advice(estimator: BaseCredalClusterer) -> str:
    """To lower β, the value that was given or that "auto" has taken."""
    beta = estimator._parameter("beta")
    if isinstance(beta, str):
        taken = estimator._parameter("beta_")
        lower = 1 + (taken - 1) / 2
        return f"Set beta={lower:.4g}, 'auto' has taken {taken:.4g}"
    return f"Lower beta, it is {beta:g}, or let beta='auto' choose it"


def warn_of_convergence(
    estimator: BaseCredalClusterer, solution: Solution, max_iter: int
) -> None:
    """Warn of a fit that was stopped, or ended before it had settled."""
    method = type(estimator).__name__
    if solution.is_interrupted:
        what = "cancelled" if is_cancelled() else "interrupted"
        warn_user(
            f"{method} was {what}: the result is the best found until then",
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
    if not are_too_many_outliers(n_outliers, partition.n_samples, rate):
        return
    told = f"{n_outliers / partition.n_samples:.0%} of the objects are outliers"
    if rate is None:
        warn_user(f"{told}: {estimator._outlier_advice}", OutlierWarning)
        return
    empty = partition.masses[:, partition.focal_sets.empty_index]
    suited = rate_that_suits(empty, rate)
    advice = "look at them, they are far away from everything else"
    if suited > LEAST_RATE:
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
    n_empty = count_empty(partition.labels, partition.focal_sets)
    # A method that finds the number of clusters was not asked for any.
    if n_empty > 0 and n_clusters is not None:
        warn_user(
            f"{n_empty} of {partition.n_clusters} clusters are empty, they are the "
            f"most plausible one of no object: {estimator._start_advice(is_informed)}",
            EmptyClusterWarning,
        )


def warn_of_data(
    estimator: BaseCredalClusterer,
    X: Array,
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
    objects = looked_at(len(X), metric)
    X = X[np.ix_(objects, objects)] if is_matrix else X[objects]
    if not is_matrix:
        _warn_of_units(estimator, X)
    geometry = in_one_unit(*estimator._points(X))
    groups = find_groups(geometry, partition.n_clusters)
    spread = relative_spread(geometry)
    if lacks_contrast(spread, groups):
        warn_user(
            "nearly all dissimilarities are equal (their standard deviation is "
            f"{spread:.1%} of their mean) and no groups have gaps between them: the "
            "data show hardly any structure, and the clusters may be chance. Leave out "
            "columns without information, or take another metric",
            ContrastWarning,
        )
        return
    _warn_of_equal_targets(estimator, X)
    finds_number = estimator._parameter("n_clusters") is None
    if groups is None or finds_number or is_collapsed:
        return
    labels = partition.labels[objects]
    cluster = find_merged(geometry, groups, labels)
    if cluster is not None:
        excess = excess_of_squares(geometry, groups, labels)
        warn_user(
            f"cluster {cluster} holds groups with a gap between them, which k-means "
            f"tells apart (the sum of squares of the clusters is {excess:.0%} "
            f"larger): {estimator._start_advice(is_informed=False)}",
            MergedClustersWarning,
        )


def _warn_of_equal_targets(estimator: BaseCredalClusterer, X: Array) -> None:
    """Warn of a δ0 with which all pairs should be in the same conflict."""
    scale = getattr(estimator, "scale_", None)
    if scale is None or len(X) < _LEAST_OBJECTS:
        return
    places = placed(getattr(estimator, "transformer_", None), X)
    geometry = Geometry(places, getattr(estimator, "metric_", "euclidean"))
    mean, spread = mean_and_spread_of_targets(geometry, scale)
    if spread >= _EQUAL_TARGETS:
        return
    if mean > 0.5:
        what = "is so small that all objects are apart: raise it"
    else:
        what = "is so large that none are apart: lower it"
    warn_user(
        f"nearly all δ* are equal (their mean is {mean:.3f} and their standard "
        f"deviation {spread:.1e}), so that the stress hardly depends on the clusters: "
        f"δ0 = {scale:.3g} {what}, or leave dissimilarity_scale and "
        "dissimilarity_quantile at their defaults",
        ContrastWarning,
    )


def _warn_of_units(estimator: BaseCredalClusterer, X: Array) -> None:
    """Warn of columns that do not count because others have larger numbers."""
    metric = estimator._parameter("metric")
    if metric is None:
        metric = "euclidean" if estimator._depends_on_units else "none"
    if not depends_on_units(metric):
        return
    spreads = column_spreads(X)
    columns = unequal_columns(spreads)
    if columns is None:
        return
    names = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    large, small = (f"{names[j]!r} ({spreads[j]:.3g})" for j in columns)
    warn_user(
        f"the spread of column {large} is more than {UNEQUAL_SPREADS:.0f} "
        f"times that of column {small}, which hardly counts in the distances: if "
        "their units differ, scale them with "
        f"make_pipeline(StandardScaler(), {type(estimator).__name__}(...)), or "
        "--scale standard on the command line",
        UnitsWarning,
    )
