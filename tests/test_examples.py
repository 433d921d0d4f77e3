"""The examples of the gallery run without a warning and draw their figures."""

import ast
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*/plot_*.py"))

# At most two seconds of processor time each; the others are run by `make test-slow`.
QUICK = {
    "plot_butterfly",
    "plot_combining_sources",
    "plot_coverage_sets",
    "plot_first_look",
    "plot_mass_functions",
    "plot_mixed_pixels",
    "plot_mixed_table",
    "plot_stream",
    "plot_text_topics",
    "plot_time_series",
    "plot_unseen_cluster",
    "plot_why_here",
}
NEEDED = ("onnxruntime", "pandas", "torch")


def test_quick_examples_exist():
    assert {path.stem for path in EXAMPLES} >= QUICK


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_page_has_a_title_and_a_story_and_its_section_has_a_heading(path):
    title, line, blank, *story = ast.get_docstring(
        ast.parse(path.read_text(encoding="utf-8"))
    ).splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert not blank
    assert story
    assert "" not in story, "the story is one paragraph"
    assert (path.parent / "GALLERY_HEADER.rst").exists()


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path, id=path.stem, marks=[] if path.stem in QUICK else pytest.mark.slow
        )
        for path in EXAMPLES
    ],
)
def test_example_draws_a_figure(path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    text = path.read_text(encoding="utf-8")
    for package in NEEDED:
        if f"import {package}" in text:
            pytest.importorskip(package)
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")
    runpy.run_path(str(path))
    assert plt.get_fignums()
    plt.close("all")


def test_warping_by_hand_is_that_of_the_package(monkeypatch):
    dtw = pytest.importorskip("dtaidistance.dtw")
    plt = pytest.importorskip("matplotlib.pyplot")
    monkeypatch.setattr(plt, "show", lambda: None)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    path = next(each for each in EXAMPLES if each.name == "plot_time_series.py")
    names = runpy.run_path(str(path))
    plt.close("all")
    series = names["series"][:12]
    np.testing.assert_allclose(
        names["warping_by_hand"](series, 12),
        dtw.distance_matrix_fast(series, window=13),
        atol=1e-10,
    )
