import base64
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import make_blobs

from credalis import ECM, NNEVCLUS, CredalPartition, FocalSets, report
from credalis.datasets import make_four_class
from credalis.peaks import delta_bel
from credalis.report import _page, _report

plt = pytest.importorskip("matplotlib.pyplot")

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


def four_class(n_samples):
    return make_four_class(n_samples, random_state=0)[0]


def quick(n_clusters=4, **parameters):
    return NNEVCLUS(n_clusters, n_init=1, tol=1e-3, random_state=0, **parameters)


@pytest.fixture(scope="module")
def fitted():
    X = four_class(200)
    return ECM(4, random_state=0).fit(X), X


@pytest.fixture(scope="module")
def network():
    X = four_class(200)
    return quick().fit(X), X


@pytest.fixture(autouse=True)
def _coarse_pictures(monkeypatch):
    """Pictures take most of the time, and the tests do not look at them."""
    monkeypatch.setattr(_page, "_DPI", 30)


class Checker(HTMLParser):
    """Every tag that needs closing is closed, in order."""

    VOID = ("meta", "img", "source")

    def __init__(self):
        super().__init__()
        self.open = []
        self.images = []
        self.headings = []

    def handle_starttag(self, tag, attributes):
        if tag == "img":
            self.images.append(dict(attributes))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["h2"]:
            self.headings.append(data)


def reported(path, result, X, **options):
    """The page without its pictures, and what a parser sees in it."""
    report(result, X, path / "report.html", **options)
    page = (path / "report.html").read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert "{{" not in page
    return re.sub(r"base64,[^']*", "", page), checker


@pytest.fixture(scope="module")
def network_page(network, tmp_path_factory):
    return reported(tmp_path_factory.mktemp("network"), *network)


@pytest.fixture(scope="module")
def fitted_page(fitted, tmp_path_factory):
    return reported(tmp_path_factory.mktemp("fitted"), *fitted)


def test_report_is_one_whole_page_without_links_outside(network_page):
    page, checker = network_page
    assert re.findall(r"(?:src|href|srcset)='(?!data:)", page) == []
    assert "http" not in page
    assert len(checker.images) == 4
    for image in checker.images:
        assert image["alt"]
        head, data = image["src"].split(",")
        assert head == "data:image/png;base64"
        assert base64.b64decode(data, validate=True).startswith(b"\x89PNG")
    assert checker.headings == [
        "Partition",
        "δ–Bel graph",
        "Shepard diagram",
        "Learning curve",
        "Clusters",
        "Most doubtful objects",
        "Settings",
    ]


def test_phones_get_a_picture_of_their_own(network_page):
    page, _ = network_page
    assert page.count("<source media='screen and (max-width:") == 1


def test_report_says_how_many_objects_are_clear_ambiguous_and_outliers(
    fitted, fitted_page
):
    page, _ = fitted_page
    partition = fitted[0].partition_
    assert (
        f"200 objects in 4 clusters: {partition.lower.sum()} clearly in one, "
        f"{partition.is_ambiguous.sum()} between several, "
        f"{partition.is_outlier.sum()} in none." in page
    )


def test_prototype_methods_have_no_shepard_diagram(fitted_page):
    _, checker = fitted_page
    assert checker.headings[1:4] == ["δ–Bel graph", "Learning curve", "Clusters"]


def test_centres_of_the_graph_are_listed_in_the_order_of_the_clusters(
    network, network_page
):
    model, X = network
    page, _ = network_page
    centers = delta_bel(X).suggest()
    centers = centers[np.argsort(model.labels_[centers])]
    assert model.labels_[centers].tolist() == [0, 1, 2, 3]
    a, b, c, d = centers
    assert f"suggests 4 centres, objects {a}, {b}, {c} and {d}; one in each" in page


