"""What files may hold: the words of a schema, and files that break one."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)

import credalis
from credalis import (
    ECM,
    EGMM,
    EVCLUS,
    NNEVCLUS,
    TECM,
    WMVEC,
    Bootclus,
    Consensus,
    ECMdd,
    EkNNclus,
    FocalSets,
    MultiviewECMdd,
    _archive,
)
from credalis._archive import (
    Array,
    Choice,
    Each,
    Fields,
    Flag,
    Instance,
    Integer,
    Named,
    Nothing,
    Number,
    OneOf,
    Plain,
    Text,
)
from credalis.cluster import estimator_classes
from credalis.exceptions import PowerWarning
from credalis.metric_learning import KFDA, LSI, PCCA, DissimilarityPCA
from credalis.streaming import NewClusterMonitor
from helpers import contents, write

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning"),
]


@pytest.mark.parametrize(
    ("rule", "value", "message"),
    [
        (Number(above=0), float("nan"), r"a finite number > 0, got nan"),
        (Number(above=0), 0, r"> 0, got 0"),
        (Number(), "1", r"a finite number, got '1'"),
        (Number(above=0), 10**30, r"a number of 64 bits, got 1e\+30"),
        (Number(or_infinite=True), float("nan"), "got nan"),
        (Integer(at_least=1), 1.0, "an integer >= 1, got 1.0"),
        (Integer(size="n"), 4, r"must be n = 3, got 4"),
        (Flag(), 1, "a bool, got 1"),
        (Text(), 1, "text, got 1"),
        (Choice("a", "b"), "c", "one of 'a', 'b', got 'c'"),
        (Nothing(), 0, "None, got 0"),
        (OneOf(Nothing(), Integer()), "x", "an integer, got 'x'"),
        (Array("f", (None,)), [1.0], r"an array of floats, got \[1.0\]"),
        (Array("f", (None,)), np.ones(2, int), "an array of floats, got one of int64"),
        (Array("f", (None,)), np.ones((2, 2)), r"1 axes, got shape \(2, 2\)"),
        (Array("f", ("n",)), np.ones(2), r"x\.shape\[0\] must be n = 3, got 2"),
        (Array("f", (None, 2)), np.ones((2, 3)), r"x\.shape\[1\] must be 2, got 3"),
        (Array("f", (None,)), np.array([1, np.inf]), "each entry of x .* got inf"),
        (Array("f", (None,)), np.array([np.nan, 1]), "each entry of x .* got nan"),
        (Array("f", (None,), above=0), np.zeros(1), "> 0, got 0.0"),
        (Array("i", (None,), at_least=0), np.array([-1]), ">= 0, got -1"),
        (Array("i", (None,), below="n"), np.array([0, 3]), "less than n = 3, got 3"),
        (Array("i", (None,), is_ascending=True), np.array([1, 1]), "be ascending"),
        (Instance(FocalSets), 3, "a FocalSets, got int 3"),
        (Each(Integer()), 3, "a list of at least 0 items, got 3"),
        (Each(Integer(), at_least=1), [], "at least 1 items"),
        (Each(Integer()), [1, "a"], r"x\[1\] must be an integer, got 'a'"),
        (Named(Integer()), {1: 1}, "a dictionary"),
        (Named(Integer()), {"a": "b"}, r"x\['a'\] must be an integer"),
        (Plain(), {"a": [np.ones(1)]}, r"x\['a'\]\[0\] must be text or a number"),
        (Fields({}), 3, "a dictionary, got 3"),
        (Fields({"a": Text()}), {}, r"x\.a is missing"),
        (Fields({"a": Text()}), {"a": "", "b": ""}, r"x\.b is not declared"),
        (Fields({}, {"a": Text()}), {"a": 1}, r"x\.a must be text"),
    ],
)
def test_rules_say_what_is_wrong(rule, value, message):
    with pytest.raises(ValueError, match=message):
        rule.check("x", value, {"n": 3})


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (Number(above=0), 1e-300),
        (Number(or_infinite=True), float("-inf")),
        (Integer(size="n"), np.int64(3)),
        (OneOf(Nothing(), Integer()), None),
        (Array("f", ("n", None)), np.ones((3, 0))),
        (Array("i", (None,), below="unknown"), np.array([9])),
        (Array("U", (None,)), np.array(["a"], dtype=object)),
        (Plain(), {"a": [1, 2.0, None, "text", True]}),
        (Fields({"a": Text()}, {"b": Text()}), {"a": ""}),
    ],
)
def test_rules_let_pass_what_they_allow(rule, value):
    rule.check("x", value, {"n": 3})


def test_the_first_entry_says_how_large_a_size_is():
    rule = Fields({"a": Array("f", ("n",)), "b": Array("f", ("n", "n"))})
    rule.check("x", {"a": np.ones(2), "b": np.ones((2, 2))}, {})
    with pytest.raises(ValueError, match=r"x\.b\.shape\[1\] must be n = 2, got 3"):
        rule.check("x", {"a": np.ones(2), "b": np.ones((2, 3))}, {})


def test_a_rule_that_is_not_the_one_leaves_no_sizes():
    sizes = {}
    OneOf(Array("f", ("n", 2)), Array("f", ("n",))).check("x", np.ones(5), sizes)
    assert sizes == {"n": 5}


def test_a_class_without_a_schema_has_no_files():
    class Stranger(_archive.SavedFields):
        pass

    with pytest.raises(AttributeError, match="_schema"):
        _archive.register(Stranger)


X = make_blobs(60, centers=3, cluster_std=1.0, random_state=3)[0]
D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
Y = (X[:, 0] > X[:, 0].mean()).astype(int)

MODELS = {
    **{
        cls.__name__: (cls(), X)
        for cls in estimator_classes()
        if cls.__name__ not in ("NNEVCLUS", "Bootclus", "EVCLUS")
    },
    "EVCLUS": (EVCLUS(3, max_iter=10, n_init=1), X),
    "EVCLUS, gradient": (EVCLUS(3, solver="gradient", max_iter=10, n_init=1), X),
    "EVCLUS, matrix": (EVCLUS(3, metric="precomputed", max_iter=5, n_init=1), D),
    "ECM, adaptive": (ECM(3, metric="adaptive"), X),
    "ECM, PCA": (ECM(3, metric=PCA(1)), X),
    "ECMdd, weighted": (ECMdd(3, prototypes="weighted"), X),
    "ECMdd, matrix": (ECMdd(3, metric="precomputed"), D),
    "Consensus, matrix": (Consensus(3, metric="precomputed"), D),
    "Consensus, PCA": (Consensus(3, metric=PCA(1)), X),
    "EkNNclus, matrix": (EkNNclus(metric="precomputed"), D),
    "MultiviewECMdd, local": (
        MultiviewECMdd(3, views=[[0], [1]], weights="local"),
        X,
    ),
    "TECM, source": (TECM(3, source_centers=X[:4]), X),
    "WMVEC, views": (WMVEC(3, views=[[0], [1]], feature_entropy=1.0), X),
    "EGMM, full": (EGMM(3, covariance_type="full"), X),
    "EGMM, diag": (EGMM(3, covariance_type="diag"), X),
    "NNEVCLUS": (NNEVCLUS(3, max_iter=20, n_init=1), X),
    "NNEVCLUS, ocsvm": (
        NNEVCLUS(3, novelty_detector="ocsvm", max_iter=20, n_init=1),
        X,
    ),
    "NNEVCLUS, views": (
        NNEVCLUS(3, views=[[0], [1]], max_iter=20, n_init=1),
        X,
    ),
    "NNEVCLUS, matrix": (
        NNEVCLUS(3, metric="precomputed", max_iter=20, n_init=1),
        D,
    ),
    "Bootclus": (Bootclus(3, n_bootstrap=5, n_init=1), X),
    "Bootclus, diag": (Bootclus(3, covariance_type="diag", n_bootstrap=5), X),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    estimator, data = MODELS[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).set_params(random_state=0).fit(data), data


@pytest.fixture
def content(model, tmp_path):
    """Header and arrays of the file of a model, and a function that writes it."""
    path = tmp_path / "model.credalis"
    model[0].save(path)
    return contents(path), lambda *changed: write(path, *changed), path


def entries(value, path=()):
    """All fitted entries below an encoded value: where they are, and what."""
    if isinstance(value, dict):
        inner = value.get("items") if value.get("is") in ("dict", "list") else None
        if value.get("is") == "array":
            yield path, value
        elif value.get("is") in ("tuple", "strings", "FocalSets"):
            return
        elif inner is not None:
            pairs = enumerate(inner) if isinstance(inner, list) else inner.items()
            for key, item in pairs:
                yield from entries(item, (*path, key))
        else:
            state = value["state"]
            if "fitted" in state:
                state = state["fitted"]["items"]
            for key, item in state.items():
                yield from entries(item, (*path, key))
    else:
        yield path, value


def name_of(path):
    """The last part of a path that is a name."""
    return next(part for part in reversed(path) if isinstance(part, str))


def test_a_loaded_model_gives_the_same_file(content, tmp_path):
    path = content[2]
    again = tmp_path / "again.credalis"
    credalis.load(path).save(again)
    assert again.read_bytes() == path.read_bytes()


def test_arrays_with_nan_are_refused_by_name(content):
    (header, arrays), rewrite, path = content
    found = 0
    for where, value in entries(header["object"]):
        if not (isinstance(value, dict) and arrays[value["name"]].dtype.kind == "f"):
            continue
        good = arrays[value["name"]]
        if good.size == 0:
            continue
        bad = good.copy()
        bad.flat[-1] = np.nan
        rewrite(header, {**arrays, value["name"]: bad})
        with pytest.raises(ValueError, match=rf"{name_of(where)}.* must be .*nan"):
            credalis.load(path)
        found += 1
    assert found >= 2


# Nothing else says how many of them there are.
FREE = {"history_", "constrained_rows_", "points", "columns", "scores"}


def test_arrays_of_another_shape_are_refused(content):
    (header, arrays), rewrite, path = content
    for where, value in entries(header["object"]):
        if not isinstance(value, dict) or name_of(where) in FREE:
            continue
        good = arrays[value["name"]]
        # Columns of a matrix have no points that count them.
        if good.size and name_of(where) not in ("landmarks_", "references_"):
            rewrite(header, {**arrays, value["name"]: good[:-1]})
            with pytest.raises(ValueError, match="must "):
                credalis.load(path)
        rewrite(header, {**arrays, value["name"]: good[..., None]})
        with pytest.raises(ValueError, match=rf"{name_of(where)}.* must "):
            credalis.load(path)


def test_indices_out_of_range_are_refused(content):
    (header, arrays), rewrite, path = content
    for where, value in entries(header["object"]):
        if not (isinstance(value, dict) and arrays[value["name"]].dtype.kind == "i"):
            continue
        good = arrays[value["name"]]
        if good.size == 0:
            continue
        for wrong in (-2, 10**9):
            bad = good.copy()
            bad.flat[0] = wrong
            rewrite(header, {**arrays, value["name"]: bad})
            if name_of(where) == "references_" and wrong > 0 and good.size == 1:
                continue
            with pytest.raises(ValueError, match=f"{name_of(where)}"):
                credalis.load(path)


def test_numbers_that_are_none_are_refused_by_name(content):
    (header, arrays), rewrite, path = content
    fitted = header["object"]["state"]["fitted"]["items"]
    names = [
        name
        for name, value in fitted.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    ]
    assert "loss_" in names
    for name in names:
        for wrong in (float("nan"), "1"):
            good, fitted[name] = fitted[name], wrong
            rewrite(header, arrays)
            with pytest.raises(ValueError, match=rf"{name} must be .*got"):
                credalis.load(path)
            fitted[name] = good


def test_entries_that_are_not_known_are_refused(content):
    (header, arrays), rewrite, path = content
    fitted = header["object"]["state"]["fitted"]["items"]
    for name in ("predict_partition", "_stream", "further_", "__class__"):
        fitted[name] = 1
        rewrite(header, arrays)
        with pytest.raises(ValueError, match=rf"{name} is not declared"):
            credalis.load(path)
        del fitted[name]


def test_a_file_without_an_entry_is_refused_or_predicts(content, model):
    (header, arrays), rewrite, path = content
    fitted = header["object"]["state"]["fitted"]["items"]
    fields = type(model[0])._schema.fitted
    expected = model[0].predict_partition(model[1])
    for name in list(fitted):
        left = {key: value for key, value in fitted.items() if key != name}
        header["object"]["state"]["fitted"]["items"] = left
        used = _archive._objects._array_names(header["object"])
        rewrite(header, {key: arrays[key] for key in used})
        if name in fields.required:
            with pytest.raises(ValueError, match=f"{name} is missing"):
                credalis.load(path)
        elif name in ("partition_", "labels_", "history_", "stress_", "kkt_residual_"):
            assert credalis.load(path).predict_partition(model[1]) == expected


def test_parameters_are_checked_by_name(content):
    (header, arrays), rewrite, path = content
    parameters = header["object"]["state"]["parameters"]["items"]
    for name, wrong in (("outlier_rate", 7.0), ("max_iter", -1), ("n_jobs", "all")):
        if name in parameters:
            good, parameters[name] = parameters[name], wrong
            rewrite(header, arrays)
            with pytest.raises(ValueError, match=f"{name} must be"):
                credalis.load(path)
            parameters[name] = good


def test_an_attribute_that_is_not_declared_is_not_saved(model, tmp_path):
    estimator = model[0]
    estimator.further_ = 1
    try:
        with pytest.raises(ValueError, match=r"\.further_ is not declared"):
            estimator.save(tmp_path / "model.credalis")
    finally:
        del estimator.further_
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "attribute", "wrong", "message"),
    [
        ("NNEVCLUS", "scale_", float("nan"), r"NNEVCLUS\.scale_ must be .* > 0, got"),
        ("NNEVCLUS", "scale_", 0.0, r"NNEVCLUS\.scale_ must be .* > 0, got 0.0"),
        ("NNEVCLUS", "metric_", "nonsense", r"metric_ must be one of"),
        ("NNEVCLUS", "n_features_in_", 5, "must be n_features|must be 2|n_dimensions"),
        ("NNEVCLUS", "weights_", [], r"weights_ must be a list of at least 1"),
        ("NNEVCLUS", "focal_sets_", FocalSets.full(2), "must be n_"),
        (
            "ECM",
            "delta_",
            -1.0,
            r"ECM\.delta_ must be a finite number > 0 and .*, got -1.0",
        ),
        ("ECM", "beta_", 1.0, r"ECM\.beta_ must be a finite number > 1, got 1.0"),
        ("ECM", "transformer_", FocalSets.full(2), "must be a transformer"),
        ("ECM", "transformer_", PCA(1), "must be fitted"),
        ("ECM", "reference_", None, "must be a NeighborNovelty or a Calibration"),
        ("EVCLUS", "scale_", -1.0, r"EVCLUS\.scale_ must be"),
        ("EkNNclus", "n_neighbors_", 10**9, "must not exceed the 60 objects"),
        ("EkNNclus", "metric_", "precomputed", "just without points_"),
        ("Bootclus", "covariance_type_", "diag", "covariances_ must have shape"),
    ],
)
def test_attributes_are_refused_by_name(name, attribute, wrong, message, tmp_path):
    estimator, data = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(estimator).set_params(random_state=0).fit(data)
    setattr(fitted, attribute, wrong)
    with pytest.raises(ValueError, match=message):
        fitted.save(tmp_path / "model.credalis")


def test_metrics_with_negative_squares_are_refused(tmp_path):
    model = ECM(3, metric="adaptive", random_state=0).fit(X)
    model.metrics_ = -model.metrics_
    with pytest.raises(ValueError, match="positive semi-definite"):
        model.save(tmp_path / "model.credalis")


def test_layers_must_fit_together(tmp_path):
    model = NNEVCLUS(3, max_iter=5, n_init=1, random_state=0).fit(X)
    model.weights_[1] = model.weights_[1][:, :-1]
    with pytest.raises(ValueError, match=r"weights_\[1\] must have \d+ columns"):
        model.save(tmp_path / "model.credalis")


TRANSFORMERS = [
    PCA(1),
    PCA(0.9, whiten=True),
    StandardScaler(),
    StandardScaler(with_mean=False, with_std=False).set_output(transform="default"),
    MinMaxScaler(),
    MaxAbsScaler(),
    RobustScaler(with_centering=False),
]


@pytest.mark.parametrize("metric", TRANSFORMERS, ids=repr)
def test_transformers_come_back_and_break_by_name(metric, tmp_path):
    path = tmp_path / "model.credalis"
    model = ECM(3, metric=metric, random_state=0).fit(X)
    model.save(path)
    assert credalis.load(path).predict_partition(X) == model.predict_partition(X)
    header, arrays = contents(path)
    fitted = header["object"]["state"]["fitted"]["items"]["transformer_"]
    fitted["state"]["fitted"]["items"]["transform"] = 1
    write(path, header, arrays)
    name = type(metric).__name__
    with pytest.raises(ValueError, match=rf"{name}\.transform is not declared"):
        credalis.load(path)


@pytest.mark.parametrize("learner", [PCCA(1), KFDA(), LSI()], ids=repr)
def test_learners_break_by_name(learner, tmp_path):
    fitted = clone(learner).fit(X, Y)
    for name, value in vars(fitted).items():
        if not (name.endswith("_") and isinstance(value, np.ndarray)):
            continue
        bad = value.copy()
        bad.flat[0] = np.inf
        setattr(fitted, name, bad)
        with pytest.raises(ValueError, match=rf"\.{name} must be .* got inf"):
            fitted.save(tmp_path / "learner")
        setattr(fitted, name, value)


def test_kernel_of_a_file_is_checked(tmp_path):
    fitted = KFDA().fit(X, Y)
    fitted.kernel = "nonsense"
    with pytest.raises(ValueError, match=r"KFDA\.kernel must be one of"):
        fitted.save(tmp_path / "learner")


def test_components_without_a_scale_are_refused(tmp_path):
    fitted = DissimilarityPCA(2).fit(D)
    fitted.scale_[0] = 0
    with pytest.raises(ValueError, match=r"DissimilarityPCA\.scale_ must be .* > 0"):
        _archive.save(fitted, tmp_path / "pca")


@pytest.fixture(scope="module")
def monitor():
    model = NNEVCLUS(3, max_iter=50, n_init=1, random_state=0).fit(X)
    monitor = NewClusterMonitor(model, random_state=0)
    with pytest.warns(PowerWarning):
        monitor.fit(X)
    monitor.update(X + 30)
    return monitor


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("radius_", 0.0, r"radius_ must be a finite number > 0"),
        ("threshold_", float("nan"), r"threshold_ must be"),
        ("p_value_", 2.0, r"p_value_ must be .* <= 1"),
        ("n_counted_", 0, r"n_counted_ must be an integer >= 1"),
        ("n_features_in_", 3, "n_features"),
        ("replay_labels_", np.full(60, 9), "replay_labels_ must be less than"),
        ("n_rejected_", 0, r"balls_\.numbers must be at most 0"),
        ("n_seen_", 0, r"balls_\.births must be at most 0"),
        ("alarm_", "no", r"alarm_ must be a bool"),
        ("evidence_version_", 3, r"evidence_version_ must be .* <= 2"),
        ("n_places_", 0, r"balls_\.places must be 0 or ascending to at most .* = 0"),
        ("n_places_", 10**6, r"n_places_ must be at most n_rejected_"),
        ("further_", 1, "not declared"),
    ],
)
def test_monitors_break_by_name(monitor, name, wrong, message, tmp_path):
    path = tmp_path / "monitor"
    monitor.save(path)
    assert credalis.load(path).n_rejected_ == monitor.n_rejected_ > 0
    had, good = hasattr(monitor, name), getattr(monitor, name, None)
    setattr(monitor, name, wrong)
    try:
        with pytest.raises(ValueError, match=message):
            monitor.save(path)
    finally:
        delattr(monitor, name)
        if had:
            setattr(monitor, name, good)


@pytest.mark.parametrize("estimator", [ECM(3), NNEVCLUS(3)], ids=repr)
def test_checkpoints_break_by_name(estimator, tmp_path):
    path = tmp_path / "fit.checkpoint"
    estimator = clone(estimator).set_params(random_state=0, max_iter=2)
    estimator.fit(X, checkpoint=path)
    header, arrays = contents(path)
    state = header["object"]["items"]["state"]["items"]
    continued = clone(estimator)
    for name, wrong, message in (
        ("sample", 1, r"state\.sample must be an array of floats, got 1"),
        ("n_rows", 10**6 + 0.5, r"state\.n_rows must be an integer"),
        ("losses", {"is": "list", "items": ["a"]}, r"state\.losses\[0\] must be"),
        ("further", 1, r"state\.further is not declared"),
    ):
        changed = {**state, name: wrong}
        header["object"]["items"]["state"]["items"] = changed
        used = _archive._objects._array_names(header["object"])
        write(path, header, {key: arrays[key] for key in used})
        with pytest.raises(ValueError, match=rf"fit\.checkpoint.*{message}"):
            continued.fit(X, checkpoint=path)
    header["object"]["items"]["state"]["items"] = state
    for name, good in arrays.items():
        if good.dtype.kind == "f" and good.size:
            bad = good.copy()
            bad.flat[0] = np.nan
            write(path, header, {**arrays, name: bad})
            with pytest.raises(ValueError, match=r"must be .*nan"):
                continued.fit(X, checkpoint=path)
    write(path, header, arrays)
    assert continued.fit(X, checkpoint=path).loss_ == estimator.loss_
