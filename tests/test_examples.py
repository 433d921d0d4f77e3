"""The examples run."""

import runpy
import warnings
from pathlib import Path

import pytest
from sklearn.exceptions import ConvergenceWarning

from credalis import NNEVCLUS
from credalis.exceptions import ResultWarning

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.fixture(params=["short", pytest.param("whole", marks=pytest.mark.slow)])
def training(request, monkeypatch):
    """Whether networks are trained to the end, or three epochs at most."""
    fit = NNEVCLUS.fit

    def short_fit(self, *data, **information):
        if self.max_iter != "auto":
            self.max_iter = min(self.max_iter, 3)
        return fit(self, *data, **information)

    if request.param == "short":
        monkeypatch.setattr(NNEVCLUS, "fit", short_fit)
        for category in (ConvergenceWarning, ResultWarning):
            warnings.simplefilter("ignore", category)


@pytest.mark.usefixtures("training")
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
