"""Cells are computed once, kept whole, and computed again when they change."""

import json
import os
import signal
import warnings
from dataclasses import replace
from functools import partial

import pytest

from credalis.reproduce import EXPERIMENTS
from credalis.reproduce._framework._cells import Cell, Outcome, stored
from credalis.reproduce._framework._runner import run_cells

PNG = b"\x89PNG not much of a picture"


def doubled(*, number, log):
    with open(log, "a") as stream:
        stream.write(f"{number}\n")
    warnings.warn("odd", RuntimeWarning, stacklevel=1)
    return Outcome({"double": 2 * number}, {"plot": PNG})


def failing(*, number):
    raise ValueError(f"number {number} is\nunlucky")


def lacking_an_extra():
    raise ImportError("needs matplotlib")


def interrupted_but_answered():
    """As a fit does: the interrupt ends it, and the best so far is returned."""
    try:
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass
    except KeyboardInterrupt:
        return Outcome({"half": 1})


@pytest.fixture
def cells(tmp_path):
    log = str(tmp_path / "log")
    return [
        Cell("fake", f"cell {n}", doubled, {"number": n, "log": log}) for n in range(3)
    ]


def computed(tmp_path):
    return (tmp_path / "log").read_text().split()


def test_results_are_returned_and_kept(cells, tmp_path):
    seen = []
    results = run_cells(
        cells, tmp_path / "out", progress=lambda *told: seen.append(told)
    )
    assert results.values("fake", "cell 2") == {"double": 4}
    assert results.values("fake", "cell 9") is None
    assert (results.n_kept, results.missing, results.failed) == (0, {}, {})
    assert seen == [(n + 1, 3, cell) for n, cell in enumerate(cells)]
    record = json.loads(cells[2].file(tmp_path / "out").read_text())
    assert record["values"] == {"double": 4}
    assert record["settings"]["number"] == 2
    assert record["warnings"] == ["RuntimeWarning"]
    assert cells[2].figure_file(tmp_path / "out", "plot").read_bytes() == PNG
    names = [path.name for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not [name for name in names if name.endswith(".part")]


def test_finished_cells_are_not_computed_again(cells, tmp_path):
    run_cells(cells[:2], tmp_path / "out")
    results = run_cells(cells, tmp_path / "out")
    assert computed(tmp_path) == ["0", "1", "2"]
    assert results.n_kept == 2
    assert len(results.records) == 3


@pytest.mark.parametrize("content", ["{", "[]", '{"fingerprint": "x"}', ""])
def test_spoilt_records_are_replaced(cells, tmp_path, content):
    run_cells(cells[:1], tmp_path)
    cells[0].file(tmp_path).write_text(content)
    assert stored(cells[0], tmp_path) is None
    assert run_cells(cells[:1], tmp_path).values("fake", "cell 0") == {"double": 0}
    assert stored(cells[0], tmp_path) is not None


def test_a_record_without_its_figure_is_not_finished(cells, tmp_path):
    run_cells(cells[:1], tmp_path)
    cells[0].figure_file(tmp_path, "plot").unlink()
    assert stored(cells[0], tmp_path) is None


def test_other_settings_are_another_cell(cells, tmp_path):
    run_cells(cells[:1], tmp_path)
    changed = replace(cells[0], settings={**cells[0].settings, "number": 7})
    assert stored(changed, tmp_path) is None
    assert run_cells([changed], tmp_path).values("fake", "cell 0") == {"double": 14}


def test_finished_cells_outlive_a_move_of_their_file(cells, tmp_path, monkeypatch):
    run_cells(cells, tmp_path / "out")
    monkeypatch.setattr(doubled, "__module__", f"another.folder.{__name__}")
    assert run_cells(cells, tmp_path / "out").n_kept == 3
    monkeypatch.setattr(doubled, "__module__", "another.file")
    assert run_cells(cells, tmp_path / "out").n_kept == 0


def test_costly_cells_begin_first(cells, tmp_path):
    costly = [replace(cell, cost=n) for n, cell in enumerate(cells)]
    run_cells(costly, tmp_path)
    assert computed(tmp_path) == ["2", "1", "0"]


def test_a_failure_stops_no_other_cell_and_is_tried_again(cells, tmp_path):
    bad = Cell("fake", "bad", failing, {"number": 13}, cost=99)
    for _ in range(2):
        results = run_cells([bad, *cells], tmp_path)
        assert results.failed == {"fake/bad": "ValueError: number 13 is unlucky"}
        assert len(results.records) == 3
    assert not bad.file(tmp_path).exists()


def test_a_missing_extra_stops_the_run(cells, tmp_path):
    with pytest.raises(ImportError, match="needs matplotlib"):
        run_cells([Cell("fake", "extra", lacking_an_extra, {}), *cells], tmp_path)


def test_missing_data_are_told(cells, tmp_path, monkeypatch):
    monkeypatch.delenv("CREDALIS_DATA", raising=False)
    needy = replace(cells[0], data="s2")
    results = run_cells([needy, cells[1]], tmp_path / "out", data=str(tmp_path))
    assert results.missing == {"fake/cell 0": "the data set s2 is not available"}
    assert "CREDALIS_DATA" not in os.environ
    assert list(results.records) == ["fake/cell 1"]


def test_data_must_be_a_directory(cells, tmp_path):
    with pytest.raises(ValueError, match="data must be an existing directory, got"):
        run_cells(cells, tmp_path, data=str(tmp_path / "nowhere"))


@pytest.mark.skipif(os.name == "nt", reason="no such signals")
def test_an_interrupted_cell_is_not_kept(cells, tmp_path):
    half = Cell("fake", "half", interrupted_but_answered, {}, cost=0.5)
    with pytest.raises(KeyboardInterrupt):
        run_cells([*cells, half], tmp_path)
    assert not half.file(tmp_path).exists()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert run_cells(cells, tmp_path).n_kept == 3


def test_processes_give_the_same(tmp_path):
    # A function of the library: processes cannot import this file.
    example = EXPERIMENTS["examples"].cells(True)[0]
    cells = [replace(example, name=f"copy {n}") for n in range(3)]
    compute = partial(run_cells, cells)
    alone, together = compute(tmp_path / "a"), compute(tmp_path / "b", n_jobs=2)
    assert [each["values"] for each in alone.records.values()] == [
        each["values"] for each in together.records.values()
    ]
    assert len(together.records) == 3
    assert compute(tmp_path / "b").n_kept == 3
