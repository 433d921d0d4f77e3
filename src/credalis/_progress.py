"""A progress line on standard error, for estimators with ``verbose``."""

import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

# Called with the number of an iteration and the loss there.
Report = Callable[[int, float], None]

_BAR_WIDTH = 24
_SECONDS_BETWEEN_UPDATES = 0.1


class Progress:
    """One line about several runs of at most max_iter iterations each.

    On a terminal the line is rewritten in place; elsewhere only its last state is
    written. Runs may report from several threads.
    """

    def __init__(
        self,
        title: str,
        *,
        n_runs: int,
        max_iter: int,
        enabled: bool,
        stream: TextIO | None = None,
    ) -> None:
        self._title = title
        self._max_iter = max_iter
        self._enabled = enabled
        self._stream = sys.stderr if stream is None else stream
        self._done = [0.0] * n_runs
        self._losses: list[float | None] = [None] * n_runs
        self._start = time.monotonic()
        self._last_update = -1.0
        self._lock = threading.Lock()

    def __reduce__(self):
        # A run in another process has no terminal to write to.
        return _silent, (self._title, len(self._done), self._max_iter)

    def report(self, run: int, iteration: int, loss: float | None) -> None:
        """Note that a run has reached this iteration and, if it has one, this loss."""
        if not self._enabled:
            return
        with self._lock:
            self._done[run] = min(iteration / self._max_iter, 1.0)
            self._losses[run] = loss
            now = time.monotonic()
            if self._is_terminal and now - self._last_update > _SECONDS_BETWEEN_UPDATES:
                self._last_update = now
                self._stream.write("\r" + self._line())
                self._stream.flush()

    def finish(self, run: int) -> None:
        """Note that a run has ended, however many iterations it took."""
        self._done[run] = 1.0

    def close(self) -> None:
        """Write the last state."""
        if self._enabled:
            self._stream.write(
                ("\r" if self._is_terminal else "") + self._line() + "\n"
            )
            self._stream.flush()

    @property
    def _is_terminal(self) -> bool:
        return self._stream.isatty()

    def _line(self) -> str:
        done = sum(self._done) / len(self._done)
        elapsed = time.monotonic() - self._start
        filled = round(done * _BAR_WIDTH)
        finished = sum(share == 1.0 for share in self._done)
        known = [loss for loss in self._losses if loss is not None]
        parts = [
            f"{self._title} [{'#' * filled}{'-' * (_BAR_WIDTH - filled)}]",
            f"runs {finished}/{len(self._done)}",
            f"loss {min(known):.6g}" if known else "",
            f"{elapsed:.1f} s",
        ]
        if 0 < done < 1:
            # Runs usually stop long before max_iter, so this is an upper bound.
            parts.append(f"at most {elapsed * (1 - done) / done:.0f} s left")
        return "  ".join(part for part in parts if part)


def _silent(title: str, n_runs: int, max_iter: int) -> Progress:
    return Progress(title, n_runs=n_runs, max_iter=max_iter, enabled=False)
