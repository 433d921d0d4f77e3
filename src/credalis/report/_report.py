"""One self-contained HTML page about a result."""

from html import escape
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._drawing.palette import BASE_COLORS, INK, cluster_colors
from credalis._files import atomic_write
from credalis.report._diagrams import history_chart, peaks_chart, shepard_chart
from credalis.report._heatmaps import mass_chart, profile_chart
from credalis.report._page import (
    Section,
    TableColumn,
    import_graph_objects,
    json_script,
    page,
    rgb,
    sortable_table,
)
from credalis.report._picture import Picture, picture
from credalis.report._profiles import (
    MIN_DOUBT,
    Profiles,
    doubtful_objects,
    outlying_objects,
    profiles_of,
    reason,
    typical_objects,
)
from credalis.report._settings import settings_section
from credalis.report._subject import Subject, subject_of
from credalis.report._text import listed, number, percentage, plain
from credalis.report._words import how, lead

Indices = NDArray[np.intp]

# Rows of the tables of objects, columns of the reader's table in them, and objects
# named as typical of a cluster.
_N_ROWS = 30
_N_COLUMNS = 8
_N_TYPICAL = 3
_N_MASSES = 3
# Sets listed where the doubt lies.
_N_SETS = 5


def report(
    result: Any,
    X: ArrayLike,
    path: str | PathLike[str],
    *,
    dissimilarities: ArrayLike | None = None,
    data: Any = None,
    ids: Any = None,
    command: str | None = None,
) -> None:
    """Write one HTML page about a clustering; it opens offline.

    The page says in a sentence what was found, shows the partition (hover for the
    masses of an object), what distinguishes the clusters, typical and doubtful objects
    and outliers with reasons, the masses, the δ-Bel graph, the Shepard diagram of a
    method that has one, the learning curve, the settings and how to make the result
    again. It needs Plotly: ``pip install 'credalis[report]'``.

    Of more than 3000 objects a sample is drawn over the density of all, and the δ-Bel
    graph is computed from 5000; the page says so. Whatever the names and cells contain
    is shown as text.

    Parameters
    ----------
    result : fitted estimator or CredalPartition
        What to report on.
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The objects the result is about, or the dissimilarities that an estimator with
        ``metric="precomputed"`` was fitted to.
    path : str or path-like
        File to write. It appears whole or not at all.
    dissimilarities : array-like, default=None
        What ``fit`` was given as ``dissimilarities``, if it was.
    data : DataFrame, dict of columns or array, default=None
        The table as the reader knows it, one row for each object, in original units;
        columns of words and missing values are allowed. None: X.
    ids : sequence, default=None
        Names of the objects. None: the index of a pandas frame if it is more than row
        numbers, else row numbers from 0.
    command : str, default=None
        Shell command that makes the result again. None: lines of Python.

    Examples
    --------
    >>> from credalis import NNEVCLUS, report
    >>> from credalis.datasets import make_four_class
    >>> X, _ = make_four_class(random_state=0)
    >>> model = NNEVCLUS(4, random_state=0).fit(X)  # doctest: +SKIP
    >>> report(model, X, "report.html")  # doctest: +SKIP
    """
    import_graph_objects()
    if command is not None and not isinstance(command, str):
        raise ValueError(f"command must be a str or None, got {command!r}")
    html = _whole(subject_of(result, X, dissimilarities, data, ids), command)
    with atomic_write(path) as stream:
        stream.write(html.encode())


def _whole(subject: Subject, command: str | None) -> str:
    estimator = subject.estimator
    name = "Credal partition" if estimator is None else type(estimator).__name__
    title = f"{plain(name)} report"
    return page(title, _header(title, subject), *_contents(subject, command), _footer())


