"""Calls that random generators have found: refused by name, or answered."""

import io
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import credalis
from credalis import (
    BCM,
    BPEC,
    ECM,
    EGMM,
    EVCLUS,
    MECM,
    NNEVCLUS,
    RECM,
    CredalPartition,
    ECMdd,
    EkNNclus,
    FocalSets,
    belief,
    metrics,
)
from credalis.checkpoints import Checkpoint
from credalis.cluster import estimator_classes
from credalis.constraints import expand, random_pairs, suggest_pairs
from credalis.datasets import make_bananas, make_four_class
from credalis.metric_learning import FDA, KFDA, DissimilarityPCA
from credalis.model_selection import search, select_n_clusters, suggest_n_clusters
from credalis.peaks import delta_bel
from credalis.plots import (
    ConsistencyDisplay,
    CredalPartitionDisplay,
    FeatureDisplay,
    ShepardDisplay,
)
from credalis.streaming import NewClusterMonitor
from credalis.tabular import TablePreparation

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ContrastWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.PowerWarning"),
    pytest.mark.filterwarnings("ignore:n_clusters=1:UserWarning"),
    pytest.mark.filterwarnings("ignore:X has feature names:UserWarning"),
]

rng = np.random.default_rng(0)
ROWS = np.concatenate([rng.normal(m, 1, size=(10, 2)) for m in (0, 8)])
MATRIX = np.sqrt(((ROWS[:, None] - ROWS) ** 2).sum(axis=-1))
SIX = np.array(
    [
        [8.941332756404732, -2.4853230827143986, -1.1548845055030652, -9.38173288],
        [10.718564853064263, -1.1978190058826121, -3.4562732794985402, -8.63478290],
        [10.738153758759282, -3.170009495544706, -3.781111475048644, -5.94391621],
        [1.0748541233108728, -2.951557803427602, -2.4593619992603863, -1.32090852],
        [3.196001150536735, -0.9415501326270616, 0.28605683013120026, -1.13808199],
        [-5.304519565434273, -6.305591981168087, 6.637810140783329, -1.57308061],
    ]
)
FRAME = {"size": ["S", "M", "L", "S"], "year": [1, 2, 3, 4]}
RAGGED = [[1.0], [1.0, 2.0]]
PARTITION = CredalPartition.from_labels(np.repeat([0, 1], 10))
SETS = FocalSets.full(2)
MASSES = np.array([[0.1, 0.2, 0.3, 0.4]])

NOT_A_MATRIX = {
    "scalar": 1.5,
    "text": "abc",
    "vector": [1.0, 2.0],
    "three axes": np.zeros((2, 2, 2)),
    "ragged": [[1.0, 2.0], [3.0]],
    "no rows": np.zeros((0, 2)),
    "no columns": np.zeros((5, 0)),
    "strings": [["a", "b"]] * 5,
    "objects": np.array([[object(), 1.0]] * 5, dtype=object),
    "huge integers": [[10**400, 1]] * 5,
    "complex": np.ones((5, 2), dtype=complex),
    "sparse": csr_array(ROWS),
    "infinite": np.full((5, 2), np.inf),
    "NaN": np.full((5, 2), np.nan),
    "series": pd.Series([1.0, 2.0]),
    "categories": pd.DataFrame({"a": ["u", "v"] * 3}),
    "dictionary": {"X": [1.0]},
    "None": None,
}


@pytest.fixture(scope="module")
def fitted():
    return ECM(2, random_state=0).fit(ROWS)


@pytest.mark.parametrize("X", NOT_A_MATRIX.values(), ids=NOT_A_MATRIX)
def test_what_is_no_matrix_is_refused_by_name(X, fitted):
    # Warnings are errors here.
    calls = [
        # To some a table of categories is what they want.
        *(cls().fit for cls in estimator_classes() if not cls._is_for_categories),
        *(fitted.predict, fitted.transform, fitted.outlier_p_values),
        *(DissimilarityPCA().fit, delta_bel, suggest_n_clusters),
        lambda X: FDA().fit(X, [0, 1]),
        lambda X: NewClusterMonitor(fitted).fit(X),
        lambda X: NNEVCLUS().partial_fit(X),
        lambda X: CredalPartitionDisplay.from_partition(PARTITION, X),
        lambda X: NNEVCLUS(metric="precomputed").fit(X),
    ]
    if not isinstance(X, pd.DataFrame):
        calls += [cls().fit for cls in estimator_classes() if cls._is_for_categories]
    for call in calls:
        with pytest.raises((ValueError, TypeError), match=r"\bX\b"):
            call(X)


