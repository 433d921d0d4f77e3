"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

# Stands for standard output in the place of a path.
STDOUT = "-"


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
    interrupt, nothing is left behind.
    """
    # Where a link leads, so that the link stays.
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no directory {target.parent} to write in")
    if target.exists() and not target.is_file():
        raise OSError(f"{target} is not a file that could be written")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    try:
        with open(temporary, "x+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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
