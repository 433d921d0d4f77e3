"""Labels and pairs that a metric is learned from."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis.constraints import (
    check_constraints,
    check_labels,
    random_pairs,
    spread_labels,
)

# All pairs of labelled objects up to here, random ones of them beyond.
MAX_DERIVED_PAIRS = 20_000

Pairs = NDArray[np.intp]


def class_numbers(
    name: str,
    y: ArrayLike | None,
    must_link: ArrayLike | None,
    cannot_link: ArrayLike | None,
    n_samples: int,
) -> NDArray[np.intp]:
    """Classes 0, 1, ... of all objects whose class is known, -1 for the others.

    Labels are handed on along must-links. At least two classes are required.

    Parameters
    ----------
    name : str
        Name of the learner, for the message.
    y : array-like of shape (n_samples,) or None
        Labels, -1 for unknown.
    must_link, cannot_link : array-like of shape (n_pairs, 2) or None
        Pairs of row numbers.
    n_samples : int
        Number of objects.

    Returns
    -------
    array of intp, shape (n_samples,)
    """
    must, cannot = check_constraints(must_link, cannot_link, n_samples)
    if y is None:
        raise ValueError(
            f"{name} learns from labels: it requires y to be passed, but the target y "
            "is None (as metric of a clusterer it needs partial_labels)"
        )
    classes = spread_labels(_numbered(y, n_samples), must, cannot, name="y")
    n_classes = len(np.unique(classes[classes >= 0]))
    if n_classes < 2:
        raise ValueError(
            f"y must hold labels of at least two classes, got {n_classes} class(es)"
        )
    return classes


def links(
    name: str,
    y: ArrayLike | None,
    must_link: ArrayLike | None,
    cannot_link: ArrayLike | None,
    n_samples: int,
    rng: np.random.RandomState,
) -> tuple[Pairs, Pairs]:
    """Given pairs and those that the labels imply; at least one of each kind.

    Parameters are those of `class_numbers`; beyond 20 000 pairs of labelled objects,
    random ones are taken.

    Returns
    -------
    must_link, cannot_link : array of intp, shape (n_pairs, 2)
    """
    must, cannot = check_constraints(must_link, cannot_link, n_samples)
    if y is None and len(must) + len(cannot) == 0:
        raise ValueError(
            f"{name} learns from must_link and cannot_link, or it requires y to be "
            "passed, but the target y is None"
        )
    if y is not None:
        classes = spread_labels(_numbered(y, n_samples), must, cannot, name="y")
        n_known = int((classes >= 0).sum())
        n_pairs = min(n_known * (n_known - 1) // 2, MAX_DERIVED_PAIRS)
        more = random_pairs(classes, n_pairs, random_state=rng)
        must = np.unique(np.concatenate([must, more[0]]), axis=0)
        cannot = np.unique(np.concatenate([cannot, more[1]]), axis=0)
    for kind, pairs in (("must_link", must), ("cannot_link", cannot)):
        if len(pairs) == 0:
            raise ValueError(
                f"{kind} must hold at least one pair, given or between labelled "
                f"objects, for {name} to learn from, got none"
            )
    return must, cannot


def _numbered(y: ArrayLike, n_samples: int) -> NDArray[np.intp]:
    """Labels as 0, 1, ... in the order of their first appearance, and -1."""
    labels = check_labels(y)
    if len(labels) != n_samples:
        raise ValueError(
            f"y must have one label for each of the {n_samples} rows of X, got "
            f"{len(labels)}"
        )
    names = labels.tolist()
    numbers: dict[Any, int] = {-1: -1}
    for label in names:
        numbers.setdefault(label, len(numbers) - 1)
    return np.array([numbers[label] for label in names], dtype=np.intp)