@pytest.mark.parametrize(
    "call",
    [
        lambda wrong: belief.belief(MASSES, wrong),
        lambda wrong: belief.pignistic(MASSES, wrong),
        lambda wrong: belief.plausibility(MASSES, wrong),
        lambda wrong: belief.commonality(MASSES, wrong),
        lambda wrong: belief.jaccard_matrix(wrong),
        lambda wrong: belief.belief_distance(MASSES, MASSES, wrong),
        lambda wrong: belief.conjunctive(MASSES, wrong, MASSES),
        lambda wrong: belief.conjunctive(MASSES, SETS, MASSES, wrong or 0),
    ],
)
@pytest.mark.parametrize("wrong", ["full", 3, None, [()]])
def test_other_things_are_no_focal_sets(call, wrong):
    with pytest.raises(ValueError, match=r"focal_sets must be a FocalSets, got"):
        call(wrong)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: belief.belief([[np.nan] * 4], SETS), "masses must be finite"),
        (lambda: belief.contour([[1e300] * 4], SETS), "masses must be finite"),
        (lambda: belief.entropy([[1j] * 4], SETS), "masses must be an array of num"),
        (lambda: belief.entropy([[10**400] * 4], SETS), "masses must be an array of"),
        (
            lambda: belief.conflict(np.ones((2, 4)), np.ones((3, 4)), SETS),
            r"second must have as many rows as first.*\(2, 4\) and \(3, 4\)",
        ),
        (lambda: belief.pairwise_masses(MASSES[0], SETS), "masses must have shape"),
        (
            lambda: belief.pairwise_blocks(MASSES, SETS, max_bytes=0),
            "max_bytes must be an integer >= 1",
        ),
        (lambda: belief.is_vacuous(MASSES, SETS, tol=slice(2)), "tol must be a finite"),
        (lambda: belief.pignistic(MASSES, SETS, normalize="no"), "normalize must be a"),
        (
            lambda: belief.masses_to_commonality(np.ones(3)),
            r"masses must have 2 \*\* n_clusters entries",
        ),
        (
            lambda: belief.commonality_to_masses([1j, 0]),
            "commonalities must be an array",
        ),
        (
            lambda: belief.dempster([0, 1, 0, 0], SETS, [0, 0, 1, 0]),
            "first and second must hold mass functions that are not in total conflict",
        ),
        (lambda: FocalSets.from_json("["), "text must be JSON"),
        (lambda: FocalSets.from_json(3), "text must be JSON"),
        (lambda: FocalSets.full(2, empty="no"), "empty must be a bool"),
        (lambda: FocalSets(2, np.array(3)), "subsets must be an iterable"),
        (lambda: FocalSets.pairs(2, [0]), "pairs: a subset must be an iterable"),
        (lambda: FocalSets(2, [(5,)]), "subsets: a subset must hold distinct clusters"),
        (lambda: PARTITION.allclose(3), "other must be a CredalPartition"),
        (lambda: PARTITION.allclose(PARTITION, atol=np.nan), "atol must be a finite"),
        (lambda: PARTITION.to_pandas([1]), "length of index"),
        (lambda: suggest_pairs(3, 2), "partition must be a CredalPartition"),
        (lambda: suggest_pairs(PARTITION, 2, random_state="x"), "random_state must be"),
        (lambda: random_pairs([0, 1], 1, random_state=0.5), "random_state must be"),
        (lambda: expand([[0, 1]], None, ROWS, metric=np.eye(2)), "metric must be a"),
        (lambda: expand([[0, 1]], None, ROWS, metric=len), "metric is not valid"),
        (lambda: delta_bel(ROWS, metric=len), "metric is not valid"),
        (lambda: delta_bel(ROWS * 1e153), "X must have distances that can be squared"),
        (lambda: make_bananas(radius=1e300), r"radius must be .*<= 1e\+50"),
        (lambda: make_four_class(shuffle="no"), "shuffle must be a bool"),
        (lambda: make_four_class(random_state=[]), "random_state must be"),
        (lambda: metrics.non_dominated([[10**400, 1]]), "scores must be numbers"),
        (lambda: credalis.compare(ROWS, 2, np.array(3)), "methods is not valid"),
        (lambda: credalis.compare(ROWS, 2, ["ECM"], 3), "y must "),
        (
            lambda: ConsistencyDisplay.from_scores(3, [0.1], [0.1]),
            "names must hold at least one name",
        ),
        (
            lambda: ConsistencyDisplay.from_scores(["a"], [1j], [0.1]),
            "ci must be an array of numbers",
        ),
        (lambda: FeatureDisplay.from_features(3, [0]), "features is not valid"),
        (
            lambda: ShepardDisplay.from_partition(PARTITION, MATRIX, scale=5e-324),
            "scale must lie between",
        ),
        (lambda: credalis.explain(PARTITION, RAGGED), "X is not valid"),
        (lambda: TablePreparation().fit(RAGGED), "X is not valid"),
        (lambda: TablePreparation(date_parts=3).fit(FRAME), "date_parts is not valid"),
        (lambda: TablePreparation(orders=...).fit(FRAME), "orders must be a mapping"),
        (lambda: TablePreparation(cyclic=[3]).fit(FRAME), "cyclic must be a mapping"),
        (lambda: EVCLUS(metric="gower").fit(RAGGED), "X is not valid"),
        (lambda: NNEVCLUS(module=len).fit(RAGGED), "X is not valid"),
        (
            lambda: NNEVCLUS(init=RAGGED).fit(ROWS, sample_weight=np.ones(20)),
            "init is not valid",
        ),
        (
            lambda: CredalPartitionDisplay.from_partition(
                PARTITION, ROWS, centers=RAGGED
            ),
            "centers is not valid",
        ),
        (
            lambda: CredalPartitionDisplay.from_partition(3, ROWS),
            "partition must be a CredalPartition",
        ),
        (lambda: Checkpoint(3), "path must be a text or a path, got int"),
        (lambda: credalis.load(["model"]), "path must be a text or a path, got list"),
        (lambda: credalis.load("a\0b"), "path must have no NUL character"),
        (lambda: select_n_clusters(ECM(), ROWS, np.array(3)), "n_clusters is not"),
        (lambda: select_n_clusters(ECM(), {}), "X must have rows"),
        (
            lambda: search(ECM(), {"n_init": [1]}, ROWS, scoring={}),
            "scoring must hold at least one",
        ),
        (
            lambda: search(ECM(), {"n_init": [1]}, ROWS, scoring=len, cv=[[0.5, 1.5]]),
            "cv must be a number of folds",
        ),
        (
            lambda: KFDA(kernel=lambda: 1).fit(ROWS, [0, 1] * 10),
            "kernel is not valid",
        ),
        (
            lambda: KFDA(kernel="poly", gamma=1.0).fit(ROWS * 1e100, [0, 1] * 10),
            "kernel must give finite values",
        ),
        (
            lambda: DissimilarityPCA().fit(MATRIX * 1e-200),
            "the largest entry of X must lie between",
        ),
    ],
)
def test_refused_by_name(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


@pytest.mark.parametrize(
    ("estimator", "X", "message"),
    [
        (ECM(np.uint8(2)), ROWS, "n_clusters must be an int, a float or a number of N"),
        (ECM(2, alpha=np.float16(1)), ROWS, "alpha must be an int, a float or"),
        (ECM(2, alpha=np.longdouble(1)), ROWS, "alpha must be an int, a float or"),
        (ECM(2, max_iter=np.timedelta64(5, "s")), ROWS, "max_iter must be an integer"),
        (BCM(1), np.full((8, 2), 1e200), "can be squared"),
        (
            ECM(2, init=np.full((2, 2), 1e200)),
            ROWS,
            "init must have distances that can",
        ),
        (MECM(2, metric="precomputed"), MATRIX * 1e160, "squares can be added"),
        (MECM(2, init=PARTITION), ROWS, "init "),
        (ECMdd(2, metric="seuclidean"), ROWS, "metric must not depend on which rows"),
        (
            EVCLUS(2, metric=lambda a, b: float("nan")),
            ROWS,
            "distances by metric .* nan",
        ),
        (NNEVCLUS(2, metric=lambda a, b: -1.0), ROWS, "distances by metric .* -1.0"),
        (EVCLUS(2, constraint_neighbors=99), ROWS, "constraint_neighbors must be"),
        (EVCLUS(2), np.r_[np.arange(10) * 1e-165, 1.0][:, None], "δ0 of X must be"),
        (EVCLUS(1), np.ones((5, 2)), "X must hold objects that differ"),
        (
            EVCLUS(1, solver="gradient", dissimilarity_scale=1.0),
            np.ones((5, 2)),
            "X must hold objects that differ",
        ),
        (EkNNclus(exponent=5.0), ROWS * 1e-100, "exponent must be such that"),
        (EkNNclus(exponent=40.0), ROWS * 1e-8, "exponent must be such that"),
        (EGMM(2, reg_covar=1e308), ROWS, "reg_covar must be smaller"),
        (EGMM(3, reg_covar=0.0, max_iter=2), SIX, "reg_covar must be larger"),
        (
            RECM(1, metric=PCA(1)),
            np.full((9, 3), 1e200),
            r"X must (be data that metric=|have distances)",
        ),
        (NNEVCLUS(2, device=np.array([1, 2])), ROWS, "device must be 'cpu'"),
    ],
    # Without addresses, which differ between the processes that share the tests.
    ids=lambda each: re.sub(" at 0x.*", "", str(each))[:40],
)
def test_parameters_and_data_are_refused_by_name(estimator, X, message):
    told = {"must_link": [[0, 1]]} if "constraint_n" in message else {}
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, **told)


