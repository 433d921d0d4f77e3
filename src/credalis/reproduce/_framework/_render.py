"""Parts of the report, as Markdown and as HTML."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from credalis.reproduce._framework._page import page, table


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table of texts; the first column names the rows."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    text_columns: tuple[int, ...] = ()


@dataclass(frozen=True)
class Picture:
    """A figure in a PNG file."""

    file: Path
    caption: str


@dataclass(frozen=True)
class Section:
    """A heading and what comes below it."""

    heading: str
    parts: tuple["Text | Table | Picture", ...]


def as_markdown(title: str, sections: Sequence[Section], directory: Path) -> str:
    """The report as Markdown; figures are links to files in the same directory."""
    lines = [f"# {_plain(title)}", ""]
    for each in sections:
        lines += [f"## {_plain(each.heading)}", ""]
        for part in each.parts:
            lines += [_markdown_part(part, directory), ""]
    return "\n".join(lines)


def as_html(title: str, sections: Sequence[Section]) -> str:
    """The report as one HTML file with its figures inside."""
    body = [f"<h1>{escape(title)}</h1>", _contents(sections)]
    for number, each in enumerate(sections):
        parts = "\n".join(_html_part(part) for part in each.parts)
        heading = f"<h2>{escape(each.heading)}</h2>"
        body.append(f"<section id='s{number}'>{heading}\n{parts}</section>")
    return page(escape(title), body)


def _contents(sections: Sequence[Section]) -> str:
    links = "".join(
        f"<li><a href='#s{number}'>{escape(each.heading)}</a></li>"
        for number, each in enumerate(sections)
    )
    return f"<nav><ul>{links}</ul></nav>"


def _markdown_part(part: Text | Table | Picture, directory: Path) -> str:
    if isinstance(part, Text):
        return _plain(part.text)
    if isinstance(part, Picture):
        path = part.file.relative_to(directory).as_posix()
        return f"![{_plain(part.caption)}]({path})\n\n*{_plain(part.caption)}*"
    rule = tuple(
        ":--" if j == 0 or j in part.text_columns else "--:"
        for j in range(len(part.header))
    )
    rows = [part.header, rule, *part.rows]
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    if part.caption:
        lines = [f"**{_plain(part.caption)}**", "", *lines]
    return "\n".join(lines)


def _html_part(part: Text | Table | Picture) -> str:
    if isinstance(part, Text):
        return f"<p>{escape(part.text)}</p>"
    if isinstance(part, Picture):
        data = base64.b64encode(part.file.read_bytes()).decode()
        caption = escape(part.caption)
        return (
            f"<figure><img alt='{caption}' src='data:image/png;base64,{data}'>"
            f"<figcaption>{caption}</figcaption></figure>"
        )
    content = table(
        tuple(escape(cell) for cell in part.header),
        [tuple(escape(cell) for cell in row) for row in part.rows],
        text_columns=part.text_columns,
    )
    return (f"<p><b>{escape(part.caption)}</b></p>" if part.caption else "") + content


def _plain(text: str) -> str:
    """Text that Markdown shows as it is: no tags, no line breaks."""
    return " ".join(text.splitlines()).replace("<", "&lt;").replace(">", "&gt;")


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")
