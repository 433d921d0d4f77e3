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
    with pytest.raises(ValueError, match="same rows whenever .* got 0 rows after 5"):
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


def test_large_memmap_is_a_source(monkeypatch, mapped):
    monkeypatch.setattr("credalis.sources._open._MAX_MAPPED", 1000)
    source = as_source(mapped)
    assert isinstance(source, ArraySource)
    assert source.array is mapped


def test_a_mapped_file_is_never_copied_as_a_whole(monkeypatch, tmp_path):
    import tracemalloc

    np.save(tmp_path / "rows.npy", np.ones((400_000, 8), dtype=np.float32))
    monkeypatch.setattr("credalis.sources._base._BUFFER_ENTRIES", 2**16)
    source = ArraySource(np.load(tmp_path / "rows.npy", mmap_mode="r"))
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
    assert source.fingerprint() == source.fingerprint()


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
