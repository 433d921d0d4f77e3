import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from credalis import CCM, ECM, FocalSets
from credalis.cluster.prototypes._ccm import ccm_model
from credalis.datasets import load_butterfly
from credalis.objectives import prototype_costs, prototype_masses, set_prototypes


def test_worked_example():
    # An object at 0.5 between prototypes at -1 and 1, with delta = 5.
    model = ccm_model(FocalSets.full(2), gamma=1.0, beta=2.0, delta=5.0)
    sets = set_prototypes(np.array([[-1.0], [1.0]]), None, model)
    X = np.array([[0.5]])
    assert_allclose(prototype_costs(X, sets, model)[:, 0], [25, 2.25, 0.25, 11 / 12])
    expected = [0.00717443, 0.07971592, 0.71744329, 0.19566635]
    assert_allclose(prototype_masses(X, sets, model)[0], expected, atol=5e-9)


@given(st.integers(0, 1000), st.sampled_from([0.0, 0.5, 1.0, 10.0]))
def test_distance_is_the_published_mean(seed, gamma):
    rng = np.random.default_rng(seed)
    X, centers = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    focal_sets = FocalSets.full(4, empty=False)
    model = ccm_model(focal_sets, gamma, 2.0, 1.0)
    actual = prototype_costs(X, set_prototypes(centers, None, model), model)
    for j, subset in enumerate(focal_sets):
        chosen = centers[list(subset)]
        single = ((X[:, None] - chosen) ** 2).sum(axis=2).sum(axis=1)
        mean = ((X - chosen.mean(axis=0)) ** 2).sum(axis=1)
        expected = (single + gamma * mean) / (len(subset) + gamma)
        assert_allclose(actual[j], expected)


def test_singletons_alone_are_those_of_ecm():
    X = load_butterfly().data
    start = [[-3, 0], [3, 0]]
    focal_sets = FocalSets.singletons(2, frame=False)
    ccm = CCM(2, focal_sets=focal_sets, delta=5, init=start).fit(X)
    ecm = ECM(2, focal_sets=focal_sets, delta=5, init=start).fit(X)
    assert ccm.partition_ == ecm.partition_


def test_object_between_distant_clusters_is_in_doubt_only_with_ecm():
    X = load_butterfly().data
    settings = {"delta": 10, "init": [[-3, 0], [3, 0]]}
    ccm, ecm = CCM(2, **settings).fit(X), ECM(2, **settings).fit(X)
    assert ecm.partition_.masses[5, -1] > 0.95
    assert ccm.partition_.masses[5, -1] < 0.5


def test_large_sets_are_left_out_of_named_lists(rng):
    X = rng.normal(size=(60, 2))
    focal_sets = CCM(4, focal_sets="full", random_state=0).fit(X).focal_sets_
    assert set(focal_sets) == set(FocalSets.pairs(4))
    more = CCM(4, focal_sets="full", max_cardinality=3, random_state=0).fit(X)
    assert more.focal_sets_ == FocalSets.full(4)
    few = CCM(4, focal_sets="pairs", max_cardinality=1, random_state=0).fit(X)
    assert set(few.focal_sets_) == set(FocalSets.singletons(4))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": -1}, r"gamma must be a finite number >= 0, got -1"),
        ({"beta": 1}, r"beta must be a finite number > 1, got 1"),
        ({"max_cardinality": 0}, r"max_cardinality must be an integer >= 1, got 0"),
        (
            {"focal_sets": FocalSets.full(4)},
            r"no set of more than max_cardinality=2 clusters but Ω, got \{0,1,2\}",
        ),
        (
            {"focal_sets": "two-step", "max_cardinality": 1},
            r"max_cardinality must be at least 2 for focal_sets='two-step', got 1",
        ),
    ],
)
def test_bad_parameters(rng, parameters, message):
    with pytest.raises(ValueError, match=message):
        CCM(4, **parameters).fit(rng.normal(size=(60, 2)))
