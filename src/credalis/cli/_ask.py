"""``credalis ask``: questions about pairs of rows, and what the answers change."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from credalis._explain._batches import with_typical_cells
from credalis._explain._columns import Column, encoded, prepared_columns
from credalis._files import naming_errors
from credalis.cli._shared._answers import (
    DIFFERENT,
    SAME,
    UNKNOWN,
    Answer,
    counted_answers,
    links_of,
    meaning_of,
    read_answers,
    write_answers,
)
from credalis.cli._shared._console import Console, one_line
from credalis.cli._shared._data import DataOptions, weights_of
from credalis.cli._shared._interrupts import stop_if_asked
from credalis.cli._shared._methods import check_uses_pairs
from credalis.cli._shared._models import open_model_and_table
from credalis.cli._shared._outputs import check_outputs
from credalis.cli._shared._rows import Rows
from credalis.cli._shared._tally import Tally
from credalis.constraints import closure, suggest_pairs
from credalis.partition import CLEAR_LEVEL, CredalPartition
from credalis.partition._presentation import set_names, text_table
from credalis.tables import as_text, output_format
from credalis.tabular import TabularModel

# Columns shown side by side, and rows listed that are in another cluster now.
_MAX_COLUMNS, _MAX_MOVED = 12, 10
_KEYS = "[s]ame, [d]ifferent, [c]annot tell, [u]ndo, [q]uit: "
_UNDO, _QUIT = ("u", "undo"), ("q", "quit")


def run(model: str, data: str, **options: Any) -> None:
    """Do what the options say."""
    console = Console(quiet=options["quiet"], as_json=options["as_json"])
    path = options["answers"]
    _check_options(model, data, options)
    table_options = DataOptions.take(options)
    with console.hearing_warnings():
        objects = _read_objects(model, data, table_options, console)
        answers = read_answers(path, objects.rows) if os.path.exists(path) else []
        session = _Session(objects, answers, path, options["seed"], console)
        if options["to_fill"]:
            session.write_questions(options["n_questions"])
            return
        try:
            session.ask(options["n_questions"])
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            session.note_answers()
            raise
        if not any(
            counted_answers(session.answers)[word] for word in (SAME, DIFFERENT)
        ):
            console.note("no answer says same or different: nothing to fit again")
            return
        _refit(session, options["save_model"], console)


def _check_options(model: str, data: str, options: dict[str, Any]) -> None:
    if data == "-" and not options["to_fill"]:
        raise click.UsageError(
            "DATA must be a file, because answers are read from standard input",
            click.get_current_context(),
        )
    path = options["answers"]
    if path == "-" or output_format(path)[0] not in ("csv", "tsv"):
        raise ValueError(f"--answers must be a .csv or .tsv file, got {path!r}")
    outputs = {"--answers": path, "--save-model": options["save_model"]}
    check_outputs(data, outputs)
    if options["save_model"] != model:
        # To replace the model by the one that knows more is what some want.
        check_outputs(model, outputs)


@dataclass(frozen=True, eq=False)
class _Objects:
    """The rows that questions are about."""

    model: TabularModel
    name: str
    id_column: str | None
    X: NDArray[np.float64]
    is_kept: NDArray[np.bool_]
    keys: list[str]
    columns: list[Column]
    rows: Rows
    weights: NDArray[np.float64] | None = None

    @cached_property
    def partition(self) -> CredalPartition:
        """What the model says before any answer."""
        # Masses of the fit itself where these are kept, because they are not quite
        # those of a prediction.
        fitted = getattr(self.model.estimator, "partition_", None)
        if fitted is not None and len(fitted) == len(self.X):
            return fitted
        return self.model.estimator.predict_partition(self.X)

    @property
    def are_dissimilarities(self) -> bool:
        """Whether the table is a matrix of dissimilarities, not of columns."""
        return self.model.estimator._is_precomputed

    @cached_property
    def _places(self) -> tuple[NDArray[np.float64], list[NDArray[np.intp]]]:
        return encoded(self.columns)

    def differences(self, i: int, j: int) -> list[tuple[str, str, str]]:
        """Columns in which two rows differ, with their cells, the most different first.

        Of dissimilarities only the one between them is told.
        """
        if self.are_dissimilarities:
            value = self.columns[j].text(self.columns[j].values[i])
            return [("dissimilarity", value, value)]
        matrix, places = self._places
        found = []
        for column, place in zip(self.columns, places, strict=True):
            texts = [column.text(column.values[row]) for row in (i, j)]
            if texts[0] != texts[1]:
                away = float(np.abs(matrix[i, place] - matrix[j, place]).sum())
                found.append((away, column.name, texts[0], texts[1]))
        found.sort(key=lambda entry: -entry[0])
        return [entry[1:] for entry in found]


def _read_objects(
    path: str, data: str, options: DataOptions, console: Console
) -> _Objects:
    """The model, and the table that it was fitted to."""
    model, table, id_column = open_model_and_table(path, data, options)
    check_uses_pairs(model.estimator)
    preparation = model.preparation
    preparation.check_table(table.name, table.columns)
    counting = model.facts.get("weights")
    others = [name for name in (id_column, counting) if name is not None]
    table.check_columns(others)
    content = table.read(list(dict.fromkeys([*preparation.columns, *others])))
    features = preparation.transform(content, name=table.name)
    if len(features.X) < 2:
        raise ValueError(
            f"{table.name} must have at least 2 rows that are not left out, got "
            f"{len(features.X)}"
        )
    n_rows, fitted_to = content.num_rows, model.facts.get("rows")
    if fitted_to is not None and fitted_to != n_rows:
        console.warn(
            f"{table.name} has {n_rows} rows, but the model was fitted to {fitted_to}: "
            "the answers and the new fit are about the rows of this table"
        )
    given = model.facts.get("given") or []
    known = [f"--{name}".replace("_", "-") for name in given]
    if known:
        console.warn(
            f"the model was fitted with {', '.join(known)}, which its file does not "
            "hold: the new fit knows the answers alone; credalis cluster --answers "
            "takes all of them"
        )
    texts = [str(row) for row in range(n_rows)]
    if id_column is not None:
        texts = [text or "" for text in as_text(content.column(id_column))]
    kept = np.flatnonzero(features.is_kept)
    columns = [each.take(kept) for each in prepared_columns(preparation, content)]
    return _Objects(
        model,
        table.name,
        id_column,
        features.X,
        features.is_kept,
        [texts[row] for row in kept.tolist()],
        columns,
        Rows(table.name, texts, features.is_kept, id_column),
        _weights(table.name, content, counting, kept),
    )


def _weights(
    name: str, content: Any, column: str | None, kept: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """How often the rows count, if the model was fitted with weights."""
    if column is None:
        return None
    return weights_of(name, content.column(column), column)[kept]


class _Session:
    """Questions, and the answers so far, which the file always holds.

    Parameters
    ----------
    objects : _Objects
        What is asked about.
    answers : list of Answer
        Those of the file, open questions among them.
    path : str
        The file.
    seed : int
        Of the choice of pairs.
    console : Console
        Where to say what is odd.
    """

    def __init__(
        self,
        objects: _Objects,
        answers: list[Answer],
        path: str,
        seed: int,
        console: Console,
    ) -> None:
        self.objects = objects
        self.path = path
        self.answers = [each for each in answers if each.answer]
        self._open = [each for each in answers if not each.answer]
        # It goes on from question to question: one that is set anew would draw the
        # same numbers for other objects.
        self._rng = np.random.RandomState(seed)
        self._console = console
        self._n_before = len(self.answers)

    @property
    def links(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Pairs of row numbers in the same cluster, and in different ones."""
        return links_of(self.answers, self.objects.rows, self.path)

    def ask(self, n_questions: int) -> None:
        """Ask until there are so many answers, or enough of it."""
        if self._n_before:
            self._console.note(f"{self.path}: {_answers(self._n_before)} so far")
        while len(self.answers) - self._n_before < n_questions:
            question = self._next()
            if question is None:
                self._console.note("there is nothing left to ask")
                break
            number = len(self.answers) - self._n_before + 1
            self._show(question, f"question {number} of {n_questions}")
            reply = self._reply()
            if reply is None:
                self._open.insert(0, question)
                break
            if reply in _UNDO:
                self._open.insert(0, question)
                self._undo()
                continue
            self.answers.append(
                Answer(question.first, question.second, reply, question.differ)
            )
            self._write()
        self.note_answers()

    def write_questions(self, n_questions: int) -> None:
        """Write questions for somebody to fill in, besides what the file holds."""
        found = [self._question(*pair) for pair in self._suggested(n_questions)]
        self._open += found
        self._write()
        n_open = len(self._open)
        self._console.result(
            f"{n_open} open question{'' if n_open == 1 else 's'} in {self.path}: write "
            f"{SAME}, {DIFFERENT} or {UNKNOWN} into the column answer, then credalis "
            "ask -n 0, or credalis cluster --answers",
            {"open": n_open, "written": self.path},
        )

    def note_answers(self) -> None:
        """Say where the answers are."""
        if len(self.answers) > self._n_before:
            self._console.note(f"{_answers(len(self.answers))} in {self.path}")

    def _next(self) -> Answer | None:
        """An open question that other answers do not settle, or a new one."""
        while self._open:
            question = self._open.pop(0)
            if not self._is_settled(question):
                return question
        pairs = self._suggested(1)
        return self._question(*pairs[0]) if pairs else None

    def _is_settled(self, question: Answer) -> bool:
        number = self.objects.rows.number
        pair = sorted(
            number(self.path, 0, k) for k in (question.first, question.second)
        )
        links = closure(*self.links, len(self.objects.X))
        return any(
            (np.sort(found, axis=1) == pair).all(axis=1).any() for found in links
        )

    def _suggested(self, n_pairs: int) -> list[tuple[int, int]]:
        """Pairs that nobody has been asked about."""
        number = self.objects.rows.number
        known = {
            frozenset(number(self.path, 0, k) for k in (each.first, each.second))
            for each in (*self.answers, *self._open)
        }
        must_link, cannot_link = self.links
        found = suggest_pairs(
            self.objects.partition,
            n_pairs + len(known),
            must_link=must_link,
            cannot_link=cannot_link,
            random_state=self._rng,
        )
        new = [
            (int(i), int(j))
            for i, j in found
            if frozenset((int(i), int(j))) not in known
        ]
        return new[:n_pairs]

    def _question(self, i: int, j: int) -> Answer:
        keys = self.objects.keys
        cells = [
            f"{name} {one} | {other}"
            for name, one, other in self.objects.differences(i, j)
        ]
        return Answer(keys[i], keys[j], "", "; ".join(cells[:_MAX_COLUMNS]))

    def _show(self, question: Answer, heading: str) -> None:
        """Two rows side by side, on standard error."""
        number = self.objects.rows.number
        i, j = (number(self.path, 0, k) for k in (question.first, question.second))
        differences = self.objects.differences(i, j)
        header = ("", question.first, question.second)
        rows = [tuple(map(one_line, row)) for row in differences[:_MAX_COLUMNS]]
        lines = ["", f"{heading}: are these in the same cluster?"]
        lines += text_table(tuple(map(one_line, header)), rows)
        n_alike = len(self.objects.columns) - len(differences)
        if len(differences) > _MAX_COLUMNS:
            lines.append(
                f"(and {len(differences) - _MAX_COLUMNS} further columns differ)"
            )
        if n_alike > 0 and not self.objects.are_dissimilarities:
            lines.append(f"({_counted(n_alike, 'column')} alike)")
        sys.stderr.write("\n".join(lines) + "\n")

    def _reply(self) -> str | None:
        """An answer or a wish to undo; None to stop. Anything else is asked again."""
        while True:
            sys.stderr.write(_KEYS)
            sys.stderr.flush()
            line = sys.stdin.buffer.readline()
            text = line.decode(errors="replace").strip().lower()
            if not line or text in _QUIT:
                sys.stderr.write("" if line else "\n")
                return None
            answer = text if text in _UNDO else meaning_of(text)
            if answer is not None:
                return answer
            sys.stderr.write(f"{one_line(text)!r} is no answer\n")

    def _undo(self) -> None:
        """Ask again what was answered last in this session."""
        if len(self.answers) == self._n_before:
            sys.stderr.write("there is no answer to undo\n")
            return
        last = self.answers.pop()
        self._open.insert(0, Answer(last.first, last.second, "", last.differ))
        self._write()

    def _write(self) -> None:
        write_answers(self.path, [*self.answers, *self._open])


