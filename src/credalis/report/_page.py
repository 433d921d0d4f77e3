"""Parts of an HTML page: its style, sections, tables and images."""

import base64
import io
from collections.abc import Collection, Iterable
from html import escape
from typing import Any

from credalis.plots._axes import import_pyplot

_DPI = 190
# More would make the file larger, not the pictures better.
_N_COLORS = 256

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light; --ink: #1d2733; --soft: #5a6876; --line: #e3e8ed; }}
* {{ box-sizing: border-box; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: #fff;
       max-width: 62rem; margin: 0 auto; padding: 1.8rem 1.2rem 3rem; }}
h1 {{ font-size: 1.75rem; line-height: 1.2; margin: 0 0 .4rem; }}
h2 {{ font-size: 1.15rem; margin: 0 0 .7rem; }}
section {{ margin-top: 2.2rem; }}
.lead {{ font-size: 1.1rem; color: #40505f; margin: 0; }}
.facts {{ display: grid; grid-template-columns: repeat(4, 1fr); gap: .9rem;
         margin: 1.3rem 0 0; }}
.facts div {{ border: 1px solid var(--line); border-radius: .6rem;
             padding: .65rem .9rem; }}
dt {{ color: var(--soft); font-size: .85rem; }}
dd {{ margin: 0; font-size: 1.5rem; font-weight: 600; line-height: 1.3; }}
dd small {{ color: var(--soft); font-size: .85rem; font-weight: 400;
           white-space: nowrap; }}
figure {{ margin: 0; }}
img {{ display: block; width: 100%; height: auto; }}
figcaption, .note {{ color: var(--soft); font-size: .9rem; margin: .5rem 0 0; }}
.grid {{ display: grid; grid-template-columns: repeat(2, minmax(0, 1fr));
        gap: 0 2.2rem; }}
.grid > section:last-child:nth-child(odd) {{ grid-column: 1 / -1; }}
.grid > section:last-child:nth-child(odd) figure {{ display: grid; gap: 0 2.2rem;
  align-items: center; grid-template-columns: repeat(2, minmax(0, 1fr)); }}
.table {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: right; padding: .35rem .7rem;
         border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }}
.grid th, .grid td {{ padding: .35rem .45rem; }}
th {{ color: #40505f; font-weight: 600; }}
th:first-child, td:first-child, .text {{ text-align: left; }}
.swatch {{ display: inline-block; width: .75em; height: .75em; border-radius: .2em;
          margin-right: .5em; print-color-adjust: exact; }}
code {{ font: .9rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }}
.model {{ display: block; background: #f5f7f9; border-radius: .6rem;
         padding: .7rem .9rem; white-space: pre-wrap; }}
summary {{ cursor: pointer; color: var(--soft); margin: .8rem 0; }}
footer {{ color: var(--soft); font-size: .85rem; margin-top: 2.5rem;
         border-top: 1px solid var(--line); padding-top: .8rem; }}
@media screen and (max-width: 48rem) {{
  .facts {{ grid-template-columns: repeat(2, 1fr); }}
  .grid, .grid > section figure {{ grid-template-columns: minmax(0, 1fr); }}
}}
@media screen and (max-width: 36rem) {{
  body {{ padding: 1.4rem 1rem 2.5rem; }}
  .facts div {{ padding: .6rem .7rem; }}
  dd small {{ font-size: .8rem; }}
  table {{ font-size: .9rem; }}
  th, td, .grid th, .grid td {{ padding: .3rem .35rem; }}
}}
@media print {{
  html {{ font-size: 13px; }}
  body {{ padding: 0; }}
  section, tr {{ break-inside: avoid; }}
  h2 {{ break-after: avoid; }}
  .long {{ break-inside: auto; }}
  details {{ display: none; }}
}}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def page(title: str, sections: Iterable[str]) -> str:
    """The whole page; title and sections are HTML already."""
    return _PAGE.format(title=title, body="\n".join(filter(None, sections)))


def section(heading: str, content: str, kind: str = "") -> str:
    """A part of the page with its heading."""
    return f"<section class='{kind}'><h2>{heading}</h2>\n{content}</section>"


def figure(
    display: Any,
    size: tuple[float, float],
    *,
    alt: str,
    caption: str,
    narrow: tuple[float, float] | None = None,
    **options: Any,
) -> str:
    """A Display as an image inside the page, and perhaps another one for phones.

    Sizes are in inches; the options go to `plot`.
    """
    source = ""
    if narrow is not None:
        image = _image(display, narrow, options, is_narrow=True)
        source = f"<source media='screen and (max-width: 36rem)' srcset='{image}'>"
    return (
        f"<figure><picture>{source}<img alt='{escape(alt)}' "
        f"src='{_image(display, size, options)}'></picture>"
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _image(
    display: Any,
    size: tuple[float, float],
    options: dict[str, Any],
    *,
    is_narrow: bool = False,
) -> str:
    """A drawing as a PNG in a data URI; a narrow one has its legend below."""
    import_pyplot(display)
    from matplotlib.figure import Figure
    from PIL import Image  # matplotlib depends on it

    # Without pyplot there is no window, whatever the user works with.
    drawing = Figure(figsize=size, layout="constrained")
    ax = display.plot(ax=drawing.subplots(), **options).ax_
    for axis in (ax.xaxis, ax.yaxis):
        # Names of columns are names, not formulas, even between dollar signs.
        axis.label.set_parse_math(False)
    legend = ax.get_legend()
    if is_narrow and legend is not None:
        legend.set_loc("upper left")
        legend.set_bbox_to_anchor((0, -0.14), ax.transAxes)
    full, small = io.BytesIO(), io.BytesIO()
    drawing.savefig(full, format="png", dpi=_DPI)
    colors = Image.open(full).convert("RGB")
    colors.quantize(_N_COLORS, dither=Image.Dither.NONE).save(small, format="png")
    return f"data:image/png;base64,{base64.b64encode(small.getvalue()).decode()}"


def number(value: int) -> str:
    """A whole number with its thousands set apart."""
    return f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def table(
    header: tuple[str, ...],
    rows: Iterable[tuple[str, ...]],
    *,
    text_columns: Collection[int] = (),
) -> str:
    """A table of cells that are HTML already; columns of text are aligned left."""

    def line(row: tuple[str, ...], tag: str) -> str:
        cells = "".join(
            f"<{tag}{' class=text' if j in text_columns else ''}>{cell}</{tag}>"
            for j, cell in enumerate(row)
        )
        return f"<tr>{cells}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return (
        f"<div class='table'><table><thead>{line(header, 'th')}</thead>"
        f"<tbody>{body}</tbody></table></div>"
    )
