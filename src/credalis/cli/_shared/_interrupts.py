"""Signals that ask the command to stop."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_requests: list[int] = []


@contextmanager
def catching_signals() -> Iterator[None]:
    """SIGINT and SIGTERM unwind the command, so that no half file is left behind."""
    _requests.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, _on_signal)
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
    if _requests:
        raise KeyboardInterrupt


def _on_signal(number: int, frame: FrameType | None) -> None:
    _requests.append(number)
    if number == signal.SIGTERM:
        sys.exit(128 + number)
    raise KeyboardInterrupt