def _refit(session: _Session, save_model: str | None, console: Console) -> None:
    """Fit with the answers, show what they changed, and save the model."""
    objects = session.objects
    must_link, cannot_link = closure(*session.links, len(objects.X))
    console.note(
        f"fitting again with {_counted(len(must_link), 'pair')} in the same cluster "
        f"and {_counted(len(cannot_link), 'pair')} in different ones, those that the "
        "answers imply included"
    )
    estimator = clone(objects.model.estimator)
    weights = {} if objects.weights is None else {"sample_weight": objects.weights}
    estimator.fit(objects.X, must_link=must_link, cannot_link=cannot_link, **weights)
    stop_if_asked()
    level = objects.model.facts.get("clear_level", CLEAR_LEVEL)
    after = estimator.partition_
    matched = _matched(objects.partition, after)
    changes = _changes(session, after.relabel(matched), level)
    if save_model is not None:
        facts = _facts(objects, estimator, matched, level, session)
        preparation = objects.model.preparation
        if not objects.are_dissimilarities:
            facts = with_typical_cells(facts, preparation, objects.X, after, level)
        known = TabularModel(preparation, estimator, facts)
        with naming_errors(save_model):
            known.save(save_model)
    else:
        console.note(
            "the new model is not saved (--save-model FILE), but the answers are: "
            f"credalis cluster --answers {session.path}"
        )
    text = _text(changes, session)
    if save_model is not None:
        text += f"\n\nmodel {save_model}"
    written = {"answers": session.path, "model": save_model}
    values = {**changes, "written": written, "warnings": console.warnings}
    console.result(text, values)


