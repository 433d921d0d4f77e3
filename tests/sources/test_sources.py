"""Rows that are read in blocks."""

import numpy as np
import pytest

from credalis.sources import (
    ArraySource,
    BatchSource,
    ParquetSource,
    as_source,
    from_table,
)
from credalis.tables import as_matrix

N_ROWS, N_FEATURES = 20_000, 3


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(N_ROWS, N_FEATURES))


@pytest.fixture(scope="module")
def parquet(X, tmp_path_factory):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path_factory.mktemp("sources") / "rows.parquet"
    table = pa.table({name: X[:, j] for j, name in enumerate("abc")})
    parquet.write_table(table, path, row_group_size=1500)
    return path


@pytest.fixture(scope="module")
def mapped(X, tmp_path_factory):
    path = tmp_path_factory.mktemp("sources") / "rows.npy"
    np.save(path, X.astype(np.float32))
    return np.load(path, mmap_mode="r")


@pytest.fixture(params=["array", "memmap", "batches", "parquet", "folder"])
def source(request, X, mapped):
    if request.param == "array":
        return ArraySource(X)
    if request.param == "memmap":
        return ArraySource(mapped)
    if request.param == "batches":
        return BatchSource(np.array_split(X, 13))
    path = request.getfixturevalue("parquet")
    if request.param == "parquet":
        return ParquetSource(path)
    from pyarrow import parquet

    folder = path.parent / "folder"
    folder.mkdir(exist_ok=True)
    whole = parquet.read_table(path)
    for k in range(4):
        part = whole.slice(k * 5000, 5000)
        parquet.write_table(part, folder / f"part-{k}.parquet", row_group_size=900)
    return ParquetSource(folder)


def sorted_rows(rows):
    return rows[np.lexsort(rows.T)]


def test_batches_are_the_rows_in_their_order(source, X):
    rows = np.concatenate(list(source.batches(777)))
    np.testing.assert_allclose(rows, X, rtol=1e-6)
    assert rows.dtype == np.float64
    assert source.n_rows == N_ROWS
    assert source.n_features == N_FEATURES


def test_random_blocks_hold_every_row_once(source, X):
    blocks = list(source.random_blocks(np.random.RandomState(0), 100))
    assert {len(block) for block in blocks} <= {*range(100, 110)}
    np.testing.assert_allclose(
        sorted_rows(np.concatenate(blocks)), sorted_rows(X), rtol=1e-6
    )


def test_random_blocks_depend_on_the_seed_alone(source):
    first, again, other = (
        np.concatenate(list(source.random_blocks(np.random.RandomState(seed), 100)))
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_sample_is_of_distinct_rows_with_equal_chances(source, X):
    numbers = {tuple(row): k for k, row in enumerate(np.float32(X))}
    counts = np.zeros(4)
    for seed in range(20):
        sample = source.sample(np.random.RandomState(seed), 400)
        rows = [numbers[tuple(row)] for row in np.float32(sample)]
        assert len(set(rows)) == 400
        assert rows == sorted(rows)
        counts += np.histogram(rows, bins=4, range=(0, N_ROWS))[0]
    # 8000 draws into four quarters of the table: 2000 each, standard deviation 39.
    assert np.abs(counts - 2000).max() < 160


def test_sample_of_more_than_all_rows_is_all_rows(source):
    assert len(source.sample(np.random.RandomState(0), 10**6)) == N_ROWS


def test_fingerprint_tells_rows_apart(X, parquet):
    changed = X.copy()
    changed[:] += 1
    assert ArraySource(X).fingerprint() == ArraySource(X.copy()).fingerprint()
    assert ArraySource(X).fingerprint() != ArraySource(changed).fingerprint()
    columns = ParquetSource(parquet, ["a", "b"])
    assert ParquetSource(parquet).fingerprint() == ParquetSource(parquet).fingerprint()
    assert ParquetSource(parquet).fingerprint() != columns.fingerprint()


def test_buffers_of_a_sorted_file_come_from_many_places(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    numbers = np.arange(40_000.0)
    parquet.write_table(
        pa.table({"x": numbers}), tmp_path / "sorted.parquet", row_group_size=1000
    )
    source = ParquetSource(tmp_path / "sorted.parquet")
    for buffer in source.buffers(np.random.RandomState(0), max_rows=8000):
        if len(buffer) >= 8000:
            # Eight places of forty: a uniform sample has a standard deviation of
            # 11 547, one place has 289.
            assert buffer.std() > 5000
    mixed = ArraySource(numbers[:, None]).buffers(np.random.RandomState(0), 20_000)
    assert all(buffer.std() > 5000 for buffer in mixed)


def test_an_iterator_can_be_read_once():
    source = as_source(iter([np.ones((2, 2)), np.zeros((3, 2))]))
    assert not source.is_repeatable
    assert len(np.concatenate(list(source.batches()))) == 5
    with pytest.raises(ValueError, match="second time"):
        list(source.batches())


def test_a_function_can_be_read_again():
    source = BatchSource(lambda: (np.full((2, 2), k) for k in range(3)))
    for _ in range(2):
        assert len(np.concatenate(list(source.batches()))) == 6


def test_a_function_is_called_once_for_each_pass_and_no_batch_is_lost():
    n_calls = 0

    def batches():
        nonlocal n_calls
        n_calls += 1
        return iter([np.zeros((2, 2)), np.ones((3, 2))])

    source = BatchSource(batches)
    for n_passes in (1, 2):
        np.testing.assert_array_equal(
            np.concatenate(list(source.batches()))[:, 0], [0, 0, 1, 1, 1]
        )
        assert n_calls == n_passes


def test_a_function_that_returns_what_has_been_read_is_refused():
    batches = iter([np.zeros((2, 2)), np.ones((3, 2))])
    source = BatchSource(lambda: batches)
    assert len(source.sample(np.random.RandomState(0), 100)) == 5
    with pytest.raises(ValueError, match=r"same rows whenever .* got 0 rows after 5"):
        list(source.buffers(np.random.RandomState(0)))


def test_an_iterator_of_data_frames_keeps_their_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"u": [1.0, 2.0], "v": [3.0, 4.0]})
    source = as_source(iter([frame, frame]))
    assert source.feature_names == ("u", "v")
    assert len(np.concatenate(list(source.batches()))) == 4


