"""A model in one process, new rows in another."""

import json
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

from cli_data import GOOD, flowers
from credalis import ECM, CredalPartition
from credalis.io import load
from credalis.tables import open_table

pytest.importorskip("click")
pa = pytest.importorskip("pyarrow")


@pytest.fixture
def model(run, csv):
    options = ("-o", "fit.csv", "--model", "m.credalis")
    assert run("cluster", csv, "-c", "2", *GOOD, *options).code == 0
    return "m.credalis"


def test_another_process_gives_identical_masses(model, csv, process, tmp_path):
    result = process("predict", model, csv, "-o", "again.csv")
    assert result.code == 0, result.err
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "fit.csv").read_bytes()


def test_columns_are_found_by_name(run, model, tmp_path):
    table = open_table("flowers.csv", text_columns=["id"]).read()
    reordered = table.select(["width", "id", "height"])
    pytest.importorskip("pyarrow.parquet").write_table(reordered, "new.parquet")
    assert run("predict", model, "new.parquet", "-o", "again.csv").code == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "fit.csv").read_bytes()


def test_the_default_is_a_table_on_standard_output(run, model):
    new = flowers(seed=1, n_rows=10).encode()
    result = run("predict", model, "-", stdin=new)
    assert result.out.startswith('"id","label"')
    assert result.out.count("\n") == 11
    assert "10 rows" in result.err
    quiet = run("predict", model, "-", "-q", "--fields", "label", stdin=new)
    assert quiet.err == ""
    assert quiet.out.splitlines()[0] == '"id","label"'


def test_novelties_are_flagged(run, model):
    new = b"height,width\n10,2\n900,-80\n"
    result = run("predict", model, "-", "--json", "-o", "p.csv", stdin=new)
    values = json.loads(result.out)
    assert values["outliers"] == 1
    assert open_table("p.csv").read()["outlier"].to_pylist() == [False, True]
    assert open_table("p.csv").columns[0] == "row"


def test_a_network_without_detector_says_so(run, csv):
    options = ("--id", "id", "--exclude", "colour,kind", "-m", "NNEVCLUS")
    for meaning, is_told in (("stress", True), ("novelty", False)):
        chosen = ("--param", f"empty_set={meaning}")
        run("cluster", csv, "-c", "2", *options, *chosen, "--model", "nn.credalis")
        result = run("predict", "nn.credalis", csv, "--json")
        assert ("does not look for novelty" in result.err) == is_told


def test_missing_values_are_treated_as_in_the_fit_or_as_told(run, model):
    new = b"height,width\n10,2\n,2\n"
    command = ("predict", model, "-", "--json")
    result = run(*command, "--missing", "error", stdin=new)
    assert result.code == 1
    assert "standard input, row 1: there is a missing value" in result.error
    result = run(*command, stdin=new)
    assert "1 cell is missing, the medians of the fit stand in" in result.err
    assert json.loads(run(*command, "--missing", "drop", stdin=new).out)["dropped"] == 1
    imputed = run(*command, "--missing", "impute", stdin=new)
    assert json.loads(imputed.out)["dropped"] == 0


def test_unknown_categories_are_counted(run, csv):
    options = ("--id", "id", "--exclude", "kind", "-m", "ECM", "--one-hot")
    run("cluster", csv, "-c", "2", *options, "--model", "hot.credalis")
    new = b"height,width,colour\n10,2,red\n10,2,green\n"
    result = run("predict", "hot.credalis", "-", "--json", stdin=new)
    assert "1 cells hold a category that the model has not seen" in result.err


def test_missing_columns_are_named(run, model, files):
    before = files()
    result = run("predict", model, "-", "-o", "p.csv", stdin=b"height\n1\n")
    assert result.code == 1
    assert "standard input lacks column 'width' that the model" in result.error
    assert files() == before
    result = run("predict", model, "-", stdin=b"height\n1\n")
    assert result.code == 1
    assert result.out == ""


def test_an_error_in_the_last_row_leaves_no_file(run, model, files):
    before = files()
    rows = b"10,2\n" * 300_000
    new = b"height,width\n" + rows + b"x,2\n"
    result = run("predict", model, "-", "-o", "p.csv", stdin=new)
    assert "line 300002, column 'height': 'x' is not a number" in result.error
    assert files() == before


def test_the_model_is_not_overwritten(run, model):
    result = run("predict", model, "flowers.csv", "-o", "m.csv", "--id", "nobody")
    assert "no column 'nobody'" in result.error
    os.rename(model, "m.csv")
    result = run("predict", "m.csv", "flowers.csv", "-o", "m.csv")
    assert "would overwrite the input" in result.error


