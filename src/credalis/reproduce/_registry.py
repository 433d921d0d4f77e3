"""The list of experiments, and the function that runs some of them."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from credalis._checks import check_choice
from credalis._html import import_jinja
from credalis.reproduce._experiments import (
    _attribute,
    _circles,
    _constrained,
    _dissimilarity,
    _examples,
    _fourclass,
    _times,
)
from credalis.reproduce._framework._cells import stored
from credalis.reproduce._framework._experiment import Experiment
from credalis.reproduce._framework._findings import Finding
from credalis.reproduce._framework._report import HTML_NAME, MARKDOWN_NAME, write_report
from credalis.reproduce._framework._runner import Progress, Results, run_cells

EXPERIMENTS: Mapping[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        _examples,
        _fourclass,
        _circles,
        _attribute,
        _dissimilarity,
        _constrained,
        _times,
    )
}


@dataclass(frozen=True)
class Reproduction:
    """What a run gave.

    Attributes
    ----------
    html, markdown : path
        The report.
    findings : list of Finding
        Published values beside ours.
    n_computed, n_kept : int
        Number of cells computed now, and finished before.
    missing, failed : dict of str to str
        Cells without data, and cells that ended with an error, and why.
    """

    html: Path
    markdown: Path
    findings: list[Finding]
    n_computed: int
    n_kept: int
    missing: dict[str, str]
    failed: dict[str, str]


def reproduce(
    names: Iterable[str],
    output: str | os.PathLike[str],
    *,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Reproduction:
    """Run experiments of the paper and write a report.

    Parameters
    ----------
    names : iterable of str
        Names of experiments, keys of ``EXPERIMENTS``.
    output : str or path
        Directory of the report, its figures and the finished cells; made if absent.
        Cells that it already has with the same settings are not computed again, and
        appear in the report whatever experiments are named.
    quick : bool, default=False
        Whether to run few repetitions of representative cells only.
    data : str or path, default=None
        Directory of the benchmark sets; None: that of the environment variable
        CREDALIS_DATA. Sets that are not there are listed as such.
    n_jobs : int, default=1
        Number of cells at the same time, -1 for as many as there are processors.
    progress : callable, default=None
        Called with the number of finished cells, that of all, and the last one.

    Returns
    -------
    Reproduction
    """
    chosen = [EXPERIMENTS[check_choice("name", n, EXPERIMENTS)] for n in names]
    directory = Path(output)
    if directory.exists() and not directory.is_dir():
        raise ValueError(f"output must be a directory, got the file {str(output)!r}")
    import_jinja()
    directory.mkdir(parents=True, exist_ok=True)
    results = run_cells(
        [cell for each in chosen for cell in each.cells(quick)],
        directory,
        data=None if data is None else os.fspath(data),
        n_jobs=n_jobs,
        progress=progress,
    )
    n_computed = len(results.records) - results.n_kept
    _add_finished(results, directory)
    findings = write_report(list(EXPERIMENTS.values()), results, quick, directory)
    return Reproduction(
        html=directory / HTML_NAME,
        markdown=directory / MARKDOWN_NAME,
        findings=findings,
        n_computed=n_computed,
        n_kept=results.n_kept,
        missing=results.missing,
        failed=results.failed,
    )


def _add_finished(results: Results, directory: Path) -> None:
    """Cells of earlier runs, quick or full, that nobody asked for now."""
    for each in EXPERIMENTS.values():
        for cell in (*each.cells(False), *each.cells(True)):
            if cell.key not in results.records:
                record = stored(cell, directory)
                if record is not None:
                    results.records[cell.key] = record
