"""Pages are made of text: nothing that is put into a template becomes a tag."""

from pathlib import Path

import numpy as np
import pytest

import credalis
from credalis import CredalPartition, report
from credalis._html import environment, render
from credalis.reproduce._framework._render import Picture, Section, Table, Text, as_html

pytest.importorskip("plotly")
jinja2 = pytest.importorskip("jinja2")

ROOT = Path(credalis.__file__).parent
TEMPLATES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.j2"))
EVIL = "<i>'\"&"
# Style sheets and scripts of our own are the only values that are no text.
OUR_OWN = {"style", "script"}


def whole_report(tmp_path):
    """A report with tags in whatever its reader can name."""
    partition = CredalPartition.from_rough(
        [[1, 0], [0, 1], [0, 0], [0, 0]], [[1, 0], [0, 1], [1, 1], [0, 0]]
    )
    parameters = {"get_params": lambda self, deep: {EVIL: EVIL}}
    model = type(EVIL, (), {"partition_": partition, **parameters})()
    X = np.arange(12.0).reshape(4, 3) ** 2
    data = {EVIL: X[:, 0], f"{EVIL} 2": [EVIL] * 4, "c": X[:, 1], "d": X[:, 2]}
    report(model, X, tmp_path / "page.html", data=data, ids=[EVIL] * 4)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def whole_reproduction(tmp_path):
    picture = tmp_path / "plot.png"
    picture.write_bytes(b"PNG")
    rows = ((EVIL, EVIL),)
    parts = (Text(EVIL), Table((EVIL, EVIL), rows, EVIL), Picture(picture, EVIL))
    return as_html(EVIL, [Section(EVIL, parts)])


def tables(tmp_path):
    macros = environment().get_template("_html/tables.html.j2").module
    return str(macros.table((EVIL, EVIL), [(EVIL, EVIL)], (1,)))


PAGES = {
    "_html/page.html.j2": lambda tmp_path: render(
        "_html/page.html.j2", title=EVIL, style=""
    ),
    "_html/tables.html.j2": tables,
    "report/report.html.j2": whole_report,
    "reproduce/_framework/report.html.j2": whole_reproduction,
}


def test_every_template_is_among_those_tried_here():
    assert sorted(PAGES) == TEMPLATES


@pytest.mark.parametrize("template", TEMPLATES)
def test_text_stays_text_in_every_template(template, tmp_path, monkeypatch):
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "")
    page = PAGES[template](tmp_path)
    assert EVIL not in page
    assert "&lt;i&gt;&#39;&#34;&amp;" in page


@pytest.mark.parametrize("template", TEMPLATES)
def test_only_our_own_style_and_scripts_are_not_escaped(template):
    assert environment().autoescape is True
    tree = environment().parse((ROOT / template).read_text(encoding="utf-8"))
    nodes = jinja2.nodes
    assert not list(tree.find_all((nodes.EvalContextModifier, nodes.MarkSafe)))
    for each in tree.find_all(nodes.Filter):
        assert each.name != "safe" or each.node.name in OUR_OWN


def test_a_value_that_a_template_misses_is_an_error():
    with pytest.raises(jinja2.UndefinedError, match="'title' is undefined"):
        render("_html/page.html.j2", style="")
