"""The report as a text: what it says, whatever it is given. See also the browser."""

import re
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from credalis import (
    BCM,
    BPEC,
    CCM,
    CECM,
    ECM,
    EGMM,
    EVCLUS,
    MECM,
    NNEVCLUS,
    RECM,
    Bootclus,
    Consensus,
    CredalPartition,
    ECMdd,
    EkNNclus,
    FocalSets,
    report,
)
from credalis.datasets import make_four_class
from credalis.exceptions import NoClustersWarning
from credalis.peaks import delta_bel
from credalis.plots import ShepardDisplay
from credalis.report._content.text import percentages
from report_page import Page

pytest.importorskip("plotly")
pytest.importorskip("jinja2")

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<b>%{x}</b>",
    "a\"b'c&amp;<!--",
    "\ud800 lone, \u202e turned, \x00 nothing",
]


def four_class(n_samples):
    return make_four_class(n_samples, random_state=0)[0]


def quick(n_clusters=4, **parameters):
    return NNEVCLUS(n_clusters, n_init=1, tol=1e-3, random_state=0, **parameters)


def strings_in(data):
    """Every text inside of what JSON can hold, without the plain names of views."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            if key not in ("name", "hovertemplate"):
                yield from strings_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from strings_in(value)


@pytest.fixture(autouse=True)
def _no_library_inside(monkeypatch):
    """Megabytes of plotly.js would only slow these tests down."""
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "")


@pytest.fixture(scope="module")
def fitted():
    X = four_class(200)
    return ECM(4, random_state=0).fit(X), X


@pytest.fixture(scope="module")
def network():
    X = four_class(200)
    return quick().fit(X), X


@pytest.fixture
def reported(tmp_path):
    """Write a report and read it."""

    def read(result, X, **options):
        report(result, X, tmp_path / "report.html", **options)
        return Page((tmp_path / "report.html").read_text(encoding="utf-8"))

    return read


@pytest.fixture
def network_page(network, reported):
    return reported(*network)


@pytest.fixture
def fitted_page(fitted, reported):
    return reported(*fitted)


def test_page_holds_the_library_once_and_loads_nothing(network, tmp_path, monkeypatch):
    monkeypatch.undo()
    report(*network, tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    from plotly.offline import get_plotlyjs

    assert page.text.count(get_plotlyjs()) == 1
    links = [
        value
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in ("src", "href", "srcset")
    ]
    assert links
    assert all(link.startswith("#") for link in links)
    policy = next(
        attributes["content"]
        for _, attributes in page.tags
        if "http-equiv" in attributes
    )
    assert "default-src 'none'" in policy
    assert policy.count("'sha256-") == 2
    assert "script-src 'unsafe-inline'" not in policy
    assert (tmp_path / "report.html").stat().st_size < len(get_plotlyjs()) + 1_000_000


def test_sections_of_a_network(network_page):
    assert network_page.headings == [
        "Partition",
        "Clusters",
        "Between clusters",
        "Outliers",
        "Masses",
        "δ–Bel graph",
        "Shepard diagram",
        "Learning curve",
        "Settings",
    ]
    for heading in network_page.headings:
        assert f">{heading}</a></li>" in network_page.text


def test_every_chart_has_words_for_those_who_do_not_see_it(network_page):
    charts = [each for _, each in network_page.tags if each.get("class") == "chart"]
    assert len(charts) == 8
    for attributes in charts:
        assert attributes["role"] == "img"
        assert len(attributes["aria-label"]) > 30
        assert attributes["data-figure"] in network_page.data


def lead_of(partition, level=0.7):
    """A pattern for the first sentence of a page about 200 objects in 4 clusters."""
    verdicts = partition.verdicts(level)
    n_clear, n_between = verdicts.is_clear.sum(), verdicts.is_between.sum()
    return (
        rf"200 objects in 4 clusters: {n_clear} \(\d+.%\) are clear, "
        rf"{n_between} \(\d+.%\) are between them and "
        rf"({verdicts.is_outlier.sum()} \(.*?%\)|none) (is|are)"
    )


def test_report_says_how_many_objects_are_clear_between_and_outliers(
    fitted, fitted_page
):
    assert re.search(lead_of(fitted[0].partition_), fitted_page.words)
    assert "it is clear if the belief in one cluster is at least 0.7" in (
        fitted_page.words
    )


def test_report_says_it_at_another_level(fitted, reported):
    model, X = fitted
    page = reported(model, X, clear_level=0.9)
    assert re.search(lead_of(model.partition_, 0.9), page.words)
    assert "it is clear if the belief in one cluster is at least 0.9" in page.words
    assert 'report(model, X, "report.html", clear_level=0.9)' in page.words
    verdicts = model.partition_.verdicts(0.9)
    n_shown = sum(
        len(trace["customdata"])
        for trace in page.objects()
        if trace["name"].startswith("cluster")
    )
    assert n_shown == verdicts.is_clear.sum()
    with pytest.raises(ValueError, match="clear_level must be"):
        reported(model, X, clear_level=0.6)


def test_a_calibrated_model_says_what_its_sets_promise(reported):
    X = np.random.default_rng(0).normal(size=(240, 2))
    X[::2] += 4
    classes = np.array(["<b>", "small"])[np.arange(240) % 2]
    model = ECM(2, random_state=0, n_init=1).fit(X[:120])
    with pytest.raises(ValueError, match="coverage must be None for a result without"):
        reported(model, X[:120], coverage=0.9)
    assert "Sets at level" not in reported(model, X[:120]).words
    model.calibrate(X[120:], "labels", classes[120:])
    for options, level in (({}, 0.9), ({"coverage": 0.95}, 0.95)):
        page = reported(model, X[:120], **options)
        sets = model.predict_sets(X[:120], level)
        n_single = (sets.sum(axis=1) == 1).sum()
        assert f"Sets at level {level}: 1 cluster {n_single} (" in page.words
        assert model.calibration_.assumption in page.words
        assert "is <b>" in page.words


def test_nothing_of_a_kind_is_said_in_words(reported):
    page = reported(CredalPartition.from_labels([0, 1]), [[0, 1], [1, 0]])
    assert (
        f"2 objects in 2 clusters: 2 (100{NARROW_SPACE}%) are clear, none is between "
        "them and none is an outlier." in page.words
    )
    assert "No object is between clusters." in page.words
    assert "No object is an outlier." in page.words
    assert "No mass is on ∅: this result says nothing about outliers." in page.words
    assert "on one cluster or on ∅: no doubt is expressed." in page.words


@pytest.mark.parametrize(
    ("counts", "shares"),
    [
        ((262, 77, 3), ("77", "22", "1")),
        ((1, 1, 1), ("34", "33", "33")),
        ((999, 1, 0), ("> 99", "< 1", "0")),
        ((199, 1, 0), ("> 99", "< 1", "0")),
        ((4, 0, 0), ("100", "0", "0")),
        ((0, 0, 0), ("0", "0", "0")),
    ],
)
def test_percentages_add_up(counts, shares):
    texts = [f"{share} %".replace(" ", NARROW_SPACE) for share in shares]
    assert percentages(counts) == texts


def test_an_object_between_two_has_the_colours_of_both_the_likelier_inside(reported):
    partition = CredalPartition.from_fuzzy([[1, 0], [0, 1], [0.4, 0.6], [0.6, 0.4]])
    page = reported(partition, np.eye(4)[:, :2])
    first, second, between = page.objects()
    colors = [first["marker"]["color"], second["marker"]["color"]]
    assert between["customdata"] == [2, 3]
    assert between["marker"]["color"] == colors[::-1]
    assert between["marker"]["line"]["color"] == colors


def test_picture_shows_every_object_once_in_the_colours_of_the_library(
    network, network_page
):
    model, X = network
    traces = network_page.objects()
    assert sorted(i for trace in traces for i in trace["customdata"]) == list(
        range(200)
    )
    for trace in traces:
        np.testing.assert_allclose(
            np.column_stack([trace["x"], trace["y"]]), X[trace["customdata"]], rtol=1e-4
        )
    assert [
        trace["marker"]["color"].upper()
        for trace in traces
        if trace["name"].startswith("cluster")
    ] == ["#0069A8", "#F0A30A", "#009E76", "#7A1040"]
    outliers = next(trace for trace in traces if trace["name"] == "outlier")
    assert (
        outliers["customdata"] == np.flatnonzero(model.partition_.is_outlier).tolist()
    )


def test_hover_shows_the_masses_of_an_object(network, network_page):
    partition = network[0].partition_
    trace = network_page.objects()[0]
    i, text = trace["customdata"][0], trace["hovertext"][0]
    j = partition.masses[i].argmax()
    assert text.startswith(f"<b>object {i}</b>")
    assert f"m({partition.focal_sets.names[j]}) = {partition.masses[i, j]:.2f}" in text
    assert "feature 1: " in text


def test_two_features_need_no_choice_of_axes_and_more_have_one(reported):
    X, y = make_blobs(60, 2, centers=2, random_state=0)
    page = reported(CredalPartition.from_labels(y), X)
    assert "views" not in page.data
    assert "principal" not in page.words
    X, y = make_blobs(60, 5, centers=2, random_state=0)
    page = reported(CredalPartition.from_labels(y), X)
    assert [view["name"] for view in page.data["views"]] == [
        f"feature {j}" for j in range(5)
    ]
    np.testing.assert_allclose(page.data["views"][3]["values"], X[:, 3], rtol=1e-4)
    assert "the axes are the first two principal components (PCA)" in page.words
    assert page.figure("picture")["layout"]["xaxis"]["title"]["text"].startswith("PC 1")


def test_prototype_methods_have_no_shepard_diagram(fitted_page):
    assert fitted_page.headings[5:8] == ["δ–Bel graph", "Learning curve", "Settings"]
    names = [trace.get("name") for trace in fitted_page.figure("picture")["data"]]
    assert names.count("prototype") == 1


def test_clusters_say_what_distinguishes_them(reported):
    X = np.zeros((90, 2))
    X[:30, 0] = 6.0
    X[:, 1] = np.arange(90) % 3
    words = ["red"] * 30 + ["blue"] * 60
    data = {"size": X[:, 0], "nothing": X[:, 1], "colour": words}
    labels = np.repeat([0, 1], [30, 60])
    page = reported(CredalPartition.from_labels(labels), X, data=data)
    assert page.cards[0] == (
        f"very high size (6.0, all: 2.0); colour red (100{NARROW_SPACE}%, all: "
        f"33{NARROW_SPACE}%)"
    )
    assert page.cards[1].startswith("low size (0.0, all: 2.0); colour blue")
    differences = page.figure("profiles")["data"][0]["z"]
    assert differences[0][0] == pytest.approx(4 / X[:, 0].std(), abs=0.006)
    assert differences[1] == [0.0, 0.0]


def test_outliers_do_not_count_in_the_profiles(reported):
    X = np.array([[0.0], [0.1], [1.0], [1.1], [1e6]])
    page = reported(CredalPartition.from_labels([0, 0, 1, 1, -1]), X)
    assert "low feature 0 (0.05, all: 0.55)" in page.words
    assert "far from all; very high feature 0" in page.rows["outliers"][1][1]


def test_typical_objects_are_the_most_plausible_and_most_central(reported):
    X = np.arange(7.0)[:, None]
    lower = np.array([[1, 0]] * 3 + [[0, 0]] + [[0, 1]] * 3)
    upper = lower + np.array([[0, 0]] * 3 + [[1, 1]] + [[0, 0]] * 3)
    page = reported(CredalPartition.from_rough(lower, upper), X)
    cards = page.text.split('<article class="card marked"')[1:]
    found = [re.findall(r'data-object="(\d+)"', card) for card in cards]
    # The object between both goes to the first cluster, whose centre is then at 1.5.
    assert [each[0] for each in found] == ["1", "5"]
    assert "3 clear, 1 between it and others, 4 most plausible here" in cards[0]


def test_profile_chart_has_a_row_for_each_column(fitted, fitted_page):
    heat = fitted_page.figure("profiles")["data"][0]
    assert heat["y"] == ["feature 0", "feature 1"]
    assert heat["x"] == ["0", "1", "2", "3"]
    groups = np.where(fitted[0].partition_.is_outlier, -1, fitted[0].labels_)
    inside = fitted[1][groups >= 0]
    expected = fitted[1][groups == 2, 1].mean() - inside[:, 1].mean()
    assert heat["z"][1][2] == pytest.approx(expected / inside[:, 1].std(), abs=0.006)


def test_report_lists_the_most_doubtful_objects_first(fitted, fitted_page):
    partition = fitted[0].partition_
    doubt = np.where(partition.is_ambiguous, partition.doubt, -1)
    header, *rows = fitted_page.rows["between"]
    assert header[:5] == ["object", "why", "largest masses", "doubt", "m(∅)"]
    assert header[5:] == ["feature 0", "feature 1"]
    objects = [int(row[0].split()[0]) for row in rows]
    assert objects[0] == doubt.argmax()
    shown = [float(row[3]) for row in rows]
    assert shown == sorted(shown, reverse=True)
    for row, i in zip(rows, objects, strict=True):
        name = partition.set_names("verdict")[i]
        assert partition.is_ambiguous[i]
        if name in ("{0,1}", "{2,3}"):
            assert row[1].startswith(f"between {name[1]} and {name[3]}")


def test_masses_are_put_in_words(reported):
    focal_sets = FocalSets(3, ((), (0,), (0, 1), (0, 1, 2)))
    masses = [
        [0.7, 0.1, 0.1, 0.1],
        [0.1, 0.1, 0.1, 0.7],
        [0, 0.1, 0.8, 0.1],
        [0, 0.5, 0.4, 0.1],
        [0, 0.8, 0.1, 0.1],
    ]
    page = reported(CredalPartition(masses, focal_sets), np.eye(5)[:, :2])
    why = [row[1].split("\n")[0] for row in page.rows["between"][1:]]
    assert why == [
        "could be in any cluster",
        "between 0 and 1",
        "between 0 and 1, rather in 0",
    ]
    assert page.rows["outliers"][1][1].startswith("far from all")
    hover = [text for trace in page.objects() for text in trace["hovertext"]]
    assert sum("clearly in 0" in text for text in hover) == 1


def test_mass_chart_has_the_masses_of_each_object(reported):
    partition = CredalPartition.from_fuzzy([[0.25, 0.75], [1, 0], [0.5, 0.5]])
    page = reported(partition, np.eye(3)[:, :2], ids=["a", "b", "c"])
    heat = page.figure("masses")["data"][0]
    assert heat["x"] == ["∅", "{0}", "{1}"]
    # By cluster, in the order of doubt.
    assert heat["y"] == ["b", "c", "a"]
    assert heat["z"] == [[0, 1, 0], [0, 0.5, 0.5], [0, 0.25, 0.75]]


def test_centres_of_the_graph_are_listed_in_the_order_of_the_clusters(
    network, network_page
):
    model, X = network
    centers = delta_bel(X).suggest()
    centers = centers[np.argsort(model.labels_[centers])]
    assert model.labels_[centers].tolist() == [0, 1, 2, 3]
    a, b, c, d = centers
    assert (
        f"suggests 4 centres, objects {a}, {b}, {c} and {d}; one in each"
        in network_page.words
    )


def test_other_centres_than_clusters_are_admitted(reported):
    partition = CredalPartition.from_labels(np.arange(200) % 2)
    page = reported(partition, four_class(200))
    assert "suggests 4 centres" in page.words
    assert "this result has 2 clusters. Numbers and colours in the" in page.words


def test_pairs_of_the_shepard_diagram_are_counted(
    network, network_page, reported, monkeypatch
):
    model, X = network
    assert "All 19\N{NO-BREAK SPACE}900 pairs" in network_page.words
    assert f"δ₀ = {model.scale_:.4g}" in network_page.words
    counts = network_page.figure("shepard")["data"][0]["text"]
    texts = [text.replace(NARROW_SPACE, "") for row in counts for text in row]
    assert sum(map(int, texts)) == 19_900
    make = ShepardDisplay.from_estimator
    monkeypatch.setattr(
        ShepardDisplay,
        "from_estimator",
        lambda *data, **options: make(*data, n_pairs=50, **options),
    )
    page = reported(model, X)
    assert "A random sample of 50 of 19\N{NO-BREAK SPACE}900 pairs" in page.words
    assert len(page.figure("shepard")["data"][0]["x"]) == 50


def test_dissimilarities_given_to_fit_are_taken(reported, monkeypatch):
    X = four_class(60)
    given = pdist(X, "cityblock")
    model = quick().fit(X, dissimilarities=given)
    seen = []
    make = ShepardDisplay.from_estimator

    def spy(*data, **options):
        seen.append(make(*data, **options))
        return seen[0]

    monkeypatch.setattr(ShepardDisplay, "from_estimator", spy)
    page = reported(model, X, dissimilarities=given)
    assert seen[0].stress == pytest.approx(model.stress_)
    assert ".fit(X, dissimilarities=D)" in page.words
    assert "If fit was given partial_labels or must_link or cannot_link" in page.words


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        BCM(2, random_state=0),
        BPEC(2),
        CCM(2, random_state=0),
        CECM(2, random_state=0),
        ECM(2, metric="adaptive", random_state=0),
        RECM(2, random_state=0),
        ECMdd(2, random_state=0),
        MECM(2, random_state=0),
        EVCLUS(2, max_iter=5, n_init=1, random_state=0),
        quick(2),
        EkNNclus(n_neighbors=10, random_state=0),
        Bootclus(2, n_bootstrap=5, random_state=0),
        EGMM(2, random_state=0),
        Consensus(2, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_estimator_can_be_reported(estimator, reported):
    X, _ = make_blobs(60, 3, centers=2, random_state=0)
    page = reported(estimator.fit(X), X)
    name = type(estimator).__name__
    assert f"<h1>{name} report <time" in page.text
    assert f"method {name}: " in page.words
    assert page.has_chart("shepard") == (name in ("EVCLUS", "NNEVCLUS"))
    assert page.has_chart("history")
    assert f"from credalis import {name}, report" in page.words


def test_a_report_says_that_there_may_be_no_clusters(reported, rng):
    members = {"members": ["full", "ward"], "random_state": 0}
    X = rng.normal(size=(100, 2))
    with pytest.warns(NoClustersWarning):
        noise = Consensus(3, **members).fit(X)
    told = (
        "A test finds no gaps between groups of rows that chance would not leave (p ="
    )
    page = reported(noise, X)
    assert told in page.words
    assert "the 3 clusters may only divide one group." in page.words
    with pytest.warns(NoClustersWarning):
        alone = Consensus("auto", **members).fit(X)
    assert "No clusters: a test finds no gaps" in reported(alone, X).words
    X[:50, 0] += 9
    groups = Consensus(2, **members).fit(X)
    assert "no gaps" not in reported(groups, X).words


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        quick(metric="precomputed"),
        EVCLUS(4, metric="precomputed", max_iter=5, n_init=1, random_state=0),
        RECM(4, metric="precomputed", random_state=0),
        Consensus(4, metric="precomputed", random_state=0),
        EkNNclus(metric="precomputed", n_neighbors=10, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_dissimilarities_may_be_precomputed(estimator, reported):
    matrix = squareform(pdist(four_class(60)))
    page = reported(estimator.fit(matrix), matrix)
    assert "Compared by their dissimilarities" in page.words
    assert "The axes are principal components of the dissimilarit" in page.words
    assert not page.has_chart("profiles")
    assert page.has_chart("peaks")
    page = reported(estimator, matrix, data={"city": [f"c{i}" for i in range(60)]})
    assert "city: c59" in " ".join(page.hover_texts())
    with pytest.raises(ValueError, match="X must hold the dissimilarities"):
        reported(estimator, matrix[:, :2])


def test_a_model_without_history_or_scale_has_fewer_diagrams(fitted, reported):
    class Bare:
        partition_ = fitted[0].partition_

        def get_params(self, deep=True):
            return {}

    page = reported(Bare(), fitted[1])
    assert "<h1>Bare report <time" in page.text
    assert page.headings[4:] == ["Masses", "δ–Bel graph", "Settings"]
    assert "No seed was given" in page.words


def test_partition_alone_can_be_reported(reported):
    partition = CredalPartition.from_labels([0, 0, 1, 1, -1])
    X = np.array([[0.0, 0], [0, 1], [5, 5], [5, 6], [20, 0]])
    page = reported(partition, X)
    assert "<h1>Credal partition report <time" in page.text
    assert page.headings[4:] == ["Masses", "Settings"]
    assert "how it was made is not known" in page.words


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_two_clusters_of_any_number_of_features(n_features, reported):
    X, _ = make_blobs(60, n_features, centers=2, random_state=0)
    page = reported(quick(2).fit(X), X)
    assert page.text.count('<article class="card marked"') == 2
    assert ("the height is the doubt" in page.words) == (n_features == 1)


@pytest.mark.parametrize("n_samples", [1, 2, 3])
def test_few_objects_are_enough(n_samples, reported):
    partition = CredalPartition.from_fuzzy(np.full((n_samples, 2), 0.5))
    page = reported(partition, np.arange(3.0 * n_samples).reshape(n_samples, 3))
    assert page.words.count(f"{n_samples} object") >= 1
    assert not page.has_chart("peaks")


def test_constant_data_have_no_profile_and_no_graph(reported):
    page = reported(CredalPartition.from_labels([0, 1] * 10), np.ones((20, 2)))
    assert not page.has_chart("peaks")
    assert not page.has_chart("profiles")


@pytest.mark.parametrize("factor", [1e-30, 1e150])
def test_any_unit_will_do(factor, reported):
    X, y = make_blobs(60, 3, centers=2, random_state=0)
    partition = CredalPartition.from_labels(y)
    page = reported(partition, X * factor)
    expected = reported(partition, X).figure("profiles")["data"][0]["z"]
    assert page.figure("profiles")["data"][0]["z"] == expected


def test_forty_clusters_are_numbered_in_the_picture(reported):
    X, y = make_blobs(400, centers=40, random_state=0)
    page = reported(CredalPartition.from_labels(y), X)
    assert page.text.count('<article class="card marked"') == 40
    traces = page.figure("picture")["data"]
    numbers = page.figure("picture")["layout"]["annotations"]
    assert [each["text"] for each in numbers] == [f"<b>{k}</b>" for k in range(40)]
    # Outlines of all that may be in a cluster would cross the whole picture.
    assert not any(trace.get("line", {}).get("dash") == "dash" for trace in traces)
    assert not any(trace.get("showlegend", True) for trace in page.objects())


def test_clusters_without_objects_are_counted(reported):
    partition = CredalPartition.from_labels([0, 0, 2], n_clusters=5)
    page = reported(partition, np.eye(3))
    assert page.text.count('<article class="card marked"') == 2
    assert "3 clusters without objects." in page.words


def test_many_focal_sets_are_shown_in_part(reported):
    focal_sets = FocalSets.pairs(15)
    masses = np.random.default_rng(0).dirichlet(np.ones(len(focal_sets)), 50)
    page = reported(CredalPartition(masses, focal_sets), four_class(50))
    assert len(page.figure("masses")["data"][0]["x"]) == 60
    assert f"Only the 60 of {len(focal_sets)} sets with most mass" in page.words


@pytest.mark.slow
def test_many_objects_are_sampled_and_the_page_says_so(tmp_path):
    n_samples = 20_000
    rng = np.random.default_rng(0)
    masses = rng.dirichlet(np.full(5, 0.2), n_samples)
    partition = CredalPartition(masses, FocalSets.singletons(3))
    X = rng.normal(size=(n_samples, 12))
    report(partition, X, tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    shown = [i for trace in page.objects() for i in trace["customdata"]]
    assert 3000 <= len(shown) <= 3300
    assert len(page.data["places"]) == len(shown)
    for table in ("between", "outliers"):
        for row in page.rows[table][1:]:
            assert int(row[0]) in page.data["places"]
    assert f"of the 20{NARROW_SPACE}000 objects, with those listed below" in page.words
    n_outliers = f"{partition.is_outlier.sum():,}".replace(",", NARROW_SPACE)
    assert f"30 of {n_outliers} are listed, the worst first" in page.words
    assert len(page.rows["outliers"]) == 31
    density = page.figure("picture")["data"][0]
    n_counted = sum(
        10**cell for row in density["z"] for cell in row if cell is not None
    )
    assert n_counted == pytest.approx(n_samples, rel=0.02)
    assert f"from a random sample of 5{NARROW_SPACE}000 objects" in page.words
    assert "mean of about 83 neighbouring objects" in page.words
    assert (tmp_path / "report.html").stat().st_size < 3_000_000


def test_thousands_are_set_apart(reported):
    partition = CredalPartition.from_labels(np.arange(1200) % 2)
    X = np.random.RandomState(0).randn(1200, 2)
    assert f"1{NARROW_SPACE}200 objects in 2 clusters" in reported(partition, X).words


def test_a_metric_in_python_has_a_lower_limit(reported):
    class WithMetric:
        partition_ = CredalPartition.from_labels(np.arange(501) % 2)
        metric = staticmethod(lambda a, b: abs(a[0] - b[0]) + abs(a[1] - b[1]))

        def get_params(self, deep=True):
            return {"metric": self.metric}

    page = reported(WithMetric(), four_class(501))
    assert "Computed from a random sample of 500 objects." in page.words
    assert "Put in your own metric: the text is not code." in page.words
    few = WithMetric()
    few.partition_ = few.partition_[:40]
    assert "random sample" not in reported(few, four_class(40)).words


def test_settings_name_seed_versions_and_what_makes_the_result_again(network_page):
    words = " ".join(network_page.words.split())
    assert (
        "model = NNEVCLUS(n_clusters=4, n_init=1, random_state=0, tol=0.001)" in words
    )
    rows = dict(network_page.rows["settings"])
    assert rows["seed"] == "0"
    assert f"numpy {np.__version__}" in rows["versions"]
    assert rows["hidden_layer_sizes"] == "'auto'"
    assert rows["n_clusters"] == "4"


def test_code_of_the_page_makes_the_same_result(network, network_page):
    model, X = network
    code = re.search(r"<pre><code>(.*?)</code>", network_page.text, re.S).group(1)
    names = {"X": X}
    exec(code.split("report(model")[0], names)
    assert np.array_equal(names["model"].partition_.masses, model.partition_.masses)


def test_command_is_shown_instead_of_code(network, reported):
    page = reported(*network, command="credalis cluster a.csv -c 4\n  --seed <1>")
    assert "credalis cluster a.csv -c 4\n--seed <1>" in page.words
    assert "from credalis import" not in page.words


def test_same_result_gives_the_same_bytes(network, tmp_path):
    for name in ("a.html", "b.html"):
        report(*network, tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_reader_sees_the_table_in_its_own_units(make, reported):
    X = four_class(60)
    table = {"height (cm)": 170 + 10 * X[:, 0], "weight": 70 + 5 * X[:, 1]}
    scaled = StandardScaler().fit_transform(np.column_stack(list(table.values())))
    table["name"] = [f"person {i}" for i in range(60)]
    page = reported(ECM(2, random_state=0).fit(scaled), scaled, data=make(table))
    assert page.rows["between"][0][5:] == ["height (cm)", "weight", "name"]
    assert "height (cm): " in page.hover_texts()[0]
    assert "name: person " in page.hover_texts()[0]
    views = {view["name"]: view["values"] for view in page.data.get("views", [])}
    assert views == {}
    heat = page.figure("profiles")["data"][0]
    assert heat["y"] == ["height (cm)", "weight"]


def test_picture_of_two_columns_is_in_their_units(reported):
    X = four_class(60)
    scaled = StandardScaler().fit_transform(X)
    data = pd.DataFrame(X, columns=["a", "b"])
    page = reported(ECM(2, random_state=0).fit(scaled), scaled, data=data)
    trace = page.objects()[0]
    np.testing.assert_allclose(trace["x"], X[trace["customdata"], 0], rtol=1e-4)
    assert page.figure("picture")["layout"]["xaxis"]["title"]["text"] == "a"


def test_missing_values_and_odd_columns_are_shown_as_they_are(reported):
    X = four_class(40)
    data = pd.DataFrame(
        {
            "gaps": [np.nan, np.inf] + [1.5, 2.5] * 19,
            "own": pd.array([None, *range(39)], dtype="Int64"),
            "flag": [True, False] * 20,
            "day": pd.date_range("2020-01-01", periods=40),
            "mixed": ["a", 1] * 20,
            "void": [None] * 40,
        }
    )
    data.columns = ["gaps", "own", "flag", "day", "mixed", "mixed"]
    page = reported(CredalPartition.from_labels(np.arange(40) % 2), X, data=data)
    first = next(text for text in page.hover_texts() if "<b>object 0</b>" in text)
    for words in ("gaps: –", "own: –", "flag: True", "day: 2020-01-01", "mixed: –"):
        assert words in first
    assert page.figure("profiles")["data"][0]["y"] == ["gaps", "own", "day"]


def test_dates_are_read_as_dates(reported):
    """Nobody knows which day 18 710 is."""
    X = four_class(40)
    day = np.datetime64("2021-03-24T18:00") + np.repeat([0, 400], 20) * np.timedelta64(
        1, "D"
    )
    data = {"since": np.where(np.arange(40) == 3, np.datetime64("NaT"), day)}
    page = reported(CredalPartition.from_labels(np.repeat([0, 1], 20)), X, data=data)
    early, late = page.cards
    assert "early since (2021-03-24, all: 2021-10-1" in early
    assert "late since (2022-04-28, all: 2021-10-1" in late
    assert "since: 2021-03-24" in page.hover_texts()[0]
    assert "since: –" in page.hover_texts()[3]
    panel = page.figure("feature-0")
    assert panel["layout"]["xaxis"]["type"] == "date"
    assert panel["data"][-1]["x"][0].startswith("2021-03-24")
    assert not re.search(r"\b18\W?7\d\d\b", page.text)


def test_dates_in_the_units_of_the_model_are_dates_as_well(reported):
    rng = np.random.default_rng(0)
    days = np.repeat([18_000.0, 19_000], 30) + rng.integers(0, 300, 60)
    size = np.repeat([1.0, 5], 30) + rng.normal(size=60)
    X = StandardScaler().fit_transform(np.column_stack([days, size]))
    data = {"since": days.astype("datetime64[D]"), "size": size}
    page = reported(ECM(2, random_state=0).fit(X), X, data=data)
    assert re.search(r"since (up to|from) 20\d\d-\d\d-\d\d", page.text)


def test_objects_have_the_names_given_or_those_of_the_index(network, reported):
    model, X = network
    names = [f"town {i}" for i in range(200)]
    names[7] = "town 6"
    page = reported(model, X, ids=names)
    assert "town 6 (row 6)" in page.text
    assert "town 6 (row 7)" in page.text
    assert page.rows["between"][1][0].startswith("town ")
    page = reported(model, pd.DataFrame(X, index=[f"t{i}" for i in range(200)]))
    assert page.rows["between"][1][0].startswith("t")
    page = reported(model, pd.DataFrame(X))
    assert page.rows["between"][1][0].isdigit()


@pytest.mark.parametrize("nasty", HOSTILE)
def test_whatever_stands_in_the_table_is_text(nasty, reported):
    X = four_class(60)
    data = {nasty: X[:, 0], "cell": [nasty] * 30 + ["fine"] * 30, "more": X[:, 1]}
    model = ECM(3, random_state=0).fit(X)
    page = reported(model, X, data=data, ids=[nasty] * 60, command=nasty)
    reference = reported(
        model, X, data={"a": X[:, 0], "cell": ["bad", "fine"] * 30, "more": X[:, 1]}
    )
    # Nothing in the table becomes a tag or a script, and no handler appears.
    assert len(page.scripts) == len(reference.scripts)
    assert page.scripts == reference.scripts
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in reference.tags}
    assert not any(
        name.startswith("on") for _, attributes in page.tags for name in attributes
    )
    # Plotly would read tags: only those of the report itself are left.
    figures = [data for name, data in page.data.items() if name != "places"]
    texts = list(strings_in(figures))
    assert texts
    for text in texts:
        assert set(re.findall(r"<[^>]*>?", text)) <= {"<b>", "</b>", "<br>"}
        assert text.count("<b>") <= 1
    readable = nasty.replace("\ud800", " ").replace("\u202e", " ").replace("\x00", " ")
    assert " ".join(readable.split()) in " ".join(page.words.split())


def test_parameters_are_escaped_and_cut(fitted, reported):
    estimator, X = fitted

    class Nasty(ECM):
        def get_params(self, deep=True):
            return {"init": "<script>alert(1)</script>", "delta": "long" * 1000}

    nasty = Nasty(4, random_state=0)
    vars(nasty).update(vars(estimator))
    page = reported(nasty, X)
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert" in page.text
    assert "long" * 100 not in page.text


@pytest.mark.parametrize(
    ("module", "name"), [("plotly.graph_objects", "plotly"), ("jinja2", "Jinja2")]
)
def test_what_is_missing_is_named_with_the_extra(
    module, name, fitted, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, module, None)
    message = rf"needs? {name}: pip install 'credalis\[report\]'"
    with pytest.raises(ImportError, match=message):
        report(*fitted, tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": np.zeros((3, 2))}, r"data must have one row for each of the 200 obj"),
        (
            {"data": np.zeros(200)},
            r"data must be a DataFrame, .* got ndarray of 1 axes",
        ),
        (
            {"data": {"a": [1, 2]}},
            r"each of the 200 objects, got shape \(2,\) in .*'a'",
        ),
        ({"ids": "name"}, r"ids must hold one name for each of the 200 .* got 'name'"),
        ({"ids": [1, 2]}, r"ids must hold one name for each of the 200 objects, got 2"),
        ({"command": 3}, r"command must be a str or None, got 3"),
    ],
)
def test_wrong_options_leave_no_file(options, message, fitted, tmp_path):
    with pytest.raises(ValueError, match=message):
        report(*fitted, tmp_path / "report.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_anything_else_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"result must be a CredalPartition.*got str"):
        report("partition", np.zeros((3, 2)), tmp_path / "report.html")
    empty = CredalPartition.from_labels([0, 1])[[]]
    with pytest.raises(ValueError, match=r"at least 1 object, got a partition of 0"):
        report(empty, np.zeros((0, 2)), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_wrong_data_leave_no_file(fitted, tmp_path):
    with pytest.raises(ValueError, match="each of the 200 objects"):
        report(fitted[0], np.zeros((3, 2)), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_columns_of_x_are_found_in_a_larger_table_by_name(reported):
    X = four_class(60)
    table = pd.DataFrame({"id": range(60), "a": X[:, 0], "b": X[:, 1]})
    scaled = pd.DataFrame(
        StandardScaler().fit_transform(table[["b", "a"]]), columns=["b", "a"]
    )
    page = reported(ECM(2, random_state=0).fit(scaled), scaled, data=table)
    assert "Compared by 2 features (b and a)" in page.words
    trace = page.objects()[0]
    np.testing.assert_allclose(trace["x"], X[trace["customdata"], 1], rtol=1e-4)
    assert page.figure("picture")["layout"]["yaxis"]["title"]["text"] == "a"


def test_matplotlib_is_not_needed(fitted, reported, monkeypatch):
    for name in [each for each in sys.modules if each.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert reported(*fitted).has_chart("picture")


def test_columns_that_were_not_compared_by_describe_the_clusters(tmp_path):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 30)
    X = rng.normal(6 * group, 1.0)[:, None]
    model = ECM(2, random_state=0).fit(X)
    kinds = np.array(["cat", "dog"], dtype=object)[group]
    data = {"length": X[:, 0], "kind": kinds, "age": 10.0 * group + rng.random(60)}
    first = int(model.labels_[0])
    names = ["one", "one"]
    names[first] = "two <b>"
    path = tmp_path / "r.html"
    report(
        model,
        X,
        path,
        data=data,
        described=["kind", "age"],
        cluster_names=names,
        notes=["'x0' left out: no name <script>"],
    )
    page = path.read_text("utf-8")
    assert page.count("what else is known of it (not compared by)") == 2
    assert f"100{NARROW_SPACE}% cat <small>kind; of all " in page
    assert f"100{NARROW_SPACE}% dog <small>kind; of all " in page
    assert "low age (" in page
    assert f"Cluster {first}: two &lt;b&gt;" in page
    assert "<li>&#39;x0&#39; left out: no name &lt;script&gt;</li>" in page
    # What distinguishes the clusters is said of what they were compared by.
    assert page.count("<dt>what distinguishes it</dt>") == 2
    assert "Compared by 1 feature (length)" in page


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"described": ["weight"]},
            "described must name columns of data, got 'weight'",
        ),
        ({"cluster_names": ["a"]}, "cluster_names must hold a name for each of 2"),
    ],
)
def test_names_of_columns_and_clusters_are_checked(tmp_path, settings, message):
    X = np.repeat([[0.0], [9.0]], 5, axis=0) + np.arange(10)[:, None] / 99
    model = ECM(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=message):
        report(model, X, tmp_path / "r.html", data={"a": X[:, 0]}, **settings)
