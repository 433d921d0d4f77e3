"""One self-contained HTML page about a result."""

import base64
import datetime
import hashlib
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from credalis._files import atomic_write
from credalis._html import import_jinja, read_resource, render
from credalis._refusals import refuses_by_name
from credalis.partition import CLEAR_LEVEL
from credalis.partition._presentation import silences
from credalis.report._charts.chart import import_graph_objects
from credalis.report._charts.diagrams import history_chart, peaks_chart, shepard_chart
from credalis.report._charts.distributions import panels_of
from credalis.report._charts.heatmaps import mass_chart, profile_chart
from credalis.report._charts.picture import picture
from credalis.report._charts.theme import dark_colors
from credalis.report._content.objects import (
    objects_between,
    outlying_objects,
    typical_objects,
)
from credalis.report._content.profiles import cards_of, profiles_of
from credalis.report._content.settings import settings_of
from credalis.report._content.subject import Subject, subject_of
from credalis.report._content.summary import (
    caveats,
    coverage_text,
    day,
    facts,
    how,
    lead,
    specialist_rows,
)
from credalis.report._content.text import plain
from credalis.report._content.why import why

_MAX_NOTE_LENGTH = 1000
_MAX_TITLE_LENGTH = 120


@refuses_by_name
def report(
    result: Any,
    X: ArrayLike,
    path: str | PathLike[str],
    *,
    dissimilarities: ArrayLike | None = None,
    data: Any = None,
    ids: Any = None,
    command: str | None = None,
    clear_level: float = CLEAR_LEVEL,
    coverage: float | None = None,
    described: Sequence[str] = (),
    cluster_names: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    title: str | None = None,
    date: datetime.date | None = None,
) -> None:
    """Write one HTML page about a clustering; it opens offline.

    The page says in one sentence how many objects are clear, between clusters, and
    outliers. Below, it shows the partition (hover over an object to see its masses),
    what distinguishes the clusters, typical objects, objects between clusters and
    outliers with reasons, the masses, the δ-Bel graph, the Shepard diagram of a method
    that has one, the learning curve, the settings and how to reproduce the result. It
    needs Plotly and Jinja2: ``pip install 'credalis[report]'``.

    Of more than 3000 objects a sample is drawn over the density of all, and the δ-Bel
    graph is computed from at most 5000; the page says so. Whatever the names and cells
    contain is shown as text.

    Parameters
    ----------
    result : fitted estimator, Pipeline that ends in one, or CredalPartition
        What to report on.
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The objects the result is about, as ``fit`` was given them, or the
        dissimilarities that an estimator with ``metric="precomputed"`` was fitted to.
    path : str or path-like
        File to write. It appears whole or not at all.
    dissimilarities : array-like, default=None
        What ``fit`` was given as ``dissimilarities``, if it was.
    data : DataFrame, dict of columns or array, default=None
        The table as the reader knows it, one row for each object, in original units;
        columns of words and missing values are allowed. None: X, which for a Pipeline
        is the table before any of its steps.
    ids : sequence, default=None
        Names of the objects. None: the index of a pandas frame if it is more than row
        numbers, else row numbers from 0.
    command : str, default=None
        Shell command that reproduces the result. None: lines of Python.
    clear_level : float, default=0.7
        Belief that makes an object clear, as in `CredalPartition.verdicts`.
    coverage : float, default=None
        Level of the sets of clusters that a calibrated model gives, see its method
        ``calibrate``; the page says how large they are and what the level rests on.
        None: 0.9 if the model is calibrated.
    described : sequence of str, default=()
        Columns of `data` that the objects were not compared by, but that say what the
        clusters are: "98 % Gentoo".
    cluster_names : sequence of str, default=None
        Names of the clusters, if they have some.
    notes : sequence of str, default=()
        What was decided about the table, such as ``decisions_`` of
        `credalis.tabular.TablePreparation`; the page lists it.
    title : str, default=None
        What the page is about, such as the name of the table. None: the method.
    date : datetime.date, default=None
        The day that stands beside the title. None: today.

    Examples
    --------
    >>> from credalis import NNEVCLUS, report
    >>> from credalis.datasets import make_four_class
    >>> X, _ = make_four_class(random_state=0)
    >>> model = NNEVCLUS(4, random_state=0).fit(X)  # doctest: +SKIP
    >>> report(model, X, "report.html")  # doctest: +SKIP
    """
    import_graph_objects()
    import_jinja()
    if command is not None and not isinstance(command, str):
        raise ValueError(f"command must be a str or None, got {command!r}")
    if title is not None and not isinstance(title, str):
        raise ValueError(f"title must be a str or None, got {title!r}")
    if date is not None and not isinstance(date, datetime.date):
        raise ValueError(f"date must be a datetime.date or None, got {date!r}")
    subject = subject_of(
        result,
        X,
        dissimilarities,
        data,
        ids,
        clear_level,
        described=described,
        cluster_names=cluster_names,
    )
    decisions = [plain(note, _MAX_NOTE_LENGTH) for note in notes]
    html = _page(
        subject,
        command,
        coverage_text(subject, coverage),
        decisions,
        None if title is None else plain(title, _MAX_TITLE_LENGTH),
        datetime.date.today() if date is None else date,
    )
    with atomic_write(path) as stream:
        stream.write(html.encode())


