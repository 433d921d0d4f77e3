"""The report: all experiments with results, as HTML and as Markdown."""

from collections.abc import Sequence
from pathlib import Path

from credalis import __version__
from credalis.reproduce._framework._cells import write_file
from credalis.reproduce._framework._data import SETS
from credalis.reproduce._framework._experiment import Experiment, Part
from credalis.reproduce._framework._findings import WORSE, Finding, share_good
from credalis.reproduce._framework._published import published
from credalis.reproduce._framework._render import (
    Section,
    Table,
    Text,
    as_html,
    as_markdown,
)
from credalis.reproduce._framework._runner import Results
from credalis.reproduce._framework._tables import decimals, spread

TITLE = "NN-EVCLUS reproduced with credalis"
HTML_NAME, MARKDOWN_NAME = "report.html", "report.md"


def write_report(
    experiments: Sequence[Experiment], results: Results, is_quick: bool, directory: Path
) -> list[Finding]:
    """Write both files, and return everything that was found."""
    sections = []
    findings: list[Finding] = []
    shares = []
    absent = []
    for each in experiments:
        if not results.of(each.name):
            absent.append(each)
            continue
        shown = each.show(results, is_quick, directory)
        findings += shown.findings
        shares.append(_share(each, shown.findings))
        sections.append(Section(each.title, tuple(shown.parts)))
    first = Section("Summary", tuple(_summary(findings, results, shares, absent)))
    sections = [first, Section("Data", (_data_table(),)), *sections]
    for name, text in (
        (HTML_NAME, as_html(TITLE, sections)),
        (MARKDOWN_NAME, as_markdown(TITLE, sections, directory)),
    ):
        write_file(directory / name, text.encode())
    return findings


def _share(experiment: Experiment, findings: list[Finding]) -> tuple[str, ...]:
    """A line of the table of experiments."""
    good, compared = share_good(findings)
    percent = f"{100 * good / compared:.0f} %" if compared else "–"
    return experiment.title, str(compared), str(good), percent


def _summary(
    findings: list[Finding],
    results: Results,
    shares: list[tuple[str, ...]],
    absent: list[Experiment],
) -> list[Part]:
    good, compared = share_good(findings)
    seconds = sum(record["seconds"] for record in results.records.values())
    share = f" ({100 * good / compared:.0f} %)" if compared else ""
    parts: list[Part] = [
        Text(
            f"The experiments of {published()['source']}, computed with credalis "
            f"{__version__}. {good} of {compared} values{share} that can be compared "
            "are reproduced or better. Every experiment states the paper's settings, "
            "whatever the defaults of the library are. "
            f"{len(results.records)} cells took {seconds:.0f} processor seconds, one "
            "thread each."
        ),
        Table(
            ("experiment", "compared", "reproduced or better", "share"), tuple(shares)
        ),
    ]
    if absent:
        names = ", ".join(each.name for each in absent)
        parts.append(Text(f"Not run: {names}."))
    if results.failed:
        failed = tuple(sorted(results.failed.items()))
        parts.append(Table(("cell", "error"), failed, "Cells that failed", (1,)))
    if results.missing:
        reasons = sorted(set(results.missing.values()))
        parts.append(Text(f"Cells were left out: {'; '.join(reasons)}."))
    worse = [each for each in findings if each.verdict == WORSE]
    if worse:
        rows = tuple(
            (
                each.row,
                each.column,
                decimals(each.published),
                spread(each),
                each.why or "no explanation was found yet",
            )
            for each in worse
        )
        header = ("where", "what", "published", "ours", "tested explanation")
        parts.append(Table(header, rows, "Worse than published", (1, 4)))
    return parts


def _data_table() -> Table:
    rows = tuple(
        (
            each.title,
            each.name or "–",
            str(each.n_clusters),
            "yes" if each.is_comparable else "no",
            each.deviation or "equal to the paper's",
        )
        for each in SETS.values()
    )
    header = ("in the paper", "here", "clusters", "comparable", "what differs")
    return Table(header, rows, text_columns=(1, 3, 4))
