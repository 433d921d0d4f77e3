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
SIZES = {"phone": (390, 844), "desktop": (1280, 800)}

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


@pytest.fixture(scope="module", params=SIZES)
def page(request, browser):
    width, height = SIZES[request.param]
    context = browser.new_context(viewport={"width": width, "height": height})
    # As quick as the eye: nothing glides.
    page = context.new_page()
    page.emulate_media(reduced_motion="reduce")
    yield page
    context.close()


@pytest.mark.parametrize("task", check.TASKS)
def test_the_front_page_leads_to_an_answer(page, task):
    name, answer = check.TASKS[task]
    page.goto((SITE / "index.html").as_uri())
    row = page.locator("article tr").filter(has=page.get_by_text(task, exact=True))
    row.get_by_role("link").click()
    page.wait_for_function(IS_SEEN, timeout=10_000)
    assert page.url.split("#")[0] == (SITE / name).as_uri()
    assert answer in page.evaluate(WORDS)


def test_every_page_fits_the_screen_and_complains_of_nothing(page):
    said = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("requestfailed", lambda request: said.append(request.url))
    wrong = {}
    for path in check.read(SITE):
        page.goto(path.as_uri())
        found = [*said, *page.evaluate(TOO_WIDE)]
        said.clear()
        if found:
            wrong[str(path.relative_to(SITE))] = found
    assert not wrong
