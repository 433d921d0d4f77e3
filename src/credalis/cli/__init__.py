"""The command line: parse, call, print; no mathematics.

Needs click and pyarrow, which come with ``pip install "credalis[cli]"``.
"""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command ``credalis``.

    Parameters
    ----------
    argv : sequence of str, default=None
        The arguments; None: those of the process.

    Returns
    -------
    int
        0 if all went well, 1 after an error, 2 for wrong usage, 130 after an interrupt.
    """
    try:
        import click  # noqa: F401
    except ImportError:
        sys.stderr.write(
            'credalis: error: the command line needs click: pip install "credalis[cli]"'
            "\n"
        )
        return 1
    from credalis.cli._main import run

    return run(argv)
