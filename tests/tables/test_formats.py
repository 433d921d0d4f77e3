"""The same table in every format, read, streamed, through a pipe; and written."""

import gzip
import io
import os
import sys
import types

import numpy as np
import pytest

from credalis.tables import as_matrix, open_table, output_format, write_table

pa = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")
parquet = pytest.importorskip("pyarrow.parquet")

COLUMNS = {"x": [1.0, 2.0, 3.5], "n": [4, 5, 6]}
TABLE = pa.table(COLUMNS)


def stream_of(table):
    sink = io.BytesIO()
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def bytes_in(name, tmp_path):
    path = tmp_path / name
    if name.endswith(".parquet"):
        parquet.write_table(TABLE, path)
    elif name.endswith(".feather"):
        with ipc.new_file(path, TABLE.schema) as writer:
            writer.write_table(TABLE)
    elif name.endswith(".arrows"):
        path.write_bytes(stream_of(TABLE))
    elif name.endswith(".npy"):
        records = np.rec.fromarrays(list(map(np.array, COLUMNS.values())), names="x,n")
        np.save(path, records)
    elif name.endswith(".npz"):
        np.savez(path, **COLUMNS)
    else:
        path.write_text("x,n\n1,4\n2,5\n3.5,6\n")
    return path


FILES = ["t.csv", "t.parquet", "t.feather", "t.arrows", "t.npy", "t.npz"]


@pytest.fixture(params=FILES)
def path(request, tmp_path):
    return bytes_in(request.param, tmp_path)


def test_all_formats_read_alike(path):
    table = open_table(path)
    assert table.columns == ("x", "n")
    assert set(table.kinds.values()) == {"number"}
    # Text and streams of batches would have to be read to the end.
    counts = path.suffix in (".parquet", ".npy", ".npz")
    assert table.n_rows == (3 if counts else None)
    assert table.read(["n", "x"]).to_pydict() == {k: COLUMNS[k] for k in ("n", "x")}
    pieces = [as_matrix(batch) for batch in table.batches(max_rows=2)]
    assert max(map(len, pieces)) <= 2
    np.testing.assert_array_equal(np.concatenate(pieces).T, list(COLUMNS.values()))


def test_all_formats_are_read_compressed(path, tmp_path):
    compressed = tmp_path / "compressed"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    assert open_table(compressed).read().to_pydict() == COLUMNS


