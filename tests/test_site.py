"""What makes the site from the pages: links of the repository, and the check of it."""

import re

import pytest

import check
import covered
import repository_files as files
from pages import ROOT
from repository_files import site_text

DOCS = ROOT / "docs"
REPOSITORY = "https://example.org/blob/main"


def page_name(page):
    return page.relative_to(ROOT).as_posix()


def on_the_site(text, docname="howto/streams", repository=None):
    return site_text(text, DOCS / f"{docname}.md", docname, repository)


@pytest.mark.parametrize(
    ("in_the_repository", "there"),
    [
        ("[a](large_files.md#dask)", "[a](large_files.md#dask)"),
        ("[a](../reference/app.md)", "[a](../reference/app.md)"),
        ("[a](../../CHANGELOG.md)", "[a](../project/changelog.md)"),
        ("[a](../../SECURITY.md#limits)", "[a](../reference/security.md#limits)"),
        ("[a](../../examples/plot_b.py)", "[a](../gallery/plot_b.rst)"),
        ("[a](../../examples/data/plot_b.py)", "[a](../gallery/data/plot_b.rst)"),
        ("[a](../../examples)", "[a](../gallery/index.rst)"),
        ("[a](https://example.org/x)", "[a](https://example.org/x)"),
        ("`[a](../../CHANGELOG.md)`", "`[a](../../CHANGELOG.md)`"),
        ("see [the licence](../../LICENSE).", "see the licence."),
    ],
)
def test_links_of_the_repository_lead_to_pages(in_the_repository, there):
    assert on_the_site(in_the_repository) == there


def test_other_files_lead_to_the_repository_where_its_address_is_known():
    text = on_the_site("[a](../../LICENSE)", repository=REPOSITORY)
    assert text == f"[a]({REPOSITORY}/LICENSE)"


def test_pages_from_the_root_keep_their_links():
    text = "[a](docs/reference/fuzzing.md) [b](SECURITY.md)"
    shown = site_text(text, ROOT / "CONTRIBUTING.md", "project/contributing")
    assert shown == "[a](../reference/fuzzing.md) [b](../reference/security.md)"


def test_every_page_from_the_root_has_a_place_and_a_text():
    for docname, name in files.PAGES_FROM_THE_ROOT.items():
        assert (DOCS / f"{docname}.md").is_file()
        assert (ROOT / name).is_file()


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=page_name)
def test_every_page_is_in_the_contents_of_its_folder(page):
    name = page.stem
    folder = page.parent
    if name == "index":
        name, folder = folder.name + "/index", folder.parent
    if page.is_relative_to(DOCS / "gallery") or page == DOCS / "index.md":
        return
    contents = (folder / "index.md").read_text("utf-8").split()
    assert name in contents or "*" in contents


LINK = re.compile(
    r"^```.*?^```|`[^`\n]*`|\]\((?P<target>[^()\s#:]+)(?:#[^()\s]*)?\)", re.S | re.M
)


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), *sorted(DOCS.rglob("*.md"))], ids=page_name
)
def test_links_of_a_page_work_in_the_repository(page):
    for link in LINK.finditer(page.read_text("utf-8")):
        if link["target"]:
            assert (page.parent / link["target"]).exists(), link["target"]


def test_the_check_finds_what_is_wrong(tmp_path):
    good = '<h1 id="top"></h1><a href="#top"></a><img src="p.png" alt="a picture">'
    (tmp_path / "p.png").write_bytes(b"")
    (tmp_path / "good.html").write_text(good)
    assert check.problems(tmp_path, check.read(tmp_path)) == []
    bad = """
        <a href="good.html#top"></a><a href="good.html#bottom"></a>
        <a href="no.html"></a>
        <img src="p.png" alt=""><script src="https://example.org/x.js"></script>
        <link rel="stylesheet" href="no.css"><a href="https://example.org/no"></a>
        <code>labels\\_</code>
    """
    (tmp_path / "bad.html").write_text(bad)
    pages = check.read(tmp_path)
    assert len(pages) == 2
    assert check.problems(tmp_path, pages) == [
        "bad.html: no words for p.png",
        "bad.html: an escaped underscore in the text",
        "bad.html: loads https://example.org/x.js",
        "bad.html: there is no no.css",
        "bad.html: no such place, good.html#bottom",
        "bad.html: there is no no.html",
    ]


def test_the_check_misses_answers_that_are_absent_or_far_away(tmp_path, monkeypatch):
    tasks = {
        "near": ("near.html", "pip install"),
        "far": ("far.html", "pip install"),
        "silent": ("silent.html", "pip install"),
        "absent": ("absent.html", "pip install"),
    }
    monkeypatch.setattr(check, "TASKS", tasks)
    answer = "<pre>pip <span>install</span></pre>"
    for name, text in {
        "index": '<a href="near.html"></a><a href="silent.html"></a>',
        "near": answer + '<a href="step.html#x"></a>',
        "step": '<a href="far.html"></a>',
        "far": answer,
        "silent": "<pre>pip</pre>",
    }.items():
        (tmp_path / f"{name}.html").write_text(text)
    assert check.unanswered(tmp_path, check.read(tmp_path)) == [
        "far: far.html is too far from the front page",
        "silent: silent.html does not say 'pip install'",
        "absent: absent.html does not say 'pip install'",
    ]


def test_the_tasks_are_those_of_the_front_page():
    rows = re.findall(
        r"^\| ([^|]+?) \| \[", (DOCS / "index.md").read_text("utf-8"), re.M
    )
    assert rows == list(check.TASKS)


def test_coverage_is_counted_in_lines_and_branches_of_each_part():
    def file(lines, reached, branches, taken):
        counts = (lines, reached, branches, taken)
        names = ("num_statements", "covered_lines", "num_branches", "covered_branches")
        return {"summary": dict(zip(names, counts, strict=True))}

    files = {
        "src/credalis/belief/a.py": file(10, 9, 4, 2),
        "src/credalis/belief/b/c.py": file(6, 6, 0, 0),
        "src\\credalis\\io.py": file(5, 3, 0, 0),
    }
    text = covered.markdown({"files": files}, "1.2.3")
    assert "**80.0 %** of 25" in text
    assert "| `credalis` | 5 | 60.0 % |\n| `credalis.belief` | 20 | 85.0 % |" in text
    assert "credalis 1.2.3" in text
