"""Diagrams that say how far to trust a result: δ-Bel, Shepard, learning curve."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS

from credalis._drawing.legibility import MAX_DOTS
from credalis._drawing.pairs import dissimilarity_space
from credalis._drawing.palette import (
    BASE_COLORS,
    INK,
    SOFT_INK,
    cluster_colors,
    cluster_markers,
    hex_color,
)
from credalis.peaks import delta_bel
from credalis.plots import DeltaBelDisplay, HistoryDisplay, ShepardDisplay
from credalis.report._charts.chart import (
    PALE_BLUE,
    SEQUENTIAL,
    Chart,
    axis,
    import_graph_objects,
    layout,
    log_counts,
    numbers,
)
from credalis.report._charts.marks import SYMBOLS
from credalis.report._content.subject import Subject
from credalis.report._content.text import chart_text, listed, number

Indices = NDArray[np.intp]

_HEIGHT = 400
# The δ-Bel graph of fewer objects says nothing; of more than this a sample is taken,
# and of far fewer with a metric written in Python.
_MIN_PEAK_OBJECTS = 10
MAX_PEAK_OBJECTS = 5000
MAX_PEAK_OBJECTS_CALLABLE = 500
# Objects drawn besides the centres; the others are too near the axes to matter.
_MAX_PEAK_POINTS = 1000
# Centres listed in a caption.
_N_CENTERS = 8
# Cells of the Shepard diagram, and points of a curve that a screen can show.
_N_CELLS = 45
_MAX_CURVE_POINTS = 1000


def peaks_chart(subject: Subject) -> Chart | None:
    """The δ-Bel graph of the objects or of a sample, where it can suggest something."""
    space, metric = _space(subject)
    limit = MAX_PEAK_OBJECTS_CALLABLE if callable(metric) else MAX_PEAK_OBJECTS
    objects = subject.sample(limit, np.empty(0, dtype=np.intp))
    if len(objects) < _MIN_PEAK_OBJECTS:
        return None
    if len(objects) < subject.n_samples:
        is_matrix = isinstance(metric, str) and metric == "precomputed"
        space = space[np.ix_(objects, objects)] if is_matrix else space[objects]
    graph = delta_bel(space, metric=metric)
    if np.count_nonzero(graph.delta) < 2:
        return None
    centers, note = _matched(subject, objects, graph.suggest())
    display = DeltaBelDisplay.from_delta_bel(graph, centers=centers)
    sampled = (
        f" Computed from a random sample of {number(len(objects))} objects."
        if len(objects) < subject.n_samples
        else ""
    )
    names = [subject.names[i] for i in objects[centers]]
    return Chart(
        "peaks",
        _peaks_figure(display, [subject.title(i) for i in objects]),
        "Scatter plot of the belief that an object is a cluster centre against its "
        f"distance δ to better candidates; {len(centers)} centres stand apart.",
        "Likely centres stand apart in the upper right, beyond the dashed lines: many "
        "objects are near them (Bel), and no better candidate is (δ). The graph "
        f"suggests {len(centers)} centres, {_listed(names)}; {note}{sampled}"
        + (
            " What would be beyond the right end stands there."
            if (display.delta > _last_delta(display)).any()
            else ""
        ),
    )


def _space(subject: Subject) -> tuple[NDArray[np.float64], Any]:
    """Objects and metric, or a matrix and "precomputed"."""
    if subject.estimator is None and subject.dissimilarities is None:
        return subject.matrix, "euclidean"
    space, metric = dissimilarity_space(
        subject.estimator, subject.X, subject.dissimilarities
    )
    space = squareform(space) if space.ndim == 1 else space
    if not callable(metric) and metric not in PAIRWISE_DISTANCE_FUNCTIONS:
        metric = "euclidean"
    return space, metric


def _matched(
    subject: Subject, objects: Indices, centers: Indices
) -> tuple[Indices, str]:
    """Centres in the order of the clusters they are in, if each has one."""
    labels = subject.partition.labels[objects[centers]]
    n_clusters = subject.partition.n_clusters
    if np.array_equal(np.sort(labels), np.arange(n_clusters)):
        return centers[np.argsort(labels)], "one in each cluster of this result."
    return centers, (
        f"this result has {n_clusters} clusters. Numbers and colours in the graph are "
        "its own."
    )


def _listed(names: list[str]) -> str:
    """Names of objects, the first few if they are many."""
    if len(names) > _N_CENTERS:
        return f"among them objects {', '.join(names[:_N_CENTERS])}"
    return f"objects {listed(names)}"


def _peaks_figure(display: DeltaBelDisplay, titles: list[str]) -> Any:
    go = import_graph_objects()
    others = _drawn(display)
    centers = display.centers
    colors = [hex_color(color) for color in cluster_colors(len(centers))]
    markers = cluster_markers(len(centers))

    def text(i: int) -> str:
        return (
            f"<b>{chart_text(titles[i])}</b><br>Bel = {display.belief[i]:.3g}"
            f"<br>δ = {display.delta[i]:.3g}"
        )

    end = _last_delta(display)
    is_far = display.delta[others] > end
    objects = go.Scatter(
        x=numbers(np.minimum(display.delta[others], end)),
        y=numbers(display.belief[others]),
        mode="markers",
        marker={
            "size": np.where(is_far, 9, 5).tolist(),
            "color": SOFT_INK,
            "opacity": 0.55,
            "symbol": np.where(is_far, "triangle-right", "circle").tolist(),
        },
        hoverinfo="text",
        hovertext=[text(i) for i in others],
        cliponaxis=False,
    )
    peaks = go.Scatter(
        x=numbers(np.minimum(display.delta[centers], end)),
        y=numbers(display.belief[centers]),
        mode="markers",
        marker={
            "size": _sizes(display),
            "color": colors,
            "symbol": [SYMBOLS[marker] for marker in markers],
            "line": {"color": "white", "width": 1},
        },
        hoverinfo="text",
        hovertext=[f"{text(i)}<br>centre {k}" for k, i in enumerate(centers)],
        cliponaxis=False,
    )
    return go.Figure(
        data=[objects, peaks],
        layout=layout(
            _HEIGHT,
            xaxis=axis(
                "δ: distance to a better candidate", range=[-0.03 * end, 1.05 * end]
            ),
            yaxis=axis("Bel: belief in a centre"),
            shapes=_thresholds(display),
        ),
    )


def _thresholds(display: DeltaBelDisplay) -> list[dict[str, Any]]:
    """Dashed lines that separate the centres from the other objects."""
    x, y = display.min_delta, display.min_belief
    dashed = {"color": SOFT_INK, "width": 1, "dash": "dash"}
    upright = {"xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1}
    level = {"xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": y, "y1": y}
    return [{"type": "line", "line": dashed, **each} for each in (upright, level)]


def _last_delta(display: DeltaBelDisplay) -> float:
    """Where the axis of δ ends: outliers beyond all centres would squeeze the rest."""
    largest = float(display.delta.max())
    # By definition, the δ of the highest Bel is the largest distance to any object.
    of_centers = np.sort(display.delta[display.centers])[:-1]
    reach = 1.5 * float(of_centers.max(initial=0.0))
    return min(largest, reach) if reach > 0 else largest


def _sizes(display: DeltaBelDisplay) -> list[int]:
    """Sizes of the centres: one that a later one would hide is larger."""
    points = np.column_stack([display.delta, display.belief])
    points[:, 0] = np.minimum(points[:, 0], _last_delta(display))
    centers = points[display.centers] / (np.ptp(points, axis=0) + np.finfo(float).tiny)
    return [
        11 + 7 * int((np.abs(centers[k + 1 :] - point) < 0.02).all(axis=1).sum() > 0)
        for k, point in enumerate(centers)
    ]


def _drawn(display: DeltaBelDisplay) -> Indices:
    """Objects that are no centres: all, or those of largest δ and some of the rest."""
    others = np.flatnonzero(~display.is_center)
    if len(others) <= _MAX_PEAK_POINTS:
        return others
    order = others[np.argsort(-display.delta[others], kind="stable")]
    first, rest = np.split(order, [_MAX_PEAK_POINTS // 3])
    n_rest = _MAX_PEAK_POINTS - len(first)
    return np.concatenate([first, rest[np.arange(n_rest) * len(rest) // n_rest]])


def shepard_chart(subject: Subject) -> Chart | None:
    """Conflicts against dissimilarities, for a method that matches them."""
    if getattr(subject.estimator, "scale_", None) is None or subject.n_samples < 2:
        return None
    display = ShepardDisplay.from_estimator(
        subject.estimator, subject.X, dissimilarities=subject.dissimilarities
    )
    is_sample = len(display.pairs) < display.n_all_pairs
    is_counted = len(display.targets) > MAX_DOTS
    return Chart(
        "shepard",
        _shepard_figure(display),
        "Degrees of conflict of pairs of objects against their dissimilarities; the "
        f"root mean squared residual is {np.sqrt(display.stress):.3g}.",
        "How much the masses of two objects contradict each other, against how "
        "dissimilar the objects are: the closer to the line, the better"
        f"{'; cells of stronger colour hold more pairs' if is_counted else ''}. "
        f"{'A random sample of ' if is_sample else 'All '}{display.shown}; a "
        f"dissimilarity of δ₀ = {display.scale:.4g} becomes δ* = 0.95. Stress "
        f"{display.stress:.3g}, root mean squared residual "
        f"{np.sqrt(display.stress):.3g}.",
    )


def _shepard_figure(display: ShepardDisplay) -> Any:
    go = import_graph_objects()
    if len(display.targets) <= MAX_DOTS:
        pairs = go.Scatter(
            x=numbers(display.targets),
            y=numbers(display.conflicts),
            mode="markers",
            marker={"size": 5, "color": BASE_COLORS[0], "opacity": 0.45},
            hovertemplate="δ* = %{x:.2f}<br>κ = %{y:.2f}<extra></extra>",
        )
    else:
        pairs = _counted_pairs(go, display)
    line = go.Scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": BASE_COLORS[5], "width": 2},
        hoverinfo="skip",
    )
    limits = [-0.02, 1.02]
    return go.Figure(
        data=[pairs, line],
        layout=layout(
            _HEIGHT,
            xaxis=axis("transformed dissimilarity δ*", range=limits),
            yaxis=axis("degree of conflict κ", range=limits),
        ),
    )


def _counted_pairs(go: Any, display: ShepardDisplay) -> Any:
    """Pairs counted in cells, coloured on a logarithmic scale."""
    counts, edges, _ = np.histogram2d(
        display.targets, display.conflicts, bins=_N_CELLS, range=[[0, 1], [0, 1]]
    )
    counts = counts.T.astype(int)
    middles = numbers((edges[1:] + edges[:-1]) / 2)
    return go.Heatmap(
        x=middles,
        y=middles,
        z=log_counts(counts),
        text=[[number(int(count)) for count in row] for row in counts],
        hovertemplate="δ* ≈ %{x:.2f}<br>κ ≈ %{y:.2f}<br>%{text} pairs<extra></extra>",
        # The palest blues would be lost on white.
        colorscale=[[0.0, PALE_BLUE], *SEQUENTIAL[2:]],
        showscale=False,
    )


def history_chart(subject: Subject) -> Chart | None:
    """The loss after each iteration, for a method that iterates."""
    if getattr(subject.estimator, "history_", None) is None:
        return None
    display = HistoryDisplay.from_estimator(subject.estimator)
    go = import_graph_objects()
    n_points = len(display.history)
    kept = np.unique(
        np.linspace(0, n_points - 1, min(n_points, _MAX_CURVE_POINTS)).astype(int)
    )
    curve = go.Scatter(
        x=display.iterations[kept].tolist(),
        y=numbers(display.history[kept]),
        mode="lines+markers" if n_points <= 60 else "lines",
        line={"color": BASE_COLORS[0], "width": 2},
        hovertemplate="iteration %{x}<br>loss %{y:.5g}<extra></extra>",
    )
    last = go.Scatter(
        x=[n_points],
        y=numbers(display.history[-1:]),
        mode="markers",
        marker={"size": 10, "color": BASE_COLORS[0], "line": {"color": INK}},
        hoverinfo="skip",
    )
    loss = display.history[-1]
    return Chart(
        "history",
        go.Figure(
            data=[curve, last],
            layout=layout(
                _HEIGHT,
                xaxis=axis("iteration", tickformat="d", nticks=8),
                yaxis=axis(
                    "loss", type="log" if display.is_log else "linear", automargin=True
                ),
            ),
        ),
        f"The loss falls from {display.history[0]:.4g} to {loss:.4g} in "
        f"{number(n_points)} iterations.",
        f"Loss {loss:.4g} after {number(n_points)} iterations of the best start. A "
        "curve that is still falling at its end calls for more iterations (max_iter).",
    )
