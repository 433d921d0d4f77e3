"""Which partitions are better in consistency and in nonspecificity."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._refusals import refuses_by_name


@refuses_by_name
def dominates(first: ArrayLike, second: ArrayLike) -> bool:
    """Whether the first of two pairs (CI, NS) is better than the second.

    It is if CI ≥ CI' and NS ≤ NS', and one of the two is strict: it contradicts the
    truth no more and leaves no more open.

    Parameters
    ----------
    first, second : array-like of shape (2,)
        Consistency index and nonspecificity of a partition.

    Returns
    -------
    bool

    See Also
    --------
    consistency_index, nonspecificity_index : the two numbers.

    References
    ----------
    T. Denœux, S. Li and S. Sriboonchitta (2018). Evaluating and comparing soft
    partitions: an approach based on Dempster-Shafer theory. IEEE Transactions on Fuzzy
    Systems 26(3), 1231-1244.

    Examples
    --------
    >>> from credalis.metrics import dominates
    >>> dominates((0.9, 0.1), (0.8, 0.1))
    True
    >>> dominates((0.9, 0.2), (0.8, 0.1))
    False
    """
    consistency, nonspecificity = _scores("first", first, (2,))
    other_consistency, other_nonspecificity = _scores("second", second, (2,))
    no_worse = (
        consistency >= other_consistency and nonspecificity <= other_nonspecificity
    )
    different = (
        consistency != other_consistency or nonspecificity != other_nonspecificity
    )
    return bool(no_worse and different)


@refuses_by_name
def non_dominated(scores: ArrayLike) -> NDArray[np.bool_]:
    """Which pairs (CI, NS) no other pair of the list dominates.

    Parameters
    ----------
    scores : array-like of shape (n_partitions, 2)
        Consistency index and nonspecificity of each partition.

    Returns
    -------
    array of bool, shape (n_partitions,)
        Equal pairs do not dominate each other.

    See Also
    --------
    dominates : when one pair is better than another.

    Examples
    --------
    >>> from credalis.metrics import non_dominated
    >>> non_dominated([(0.9, 0.3), (0.8, 0.1), (0.8, 0.2), (1.0, 1.0)])
    array([ True,  True, False,  True])
    """
    consistency, nonspecificity = _scores("scores", scores, (None, 2)).T
    levels, level = np.unique(consistency, return_inverse=True)
    lowest = np.full(len(levels), np.inf)
    np.minimum.at(lowest, level, nonspecificity)
    # Smallest nonspecificity among the strictly more consistent ones.
    at_least = np.minimum.accumulate(lowest[::-1])[::-1]
    above = np.append(at_least[1:], np.inf)
    return (nonspecificity == lowest[level]) & (nonspecificity < above[level])


def _scores(
    name: str, values: ArrayLike, shape: tuple[int | None, ...]
) -> NDArray[np.float64]:
    """Finite numbers of the shape, in which None stands for any positive length."""
    expected = "(n_partitions, 2)" if None in shape else str(shape)
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{name} must be numbers of shape {expected}, got {values!r}"
        ) from error
    if array.size == 0 or len(shape) != array.ndim or array.shape[-1] != shape[-1]:
        raise ValueError(f"{name} must have shape {expected}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {values!r}")
    return array
