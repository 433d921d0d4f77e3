"""Checks of pairs, what they imply, and random ones."""

from collections import defaultdict
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from sklearn.utils import check_random_state

from credalis._checks import check_integer, check_numbers, check_seed, naming
from credalis._refusals import refuses_by_name

Pairs = NDArray[np.intp]
PairsLike = ArrayLike | None
Links = tuple[Pairs, Pairs]
RandomState = int | np.random.RandomState | None


@refuses_by_name
def check_pairs(name: str, pairs: PairsLike, n_samples: int) -> Pairs:
    """Pairs of row numbers as an array of their own, or a ValueError that names them.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    pairs : array-like of shape (n_pairs, 2) or None
        Row numbers of different objects, whole floats included; None is no pair.
    n_samples : int
        Number of objects, above all row numbers.

    Returns
    -------
    ndarray of intp of shape (n_pairs, 2)
        The pairs as given: nothing is sorted.

    Examples
    --------
    >>> from credalis.constraints import check_pairs
    >>> check_pairs("must_link", [(4, 0), (1, 2)], 5).tolist()
    [[4, 0], [1, 2]]
    >>> check_pairs("must_link", [(0, 4), (1, 5)], 5)
    Traceback (most recent call last):
    ValueError: must_link must hold row numbers from 0 to 4, got must_link[1] = (1, 5)
    """
    last = check_integer("n_samples", n_samples, at_least=1) - 1
    pairs = [] if pairs is None else pairs
    numbers = check_numbers(name, pairs)
    if numbers.shape != (0,) and (numbers.ndim != 2 or numbers.shape[1] != 2):
        raise ValueError(f"{name} must be of shape (n_pairs, 2), got {numbers.shape}")
    numbers = numbers.reshape(-1, 2)
    given = np.asarray(pairs, dtype=object).reshape(-1, 2)  # still shows truth values
    is_bool = np.array([isinstance(end, (bool, np.bool_)) for end in given.flat], bool)
    is_whole = (numbers == np.floor(numbers)) & ~is_bool.reshape(-1, 2)
    is_row = (numbers >= 0) & (numbers <= last)
    for is_good, expected in (
        (is_whole.all(axis=1), "hold whole numbers"),
        (is_row.all(axis=1), f"hold row numbers from 0 to {last}"),
        (numbers[:, 0] != numbers[:, 1], "join different objects"),
    ):
        if not is_good.all():
            row = int(is_good.argmin())
            shown = f"{name}[{row}] = ({given[row, 0]}, {given[row, 1]})"
            raise ValueError(f"{name} must {expected}, got {shown}")
    return numbers.astype(np.intp)


@refuses_by_name
def check_constraints(
    must_link: PairsLike,
    cannot_link: PairsLike,
    n_samples: int,
    *,
    rows: NDArray[np.integer] | None = None,
) -> Links:
    """Must-links and cannot-links in order, or a ValueError if they disagree.

    Parameters
    ----------
    must_link, cannot_link : array-like of shape (n_pairs, 2) or None
        Pairs of row numbers. They disagree if must-links join the ends of a
        cannot-link, directly or through other objects.
    n_samples : int
        Number of objects.
    rows : array of int, shape (n_samples,), default=None
        What messages call the objects; None: by their row numbers.

    Returns
    -------
    must_link, cannot_link : ndarray of intp of shape (n_pairs, 2)
        The same pairs in order; (j, i) and (i, j) are one.

    Examples
    --------
    >>> from credalis.constraints import check_constraints
    >>> check_constraints([(5, 3), (3, 5)], [(7, 3)], 8)
    (array([[3, 5]]), array([[3, 7]]))
    >>> check_constraints([(3, 5), (5, 7)], [(3, 7)], 8)
    Traceback (most recent call last):
    ValueError: cannot_link holds (3, 7), but must_link joins them: 3-5-7
    """
    must = in_order(check_pairs("must_link", must_link, n_samples))
    cannot = in_order(check_pairs("cannot_link", cannot_link, n_samples))
    graph = link_graph(must, n_samples)
    group = connected_components(graph, directed=False)[1]
    joined = group[cannot[:, 0]] == group[cannot[:, 1]]
    if joined.any():
        called = np.arange(n_samples) if rows is None else rows
        start, end = cannot[joined.argmax()].tolist()
        chain = _shortest_chain(graph, start, end, called)
        raise ValueError(
            f"cannot_link holds ({called[start]}, {called[end]}), but must_link joins "
            f"them: {chain}"
        )
    return must, cannot


@refuses_by_name
def closure(must_link: PairsLike, cannot_link: PairsLike, n_samples: int) -> Links:
    """All pairs that the given ones imply, the given ones included.

    A chain of must-links makes a group: its objects are joined pair by pair, and a
    cannot-link between objects of two groups holds for all pairs between the groups.

    Parameters
    ----------
    must_link, cannot_link : array-like of shape (n_pairs, 2) or None
        Pairs of row numbers; ValueError if they disagree.
    n_samples : int
        Number of objects.

    Returns
    -------
    must_link, cannot_link : ndarray of intp of shape (n_pairs, 2)
        Pairs in order. A group of g objects has g(g - 1)/2 must-links.

    Examples
    --------
    >>> from credalis.constraints import closure
    >>> must_link, cannot_link = closure([(0, 1), (1, 2)], [(2, 4)], 5)
    >>> must_link.tolist(), cannot_link.tolist()
    ([[0, 1], [0, 2], [1, 2]], [[0, 4], [1, 4], [2, 4]])
    """
    must, cannot = check_constraints(must_link, cannot_link, n_samples)
    group = connected_components(link_graph(must, n_samples), directed=False)[1]
    members = defaultdict(list)
    for row in np.unique(np.concatenate([must, cannot])).tolist():
        members[int(group[row])].append(row)
    together, apart = [must], [cannot]
    for rows in members.values():
        together.append(np.array(rows)[np.argwhere(np.tri(len(rows), k=-1))])
    for one, other in in_order(group[cannot]).tolist():
        apart.append(np.reshape(np.meshgrid(members[one], members[other]), (2, -1)).T)
    return in_order(np.concatenate(together)), in_order(np.concatenate(apart))