def _contents(subject: Subject, command: str | None) -> tuple[list[str], list[Section]]:
    """The parts of the page, and those the contents link to."""
    profiles = profiles_of(subject)
    typical = typical_objects(subject, _N_TYPICAL)
    doubtful = doubtful_objects(subject, _N_ROWS)
    outliers = outlying_objects(subject, _N_ROWS)
    drawn = picture(
        subject, profiles, np.unique(np.concatenate([*typical, doubtful, outliers]))
    )
    first = [
        Section("partition", "Partition", _picture_html(drawn)),
        Section("clusters", "Clusters", _clusters(subject, profiles, typical)),
        Section("doubtful", "Most doubtful objects", _doubtful(subject, doubtful)),
        Section("outliers", "Outliers", _outliers(subject, outliers, profiles)),
        Section("mass-functions", "Masses", mass_chart(subject).html()),
    ]
    charts = {
        "δ–Bel graph": peaks_chart(subject),
        "Shepard diagram": shepard_chart(subject),
        "Learning curve": history_chart(subject),
    }
    diagrams = [
        Section(f"section-{chart.name}", name, chart.html())
        for name, chart in charts.items()
        if chart is not None
    ]
    settings = settings_section(subject, command)
    grid = "".join(section.html() for section in diagrams)
    parts = [section.html() for section in first]
    if grid:
        parts.append(f'<div class="grid">{grid}</div>')
    return [*parts, settings.html()], [*first, *diagrams, settings]


def _header(title: str, subject: Subject) -> str:
    """The answer in a sentence, and the numbers behind it."""
    partition = subject.partition
    facts = (
        ("clear", int(partition.lower.sum()), "in one cluster", BASE_COLORS[0]),
        ("ambiguous", int(partition.is_ambiguous.sum()), "between", BASE_COLORS[1]),
        ("outliers", int(partition.is_outlier.sum()), "in no cluster", INK),
    )
    cells = "".join(
        f'<div style="--mark: {color}"><dt>{name}</dt><dd>{number(count)} '
        f"<small>{percentage(count, len(partition))}, {words}</small></dd></div>"
        for name, count, words, color in facts
    )
    cells += (
        "<div><dt>nonspecificity</dt>"
        f"<dd>{partition.average_nonspecificity:.2f} "
        "<small>0 precise, 1 nothing known</small></dd></div>"
    )
    return (
        f"<header><h1>{escape(title)}</h1>\n"
        f'<p class="lead">{escape(lead(partition))}</p>\n'
        f'<p class="how">{escape(how(subject))}</p>\n'
        f'<dl class="facts">{cells}</dl></header>'
    )


def _picture_html(drawn: Picture) -> str:
    """The chart, and boxes to choose what its axes show."""
    places = json_script("places", drawn.shown.tolist())
    if not drawn.views:
        return drawn.chart.html() + places
    boxes = []
    for label, first in zip(("Horizontal", "Vertical"), drawn.axis_labels, strict=True):
        options = "".join(
            f'<option value="{j}">{escape(view["name"])}</option>'
            for j, view in enumerate(drawn.views)
        )
        boxes.append(
            f'<label>{label} <select><option value="">{escape(plain(first))}</option>'
            f"{options}</select></label>"
        )
    views = json_script("views", drawn.views)
    return (
        f'<div class="axes">{"".join(boxes)}</div>{drawn.chart.html()}{places}{views}'
    )


def _clusters(subject: Subject, profiles: Profiles, typical: list[Indices]) -> str:
    """A card for each cluster that has objects, and how the clusters differ."""
    partition = subject.partition
    counts = np.stack(
        [
            partition.lower.sum(axis=0),
            partition.upper.sum(axis=0),
            np.bincount(partition.labels, minlength=partition.n_clusters),
        ],
        axis=1,
    )
    used = np.flatnonzero(counts.any(axis=1))
    colors = [rgb(color) for color in cluster_colors(partition.n_clusters)]
    largest = counts[:, 1:].max()
    cards = "".join(
        _card(subject, int(k), counts[k], largest, colors[k], profiles, typical[k])
        for k in used
    )
    n_empty = partition.n_clusters - len(used)
    note = f'<p class="note">{n_empty} without objects.</p>' if n_empty else ""
    chart = profile_chart(subject, profiles)
    return (
        "<p>Certainly in: the largest mass of an object is on this cluster alone. "
        "Possibly in: it is on this cluster, or on several that it could be in.</p>"
        f'<div class="cards">{cards}</div>{note}{"" if chart is None else chart.html()}'
    )


def _card(
    subject: Subject,
    k: int,
    counts: NDArray[np.intp],
    largest: int,
    color: str,
    profiles: Profiles,
    typical: Indices,
) -> str:
    """Size, character and typical objects of one cluster."""
    lower, upper, hard = map(int, counts)
    words = profiles.describe(k)
    if not words and profiles.columns:
        words = "about the same as all objects in every column"
    share = 100 / max(largest, 1)
    rows = {
        "what distinguishes it": escape(words) if len(typical) else "",
        "typical objects (most plausible)": ", ".join(
            _find(subject, int(i)) for i in typical
        ),
    }
    items = "".join(
        f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows.items() if text
    )
    return (
        f'<article class="card" style="--mark: {color}"><h3>Cluster {k}</h3>'
        '<div class="bar" aria-hidden="true">'
        f'<i style="width: {share * lower:.1f}%"></i>'
        f'<i style="width: {share * (upper - lower):.1f}%"></i></div>'
        f'<div class="note">{number(lower)} certainly in, {number(upper)} possibly in, '
        f"{number(hard)} most plausible</div><dl>{items}</dl></article>"
    )