def test_a_loader_that_knows_its_length_is_a_source(X):
    class Loader:
        def __len__(self):
            return 2

        def __iter__(self):
            return iter([X[:5], X[5:9]])

    for loader in (Loader(), {"first": X[:5], "second": X[5:9]}.values()):
        source = as_source(loader)
        for _ in range(2):
            rows = np.concatenate(list(source.batches()))
            np.testing.assert_array_equal(rows, X[:9])


def test_data_in_memory_are_no_source(X, mapped):
    pd = pytest.importorskip("pandas")
    for data in (X, X.tolist(), X[0].tolist(), pd.DataFrame(X), mapped):
        assert as_source(data) is None
    assert isinstance(as_source([X[:5], X[5:]]), BatchSource)
    assert isinstance(as_source([pd.DataFrame(X)]), BatchSource)


def test_large_memmap_is_a_source(tmp_path):
    large = np.memmap(tmp_path / "large", np.uint8, "w+", shape=(2**21 + 1, 8))
    source = as_source(large)
    assert isinstance(source, ArraySource)
    assert source.array is large
    assert as_source(large[:-1]) is None


class InSmallBuffers(ArraySource):
    """Few rows are in memory while they are mixed."""

    def buffers(self, rng, max_rows=2**13):
        return super().buffers(rng, max_rows)


def test_a_mapped_file_is_never_copied_as_a_whole(tmp_path):
    import tracemalloc

    np.save(tmp_path / "rows.npy", np.ones((400_000, 8), dtype=np.float32))
    source = InSmallBuffers(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    tracemalloc.start()
    try:
        source.sample(np.random.RandomState(0), 1000)
        n_rows = sum(map(len, source.random_blocks(np.random.RandomState(0), 100)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert n_rows == 400_000
    # All rows as float64 are 25.6 MB.
    assert peak < 5e6


def test_names_of_columns(parquet):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"u": [1.0, 2.0], "v": [3.0, 4.0]})
    assert as_source([frame, frame]).feature_names == ("u", "v")
    with pytest.raises(ValueError, match="same columns in all batches"):
        list(as_source([frame, frame.rename(columns={"u": "w"})]).batches())
    from credalis.io import open_table

    source = from_table(open_table(parquet), ["c", "a"])
    assert source.feature_names == ("c", "a")


def test_text_columns_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    from credalis.io import open_table

    path = tmp_path / "table.csv"
    path.write_text("name,x\nfoo,1\nbar,2\n")
    with pytest.raises(ValueError, match="column 'name' holds text"):
        as_source(open_table(path))
    source = from_table(open_table(path), ["x"])
    assert np.concatenate(list(source.batches())).tolist() == [[1.0], [2.0]]


def test_fingerprint_of_a_table_is_that_of_its_rows(tmp_path):
    pytest.importorskip("pyarrow")
    from credalis.io import open_table

    path = tmp_path / "table.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    source = as_source(open_table(path))
    before = source.fingerprint()
    # What is known after a pass, the number of rows, is not known to a new source.
    assert sum(map(len, source.batches())) == source.n_rows == 2
    assert source.fingerprint() == before
    assert as_source(open_table(path)).fingerprint() == before
    path.write_text("x,y\n1,2\n3,5\n")
    assert as_source(open_table(path)).fingerprint() != before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: ArraySource(np.ones(3)), "two dimensions"),
        (lambda: ArraySource(np.array([["a"]])), "must hold numbers"),
        (lambda: ArraySource(np.ones((2, 2)), ["a"]), "feature_names must have 2"),
        (lambda: BatchSource(3), "must be an iterable"),
        (lambda: BatchSource([]), "at least one batch"),
        (lambda: BatchSource(lambda: None), "function that returns an iterable"),
        (
            lambda: list(BatchSource([np.ones((1, 2)), None]).batches()),
            r"2 columns in every batch, got a batch of shape \(\)",
        ),
        (lambda: BatchSource([np.ones(3)]), "shape"),
        (lambda: list(BatchSource([["x"], ["y"]]).batches()), "numbers"),
        (
            lambda: list(BatchSource([np.ones((1, 2)), np.ones((1, 3))]).batches()),
            "2 columns in every batch",
        ),
    ],
)
def test_bad_input_is_named(given, message):
    with pytest.raises(ValueError, match=message):
        given()


