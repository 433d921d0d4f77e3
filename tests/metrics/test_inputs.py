"""What the indices take for partitions and for classes, and what they refuse."""

import numpy as np
import pandas as pd
import pytest

from credalis import CredalPartition, FocalSets
from credalis.metrics import (
    adjusted_rand_index,
    consistency_index,
    credal_rand_index,
    nonspecificity_index,
    similarity_index,
)

COMPARISONS = [consistency_index, similarity_index, credal_rand_index]

every_comparison = pytest.mark.parametrize("index", COMPARISONS)


@pytest.fixture
def partition():
    return CredalPartition.from_fuzzy([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0, 1]])


@every_comparison
@pytest.mark.parametrize(
    "labels",
    [
        [7, 7, -1, -1],
        (2.0, 2.0, 0.5, 0.5),
        ["b", "b", "a", "a"],
        [True, True, False, False],
        np.array([0, 0, 1, 1], dtype=np.uint8),
        np.array([-1, -1, 0, 0]),
        np.array(["x", "x", "yy", "yy"]),
        np.array(["x", "x", "yy", "yy"], dtype=object),
        np.array([5, 5, 3, 3], dtype=object),
        np.array([b"x", b"x", b"y", b"y"]),
        pd.Series(["x", "x", "y", "y"], index=[9, 8, 7, 6]),
        pd.Series(["x", "x", "y", "y"], dtype="category"),
        pd.Series([1, 1, 2, 2], dtype="Int64"),
    ],
    ids=lambda labels: f"{type(labels).__name__}-{np.asarray(labels).dtype}",
)
def test_every_distinct_label_is_a_class(index, labels, partition):
    hard = CredalPartition.from_labels([0, 0, 1, 1])
    np.testing.assert_allclose(
        index(partition, labels), index(partition, hard), rtol=1e-12
    )


@every_comparison
def test_minus_one_is_a_class_among_labels_and_no_cluster_in_a_partition(
    index, partition
):
    labels = [0, 0, -1, -1]
    outliers = CredalPartition.from_labels(labels)
    assert index(partition, labels) != index(partition, outliers)


@every_comparison
def test_one_class_is_enough(index):
    one = CredalPartition.from_labels([0, 0, 0])
    assert index(one, ["x", "x", "x"]) == 1
    assert index(one, [0, 1, 2]) == 0


@every_comparison
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 1], "same objects as first: expected 4 objects, got 3"),
        ([0], "second must have at least 2 objects, .* got 1"),
        ([], r"second must be a CredalPartition or a vector of .*shape \(0,\)"),
        (None, r"second must be a CredalPartition .* got NoneType of shape \(\)"),
        ("abcd", r"second must be a CredalPartition .* got str of shape \(\)"),
        (np.eye(4), r"second must be a CredalPartition .* of shape \(4, 4\)"),
        ([0, 0, np.nan, 1], "class label for every object, got NaN at position 2"),
        (np.array([0, np.nan, 1, 1]), "second must have a class label .* position 1"),
        (["a", "a", np.nan, "b"], "second must hold numbers only or strings only"),
        (["a", None, "a", "b"], "strings only as class labels, got None at position 1"),
        ([None, 0, 0, 1], "strings only as class labels, got None at position 0"),
        ([1, "1", 0, 0], "strings only as class labels, got '1' at position 1"),
        ([[0], [0, 1], [1], [1]], r"strings only as class labels, got \[0\]"),
        (pd.Series([1, 1, None, 2], dtype="Int64"), "got (<NA>|NaN) at position 2"),
        (np.array([1j, 1, 0, 0]), "numbers or strings as class labels, got dtype comp"),
        (np.arange(4).astype("datetime64[D]"), "class labels, got dtype datetime64"),
    ],
)
def test_wrong_labels_are_named(index, labels, message, partition):
    with pytest.raises(ValueError, match=message):
        index(partition, labels)


@every_comparison
def test_partitions_of_other_objects_are_named(index, partition):
    with pytest.raises(
        ValueError, match="second must be about the same objects as first: expected 4"
    ):
        index(partition, partition[:3])


@every_comparison
def test_first_must_be_a_partition(index, partition):
    with pytest.raises(ValueError, match="first must be a CredalPartition, got list"):
        index([0, 0, 1, 1], partition)
    with pytest.raises(ValueError, match="first must have at least 2 objects"):
        index(partition[:1], partition[:1])
    with pytest.raises(ValueError, match="first must have at least 2 objects"):
        index(partition[:0], partition[:0])


def test_nonspecificity_needs_a_partition_of_two_objects(partition):
    with pytest.raises(ValueError, match="partition must be a CredalPartition, got nd"):
        nonspecificity_index(np.eye(3))
    with pytest.raises(ValueError, match="partition must have at least 2 objects"):
        nonspecificity_index(partition[:1])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            [0, 1, 1],
            "reference must be about the same objects as partition: expected 4",
        ),
        ([], "reference must be a CredalPartition or a vector of class labels"),
        ([0, 0, np.nan, 1], "reference must have a class label for every object"),
    ],
)
def test_wrong_reference_of_the_adjusted_index_is_named(labels, message, partition):
    with pytest.raises(ValueError, match=message):
        adjusted_rand_index(partition, labels)


def test_wrong_partition_of_the_adjusted_index_is_named(partition):
    with pytest.raises(ValueError, match="partition must have at least 2 objects"):
        adjusted_rand_index(partition[:1], [0])
    with pytest.raises(ValueError, match="partition must be a CredalPartition or a"):
        adjusted_rand_index(None, [0, 1])


def test_partitions_may_differ_in_clusters_and_focal_sets(partition):
    other = CredalPartition(np.full((4, 8), 1 / 8), FocalSets.pairs(3))
    for index in COMPARISONS:
        assert 0 <= index(partition, other) <= 1
