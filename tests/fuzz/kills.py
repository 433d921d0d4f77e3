"""Processes that are killed while they write."""

import contextlib
import os
import pickle
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz import data, files, models, tables
from tests.fuzz.case import Call, ensure
from tests.fuzz.values import pick

import credalis
from credalis.checkpoints import Checkpoint

Rng = np.random.Generator

# Children write as long as they live; a killed one has had so many seconds.
_LONGEST = 0.06


def killed_after(seconds: float, work: Callable[[], Any]) -> None:
    """Let a child work again and again, and kill it."""
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    with models.quiet():
        # Python warns of threads in the parent, of which the child needs none.
        child = os.fork()
    if child == 0:
        # Nothing of the parent may run here when the child ends.
        with contextlib.suppress(BaseException):
            signal.setitimer(signal.ITIMER_PROF, 0)
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            os.write(writing, b"!")
            while True:
                work()
        os._exit(1)
    os.close(writing)
    try:
        begun = os.read(reading, 1)
        time.sleep(seconds)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    ensure(begun == b"!", "the child did not begin")
    ensure(os.WIFSIGNALED(status), f"the child ended by itself with status {status}")


def _parts(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.endswith(".part")]


def models_(rng: Rng) -> Call:
    """A model that is saved in place of another."""
    old, new = (str(name) for name in rng.choice(models.SAVED, size=2, replace=False))
    seconds = float(rng.random() * _LONGEST)
    is_signed = rng.random() < 0.2
    key = b"the owner's secret key" if is_signed else None
    first = files.saved_bytes(old, is_signed=is_signed)
    second = files.saved_bytes(new, is_signed=is_signed)
    made = models.saved_object(old), models.saved_object(new)

    def run() -> None:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "model.credalis"
            path.write_bytes(first)
            turn = [0]

            def work() -> None:
                turn[0] += 1
                made[turn[0] % 2].save(path, key=key)

            killed_after(seconds, work)
            ensure(path.read_bytes() in (first, second), "half a model")
            credalis.load(path, key=key)
            made[0].save(path, key=key)
            ensure(os.listdir(name) == ["model.credalis"], "a part was left behind")

    return Call("kill while a model is saved", run)


def checkpoints(rng: Rng) -> Call:
    """A fit that continues after it was killed, with the same bits."""
    kind = str(pick(rng, ("ECM", "CCM", "NNEVCLUS")))
    seconds = float(rng.random() * _LONGEST)
    _, masses = files._checkpoint(kind)
    model = files._STARTED[kind]

    def fit(path: Path) -> Any:
        copy = pickle.loads(pickle.dumps(model))
        return copy.fit(models.ROWS, checkpoint=Checkpoint(path, 0.0))

    def run() -> None:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "state"

            def work() -> None:
                fit(path)
                path.unlink()

            killed_after(seconds, work)
            again = fit(path)
            ensure(np.array_equal(again.partition_.masses, masses), "another end")
            ensure(not _parts(Path(name)), "a part was left behind")

    return Call("kill while a fit writes checkpoints", run)


_lines = [f"{a:.4f},{b:.4f}" for a, b in data.ordinary(np.random.default_rng(0), 40, 2)]
_CSV = "\n".join(["c0,c1", *_lines])


def outputs(rng: Rng) -> Call:
    """A command that writes a table, a model or both."""
    name = str(pick(rng, ("out.csv", "out.parquet", "out.tsv.gz", "out.feather")))
    seconds = float(rng.random() * 2 * _LONGEST)
    words = ["cluster", "data.csv", "-c", "2", "-m", "ECM", "-q", "-o", name]
    words += ["--model", "model.credalis"]
    old = b"an older file"

    def run() -> None:
        with tables._folder() as folder:
            (folder / "data.csv").write_text(_CSV)
            code, _, err = tables._run(words)
            ensure(code == 0, err)
            whole = {each: (folder / each).read_bytes() for each in words[8::2]}
            for each in whole:
                (folder / each).write_bytes(old)
            killed_after(seconds, lambda: tables._run(words))
            for each, content in whole.items():
                found = (folder / each).read_bytes()
                ensure(found in (old, content), f"half of {each}")
            tables._run(words)
            ensure(not _parts(folder), "a part was left behind")

    return Call("kill while a command writes", run)


KINDS = {models_: 5, checkpoints: 3, outputs: 3}
