"""Tables and figures that several experiments share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from credalis.plots import ConsistencyDisplay
from credalis.reproduce._framework._cells import write_file
from credalis.reproduce._framework._data import DataSet
from credalis.reproduce._framework._figures import image
from credalis.reproduce._framework._findings import (
    BETTER,
    NOT_AVAILABLE,
    NOT_COMPARABLE,
    NOT_RUN,
    REPRODUCED,
    WORSE,
    Finding,
    best_by_loss,
    verdict_on,
)
from credalis.reproduce._framework._render import Picture, Table
from credalis.reproduce._framework._runner import Results

# Beside a value in a table of many.
_MARKS = {
    REPRODUCED: "=",
    BETTER: "+",
    WORSE: "−",
    NOT_COMPARABLE: "?",
    NOT_RUN: "·",
    NOT_AVAILABLE: "·",
}
# The two numbers stay on one line.
_PLUS_MINUS = "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}"
LEGEND = (
    "= reproduced, + better, − worse, ? not comparable, · not run or no data; a cell "
    "is the published value → our mean over the repetitions."
)


def agreement_finding(
    data: DataSet,
    column: str,
    published: float,
    runs: Sequence[Mapping[str, Any]],
    tolerance: float,
    why: str = "",
) -> Finding:
    """A published ARI beside the repetitions of ours."""
    values = tuple(run["ari"] for run in runs)
    best = best_by_loss(values, [run["loss"] for run in runs])
    if not data.is_comparable:
        verdict = NOT_COMPARABLE if values else NOT_RUN
        verdict = NOT_AVAILABLE if data.name is None else verdict
        return Finding(
            data.title, column, published, values, best, verdict, data.deviation
        )
    if not values:
        return Finding(data.title, column, published, (), None, NOT_RUN, why)
    verdict = verdict_on(float(np.mean(values)), published, tolerance)
    return Finding(data.title, column, published, values, best, verdict, why)


def decimals(value: float | None, n_digits: int = 3) -> str:
    """A number for a table; a dash where there is none."""
    return "–" if value is None else f"{value:.{n_digits}f}".replace("-", "−")


def spread(finding: Finding, n_digits: int = 3) -> str:
    """Mean ± standard deviation, or the mean of a single value."""
    mean, deviation = finding.mean, finding.deviation
    if deviation is None:
        return decimals(mean, n_digits)
    return f"{decimals(mean, n_digits)}{_PLUS_MINUS}{decimals(deviation, n_digits)}"


def finding_table(
    findings: Iterable[Finding], caption: str, first: tuple[str, str]
) -> Table:
    """One line for each finding, with verdict and reason."""
    header = (
        *first,
        "published",
        "best by loss",
        "mean ± sd",
        "runs",
        "verdict",
        "why",
    )
    rows = tuple(
        (
            each.row,
            each.column,
            decimals(each.published, 3 if _has_three_digits(each.published) else 2),
            decimals(each.best),
            spread(each),
            str(len(each.values)),
            each.verdict,
            each.why,
        )
        for each in findings
    )
    return Table(header, rows, caption, text_columns=(1, 6, 7))


def _has_three_digits(value: float | None) -> bool:
    return value is not None and abs(value - round(value, 2)) > 1e-9


def matrix_table(
    findings: Iterable[Finding], columns: Sequence[str], caption: str
) -> Table:
    """The paper's table: published → ours, and a mark."""
    rows: dict[str, dict[str, str]] = {}
    for each in findings:
        ours = decimals(each.mean, 2)
        text = f"{decimals(each.published, 2)} → {ours} {_MARKS[each.verdict]}"
        rows.setdefault(each.row, {})[each.column] = text
    lines = tuple(
        (row, *(cells.get(column, "") for column in columns))
        for row, cells in rows.items()
    )
    return Table(("", *columns), lines, caption)


def consistency_pictures(
    experiment: str,
    titles: Iterable[str],
    columns: Sequence[str],
    runs: Callable[[str, str], Sequence[Mapping[str, Any]]],
    directory: Path,
) -> list[Picture]:
    """CI–NS diagrams of the sets that have at least two methods."""
    pictures = []
    for title in titles:
        found = {column: runs(title, column) for column in columns}
        names = [column for column, values in found.items() if values]
        if len(names) < 2:
            continue
        ci = [float(np.mean([run["ci"] for run in found[name]])) for name in names]
        ns = [float(np.mean([run["ns"] for run in found[name]])) for name in names]
        display = ConsistencyDisplay.from_scores(names, ci, ns)
        beaten = display.is_dominated
        kept = [n for n, bad in zip(names, beaten, strict=True) if not bad]
        caption = (
            f"{title}: consistency (CI) against nonspecificity (NS). Not "
            f"dominated: {', '.join(kept)}."
        )
        drawing = image(display, (7.0, 4.6), title=title)
        name = f"{experiment}-ci-ns-{title}"
        pictures.append(written_picture(directory, name, drawing, caption))
    return pictures


def written_picture(directory: Path, name: str, image: bytes, caption: str) -> Picture:
    """A figure of the report, after its file has been written."""
    file = directory / "figures" / f"{name}.png"
    write_file(file, image)
    return Picture(file, caption)


def runs_of(
    results: Results, experiment: str, names: Iterable[str]
) -> list[dict[str, Any]]:
    """Values of the cells that have some."""
    found = (results.values(experiment, name) for name in names)
    return [values for values in found if values is not None]


def pictures_of(
    results: Results, experiment: str, captions: Mapping[str, str], directory: Path
) -> list[Picture]:
    """Figures that cells of an experiment made, in the order of their captions."""
    made = {name for each in results.of(experiment) for name in each["figures"]}
    return [
        Picture(directory / "figures" / f"{experiment}-{name}.png", caption)
        for name, caption in captions.items()
        if name in made
    ]
