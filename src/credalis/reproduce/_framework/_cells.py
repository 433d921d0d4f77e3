"""Cells: what is computed at once, and kept once it is finished."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from credalis import __version__
from credalis._files import atomic_write

# Raised when what a cell computes changes although its settings do not.
_FORMAT = 1


@dataclass(frozen=True)
class Outcome:
    """What a cell gives: JSON values, and figures as PNG by name."""

    values: dict[str, Any]
    figures: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """One thing to compute, named by its experiment and by itself.

    Parameters
    ----------
    experiment, name : str
        Where the result belongs; the names of its files.
    compute : callable
        A function at the level of a module, so that another process can run it.
    settings : mapping
        Its keyword arguments, JSON values. A finished cell is computed anew when they
        change.
    data : str or None
        The benchmark set that it needs.
    cost : float
        Processor seconds it took once; long ones begin first.
    """

    experiment: str
    name: str
    compute: Callable[..., Outcome]
    settings: Mapping[str, Any]
    data: str | None = None
    cost: float = 1.0

    @property
    def key(self) -> str:
        """Experiment and name."""
        return f"{self.experiment}/{self.name}"

    @property
    def fingerprint(self) -> str:
        """Tells cells apart that do not compute the same."""
        # The file alone: finished cells outlive a move to another folder.
        module = self.compute.__module__.rpartition(".")[2]
        what = {
            "format": _FORMAT,
            "version": __version__,
            "compute": f"credalis.reproduce.{module}.{self.compute.__qualname__}",
            "settings": dict(self.settings),
        }
        text = json.dumps(what, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def file(self, directory: Path) -> Path:
        """Where its values are kept."""
        return directory / "cells" / self.experiment / f"{_safe(self.name)}.json"

    def figure_file(self, directory: Path, figure: str) -> Path:
        """Where a figure of it is kept."""
        return directory / "figures" / f"{self.experiment}-{_safe(figure)}.png"


def _safe(name: str) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", name)


def stored(cell: Cell, directory: Path) -> dict[str, Any] | None:
    """The record of a finished cell; None if there is none of these settings.

    A file that cannot be read as such a record counts as absent: the cell is computed
    again and the file replaced.
    """
    try:
        record = json.loads(cell.file(directory).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(record, dict) or record.get("fingerprint") != cell.fingerprint:
        return None
    figures = record.get("figures")
    if not isinstance(record.get("values"), dict) or not isinstance(figures, list):
        return None
    if not all(cell.figure_file(directory, name).is_file() for name in figures):
        return None
    return record


def keep(
    cell: Cell,
    outcome: Outcome,
    directory: Path,
    *,
    seconds: float,
    warned: list[str],
) -> dict[str, Any]:
    """Write a finished cell: figures first, so that a record never lacks its own."""
    for name, image in outcome.figures.items():
        write_file(cell.figure_file(directory, name), image)
    record = {
        "experiment": cell.experiment,
        "cell": cell.name,
        "fingerprint": cell.fingerprint,
        "settings": dict(cell.settings),
        "values": outcome.values,
        "figures": sorted(outcome.figures),
        "seconds": round(seconds, 4),
        "warnings": warned,
    }
    text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)
    write_file(cell.file(directory), f"{text}\n".encode())
    return record


def write_file(path: Path, content: bytes) -> None:
    """Write a file at once or not at all, with the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as stream:
        stream.write(content)
