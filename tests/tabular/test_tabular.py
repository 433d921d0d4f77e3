"""Columns become numbers the same way in the fit and ever after."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import credalis
from credalis import ECM, EVCLUS
from credalis.tables import as_matrix, open_table
from credalis.tabular import (
    Columns,
    TabularModel,
    choose_columns,
    membership_batch,
    membership_schema,
    prepare,
    read_columns,
)

pa = pytest.importorskip("pyarrow")


def table_of(**columns):
    """A table of arrays, which are in memory once the file is open."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.npz"
        np.savez(path, **columns)
        return open_table(path)


def prepared(columns, **options):
    table = pa.table(columns)
    numeric = [n for n in columns if not pa.types.is_string(table.schema.field(n).type)]
    text = [name for name in columns if name not in numeric]
    values = Columns(
        tuple(numeric),
        as_matrix(table, numeric),
        {name: table.column(name) for name in text},
        {},
    )
    return prepare(values, **options)


DATA = {"a": [1.0, 2.0, 3.0, 10.0], "b": [100.0, 200.0, 400.0, 300.0]}
GAPPY = {"a": [1.0, None, 3.0, 5.0], "b": [0.0, 1.0, None, 9.0]}


class TestScaling:
    def test_standard_has_mean_zero_and_deviation_one(self):
        X = prepared(DATA).X
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-15)
        np.testing.assert_allclose(X.std(axis=0), 1)

    def test_robust_has_median_zero_and_quartiles_one_apart(self):
        X = prepared(DATA, scaling="robust").X
        low, middle, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
        np.testing.assert_allclose(middle, 0, atol=1e-15)
        np.testing.assert_allclose(high - low, 1)

    def test_none_changes_nothing(self):
        X = prepared(DATA, scaling="none").X
        np.testing.assert_array_equal(X.T, list(DATA.values()))

    @pytest.mark.parametrize("unit", [1e-200, 1e200])
    def test_units_do_not_matter(self, unit):
        expected = prepared(DATA).X
        data = {name: np.array(v) * unit for name, v in DATA.items()}
        np.testing.assert_allclose(prepared(data).X, expected)

    def test_a_constant_column_is_centred_and_told(self):
        result = prepared({**DATA, "k": [7.0] * 4})
        assert (result.X[:, 2] == 0).all()
        assert result.notes == ["all values of 'k' are equal: that tells nothing apart"]

    def test_equal_quartiles_fall_back_to_the_deviation(self):
        data = {"a": [0.0] * 8 + [1.0, 5.0]}
        result = prepared(data, scaling="robust")
        assert result.X.std() == pytest.approx(1)
        assert "half of the values of 'a' are equal" in result.notes[0]


class TestMissing:
    def test_the_default_counts_and_refuses(self):
        with pytest.raises(ValueError, match=r"in 2 of 4 rows \('a' 1, 'b' 1\)"):
            prepared(GAPPY)

    def test_drop_leaves_rows_out_of_the_scaling_too(self):
        result = prepared(GAPPY, missing="drop")
        assert result.is_kept.tolist() == [True, False, False, True]
        np.testing.assert_allclose(result.X, [[-1, -1], [1, 1]])

    def test_impute_fills_in_medians(self):
        result = prepared(GAPPY, missing="impute", scaling="none")
        assert result.X.tolist() == [[1, 0], [3, 1], [3, 1], [5, 9]]
        assert result.n_missing == {"a": 1, "b": 1}

    @pytest.mark.parametrize("missing", ["error", "drop", "impute"])
    def test_a_column_without_values_is_named(self, missing):
        data = {"a": [1.0, 2.0], "b": pa.array([None, None], pa.float64())}
        with pytest.raises(ValueError, match=r"no value at all in 'b'.*--exclude b"):
            prepared(data, missing=missing)

    def test_no_row_left(self):
        data = {"a": [1.0, None], "b": [None, 1.0]}
        with pytest.raises(ValueError, match="missing values in all of its 2 rows"):
            prepared(data, missing="drop")

    def test_infinity_is_not_missing(self):
        with pytest.raises(ValueError, match=r"column 'a', row 1: .*finite, got inf"):
            prepared({"a": [1.0, np.inf]}, missing="drop")


class TestCategories:
    def test_each_category_has_an_indicator(self):
        data = {"c": ["red", "blue", "red"], "a": [1.0, 2.0, 3.0]}
        result = prepared(data, scaling="none")
        assert result.preparation.feature_names == ["a", "c=blue", "c=red"]
        assert result.X.tolist() == [[1, 0, 1], [2, 1, 0], [3, 0, 1]]

    def test_an_unknown_category_has_none_and_is_counted(self):
        preparation = prepared({"c": ["red", "blue"]}).preparation
        features = preparation.transform(pa.table({"c": ["green", "red"]}))
        assert features.X.tolist() == [[0, 0], [0, 1]]
        assert features.n_unknown == 1

    def test_the_most_frequent_one_is_filled_in(self):
        data = {"c": ["red", "red", "blue", None]}
        result = prepared(data, missing="impute")
        assert result.X[3].tolist() == [0, 1]

    def test_names_are_no_categories(self):
        with pytest.raises(ValueError, match=r"60 different texts.*--exclude c"):
            prepared({"c": [f"n{i}" for i in range(60)]})

    def test_text_needs_permission(self):
        table = table_of(c=["red", "blue"], a=[1.0, 2.0])
        with pytest.raises(ValueError, match=r"columns of text: 'c'.*--one-hot"):
            choose_columns(table)
        assert choose_columns(table, one_hot=True) == (("a",), ("c",))
        assert choose_columns(table, exclude=["c"]) == (("a",), ())
        with pytest.raises(ValueError, match="no column left"):
            choose_columns(table, exclude=["a", "c"])
        with pytest.raises(ValueError, match="each column once"):
            choose_columns(table, ["a", "a"])


