"""The picture of a partition: clear, doubtful and outlying objects in the plane."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.plots import CredalPartitionDisplay
from credalis.plots._palette import INK, cluster_colors, cluster_markers, darkened
from credalis.plots._scatter import MAX_LISTED, point_size
from credalis.report._layout import axis, below, layout, numbers
from credalis.report._page import Chart, import_graph_objects, rgb
from credalis.report._profiles import Profiles, reason
from credalis.report._subject import Subject
from credalis.report._table import Column
from credalis.report._text import chart_text, counted, number, plain

Indices = NDArray[np.intp]

# More objects are sampled: browsers become slow, and marks hide each other.
MAX_POINTS = 3000
# Cells of the density behind a sample.
_N_CELLS = 70
# Columns a reader can choose for the axes.
_MAX_VIEWS = 24
# What a hover text lists at most, and the least mass it lists.
_N_MASSES, _N_CELLS_LISTED, _MIN_MASS = 5, 6, 0.005

_HEIGHT = 620
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


@dataclass(frozen=True, eq=False)
class Picture:
    """The chart, which objects it shows, and what else its axes can show.

    Parameters
    ----------
    chart : Chart
    shown : array of int
        Row numbers of the objects that are drawn, ascending.
    views : list of dict
        Title and values of the columns that can be chosen for an axis.
    axis_labels : tuple of two str
        What the axes show first.
    """

    chart: Chart
    shown: Indices
    views: list[dict[str, Any]]
    axis_labels: tuple[str, str]


def picture(subject: Subject, profiles: Profiles, keep: Indices) -> Picture:
    """Draw all objects, or a sample with those to keep over the density of all."""
    go = import_graph_objects()
    display = planar_display(subject)
    shown = subject.sample(MAX_POINTS, keep)
    traces = []
    if len(shown) < subject.n_samples:
        traces.append(_density(go, display))
    traces += [*_hulls(go, display), *_objects(go, subject, display, shown)]
    if display.centers is not None:
        traces.append(_prototypes(go, display.centers))
    if display.n_clusters > MAX_LISTED:
        traces.append(_numbers_of_clusters(go, display))
    # On a phone there is no room for more.
    names = [
        plain(label.replace("principal component", "PC"), 36)
        for label in display.axis_labels
    ]
    labels = [chart_text(name) for name in names]
    figure = go.Figure(
        data=traces,
        layout=layout(
            _HEIGHT,
            showlegend=True,
            legend=below(),
            xaxis=axis(labels[0]),
            yaxis=axis(labels[1]),
        ),
    )
    chart = Chart(
        "picture",
        figure,
        _alt(subject),
        _caption(subject, display, len(shown)),
        _HEIGHT,
    )
    views = _views(subject, profiles, shown)
    return Picture(chart, shown, views, (names[0], names[1]))


def planar_display(subject: Subject) -> CredalPartitionDisplay:
    """The objects in the plane: in units the reader knows, where there are few."""
    estimator, partition = subject.estimator, subject.partition
    if getattr(estimator, "embedding_", None) is not None:
        # Scores have unit variance: the first two are the principal plane.
        scores = estimator.embedding_.transform(subject.X)[:, :2]
        names = [f"component {j + 1} of the dissimilarities" for j in range(2)]
        return CredalPartitionDisplay.from_partition(
            partition, scores, feature_names=names[: scores.shape[1]]
        )
    known = _known_units(subject)
    if known:
        return CredalPartitionDisplay.from_partition(
            partition,
            np.column_stack([column.values for column in known]),
            feature_names=[column.name for column in known],
        )
    if estimator is not None and not subject.is_precomputed:
        return CredalPartitionDisplay.from_estimator(estimator, subject.X)
    return CredalPartitionDisplay.from_partition(partition, subject.X)


def _known_units(subject: Subject) -> list[Column]:
    """The one or two columns of the table that X holds in other units, if it does."""
    names = subject.feature_names
    if subject.is_precomputed or names is None or len(names) > 2:
        return []
    by_name = {column.name: column for column in subject.columns}
    if not all(name in by_name for name in names):
        return []
    known = [by_name[name] for name in names]
    if not all(
        column.is_numeric and np.isfinite(column.values).all() for column in known
    ):
        return []
    values = np.column_stack([column.values for column in known])
    return [] if np.array_equal(values, subject.matrix) else known


def _density(go: Any, display: CredalPartitionDisplay) -> Any:
    """How many of all objects are where, in greys, on a logarithmic scale."""
    counts, *edges = np.histogram2d(
        display.points[:, 0], display.points[:, 1], bins=_N_CELLS
    )
    middles = [(each[1:] + each[:-1]) / 2 for each in edges]
    counts = counts.T
    return go.Heatmap(
        x=numbers(middles[0]),
        y=numbers(middles[1]),
        z=[
            [None if count == 0 else round(float(np.log10(count)), 2) for count in row]
            for row in counts
        ],
        colorscale=[[0, "#f0f0f0"], [1, "#8c8c8c"]],
        showscale=False,
        hoverinfo="skip",
        zsmooth=False,
    )


def _hulls(go: Any, display: CredalPartitionDisplay) -> list[Any]:
    """Solid light areas of the lower, dashed lines of the upper approximations."""
    traces = []
    colors = cluster_colors(display.n_clusters)
    for k, color in enumerate(colors):
        edge = rgb(darkened(color, 0.1))
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


def _objects(
    go: Any, subject: Subject, display: CredalPartitionDisplay, shown: Indices
) -> list[Any]:
    """Certain objects cluster by cluster, then those in doubt, then outliers."""
    colors = [rgb(color) for color in cluster_colors(display.n_clusters)]
    markers = cluster_markers(display.n_clusters)
    size = 1.4 * float(np.sqrt(point_size(len(shown))))
    texts = [hover_text(subject, int(i)) for i in shown]
    sets, points = display.sets[shown], display.points[shown]
    n_possible = sets.sum(axis=1)
    certain = display.is_certain[shown]
    traces = []

    def draw(members: NDArray[np.bool_], name: str, marker: Any, **more: Any) -> None:
        places = np.flatnonzero(members)
        if len(places) == 0:
            return
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

    for k, color in enumerate(colors):
        draw(
            certain & sets[:, k],
            f"cluster {k}",
            {
                "color": color,
                "size": size * _SIZES.get(SYMBOLS[markers[k]], 1.0),
                "symbol": SYMBOLS[markers[k]],
                "line": {"color": "white", "width": 0.5},
            },
            legendgroup=f"cluster {k}",
            showlegend=display.n_clusters <= MAX_LISTED,
        )
    ambiguous = display.is_ambiguous[shown]
    two = ambiguous & (n_possible == 2)
    first, second = sets.argmax(axis=1), sets.cumsum(axis=1).argmax(axis=1)
    draw(
        two,
        "between two clusters",
        {
            "color": [colors[k] for k in first[two]],
            "line": {"color": [colors[k] for k in second[two]], "width": size / 3},
        },
    )
    draw(
        ambiguous & (n_possible > 2),
        "between three or more",
        {"color": "white", "line": {"color": INK, "width": 1.2}},
    )
    draw(
        display.is_outlier[shown],
        "outlier",
        {"color": INK, "symbol": "circle-open-dot", "size": 1.5 * size},
    )
    return traces


def _prototypes(go: Any, centers: NDArray[np.float64]) -> Any:
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


def _numbers_of_clusters(go: Any, display: CredalPartitionDisplay) -> Any:
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


def hover_text(subject: Subject, i: int) -> str:
    """What is known about an object: its masses, and its row of the table."""
    masses = subject.partition.masses[i]
    names = subject.partition.focal_sets.names
    order = np.argsort(-masses, kind="stable")[:_N_MASSES]
    lines = [
        f"<b>{chart_text(subject.title(i))}</b>",
        reason(subject, i),
        *(f"m({names[j]}) = {masses[j]:.2f}" for j in order if masses[j] >= _MIN_MASS),
    ]
    cells = [
        chart_text(f"{plain(column.name, 30)}: {plain(column.cell(i), 30)}")
        for column in subject.columns[:_N_CELLS_LISTED]
    ]
    return "<br>".join(lines + ([""] if cells else []) + cells)


def _views(
    subject: Subject, profiles: Profiles, shown: Indices
) -> list[dict[str, Any]]:
    """Columns that can be chosen for an axis: those that tell the clusters apart."""
    columns = subject.numeric
    n_columns = subject.matrix.shape[1]
    if not columns or (len(columns) <= 2 and n_columns <= 2):
        return []
    order = np.sort(profiles.order[:_MAX_VIEWS])
    return [
        {
            "name": columns[j].name,
            "title": chart_text(columns[j].name),
            "values": numbers(columns[j].values[shown]),
        }
        for j in order
    ]


def _alt(subject: Subject) -> str:
    partition = subject.partition
    return (
        f"Scatter plot of {counted(partition.n_samples, 'object')} in the plane, "
        f"coloured by {partition.n_clusters} clusters: "
        f"{number(int(partition.lower.sum()))} clear, "
        f"{number(int(partition.is_ambiguous.sum()))} between clusters, "
        f"{number(int(partition.is_outlier.sum()))} outliers. The tables below list "
        "the same."
    )


def _caption(subject: Subject, display: CredalPartitionDisplay, n_shown: int) -> str:
    parts = []
    if getattr(subject.estimator, "embedding_", None) is not None:
        parts.append("The axes are principal components of the dissimilarities.")
    elif subject.is_precomputed:
        parts.append("The axes are principal components of the dissimilarity matrix.")
    elif display.is_strip:
        parts.append("There is one feature; the height is the doubt about an object.")
    elif subject.matrix.shape[1] > 2:
        parts.append(
            f"{number(subject.matrix.shape[1])} features do not fit on paper: the "
            "axes are the first two principal components (PCA), the directions in "
            "which the objects vary most, until you choose others above. Clusters that "
            "overlap in one view may be apart in another."
        )
    if display.is_strip:
        parts.append(
            "Lines below span the objects certainly (solid) and possibly "
            "(dashed) in a cluster."
        )
    else:
        parts.append(
            "Solid outlines hold the objects certainly in a cluster, dashed "
            "ones those possibly in it."
        )
    parts.append(
        "An object between two clusters has the colour of one and the rim of "
        "the other; rings are outliers."
    )
    if n_shown < subject.n_samples:
        parts.append(
            f"Marks are a random sample of {number(n_shown)} of the "
            f"{number(subject.n_samples)} objects, with those listed below; the "
            "grey behind them shows where all of them are (darker: more), and the "
            "outlines hold all."
        )
    return " ".join(parts)
