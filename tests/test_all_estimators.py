"""The contract every estimator keeps."""

import io
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_info, threadpool_limits

import credalis
from credalis import (
    BCM,
    BPEC,
    CCM,
    CECM,
    ECM,
    EGMM,
    EVCLUS,
    MECM,
    NNEVCLUS,
    RECM,
    TECM,
    WMVEC,
    Bootclus,
    CatECM,
    Consensus,
    ECMdd,
    EkNNclus,
    FocalSets,
    MultiviewECMdd,
)
from credalis.cluster import estimator_classes
from helpers import assert_valid_partition

# Few iterations are enough for the contract.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    # Some of the data have no clusters.
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ContrastWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning"),
]

# The default and one further setting of each.
ESTIMATORS = [
    BCM(),
    BCM(n_clusters=3, focal_sets="singletons", alpha=0.0, gamma=0.5, init="peaks"),
    BPEC(),
    BPEC(n_clusters=3, metric="euclidean", beta=1.5, n_neighbors=5),
    CCM(),
    CCM(n_clusters=3, focal_sets="full", gamma=2.0, beta=1.5, init="peaks"),
    CECM(),
    CECM(n_clusters=3, metric="adaptive", penalty="paper", constraint_weight=0.2),
    ECM(),
    ECM(n_clusters=3, focal_sets="two-step", alpha=2.0, beta=1.5, delta=3.0),
    ECM(n_clusters=3, metric="adaptive", init="peaks"),
    RECM(),
    RECM(n_clusters=3, metric="manhattan", squared=True, beta=1.2, init="random"),
    ECMdd(),
    ECMdd(n_clusters=3, prototypes="weighted", alpha=1.0, beta=1.3, zeta=0.5),
    MultiviewECMdd(),
    MultiviewECMdd(
        n_clusters=3, weights="local", metric="manhattan", beta=1.3, init="k-medoids"
    ),
    MECM(),
    MECM(n_clusters=3, power=2, meta_dissimilarity="prototype", init="random"),
    EVCLUS(max_iter=20, n_init=2),
    EVCLUS(n_clusters=3, pairs="landmarks", pairs_per_sample=8, max_iter=10, n_init=1),
    NNEVCLUS(max_iter=100, n_init=2),
    NNEVCLUS(
        n_clusters=3,
        solver="adam",
        hidden_layer_sizes=(8, 8),
        novelty_detector="ocsvm",
        init="k-means++",
        weight_decay=1e-4,
        max_iter=20,
    ),
    EkNNclus(),
    EkNNclus(n_neighbors=8, quantile=0.9, exponent=2.0, metric="cityblock", n_init=2),
    Bootclus(n_bootstrap=20),
    Bootclus(
        n_clusters=3,
        focal_sets="two-step",
        covariance_type="tied",
        n_bootstrap=10,
        confidence=0.8,
        n_init=1,
    ),
    EGMM(),
    EGMM(n_clusters=3, focal_sets="two-step", covariance_type="full", reg_covar=1e-3),
    EGMM(n_clusters=3, covariance_type="diag", init="k-means++", n_init=2),
    TECM(),
    TECM(n_clusters=3, transfer=0.0, alpha=2.0, beta=1.5, init="k-means++", n_init=2),
    WMVEC(),
    WMVEC(n_clusters=3, feature_entropy=1.0, beta=1.5, init="k-means++", n_init=2),
    CatECM(),
    CatECM(
        focal_sets="singletons",
        prototypes="shares",
        alpha=2.0,
        beta=1.3,
        delta=2.0,
        n_bins=8,
    ),
    Consensus(),
    Consensus(n_clusters=2, metric="gower"),
    Consensus(
        n_clusters=3,
        members=["full", "ward", "bpec"],
        adequacy_gate=False,
        committee_size=60,
        hidden_layer_sizes=(8, 8),
        weight_decay=0.01,
        empty_set="nothing",
        max_iter=20,
    ),
]

# A new one is under the contract as soon as it is registered.
ESTIMATORS += [
    cls()
    for cls in estimator_classes()
    if cls not in {type(each) for each in ESTIMATORS}
]

FIRST_OF_EACH_CLASS = list({type(each): each for each in ESTIMATORS[::-1]}.values())

# Their docstrings say how prediction differs from the fit.
PREDICTS_OTHERWISE = (EVCLUS, EkNNclus, Bootclus)