def test_outliers_beyond_single_precision_are_named():
    far = ROWS.copy()
    far[0] = 1e150
    with pytest.raises(ValueError, match=r"X must .* as float32.* dtype='float64'"):
        NNEVCLUS(2, solver="adam", random_state=0).fit(far)
    with pytest.raises(ValueError, match=r"X must have .* as float32"):
        NNEVCLUS(2, random_state=0).partial_fit(ROWS).partial_fit(far)


@pytest.mark.parametrize(
    ("estimator", "X"),
    [
        (BPEC(1), np.full((6, 1), -3.5)),
        (BCM(1, metric="adaptive", delta=1e-40), ROWS),
        (ECMdd(2, prototypes="weighted", zeta=1e6), ROWS),
        (EVCLUS(1, pairs="landmarks", pairs_per_sample=1), ROWS),
        (EVCLUS(5, solver="gradient", entropy_weight=1e6), ROWS),
        (EVCLUS(2, dissimilarity_quantile=0.0), ROWS * 1e-20),
        (RECM(1, metric="l2"), ROWS),
        (MECM(6), ROWS),
        (ECM(2, focal_sets=FocalSets.from_subsets(2, [(0,), (1,)])), ROWS),
        (NNEVCLUS(2, metric="correlation"), np.c_[ROWS, ROWS[:, :1] ** 2]),
        (NNEVCLUS(2, solver="adam", early_stopping=True), ROWS),
    ],
    ids=lambda each: type(each).__name__,
)
def test_fits_and_predictions_without_a_warning(estimator, X):
    few = {"max_iter": 5, "n_init": 1, "random_state": 0}
    fitted = estimator.set_params(**few).fit(X)
    rows = np.concatenate([X, X[:3] * 1e200, np.full((1, X.shape[1]), 1e308)])
    partition = fitted.predict_partition(rows)
    np.testing.assert_allclose(partition.masses.sum(axis=1), 1.0)


