"""A real browser for tests."""

import shutil
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def browser_path(player):
    """Chromium of the system, or the one that playwright has installed, or None."""
    found = filter(None, map(shutil.which, BROWSERS))
    own = player.chromium.executable_path
    return next(found, own if Path(own).is_file() else None)


@pytest.fixture(scope="module")
def browser():
    """One browser for the tests of a file."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed"
    )
    with playwright.sync_playwright() as player:
        path = browser_path(player)
        if path is None:
            pytest.skip("no Chromium: neither the system's nor playwright's own")
        browser = player.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
