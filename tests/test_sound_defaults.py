"""An excerpt of ``python -m benchmarks defaults``: what NNEVCLUS() must hold."""

from functools import cache

import numpy as np
import pytest

pytest.importorskip("benchmarks", reason="benchmarks are not part of the sources")

from benchmarks import defaults
from benchmarks.choose import choose_cases
from benchmarks.contenders import contenders
from benchmarks.generated import blobs, planted
from benchmarks.harness import Skipped

BLOBS = (
    blobs(2, 200, 2, 8, 10),
    blobs(2, 1000, 10, 8, 10),
    blobs(4, 200, 10, 8),
    blobs(4, 1000, 2, 4),
    blobs(8, 1000, 50, 8),
    blobs(12, 1000, 2, 8),
    blobs(20, 1000, 10, 8),
    blobs(30, 1000, 2, 8, 10),
)
SETS = ("banknote_swiss", "penguins")


@cache
def measured(method, case):
    return defaults.run(contenders()[method], case, 0)


@pytest.mark.parametrize("case", BLOBS, ids=lambda case: case.name)
def test_blobs_as_by_k_means(case):
    ours, base = measured("NNEVCLUS", case), measured("KMeans", case)
    allowed = 0.02 if base["ari"] > 0.95 else 0.07
    assert ours["ari"] >= base["ari"] - allowed
    assert ours["empty"] == 0
    assert ours["flagged"] <= 0.05


@pytest.mark.parametrize("n_rows", [60, 200])
def test_planted_rows_are_flagged(n_rows):
    found = measured("NNEVCLUS", planted(2, n_rows, 2))
    assert found["found"] >= 0.9
    assert found["flagged"] <= 0.05


@pytest.fixture(scope="module")
def of_sets():
    """Measures of two real tables, by method."""
    try:
        cases = [case for case in choose_cases() if case.name in SETS]
    except Skipped as reason:
        pytest.skip(str(reason))
    return {
        method: [measured(method, case) for case in cases]
        for method in ("NNEVCLUS", "KMeans")
    }


def test_real_tables_as_by_k_means(of_sets):
    ours, base = ([each["ari"] for each in runs] for runs in of_sets.values())
    assert len(ours) == len(SETS)
    assert np.mean(ours) >= np.mean(base) - 0.02


def test_ordinary_rows_are_not_flagged(of_sets):
    flagged = [each["flagged"] for each in of_sets["NNEVCLUS"]]
    assert np.mean(flagged) <= 0.02
    assert max(flagged) <= 0.05


def test_clear_rows_are_right_more_often(of_sets):
    clear, rest = (
        np.mean([each[f"{rows} error"] for each in of_sets["NNEVCLUS"]])
        for rows in ("clear", "rest")
    )
    assert clear <= rest / 2
