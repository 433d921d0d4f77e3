"""The similarity index: all pairs, and a sample of them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credalis import CredalPartition, FocalSets
from credalis.belief import pairwise_masses
from credalis.metrics import similarity_index
from credalis.metrics._similarity import _draw_pairs
from helpers import credal_partitions

# Two credal partitions of the same objects, on different focal sets.
partition_pairs = st.integers(2, 8).flatmap(
    lambda n: st.tuples(*[credal_partitions(min_rows=n, max_rows=n)] * 2)
)

# Masses of ∅, {same}, {different} of two mass functions, and their distances: computed
# with the R package evclust 2.0.3, 15 digits.
DISTANCES = [
    ([0.1, 0.5, 0.2], [0.05, 0.3, 0.4], 0.206155281280883, 0.225),
    ([0, 1, 0], [0, 0, 1], 1, 1),
    ([0, 0, 1], [0, 0.5, 0.3], 0.608276253029822, 0.6),
    ([0.25, 0.25, 0.25], [0.1, 0.6, 0.2], 0.25, 0.275),
    ([1, 0, 0], [0, 0, 0], 1, 0.5),
]


def one_pair(masses):
    """Two objects that are the same, different, ... with these masses."""
    return CredalPartition(
        [[0, 1, 0, 0], [*masses, 1 - sum(masses)]], FocalSets.full(2)
    )


def mean_distance(first, second, distance):
    """The definition, pair by pair, with the numbers of a two-element frame."""
    jaccard = [[1, 0, 0, 0], [0, 1, 0, 0.5], [0, 0, 1, 0.5], [0, 0.5, 0.5, 1]]
    distances = []
    for i, j in combinations(range(len(first)), 2):
        change = first.pairwise_masses()[i, j] - second.pairwise_masses()[i, j]
        if distance == "jousselme":
            distances.append(np.sqrt(max(change @ jaccard @ change, 0) / 2))
        else:
            distances.append(np.abs(change[:3]).sum() / 2)
    return np.mean(distances)


def random_partition(rng, focal_sets, n_samples):
    weights = rng.gamma(0.3, size=(n_samples, len(focal_sets))) + 1e-9
    return CredalPartition(weights / weights.sum(axis=1, keepdims=True), focal_sets)


def test_worked_example():
    example = CredalPartition(
        [[0, 1, 0, 0], [0, 0.6, 0.2, 0.2], [0.1, 0, 0.7, 0.2], [0, 0, 0, 1]],
        FocalSets.full(2),
    )
    np.testing.assert_allclose(
        similarity_index(example, [1, 1, 2, 2]), 0.4973157829, atol=5e-11
    )
    np.testing.assert_allclose(
        similarity_index(example, [1, 1, 2, 2], distance="belief"), 0.59, atol=1e-12
    )


@pytest.mark.parametrize(("first", "second", "jousselme", "belief"), DISTANCES)
def test_one_pair_of_objects(first, second, jousselme, belief):
    first, second = one_pair(first), one_pair(second)
    np.testing.assert_allclose(
        [
            1 - similarity_index(first, second),
            1 - similarity_index(first, second, distance="belief"),
        ],
        [jousselme, belief],
        rtol=1e-12,
    )


def test_distances_of_the_reference_program(reference):
    values = reference("jousselme.json")
    for first, second, jousselme, belief in zip(
        *(values[key] for key in ("m1", "m2", "jousselme", "bel")), strict=True
    ):
        test_one_pair_of_objects(first, second, jousselme, belief)


@pytest.mark.parametrize("distance", ["jousselme", "belief"])
@given(partitions=partition_pairs)
def test_similarity_is_one_minus_the_mean_distance_over_pairs(distance, partitions):
    np.testing.assert_allclose(
        similarity_index(*partitions, distance=distance),
        1 - mean_distance(*partitions, distance),
        atol=1e-12,
    )


@pytest.mark.parametrize("distance", ["jousselme", "belief"])
@given(partition=credal_partitions(min_rows=2))
def test_partition_is_similar_to_itself(distance, partition):
    assert similarity_index(partition, partition, distance=distance) == 1


@pytest.mark.parametrize("distance", ["jousselme", "belief"])
@pytest.mark.parametrize("max_bytes", [1, 1000, 20_000])
def test_blocks_do_not_change_the_value(rng, distance, max_bytes):
    first = random_partition(rng, FocalSets.pairs(3), 23)
    second = random_partition(rng, FocalSets.full(2), 23)
    np.testing.assert_allclose(
        similarity_index(first, second, distance=distance, max_bytes=max_bytes),
        similarity_index(first, second, distance=distance),
        rtol=1e-12,
    )


def test_classes_are_the_same_as_their_hard_partition(rng):
    partition = random_partition(rng, FocalSets.pairs(3), 23)
    labels = rng.integers(4, size=23)
    hard = CredalPartition.from_labels(labels)
    for max_exact in (0, 23):
        options = {"max_exact": max_exact, "n_pairs": 50, "random_state": 0}
        np.testing.assert_allclose(
            similarity_index(partition, labels, **options),
            similarity_index(partition, hard, **options),
            rtol=1e-12,
        )


@pytest.mark.parametrize("distance", ["jousselme", "belief"])
@pytest.mark.parametrize("n_samples", [3, 200])
def test_sample_estimates_the_exact_value(rng, seed, distance, n_samples):
    first = random_partition(rng, FocalSets.pairs(3), n_samples)
    second = random_partition(rng, FocalSets.full(2), n_samples)
    n_pairs = 40_000
    sampled = similarity_index(
        first,
        second,
        distance=distance,
        max_exact=n_samples - 1,
        n_pairs=n_pairs,
        random_state=seed,
    )
    exact = similarity_index(first, second, distance=distance, max_exact=n_samples)
    # Four times the standard error of the documentation, which is an upper bound.
    assert sampled != exact
    assert abs(sampled - exact) < 4 * 0.5 / np.sqrt(n_pairs)


def test_standard_error_is_the_documented_one(rng):
    first = random_partition(rng, FocalSets.pairs(3), 30)
    second = random_partition(rng, FocalSets.full(2), 30)
    change = pairwise_masses(first.masses, first.focal_sets) - pairwise_masses(
        second.masses, second.focal_sets
    )
    distances = np.abs(change[..., :3]).sum(axis=-1)[np.triu_indices(30, k=1)] / 2
    options = {"distance": "belief", "max_exact": 0, "n_pairs": 100}
    estimates = [
        similarity_index(first, second, random_state=seed, **options)
        for seed in range(400)
    ]
    # The standard deviation of 400 estimates is itself known to within 3.5 %, their
    # mean to within a twentieth of it.
    error = distances.std() / np.sqrt(100)
    assert error < 0.5 / np.sqrt(100)
    np.testing.assert_allclose(np.std(estimates), error, rtol=4 * 0.035)
    np.testing.assert_allclose(
        np.mean(estimates), 1 - distances.mean(), atol=4 * error / 20
    )


def test_sample_is_reproducible_in_any_memory(rng):
    first = random_partition(rng, FocalSets.pairs(3), 40)
    second = random_partition(rng, FocalSets.full(2), 40)
    options = {"max_exact": 0, "n_pairs": 1000}
    value = similarity_index(first, second, random_state=5, **options)
    assert similarity_index(first, second, random_state=5, **options) == value
    assert similarity_index(first, second, random_state=6, **options) != value
    np.testing.assert_allclose(
        similarity_index(first, second, random_state=5, max_bytes=5000, **options),
        value,
        rtol=1e-12,
    )
    assert value == similarity_index(
        first, second, random_state=np.random.RandomState(5), **options
    )


def test_all_pairs_are_drawn_equally_often(seed):
    n_draws = 60_000
    i, j = _draw_pairs(4, n_draws, np.random.RandomState(seed))
    counts = np.zeros((4, 4))
    np.add.at(counts, (i, j), 1)
    assert (np.diag(counts) == 0).all()
    expected = n_draws / 12
    off_diagonal = counts[~np.eye(4, dtype=bool)]
    assert (np.abs(off_diagonal - expected) < 5 * np.sqrt(expected)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distance": "euclidean"}, "distance must be one of 'jousselme', 'belief'"),
        ({"max_exact": -1}, "max_exact must be an integer >= 0, got -1"),
        ({"n_pairs": 0}, "n_pairs must be an integer >= 1, got 0"),
        ({"n_pairs": 10.5}, "n_pairs must be an integer >= 1, got 10.5"),
        ({"max_bytes": 0}, "max_bytes must be an integer >= 1, got 0"),
        ({"max_exact": 0, "random_state": "x"}, "random_state must be"),
    ],
)
def test_wrong_options_are_named(options, message):
    hard = CredalPartition.from_labels([0, 0, 1])
    with pytest.raises(ValueError, match=message):
        similarity_index(hard, hard, **options)
