"""What the child processes of the server do, one function for each kind of work."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from credalis._control import FitControl, FitEvent
from credalis.app._begin import Beginnings, Ear, options_of, parsed
from credalis.app._code import python_code
from credalis.app._demo import NAME, ROLES, write_demo
from credalis.app._numbers import peaks, recommend
from credalis.app._objects import COMMAND, PARTITION, Shown
from credalis.app._results import write_result
from credalis.app._settings import (
    MEMBERSHIPS,
    MODEL,
    REPORT,
    Settings,
    method_words,
    output_words,
    shown_command,
    table_words,
)
from credalis.app._side import CENTER_WORDS, centers_as, side_of
from credalis.app._tables import preview
from credalis.cli._cluster import begin, cluster_rows, write_outputs
from credalis.cli._shared._methods import finds_n_clusters
from credalis.cli._shared._names import DEFAULT, DEFAULT_OF_MIXED
from credalis.cluster import BaseCredalClusterer, named_estimators

CODE, NOTES = "reproduce.py", "run.json"

# Seconds between two messages about progress.
_PAUSE = 0.1

Tell = Callable[[dict[str, Any]], None]


class Jobs:
    """What one child process can do; it remembers tables and results."""

    def __init__(self) -> None:
        self._beginnings = Beginnings()
        self._shown: dict[tuple[Path, int], Shown] = {}

    def do(self, kind: str, tell: Tell, given: dict[str, Any]) -> Any:
        """Do one piece of work, and say how far it is."""
        return getattr(self, f"_{kind}")(tell, **given)

    def _methods(self, tell: Tell) -> dict[str, Any]:
        """All methods, with words about each."""
        methods = [
            _described(name, estimator)
            for name, estimator in named_estimators().items()
        ]
        return {
            "default": DEFAULT,
            "default_of_mixed": DEFAULT_OF_MIXED,
            "centers": CENTER_WORDS,
            "methods": methods,
        }

    def _demo(self, tell: Tell, folder: str) -> dict[str, Any]:
        """Write the table of the demo; its name, and roles of its columns."""
        write_demo(Path(folder) / NAME)
        return {"name": NAME, "roles": ROLES}

    def _preview(
        self, tell: Tell, folder: str, table: str, settings: Any, usual: Any
    ) -> dict[str, Any]:
        """The table; ``usual`` is None where the roles of its columns are asked for."""
        chosen = Settings().changed(settings)
        os.chdir(folder)
        return preview(self._beginnings, _words(chosen, table, usual or {}))

    def _peaks(
        self, tell: Tell, folder: str, table: str, settings: Any, usual: Any
    ) -> dict[str, Any]:
        chosen = Settings().changed(settings)
        os.chdir(folder)
        beginning, _ = self._beginnings.read(_words(chosen, table, usual))
        return peaks(beginning, chosen)

    def _recommend(
        self, tell: Tell, folder: str, table: str, settings: Any, usual: Any
    ) -> dict[str, Any]:
        chosen = Settings().changed({**settings, "n_clusters": None})
        os.chdir(folder)
        beginning, _ = self._beginnings.read(_words(chosen, table, usual))
        with FitControl(_listener(tell)):
            return recommend(beginning, chosen)

    def _fit(
        self,
        tell: Tell,
        folder: str,
        table: str,
        settings: Any,
        usual: Any,
        answers: list[dict[str, Any]],
        before: str | None,
    ) -> dict[str, Any]:
        """Run ``credalis cluster``, in a folder that holds the table."""
        start = time.perf_counter()
        chosen = Settings().changed(settings)
        place = Path(folder)
        os.chdir(place)
        tell({"stage": "reading the table", "share": None})
        words = _words(chosen, table, usual)
        beginning, _ = self._beginnings.read(words)
        side = side_of(beginning, chosen, answers)
        words += side.words
        for name, text in side.files.items():
            (place / name).write_text(text, encoding="utf-8")
        (place / COMMAND).write_text(json.dumps(words), encoding="utf-8")
        context, ear = parsed(words), Ear()
        data, options = options_of(context)
        with context, ear.hearing_warnings():
            beginning = begin(data, options, ear)
            with FitControl(_listener(tell)):
                found = cluster_rows(beginning, data, options, ear)
            tell({"stage": "drawing the result", "share": None})
            code = python_code(found, data, options, side)
            (place / CODE).write_text(code, encoding="utf-8")
            found.partition.save(place / PARTITION)
            write_outputs(found, context, data, {**options, "report": None})
            write_result(place, found, None if before is None else Path(before))
            notes: dict[str, Any] = {
                "command": shown_command(words),
                "method": found.method,
                "n_clusters": found.partition.n_clusters,
                "facts": found.facts,
                "warnings": ear.warnings,
                "notes": ear.notes,
                "files": sorted([MEMBERSHIPS, MODEL, CODE, *side.files]),
                "centers_as": CENTER_WORDS[centers_as(beginning.estimator)]
                if chosen.uses_centers and chosen.centers
                else "",
                "seconds": round(time.perf_counter() - start, 2),
            }
            (place / NOTES).write_text(json.dumps(notes), encoding="utf-8")
            # The page shows the result while the report is still being drawn.
            tell({"stage": "writing the report", "share": None, "result": notes})
            only_report = {**options, "output": None, "model": None}
            write_outputs(found, context, data, only_report)
        notes["files"] = sorted([*notes["files"], REPORT])
        notes["warnings"] = ear.warnings
        (place / NOTES).write_text(json.dumps(notes), encoding="utf-8")
        return notes

    def _object(self, tell: Tell, folder: str, number: int) -> dict[str, Any]:
        return self._result(folder).object(number)

    def _tree(self, tell: Tell, folder: str) -> dict[str, Any]:
        return self._result(folder).tree()

    def _questions(
        self, tell: Tell, folder: str, n_pairs: int, answers: list[dict[str, Any]]
    ) -> dict[str, Any]:
        return self._result(folder).questions(n_pairs, answers)

    def _result(self, folder: str) -> Shown:
        place = Path(folder)
        # Another table begins with the same numbers.
        key = place, (place / PARTITION).stat().st_mtime_ns
        if key not in self._shown:
            self._shown.clear()
            self._shown[key] = Shown(place, self._beginnings)
        return self._shown[key]


def _words(settings: Settings, table: str, usual: dict[str, str]) -> list[str]:
    """All words of the command but those about single rows."""
    return [
        *table_words(settings, table, usual),
        *method_words(settings, finds_number=_finds_number(settings.method)),
        *output_words(),
    ]


def _finds_number(method: str | None) -> bool:
    known = named_estimators()
    return method in known and finds_n_clusters(known[method])


def _described(name: str, estimator: BaseCredalClusterer) -> dict[str, Any]:
    first = (type(estimator).__doc__ or "").strip().split("\n\n")[0]
    return {
        "name": name,
        "title": " ".join(first.split()),
        "words": estimator._words,
        "finds_number": finds_n_clusters(estimator),
        "uses_labels": estimator._uses_labels,
        "uses_pairs": estimator._uses_pairs,
        "needs_pairs": estimator._needs_side_information,
        "is_for_many_rows": estimator._is_for_many_rows,
        "centers": centers_as(estimator),
    }


def _listener(tell: Tell) -> Callable[[FitEvent], None]:
    """Passes on how far a fit is, but not more often than somebody could see."""
    last = [0.0]

    def hear(event: FitEvent) -> None:
        now = time.monotonic()
        if now - last[0] < _PAUSE and not event.is_over:
            return
        last[0] = now
        tell(
            {
                "stage": event.stage or f"{event.method} at work",
                "run": event.run,
                "n_runs": event.n_runs,
                "iteration": event.iteration,
                "max_iter": event.max_iter,
                "loss": None if event.stage else event.loss,
                "share": event.share,
            }
        )

    return hear
