import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from credalis import ECM, Bootclus, EkNNclus, compare
from credalis.cluster import named_estimators
from credalis.datasets import make_four_class
from credalis.metrics import consistency_index, nonspecificity_index


@pytest.fixture(scope="module")
def data():
    return make_four_class(120, random_state=0)


@pytest.fixture(scope="module")
def result(data):
    X, y = data
    return compare(X, 4, ["ECM", EkNNclus(n_neighbors=40), "ECM"], y, random_state=0)


def test_scores_are_those_of_the_fitted_estimators(result, data):
    _, y = data
    assert [each.method for each in result.scores] == ["ECM", "EkNNclus", "ECM #2"]
    assert len(result) == 3
    for scores in result.scores:
        partition = result[scores.method].partition_
        assert scores.ari == adjusted_rand_score(y, partition.labels)
        assert scores.ci == consistency_index(partition, y)
        assert scores.ns == nonspecificity_index(partition)
        assert scores.nonspecificity == partition.average_nonspecificity
        assert scores.outliers == partition.is_outlier.sum()
        assert scores.clusters == len(np.unique(partition.labels))
        assert scores.seconds > 0


def test_a_method_gives_what_it_gives_alone(result, data):
    alone = ECM(4, random_state=0).fit(data[0])
    assert result["ECM"].partition_ == alone.partition_
    assert result["ECM #2"].partition_ == alone.partition_


def test_the_table_prints_itself(result):
    lines = repr(result).splitlines()
    assert lines[0].split() == [
        "method", "clusters", "ARI", "CI", "NS", "nonspecificity", "outliers", "seconds"
    ]  # fmt: skip
    assert len(lines) == 5
    assert lines[-1] == "* not dominated in CI and NS"
    starred = [line.split("*")[0].strip() for line in lines[1:-1] if "*" in line]
    assert starred == result.non_dominated


def test_html_escapes_names(data):
    table = compare(data[0], 4, {"<b>": ECM()}, random_state=0)
    assert "&lt;b&gt;" in table._repr_html_()
    assert "<b>" not in table._repr_html_()


def test_frame_has_a_row_for_each_method(result):
    frame = result.to_pandas()
    assert frame.index.tolist() == ["ECM", "EkNNclus", "ECM #2"]
    assert frame.loc["ECM", "ari"] == result.scores[0].ari


def test_without_classes_there_is_no_consistency(data):
    result = compare(data[0], 4, ["ECM"], random_state=0)
    assert result.scores[0].ari is None
    assert "CI" not in repr(result)
    with pytest.raises(ValueError, match="y must hold the classes"):
        result.plot()
    with pytest.raises(ValueError, match="y must hold the classes"):
        result.non_dominated  # noqa: B018


def test_plot_is_the_consistency_display(result):
    plt = pytest.importorskip("matplotlib.pyplot")
    display = result.plot(title="Four classes")
    kept = [
        n for n, d in zip(display.names, display.is_dominated, strict=True) if not d
    ]
    assert kept == result.non_dominated
    assert display.ax_.get_title(loc="left") == "Four classes"
    plt.close("all")


def test_methods_may_run_at_the_same_time(result, data):
    X, y = data
    together = compare(X, 4, ["ECM", "ECM"], y, n_jobs=2, random_state=0)
    assert together["ECM"].partition_ == result["ECM"].partition_


def test_a_given_estimator_is_neither_changed_nor_reseeded(data):
    ecm = ECM(2, random_state=7)
    result = compare(data[0], 4, {"mine": ecm}, random_state=0)
    assert result["mine"].get_params()["random_state"] == 7
    assert result["mine"].n_clusters == 4
    assert ecm.n_clusters == 2
    assert not hasattr(ecm, "partition_")
    assert compare(data[0], None, [ecm])["ECM"].n_clusters == 2


def test_warnings_say_which_method_they_are_of(data):
    with pytest.warns(ConvergenceWarning, match=r"hasty: ECM did not converge"):
        compare(data[0], 4, {"hasty": ECM(max_iter=1)}, random_state=0)


@pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning")
def test_all_methods_have_a_name_and_can_run(data):
    known = named_estimators(for_data_alone=True)
    assert {"NNEVCLUS", "NNEVCLUS-bp", "ECM", "EkNNclus", "Bootclus"} <= set(known)
    methods = {**known, "Bootclus": Bootclus(n_bootstrap=5)}
    result = compare(data[0], 4, methods, data[1], random_state=0)
    assert list(result.estimators) == list(known)


@pytest.mark.parametrize(
    ("n_clusters", "methods", "message"),
    [
        (0, None, "n_clusters must be an integer >= 1, got 0"),
        (4, [], "methods must hold at least one method, got none"),
        (4, ["k-means"], "methods must be one of 'NNEVCLUS', .* got 'k-means'"),
        (4, "ECM", "methods must be a list of names or estimators.* got 'ECM'"),
        (4, 3, "methods must be a list of names or estimators.* got 3"),
        (4, [KMeans()], r"methods must hold estimators of credalis.* got KMeans\(\)"),
        (4, [ECM], "methods must hold estimators of credalis"),
        (500, ["ECM"], "ECM: n_clusters must not exceed"),
    ],
)
def test_bad_input_is_named(data, n_clusters, methods, message):
    with pytest.raises(ValueError, match=message):
        compare(data[0], n_clusters, methods)


def test_classes_must_be_about_the_same_objects(data):
    message = "y must have one class for each row of X: .* inconsistent numbers"
    with pytest.raises(ValueError, match=message):
        compare(data[0], 4, ["ECM"], data[1][:-1])


def test_classes_are_checked_before_anything_is_fitted(data, monkeypatch):
    monkeypatch.setattr(ECM, "fit", lambda *_: pytest.fail("fitted"))
    for y in (np.full(len(data[0]), np.nan), [None] * len(data[0]), [[0], [1]]):
        with pytest.raises(ValueError, match=r"^y must "):
            compare(data[0], 4, ["ECM"], y)


@pytest.mark.parametrize("parameter", ["n_jobs", "random_state"])
def test_a_parameter_that_is_no_number_is_named(data, parameter):
    with pytest.raises(ValueError, match=f"^{parameter} must be .* got 'many'"):
        compare(data[0], 4, ["ECM"], **{parameter: "many"})
