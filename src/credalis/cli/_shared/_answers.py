"""Answers to the question whether two rows are in the same cluster, in a file."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from credalis.cli._shared._rows import Rows
from credalis.constraints._pairs import link_graph
from credalis.tables import as_text, open_table, write_table

SAME, DIFFERENT, UNKNOWN = "same", "different", "cannot tell"
_MEANINGS = {
    **dict.fromkeys(("s", "same", "y", "yes"), SAME),
    **dict.fromkeys(("d", "different", "n", "no"), DIFFERENT),
    **dict.fromkeys(("c", "cannot tell", "?"), UNKNOWN),
}
_COLUMNS = ("first", "second", "answer")
_SCHEMA = pa.schema([(name, pa.string()) for name in (*_COLUMNS, "differ")])


@dataclass(frozen=True)
class Answer:
    """What a person says about two rows.

    Attributes
    ----------
    first, second : str
        Identifiers of the rows.
    answer : {"same", "different", "cannot tell", ""}
        Nothing if the question is still open.
    differ : str
        What they differ in, for who reads the file.
    """

    first: str
    second: str
    answer: str = ""
    differ: str = ""


def meaning_of(text: str) -> str | None:
    """The answer that a word stands for, None if it is no answer."""
    return _MEANINGS.get(" ".join(text.lower().split()))


def read_answers(path: str, rows: Rows) -> list[Answer]:
    """Answers of a file, open questions among them.

    Wrong ones are refused with the line that they stand in.

    Parameters
    ----------
    path : str
        A table with the columns first, second and answer; others are ignored.
    rows : Rows
        The rows that it is about.
    """
    table = open_table(path, text_columns=_COLUMNS)
    absent = [name for name in _COLUMNS if name not in table.columns]
    if absent:
        raise ValueError(
            f"{path} must have the columns {', '.join(_COLUMNS)}, as credalis ask "
            f"writes them, but has no column {absent[0]!r}"
        )
    names = [name for name in _SCHEMA.names if name in table.columns]
    content = table.read(names)
    cells = {
        name: [(text or "").strip() for text in as_text(content.column(name))]
        for name in names
    }
    cells.setdefault("differ", [""] * content.num_rows)
    answers = []
    entries = zip(*(cells[name] for name in _SCHEMA.names), strict=True)
    for line, (first, second, text, differ) in enumerate(entries, start=2):
        first, second = (_identifier(each, rows) for each in (first, second))
        if rows.number(path, line, first) == rows.number(path, line, second):
            raise ValueError(
                f"{path}, row {line}: a question is about two different rows, got "
                f"{first!r} twice"
            )
        answer = meaning_of(text) if text else ""
        if answer is None:
            raise ValueError(
                f"{path}, row {line}: the answer must be {SAME}, {DIFFERENT} or "
                f"{UNKNOWN!r}, or empty, got {text!r}"
            )
        answers.append(Answer(first, second, answer, differ))
    _check_agreement(path, answers, rows)
    return answers


def write_answers(path: str, answers: Sequence[Answer]) -> None:
    """Write all answers; the file appears whole or not at all."""
    batch = pa.record_batch(
        [
            pa.array([getattr(each, f.name) for each in answers], f.type)
            for f in _SCHEMA
        ],
        schema=_SCHEMA,
    )
    with write_table(path, _SCHEMA, csv_safe=True) as write:
        write(batch)


def links_of(
    answers: Sequence[Answer], rows: Rows, path: str
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of row numbers in the same cluster, and in different ones."""
    found = [
        np.array(
            [
                (
                    rows.number(path, line, each.first),
                    rows.number(path, line, each.second),
                )
                for line, each in enumerate(answers, start=2)
                if each.answer == answer
            ],
            dtype=np.intp,
        ).reshape(-1, 2)
        for answer in (SAME, DIFFERENT)
    ]
    return found[0], found[1]


def counted_answers(answers: Sequence[Answer]) -> dict[str, int]:
    """How many answers of each kind there are."""
    counts = Counter(each.answer for each in answers)
    return {answer: counts[answer] for answer in (SAME, DIFFERENT, UNKNOWN)}


def _identifier(text: str, rows: Rows) -> str:
    """An identifier, without the apostrophe that keeps spreadsheets from computing."""
    if text not in rows and text.startswith("'") and text[1:] in rows:
        return text[1:]
    return text


def _check_agreement(path: str, answers: Sequence[Answer], rows: Rows) -> None:
    """Rows that answers join, directly or through others, are not different."""
    same, _ = links_of(answers, rows, path)
    group = connected_components(link_graph(same, rows.n_rows), directed=False)[1]
    for line, each in enumerate(answers, start=2):
        if each.answer != DIFFERENT:
            continue
        ends = [rows.number(path, line, text) for text in (each.first, each.second)]
        if group[ends[0]] == group[ends[1]]:
            raise ValueError(
                f"{path}, row {line}: {each.first!r} and {each.second!r} cannot be in "
                "different clusters: other answers join them, directly or through "
                "other rows"
            )
