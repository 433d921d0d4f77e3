"""How far a fit is: told to whoever listens, and shown on standard error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

import numpy as np

from credalis._control import FitEvent, Listener, Stop, listeners
from credalis._refusals import of_the_user
from credalis._wire import FarEnd, Wire

# Called with the number of an iteration and the loss there.
Report = Callable[[int, float], None]

_BAR_WIDTH = 24
_SECONDS_BETWEEN_UPDATES = 0.1


class Progress:
    """Events about several runs of at most max_iter iterations each.

    They go to the listeners of the current fit and, if ``enabled``, to a line on
    standard error. Runs may report from several threads, and from other processes
    inside of `from_processes`.
    """

    def __init__(
        self,
        method: str,
        *,
        n_runs: int,
        max_iter: int,
        enabled: bool,
        stage: str = "",
        stream: TextIO | None = None,
    ) -> None:
        self._method, self._stage, self._max_iter = method, stage, max_iter
        self._line = Line(method, stage, n_runs, stream) if enabled else None
        self._listeners: tuple[Listener, ...] = listeners()
        if self._line is not None:
            self._listeners += (self._line,)
        self._done = [0.0] * n_runs
        self._last: list[tuple[int, float | None]] = [(0, None)] * n_runs
        self._lock = threading.RLock()
        self._stop: Stop | None = None
        self._relay: _Relay | None = None

    def __reduce__(self) -> tuple:
        if not self._listeners or self._stop is None:
            return FarProgress, (None,)
        wire = self._stop.wire
        if self._relay is None:
            self._relay = _Relay(self, wire, self._stop)
        return FarProgress, (wire,)

    @property
    def has_listeners(self) -> bool:
        """Whether anybody wants to know."""
        return bool(self._listeners)

    def report(self, run: int, iteration: int, loss: float | None) -> None:
        """Note that a run has reached this iteration and, if it has one, this loss."""
        if self._listeners:
            self._tell(run, iteration, loss, is_over=False)

    def finish(self, run: int) -> None:
        """Note that a run has ended, however many iterations it took."""
        if self._listeners:
            self._tell(run, *self._last[run], is_over=True)

    def close(self) -> None:
        """Write the last state."""
        if self._line is not None:
            self._line.close()

    @contextmanager
    def from_processes(self, stop: Stop) -> Iterator[None]:
        """Runs may be in other processes, which end with ``stop``."""
        self._stop = stop
        try:
            yield
        finally:
            self._stop, relay, self._relay = None, self._relay, None
            if relay is not None:
                relay.end()

    def _tell(
        self, run: int, iteration: int, loss: float | None, *, is_over: bool
    ) -> None:
        with self._lock:
            self._last[run] = iteration, loss
            share = 1.0 if is_over else min(iteration / self._max_iter, 1.0)
            self._done[run] = share
            event = FitEvent(
                self._method,
                self._stage,
                run,
                len(self._done),
                iteration,
                self._max_iter,
                None if loss is None else float(loss),
                sum(self._done) / len(self._done),
                is_over,
            )
            with of_the_user():
                for listen in self._listeners:
                    listen(event)


class FarProgress:
    """What a `Progress` is in another process."""

    def __init__(self, wire: FarEnd | None) -> None:
        self._wire = wire
        self._last: dict[int, tuple[int, float]] = {}
        self._next_update = 0.0

    def report(self, run: int, iteration: int, loss: float | None) -> None:
        """Note that a run has reached this iteration and, if it has one, this loss."""
        self._last[run] = iteration, np.nan if loss is None else float(loss)
        now = time.monotonic()
        if self._wire is not None and now >= self._next_update:
            self._next_update = now + _SECONDS_BETWEEN_UPDATES
            self._wire.write(run, *self._last[run], False)

    def finish(self, run: int) -> None:
        """Note that a run has ended, however many iterations it took."""
        if self._wire is not None:
            self._wire.write(run, *self._last.get(run, (0, np.nan)), True)


class _Relay(threading.Thread):
    """Passes on what other processes have told."""

    def __init__(self, progress: Progress, wire: Wire, stop: Stop) -> None:
        super().__init__(daemon=True)
        self._progress, self._wire, self._section = progress, wire, stop
        self._known: dict[int, tuple[int, float, bool]] = {}
        self._has_ended = threading.Event()
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Look now and then, and once more at the end."""
        try:
            while not self._has_ended.wait(_SECONDS_BETWEEN_UPDATES):
                self._pass_on()
            self._pass_on()
        except BaseException as error:  # of a listener: raised where the fit waits
            self._error = error
            self._section.set("over")

    def end(self) -> None:
        """Wait for the last look."""
        self._has_ended.set()
        self.join()
        if self._error is not None:
            raise self._error

    def _pass_on(self) -> None:
        for run, told in self._wire.read().items():
            if told != self._known.get(run):
                self._known[run] = told
                iteration, loss, is_over = told
                known = None if np.isnan(loss) else loss
                self._progress._tell(run, iteration, known, is_over=is_over)


class Line:
    """A listener that writes one line.

    On a terminal the line is rewritten in place; elsewhere only its last state is
    written.
    """

    def __init__(
        self, method: str, stage: str, n_runs: int, stream: TextIO | None
    ) -> None:
        self._title = f"{method}, {stage}" if stage else method
        self._stream = sys.stderr if stream is None else stream
        self._share = 0.0
        self._losses: list[float | None] = [None] * n_runs
        self._over: set[int] = set()
        self._start = time.monotonic()
        self._last_update = -1.0

    def __call__(self, event: FitEvent) -> None:
        """Note an event, and show it if the last one was some time ago."""
        self._share = event.share
        self._losses[event.run] = event.loss
        if event.is_over or event.iteration >= event.max_iter:
            self._over.add(event.run)
        if event.is_over:
            return
        now = time.monotonic()
        if self._is_terminal and now - self._last_update > _SECONDS_BETWEEN_UPDATES:
            self._last_update = now
            self._stream.write("\r" + self._text())
            self._stream.flush()

    def close(self) -> None:
        """Write the last state."""
        self._stream.write(("\r" if self._is_terminal else "") + self._text() + "\n")
        self._stream.flush()

    @property
    def _is_terminal(self) -> bool:
        return self._stream.isatty()

    def _text(self) -> str:
        elapsed = time.monotonic() - self._start
        filled = round(self._share * _BAR_WIDTH)
        known = [loss for loss in self._losses if loss is not None]
        parts = [
            f"{self._title} [{'#' * filled}{'-' * (_BAR_WIDTH - filled)}]",
            f"runs {len(self._over)}/{len(self._losses)}",
            f"loss {min(known):.6g}" if known else "",
            f"{elapsed:.1f} s",
        ]
        if 0 < self._share < 1:
            # Runs usually stop long before max_iter, so this is an upper bound.
            left = elapsed * (1 - self._share) / self._share
            parts.append(f"at most {left:.0f} s left")
        return "  ".join(part for part in parts if part)
