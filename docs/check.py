"""Look through the built site: every link leads somewhere, every picture has words.

``python docs/check.py build/docs`` is part of ``make docs``. Only links inside of the
site are followed; pages must also do without anything from elsewhere. What newcomers
want to do is answered within two clicks of the front page; ``tests/test_site_walk.py``
walks the same tasks in a browser.
"""

import sys
from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src"}

# The list of the front page: what a newcomer wants to do, the page that says how, and
# words that an answer cannot do without.
TASKS = {
    "install it": ("start/install.html", "pip install credalis"),
    "cluster my own CSV file": (
        "start/five_minutes.html",
        "credalis cluster customers.csv",
    ),
    "read the result": ("start/reading.html", "Clear, between, outlier"),
    "save a model": ("howto/saving.html", '.save("model.credalis")'),
    "predict new rows": ("start/five_minutes.html", "model.predict_partition("),
    "say which objects belong together": ("howto/labels_and_pairs.html", "must_link="),
    "choose the number of clusters": (
        "howto/number_of_clusters.html",
        "suggest_n_clusters(X",
    ),
    "cluster a file larger than memory": ("howto/large_files.html", "open_table("),
    "cite it": ("howto/citing.html", "@software{credalis"),
}
MOST_CLICKS = 2


class Page(HTMLParser):
    """What a page links to, loads and shows, and the places in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.places, self.wordless = [], [], set(), []
        self._words = []
        self.feed(text)

    @property
    def words(self):
        """The text of the page, without its marks."""
        return "".join(self._words)

    def handle_data(self, data):
        """Note what is written."""
        self._words.append(data)

    def handle_starttag(self, tag, attributes):
        """Note what an element has."""
        found = dict(attributes)
        self.places.update(found[name] for name in ("id", "name") if found.get(name))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.append(found["href"])
        if tag in _LOADED and found.get(_LOADED[tag]):
            self.loaded.append(found[_LOADED[tag]])
        if tag == "img" and not (found.get("alt") or "").strip():
            self.wordless.append(found.get("src", "?"))


def read(folder):
    """The pages of a folder, by their paths."""
    return {
        path: Page(path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.relative_to(folder).parts
    }


def problems(folder, pages):
    """What is wrong with the pages of a folder, one line for each."""
    found = []
    for path, page in pages.items():
        where = path.relative_to(folder)
        found += [f"{where}: no words for {name}" for name in page.wordless]
        if "\\_" in page.words:
            found.append(f"{where}: an escaped underscore in the text")
        for link in page.loaded:
            if urlsplit(link).netloc:
                found.append(f"{where}: loads {link}")
            elif not link.startswith("data:") and not _target(path, link).is_file():
                found.append(f"{where}: there is no {link}")
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = _target(path, link)
            if not target.is_file():
                found.append(f"{where}: there is no {link}")
                continue
            places = pages[target].places if target in pages else None
            if parts.fragment and places and unquote(parts.fragment) not in places:
                found.append(f"{where}: no such place, {link}")
    return found


def clicks(front, pages):
    """How many links lead from the front page to each page."""
    found, waiting = {front: 0}, deque([front])
    while waiting:
        path = waiting.popleft()
        for link in pages[path].links:
            is_elsewhere = bool(urlsplit(link).netloc or urlsplit(link).scheme)
            target = _target(path, link)
            if target in pages and target not in found and not is_elsewhere:
                found[target] = found[path] + 1
                waiting.append(target)
    return found


def unanswered(folder, pages):
    """Tasks of newcomers that the site does not answer, or not within two clicks."""
    distances = clicks(folder / "index.html", pages)
    found = []
    for task, (name, answer) in TASKS.items():
        page = folder / name
        if page not in pages or answer not in pages[page].words:
            found.append(f"{task}: {name} does not say {answer!r}")
        elif distances.get(page, MOST_CLICKS + 1) > MOST_CLICKS:
            found.append(f"{task}: {name} is too far from the front page")
    return found


def _target(page, link):
    path = unquote(urlsplit(link).path)
    target = (page.parent / path).resolve() if path else page
    return target / "index.html" if target.is_dir() else target


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    pages = read(folder)
    wrong = problems(folder, pages) + unanswered(folder, pages)
    print(*wrong, f"{len(pages)} pages, {len(wrong)} problems", sep="\n")
    sys.exit(bool(wrong))
