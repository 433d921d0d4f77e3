"""CredalPartitionDisplay: objects, clusters, doubt and outliers in the plane."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis.partition import CredalPartition
from credalis.plots import _scatter
from credalis.plots._axes import axes_or_new, tidy
from credalis.plots._fitted import fitted
from credalis.plots._projection import (
    check_feature_names,
    check_features,
    convex_hull,
    interval,
    planar_view,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = (7.8, 4.8)


@dataclass(kw_only=True, eq=False, repr=False)
class CredalPartitionDisplay:
    """Objects in the plane, with lower and upper approximations of the clusters.

    A filled marker is an object that is certainly in one cluster; colour and shape say
    which. A marker in two colours lies between these two clusters, a hollow one between
    three or more, and a ringed dot is an outlier. A solid line is the convex hull of
    the objects that are certainly in a cluster, a dashed one that of those possibly in
    it.

    Two features are shown as they are, more of them by their first two principal
    components (of X as given: scale it first if units differ). A single feature runs
    along the horizontal axis, with the doubt about each object as the height; the hulls
    are then intervals, drawn below the objects.

    Use `from_partition` or `from_estimator` to make a display.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
        The objects in the plane.
    labels : array of int, shape (n_samples,)
        Most plausible cluster of each object.
    sets : array of bool, shape (n_samples, n_clusters)
        Clusters that each object may belong to.
    is_outlier : array of bool, shape (n_samples,)
        Objects of no cluster.
    lower_hulls, upper_hulls : list of arrays of shape (n_corners, 2)
        Corners of the hull for each cluster: none if it has no objects, one if they
        coincide, two if they lie on a line.
    axis_labels : tuple of two str
        What the axes stand for.
    centers : array of shape (n_centers, 2), default=None
        Prototypes in the plane.
    is_strip : bool, default=False
        Whether the second coordinate is the doubt about an object.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.

    See Also
    --------
    MassDisplay : the masses of the objects.
    ContourDisplay : masses and plausibilities all over the plane.

    Examples
    --------
    >>> from credalis import CredalPartition
    >>> from credalis.plots import CredalPartitionDisplay
    >>> X = [[0, 0], [0, 1], [1, 0], [5, 5], [2, 2]]
    >>> partition = CredalPartition.from_rough(
    ...     lower=[[1, 0], [1, 0], [1, 0], [0, 1], [0, 0]],
    ...     upper=[[1, 0], [1, 0], [1, 0], [0, 1], [1, 1]],
    ... )
    >>> display = CredalPartitionDisplay.from_partition(partition, X)
    >>> display.lower_hulls[0].tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    >>> display.is_ambiguous
    array([False, False, False, False,  True])
    """

    points: NDArray[np.float64]
    labels: NDArray[np.intp]
    sets: NDArray[np.bool_]
    is_outlier: NDArray[np.bool_]
    lower_hulls: list[NDArray[np.float64]]
    upper_hulls: list[NDArray[np.float64]]
    axis_labels: tuple[str, str]
    centers: NDArray[np.float64] | None = None
    is_strip: bool = False

    @classmethod
    def from_partition(
        cls,
        partition: CredalPartition,
        X: ArrayLike,
        *,
        rule: str = "maximum_mass",
        centers: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> "CredalPartitionDisplay":
        """Make a display from a partition and the objects it is about.

        Parameters
        ----------
        partition : CredalPartition
            Masses of n_samples objects.
        X : array-like of shape (n_samples, n_features)
            The objects, in the same order.
        rule : {"maximum_mass", "interval_dominance"}, default="maximum_mass"
            How an object gets its set of clusters.
        centers : array-like of shape (n_centers, n_features), default=None
            Prototypes to be shown.
        feature_names : sequence of str, default=None
            None: the columns of X if it is a data frame, else numbers.
        ax : matplotlib Axes, default=None
            Axes to draw on at once; None: nothing is drawn before `plot`.

        Returns
        -------
        CredalPartitionDisplay
        """
        display = cls._compute(partition, X, rule, centers, feature_names)
        return display if ax is None else display.plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        rule: str = "maximum_mass",
        feature_names: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> "CredalPartitionDisplay":
        """Make a display from a fitted estimator and the data it was fitted to.

        Prototypes are shown if the estimator has ``centers_`` in the space of X.

        Parameters
        ----------
        estimator : object with ``partition_``
            A fitted clusterer. For other data than it was fitted to, use
            ``from_partition(estimator.predict_partition(X), X)``.
        X : array-like of shape (n_samples, n_features)
            The data it was fitted to.
        rule, feature_names, ax
            As in `from_partition`.

        Returns
        -------
        CredalPartitionDisplay
        """
        partition = fitted(estimator, "partition_")
        n_features = check_features(X, partition.n_samples).shape[1]
        names = check_feature_names(feature_names, X, n_features, estimator)
        centers: Any = getattr(estimator, "centers_", None)
        if np.ndim(centers) != 2 or np.shape(centers)[1] != n_features:
            centers = None
        display = cls._compute(partition, X, rule, centers, names)
        return display if ax is None else display.plot(ax=ax)

    @classmethod
    def _compute(
        cls,
        partition: CredalPartition,
        X: ArrayLike,
        rule: str,
        centers: ArrayLike | None,
        feature_names: Sequence[str] | None,
    ) -> "CredalPartitionDisplay":
        features = check_features(X, partition.n_samples)
        names = check_feature_names(feature_names, X, features.shape[1])
        upper = partition.upper_approximation(rule)
        lower = partition.lower_approximation(rule)
        view = planar_view(
            features, names, partition.doubt, _checked_centers(centers, features)
        )

        def hulls(members: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
            if not view.is_strip:
                return [convex_hull(view.points[chosen]) for chosen in members.T]
            step = min(0.06, 0.6 / partition.n_clusters)
            return [
                interval(view.points[chosen], -step * (k + 1))
                for k, chosen in enumerate(members.T)
            ]

        return cls(
            points=view.points,
            labels=np.array(partition.labels),
            sets=upper,
            is_outlier=np.array(partition.is_outlier),
            lower_hulls=hulls(lower),
            upper_hulls=hulls(upper),
            axis_labels=view.axis_labels,
            centers=view.centers,
            is_strip=view.is_strip,
        )

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.sets.shape[1]

    @property
    def is_certain(self) -> NDArray[np.bool_]:
        """Whether an object is certainly in one cluster, shape (n_samples,)."""
        return ~self.is_outlier & (self.sets.sum(axis=1) == 1)

    @property
    def is_ambiguous(self) -> NDArray[np.bool_]:
        """Whether an object lies between clusters, shape (n_samples,)."""
        return ~self.is_outlier & (self.sets.sum(axis=1) > 1)

    def __repr__(self) -> str:
        return (
            f"CredalPartitionDisplay({len(self.points)} objects, "
            f"{self.n_clusters} clusters)"
        )

    def plot(
        self,
        *,
        ax: "Axes | None" = None,
        title: str | None = None,
        legend: bool = True,
        hulls: bool = True,
    ) -> "CredalPartitionDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        title : str, default=None
            Title of the axes.
        legend : bool, default=True
            Whether to explain the marks. Up to ten clusters are listed; more are
            numbered in the picture.
        hulls : bool, default=True
            Whether to draw the lower and upper approximations.

        Returns
        -------
        CredalPartitionDisplay
            The display itself, with ``ax_`` and ``figure_``.
        """
        ax = axes_or_new(self, ax, _SIZE)
        tidy(ax, title=title)
        ax.set(xlabel=self.axis_labels[0], ylabel=self.axis_labels[1])
        if self.is_strip:
            ax.set_yticks(np.linspace(0, 1, 6))
        if hulls:
            _scatter.draw_hulls(ax, self.lower_hulls, self.upper_hulls)
        _scatter.draw_objects(ax, self)
        if self.centers is not None:
            _scatter.draw_centers(ax, self.centers)
        if legend:
            _scatter.explain(ax, self, hulls=hulls)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _checked_centers(
    centers: ArrayLike | None, features: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Prototypes (n_centers, n_features), or a ValueError."""
    if centers is None:
        return None
    array = np.asarray(centers, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != features.shape[1]:
        raise ValueError(
            f"centers must have shape (n_centers, {features.shape[1]}), "
            f"got {array.shape}"
        )
    return array