def quick(estimator):
    """The same with one start, few iterations and few bootstrap samples."""
    few = {"n_init": 1, "n_bootstrap": 5, "max_iter": 5}
    if isinstance(estimator, NNEVCLUS):
        few["max_iter"] = 20  # with fewer it finds none of the clusters
    known = few.keys() & estimator.get_params()
    return clone(estimator).set_params(**{name: few[name] for name in known})


# None of the checks looks at how many starts there are, or at their end.
@pytest.mark.filterwarnings("ignore:n_clusters=1:UserWarning")
@pytest.mark.filterwarnings("ignore:all objects are in one cluster:UserWarning")
@parametrize_with_checks([quick(each) for each in FIRST_OF_EACH_CLASS])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:n_clusters=1:UserWarning")
@pytest.mark.filterwarnings("ignore:all objects are in one cluster:UserWarning")
@parametrize_with_checks(
    [quick(each) for each in ESTIMATORS if each not in FIRST_OF_EACH_CLASS]
)
def test_scikit_learn_contract_with_other_parameters(estimator, check):
    check(estimator)


def for_each(estimators, name="estimator"):
    """Run a test once for each of these estimators."""
    return pytest.mark.parametrize(
        name, list(estimators), ids=lambda each: type(each).__name__, indirect=True
    )


def often_or_slow(estimators):
    """The first of each class; what else there is where time is no matter."""
    return [
        pytest.param(
            each, marks=() if each in FIRST_OF_EACH_CLASS else pytest.mark.slow
        )
        for each in estimators
    ]


@pytest.fixture(params=often_or_slow(ESTIMATORS), ids=lambda each: type(each).__name__)
def estimator(request):
    """Not fitted; with one start only, unless a test is about starts."""
    return quick(request.param).set_params(random_state=0)


with_n_clusters = for_each(
    [each for each in ESTIMATORS if "n_clusters" in each.get_params()]
)


@pytest.fixture(scope="module")
def X():
    return make_blobs(120, centers=4, cluster_std=1.2, random_state=3)[0]


@pytest.fixture(scope="module", params=ESTIMATORS, ids=lambda each: type(each).__name__)
def fitted(request, X):
    """Fitted to X, for tests that change nothing about it."""
    return clone(request.param).set_params(random_state=0).fit(X)


def test_fit_gives_a_valid_partition_and_attributes(fitted, X):
    assert_valid_partition(fitted.partition_, n_samples=len(X))
    assert fitted.partition_.focal_sets == fitted.focal_sets_
    np.testing.assert_array_equal(fitted.labels_, fitted.partition_.labels)
    assert fitted.loss_ == fitted.history_[-1]
    assert len(fitted.history_) == fitted.n_iter_


def test_prediction_on_the_training_data_is_the_fit(fitted, X):
    if isinstance(fitted, PREDICTS_OTHERWISE):
        # Nearly the same, and the same clusters but for doubtful objects.
        assert np.mean(fitted.predict(X) == fitted.labels_) >= 0.95
        return
    assert fitted.predict_partition(X) == fitted.partition_
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    np.testing.assert_array_equal(fitted.transform(X), fitted.partition_.masses)
    np.testing.assert_array_equal(fitted.predict_proba(X), fitted.partition_.pignistic)


def test_a_calibrated_model_gives_sets_with_a_level(fitted, X, tmp_path):
    model = pickle.loads(pickle.dumps(fitted))
    # New rows, the half of them with another class than the model says.
    rows = X[:60] + 0.01
    labels = model.predict(rows)
    labels[::2] = labels[0]
    model.calibrate(rows, "labels", labels)
    sets = model.predict_sets(X, 0.6)
    assert sets.shape == (len(X), model.focal_sets_.n_clusters)
    assert sets[np.arange(len(X)), model.predict(X)].all()
    model.save(tmp_path / "model")
    loaded = credalis.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_sets(X, 0.6), sets)


def test_the_result_ignores_y(estimator, X, rng):
    y = rng.integers(2, size=len(X))
    assert clone(estimator).fit(X, y).partition_ == estimator.fit(X).partition_


def test_same_seed_same_bits_for_any_number_of_jobs(estimator, X, seed):
    estimator.set_params(random_state=seed, n_init=2)
    alone = clone(estimator).set_params(n_jobs=1).fit(X)
    together = clone(estimator).set_params(n_jobs=2).fit(X)
    assert alone.partition_ == together.partition_
    np.testing.assert_array_equal(alone.history_, together.history_)


