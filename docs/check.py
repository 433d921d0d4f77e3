"""Look through the built site: every link leads somewhere, every picture has words.

``python docs/check.py build/docs`` is part of ``make docs``. Only links inside of the
site are followed; pages must also do without anything from elsewhere.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    """What a page links to, loads and shows, and the places in it."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.places, self.wordless = [], [], set(), []
        self.feed(text)

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


def problems(folder):
    """What is wrong with the pages of a folder, one line for each."""
    pages = {
        path: Page(path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.relative_to(folder).parts
    }
    found = []
    for path, page in pages.items():
        where = path.relative_to(folder)
        found += [f"{where}: no words for {name}" for name in page.wordless]
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
    return found, len(pages)


def _target(page, link):
    path = unquote(urlsplit(link).path)
    target = (page.parent / path).resolve() if path else page
    return target / "index.html" if target.is_dir() else target


if __name__ == "__main__":
    wrong, n_pages = problems(Path(sys.argv[1]).resolve())
    print(*wrong, f"{n_pages} pages, {len(wrong)} problems", sep="\n")
    sys.exit(bool(wrong))
