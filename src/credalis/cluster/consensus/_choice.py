"""A number of clusters, and what speaks for it and against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from credalis import _archive
from credalis.cluster.consensus._structure import LEVEL, finding

Array = NDArray[np.float64]

# Agreement that is lower by no more than this is about as good.
_NEARLY = 0.1


@dataclass(frozen=True, eq=False)
class Choice(_archive.SavedFields):
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

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "n_clusters": _archive.Integer(at_least=1),
            "numbers": _archive.Array("i", ("n_numbers",), at_least=1),
            "agreement": _archive.Array("f", ("n_numbers",)),
            "bic": _archive.Array("f", ("n_numbers",)),
            "p_value": _archive.Number(at_least=0, at_most=1),
        }
    )

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
        return finding(self.p_value)

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


_archive.register(Choice)


def most_credible(numbers: NDArray[np.intp], agreement: Array, bic: Array) -> int:
    """The number of lowest BIC among those with nearly the best agreement."""
    is_agreed = agreement >= agreement.max() - _NEARLY
    return int(numbers[np.where(is_agreed, bic, np.inf).argmin()])
