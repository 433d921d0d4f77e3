"""The private folder of a session: where it is, what is in it, and a file of it all.

A folder belongs to one server at a time, by a lock that ends with its process. Work
that a server has left is found by the next one.
"""

import json
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from credalis._files import atomic_write
from credalis.app._settings import (
    CANNOT_LINK,
    LABELS,
    MEMBERSHIPS,
    MODEL,
    MUST_LINK,
    REPORT,
)

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

SESSION = "session.json"
# What the children write beside the table.
RESULTS = (
    "result.json",
    "names.json",
    "command.json",
    "run.json",
    "partition.credalis",
)
TAKEN = (MEMBERSHIPS, MODEL, REPORT, "reproduce.py", LABELS, MUST_LINK, CANNOT_LINK)
ARRAY = re.compile(r"(rows|labels|second|kinds|doubt|sets|axis-\d{1,2})\.bin")

MAX_WORK_BYTES = 2**31
_MAX_NAME = 120
_MAX_SLOTS = 100
_MAX_RATIO = 200
_STRANGE = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]")
_MEMBER = re.compile(r"runs/\d{1,4}/[^/]+")


def state_folder() -> Path:
    """Where programs of this user keep what is theirs."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Application Support"
    else:
        base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "credalis" / "app"


class Folder:
    """A folder that only this user can read, held by this process.

    Parameters
    ----------
    parent : Path
        Where folders of sessions are; the first one that nobody holds is taken.
    """

    def __init__(self, parent: Path) -> None:
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock: Any = None
        self.path = self._free(parent)
        os.chmod(self.path, 0o700)

    def _free(self, parent: Path) -> Path:
        if fcntl is None:
            return Path(tempfile.mkdtemp(dir=parent))
        for number in range(1, _MAX_SLOTS):
            place = parent / str(number)
            place.mkdir(exist_ok=True, mode=0o700)
            lock = open(place / "lock", "w")  # noqa: SIM115, held by the process
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
                continue
            self._lock = lock
            return place
        raise OSError(f"there are {_MAX_SLOTS} pages open already: close some")

    def close(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            self._lock.close()

    @property
    def tables(self) -> Path:
        """Where the table is."""
        return self._made("table")

    def run(self, number: int) -> Path:
        """Where a result is."""
        return self.path / "runs" / str(number)

    def new_run(self, number: int, table: str) -> Path:
        """An empty folder for a result, with the table in it."""
        place = self.run(number)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        link_table(self.tables / table, place / table)
        return place

    def remove_run(self, number: int) -> None:
        """Remove what a fit has left."""
        shutil.rmtree(self.run(number), ignore_errors=True)

    def clear(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.path / "incoming", ignore_errors=True)
        self.clear_work()

    def clear_work(self) -> None:
        """Remove the table and all about it."""
        for name in ("table", "runs"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        (self.path / SESSION).unlink(missing_ok=True)

    def incoming(self) -> Path:
        """Where uploads are until they are whole."""
        return self._made("incoming")

    def _made(self, name: str) -> Path:
        place = self.path / name
        place.mkdir(exist_ok=True, mode=0o700)
        return place

    def read_session(self) -> Any:
        """What `write_session` has written; None if nothing was."""
        path = self.path / SESSION
        if not path.is_file():
            return None
        return json.loads(path.read_text(encoding="utf-8"))

    def write_session(self, state: dict[str, Any]) -> None:
        """Keep the state of the session; whole or not at all."""
        with atomic_write(self.path / SESSION) as stream:
            stream.write(json.dumps(state).encode())


def link_table(source: Path, target: Path) -> None:
    """The same table at another place, without a copy where that is possible."""
    if source.is_dir():
        target.symlink_to(source.resolve(), target_is_directory=True)
        return
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)


def checked_name(name: str) -> str:
    """Name of a table that is stored, or a ValueError."""
    if not name or len(name) > _MAX_NAME or name in (".", ".."):
        raise ValueError(
            f"a file must have a name of 1 to {_MAX_NAME} characters, got {name!r:.80}"
        )
    if _STRANGE.search(name) or any("\ud800" <= c <= "\udfff" for c in name):
        raise ValueError(
            "the name of a file must not lead elsewhere or hold signs such as / or :, "
            f"got {name!r:.80}: rename the file"
        )
    own = {*RESULTS, *TAKEN}
    is_own = name.lower() in own or ARRAY.fullmatch(name)
    # An option of the command line begins so, and a hidden file.
    return f"table-{name}" if is_own or name[0] in "-." else name


def zipped(
    folder: Folder, names: list[str], stream: Any, *, is_flat: bool = False
) -> None:
    """Write files of the session to an archive, with or without their folders."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            path = folder.path / name
            if path.is_file():
                archive.write(path, path.name if is_flat else name)


def work_names(folder: Folder, table: str | None, runs: list[int]) -> list[str]:
    """Files that a work is made of."""
    names = [SESSION]
    if table is not None:
        names.append(f"table/{table}")
    for number in runs:
        place = folder.run(number)
        names += [
            f"runs/{number}/{path.name}"
            for path in sorted(place.iterdir())
            if is_result(path.name) and path.is_file()
        ]
    return names


def is_result(name: str) -> bool:
    """Whether a file is one that a fit writes."""
    return name in RESULTS or name in TAKEN or ARRAY.fullmatch(name) is not None


def unzipped(archive_path: Path, folder: Path) -> None:
    """Unpack a work into an empty folder, or a ValueError if it is none."""
    try:
        with zipfile.ZipFile(archive_path) as archive:
            members = list(_checked_members(archive, archive_path.stat().st_size))
            for member in members:
                target = folder / member.filename
                target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                with archive.open(member) as source, open(target, "wb") as stream:
                    shutil.copyfileobj(source, stream)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
        raise ValueError(
            "this is no work that was saved from this page, or it is damaged"
        ) from error


def _checked_members(archive: zipfile.ZipFile, size: int) -> Iterator[zipfile.ZipInfo]:
    members = archive.infolist()
    total = sum(member.file_size for member in members)
    if total > MAX_WORK_BYTES or (total > 2**26 and total > _MAX_RATIO * size):
        raise ValueError(
            f"the work would unpack to {total} bytes, which is too much: it is refused"
        )
    if SESSION not in {member.filename for member in members}:
        raise ValueError("this is no work that was saved from this page")
    for member in members:
        name = member.filename
        parts = name.split("/")
        is_table = (
            len(parts) == 2 and parts[0] == "table" and parts[1] == _safe(parts[1])
        )
        is_run = bool(_MEMBER.fullmatch(name)) and is_result(parts[-1])
        if not (name == SESSION or is_table or is_run):
            raise ValueError(f"a saved work has no file {name!r:.80}: it is refused")
        yield member


def _safe(name: str) -> str | None:
    try:
        return checked_name(name)
    except ValueError:
        return None
