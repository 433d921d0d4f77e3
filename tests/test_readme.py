"""The README and the guide tell the truth: their code runs."""

import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs the code of a page in an empty directory and returns what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    pytest.importorskip("plotly")

    def run_page(page):
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```", text, re.S)
        assert blocks
        if find_spec("torch") is None:
            blocks = [block for block in blocks if "import nn" not in block]
        exec(compile("\n".join(blocks), page.name, "exec"), {})
        plt.close("all")
        return capsys.readouterr().out

    return run_page


def test_code_of_the_readme_runs(run, tmp_path):
    assert "Credal partition of 400 objects" in run(README)
    assert sorted(os.listdir(tmp_path)) == ["model.credalis", "report.html"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning")
def test_code_of_the_guide_runs(run):
    printed = run(ROOT / "docs" / "guide.md")
    assert "EVCLUS" in printed
    assert "object 77: " in printed
    assert "\n4 4 clusters by " in printed  # the number that is chosen, and why


def test_pictures_of_the_readme_exist():
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", README.read_text(encoding="utf-8"))
    assert pictures
    for picture in pictures:
        assert (README.parent / picture).is_file()
