"""The report in a real browser without a network: does it work for its reader?"""

import numpy as np
import pytest

from browsing import browser as browser
from credalis import ECM, report
from credalis.datasets import make_four_class

pytest.importorskip("plotly")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NASTY = "<img src=x onerror=window.pwned=1>"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A report of 5 columns with names that would like to be tags."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [make_four_class(120, random_state=0)[0], rng.normal(size=(120, 3))]
    )
    data = {"width": X[:, 0], NASTY: X[:, 1], "c": X[:, 2], "d": X[:, 3], "e": X[:, 4]}
    data["note"] = [NASTY if i % 2 else "fine" for i in range(120)]
    path = tmp_path_factory.mktemp("report") / "report.html"
    model = ECM(3, delta=3.0, random_state=0).fit(X)
    assert model.partition_.is_outlier.sum() > 2
    report(model, X, path, data=data, ids=[f"{NASTY} {i}" for i in range(120)])
    return path.as_uri()


class Visit:
    """A page, and what went wrong or was asked for while it was open."""

    def __init__(self, browser, address, width):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, offline=True
        )
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready]", state="attached")


@pytest.fixture(scope="module")
def desktop(browser, address):
    visit = Visit(browser, address, 1280)
    yield visit
    visit.context.close()


@pytest.fixture(scope="module")
def phone(browser, address):
    visit = Visit(browser, address, 390)
    yield visit
    visit.context.close()


def test_charts_are_drawn_without_complaint_or_request(desktop, address):
    page = desktop.page
    charts = page.locator(".chart")
    assert charts.count() == 11
    assert page.locator(".chart .main-svg").count() >= 11
    assert page.locator("#picture .scatterlayer .points path").count() >= 120
    assert desktop.complaints == []
    assert desktop.requests == [address]


def test_hover_shows_masses_and_names_as_text(desktop):
    page = desktop.page
    page.locator("#picture").scroll_into_view_if_needed()
    mark = page.locator("#picture .scatterlayer .points path").first
    box = mark.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    label = page.locator("#picture .hoverlayer .hovertext")
    label.first.wait_for()
    text = label.first.text_content()
    assert "m(" in text
    assert NASTY[:20] in text
    assert page.evaluate("window.pwned") is None


def test_a_click_on_a_name_shows_the_object_in_the_picture(desktop):
    page = desktop.page
    page.mouse.move(0, 0)
    button = page.locator("#outliers .find").first
    name = button.text_content()
    button.click()
    label = page.locator("#picture .hoverlayer .hovertext").first
    label.wait_for()
    assert name in label.text_content()
    assert "far from all" in label.text_content()


def column(page, section, number):
    cells = page.locator(f"#{section} tbody tr > :nth-child({number})")
    return cells.all_text_contents()


def test_tables_sort_by_keyboard_and_say_so(desktop):
    page = desktop.page
    head = page.locator("#between thead th").nth(5)
    before = column(page, "between", 6)
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    values = [float(cell.replace("−", "-")) for cell in column(page, "between", 6)]
    assert values == sorted(values, reverse=True)
    assert sorted(column(page, "between", 6)) == sorted(before)
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    values = [float(cell.replace("−", "-")) for cell in column(page, "between", 6)]
    assert values == sorted(values)
    assert "ascending" in page.locator("#status").text_content()
    page.locator("#between thead th button").nth(1).click()
    assert head.get_attribute("aria-sort") is None
    reasons = [cell.split("\n")[0] for cell in column(page, "between", 2)]
    assert reasons == sorted(reasons)


def test_axes_of_the_picture_can_be_chosen_and_given_back(desktop):
    page = desktop.page
    state = """() => {
      const picture = document.getElementById("picture");
      return {
        x: picture.data.filter((trace) => trace.meta === "objects")
          .map((trace) => Array.from(trace.x)),
        title: picture.layout.xaxis.title.text,
        lines: picture.data.filter((trace) => trace.mode === "lines")
          .map((trace) => trace.visible !== false),
      };
    }"""
    before = page.evaluate(state)
    page.locator(".axes select").first.select_option(label="width")
    chosen = page.evaluate(state)
    assert chosen["title"] == "width"
    assert chosen["x"] != before["x"]
    assert before["lines"]
    assert not any(chosen["lines"])
    page.locator(".axes select").first.select_option(index=0)
    assert page.evaluate(state) == before


def test_nothing_runs_that_is_not_the_reports_own(desktop):
    page = desktop.page
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.pwned = 2";
          document.body.append(script);
        }"""
    )
    assert page.evaluate("window.pwned") is None
    # The refusal is a complaint, and the only one.
    assert len(desktop.complaints) == 1
    assert "Content Security Policy" in desktop.complaints.pop()


@pytest.mark.slow
def test_paper_holds_the_charts(browser, address):
    visit = Visit(browser, address, 1280)
    page = visit.page
    page.set_viewport_size({"width": 690, "height": 900})
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 690
    widths = page.evaluate(
        "[...document.querySelectorAll('.chart')].map((div) => div._fullLayout.width)"
    )
    assert max(widths) <= 680
    assert not page.locator("nav").is_visible()
    visit.context.close()


def test_a_phone_needs_no_horizontal_scrolling(phone):
    page = phone.page
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.evaluate("window.scrollTo(200, 0)")
    assert page.evaluate("window.scrollX") == 0
    right = page.evaluate(
        "Math.max(...[...document.querySelectorAll('.chart, .card, .table, pre')]"
        ".map((each) => each.getBoundingClientRect().right))"
    )
    assert right <= 390
    # A finger on a chart scrolls the page.
    assert page.evaluate("document.getElementById('picture').layout.dragmode") is False
    assert phone.complaints == []