def test_all_formats_come_through_a_pipe(path, monkeypatch):
    stdin = types.SimpleNamespace(buffer=io.BytesIO(path.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    table = open_table("-")
    assert table.name == "standard input"
    assert table.read().to_pydict() == COLUMNS


def test_a_pipe_of_text_is_read_once(monkeypatch):
    stdin = types.SimpleNamespace(buffer=io.BytesIO(b"a\n1\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    table = open_table("-")
    assert not table.is_repeatable
    table.read()
    with pytest.raises(ValueError, match="standard input can be read only once"):
        table.read()


def test_the_bytes_decide_not_the_name(tmp_path):
    path = tmp_path / "table.csv"
    parquet.write_table(TABLE, path)
    assert open_table(path).read().to_pydict() == COLUMNS
    path = tmp_path / "table.parquet"
    path.write_text("x,n\n1,2\n")
    with pytest.raises(ValueError, match="is not a parquet file"):
        open_table(path)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.npy", "t.npz"])
def test_a_cut_file_is_told(name, tmp_path):
    path = bytes_in(name, tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=rf"{name} cannot be read"):
        open_table(path).read()


def test_a_folder_of_parquet_files(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(ValueError, match="folder without Parquet files"):
        open_table(folder)
    for k in range(2):
        parquet.write_table(TABLE, folder / f"part{k}.parquet")
    table = open_table(folder)
    assert table.n_rows == 6
    assert table.read().to_pydict() == {k: v + v for k, v in COLUMNS.items()}


def test_matrices_have_numbered_columns(tmp_path):
    np.save(tmp_path / "m.npy", np.arange(6, dtype=">f4").reshape(3, 2))
    table = open_table(tmp_path / "m.npy")
    assert table.read().to_pydict() == {"x0": [0, 2, 4], "x1": [1, 3, 5]}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.eye(2), "b": np.ones(3)}, r"one matrix, or vectors.*a \(2, 2\)"),
        ({"credalis": np.ones(2)}, "is a file saved by credalis, not a table"),
        ({"a": np.ones((2, 2, 2))}, r"one or two dimensions, got shape \(2, 2, 2\)"),
        ({"a": np.array([1j])}, "numbers or text expected, got dtype complex"),
    ],
)
def test_archives_that_are_no_tables(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        open_table(tmp_path / "a.npz")


def test_pickles_are_not_executed(tmp_path):
    np.save(tmp_path / "o.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(
        ValueError, match=r"o\.npy cannot be read.*(allow_pickle|objects)"
    ):
        open_table(tmp_path / "o.npy")


def test_a_missing_file_and_an_unknown_column(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file .*nowhere\.csv"):
        open_table(tmp_path / "nowhere.csv")
    table = open_table(bytes_in("t.csv", tmp_path))
    with pytest.raises(ValueError, match=r"no column 'm'; its columns are 'x', 'n'"):
        table.read(["m"])


RESULT = pa.RecordBatch.from_pydict(
    {
        "id": ["a", None, "ü,ö"],
        "label": pa.array([0, None, 2], pa.int64()),
        "set": ["{0,1}", None, "∅"],
        "outlier": [False, None, True],
        "m": [0.1 + 0.2, None, 1e-300],
    }
)


class TestWriting:
    @pytest.mark.parametrize(
        "name", ["r.csv", "r.tsv", "r.csv.gz", "r.parquet", "r.feather", "r.ipc"]
    )
    def test_what_is_written_comes_back(self, tmp_path, name):
        path = tmp_path / name
        with write_table(path, RESULT.schema) as write:
            write(RESULT)
            assert not path.exists()
            write(RESULT)
        assert os.listdir(tmp_path) == [name]
        expected = {name: 2 * column for name, column in RESULT.to_pydict().items()}
        assert open_table(path).read().to_pydict() == expected

    def test_arrays_have_nan_and_empty_text_for_what_is_missing(self, tmp_path):
        with write_table(tmp_path / "r.npy", RESULT.schema) as write:
            write(RESULT)
        records = np.load(tmp_path / "r.npy")
        assert records["id"].tolist() == ["a", "", "ü,ö"]
        assert records["m"][[0, 2]].tolist() == [0.1 + 0.2, 1e-300]
        assert np.isnan(records["label"][1])

    def test_compressed_files_have_the_same_bytes(self, tmp_path):
        for name in ("a.csv.gz", "b.csv.gz"):
            with write_table(tmp_path / name, RESULT.schema) as write:
                write(RESULT)
        first, second = (tmp_path / name for name in ("a.csv.gz", "b.csv.gz"))
        assert first.read_bytes() == second.read_bytes()

    @pytest.mark.parametrize("name", ["r.csv", "r.csv.gz", "r.parquet", "r.feather"])
    @pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
    def test_a_failed_block_leaves_nothing(self, tmp_path, name, error):
        def fail():
            with write_table(tmp_path / name, RESULT.schema) as write:
                write(RESULT)
                raise error

        with pytest.raises(error):
            fail()
        assert os.listdir(tmp_path) == []

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
    @pytest.mark.parametrize("name", ["r.csv", "r.csv.gz", "r.parquet", "r.npy"])
    def test_a_full_disk_is_told_with_the_name(self, tmp_path, name):
        (tmp_path / name).symlink_to("/dev/full")
        with (
            pytest.raises(OSError, match=rf"No space left.*{name}"),
            write_table(tmp_path / name, RESULT.schema) as write,
        ):
            write(RESULT)

    @pytest.mark.parametrize("name", ["r.xlsx", "r", "r.parquet.gz", ".gz"])
    def test_other_names_are_refused(self, name):
        with pytest.raises(ValueError, match=r"must end in \.csv, \.tsv"):
            output_format(name)


def test_a_path_must_name_something():
    # pathlib takes it for the current folder.
    with pytest.raises(ValueError, match="path must name a file or a folder, got ''"):
        open_table("")
