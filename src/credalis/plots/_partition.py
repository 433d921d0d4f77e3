"""CredalPartitionDisplay: objects, clusters, doubt and outliers in the plane."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_choice, naming
from credalis._drawing.axes import add_legend, line_handle, mark_handle, start_axes
from credalis._drawing.inputs import (
    check_feature_names,
    check_features,
    check_partition,
    fitted,
    seen_by,
)
from credalis._drawing.legibility import MAX_LISTED, MAX_OUTLINED, point_size
from credalis._drawing.palette import (
    INK,
    cluster_colors,
    cluster_markers,
    darkened,
    marker_area,
)
from credalis._drawing.projection import convex_hull, interval, planar_view
from credalis._refusals import refuses_by_name
from credalis.partition import CLEAR_LEVEL, CredalPartition
from credalis.partition._partition import SET_RULES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = NDArray[np.float64]

_SIZE = (7.8, 4.8)


@dataclass(kw_only=True, eq=False, repr=False)
class CredalPartitionDisplay:
    """Objects in the plane: clear ones, those between clusters, and outliers.

    A filled marker is an object that is clearly in one cluster; colour and shape say
    which. A marker in two colours lies between these two clusters, a hollow one between
    three or more, and a ringed dot is an outlier. A solid line is the convex hull of
    the clear objects of a cluster, a dashed one that of these and of those between it
    and others.

    Two features are shown as they are; more are reduced to their first two principal
    components (of X as given: scale it first if the units differ). A single feature
    runs along the horizontal axis, with the doubt about each object as its height; the
    hulls are then intervals, drawn below the objects.

    Use `from_partition` or `from_estimator` to make a display.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
        The objects in the plane.
    labels : array of int, shape (n_samples,)
        Most plausible cluster of each object.
    sets : array of bool, shape (n_samples, n_clusters)
        Clusters that each object is clearly in or between.
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
    rule : str, default="verdict"
        Where the sets come from.

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

    points: Points
    labels: NDArray[np.intp]
    sets: NDArray[np.bool_]
    is_outlier: NDArray[np.bool_]
    lower_hulls: list[Points]
    upper_hulls: list[Points]
    axis_labels: tuple[str, str]
    centers: Points | None = None
    is_strip: bool = False
    rule: str = "verdict"

    @classmethod
    @refuses_by_name
    def from_partition(
        cls,
        partition: CredalPartition,
        X: ArrayLike,
        *,
        rule: str = "verdict",
        clear_level: float = CLEAR_LEVEL,
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
        rule : {"verdict", "maximum_mass", "interval_dominance"}, default="verdict"
            How an object gets its set of clusters. "verdict": those it is clearly in or
            between, as `CredalPartition.verdicts` says. The others are published rules:
            then the lines enclose lower and upper approximations.
        clear_level : float, default=0.7
            Belief that makes an object clear, for ``rule="verdict"``.
        centers : array-like of shape (n_centers, n_features), default=None
            Prototypes to be shown.
        feature_names : sequence of str, default=None
            By default the columns of X if it is a data frame, otherwise numbers.
        ax : matplotlib Axes, default=None
            Axes to draw on right away; with None, nothing is drawn until `plot`.

        Returns
        -------
        CredalPartitionDisplay
        """
        display = cls._compute(partition, X, rule, clear_level, centers, feature_names)
        return display if ax is None else display.plot(ax=ax)

    @classmethod
    @refuses_by_name
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        rule: str = "verdict",
        clear_level: float = CLEAR_LEVEL,
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
        rule, clear_level, feature_names, ax
            As in `from_partition`.

        Returns
        -------
        CredalPartitionDisplay
        """
        partition = fitted(estimator, "partition_")
        X = seen_by(estimator, X)
        n_features = check_features(X, partition.n_samples).shape[1]
        names = check_feature_names(feature_names, X, n_features, estimator)
        centers: Any = getattr(estimator, "centers_", None)
        if np.ndim(centers) != 2 or np.shape(centers)[1] != n_features:
            centers = None
        display = cls._compute(partition, X, rule, clear_level, centers, names)
        return display if ax is None else display.plot(ax=ax)

    @classmethod
    def _compute(
        cls,
        partition: CredalPartition,
        X: ArrayLike,
        rule: str,
        clear_level: float,
        centers: ArrayLike | None,
        feature_names: Sequence[str] | None,
    ) -> "CredalPartitionDisplay":
        check_partition(partition)
        check_choice("rule", rule, SET_RULES)
        features = check_features(X, partition.n_samples)
        names = check_feature_names(feature_names, X, features.shape[1])
        verdicts = partition.verdicts(clear_level)
        upper = (
            verdicts.sets if rule == "verdict" else partition.upper_approximation(rule)
        )
        lower = upper & (upper.sum(axis=1, keepdims=True) == 1)
        # Interval dominance leaves no object without clusters.
        is_outlier = (
            verdicts.is_outlier if rule == "interval_dominance" else ~upper.any(axis=1)
        )
        view = planar_view(
            features, names, partition.doubt, _checked_centers(centers, features)
        )

        def hulls(members: NDArray[np.bool_]) -> list[Points]:
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
            sets=np.array(upper),
            is_outlier=np.array(is_outlier),
            lower_hulls=hulls(lower),
            upper_hulls=hulls(upper),
            axis_labels=view.axis_labels,
            centers=view.centers,
            is_strip=view.is_strip,
            rule=rule,
        )

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.sets.shape[1]

    @property
    def is_certain(self) -> NDArray[np.bool_]:
        """Whether an object is in one cluster alone, shape (n_samples,)."""
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
            Axes to draw on; None makes a new figure.
        title : str, default=None
            Title of the axes.
        legend : bool, default=True
            Whether to explain the marks. Up to ten clusters are listed; more are
            numbered in the picture.
        hulls : bool, default=True
            Whether to draw lines around the objects of the clusters.

        Returns
        -------
        CredalPartitionDisplay
            The display itself, with ``ax_`` and ``figure_``.
        """
        ax = start_axes(self, ax, _SIZE, title=title)
        ax.set(xlabel=self.axis_labels[0], ylabel=self.axis_labels[1])
        if self.is_strip:
            ax.set_yticks(np.linspace(0, 1, 6))
        if hulls:
            _draw_hulls(ax, self.lower_hulls, self.upper_hulls)
        _draw_objects(ax, self)
        if self.centers is not None:
            _draw_centers(ax, self.centers)
        if legend:
            _explain(ax, self, hulls=hulls)
        return self


def _checked_centers(centers: ArrayLike | None, features: Points) -> Points | None:
    """Prototypes (n_centers, n_features), or a ValueError."""
    if centers is None:
        return None
    with naming("centers"):
        array = np.asarray(centers, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != features.shape[1]:
        raise ValueError(
            f"centers must have shape (n_centers, {features.shape[1]}), "
            f"got {array.shape}"
        )
    return array


def _draw_hulls(ax: Any, lower: list[Points], upper: list[Points]) -> None:
    """Solid light areas of the clear, dashed lines of all possible objects."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Polygon

    for color, corners in zip(cluster_colors(len(lower)), lower, strict=True):
        edge = darkened(color, 0.1)
        if len(corners) == 2:
            ax.plot(*corners.T, color=edge, linewidth=2.5, solid_capstyle="round")
        elif len(corners) > 2:
            ax.add_patch(
                Polygon(
                    corners,
                    facecolor=to_rgba(color, 0.13),
                    edgecolor=edge,
                    linewidth=1.3,
                    zorder=1.5,
                )
            )
    for color, corners in zip(cluster_colors(len(upper)), upper, strict=True):
        if len(corners) > 1:
            ring = np.vstack([corners, corners[:1]])
            ax.plot(
                *ring.T,
                color=darkened(color, 0.1),
                linewidth=1.3,
                linestyle=(0, (4, 2.5)),
                zorder=1.7,
            )


