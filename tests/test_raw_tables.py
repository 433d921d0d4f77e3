"""Tables as they come, with words, gaps and odd cells, in functions that take X."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import credalis
from credalis import ECM, EVCLUS, CatECM, ECMdd, compare
from credalis._checks import is_frame, naming
from credalis._rows import number_of_rows, take_rows
from credalis.model_selection import select_n_clusters
from credalis.plots import CredalPartitionDisplay
from credalis.streaming import NewClusterMonitor
from credalis.tabular import TablePreparation, TabularModel
from credalis.topics import TopicClusterer

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

FEW = {"n_init": 1, "max_iter": 5, "random_state": 0}
pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning"
)


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 15)
    return {
        "word": np.array(["a", "b"])[group ^ (rng.random(30) < 0.1)].tolist(),
        "length": [None, *(rng.normal(size=30) + 5 * group).tolist()[1:]],
        "other": rng.normal(size=30).tolist(),
    }


FORMS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "dict": dict,
}
forms = pytest.mark.parametrize("form", FORMS)


def gower(**given):
    return EVCLUS(2, metric="gower", **FEW, **given)


@forms
def test_compare_takes_any_table(cells, form):
    found = compare(FORMS[form](cells), 2, {"mine": gower()}, random_state=0)
    same = compare(pd.DataFrame(cells), 2, {"mine": gower()}, random_state=0)
    assert found.scores[0].stability is not None
    assert found.scores[0].stability == same.scores[0].stability
    assert found["mine"].partition_ == same["mine"].partition_


@forms
def test_weights_and_classes_belong_to_rows_not_to_columns(cells, form):
    table, y = FORMS[form](cells), np.repeat([0, 1], 15)
    methods = {"mine": CatECM(2, **FEW)} if form == "pandas" else {"mine": gower()}
    assert compare(table, 2, methods, y, random_state=0).scores[0].ari is not None
    with pytest.raises(ValueError, match="y must have one class for each row of X"):
        compare(table, 2, methods, y[:3], random_state=0)


@forms
def test_numbers_of_clusters_on_any_table(cells, form):
    given = {"n_resamples": 3, "random_state": 0, "criteria": ["stability"]}
    found = select_n_clusters(gower(), FORMS[form](cells), [2, 3], **given)
    same = select_n_clusters(gower(), pd.DataFrame(cells), [2, 3], **given)
    np.testing.assert_array_equal(found.curves["stability"], same.curves["stability"])


def test_batches_are_refused_where_parts_are_taken():
    batches = [np.ones((5, 2)), np.ones((7, 2))]
    for call in (
        lambda: compare(batches, 2, ["ECM"]),
        lambda: select_n_clusters(ECM(), batches, [2, 3]),
        lambda: TopicClusterer(n_clusters=2).fit(batches),
    ):
        with pytest.raises(ValueError, match="X must be one array or frame in memory"):
            call()


@forms
def test_rows_of_any_table(cells, form):
    table = FORMS[form](cells)
    assert number_of_rows(table) == 30
    part = take_rows(table, np.array([4, 2]))
    assert number_of_rows(part) == 2
    assert [str(cell) for cell in part["word"]] == [cells["word"][k] for k in (4, 2)]
    views = {"first": table, "second": np.zeros((30, 2))}
    assert take_rows(views, np.array([4, 2]))["second"].shape == (2, 2)
    with pytest.raises(ValueError, match=r"X .* one length, got lengths \[29, 30\]"):
        number_of_rows({"a": np.zeros(29), "b": np.zeros(30)})


@forms
@pytest.mark.parametrize("make", [gower, lambda: ECMdd(2, metric="gower", **FEW)])
def test_explain_a_model_of_a_table(cells, form, make):
    model = make().fit(FORMS[form](cells))
    found = credalis.explain(model, FORMS[form](cells), rows=[0, 20])
    names = {reason.feature for each in found for reason in each.reasons}
    assert names <= set(cells)
    assert names


def test_columns_without_numbers_are_named(cells):
    for form in ("pandas", "polars", "arrow"):
        with pytest.raises(ValueError, match="got others in word, length: put Table"):
            ECM(2, **FEW).fit(FORMS[form](cells))
    twice = pd.DataFrame([["a", 1.0], ["b", 2.0]], columns=["same", "same"])
    with pytest.raises(ValueError, match="got others in same: put"):
        ECM(2, **FEW).fit(twice)
    many = pd.DataFrame({f"c{k}": ["a", "b"] for k in range(7)})
    with pytest.raises(ValueError, match="c0, c1, c2, c3, c4 and 2 more"):
        ECM(2, **FEW).fit(many)
    model = ECM(2, **FEW).fit(np.eye(6))
    with pytest.raises(ValueError, match="X must be numbers without gaps"):
        NewClusterMonitor(model).fit(pd.DataFrame(cells))


def test_odd_columns_of_new_rows_are_named(cells):
    model = gower().fit(pd.DataFrame(cells))
    lists = {**cells, "word": [[k] for k in range(30)]}
    for form in ("pandas", "polars", "arrow"):
        with pytest.raises(ValueError, match="column 'word' must hold words"):
            model.predict(FORMS[form](lists))
    frame = {**cells, "word": pd.DataFrame({"a": cells["word"]})}
    with pytest.raises(ValueError, match="column 'word' must have one value for each"):
        model.predict(frame)
    with pytest.raises(ValueError, match="X must be a frame"):
        model.predict(pl.Series(cells["word"]))


def test_columns_of_one_name_and_absent_ones_are_named(cells):
    frame = pd.DataFrame(cells)
    twice = pd.concat([frame, frame["word"]], axis=1)
    steps = make_pipeline(TablePreparation(), ECM(2, **FEW)).fit(frame)
    for call in (
        gower().fit(frame).predict,
        lambda table: credalis.explain(gower().fit(frame), table),
        lambda table: credalis.explain(steps, table),
    ):
        with pytest.raises(ValueError, match="X has two columns called 'word'"):
            call(twice)
        with pytest.raises(ValueError, match="X lacks column 'word'"):
            call(frame[["length", "other"]])


def test_what_is_no_model_and_no_column_is_named(cells):
    with pytest.raises(
        ValueError, match=r"estimator must be one of credalis, got \[\]"
    ):
        TabularModel.of([], pd.DataFrame(cells))
    with pytest.raises(ValueError, match="preparation must be a TablePreparation"):
        TabularModel.of(gower(), pd.DataFrame(cells), 3)
    for cell in (1, None, slice(2)):
        with pytest.raises(ValueError, match="column 'a' must hold values of one kind"):
            TabularModel.of(gower(), {"a": cell})


def test_a_column_without_categories_is_no_index_error():
    empty = pa.array([None] * 6, pa.dictionary(pa.int8(), pa.string()))
    table = pa.table({"c0": empty, "c1": np.arange(6.0)})
    for make in (lambda: ECM(2, **FEW), lambda: CatECM(2, **FEW)):
        with pytest.raises(ValueError, match="X"):
            make().fit(table)
    expected = pytest.raises(ValueError, match="X is not valid: no such place")
    with expected, naming("X"):
        raise IndexError("no such place")


def test_a_table_of_gaps_explains_nothing(cells):
    partition = gower().fit(pd.DataFrame(cells)).partition_
    gaps = pd.DataFrame({"c0": [None] * 30}, dtype=object)
    found = credalis.explain(partition, gaps, rows=[0])
    assert all(reason.weight == 0 for each in found for reason in each.reasons)


def test_a_frame_is_no_rule(cells):
    partition = gower().fit(pd.DataFrame(cells)).partition_
    rows = np.zeros((30, 2))
    with pytest.raises(ValueError, match="rule must be one of 'maximum_mass'"):
        CredalPartitionDisplay.from_partition(partition, rows, rule=pl.DataFrame(cells))


def test_a_lazy_frame_is_refused_without_a_warning(cells):
    lazy = pl.DataFrame(cells).lazy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert is_frame(lazy)
        with pytest.raises(ValueError, match=r"X .* got a LazyFrame: call collect\(\)"):
            TablePreparation().fit(lazy)


def test_complex_cells_are_refused_without_a_warning():
    frame = pd.DataFrame({"c0": [1j, 2j, 3j], "c1": [1.0, 2.0, 3.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="X"):
            ECM(2, **FEW).fit(frame)


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="polars without wide integers")
def test_a_report_reads_arrow_and_wide_integers(tmp_path):
    rows = np.random.default_rng(0).normal(size=(8, 2))
    model = ECM(2, **FEW).fit(rows)
    wide = [2**64 + k for k in range(8)]
    empty = pa.array([None] * 8, pa.dictionary(pa.int8(), pa.string()))
    for table in (
        pl.DataFrame({"wide": wide}, schema={"wide": pl.Int128}),
        pa.table({"wide": list(range(8)), "nothing": empty}),
    ):
        path = tmp_path / "page.html"
        credalis.report(model, rows, path, data=table)
        assert "wide" in path.read_text()
    credalis.explain(model.partition_, pl.DataFrame({"wide": wide}))
    with pytest.raises(ValueError, match="X is not valid: Invalid or unsupported"):
        TablePreparation().fit(pl.DataFrame({"wide": wide}))
