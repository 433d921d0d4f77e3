"""Files that appear whole or not at all."""

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import BinaryIO

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

# Stands for standard output in the place of a path.
STDOUT = "-"


def checked_path(path: str | os.PathLike[str], name: str = "path") -> str:
    """A path as text, or a ValueError that names the argument."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise ValueError(f"{name} must be a text or a path, got {type(path).__name__}")
    text = os.fsdecode(path)
    if "\0" in text:
        raise ValueError(f"{name} must have no NUL character, got {text!r}")
    return text


@contextmanager
def naming_errors(name: str) -> Iterator[None]:
    """Errors of the system that do not say which file they are about name it.

    A full disk is noticed by a write, which knows no name.
    """
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has gone, which is no error of the file
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, name) from error


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that takes its name when the block ends without an error.

    Until then an older file of this name stays as it is; after an error, or an
    interrupt, nothing is left behind. The new file has the permissions of the old one.
    What a process that was killed has left of the same file is removed.
    """
    # Where a link leads, so that the link stays.
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {target.parent} to write in")
    if target.exists() and not target.is_file():
        raise OSError(f"{target} is not a file that could be written")
    _remove_abandoned(target)
    temporary, stream = _locked_part(target)
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            # Still locked: no other process takes it for abandoned.
            if target.exists():
                os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
            if fcntl is not None:
                os.replace(temporary, target)
        if fcntl is None:
            # Windows renames closed files only.
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _locked_part(target: Path) -> tuple[Path, BinaryIO]:
    """A new file beside the target, locked as long as it is open."""
    while True:
        part = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
        stream = open(part, "x+b")  # noqa: SIM115, closed by the caller
        if fcntl is not None:
            fcntl.flock(stream, fcntl.LOCK_EX)
            if not part.exists():
                # Another process has taken it for abandoned before it was locked.
                stream.close()
                continue
        return part, stream


def _remove_abandoned(target: Path) -> None:
    """Remove parts of a file whose writers have been killed.

    Those that are being written are locked, or on Windows cannot be removed.
    """
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{12}}\.part")
    for part in target.parent.iterdir():
        if not pattern.fullmatch(part.name):
            continue
        with suppress(OSError), open(part, "rb") as stream:
            if fcntl is not None:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()
        if fcntl is None:
            with suppress(OSError):
                part.unlink()


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a place where nothing can be written, before the work begins."""
    if os.fspath(path) == STDOUT:
        return
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write in")
    place = target if is_device(target) else target.parent
    if not os.access(place, os.W_OK):
        raise PermissionError(f"no permission to write in {target.parent}")


def is_device(path: Path) -> bool:
    """Whether it is a pipe or a device, which cannot be replaced by a new file."""
    return path.exists() and not path.is_file() and not path.is_dir()
