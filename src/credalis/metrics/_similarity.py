"""The similarity index, whose distances leave no way around the pairs."""

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, gen_batches

from credalis._checks import check_choice, check_integer, check_seed
from credalis._refusals import refuses_by_name
from credalis.belief import (
    PAIR_FOCAL_SETS,
    belief_distance,
    jousselme_distance,
    paired_masses,
    pairwise_blocks,
)
from credalis.metrics._inputs import MassRows, check_comparable
from credalis.partition import CredalPartition

DISTANCES = {"jousselme": jousselme_distance, "belief": belief_distance}

# Arrays of four masses for each pair: two of the partitions, two of the block before
# that is not yet let go, and two that are temporary.
_ARRAYS_ALIVE = 6
# What `pairwise_blocks` takes into account.
_ARRAYS_IN_BLOCK = 2


@refuses_by_name
def similarity_index(
    first: CredalPartition,
    second: CredalPartition | ArrayLike,
    *,
    distance: str = "jousselme",
    max_exact: int = 20_000,
    n_pairs: int = 1_000_000,
    random_state: int | RandomState | None = None,
    max_bytes: int = 2**22,
) -> float:
    """Similarity index: how much two partitions say the same about pairs of objects.

    With P = n(n - 1)/2 pairs of objects and their masses on {same, different},

        ρ_S = 1 - (1/P) Σ_{i<j} d(m_ij, m'_ij).

    It is the Rand index between two hard partitions, and 1 if and only if both say the
    same about every pair.

    The distances are not quadratic in the masses, so all pairs have to be visited. Up
    to `max_exact` objects they are, block by block. Beyond, the index is estimated
    without bias from `n_pairs` pairs i < j, drawn independently, each with probability
    1/P. Distances lie in [0, 1], so the standard error is at most 0.5 / √n_pairs:
    0.0005 by default.

    Parameters
    ----------
    first : CredalPartition
        Partition of n_samples >= 2 objects.
    second : CredalPartition or array-like of shape (n_samples,)
        Partition of the same objects, or their classes: numbers or strings, of which
        every distinct value is a class (-1 as well; to mark outliers give
        ``CredalPartition.from_labels(labels)``).
    distance : {"jousselme", "belief"}, default="jousselme"
        Distance d between two mass functions on {same, different}: the one of
        Jousselme, or d_B = ½ (|Δm({s})| + |Δm({¬s})| + |Δm(∅)|).
    max_exact : int, default=20_000
        Largest number of objects for which all pairs are visited.
    n_pairs : int, default=1_000_000
        Number of pairs in the sample for more objects.
    random_state : int, RandomState instance or None, default=None
        Determines the sample.
    max_bytes : int, default=4 MiB
        Memory for temporary arrays; more is slower when it exceeds the cache. The pairs
        in the sample do not depend on it.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    consistency_index : tolerates what one of the partitions leaves open.

    References
    ----------
    T. Denœux, S. Li and S. Sriboonchitta (2018). Evaluating and comparing soft
    partitions: an approach based on Dempster-Shafer theory. IEEE Transactions on Fuzzy
    Systems 26(3), 1231-1244.

    Examples
    --------
    >>> from credalis import CredalPartition, FocalSets
    >>> from credalis.metrics import similarity_index
    >>> partition = CredalPartition(
    ...     [[0, 1, 0, 0], [0, 0.6, 0.2, 0.2], [0.1, 0, 0.7, 0.2], [0, 0, 0, 1]],
    ...     FocalSets.full(2),
    ... )
    >>> round(similarity_index(partition, [1, 1, 2, 2]), 6)
    0.497316
    >>> round(similarity_index(partition, [1, 1, 2, 2], distance="belief"), 6)
    0.59
    """
    mine, other = check_comparable(first, second)
    check_choice("distance", distance, DISTANCES)
    max_exact = check_integer("max_exact", max_exact, at_least=0)
    n_pairs = check_integer("n_pairs", n_pairs, at_least=1)
    max_bytes = check_integer("max_bytes", max_bytes, at_least=1)
    if mine.n_samples <= max_exact:
        mean = _mean_distance(mine, other, distance, max_bytes)
    else:
        check_seed("random_state", random_state)
        rng = check_random_state(random_state)
        mean = _sampled_distance(mine, other, distance, n_pairs, rng, max_bytes)
    # Rounding may carry a mean of numbers in [0, 1] just outside.
    return float(np.clip(1.0 - mean, 0.0, 1.0))


def _mean_distance(
    first: MassRows, second: MassRows, distance: str, max_bytes: int
) -> float:
    """Mean distance over all pairs of objects."""
    n_samples = first.n_samples
    everyone = slice(None)
    share = max(1, max_bytes * _ARRAYS_IN_BLOCK // _ARRAYS_ALIVE)
    blocks = zip(
        pairwise_blocks(first.read(everyone), first.focal_sets, max_bytes=share),
        pairwise_blocks(second.read(everyone), second.focal_sets, max_bytes=share),
        strict=True,
    )
    total = 0.0
    for (rows, columns, mine), (_, _, other) in blocks:
        distances = DISTANCES[distance](mine, other, PAIR_FOCAL_SETS)
        if rows == columns:
            distances = np.triu(distances, k=1)
        total += distances.sum()
    return total / (n_samples * (n_samples - 1) // 2)


def _sampled_distance(
    first: MassRows,
    second: MassRows,
    distance: str,
    n_pairs: int,
    rng: RandomState,
    max_bytes: int,
) -> float:
    """Mean distance over pairs drawn with replacement."""
    # For each partition both rows of a pair, and a product with one of them.
    n_columns = len(first.focal_sets) + len(second.focal_sets)
    n_numbers = 3 * n_columns + 4 * _ARRAYS_ALIVE
    batch_size = max(1, max_bytes // (8 * n_numbers))
    total = 0.0
    for batch in gen_batches(n_pairs, batch_size):
        i, j = _draw_pairs(first.n_samples, batch.stop - batch.start, rng)
        distances = DISTANCES[distance](
            paired_masses(first.read(i), first.read(j), first.focal_sets),
            paired_masses(second.read(i), second.read(j), second.focal_sets),
            PAIR_FOCAL_SETS,
        )
        total += distances.sum()
    return total / n_pairs


def _draw_pairs(
    n_samples: int, n_pairs: int, rng: RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ordered pairs of two different objects, all with the same probability.

    One draw makes one pair, so that batches of any size continue the same sequence.
    """
    codes = rng.randint(n_samples * (n_samples - 1), size=n_pairs, dtype=np.int64)
    i, j = np.divmod(codes, n_samples - 1)
    # j numbers the objects other than i.
    return i, j + (j >= i)