def test_missing_values_are_named_with_their_place(X):
    broken = X.copy()
    broken[12_345, 1] = np.nan
    source = ArraySource(broken, ["a", "b", "c"])
    with pytest.raises(ValueError, match="got nan in row 12345, column 'b'"):
        list(source.batches(1000))
    with pytest.raises(ValueError, match="must be finite"):
        list(source.buffers(np.random.RandomState(0)))


def test_parquet_of_another_format_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "table.csv"
    path.write_text("x\n1\n2\n")
    with pytest.raises(ValueError, match="must be Parquet, it is csv"):
        ParquetSource(path)


# Folders


def write_folder(folder, **tables):
    """Files of a folder with row groups of different sizes."""
    parquet = pytest.importorskip("pyarrow.parquet")
    folder.mkdir()
    for k, (name, table) in enumerate(tables.items()):
        path = folder / f"{name}.parquet"
        parquet.write_table(table, path, row_group_size=7 * 10**k)
    return folder


def columns_of(X, **types):
    pa = pytest.importorskip("pyarrow")
    return pa.table(
        {
            name: pa.array(X[:, j].astype(types.get(name, "f8")))
            for j, name in enumerate("abc")
        }
    )


def test_files_of_a_folder_may_differ_in_sizes_and_types(X, tmp_path):
    folder = write_folder(
        tmp_path / "rows",
        first=columns_of(X[:500]),
        none=columns_of(X[:0]),
        one=columns_of(X[500:501]),
        rest=columns_of(X[501:3000], a="f4", b="f2"),
    )
    source = ParquetSource(folder)
    assert source.n_rows == 3000
    rows = np.concatenate(list(source.batches(100)))
    np.testing.assert_allclose(rows[:501], X[:501])
    np.testing.assert_allclose(rows[501:], X[501:3000], atol=1e-2)
    mixed = np.concatenate(list(source.buffers(np.random.RandomState(0), 1000)))
    np.testing.assert_array_equal(sorted_rows(mixed), sorted_rows(rows))


def test_a_folder_is_what_its_table_says(X, tmp_path):
    from credalis.io import open_table

    folder = write_folder(tmp_path / "rows", a=columns_of(X[:500]))
    write_folder(folder / "c.parquet", d=columns_of(X[500:700]))
    write_folder(folder / "_notes", e=columns_of(X[:300]))
    (folder / "README.txt").write_text("Not a table.")
    (folder / ".unfinished.parquet").write_bytes(b"PAR1")
    (folder / "_SUCCESS").write_bytes(b"")
    other = write_folder(tmp_path / "other", f=columns_of(X[700:900]))
    (other / "f.parquet").rename(folder / "without_suffix")
    table = open_table(folder)
    source = from_table(table)
    assert source.n_rows == table.n_rows == 900
    rows = np.concatenate(list(source.batches()))
    np.testing.assert_array_equal(rows, X[:900])
    np.testing.assert_array_equal(as_matrix(table.read()), rows)