def test_fit_runs_on_one_thread(estimator, X, monkeypatch):
    # Several would round sums in another way, and wait for each other.
    seen = []

    class Terminal(io.StringIO):
        def write(self, text):
            seen.append({library["num_threads"] for library in threadpool_info()})
            return super().write(text)

    monkeypatch.setattr("sys.stderr", Terminal())
    with threadpool_limits(limits=2):
        estimator.set_params(verbose=1).fit(X)
    assert seen
    assert all(numbers == {1} for numbers in seen)


def test_same_numbers_same_bits_however_they_lie_in_memory(estimator, X):
    by_rows = clone(estimator).fit(np.ascontiguousarray(X))
    by_columns = clone(estimator).fit(np.asfortranarray(X))
    assert by_columns.partition_ == by_rows.partition_


def test_processes_give_the_same_bits_as_threads(estimator, X):
    estimator.set_params(n_init=2)
    alone = clone(estimator).fit(X)
    with parallel_config(backend="loky", n_jobs=2):
        together = clone(estimator).fit(X)
    assert alone.partition_ == together.partition_


# The starts of Bootclus are those of the mixture, whose likelihood decides.
@for_each([each for each in ESTIMATORS if not isinstance(each, Bootclus)])
def test_more_starts_never_give_a_higher_loss(estimator, X):
    one = clone(estimator).set_params(n_init=1).fit(X)
    many = clone(estimator).set_params(n_init=8).fit(X)
    assert many.loss_ <= one.loss_ * (1 + 1e-6)


def test_copies_are_equal(fitted, X, tmp_path):
    path = tmp_path / "model.credalis"
    fitted.save(path)
    credalis.load(path).save(tmp_path / "again.credalis")
    assert (tmp_path / "again.credalis").read_bytes() == path.read_bytes()
    for copy in (pickle.loads(pickle.dumps(fitted)), credalis.load(path)):
        assert type(copy) is type(fitted)
        assert copy.get_params() == fitted.get_params()
        assert copy.partition_ == fitted.partition_
        assert copy.predict_partition(X + 0.1) == fitted.predict_partition(X + 0.1)
        np.testing.assert_array_equal(copy.history_, fitted.history_)


def test_unfitted_estimator_is_not_saved(estimator, tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        estimator.save(tmp_path / "model.credalis")
    assert list(tmp_path.iterdir()) == []


def test_parameter_without_a_file_form_is_named(estimator, X, tmp_path):
    estimator.set_params(random_state=np.random.RandomState(0)).fit(X)
    with pytest.raises(ValueError, match=r"random_state cannot be saved.*skops"):
        estimator.save(tmp_path / "model.credalis")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_keep_their_names(estimator, X, frame):
    table = frame({"height": X[:, 0], "weight": X[:, 1]})
    named = clone(estimator).fit(table)
    assert named.feature_names_in_.tolist() == ["height", "weight"]
    np.testing.assert_array_equal(named.predict(table), estimator.fit(X).predict(X))


def test_tables_of_a_result_have_the_index_of_the_frame(estimator, X):
    index = pd.Index([f"row {i}" for i in range(len(X))], name="key")
    table = pd.DataFrame(X, index=index)
    table.columns = [f"x{j}" for j in range(X.shape[1])]
    estimator.fit(table)
    assert estimator.partition_.to_pandas().index.equals(index)
    predicted = estimator.predict_partition(table.iloc[3:7]).to_pandas()
    assert predicted.index.tolist() == index[3:7].tolist()


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_transform_returns_frames_named_after_the_focal_sets(estimator, X, output):
    frame = estimator.set_output(transform=output).fit_transform(X)
    assert list(frame.columns) == list(estimator.focal_sets_.names)


def test_estimator_works_in_a_pipeline(estimator, X):
    pipeline = make_pipeline(StandardScaler(), estimator)
    expected = clone(estimator).fit(StandardScaler().fit_transform(X)).labels_
    np.testing.assert_array_equal(pipeline.fit_predict(X), expected)


def test_a_search_finds_what_scores_best(estimator, X):
    has_number = "n_clusters" in estimator.get_params()
    name, sign = ("n_clusters", 1) if has_number else ("n_neighbors", -1)

    def score(fitted, X, y=None):
        return sign * fitted.predict_partition(X).n_clusters

    # Most clusters, or the fewest, which EkNNclus finds with many neighbours.
    search = GridSearchCV(estimator, {name: [2, 6]}, scoring=score, cv=2)
    assert search.fit(X).best_params_ == {name: 6}
    direct = clone(estimator).set_params(**{name: 6}).fit(X)
    assert search.best_estimator_.partition_ == direct.partition_


def test_sparse_data_is_refused(estimator, X):
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match="Sparse data"):
        estimator.fit(csr_array(X))


