"""Sets of clusters with a level: options, calibration, and what is said of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.cli._shared._console import Console
from credalis.cli._shared._data import Data
from credalis.cli._shared._side_information import read_classes
from credalis.cluster import BaseCredalClusterer
from credalis.partition import CoverageCalibration, CredalPartition
from credalis.partition._presentation import coverage_lines


@dataclass(frozen=True, eq=False)
class Coverage:
    """A calibration and the level that is asked for."""

    calibration: CoverageCalibration
    level: float

    def sets(self, partition: CredalPartition) -> NDArray[np.bool_]:
        """Sets of this level, shape (n_samples, n_clusters)."""
        return partition.decide(
            "coverage", level=self.level, calibration=self.calibration
        )

    def facts(self, sizes: NDArray[np.integer]) -> dict[str, Any]:
        """Plain values for programs; ``sizes[s]`` sets have s clusters."""
        classes = self.calibration.classes
        return {
            "level": self.level,
            "target": self.calibration.target,
            "calibration_rows": self.calibration.n_rows,
            "threshold": self.calibration.threshold(self.level),
            "classes": None if classes is None else list(classes),
            "sets_by_size": np.asarray(sizes)[1:].tolist(),
            "assumption": self.calibration.assumption,
        }

    def text(self, sizes: NDArray[np.integer]) -> str:
        """Lines for a reader."""
        return "\n".join(coverage_lines(sizes, self.level, self.calibration))


def check_coverage(options: dict[str, Any]) -> None:
    """Refuse options that do not go together."""
    labels, target = options["coverage_labels"], options["coverage_target"]
    if options["coverage"] is None:
        for name, value in (("labels", labels), ("target", target)):
            if value is not None:
                raise ValueError(f"--coverage-{name} needs --coverage P, as in 0.9")
        return
    if labels is not None and target is not None:
        raise ValueError(
            "--coverage-labels makes the sets about the true classes: leave out "
            f"--coverage-target, got {target}"
        )
    if options["precomputed"]:
        raise ValueError(
            "--coverage needs a table of attributes, because rows are clustered again, "
            "got --precomputed"
        )
    if options["weights"] is not None:
        raise ValueError(
            "--coverage cannot be combined with --weights: rows are clustered again, "
            "without weights"
        )
    if not keeps_rows_out(options):
        return
    for name in ("labels", "must_link", "cannot_link", "answers"):
        if options[name] is not None:
            kept_out = "--coverage-labels" if labels else "--coverage-target replicate"
            raise ValueError(
                f"--{name.replace('_', '-')} cannot be combined with {kept_out}, which "
                "keeps rows out of the fit"
            )


def keeps_rows_out(options: dict[str, Any]) -> bool:
    """Whether the model is fitted to a part of the rows."""
    is_told = options["coverage_labels"] or options["coverage_target"] == "replicate"
    return options["coverage"] is not None and bool(is_told)


def fit_in_part(
    estimator: BaseCredalClusterer,
    table: Data,
    options: dict[str, Any],
    console: Console,
) -> None:
    """Fit to a part of the rows, and calibrate with the others."""
    path = options["coverage_labels"]
    if path is None:
        estimator.calibrate(table.X, "replicate", refit=True)
        console.note(
            "for --coverage-target replicate, the model is fitted to 40 % of the rows"
        )
        return
    classes = read_classes(table, console, path)
    estimator.calibrate(table.X, "labels", classes, refit=True)
    n_fitted = len(estimator.partition_)
    console.note(
        f"{path}: {len(table.X) - n_fitted} rows with a known class are left out of "
        f"the fit, {n_fitted} remain"
    )


def saved_coverage(
    estimator: BaseCredalClusterer, level: float | None
) -> Coverage | None:
    """Sets of this level from a fitted model; None if none is asked for."""
    if level is None:
        return None
    if not hasattr(estimator, "calibration_"):
        raise ValueError(
            "the model is not calibrated, which --coverage needs: fit it with "
            "credalis cluster --coverage"
        )
    return Coverage(estimator.calibration_, level)
