"""The contract every learner of a metric keeps."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import credalis
from credalis.constraints import random_pairs
from credalis.metric_learning import FDA, KFDA, KPCCA, LFDA, LSI, PCCA, DMLeig

FROM_LABELS = [FDA(), LFDA(), KFDA()]
FROM_PAIRS = [LSI(), DMLeig(), PCCA(), KPCCA()]

# The default and one further setting of each.
LEARNERS = [
    *FROM_LABELS,
    *FROM_PAIRS,
    FDA(n_components=1, regularization=0.1),
    LFDA(n_components=1, scaling="orthonormal"),
    KFDA(kernel="laplacian", gamma="median"),
    LSI(n_components=1, regularization=0.1),
    DMLeig(n_components=1, smoothing=0.01),
    PCCA(n_components=1, beta=3.0, regularization=0.1),
    KPCCA(n_components=1, kernel="polynomial", gamma=0.5, degree=2),
]


def quick(learner):
    """The same with one start that ends early."""
    few = {"n_init": 1, "tol": 1e-3, "smoothing": 0.05}
    known = few.keys() & learner.get_params()
    return clone(learner).set_params(**{name: few[name] for name in known})


# None of the checks looks at how good the features are.
@parametrize_with_checks([quick(each) for each in LEARNERS])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def name_of(learner):
    return type(learner).__name__


@pytest.fixture(params=FROM_LABELS + FROM_PAIRS, ids=name_of)
def learner(request):
    return seeded(request.param)


@pytest.fixture(params=FROM_LABELS, ids=name_of)
def from_labels(request):
    return clone(request.param)


@pytest.fixture(params=FROM_PAIRS, ids=name_of)
def from_pairs(request):
    return seeded(request.param)


def seeded(learner):
    seeds = {"random_state": 0} if "random_state" in learner.get_params() else {}
    return clone(learner).set_params(**seeds)


@pytest.fixture(scope="module")
def data():
    X, y = make_blobs(60, n_features=3, centers=3, random_state=2)
    return X, y


@pytest.fixture(scope="module")
def pairs(data):
    must_link, cannot_link = random_pairs(data[1], 40, random_state=0)
    return {"must_link": must_link, "cannot_link": cannot_link}


def test_features_are_finite_and_named(learner, data):
    X, y = data
    Z = learner.fit_transform(X, y)
    assert Z.shape == (60, learner.n_components_)
    assert np.isfinite(Z).all()
    names = learner.get_feature_names_out().tolist()
    prefix = type(learner).__name__.lower()
    assert names == [f"{prefix}{k}" for k in range(learner.n_components_)]
    frame = learner.set_output(transform="pandas").fit_transform(pd.DataFrame(X), y)
    assert list(frame.columns) == names


def test_classes_lie_farther_apart_than_before(learner, data, rng):
    X, y = data
    X = np.column_stack([X, 30 * rng.normal(size=(60, 2))])  # two useless attributes
    Z = learner.fit(X, y).transform(X)

    def separation(points):
        within = sum(points[y == k].var(axis=0).sum() for k in range(3)) / 3
        return points.var(axis=0).sum() / within

    assert separation(Z) > 2 * separation(X)


def test_unknown_labels_are_no_class(learner, data):
    X, y = data
    partial = np.where(np.arange(60) < 40, y, -1)
    learner.fit(X, partial)
    known = clone(learner).fit(X[:40], y[:40])
    # Only where the features are 0, and a gamma of all data, know of the other rows.
    if isinstance(learner, (KFDA, KPCCA)):
        known.set_params(gamma=learner.gamma_).fit(X[:40], y[:40])
    Z, expected = learner.transform(X), known.transform(X)
    # Iterative learners end where rounding lets them.
    np.testing.assert_allclose(Z - Z[0], expected - expected[0], atol=1e-5)


def test_names_of_classes_do_not_matter(learner, data):
    X, y = data
    names = np.array(["setosa", "virginica", "other"], dtype=object)[y]
    names[::7] = -1
    numbers = np.where(np.arange(60) % 7 == 0, -1, y)
    np.testing.assert_allclose(
        clone(learner).fit_transform(X, names), learner.fit_transform(X, numbers)
    )


def test_distances_do_not_depend_on_units(learner, data):
    X, y = data
    if isinstance(learner, (PCCA, KPCCA)):
        learner.set_params(tol=1e-10, n_init=1)
    Z = learner.fit(X, y).transform(X)
    for unit in (1e-20, 1e20):
        scaled = clone(learner).fit(X * unit, y).transform(X * unit)
        np.testing.assert_allclose(scaled, Z, rtol=1e-4, atol=1e-4 * np.abs(Z).max())


def test_pairs_of_labelled_objects_are_the_labels(from_pairs, data):
    X, y = data
    must_link, cannot_link = random_pairs(y, 60 * 59 // 2, random_state=0)
    given = clone(from_pairs).fit(X, must_link=must_link, cannot_link=cannot_link)
    np.testing.assert_array_equal(given.transform(X), from_pairs.fit(X, y).transform(X))


def test_labels_and_pairs_add_up(from_pairs, data):
    X, y = data
    labels = np.where(np.arange(60) < 10, y, -1)
    rest = random_pairs(np.where(np.arange(60) < 10, -1, y), 40, random_state=0)
    derived = random_pairs(labels, 45, random_state=0)
    both = [np.concatenate(each) for each in zip(rest, derived, strict=True)]
    expected = clone(from_pairs).fit(X, must_link=both[0], cannot_link=both[1])
    from_pairs.fit(X, labels, must_link=rest[0], cannot_link=rest[1])
    np.testing.assert_array_equal(from_pairs.transform(X), expected.transform(X))


def test_labels_are_handed_on_along_must_links(from_labels, data):
    X, y = data
    partial = np.where(np.arange(60) < 30, y, -1)
    must_link = [(i, int(np.flatnonzero(y[:30] == y[i])[0])) for i in range(30, 60)]
    spread = clone(from_labels).fit(X, partial, must_link=must_link)
    np.testing.assert_allclose(
        spread.transform(X), from_labels.fit(X, y).transform(X), atol=1e-10
    )


def test_same_seed_same_bits(learner, data, pairs):
    X, y = data
    first = clone(learner).fit(X, y, **pairs).transform(X)
    np.testing.assert_array_equal(learner.fit(X, y, **pairs).transform(X), first)


def test_same_bits_for_any_number_of_threads(learner):
    # As large as it takes for linear algebra to use several.
    rng = np.random.default_rng(0)
    X, y = make_blobs(300, 60, centers=3, cluster_std=8.0, random_state=0)
    X = X @ rng.normal(size=(60, 60))
    learner = quick(learner)
    with threadpool_limits(limits=1):
        alone = clone(learner).fit(X, y).transform(X)
    with threadpool_limits(limits=2):
        together = clone(learner).fit(X, y).transform(X)
    np.testing.assert_array_equal(alone, together)


def test_copies_are_equal(learner, data, tmp_path):
    X, y = data
    learner.fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    path = tmp_path / "metric.credalis"
    learner.save(path)
    new = pd.DataFrame(X + 0.1, columns=["a", "b", "c"])
    for copy in (pickle.loads(pickle.dumps(learner)), credalis.load(path)):
        assert type(copy) is type(learner)
        assert copy.get_params() == learner.get_params()
        np.testing.assert_array_equal(copy.transform(new), learner.transform(new))


def test_unfitted_learner_is_not_saved(learner, tmp_path):
    with pytest.raises(NotFittedError):
        learner.save(tmp_path / "metric.credalis")
    assert list(tmp_path.iterdir()) == []


def test_pairs_reach_a_step_of_a_pipeline(from_pairs, data, pairs):
    X, _ = data
    name = type(from_pairs).__name__.lower()
    pipeline = make_pipeline(StandardScaler(), from_pairs)
    pipeline.fit(X, **{f"{name}__{key}": value for key, value in pairs.items()})
    scaled = StandardScaler().fit_transform(X)
    expected = clone(from_pairs).fit(scaled, **pairs).transform(scaled)
    np.testing.assert_array_equal(pipeline.transform(X), expected)


def test_labels_are_required(from_labels, data, pairs):
    with pytest.raises(ValueError, match=r"learns from labels.*target y is None"):
        from_labels.fit(data[0], **pairs)


def test_some_information_is_required(from_pairs, data):
    with pytest.raises(ValueError, match="learns from must_link and cannot_link"):
        from_pairs.fit(data[0])


def test_both_kinds_of_pairs_are_required(from_pairs, data, pairs):
    X, _ = data
    for kind in pairs:
        given = {key: value for key, value in pairs.items() if key != kind}
        with pytest.raises(ValueError, match=f"{kind} must hold at least one pair"):
            clone(from_pairs).fit(X, **given)


def test_one_class_is_not_enough(from_labels, data):
    with pytest.raises(ValueError, match=r"at least two classes, got 1 class"):
        from_labels.fit(data[0], np.where(np.arange(60) < 9, 4, -1))


@pytest.mark.parametrize(
    ("information", "message"),
    [
        ({"y": [0] * 59}, r"y must have one label for each of the 60 rows"),
        ({"y": [[0]] * 60}, r"y must be a vector of labels"),
        ({"y": [np.nan] * 60}, r"y must hold numbers or strings"),
        ({"must_link": [(0, 60)]}, r"must_link must hold row numbers from 0 to 59"),
        ({"cannot_link": [(3, 3)]}, r"cannot_link must join different objects"),
        (
            {"must_link": [(0, 1)], "cannot_link": [(0, 1)]},
            r"cannot_link holds \(0, 1\), but must_link joins them",
        ),
        (
            {"y": [0, 1] * 30, "must_link": [(0, 2), (2, 5)]},
            r"y must agree with must_link, got other labels for .* objects 0 and",
        ),
        (
            {"y": [0, 1] * 30, "cannot_link": [(4, 6)]},
            r"y must agree with cannot_link, got the same label .* 4 and 6",
        ),
    ],
)
def test_bad_information_is_a_value_error_that_names_it(
    learner, data, information, message
):
    with pytest.raises(ValueError, match=message):
        learner.fit(data[0], **information)


BAD_PARAMETERS = [
    ("n_components", 0, "n_components must be an integer >= 1"),
    ("n_components", 61, "n_components must be an integer .* got 61"),
    ("n_components", "all", "n_components must be one of 'auto', got 'all'"),
    ("regularization", -1, "regularization must be a finite number >= 0, got -1"),
    ("n_neighbors", 0, "n_neighbors must be an integer >= 1, got 0"),
    ("scaling", "none", "scaling must be one of .* got 'none'"),
    ("kernel", "gauss", "kernel must be one of .* got 'gauss'"),
    ("gamma", 0.0, "gamma must be a finite number > 0, got 0.0"),
    ("gamma", "auto", "gamma must be one of 'scale', 'median', got 'auto'"),
    ("degree", 0, "degree must be an integer >= 1, got 0"),
    ("coef0", np.inf, "coef0 must be a finite number, got inf"),
    ("beta", 0, "beta must be a finite number > 0, got 0"),
    ("smoothing", 0, "smoothing must be a finite number > 0, got 0"),
    ("n_init", 0, "n_init must be an integer >= 1, got 0"),
    ("max_iter", 0, "max_iter must be an integer >= 1, got 0"),
    ("tol", -1e-3, "tol must be a finite number >= 0"),
    ("random_state", "x", "random_state must be None, an integer .* got 'x'"),
    ("kernel", lambda *_: np.nan, "kernel must give finite values, got nan"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_PARAMETERS)
def test_bad_parameter_is_a_value_error_that_names_it(name, value, message, data):
    concerned = [each for each in LEARNERS if name in each.get_params()]
    assert concerned
    for learner in concerned:
        with pytest.raises(ValueError, match=message):
            clone(learner).set_params(**{name: value}).fit(*data)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_units_that_cannot_be_squared_are_refused(learner, data, unit):
    with pytest.raises(ValueError, match="X must have distances that can be squared"):
        learner.fit(data[0] * unit, data[1])


def test_objects_that_do_not_differ_are_refused(learner):
    with pytest.raises(ValueError, match=r"X must hold|must hold pairs of different"):
        learner.fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