def _draw_objects(ax: Any, display: CredalPartitionDisplay) -> None:
    """Clear objects cluster by cluster, then those between, then outliers."""
    n_samples = len(display.points)
    size = point_size(n_samples)
    crowded = n_samples > MAX_OUTLINED
    common: dict[str, Any] = {
        "linewidths": 0.0 if crowded else 0.4,
        "alpha": float(np.clip(25 / np.sqrt(n_samples), 0.35, 0.95)),
        "rasterized": crowded,
    }
    colors = cluster_colors(display.n_clusters)
    markers = cluster_markers(display.n_clusters)
    for k, members in enumerate((display.sets & display.is_certain[:, None]).T):
        if members.any():
            ax.scatter(
                *display.points[members].T,
                s=size * marker_area(markers[k]),
                marker=markers[k],
                color=colors[k],
                edgecolors="white",
                zorder=2,
                **common,
            )
    common["linewidths"] = 0.0 if crowded else 0.5
    _draw_ambiguous(ax, display, size, colors, common)
    _draw_outliers(ax, display.points[display.is_outlier], size, crowded)
    if display.n_clusters > MAX_LISTED:
        _number_clusters(ax, display)


def _draw_ambiguous(
    ax: Any,
    display: CredalPartitionDisplay,
    size: float,
    colors: Points,
    common: dict[str, Any],
) -> None:
    """Discs in two colours between two clusters, hollow ones between more."""
    from matplotlib.markers import MarkerStyle

    n_possible = display.sets.sum(axis=1)
    two = display.is_ambiguous & (n_possible == 2)
    if two.any():
        points, sets = display.points[two], display.sets[two]
        first, second = sets.argmax(axis=1), sets.cumsum(axis=1).argmax(axis=1)
        left = MarkerStyle("o", fillstyle="left")
        right = MarkerStyle("o", fillstyle="right")
        for clusters, half in ((first, left), (second, right)):
            ax.scatter(
                *points.T,
                s=size,
                marker=half,
                color=colors[clusters],
                zorder=2.2,
                **{**common, "linewidths": 0.0},
            )
        if common["linewidths"]:
            _draw_circles(ax, points, size, "none", common)
    more = display.is_ambiguous & (n_possible > 2)
    if more.any():
        # Without an outline, white would be lost.
        common = {**common, "linewidths": common["linewidths"] or 0.2}
        _draw_circles(ax, display.points[more], size, "white", common)


