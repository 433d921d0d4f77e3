"""The picture of a partition: objects clear, between clusters, outlying."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._drawing.legibility import MAX_LISTED
from credalis.plots import CredalPartitionDisplay
from credalis.report._charts.chart import (
    Chart,
    axis,
    below,
    import_graph_objects,
    layout,
    numbers,
)
from credalis.report._charts.marks import (
    cluster_numbers,
    density,
    extremes,
    hulls,
    mark_size,
    objects,
    prototypes,
)
from credalis.report._charts.ranges import Range, is_beyond, robust_range
from credalis.report._content.columns import Column
from credalis.report._content.objects import reason
from credalis.report._content.profiles import Profiles
from credalis.report._content.subject import Subject
from credalis.report._content.text import chart_text, counted, number, plain

Indices = NDArray[np.intp]

# More objects are sampled: browsers become slow, and marks hide each other.
MAX_POINTS = 3000
# Columns a reader can choose for the axes.
_MAX_VIEWS = 24
# What a hover text lists at most.
_N_MASSES, _N_CELLS_LISTED = 5, 6

_HEIGHT = 620
# More clusters than this have numbers in the picture, and no dashed outlines beyond
# that: lines across the whole picture would hide what they enclose.
_MAX_UNNUMBERED, _MAX_OUTLINED = 4, 6


@dataclass(frozen=True, eq=False)
class Picture:
    """The chart, which objects it shows, and what else its axes can show."""

    chart: Chart
    shown: Indices
    views: list[dict[str, Any]]
    axis_labels: tuple[str, str]
    has_extremes: bool


def picture(subject: Subject, profiles: Profiles, keep: Indices) -> Picture:
    """Draw all objects, or a sample with those to keep over the density of all."""
    go = import_graph_objects()
    display = planar_display(subject)
    limits = _limits(subject, display)
    extreme = np.logical_or(
        is_beyond(display.points[:, 0], limits[0]),
        is_beyond(display.points[:, 1], limits[1]),
    )
    shown = subject.sample(MAX_POINTS, keep)
    texts = [hover_text(subject, int(i)) for i in shown]
    views = _views(subject, profiles, shown)
    has_extremes = any(each is not None for each in limits) or any(
        view["range"] for view in views
    )
    traces = []
    if len(shown) < subject.n_samples:
        traces.append(density(go, display, limits))
    has_upper = display.n_clusters <= _MAX_OUTLINED
    traces += hulls(go, display, has_upper=has_upper)
    traces += objects(go, display, shown, texts, _titles(subject))
    # Beside many clusters stand their numbers, which would hide the prototypes.
    if display.centers is not None and display.n_clusters <= MAX_LISTED:
        traces.append(prototypes(go, display.centers))
    if has_extremes:
        traces.append(extremes(go, mark_size(len(shown))))
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
            xaxis=axis(labels[0], **_fixed(limits[0])),
            yaxis=axis(labels[1], **_fixed(limits[1])),
            annotations=(
                cluster_numbers(display) if display.n_clusters > _MAX_UNNUMBERED else []
            ),
        ),
    )
    caption = _caption(
        subject,
        display,
        len(shown),
        has_views=bool(views),
        n_extreme=int(extreme[shown].sum()),
    )
    chart = Chart("picture", figure, _alt(subject), caption)
    return Picture(chart, shown, views, (names[0], names[1]), has_extremes)


def _limits(
    subject: Subject, display: CredalPartitionDisplay
) -> tuple[Range | None, Range | None]:
    """Ends of the axes where extreme objects would squeeze the others."""
    first, second = (robust_range(each, subject.groups) for each in display.points.T)
    return first, None if display.is_strip else second


def _fixed(limits: Range | None) -> dict[str, Any]:
    return {} if limits is None else {"range": list(limits)}


def _titles(subject: Subject) -> list[str]:
    """What the clusters are called in the legend."""
    names = subject.cluster_names or [""] * subject.partition.n_clusters
    return [
        f"cluster {k}" + (f": {chart_text(plain(name, 24))}" if name else "")
        for k, name in enumerate(names)
    ]


def planar_display(subject: Subject) -> CredalPartitionDisplay:
    """The objects in the plane: in units the reader knows, where there are few."""
    estimator, partition = subject.estimator, subject.partition
    level = subject.verdicts.clear_level
    if getattr(estimator, "embedding_", None) is not None:
        # Scores have unit variance: the first two are the principal plane.
        scores = estimator.embedding_.transform(subject.X)[:, :2]
        names = [f"component {j + 1} of the dissimilarities" for j in range(2)]
        return CredalPartitionDisplay.from_partition(
            partition,
            scores,
            feature_names=names[: scores.shape[1]],
            clear_level=level,
        )
    known = _known_units(subject)
    if known:
        points = np.column_stack([column.values for column in known])
        centers: Any = getattr(estimator, "centers_", None)
        # Prototypes are in the units of X.
        has_centers = (
            np.ndim(centers) == 2
            and np.shape(centers)[1] == len(known)
            and np.array_equal(points, subject.matrix)
        )
        return CredalPartitionDisplay.from_partition(
            partition,
            points,
            feature_names=[column.name for column in known],
            centers=centers if has_centers else None,
            clear_level=level,
        )
    if estimator is not None and not subject.is_precomputed:
        return CredalPartitionDisplay.from_estimator(
            estimator,
            subject.X,
            feature_names=subject.feature_names,
            clear_level=level,
        )
    return CredalPartitionDisplay.from_partition(
        partition, subject.X, clear_level=level
    )


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
    return known


def hover_text(subject: Subject, i: int) -> str:
    """What is known about an object: its masses, and its row of the table."""
    lines = [
        f"<b>{chart_text(subject.title(i))}</b>",
        reason(subject, i),
        *(f"m({name}) = {mass}" for name, mass in subject.largest_masses(i, _N_MASSES)),
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
            "title": chart_text(columns[j].name)
            + (" (days since 1970-01-01)" if columns[j].is_date else ""),
            "values": numbers(columns[j].values[shown]),
            "range": robust_range(columns[j].values, subject.groups),
        }
        for j in order
    ]


def _alt(subject: Subject) -> str:
    verdicts = subject.verdicts
    return (
        f"Scatter plot of {counted(subject.n_samples, 'object')} in the plane, "
        "coloured by cluster: "
        f"{number(int(verdicts.is_clear.sum()))} clear, "
        f"{number(int(verdicts.is_between.sum()))} between clusters, "
        f"{number(int(verdicts.is_outlier.sum()))} outliers. The text and the tables "
        "below say the same."
    )


def _caption(
    subject: Subject,
    display: CredalPartitionDisplay,
    n_shown: int,
    *,
    has_views: bool,
    n_extreme: int,
) -> str:
    parts = []
    if getattr(subject.estimator, "embedding_", None) is not None:
        parts.append("The axes are principal components of the dissimilarities.")
    elif subject.is_precomputed:
        parts.append("The axes are principal components of the dissimilarity matrix.")
    elif display.is_strip:
        parts.append("There is one feature; the height is the doubt about an object.")
    elif subject.matrix.shape[1] > 2:
        parts.append(
            "More than two features cannot be drawn in the plane, so the axes are the "
            "first two principal components (PCA), the directions in which the objects "
            "vary most."
        )
    if has_views:
        parts.append(
            "You can choose other axes above: clusters that overlap in one view may be "
            "apart in another."
        )
    if display.is_strip:
        parts.append(
            "The lines below span the clear objects of a cluster (solid), and these "
            "with those between it and others (dashed)."
        )
    elif display.n_clusters <= _MAX_OUTLINED:
        parts.append(
            "Solid outlines enclose the clear objects of a cluster, dashed ones these "
            "and the objects between it and others."
        )
    else:
        parts.append("Outlines enclose the clear objects of a cluster.")
    if display.n_clusters > _MAX_UNNUMBERED:
        parts.append("Numbers in frames are those of the clusters.")
    if display.is_ambiguous.any():
        parts.append(
            "An object between two clusters has the colour of the more plausible one "
            "and a rim in that of the other."
        )
    if display.is_outlier.any():
        parts.append("Rings are outliers.")
    if n_extreme:
        parts.append(
            f"{counted(n_extreme, 'object')} so far off that the others would be "
            f"squeezed {'stands' if n_extreme == 1 else 'stand'} at the rim as "
            "arrows; tick the box above to see all in place."
        )
    if n_shown < subject.n_samples:
        parts.append(
            f"The marks are a random sample, {number(n_shown)} of the "
            f"{number(subject.n_samples)} objects, with those listed below among them; "
            "the grey background shows where all objects are (the stronger, the more), "
            "and the outlines enclose all of them."
        )
    return " ".join(parts)
