"""Parts of a fit that run at the same time, and stop together."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, nullcontext
from enum import Enum
from functools import partial
from types import FrameType
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from credalis._control import (
    Stop,
    poll,
    rest_of_fit,
    section,
    stoppable,
    working_for,
)
from credalis._progress import FarProgress, Progress


class Missing(Enum):
    """What stands for an answer that is not there, also after a journey."""

    STOPPED = "stopped"


def in_parallel(
    function: Callable[..., Any],
    arguments: Sequence[tuple],
    *,
    n_jobs: int | None,
    prefer: str | None = None,
    progress: Progress | None = None,
) -> list[Any]:
    """What a function returns for each of some arguments, in their order.

    Each call is a run of the progress. Ctrl-C raises KeyboardInterrupt, and so does a
    cancel, once what runs has stopped.
    """
    counted = arguments
    if progress is not None:
        counted = [(progress, k, function, *each) for k, each in enumerate(arguments)]
    answers = answers_so_far(
        function if progress is None else _counted,
        counted,
        n_jobs=n_jobs,
        prefer=prefer,
        progress=progress,
        keeps=False,
    )
    return arrived(answers)


def answers_so_far(
    function: Callable[..., Any],
    arguments: Sequence[tuple],
    *,
    n_jobs: int | None,
    prefer: str | None = None,
    progress: Progress | None = None,
    keeps: bool = True,
) -> list[Any]:
    """`in_parallel`, but after Ctrl-C or a cancel, too, there are answers.

    Those of calls that had not found anything are `Missing.STOPPED`.
    """
    answers: list[Any] = [Missing.STOPPED] * len(arguments)
    backend, _ = get_active_backend()
    is_streaming = getattr(backend, "supports_return_generator", False)
    with (
        section() as stop,
        _noting_interrupts(stop) if keeps else nullcontext(),
        nullcontext() if progress is None else progress.from_processes(stop),
    ):
        parallel = Parallel(
            # A worker without work would get in the way of Ctrl-C, see below.
            n_jobs=min(effective_n_jobs(n_jobs), len(arguments)),
            prefer=prefer,
            return_as="generator_unordered" if is_streaming else "list",
        )
        try:
            for k, answer in parallel(
                delayed(_numbered)(k, stop, function, each)
                for k, each in enumerate(arguments)
            ):
                answers[k] = answer
        except BrokenExecutor:
            # A process that waits for work dies of the terminal's Ctrl-C, and joblib
            # kills the others. What had arrived by then is left.
            if not stop.has_come:
                raise
    return answers


@contextmanager
def sent_out(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """A function that can be called elsewhere, by Dask, and stops with this fit.

    What it returns there is to be looked at by `arrived`.
    """
    with rest_of_fit() as stop:
        yield partial(_called, stop, function)


def arrived(answers: Iterable[Any]) -> list[Any]:
    """Answers of a function that was `sent_out`, if none of the calls was stopped."""
    found = list(answers)
    poll()
    if any(answer is Missing.STOPPED for answer in found):
        raise KeyboardInterrupt
    return found


def _counted(
    progress: Progress | FarProgress,
    run: int,
    function: Callable[..., Any],
    *arguments: Any,
) -> Any:
    answer = function(*arguments)
    progress.report(run, 1, None)
    progress.finish(run)
    return answer


def _called(stop: Stop, function: Callable[..., Any], *arguments: Any) -> Any:
    return _answer(stop, function, arguments)


def _numbered(
    number: int, stop: Stop, function: Callable[..., Any], arguments: tuple
) -> tuple[int, Any]:
    return number, _answer(stop, function, arguments)


def _answer(stop: Stop, function: Callable[..., Any], arguments: tuple) -> Any:
    """The answer of one call, maybe in another thread, process or machine.

    No interrupt leaves it: those who run calls for us do not expect one.
    """
    with working_for(stop), stoppable(lambda: True):
        poll()
        return function(*arguments)
    return Missing.STOPPED


@contextmanager
def _noting_interrupts(stop: Stop) -> Iterator[None]:
    """Ctrl-C stops the workers of this thread, which goes on waiting for them.

    Whoever waits loses all answers if it is interrupted itself. A second Ctrl-C is an
    interrupt as ever.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not callable(before):
        yield
        return

    def note(number: int, frame: FrameType | None) -> None:
        if stop.has_come:
            before(number, frame)
            return
        with working_for(stop), stoppable(lambda: True):
            before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
