"""Outputs for spreadsheets, closed streams, and tables of many columns."""

import csv as csv_module
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from helpers import contents, write

pytest.importorskip("click")
pytest.importorskip("pyarrow")

from credalis.cli._shared._console import visible

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


# Clears the screen, sets the title, an 8-bit escape, turns the direction, a new line.
ESCAPES = "\x1b[2J\x1b]0;title\x07\x9b31m\u202e\nfile  another\x7f"
SHOWN = r"\x1b[2J\x1b]0;title\x07\x9b31m\u202e\nfile  another\x7f"


def is_obeyed(text):
    """Whether a terminal would do anything but show the text."""
    return any(not (each.isprintable() or each == "\n") for each in text)


@pytest.fixture
def nasty(run, hostile, tmp_path):
    """A model whose names hold escapes."""
    run("cluster", hostile, *OPTIONS, "--model", "model.credalis")
    path = tmp_path / "model.credalis"
    header, arrays = contents(path)
    header["versions"]["credalis"] = ESCAPES
    state = header["object"]["state"]
    state["facts"]["items"]["table"] = ESCAPES
    state["preparation"]["state"]["numeric"]["items"][0] = ESCAPES
    write(path, header, arrays)
    return path


def test_escapes_in_a_file_are_shown_not_obeyed(run, nasty):
    text = run("info", nasty).out
    assert not is_obeyed(text)
    assert f"written with  credalis {SHOWN}, numpy" in text
    assert f"column        {SHOWN} (x - " in text
    assert f"fitted to     {SHOWN}: 40 rows" in text


def test_escapes_are_escaped_in_json_and_come_back(run, nasty):
    text = run("info", nasty, "--json").out
    assert not is_obeyed(text)
    values = json.loads(text)
    assert values["written_with"]["credalis"] == ESCAPES
    assert values["columns"]["numbers"][0]["name"] == ESCAPES


def test_errors_that_quote_a_file_are_not_obeyed(run, nasty, hostile):
    # A table without the column, whose name the message tells.
    result = run("predict", nasty, hostile)
    assert result.code == 1
    assert r"\x1b[2J" in result.error
    assert not is_obeyed(result.err)
    header, arrays = contents(nasty)
    header["format"] = 3
    write(nasty, header, arrays)
    assert r"\x1b[2J" in run("info", nasty).error


def test_names_of_files_are_not_obeyed(run):
    result = run("info", "absent\x1b[2J.credalis")
    assert r"absent\x1b[2J.credalis" in result.error
    assert not is_obeyed(result.err)


def test_visible_text_stays_as_it_is():
    text = "Größe: ∅ {0,1} Ω, 花びら, \u00a0, 👩\u200d🔬"
    assert visible(text) == text
