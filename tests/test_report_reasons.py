"""Why objects are where they are, in a report: reasons and a tree of rules."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import ECM, RECM, CredalPartition, FocalSets, explain, report
from credalis.report._content.subject import subject_of
from credalis.report._content.why import why
from report_page import Page

pytest.importorskip("plotly")
pytest.importorskip("jinja2")


@pytest.fixture(autouse=True)
def _no_library_inside(monkeypatch):
    """Megabytes of plotly.js would only slow these tests down."""
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "")


@pytest.fixture
def reported(tmp_path):
    """Write a report and read it."""

    def read(result, X, **options):
        report(result, X, tmp_path / "report.html", **options)
        return Page((tmp_path / "report.html").read_text(encoding="utf-8"))

    return read


@pytest.fixture(scope="module")
def birds():
    """Two groups, a bird with the wing of one and the mass of the other, a far one."""
    X, _ = make_blobs(80, centers=[[0, 0], [9, 9]], random_state=0)
    X[0], X[1] = [0.5, 8.4], [40, 4]
    table = pd.DataFrame({"wing": 190 + 10 * X[:, 0], "mass": 3000 + 100 * X[:, 1]})
    return table, make_pipeline(
        StandardScaler(), ECM(2, delta=3.0, random_state=0)
    ).fit(table)


def reasons_of(page):
    """The summaries of the reasons, in the order of the page."""
    found = re.findall(
        '<details class="because"><summary>(.*?)</summary>', page.text, re.DOTALL
    )
    return [each.strip() for each in found]


def test_rows_between_clusters_name_the_cells_that_speak_for_each(birds, reported):
    table, model = birds
    page = reported(model, table)
    names = [row[0].split()[0] for row in page.rows["between"][1:]]
    assert "0" in names
    said = reasons_of(page)[names.index("0")]
    own = int(model[-1].labels_[table["mass"].idxmax()])
    assert f"mass 3840 speaks for {own}" in said
    assert f"wing 195 speaks for {1 - own}" in said
    # The same that explain says, in the units of the table.
    found = explain(model, table, [0], partition=model[-1].partition_)[0]
    strongest = {found.speaking(k)[0].feature for k in found.clusters}
    assert all(name in said for name in strongest)


def test_outliers_name_what_is_unusual(birds, reported):
    table, model = birds
    page = reported(model, table)
    names = [row[0].split()[0] for row in page.rows["outliers"][1:]]
    said = reasons_of(page)[len(page.rows["between"]) - 1 :]
    assert said[names.index("1")].startswith("unusual: wing 590")


def test_details_name_typical_objects_that_can_be_found(birds, reported):
    table, model = birds
    page = reported(model, table)
    start = page.text.index("typical and most like it")
    objects = re.findall(r'data-object="(\d+)"', page.text[start : start + 600])
    assert len(objects) >= 2
    for each in objects:
        assert int(each) in page.data["places"]
    assert re.search(r"for it: mass \d+ \(typical [\d.]+\)", page.text)


def test_rules_lead_to_most_decisions(birds, reported):
    table, model = birds
    page = reported(model, table)
    tree = explain(model, table, [], partition=model[-1].partition_).tree
    assert tree.caption in page.words
    assert "mass ≤ " in page.words
    rules = page.text[page.text.index('<pre class="tree">') :]
    rules = rules[: rules.index("</pre>")]
    assert rules.count("\n") + 1 == len(tree.lines)


def test_scaled_rows_are_explained_in_the_units_of_the_table(birds, reported):
    table, model = birds
    X = model[:-1].transform(table)
    direct = reported(model[-1], X, data=table)
    assert reasons_of(direct) == reasons_of(reported(model, table))


@pytest.mark.parametrize("kind", ["partition", "words", "other features"])
def test_rows_speak_where_no_model_can_be_asked(birds, kind):
    table, model = birds
    X = model[:-1].transform(table)
    partition = model[-1].partition_
    data = table.assign(sex=np.where(np.arange(80) % 2, "f", "m"))
    result = partition if kind == "partition" else model[-1]
    if kind == "other features":
        data = {"age": np.exp(X[:, 1]), "wing": table["wing"].to_numpy()}
    subject = subject_of(result, X, None, data, None)
    found = why(subject, [0, 1])
    assert "nearest rows" in found.basis
    assert set(found.sentences) == {0, 1}
    assert found.rules


def test_dissimilarities_without_a_table_have_no_reasons(birds, reported):
    table, _ = birds
    D = squareform(pdist(table.iloc[:30]))
    model = RECM(2, metric="precomputed", random_state=0).fit(D)
    page = reported(model, D)
    assert reasons_of(page) == []
    assert "In rules" not in page.words
    # With one, what speaks is its columns.
    assert "mass" in reported(model, D, data=table.iloc[:30]).text


def test_names_of_clusters_and_nasty_words_are_text(reported):
    values = np.r_[np.linspace(0, 1, 20), np.linspace(5, 6, 20), 3.0]
    masses = np.zeros((41, 4))
    masses[:20, 1] = masses[20:40, 2] = 1.0
    masses[40, 1:3] = 0.5
    nasty = "<img src=x onerror=alert(1)> \ud800"
    page = reported(
        CredalPartition(masses, FocalSets.singletons(2)),
        values[:, None],
        data={nasty: values, "kind": np.array([nasty, "b"] * 20 + ["b"], dtype=object)},
        cluster_names=["</summary><b>one", "two"],
    )
    assert "<img" not in page.text
    assert "</summary><b>one" not in page.text
    assert len(reasons_of(page)) == 1


def test_any_number_of_objects_will_do(reported):
    for n_samples in (1, 2, 3):
        partition = CredalPartition.from_fuzzy(np.full((n_samples, 2), 0.5))
        reported(partition, np.arange(2.0 * n_samples).reshape(n_samples, 2))