@pytest.fixture
def data(rng):
    centers = np.repeat([[0.0, 0.0], [50.0, 5.0]], 20, axis=0)
    X = centers + rng.normal(size=(40, 2)) * [5.0, 0.5]
    return {"a": X[:, 0], "b": X[:, 1], "c": np.repeat(["u", "v"], 20)}


def fitted(data, estimator=None):
    columns = read_columns(table_of(**data), ["a", "b"], ["c"])
    result = prepare(columns)
    estimator = (estimator or ECM(2, random_state=0)).fit(result.X)
    return TabularModel(result.preparation, estimator, {"rows": 40})


class TestModel:
    def test_it_comes_back_from_a_file(self, data, tmp_path):
        model = fitted(data)
        model.save(tmp_path / "m.credalis")
        loaded = credalis.load(tmp_path / "m.credalis")
        assert isinstance(loaded, TabularModel)
        expected = model.estimator.partition_
        assert loaded.predict_partition(data) == expected
        assert loaded.facts == {"rows": 40}
        # What each row of the fit is stays in the memberships, not in the model.
        assert not hasattr(loaded.estimator, "partition_")
        assert hasattr(model.estimator, "partition_")

    def test_masses_that_prediction_needs_are_kept(self, data, tmp_path):
        model = fitted(data, EVCLUS(2, random_state=0, n_init=1))
        model.save(tmp_path / "m.credalis")
        loaded = credalis.load(tmp_path / "m.credalis")
        assert loaded.predict_partition(data) == model.predict_partition(data)

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_frames_with_columns_in_any_order(self, data, library):
        frames = pytest.importorskip(library)
        model = fitted(data)
        frame = frames.DataFrame({"z": ["?"] * 40, **dict(reversed(data.items()))})
        np.testing.assert_array_equal(model.predict(frame), model.estimator.labels_)

    def test_results_keep_the_index_of_a_frame(self, data):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(data, index=[f"r{i}" for i in range(40)])
        result = fitted(data).predict_partition(frame).to_pandas()
        assert result.index.tolist() == frame.index.tolist()

    def test_missing_columns_are_named(self, data):
        model = fitted(data)
        del data["b"], data["c"]
        with pytest.raises(ValueError, match=r"lacks columns 'b', 'c' .*; it has 'a'"):
            model.predict(data)

    def test_pieces_give_what_the_whole_gives(self, data):
        model = fitted(data)
        whole = model.predict_partition(data)
        table = table_of(**data)
        table_batches = table.batches
        table.batches = lambda columns: table_batches(columns, max_rows=7)
        pieces = [piece for _, _, piece in model.predict_batches(table)]
        assert len(pieces) == 6
        masses = np.concatenate([piece.masses for piece in pieces])
        np.testing.assert_allclose(masses, whole.masses, rtol=1e-12)

    def test_a_wrong_type_names_the_column(self, data):
        model = fitted(data)
        with pytest.raises(ValueError, match=r"column 'a' must hold numbers.*string"):
            model.predict({**data, "a": ["x"] * 40})


def test_memberships_are_the_columns_of_the_partition(data):
    partition = fitted(data).estimator.partition_
    pd = pytest.importorskip("pandas")
    schema = membership_schema(partition.focal_sets, pa.field("row", pa.int64()))
    keys = pa.array(np.arange(40))
    batch = membership_batch(schema, partition, keys, np.ones(40, dtype=bool))
    expected = partition.to_pandas()
    expected.insert(0, "row", np.arange(40))
    assert batch.schema.names == list(expected.columns)
    pd.testing.assert_frame_equal(
        pd.DataFrame(batch.to_pydict()),
        pd.DataFrame(expected.to_dict("list")),
    )


def test_rows_that_were_left_out_are_empty(data):
    partition = fitted(data).estimator.partition_[:2]
    schema = membership_schema(
        partition.focal_sets, pa.field("id", pa.string()), ["label", "set", "masses"]
    )
    is_kept = np.array([True, False, True])
    batch = membership_batch(schema, partition, pa.array(["p", "q", "r"]), is_kept)
    rows = batch.to_pylist()
    assert rows[1] == {"id": "q", **dict.fromkeys(schema.names[1:])}
    assert rows[2]["label"] == partition.labels[1]
    assert rows[2]["set"] == partition.set_names()[1]


def test_the_key_must_not_hide_a_column(data):
    sets = fitted(data).focal_sets
    with pytest.raises(ValueError, match="must not be called 'label'"):
        membership_schema(sets, pa.field("label", pa.string()))
