"""Photograph the page in headless Chromium, and record a tour through it.

``record`` is also run by a test; it needs playwright, Pillow and the extra ``app``.
"""

import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
_WIDE, _PHONE = (1280, 860), (390, 844)
_TOUR_WIDTH = 900
# One of the pictures is enough where two would say the same.
_LEFT_OUT = {"app-number-wide-dark"}


class Tour:
    """The journey with the demo, step by step.

    Parameters
    ----------
    page : playwright Page
        Where to go.
    address : str
        Address with the token.
    take : callable
        Called with a name where there is something to see.
    """

    def __init__(self, page, address, take):
        self.page, self.take = page, take
        page.goto(address)
        page.wait_for_selector("html[data-ready]", state="attached")

    def go(self):
        """From the first step to the last."""
        page = self.page
        self.take("start")
        page.click("#demo")
        page.wait_for_selector("#role-0")
        page.wait_for_selector("#take-advice, .advice .lead")
        self._show("#data", "data")
        page.wait_for_selector("#number .chip")
        self._show("#number", "advice")
        page.locator("#number .chip[aria-pressed=false]").first.click()
        page.wait_for_selector("#number .chip[aria-pressed=true] >> nth=2")
        self._show("#number .split", "centre")
        page.click("#start")
        page.wait_for_selector("#lead")
        page.wait_for_selector("#run .live", state="hidden")
        self._show("#result", "result")
        page.click("#list-between .find >> nth=0")
        page.wait_for_selector(".masses")
        self._show("#result .map", "why")
        self._show("#answer", "question")
        page.click("#different")
        page.wait_for_selector("#answers li")
        self._show("#answer", "answer")
        page.click("#again")
        page.wait_for_selector("#changes")
        page.wait_for_selector("#run .live", state="hidden")
        self._show("#result", "changes")
        self._show("#takeaway", "takeaway")

    def _show(self, place, name):
        """Bring a place to the top, below the steps, and take it."""
        bring_up(self.page, place)
        self.page.mouse.move(2, 2)
        self.page.wait_for_timeout(150)
        self.take(name)


def bring_up(page, place):
    """Scroll so that a place is at the top, below the steps."""
    page.evaluate(
        "place => { const box = document.querySelector(place)"
        ".getBoundingClientRect(); window.scrollBy(0, box.top - 60); }",
        place,
    )


def record(browser, address, target):
    """Record the tour as an animated image; returns the names of its pictures."""
    width, height = _WIDE
    page = browser.new_page(
        viewport={"width": width, "height": height}, reduced_motion="reduce"
    )
    frames, names = [], []

    def take(name):
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        size = (_TOUR_WIDTH, round(_TOUR_WIDTH * height / width))
        frames.append(image.resize(size, Image.Resampling.LANCZOS))
        names.append(name)

    Tour(page, address, take).go()
    few = [frame.quantize(96, dither=Image.Dither.NONE) for frame in frames]
    few[0].save(
        target,
        save_all=True,
        append_images=few[1:],
        duration=2200,
        loop=0,
        optimize=True,
    )
    return page, names


def photograph(page, folder):
    """Pictures of the result, wide and narrow, light and dark."""
    for size, width in ((_WIDE, "wide"), (_PHONE, "phone")):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(700)
            for name, place in (("number", "#number"), ("result", ".map")):
                title = f"app-{name}-{width}-{scheme}"
                if title in _LEFT_OUT:
                    continue
                bring_up(page, place)
                page.wait_for_timeout(150)
                image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                few = image.quantize(128, dither=Image.Dither.NONE)
                few.save(folder / f"{title}.png", optimize=True)


def main():
    """Start a server, and write all pictures beside this file."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as work, sync_playwright() as player:
        command = [sys.executable, "-m", "credalis", "app", "--no-browser"]
        server = subprocess.Popen(
            [*command, "--folder", work], stdout=subprocess.PIPE, text=True
        )
        try:
            address = re.search(r"http\S+", server.stdout.readline())[0]
            browser = player.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page, _ = record(browser, address, HERE / "app-tour.gif")
            page.click("#result .card .find >> nth=0")
            page.wait_for_selector(".masses")
            photograph(page, HERE)
            browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
