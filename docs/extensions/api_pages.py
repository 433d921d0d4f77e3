"""Which names the pages of the API reference list."""

import re
from pathlib import Path

PAGES = Path(__file__).parents[1] / "reference" / "api"
_MODULE = re.compile(r"^\.\. (?:current)?module:: (\S+)", re.M)
_SUMMARY = re.compile(
    r"^\.\. autosummary::\n(?:   :.*\n)*\n(?P<names>(?:   \w+\n)+)"
    r"|^\.\. data:: (?P<data>\w+)",
    re.M,
)


def documented():
    """Names that the pages list: {module: [name, ...]}."""
    found = {}
    for page in sorted(PAGES.glob("*.rst")):
        text = page.read_text("utf-8")
        for listed in _SUMMARY.finditer(text):
            module = _MODULE.findall(text, 0, listed.start())[-1]
            names = (listed["names"] or listed["data"]).split()
            found.setdefault(module, []).extend(names)
    return found
