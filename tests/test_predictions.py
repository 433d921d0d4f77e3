"""Predictions from a source to a file."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import ECM, NNEVCLUS
from credalis.io import open_table, predict_table
from credalis.sources import ArraySource

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def rows():
    from sklearn.datasets import make_blobs

    return make_blobs(3000, n_features=3, centers=3, random_state=0)[0]


@pytest.fixture(scope="module")
def table(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "rows.parquet"
    columns = {name: rows[:, j] for j, name in enumerate("abc")}
    names = [f"row {k}" for k in range(len(rows))]
    parquet.write_table(pa.table({"name": names, **columns}), path, row_group_size=700)
    return path


@pytest.fixture(scope="module")
def model(rows):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows, columns=list("abc"))
    return NNEVCLUS(3, max_iter=20, tol=1e-2, n_init=1, random_state=0).fit(frame)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv"])
def test_file_holds_what_the_model_predicts(suffix, model, rows, table, tmp_path):
    out = tmp_path / f"out.{suffix}"
    assert predict_table(model, open_table(table), out) == len(rows)
    result = open_table(out).read().to_pandas()
    assert list(result.columns) == ["label", "outlier", "pl {0}", "pl {1}", "pl {2}"]
    np.testing.assert_array_equal(result["label"], model.labels_)
    np.testing.assert_array_equal(
        result["outlier"].astype(bool), model.partition_.is_outlier
    )
    expected = np.float32(model.partition_.plausibility)
    np.testing.assert_allclose(result.iloc[:, 2:], expected, rtol=1e-6)


def test_plausibilities_are_float32(model, table, tmp_path):
    predict_table(model, open_table(table), tmp_path / "out.parquet")
    schema = parquet.read_schema(tmp_path / "out.parquet")
    assert schema.field("pl {0}").type == pa.float32()
    assert schema.field("outlier").type == pa.bool_()


def test_sources_and_arrays_give_the_same_file(model, rows, table, tmp_path):
    predict_table(model, open_table(table), tmp_path / "table.parquet")
    for k, given in enumerate((rows, ArraySource(rows), [rows[:100], rows[100:]])):
        predict_table(model, given, tmp_path / f"{k}.parquet")
        assert parquet.read_table(tmp_path / f"{k}.parquet").equals(
            parquet.read_table(tmp_path / "table.parquet")
        )


def test_an_error_leaves_no_file(model, rows, tmp_path):
    broken = rows.copy()
    broken[2500, 1] = np.inf
    with pytest.raises(ValueError, match="got inf in row 2500"):
        predict_table(model, broken, tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


def test_bad_input_is_named(model, rows, table, tmp_path):
    with pytest.raises(ValueError, match="3 columns that the model was fitted to"):
        predict_table(model, rows[:, :2], tmp_path / "out.parquet")
    with pytest.raises(ValueError, match="name of the output must end in"):
        predict_table(model, rows, tmp_path / "out.txt")
    pipeline = make_pipeline(StandardScaler(), ECM(3, random_state=0)).fit(rows)
    with pytest.raises(ValueError, match="without steps before it, got a Pipeline"):
        predict_table(pipeline, rows, tmp_path / "out.parquet")
    with pytest.raises(ValueError, match="in their order: a, b, c"):
        predict_table(model, ArraySource(rows, ["c", "b", "a"]), tmp_path / "o.parquet")
