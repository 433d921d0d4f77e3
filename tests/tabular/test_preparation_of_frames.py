"""Frames of pandas and polars: decisions, encoding, Gower's dissimilarity, models."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import credalis
from credalis import EVCLUS, NNEVCLUS
from credalis.dissimilarity import gower_distances
from credalis.tabular import TablePreparation, TabularModel

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


@pytest.fixture
def frame():
    """Sixty rows in three groups, a column of each kind, some cells missing."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 20)
    moments = pd.Timestamp("2020-01-01") + pd.to_timedelta(
        100 * group + rng.integers(0, 30, 60), unit="D"
    )
    table = pd.DataFrame(
        {
            "PassengerId": np.arange(101, 161),
            "name": [f"n{i}" for i in range(60)],
            "size": pd.Categorical(
                np.array(["S", "M", "L"])[group], ["S", "M", "L"], ordered=True
            ),
            "kind": pd.Categorical(np.array(["a", "b", "c"])[group]),
            "width": rng.normal(group, 0.2),
            "ok": pd.array(rng.random(60) < 0.5, dtype="boolean"),
            "count": pd.array(3 * group + rng.integers(0, 2, 60), dtype="Int64"),
            "when": moments,
            "share": [f"{v:.1f} %" for v in 10 * group + rng.random(60)],
            "unit": "cm",
        }
    )
    for row, column in ((3, "width"), (5, "kind"), (7, "ok"), (8, "count")):
        table.loc[row, column] = None
    table.loc[9, "when"] = pd.NaT
    return table


def test_every_decision_is_said(frame):
    preparation = TablePreparation().fit(frame)
    assert preparation.decisions_ == [
        "'name' left out: identifies the rows (--id name keeps it in the output)",
        "'size' is ordered: S < M < L",
        "'when' is a date, read as days since 1970-01-01 (--dates "
        "days,year,month,weekday,hour takes parts)",
        "'share' is read as numbers with decimal points, in per cent",
        "'PassengerId' left out: identifies the rows (--id PassengerId keeps it in the "
        "output)",
        "'unit' left out: one value everywhere",
        "categories count, equal or not: 'kind' 3",
    ]


def test_the_matrix_has_a_column_for_each_category_and_each_gap(frame):
    preparation = TablePreparation()
    X = preparation.fit_transform(frame)
    assert preparation.get_feature_names_out().tolist() == [
        *("size", "width", "ok", "count", "when", "share"),
        *("kind=a", "kind=b", "kind=c"),
        *("width is missing", "ok is missing", "count is missing", "when is missing"),
        "kind is missing",
    ]
    assert np.isfinite(X).all()
    assert X[3, 9:].tolist() == [1, 0, 0, 0, 0]
    assert X[5, 6:9].tolist() == [0, 0, 0]
    known = ~frame["width"].isna().to_numpy()
    np.testing.assert_allclose(X[known, 1].mean(), 0, atol=1e-12)


def test_dissimilarities_are_gowers(frame):
    preparation = TablePreparation()
    X = preparation.fit_transform(frame)
    raw = np.column_stack(
        [
            frame["size"].cat.codes,
            frame["width"],
            frame["ok"].astype(float),
            frame["count"].astype(float),
            frame["when"].to_numpy().astype("M8[D]").astype(float),
            [float(text[:-2]) for text in frame["share"]],
            frame["kind"].cat.codes.replace(-1, np.nan),
        ]
    )
    raw[9, 4] = np.nan
    expected = gower_distances(
        raw, categorical=[6], weights=preparation.metric_.weights
    )
    np.testing.assert_allclose(preparation.metric_.between(X), expected, atol=1e-12)


def test_polars_gives_the_same(frame):
    pl = pytest.importorskip("polars")
    other = pl.from_pandas(frame.assign(size=frame["size"].astype(str)))
    ours = TablePreparation()
    theirs = TablePreparation(orders={"size": ["S", "M", "L"]})
    np.testing.assert_array_equal(
        ours.fit_transform(frame), theirs.fit_transform(other)
    )
    assert ours.decisions_[1:] == theirs.decisions_[1:]