def _matched(before: CredalPartition, after: CredalPartition) -> list[int]:
    """For each new cluster the number of the old one it has most objects of."""
    n = after.n_clusters
    common = np.zeros((n, n))
    np.add.at(common, (after.labels, before.labels), 1)
    return linear_sum_assignment(-common)[1].tolist()


def _changes(session: _Session, after: CredalPartition, level: float) -> dict[str, Any]:
    """What is otherwise with the answers, in plain values."""
    objects = session.objects
    before = objects.partition
    pairs = session.links
    moved = np.flatnonzero(before.labels != after.labels).tolist()
    sets = [set_names(each.verdicts(level).sets) for each in (before, after)]
    return {
        "answers": counted_answers(session.answers),
        "before": _standing(before, pairs, level),
        "after": _standing(after, pairs, level),
        "moved": [
            {
                "row": objects.keys[i],
                "before": sets[0][i],
                "after": sets[1][i],
                "rather_before": int(before.labels[i]),
                "rather_after": int(after.labels[i]),
            }
            for i in moved
        ],
    }


def _standing(
    partition: CredalPartition, pairs: Sequence[NDArray[np.intp]], level: float
) -> dict[str, int]:
    """Answers that hold, and rows that are clear, between clusters, outliers."""
    verdicts, labels = partition.verdicts(level), partition.labels
    same, different = (labels[each[:, 0]] == labels[each[:, 1]] for each in pairs)
    return {
        "answers_that_hold": int(same.sum() + (~different).sum()),
        "clear": int(verdicts.is_clear.sum()),
        "ambiguous": int(verdicts.is_between.sum()),
        "outliers": int(verdicts.is_outlier.sum()),
    }


