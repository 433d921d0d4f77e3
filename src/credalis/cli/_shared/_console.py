"""What is said where: results on standard output, everything else on standard error."""

import json
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

_DEBUG = "credalis.debug"


class Console:
    """Notes, warnings and the result of a command.

    Parameters
    ----------
    quiet : bool
        Whether to leave out notes and the summary.
    as_json : bool
        Whether the result is JSON.
    has_table_on_stdout : bool
        Whether standard output is taken by a table; the result then goes to standard
        error.
    """

    def __init__(
        self,
        *,
        quiet: bool = False,
        as_json: bool = False,
        has_table_on_stdout: bool = False,
    ) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self.warnings: list[str] = []
        self._result = sys.stderr if has_table_on_stdout else sys.stdout

    @property
    def shows_progress(self) -> bool:
        """Whether somebody watches standard error."""
        return not self.quiet and sys.stderr.isatty()

    def note(self, text: str) -> None:
        """Say what is being done."""
        if not self.quiet:
            sys.stderr.write(f"{one_line(text)}\n")

    def warn(self, text: str) -> None:
        """Say what may be wrong, quiet or not."""
        self.warnings.append(one_line(text))
        sys.stderr.write(f"credalis: warning: {one_line(text)}\n")

    def progress(self, text: str) -> None:
        """Rewrite the last line of a terminal."""
        if self.shows_progress:
            sys.stderr.write(f"\r{text}")
            sys.stderr.flush()

    def result(self, text: str, values: dict[str, Any]) -> None:
        """Print the result: as JSON if that was asked for, else as text."""
        if self.as_json:
            shown = json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False)
            # What JSON itself does not escape, in its own way of writing.
            self._result.write(f"{_each_line(shown, _json_escaped)}\n")
        elif not self.quiet:
            self._result.write(f"{_each_line(text, _escaped)}\n")

    @contextmanager
    def hearing_warnings(self) -> Iterator[None]:
        """Warnings of the library become lines of this console."""
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, *_, **__: self.warn(str(message))
            yield


def one_line(text: str) -> str:
    """Text without line breaks, and nothing in it that a terminal would obey."""
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    """Text in which the codes of control characters stand for them.

    What comes from a file or a table may hold escapes that clear a screen, move the
    cursor, or turn the direction of writing.
    """
    return "".join(each if _is_harmless(each) else _escaped(each) for each in text)


def _is_harmless(character: str) -> bool:
    if character.isprintable():
        return True
    # Joiners shape letters and emoji; the others of this category turn or hide text.
    return character in "\u200c\u200d" or unicodedata.category(character) == "Zs"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _json_escaped(character: str) -> str:
    return json.dumps(character)[1:-1].replace("\x7f", "\\u007f")


def _each_line(text: str, escape: Callable[[str], str]) -> str:
    """Text with its line breaks, but without other control characters."""
    return "".join(
        character if character == "\n" or _is_harmless(character) else escape(character)
        for character in text
    )


def is_debugging() -> bool:
    """Whether --debug was among the options of the last command."""
    return _state.get(_DEBUG, False)


def set_debugging(context: click.Context, parameter: click.Parameter, on: bool) -> None:
    """Callback of --debug, on the group and on every command."""
    if on or context.parent is None:
        _state[_DEBUG] = on


_state: dict[str, bool] = {}
