"""Signals that ask the command to stop."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from credalis._control import FitControl, was_cancelled


@contextmanager
def catching_signals() -> Iterator[None]:
    """SIGINT and SIGTERM unwind the command, so that no half file is left behind.

    They cancel all fits, wherever these run.
    """
    with FitControl() as control, _handlers(control):
        yield


@contextmanager
def _handlers(control: FitControl) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        control.cancel()
        if number == signal.SIGTERM:
            sys.exit(128 + number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, stop)
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def stop_if_asked() -> None:
    """Stop after a fit that was interrupted.

    Estimators answer an interrupt with the best result so far. That is what one wants
    in a session; a command that was told to stop should write nothing.
    """
    if was_cancelled():
        raise KeyboardInterrupt
