"""Child processes that compute for the server, so that it can always answer."""

import asyncio
import itertools
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

# The longest line of a child: a graph of thousands of objects.
_MAX_LINE = 2**26

Listener = Callable[[dict[str, Any]], None]


class WorkFailedError(Exception):
    """What a child says is wrong, for the analyst."""


class WorkCancelledError(Exception):
    """The work was cancelled."""


class Worker:
    """One child process, which does one thing after the other.

    It is started before it is needed, and started again after it was killed.
    """

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._numbers = itertools.count()
        self._turn = asyncio.Lock()
        self._n_cancelled = 0
        self._is_closed = False

    @property
    def pid(self) -> int | None:
        """Number of the process."""
        return None if self._process is None else self._process.pid

    @property
    def is_busy(self) -> bool:
        """Whether it is at work."""
        return self._turn.locked()

    async def start(self) -> asyncio.subprocess.Process:
        """The process, started if it is not running."""
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "credalis.app._child",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_MAX_LINE,
                # A group of its own: Ctrl-C is for the server, which ends its children.
                start_new_session=True,
            )
        return self._process

    async def do(
        self, kind: str, given: dict[str, Any], listener: Listener | None = None
    ) -> Any:
        """Have something done; others wait for their turn.

        Parameters
        ----------
        kind : str
            A method of `credalis.app._jobs.Jobs`.
        given : dict
            Its arguments.
        listener : callable, default=None
            Told how far it is.
        """
        before = self._n_cancelled
        async with self._turn:
            process = await self.start()
            if self._n_cancelled != before:
                raise WorkCancelledError
            assert process.stdin is not None
            assert process.stdout is not None
            number = next(self._numbers)
            request = {"id": number, "kind": kind, "given": given}
            try:
                process.stdin.write(json.dumps(request).encode() + b"\n")
                await process.stdin.drain()
                while line := await process.stdout.readline():
                    message = json.loads(line)
                    if "event" in message:
                        if listener is not None:
                            listener(message["event"])
                        continue
                    if "error" in message:
                        raise WorkFailedError(message["error"])
                    return message["done"]
            except asyncio.CancelledError:
                # Nobody waits any more, and half an answer would be in the way.
                await _kill(process)
                raise
            except (BrokenPipeError, ConnectionResetError):
                pass
            await _kill(process)
            if self._n_cancelled != before:
                raise WorkCancelledError
            raise WorkFailedError(
                "the process that did the work has ended; perhaps there was not enough "
                "memory: use fewer rows, or the method ECM, which needs the least"
            )

    async def cancel(self) -> None:
        """Kill the process at once, with whatever it has started."""
        self._n_cancelled += 1
        await _kill(self._process)
        if not self._is_closed:
            # Ready for the next one.
            await self.start()

    async def close(self) -> None:
        """End the process for good."""
        self._is_closed = True
        await _kill(self._process)


async def _kill(process: asyncio.subprocess.Process | None) -> None:
    """End a process and whatever it has started, if it is still there."""
    if process is None:
        return
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:  # on Windows
                process.kill()
    await process.wait()
