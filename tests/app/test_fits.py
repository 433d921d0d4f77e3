"""Fits of the page, without a server: the command and the code give the same bits."""

import csv
import json
import shlex
import shutil

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("plotly")
pytest.importorskip("httpx", reason="httpx is not installed")

from app.serving import animals
from credalis.app._jobs import Jobs
from credalis.app._settings import Settings
from credalis.cli import main

USUAL = {
    "x0": "out",
    "beak": "counts",
    "body mass": "counts",
    "place": "counts",
    "sex": "counts",
    "code": "out",
}
NUMBERS = {"place": "describes", "sex": "out", "code": "id"}
GROUPS = [
    {"kind": "group", "name": "small", "rows": [0, 3, 9]},
    {"kind": "group", "name": "large", "rows": [2, 5]},
    {"kind": "pair", "a": 0, "b": 2, "answer": "different"},
    {"kind": "pair", "a": 1, "b": 4, "answer": "same"},
    {"kind": "pair", "a": 4, "b": 7, "answer": "same"},
    {"kind": "pair", "a": 6, "b": 8, "answer": "unknown"},
]
CENTERS = {"centers": [0, 1, 2], "uses_centers": True}


def fit(folder, answers=(), **chosen):
    """Fit as the page does; what it says of it."""
    table = animals(60).splitlines()
    table[0] = ",".join(["", *list(USUAL)[1:]])
    # The centres are complete.
    for row, beak in ((1, "38.1"), (2, "44.0"), (3, "50.2")):
        cells = table[row].split(",")
        table[row] = ",".join([cells[0], beak, *cells[2:]])
    folder.mkdir(exist_ok=True)
    (folder / "t.csv").write_text("\n".join(table) + "\n")
    settings = Settings().changed({"n_clusters": 3, **chosen}).to_dict()
    events = []
    given = {
        "folder": str(folder),
        "table": "t.csv",
        "settings": json.loads(json.dumps(settings)),
        "usual": USUAL,
        "answers": list(answers),
        "before": None,
    }
    return Jobs().do("fit", events.append, given), events


@pytest.mark.parametrize(
    ("chosen", "answers", "method", "words"),
    [
        ({}, (), "EVCLUS", []),
        ({"roles": NUMBERS, "missing": "impute"}, (), "Consensus", ["--describe"]),
        ({"roles": NUMBERS, **CENTERS}, (), "EVCLUS", ["--cannot-link"]),
        ({"roles": NUMBERS, "missing": "impute"} | CENTERS, (), "Consensus", ["--lab"]),
        ({"method": "ECM", "missing": "drop"} | CENTERS, (), "ECM", ["init=[["]),
        ({"method": "sECMdd", **CENTERS}, (), "sECMdd", ["init=[0, 1, 2]"]),
        ({}, GROUPS, "Consensus", ["--labels", "--must-link", "--cannot-link"]),
        (
            {"method": "NNEVCLUS", "parameters": ["n_init=1"]},
            GROUPS[2:],
            "NNEVCLUS",
            [],
        ),
    ],
)
def test_command_and_code_make_the_result_again(
    tmp_path, monkeypatch, chosen, answers, method, words
):
    monkeypatch.chdir(tmp_path)
    notes, events = fit(tmp_path / "run", answers, **chosen)
    assert notes["method"] == method
    assert all(word in notes["command"] for word in words)
    assert any("result" in event for event in events)
    before = (tmp_path / "run" / "memberships.csv").read_bytes()

    again = tmp_path / "again"
    again.mkdir()
    for name in ("t.csv", "labels.csv", "must_link.csv", "cannot_link.csv"):
        if (tmp_path / "run" / name).exists():
            shutil.copy(tmp_path / "run" / name, again)
    monkeypatch.chdir(again)
    words = shlex.split(notes["command"])
    words = words[: words.index("--report")] + words[words.index("--report") + 2 :]
    assert main([*words[1:], "-q"]) == 0
    assert (again / "memberships.csv").read_bytes() == before

    code = (tmp_path / "run" / "reproduce.py").read_text()
    scope = {}
    exec(code.replace('report(model, prepared.X, "report.html")', ""), scope)
    rows = list(csv.reader(before.decode().splitlines()))
    places = [j for j, name in enumerate(rows[0]) if name.startswith("m ")]
    masses = [
        [float(row[j]) for j in places] for row in rows[1:] if row[places[0]] != ""
    ]
    assert np.array_equal(scope["partition"].masses, masses)


def test_a_number_that_is_to_be_found_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notes, _ = fit(tmp_path / "run", n_clusters=None, roles={"code": "id"})
    assert "-c auto" in notes["command"]
    assert notes["n_clusters"] >= 2
    code = (tmp_path / "run" / "reproduce.py").read_text()
    assert f"n_clusters={notes['n_clusters']}" in code
