"""Neighbours vote for the cluster of an object, with weights of evidence.

Neighbour j of object i, at distance d_ij, says with mass α_ij that i is in its cluster
and says nothing with mass 1 - α_ij. By Dempster's rule the weights of evidence
w_ij = -log(1 - α_ij) of neighbours in the same cluster add up.
"""

import numpy as np
from numpy.typing import NDArray

from credalis._neighbors import batches

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# The smallest α: neighbours far away still vote, so that no object is without votes.
_SMALLEST_MASS = 1e-6

# Distances below this share of the scale count as this: copies of an object would have
# infinite weights.
_SMALLEST_RATIO = 1e-6

# So that the smallest ratio to this power is a number.
LARGEST_EXPONENT = 50.0

# Sums of votes closer than this, relatively, are tied.
_TIE = 1e-12


def neighbor_scale(lengths: Array, quantile: float, exponent: float) -> float:
    """γ = 1 / q-quantile of d^b, from the distances (n_samples, n_neighbors).

    Raises
    ------
    ValueError
        If all distances are 0, or their powers no numbers.
    """
    if not lengths.any():
        raise ValueError(
            "X must hold at least 2 distinct objects, the distances of all objects "
            "to their neighbours are 0"
        )
    with np.errstate(over="ignore", divide="ignore"):
        powers = lengths.ravel() ** exponent
        different = powers[powers > 0]
        if np.isfinite(powers.max()) and len(different):
            # With so many copies that the quantile is 0, it is that of the others.
            scale = np.quantile(powers, quantile) or np.quantile(different, quantile)
            gamma = float(1 / scale)
            if np.isfinite(gamma):
                return gamma
    raise ValueError(
        f"exponent must be such that distances to its power are numbers, got "
        f"{exponent} and distances up to {lengths.max():.3g}: lower it, or scale X"
    )


def evidence_weights(lengths: Array, gamma: float, exponent: float) -> Array:
    """w_ij = -log(1 - α_ij) with α_ij = exp(-γ d_ij^b), of the shape of the distances.

    α is at least 1e-6, and d at least 1e-6 times the scale γ^(-1/b).
    """
    with np.errstate(over="ignore"):
        decay = gamma * lengths**exponent
    np.maximum(decay, _SMALLEST_RATIO**exponent, out=decay)
    np.minimum(decay, -np.log(_SMALLEST_MASS), out=decay)
    return -np.log(-np.expm1(-decay))


def count_votes(labels: Indices, weights: Array, n_clusters: int) -> Array:
    """u_ik = Σ_{j: y_j = k} w_ij, shape (n_rows, n_clusters).

    Parameters
    ----------
    labels : array of int, shape (n_rows, n_neighbors)
        Clusters y_j of the neighbours of each row.
    weights : array of shape (n_rows, n_neighbors)
        w_ij.
    n_clusters : int
        Number of clusters.
    """
    n_rows = len(labels)
    cells = labels + np.arange(0, n_rows * n_clusters, n_clusters)[:, None]
    votes = np.bincount(cells.ravel(), weights.ravel(), n_rows * n_clusters)
    return votes.astype(np.float64, copy=False).reshape(n_rows, n_clusters)


def masses_from_votes(votes: Array) -> Array:
    """Dempster's rule: m({k}) ∝ exp(u_k) - 1 and m(Ω) ∝ 1.

    This is (1 - S_k) Π_{l≠k} S_l and Π_l S_l with S_k = exp(-u_k), over Π_l S_l.

    Parameters
    ----------
    votes : array of shape (n_rows, n_clusters)
        u_ik.

    Returns
    -------
    array of shape (n_rows, n_clusters + 1)
        Masses of the clusters, then of Ω.
    """
    largest = votes.max(axis=1, keepdims=True)
    masses = np.empty((len(votes), votes.shape[1] + 1))
    masses[:, :-1] = -np.expm1(-votes) * np.exp(votes - largest)
    masses[:, -1:] = np.exp(-largest)
    return masses / masses.sum(axis=1, keepdims=True)


def disagreement(neighbors: Indices, weights: Array, labels: Indices) -> float:
    """½ Σ_i Σ_{j ∈ N(i)} w_ij 1(y_i ≠ y_j): the evidence the partition goes against."""
    differ = labels[neighbors] != labels[:, None]
    return 0.5 * float(np.einsum("ij,ij->", weights, differ))


def discontent(
    neighbors: Indices, weights: Array, labels: Indices, n_clusters: int
) -> Indices:
    """Objects for which another cluster than their own has more votes.

    Parameters
    ----------
    neighbors, weights : array of shape (n_samples, n_neighbors)
        N(i) and w_ij.
    labels : array of int, shape (n_samples,)
        Clusters y.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    array of int, shape (n_discontent,)
    """
    found = []
    for rows in batches(len(labels), neighbors.shape[1] + n_clusters):
        votes = count_votes(labels[neighbors[rows]], weights[rows], n_clusters)
        own = np.take_along_axis(votes, labels[rows, None], axis=1)[:, 0]
        found.append(rows[votes.max(axis=1) > own * (1 + _TIE)])
    return np.concatenate(found)


def visit_in_turn(
    objects: Indices, neighbors: Indices, weights: Array, labels: Indices
) -> None:
    """One after the other, objects join the cluster with most votes or stay if tied.

    Parameters
    ----------
    objects : array of int, shape (n_visits,)
        Whom to visit, in this order.
    neighbors, weights : array of shape (n_samples, n_neighbors)
        N(i) and w_ij.
    labels : array of int, shape (n_samples,)
        Clusters y; overwritten.
    """
    # Each choice depends on the one before. For one object bincount takes a few
    # microseconds, less than any bookkeeping that would treat several at once.
    for i in objects:
        votes = np.bincount(labels[neighbors[i]], weights[i], labels[i] + 1)
        best = votes.argmax()
        if votes[best] > votes[labels[i]] * (1 + _TIE):
            labels[i] = best
