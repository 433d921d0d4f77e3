"""Parts of the report, as Markdown and as HTML."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from credalis._html import read_resource, render


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True)
class Table:
    """A table of texts; the first column names the rows."""

    kind: ClassVar[str] = "table"
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    text_columns: tuple[int, ...] = ()


@dataclass(frozen=True)
class Picture:
    """A figure in a PNG file."""

    kind: ClassVar[str] = "picture"
    file: Path
    caption: str

    @property
    def base64(self) -> str:
        """The file as a page holds it."""
        return b64encode(self.file.read_bytes()).decode()


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
    return render(
        "reproduce/_framework/report.html.j2",
        title=title,
        style=read_resource("reproduce/_framework/report.css"),
        sections=sections,
    )


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


def _plain(text: str) -> str:
    """Text that Markdown shows as it is: no tags, no line breaks."""
    return " ".join(text.splitlines()).replace("<", "&lt;").replace(">", "&gt;")


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")
