"""Computes cells that are not finished yet, one after the other or in processes."""

import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from credalis.exceptions import FitCancelledError
from credalis.reproduce._framework._cells import Cell, keep, stored
from credalis.reproduce._framework._data import data_from, is_available

# Told after each cell: how many are finished, how many there are, the last one.
Progress = Callable[[int, int, Cell], None]


@dataclass
class Results:
    """Records of cells by key, and why others are missing.

    Attributes
    ----------
    records : dict of str to dict
        What was computed, now or before.
    missing, failed : dict of str to str
        Cells whose data are not there, and cells that ended with an error, and why.
    n_kept : int
        Number of cells that were finished before.
    """

    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    n_kept: int = 0

    def of(self, experiment: str) -> list[dict[str, Any]]:
        """Records of an experiment."""
        start = f"{experiment}/"
        return [each for key, each in self.records.items() if key.startswith(start)]

    def values(self, experiment: str, name: str) -> dict[str, Any] | None:
        """Values of a cell; None if it has none."""
        record = self.records.get(f"{experiment}/{name}")
        return None if record is None else record["values"]


def run_cells(
    cells: Sequence[Cell],
    directory: Path,
    *,
    data: str | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Results:
    """Compute what is not finished, and return everything.

    Parameters
    ----------
    cells : sequence of Cell
        What to compute.
    directory : path
        Where finished cells are kept; those that are there already stay.
    data : str or None, default=None
        Directory of the benchmark sets; None: that of CREDALIS_DATA.
    n_jobs : int, default=1
        Number of cells at the same time.
    progress : callable, default=None
        Called after each cell.

    Returns
    -------
    Results
        Records of the cells, and the reasons why others are missing.
    """
    results = Results()
    todo = []
    with data_from(data):
        available = {
            name: is_available(name) for name in {c.data for c in cells} if name
        }
    for cell in cells:
        record = stored(cell, directory)
        if record is not None:
            results.records[cell.key] = record
            results.n_kept += 1
        elif cell.data is not None and not available[cell.data]:
            results.missing[cell.key] = f"the data set {cell.data} is not available"
        else:
            todo.append(cell)
    todo.sort(key=lambda cell: -cell.cost)
    calls = (delayed(_compute)(cell, directory, data) for cell in todo)
    done: Iterable[tuple[str, dict[str, Any] | str]]
    if n_jobs == 1:
        done = (_compute(cell, directory, data) for cell in todo)
    else:
        done = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls)
    by_key = {cell.key: cell for cell in todo}
    for n_done, (key, found) in enumerate(done, start=1):
        if isinstance(found, str):
            results.failed[key] = found
        else:
            results.records[key] = found
        if progress is not None:
            progress(n_done, len(todo), by_key[key])
    return results


def _compute(
    cell: Cell, directory: Path, data: str | None
) -> tuple[str, dict[str, Any] | str]:
    """The record of a cell, or what went wrong; other cells go on."""
    with (
        data_from(data),
        threadpool_limits(limits=1),
        _noting_interrupts() as interrupts,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        start = time.process_time()
        try:
            outcome = cell.compute(**cell.settings)
        except (ImportError, FitCancelledError):
            raise  # an extra is missing: the other cells would say the same
        except Exception as error:
            message = " ".join(str(error).split())
            return cell.key, f"{type(error).__name__}: {message}"
        seconds = time.process_time() - start
        if interrupts:
            raise KeyboardInterrupt
    warned = sorted({each.category.__name__ for each in caught})
    record = keep(cell, outcome, directory, seconds=seconds, warned=warned)
    return cell.key, record


@contextmanager
def _noting_interrupts() -> Iterator[list[int]]:
    """Interrupts inside the block, also those that an estimator has answered.

    A fit that is interrupted returns the best result so far, which is no finished cell.
    """
    noted: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        noted.append(number)
        if callable(before):
            before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)
