"""Time of starting; time and memory of clustering and predicting large files.

Each command runs in a process of its own, whose peak of resident memory is what the
system reports. The data are 15 overlapping Gaussian clusters with 10 features.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.harness import Skipped

N_CLUSTERS, N_FEATURES = 15, 10
N_FIT = 1_000_000
N_NEW = (1_000_000, 10_000_000)
BLOCK_ROWS = 100_000
# How far apart the centres are; the standard deviation of a cluster is one.
SPREAD = 3.0

# What starts the command or the library, and what scikit-learn takes for itself.
STARTS = {
    "credalis --help": ("-m", "credalis", "--help"),
    "credalis --version": ("-m", "credalis", "--version"),
    "credalis cluster --help": ("-m", "credalis", "cluster", "--help"),
    "import sklearn.cluster": ("-c", "import sklearn.cluster"),
    "import sklearn.cluster, credalis": ("-c", "import sklearn.cluster, credalis"),
    "from credalis import NNEVCLUS": ("-c", "from credalis import NNEVCLUS"),
    "import pyarrow": ("-c", "import pyarrow"),
}
N_STARTS = 7


@dataclass(frozen=True)
class Run:
    """One command: how long it took, and how much memory it had at most."""

    work: str
    seconds: float
    processor_seconds: float
    peak_megabytes: float

    HEADER = ("work", "time [s]", "processor [s]", "peak [MB]")

    @property
    def cells(self):
        numbers = (self.seconds, self.processor_seconds, self.peak_megabytes)
        return (self.work, *(f"{number:.3g}" for number in numbers))


def run():
    try:
        import click  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise Skipped(f"{error}; it comes with the extra cli") from error
    if not hasattr(os, "wait4"):
        raise Skipped("this system does not tell the memory of a process")
    with tempfile.TemporaryDirectory() as directory:
        return [*starts(), *measurements(Path(directory))]


def starts():
    """The quickest of several starts; the first one has filled the caches.

    A peak of memory below that of this program cannot be seen.
    """
    for work, arguments in STARTS.items():
        runs = [run_python(work, *arguments) for _ in range(1 + N_STARTS)][1:]
        yield min(runs, key=lambda run: run.processor_seconds)


def measurements(directory):
    model, out = directory / "model.credalis", directory / "out.parquet"
    data = make(directory / "fit.parquet", N_FIT, seed=0)
    for method in ("NNEVCLUS", "ECM"):
        yield measured(
            f"cluster {N_FIT} x {N_FEATURES}, -c {N_CLUSTERS} -m {method}, memberships "
            "and model",
            *("cluster", data, "-c", str(N_CLUSTERS), "-m", method),
            *("-o", out, "--model", model),
        )
        for n_rows in N_NEW:
            new = make(directory / "new.parquet", n_rows, seed=1)
            yield measured(
                f"predict {n_rows} x {N_FEATURES} with {method}, all memberships",
                *("predict", model, new, "-o", out),
            )


def make(path, n_rows, seed):
    """Write a table block by block."""
    import pyarrow as pa
    from pyarrow import parquet

    centers = SPREAD * np.random.default_rng(99).normal(size=(N_CLUSTERS, N_FEATURES))
    rng = np.random.default_rng(seed)
    names = [f"x{j}" for j in range(N_FEATURES)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with parquet.ParquetWriter(path, schema) as writer:
        for _ in range(n_rows // BLOCK_ROWS):
            X = centers[rng.integers(N_CLUSTERS, size=BLOCK_ROWS)]
            X = X + rng.normal(size=X.shape)
            columns = [pa.array(column) for column in X.T.copy()]
            writer.write_batch(pa.record_batch(columns, schema=schema))
    return path


def measured(work, *arguments):
    """What a command of ours took."""
    return run_python(work, "-m", "credalis", *map(str, arguments))


def run_python(work, *arguments):
    """Run Python and ask the system what it took."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"exit code {process.returncode}: {work}")
    # Kilobytes on Linux, bytes on macOS.
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return Run(
        work,
        time.perf_counter() - start,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / unit,
    )
