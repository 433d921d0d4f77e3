"""``credalis reproduce``: the experiments of the NN-EVCLUS paper."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from credalis.cli._shared._console import Console
from credalis.cli._shared._interrupts import stop_if_asked

if TYPE_CHECKING:
    from credalis.reproduce import Reproduction

_LIST, _ALL = "list", "all"


def run(names: Sequence[str], **options: Any) -> None:
    """Do what the options say."""
    from credalis.reproduce import EXPERIMENTS, reproduce

    console = Console(quiet=options["quiet"], as_json=options["as_json"])
    if _LIST in names:
        if len(names) > 1:
            _refuse(f"list must stand alone, got {' '.join(names)}")
        _show_list(console)
        return
    unknown = [name for name in names if name not in (*EXPERIMENTS, _ALL)]
    if unknown:
        known = ", ".join((_LIST, _ALL, *EXPERIMENTS))
        _refuse(f"NAME must be one of {known}, got {unknown[0]!r}")
    chosen = list(EXPERIMENTS) if not names or _ALL in names else list(names)
    if options["n_jobs"] == 0:
        _refuse("--n-jobs must be a number of processes or -1, got 0")
    start = time.monotonic()

    def progress(n_done: int, n_all: int, cell: Any) -> None:
        stop_if_asked()
        minutes = (time.monotonic() - start) / 60
        console.progress(
            f"{n_done}/{n_all} cells, {minutes:.1f} min, {cell.key:<48.48}"
        )

    found = reproduce(
        chosen,
        options["output"],
        quick=options["quick"],
        data=options["data"],
        n_jobs=options["n_jobs"],
        progress=progress,
    )
    if console.shows_progress:
        click.echo(err=True)
    for cell, reason in found.failed.items():
        console.warn(f"{cell}: {reason}")
    console.result(_summary(found), _values(found, console))
    if found.failed:
        raise click.exceptions.Exit(1)


def _refuse(message: str) -> None:
    raise click.UsageError(message, click.get_current_context())


def _show_list(console: Console) -> None:
    from credalis.reproduce import EXPERIMENTS

    lines = []
    values = []
    for name, each in EXPERIMENTS.items():
        n_quick, n_full = len(each.cells(True)), len(each.cells(False))
        lines.append(f"{name:<14} {each.title} ({n_full} cells, quick {n_quick})")
        values.append(
            {"name": name, "title": each.title, "cells": n_full, "quick": n_quick}
        )
    console.result("\n".join(lines), {"experiments": values})


def _summary(found: "Reproduction") -> str:
    compared = [each for each in found.findings if each.is_compared]
    worse = [each for each in compared if each.verdict == "worse"]
    lines = [
        f"{len(compared) - len(worse)} of {len(compared)} values that can be compared "
        "are reproduced or better",
        f"cells    {found.n_computed} computed, {found.n_kept} finished before, "
        f"{len(found.missing)} without data, {len(found.failed)} failed",
        f"report   {found.html}",
        f"         {found.markdown}",
    ]
    return "\n".join(lines)


def _values(found: "Reproduction", console: Console) -> dict[str, Any]:
    return {
        "findings": [
            {
                "where": each.row,
                "what": each.column,
                "published": each.published,
                "best": each.best,
                "mean": each.mean,
                "sd": each.deviation,
                "runs": len(each.values),
                "verdict": each.verdict,
                "why": each.why,
            }
            for each in found.findings
        ],
        "computed": found.n_computed,
        "kept": found.n_kept,
        "missing": found.missing,
        "failed": found.failed,
        "written": [str(found.html), str(found.markdown)],
        "warnings": console.warnings,
    }