@pytest.mark.parametrize("cls", [EkNNclus, EVCLUS, NNEVCLUS, RECM])
def test_rows_without_a_distance_are_far_away(cls):
    X = np.c_[ROWS, ROWS[:, :1] ** 2]
    fitted = cls(metric="correlation", max_iter=5, n_init=1, random_state=0).fit(X)
    # A row of equal numbers correlates with nothing.
    masses = fitted.predict_partition([[2.0, 2.0, 2.0]]).masses
    np.testing.assert_allclose(masses.sum(), 1.0)


def test_rows_beyond_a_pipeline_are_brought_nearer():
    metric = make_pipeline(StandardScaler(), PCA(1))
    fitted = ECM(2, metric=metric, random_state=0).fit(ROWS * 1e-3)
    masses = fitted.predict_partition([[1e308, -1e308], [0.0, 0.0]]).masses
    np.testing.assert_allclose(masses.sum(axis=1), 1.0)


def test_a_network_on_two_matrices():
    model = NNEVCLUS(2, metric="precomputed", max_iter=5, n_init=1, random_state=0)
    model.fit(MATRIX, dissimilarities=np.abs(ROWS[:, :1] - ROWS[:, 0]))
    assert model.predict(MATRIX).shape == (20,)


@pytest.mark.parametrize("name", ["NNEVCLUS", "ECM"])
def test_a_monitor_of_rows_at_the_end_of_the_numbers(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(credalis, name)(2, random_state=0).fit(ROWS)
    monitor = NewClusterMonitor(model, rejection_rate=0.5, radius=1e-300)
    monitor.fit(ROWS + 0.1)
    for _ in range(3):
        state = monitor.update([[1e200, -1.7e308], [-1.0, 1e154]])
    assert 0 <= state.p_value <= 1
    for proposed in monitor.propose():
        assert np.isfinite(proposed.center).all()
    with pytest.raises(ValueError, match=r"X must hold at least .* calibration"):
        NewClusterMonitor(model, rejection_rate=5e-324).fit(ROWS)


def test_buffers_are_arrays():
    model = ECM(2, random_state=0).fit(memoryview(ROWS))
    labels = np.repeat([0, 1], 10)
    model.calibrate(memoryview(ROWS + 0.01), "labels", labels)
    with pytest.raises(ValueError, match="X must have rows and columns"):
        model.calibrate(0.5, "labels", labels)
    with pytest.raises(ValueError, match="refit must be a bool"):
        model.calibrate(ROWS, "labels", labels, refit=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="labels must be integers"):
        model.calibrate(ROWS + 0.01, "labels", np.full(20, np.inf))


def test_objects_that_are_not_there_are_an_index_error():
    for wrong in ([99], [-99], [True], 0.5, [[0]], "a"):
        with pytest.raises(IndexError, match="objects must be"):
            PARTITION[wrong]


@pytest.mark.parametrize("encoding", ["utf-16", None])
def test_text_in_another_encoding_is_named(encoding, tmp_path):
    pytest.importorskip("pyarrow")
    from credalis.tables import open_table

    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n1,2\n3,\x81\n" if encoding is None else b"a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"data\.csv"):
        open_table(path, encoding=encoding).read()


