"""One and two worker processes of Dask on 10^6 rows: time of the fit, same bits.

The rows are made by the workers and held by them before the clock starts; where, is
left to Dask, as it is for those who use it, and printed.
"""

import os
import time
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import adjusted_rand_score

# What a first fit imports must not count for one worker and not for two.
import credalis.distributed  # noqa: F401
from benchmarks.harness import Skipped
from benchmarks.out_of_core import draw
from credalis import NNEVCLUS

N_ROWS = int(float(os.environ.get("CREDALIS_ROWS", 1e6)))
N_PARTITIONS = 8
N_PASSES = 5


@dataclass(frozen=True)
class Fit:
    """Seconds of a fit: by the clock, on the busiest worker, and on the whole path.

    The path is the client, with the scheduler, and the busiest worker. On a machine
    that has other work to do the clock counts that as well, the others do not.
    """

    work: str
    seconds: float
    speed_up: float
    worker: float
    worker_speed_up: float
    path: float
    path_speed_up: float
    ari: float

    HEADER = (
        "work",
        "clock [s]",
        "speed-up",
        "busiest worker [s]",
        "its speed-up",
        "path [s]",
        "speed-up of path",
        "ARI",
    )

    @property
    def cells(self):
        return (
            self.work,
            f"{self.seconds:.1f}",
            f"{self.speed_up:.2f}",
            f"{self.worker:.1f}",
            f"{self.worker_speed_up:.2f}",
            f"{self.path:.1f}",
            f"{self.path_speed_up:.2f}",
            f"{self.ari:.4f}",
        )


def run():
    try:
        import dask.array as da
        from distributed import Client, LocalCluster, wait
    except ImportError as error:
        raise Skipped("dask and distributed are not installed") from error
    print(f"load of the machine: {os.getloadavg()}")
    fits, masses = [], []
    test, y = draw(20_000, 1)
    for n_workers in (1, 2):
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            Client(cluster) as client,
        ):
            blocks = [
                da.from_delayed(part, (N_ROWS // N_PARTITIONS, 10), dtype=float)
                for part in _parts()
            ]
            X = da.concatenate(blocks).persist()
            wait(X)
            held = [len(keys) for keys in client.has_what().values()]
            print(f"{n_workers} workers: partitions {held}")
            start, before = time.monotonic(), processor_seconds(client)
            model = NNEVCLUS(15, max_iter=N_PASSES, random_state=0).fit(X)
            seconds = time.monotonic() - start
            here, *workers = processor_seconds(client) - before
            worker, path = max(workers), here + max(workers)
        masses.append(model.transform(test))
        ari = adjusted_rand_score(y, model.predict(test))
        work = f"{N_ROWS} rows, {N_PASSES} passes, {n_workers} workers"
        first = fits[0] if fits else Fit(work, seconds, 1, worker, 1, path, 1, ari)
        fits.append(
            Fit(
                work,
                seconds,
                first.seconds / seconds,
                worker,
                first.worker / worker,
                path,
                first.path / path,
                ari,
            )
        )
    print("same bits:", np.array_equal(*masses))
    return fits


def processor_seconds(client):
    """Of the client and of the workers."""
    workers = client.run(time.process_time)
    return np.array([time.process_time(), *(workers[name] for name in sorted(workers))])


def _parts():
    from dask import delayed

    make = delayed(_rows)
    return [make(N_ROWS // N_PARTITIONS, [7, k]) for k in range(N_PARTITIONS)]


def _rows(n_rows, seed):
    return draw(n_rows, seed)[0]
