"""Consistency and nonspecificity: closed forms against the sums over pairs."""

import tracemalloc
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credalis import CredalPartition, FocalSets
from credalis.metrics import consistency_index, nonspecificity_index
from helpers import credal_partitions

# Two credal partitions of the same objects, on different focal sets.
partition_pairs = st.integers(2, 8).flatmap(
    lambda n: st.tuples(*[credal_partitions(min_rows=n, max_rows=n)] * 2)
)


def pair_masses(partition, i, j):
    """Masses of ∅, {same}, {different} and both, set by set."""
    masses = {"empty": 0.0, "same": 0.0, "different": 0.0, "either": 0.0}
    subsets = [set(subset) for subset in partition.focal_sets]
    for (a, first), (b, second) in product(enumerate(subsets), repeat=2):
        if not first or not second:
            relation = "empty"
        elif not first & second:
            relation = "different"
        elif first == second and len(first) == 1:
            relation = "same"
        else:
            relation = "either"
        masses[relation] += partition.masses[i, a] * partition.masses[j, b]
    return masses


def mean_conflict(first, second):
    contradictory = {("same", "different"), ("different", "same")}
    conflicts = [
        sum(
            p * q
            for (r, p), (s, q) in product(
                pair_masses(first, i, j).items(), pair_masses(second, i, j).items()
            )
            if "empty" in (r, s) or (r, s) in contradictory
        )
        for i, j in combinations(range(len(first)), 2)
    ]
    return np.mean(conflicts)


def mean_open(partition):
    pairs = [
        pair_masses(partition, i, j) for i, j in combinations(range(len(partition)), 2)
    ]
    return np.mean([pair["empty"] + pair["either"] for pair in pairs])


def consistency_with_classes(partition, labels):
    """CI by the sums of the masses in each class."""
    masses, focal_sets = partition.masses, partition.focal_sets
    pl_same = 1.0 - focal_sets.disjoint
    pl_different = 1.0 - focal_sets.either_empty - focal_sets.same_singleton
    classes = np.unique(labels)
    sums = np.array([masses[labels == k].sum(axis=0) for k in classes])
    within = np.einsum("ka,ab,kb->", sums, pl_same, sums)
    itself = np.einsum("ia,ab,ib->", masses, pl_same, masses, optimize=True)
    across = np.einsum("ka,ab,lb->kl", sums, pl_different, sums)
    n_samples = len(masses)
    ordered = within - itself + across.sum() - np.trace(across)
    return ordered / (n_samples * (n_samples - 1))


def random_partition(rng, focal_sets, n_samples):
    weights = rng.gamma(0.3, size=(n_samples, len(focal_sets))) + 1e-9
    return CredalPartition(weights / weights.sum(axis=1, keepdims=True), focal_sets)


@pytest.fixture
def example():
    """Four objects worked out by hand, with classes 1, 1, 2, 2."""
    return CredalPartition(
        [[0, 1, 0, 0], [0, 0.6, 0.2, 0.2], [0.1, 0, 0.7, 0.2], [0, 0, 0, 1]],
        FocalSets.full(2),
    )


def test_worked_example(example):
    np.testing.assert_allclose(
        consistency_index(example, [1, 1, 2, 2]), 0.8933333333, atol=5e-11
    )
    np.testing.assert_allclose(nonspecificity_index(example), 0.6566666667, atol=5e-11)


@given(partition_pairs)
def test_consistency_is_one_minus_the_mean_conflict_over_pairs(partitions):
    first, second = partitions
    np.testing.assert_allclose(
        consistency_index(first, second), 1 - mean_conflict(first, second), atol=1e-12
    )


@given(credal_partitions(min_rows=2))
def test_nonspecificity_is_the_mean_of_what_pairs_leave_open(partition):
    np.testing.assert_allclose(
        nonspecificity_index(partition), mean_open(partition), atol=1e-12
    )


