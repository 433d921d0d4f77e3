"""One thread for each computation, so that its bits do not depend on the machine."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

# Thread pools and their numbers of threads before they were limited.
Numbers = list[tuple[Any, int]]


class _SharedLimit:
    """A limit for the whole process, lifted when the last of its users leaves.

    What every user saved and restored for itself would be, for all but the first, the
    limit of another one: eight of them in threads would leave the process with one
    thread for good.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_users = 0
        self._before: Numbers = []

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._n_users == 0:
                self._before = _limited("blas")
            self._n_users += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_users -= 1
                if self._n_users == 0:
                    _restore(self._before)


_one_blas_thread = _SharedLimit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread, in this thread of the process.

    The number of threads of linear algebra belongs to the process, that of OpenMP to
    each of its threads.
    """
    with _one_blas_thread():
        before = _limited("openmp")
        try:
            yield
        finally:
            _restore(before)


def _limited(kind: str) -> Numbers:
    """Limit the thread pools of a kind to one thread, and return what they had."""
    # A library that brings a pool of its own is loaded by some module.
    pools = _pools(len(sys.modules)).select(user_api=kind).lib_controllers
    before = [(pool, pool.num_threads) for pool in pools]
    for pool, _ in before:
        _set_threads(pool, 1)
    return before


def _restore(before: Numbers) -> None:
    for pool, number in before:
        _set_threads(pool, number)


def _set_threads(pool: Any, number: int) -> None:
    """Set the number of threads of a pool, whichever thread asks for it.

    Recent versions of threadpoolctl listen to one thread of the process only, which
    need be neither the first nor the last of ours.
    """
    getattr(pool, "_real_set_num_threads", pool.set_num_threads)(number)


@lru_cache(maxsize=2)
def _pools(n_modules: int) -> ThreadpoolController:
    """The thread pools of the process; finding them takes milliseconds."""
    return ThreadpoolController()
