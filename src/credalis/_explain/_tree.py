"""A small decision tree that says where the decisions of a partition change."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier

from credalis._explain._columns import Array, Column
from credalis.partition import CredalPartition

Indices = NDArray[np.intp]

# Parts of a cross-validation, and rows below which none is made.
_N_PARTS = 5
_FEWEST_ROWS = 20


@dataclass(frozen=True, eq=False)
class PartitionTree:
    """Questions about the columns that lead to the decisions of a partition.

    A decision is the one cluster of a clear object, the clusters that an object is
    between, or ∅ for an outlier, as in `CredalPartition.verdicts`.

    Attributes
    ----------
    lines : tuple of str
        The tree, a line for each branch, indented; a leaf ends in its decision.
    n_leaves : int
        At most twice the number of clusters.
    fidelity : float
        Share of the rows for which the tree comes to the decision of the partition.
    expected_fidelity : float
        The same share for rows that the tree was not grown from, by five-fold
        cross-validation; NaN for fewer than 20 rows.
    n_rows : int
        Number of rows that it was grown from.

    References
    ----------
    Lopes de Souza, Bakhti, Ramdani, Mottet, Imoussaten (2025), Explainable evidential
    clustering, arXiv:2507.12192. There a tree minimises the cost of its mistakes; here
    all mistakes cost the same.
    """

    lines: tuple[str, ...]
    n_leaves: int
    fidelity: float
    expected_fidelity: float
    n_rows: int

    @property
    def caption(self) -> str:
        """How well the tree does, in a sentence."""
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows} rows"
        text = f"The tree comes to the same decision for {self.fidelity:.1%} of {rows}"
        if np.isfinite(self.expected_fidelity):
            text += f", for about {self.expected_fidelity:.0%} of others"
        return f"{text}."

    def __str__(self) -> str:
        return "\n".join([*self.lines, self.caption])


def grow_tree(
    columns: Sequence[Column],
    partition: CredalPartition,
    sets: NDArray[np.bool_],
    names: Sequence[str],
) -> PartitionTree:
    """The tree of at most 2c leaves over the columns.

    Parameters
    ----------
    columns : sequence of Column
        Of n_rows rows.
    partition : CredalPartition
        Of the same rows.
    sets : array of bool, shape (n_rows, n_clusters)
        The decisions.
    names : sequence of str
        Names of the clusters.
    """
    ranks, questions = _ranked(columns)
    distinct, decisions = np.unique(sets, axis=0, return_inverse=True)
    decisions = decisions.reshape(-1)
    n_rows, most = len(ranks), 2 * partition.n_clusters
    texts = [decision_text(each, names) for each in distinct]
    tree = _grown(ranks, decisions, most)
    fidelity = float((tree.predict(ranks) == decisions).mean())
    expected = _expected_fidelity(ranks, decisions, most)
    n_leaves = int(tree.get_n_leaves())
    if n_leaves == 1:
        lines = [f"all rows: {_leaf(tree, texts, 0)}"]
    else:
        lines = _lines(tree, questions, texts, 0, 0)
    return PartitionTree(tuple(lines), n_leaves, fidelity, expected, n_rows)


def decision_text(members: NDArray[np.bool_], names: Sequence[str]) -> str:
    """A set of clusters, as in "{0,1}", or ∅."""
    inside = ",".join(names[k] for k in np.flatnonzero(members).tolist())
    return f"{{{inside}}}" if inside else "∅"


def _grown(ranks: Array, decisions: Indices, most: int) -> DecisionTreeClassifier:
    tree = DecisionTreeClassifier(max_leaf_nodes=max(most, 2), random_state=0)
    with warnings.catch_warnings():
        # Almost as many decisions as rows are strange, but no regression.
        warnings.filterwarnings("ignore", message="The number of unique classes")
        return tree.fit(ranks, decisions)


def _expected_fidelity(ranks: Array, decisions: Indices, most: int) -> float:
    if len(ranks) < _FEWEST_ROWS:
        return float("nan")
    parts = KFold(_N_PARTS, shuffle=True, random_state=0)
    n_right = 0
    for kept, left_out in parts.split(ranks):
        tree = _grown(ranks[kept], decisions[kept], most)
        n_right += int((tree.predict(ranks[left_out]) == decisions[left_out]).sum())
    return n_right / len(ranks)


@dataclass(frozen=True, eq=False)
class _Question:
    """What a feature of the tree asks about: a column, or one word of it."""

    column: Column
    values: Array  # distinct values in their order; empty for a word
    word: str | None = None
    has_gaps: bool = False

    def sides(self, threshold: float) -> tuple[str, str]:
        """What holds at or below a threshold between ranks, and above it."""
        name = self.column.name
        if self.word is not None:
            word = self.word or "''"
            return f"{name} is not {word}", f"{name} is {word}"
        rank = int(np.floor(threshold))
        if rank < 0:
            return f"{name} is missing", f"{name} is known"
        low, high = self.values[rank], self.values[rank + 1]
        gap = " or missing" if self.has_gaps else ""
        column = self.column
        if column.kind == "number":
            middle = column.text(_between(low, high))
            return f"{name} ≤ {middle}{gap}", f"{name} > {middle}"
        below, above = column.text(low), column.text(high)
        return f"{name} up to {below}{gap}", f"{name} from {above}"


def _between(low: float, high: float) -> float:
    """A number between two others with as few digits as possible."""
    middle = low / 2 + high / 2
    for digits in range(1, 17):
        rounded = float(f"{middle:.{digits}g}")
        if low <= rounded < high:
            return rounded
    return low


def _ranked(columns: Sequence[Column]) -> tuple[Array, list[_Question]]:
    """Ranks of numbers, -1 for missing ones, and indicators of words.

    Trees see no more of numbers than their order, and ranks are never too large.
    """
    features: list[Array] = []
    questions: list[_Question] = []
    for column in columns:
        known = np.isfinite(column.values)
        if column.kind == "words":
            for place in np.unique(column.values[known]).tolist():
                word = column.words[int(place)]
                features.append((column.values == place).astype(np.float64)[:, None])
                questions.append(_Question(column, np.empty(0), word))
            if not known.all() and known.any():
                features.append((~known).astype(np.float64)[:, None])
                questions.append(_Question(column, np.empty(0), "missing"))
            continue
        values, inverse = np.unique(column.values[known], return_inverse=True)
        ranks = np.full(len(known), -1.0)
        ranks[known] = inverse
        features.append(ranks[:, None])
        questions.append(_Question(column, values, has_gaps=not known.all()))
    # A column of which every cell is missing asks nothing.
    none = np.zeros((len(columns[0].values), 1))
    return np.concatenate(features or [none], axis=1), questions


def _lines(
    tree: DecisionTreeClassifier,
    questions: list[_Question],
    texts: list[str],
    node: int,
    depth: int,
) -> list[str]:
    """Both branches of a node, the leaves below them first."""
    inner: Any = tree.tree_
    lines = []
    sides = questions[inner.feature[node]].sides(float(inner.threshold[node]))
    children = (int(inner.children_left[node]), int(inner.children_right[node]))
    for side, child in zip(sides, children, strict=True):
        start = "│  " * depth + side
        if inner.children_left[child] < 0:
            lines.append(f"{start}: {_leaf(tree, texts, child)}")
        else:
            lines.append(start)
            lines += _lines(tree, questions, texts, child, depth + 1)
    return lines


def _leaf(tree: DecisionTreeClassifier, texts: list[str], node: int) -> str:
    """The decision of a leaf, and for how many of its rows it is the right one."""
    inner: Any = tree.tree_
    shares = inner.value[node][0]
    decision = texts[tree.classes_[int(shares.argmax())]]
    n_rows = int(inner.n_node_samples[node])
    n_right = round(float(shares.max() / shares.sum()) * n_rows)
    rows = "row" if n_rows == 1 else "rows"
    share = f"{n_rows}" if n_right == n_rows else f"{n_right} of {n_rows}"
    return f"{decision} ({share} {rows})"
