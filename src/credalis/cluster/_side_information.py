"""Labels and pairs that come with the data, checked against each other."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis.constraints import check_constraints, spread_labels
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
    known = np.full(n_samples, -1)
    known[objects] = labels
    spread_labels(known, must, cannot, name="partial_labels")  # refuses contradictions
    return SideInformation(
        objects, labels, must, cannot, label_weight, constraint_weight
    )


def refuse_unused(
    estimator: Any, information: SideInformation, *, uses_pairs: bool
) -> None:
    """Side information that would have no effect, without a learner, is a mistake."""
    for name, is_given, is_used in (
        ("partial_labels", information.has_labels, False),
        ("must_link and cannot_link", information.has_constraints, uses_pairs),
    ):
        if is_given and not is_used:
            raise ValueError(
                f"{type(estimator).__name__} uses {name} only for a metric that learns "
                f"from them: metric must be a transformer then, got "
                f"{estimator.metric!r}"
            )
