"""Which of several results to take when nobody knows the truth.

A result that its own method warns of comes after the others. Among the rest decides the
mean of two numbers: how much the clusters agree with those that the other methods find,
and how much they stay the same when the method sees fewer objects. Neither is proof:
methods that look for the same kind of clusters agree in the same mistakes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import adjusted_rand_score

# Adjusted Rand indices from which on two clusterings agree well, and below which
# little.
_WELL, _LITTLE = 0.8, 0.5


@dataclass(frozen=True)
class Evidence:
    """What speaks for the result of a method, and what against it.

    Attributes
    ----------
    method : str
        Its name.
    agreement : float or None
        Mean adjusted Rand index with the results of the other methods; None if there
        are none.
    stability : float or None
        Adjusted Rand index with the result on a part of the objects; None if the method
        cannot be run on it.
    warnings : tuple of str
        Kinds of warnings of its fit that concern the result.
    """

    method: str
    agreement: float | None
    stability: float | None
    warnings: tuple[str, ...]

    @property
    def support(self) -> float:
        """Mean of agreement and stability, those that are known."""
        known = [x for x in (self.agreement, self.stability) if x is not None]
        return float(np.mean(known)) if known else 0.0


def agreements(labels: Sequence[ArrayLike]) -> list[float | None]:
    """Mean adjusted Rand index of each clustering with the others."""
    if len(labels) < 2:
        return [None] * len(labels)
    n_methods = len(labels)
    table: NDArray[np.float64] = np.zeros((n_methods, n_methods))
    for one in range(n_methods):
        for other in range(one):
            index = adjusted_rand_score(labels[one], labels[other])
            table[one, other] = table[other, one] = index
    return [float(total) / (n_methods - 1) for total in table.sum(axis=1)]


def recommended(evidence: Sequence[Evidence]) -> Evidence:
    """The result with the fewest warnings, and of these the best supported one."""
    return min(evidence, key=lambda each: (len(each.warnings), -each.support))


def reason(evidence: Sequence[Evidence]) -> str:
    """Why this result is recommended, in words."""
    chosen = recommended(evidence)
    alike = []
    if chosen.agreement is not None:
        known = [each.agreement for each in evidence if each.agreement is not None]
        alike.append(
            f"{_degree(chosen.agreement)} with those of the other methods (mean ARI "
            f"{chosen.agreement:.2f}{_rank(chosen.agreement, known)})"
        )
    if chosen.stability is not None:
        known = [each.stability for each in evidence if each.stability is not None]
        alike.append(
            f"{_degree(chosen.stability)} with its own for a part of the objects (ARI "
            f"{chosen.stability:.2f}{_rank(chosen.stability, known)})"
        )
    told = _about_warnings(chosen, evidence)
    if alike:
        told += f", and its clusters agree {' and '.join(alike)}"
    if chosen.agreement is not None and chosen.agreement < _LITTLE:
        told += "; the methods disagree, so look at other results, too"
    return told


def _about_warnings(chosen: Evidence, evidence: Sequence[Evidence]) -> str:
    if chosen.warnings:
        return f"its fit raised the fewest warnings ({', '.join(chosen.warnings)})"
    n_warned = sum(bool(each.warnings) for each in evidence)
    others = f" (that of {n_warned} of {len(evidence)} methods did)" if n_warned else ""
    return f"its fit raised no warning{others}"


def _degree(index: float) -> str:
    """An adjusted Rand index in a word."""
    if index >= _WELL:
        return "well"
    return "partly" if index >= _LITTLE else "little"


def _rank(value: float, all_values: Sequence[float]) -> str:
    """Which of several values this is, from the largest down."""
    if len(all_values) < 2:
        return ""
    rank = 1 + sum(other > value for other in all_values)
    return f", rank {rank} of {len(all_values)}"
