"""Does anything overlap or get cut in a report? Label boxes in a real browser.

Pages with 2, 3, 8 and 20 clusters, on a desktop and on a phone, on light and dark
screens and on paper, in one browser.
"""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from browsing import browser as browser
from credalis import CredalPartition, FocalSets, report

pytest.importorskip("plotly")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

SIZES = (2, 3, 8, 20)
OFTEN = (3, 20)
for_each_size = pytest.mark.parametrize(
    "n_clusters",
    [pytest.param(n, marks=() if n in OFTEN else pytest.mark.slow) for n in SIZES],
)
# A pixel and a half of antialiasing.
SLACK = 1.5

# Boxes of all texts of a chart that a reader must tell apart, and of its frame.
BOXES = """(name) => {
  const chart = document.getElementById(name);
  const selectors = [
    ".xtick text", ".ytick text", ".xaxislayer-above text", ".yaxislayer-above text",
    ".g-xtitle text", ".g-ytitle text", ".legendtext", ".annotation-text-g",
  ];
  const box = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { left, right, top, bottom, text: element.textContent };
  };
  const seen = new Set(selectors.flatMap((each) => [...chart.querySelectorAll(each)]));
  const labels = [...seen].map(box).filter((each) => each.right > each.left);
  return { frame: box(chart), labels };
}"""
CHARTS = "[...document.querySelectorAll('.chart')].map((div) => div.id)"
# Texts of the page that stand beside each other.
TEXTS = """() => [...document.querySelectorAll(
    "h1, .lead, .how, .facts > div, h2, h3.part, .axes label, figcaption, .card, " +
    ".panel h4, .chart, .table, pre, footer")]
  .filter((element) => !element.closest("details:not([open])"))
  .map((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return { left, right, top, bottom, text: element.textContent.slice(0, 40),
             tag: element.className || element.tagName };
  })
  .filter((each) => each.right > each.left && each.bottom > each.top)"""
# What A4 holds between margins of 13 mm, in pixels of a browser.
PAPER = {"width": 695, "height": 1024}


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    """For each number of clusters a page with long names, doubt and far objects."""
    directory = tmp_path_factory.mktemp("layout")
    return {n: page_of(n, directory / f"{n}.html").as_uri() for n in SIZES}


def page_of(n_clusters, path):
    rng = np.random.default_rng(n_clusters)
    # Clusters that overlap in the plane: there, numbers would meet.
    X, y = make_blobs(15 * n_clusters + 10, 5, centers=n_clusters, random_state=2)
    X[0] *= 100
    focal_sets = FocalSets.singletons(n_clusters)
    weights = np.full((len(X), len(focal_sets)), 0.05)
    weights[np.arange(len(X)), 1 + y] = np.where(rng.random(len(X)) < 0.8, 40.0, 0.3)
    weights[:2, 0] = 50.0
    masses = np.array([rng.dirichlet(row + 1e-3) for row in weights])
    names = ["annual income (€)", "age", "number of children in the household"]
    data = {name: X[:, j] for j, name in enumerate(names)}
    data["a_name_without_any_gap_that_goes_on_and_on"] = 1e6 * X[:, 3]
    data["x"] = X[:, 4]
    data["region"] = np.array(["North-East", "South", "Western Isles"])[y % 3]
    report(
        CredalPartition(masses, focal_sets),
        X,
        path,
        data=data,
        described=["region"],
        cluster_names=[f"customers of kind {k}" for k in range(n_clusters)],
        title="customers_of_the_northern_branch_first_quarter.xlsx",
    )
    return path


@pytest.fixture(scope="module")
def opened(browser, addresses):
    """A page for each number of clusters, opened once: its parts take a second."""
    pages = {}

    def page_with(n_clusters):
        if n_clusters not in pages:
            page = browser.new_page()
            page.set_viewport_size({"width": 1280, "height": 900})
            page.goto(addresses[n_clusters])
            page.wait_for_selector("html[data-ready]", state="attached")
            pages[n_clusters] = page
        # Behind another page it would be drawn late.
        pages[n_clusters].bring_to_front()
        return pages[n_clusters]

    return page_with


def look(page, width=1280, height=900, media="screen", scheme="light"):
    """The page on a screen or on paper; what it is already stays as it is."""
    state = (width, height, media, scheme)
    if getattr(page, "looked_at", None) == state:
        return
    if media == "screen" and getattr(page, "looked_at", state)[2] == "print":
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(media=media, color_scheme=scheme)
    if media == "print":
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    settle(page)
    page.looked_at = state


