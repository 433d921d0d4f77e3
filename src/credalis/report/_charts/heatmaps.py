"""Heat maps of a report: how the clusters differ, and the masses of the objects."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._drawing.legibility import averaged_rows, group_bounds, group_name
from credalis._drawing.palette import INK, cluster_colors, hex_color
from credalis.plots import MassDisplay
from credalis.report._charts.chart import (
    DIVERGING,
    SEQUENTIAL,
    Chart,
    axis,
    distinct,
    import_graph_objects,
    layout,
)
from credalis.report._content.profiles import Profiles
from credalis.report._content.subject import Subject
from credalis.report._content.text import MINUS, counted, number, plain

Array = NDArray[np.float64]

# Columns and rows that fit on a page.
_MAX_FEATURES = 30
_MAX_ROWS = 240
_MAX_SETS = 60
# Differences beyond this have the strongest colour.
_STRONGEST = 2.0
_MAX_NAMED_GROUPS = 24
# Cells of more clusters are too narrow for numbers.
_MAX_NUMBERED = 12


def profile_chart(subject: Subject, profiles: Profiles) -> Chart | None:
    """Standardised differences of the clusters, column by column."""
    go = import_graph_objects()
    used = np.flatnonzero(np.isfinite(profiles.means).any(axis=1))
    if len(profiles.columns) == 0 or len(used) == 0:
        return None
    chosen = np.sort(profiles.order[:_MAX_FEATURES])
    features = distinct([plain(profiles.columns[j].name, 28) for j in chosen])
    differences = profiles.differences[np.ix_(used, chosen)]
    texts = [
        [
            f"<b>cluster {k}</b><br>{feature}: {profiles.mean(int(k), int(j))}"
            f"<br>all: {profiles.overall(int(j))}"
            f"<br>difference: {differences[row, column]:+.2f} standard deviations"
            for column, (j, feature) in enumerate(zip(chosen, features, strict=True))
        ]
        for row, k in enumerate(used)
    ]
    # Features run down: their names are long, those of the clusters are not.
    figure = go.Figure(
        data=go.Heatmap(
            x=[f"{k}" for k in used],
            y=features,
            z=_cells(differences.T),
            zmin=-_STRONGEST,
            zmax=_STRONGEST,
            colorscale=DIVERGING,
            showscale=False,
            text=[
                ["" if np.isnan(cell) else _signed(cell) for cell in row]
                for row in differences.T
            ],
            texttemplate="%{text}" if len(used) <= _MAX_NUMBERED else None,
            hovertext=[list(row) for row in zip(*texts, strict=True)],
            hoverinfo="text",
            xgap=2,
            ygap=2,
        ),
        layout=layout(
            80 + 28 * len(features),
            xaxis=axis("cluster", type="category", showgrid=False),
            margin={"l": 12, "r": 12, "t": 6, "b": 46},
            yaxis=axis(
                "",
                type="category",
                showgrid=False,
                autorange="reversed",
                automargin=True,
            ),
        ),
    )
    return Chart(
        "profiles",
        figure,
        "Heat map of the clusters against the columns of the table; the descriptions "
        "of the clusters say in words where they are high or low.",
        _profile_caption(len(features), len(profiles.columns)),
    )


def _signed(difference: float) -> str:
    """One decimal with its sign; none where nothing is left of it."""
    text = f"{abs(difference):.1f}"
    if text == "0.0":
        return text
    return f"{'+' if difference > 0 else MINUS}{text}"


def _profile_caption(n_shown: int, n_columns: int) -> str:
    part = (
        f" Only the {n_shown} of {number(n_columns)} columns that tell the clusters "
        "apart best are shown."
        if n_shown < n_columns
        else ""
    )
    return (
        "Mean of each cluster against the mean of all objects (outliers left out), in "
        "standard deviations: orange is above, blue below, no colour about the same."
        f"{part}"
    )


def mass_chart(subject: Subject) -> Chart:
    """The masses of all objects, group by group."""
    go = import_graph_objects()
    titles = [subject.title(i) for i in range(subject.n_samples)]
    display = MassDisplay.from_partition(subject.partition, object_names=titles)
    masses = averaged_rows(display.masses, _MAX_ROWS)
    is_averaged = len(masses) < subject.n_samples
    sets = _heaviest_sets(display.masses)
    rows = _row_names(display, len(masses))
    middles, groups = _group_ticks(display, len(masses))
    colors = [*map(hex_color, cluster_colors(subject.partition.n_clusters)), INK]
    figure = go.Figure(
        data=go.Heatmap(
            x=[display.focal_sets.names[j] for j in sets],
            y=rows,
            z=_cells(masses[:, sets]),
            zmin=0.0,
            zmax=1.0,
            colorscale=SEQUENTIAL,
            showscale=False,
            hovertemplate="<b>%{y}</b><br>m(%{x}) = %{z}<extra></extra>",
            xgap=1 if len(sets) <= 40 else 0,
        ),
        layout=layout(
            540,
            xaxis=axis("set of clusters", type="category", showgrid=False),
            margin={"l": 72, "r": 12, "t": 6, "b": 84},
            yaxis=axis(
                "",
                type="category",
                autorange="reversed",
                showgrid=False,
                tickmode="array",
                tickvals=[rows[middle] for middle in middles],
                ticktext=groups,
            ),
            shapes=_group_strip(display, len(masses), colors),
        ),
    )
    return Chart(
        "masses",
        figure,
        f"Heat map of the masses of {counted(subject.n_samples, 'object')} on "
        f"{counted(len(sets), 'set')} of clusters, sorted by cluster and doubt.",
        _mass_caption(subject, len(masses), is_averaged, len(sets)),
    )


def _mass_caption(subject: Subject, n_rows: int, is_averaged: bool, n_sets: int) -> str:
    row = (
        f"the mean of {_group_size(subject.n_samples, n_rows)} neighbouring objects"
        if is_averaged
        else "an object"
    )
    n_all = len(subject.partition.focal_sets)
    part = (
        f" Only the {n_sets} of {number(n_all)} sets with most mass are shown."
        if n_sets < n_all
        else ""
    )
    return (
        f"Each row is {row}. It shows how a unit of belief is divided among single "
        "clusters, sets of them, Ω (any cluster) and ∅ (none): the more, the stronger "
        "the blue. Within a cluster, doubt grows downwards; outliers come last."
        f"{part}"
    )


def _group_size(n_samples: int, n_rows: int) -> str:
    """How many objects share a row."""
    size = round(n_samples / n_rows)
    return f"about {number(size)}" if size > 1 else "one or two"


def _heaviest_sets(masses: Array) -> NDArray[np.intp]:
    """Columns with most mass, in their own order."""
    heaviest = np.argsort(-masses.mean(axis=0), kind="stable")
    return np.sort(heaviest[:_MAX_SETS])


def _row_names(display: MassDisplay, n_rows: int) -> list[str]:
    """What a row of the heat map stands for; no two alike."""
    if n_rows == len(display.masses):
        return distinct(display.object_names)
    ends = [*_starts(len(display.masses), n_rows), len(display.masses)]
    n_clusters = display.focal_sets.n_clusters
    names = []
    for row, (start, end) in enumerate(pairwise(ends)):
        group = int(display.groups[(start + end) // 2])
        rows = f"mean of {counted(end - start, 'object')}, row {row + 1}"
        names.append(f"{group_name(group, n_clusters)}: {rows}")
    return names


def _starts(n_samples: int, n_rows: int) -> list[int]:
    """First objects of the rows, as `averaged_rows` cuts them."""
    return [row * n_samples // n_rows for row in range(n_rows)]


def _group_ticks(display: MassDisplay, n_rows: int) -> tuple[list[int], list[str]]:
    """Rows in the middle of the groups, and names of the groups."""
    starts, ends, groups = group_bounds(display.groups)
    n_clusters = display.focal_sets.n_clusters
    step = -(-len(groups) // _MAX_NAMED_GROUPS)
    middles = (starts + ends - 1) / 2 * n_rows / len(display.masses)
    is_short = len(groups) > 8
    names = [group_name(group, n_clusters, is_short=is_short) for group in groups]
    return [int(middle) for middle in middles[::step]], names[::step]


def _group_strip(
    display: MassDisplay, n_rows: int, colors: list[str]
) -> list[dict[str, Any]]:
    """A strip in the colours of the clusters along the left side."""
    starts, ends, groups = group_bounds(display.groups)
    scale = n_rows / len(display.masses)
    return [
        {
            "type": "line",
            "xref": "paper",
            "yref": "y",
            "x0": -0.004,
            "x1": -0.004,
            "y0": start * scale - 0.5,
            "y1": end * scale - 0.5,
            "line": {"color": colors[group], "width": 6},
        }
        for start, end, group in zip(starts, ends, groups, strict=True)
    ]


def _cells(values: Array) -> list[list[float | None]]:
    """Two decimals for each cell, None where there is nothing."""
    return [
        [None if np.isnan(value) else round(float(value), 2) for value in row]
        for row in values
    ]