@given(st.data())
def test_consistency_with_classes_is_the_mean_plausibility_of_the_truth(data):
    partition = data.draw(credal_partitions(min_rows=2))
    n_samples = len(partition)
    labels = data.draw(
        st.lists(st.integers(-1, 3), min_size=n_samples, max_size=n_samples)
    )
    np.testing.assert_allclose(
        consistency_index(partition, labels),
        consistency_with_classes(partition, np.array(labels)),
        atol=1e-12,
    )


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_knowing_nothing_is_consistent_with_everything(n_clusters):
    focal_sets = FocalSets.singletons(n_clusters)
    vacuous = CredalPartition(np.eye(len(focal_sets))[[-1] * 5], focal_sets)
    assert nonspecificity_index(vacuous) == 1
    assert consistency_index(vacuous, [0, 0, 1, 1, 2]) == 1
    assert consistency_index(vacuous, vacuous) == 1


def test_all_mass_on_the_empty_set_contradicts_everything(example):
    nowhere = CredalPartition.from_labels([-1, -1, -1, -1])
    assert nonspecificity_index(nowhere) == 1
    assert consistency_index(nowhere, nowhere) == 0
    assert consistency_index(nowhere, [0, 0, 1, 1]) == 0
    assert consistency_index(example, nowhere) == 0


@given(st.lists(st.integers(0, 3), min_size=2, max_size=8))
def test_hard_partition_is_specific_and_consistent_with_itself(labels):
    hard = CredalPartition.from_labels(labels)
    assert nonspecificity_index(hard) == 0
    assert consistency_index(hard, hard) == 1


def test_soft_partition_may_contradict_itself():
    fuzzy = CredalPartition.from_fuzzy([[0.5, 0.5], [0.5, 0.5]])
    assert consistency_index(fuzzy, fuzzy) == 0.5


@given(credal_partitions(min_rows=2), st.randoms(use_true_random=False))
def test_nonspecificity_depends_neither_on_names_nor_on_order(partition, random):
    names = random.sample(range(partition.n_clusters), partition.n_clusters)
    order = random.sample(range(len(partition)), len(partition))
    changed = partition.relabel(names)[order]
    np.testing.assert_allclose(
        nonspecificity_index(changed), nonspecificity_index(partition), atol=1e-12
    )


def test_many_objects_are_as_few_of_them_often(rng):
    """Batches: k copies of n objects make k² times the pairs, k of them of copies."""
    n, few = 50, (FocalSets.pairs(3), FocalSets.full(2))
    partitions = [random_partition(rng, focal_sets, n) for focal_sets in few]

    def totals(k):
        first, second = (each[np.tile(np.arange(n), k)] for each in partitions)
        indices = [consistency_index(first, second), nonspecificity_index(first)]
        return np.array(indices) * (k * n) * (k * n - 1)

    between = totals(1)
    of_copies = (totals(2) - 4 * between) / 2
    for k in (3, 4000):
        expected = k**2 * between + k * (k - 1) * of_copies
        np.testing.assert_allclose(totals(k), expected, rtol=1e-10)


def test_many_objects_need_little_memory(rng):
    n_samples = 200_000
    first = random_partition(rng, FocalSets.singletons(15), n_samples)
    second = random_partition(rng, FocalSets.pairs(4), n_samples)
    labels = rng.integers(15, size=n_samples)
    tracemalloc.start()
    try:
        with_classes = consistency_index(first, labels)
        with_partition = consistency_index(first, second)
        nonspecificity = nonspecificity_index(first)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The masses of one of the partitions take 27 MB.
    assert peak < 2**24
    np.testing.assert_allclose(
        with_classes, consistency_with_classes(first, labels), rtol=1e-10
    )
    # Independent objects: what all of them say hardly differs from what some say.
    np.testing.assert_allclose(
        [with_partition, nonspecificity],
        [
            consistency_index(first[:20_000], second[:20_000]),
            nonspecificity_index(first[:20_000]),
        ],
        atol=0.01,
    )
