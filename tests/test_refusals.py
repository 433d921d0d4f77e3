"""Who is blamed for numbers that are none, and for what is no array."""

import pickle

import numpy as np
import pytest
from joblib import parallel_config

from credalis import ECM, NNEVCLUS, FocalSets, compare
from credalis._checks import naming
from credalis._refusals import real_numbers, refuses_by_name, takes_any_number
from credalis.belief import masses_to_commonality
from credalis.metric_learning import FDA
from credalis.model_selection import select_n_clusters

FAILS = (
    lambda: np.float64(1e308) * 10,
    lambda: np.linalg.cholesky(-np.eye(2)),
    lambda: 1 / 0,
    lambda: 10**400 * 1.0,
)


@refuses_by_name
def inner(weights):
    return weights * np.float64(1e308)


@refuses_by_name
def outer(masses, rate=None, *, name="x"):
    return inner(masses)


@takes_any_number
def total(X):
    return X * 1e308


@pytest.mark.parametrize("fails", FAILS)
def test_what_is_no_number_ends_with_a_name(fails):
    with pytest.raises(ValueError, match=r"^X and the parameters must"), real_numbers():
        fails()


def test_the_outermost_call_names_its_arguments():
    with pytest.raises(ValueError, match=r"^weights must be such that all numbers"):
        inner(10.0)
    with pytest.raises(ValueError, match=r"^masses must be such.* got overflow") as got:
        outer(10.0)
    assert type(got.value) is ValueError
    with pytest.raises(ValueError, match=r"^masses and rate must be such"):
        outer(10.0, 3)


def test_infinity_is_a_number_to_those_who_take_any():
    assert total(np.array([10.0])) == np.inf
    # Inside of one that does not, too.
    assert refuses_by_name(total)(np.array([10.0])) == np.inf
    assert np.geterr()["over"] == "warn"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[1], [2, 3]], "^value is not valid: "),
        (object(), "^value is not valid: "),
        (slice(2), "^value is not valid: "),
    ],
)
def test_what_is_no_array_is_blamed(value, message):
    @refuses_by_name
    def function(value, other=None):
        return np.asarray(value, dtype=float) + 1

    with pytest.raises((ValueError, TypeError), match=message):
        function(value)


def test_errors_that_no_argument_is_to_blame_for_stay_as_they_are():
    @refuses_by_name
    def broken(values, kind):
        if kind == "shapes":
            return np.zeros(3) + np.zeros(4)
        return {}[kind]

    with pytest.raises(ValueError, match=r"^operands could not be broadcast"):
        broken([1.0], "shapes")
    with pytest.raises(KeyError):
        broken([[1], [2, 3]], "key")


def test_messages_that_name_an_argument_stay_as_they_are():
    @refuses_by_name
    def function(value):
        raise ValueError("value must be another, got this")

    with pytest.raises(ValueError, match=r"^value must be another, got this$"):
        function(object())


def test_decorated_functions_are_still_themselves():
    assert pickle.loads(pickle.dumps(masses_to_commonality)) is masses_to_commonality
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        inner()


@pytest.mark.parametrize("cls", [ECM, NNEVCLUS])
def test_subclasses_refuse_by_name_too(cls):
    class Broken(cls):
        def fit(self, X, y=None):
            return np.float64(1e308) * 10

    with pytest.raises(ValueError, match=r"^X and the parameters must be such"):
        Broken().fit([[1.0]])


def test_rows_without_masses_are_refused(monkeypatch):
    rows = np.arange(12.0).reshape(6, 2) ** 2
    model = ECM(2, n_init=1, random_state=0).fit(rows)
    masses = model.transform(rows)
    masses[3] = np.nan
    monkeypatch.setattr(model, "_reported_masses", lambda X: masses)
    with pytest.raises(ValueError, match=r"^X must hold rows .* for row 3$"):
        model.predict(rows)


def test_rows_without_features_are_refused():
    learner = FDA().fit(np.arange(12.0).reshape(6, 2) ** 2, [0, 0, 0, 1, 1, 1])
    learner.components_, learner.mean_ = np.array([[1.0, -1.0]]), np.full(2, -1e308)
    with pytest.raises(ValueError, match=r"^X must hold rows .* NaN for row 1$"):
        learner.transform([[1.0, 2.0], [1e308, 1e308]])


def test_masses_of_a_function_are_named():
    huge = np.full((1, 4), 1e308)
    with pytest.raises(ValueError, match="masses"):
        masses_to_commonality(huge)
    assert len(FocalSets.full(2)) == 4


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_no_memory_is_not_a_matter_of_arguments(n_jobs, monkeypatch):
    def solve(self, *given, **named):
        raise MemoryError("no room for 80 TiB")

    monkeypatch.setattr(ECM, "_solve", solve)
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = ECM(2, n_init=2, n_jobs=n_jobs, random_state=0)
    with parallel_config(backend="threading"):
        with pytest.raises(MemoryError, match="80 TiB"):
            model.fit(X)
        with pytest.raises(MemoryError, match="80 TiB"):
            compare(X, 2, [model])
        with pytest.raises(MemoryError, match="80 TiB"):
            select_n_clusters(model, X, [2, 3], random_state=0)
    with pytest.raises(MemoryError), naming("X"):
        raise MemoryError


def test_no_memory_for_a_prediction_stays_so(monkeypatch):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = ECM(2, random_state=0).fit(X)

    def masses(self, rows):
        return np.empty((2**46, 2**10))

    monkeypatch.setattr(ECM, "_predict_masses", masses)
    for verb in (model.predict, model.transform, model.predict_partition):
        with pytest.raises(MemoryError):
            verb(X)
