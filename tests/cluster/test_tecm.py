"""TECM: clusters of a source help with few data."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import credalis
from credalis import ECM, TECM, FocalSets
from credalis.cluster.prototypes._tecm import associations, pulled
from credalis.exceptions import ExperimentalWarning
from credalis.objectives import PrototypeMoments
from helpers import assert_decreasing, assert_valid_partition

pytestmark = [
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
]


def domains(seed, n_target=15):
    """A source, few rows of a target nearby, many rows of it and their clusters."""
    centers = np.random.RandomState(seed).uniform(-4, 4, size=(3, 2))
    source, _ = make_blobs(200, centers=centers, cluster_std=1.2, random_state=seed)
    few, _ = make_blobs(
        n_target, centers=centers + 0.3, cluster_std=1.2, random_state=seed + 1
    )
    many, labels = make_blobs(
        300, centers=centers + 0.3, cluster_std=1.2, random_state=seed + 2
    )
    return source, few, many, labels


def test_a_source_helps_few_rows():
    gains = []
    for seed in range(5):
        source, few, many, labels = domains(seed)
        alone = ECM(3, random_state=0).fit(few)
        helped = TECM(3, random_state=0).fit(few, source=source)
        gains.append(
            adjusted_rand_score(labels, helped.predict(many))
            - adjusted_rand_score(labels, alone.predict(many))
        )
        assert_decreasing(helped.history_)
        assert_valid_partition(helped.partition_)
    assert np.mean(gains) > 0.02


@pytest.mark.parametrize("parameters", [{}, {"delta": 2.0}, {"init": "peaks"}])
def test_without_a_source_it_is_ecm(parameters):
    _, few, _, _ = domains(1)
    one = TECM(3, random_state=0, **parameters).fit(few)
    other = ECM(3, random_state=0, **parameters).fit(few)
    np.testing.assert_allclose(
        one.partition_.masses, other.partition_.masses, atol=1e-12
    )
    assert one.source_centers_.shape == (0, 2)
    assert one.association_.shape == (3, 0)


def test_a_strong_source_decides_and_a_weak_one_does_not():
    source, few, _, _ = domains(6)
    centers = ECM(3, random_state=0).fit(source).centers_
    strong = TECM(3, source_centers=centers, transfer=1e9, random_state=0).fit(few)
    np.testing.assert_allclose(
        strong.centers_, centers[strong.association_.argmax(axis=1)], atol=1e-5
    )
    np.testing.assert_allclose(strong.association_.max(axis=1), 1)
    weak = TECM(3, source_centers=centers, transfer=1e-9, random_state=0).fit(few)
    none = TECM(3, random_state=0).fit(few)
    assert weak.loss_ <= none.loss_ * (1 + 1e-6)


def test_associations_of_a_worked_example():
    association, costs = associations(np.array([[0.0]]), np.array([[1.0], [2.0]]))
    # In proportion to 1 and 1/4.
    np.testing.assert_allclose(association, [[0.8, 0.2]])
    np.testing.assert_allclose(costs, [0.64 * 1 + 0.04 * 4])


def test_associations_minimise_their_cost(rng):
    centers, source = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    association, costs = associations(centers, source)
    np.testing.assert_allclose(association.sum(axis=1), 1)
    squared = ((centers[:, None] - source) ** 2).sum(axis=2)
    for _ in range(50):
        other = rng.dirichlet(np.ones(4), size=3)
        assert (costs <= (other**2 * squared).sum(axis=1) + 1e-12).all()


def test_a_prototype_of_the_source_is_so_many_objects():
    """τ = 4 and r = 1 are four objects at the prototype of the source."""
    sums = PrototypeMoments(1.0, np.array([0.0, 2.0]), np.array([[0.0], [3.0]]), None)
    after = pulled(
        sums,
        np.array([[1.0]]),
        np.array([[1.0]]),
        np.array([[5.0]]),
        4.0,
        np.array([1]),
    )
    np.testing.assert_allclose(after.weight_sums, [0, 6])
    np.testing.assert_allclose(after.deviations, [[0], [3 + 4 * 4]])
    np.testing.assert_allclose(sums.weight_sums, [0, 2])


def test_numbers_of_clusters_may_differ(tmp_path):
    source, few, many, _ = domains(6)
    model = TECM(3, n_source_clusters=4, random_state=0).fit(few, source=source)
    assert model.association_.shape == (3, 4)
    np.testing.assert_allclose(model.association_.sum(axis=1), 1)
    assert_decreasing(model.history_)
    assert model.predict_partition(few) == model.partition_
    model.save(tmp_path / "model")
    loaded = credalis.load(tmp_path / "model")
    assert loaded.predict_partition(many) == model.predict_partition(many)
    np.testing.assert_array_equal(loaded.association_, model.association_)


def test_it_says_that_it_is_experimental(monkeypatch):
    monkeypatch.setattr("credalis._warnings._already_told", set())
    source, few, _, _ = domains(6)
    with pytest.warns(ExperimentalWarning, match="TECM with a source"):
        TECM(3, random_state=0).fit(few, source=source)


@pytest.mark.parametrize(
    ("parameters", "source", "message"),
    [
        ({"transfer": -1}, None, r"transfer must .* got -1"),
        ({"n_source_clusters": 0}, None, r"n_source_clusters must .* got 0"),
        ({"source_centers": [[1.0]]}, None, r"source_centers must have shape"),
        ({"source_centers": [1.0]}, None, r"source_centers must have shape"),
        ({"source_centers": [[np.nan, 1]]}, None, r"source_centers must"),
        ({"source_centers": [["a", "b"]]}, None, r"source_centers"),
        ({}, [[1.0], [2.0]], r"source must have the 2 features of X, got 1"),
        ({}, [[1.0, 1.0], [1.0, 1.0]], r"source"),
        ({}, "abc", r"source"),
        ({"source_centers": [[0.0, 1]]}, [[0.0, 1]], r"source must be None where"),
        (
            {
                "source_centers": [[0.0, 1]],
                "focal_sets": FocalSets.from_subsets(2, [(0,), (0, 1)]),
            },
            None,
            r"focal_sets must hold each cluster alone",
        ),
    ],
)
def test_bad_input_is_named(parameters, source, message):
    X = make_blobs(20, centers=2, random_state=0)[0]
    with pytest.raises(ValueError, match=message):
        TECM(2, **parameters).fit(X, source=source)
