"""A table as the command line reads it, from the words of the command."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from credalis.cli._cluster import Beginning, begin
from credalis.cli._commands._cluster import cluster
from credalis.cli._shared._console import Console, one_line


class Ear(Console):
    """Takes down what a command would write on a terminal."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Take down what is being done."""
        self.notes.append(one_line(text))

    def warn(self, text: str) -> None:
        """Take down what may be wrong."""
        self.warnings.append(one_line(text))

    def progress(self, text: str) -> None:
        """Nobody watches a line."""

    def result(self, text: str, values: dict[str, Any]) -> None:
        """The page shows the result in its own way."""


def parsed(words: Sequence[str]) -> click.Context:
    """The command with these words, not yet run."""
    return cluster.make_context("credalis cluster", list(words))


def options_of(context: click.Context) -> tuple[str, dict[str, Any]]:
    """The table of a command, and its options."""
    options = dict(context.params)
    return options.pop("data"), options


@dataclass(eq=False)
class Beginnings:
    """Tables that were read for commands, the last few of them kept."""

    _kept: dict[tuple[Any, ...], tuple[Beginning, Ear]] = field(default_factory=dict)

    def read(self, words: Sequence[str]) -> tuple[Beginning, Ear]:
        """What the command begins with, and what it says of it."""
        context = parsed(words)
        data, options = options_of(context)
        state = os.stat(data)
        key = (os.path.realpath(data), state.st_mtime_ns, state.st_size, *words)
        if key not in self._kept:
            ear = Ear()
            with context, ear.hearing_warnings():
                beginning = begin(data, options, ear)
            if len(self._kept) >= 2:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = beginning, ear
        return self._kept[key]
