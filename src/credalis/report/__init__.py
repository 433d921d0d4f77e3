"""One self-contained HTML page about a result.

``_content`` is what the page says, ``_charts`` how Plotly draws it; ``_report`` puts
both into the template ``report.html.j2``.
"""

from credalis.report._report import report

__all__ = ["report"]