def test_parts_of_dates_and_periods(frame):
    preparation = TablePreparation(
        columns=["when", "count", "width"],
        date_parts=["month"],
        cyclic={"count": 12},
    )
    X = preparation.fit_transform(frame)
    assert preparation.get_feature_names_out().tolist()[:5] == [
        *("width", "count (cosine)", "count (sine)"),
        *("when (month) (cosine)", "when (month) (sine)"),
    ]
    assert X[8, 1:3].tolist() == [0, 0]
    month = frame["when"].dt.month.to_numpy()
    np.testing.assert_allclose(X[0, 3], np.cos(2 * np.pi * month[0] / 12))
    way = abs(month[0] - month[59]) % 12
    alone = TablePreparation(columns=["when"], date_parts=["month"])
    found = alone.fit(frame[["when"]]).metric_.between(alone.transform(frame))
    assert found[0, 59] == pytest.approx(min(way, 12 - way) / 6)


def test_missing_cells_as_told(frame):
    filled = TablePreparation(missing="impute")
    X = filled.fit_transform(frame)
    assert not any("missing" in name for name in filled.get_feature_names_out())
    middle = np.nanmedian(frame["width"])
    scale, center = filled.preparation_.scale[1], filled.preparation_.center[1]
    assert X[3, 1] == pytest.approx((middle - center) / scale)
    with pytest.raises(ValueError, match="X has missing values in 5 of 60 rows"):
        TablePreparation(missing="error").fit(frame)


def test_new_rows_are_read_as_in_the_fit(frame):
    preparation = TablePreparation().fit(frame)
    X = preparation.transform(frame)
    shuffled = frame[frame.columns[::-1]].iloc[::-1]
    np.testing.assert_array_equal(preparation.transform(shuffled), X[::-1])
    # A row without any cell is a row all the same.
    empty = frame.iloc[:2].copy()
    empty.loc[1, ["size", "width", "ok", "count", "when", "share", "kind"]] = None
    matrix = preparation.transform(empty)
    assert matrix[1, 9:].tolist() == [1, 1, 1, 1, 1]
    assert matrix[1, 6:9].tolist() == [0, 0, 0]


@pytest.mark.parametrize("estimator", [EVCLUS, NNEVCLUS])
def test_a_model_of_a_frame(frame, tmp_path, estimator):
    model = TabularModel.of(estimator(3, metric="gower", random_state=0), frame)
    labels = model.predict(frame)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 20), labels) > 0.9
    model.save(tmp_path / "m.credalis")
    loaded = credalis.load(tmp_path / "m.credalis")
    np.testing.assert_array_equal(loaded.predict(frame), labels)
    assert loaded.facts["decisions"][1] == "'size' is ordered: S < M < L"
    assert loaded.preparation.plan.readings["share"] == "point"


def test_a_file_with_a_strange_reading_is_refused(frame):
    state = TablePreparation().fit(frame).preparation_.plan.to_state()
    state["readings"] = {"share": "roman"}
    rule = credalis.tabular.Preparation._schema.optional["plan"].classes[0]._schema
    with pytest.raises(ValueError, match=r"Plan\.readings\['share'\] must be one of"):
        rule.check("Plan", state, {})


def test_columns_of_several_kinds_are_refused():
    with pytest.raises(ValueError, match="column 'a' must hold values of one kind"):
        TablePreparation().fit(pd.DataFrame({"a": [1, "x", (2,)]}))


def test_nothing_left_says_why():
    with pytest.raises(ValueError, match=r"no column left to cluster by: 'a' left out"):
        TablePreparation().fit(pd.DataFrame({"a": ["x"] * 5}))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"missing": "drop"}, "missing must be one of"),
        ({"date_parts": ["minute"]}, "date_parts must be one of"),
        ({"orders": {"nothing": ["a", "b"]}}, "--order must be about columns"),
        ({"orders": {"kind": ["a", "b"]}}, "all categories of 'kind', got 'a', 'b' w"),
        ({"cyclic": {"when": 7}, "date_parts": ["month"]}, "--cyclic must be about"),
        ({"columns": ["width", "width"]}, "each column once"),
        ({"exclude": ["nothing"]}, "X has no column 'nothing'"),
    ],
)
def test_bad_parameters_are_named(frame, settings, message):
    with pytest.raises(ValueError, match=message):
        TablePreparation(**settings).fit(frame)


@parametrize_with_checks([TablePreparation()])
def test_it_is_a_transformer_of_scikit_learn(estimator, check):
    check(estimator)


def test_whole_numbers_as_categories_are_no_dates():
    frame = pd.DataFrame({"x": np.arange(8.0) ** 2, "kind": pd.Categorical([1, 2] * 4)})
    preparation = TablePreparation().fit(frame)
    assert preparation.decisions_ == ["categories count, equal or not: 'kind' 2"]
