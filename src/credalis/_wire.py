"""A folder through which the processes of a fit speak to each other.

While the folder is there, the fit goes on; files in it say how far its runs are. No
process has to be asked, and a look costs microseconds.
"""

import os
import shutil
import struct
import sys
import tempfile
import time
from contextlib import suppress
from typing import Any, NamedTuple

# A process looks whether the folder is still there no more often than this.
SECONDS_BETWEEN_LOOKS = 0.05

_PROGRESS = struct.Struct("<qd?")

# Wires whose cutting was told by Dask to this process, on whatever machine it runs.
_cut_here: set[str] = set()


class Place(NamedTuple):
    """Where a folder is, and what tells its file system from that of other machines."""

    path: str
    device: int
    number: int

    @property
    def is_here(self) -> bool:
        """Whether this process sees the folder as long as it is there."""
        try:
            found = os.stat(os.path.dirname(self.path))
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (self.device, self.number)


class Wire:
    """The end of those who have begun a fit.

    Parameters
    ----------
    client : distributed.Client or None
        Who can tell workers on other machines, which do not see the folder.
    """

    def __init__(self, client: Any = None) -> None:
        self._client = client
        path = tempfile.mkdtemp(prefix="credalis-fit-")
        parent = os.stat(os.path.dirname(path))
        self._place = Place(path, parent.st_dev, parent.st_ino)

    def __reduce__(self) -> tuple:
        return FarEnd, (self._place,)

    def cut(self, *, is_idle: bool) -> None:
        """Let whoever is at the other end stop, if there still is somebody."""
        # Renamed at once: a file that is just being written would keep the folder.
        gone = self._place.path + "-cut"
        with suppress(OSError):
            os.rename(self._place.path, gone)
        shutil.rmtree(gone, ignore_errors=True)
        if self._client is not None and not is_idle:
            # A client that is closed, or whose own thread this is, tells nobody.
            with suppress(Exception):
                self._client.run(_cut, self._place.path, wait=False)

    def read(self) -> dict[int, tuple[int, float, bool]]:
        """Iteration and loss of each run that has told them, and whether it is over."""
        found = {}
        with suppress(OSError):
            for entry in os.scandir(self._place.path):
                with open(entry.path, "rb") as file:
                    told = file.read()
                if len(told) == _PROGRESS.size:
                    found[int(entry.name)] = _PROGRESS.unpack(told)
        return found


class FarEnd:
    """The end of a process that works for a fit."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._is_here = place.is_here
        self._next_look = 0.0

    def __reduce__(self) -> tuple:
        return FarEnd, (self._place,)

    @property
    def is_cut(self) -> bool:
        """Whether there is nobody left to work for."""
        if self._place.path in _cut_here:
            return True
        now = time.monotonic()
        if not self._is_here or now < self._next_look:
            return False
        self._next_look = now + SECONDS_BETWEEN_LOOKS
        return not os.path.isdir(self._place.path)

    def write(self, run: int, iteration: int, loss: float, is_over: bool) -> None:
        """Tell how far a run is."""
        told = _PROGRESS.pack(iteration, loss, is_over)
        # Nobody may listen any more, or only on another machine.
        with suppress(OSError), open(f"{self._place.path}/{run}", "wb") as file:
            file.write(told)


def dask_client() -> Any:
    """The client of this thread's computations with Dask, None if there is none."""
    try:
        return sys.modules["distributed"].Client.current()
    except ValueError:
        return None


async def _cut(path: str) -> None:
    # A coroutine, as a client does not wait for anything else to be run.
    _cut_here.add(path)