def _text(changes: dict[str, Any], session: _Session) -> str:
    counts, before, after = (changes[k] for k in ("answers", "before", "after"))
    n_told = counts[SAME] + counts[DIFFERENT]
    listed = ", ".join(f"{count} {word}" for word, count in counts.items())
    rows = [
        (f"answers that hold, of {n_told}", "answers_that_hold"),
        ("clear", "clear"),
        ("between", "ambiguous"),
        ("outliers", "outliers"),
    ]
    table = text_table(
        ("", "before", "after"),
        [(word, str(before[key]), str(after[key])) for word, key in rows],
    )
    moved = changes["moved"]
    lines = [f"{_answers(len(session.answers))}: {listed}", "", *table, ""]
    if not moved:
        lines.append("no row is in another cluster")
    else:
        are = "row is" if len(moved) == 1 else "rows are"
        lines.append(f"{len(moved)} {are} in another cluster:")
        lines += [f"  {each['row']}  {_move(each)}" for each in moved[:_MAX_MOVED]]
        if len(moved) > _MAX_MOVED:
            lines.append(f"  and {len(moved) - _MAX_MOVED} more (--json lists all)")
    return "\n".join(lines)


def _move(moved: dict[str, Any]) -> str:
    """From where to where a row went: between the same clusters, from one to another.

    Examples
    --------
    >>> from credalis.cli._ask import _move
    >>> _move({"before": "{0}", "after": "{0, 1}", "rather_before": 0})
    '{0} → {0, 1}'
    >>> _move({"before": "Ω", "after": "Ω", "rather_before": 0, "rather_after": 2})
    'Ω, rather 0 → Ω, rather 2'
    """
    if moved["before"] != moved["after"]:
        return f"{moved['before']} → {moved['after']}"
    ends = (f"{moved[k]}, rather {moved[f'rather_{k}']}" for k in ("before", "after"))
    return " → ".join(ends)


def _facts(
    objects: _Objects,
    estimator: Any,
    matched: list[int],
    level: float,
    session: _Session,
) -> dict[str, Any]:
    """What the new model says about its fit; what no longer holds is left out."""
    partition = estimator.partition_
    facts = dict(objects.model.facts)
    # The sets with a level were those of the old fit, which knew other things.
    facts.pop("coverage", None)
    facts["given"] = ["answers"]
    names = facts.get("cluster_names")
    if names is not None:
        facts["cluster_names"] = [names[k] for k in matched]
    tally = Tally(partition.n_clusters, level)
    tally.add(partition, int((~objects.is_kept).sum()))
    return {
        **facts,
        "id": objects.id_column,
        **tally.to_dict(),
        "nonspecificity": partition.average_nonspecificity,
        "loss": float(estimator.loss_),
        "iterations": int(estimator.n_iter_),
        "answers": counted_answers(session.answers),
    }


def _answers(count: int) -> str:
    return _counted(count, "answer")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
