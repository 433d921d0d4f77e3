"""Timing of our code against a baseline, in turn, on one core."""

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

import credalis


class Skipped(Exception):  # noqa: N818
    """A benchmark that cannot run here, with the reason."""


@dataclass(frozen=True)
class Measurement:
    """Seconds of one piece of work done in two ways, the best of several runs."""

    work: str
    baseline: str
    seconds: float
    baseline_seconds: float
    ratio: float

    HEADER = ("work", "baseline", "ours [s]", "baseline [s]", "ratio")

    @property
    def cells(self):
        return (
            self.work,
            self.baseline,
            f"{self.seconds:.4g}",
            f"{self.baseline_seconds:.4g}",
            f"{self.ratio:.1f}",
        )


@dataclass(frozen=True)
class Score:
    """How well a method did some work, over several runs."""

    work: str
    method: str
    mean: float
    deviation: float
    n_runs: int
    remark: str = ""

    HEADER = ("work", "method", "mean", "sd", "runs", "remark")

    @property
    def cells(self):
        return (
            self.work,
            self.method,
            f"{self.mean:.3f}",
            f"{self.deviation:.3f}",
            str(self.n_runs),
            self.remark,
        )


def compare(work, ours, baseline_name, baseline, *, repeats=5, baseline_repeats=2):
    """Time two functions in turn, so that noise hits both; the best run counts."""
    ours_seconds, baseline_seconds = [], []
    with threadpool_limits(limits=1):
        for run in range(max(repeats, baseline_repeats)):
            if run < repeats:
                ours_seconds.append(seconds(ours))
            if run < baseline_repeats:
                baseline_seconds.append(seconds(baseline))
    best, other = min(ours_seconds), min(baseline_seconds)
    return Measurement(work, baseline_name, best, other, other / best)


def seconds(function):
    """Time on the processor: on a shared machine the clock also counts others' work."""
    start = time.process_time()
    function()
    return time.process_time() - start


def peak_megabytes():
    """The most memory that this process has had.

    Linux counts in ``ru_maxrss`` what the process had that started this one.
    """
    status = Path(os.sep, "proc", "self", "status")
    if status.exists():
        lines = status.read_text().splitlines()
        own = next(line for line in lines if line.startswith("VmHWM"))
        return int(own.split()[1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def table(results):
    """Aligned text."""
    header, rows = results[0].HEADER, [result.cells for result in results]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in (header, *rows)
    )


def environment():
    return {
        "credalis": credalis.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def benchmark_data(name):
    """Standardised features of a benchmark set, or a Skipped that says what to do."""
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(_benchmark(name).data)


def benchmark_labels(name):
    """Classes of the objects of a benchmark set."""
    return _benchmark(name).target


def _benchmark(name):
    if not os.environ.get("CREDALIS_DATA"):
        raise Skipped(f"CREDALIS_DATA does not name a directory with {name}.csv.gz")
    return credalis.datasets.fetch_benchmark(name, download_if_missing=False)
