"""The README and the site tell the truth: their code runs, their pictures exist."""

import csv
import re

import pytest
from sklearn.datasets import load_iris

import pages
from pages import ROOT, run_page

PICTURE = re.compile(r"!\[(?P<words>.*?)\]\((?P<file>[^)]*?)\)", re.S)


def page_name(page):
    return page.relative_to(ROOT).as_posix()


def pages_with_code():
    found = []
    for page in pages.all_pages():
        text = page.read_text(encoding="utf-8")
        if pages.blocks(text):
            marks = [pytest.mark.slow] if pages.is_slow(text) else []
            found.append(pytest.param(page, id=page_name(page), marks=marks))
    return found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder but for the tables that the command line is shown with."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    iris = load_iris()
    names = [name.removesuffix(" (cm)") for name in iris.feature_names]
    flowers = [
        [f"F{i:03d}", *row, iris.target_names[kind]]
        for i, (row, kind) in enumerate(zip(iris.data, iris.target, strict=True))
    ]
    write_table("iris.csv", [["flower", *names, "species"], *flowers])
    new = [
        ["N1", 5.1, 3.5, 1.4, 0.2],  # clear
        ["N2", 6.7, 3.0, 5.0, 1.7],  # between two clusters
        ["N3", 4.5, 2.3, 6.0, 0.4],  # in none
    ]
    write_table("new.csv", [["flower", *names], *new])
    return tmp_path


def write_table(name, rows):
    with open(name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning")
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", pages_with_code())
def test_code_of_a_page_runs(page):
    plt = pytest.importorskip("matplotlib.pyplot")
    for package in ("click", "plotly"):
        pytest.importorskip(package)
    text = page.read_text(encoding="utf-8")
    for package in pages.needs(text):
        pytest.importorskip(package)
    # Before and after: a figure of somebody else is none of this page.
    plt.close("all")
    run_page(text, page_name(page))
    plt.close("all")


@pytest.mark.parametrize("page", pages.all_pages(), ids=page_name)
def test_pictures_exist_and_are_described(page):
    for picture in PICTURE.finditer(page.read_text(encoding="utf-8")):
        assert (page.parent / picture["file"]).is_file(), picture["file"]
        assert len(picture["words"]) > 15, f"{picture['file']} says too little"


def test_blocks_run_in_one_namespace_and_print_what_they_say():
    page = """
<!-- run:
x = 1
-->
```python
x += 1
print(f"x is {x}")
print(1 / 3)
```
```output
x ... 2
0.333
```
<!-- not run: nobody has it -->
```python
raise RuntimeError
```
```output
nothing
```
```pycon
>>> x + 1
3
```
"""
    assert [block.language for block in pages.blocks(page)] == [
        *("python", "python", "output", "pycon")
    ]
    assert "x is 2" in run_page(page, "page")


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("```python\nprint(1.5)\n```\n```output\n1.7\n```", "printed:\n1.5"),
        ("```python\nprint('a')\n```\n```output\nb\n```", "page, line 5"),
        ("```pycon\n>>> 1 + 1\n3\n```", "Expected:\n    3"),
        ("```console\n$ credalis info nothing.credalis\n```", "nothing.credalis"),
        ("```python\nprint(7)\n```\n```output\n8\n```", "printed:\n7"),
        (
            "```python\nprint(7)\n```\n<!-- counts vary: 2 -->\n```output\n10\n```",
            "printed:\n7",
        ),
        (
            "```python\nprint('{7}')\n```\n<!-- counts vary: 2 -->\n"
            "```output\n{8}\n```",
            "printed:\n{7}",
        ),
    ],
)
def test_a_page_that_is_wrong_fails(page, message, tmp_path, monkeypatch):
    pytest.importorskip("click")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match=re.escape(message)):
        run_page(page, "page")


def test_counts_may_vary_where_the_page_says_so():
    block = "```python\nprint(7, 2.5)\n```\n"
    varied = "<!-- counts vary: 2 -->\n```output\n9 2.4\n```\n"
    assert "7 2.5" in run_page(block + varied, "page")
    exact = varied.partition("\n")[2]
    with pytest.raises(AssertionError, match="line 12"):
        run_page(block + varied + block + exact, "page")


def test_a_traceback_points_to_the_line_of_the_page():
    with pytest.raises(ZeroDivisionError) as caught:
        run_page("# Title\n\n```python\na = 1\n\na / 0\n```\n", "page")
    assert caught.traceback[-1].lineno + 1 == 6


def test_marks_of_a_page():
    assert pages.is_slow("# A\n<!-- slow -->\n")
    assert not pages.is_slow("# A\n")
    assert pages.needs("<!-- needs: torch, anndata -->") == ["torch", "anndata"]
