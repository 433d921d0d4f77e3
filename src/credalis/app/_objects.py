"""Single objects of a result: why one is where it is, and which pairs to ask about."""

import json
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from credalis._explain._cells import cells_of
from credalis._explain._explain import Explaining, cluster_names_of, explain
from credalis._explain._explanation import NO_CLUSTER, Reason
from credalis.app._begin import Beginnings, options_of, parsed
from credalis.app._results import subject_for
from credalis.app._settings import MODEL
from credalis.cli._cluster import Clustering
from credalis.cli._shared._data import DataOptions
from credalis.constraints import suggest_pairs
from credalis.io import load
from credalis.partition import CLEAR_LEVEL, CredalPartition
from credalis.report._content.columns import Column
from credalis.report._content.objects import reason
from credalis.report._content.profiles import profiles_of
from credalis.report._content.text import plain
from credalis.tables import Table

COMMAND, PARTITION = "command.json", "partition.credalis"

_N_MASSES = 12
_N_REASONS, _N_TYPICAL = 3, 3
# Cells that differ by more of a standard deviation are pointed out.
_NOTABLE = 1.0


class Shown:
    """A result that was written to a folder, read again.

    Parameters
    ----------
    folder : Path
        Where the fit has written it.
    beginnings : Beginnings
        Reads the table.
    """

    def __init__(self, folder: Path, beginnings: Beginnings) -> None:
        words = json.loads((folder / COMMAND).read_text(encoding="utf-8"))
        os.chdir(folder)
        beginning, _ = beginnings.read(words)
        data, options = options_of(parsed(words))
        self.model = load(folder / MODEL)
        partition = load(folder / PARTITION)
        if not isinstance(partition, CredalPartition):
            raise ValueError(f"{PARTITION} must hold a CredalPartition")
        estimator = self.model.estimator
        estimator.partition_ = partition
        estimator.labels_ = partition.labels.copy()
        self.found = Clustering(
            beginning.table,
            estimator,
            beginning.method,
            partition,
            self.model.facts,
            self.model.facts.get("cluster_names"),
            options["clear_level"] or CLEAR_LEVEL,
            None,
        )
        self.subject = subject_for(self.found)
        self.profiles = profiles_of(self.subject)
        self.rows = np.flatnonzero(beginning.table.prepared.is_kept)
        self.seed = options["seed"]
        self._table = folder / data
        self._options = options

    def object(self, i: int) -> dict[str, Any]:
        """All that is known about an object."""
        subject, partition = self.subject, self.found.partition
        if not 0 <= i < subject.n_samples:
            raise ValueError(f"there are objects 0 to {subject.n_samples - 1}, got {i}")
        masses, sets = partition.masses[i], list(partition.focal_sets)
        names = partition.focal_sets.names
        order = np.argsort(-masses, kind="stable")[:_N_MASSES]
        return {
            "object": i,
            "row": int(self.rows[i]),
            "name": subject.title(i),
            "doubt": float(partition.doubt[i]),
            "masses": [
                {
                    "set": names[j],
                    "clusters": list(sets[j]),
                    "mass": float(masses[j]),
                }
                for j in order
                if masses[j] >= 0.005
            ],
            **self._reasons(i),
            "cells": [
                {"column": column.name, "value": column.cell(i)}
                for column in [*subject.columns, *subject.described]
            ],
        }

    def tree(self) -> dict[str, Any]:
        """A few questions about the columns that lead to most decisions."""
        if self._explaining is None:
            return {"lines": [], "caption": ""}
        found = explain(
            self.model,
            self._opened(),
            [],
            partition=self.found.partition,
            clear_level=self.found.clear_level,
        ).tree
        return {"lines": list(found.lines), "caption": found.caption}

    def _opened(self) -> Table:
        return DataOptions.of(self._options).open(str(self._table))

    @cached_property
    def _explaining(self) -> Explaining | None:
        """What all explanations share; None if there is no table to speak of."""
        if self._options["precomputed"]:
            return None
        partition = self.found.partition
        return Explaining(
            cells_of(self.model, self._opened(), partition),
            partition,
            self.subject.verdicts,
            np.arange(partition.n_samples),
            cluster_names_of(None, self.model, partition.n_clusters),
            _N_REASONS,
            _N_TYPICAL,
        )

    def _reasons(self, i: int) -> dict[str, Any]:
        """The clusters that compete for an object, and what speaks for each."""
        why = reason(self.subject, i, self.profiles)
        if self._explaining is None:
            return {"why": why, "near": [], "unusual": []}
        (found,) = self._explaining.objects(np.array([i]))
        near = [
            {
                "cluster": k,
                "plausibility": plausibility,
                "for": [_reason(each) for each in found.speaking(k)],
                "against": [_reason(each) for each in found.objecting(k)],
                "like": [int(j) for j in found.typical.get(k, ())],
            }
            for k, plausibility in zip(found.clusters, found.plausibility, strict=True)
        ]
        unusual = [_reason(each) for each in found.speaking(NO_CLUSTER)]
        # The report speaks of clusters by their numbers.
        is_named = self.found.names is not None
        return {
            "why": found.place if is_named else why,
            "near": near,
            "unusual": unusual,
        }

    def questions(
        self, n_pairs: int, answers: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        """Pairs that a person should be asked about next, side by side."""
        place = {int(row): i for i, row in enumerate(self.rows)}
        asked: dict[str, list[tuple[int, int]]] = {
            "same": [],
            "different": [],
            "unknown": [],
        }
        for answer in answers:
            if answer["kind"] == "pair" and {answer["a"], answer["b"]} <= place.keys():
                pair = (place[answer["a"]], place[answer["b"]])
                asked[answer["answer"]].append(pair)
        unknown = {frozenset(pair) for pair in asked["unknown"]}
        pairs = suggest_pairs(
            self.found.partition,
            n_pairs + len(unknown),
            must_link=asked["same"] or None,
            cannot_link=asked["different"] or None,
            random_state=self.seed,
        )
        left = [pair for pair in pairs.tolist() if frozenset(pair) not in unknown]
        return {"pairs": [self._question(i, j) for i, j in left[:n_pairs]]}

    def _question(self, i: int, j: int) -> dict[str, Any]:
        subject = self.subject
        masses = self.found.partition.pairwise_masses([i], [j])[0, 0]
        _, same, different, either = masses.tolist()
        cells = [
            _compared(column, i, j) for column in [*subject.columns, *subject.described]
        ]
        return {
            "a": {"object": i, "row": int(self.rows[i]), "name": subject.title(i)},
            "b": {"object": j, "row": int(self.rows[j]), "name": subject.title(j)},
            "same": same + either / 2,
            "different": different + either / 2,
            "cells": cells,
        }


def _compared(column: Column, i: int, j: int) -> dict[str, Any]:
    """Two cells, and whether a reader should look at the difference."""
    a, b = column.cell(i), column.cell(j)
    if not column.is_numeric:
        differs = a != b
    else:
        spread = np.nanstd(column.values) if column.is_varying else 0.0
        gap = abs(float(column.values[i]) - float(column.values[j]))
        differs = bool(spread > 0 and gap > _NOTABLE * spread)
    return {"column": column.name, "a": a, "b": b, "differs": differs}


def _reason(found: Reason) -> dict[str, str]:
    """A cell that speaks for or against a cluster, and what is typical of that."""
    return {
        "column": found.feature,
        "value": plain(found.value),
        "typical": plain(found.typical),
    }
