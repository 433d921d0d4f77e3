"""Labels and pairs that come with the data, checked against each other."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from credalis.constraints import check_constraints, link_graph
from credalis.network import SideInformation


def check_partial_labels(
    partial_labels: ArrayLike | None, n_samples: int, n_clusters: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The labelled objects and their clusters."""
    if partial_labels is None:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    labels = np.asarray(partial_labels)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"partial_labels must have one label for each of the {n_samples} rows of "
            f"X, got shape {labels.shape}"
        )
    if labels.dtype.kind not in "iu":
        raise ValueError(
            f"partial_labels must be integers, -1 for unknown, got dtype {labels.dtype}"
        )
    wrong = labels[(labels < -1) | (labels >= n_clusters)]
    if len(wrong):
        raise ValueError(
            f"partial_labels must lie between -1 and n_clusters - 1 = "
            f"{n_clusters - 1}, got {wrong[0]}"
        )
    objects = np.flatnonzero(labels >= 0)
    return objects, labels[objects].astype(np.intp)


def side_information(
    partial_labels: ArrayLike | None,
    must_link: ArrayLike | None,
    cannot_link: ArrayLike | None,
    *,
    n_samples: int,
    n_clusters: int,
    label_weight: float,
    constraint_weight: float,
) -> SideInformation:
    """Checked labels and pairs with their weights."""
    must, cannot = check_constraints(must_link, cannot_link, n_samples)
    objects, labels = check_partial_labels(partial_labels, n_samples, n_clusters)
    _check_labels_against_pairs(objects, labels, must, cannot, n_samples)
    return SideInformation(
        objects, labels, must, cannot, label_weight, constraint_weight
    )


def _check_labels_against_pairs(
    objects: NDArray[np.intp],
    labels: NDArray[np.intp],
    must_link: NDArray[np.intp],
    cannot_link: NDArray[np.intp],
    n_samples: int,
) -> None:
    """Refuse labels that contradict pairs, directly or through chains of must-links."""
    if len(objects) == 0 or len(must_link) + len(cannot_link) == 0:
        return
    links = link_graph(must_link, n_samples)
    n_groups, group = connected_components(links, directed=False)
    owner = np.full(n_groups, -1)
    for i, label in zip(objects, labels, strict=True):
        known = owner[group[i]]
        if known >= 0 and labels[objects == known][0] != label:
            raise ValueError(
                f"partial_labels must agree with must_link, got other labels for the "
                f"linked objects {known} and {i}"
            )
        owner[group[i]] = i
    for i, j in cannot_link:
        first, second = owner[group[i]], owner[group[j]]
        if (
            first >= 0
            and second >= 0
            and (labels[objects == first][0] == labels[objects == second][0])
        ):
            raise ValueError(
                f"partial_labels must agree with cannot_link, got the same label for "
                f"the objects {i} and {j} or those linked to them"
            )
