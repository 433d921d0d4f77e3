"""Workers that are killed in the middle of a fit."""

import contextlib
import os
import signal
import threading
from typing import Any

import numpy as np
from joblib import parallel_config
from joblib.externals.loky import reusable_executor
from joblib.externals.loky.process_executor import TerminatedWorkerError
from tests.fuzz import models
from tests.fuzz.case import Call, ensure
from tests.fuzz.values import pick

from credalis import EVCLUS

Rng = np.random.Generator


def _kill(victim: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)


def processes(rng: Rng) -> Call:
    """Starts in processes of joblib, one of which is killed."""
    seconds = float(rng.random() * 0.5)
    X = np.concatenate([models.ROWS + 0.1 * k for k in range(8)])

    def model() -> Any:
        return EVCLUS(3, n_init=6, max_iter=50, random_state=0)

    def run() -> None:
        alone = model().fit(X).partition_
        with parallel_config(backend="loky", n_jobs=2):
            ensure(model().fit(X).partition_ == alone, "other bits in processes")
            victim = next(iter(reusable_executor._executor._processes))
            killer = threading.Timer(seconds, _kill, (victim,))
            killer.start()
            with contextlib.suppress(TerminatedWorkerError):
                # It has ended before the worker was killed, or its worker was idle.
                ensure(model().fit(X).partition_ == alone, "other bits")
            killer.join()
        with parallel_config(backend="loky", n_jobs=2):
            for _ in range(2):
                # A worker that died idle is noticed by the next call.
                with contextlib.suppress(TerminatedWorkerError):
                    again = model().fit(X).partition_
                    break
        ensure(again == alone, "other bits after a worker was killed")
        reusable_executor._executor.shutdown(wait=True, kill_workers=True)

    return Call("kill of a worker of joblib", run, allowed=(TerminatedWorkerError,))


def dask_workers(rng: Rng) -> Call:
    """Workers of a Dask cluster, one of which is killed during a fit."""
    seconds = float(pick(rng, (0.05, 0.2, 0.5)))

    def run() -> None:
        import dask.array as da
        from distributed import Client, LocalCluster

        from credalis import NNEVCLUS

        X = np.concatenate([models.ROWS + 0.1 * k for k in range(20)])
        lazy = da.from_array(X, chunks=(150, 2))
        model = NNEVCLUS(3, solver="adam", max_iter=4, random_state=0)
        alone = model.fit(lazy).transform(X)
        cluster = LocalCluster(
            2, threads_per_worker=1, processes=True, dashboard_address=None
        )
        with cluster, Client(cluster) as client:
            pids = client.run(os.getpid)
            victim = sorted(pids.values())[0]
            killer = threading.Timer(seconds, _kill, (victim,))
            killer.start()
            together = model.fit(lazy).transform(X)
            killer.join()
        ensure(np.array_equal(alone, together), "other bits after a worker was killed")

    return Call("kill of a worker of Dask", run)


KINDS = {processes: 2, dask_workers: 1}
