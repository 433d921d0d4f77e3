"""What a row, a byte and a task cost, from which plans for larger data are made.

All figures are processor seconds of one thread, differences of two sizes of the same
work, so that starts and imports do not count. The data are those of ``out_of_core``.
"""

import os
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import Skipped
from benchmarks.out_of_core import N_CLUSTERS, N_FEATURES, draw
from credalis import CCM, ECM, NNEVCLUS
from credalis.sources import ArraySource, ParquetSource

N_ROWS = int(float(os.environ.get("CREDALIS_ROWS", 1e6)))
N_PARTITIONS = (20, 220)
PARTITION_ROWS = 1000


@dataclass(frozen=True)
class Cost:
    """Seconds of one unit of work."""

    work: str
    unit: str
    nanoseconds: float

    HEADER = ("work", "unit", "cost [ns]")

    @property
    def cells(self):
        return (self.work, self.unit, f"{self.nanoseconds:.3g}")


def run():
    try:
        import pyarrow  # noqa: F401
        from distributed import LocalCluster  # noqa: F401
    except ImportError as error:
        raise Skipped(f"{error}; it comes with the extras cli and dask") from error
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        # Few passes are enough to count what one costs.
        warnings.simplefilter("ignore")
        X, _ = draw(N_ROWS, 7)
        return [*training(X), *prediction(X), *reading(X), *tasks()]


def training(X):
    """Cost of a row in one more pass, or in one more iteration."""
    rows = ArraySource(X)
    network = NNEVCLUS(N_CLUSTERS, random_state=0)
    passes = [
        seconds(lambda n=n: network.set_params(max_iter=n).fit(rows)) for n in (1, 3)
    ]
    yield Cost("NNEVCLUS, a pass", "row", per(passes, 2 * len(X)))
    for cls in (ECM, CCM):
        model = cls(N_CLUSTERS, tol=1e-15, random_state=0)
        turns, n_turns = [], []
        for n in (5, 15):
            model.set_params(max_iter=n)
            turns.append(seconds(lambda model=model: model.fit(rows)))
            n_turns.append(model.n_iter_)
        n_more = (n_turns[1] - n_turns[0]) * len(X)
        yield Cost(f"{cls.__name__}, an iteration", "row", per(turns, n_more))


def prediction(X):
    """Cost of the masses of a row."""
    sizes = len(X) // 10, len(X) // 2
    for cls in (NNEVCLUS, ECM):
        model = cls(N_CLUSTERS, random_state=0).fit(ArraySource(X[:50_000]))
        times = [
            seconds(lambda n=n, model=model: model.predict_partition(X[:n]))
            for n in sizes
        ]
        name = f"{type(model).__name__}, masses with novelty"
        yield Cost(name, "row", per(times, sizes[1] - sizes[0]))


def reading(X):
    """Cost of a byte of a Parquet file, and of a row of it."""
    import pyarrow as pa
    from pyarrow import parquet

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        columns = {f"x{j}": X[:, j] for j in range(N_FEATURES)}
        parquet.write_table(pa.table(columns), path, row_group_size=100_000)
        source = ParquetSource(path)
        spent = seconds(lambda: sum(len(batch) for batch in source.batches()))
        n_bytes = path.stat().st_size
        yield Cost("Parquet, snappy, read and checked", "byte", 1e9 * spent / n_bytes)
        yield Cost("the same", "row", 1e9 * spent / len(X))


def tasks():
    """What a further partition costs the client and the scheduler in one iteration."""
    import dask.array as da
    from distributed import Client, LocalCluster

    spent = []
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):
        for n_partitions in N_PARTITIONS:
            X, _ = draw(n_partitions * PARTITION_ROWS, 7)
            lazy = da.from_array(X, chunks=(PARTITION_ROWS, N_FEATURES)).persist()
            model = ECM(N_CLUSTERS, tol=1e-15, random_state=0)
            turns = []
            for max_iter in (2, 12):
                start = time.process_time()
                model.set_params(max_iter=max_iter).fit(lazy)
                turns.append(time.process_time() - start)
            spent.append(turns[1] - turns[0])
    n_more = 10 * (N_PARTITIONS[1] - N_PARTITIONS[0])
    yield Cost("Dask, client and scheduler together", "task", per(spent, n_more))


def seconds(function):
    """Processor seconds, the better of two runs."""
    best = np.inf
    for _ in range(2):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def per(times, n_units):
    """Nanoseconds of one of the units that the second time has more."""
    return 1e9 * (times[1] - times[0]) / n_units
