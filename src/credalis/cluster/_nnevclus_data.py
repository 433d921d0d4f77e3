"""From what the user gives NNEVCLUS to what its network is trained on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from credalis.cluster._geometry import Geometry
from credalis.constraints import check_constraints, link_graph
from credalis.dissimilarity import check_dissimilarities
from credalis.network import SideInformation

# The heuristic of the paper's experiments: δ0 is the 0.9 quantile up to four clusters.
# Above, few pairs are in one cluster, and the quantile follows their share.
_MAX_FEW_CLUSTERS = 4
_QUANTILE_FEW_CLUSTERS = 0.9
_PAIRS_SHARE_FACTOR = 2.0
_MIN_QUANTILE = 0.1


@dataclass(frozen=True, eq=False)
class Standardization:
    """x becomes (x - mean) / scale, column by column."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, X: NDArray[np.float64]) -> "Standardization":
        """Means and standard deviations of X; a constant column is only centred."""
        # In units of the largest entry, so that no square over- or underflows.
        mean = X.mean(axis=0)
        unit = np.abs(X - mean).max(axis=0)
        unit[unit == 0] = 1.0
        deviation = unit * ((X - mean) / unit).std(axis=0)
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standardise the rows of X."""
        return (X - self.mean) / self.scale

    def to_state(self) -> dict[str, Any]:
        """Plain arrays."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Standardization":
        """Inverse of `to_state`."""
        return cls(**state)


def default_quantile(n_clusters: int) -> float:
    """0.9 up to four clusters, then 2 / n_clusters but at least 0.1."""
    if n_clusters <= _MAX_FEW_CLUSTERS:
        return _QUANTILE_FEW_CLUSTERS
    return max(_MIN_QUANTILE, _PAIRS_SHARE_FACTOR / n_clusters)


def given_geometry(
    dissimilarities: ArrayLike, n_samples: int, *, symmetrize: bool
) -> Geometry:
    """Geometry of a separate matrix or condensed vector for the same objects."""
    values = np.asarray(dissimilarities)
    if values.ndim == 1:
        n_pairs = n_samples * (n_samples - 1) // 2
        if len(values) != n_pairs:
            raise ValueError(
                f"dissimilarities must hold {n_pairs} values for {n_samples} objects "
                f"when it is a vector, got {len(values)}"
            )
        values = squareform(values.astype(np.float64), checks=False)
    matrix = check_dissimilarities(
        values, symmetrize=symmetrize, name="dissimilarities"
    )
    if len(matrix) != n_samples:
        raise ValueError(
            f"dissimilarities must be about the {n_samples} rows of X, got "
            f"{len(matrix)} objects"
        )
    return Geometry(matrix, "precomputed")


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
