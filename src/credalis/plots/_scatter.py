"""Marks of a CredalPartitionDisplay: objects, hulls, prototypes, and their legend."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis.plots._axes import add_legend
from credalis.plots._palette import (
    INK,
    cluster_colors,
    cluster_markers,
    darkened,
    marker_area,
)

if TYPE_CHECKING:
    from credalis.plots._partition import CredalPartitionDisplay

Points = NDArray[np.float64]

# More clusters are numbered in the picture, not listed beside it.
MAX_LISTED = 10
# More objects are drawn as an image inside vector files, without outlines.
MAX_OUTLINED = 2000


def draw_hulls(ax: Any, lower: list[Points], upper: list[Points]) -> None:
    """Solid light areas of the lower, dashed lines of the upper approximations."""
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


def draw_objects(ax: Any, display: "CredalPartitionDisplay") -> None:
    """Certain objects cluster by cluster, then those in doubt, then outliers."""
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
    display: "CredalPartitionDisplay",
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


def draw_centers(ax: Any, centers: Points) -> None:
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


def _number_clusters(ax: Any, display: "CredalPartitionDisplay") -> None:
    """The number of each cluster in the middle of its certain, or possible, objects."""
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


def explain(ax: Any, display: "CredalPartitionDisplay", *, hulls: bool) -> None:
    """Legend of the marks that occur."""
    from matplotlib.lines import Line2D

    handles = _cluster_handles(display)
    if hulls and any(len(corners) > 1 for corners in display.lower_hulls):
        handles.append(_area_handle("certainly in (lower approximation)"))
    if hulls and any(len(corners) > 1 for corners in display.upper_hulls):
        handles.append(
            Line2D(
                [],
                [],
                color=INK,
                linewidth=1.2,
                linestyle=(0, (4, 2.5)),
                label="possibly in (upper approximation)",
            )
        )
    n_possible = display.sets.sum(axis=1)[display.is_ambiguous]
    if (n_possible == 2).any():
        handles.append(_split_handle("between two clusters"))
    if (n_possible > 2).any():
        handles.append(_mark("between three or more", "o", "white", INK, 7))
    if display.is_outlier.any():
        handles.append(_outlier_handle())
    if display.centers is not None:
        handles.append(_mark("prototype", "X", "black", "white", 9))
    if handles:
        add_legend(ax, handles)


def _cluster_handles(display: "CredalPartitionDisplay") -> list[Any]:
    """One entry for each cluster, none if they are many."""
    if display.n_clusters > MAX_LISTED:
        return []
    colors = cluster_colors(display.n_clusters)
    markers = cluster_markers(display.n_clusters)
    return [
        _mark(
            f"cluster {k}" + ("" if display.sets[:, k].any() else " (empty)"),
            markers[k],
            colors[k],
            "white",
            7 * np.sqrt(marker_area(markers[k])),
        )
        for k in range(display.n_clusters)
    ]


def _mark(label: str, marker: str, face: Any, edge: Any, size: float) -> Any:
    from matplotlib.lines import Line2D

    return Line2D(
        [],
        [],
        linestyle="none",
        marker=marker,
        markerfacecolor=face,
        markeredgecolor=edge,
        markersize=size,
        markeredgewidth=0.8,
        label=label,
    )


def _area_handle(label: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor="#EFEFEF", edgecolor=INK, linewidth=1.2, label=label)


def _split_handle(label: str) -> Any:
    left, right = cluster_colors(2)
    handle = _mark(label, "o", left, INK, 7)
    handle.set_fillstyle("left")
    handle.set_markerfacecoloralt(right)
    handle.set_markeredgewidth(0.7)
    return handle


def _outlier_handle() -> tuple[Any, Any]:
    """A ring and the dot inside it."""
    ring, dot = _mark("outlier", "o", "none", INK, 8), _mark("", "o", INK, INK, 2)
    ring.set_markeredgewidth(0.9)
    return ring, dot


def point_size(n_samples: int) -> float:
    """Area of a marker in square points, smaller for many objects."""
    return float(np.clip(600 / np.sqrt(n_samples), 2.0, 38.0))
