"""The journey in a real browser."""

import importlib.util
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

from app.serving import NASTY, Served, animals, is_alive, wait_for
from browsing import browser as browser

# Fits that last until they are cancelled.
ENDLESS = "n_init=5000"


class Tab:
    """A tab, and what went wrong or was asked for while it was open."""

    def __init__(self, context, served, address=None):
        self.page = context.new_page()
        self.page.set_default_timeout(90_000)
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address or served.base)
        self.page.wait_for_selector("html[data-ready]", state="attached")

    def check(self, served):
        """Nothing was complained about, and nobody else was asked for anything."""
        assert self.complaints == []
        strange = [
            url
            for url in self.requests
            if not url.startswith((served.base + "/", "blob:"))
        ]
        assert strange == []


@pytest.fixture(scope="module")
def context(browser):
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
    )
    yield context
    context.close()


@pytest.fixture(scope="module")
def tab(context, served):
    return Tab(context, served, served.address)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "animals.csv"
    path.write_text(animals())
    return path


def until(page, script, seconds=90):
    """Wait for a truth; the policy of the page forbids what playwright has for it."""
    end = time.monotonic() + seconds
    while not page.evaluate(script):
        assert time.monotonic() < end, script
        page.wait_for_timeout(30)


def number_of_results(page):
    answer = page.request.get(page.url.partition("#")[0].rstrip("/") + "/api/state")
    return sum(run["status"] == "done" for run in answer.json()["runs"])


@pytest.fixture
def result(tab, table, served):
    """The tab with a result, whichever of these tests comes first."""
    page = tab.page
    if not number_of_results(page):
        page.set_input_files("#file", table)
        page.wait_for_selector("#role-0")
        page.fill("#n-clusters-exact", "3")
        page.keyboard.press("Tab")
        until(page, "document.querySelector('#start').textContent.includes('3')")
        page.click("#start")
    page.wait_for_selector("#lead")
    return tab


def test_a_file_that_is_no_table_is_refused_in_words(tab, tmp_path, served):
    page = tab.page
    path = tmp_path / "holiday.csv"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\0" * 30)
    page.set_input_files("#file", path)
    toast = page.locator("#toast.shown")
    toast.wait_for()
    assert "holiday.csv is not a table of text" in toast.text_content()
    toast.get_by_label("Close this message").click()
    # A browser says on its console that a request was refused.
    assert all("422" in text for text in tab.complaints)
    tab.complaints.clear()


def test_the_whole_journey(tab, table, served):
    page = tab.page
    # Data: the file, its columns, and what they are for.
    page.set_input_files("#file", table)
    page.wait_for_selector("#role-0")
    shown = page.locator("#data")
    assert "90 rows, 4 columns that count" in shown.text_content()
    assert NASTY in shown.text_content()
    assert "identifies the rows" in page.locator(".columns").text_content()
    page.select_option("#role-5", "id")
    # How many, and where.
    page.wait_for_selector(".advice .lead")
    page.fill("#n-clusters-exact", "2")
    page.keyboard.press("Tab")
    page.wait_for_selector(".chips .chip[aria-pressed=true]")
    chips = page.locator("#number .chip")
    chips.nth(2).click()
    until(page, "document.querySelector('#n-clusters').value === '3'")
    assert page.locator("#number .chip[aria-pressed=true]").count() == 3
    assert page.is_checked("#uses-centers")
    assert "different clusters" in page.locator("#number .check").text_content()
    # Method, and run.
    until(page, "document.querySelector('#start').textContent.includes('3')")
    assert "EVCLUS" in page.locator("#method .lead").text_content()
    page.click("#start")
    page.wait_for_selector("#lead")
    assert "90 objects in 3 clusters" in page.text_content("#lead")
    # Result: the object under the mouse, and why it is there.
    page.locator(".map .canvas").scroll_into_view_if_needed()
    page.locator("#result .card .find").first.click()
    page.wait_for_selector(".masses")
    assert "plausibility" in page.locator(".detail").text_content()
    canvas = page.locator(".map canvas[tabindex]")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".map .tip").is_visible()
    # Answer: a pair, and a group from the map.
    page.click("#different")
    page.wait_for_selector("#answers li")
    page.click("#undo")
    page.wait_for_selector("#answers", state="detached")
    page.click("#different")
    page.wait_for_selector("#answers li")
    page.click("#answer .find >> nth=0")
    page.wait_for_selector(".detail h3")
    page.get_by_label("Draw a line around points to choose them").click()
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    corners = [(0.1, 0.1), (0.9, 0.1), (0.9, 0.8), (0.1, 0.8), (0.1, 0.1)]
    places = [
        (box["x"] + a * box["width"], box["y"] + b * box["height"]) for a, b in corners
    ]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=4)
    page.mouse.up()
    page.wait_for_selector("#group-name")
    assert "objects chosen" in page.locator(".group").text_content()
    # Run again with the answer, and see what changed.
    page.click("#again")
    page.wait_for_selector("#changes")
    assert "What changed since result 1" in page.text_content("#changes")
    # Take away: what reproduces it.
    until(
        page,
        "document.querySelector('#command')?.textContent.includes('cannot_link.csv')",
    )
    assert page.text_content("#command").startswith("credalis cluster animals.csv")
    assert "from credalis import EVCLUS" in page.text_content("#python")
    page.wait_for_selector("a[href$='report.html']")
    with page.expect_download() as download:
        page.click("a[href$='memberships.csv']")
    assert download.value.suggested_filename == "memberships.csv"
    assert page.evaluate("window.pwned") is None
    tab.check(served)


