"""Lines of Python that make a result again, with the functions that made it."""

from typing import Any

from credalis.app._side import Side
from credalis.cli._cluster import Clustering
from credalis.cli._shared._data import Data, DataOptions

_HEAD = '''\
"""Makes the result of credalis {version} again: the same masses, bit by bit."""
'''


def python_code(
    found: Clustering, table: str, options: dict[str, Any], side: Side
) -> str:
    """A program that reads the table, prepares it, fits the method and reports.

    Parameters
    ----------
    found : Clustering
        The result.
    table : str
        Name of the file.
    options : dict
        Options of the command.
    side : Side
        What is known about some rows.
    """
    from credalis import __version__

    name = type(found.estimator).__name__
    told = DataOptions.of(options)
    has_side = bool(side.labels or side.must_link or side.cannot_link)
    lines = [
        _HEAD.format(version=__version__),
        *(["import numpy as np", ""] if side.labels else []),
        f"from credalis import {name}, report",
        "from credalis.io import open_table",
        "from credalis.tabular import decide, prepare",
        "",
        *_opening(table, told),
        *_reading(told),
        *_preparing(found.table),
        "",
        *_model(found),
        *(_known(found.table, side, options) if has_side else []),
        *_fitting(side),
        "partition = model.partition_",
        "print(partition.summary())",
        'report(model, prepared.X, "report.html")',
        "",
    ]
    return "\n".join(lines)


def _opening(table: str, told: DataOptions) -> list[str]:
    arguments = [repr(table)]
    for name in ("delimiter", "decimal", "sheet"):
        value = getattr(told, name)
        if value is not None:
            arguments.append(f"{name}={value!r}")
    if told.id_column is not None:
        arguments.append(f"text_columns=[{told.id_column!r}]")
    return [f"table = open_table({', '.join(arguments)})"]


def _reading(told: DataOptions) -> list[str]:
    arguments = ["table"]
    if told.columns:
        arguments.append(f"{list(told.columns)!r}")
    if told.exclude:
        arguments.append(f"exclude={list(told.exclude)!r}")
    others = [] if told.id_column is None else [told.id_column]
    others = list(dict.fromkeys([*others, *told.describe, *told.exclude]))
    if others:
        arguments.append(f"others={others!r}")
    return [f"columns, decisions = decide({', '.join(arguments)})"]


def _preparing(table: Data) -> list[str]:
    preparation = table.prepared.preparation
    arguments = [
        "columns",
        f"scaling={preparation.scaling!r}",
        f"missing={preparation.missing!r}",
    ]
    if preparation.metric != "euclidean":
        arguments.append(f"metric={preparation.metric!r}")
    return [f"prepared = prepare({', '.join(arguments)})"]


def _model(found: Clustering) -> list[str]:
    estimator = found.estimator
    usual = type(estimator)().get_params(deep=False)
    arguments = []
    if "n_clusters" in usual:
        arguments.append(f"n_clusters={found.partition.n_clusters}")
    for name, value in estimator.get_params(deep=False).items():
        if name in ("n_clusters", "verbose", "n_jobs"):
            continue
        if name == "metric" and found.table.metric is not None:
            arguments.append("metric=prepared.preparation.gower()")
        elif repr(value) != repr(usual[name]):
            arguments.append(f"{name}={value!r}")
    name = type(estimator).__name__
    inner = ", ".join(arguments)
    if len(inner) < 70:
        return [f"model = {name}({inner})"]
    return [f"model = {name}(", *(f"    {each}," for each in arguments), ")"]


def _known(table: Data, side: Side, options: dict[str, Any]) -> list[str]:
    """What is known about rows, by their places in the matrix."""
    from credalis.cli._shared._side_information import clusters_of

    kept = table.prepared.is_kept.cumsum() - 1
    lines = []
    if side.labels:
        wanted = options["n_clusters"]
        number = wanted if isinstance(wanted, int) else None
        clusters = clusters_of(set(side.labels.values()), number)
        rows = [int(kept[row]) for row in sorted(side.labels)]
        numbers = [clusters[side.labels[row]] for row in sorted(side.labels)]
        if any(name != str(k) for name, k in clusters.items()):
            lines.append(f"# {', '.join(f'{k}: {n}' for n, k in clusters.items())!r}")
        lines += [
            "known = np.full(len(prepared.X), -1)",
            f"known[{rows!r}] = {numbers!r}",
        ]
    for name, pairs in (
        ("must_link", side.must_link),
        ("cannot_link", side.cannot_link),
    ):
        if pairs:
            places = [(int(kept[i]), int(kept[j])) for i, j in pairs]
            lines.append(f"{name} = {places!r}")
    return lines


def _fitting(side: Side) -> list[str]:
    given = ["prepared.X"]
    if side.labels:
        given.append("partial_labels=known")
    if side.must_link:
        given.append("must_link=must_link")
    if side.cannot_link:
        given.append("cannot_link=cannot_link")
    return [f"model.fit({', '.join(given)})"]
