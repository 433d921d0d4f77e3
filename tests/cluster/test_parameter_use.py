"""Every parameter does in every mode of fitting what the table says it does."""

import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from credalis import ECM, NNEVCLUS
from credalis.cluster.nnevclus._settings import MODES, PARAMETER_USE
from credalis.sources import ArraySource

# `checkpoint` is the mode "blocks" of the table, from an array.
WAYS = {
    "memory": "memory",
    "source": "blocks",
    "checkpoint": "blocks",
    "stream": "stream",
    "dask": "partitions",
}
WITHOUT_EFFECT = {"n_jobs", "verbose"}


@pytest.fixture(autouse=True)
def short_starts(monkeypatch):
    monkeypatch.setattr("credalis.cluster.nnevclus._blocks._START_UPDATES", 30)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        # Few iterations are enough to see a difference.
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def rows():
    return make_blobs(60, centers=4, cluster_std=2.0, random_state=1)[0]


def fitted(model, X, way, tmp_path, **given):
    if way == "memory":
        return model.fit(X, **given)
    if way == "source":
        return model.fit(ArraySource(X), **given)
    if way == "checkpoint":
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        return model.fit(X, checkpoint=path, **given)
    if way == "stream":
        return model.partial_fit(X)
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        return model.fit(da.from_array(X, chunks=(30, X.shape[1])), **given)


def linear(n_outputs):
    import torch

    return torch.nn.Linear(2, n_outputs)


ADAM = {"solver": "adam"}
NOVELTY = {"novelty_detector": "ocsvm"}
# What the parameter is compared with its default together with, and its other value.
OTHERS = {
    "n_clusters": ({}, 4),
    "focal_sets": ({}, "singletons"),
    "hidden_layer_sizes": ({}, (5,)),
    "metric": ({}, "manhattan"),
    "symmetrize": ({}, True),
    "n_components": ({}, 1),
    "dissimilarity_quantile": ({}, 0.5),
    "dissimilarity_scale": ({}, 3.0),
    "novelty_detector": ({}, "ocsvm"),
    "novelty_link": (NOVELTY, "paper"),
    "weight_decay": ({}, 0.1),
    "init": ({}, "peaks"),
    "empty_set": ({}, "stress"),
    "outlier_rate": ({}, 0.2),
    "solver": ({}, "rmsprop"),
    "learning_rate_init": (ADAM, 0.05),
    "batch_size": (ADAM, 20),
    "pairs_per_sample": ({}, 10),
    "early_stopping": (ADAM, True),
    "validation_fraction": (ADAM | {"early_stopping": True}, 0.3),
    "label_weight": ({}, 0.9),
    "constraint_weight": ({}, 2.0),
    "warm_start": ({}, True),
    "engine": ({}, "torch"),
    "device": ({}, "nowhere"),
    "module": ({"engine": "torch"}, linear),
    "dtype": (ADAM, "float64"),
    "views": ({}, [[0], [1]]),
    "view_entropy": ({"views": [[0], [1]]}, 50.0),
    "n_init": ({}, 8),
    "max_iter": ({}, 4),
    "tol": ({}, 0.3),
    "random_state": ({}, 1),
}


def network(way, **parameters):
    base = {"max_iter": 12 if way == "memory" else 2, "n_init": 1, "random_state": 0}
    return NNEVCLUS(**{"n_clusters": 3} | base | parameters)


def given_for(name, X, way):
    """What else `fit` is told, so that a parameter has something to work on."""
    if way == "stream":
        return {}
    labels = np.full(len(X), -1)
    labels[:3] = [0, 1, 2]
    pairs = [[0, 1], [2, 3], [4, 5]]
    return {
        "label_weight": {"partial_labels": labels},
        "constraint_weight": {"must_link": pairs},
    }.get(name, {})


def masses_with(parameters, name, X, way, tmp_path):
    companions = OTHERS[name][0]
    if way == "stream":
        # A stream has no end, and no early one.
        companions = {
            key: value for key, value in companions.items() if key != "early_stopping"
        }
    model = network(way, **companions | parameters)
    rows = X
    fitted(model, rows, way, tmp_path, **given_for(name, X, way))
    if name == "warm_start":
        fitted(model, rows, way, tmp_path)
    return model.predict_partition(rows).masses


