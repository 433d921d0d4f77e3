"""Marks of the picture: density, hulls, objects, prototypes, numbers of clusters."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._drawing.legibility import MAX_LISTED, point_size
from credalis._drawing.palette import (
    INK,
    cluster_colors,
    cluster_markers,
    darkened,
    hex_color,
)
from credalis.plots import CredalPartitionDisplay
from credalis.report._charts.chart import DENSITY, log_counts, numbers
from credalis.report._charts.ranges import Range

Indices = NDArray[np.intp]
# Which of the objects shown, their name in the legend, marker, and further options.
Mark = tuple[NDArray[np.bool_], str, dict[str, Any], dict[str, Any]]

# Cells of the density behind a sample.
_N_CELLS = 70

SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "p": "pentagon",
    "<": "triangle-left",
    "h": "hexagon",
    ">": "triangle-right",
    "d": "diamond-tall",
    "*": "star",
}
# Plotly gives all symbols one diameter; these make them look equally large.
_SIZES = {
    **dict.fromkeys(("triangle-up", "triangle-down"), 1.3),
    **dict.fromkeys(("triangle-left", "triangle-right", "star"), 1.3),
    "diamond": 1.1,
    "diamond-tall": 1.25,
    "square": 0.92,
}


def density(
    go: Any, display: CredalPartitionDisplay, limits: Sequence[Range | None]
) -> Any:
    """How many of all objects are where, in greys, on a logarithmic scale."""
    ends = [
        (float(values.min()), float(values.max())) if each is None else each
        for values, each in zip(display.points.T, limits, strict=True)
    ]
    counts, *edges = np.histogram2d(
        display.points[:, 0], display.points[:, 1], bins=_N_CELLS, range=ends
    )
    middles = [(each[1:] + each[:-1]) / 2 for each in edges]
    return go.Heatmap(
        x=numbers(middles[0]),
        y=numbers(middles[1]),
        z=log_counts(counts.T),
        colorscale=DENSITY,
        showscale=False,
        hoverinfo="skip",
        zsmooth=False,
    )


def hulls(go: Any, display: CredalPartitionDisplay, *, has_upper: bool) -> list[Any]:
    """Solid light areas of the clear, dashed lines of all possible objects."""
    traces = []
    colors = cluster_colors(display.n_clusters)
    for k, color in enumerate(colors):
        edge = hex_color(darkened(color, 0.1))
        red, green, blue = (round(255 * share) for share in color)
        for corners, is_lower in (
            (display.lower_hulls[k], True),
            (display.upper_hulls[k], False),
        ):
            if len(corners) < 2 or not (is_lower or has_upper):
                continue
            ring = np.vstack([corners, corners[:1]]) if len(corners) > 2 else corners
            traces.append(
                go.Scatter(
                    x=numbers(ring[:, 0]),
                    y=numbers(ring[:, 1]),
                    mode="lines",
                    line={
                        "color": edge,
                        "width": 1.4,
                        "dash": "solid" if is_lower else "dash",
                    },
                    fill="toself" if is_lower and len(corners) > 2 else "none",
                    fillcolor=f"rgba({red},{green},{blue},0.11)",
                    hoverinfo="skip",
                    showlegend=False,
                    legendgroup=f"cluster {k}",
                )
            )
    return traces


def objects(
    go: Any,
    display: CredalPartitionDisplay,
    shown: Indices,
    texts: list[str],
    cluster_titles: list[str],
) -> list[Any]:
    """Clear objects cluster by cluster, then those between, then outliers.

    Each trace knows the places of its objects among those shown (``customdata``).
    """
    size = mark_size(len(shown))
    points = display.points[shown]
    traces = []
    for members, name, marker, more in (
        *_certain(display, shown, size, cluster_titles),
        *_in_doubt(display, shown, size),
    ):
        places = np.flatnonzero(members)
        if len(places) == 0:
            continue
        traces.append(
            go.Scatter(
                x=numbers(points[places, 0]),
                y=numbers(points[places, 1]),
                mode="markers",
                name=name,
                marker={"size": size, "opacity": 0.85, **marker},
                hoverinfo="text",
                hovertext=[texts[place] for place in places],
                customdata=places.tolist(),
                meta="objects",
                **more,
            )
        )
    return traces


def mark_size(n_shown: int) -> float:
    """Diameter of a mark in pixels."""
    return 1.4 * float(np.sqrt(point_size(n_shown)))


def _certain(
    display: CredalPartitionDisplay,
    shown: Indices,
    size: float,
    cluster_titles: list[str],
) -> Iterator[Mark]:
    """Objects of a single cluster, in its colour and with its symbol."""
    certain, sets = display.is_certain[shown], display.sets[shown]
    colors = cluster_colors(display.n_clusters)
    markers = cluster_markers(display.n_clusters)
    for k, color in enumerate(colors):
        symbol = SYMBOLS[markers[k]]
        yield (
            certain & sets[:, k],
            cluster_titles[k],
            {
                "color": hex_color(color),
                "size": size * _SIZES.get(symbol, 1.0),
                "symbol": symbol,
                "line": {"color": "white", "width": 0.5},
            },
            {
                "legendgroup": f"cluster {k}",
                "showlegend": display.n_clusters <= MAX_LISTED,
            },
        )


def _in_doubt(
    display: CredalPartitionDisplay, shown: Indices, size: float
) -> Iterator[Mark]:
    """Discs with the rim of a second cluster, hollow ones for more, rings for none."""
    ambiguous, sets = display.is_ambiguous[shown], display.sets[shown]
    colors = [hex_color(color) for color in cluster_colors(display.n_clusters)]
    n_possible = sets.sum(axis=1)
    two = ambiguous & (n_possible == 2)
    # The most plausible cluster is one of the two.
    first = display.labels[shown][two]
    second = (sets[two] & (np.arange(sets.shape[1]) != first[:, None])).argmax(axis=1)
    rim = {"color": [colors[k] for k in second], "width": size / 4}
    face = [colors[k] for k in first]
    yield two, "between two clusters", {"color": face, "line": rim}, {}
    hollow = {"color": "white", "line": {"color": INK, "width": 1.2}}
    yield ambiguous & (n_possible > 2), "between three or more", hollow, {}
    ring = {"color": INK, "symbol": "circle-open-dot", "size": 1.5 * size}
    yield display.is_outlier[shown], "outlier", ring, {}


def prototypes(go: Any, centers: NDArray[np.float64]) -> Any:
    return go.Scatter(
        x=numbers(centers[:, 0]),
        y=numbers(centers[:, 1]),
        mode="markers",
        name="prototype",
        marker={
            "symbol": "x",
            "size": 11,
            "color": "black",
            "line": {"color": "white", "width": 1},
        },
        hoverinfo="text",
        hovertext=[f"prototype {k}" for k in range(len(centers))],
    )


def extremes(go: Any, size: float) -> Any:
    """Arrows at the rim for objects beyond it; the page puts them in place."""
    return go.Scatter(
        x=[],
        y=[],
        mode="markers",
        name="beyond the axes",
        marker={
            "size": max(9.0, 1.6 * size),
            "color": INK,
            "line": {"color": "white", "width": 1},
        },
        hoverinfo="text",
        cliponaxis=False,
        meta="extremes",
    )


def cluster_numbers(display: CredalPartitionDisplay) -> list[dict[str, Any]]:
    """Numbers amid the clusters, which the page moves apart where they would meet.

    They are annotations: a line leads from one that was moved to its place.
    """
    members = display.sets & display.is_certain[:, None]
    colors = [hex_color(color) for color in cluster_colors(display.n_clusters)]
    return [
        {
            "x": numbers(middle[:1])[0],
            "y": numbers(middle[1:])[0],
            "text": f"<b>{k}</b>",
            "font": {"size": 11, "color": INK},
            "bgcolor": "rgba(255,255,255,0.85)",
            "bordercolor": colors[k],
            "borderwidth": 1.5,
            "borderpad": 1.5,
            "showarrow": True,
            "arrowhead": 0,
            "arrowwidth": 1,
            "arrowcolor": INK,
            "ax": 0,
            "ay": 0,
            "captureevents": False,
        }
        for k in np.flatnonzero(members.any(axis=0)).tolist()
        for middle in [np.median(display.points[members[:, k]], axis=0)]
    ]
