"""The group of all commands, and what becomes of errors."""

import os
import sys
import traceback
from collections.abc import Sequence

import click

from credalis import __version__
from credalis.cli._commands._app import app
from credalis.cli._commands._ask import ask
from credalis.cli._commands._cluster import cluster
from credalis.cli._commands._compare import compare
from credalis.cli._commands._completion import completion
from credalis.cli._commands._demo import demo
from credalis.cli._commands._info import info
from credalis.cli._commands._peaks import peaks
from credalis.cli._commands._predict import predict
from credalis.cli._commands._reproduce import reproduce
from credalis.cli._shared._console import is_debugging, one_line, visible
from credalis.cli._shared._interrupts import catching_signals
from credalis.cli._shared._options import SETTINGS, debug_option
from credalis.exceptions import FitCancelledError

_INTERRUPTED = 130
_EXPECTED = (ValueError, OSError, ImportError)


class _Group(click.Group):
    """Commands in the order in which one meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_Group, context_settings=SETTINGS, no_args_is_help=False)
@click.version_option(__version__, message="credalis %(version)s")
@debug_option
def credalis() -> None:
    """Clustering that knows what it does not know.

    Every row of a table gets a mass function over sets of clusters: it is clearly in
    one, between several, or in none. Start with "credalis demo", or with a table of
    your own: "credalis cluster data.csv -c 4".
    """


for _command in (
    demo,
    app,
    cluster,
    predict,
    ask,
    peaks,
    compare,
    reproduce,
    info,
    completion,
):
    credalis.add_command(_command)


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show ∅ or Ω gets a question mark, not a crash.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments and "_CREDALIS_COMPLETE" not in os.environ:
        sys.stderr.write(credalis.get_help(click.Context(credalis, None, "credalis")))
        sys.stderr.write("\n")
        return 2
    try:
        with catching_signals():
            code = credalis.main(arguments, "credalis", standalone_mode=False)
            sys.stdout.flush()
            return code if isinstance(code, int) else 0
    except click.UsageError as error:
        message = one_line(error.format_message()).rstrip(".")
        _show(f"{message}; see {_command_of(error)} --help")
        return 2
    except click.ClickException as error:
        _show(one_line(error.format_message()))
        return 1
    except (KeyboardInterrupt, click.Abort, FitCancelledError):
        sys.stderr.write("\ncredalis: interrupted\n")
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has seen enough. Python would complain once more when
        # it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if is_debugging():
            traceback.print_exc()
        else:
            _show(message_of(error))
        return 1


def _replace_closed_streams() -> None:
    """Let a stream that the caller has closed swallow what is written to it.

    It has no object in Python, and the next file that is opened would get its number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            swallowing = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, swallowing)


def _show(message: str) -> None:
    sys.stderr.write(f"credalis: error: {message}\n")


def _command_of(error: click.UsageError) -> str:
    return error.ctx.command_path if error.ctx else "credalis"


def message_of(error: Exception) -> str:
    """One line about an error."""
    if isinstance(error, MemoryError):
        return (
            f"not enough memory ({one_line(str(error)) or 'no details'}): use a "
            "sample of the rows, or -m ECM, which needs the least memory"
        )
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"there is no file {visible(str(error.filename))}"
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{visible(str(error.filename))}: {error.strerror.lower()}"
    if isinstance(error, _EXPECTED):
        return one_line(str(error))
    return (
        f"unexpected {type(error).__name__}: {one_line(str(error))}; please report it "
        "(--debug shows where it happened)"
    )
