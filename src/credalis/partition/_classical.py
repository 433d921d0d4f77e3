"""Hard, fuzzy, rough and possibilistic partitions as mass functions."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import (
    check_distributions,
    check_finite,
    check_integer,
    check_numbers,
    naming,
)
from credalis.belief import MAX_CLUSTERS, FocalSets

MassesAndSets = tuple[NDArray[np.float64], FocalSets]


def masses_from_labels(labels: ArrayLike, n_clusters: int | None) -> MassesAndSets:
    """Certain masses; -1 goes to ∅."""
    with naming("labels"):
        array = np.asarray(labels)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"labels must be a vector of at least one label, got shape {array.shape}"
        )
    if array.dtype.kind not in "iu":
        raise ValueError(f"labels must be integers, got dtype {array.dtype}")
    if n_clusters is None:
        if array.max() >= MAX_CLUSTERS:
            raise ValueError(
                f"labels must be numbers of clusters, less than {MAX_CLUSTERS}, got "
                f"{array.max()}: numpy.unique(labels, return_inverse=True)[1] numbers "
                "any labels"
            )
        n_clusters = max(int(array.max()) + 1, 1)
    n_clusters = check_integer("n_clusters", n_clusters, at_least=1)
    if array.min() < -1 or array.max() >= n_clusters:
        wrong = array[(array < -1) | (array >= n_clusters)][0]
        raise ValueError(
            f"labels must lie between -1 and n_clusters - 1 = {n_clusters - 1}, "
            f"got {wrong}"
        )
    focal_sets = FocalSets.singletons(n_clusters, frame=False)
    masses = np.zeros((len(array), n_clusters + 1))
    # Columns are ∅, {0}, {1}, ...: the label plus one.
    masses[np.arange(len(array)), array.astype(np.intp) + 1] = 1.0
    return masses, focal_sets


def masses_from_fuzzy(memberships: ArrayLike) -> MassesAndSets:
    """Bayesian masses."""
    array = _matrix("memberships", memberships)
    check_distributions("memberships", array)
    focal_sets = FocalSets.singletons(array.shape[1], frame=False)
    return np.hstack([np.zeros((len(array), 1)), array]), focal_sets


def masses_from_rough(lower: ArrayLike, upper: ArrayLike) -> MassesAndSets:
    """Logical masses on the sets of possible clusters."""
    lower = _boolean_matrix("lower", lower)
    upper = _boolean_matrix("upper", upper)
    if lower.shape != upper.shape:
        raise ValueError(
            f"lower and upper must have the same shape, got {lower.shape} and "
            f"{upper.shape}"
        )
    # One possible cluster makes a certain one, and nothing else does.
    certain = upper & (upper.sum(axis=1, keepdims=True) == 1)
    contradictory = (lower != certain).any(axis=1)
    if contradictory.any():
        row = int(contradictory.argmax())
        raise ValueError(
            "an object must be in the lower approximation of a cluster if and only if "
            "it is in the upper approximation of this cluster alone, got object "
            f"{row} with lower {lower[row].nonzero()[0].tolist()} and upper "
            f"{upper[row].nonzero()[0].tolist()}"
        )
    return _masses_on_sets(upper[:, None, :], np.ones((len(upper), 1)))


def masses_from_possibilities(possibilities: ArrayLike) -> MassesAndSets:
    """Consonant masses: each level set gets the drop to the next lower level."""
    array = _matrix("possibilities", possibilities)
    if array.min() < 0 or array.max() > 1:
        wrong = float(array.min() if array.min() < 0 else array.max())
        raise ValueError(f"possibilities must lie in [0, 1], got {wrong}")
    levels = -np.sort(-array, axis=1)
    drops = levels - np.pad(levels[:, 1:], [(0, 0), (0, 1)])
    level_sets = array[:, None, :] >= levels[:, :, None]
    on_empty = 1.0 - levels[:, :1]
    sets = np.concatenate([np.zeros_like(level_sets[:, :1]), level_sets], axis=1)
    return _masses_on_sets(sets, np.hstack([on_empty, drops]))


def _masses_on_sets(
    sets: NDArray[np.bool_], values: NDArray[np.float64]
) -> MassesAndSets:
    """Collect sets (n, k, c) with masses (n, k) in one list of focal sets.

    The list is ∅, the singletons, and the larger sets that carry mass, by size.
    """
    n_samples, _, n_clusters = sets.shape
    rows, places = (values > 0).nonzero()
    distinct, inverse = np.unique(sets[rows, places], axis=0, return_inverse=True)
    subsets = [tuple(row.nonzero()[0].tolist()) for row in distinct]
    larger = sorted(
        (subset for subset in subsets if len(subset) > 1),
        key=lambda subset: (len(subset), subset),
    )
    singletons = [(k,) for k in range(n_clusters)]
    focal_sets = FocalSets.from_subsets(n_clusters, [*singletons, *larger], empty=True)
    columns = np.array([focal_sets.index(subset) for subset in subsets])
    masses = np.zeros((n_samples, len(focal_sets)))
    # Two equal levels are one level set: its masses add up.
    np.add.at(masses, (rows, columns[inverse.ravel()]), values[rows, places])
    return masses, focal_sets


def _matrix(name: str, values: ArrayLike) -> NDArray[np.float64]:
    array = check_numbers(name, values)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(
            f"{name} must have shape (n_samples, n_clusters), got {array.shape}"
        )
    return check_finite(name, array)


def _boolean_matrix(name: str, values: ArrayLike) -> NDArray[np.bool_]:
    array = _matrix(name, values)
    if not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} must hold only True and False")
    return array.astype(bool)
