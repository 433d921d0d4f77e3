"""Marks of the picture: density, hulls, objects, prototypes, numbers of clusters."""

from collections.abc import Iterator
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
from credalis.report._charts.chart import log_counts, numbers

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


def density(go: Any, display: CredalPartitionDisplay) -> Any:
    """How many of all objects are where, in greys, on a logarithmic scale."""
    counts, *edges = np.histogram2d(
        display.points[:, 0], display.points[:, 1], bins=_N_CELLS
    )
    middles = [(each[1:] + each[:-1]) / 2 for each in edges]
    return go.Heatmap(
        x=numbers(middles[0]),
        y=numbers(middles[1]),
        z=log_counts(counts.T),
        colorscale=[[0, "#f0f0f0"], [1, "#8c8c8c"]],
        showscale=False,
        hoverinfo="skip",
        zsmooth=False,
    )


def hulls(go: Any, display: CredalPartitionDisplay) -> list[Any]:
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
            if len(corners) < 2:
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
    go: Any, display: CredalPartitionDisplay, shown: Indices, texts: list[str]
) -> list[Any]:
    """Clear objects cluster by cluster, then those between, then outliers.

    Each trace knows the places of its objects among those shown (``customdata``).
    """
    size = 1.4 * float(np.sqrt(point_size(len(shown))))
    points = display.points[shown]
    traces = []
    for members, name, marker, more in (
        *_certain(display, shown, size),
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


def _certain(
    display: CredalPartitionDisplay, shown: Indices, size: float
) -> Iterator[Mark]:
    """Objects of a single cluster, in its colour and with its symbol."""
    certain, sets = display.is_certain[shown], display.sets[shown]
    colors = cluster_colors(display.n_clusters)
    markers = cluster_markers(display.n_clusters)
    for k, color in enumerate(colors):
        symbol = SYMBOLS[markers[k]]
        yield (
            certain & sets[:, k],
            f"cluster {k}",
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


def cluster_numbers(go: Any, display: CredalPartitionDisplay) -> Any:
    """Numbers amid the clusters where they are too many for a legend."""
    members = display.sets & display.is_certain[:, None]
    used = np.flatnonzero(members.any(axis=0))
    middles = np.array([np.median(display.points[members[:, k]], axis=0) for k in used])
    return go.Scatter(
        x=numbers(middles[:, 0]) if len(used) else [],
        y=numbers(middles[:, 1]) if len(used) else [],
        mode="markers+text",
        text=[f"<b>{k}</b>" for k in used],
        marker={"size": 19, "color": "rgba(255,255,255,0.75)"},
        textfont={"size": 11, "color": INK},
        hoverinfo="skip",
        showlegend=False,
    )
