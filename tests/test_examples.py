"""The examples run."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example_draws_a_figure(path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    if "import torch" in path.read_text(encoding="utf-8"):
        pytest.importorskip("torch")
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")
    runpy.run_path(str(path))
    assert plt.get_fignums()
    plt.close("all")
