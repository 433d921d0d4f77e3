"""What a type checker says about a file of a user."""

import subprocess
import sys
from pathlib import Path

import pytest

from credalis.cluster import estimator_classes

pytest.importorskip("mypy")


def revealed(tmp_path, expressions):
    """Types that mypy reveals of expressions in a file of a user."""
    names = ", ".join(cls.__name__ for cls in estimator_classes())
    lines = [
        "import numpy as np",
        "import credalis",
        f"from credalis import {names}, CredalPartition, load",
        "X = np.zeros((4, 2))",
        *(f"reveal_type({expression})" for expression in expressions),
    ]
    file = tmp_path / "user.py"
    file.write_text("\n".join(lines))
    result = subprocess.run(
        [sys.executable, "-m", "mypy", str(file)],
        capture_output=True,
        text=True,
        # With the settings and the cache of `make types`, which came before.
        cwd=Path(__file__).parents[1],
    )
    notes = [line for line in result.stdout.splitlines() if "Revealed type" in line]
    assert len(notes) == len(expressions), result.stdout
    return [line.split('"')[1] for line in notes]


def test_estimators_are_typed_for_their_users(tmp_path):
    names = [cls.__name__ for cls in estimator_classes()]
    expressions = [
        *(f"{name}().fit(X)" for name in names),
        "ECM(2).fit(X).predict_partition(X)",
        "ECM(2).fit(X).labels_",
        "ECM(2).fit(X).partition_.masses",
        "ECM(n_clusters=3).n_clusters",
        "credalis.BCM(2).fit(X)",
        "credalis.metrics.credal_rand_index",
    ]
    *fitted, partition, labels, masses, n_clusters, attribute, function = revealed(
        tmp_path, expressions
    )
    for name, shown in zip(names, fitted, strict=True):
        assert shown.endswith(f".{name}")
    assert partition.endswith("CredalPartition")
    assert labels.startswith("numpy.ndarray")
    assert masses.startswith("numpy.ndarray")
    assert n_clusters in ("int", "builtins.int")
    assert attribute.endswith(".BCM")
    assert function.endswith("-> float")
