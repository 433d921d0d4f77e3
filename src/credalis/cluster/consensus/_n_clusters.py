"""How many clusters: where members agree and a mixture is simple, or one without any.

Among the numbers c at which members agree nearly as well as at the best one, the lowest
BIC is taken. A test says before whether there is anything to find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis import _archive
from credalis.cluster.consensus._members import convene
from credalis.cluster.consensus._mixtures import (
    Mixture,
    best_fit,
    kmeans_memberships,
    rounding_ridge,
)
from credalis.cluster.consensus._structure import LEVEL, structure_p_value

Array = NDArray[np.float64]

# Numbers that are tried if none are given: from 2 to this, but no more than one for so
# many rows.
LARGEST = 10
_ROWS_EACH = 10

# Agreement that is lower by no more than this is about as good.
_NEARLY = 0.1

# Rows that are looked at.
_MAX_ROWS = 1000

_FAMILIES = ("full", "tied")
_N_STARTS = 3


@dataclass(frozen=True, eq=False)
class Choice:
    """A number of clusters and what speaks for it.

    Attributes
    ----------
    n_clusters : int
        The number; 1 if nothing says that there are clusters.
    numbers : array of int, shape (n_numbers,)
        Those that were tried, increasing.
    agreement : array of shape (n_numbers,)
        Mean adjusted Rand index of two members.
    bic : array of shape (n_numbers,)
        BIC of the better of two Gaussian mixtures, with full and with tied covariance.
    p_value : float
        Of the hypothesis that there are no groups with gaps between them.
    """

    n_clusters: int
    numbers: NDArray[np.intp]
    agreement: Array
    bic: Array
    p_value: float

    @property
    def has_structure(self) -> bool:
        """Whether the test has found groups with gaps between them."""
        return self.p_value <= LEVEL

    @property
    def by_agreement(self) -> int:
        """The number on which members agree most."""
        return int(self.numbers[self.agreement.argmax()])

    @property
    def by_bic(self) -> int:
        """The number of lowest BIC."""
        return int(self.numbers[self.bic.argmin()])

    @property
    def best_number(self) -> int:
        """The number to take if there are clusters."""
        return most_credible(self.numbers, self.agreement, self.bic)

    @property
    def reason(self) -> str:
        """Why, in words, with what speaks against it."""
        if self.n_clusters == 1:
            return f"No clusters: {self.finding}."
        parts = [f"{self.n_clusters} clusters"]
        if self.by_agreement == self.by_bic == self.n_clusters:
            parts[0] += " by agreement and BIC"
        else:
            parts.append(
                f"agreement says {self.by_agreement}, BIC says {self.by_bic}, and the "
                "lowest BIC among those with nearly the best agreement is taken"
            )
        if self.n_clusters == self.numbers[-1]:
            parts.append("it is the largest number tried")
        if not self.has_structure:
            parts.append(f"but {self.finding}")
        return f"{'; '.join(parts)}."

    @property
    def finding(self) -> str:
        """What the test says."""
        if self.has_structure:
            return f"there are gaps between groups of rows (p = {self.p_value:.2g})"
        return (
            "a test finds no gaps between groups of rows that chance would not leave "
            f"(p = {self.p_value:.2g}, {LEVEL:g} is asked for)"
        )

    def summary(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "p_value": self.p_value,
            "reason": self.reason,
            "table": [
                {"n_clusters": int(c), "agreement": float(a), "bic": float(b)}
                for c, a, b in zip(self.numbers, self.agreement, self.bic, strict=True)
            ],
        }

    def to_state(self) -> dict[str, Any]:
        """Numbers and arrays."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Choice:
        """Inverse of `to_state`."""
        return cls(**state)


_archive.register(Choice)


def default_numbers(n_rows: int, at_least: int = 2) -> range:
    """Numbers to try on so many rows, none below those that are known."""
    last = max(at_least, min(LARGEST, n_rows // _ROWS_EACH))
    return range(at_least, last + 1)


def choose_n_clusters(
    rows: Array,
    numbers: Sequence[int],
    members: Sequence[Any],
    rng: np.random.RandomState,
    *,
    may_be_one: bool,
    report: Callable[[int], None],
) -> Choice:
    """Test for structure, ask the members about each number, choose.

    Parameters
    ----------
    rows : array of shape (n, d)
        Rows, of which 1000 are looked at.
    numbers : sequence of int
        Numbers of clusters >= 2, increasing.
    members : sequence
        Names and clusterers.
    rng : RandomState
        Draws rows, halves and starts.
    may_be_one : bool
        Whether the answer is 1 if the test finds no structure.
    report : callable
        Called with the number of steps that are done, at last ``len(numbers) + 1``.
    """
    p_value = structure_p_value(rows, rng)
    report(1)
    if len(rows) > _MAX_ROWS:
        rows = rows[np.sort(rng.choice(len(rows), _MAX_ROWS, replace=False))]
    agreement, bic = np.empty(len(numbers)), np.empty(len(numbers))
    for k, number in enumerate(numbers):
        session = convene(
            rows, number, members, rng, has_gate=False, report=lambda *_: None
        )
        agreement[k] = session.agreement
        bic[k] = lowest_bic(session.committee.frame(rows), number, rng)
        report(k + 2)
    tried = np.array(numbers, dtype=np.intp)
    best = most_credible(tried, agreement, bic)
    if may_be_one and p_value > LEVEL:
        best = 1
    return Choice(best, tried, agreement, bic, p_value)


def most_credible(numbers: NDArray[np.intp], agreement: Array, bic: Array) -> int:
    """The number of lowest BIC among those with nearly the best agreement."""
    is_agreed = agreement >= agreement.max() - _NEARLY
    return int(numbers[np.where(is_agreed, bic, np.inf).argmin()])


def lowest_bic(X: Array, n_clusters: int, rng: np.random.RandomState) -> float:
    """BIC of the better of the mixtures with full and with tied covariance.

    Infinite if none can be fitted.
    """
    ridge = rounding_ridge(X)
    starts = kmeans_memberships(X, n_clusters, _N_STARTS, rng)
    lowest = np.inf
    for family in _FAMILIES:
        try:
            fit = best_fit(X, starts, family, ridge=ridge)
        except np.linalg.LinAlgError:
            continue
        likelihood = fit.log_likelihood * len(X)
        lowest = min(lowest, bic_of(fit.mixture, likelihood, len(X)))
    return lowest


def bic_of(mixture: Mixture, log_likelihood: float, n: int) -> float:
    """-2 log L + p log n with p free parameters."""
    return -2.0 * log_likelihood + n_parameters(mixture) * float(np.log(n))


def n_parameters(mixture: Mixture) -> int:
    """Free parameters of a mixture: weights, means and scale matrices."""
    c, d = mixture.means.shape
    triangle = d * (d + 1) // 2
    scales = {"full": c * triangle, "tied": triangle, "diag": c * d, "spherical": c}
    return c - 1 + c * d + scales[mixture.family]