CASES = [
    pytest.param(
        *(way, name, use[MODES.index(mode)]),
        id=f"{way}-{name}",
        marks=pytest.mark.slow if way in ("checkpoint", "dask") else (),
    )
    for way, mode in WAYS.items()
    for name, use in PARAMETER_USE.items()
]


def test_the_table_has_all_parameters():
    known = set(NNEVCLUS().get_params(deep=False)) - WITHOUT_EFFECT
    assert set(PARAMETER_USE) == set(OTHERS) == known
    uses = {use for row in PARAMETER_USE.values() for use in row}
    assert uses == {"used", "refused", "meaningless"}


@pytest.mark.parametrize(("way", "name", "use"), CASES)
def test_parameters_of_the_network_do_what_the_table_says(
    way, name, use, rows, tmp_path
):
    needs_torch = name in ("engine", "device", "module")
    if needs_torch and use == "used" and find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    other = {name: OTHERS[name][1]}
    if name == "module" and way == "checkpoint":
        # A function has no form in a file.
        use, other = "refused", other | {"engine": "torch"}
    if name == "device" and use == "used":
        # No other device is on every machine.
        with pytest.raises(ValueError, match="device must be one that PyTorch"):
            fitted(network(way, engine="torch", **other), rows, way, tmp_path)
        return
    if name == "symmetrize" and use == "used":
        matrix = np.linalg.norm(rows[:, None] - rows, axis=2)
        matrix[0, 1] *= 1.5
        model = network(way, metric="precomputed")
        with pytest.raises(ValueError, match="symmetrize"):
            model.fit(matrix)
        assert hasattr(model.set_params(symmetrize=True).fit(matrix), "labels_")
        return
    if use == "refused":
        with pytest.raises(ValueError, match=name):
            fitted(network(way, **other), rows, way, tmp_path)
        return
    if name == "module" and way == "stream":
        other |= {"hidden_layer_sizes": "auto"}
    plain = masses_with({}, name, rows, way, tmp_path)
    changed = masses_with(other, name, rows, way, tmp_path)
    is_same = plain.shape == changed.shape and np.array_equal(plain, changed)
    assert is_same == (use == "meaningless")


ECM_OTHERS = {
    "n_clusters": 4,
    "focal_sets": "singletons",
    "metric": "adaptive",
    "alpha": 2.0,
    "beta": 1.5,
    "delta": 1.0,
    "empty_set": "noise",
    "outlier_rate": 0.2,
    "init": "peaks",
    "n_init": 20,
    "max_iter": 2,
    "tol": 0.1,
    "random_state": 5,
}


@pytest.mark.parametrize("way", ["memory", "source", "checkpoint", "dask"])
@pytest.mark.parametrize("name", ECM_OTHERS)
def test_all_parameters_of_ecm_are_used(way, name, rows, tmp_path):
    def masses(**parameters):
        # One iteration of each start, so that where it begins can be seen.
        base = {"n_clusters": 3, "n_init": 1, "max_iter": 1, "random_state": 0}
        if name in ("max_iter", "metric", "tol"):
            base["max_iter"] = 50
        if name in ("n_init", "random_state"):
            base["init"] = "k-means++"
        model = ECM(**base | parameters)
        return fitted(model, rows, way, tmp_path).predict_partition(rows).masses

    plain, changed = masses(), masses(**{name: ECM_OTHERS[name]})
    assert plain.shape != changed.shape or not np.array_equal(plain, changed)


def test_what_ecm_cannot_be_fitted_to_is_refused(rows):
    assert set(ECM_OTHERS) == set(ECM().get_params(deep=False)) - WITHOUT_EFFECT
    assert not hasattr(ECM(), "partial_fit")
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="partial_labels must be None"):
        ECM(3).fit(da.from_array(rows, chunks=(30, 2)), partial_labels=[0] * 60)


@pytest.mark.parametrize("way", ["memory", "source", "stream", "dask"])
@pytest.mark.parametrize("rate", [1e30, 1e300])
def test_a_learning_rate_that_diverges_is_an_error_everywhere(
    way, rate, rows, tmp_path
):
    model = NNEVCLUS(
        3, solver="adam", learning_rate_init=rate, batch_size=10, random_state=0
    )
    with pytest.raises(ValueError, match="lower learning_rate_init"):
        fitted(model, rows, way, tmp_path)
