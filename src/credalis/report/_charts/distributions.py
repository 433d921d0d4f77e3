"""Small multiples: how the features that matter are distributed in each cluster."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._drawing.palette import INK, cluster_colors, hex_color
from credalis.report._charts.chart import (
    SEQUENTIAL,
    Chart,
    axis,
    distinct,
    import_graph_objects,
    layout,
    numbers,
)
from credalis.report._charts.ranges import robust_range
from credalis.report._content.columns import Column
from credalis.report._content.features import Feature, features_of
from credalis.report._content.profiles import Profiles
from credalis.report._content.subject import Subject
from credalis.report._content.text import (
    chart_text,
    counted,
    percentages,
    plain,
)
from credalis.report._content.words import word_counts
from credalis.tables._days import moments

Array = NDArray[np.float64]

# Panels for few clusters and for many, and for columns that were not compared by.
_N_PANELS, _N_PANELS_OF_MANY, _N_DESCRIBED = 8, 6, 3
_MANY = 10
# Cells of a histogram, and words of a panel besides the rest.
_MIN_CELLS, _MAX_CELLS = 10, 36
_MAX_SHOWN_WORDS = 5
# Letters that fit below a panel side by side.
_MAX_LETTERS = 32
# Part of a row that the highest cell takes.
_PEAK = 0.74


@dataclass(frozen=True, eq=False)
class Panels:
    """Charts with the names of their columns, and what stands below them."""

    charts: list[tuple[str, bool, Chart]]
    caption: str


def panels_of(subject: Subject, profiles: Profiles) -> Panels | None:
    """A panel for each of the features that matter, with a row for each cluster."""
    clusters = np.unique(subject.groups[subject.groups >= 0])
    is_many = len(clusters) > _MANY
    n_most = _N_PANELS_OF_MANY if is_many else _N_PANELS
    features = features_of(subject, profiles, n_most, _N_DESCRIBED)
    if not features or len(clusters) == 0:
        return None
    charts = [
        (
            feature.column.name,
            feature.is_compared,
            Chart(
                f"feature-{number}",
                _figure(subject, feature, clusters),
                _alt(subject, feature, clusters),
                "",
            ),
        )
        for number, feature in enumerate(features)
    ]
    return Panels(charts, _caption(features))


def _caption(features: list[Feature]) -> str:
    has_numbers = any(feature.column.is_numeric for feature in features)
    has_words = any(not feature.column.is_numeric for feature in features)
    parts = [
        "The columns that tell the clusters apart best come first; a row is a cluster, "
        "without outliers."
    ]
    if has_numbers:
        parts.append(
            "Of numbers, the height says how many objects of the cluster have such a "
            "value, each row on its own scale, and the tick below is the median; "
            "values beyond the axis are counted at its ends."
        )
    if has_words:
        parts.append("Of words, a cell is their share in the cluster in per cent.")
    return " ".join(parts)


def _figure(subject: Subject, feature: Feature, clusters: NDArray[np.intp]) -> Any:
    if feature.column.is_numeric:
        return _ridges(subject, feature, clusters)
    return _cells(subject, feature, clusters)


def _rows(clusters: NDArray[np.intp]) -> dict[str, Any]:
    """The vertical axis: one row for each cluster, the first at the top."""
    n_rows = len(clusters)
    return {
        "tickmode": "array",
        "tickvals": list(range(n_rows)),
        "ticktext": [str(k) for k in clusters],
        "tickfont": {"size": 11},
        "showgrid": False,
        "range": [n_rows - 0.62, -0.9],
        "fixedrange": True,
    }


def _height(n_rows: int, below: int) -> int:
    """Pixels of a panel: rows become lower as they become many."""
    row = 34 if n_rows <= 4 else 26 if n_rows <= 8 else 20 if n_rows <= _MANY else 16
    return row * (n_rows + 1) + below


def _ridges(subject: Subject, feature: Feature, clusters: NDArray[np.intp]) -> Any:
    """Histograms above one another, each as high as its row."""
    go = import_graph_objects()
    inside = np.isfinite(feature.column.values) & (subject.groups >= 0)
    values, groups = feature.column.values[inside], subject.groups[inside]
    edges = _edges(values, groups)
    ends = np.clip(values, edges[0], edges[-1])
    colors = cluster_colors(subject.partition.n_clusters)
    traces, medians = [], []
    for row, k in enumerate(clusters.tolist()):
        members = ends[groups == k]
        if len(members) == 0:
            continue
        counts, _ = np.histogram(members, edges)
        x, y = _steps(edges, counts, row)
        color = hex_color(colors[k])
        traces.append(
            go.Scatter(
                x=_places(feature.column, x),
                y=numbers(y),
                mode="lines",
                line={"color": color, "width": 1},
                fill="toself",
                fillcolor=color,
                hoverinfo="text",
                hoveron="fills",
                text=_hover(subject, feature, k),
            )
        )
        medians.append((float(np.median(members)), row))
    traces.append(
        go.Scatter(
            x=_places(feature.column, np.array([x for x, _ in medians])),
            y=[row + 0.11 for _, row in medians],
            mode="markers",
            marker={
                "symbol": "line-ns",
                "size": 5,
                "line": {"width": 2, "color": INK},
            },
            hoverinfo="skip",
        )
    )
    room = 0.03 * (edges[-1] - edges[0])
    ends = np.array([edges[0] - room, edges[-1] + room])
    return go.Figure(
        data=traces,
        layout=layout(
            _height(len(clusters), 34),
            margin={"l": 30, "r": 8, "t": 2, "b": 26},
            xaxis=axis(
                "",
                type="date" if feature.column.is_date else "linear",
                range=_places(feature.column, ends)
                if feature.column.is_date
                else ends.tolist(),
                nticks=3 if feature.column.is_date else 5,
                tickfont={"size": 11},
                fixedrange=True,
            ),
            yaxis=axis("", **_rows(clusters)),
        ),
    )


def _places(column: Column, values: Array) -> list[Any]:
    """Where on the axis values of a column are; of dates, moments in words."""
    if not column.is_date:
        return numbers(values)
    return [str(moment) for moment in moments(values)]


def _edges(values: Array, groups: NDArray[np.intp]) -> Array:
    """Ends of the cells: whole numbers have a cell each if they are few."""
    limits = robust_range(values, groups)
    low, high = (values.min(), values.max()) if limits is None else limits
    different = np.unique(values[(values >= low) & (values <= high)])
    if len(different) == 1:
        width = abs(different[0]) * 1e-3 or 1.0
        return np.array([different[0] - width, different[0] + width])
    steps = np.diff(different)
    if len(different) <= _MAX_CELLS and steps.min() > 0.999 * steps.max():
        half = steps.mean() / 2
        return np.linspace(
            different[0] - half, different[-1] + half, len(different) + 1
        )
    n_cells = int(np.clip(np.sqrt(len(values)), _MIN_CELLS, _MAX_CELLS))
    return np.linspace(low, high, n_cells + 1)


def _steps(edges: Array, counts: NDArray[np.intp], row: int) -> tuple[Array, Array]:
    """Outline of a histogram that stands on the lower end of its row."""
    heights = _PEAK * counts / counts.max()
    x = np.repeat(edges, 2)
    y = row - np.concatenate([[0.0], np.repeat(heights, 2), [0.0]])
    # Without the empty cells at both ends, where nothing should be drawn.
    used = np.flatnonzero(counts)
    return (
        x[2 * used[0] : 2 * used[-1] + 4],
        y[2 * used[0] : 2 * used[-1] + 4],
    )


def _hover(subject: Subject, feature: Feature, k: int) -> str:
    """Quartiles of a cluster in a column of numbers."""
    values = feature.column.values[subject.groups == k]
    values = values[np.isfinite(values)]
    text = feature.column.text
    quartiles = [text(value) for value in np.quantile(values, [0.25, 0.5, 0.75])]
    return (
        f"<b>cluster {k}</b><br>{chart_text(feature.column.name)}: median "
        f"{quartiles[1]}<br>half of the {counted(len(values), 'object')} from "
        f"{quartiles[0]} to {quartiles[2]}"
    )


def _cells(subject: Subject, feature: Feature, clusters: NDArray[np.intp]) -> Any:
    """Shares of the most frequent words, and of all others together."""
    go = import_graph_objects()
    inside = subject.groups >= 0
    words, counts = _frequent(subject, feature)
    shares = [percentages(counts[k].tolist()) for k in clusters.tolist()]
    exact = counts[clusters] / np.maximum(counts[clusters].sum(axis=1), 1)[:, None]
    whole = subject.groups[inside]
    texts = [
        [
            f"<b>cluster {k}</b><br>{chart_text(plain(words[j]))}: {shares[row][j]}, "
            f"{counted(int(counts[k, j]), 'object')} of {int((whole == k).sum())}"
            for j in range(len(words))
        ]
        for row, k in enumerate(clusters.tolist())
    ]
    names = distinct([plain(word, 12) for word in words])
    longest = max(map(len, names))
    is_upright = longest * len(names) > _MAX_LETTERS
    below = 12 + 7 * longest if is_upright else 26
    return go.Figure(
        data=go.Heatmap(
            x=names,
            y=list(range(len(clusters))),
            z=[numbers(row) for row in exact],
            zmin=0.0,
            zmax=1.0,
            colorscale=SEQUENTIAL,
            showscale=False,
            text=[[chart_text(_bare(share)) for share in row] for row in shares],
            texttemplate="%{text}",
            textfont={"size": 11},
            hovertext=texts,
            hoverinfo="text",
            xgap=2,
            ygap=2,
        ),
        layout=layout(
            _height(len(clusters), below + 8),
            margin={"l": 30, "r": 8, "t": 2, "b": below},
            xaxis=axis(
                "",
                type="category",
                showgrid=False,
                tickfont={"size": 11},
                tickangle=-90 if is_upright else 0,
                fixedrange=True,
            ),
            yaxis=axis(
                "",
                **{**_rows(clusters), "range": [len(clusters) - 0.5, -0.5]},
            ),
        ),
    )


def _bare(share: str) -> str:
    """A percentage without its sign."""
    return share.removesuffix("%").rstrip()


def _frequent(subject: Subject, feature: Feature) -> tuple[list[str], NDArray[np.intp]]:
    """The most frequent words and "others", and how often clusters have them."""
    inside = subject.groups >= 0
    words = feature.column.categories(inside)
    n_clusters = subject.partition.n_clusters
    counts = word_counts(
        feature.column, words, subject.groups[inside], inside, n_clusters
    )
    order = np.argsort(-counts.sum(axis=0), kind="stable")
    if len(words) <= _MAX_SHOWN_WORDS + 1:
        return [words[j] for j in order], counts[:, order]
    first, rest = order[:_MAX_SHOWN_WORDS], order[_MAX_SHOWN_WORDS:]
    others = counts[:, rest].sum(axis=1, keepdims=True)
    return (
        [*(words[j] for j in first), "others"],
        np.hstack([counts[:, first], others]),
    )


def _alt(subject: Subject, feature: Feature, clusters: NDArray[np.intp]) -> str:
    """What the panel shows, for those who do not see it."""
    name = feature.column.name
    if not feature.column.is_numeric:
        return f"Shares of the words of {name} in each of {len(clusters)} clusters."
    medians = [
        f"{k}: {feature.column.text(float(np.nanmedian(values)))}"
        for k in clusters[:_MANY].tolist()
        for values in [feature.column.values[subject.groups == k]]
        if np.isfinite(values).any()
    ]
    return (
        f"Histograms of {name} in each of {len(clusters)} clusters; medians by "
        f"cluster {', '.join(medians)}{', …' if len(clusters) > _MANY else ''}."
    )
