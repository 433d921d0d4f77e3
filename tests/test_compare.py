import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from credalis import ECM, EVCLUS, RECM, Bootclus, ECMdd, EkNNclus, compare
from credalis._compare._comparison import _named
from credalis._compare._recommendation import (
    Evidence,
    agreements,
    reason,
    recommended,
)
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
        "method", "clusters", "ARI", "CI", "NS", "nonspecificity", "outliers",
        "agreement", "stability", "warnings", "seconds",
    ]  # fmt: skip
    assert len(lines) == 6
    assert lines[-1] == "* not dominated in CI and NS, given the classes"
    starred = [line.split("*")[0].strip() for line in lines[1:-2] if "*" in line]
    assert starred == result.non_dominated


@pytest.mark.parametrize("with_classes", [True, False])
def test_one_row_has_a_star_with_and_without_classes(result, data, with_classes):
    if not with_classes:
        result = compare(data[0], 4, ["ECM", EkNNclus(n_neighbors=40)], random_state=0)
    text = repr(result)
    lines = text.splitlines()[1 : 1 + len(result)]
    starred = [line for line in lines if "★" in line]
    assert len(starred) == 1
    assert starred[0].split()[0].rstrip("*★") == result.recommended.split()[0]
    assert f"★ {result.recommended} is recommended: {result.reason}" in text
    assert result.reason in result._repr_html_()
    assert ("no part in this" in text) == with_classes


def test_the_classes_do_not_change_what_is_recommended(result, data):
    methods = ["ECM", EkNNclus(n_neighbors=40), "ECM"]
    blind = compare(data[0], 4, methods, random_state=0)
    assert blind.recommended == result.recommended
    assert [each.stability for each in blind.scores] == [
        each.stability for each in result.scores
    ]


def test_agreement_is_with_the_other_methods(result):
    labels = [result[each.method].labels_ for each in result.scores]
    other = adjusted_rand_score(labels[0], labels[1])
    assert result.scores[1].agreement == pytest.approx(other)
    assert result.scores[0].agreement == pytest.approx((1 + other) / 2)
    assert all(-1 <= each.stability <= 1 for each in result.scores)


def test_a_result_that_is_warned_of_is_not_recommended(data):
    hasty = {"hasty": ECM(max_iter=1), "patient": ECM(), "hasty too": ECM(max_iter=1)}
    with pytest.warns(ConvergenceWarning, match="hasty"):
        result = compare(data[0], 4, hasty, random_state=0)
    assert [each.warnings for each in result.scores] == [
        ("ConvergenceWarning",),
        (),
        ("ConvergenceWarning",),
    ]
    assert result.recommended == "patient"
    assert "raised no warning (that of 2 of 3 methods did)" in result.reason


def test_dissimilarities_can_be_compared(data):
    matrix = cdist(data[0], data[0])
    methods = [RECM(metric="precomputed"), ECMdd(metric="precomputed")]
    result = compare(matrix, 4, methods, random_state=0)
    assert all(each.stability > 0 for each in result.scores)


def test_a_method_that_is_about_all_objects_has_no_stability(data):
    # The last row is not among the first 84.
    seeds = {"seeds": ECMdd(init=[0, 1, 2, 119])}
    (scores,) = compare(data[0], 4, seeds, random_state=0).scores
    assert scores.stability is None
    assert scores.agreement is None


def evidence(method, agreement, stability, *warnings):
    return Evidence(method, agreement, stability, warnings)


class TestRecommendation:
    def test_warnings_come_first_then_the_mean(self):
        shaky = evidence("A", 0.9, 0.9, "EmptyClusterWarning")
        fair, good = evidence("B", 0.5, 0.6), evidence("C", 0.4, 0.8)
        assert recommended([shaky, fair, good]) is good
        assert recommended([shaky, fair]) is fair
        assert recommended([shaky]) is shaky

    def test_of_equals_the_first(self):
        equals = [evidence("A", 0.5, 0.5), evidence("B", 0.5, 0.5)]
        assert recommended(equals).method == "A"

    def test_agreement_is_a_mean_over_pairs(self):
        labels = [[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]
        assert agreements(labels) == pytest.approx([0.25, 0.25, -0.5])
        assert agreements(labels[:1]) == [None]

    def test_the_reason_in_words(self):
        assert reason([evidence("A", None, 0.62)]) == (
            "its fit raised no warning, and its clusters agree partly with its own for "
            "a part of the objects (ARI 0.62)"
        )
        told = reason([evidence("A", 0.9, 0.7), evidence("B", 0.8, 0.6, "X")])
        assert told == (
            "its fit raised no warning (that of 1 of 2 methods did), and its clusters "
            "agree well with those of the other methods (mean ARI 0.90, rank 1 of 2) "
            "and partly with its own for a part of the objects (ARI 0.70, rank 1 of 2)"
        )

    def test_doubts_are_told(self):
        told = reason([evidence("A", 0.1, 0.2, "X"), evidence("B", 0.1, 0.1, "X")])
        assert told.startswith("its fit raised the fewest warnings (X)")
        assert told.endswith("the methods disagree, so look at other results, too")


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


def test_weights_go_to_methods_that_take_them(data):
    X = data[0][:60]
    weights = np.arange(60) % 3
    methods = {"ECM": ECM(), "EVCLUS": EVCLUS()}
    result = compare(X, 2, methods, sample_weight=weights, random_state=0)
    alone = ECM(2, random_state=0).fit(X, sample_weight=weights)
    assert result.estimators["ECM"].partition_ == alone.partition_
    with pytest.raises(ValueError, match=r"None for methods .*RECM"):
        compare(X, 2, ["ECM", "RECM"], sample_weight=weights)
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        compare(X, 2, ["ECM"], sample_weight=-weights)


def test_a_method_for_categories_must_be_named():
    assert "CatECM" not in _named(None)
    assert "ECM" in _named(None)
    assert list(_named(["CatECM"])) == ["CatECM"]


def test_methods_that_repeat_another_on_one_table_must_be_named():
    several = {"WMVEC", "TECM", "MECMdd-RWG", "MECMdd-RWL"}
    assert not several & set(_named(None))
    assert set(_named(sorted(several))) == several


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
    message = "y must have one class for each row of X, got 119 for 120"
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