@pytest.mark.parametrize("has_names", [True, False])
def test_an_estimator_saved_in_python(run, csv, has_names):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(csv)[["height", "width"]]
    model = ECM(2, random_state=0).fit(frame if has_names else frame.to_numpy())
    model.save("python.credalis")
    frame.to_csv("new.csv", index=False)
    assert run("predict", "python.credalis", "new.csv", "-o", "p.csv").code == 0
    table = open_table("p.csv").read()
    np.testing.assert_array_equal(table["label"], model.labels_)
    frame.assign(z=1.0).to_csv("more.csv", index=False)
    result = run("predict", "python.credalis", "more.csv", "-o", "p.csv")
    assert result.code == (0 if has_names else 1)


class TestBadModels:
    def test_truncated_foreign_and_absent_files(self, run, model, tmp_path):
        whole = (tmp_path / model).read_bytes()
        contents = {
            "cut.credalis": whole[: len(whole) // 2],
            "text.credalis": b"a,b\n1,2\n",
            "empty.credalis": b"",
        }
        for name, content in contents.items():
            (tmp_path / name).write_bytes(content)
            for command in (("predict", name, "flowers.csv"), ("info", name)):
                result = run(*command)
                assert result.code == 1
                assert f"{name} is not a file saved by credalis" in result.error
        assert run("info", "absent.credalis").code == 1
        assert "absent" in run("predict", "absent.credalis", "flowers.csv").error

    def test_a_damaged_file_is_one_line(self, run, model, tmp_path):
        whole = bytearray((tmp_path / model).read_bytes())
        place = whole.index(b'"format"')
        whole[place : place + 8] = b'"fxrmat"'
        (tmp_path / "bad.credalis").write_bytes(whole)
        result = run("info", "bad.credalis")
        assert result.code == 1
        assert "damaged" in result.error

    def test_a_partition_cannot_predict(self, run, csv):
        CredalPartition.from_labels([0, 1]).save("p.credalis")
        error = run("predict", "p.credalis", csv).error
        assert "holds a CredalPartition, not a model" in error
        assert "holds         CredalPartition" in run("info", "p.credalis").out


class TestInfo:
    def test_it_says_what_a_model_holds(self, run, model):
        text = run("info", model).out
        assert "TabularModel" in text
        assert "ECM(n_clusters=2, random_state=0)" in text
        assert "column        height (x - " in text
        assert "flowers.csv: 60 rows" in text

    def test_it_says_it_to_programs_too(self, run, model):
        values = json.loads(run("info", model, "--json").out)
        assert values["columns"]["scaling"] == "standard"
        assert [c["name"] for c in values["columns"]["numbers"]] == ["height", "width"]
        assert values["method"] == "ECM"
        assert values["n_clusters"] == 2


def test_pieces_are_forgotten_when_they_are_written(run, model, monkeypatch):
    n_rows = 400_000
    columns = {name: np.full(n_rows, 10.0) for name in ("height", "width")}
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), "new.parquet")
    pieces, n_alive = [], []

    def watched(self, X):
        partition = predicted(self, X)
        pieces.append(weakref.ref(partition))
        n_alive.append(sum(piece() is not None for piece in pieces))
        return partition

    predicted = ECM.predict_partition
    monkeypatch.setattr(ECM, "predict_partition", watched)
    assert run("predict", model, "new.parquet", "-o", "out.parquet").code == 0
    assert open_table("out.parquet").n_rows == n_rows
    assert len(pieces) >= 6
    assert max(n_alive) <= 2


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the system tells no memory")
def test_memory_does_not_grow_with_the_table(model, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    peaks = []
    for n_rows in (500_000, 3_000_000):
        columns = {name: rng.normal(size=n_rows) for name in ("height", "width")}
        parquet.write_table(pa.table(columns), tmp_path / "new.parquet")
        command = [sys.executable, "-m", "credalis", "predict", model, "new.parquet"]
        process = subprocess.Popen(
            [*command, "-o", "out.parquet"],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        peaks.append(usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3))
    # All at once, the rows more would be 2 + 11 columns of 8 bytes: 260 MB.
    assert peaks[1] - peaks[0] < 60


def test_rows_that_a_file_holds_are_told(run, csv):
    given = ("--id", "id", "--exclude", "colour,kind", "-c", "2", "--model", "m")
    network = ("-m", "NNEVCLUS", "--param", "n_init=1")
    for options, kept in (
        ({"empty_set": "novelty"}, {"novelty": 60}),
        ({"empty_set": "stress"}, {}),
        ({"empty_set": "novelty", "novelty_detector": "ocsvm"}, None),
    ):
        chosen = [f"--param={key}={value}" for key, value in options.items()]
        assert run("cluster", csv, *given, *network, *chosen).code == 0
        text, values = run("info", "m").out, json.loads(run("info", "m", "--json").out)
        if kept is None:
            [(use, n_rows)] = values["training_rows"].items()
            assert use == "the novelty detector"
            assert 12 <= n_rows <= 60
        else:
            assert values["training_rows"] == kept
        assert ("rows kept" in text) == bool(values["training_rows"])
    run("cluster", csv, *given, "-m", "EVCLUS", "--param", "empty_set=novelty")
    text = run("info", "m").out
    assert "rows kept     60 of the training data, for novelty" in text
    assert "rows kept     60 of the training data, for the masses of new rows" in text


def test_labels_by_name_come_back_by_name(run, csv, tmp_path):
    (tmp_path / "labels.csv").write_text("id,kind\nf000,tall\nf001,small\n")
    options = (
        "-c",
        "2",
        "--id",
        "id",
        "--exclude",
        "colour,kind",
        "--report",
        "r.html",
    )
    command = ("cluster", csv, *options, "--labels", "labels.csv")
    assert run(*command, "--model", "named.credalis", "-o", "m.csv").code == 0
    result = run("predict", "named.credalis", csv, "-o", "p.csv")
    assert "clusters by their labels: 0 is small, 1 is tall" in result.out
    first, second = (open_table(name).read().to_pydict() for name in ("m.csv", "p.csv"))
    assert set(second["label"]) == {"small", "tall"}
    assert second["label"] == first["label"]
    assert "m {small}" in second
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "Cluster 0: small" in page


def test_explain_adds_a_sentence_about_each_row(run, model):
    new = b"id,height,width\na,10,2\nb,900,-80\n"
    result = run("predict", model, "-", "--explain", "--fields", "set", "-q", stdin=new)
    header, *lines = result.out.splitlines()
    assert header == '"id","set","why"'
    assert lines[0].startswith('"a",')
    assert "clearly in" in lines[0]
    assert "speak" in lines[0]
    assert "fits no cluster" in lines[1]
    assert "height 900" in lines[1]


def test_the_model_remembers_what_is_typical(run, model, csv, tmp_path):
    """One row alone is told the same as among others."""
    options = ("--explain", "--fields", "label", "-q")
    together = run("predict", model, csv, *options).out.splitlines()
    lines = (tmp_path / csv).read_text().splitlines()
    alone = "\n".join([lines[0], lines[7]]).encode()
    assert run("predict", model, "-", *options, stdin=alone).out.splitlines() == [
        together[0],
        together[7],
    ]


def test_a_model_without_typical_cells_learns_them_from_the_table(run, csv, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[30:] += 6
    ECM(2, random_state=0).fit(X).save(tmp_path / "e.credalis")
    np.save(tmp_path / "rows.npy", X)
    result = run("predict", "e.credalis", "rows.npy", "--explain")
    assert "the first rows of the table do, for --explain" in result.err
    assert result.out.count("clearly in") > 40


def test_rows_that_are_left_out_have_no_reason(run, model):
    new = b"id,height,width\na,10,2\nb,,\n"
    options = ("--explain", "--fields", "label", "--missing", "drop", "-q")
    lines = run("predict", model, "-", *options, stdin=new).out.splitlines()
    assert lines[2] == '"b",,'


def test_explain_needs_a_table_to_write_and_columns(run, model, csv, tmp_path):
    result = run("predict", model, csv, "--json", "--explain")
    assert result.code == 2
    assert "--explain adds a column to the memberships" in result.error
    points = np.random.default_rng(0).normal(size=(20, 1))
    np.save(tmp_path / "d.npy", np.abs(points - points.T))
    options = ("--precomputed", "-m", "EVCLUS", "--model", "d.credalis", "-q")
    assert run("cluster", "d.npy", "-c", "2", *options).code == 0
    result = run("predict", "d.credalis", "d.npy", "--explain")
    assert "--explain needs columns that describe the rows" in result.error


def test_typical_cells_of_a_file_are_checked(run, model, csv, tmp_path):
    saved = load(model)
    for wrong in ({}, {"clusters": [0], "shares": [1], "features": [[1]]}, 3):
        saved.facts["typical"] = wrong
        saved.save("wrong.credalis")
        result = run("predict", "wrong.credalis", csv, "--explain")
        assert "the typical cells of a model must be" in result.error