def _page(
    subject: Subject,
    command: str | None,
    coverage: str,
    decisions: list[str],
    title: str | None,
    date: datetime.date,
) -> str:
    """What the report says and draws, in its template."""
    from credalis import __version__

    estimator, partition = subject.estimator, subject.partition
    name = "Credal partition" if estimator is None else type(estimator).__name__
    profiles = profiles_of(subject)
    typical = typical_objects(subject)
    between = objects_between(subject)
    outliers = outlying_objects(subject, profiles)
    reasons = why(subject, [*between.objects, *outliers.objects])
    named = [
        *np.concatenate(typical),
        *between.named,
        *outliers.named,
        *reasons.named,
    ]
    cards = cards_of(subject, profiles, typical)
    diagrams = {
        "δ–Bel graph": peaks_chart(subject),
        "Shepard diagram": shepard_chart(subject),
        "Learning curve": history_chart(subject),
    }
    scripts = [_plotly_script(), read_resource("report/report.js")]
    return render(
        "report/report.html.j2",
        title=title or f"{plain(name)} report",
        day=day(date),
        date=date.isoformat()[:10],
        style=read_resource("report/report.css"),
        scripts=scripts,
        digests=[_digest(script) for script in scripts],
        lead=lead(subject),
        how=how(subject),
        caveats=caveats(subject),
        silences=silences(partition),
        coverage=coverage,
        facts=facts(subject),
        specialists=specialist_rows(subject),
        summary=partition.summary(clear_level=subject.verdicts.clear_level),
        dark=dark_colors(partition.n_clusters),
        clear_level=f"{subject.verdicts.clear_level:g}",
        names=subject.names,
        picture=picture(subject, profiles, np.unique(named).astype(np.intp)),
        cards=cards,
        n_empty_clusters=partition.n_clusters - len(cards),
        panels=panels_of(subject, profiles),
        profile_chart=profile_chart(subject, profiles),
        why=reasons,
        between=between,
        outliers=outliers,
        mass_chart=mass_chart(subject),
        diagrams={name: chart for name, chart in diagrams.items() if chart is not None},
        settings=settings_of(subject, command),
        decisions=decisions,
        version=__version__,
    )


def _plotly_script() -> str:
    from plotly.offline import get_plotlyjs

    # No version contains it; if one did, it would end the script too early.
    script = get_plotlyjs().replace("</script", "<\\/script")
    # A browser reads line ends so before it compares the digest.
    return script.replace("\r\n", "\n").replace("\r", "\n")


def _digest(script: str) -> str:
    """Name of a script in a content security policy."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
