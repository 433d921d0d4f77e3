"""Our values beside the published ones, and a verdict on each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

REPRODUCED = "reproduced"
BETTER = "better"
WORSE = "worse"
NOT_COMPARABLE = "not comparable"
NOT_RUN = "not run"
NOT_AVAILABLE = "not available"

# What counts as having an agreement with the paper.
GOOD = (REPRODUCED, BETTER)


@dataclass(frozen=True)
class Finding:
    """One cell of a published table, and ours.

    Parameters
    ----------
    row, column : str
        Where in the table.
    published : float or None
        The printed value; None: the paper only shows a picture or says it in words.
    values : tuple of float
        Ours, one for each repetition.
    best : float or None
        That of the repetition with the lowest loss; None if there is none.
    verdict : str
        One of the words above.
    why : str
        The reason, where the verdict needs one.
    """

    row: str
    column: str
    published: float | None
    values: tuple[float, ...]
    best: float | None
    verdict: str
    why: str = ""

    @property
    def mean(self) -> float | None:
        """Mean over the repetitions."""
        return float(np.mean(self.values)) if self.values else None

    @property
    def deviation(self) -> float | None:
        """Standard deviation over the repetitions; None with fewer than two."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else None

    @property
    def is_compared(self) -> bool:
        """Whether it counts for or against the library."""
        return self.verdict in (*GOOD, WORSE)


def verdict_on(
    value: float, published: float, tolerance: float, *, lower_is_better: bool = False
) -> str:
    """Whether a value reproduces a published one, or is better, or worse.

    Published values are printed with two or three digits, so that a difference equal to
    the tolerance is within it, rounding errors or not.
    """
    gain = published - value if lower_is_better else value - published
    if abs(gain) <= tolerance + 1e-9:
        return REPRODUCED
    return BETTER if gain > 0 else WORSE


def compared(
    row: str,
    column: str,
    published: float,
    value: float | None,
    tolerance: float,
    why: str = "",
    *,
    lower_is_better: bool = False,
) -> Finding:
    """A published value beside a single one of ours; None: it was not computed."""
    if value is None:
        return Finding(row, column, published, (), None, NOT_RUN)
    verdict = verdict_on(value, published, tolerance, lower_is_better=lower_is_better)
    return Finding(row, column, published, (value,), value, verdict, why)


def claimed(row: str, column: str, holds: bool, why: str = "") -> Finding:
    """A sentence of the paper, and whether it holds; 1 stands for true."""
    return compared(row, column, 1.0, float(holds), 0.0, why)


def best_by_loss(values: Sequence[float], losses: Sequence[float]) -> float | None:
    """The value of the repetition with the lowest loss, the first of equal ones."""
    return values[int(np.argmin(losses))] if values else None


def share_good(findings: Sequence[Finding]) -> tuple[int, int]:
    """Number of compared findings that agree with the paper or are better, and all."""
    compared = [each for each in findings if each.is_compared]
    return sum(each.verdict in GOOD for each in compared), len(compared)
