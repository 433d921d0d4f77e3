"""A command in this process or in one of its own, and small tables."""

import io
import os
import subprocess
import sys
import types
from dataclasses import dataclass

import pytest

from cli_data import flowers
from credalis.cli import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def error(self):
        """The one line about an error; notes and warnings may stand before it."""
        assert self.err.count("credalis: error: ") == 1, self.err
        assert "Traceback" not in self.err
        last = self.err.splitlines()[-1]
        assert last.startswith("credalis: error: "), self.err
        return last.removeprefix("credalis: error: ")


@pytest.fixture
def run(tmp_path, monkeypatch, capfdbinary):
    """Runs a command in an empty directory, in this process."""
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments, stdin=None):
        if stdin is not None:
            pipe = types.SimpleNamespace(buffer=io.BytesIO(stdin))
            monkeypatch.setattr(sys, "stdin", pipe)
        capfdbinary.readouterr()
        code = main(list(map(str, arguments)))
        sys.stdout.flush()
        shown = capfdbinary.readouterr()
        return Result(code, shown.out.decode(), shown.err.decode())

    return run_command


@pytest.fixture
def process(tmp_path):
    """Runs a command in a process of its own."""

    def run_command(*arguments, **options):
        result = subprocess.run(
            [sys.executable, "-m", "credalis", *map(str, arguments)],
            capture_output=True,
            cwd=tmp_path,
            timeout=120,
            **options,
        )
        return Result(result.returncode, result.stdout.decode(), result.stderr.decode())

    return run_command


@pytest.fixture
def files(tmp_path):
    """Names of what is in the directory."""
    return lambda: sorted(os.listdir(tmp_path))


@pytest.fixture
def csv(tmp_path):
    """A good table."""
    (tmp_path / "flowers.csv").write_text(flowers())
    return "flowers.csv"
