import io
import runpy
import sys

import pytest

import credalis
from cli_data import flowers
from credalis.cli import main

pytest.importorskip("click")


def test_demo_prints_a_summary_and_writes_a_report(tmp_path, capsys):
    path = tmp_path / "report.html"
    assert main(["demo", "--output", str(path)]) == 0
    shown = capsys.readouterr()
    assert "Credal partition of 400 objects in 4 clusters" in shown.out
    assert str(path) in shown.out
    assert shown.err == ""
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<h1>Built-in data: four classes <time" in page
    for diagram in ("Partition", "δ–Bel graph", "Learning curve"):
        assert f"<h2>{diagram}</h2>" in page


def test_demo_is_reproducible(tmp_path, capsys):
    paths = tmp_path / "a.html", tmp_path / "b.html"
    for path in paths:
        main(["demo", "-o", str(path), "--seed", "3"])
    first, second = capsys.readouterr().out.split("Report written")[:2]
    assert first.strip() in second
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert "random_state=3" in paths[0].read_text(encoding="utf-8")


def test_error_is_one_line_that_says_what_is_wrong(tmp_path, capsys):
    path = tmp_path / "missing" / "report.html"
    assert main(["demo", "-o", str(path)]) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith("credalis: error: ")
    assert "missing" in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [[], ["dance"], ["demo", "--seed", "x"], ["demo", "--seed", "-1"]]
)
def test_wrong_usage_has_exit_code_two(arguments, capsys):
    assert main(arguments) == 2
    assert "credalis" in capsys.readouterr().err


def test_module_runs_as_a_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["credalis", "--version"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("credalis", run_name="__main__", alter_sys=True)
    assert end.value.code == 0
    assert capsys.readouterr().out.strip() == f"credalis {credalis.__version__}"


def test_terminal_without_greek_letters_gets_a_question_mark(tmp_path, monkeypatch):
    table = tmp_path / "flowers.csv"
    table.write_text(flowers().replace("f0", "φ0"), encoding="utf-8")
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["peaks", str(table), "--id", "id", "--exclude", "colour,kind"]) == 0
    terminal.flush()
    assert b"?0" in terminal.buffer.getvalue()
