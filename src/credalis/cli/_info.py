"""``credalis info``: what a file holds."""

import os
from typing import Any

from credalis import _archive
from credalis.cli._shared._console import Console, visible
from credalis.cluster import BaseCredalClusterer
from credalis.io import load
from credalis.partition import CredalPartition
from credalis.tabular import Preparation, TabularModel, in_words

_UNITS = ("bytes", "kB", "MB", "GB")
_MAX_SETS_SHOWN = 20

# What "credalis cluster" notes about a fit; models of others may know nothing of it.
_FACTS = {"table", "rows", "dropped", "clear", "ambiguous", "outliers"}


def run(model: str, as_json: bool) -> None:
    """Do what the options say."""
    saved = load(model)
    header, _ = _archive.read(model)
    values: dict[str, Any] = {
        "file": model,
        "bytes": os.path.getsize(model),
        "holds": type(saved).__name__,
        "format": header["format"],
        "written_with": header["versions"],
    }
    if isinstance(saved, TabularModel):
        values |= {"fit": saved.facts, "columns": _columns(saved.preparation)}
        values |= _method(saved.estimator)
    elif isinstance(saved, BaseCredalClusterer):
        values |= _method(saved)
    elif isinstance(saved, CredalPartition):
        values |= {"rows": len(saved), **_sets(saved.focal_sets)}
    Console(as_json=as_json).result(_text(values), values)


def _columns(preparation: Preparation) -> dict[str, Any]:
    numbers = [
        {"name": name, "center": float(center), "scale": float(scale)}
        for name, center, scale in zip(
            preparation.numeric, preparation.center, preparation.scale, strict=True
        )
    ]
    return {
        "scaling": preparation.scaling,
        "missing": preparation.missing,
        "metric": preparation.metric,
        "numbers": numbers,
        "cyclic": preparation.plan.cyclic,
        "categories": preparation.categories,
        "readings": preparation.plan.readings,
    }


def _method(estimator: BaseCredalClusterer) -> dict[str, Any]:
    changed = {}
    defaults = type(estimator)().get_params(deep=False)
    for name, value in estimator.get_params(deep=False).items():
        is_plain = value is None or isinstance(value, (bool, int, float, str, tuple))
        shown = value if is_plain else repr(value)
        is_shown = name == "n_clusters" or repr(value) != repr(defaults[name])
        if is_shown and name not in ("verbose", "n_jobs"):
            changed[name] = shown
    return {
        "method": type(estimator).__name__,
        "parameters": changed,
        "features": int(estimator.n_features_in_),
        "training_rows": _training_rows(estimator),
        "loss": float(estimator.loss_),
        "iterations": int(estimator.n_iter_),
        **_calibration(estimator),
        **_sets(estimator.focal_sets_),
    }


def _calibration(estimator: BaseCredalClusterer) -> dict[str, Any]:
    """What sets with a level rest on, if the model is calibrated."""
    found = getattr(estimator, "calibration_", None)
    if found is None:
        return {}
    return {
        "calibration": {
            "target": found.target,
            "rows": found.n_rows,
            "max_level": found.max_level,
            "assumption": found.assumption,
        }
    }


def _training_rows(estimator: BaseCredalClusterer) -> dict[str, int]:
    """How many rows of the training data are in the file, by what they serve for."""
    detector = getattr(getattr(estimator, "novelty_", None), "detector", None)
    kept = {
        "novelty": getattr(getattr(estimator, "reference_", None), "points", None),
        "the novelty detector": getattr(detector, "support_vectors", None),
        "the masses of new rows": getattr(estimator, "points_", None),
    }
    return {use: len(rows) for use, rows in kept.items() if rows is not None}


def _sets(focal_sets: Any) -> dict[str, Any]:
    return {
        "n_clusters": focal_sets.n_clusters,
        "focal_sets": list(focal_sets.names),
    }


def _text(values: dict[str, Any]) -> str:
    """Lines of a name and a value."""
    versions = ", ".join(f"{k} {v}" for k, v in values["written_with"].items())
    lines = [
        ("file", f"{values['file']}, {_size(values['bytes'])}"),
        ("holds", values["holds"]),
        ("written with", versions),
    ]
    if "method" in values:
        settings = ", ".join(f"{k}={v!r}" for k, v in values["parameters"].items())
        lines.append(("method", f"{values['method']}({settings})"))
        lines.append(
            ("fit", f"loss {values['loss']:.4g}, {values['iterations']} iterations")
        )
        for use, n_rows in values["training_rows"].items():
            lines.append(("rows kept", f"{n_rows} of the training data, for {use}"))
    if "calibration" in values:
        found = values["calibration"]
        lines.append(
            (
                "sets",
                f"target {found['target']}, {found['rows']} rows, levels up to "
                f"{found['max_level']:.4g}. {found['assumption']}",
            )
        )
    if "columns" in values:
        lines += _column_lines(values["columns"])
    fit = values.get("fit", {})
    if fit.keys() >= _FACTS:
        lines.append(
            (
                "fitted to",
                f"{fit['table']}: {fit['rows']} rows ({fit['dropped']} left out), "
                f"{_words(fit)}",
            )
        )
    if "rows" in values:
        lines.append(("objects", str(values["rows"])))
    if "focal_sets" in values:
        names = values["focal_sets"]
        more = " ..." if len(names) > _MAX_SETS_SHOWN else ""
        lines.append(("clusters", str(values["n_clusters"])))
        lines.append(
            ("focal sets", f"{len(names)}: {' '.join(names[:_MAX_SETS_SHOWN])}{more}")
        )
    # Names in a file may hold line breaks and what a terminal would obey.
    return "\n".join(f"{name:<13} {visible(value)}" for name, value in lines)


def _words(fit: dict[str, Any]) -> str:
    """How many rows are clear, between clusters and outliers."""
    between, level = "between", f"; clear from {fit.get('clear_level')}"
    # Files of the first version counted by the largest mass.
    if "clear_level" not in fit:
        between, level = "ambiguous", "; by the largest mass"
    return (
        f"{fit['clear']} clear, {fit['ambiguous']} {between}, "
        f"{fit['outliers']} outlier{'s' * (fit['outliers'] != 1)}{level}"
    )


def _column_lines(columns: dict[str, Any]) -> list[tuple[str, str]]:
    scaling = columns["scaling"]
    lines = [("scaling", scaling), ("missing", columns["missing"])]
    if columns["metric"] == "gower":
        lines.append(("compared by", "Gower's dissimilarity"))
    read = {
        name: f", read as {in_words(reading)}"
        for name, reading in columns["readings"].items()
        if reading not in ("truth", "rank")
    }
    for each in columns["numbers"]:
        name = each["name"]
        scaled = f" (x - {each['center']:.6g}) / {each['scale']:.6g}"
        scaled = "" if scaling == "none" else scaled
        lines.append(("column", name + scaled + read.get(name, "")))
    for name, period in columns["cyclic"].items():
        again = f", begins again after {period:g}"
        lines.append(("column", name + again + read.get(name, "")))
    for name, categories in columns["categories"].items():
        lines.append(("column", f"{name}: {', '.join(categories)}"))
    return lines


def _size(n_bytes: float) -> str:
    for unit in _UNITS:
        if n_bytes < 1000 or unit == _UNITS[-1]:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    raise AssertionError("unreachable")
