"""Docstrings of the library on the site: plain text that Sphinx must not misread.

They are written to be read in a terminal: |A| is a number of clusters and ``labels_`` a
name, not markup. What scikit-learn adds to every estimator is documented there.
"""

import re

from docutils import nodes

_DOCTEST = re.compile(r"^\s*(>>>|\.\.\. )")
_CODE = re.compile(r"(``.+?``|`[^`]*`_*)")
_UNDERSCORE = re.compile(r"(?<=\w)_(?=[^\w`]|$)")


def _escape(app, what, name, obj, options, lines):
    """Escape what would be markup, outside of code; formulas keep their lines."""
    lines[:] = _with_literal_blocks(lines)
    literal_indent = None
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if literal_indent is not None and line.strip() and indent <= literal_indent:
            literal_indent = None
        # A line with an odd number of backquotes is in the middle of some code.
        is_prose = line.count("`") % 2 == 0 and not _DOCTEST.match(line)
        if literal_indent is None and is_prose:
            lines[number] = "".join(
                part if part.startswith("`") else _escaped(part)
                for part in _CODE.split(line)
            )
        if line.rstrip().endswith("::") and literal_indent is None:
            literal_indent = indent


def _with_literal_blocks(lines):
    """Indented blocks of prose are formulas; a colon before them says so."""
    result, last = [], ""
    for number, line in enumerate(lines):
        follows_blank = number > 0 and not lines[number - 1].strip()
        if follows_blank and line.startswith("    ") and _is_prose(last):
            result += ["::", ""]
        result.append(line)
        last = line if line.strip() else last
    return result


def _is_prose(line):
    """Whether a line is neither indented nor markup that has a body."""
    return bool(line) and not line.startswith((" ", ":", "..", "-", "*", ">>>"))


def _escaped(text):
    return _UNDERSCORE.sub(r"\\_", text.replace("|", r"\|"))


def _skip(app, what, name, obj, skip, options):
    """Leave out members that other packages define."""
    function = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj
    module = getattr(function, "__module__", None) or type(function).__module__
    return None if module.startswith("credalis") else True


def _drop_links_from_nowhere(app, doctree):
    """Numpydoc cites every reference once more for LaTeX; pages have no such place."""
    places = {
        each
        for node in doctree.findall(nodes.Element)
        if not _is_left_out(node)
        for each in node.get("ids", ())
    }
    for citation in doctree.findall(nodes.citation):
        citation["backrefs"] = [each for each in citation["backrefs"] if each in places]


def _is_left_out(node):
    while node is not None:
        if node.tagname == "only" and node["expr"] == "latex":
            return True
        node = node.parent
    return False


def _describe_thumbnails(app, doctree):
    """A small picture of the gallery stands for the example that it is called after."""
    for image in doctree.findall(nodes.image):
        name = re.search(r"sphx_glr_(?:plot_)?(\w+)_thumb\.\w+$", image["uri"])
        if name and not image.get("alt"):
            image["alt"] = f"Figure of the example: {name[1].replace('_', ' ')}"


def setup(app):
    """Connect the changes to the reading of docstrings and pages."""
    app.connect("autodoc-process-docstring", _escape, priority=900)
    app.connect("autodoc-skip-member", _skip)
    app.connect("doctree-read", _drop_links_from_nowhere)
    app.connect("doctree-read", _describe_thumbnails)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