def test_sample_weights_count_or_are_refused(estimator, X):
    weights = np.ones(len(X))
    if not has_fit_parameter(estimator, "sample_weight"):
        with pytest.raises(TypeError, match="sample_weight"):
            estimator.fit(X, sample_weight=weights)
        return
    fitted = quick(estimator).fit(X, sample_weight=weights)
    assert_valid_partition(fitted.partition_)
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        estimator.fit(X, sample_weight=-weights)


@pytest.mark.parametrize(
    ("focal_sets", "n_clusters", "expected"),
    [
        ("singletons", 3, FocalSets.singletons(3)),
        ("pairs", 5, FocalSets.pairs(5)),
        ("full", 3, FocalSets.full(3)),
        (FocalSets.pairs(3, [(0, 1)]), 3, FocalSets.pairs(3, [(0, 1)])),
    ],
)
@with_n_clusters
def test_focal_sets_are_the_ones_asked_for(
    estimator, X, focal_sets, n_clusters, expected
):
    estimator.set_params(n_clusters=n_clusters, focal_sets=focal_sets)
    assert estimator.fit(X).focal_sets_ == expected


@pytest.mark.parametrize(
    ("n_clusters", "expected"), [(4, FocalSets.pairs(4)), (5, FocalSets.singletons(5))]
)
@with_n_clusters
def test_automatic_focal_sets_are_pairs_of_few_clusters(
    estimator, X, n_clusters, expected
):
    if isinstance(estimator, Bootclus):
        # Its published setting, whatever the number.
        expected = FocalSets.pairs(n_clusters, frame=False)
    if isinstance(estimator, Consensus):
        # Its members are about single clusters.
        expected = FocalSets.singletons(n_clusters)
    estimator.set_params(n_clusters=n_clusters, focal_sets="auto")
    assert estimator.fit(X).focal_sets_ == expected


@with_n_clusters
def test_two_steps_add_only_some_pairs(estimator, X):
    estimator.set_params(n_clusters=4, focal_sets="two-step")
    focal_sets = estimator.fit(X).focal_sets_
    assert set(FocalSets.singletons(4)) < set(focal_sets) < set(FocalSets.pairs(4))


def test_verbose_writes_to_standard_error_only(estimator, X, capsys):
    estimator.set_params(verbose=1).fit(X)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "loss" in shown.err


BAD_DATA = {
    "NaN": ([[0.0, np.nan], [1, 2], [3, 4]], "NaN"),
    "infinity": ([[0.0, np.inf], [1, 2], [3, 4]], "infinity"),
    "text": ([["a", "b"], ["c", "d"], ["e", "f"]], "string|could not convert"),
    "ragged": ([[0.0, 1.0], [1.0], [2.0, 3.0]], "inhomogeneous|setting an array"),
    "no rows": (np.empty((0, 2)), "0 sample"),
    "no columns": (np.empty((5, 0)), "0 feature"),
    "one row": ([[0.0, 1.0]], "1 sample"),
    "a vector": ([0.0, 1.0, 2.0], "1D array"),
    "duplicates": (np.ones((10, 2)), "distinct"),
}


@pytest.mark.parametrize("kind", BAD_DATA)
def test_bad_data_is_a_value_error_that_says_what_came(estimator, kind):
    if kind in ("NaN", "text") and estimator.__sklearn_tags__().input_tags.string:
        pytest.skip("cells may be missing, and may be text")
    data, message = BAD_DATA[kind]
    if kind in ("NaN", "text") and get_tags(estimator).input_tags.allow_nan:
        pytest.skip("such data are what Gower's dissimilarity is for")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with pytest.raises(ValueError, match=message):
            estimator.fit(data)


