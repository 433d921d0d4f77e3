"""What the page's modules expect of the server, read from their types."""

import re
from pathlib import Path

import credalis

_TYPES = Path(credalis.__file__).parent / "app" / "static" / "types.js"


def fields_of(name):
    """Fields of a type, those that must be there and those that may."""
    text = _TYPES.read_text("utf-8")
    start = text.index(f"@typedef {{Object}} {name}\n")
    lines = text[start : text.index("*/", start)]
    found = re.findall(r"@property \{.*\} (\[?)(\w+)", lines)
    must = {field for bracket, field in found if not bracket}
    return must, {field for _, field in found} - must


def check_shape(value, *names):
    """Whether an object has all fields of some types together, and no other."""
    shapes = [fields_of(name) for name in names]
    must = set().union(*(shape[0] for shape in shapes))
    may = set().union(*(shape[1] for shape in shapes))
    assert must, names
    assert must <= set(value) <= must | may, (names, set(value) ^ must)
