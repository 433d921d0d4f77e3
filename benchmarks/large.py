"""One fit by each method of as many rows as the table of all methods gives it.

Each is a process of its own with one thread; its peak of memory is that of nothing
else.
"""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from benchmarks.harness import peak_megabytes, seconds
from benchmarks.methods import N_CLUSTERS, N_COLUMNS, fit_of

# Methods without a limit are not here.
N_ROWS = {
    "EVCLUS": 100_000,
    "CECM": 100_000,
    "BCM": 100_000,
    "BPEC": 100_000,
    "EGMM": 100_000,
    "WMVEC": 100_000,
    "TECM": 100_000,
    "CatECM": 100_000,
    "RECM": 10_000,
    "ECMdd": 10_000,
    "MECM": 10_000,
    "MultiviewECMdd": 10_000,
    "EkNNclus": 100_000,
    "Bootclus": 10_000,
}


@dataclass(frozen=True)
class Fit:
    """One fit of many rows."""

    method: str
    n_rows: int
    seconds: float
    megabytes: float

    HEADER = ("method", "rows", "processor [s]", "peak [MB]")

    @property
    def cells(self):
        numbers = (f"{self.seconds:.3g}", f"{self.megabytes:.0f}")
        return (self.method, str(self.n_rows), *numbers)


def run():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as processes:
        return list(processes.map(fitted, N_ROWS, N_ROWS.values()))


def fitted(method, n_rows):
    """One fit in this process."""
    X, _ = make_blobs(n_rows, N_COLUMNS, centers=N_CLUSTERS, random_state=0)
    with threadpool_limits(limits=1):
        spent = seconds(fit_of(method, X))
    return Fit(method, n_rows, spent, peak_megabytes())