def _find(subject: Subject, i: int) -> str:
    """The name of an object; a click shows it in the picture."""
    return (
        f'<button type="button" class="find" data-object="{i}">'
        f"{escape(subject.names[i])}</button>"
    )


def _doubtful(subject: Subject, objects: Indices) -> str:
    """Where the doubt lies, and the objects of highest doubt."""
    if len(objects) == 0:
        return '<p class="note">No object is in doubt.</p>'
    partition = subject.partition
    n_all = int((~partition.is_outlier & (partition.doubt >= MIN_DOUBT)).sum())
    sets = partition.maximum_mass_index[partition.is_ambiguous]
    counts = np.bincount(sets, minlength=len(partition.focal_sets))
    frequent = [j for j in np.argsort(-counts, kind="stable")[:_N_SETS] if counts[j]]
    where = [
        f"{number(int(counts[j]))} between {listed(partition.focal_sets.subsets[j], 6)}"
        for j in frequent
    ]
    text = f"Objects between clusters: {', '.join(where)}." if where else ""
    return (
        f"<p>{text} Doubt is one minus the largest belief in a single cluster: 0 is "
        f"certain. {_listing(len(objects), n_all)}</p>"
        + _object_table(subject, objects, "Most doubtful objects")
    )


def _outliers(subject: Subject, objects: Indices, profiles: Profiles) -> str:
    """Objects of no cluster, and what is unusual about them."""
    n_all = int(subject.partition.is_outlier.sum())
    if n_all == 0:
        return '<p class="note">No object is an outlier.</p>'
    return (
        "<p>The largest mass of these objects is on ∅: none of the clusters suits them."
        f" {_listing(len(objects), n_all)}</p>"
        + _object_table(subject, objects, "Outliers", profiles)
    )


def _listing(n_listed: int, n_all: int) -> str:
    """How many rows a table has, and how they are ordered."""
    if n_all == 1:
        return ""
    if n_listed == n_all:
        return "The worst come first; click a heading to sort."
    return (
        f"{number(n_listed)} of {number(n_all)} are listed, the worst first; click a "
        "heading to sort."
    )


def _masses(subject: Subject, i: int) -> str:
    """The sets an object has most mass on."""
    masses = subject.partition.masses[i]
    order = np.argsort(-masses, kind="stable")[:_N_MASSES]
    names = subject.partition.focal_sets.names
    return ", ".join(
        f"{names[j]}\N{NO-BREAK SPACE}{masses[j]:.2f}"
        for j in order
        if masses[j] >= 0.005
    )


def _object_table(
    subject: Subject,
    objects: Indices,
    label: str,
    profiles: Profiles | None = None,
) -> str:
    """Objects with reasons, doubts and their rows of the table."""
    partition = subject.partition
    doubt, empty = partition.doubt[objects], partition.outlier_mass[objects]
    rows = [int(i) for i in objects]
    names = [_find(subject, i) for i in rows]
    columns = [
        TableColumn("object", names, None if subject.has_names else rows),
        TableColumn("why", [escape(reason(subject, i, profiles)) for i in rows]),
        TableColumn("largest masses", [escape(_masses(subject, i)) for i in rows]),
        TableColumn("doubt", [f"{each:.2f}" for each in doubt], doubt.tolist(), True),
        TableColumn("m(∅)", [f"{each:.2f}" for each in empty], empty.tolist(), True),
    ]
    for column in subject.columns[:_N_COLUMNS]:
        cells = [escape(column.cell(i)) for i in rows]
        values = column.values[objects].tolist() if column.is_numeric else None
        columns.append(TableColumn(column.name, cells, values, column.is_numeric))
    return sortable_table(label, columns)


def _footer() -> str:
    from credalis import __version__

    return (
        f"<footer>Written by credalis {escape(__version__)}. This page holds all that "
        "it shows and loads nothing from elsewhere.</footer>"
    )
