"""Data frames in estimators with Gower's dissimilarity: prepared as everywhere else."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import credalis
from credalis import (
    ECM,
    EVCLUS,
    MECM,
    NNEVCLUS,
    RECM,
    Consensus,
    ECMdd,
    EkNNclus,
    load,
)
from credalis.cli import main
from credalis.plots import CredalPartitionDisplay, ShepardDisplay
from credalis.tabular import TablePreparation, TabularModel

pytestmark = [
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning"),
]

ESTIMATORS = [
    Consensus(3, metric="gower", random_state=0),
    EVCLUS(3, metric="gower", n_init=1, random_state=0),
    NNEVCLUS(3, metric="gower", n_init=1, random_state=0),
    RECM(3, metric="gower", random_state=0),
    ECMdd(3, metric="gower", random_state=0),
    MECM(3, metric="gower", random_state=0),
    EkNNclus(metric="gower", random_state=0),
]


def name(estimator):
    return type(estimator).__name__


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 20)
    days = pd.to_timedelta(100 * group + rng.integers(0, 30, 60), unit="D")
    frame = pd.DataFrame(
        {
            "kind": pd.Categorical(np.array(list("abc"))[group]),
            # Few digits: pandas 2 does not read all of them to the last bit.
            "width": rng.normal(3.0 * group, 1.0).round(3),
            "ok": pd.array(rng.random(60) < 0.2 + 0.3 * group, dtype="boolean"),
            "count": pd.array(2 * group + rng.integers(0, 2, 60), dtype="Int64"),
            "when": pd.Timestamp("2020-01-01") + days,
            "unit": "cm",
        }
    )
    for row, column in ((3, "width"), (5, "kind"), (7, "ok"), (8, "count")):
        frame.loc[row, column] = None
    frame.loc[9, "when"] = pd.NaT
    return frame


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name)
def test_a_frame_is_prepared_as_everywhere_else(estimator, frame, tmp_path):
    model = clone(estimator).fit(frame)
    by_hand = TabularModel.of(estimator, frame)
    masses = by_hand.estimator.partition_.masses
    np.testing.assert_array_equal(model.partition_.masses, masses)
    assert model.n_features_in_ == 6
    assert model.feature_names_in_.tolist() == list(frame)
    assert "'unit' left out: one value everywhere" in model.decisions_
    by_polars = clone(estimator).fit(pl.from_pandas(frame))
    np.testing.assert_array_equal(by_polars.partition_.masses, masses)
    path = tmp_path / "model.credalis"
    model.save(path)
    new = frame.iloc[::-1][["when", "count", "kind", "ok", "width"]]
    found = model.transform(new)
    np.testing.assert_array_equal(load(path).transform(new), found)
    np.testing.assert_array_equal(by_hand.predict_partition(new).masses, found)


@pytest.mark.parametrize("method", ["EVCLUS", "Consensus"])
def test_python_and_the_command_line_give_the_same_bits(method, frame, tmp_path):
    table, output = tmp_path / "table.csv", tmp_path / "memberships.parquet"
    frame.to_csv(table, index=False)
    given = ["-c", "3", "-m", method, "--seed", "7", "--fields", "masses"]
    command = ["cluster", str(table), *given, "-o", str(output)]
    assert main(command) == 0
    estimator = getattr(credalis, method)(3, metric="gower", random_state=7)
    # What a file says is read, not what a frame holds.
    model = estimator.fit(pd.read_csv(table))
    masses = pl.read_parquet(output).select(pl.col("^m .*$")).to_numpy()
    np.testing.assert_array_equal(masses, model.partition_.masses)


def test_a_file_of_a_frame_is_read_where_nothing_is_imported(frame, tmp_path):
    path = tmp_path / "model.credalis"
    ESTIMATORS[1].fit(frame).save(path)
    code = f"import credalis; print(credalis.load({str(path)!r}).decisions_[0])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "is a date" in done.stdout


def test_columns_of_new_rows_are_checked(frame):
    model = clone(ESTIMATORS[1]).fit(frame)
    with pytest.raises(ValueError, match="X lacks column 'width'"):
        model.predict(frame.drop(columns="width"))
    with pytest.raises(ValueError, match="X lacks columns"):
        model.predict(np.zeros((2, 6)))
    strange = frame.iloc[:3].assign(kind=["z", "z", "a"])
    assert model.predict(strange).shape == (3,)


def test_an_array_with_gaps(rng):
    X = rng.normal(size=(40, 3))
    X[3, 1] = X[5, 2] = np.nan
    X[0] = np.nan
    model = EVCLUS(2, metric="gower", n_init=1, random_state=0).fit(X)
    assert model.n_features_in_ == 3
    assert model.predict(X[:4]).shape == (4,)
    # A fit to numbers alone has forgotten the gaps.
    model.fit(np.nan_to_num(X))
    assert not hasattr(model, "preparation_")
    assert not hasattr(model, "decisions_")
    with pytest.raises(ValueError, match="NaN"):
        model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.set_params(metric="euclidean").fit(X)


def test_levels_pictures_and_the_report_take_the_frame(frame, tmp_path):
    model = clone(ESTIMATORS[1]).fit(frame)
    CredalPartitionDisplay.from_estimator(model, frame)
    ShepardDisplay.from_estimator(model, frame)
    pytest.importorskip("plotly")
    credalis.report(model, frame, tmp_path / "r.html", notes=model.decisions_)
    assert "kind" in (tmp_path / "r.html").read_text()
    model.calibrate(frame, "model", n_refits=1)
    assert model.predict_sets(frame).any(axis=1).all()
    model.calibrate(frame, refit=True, n_refits=1)
    assert model.predict_sets(frame).any(axis=1).all()


def test_searches_cut_frames(frame):
    search = GridSearchCV(clone(ESTIMATORS[2]), {"n_clusters": [2, 3]}, cv=2)
    assert search.fit(frame).best_estimator_.predict(frame).shape == (60,)


def test_many_rows_are_trained_on_in_blocks(frame, monkeypatch):
    monkeypatch.setattr("credalis.cluster.consensus._consensus.MAX_WHOLE", 50)
    model = Consensus(3, metric="gower", max_iter=3, random_state=0).fit(frame)
    assert model.n_features_in_ == 6
    assert model.feature_names_in_.tolist() == list(frame)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_the_preparation_goes_before_any_estimator(frame):
    model = make_pipeline(TablePreparation(), ECM(3, random_state=0)).fit(frame)
    assert model.predict(frame).shape == (60,)


def test_the_command_line_predicts_with_a_model_of_a_frame(frame, tmp_path):
    model, table = tmp_path / "model.credalis", tmp_path / "new.csv"
    frame.to_csv(table, index=False)
    fitted = clone(ESTIMATORS[1]).fit(pd.read_csv(table))
    fitted.save(model)
    output = tmp_path / "memberships.parquet"
    assert main(["predict", str(model), str(table), "-o", str(output)]) == 0
    masses = pl.read_parquet(output).select(pl.col("^m .*$")).to_numpy()
    np.testing.assert_array_equal(masses, fitted.transform(pd.read_csv(table)))
