"""The page that the report is in: style and tables."""

from collections.abc import Collection, Iterable

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
figure {{ margin: 1.4rem 0; }}
img {{ display: block; max-width: 100%; height: auto; }}
figcaption {{ color: var(--soft); font-size: .9rem; margin: .5rem 0 0; }}
.table {{ overflow-x: auto; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: right; padding: .35rem .7rem;
         vertical-align: top; border-bottom: 1px solid var(--line);
         font-variant-numeric: tabular-nums; }}
th {{ color: #40505f; font-weight: 600; }}
th:first-child, td:first-child, .text {{ text-align: left; }}
@media screen and (max-width: 36rem) {{
  body {{ padding: 1.4rem 1rem 2.5rem; }}
  table {{ font-size: .9rem; }}
  th, td {{ padding: .3rem .35rem; }}
  /* A table may be wider than the screen, but not a column of single words. */
  td.text:last-child {{ min-width: 16rem; }}
  td:not(.text):not(:first-child) {{ white-space: nowrap; }}
}}
@media print {{
  html {{ font-size: 13px; }}
  body {{ padding: 0; }}
  tr, figure {{ break-inside: avoid; }}
  h2 {{ break-after: avoid; }}
}}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def page(title: str, parts: Iterable[str]) -> str:
    """The whole page; title and parts are HTML already."""
    return _PAGE.format(title=title, body="\n".join(parts))


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