BAD_PARAMETERS = [
    ({"n_clusters": 0}, r"n_clusters must be an integer >= 1, got 0"),
    ({"n_clusters": 2.0}, r"n_clusters must be an integer >= 1, got 2.0"),
    ({"n_clusters": "2"}, r"n_clusters must be an integer >= 1, got '2'"),
    ({"n_clusters": 500}, r"n_clusters must not exceed.*n_clusters=500 and \d+"),
    ({"n_init": 0}, r"n_init must be an integer >= 1, got 0"),
    ({"n_init": "many"}, r"n_init must be one of 'auto', got 'many'"),
    ({"max_iter": 0}, r"max_iter must be an integer >= 1, got 0"),
    ({"max_iter": "many"}, r"max_iter must be .* got 'many'"),
    ({"n_jobs": 0}, r"n_jobs must be .* got 0"),
    ({"n_jobs": "all"}, r"n_jobs must be an integer, got 'all'"),
    ({"random_state": "x"}, r"random_state must be None, an integer .* got 'x'"),
    ({"random_state": -1}, r"random_state must be an integer >= 0 .* got -1"),
    ({"init": 5}, r"init must .* got (5|\(\))"),
    ({"init": [[None, 1]] * 3, "n_clusters": 3}, r"init must .* got "),
    ({"init": 10**400}, r"init must .* got "),
    ({"delta": 1e300}, r"delta must lie between .* got 1e\+300"),
    ({"dissimilarity_scale": 1e300}, r"dissimilarity_scale must lie .* got 1e\+300"),
    ({"symmetrize": "no"}, r"symmetrize must be a bool, got 'no'"),
    ({"squared": "no"}, r"squared must be a bool, got 'no'"),
    ({"warm_start": "no"}, r"warm_start must be a bool, got 'no'"),
    ({"early_stopping": "no"}, r"early_stopping must be a bool, got 'no'"),
    ({"power": np.ones(2)}, r"power must be .* got array"),
    ({"delta_exponent": np.ones(2)}, r"delta_exponent must be .* got array"),
    ({"n_components": 0}, r"n_components must be an integer >= 1, got 0"),
    ({"tol": -1.0}, r"tol must be a finite number >= 0, got -1.0"),
    ({"focal_sets": "triples"}, r"focal_sets must be one of .* got 'triples'"),
    ({"focal_sets": 3}, r"focal_sets must be one of .* got 3"),
    (
        {"focal_sets": FocalSets.full(5), "n_clusters": 3},
        r"focal_sets must be about n_clusters=3 clusters, got sets of 5",
    ),
    (
        {"focal_sets": FocalSets.from_subsets(2, [(), (0,)]), "n_clusters": 2},
        r"every cluster must be in a focal set",
    ),
    ({"focal_sets": "full", "n_clusters": 13}, r"n_clusters .* <= 12, got 13"),
]


def has(estimator, parameters):
    return parameters.keys() <= estimator.get_params().keys()


def test_every_bad_parameter_is_one_of_some_estimator():
    for parameters, _ in BAD_PARAMETERS:
        assert any(has(each, parameters) for each in ESTIMATORS), parameters


@pytest.mark.parametrize(
    ("estimator", "parameters", "message"),
    [
        pytest.param(each, *bad, id=f"{type(each).__name__}-{next(iter(bad[0]))}")
        for each in ESTIMATORS
        for bad in BAD_PARAMETERS
        if has(each, bad[0])
    ],
    indirect=["estimator"],
)
def test_bad_parameter_is_a_value_error_that_names_it(
    estimator, X, parameters, message
):
    with pytest.raises(ValueError, match=message):
        estimator.set_params(**parameters).fit(X)


def squares(estimator):
    if get_tags(estimator).input_tags.categorical:
        return False
    return estimator.get_params().get("metric") not in (
        "manhattan",
        "cityblock",
        "gower",
    )


@pytest.mark.parametrize("unit", [1e-200, 1e200])
@for_each(filter(squares, ESTIMATORS))
def test_units_that_cannot_be_squared_are_refused(estimator, X, unit):
    message = r"can be squared|distances .* (finite|are 0$)"
    with pytest.raises(ValueError, match=message):
        estimator.fit(X * unit)


def reaches_far(estimator):
    return not isinstance(estimator, (Bootclus, EkNNclus))


@for_each(filter(reaches_far, ESTIMATORS), "fitted")
def test_objects_at_the_end_of_the_numbers_get_masses(fitted):
    masses = fitted.predict_partition([[1e300, 1e300]]).masses
    np.testing.assert_allclose(masses.sum(), 1.0)


def test_wrong_number_of_features_at_prediction(fitted):
    with pytest.raises(ValueError, match="expecting 2 features"):
        fitted.predict(np.ones((3, 5)))


@with_n_clusters
def test_one_cluster_is_a_warning(estimator, X):
    with pytest.warns(UserWarning, match="n_clusters=1 tells only outliers"):
        estimator.set_params(n_clusters=1).fit(X)
    assert_valid_partition(estimator.partition_)


def test_one_column_is_enough(estimator, X):
    assert_valid_partition(estimator.fit(X[:, :1]).partition_, n_samples=len(X))
