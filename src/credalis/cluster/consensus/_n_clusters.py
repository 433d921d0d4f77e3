"""How many clusters: where members agree and a mixture is simple, or one without any.

Among the numbers c at which members agree nearly as well as at the best one, the lowest
BIC is taken. A test says before whether there is anything to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._progress import Progress
from credalis.cluster._inputs._clusters import count_distinct
from credalis.cluster._inputs._stray import stray_rows
from credalis.cluster.consensus._choice import Choice, most_credible
from credalis.cluster.consensus._members import convene, starting_memberships
from credalis.cluster.consensus._mixtures import Mixture, best_fit, rounding_ridge
from credalis.cluster.consensus._structure import LEVEL, structure_p_value

Array = NDArray[np.float64]

# Numbers that are tried if none are given: from 2 to the first of these, and so many at
# a time up to the second as long as the largest is the best; but no more than one for
# so many rows.
_LARGEST_AT_FIRST, _LARGEST = 10, 40
_MORE = 5
_ROWS_EACH = 10

# Rows that are looked at.
_MAX_ROWS = 1000

_FAMILIES = ("full", "tied")


def default_numbers(rows: Array, at_least: int = 2) -> tuple[range, int]:
    """Numbers to try on these rows, none below those that are known, and the last."""
    n_distinct = count_distinct(rows, _LARGEST * _ROWS_EACH)
    largest = max(at_least, min(_LARGEST, n_distinct // _ROWS_EACH))
    last = max(at_least, min(largest, _LARGEST_AT_FIRST))
    return range(at_least, last + 1), largest


def choose_n_clusters(
    rows: Array,
    numbers: Sequence[int],
    members: Sequence[Any],
    rng: np.random.RandomState,
    *,
    may_be_one: bool,
    method: str,
    is_verbose: bool,
    largest: int | None = None,
) -> Choice:
    """Test for structure, ask the members about each number, choose.

    Parameters
    ----------
    rows : array of shape (n, d)
        Rows, of which 1000 are looked at, and none that are far from everything.
    numbers : sequence of int
        Numbers of clusters >= 2, increasing.
    members : sequence
        Names and clusterers.
    rng : RandomState
        Draws rows, halves and starts.
    may_be_one : bool
        Whether the answer is 1 if the test finds no structure.
    method : str
        Who asks, for those who listen.
    is_verbose : bool
        Whether there is a progress bar.
    largest : int or None
        How far to go on if the last of the numbers is the best; None: no further.
    """
    progress = Progress(
        method,
        stage="number of clusters",
        n_runs=1,
        max_iter=len(numbers) + 1,
        enabled=is_verbose,
    )
    stray = stray_rows(rows)
    if len(stray):
        rows = np.delete(rows, stray, axis=0)
    p_value = structure_p_value(rows, rng)
    progress.report(0, 1, None)
    if len(rows) > _MAX_ROWS:
        rows = rows[np.sort(rng.choice(len(rows), _MAX_ROWS, replace=False))]
    has_none = may_be_one and p_value > LEVEL
    tried: list[int] = []
    agreement: list[float] = []
    bic: list[float] = []
    waiting = list(numbers)
    while waiting:
        for number in waiting:
            session = convene(
                rows, number, members, rng, has_gate=False, report=lambda *_: None
            )
            tried.append(number)
            agreement.append(session.agreement)
            bic.append(lowest_bic(session.committee.frame(rows), number, rng))
            progress.report(0, min(len(tried), len(numbers)) + 1, None)
        best = most_credible(np.array(tried), np.array(agreement), np.array(bic))
        waiting = []
        if largest is not None and best == tried[-1] and not has_none:
            waiting = list(range(best + 1, min(best + _MORE, largest) + 1))
    progress.close()
    return Choice(
        1 if has_none else best,
        np.array(tried, dtype=np.intp),
        np.array(agreement),
        np.array(bic),
        p_value,
    )


def lowest_bic(X: Array, n_clusters: int, rng: np.random.RandomState) -> float:
    """BIC of the better of the mixtures with full and with tied covariance.

    Infinite if none can be fitted.
    """
    ridge = rounding_ridge(X)
    seed = rng.randint(np.iinfo(np.int32).max)
    starts = starting_memberships(X, n_clusters, seed)
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
    scales = {
        "full": c * triangle,
        "tied": triangle,
        "diag": c * d,
        "spherical": c,
        "isotropic": 1,
    }
    return c - 1 + c * d + scales[mixture.family]
