"""Fits from files and of many rows: time, memory and agreement with the truth.

``python -m benchmarks out_of_core`` takes some ten minutes and 2 GB of disk;
CREDALIS_SCRATCH names the directory for the files, CREDALIS_ROWS the largest number of
rows (10^7).
"""

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks.harness import Skipped, peak_megabytes
from credalis import NNEVCLUS

N_CLUSTERS, N_FEATURES, SEED = 15, 10, 0
N_LARGE = int(float(os.environ.get("CREDALIS_ROWS", 1e7)))
N_SMALL = N_LARGE // 10
IN_MEMORY = ("NNEVCLUS", "GaussianMixture", "MiniBatchKMeans")
# Distance of the centres, and standard deviations along the axes of the clusters: the
# best possible rule has an ARI of about 0.95.
_SEPARATION = 2.5
_DEVIATIONS = (0.8, 1.2)
_CHUNK = 100_000


@dataclass(frozen=True)
class Run:
    """One piece of work: seconds by the clock and on the processor, memory, ARI."""

    work: str
    clock: float
    processor: float
    resident_mb: float
    ari: float
    remark: str = ""

    HEADER = ("work", "clock [s]", "processor [s]", "resident [MB]", "ARI", "remark")

    @property
    def cells(self):
        return (
            self.work,
            f"{self.clock:.1f}",
            f"{self.processor:.1f}",
            f"{self.resident_mb:.0f}",
            f"{self.ari:.4f}",
            self.remark,
        )


def law():
    """Centres and axes of the clusters, always the same."""
    rng = np.random.default_rng(SEED)
    centers = rng.normal(size=(N_CLUSTERS, N_FEATURES)) * _SEPARATION / np.sqrt(2)
    axes = []
    for _ in range(N_CLUSTERS):
        rotation, _ = np.linalg.qr(rng.normal(size=(N_FEATURES, N_FEATURES)))
        axes.append(rotation * rng.uniform(*_DEVIATIONS, size=N_FEATURES))
    return centers, axes


def draw(n_rows, seed):
    """Rows and their clusters."""
    centers, axes = law()
    rng = np.random.default_rng(seed)
    y = rng.integers(N_CLUSTERS, size=n_rows)
    X = rng.normal(size=(n_rows, N_FEATURES))
    for k in range(N_CLUSTERS):
        X[y == k] = X[y == k] @ axes[k].T + centers[k]
    return X, y


def best_agreement():
    """ARI of the rule that knows the law."""
    X, y = draw(_CHUNK, [SEED, 0])
    scores = []
    for center, axis in zip(*law(), strict=True):
        scaled = np.linalg.solve(axis, (X - center).T)
        volume = np.log(abs(np.linalg.det(axis)))
        scores.append(-0.5 * np.square(scaled).sum(axis=0) - volume)
    return adjusted_rand_score(y, np.argmax(scores, axis=0))


def chunks(n_rows):
    for number, start in enumerate(range(0, n_rows, _CHUNK)):
        yield draw(min(_CHUNK, n_rows - start), [SEED, number])


def run():
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise Skipped("pyarrow is not installed") from error
    print(f"load of the machine before: {os.getloadavg()}")
    with tempfile.TemporaryDirectory(dir=os.environ.get("CREDALIS_SCRATCH")) as folder:
        small = from_file(N_SMALL, Path(folder))
        large = from_file(N_LARGE, Path(folder))
    whole = in_memory()
    print(
        f"{N_SMALL} to {N_LARGE} rows: processor x "
        f"{large.processor / small.processor:.1f}, "
        f"clock x {large.clock / small.clock:.1f}, "
        f"memory x {large.resident_mb / small.resident_mb:.2f}"
    )
    runs = [small, large, *whole]
    mixture = next(each for each in whole if "GaussianMixture" in each.work)
    ours = next(each for each in whole if "NNEVCLUS" in each.work)
    kmeans = next(each for each in whole if "MiniBatchKMeans" in each.work)
    print(
        f"processor: NNEVCLUS / GaussianMixture = "
        f"{ours.processor / mixture.processor:.2f}, NNEVCLUS / MiniBatchKMeans = "
        f"{ours.processor / kmeans.processor:.1f}"
    )
    print(f"ARI of the best possible rule: {best_agreement():.4f}")
    print(f"load of the machine after: {os.getloadavg()}")
    return runs


def from_file(n_rows, folder):
    """Fit to a Parquet file and predict to another one, in a process of its own."""
    rows, out = folder / "rows.parquet", folder / "out.parquet"
    write_rows(rows, n_rows)
    result = subprocess.run(
        [sys.executable, "-c", _CHILD, rows, out],
        check=True,
        capture_output=True,
        text=True,
    )
    measured = json.loads(result.stdout.splitlines()[-1])
    ari = agreement(out, n_rows)
    rows.unlink()
    out.unlink()
    return Run(
        f"{n_rows} rows, Parquet to Parquet",
        measured["clock"],
        measured["processor"],
        measured["resident_mb"],
        ari,
        f"fit {measured['fit']:.1f} s",
    )


_CHILD = """
import json, sys, time
from benchmarks.harness import peak_megabytes
from credalis import NNEVCLUS
from credalis.io import open_table, predict_table
rows, out = sys.argv[1:3]
start, clock = time.process_time(), time.monotonic()
model = NNEVCLUS(15, random_state=0).fit(open_table(rows))
fit = time.monotonic() - clock
predict_table(model, open_table(rows), out)
print(json.dumps({
    "clock": time.monotonic() - clock,
    "processor": time.process_time() - start,
    "resident_mb": peak_megabytes(),
    "fit": fit,
}))
"""


def write_rows(path, n_rows):
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"x{j}" for j in range(N_FEATURES)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with parquet.ParquetWriter(path, schema) as writer:
        for X, _ in chunks(n_rows):
            columns = {name: X[:, j] for j, name in enumerate(names)}
            writer.write_table(pa.table(columns, schema=schema))


def agreement(path, n_rows):
    import pyarrow.parquet as parquet

    labels = parquet.read_table(path, columns=["label"])["label"].to_numpy()
    truth = np.concatenate([y for _, y in chunks(n_rows)])
    return adjusted_rand_score(truth, labels)


def in_memory():
    """The same law in an array of 10^6 rows, one thread, against scikit-learn.

    Each in a process of its own, whose peak is that of nothing else.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as processes:
        return list(processes.map(run_in_memory, IN_MEMORY))


def run_in_memory(method):
    """Fit and predict in this process."""
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.mixture import GaussianMixture

    model = {
        "NNEVCLUS": NNEVCLUS(N_CLUSTERS, random_state=0),
        "GaussianMixture": GaussianMixture(N_CLUSTERS, random_state=0),
        "MiniBatchKMeans": MiniBatchKMeans(N_CLUSTERS, random_state=0),
    }[method]
    X, y = np.empty((N_SMALL, N_FEATURES)), np.empty(N_SMALL, dtype=np.int64)
    filled = 0
    for rows, clusters in chunks(N_SMALL):
        part = slice(filled, filled + len(rows))
        X[part], y[part] = rows, clusters
        filled = part.stop
    clock, start = time.monotonic(), time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = model.fit(X).predict(X)
    return Run(
        f"{N_SMALL} rows in memory, {method}",
        time.monotonic() - clock,
        time.process_time() - start,
        peak_megabytes(),
        adjusted_rand_score(y, labels),
        f"{model.n_iter_} iterations",
    )