def _draw_circles(
    ax: Any, points: Points, size: float, face: str, common: dict[str, Any]
) -> None:
    ax.scatter(
        *points.T,
        s=size,
        marker="o",
        facecolors=face,
        edgecolors=INK,
        zorder=2.3,
        **common,
    )


def _draw_outliers(ax: Any, points: Points, size: float, crowded: bool) -> None:
    """Dots with a ring around them."""
    if len(points) == 0:
        return
    # Many outliers must not hide the clusters.
    common: dict[str, Any] = {"rasterized": crowded}
    common |= {"zorder": 1.2, "alpha": 0.5} if crowded else {"zorder": 2.5}
    ax.scatter(*points.T, s=0.3 * size, color=INK, linewidths=0, **common)
    ax.scatter(
        *points.T,
        s=2.6 * size,
        facecolors="none",
        edgecolors=INK,
        linewidths=0.4 if crowded else 0.9,
        **common,
    )


def _draw_centers(ax: Any, centers: Points) -> None:
    """Black crosses with a white outline, small if they are many."""
    ax.scatter(
        *centers.T,
        s=85 if len(centers) <= MAX_LISTED else 30,
        marker="X",
        color="black",
        edgecolors="white",
        linewidths=1.0,
        zorder=3,
    )


def _number_clusters(ax: Any, display: CredalPartitionDisplay) -> None:
    """The number of each cluster in the middle of its clear, or possible, objects."""
    from matplotlib.patheffects import withStroke

    for k in range(display.n_clusters):
        possible = display.sets[:, k] & ~display.is_outlier
        certain = possible & display.is_certain
        members = certain if certain.any() else possible
        if members.any():
            ax.annotate(
                str(k),
                np.median(display.points[members], axis=0),
                xytext=(0, 8 if display.centers is not None else 0),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize="small",
                fontweight="bold",
                color=INK,
                path_effects=[withStroke(linewidth=2.5, foreground="white")],
                zorder=4,
            )


def _explain(ax: Any, display: CredalPartitionDisplay, *, hulls: bool) -> None:
    """Legend of the marks that occur."""
    handles = _cluster_handles(display)
    solid, dashed = (
        ("clearly in", "clearly in or between")
        if display.rule == "verdict"
        else ("certainly in (lower approximation)", "possibly in (upper approximation)")
    )
    if hulls and any(len(corners) > 1 for corners in display.lower_hulls):
        handles.append(_area_handle(solid))
    if hulls and any(len(corners) > 1 for corners in display.upper_hulls):
        handles.append(line_handle(dashed, INK, (0, (4, 2.5)), 1.2))
    n_possible = display.sets.sum(axis=1)[display.is_ambiguous]
    if (n_possible == 2).any():
        handles.append(_split_handle("between two clusters"))
    if (n_possible > 2).any():
        handles.append(mark_handle("between three or more", "o", "white", INK, 7))
    if display.is_outlier.any():
        handles.append(_outlier_handle())
    if display.centers is not None:
        handles.append(mark_handle("prototype", "X", "black", "white", 9))
    if handles:
        add_legend(ax, handles)


def _cluster_handles(display: CredalPartitionDisplay) -> list[Any]:
    """One entry for each cluster, none if they are many."""
    if display.n_clusters > MAX_LISTED:
        return []
    colors = cluster_colors(display.n_clusters)
    markers = cluster_markers(display.n_clusters)
    return [
        mark_handle(
            f"cluster {k}" + ("" if display.sets[:, k].any() else " (empty)"),
            markers[k],
            colors[k],
            "white",
            7 * np.sqrt(marker_area(markers[k])),
        )
        for k in range(display.n_clusters)
    ]


def _area_handle(label: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor="#EFEFEF", edgecolor=INK, linewidth=1.2, label=label)


def _split_handle(label: str) -> Any:
    left, right = cluster_colors(2)
    handle = mark_handle(label, "o", left, INK, 7)
    handle.set_fillstyle("left")
    handle.set_markerfacecoloralt(right)
    handle.set_markeredgewidth(0.7)
    return handle


def _outlier_handle() -> tuple[Any, Any]:
    """A ring and the dot inside it."""
    ring, dot = (
        mark_handle("outlier", "o", "none", INK, 8),
        mark_handle("", "o", INK, INK, 2),
    )
    ring.set_markeredgewidth(0.9)
    return ring, dot
