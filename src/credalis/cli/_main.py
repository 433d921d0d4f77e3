"""The ``credalis`` command."""

import argparse
import sys
from collections.abc import Sequence

from credalis import __version__
from credalis.cli import _demo


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; 0 if all went well, 1 after an error, 2 for wrong usage."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show ∅ or Ω gets a question mark, not a crash.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    options = _parser().parse_args(argv)
    try:
        options.run(options)
    except (ValueError, OSError, ImportError) as error:
        print(f"credalis: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("credalis: interrupted", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="credalis", description="Clustering that knows what it does not know."
    )
    parser.add_argument(
        "--version", action="version", version=f"credalis {__version__}"
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    _demo.add_to(commands)
    return parser
