"""The credal Rand indices in common, their reference values, and the adjusted one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, rand_score

from credalis import CredalPartition, FocalSets
from credalis.metrics import (
    adjusted_rand_index,
    consistency_index,
    credal_rand_index,
    nonspecificity_index,
    similarity_index,
)
from helpers import credal_partitions

KINDS = {"c": "consistency", "j": "jousselme", "b": "belief"}

# Two credal partitions of the same objects, on different focal sets.
partition_pairs = st.integers(2, 8).flatmap(
    lambda n: st.tuples(*[credal_partitions(min_rows=n, max_rows=n)] * 2)
)
label_pairs = st.integers(2, 8).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.integers(0, 3), min_size=n, max_size=n).map(np.array)] * 2
    )
)


def rand_indices(first, second):
    """The index of each kind."""
    return [credal_rand_index(first, second, kind=kind) for kind in KINDS.values()]


@given(labels=label_pairs)
def test_hard_partitions_have_the_rand_index(labels):
    first, second = map(CredalPartition.from_labels, labels)
    expected = [rand_score(*labels)] * 3
    np.testing.assert_allclose(rand_indices(first, second), expected, atol=1e-12)
    np.testing.assert_allclose(rand_indices(first, labels[1]), expected, atol=1e-12)


@given(partitions=partition_pairs)
def test_index_is_symmetric_and_in_the_unit_interval(partitions):
    first, second = partitions
    indices = rand_indices(first, second)
    assert all(0 <= index <= 1 for index in indices)
    np.testing.assert_allclose(rand_indices(second, first), indices, atol=1e-12)


@given(partitions=partition_pairs, random=st.randoms(use_true_random=False))
def test_index_depends_neither_on_names_nor_on_order(partitions, random):
    first, second = partitions
    names = random.sample(range(first.n_clusters), first.n_clusters)
    order = random.sample(range(len(first)), len(first))
    np.testing.assert_allclose(
        rand_indices(first.relabel(names)[order], second[order]),
        rand_indices(first, second),
        atol=1e-12,
    )


def test_kinds_are_the_other_functions():
    first = CredalPartition.from_fuzzy([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    second = CredalPartition.from_possibilities([[1, 0.1], [1, 0.4], [0.2, 0.8]])
    assert credal_rand_index(first, second) == consistency_index(first, second)
    for distance in ("jousselme", "belief"):
        assert credal_rand_index(first, second, kind=distance) == similarity_index(
            first, second, distance=distance
        )


def test_unknown_kind_is_named():
    hard = CredalPartition.from_labels([0, 0, 1])
    with pytest.raises(ValueError, match="kind must be one of 'consistency', 'jous"):
        credal_rand_index(hard, hard, kind="c")


def test_values_of_an_independent_program():
    # A fuzzy partition with masses on ∅ against classes, by the R package evclust
    # 2.0.3: nonspecificity, and credal_RI of type c, j and b, 15 digits.
    masses = [
        [0.05, 0.7, 0.2, 0.05],
        [0, 0.1, 0.8, 0.1],
        [0.1, 0.3, 0.3, 0.3],
        [0.25, 0.05, 0.1, 0.6],
        [0, 1, 0, 0],
        [0.2, 0.2, 0.5, 0.1],
        [0.05, 0.1, 0.1, 0.75],
        [0.01, 0.34, 0.33, 0.32],
    ]
    partition = CredalPartition(masses, FocalSets.singletons(3, frame=False))
    classes = [1, 1, 2, 2, 3, 3, 1, 2]
    np.testing.assert_allclose(
        [
            nonspecificity_index(partition),
            credal_rand_index(partition, classes, kind="consistency"),
            credal_rand_index(partition, classes, kind="jousselme"),
            credal_rand_index(partition, classes, kind="belief"),
        ],
        [0.159321428571429, 0.484375, 0.529349692059124, 0.484375],
        rtol=1e-12,
    )


def test_reference_values(reference):
    masses = reference("extractMass.json")
    full, singletons = FocalSets.full(3), FocalSets.singletons(3, frame=False)
    partitions = {
        "A": CredalPartition(masses["massA"], full),
        "B": CredalPartition(masses["massB"], full),
        "H": CredalPartition.from_labels(np.array(masses["hard_y"]) - 1),
        "U": CredalPartition(masses["fuzzy"]["mass"], singletons),
    }
    values = reference("pairwise_credalRI.json")
    for name, (expected,) in values["nonspecificity"].items():
        np.testing.assert_allclose(
            nonspecificity_index(partitions[name]), expected, rtol=1e-12
        )
    for (first, second), indices in values["credal_RI"].items():
        for kind, (expected,) in indices.items():
            np.testing.assert_allclose(
                credal_rand_index(
                    partitions[first], partitions[second], kind=KINDS[kind]
                ),
                expected,
                rtol=1e-12,
            )


@given(label_pairs)
def test_adjusted_index_is_the_one_of_scikit_learn(labels):
    first, second = labels
    expected = adjusted_rand_score(first, second)
    assert adjusted_rand_index(first, second) == expected
    hard = CredalPartition.from_labels(first)
    assert adjusted_rand_index(hard, second) == expected
    assert adjusted_rand_index(hard, [f"class {k}" for k in second]) == expected


@given(label_pairs)
def test_adjusted_index_follows_hubert_and_arabie(labels):
    def n_pairs(counts):
        return (counts * (counts - 1) / 2).sum()

    table = np.zeros((4, 4))
    np.add.at(table, labels, 1)
    both, rows, columns = map(n_pairs, (table, table.sum(axis=1), table.sum(axis=0)))
    chance = rows * columns / n_pairs(table.sum())
    largest = (rows + columns) / 2
    expected = 1 if largest == chance else (both - chance) / (largest - chance)
    np.testing.assert_allclose(adjusted_rand_index(*labels), expected, atol=1e-12)


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_adjusted_index_is_one_where_chance_leaves_no_choice(labels):
    assert adjusted_rand_index(labels, labels) == 1


def test_adjusted_index_takes_the_most_plausible_clusters():
    partition = CredalPartition(
        [[0.4, 0.2, 0.1, 0.3], [0, 0.5, 0.1, 0.4], [0.6, 0.1, 0.2, 0.1]],
        FocalSets.full(2),
    )
    assert adjusted_rand_index(partition, ["x", "x", "y"]) == 1
