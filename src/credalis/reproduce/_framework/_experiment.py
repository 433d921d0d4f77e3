"""What an experiment declares."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from credalis.reproduce._framework._cells import Cell
from credalis.reproduce._framework._findings import Finding
from credalis.reproduce._framework._render import Picture, Table, Text
from credalis.reproduce._framework._runner import Results

Part = Text | Table | Picture


@dataclass(frozen=True)
class Shown:
    """An experiment in the report: its parts, and what it found."""

    parts: list[Part]
    findings: list[Finding]


@dataclass(frozen=True)
class Experiment:
    """A table or a set of figures of the paper.

    Parameters
    ----------
    name : str
        What the command line calls it.
    title : str
        Its heading in the report.
    cells : callable
        From "is it the quick run?" to the cells to compute.
    show : callable
        From results, "is it the quick run?" and the directory of the report to what is
        seen there. Results may lack cells.
    """

    name: str
    title: str
    cells: Callable[[bool], list[Cell]]
    show: Callable[[Results, bool, Path], Shown]
