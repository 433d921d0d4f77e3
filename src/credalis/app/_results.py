"""What the page shows of a result: plain values for a JSON file, arrays for the map."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from credalis._drawing.palette import cluster_colors, hex_color, on_dark
from credalis.cli._cluster import Clustering
from credalis.partition._presentation import silences
from credalis.plots import ShepardDisplay
from credalis.report._charts.picture import planar_display
from credalis.report._content.objects import (
    ObjectList,
    objects_between,
    outlying_objects,
    reason,
    typical_objects,
)
from credalis.report._content.profiles import Profiles, cards_of, profiles_of
from credalis.report._content.subject import Subject, subject_of
from credalis.report._content.summary import facts, how, lead
from credalis.report._content.text import listed, plain

RESULT, NAMES = "result.json", "names.json"

# Columns that can be chosen for an axis of the map.
_MAX_AXES = 24
_N_PAIRS = 2000
_MAX_HISTORY = 500
_N_MOVED = 30
# Sets of more clusters do not fit into the bits of a number.
_MAX_BITS = 32


def subject_for(found: Clustering) -> Subject:
    """What a report about the result would be about."""
    table = found.table
    is_precomputed = getattr(found.estimator, "metric", None) == "precomputed"
    keys = zip(table.key_texts(), table.prepared.is_kept, strict=True)
    return subject_of(
        found.subject,
        table.X,
        None,
        None if is_precomputed else table.originals(),
        [key for key, is_kept in keys if is_kept],
        found.clear_level,
        described=() if is_precomputed else table.described,
        cluster_names=found.names,
    )


def write_result(folder: Path, found: Clustering, before: Path | None) -> None:
    """Write what the page shows.

    Parameters
    ----------
    folder : Path
        Where to.
    found : Clustering
        The result.
    before : Path or None
        Folder of the result that it is compared with.
    """
    subject = subject_for(found)
    profiles = profiles_of(subject)
    rows = np.flatnonzero(found.table.prepared.is_kept)
    colors = [hex_color(each) for each in cluster_colors(found.partition.n_clusters)]
    axes = _write_arrays(folder, subject, profiles, rows)
    result = {
        "lead": lead(subject),
        "how": how(subject),
        "facts": [asdict(fact) for fact in facts(subject)],
        "silences": silences(found.partition),
        "method": found.method,
        "n_objects": subject.n_samples,
        "n_clusters": found.partition.n_clusters,
        "cluster_names": subject.cluster_names,
        "colors": colors,
        "dark_colors": [on_dark(color) for color in colors],
        "has_sets": found.partition.n_clusters <= _MAX_BITS,
        "clear_level": found.clear_level,
        "axes": axes,
        "clusters": _clusters(subject, profiles),
        "between": _listed(subject, objects_between(subject), None),
        "outliers": _listed(subject, outlying_objects(subject, profiles), profiles),
        "shepard": _shepard(subject),
        "history": _history(found.estimator),
        "changes": None if before is None else _changes(before, folder),
        "decisions": found.table.decisions,
        "is_gower": found.table.metric is not None,
    }
    # Of earlier Pythons JSON has words that no browser reads.
    text = json.dumps(result, allow_nan=False)
    (folder / RESULT).write_text(text, encoding="utf-8")


def _write_arrays(
    folder: Path, subject: Subject, profiles: Profiles, rows: NDArray[np.intp]
) -> list[dict[str, Any]]:
    """Arrays with an entry for each object, little-endian; the axes of the map."""
    partition, verdicts = subject.partition, subject.verdicts
    kinds = np.where(verdicts.is_outlier, 2, np.where(verdicts.is_clear, 0, 1))
    plausibility = partition.plausibility.copy()
    plausibility[np.arange(len(rows)), partition.labels] = -1.0
    is_alone = partition.n_clusters < 2
    second = np.zeros(len(rows)) if is_alone else plausibility.argmax(axis=1)
    _write(folder / "rows.bin", rows, "<i4")
    _write(folder / "labels.bin", partition.labels, "<i4")
    _write(folder / "second.bin", second, "<i4")
    _write(folder / "kinds.bin", kinds, "<i4")
    _write(folder / "doubt.bin", partition.doubt, "<f4")
    if partition.n_clusters <= _MAX_BITS:
        bits = verdicts.sets @ (2 ** np.arange(partition.n_clusters, dtype=np.int64))
        _write(folder / "sets.bin", bits, "<u4")
    display = planar_display(subject)
    axes = [{"name": plain(name)} for name in display.axis_labels]
    values = [display.points[:, 0], display.points[:, 1]]
    order = np.sort(profiles.order[:_MAX_AXES])
    known = {axis["name"] for axis in axes}
    for j in order:
        column = profiles.columns[j]
        if column.name not in known:
            unit = " (days since 1970-01-01)" if column.is_date else ""
            axes.append({"name": column.name + unit})
            values.append(column.values)
    for j, each in enumerate(values):
        _write(folder / f"axis-{j}.bin", each, "<f4")
    names = json.dumps({"names": subject.names, "has_names": subject.has_names})
    (folder / NAMES).write_text(names, encoding="utf-8")
    return axes


def _write(path: Path, values: NDArray[Any], dtype: str) -> None:
    path.write_bytes(np.ascontiguousarray(values, dtype=dtype).tobytes())


def _clusters(subject: Subject, profiles: Profiles) -> list[dict[str, Any]]:
    cards = cards_of(subject, profiles, typical_objects(subject))
    lower = subject.partition.lower.sum(axis=0)
    upper = subject.partition.upper.sum(axis=0)
    return [
        {
            **asdict(card),
            "lower": int(lower[card.cluster]),
            "upper": int(upper[card.cluster]),
        }
        for card in cards
    ]


def _listed(
    subject: Subject, found: ObjectList, profiles: Profiles | None
) -> dict[str, Any]:
    return {
        # The page sorts in one way.
        "text": found.text.replace("; click a heading to sort", ""),
        "objects": [
            {
                "object": i,
                "why": _why(subject, i, profiles),
                "doubt": round(float(subject.partition.doubt[i]), 3),
                "masses": [
                    {"set": name, "mass": mass}
                    for name, mass in subject.largest_masses(i, 3)
                ],
            }
            for i in found.objects
        ],
    }


def _why(subject: Subject, i: int, profiles: Profiles | None) -> str:
    """Why an object is listed; the report speaks of clusters by their numbers."""
    names, inside = subject.cluster_names, np.flatnonzero(subject.verdicts.sets[i])
    if names is None or not len(inside):
        return reason(subject, i, profiles)
    return f"between {listed([names[k] for k in inside], limit=6)}"


def _shepard(subject: Subject) -> dict[str, Any] | None:
    """Conflicts against dissimilarities of some pairs, for a method that fits them."""
    estimator = subject.estimator
    if getattr(estimator, "scale_", None) is None or subject.n_samples < 2:
        return None
    display = ShepardDisplay.from_estimator(estimator, subject.X, n_pairs=_N_PAIRS)
    return {
        "targets": np.round(display.targets, 4).tolist(),
        "conflicts": np.round(display.conflicts, 4).tolist(),
        "residual": float(np.sqrt(display.stress)),
        "scale": float(display.scale),
        "shown": display.shown,
    }


def _history(estimator: Any) -> list[float]:
    losses = np.asarray(getattr(estimator, "history_", ()), dtype=np.float64)
    if losses.ndim != 1 or not np.isfinite(losses).all():
        return []
    places = np.linspace(0, len(losses) - 1, min(len(losses), _MAX_HISTORY))
    return losses[np.unique(places.astype(int))].tolist()


def _changes(before: Path, after: Path) -> dict[str, Any]:
    """What a result says otherwise than the one before, of rows that both know.

    Clusters have numbers of no meaning: those of the two results are paired so that as
    many rows as possible keep theirs.
    """
    old, new = _read_arrays(before), _read_arrays(after)
    rows, i, j = np.intersect1d(old["rows"], new["rows"], return_indices=True)
    table = np.zeros((old["labels"].max() + 1, new["labels"].max() + 1))
    np.add.at(table, (old["labels"][i], new["labels"][j]), 1)
    first, second = linear_sum_assignment(table, maximize=True)
    twin = np.full(len(table), -1)
    twin[first] = second
    kept = twin[old["labels"][i]]
    is_moved = kept != new["labels"][j]
    moved = j[is_moved]
    order = np.argsort(new["doubt"][moved], kind="stable")
    words = ("clear", "between", "outliers")
    return {
        "n_rows": len(rows),
        "n_moved": int(is_moved.sum()),
        "moved": moved[order[:_N_MOVED]].tolist(),
        "all_moved": moved.tolist(),
        "before": dict(zip(words, _tally(old["kinds"][i]), strict=True)),
        "after": dict(zip(words, _tally(new["kinds"][j]), strict=True)),
        "n_clearer": int(((old["kinds"][i] == 1) & (new["kinds"][j] == 0)).sum()),
        "n_vaguer": int(((old["kinds"][i] == 0) & (new["kinds"][j] == 1)).sum()),
        "n_clusters": [len(table), table.shape[1]],
    }


def _tally(kinds: NDArray[np.int32]) -> list[int]:
    return np.bincount(kinds, minlength=3).tolist()


def _read_arrays(folder: Path) -> dict[str, NDArray[Any]]:
    types = {"rows": "<i4", "labels": "<i4", "kinds": "<i4", "doubt": "<f4"}
    return {
        name: np.frombuffer((folder / f"{name}.bin").read_bytes(), dtype)
        for name, dtype in types.items()
    }
