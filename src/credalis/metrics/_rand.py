"""Rand indices: the credal ones under one name, and the classical adjusted one."""

from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.metrics import adjusted_rand_score

from credalis._checks import check_choice
from credalis._refusals import refuses_by_name
from credalis.metrics._inputs import check_same_objects, hard_codes
from credalis.metrics._pairs import consistency_index
from credalis.metrics._similarity import DISTANCES, similarity_index
from credalis.partition import CredalPartition


@refuses_by_name
def credal_rand_index(
    first: CredalPartition,
    second: CredalPartition | ArrayLike,
    *,
    kind: str = "consistency",
    random_state: int | RandomState | None = None,
) -> float:
    """Credal Rand index: one of three extensions of the Rand index to soft partitions.

    Between two hard partitions, all three are the Rand index.

    Parameters
    ----------
    first : CredalPartition
        Partition of n_samples >= 2 objects.
    second : CredalPartition or array-like of shape (n_samples,)
        Partition of the same objects, or their classes, as in `consistency_index`.
    kind : {"consistency", "jousselme", "belief"}, default="consistency"
        "consistency" is `consistency_index`; "jousselme" and "belief" are
        `similarity_index` with that distance.
    random_state : int, RandomState instance or None, default=None
        For "jousselme" and "belief" with more than 20 000 objects, which are estimated
        from a sample of pairs; see `similarity_index` for its size.

    Returns
    -------
    float
        Between 0 and 1.

    References
    ----------
    T. Denœux, S. Li and S. Sriboonchitta (2018). Evaluating and comparing soft
    partitions: an approach based on Dempster-Shafer theory. IEEE Transactions on Fuzzy
    Systems 26(3), 1231-1244.

    Examples
    --------
    >>> from credalis import CredalPartition
    >>> from credalis.metrics import credal_rand_index
    >>> hard = CredalPartition.from_labels([0, 0, 1, 1])
    >>> credal_rand_index(hard, [0, 1, 1, 1])
    0.5
    >>> credal_rand_index(hard, [0, 1, 1, 1], kind="jousselme")
    0.5
    """
    check_choice("kind", kind, ("consistency", *DISTANCES))
    if kind == "consistency":
        return consistency_index(first, second)
    return similarity_index(first, second, distance=kind, random_state=random_state)


@refuses_by_name
def adjusted_rand_index(
    partition: CredalPartition | ArrayLike, reference: CredalPartition | ArrayLike
) -> float:
    """Adjusted Rand index ARI of the hard partition of maximal plausibility.

    With n_kl objects in cluster k and class l, and a = Σ C(n_kl, 2), b = Σ C(n_k., 2),
    e = Σ C(n_.l, 2), t = C(n, 2),

        ARI = (a - be/t) / (½ (b + e) - be/t),

    and 1 if the denominator is 0. It is scikit-learn's, and 0 on average for random
    labels.

    Parameters
    ----------
    partition : CredalPartition or array-like of shape (n_samples,)
        Partition of n_samples >= 2 objects, of which ``partition.labels`` are taken, or
        hard labels. To leave out or mark outliers give labels, as those of
        ``partition.decide(outlier=-1)``.
    reference : array-like of shape (n_samples,) or CredalPartition
        Classes of the same objects: numbers or strings, of which every distinct value
        is a class.

    Returns
    -------
    float
        Between -0.5 and 1.

    References
    ----------
    L. Hubert and P. Arabie (1985). Comparing partitions. Journal of Classification 2,
    193-218.

    Examples
    --------
    >>> from credalis import CredalPartition
    >>> from credalis.metrics import adjusted_rand_index
    >>> partition = CredalPartition.from_fuzzy([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> adjusted_rand_index(partition, ["x", "x", "y"])
    1.0
    """
    found = hard_codes("partition", partition)
    expected = hard_codes("reference", reference)
    check_same_objects("reference", len(expected), "partition", len(found))
    return float(adjusted_rand_score(expected, found))