def test_damaged_arrays_are_named(tmp_path):
    pytest.importorskip("pyarrow")
    from credalis.tables import open_table

    stream = io.BytesIO()
    np.save(stream, ROWS)
    path = tmp_path / "data.npy"
    path.write_bytes(stream.getvalue().replace(b"(20, 2)", b"((20,2 "))
    with pytest.raises(ValueError, match=r"data\.npy cannot be read"):
        open_table(path)
    stream = io.BytesIO()
    np.save(stream, np.array([["a", "b"]] * 5))
    path.write_bytes(stream.getvalue()[:-4] + b"\xff\xff\xff\x7f")
    with pytest.raises(ValueError, match=r"data\.npy"):
        open_table(path).read()


def test_a_label_of_outliers_fits_in_an_array():
    with pytest.raises(ValueError, match="outlier is not valid"):
        PARTITION.decide(outlier=2**70)


def test_rows_that_look_like_dissimilarities_are_rows():
    from credalis import EVCLUS

    X = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0], [5.0, 5.0, 0.0]])
    assert len(EVCLUS(2, random_state=0).fit(X).labels_) == 3


def test_components_of_equal_dissimilarities():
    from credalis.metric_learning import DissimilarityPCA

    D = 1.0 - np.eye(60)
    assert DissimilarityPCA(n_components=1).fit(D).transform(D).shape == (60, 1)