def test_other_centres_than_clusters_are_admitted(tmp_path):
    X = four_class(200)
    partition = CredalPartition.from_labels(np.arange(200) % 2)
    page, _ = reported(tmp_path, partition, X)
    assert "suggests 4 centres" in page
    assert "this result has 2 clusters. Numbers and colours in the graph are" in page


def test_many_centres_are_listed_in_part(tmp_path):
    X, y = make_blobs(800, centers=16, cluster_std=0.2, random_state=1)
    page, _ = reported(tmp_path, CredalPartition.from_labels(y), X)
    n_centers, listed = re.search(
        r"suggests (\d+) centres, among them objects ([\d, ]+);", page
    ).groups()
    assert int(n_centers) > 8
    assert len(listed.split(",")) == 8


def test_pairs_of_the_shepard_diagram_are_counted(
    network, network_page, tmp_path, monkeypatch
):
    model, X = network
    page, _ = network_page
    assert "All 19\N{NO-BREAK SPACE}900 pairs" in page
    assert f"δ₀ = {model.scale_:.4g}" in page
    make = _report.ShepardDisplay.from_estimator
    monkeypatch.setattr(
        _report.ShepardDisplay,
        "from_estimator",
        lambda *data, **options: make(*data, n_pairs=50, **options),
    )
    page, _ = reported(tmp_path, model, X)
    assert "A random sample of 50 of 19\N{NO-BREAK SPACE}900 pairs" in page


def test_dissimilarities_may_be_precomputed(tmp_path):
    matrix = squareform(pdist(four_class(60)))
    model = quick(metric="precomputed").fit(matrix)
    page, checker = reported(tmp_path, model, matrix)
    assert len(checker.images) == 4
    assert "The axes are principal components of the dissimilarities." in page


def test_dissimilarities_given_to_fit_are_taken(tmp_path, monkeypatch):
    X = four_class(60)
    given = pdist(X, "cityblock")
    model = quick().fit(X, dissimilarities=given)
    seen = []
    make = _report.ShepardDisplay.from_estimator

    def spy(*data, **options):
        seen.append(make(*data, **options))
        return seen[0]

    monkeypatch.setattr(_report.ShepardDisplay, "from_estimator", spy)
    reported(tmp_path, model, X, dissimilarities=given)
    assert seen[0].stress == pytest.approx(model.stress_)


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_two_clusters_of_any_number_of_features(n_features, tmp_path):
    X, _ = make_blobs(60, n_features, centers=2, random_state=0)
    page, checker = reported(tmp_path, quick(2).fit(X), X)
    assert page.count("class='swatch'") == 2
    assert len(checker.images) == 4


def test_forty_clusters_are_listed_in_two_columns(tmp_path):
    X, y = make_blobs(400, centers=40, random_state=0)
    page, checker = reported(tmp_path, CredalPartition.from_labels(y), X)
    assert page.count("class='swatch'") == 40
    assert page.count("most plausible") == 2
    assert checker.headings[1:3] == ["δ–Bel graph", "Clusters"]


def test_clusters_without_objects_are_counted(tmp_path):
    partition = CredalPartition.from_labels([0, 0, 2], n_clusters=5)
    page, _ = reported(tmp_path, partition, np.eye(3))
    assert page.count("class='swatch'") == 2
    assert "3 without objects." in page


def test_thousands_are_set_apart(tmp_path):
    partition = CredalPartition.from_labels(np.arange(1200) % 2)
    X = np.random.RandomState(0).randn(1200, 2)
    page, _ = reported(tmp_path, partition, X)
    assert f"1{NARROW_SPACE}200 objects in 2 clusters" in page


def test_report_lists_the_most_doubtful_objects_first(fitted, fitted_page):
    page, _ = fitted_page
    partition = fitted[0].partition_
    inside = np.flatnonzero(~partition.is_outlier)
    most = inside[partition.doubt[inside].argmax()]
    rows = page.split("Most doubtful objects")[1]
    assert re.search(r"<td>(\d+)</td>", rows).group(1) == str(most)


