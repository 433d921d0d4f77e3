import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from credalis import BCM, ECM, FocalSets
from credalis.cluster.prototypes._bcm import bcm_model
from credalis.datasets import load_butterfly
from credalis.exceptions import ExperimentalWarning
from credalis.objectives import prototype_costs, set_prototypes

START = [[-3, 0], [3, 0]]
quietly = pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning")


@given(
    st.integers(0, 1000),
    st.sampled_from([0.0, 0.5, 1.0, 10.0]),
    st.sampled_from([0.0, 1.0, 2.0]),
)
def test_distance_is_the_mean_over_objects_and_prototypes(seed, gamma, alpha):
    rng = np.random.default_rng(seed)
    X, centers = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    focal_sets = FocalSets.full(4, empty=False)
    model = bcm_model(focal_sets, alpha, gamma, 2.0, 1.0)
    actual = prototype_costs(X, set_prototypes(centers, None, model), model)
    for j, subset in enumerate(focal_sets):
        size = len(subset)
        chosen = centers[list(subset)]
        single = ((X[:, None] - chosen) ** 2).sum(axis=2).sum(axis=1)
        pairs = sum(
            ((one - other) ** 2).sum() for one, other in combinations(chosen, 2)
        )
        distance = (single + gamma * pairs) / (size + gamma * size * (size - 1) / 2)
        assert_allclose(actual[j], size**alpha * distance)


@quietly
def test_object_in_the_middle_has_equal_masses_on_the_clusters():
    X = load_butterfly().data[:11]  # the last object is far away
    bcm = BCM(2, delta=10, init=START).fit(X)
    _, first, second, both = bcm.partition_.masses[5]
    assert first == pytest.approx(second, abs=0.02)
    assert min(first, second) > both


@quietly
def test_far_object_prefers_the_set():
    X = load_butterfly().data
    bcm = BCM(2, alpha=0.0, delta=100, init=START).fit(X)
    _, first, second, both = bcm.predict_partition([[0, 100]]).masses[0]
    assert both > max(first, second)


@quietly
def test_singletons_alone_are_those_of_ecm():
    X = load_butterfly().data
    settings = {
        "focal_sets": FocalSets.singletons(2, frame=False),
        "delta": 5,
        "init": START,
    }
    assert BCM(2, **settings).fit(X).partition_ == ECM(2, **settings).fit(X).partition_


@pytest.mark.usefixtures("nobody_was_told")
def test_warns_once_that_it_is_experimental():
    X = load_butterfly().data
    with pytest.warns(ExperimentalWarning, match="BCM is experimental"):
        BCM(2, delta=5, init=START).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BCM(2, delta=5, init=START).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1}, r"alpha must be a finite number >= 0, got -1"),
        ({"gamma": -1}, r"gamma must be a finite number >= 0, got -1"),
        ({"beta": 1}, r"beta must be a finite number > 1, got 1"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        BCM(2, **parameters).fit(load_butterfly().data)
