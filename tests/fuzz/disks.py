"""Disks that are full, at any byte."""

import contextlib
import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tests.fuzz import files, kills, models, tables
from tests.fuzz.case import Call, ensure
from tests.fuzz.values import pick

from credalis.checkpoints import Checkpoint

Rng = np.random.Generator


@contextlib.contextmanager
def full_after(n_bytes: int) -> Iterator[None]:
    """No file can be longer: the system says so as it says that a disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def models_(rng: Rng) -> Call:
    """A model for which there is no room."""
    name = str(pick(rng, models.SAVED))
    made, whole = models.saved_object(name), files.saved_bytes(name)
    room = int(rng.integers(1.2 * len(whole)))

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.credalis"
            path.write_bytes(b"an older file")
            try:
                with full_after(room):
                    made.save(path)
            finally:
                expected = whole if room >= len(whole) else b"an older file"
                ensure(path.read_bytes() == expected, "half a model")
                ensure(os.listdir(folder) == [path.name], "a part was left behind")

    return Call("full disk while a model is saved", run, {"model.credalis"}, (OSError,))


def checkpoints(rng: Rng) -> Call:
    """A fit that cannot write its checkpoint says so."""
    kind = str(pick(rng, ("ECM", "CCM")))
    room = int(rng.integers(30_000))

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.credalis"
            try:
                with full_after(room):
                    files._STARTED[kind].fit(
                        models.ROWS, checkpoint=Checkpoint(path, 0.0)
                    )
            finally:
                ensure(not kills._parts(Path(folder)), "a part was left behind")

    return Call("full disk under a checkpoint", run, {"model.credalis"}, (OSError,))


def outputs(rng: Rng) -> Call:
    """A command that cannot write its table."""
    name = str(pick(rng, ("out.csv", "out.parquet", "out.tsv.gz", "out.feather")))
    room = int(rng.integers(12_000))
    words = ["cluster", "data.csv", "-c", "2", "-m", "ECM", "-q", "-o", name]

    def run() -> None:
        with tables._folder() as folder:
            (folder / "data.csv").write_text(kills._CSV)
            (folder / name).write_bytes(b"an older file")
            with full_after(room):
                code, _, err = tables._run(words)
            ensure(not kills._parts(folder), "a part was left behind")
            is_old = (folder / name).read_bytes() == b"an older file"
            ensure(is_old == (code != 0), f"code {code}: {err[-200:]}")
            if code:
                ensure(name in err and "unexpected" not in err, err[-300:])
            else:
                tables._whole(folder / name)

    return Call("full disk under a command", run)


KINDS = {models_: 5, checkpoints: 2, outputs: 3}
