"""The command line: parse, call, print; no mathematics."""

from credalis.cli._main import main

__all__ = ["main"]
