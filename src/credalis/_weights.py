"""Weights of objects: one of weight w stands for w objects that are alike.

Costs are sums over objects, in which a weight is a factor. What is found otherwise, as
neighbours, quantiles and random seeds are, is found among copies of the objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import check_numbers, shown

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# As many copies as the weights say are made up to here.
MAX_COPIES = 20_000

# Sums of weights that can be multiplied by each other and by squared lengths.
_SMALLEST_SUM, _LARGEST_SUM = 1e-50, 1e50

# Numbers of rows that are looked at together.
_PRINTED_NUMBERS = 2**14


def check_sample_weight(sample_weight: Any, n_samples: int) -> Array | None:
    """Weights of the objects, or a ValueError; None if all count alike.

    Parameters
    ----------
    sample_weight : None, number or array-like of shape (n_samples,)
        Not negative, and for two objects positive.
    n_samples : int
        Number of objects.
    """
    if sample_weight is None:
        return None
    weights = check_numbers("sample_weight", sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_samples, float(weights))
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have one weight for each of the {n_samples} rows of "
            f"X, got shape {weights.shape}"
        )
    is_wrong = ~(np.isfinite(weights) & (weights >= 0))
    if is_wrong.any():
        row = int(is_wrong.argmax())
        raise ValueError(
            f"sample_weight must be finite and not negative, got {weights[row]} in row "
            f"{row}"
        )
    n_positive = np.count_nonzero(weights)
    if n_positive < 2:
        raise ValueError(
            "sample_weight must not be zero for all rows but one, got "
            f"{n_positive} positive weight(s)"
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not _SMALLEST_SUM <= total <= _LARGEST_SUM:
        raise ValueError(
            f"sample_weight must have a sum from {_SMALLEST_SUM:g} to {_LARGEST_SUM:g},"
            f" got {shown(float(total))}"
        )
    return weights


def copied(points: Array, X: Array, weights: Array | None, enough: int = 1) -> Array:
    """Points that the rows of X have become, each as often as its weight says.

    The order is that of `copies` of X: points may differ by rounding.
    """
    objects = copies(X, weights, enough)
    is_same = len(objects) == len(X) and (objects == np.arange(len(X))).all()
    return points if is_same else points[objects]


def copies(X: Array, weights: Array | None, enough: int = 1) -> Indices:
    """Row numbers, each as often as its weight says.

    Where weights are not whole, or ask for more than 20 000 copies, as many as there
    are objects are taken, those of weight w about w times as often as those of weight
    1. Rows that repeat come in an order that depends on nothing but the rows: what is
    drawn among them is the same whether an object has weight two or comes twice.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Objects.
    weights : array of shape (n_samples,) or None
        Their weights; None: all are 1.
    enough : int, default=1
        Different rows that must be among the copies, if X has so many: where the others
        weigh next to nothing, all of them are added.

    Returns
    -------
    array of int
    """
    n_samples = len(X)
    if weights is None:
        if n_samples > MAX_COPIES:
            return np.arange(n_samples)
        prints = fingerprints(X)
        if len(np.unique(prints)) == n_samples:
            return np.arange(n_samples)
        return np.argsort(prints, kind="stable")
    prints = fingerprints(X)
    order = np.argsort(prints, kind="stable")
    ordered = weights[order]
    if ordered.sum() <= MAX_COPIES and (ordered == np.floor(ordered)).all():
        return np.repeat(order, ordered.astype(np.intp))
    n_copies = min(n_samples, MAX_COPIES)
    ends = np.cumsum(ordered)
    marks = (np.arange(n_copies) + 0.5) / n_copies * ends[-1]
    places = np.searchsorted(ends, marks, side="right")
    chosen = order[np.minimum(places, n_samples - 1)]
    if len(np.unique(prints[chosen])) < enough:
        is_absent = ~np.isin(order, chosen) & (ordered > 0)
        chosen = np.concatenate([chosen, order[is_absent]])
    return chosen


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Rows that differ, and how often each counts.

    Attributes
    ----------
    rows : array of int, shape (n_objects,)
        Row numbers, one for each object.
    objects : array of int, shape (n_samples,)
        Which object a row is.
    weights : array of shape (n_objects,) or None
        Weights of the objects; None: all are 1.
    """

    rows: Indices
    objects: Indices
    weights: Array | None

    @classmethod
    def all_of(cls, n_samples: int, weights: Array | None) -> DistinctRows:
        """Every row an object of its own."""
        everything = np.arange(n_samples)
        return cls(everything, everything, weights)

    @classmethod
    def of(cls, X: Array, weights: Array | None) -> DistinctRows:
        """Equal rows one object, in an order that depends on nothing but the rows.

        Without weights, rows of which none is equal to another stay as they are.
        """
        _, rows, objects = np.unique(
            fingerprints(X), return_index=True, return_inverse=True
        )
        if weights is None and len(rows) == len(X):
            return cls.all_of(len(X), None)
        counts = np.bincount(objects, weights=weights).astype(np.float64)
        return cls(rows, objects, counts)


def fingerprints(X: Array) -> NDArray[np.uint64]:
    """A number for each row: equal rows have equal ones, others hardly ever."""
    factors = np.random.RandomState(0).randint(2**62, size=X.shape[1], dtype=np.int64)
    odd = 2 * factors.astype(np.uint64) + np.uint64(1)
    prints = np.empty(len(X), dtype=np.uint64)
    # Few at a time: beside a matrix of dissimilarities there is no room for another.
    n_rows = max(1, _PRINTED_NUMBERS // X.shape[1])
    for start in range(0, len(X), n_rows):
        rows = slice(start, start + n_rows)
        # Adding zero makes -0.0 and 0.0 the same.
        bits = np.ascontiguousarray(X[rows] + 0.0).view(np.uint64)
        mixed = (bits ^ (bits >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        prints[rows] = (mixed * odd).sum(axis=1)
    return prints
