"""Photograph a report in headless Chromium; needs playwright and a browser for it."""

import datetime
import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import Consensus, report

HERE = Path(__file__).parent
# Widths of the screens, the last part of the page that is shown, and its scheme.
VIEWS = {
    "report": (1280, ".cards", "light"),
    "report-dark": (1280, ".panels", "dark"),
    "report-phone": (390, "#partition", "light"),
}

iris = load_iris(as_frame=True)
flowers = iris.data.assign(species=iris.target_names[iris.target])
model = make_pipeline(StandardScaler(), Consensus(n_clusters=3, random_state=0))
model.fit(iris.data)


def photograph(browser, address, name):
    """The page down to this part, in few colours."""
    width, last, scheme = VIEWS[name]
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=scheme
    )
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
    report(
        model,
        iris.data,
        path,
        data=flowers,
        ids=names,
        described=["species"],
        title="Irises",
        date=datetime.date(2026, 11, 18),
    )
    browser = player.chromium.launch(
        executable_path=shutil.which("chromium"), args=["--no-sandbox"]
    )
    for name in VIEWS:
        photograph(browser, path.as_uri(), name)
    browser.close()