def settle(page):
    """Wait until the charts are as wide as their place and the labels keep theirs."""
    is_settled = """async () => {
      const charts = [...document.querySelectorAll(".chart")];
      const isPaper = window.matchMedia("print").matches;
      const fits = ({ clientWidth, _fullLayout }) =>
        isPaper || Math.abs(clientWidth - _fullLayout.width) < 2;
      const state = () => JSON.stringify(charts.map((div) => [
        div._fullLayout.width, div._fullLayout.height, div.layout.legend?.y,
        div.layout.annotations?.map(({ ax, ay }) => [ax, ay])]));
      const before = state();
      await new Promise((resume) => { setTimeout(resume, 100); });
      return charts.every(fits) && state() === before;
    }"""
    for _ in range(100):
        if page.evaluate(is_settled):
            return
    pytest.fail("the charts do not come to rest")


def overlap(one, other):
    width = min(one["right"], other["right"]) - max(one["left"], other["left"])
    height = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
    return width > SLACK and height > SLACK


def assert_labels_apart(page):
    names = page.evaluate(CHARTS)
    assert "picture" in names
    for name in names:
        boxes = page.evaluate(BOXES, name)
        frame, labels = boxes["frame"], boxes["labels"]
        assert labels, name
        for one, other in combinations(labels, 2):
            assert not overlap(one, other), (name, one["text"], other["text"])
        for label in labels:
            is_inside = (
                label["left"] >= frame["left"] - SLACK
                and label["right"] <= frame["right"] + SLACK
                and label["bottom"] <= frame["bottom"] + SLACK
            )
            assert is_inside, (name, label, frame)


@for_each_size
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_overlaps_on_a_screen(opened, n_clusters, width):
    page = opened(n_clusters)
    look(page, width)
    assert_labels_apart(page)
    if n_clusters > 4:
        numbers = page.locator("#picture .annotation-text-g").count()
        assert numbers == n_clusters
    texts = page.evaluate(TEXTS)
    assert len(texts) > 20
    for one, other in combinations(texts, 2):
        assert not overlap(one, other), (one["tag"], one["text"], other["text"])
    assert max(each["right"] for each in texts) <= width


@for_each_size
def test_nothing_overlaps_on_paper(opened, n_clusters):
    page = opened(n_clusters)
    # Of a dark screen and of light ones.
    scheme = "dark" if n_clusters == 3 else "light"
    look(page, **PAPER, media="print", scheme=scheme)
    assert_labels_apart(page)
    # Ink on white, whatever the screen is like.
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    ink = "document.getElementById('picture').layout.font.color"
    assert page.evaluate(ink) == "#333333"
    # The first page is not left empty because the picture does not fit.
    bottom = "document.getElementById('picture').getBoundingClientRect().bottom"
    assert page.evaluate(f"{bottom} + window.scrollY") < PAPER["height"]


def test_a_dark_screen_has_dark_charts(opened):
    page = opened(8)
    state = """() => [...document.querySelectorAll(".chart")].map((div) => [
      div.layout.paper_bgcolor, div.layout.font.color])"""
    look(page, scheme="dark")
    dark = {tuple(each) for each in page.evaluate(state)}
    assert dark == {("#12171d", "#dde3ea")}
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(18, 23, 29)"
    )
    assert_labels_apart(page)
    look(page)
    assert {tuple(each) for each in page.evaluate(state)} == {("white", "#333333")}


def test_a_phone_shows_why_and_how_doubtful_without_scrolling(opened):
    page = opened(8)
    look(page, 390)
    cells = page.locator("#between tbody tr").first.locator("th, td")
    assert cells.count() > 6
    boxes = cells.evaluate_all(
        "cells => cells.map((cell) => cell.getBoundingClientRect().toJSON())"
    )
    assert all(0 <= box["left"] < box["right"] <= 390 for box in boxes)


def test_an_object_at_the_rim_is_found_and_put_in_place(opened):
    page = opened(3)
    look(page)
    state = """() => {
      const picture = document.getElementById("picture");
      const rim = picture.data.find((trace) => trace.meta === "extremes");
      return { n: rim.x.length, visible: rim.visible, places: rim.customdata,
               ends: picture.layout.xaxis.range };
    }"""
    before = page.evaluate(state)
    assert before["n"] >= 1
    assert before["visible"]
    page.locator("#outliers .find").first.click()
    label = page.locator("#picture .hoverlayer .hovertext").first
    label.wait_for()
    assert "far from all" in label.text_content()
    page.locator("#in-place").check()
    after = page.evaluate(state)
    assert after["n"] == 0
    assert np.ptp(after["ends"]) > 3 * np.ptp(before["ends"])
    page.locator("#in-place").uncheck()
    assert page.evaluate(state) == before
