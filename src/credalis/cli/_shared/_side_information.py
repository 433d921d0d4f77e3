"""Labels and pairs from files, by the identifiers of the rows."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from credalis.cli._shared._answers import links_of, read_answers
from credalis.cli._shared._console import Console
from credalis.cli._shared._data import Data
from credalis.cli._shared._rows import Rows
from credalis.constraints import check_constraints, closure
from credalis.constraints._pairs import link_graph
from credalis.tables import as_text, open_table

_UNKNOWN = ("", "-1")
_WHOLE = re.compile(r"\d+")

# Number of the row in the file, and its two cells.
Lines = list[tuple[int, str, str]]


def read_side_information(
    data: Data,
    console: Console,
    *,
    labels: str | None,
    must_link: str | None,
    cannot_link: str | None,
    answers: str | None = None,
    n_clusters: int | None,
) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Arguments of ``fit``, in row numbers of the matrix, and names of clusters.

    Parameters
    ----------
    data : Data
        The rows that the files are about.
    console : Console
        Where to say how labels became clusters.
    labels, must_link, cannot_link : str or None
        Files of two columns: identifier and label, or two identifiers.
    answers : str or None
        File of answers about pairs, as ``credalis ask`` writes it; what they imply is
        added.
    n_clusters : int or None
        Number of clusters, if it is known.

    Returns
    -------
    given : dict of arrays
        Labels and pairs.
    names : list of str
        What the first clusters are called, if the labels are names.
    """
    if labels is answers is None and must_link is cannot_link is None:
        return {}, []
    rows = Rows.of(data)
    given: dict[str, NDArray[Any]] = {}
    called: list[str] = []
    if labels is not None:
        lines = _read(labels, rows, console, is_about_pairs=False)
        known, called = _labels(labels, lines, rows, console, n_clusters)
        given["partial_labels"] = known
    pairs: dict[str, Lines] = {}
    for name, path in (("must_link", must_link), ("cannot_link", cannot_link)):
        if path is not None:
            pairs[path] = _read(path, rows, console, is_about_pairs=True)
            given[name] = _pairs(path, pairs[path], rows)
    if must_link is not None and cannot_link is not None:
        _check_agreement(given, pairs[cannot_link], len(data.X), must_link, cannot_link)
    if answers is not None:
        given |= _with_answers(answers, given, data, rows)
    return given, called


def _with_answers(
    path: str, given: dict[str, NDArray[Any]], data: Data, rows: Rows
) -> dict[str, NDArray[Any]]:
    """Pairs of a file of answers and those given otherwise, with what they imply."""
    same, different = links_of(read_answers(path, rows), rows, path)
    none = np.empty((0, 2), dtype=np.intp)
    must_link = np.concatenate([given.get("must_link", none), same])
    cannot_link = np.concatenate([given.get("cannot_link", none), different])
    n_rows = len(data.X)
    keys: NDArray[Any] = np.array(data.key_texts(), dtype=object)
    # By identifier; the closure would tell row numbers.
    check_constraints(must_link, cannot_link, n_rows, rows=keys[data.prepared.is_kept])
    must_link, cannot_link = closure(must_link, cannot_link, n_rows)
    return {"must_link": must_link, "cannot_link": cannot_link}


def full_names(called: Sequence[str], n_clusters: int) -> list[str] | None:
    """Names of all clusters, numbers for those without one; None: all are numbers."""
    if not called:
        return None
    rest = [str(k) for k in range(len(called), n_clusters)]
    return [*called, *rest][:n_clusters]


def read_classes(data: Data, console: Console, path: str) -> NDArray[np.str_]:
    """Known class of each row of the matrix, "" where it is not known.

    Parameters
    ----------
    data : Data
        The rows that the file is about.
    console : Console
        Where to say that there is a header.
    path : str
        File of two columns, identifier and class.
    """
    rows = Rows.of(data)
    lines = _read(path, rows, console, is_about_pairs=False)
    known = [line for line in lines if line[2] not in _UNKNOWN]
    return np.array(_names(path, known, rows), dtype=str)