def test_files_that_do_not_fit_together_are_named_at_once(X, tmp_path):
    pa = pytest.importorskip("pyarrow")
    good = columns_of(X[:50])
    text = good.set_column(1, "b", pa.array(["x"] * 50))
    folder = write_folder(tmp_path / "text", one=good, two=text)
    with pytest.raises(ValueError, match=r"two.parquet must hold .*'b' holds text"):
        ParquetSource(folder)
    folder = write_folder(tmp_path / "less", one=good, two=good.drop(["c"]))
    with pytest.raises(ValueError, match=r"two.parquet must have .* it has no 'c'"):
        ParquetSource(folder)
    assert ParquetSource(folder, ["b"]).n_rows == 100
    folder = write_folder(tmp_path / "empty", one=good.slice(0, 0))
    with pytest.raises(ValueError, match="must have at least one row"):
        ParquetSource(folder)


def hive_folder(X, keys, folder):
    """Columns a and b in files, c and further keys in the names of folders."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"a": X[:, 0], "b": X[:, 1].astype("f4")} | keys
    parquet.write_to_dataset(
        pa.table(columns), str(folder), partition_cols=list(keys), row_group_size=10
    )
    return folder


def test_columns_in_the_names_of_folders_are_used_if_they_are_named(X, tmp_path):
    numbers = np.arange(60) % 3 - 1
    folder = hive_folder(X[:60], {"c": numbers, "d": ["x y"] * 60}, tmp_path / "rows")
    source = ParquetSource(folder)
    assert source.feature_names == ("a", "b")
    order = np.argsort(numbers, kind="stable")
    expected = np.column_stack([X[:60, 0], X[:60, 1].astype("f4"), numbers])[order]
    np.testing.assert_array_equal(np.concatenate([*source.batches()]), expected[:, :2])
    chosen = ParquetSource(folder, ["c", "a"])
    assert chosen.n_rows == 60
    rows = np.concatenate([*chosen.batches(7)])
    np.testing.assert_array_equal(rows, expected[:, [2, 0]])
    mixed = np.concatenate([*chosen.buffers(np.random.RandomState(0), 20)])
    np.testing.assert_array_equal(sorted_rows(mixed), sorted_rows(rows))
    alone = np.concatenate([*ParquetSource(folder, ["c"]).batches(7)])
    np.testing.assert_array_equal(alone, expected[:, [2]])
    assert chosen.fingerprint() != source.fingerprint()
    with pytest.raises(ValueError, match="its column 'd' holds text"):
        ParquetSource(folder, ["a", "d"])


def test_rows_in_a_folder_without_a_value_are_told(X, tmp_path):
    numbers = [1] * 10 + [None] * 10
    folder = hive_folder(X[:20], {"c": numbers}, tmp_path / "rows")
    assert ParquetSource(folder).sample(np.random.RandomState(0), 20).shape == (20, 2)
    with pytest.raises(ValueError, match="got nan in row 10, column 'c'"):
        list(ParquetSource(folder, ["a", "c"]).batches())


def test_fits_and_predictions_of_folders_with_columns_in_their_names(X, tmp_path):
    from credalis import ECM
    from credalis.io import open_table, predict_table

    keys = {"year": np.repeat([2023, 2024], 150)}
    folder = hive_folder(X[:300], keys, tmp_path / "rows")
    table = open_table(folder)
    model = ECM(2, random_state=0).fit(table)
    assert list(model.feature_names_in_) == ["a", "b"]
    assert predict_table(model, table, tmp_path / "out.parquet") == 300
    labels = open_table(tmp_path / "out.parquet").read(["label"])["label"].to_numpy()
    pytest.importorskip("pandas")
    rows = table.read(["a", "b"]).to_pandas()
    np.testing.assert_array_equal(labels, model.predict(rows))
    dated = ECM(2, random_state=0).fit(from_table(table, ["a", "b", "year"]))
    assert predict_table(dated, table, tmp_path / "out.parquet") == 300


def test_missing_values_in_a_file_are_named(X, tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = columns_of(X[:50])
    column = pa.array([None if k == 17 else k for k in range(50)])
    folder = write_folder(
        tmp_path / "rows", a=table, b=table.set_column(1, "b", column)
    )
    with pytest.raises(ValueError, match="got nan in row 67, column 'b'"):
        ParquetSource(folder).sample(np.random.RandomState(0), 5)


def test_a_damaged_file_is_named(X, tmp_path):
    folder = write_folder(tmp_path / "rows", a=columns_of(X), b=columns_of(X))
    source = ParquetSource(folder)
    content = bytearray((folder / "b.parquet").read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    (folder / "b.parquet").write_bytes(content)
    with pytest.raises(ValueError, match=r"b\.parquet cannot be read") as caught:
        list(source.batches())
    assert "\n" not in str(caught.value)
