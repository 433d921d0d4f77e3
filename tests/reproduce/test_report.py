"""The report: written whole, escaped, and from all finished cells."""

import sys

import numpy as np
import pytest

from credalis.reproduce import EXPERIMENTS, Experiment, Finding, _registry, reproduce
from credalis.reproduce._framework._cells import Cell, Outcome
from credalis.reproduce._framework._experiment import Shown
from credalis.reproduce._framework._render import (
    Picture,
    Section,
    Table,
    Text,
    as_html,
    as_markdown,
)
from credalis.reproduce._framework._runner import Results

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

ABSENT = {"not run", "not available"}
EVIL = "<script>alert('x')</script> | & \"q\""


def add(*, first, second):
    return Outcome({"sum": first + second})


def toy(name):
    def cells(is_quick):
        return [Cell(name, "one", add, {"first": 1, "second": 1 if is_quick else 2})]

    def show(results, is_quick, directory):
        total = float(results.values(name, "one")["sum"])
        found = Finding("toy", EVIL, 5.0, (total,), total, "worse", EVIL)
        return Shown([Text(f"{name} says {total}")], [found])

    return Experiment(name, f"Title {EVIL}", cells, show)


@pytest.fixture
def toys(monkeypatch):
    experiments = {name: toy(name) for name in ("alpha", "beta")}
    monkeypatch.setattr(_registry, "EXPERIMENTS", experiments)


@pytest.mark.usefixtures("toys")
def test_report_grows_with_the_experiments_of_a_directory(tmp_path):
    out = tmp_path / "deep" / "out"
    first = reproduce(["alpha"], out)
    assert (first.n_computed, first.n_kept) == (1, 0)
    assert "Not run: beta." in first.markdown.read_text("utf-8")
    second = reproduce(["beta"], out)
    assert (second.n_computed, second.n_kept) == (1, 0)
    text = second.markdown.read_text("utf-8")
    assert "alpha says 3.0" in text
    assert "beta says 3.0" in text
    assert len(second.findings) == 2
    assert reproduce(["alpha", "beta"], out).n_kept == 2
    assert "0 of 2 values (0 %)" in second.html.read_text("utf-8")
    assert text.count("| 1 | 0 | 0 % |") == 2


@pytest.mark.usefixtures("toys")
def test_text_is_escaped(tmp_path):
    made = reproduce(["alpha"], tmp_path)
    html, markdown = (p.read_text("utf-8") for p in (made.html, made.markdown))
    assert "<script" not in html
    assert "<script" not in markdown
    assert "&lt;script&gt;" in html
    assert "\\| &" in markdown


@pytest.mark.usefixtures("toys")
def test_without_jinja_nothing_is_computed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'credalis\[report\]'"):
        reproduce(["alpha"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("toys")
def test_bad_arguments_are_named(tmp_path):
    with pytest.raises(ValueError, match="name must be one of 'alpha', 'beta'"):
        reproduce(["gamma"], tmp_path)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ValueError, match="output must be a directory, got the file"):
        reproduce(["alpha"], file)


def test_parts_in_both_forms(tmp_path):
    picture = tmp_path / "figures" / "plot.png"
    picture.parent.mkdir()
    picture.write_bytes(b"PNG")
    sections = [
        Section(
            "Part",
            (
                Text("words"),
                Table(("a", "b"), (("1", "two|2"),), "Numbers", (1,)),
                Picture(picture, "A plot"),
            ),
        )
    ]
    markdown = as_markdown("Title", sections, tmp_path)
    assert "| a | b |\n| :-- | :-- |\n| 1 | two\\|2 |" in markdown
    assert "![A plot](figures/plot.png)" in markdown
    html = as_html("Title", sections)
    assert "data:image/png;base64,UE5H" in html
    assert "<a href='#s0'>Part</a>" in html


def test_butterfly_is_the_table_of_the_paper(tmp_path):
    cells = {cell.name: cell for cell in EXPERIMENTS["examples"].cells(True)}
    outcome = cells["butterfly"].compute(**{**cells["butterfly"].settings, "n_init": 2})
    masses = np.array(outcome.values["masses"])
    np.testing.assert_allclose(masses.sum(axis=1), 1, atol=1e-5)
    assert outcome.values["outliers"] == [12]
    assert outcome.figures["butterfly"].startswith(b"\x89PNG")
    done = reproduce(["examples"], tmp_path)
    assert {each.verdict for each in done.findings} == {"reproduced"}
    assert len(done.findings) == 6


def run_of(rng):
    return {
        "ari": float(rng.uniform()),
        "ci": float(rng.uniform()),
        "ns": float(rng.uniform()),
        "loss": float(rng.uniform()),
        "seconds": 1.5,
        "train": 0.5,
        "test": 0.6,
    }


@pytest.mark.parametrize("name", ["attribute", "dissimilarity", "constrained", "times"])
def test_tables_are_written_from_results(name, tmp_path):
    """Values are made up here: what is tested is that all of them are shown."""
    rng = np.random.default_rng(0)
    cells = EXPERIMENTS[name].cells(True)
    records = {
        cell.key: {
            "experiment": name,
            "values": run_of(rng),
            "figures": [],
            "seconds": 1.5,
        }
        for cell in cells
    }
    shown = EXPERIMENTS[name].show(Results(records), True, tmp_path)
    text = as_markdown("t", [Section("s", tuple(shown.parts))], tmp_path)
    values = [record["values"] for record in records.values()]
    if name in ("attribute", "dissimilarity"):
        first = values[0]["ari"]
        assert f"{first:.3f}" in text
        assert any(isinstance(part, Picture) for part in shown.parts)
    if name == "constrained":
        assert {each.row for each in shown.findings} == {"Iris"}
        assert "Iris with 50 pairs: means over 3 draws" in text
    if name == "times":
        assert "430.02 (21.5) → 1.50, 287×" in text
    verdicts = {each.verdict for each in shown.findings}
    assert verdicts <= {"reproduced", "better", "worse", "not comparable", *ABSENT}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_without_results_nothing_fails(name, tmp_path):
    shown = EXPERIMENTS[name].show(Results(), True, tmp_path)
    assert not any(each.is_compared for each in shown.findings)
