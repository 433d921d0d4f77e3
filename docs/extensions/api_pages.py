"""Which names the pages of the API reference list."""

import re
from pathlib import Path

PAGES = Path(__file__).parents[1] / "reference" / "api"


def documented():
    """Names that the pages list: {module: [name, ...]}."""
    found = {}
    for page in sorted(PAGES.glob("*.rst")):
        text = page.read_text("utf-8")
        module = None
        for line in text.splitlines():
            current = re.match(r"\.\. currentmodule:: (\S+)", line)
            if current:
                module = found.setdefault(current[1], [])
            name = re.match(r"   (\w+)$", line)
            if name and module is not None:
                module.append(name[1])
    return found
