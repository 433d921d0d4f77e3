"""Outputs for spreadsheets, closed streams, and tables of many columns."""

import csv as csv_module
import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("pyarrow")

IDS = ["=1+2", "+cmd", "-x", "@sum", "-1.5", "+2e3", "a=b", "safe"]


@pytest.fixture
def hostile(tmp_path):
    rng = np.random.RandomState(0)
    lines = ["id,a,b"]
    for number in range(40):
        a, b = rng.normal(10 * (number % 2), 1, size=2)
        lines.append(f"{IDS[number % len(IDS)]},{a},{b}")
    path = tmp_path / "hostile.csv"
    path.write_text("\n".join(lines))
    return path


def ids_of(path):
    with open(path, newline="", encoding="utf-8") as stream:
        return [row["id"] for row in csv_module.DictReader(stream)][: len(IDS)]


OPTIONS = ("-c", 2, "-m", "ECM", "--id", "id", "--fields", "label", "--quiet")


def test_text_that_is_no_formula_stays_and_formulas_are_disarmed(run, hostile):
    result = run("cluster", hostile, *OPTIONS, "-o", "out.csv")
    assert result.code == 0, result.err
    assert ids_of("out.csv") == [
        *("'=1+2", "'+cmd", "'-x", "'@sum"),
        *("-1.5", "+2e3", "a=b", "safe"),
    ]


def test_programs_get_what_was_there(run, hostile):
    run("cluster", hostile, *OPTIONS, "-o", "out.csv", "--no-csv-safe")
    assert ids_of("out.csv") == IDS
    piped = run("cluster", hostile, *OPTIONS, "-o", "-")
    assert '"=1+2"' in piped.out
    assert "'=1+2" in run("cluster", hostile, *OPTIONS, "-o", "-", "--csv-safe").out


def test_predictions_are_disarmed_as_well(run, hostile):
    run("cluster", hostile, *OPTIONS, "--model", "model.credalis")
    result = run("predict", "model.credalis", hostile, "-o", "out.csv", "--quiet")
    assert result.code == 0, result.err
    assert ids_of("out.csv")[:4] == ["'=1+2", "'+cmd", "'-x", "'@sum"]


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that closes streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_end_cleanly(closed):
    command = f"{sys.executable} -m credalis --version {closed}"
    result = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0
    assert "Traceback" not in result.stderr


def test_names_of_columns_are_looked_up_once(run, tmp_path, monkeypatch):
    from credalis.tables import Table

    asked = []
    original = Table.columns.fget

    def columns(table):
        asked.append(table)
        return original(table)

    monkeypatch.setattr(Table, "columns", property(columns))
    counts = []
    for n_columns in (20, 200):
        X = np.random.RandomState(0).normal(size=(12, n_columns))
        names = ",".join(f"c{j}" for j in range(n_columns))
        np.savetxt(tmp_path / "wide.csv", X, delimiter=",", header=names, comments="")
        asked.clear()
        result = run("cluster", "wide.csv", "-c", 2, "-m", "ECM", "--quiet")
        assert result.code == 0, result.err
        counts.append(len(asked))
    assert counts[0] == counts[1]