def _read(path: str, rows: Rows, console: Console, *, is_about_pairs: bool) -> Lines:
    """Rows of a file of two columns; a header is recognised and told."""
    table = open_table(path, header=False, text_columns=("x0", "x1"))
    if len(table.columns) != 2:
        expected = "two identifiers" if is_about_pairs else "identifier and label"
        raise ValueError(
            f"{path} must have two columns, {expected}, got {len(table.columns)}"
        )
    content = table.read()
    cells = [
        ["" if text is None else text.strip() for text in as_text(content.column(j))]
        for j in range(2)
    ]
    lines = [
        (number, first, second)
        for number, (first, second) in enumerate(zip(*cells, strict=True), start=1)
    ]
    if table.format != "csv" or not lines:
        return lines
    _, first, second = lines[0]
    others = {line[2] for line in lines[1:]}
    is_header = first not in rows and (
        second not in rows if is_about_pairs else second not in others
    )
    if is_header:
        console.note(f"{path}: the first line is taken as a header: {first}, {second}")
        return lines[1:]
    return lines


def _pairs(path: str, lines: Lines, rows: Rows) -> NDArray[np.intp]:
    pairs = np.empty((len(lines), 2), dtype=np.intp)
    for k, (line, first, second) in enumerate(lines):
        pairs[k] = rows.number(path, line, first), rows.number(path, line, second)
        if pairs[k, 0] == pairs[k, 1]:
            raise ValueError(
                f"{path}, row {line}: a pair joins two different rows, got {first!r} "
                "twice"
            )
    return pairs


def _check_agreement(
    given: dict[str, NDArray[Any]],
    lines: Lines,
    n_rows: int,
    must_link: str,
    cannot_link: str,
) -> None:
    """Contradictions by identifier; the estimators would tell row numbers."""
    graph = link_graph(given["must_link"], n_rows)
    group = connected_components(graph, directed=False)[1]
    for (line, first, second), (i, j) in zip(lines, given["cannot_link"], strict=True):
        if group[i] == group[j]:
            raise ValueError(
                f"{cannot_link}, row {line}: {first!r} and {second!r} cannot be in "
                f"different clusters: {must_link} joins them, directly or through "
                "other rows"
            )


def _labels(
    path: str, lines: Lines, rows: Rows, console: Console, n_clusters: int | None
) -> tuple[NDArray[np.intp], list[str]]:
    """Clusters of the labelled rows, -1 for the others, and what they are called."""
    known = [line for line in lines if line[2] not in _UNKNOWN]
    clusters = clusters_of({line[2] for line in known}, n_clusters)
    if n_clusters is not None and len(clusters) > n_clusters:
        raise ValueError(
            f"{path} has {len(clusters)} different labels, more than the {n_clusters} "
            "clusters of -c"
        )
    called: list[str] = []
    if any(name != str(number) for name, number in clusters.items()):
        listed = ", ".join(f"{name} is {number}" for name, number in clusters.items())
        console.note(f"{path}: labels become clusters: {listed}")
        called = list(clusters)
    names = _names(path, known, rows)
    labels = np.array([clusters.get(name, -1) for name in names], dtype=np.intp)
    return labels, called


def _names(path: str, lines: Lines, rows: Rows) -> list[str]:
    """Label of each row as it is written, "" for rows without one."""
    names = [""] * rows.n_rows
    for line, key, label in lines:
        row = rows.number(path, line, key)
        if names[row] not in ("", label):
            raise ValueError(f"{path}, row {line}: {key!r} has two different labels")
        names[row] = label
    return names


def clusters_of(labels: Sequence[str] | set[str], n_clusters: int | None) -> dict:
    """Numbers of clusters as they are; names, and other numbers, in their order."""
    are_whole = all(_WHOLE.fullmatch(label) for label in labels)
    if are_whole:
        numbers = sorted(labels, key=int)
        largest = int(numbers[-1]) if numbers else 0
        if n_clusters is None or largest < n_clusters:
            return {label: int(label) for label in numbers}
        return {label: k for k, label in enumerate(numbers)}
    return {label: k for k, label in enumerate(sorted(labels))}