def test_two_tabs_show_the_same(result, context, served):
    other = Tab(context, served)
    other.page.wait_for_selector("#lead")
    other.page.fill("#n-clusters-exact", "4")
    other.page.keyboard.press("Tab")
    until(result.page, "document.querySelector('#n-clusters').value === '4'")
    other.check(served)
    other.page.close()


def test_a_reload_finds_the_fit_again_and_cancel_ends_it(result, served):
    page = result.page
    page.request.patch(
        f"{served.base}/api/settings",
        data={"method": "NNEVCLUS", "parameters": [ENDLESS]},
        headers={"Origin": served.base},
    )
    until(
        page, "document.querySelector('#method .lead').textContent.includes('NNEVCLUS')"
    )
    before = number_of_results(page)
    page.click("#start")
    page.wait_for_selector("#run .lines")
    page.reload()
    page.wait_for_selector("#cancel:visible")
    page.wait_for_selector("#run .lines")
    assert page.locator("#start").is_disabled()
    children = set(served.children())
    page.click("#cancel")
    page.wait_for_selector("#cancelled")
    assert len(children - set(served.children())) == 1
    assert number_of_results(page) == before
    result.check(served)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_problem(result, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe")
    page = result.page
    page.emulate_media(color_scheme=scheme)
    # Again and again: what is shown anew after they were opened is closed.
    page.wait_for_function(
        """() => {
            document.querySelectorAll("details").forEach((each) => (each.open = true));
            return document.querySelector("#tree pre");
        }"""
    )
    page.wait_for_selector("#lead")
    found = axe.Axe().run(page).response
    assert len(found["passes"]) > 30
    problems = {
        each["id"]: [node["target"] for node in each["nodes"]]
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    }
    assert problems == {}


def test_a_phone_shows_everything_in_its_width(result, served):
    page = result.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 900})
    result.check(served)


def test_the_report_opens_apart_from_the_page(result, context, served):
    with context.expect_page() as opened:
        result.page.click("a[href$='report.html?view']")
    report = opened.value
    report.wait_for_selector("html[data-ready]", state="attached")
    # It has no share in the session: not even the cookie would be sent.
    assert report.evaluate("window.origin") == "null"
    assert report.locator("#picture .main-svg").count() > 0
    report.close()


def test_a_server_that_ends_is_missed_and_another_one_goes_on(browser, tmp_path, table):
    served = Served(tmp_path / "work", table)
    context = browser.new_context()
    try:
        first = Tab(context, served, served.address)
        first.page.wait_for_selector("#role-0")
        children = served.children()
        served.kill()
        first.page.wait_for_selector(".lost .gone")
        wait_for(lambda: not any(map(is_alive, children)), 5)
    finally:
        served.kill()
    again = Served(tmp_path / "work")
    try:
        second = Tab(context, again, again.address)
        second.page.wait_for_selector(".reopened")
        assert "animals.csv" in second.page.text_content("#data")
        second.check(again)
    finally:
        context.close()
        again.stop()


@pytest.mark.slow
def test_the_tour_of_the_readme_can_be_recorded(browser, tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = Path(__file__).parents[2] / "docs" / "images" / "make_app.py"
    spec = importlib.util.spec_from_file_location("make_app", path)
    make_app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_app)
    served = Served(tmp_path / "work")
    try:
        target = tmp_path / "tour.gif"
        page, names = make_app.record(browser, served.address, target)
        page.close()
    finally:
        served.stop()
    assert names[0] == "start"
    assert names[-1] == "takeaway"
    with image.open(target) as tour:
        assert tour.n_frames == len(names) >= 10


@pytest.fixture(scope="module")
def crowd(browser, tmp_path_factory):
    """A page about a hundred thousand rows, clustered."""
    folder = tmp_path_factory.mktemp("crowd")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 2)) + 6 * rng.integers(3, size=(100_000, 1))
    np.save(folder / "crowd.npy", X)
    served = Served(folder / "work", folder / "crowd.npy")
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = Tab(context, served, served.address)
    settings = {"n_clusters": 3, "method": "ECM", "parameters": ["n_init=1"]}
    tab.page.request.patch(
        f"{served.base}/api/settings", data=settings, headers={"Origin": served.base}
    )
    until(tab.page, "document.querySelector('#start').textContent.includes('3')")
    tab.page.click("#start")
    tab.page.wait_for_selector("#lead")
    yield tab, served
    context.close()
    served.stop()


@pytest.mark.slow
def test_a_hundred_thousand_rows_can_be_looked_at(crowd):
    tab, served = crowd
    page = tab.page
    canvas = page.locator(".map canvas[tabindex]")
    canvas.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    box = canvas.bounding_box()

    def place(a, b):
        return box["x"] + a * box["width"], box["y"] + b * box["height"]

    frame = "() => new Promise(done => requestAnimationFrame(() => done(1)))"
    for step in range(15):
        page.mouse.move(*place(0.35 + 0.02 * step, 0.45))
        page.evaluate(frame)
    assert page.locator(".map .tip").is_visible()
    page.get_by_label("Draw a line around points to choose them").click()
    corners = [(0.1, 0.03), (0.98, 0.03), (0.98, 0.9), (0.1, 0.9)]
    page.mouse.move(*place(*corners[0]))
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*place(*corner), steps=5)
    page.mouse.up()
    page.wait_for_selector("#group-name")
    chosen = page.locator(".group").text_content().split(" objects")[0]
    assert int("".join(filter(str.isdigit, chosen))) > 90_000
    tab.check(served)
