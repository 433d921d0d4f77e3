"""Whether a result can be what the user hoped for: pure functions that decide.

Groups that k-means finds are a yardstick, not the truth: round and of similar size.
Elongated or nested clusters rightly have larger sums of squares. What no method should
do is to put two groups with a gap between them into one cluster while it has other
clusters to spare. Gaps are looked for in objects that k-means has not seen: in many
dimensions, the halves of any sample are far apart along the line between their means.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist
from scipy.stats import binom
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances

from credalis.belief import FocalSets
from credalis.cluster._inputs._geometry import Geometry
from credalis.cluster._inputs._medoids import k_medoids
from credalis.cluster._inputs._scale import count_distinct

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
        lengths = pairwise_distances(values[rows], values[seen], metric=geometry.metric)
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

    Parameters
    ----------
    empty : array of shape (n_samples,)
        Masses on ∅, which have the odds (r / p)² at the rate r.
    outlier_rate : float
        The rate r that they were found with.
    """
    odds = np.quantile(empty, 1.0 - _SHARE_OF_OUTLIERS)
    return outlier_rate * float(np.sqrt((1.0 - odds) / odds))


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
    objects = np.arange(min(len(geometry.values), _MAX_PAIRS_OF))
    if geometry.is_euclidean:
        lengths = pdist(geometry.values[objects])
    else:
        matrix = geometry.distances(objects)
        lengths = matrix[np.triu_indices(len(objects), 1)]
    return float(lengths.std() / lengths.mean()) if lengths.any() else 0.0


def lacks_contrast(spread: float, groups: Groups | None) -> bool:
    """Whether dissimilarities of this relative spread tell next to nothing apart.

    In many dimensions, clusters far apart can have such dissimilarities, too; then
    there are gaps between groups.
    """
    return spread < _EQUAL_LENGTHS and (groups is None or not has_gaps(groups))


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
