"""The columns that explanations speak of."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from credalis._explain._columns import (
    Column,
    columns_of,
    decoded_columns,
    encoded,
    prepared_columns,
    short,
)
from credalis.tabular import TablePreparation


def test_the_same_columns_of_every_kind_of_table():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    cells = {
        "number": [1.5, None, 3.0],
        "whole": [1, 2, 3],
        "word": ["b", None, "a"],
        "truth": [True, False, True],
        "day": np.array(["2024-01-02", "NaT", "2024-01-04"], dtype="datetime64[D]"),
    }
    arrays = {**cells, "day": pa.array(cells["day"])}
    frames = [
        pd.DataFrame({**cells, "day": pd.to_datetime(cells["day"])}),
        pl.DataFrame(cells),
        pa.table(arrays),
        cells,
    ]
    expected = {
        "number": ["1.5", "missing", "3"],
        "whole": ["1", "2", "3"],
        "word": ["b", "missing", "a"],
        "truth": ["true", "false", "true"],
        "day": ["2024-01-02", "missing", "2024-01-04"],
    }
    for frame in frames:
        columns = columns_of(frame)
        shown = {c.name: [c.text(value) for value in c.values] for c in columns}
        assert shown == expected, type(frame)


def test_types_of_pandas_with_gaps_and_time_zones():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "word": pd.Categorical(["x", None, "y"]),
            "moment": pd.to_datetime(["2024-01-02"] * 3).tz_localize("Europe/Paris"),
        }
    )
    whole, word, moment = columns_of(frame)
    assert_array_equal(whole.values, [1, np.nan, 3])
    assert [word.text(value) for value in word.values] == ["x", "missing", "y"]
    assert moment.text(moment.values[0]) == "2024-01-02"


def test_rare_words_are_all_one():
    words = [f"word {i}" for i in range(60)] + ["often"] * 40
    (column,) = columns_of({"w": words})
    assert len(column.words) == 51
    assert column.text(column.values[-1]) == "often"
    assert "another" in {column.text(value) for value in column.values}


def test_names_and_cells_are_harmless():
    assert short("a\x1b[31m\nb") == "a [31m b"
    assert len(short("x" * 200)) == 40


def test_all_columns_count_alike():
    rng = np.random.default_rng(0)
    numbers = Column("x", 1e6 * rng.normal(size=50) + 3e6)
    (words,) = columns_of({"w": ["a", "b"] * 25})
    gaps = Column("y", np.where(np.arange(50) < 10, np.nan, rng.normal(size=50)))
    matrix, places = encoded([numbers, words, gaps])
    assert [len(place) for place in places] == [1, 2, 1]
    assert matrix[:, 0].std() == pytest.approx(1, abs=0.1)
    assert_array_equal(matrix[:10, 3], 0)
    empty, _ = encoded([Column("z", np.full(3, np.nan)), Column("c", np.ones(3))])
    assert_array_equal(empty, 0)


def test_enormous_numbers_do_not_overflow():
    matrix, _ = encoded([Column("x", np.array([-1e308, 0.0, 1e308]))])
    assert np.isfinite(matrix).all()


@pytest.mark.parametrize(
    ("X", "match"),
    [
        ({"a": [1, 2], "b": [1]}, "columns of one length"),
        ({}, "at least one column"),
        (np.zeros(3), "array of two axes"),
        ({"a": [[1, 2], [3, 4]]}, "column 'a' must have one axis"),
    ],
)
def test_refusals(X, match):
    with pytest.raises(ValueError, match=match):
        columns_of(X)


def test_columns_of_a_preparation_are_decoded():
    """From the matrix come back the cells that it was made from."""
    pa = pytest.importorskip("pyarrow")
    table = {
        "size": [1.0, None, 4.0, 9.0, 2.0, 2.5],
        "kind": ["a", "b", None, "a", "b", "a"],
        "hour": [23.0, 0.5, 12.0, 7.0, 6.0, 1.0],
        "grade": ["low", "high", "low", "high", "low", "low"],
    }
    prepared = TablePreparation(cyclic={"hour": 24}, orders={"grade": ["low", "high"]})
    matrix = prepared.fit_transform(table)
    read = prepared_columns(prepared.preparation_, pa.table(table))
    decoded = decoded_columns(prepared.preparation_, matrix)
    for one, other in zip(read, decoded, strict=True):
        assert one.name == other.name
        assert one.words == other.words
        assert_allclose(one.values, other.values, atol=1e-12)


def test_a_moment_in_the_afternoon_is_of_its_day():
    moments = np.array(["2021-03-24T18:00", "NaT"], dtype="datetime64[m]")
    (column,) = columns_of({"when": moments})
    assert [column.text(value) for value in column.values] == ["2021-03-24", "missing"]