@refuses_by_name
def check_labels(y: ArrayLike) -> NDArray[Any]:
    """Labels that can be compared with each other and with -1, or a ValueError.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class of each object, a number or a string; -1 if unknown.

    Returns
    -------
    array of shape (n_samples,)

    Examples
    --------
    >>> from credalis.constraints import check_labels
    >>> check_labels(["a", -1, "b"])
    array(['a', -1, 'b'], dtype=object)
    """
    labels = np.asarray(y, dtype=object if isinstance(y, (list, tuple)) else None)
    if labels.ndim != 1:
        raise ValueError(f"y must be a vector of labels, got shape {labels.shape}")
    if labels.dtype.kind in "biu":
        return labels
    labels = labels.astype(object)
    for row, label in enumerate(labels):
        is_label = isinstance(label, (str, Real, np.bool_)) and label == label  # no NaN
        if not is_label or label == "-1":  # made of -1 by an array of strings
            expected = "hold numbers or strings, and the number -1 for unknown"
            raise ValueError(f"y must {expected}, got y[{row}] = {label!r}")
    return labels


@refuses_by_name
def random_pairs(
    y: ArrayLike, n_pairs: int, *, random_state: RandomState = None
) -> Links:
    """Constraints from known classes: random pairs, sorted by whether they agree.

    Every set of `n_pairs` pairs of labelled objects is equally probable. Memory grows
    with `n_pairs` and the number of objects, not with the number of possible pairs.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class of each object, a number or a string; -1 if unknown, and never drawn.
    n_pairs : int
        Number of pairs, must-links and cannot-links together.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    must_link, cannot_link : ndarray of intp of shape (n_must_link or n_cannot_link, 2)
        Pairs of objects of the same class and of different classes, in order.

    Examples
    --------
    >>> from credalis.constraints import random_pairs
    >>> must_link, cannot_link = random_pairs(["a", "a", "b", -1], 3, random_state=0)
    >>> must_link.tolist(), cannot_link.tolist()
    ([[0, 1]], [[0, 2], [1, 2]])
    """
    labels = check_labels(y)
    known = np.flatnonzero(labels != -1)
    n_known = len(known)
    n_possible = n_known * (n_known - 1) // 2
    name = f"n_pairs (of {n_known} labelled objects)"
    n_pairs = check_integer(name, n_pairs, at_least=0, at_most=n_possible)
    # The legacy generator would shuffle all possible pairs to draw a few of them.
    check_seed("random_state", random_state)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
    drawn = rng.choice(n_possible, n_pairs, replace=False, shuffle=False)
    # Objects in a circle: a number below n(n - 1)/2 is a place and a step onwards of at
    # most n/2, and every pair of places has just one number.
    step, place = np.divmod(drawn, n_known)
    pairs = known[np.column_stack([place, (place + step + 1) % n_known])]
    agree = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return in_order(pairs[agree]), in_order(pairs[~agree])


@refuses_by_name
def renumber(pairs: PairsLike, rows: ArrayLike) -> Pairs:
    """Pairs within some rows of the data, in the numbers that ``X[rows]`` gives them.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2) or None
        Pairs of row numbers.
    rows : array-like of shape (n_rows,)
        Different row numbers: row ``rows[k]`` becomes row k.

    Returns
    -------
    ndarray of intp of shape (n_kept_pairs, 2)
        The pairs with both ends in `rows`, as given otherwise: nothing is sorted.

    Examples
    --------
    >>> from credalis.constraints import renumber
    >>> renumber([(0, 7), (7, 4), (4, 5)], rows=[4, 5, 7]).tolist()
    [[2, 0], [0, 1]]
    """
    pairs = check_pairs("pairs", pairs, np.iinfo(np.intp).max)
    with naming("rows"):
        kept = np.asarray(rows)
    is_index = kept.ndim == 1 and kept.dtype.kind in "iu"
    numbers, positions = np.unique(kept if is_index else [], return_index=True)
    if len(numbers) != kept.size or (numbers < 0).any():
        raise ValueError(f"rows must be different row numbers, got {rows!r:.80}")
    is_kept = np.isin(pairs, numbers).all(axis=1)
    return positions[np.searchsorted(numbers, pairs[is_kept])]


def in_order(pairs: NDArray[Any]) -> Pairs:
    """The distinct pairs, sorted, the smaller number of each first."""
    return np.unique(np.sort(pairs, axis=1), axis=0).astype(np.intp)


def link_graph(must: Pairs, n_samples: int) -> csr_array:
    """Sparse adjacency matrix; SciPy's graphs want 32-bit numbers."""
    ends = tuple(must.T.astype(np.int32))
    return csr_array((np.ones(len(must)), ends), shape=(n_samples, n_samples))


def _shortest_chain(
    graph: csr_array, start: int, end: int, called: NDArray[np.integer]
) -> str:
    """Objects from start to end as "start-...-end", each linked to the next."""
    _, previous = breadth_first_order(graph, start, directed=False)
    chain = [end]
    while chain[-1] != start:
        chain.append(int(previous[chain[-1]]))
    names = [str(called[place]) for place in reversed(chain)]
    return "-".join(names if len(names) <= 12 else [*names[:9], "...", names[-1]])
