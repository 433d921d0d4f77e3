"""The tree that leads to the decisions of a partition."""

import numpy as np
import pytest

from credalis import CredalPartition
from credalis._explain._columns import Column, columns_of
from credalis._explain._tree import grow_tree


def tree_of(columns, labels, names=None):
    partition = CredalPartition.from_labels(labels)
    names = names or [str(k) for k in range(partition.n_clusters)]
    return grow_tree(columns, partition, partition.verdicts().sets, names)


def test_one_question_suffices():
    x = np.array([1.0, 2, 3, 10, 11, 12] * 5)
    tree = tree_of([Column("length", x)], (x > 5).astype(int))
    assert tree.lines == ("length ≤ 6: {0} (15 rows)", "length > 6: {1} (15 rows)")
    assert tree.fidelity == tree.expected_fidelity == 1
    assert tree.n_leaves == 2


def test_at_most_twice_as_many_leaves_as_clusters():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    labels = rng.integers(3, size=200)
    tree = tree_of(columns_of(X), labels)
    assert tree.n_leaves == 6
    assert tree.fidelity > tree.expected_fidelity


def test_fidelity_is_the_share_of_rows_in_the_leaves_that_agree():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2))
    labels = (X[:, 0] + 0.7 * rng.normal(size=90) > 0).astype(int)
    tree = tree_of(columns_of(X), labels)
    right = total = 0
    for line in tree.lines:
        if line.endswith((" rows)", " row)")):
            counts = line[line.rindex("(") + 1 :].split()
            numbers = [int(word) for word in counts if word.isdigit()]
            right, total = right + numbers[0], total + numbers[-1]
    assert total == 90
    assert tree.fidelity == pytest.approx(right / 90)


def test_missing_cells_have_a_branch_of_their_own():
    x = np.array([np.nan] * 10 + [1.0, 2.0] * 10)
    tree = tree_of([Column("age", x)], np.isnan(x).astype(int))
    assert tree.lines[0] == "age is missing: {1} (10 rows)"
    assert tree.lines[1] == "age is known: {0} (20 rows)"
    x[:5] = 1
    text = str(tree_of([Column("age", x)], (np.nan_to_num(x, nan=0) > 1).astype(int)))
    assert "age ≤ 1.5 or missing: {0}" in text


def test_words_dates_and_ranks():
    kind = columns_of({"kind": ["a", "b", "c"] * 10})
    tree = tree_of(kind, [0, 1, 0] * 10, ["x", "y"])
    assert set(tree.lines) == {
        "kind is not b: {x} (20 rows)",
        "kind is b: {y} (10 rows)",
    }
    days = np.arange("2024-02-01", "2024-02-25", dtype="datetime64[D]")
    tree = tree_of(columns_of({"day": days}), np.repeat([0, 1], 12))
    assert tree.lines[0] == "day up to 2024-02-12: {0} (12 rows)"
    ranks = Column("size", np.repeat([0.0, 1, 2], 8), "rank", ("s", "m", "l"))
    tree = tree_of([ranks], np.repeat([0, 0, 1], 8))
    assert tree.lines == ("size up to m: {0} (16 rows)", "size from l: {1} (8 rows)")


def test_enormous_and_tiny_numbers():
    x = np.array([-1e308, 1e-300, 2e-300, 1e308] * 6)
    tree = tree_of([Column("x", x)], [0, 0, 1, 1] * 6)
    assert tree.fidelity == 1


def test_few_rows_have_no_expected_fidelity():
    tree = tree_of([Column("x", np.arange(4.0))], [0, 0, 1, 1])
    assert np.isnan(tree.expected_fidelity)
    assert "of others" not in tree.caption


def test_constant_columns_leave_one_leaf():
    tree = tree_of([Column("x", np.ones(30))], [0] * 20 + [1] * 10)
    assert tree.fidelity == pytest.approx(2 / 3)
    assert tree.n_leaves == 1


def test_columns_without_a_known_cell_ask_nothing():
    tree = tree_of(columns_of({"w": [None] * 4}), [0, 0, 0, 1])
    assert tree.lines == ("all rows: {0} (3 of 4 rows)",)


def test_a_word_may_be_empty():
    column = Column("colour", np.tile([0.0, 1, 2], 10), "words", ("", "red", "blue"))
    tree = tree_of([column], [1, 0, 0] * 10)
    assert set(tree.lines) == {
        "colour is not '': {0} (20 rows)",
        "colour is '': {1} (10 rows)",
    }
