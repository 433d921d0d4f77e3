"""Parts of an HTML page: sections, tables and charts, in one file."""

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

# Scripts run only if their digest is listed: text that slipped into the page as a tag
# would still not run. Nothing is loaded from anywhere, and nothing can be sent.
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
img-src data: blob:; style-src 'unsafe-inline'; script-src {digests}; \
form-action 'none'; base-uri 'none'">
<meta name="generator" content="credalis">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
{header}
{navigation}
<main id="main">
<noscript><p>The charts need JavaScript; the words and tables do not.</p></noscript>
{body}
</main>
{footer}
<div id="status" class="status" role="status"></div>
{scripts}
</body>
</html>
"""


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart and what is said about it.

    Parameters
    ----------
    name : str
        Identifier inside the page.
    figure : plotly Figure
    alt : str
        What a reader who does not see the chart is told.
    caption : str
        What stands below the chart.
    height : int
        In pixels.
    """

    name: str
    figure: "Figure"
    alt: str
    caption: str
    height: int

    def html(self) -> str:
        """The chart with its caption; the data follow in a script that does not run."""
        data = json_script(f"figure-{self.name}", json.loads(self.figure.to_json()))
        return (
            f'<figure><div class="chart" id="{self.name}" role="img" '
            f'aria-label="{escape(self.alt)}" data-figure="figure-{self.name}" '
            f'style="height: {self.height}px"></div>{data}'
            f"<figcaption>{escape(self.caption)}</figcaption></figure>"
        )


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the page; heading is text, content is HTML."""

    name: str
    heading: str
    content: str

    def html(self) -> str:
        """The part with its heading."""
        return (
            f'<section id="{self.name}"><h2>{escape(self.heading)}</h2>\n'
            f"{self.content}</section>"
        )


def page(
    title: str, header: str, sections: Iterable[str], links: Any, footer: str
) -> str:
    """The whole page; title is text, links are sections, the rest is HTML."""
    scripts = [_plotly_script(), _resource("page.js")]
    items = "".join(
        f'<li><a href="#{each.name}">{escape(each.heading)}</a></li>' for each in links
    )
    return _PAGE.format(
        title=escape(title),
        digests=" ".join(map(_digest, scripts)),
        style=_resource("page.css"),
        header=header,
        navigation=f'<nav aria-label="Contents"><ul>{items}</ul></nav>',
        body="\n".join(filter(None, sections)),
        footer=footer,
        scripts="\n".join(f"<script>{script}</script>" for script in scripts),
    )


def import_graph_objects() -> Any:
    """``plotly.graph_objects``, or an ImportError that says how to get it."""
    try:
        import plotly.graph_objects as go
    except ImportError as error:
        raise ImportError(
            "report needs plotly: pip install 'credalis[report]'"
        ) from error
    return go


def _plotly_script() -> str:
    from plotly.offline import get_plotlyjs

    # No version contains it; if one did, it would end the script too early.
    script = get_plotlyjs().replace("</script", "<\\/script")
    # A browser reads line ends so before it compares the digest.
    return script.replace("\r\n", "\n").replace("\r", "\n")


def _resource(name: str) -> str:
    return files("credalis.report").joinpath(name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    """Name of a script in a content security policy."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def json_script(name: str, data: Any) -> str:
    """Data inside the page; no text in it can end the script or begin a comment."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f'<script type="application/json" id="{name}">{text}</script>'


@dataclass(frozen=True, eq=False)
class TableColumn:
    """One column of a sortable table.

    Parameters
    ----------
    heading : str
        Text.
    cells : sequence of str
        HTML.
    values : sequence of float, default=None
        What the rows are sorted by; None sorts by the text of the cells.
    is_descending : bool, default=False
        Whether the first click brings the largest value to the top.
    """

    heading: str
    cells: Sequence[str]
    values: Sequence[float] | None = None
    is_descending: bool = False


def sortable_table(label: str, columns: Sequence[TableColumn]) -> str:
    """A table whose heads are buttons that sort it; the first column names the rows."""
    heads = "".join(_head(column, j == 0) for j, column in enumerate(columns))
    rows = []
    for i in range(len(columns[0].cells)):
        cells = [_cell(column, i, j == 0) for j, column in enumerate(columns)]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="table" role="region" tabindex="0" aria-label="{escape(label)}">'
        f'<table class="sortable"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _head(column: TableColumn, is_name: bool) -> str:
    kind = ' class="text"' if column.values is None or is_name else ""
    kind += "" if column.values is None else " data-numeric"
    direction = " data-descending" if column.is_descending else ""
    return (
        f'<th scope="col"{kind}{direction}><button type="button">'
        f"{escape(column.heading)}</button></th>"
    )


def _cell(column: TableColumn, i: int, is_name: bool) -> str:
    start, end = ('<th scope="row"', "</th>") if is_name else ("<td", "</td>")
    if column.values is None:
        return f'{start} class="text">{column.cells[i]}{end}'
    value = column.values[i]
    sorted_by = f"{value:.9g}" if np.isfinite(value) else ""
    return f'{start} data-value="{sorted_by}">{column.cells[i]}{end}'


def plain_table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of text in two or more columns."""
    head = "".join(
        f'<th scope="col" class="text">{escape(name)}</th>' for name in header
    )
    body = "".join(
        "<tr>"
        + f'<th scope="row">{escape(row[0])}</th>'
        + "".join(f'<td class="text">{escape(cell)}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="table"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def rgb(color: Any) -> str:
    """A colour of the palette, an array of three shares, as style sheets write it."""
    red, green, blue = (round(255 * share) for share in color)
    return f"#{red:02x}{green:02x}{blue:02x}"
