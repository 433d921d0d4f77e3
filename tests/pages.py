"""Code of a Markdown page: what it holds, how it is run, what it must print.

Blocks of a page run one after the other, in one namespace and in one empty folder:

- ``python`` is run, and so is the hidden code of a comment ``<!-- run: ... -->``;
- ``pycon`` (lines with ``>>>``) is run and must print what stands there;
- ``console``: lines that begin with ``$ credalis`` are run;
- ``output`` is what the block before it must print.

In what is printed, ``...`` stands for anything, white space does not matter, and a
number with a point may differ by one in the last place that is written. Comments
change what is run and compared:

- ``<!-- slow -->`` anywhere: the page takes more than some seconds;
- ``<!-- needs: torch, anndata -->`` anywhere: packages without which it is skipped;
- ``<!-- not run: why -->`` before a block: it is only read;
- ``<!-- counts vary: 5 -->`` before an ``output``: whole numbers between spaces may
  differ by so much, since a training that ends elsewhere in the last digits, as on
  another processor, puts a few objects elsewhere.
"""

import contextlib
import doctest
import io
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w{}+-]*)[^\n]*\n(?P<code>.*?)"
    r"^(?P=indent)(?P=fence) *$"
    r"|^<!-- *run:(?P<hidden>.*?)-->"
    r"|^ *<!-- *not run: *(?P<reason>[^\n]+?) *-->"
    r"|^ *<!-- *counts vary: *(?P<slack>\d+) *-->",
    re.S | re.M,
)
_RUN = {"python", "pycon", "console", "output"}
_COMPARED = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?")
_COUNT = re.compile(r"(?<!\S)\d+(?!\S)")


@dataclass(frozen=True)
class Block:
    """Code of a page, the line on which it begins, and by how much counts may vary."""

    language: str
    code: str
    line: int
    slack: int = 0


def all_pages():
    """The README and the pages of the site, as far as they are written by hand."""
    made = ROOT / "docs" / "gallery"
    pages = sorted((ROOT / "docs").rglob("*.md"))
    return [ROOT / "README.md", *(page for page in pages if made not in page.parents)]


def blocks(text):
    """The blocks of a page that are run, and what they print."""
    found, only_read, last_was_read, slack = [], False, False, 0
    for match in _FENCE.finditer(text):
        if match["reason"]:
            only_read = True
            continue
        if match["slack"]:
            slack = int(match["slack"])
            continue
        hidden = match["hidden"] is not None
        language = "python" if hidden else match["language"]
        # What a block prints that is not run cannot be compared either.
        last_was_read = only_read or (last_was_read and language == "output")
        only_read = False
        if language in _RUN and not last_was_read:
            part = "hidden" if hidden else "code"
            indent = len(match["indent"] or "")
            code = "".join(line[indent:] for line in match[part].splitlines(True))
            line = text.count("\n", 0, match.start(part))
            found.append(Block(language, code, line, slack))
        slack = 0
    return found


def is_slow(text):
    return "<!-- slow -->" in text


def needs(text):
    """Packages that a page cannot do without."""
    named = re.findall(r"<!-- needs: (.*?) -->", text)
    return [package for names in named for package in re.split(r",\s*", names)]


def run_page(text, name):
    """Run all blocks of a page in the current folder; returns what they print."""
    namespace = {"__name__": "__main__"}
    everything, printed = [], ""
    for block in blocks(text):
        place = f"{name}, line {block.line + 1}"
        if block.language == "output":
            assert_printed(block.code, printed, place, block.slack)
        elif block.language == "pycon":
            _run_session(block, namespace, place)
        elif block.language == "console":
            printed = _run_commands(block, place)
        else:
            with _recording() as record:
                # Lines are those of the page, so that a traceback points there.
                code = "\n" * block.line + block.code
                exec(compile(code, name, "exec"), namespace)
            printed = record()
        everything.append(printed)
    return "".join(everything)


def assert_printed(expected, printed, place, slack=0):
    """What was printed is what the page says, but for so much in whole numbers."""
    number = f"{_NUMBER.pattern}|{_COUNT.pattern}" if slack else _NUMBER.pattern
    numbers = re.findall(number, expected)
    match = re.fullmatch(_pattern(expected, number), printed.strip(), re.S)
    if match is None or not all(
        _is_as_written(each, found, slack)
        for each, found in zip(numbers, match.groups(), strict=True)
    ):
        raise AssertionError(f"{place}\nexpected:\n{expected}\nprinted:\n{printed}")


def _pattern(expected, number):
    """What matches the text, with anything for ``...`` and any number for a number."""
    pieces = re.split(rf"({number}|\.\.\.|\s+)", expected.strip())
    return "".join(
        f"({number})"
        if re.fullmatch(number, piece)
        else ".*?"
        if piece == "..."
        else r"\s+"
        if piece.isspace()
        else re.escape(piece)
        for piece in pieces
    )


def _is_as_written(expected, printed, slack):
    """Whether numbers agree as far as written; last digits depend on machines."""
    if "." not in expected:
        return "." not in printed and abs(int(expected) - int(printed)) <= slack
    digits, _, exponent = expected.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    return abs(float(expected) - float(printed)) <= 1.001 * unit


def _run_session(block, namespace, place):
    test = doctest.DocTestParser().get_doctest(
        block.code, namespace, place, None, block.line
    )
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=_COMPARED)
    runner.run(test, out=report.write, clear_globs=False)
    namespace.update(test.globs)
    assert not runner.failures, report.getvalue()


def _run_commands(block, place):
    """Calls of the command line, each compared with what follows it."""
    from credalis.cli import main

    everything = []
    for call in re.split(r"^\$ ", block.code, flags=re.M)[1:]:
        call = re.sub(r"\\\n *", "", call)
        command, _, expected = call.partition("\n")
        # A comment explains the command, a redirection needs a shell.
        words = shlex.split(command, comments=True)
        if words[:1] != ["credalis"] or {"|", ">", "<", "&&"} & set(words):
            continue
        with _recording() as record:
            code = main(words[1:])
        printed = record()
        assert code == 0, f"{place}: {command}\n{printed}"
        if expected.strip():
            assert_printed(expected, printed, f"{place}: {command}")
        everything.append(printed)
    return "".join(everything)


@contextlib.contextmanager
def _recording():
    """What is printed, standard output and standard error in their order."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        yield lambda: stream.buffer.getvalue().decode()
        sys.stdout.flush()
