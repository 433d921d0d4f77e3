"""Indices that are quadratic in the masses: no pair of objects has to be visited.

A sum over pairs of products of bilinear forms needs only the matrix T = Σ_i m_i m'_iᵀ
of shape (n_focal_sets, n_other_focal_sets):

    Σ_ij (m_iᵀ A m_j)(m'_iᵀ B m'_j) = Σ_ij tr(Aᵀ m_i m'_iᵀ B m'_j m_jᵀ) = <T, A T B>

for symmetric A and B; the terms i = j are then taken away.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import gen_batches

from credalis._refusals import refuses_by_name
from credalis.belief import FocalSets
from credalis.metrics._inputs import MassRows, check_comparable, check_partition
from credalis.partition import CredalPartition

Matrix = NDArray[np.float64]

# Rows in one step: large enough for BLAS, small enough for the cache.
_BYTES_PER_BATCH = 2**22


@refuses_by_name
def consistency_index(
    first: CredalPartition, second: CredalPartition | ArrayLike
) -> float:
    """Consistency index CI: how little two partitions contradict each other.

    With P = n(n - 1)/2 pairs of objects and their masses on {same, different},

        CI = ρ_C = 1 - (1/P) Σ_{i<j} κ(m_ij, m'_ij),
        κ = m(∅) + m'(∅) - m(∅) m'(∅) + m({s}) m'({¬s}) + m({¬s}) m'({s}).

    Between two hard partitions it is the Rand index. Against hard classes it is the
    mean plausibility of the true relation of a pair; a partition that says nothing has
    CI = 1, so look at `nonspecificity_index` with it. A soft partition contradicts
    itself in part: its CI with itself is below 1.

    Exact for any number of objects, at a cost linear in it.

    Parameters
    ----------
    first : CredalPartition
        Partition of n_samples >= 2 objects.
    second : CredalPartition or array-like of shape (n_samples,)
        Partition of the same objects, or their classes: numbers or strings, of which
        every distinct value is a class (-1 as well; to mark outliers give
        ``CredalPartition.from_labels(labels)``).

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    nonspecificity_index : the other half of the comparison.
    similarity_index : 1 only if the partitions say the same.

    References
    ----------
    T. Denœux, S. Li and S. Sriboonchitta (2018). Evaluating and comparing soft
    partitions: an approach based on Dempster-Shafer theory. IEEE Transactions on Fuzzy
    Systems 26(3), 1231-1244.

    Examples
    --------
    >>> from credalis import CredalPartition, FocalSets
    >>> from credalis.metrics import consistency_index
    >>> partition = CredalPartition(
    ...     [[0, 1, 0, 0], [0, 0.6, 0.2, 0.2], [0.1, 0, 0.7, 0.2], [0, 0, 0, 1]],
    ...     FocalSets.full(2),
    ... )
    >>> round(consistency_index(partition, ["a", "a", "b", "b"]), 6)
    0.893333
    """
    mine, other = check_comparable(first, second)
    a, b = _pair_forms(mine.focal_sets), _pair_forms(other.focal_sets)
    # 1 - κ = (1 - m(∅)) (1 - m'(∅)) - m({s}) m'({¬s}) - m({¬s}) m'({s})
    terms = [
        (1.0, a.not_empty, b.not_empty),
        (-1.0, a.same, b.different),
        (-1.0, a.different, b.same),
    ]
    return _without_rounding(_mean_over_pairs(mine, other, terms))


@refuses_by_name
def nonspecificity_index(partition: CredalPartition) -> float:
    """Nonspecificity NS: how much a partition leaves open about pairs of objects.

    With P = n(n - 1)/2 pairs of objects and their masses on Θ = {same, different},

        NS = (1/P) Σ_{i<j} [m_ij(∅) + m_ij(Θ)].

    It is 0 for a hard partition, and 1 if nothing is known or all mass is on ∅. Exact
    for any number of objects, at a cost linear in it. It is about pairs; the average
    nonspecificity of the objects is ``partition.average_nonspecificity``.

    Parameters
    ----------
    partition : CredalPartition
        Partition of n_samples >= 2 objects.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    consistency_index : the other half of the comparison.
    dominates : which of two partitions is better in both respects.

    References
    ----------
    T. Denœux, S. Li and S. Sriboonchitta (2018). Evaluating and comparing soft
    partitions: an approach based on Dempster-Shafer theory. IEEE Transactions on Fuzzy
    Systems 26(3), 1231-1244.

    Examples
    --------
    >>> from credalis import CredalPartition, FocalSets
    >>> from credalis.metrics import nonspecificity_index
    >>> partition = CredalPartition(
    ...     [[0, 1, 0, 0], [0, 0.6, 0.2, 0.2], [0.1, 0, 0.7, 0.2], [0, 0, 0, 1]],
    ...     FocalSets.full(2),
    ... )
    >>> round(nonspecificity_index(partition), 6)
    0.656667
    """
    masses = check_partition("partition", partition).masses
    n_samples, n_focal_sets = masses.shape
    forms = _pair_forms(partition.focal_sets)
    # m(∅) + m(Θ) = 1 - m({s}) - m({¬s})
    decided = forms.same + forms.different
    total = masses.sum(axis=0)
    with_itself = sum(
        _quadratic(masses[rows], decided).sum()
        for rows in gen_batches(n_samples, _batch_size(n_focal_sets))
    )
    n_ordered_pairs = n_samples * (n_samples - 1)
    mean_decided = (total @ decided @ total - with_itself) / n_ordered_pairs
    return _without_rounding(1.0 - mean_decided)


class _PairForms(NamedTuple):
    """Matrices A with m_iᵀ A m_j = 1 - m_ij(∅), m_ij({s}) and m_ij({¬s})."""

    not_empty: Matrix
    same: Matrix
    different: Matrix


def _pair_forms(focal_sets: FocalSets) -> _PairForms:
    not_empty = ~focal_sets.either_empty
    return _PairForms(
        not_empty.astype(float),
        focal_sets.same_singleton.astype(float),
        (focal_sets.disjoint & not_empty).astype(float),
    )


def _mean_over_pairs(
    first: MassRows, second: MassRows, terms: list[tuple[float, Matrix, Matrix]]
) -> float:
    """Mean over i < j of Σ w (m_iᵀ A m_j)(m'_iᵀ B m'_j) over the terms (w, A, B)."""
    n_samples = first.n_samples
    shape = len(first.focal_sets), len(second.focal_sets)
    cross = np.zeros(shape)
    with_itself = 0.0
    for rows in gen_batches(n_samples, _batch_size(sum(shape))):
        mine, other = first.read(rows), second.read(rows)
        cross += mine.T @ other
        with_itself += sum(
            weight * float(_quadratic(mine, a) @ _quadratic(other, b))
            for weight, a, b in terms
        )
    total = sum(weight * float(np.vdot(cross, a @ cross @ b)) for weight, a, b in terms)
    return (total - with_itself) / (n_samples * (n_samples - 1))


def _quadratic(masses: Matrix, matrix: Matrix) -> Matrix:
    """m_iᵀ A m_i for each row, shape (n_rows,)."""
    return np.einsum("ij,ij->i", masses @ matrix, masses)


def _batch_size(n_columns: int) -> int:
    """Number of rows whose masses, and a product of their size, fit a batch."""
    return max(1, _BYTES_PER_BATCH // (2 * 8 * n_columns))


def _without_rounding(index: float) -> float:
    """A mean of numbers in [0, 1], which rounding may have carried just outside."""
    return float(np.clip(index, 0.0, 1.0))
