"""One thread for each computation, so that its bits do not depend on the machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _SharedLimit:
    """A limit for the whole process, lifted when the last of its users leaves.

    What every user saved and restored for itself would be, for all but the first, the
    limit of another one: eight of them in threads would leave the process with one
    thread for good.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_users = 0
        self._before: list[int] = []

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._n_users == 0:
                self._before = [pool.num_threads for pool in _pools("blas")]
                for pool in _pools("blas"):
                    _set_threads(pool, 1)
            self._n_users += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_users -= 1
                if self._n_users == 0:
                    for pool, number in zip(_pools("blas"), self._before, strict=True):
                        _set_threads(pool, number)


_one_blas_thread = _SharedLimit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, in this thread of the process.

    The number of threads of linear algebra belongs to the process, that of OpenMP to
    each of its threads.
    """
    with _one_blas_thread():
        before = [pool.num_threads for pool in _pools("openmp")]
        for pool in _pools("openmp"):
            pool.set_num_threads(1)
        try:
            yield
        finally:
            for pool, number in zip(_pools("openmp"), before, strict=True):
                pool.set_num_threads(number)


def _set_threads(pool: Any, number: int) -> None:
    """Set the number of threads of linear algebra, whichever thread asks for it.

    Recent versions of threadpoolctl listen to one thread of the process only, which
    need be neither the first nor the last of ours.
    """
    getattr(pool, "_real_set_num_threads", pool.set_num_threads)(number)


@cache
def _pools(kind: str) -> list[Any]:
    """The thread pools of a kind; finding them takes milliseconds."""
    return ThreadpoolController().select(user_api=kind).lib_controllers
