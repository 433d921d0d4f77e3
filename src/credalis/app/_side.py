"""Answers and centres as the files that ``credalis cluster`` reads."""

import csv
import io
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from credalis.app._settings import CANNOT_LINK, LABELS, MUST_LINK, Settings
from credalis.cli._cluster import Beginning
from credalis.cli._shared._data import Data
from credalis.cluster import BaseCredalClusterer
from credalis.constraints import closure

# How centres that were picked enter a method.
CENTER_WORDS = {
    "labels": "Each centre counts as a known member of its cluster.",
    "pairs": "The centres count as objects of different clusters.",
    "start": "The method starts from these centres.",
    "": "This method only takes the number of centres.",
}


@dataclass
class Side:
    """What is known about some rows.

    Attributes
    ----------
    words : list of str
        Words of the command about it.
    files : dict of str to str
        Files that these words name, and what is in them.
    labels : dict of int to str
        Names of the groups of some rows of the table.
    must_link, cannot_link : list of pairs of int
        Rows of the table.
    init : list or None
        Where the method starts.
    """

    words: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    must_link: list[tuple[int, int]] = field(default_factory=list)
    cannot_link: list[tuple[int, int]] = field(default_factory=list)
    init: list[Any] | None = None


def centers_as(estimator: BaseCredalClusterer) -> str:
    """How a method takes centres, a key of `CENTER_WORDS`."""
    if estimator._uses_labels:
        return "labels"
    if estimator._uses_pairs:
        return "pairs"
    known = estimator.get_params(deep=False)
    return "start" if "init" in known and "n_clusters" in known else ""


def side_of(
    beginning: Beginning, settings: Settings, answers: list[dict[str, Any]]
) -> Side:
    """What centres and answers say, for a method.

    Parameters
    ----------
    beginning : Beginning
        The table, and the method as it is chosen without side information.
    settings : Settings
        With the centres.
    answers : list of dict
        As `credalis.app._session` keeps them.
    """
    side = Side()
    for answer in answers:
        if answer["kind"] == "group":
            side.labels |= dict.fromkeys(answer["rows"], answer["name"])
        elif answer["answer"] == "same":
            side.must_link.append((answer["a"], answer["b"]))
        elif answer["answer"] == "different":
            side.cannot_link.append((answer["a"], answer["b"]))
    if settings.uses_centers and settings.centers:
        _add_centers(side, beginning, settings.centers)
    table = beginning.table
    if side.must_link or side.cannot_link:
        must, cannot = closure(
            side.must_link or None, side.cannot_link or None, len(table.columns)
        )
        side.must_link, side.cannot_link = map(_as_pairs, (must, cannot))
    _write(side, table)
    return side


def _add_centers(side: Side, beginning: Beginning, centers: tuple[int, ...]) -> None:
    kind = centers_as(beginning.estimator)
    # Groups that have names say more than centres.
    if kind == "labels" and not side.labels:
        side.labels = {row: str(k) for k, row in enumerate(centers)}
    elif kind == "pairs":
        side.cannot_link += list(combinations(centers, 2))
    elif kind == "start":
        kept = np.cumsum(beginning.table.prepared.is_kept) - 1
        places = [int(kept[row]) for row in centers]
        is_relational = beginning.estimator._reads_dissimilarities
        X = beginning.table.X
        side.init = places if is_relational else X[places].tolist()
        side.words += ["--param", f"init={side.init!r}"]


def _as_pairs(pairs: np.ndarray) -> list[tuple[int, int]]:
    return [(int(i), int(j)) for i, j in pairs]


def _write(side: Side, table: Data) -> None:
    """The files, with rows named as the command names them."""
    keys = table.key_texts()
    if side.labels:
        lines = [(keys[row], name) for row, name in sorted(side.labels.items())]
        side.files[LABELS] = _csv(("row", "label"), lines)
        side.words += ["--labels", LABELS]
    for name, option, pairs in (
        (MUST_LINK, "--must-link", side.must_link),
        (CANNOT_LINK, "--cannot-link", side.cannot_link),
    ):
        if pairs:
            lines = [(keys[i], keys[j]) for i, j in pairs]
            side.files[name] = _csv(("row", "other row"), lines)
            side.words += [option, name]


def _csv(header: tuple[str, str], lines: list[tuple[str, str]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(lines)
    return stream.getvalue()
