"""One self-contained HTML page about a result."""

from credalis.report._report import report

__all__ = ["report"]