def test_masses_are_put_in_words(tmp_path):
    focal_sets = FocalSets(3, ((), (0,), (0, 1), (0, 1, 2)))
    partition = CredalPartition(np.eye(4) * 0.6 + 0.1, focal_sets)
    page, _ = reported(tmp_path, partition, np.eye(4))
    for words in (
        "no cluster",
        "any cluster",
        "clusters 0 and 1",
        "rather in cluster 0",
    ):
        assert words in page


def test_partition_alone_can_be_reported(tmp_path):
    partition = CredalPartition.from_labels([0, 0, 1, 1, -1])
    X = np.array([[0.0, 0], [0, 1], [5, 5], [5, 6], [20, 0]])
    page, checker = reported(tmp_path, partition, X)
    assert "<h1>Credal partition report</h1>" in page
    assert checker.headings == ["Partition", "Clusters", "Most doubtful objects"]
    assert "in no cluster" in page


def test_certain_objects_are_not_called_doubtful(tmp_path):
    page, _ = reported(tmp_path, CredalPartition.from_labels([0, 1]), [[0, 1], [1, 0]])
    assert "No object is in doubt." in page


def test_copies_of_one_object_have_no_graph(tmp_path):
    partition = CredalPartition.from_labels([0, 1] * 10)
    _, checker = reported(tmp_path, partition, np.ones((20, 2)))
    assert "δ–Bel graph" not in checker.headings


def test_the_graph_of_too_many_objects_is_left_out(network, tmp_path, monkeypatch):
    monkeypatch.setattr(_report, "_MAX_PEAK_OBJECTS", 199)
    _, checker = reported(tmp_path, *network)
    assert checker.headings[1:4] == ["Shepard diagram", "Learning curve", "Clusters"]


def test_a_metric_in_python_has_a_lower_limit(tmp_path, monkeypatch):
    X = four_class(40)
    model = quick(metric=lambda a, b: abs(a - b).max()).fit(X)
    assert "δ–Bel graph" in reported(tmp_path, model, X)[1].headings
    monkeypatch.setattr(_report, "_MAX_PEAK_OBJECTS_CALLABLE", 39)
    assert "δ–Bel graph" not in reported(tmp_path, model, X)[1].headings


def test_settings_show_what_was_asked_for_and_all_parameters(network_page):
    page, _ = network_page
    assert "NNEVCLUS(n_clusters=4, n_init=1, random_state=0, tol=0.001)" in page
    details = page.split("<details>")[1]
    assert "<td>hidden_layer_sizes</td><td class=text>&#x27;auto&#x27;</td>" in details


def test_parameters_are_escaped_and_cut(fitted, tmp_path):
    estimator, X = fitted

    class Nasty(ECM):
        def get_params(self, deep=True):
            return {"init": "<script>alert(1)</script>", "delta": "long" * 1000}

    nasty = Nasty(4, random_state=0)
    vars(nasty).update(vars(estimator))
    page, _ = reported(tmp_path, nasty, X)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "long" * 100 not in page.split("<details>")[1]


def test_names_of_columns_are_no_formulas(tmp_path):
    X = pd.DataFrame(four_class(60), columns=[r"$\frac{", "<b>$x_$"])
    reported(tmp_path, ECM(2, random_state=0).fit(X), X)


def test_no_figure_stays_open(fitted, tmp_path):
    before = plt.get_fignums()
    reported(tmp_path, *fitted)
    assert plt.get_fignums() == before


def test_report_stays_small(network, tmp_path, monkeypatch):
    monkeypatch.undo()
    reported(tmp_path, *network)
    assert (tmp_path / "report.html").stat().st_size < 600_000


def test_anything_else_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"result must be a CredalPartition.*got str"):
        report("partition", np.zeros((3, 2)), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_wrong_data_leave_no_file(fitted, tmp_path):
    with pytest.raises(ValueError, match="each of the 200 objects"):
        report(fitted[0], np.zeros((3, 2)), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
