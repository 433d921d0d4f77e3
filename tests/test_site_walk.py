"""The built site in a real browser: newcomers find answers, and every page is legible.

``make docs`` runs this on what it has built, whose folder CREDALIS_SITE_FOLDER names.
"""

import os
from pathlib import Path

import pytest

import check
from browsing import browser as browser

if not os.environ.get("CREDALIS_SITE_FOLDER"):
    pytest.skip("CREDALIS_SITE_FOLDER names no built site", allow_module_level=True)

SITE = Path(os.environ["CREDALIS_SITE_FOLDER"]).resolve()
SIZES = {
    "phone": {"width": 390, "height": 844},
    "desktop": {"width": 1280, "height": 800},
}

# The words of the place to which a click has led: a section, or the whole page.
WORDS = """() => {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  return (place?.closest("section") ?? document.querySelector("article")).innerText;
}"""
# Whether its heading is on the screen, and nothing lies upon it.
IS_SEEN = """() => {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const section = place?.closest("section") ?? document.querySelector("article");
  const heading = section.querySelector("h1, h2, h3, h4");
  const { left, top, bottom } = heading.getBoundingClientRect();
  const upon = document.elementFromPoint(left + 5, (top + bottom) / 2);
  return top >= 0 && bottom <= innerHeight && heading.contains(upon);
}"""
# What makes a page wider than the screen.
TOO_WIDE = """() => document.scrollingElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("article *")]
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
    .filter((each) => !each.closest("pre, .pst-scrollable-table-container"))
    .map((each) => `${each.tagName}: ${each.textContent.slice(0, 60)}`)
    .concat("the page")"""


@pytest.fixture(scope="module")
def page(browser):
    # Nothing glides to its place.
    context = browser.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("task", check.TASKS)
def test_the_front_page_leads_to_an_answer(page, task, size):
    name, answer = check.TASKS[task]
    page.set_viewport_size(SIZES[size])
    page.goto((SITE / "index.html").as_uri())
    row = page.locator("article tr").filter(has=page.get_by_text(task, exact=True))
    row.get_by_role("link").click()
    page.wait_for_url((SITE / name).as_uri() + "**")
    page.wait_for_function(IS_SEEN)
    assert answer in page.evaluate(WORDS)


def looked_at():
    """All pages but those of the reference, which are alike: one in ten of them."""
    paths = list(check.read(SITE))
    made = [path for path in paths if path.parent.name == "generated"]
    return [path for path in paths if path not in made] + made[::10]


def test_pages_fit_the_screen_and_complain_of_nothing(page):
    said = []
    page.on("pageerror", lambda error: said.append(str(error)))
    wrong = {}
    for path in looked_at():
        page.goto(path.as_uri())
        for size in SIZES.values():
            page.set_viewport_size(size)
            said += page.evaluate(TOO_WIDE)
        if said:
            wrong[str(path.relative_to(SITE))] = said.copy()
            said.clear()
    assert not wrong


def test_words_of_wide_pictures_can_be_read_on_a_phone(page):
    page.set_viewport_size(SIZES["phone"])
    page.goto((SITE / "explanation" / "coverage.html").as_uri())
    picture = page.locator("a.picture.wide")
    picture.wait_for()
    widths = picture.evaluate("(link) => [link.scrollWidth, link.clientWidth]")
    assert widths[0] > 1.5 * widths[1]
    assert picture.get_attribute("href").endswith("coverage_promise.png")
