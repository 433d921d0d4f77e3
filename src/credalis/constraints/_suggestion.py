"""Which pairs a person should be asked about next."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from credalis._checks import check_integer, check_seed, shown
from credalis._refusals import refuses_by_name
from credalis.constraints._pairs import (
    Pairs,
    PairsLike,
    RandomState,
    check_constraints,
    link_graph,
)

if TYPE_CHECKING:
    from credalis.partition import CredalPartition

# Objects compared with the anchors at a time.
_BLOCK_ROWS = 4096


@refuses_by_name
def suggest_pairs(
    partition: "CredalPartition",
    n_pairs: int,
    *,
    must_link: PairsLike = None,
    cannot_link: PairsLike = None,
    random_state: RandomState = None,
) -> Pairs:
    """Pairs to show to a person, chosen so that the answers tell most.

    Answers are worth most when they combine: objects compared with the same *anchor*
    are thereby compared with each other, which `closure` works out. So there is one
    anchor for each cluster: a member of the largest groups that answers have already
    set apart, or the object most believed in the cluster. Anchors are compared with
    each other first. Then every other object may be compared with the most plausible
    of the anchors that it is not known to differ from. Such a pair is chosen with a
    probability proportional to

        min(Pl(same), Pl(different)),

    which is large where the partition cannot tell.

    Ask, add the answers to those before, fit again with ``closure(must_link,
    cannot_link, n_samples)``, and ask for the next pairs.

    Parameters
    ----------
    partition : CredalPartition
        What is known about the objects so far.
    n_pairs : int
        Number of pairs.
    must_link, cannot_link : array-like of shape (n_known_pairs, 2) or None
        Pairs whose relation is known; nothing they imply is asked again.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice.

    Returns
    -------
    ndarray of intp of shape (n_suggested, 2)
        Row numbers, in the order in which to ask; fewer than `n_pairs` if there is
        nothing left to compare with the anchors.

    Examples
    --------
    >>> from credalis import CredalPartition, FocalSets
    >>> from credalis.constraints import suggest_pairs
    >>> masses = [[0, 1, 0, 0], [0, 0, 0.9, 0.1], [0, 0, 0, 1], [0, 0, 1, 0]]
    >>> partition = CredalPartition(masses, FocalSets.full(2))
    >>> suggest_pairs(partition, 2, random_state=0).tolist()
    [[0, 3], [0, 2]]
    """
    # The class itself is in a layer above.
    if not hasattr(partition, "pairwise_masses"):
        raise ValueError(f"partition must be a CredalPartition, got {shown(partition)}")
    n_samples = partition.n_samples
    n_pairs = check_integer("n_pairs", n_pairs, at_least=0)
    must, cannot = check_constraints(must_link, cannot_link, n_samples)
    check_seed("random_state", random_state)
    rng = check_random_state(random_state)
    group = connected_components(link_graph(must, n_samples), directed=False)[1]
    anchors = _anchors(
        partition, group, np.unique(np.concatenate([must, cannot])), cannot
    )
    is_apart = _apart(group, group[cannot], group[anchors])
    known = is_apart[anchors] | (group[anchors][:, None] == group[anchors])
    first, second = np.nonzero(np.triu(~known, 1))
    between = np.column_stack([anchors[first], anchors[second]])
    others = _doubtful(partition, group, anchors, is_apart, rng)
    return np.concatenate([between, others])[:n_pairs].astype(np.intp)


def _anchors(
    partition: "CredalPartition",
    group: NDArray[np.intp],
    touched: NDArray[np.intp],
    cannot: Pairs,
) -> NDArray[np.intp]:
    """At most one object for each cluster, of groups not known to be the same."""
    labels, belief = partition.labels, partition.belief
    confidence = belief[np.arange(len(labels)), labels]
    chosen: list[int] = []
    numbers, sizes = np.unique(group[touched], return_counts=True)
    apart = set(map(tuple, np.sort(group[cannot], axis=1).tolist()))
    for number in numbers[np.argsort(-sizes, kind="stable")].tolist():
        differs = [
            (min(number, group[other]), max(number, group[other])) in apart
            for other in chosen
        ]
        if len(chosen) < partition.n_clusters and all(differs):
            members = np.flatnonzero(group == number)
            chosen.append(int(members[confidence[members].argmax()]))
    is_touched = np.zeros(len(labels), dtype=bool)
    is_touched[touched] = True
    for cluster in np.setdiff1d(np.unique(labels), labels[chosen]):
        members = np.flatnonzero(
            (labels == cluster) & ~np.isin(group, group[np.array(chosen, dtype=int)])
        )
        # An object that has been compared with one anchor stays one: to ask pair by
        # pair must not begin again with another object each time.
        compared = members[is_touched[members]]
        members = compared if len(compared) else members
        if len(chosen) < partition.n_clusters and len(members):
            chosen.append(int(members[belief[members, cluster].argmax()]))
    return np.array(chosen, dtype=np.intp)


def _apart(
    group: NDArray[np.intp], cannot_groups: Pairs, anchor_groups: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Boolean (n_samples, n_anchors): is the object known to differ from the anchor?"""
    result = np.zeros((group.max() + 1, len(anchor_groups)), dtype=bool)
    for one, other in (cannot_groups.T, cannot_groups.T[::-1]):
        rows, columns = np.nonzero(other[:, None] == anchor_groups)
        result[one[rows], columns] = True
    return result[group]


def _doubtful(
    partition: "CredalPartition",
    group: NDArray[np.intp],
    anchors: NDArray[np.intp],
    is_apart: NDArray[np.bool_],
    rng: np.random.RandomState,
) -> Pairs:
    """Other objects with their most plausible anchor, in the order of a draw."""
    is_other = ~np.isin(group, group[anchors]) & ~is_apart.all(axis=1)
    objects = np.flatnonzero(is_other)
    nearest = np.empty(len(objects), dtype=np.intp)
    ambiguity = np.empty(len(objects))
    for start in range(0, len(objects), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        masses = partition.pairwise_masses(objects[rows], anchors)
        _, same, different, either = np.moveaxis(masses, -1, 0)
        plausible = np.where(is_apart[objects[rows]], -1.0, same + either)
        nearest[rows] = plausible.argmax(axis=1)
        unclear = np.minimum(same, different) + either
        ambiguity[rows] = np.take_along_axis(unclear, nearest[rows, None], 1)[:, 0]
    # The smallest of exponential variables of these rates: a draw without replacement
    # with probabilities proportional to the ambiguity.
    waiting = rng.exponential(size=len(objects)) / np.maximum(ambiguity, 1e-12)
    order = np.argsort(waiting, kind="stable")
    _, first = np.unique(group[objects[order]], return_index=True)
    order = order[np.sort(first)]  # one object of each group
    return np.column_stack([anchors[nearest[order]], objects[order]])
