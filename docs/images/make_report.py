"""Photograph a report in headless Chromium; needs playwright and a browser for it."""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from credalis import Consensus, report

HERE = Path(__file__).parent
# Widths of the screens, and the last part of the page that is shown.
VIEWS = {"report": (1280, ".cards"), "report-phone": (390, "#partition")}

flowers = load_iris(as_frame=True).data
X = StandardScaler().fit_transform(flowers)
model = Consensus(n_clusters=3, random_state=0).fit(X)


def photograph(browser, address, name):
    """The page down to this part, in few colours."""
    width, last = VIEWS[name]
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")
    box = page.locator(last).bounding_box()
    clip = {"x": 0, "y": 0, "width": width, "height": box["y"] + box["height"] + 20}
    taken = page.screenshot(full_page=True, clip=clip)
    image = Image.open(io.BytesIO(taken)).convert("RGB")
    few = image.quantize(128, dither=Image.Dither.NONE)
    few.save(HERE / f"{name}.png", optimize=True)


with tempfile.TemporaryDirectory() as directory, sync_playwright() as player:
    path = Path(directory) / "report.html"
    names = [f"flower {i}" for i in range(len(flowers))]
    report(model, X, path, data=flowers, ids=names)
    browser = player.chromium.launch(
        executable_path=shutil.which("chromium"), args=["--no-sandbox"]
    )
    for name in VIEWS:
        photograph(browser, path.as_uri(), name)
    browser.close()
