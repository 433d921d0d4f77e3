"""Links between files of the repository also work on the site.

A page links to files as they lie in the repository, so that it can be read there as
well. On the site the files in the root that have a page of their own, examples and
everything else that is no page become what is there instead: the page, the page of the
gallery, or, where the site has nothing, a link to the repository if its address is
known and plain text if not.
"""

import os
import re
import tomllib
from pathlib import Path

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent

# Pages whose text stands in the root, where readers of the repository look for it.
PAGES_FROM_THE_ROOT = {
    "project/changelog": "CHANGELOG.md",
    "project/code_of_conduct": "CODE_OF_CONDUCT.md",
    "project/contributing": "CONTRIBUTING.md",
    "project/releasing": "RELEASING.md",
    "reference/security": "SECURITY.md",
}
# A link or a picture in Markdown, or code, in which there are none.
_LINK = re.compile(
    r"(?P<code>^```.*?^```|`[^`\n]*`)"
    r"|\[(?P<words>[^][]*)\]\((?P<target>[^()\s#:]+)(?P<anchor>#[^()\s]*)?\)",
    re.S | re.M,
)


def site_text(text, file, docname, repository=None):
    """The Markdown of a file, with links for the page `docname`.

    Parameters
    ----------
    text : str
        The text of the file.
    file : Path
        Where it is in the repository; links are relative to it.
    docname : str
        The page on which it is shown.
    repository : str, optional
        The address under which files of the repository can be read.
    """

    def on_the_site(match):
        if match["code"]:
            return match["code"]
        target = Path(os.path.normpath(file.parent / match["target"]))
        there = page_of(target) or target
        if there.is_relative_to(DOCS):
            path = Path(os.path.relpath(there, (DOCS / docname).parent)).as_posix()
        elif target.exists() and repository:
            path = f"{repository}/{target.relative_to(ROOT).as_posix()}"
        else:
            return match["words"] if target.exists() else match[0]
        return f"[{match['words']}]({path}{match['anchor'] or ''})"

    return _LINK.sub(on_the_site, text)


def page_of(target):
    """The page that shows a file outside of the folder of the pages, or None."""
    relative = target.relative_to(ROOT).as_posix() if ROOT in target.parents else ""
    for docname, name in PAGES_FROM_THE_ROOT.items():
        if relative == name:
            return DOCS / f"{docname}.md"
    if relative.split("/")[0] == "examples":
        page = target if target.suffix == ".py" else target / "index"
        below = page.relative_to(ROOT / "examples").with_suffix(".rst")
        return DOCS / "gallery" / below
    return None


def repository_address():
    """Where the repository can be read, from the urls of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    urls = project.get("urls", {})
    source = urls.get("Source") or urls.get("Repository")
    return f"{source.rstrip('/')}/blob/main" if source else None


def _read(app, docname, source):
    if Path(app.env.doc2path(docname)).suffix != ".md":
        return
    file = DOCS / f"{docname}.md"
    if docname in PAGES_FROM_THE_ROOT:
        file = ROOT / PAGES_FROM_THE_ROOT[docname]
        app.env.note_dependency(str(file))
        source[0] = file.read_text("utf-8")
    source[0] = site_text(source[0], file, docname, app.config.repository_address)


def setup(app):
    """Rewrite pages when they are read."""
    app.add_config_value("repository_address", repository_address(), "env")
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
