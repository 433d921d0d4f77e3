"""The exponent of the masses with which prototypes stay apart.

With J = Σ_ij m_ij^β c_ij, masses are proportional to c_ij^(-1/(β-1)): the larger β, the
more alike they are. In many dimensions the distances to all prototypes are nearly the
same, hence the masses are, and all prototypes move to one point.

That point v holds them if it is a minimum of J. To second order in small moves of the
prototypes it is one if and only if β > 1 / (1 - 2 λ), where λ < 1/2 is the largest
eigenvalue of F, the mean of r_i r_iᵀ / ‖r_i‖² over r_i = x_i - v. Yu, Cheng and Huang
(2004) have found this for fuzzy c-means. It is so for evidential c-means, too: every
set A_j adds the same form, the square of the move of v̄_j, to both sides, whatever its
weight; and ∅ changes only how much each object counts. Where the scatter of the
prototypes of a set costs something, as in credal c-means, the bound is lower.

Let s = ‖F‖² be the mean of the squared cosines of the angles between deviations. It is
1/d if they point in all directions of a d-dimensional space alike, and otherwise
larger, but at most λ: its inverse is an effective dimension. So

    β = min(2, 1 + 2 s) < 1 / (1 - 2 s) ≤ 1 / (1 - 2 λ)

keeps the prototypes of evidential c-means from that point, and is the published β = 2
in one and two dimensions. In d dimensions the masses then fall as r^-d, with the volume
of the ball around a prototype that reaches to the object.

References
----------
J. Yu, Q. Cheng and H. Huang (2004), Analysis of the weighting exponent in the FCM, IEEE
Transactions on Systems, Man and Cybernetics B 34(1), 634-639.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def automatic_exponent(share: float, power: float = 2.0, at_most: float = 2.0) -> float:
    """β = 1 + q s, but at most 2.

    Parameters
    ----------
    share : float
        s, the mean squared cosine of deviations.
    power : float, default=2.0
        Power q of the distances in J.
    at_most : float, default=2.0
        Largest β.
    """
    return min(at_most, 1.0 + power * share)


def mean_squared_cosine(deviations: Array) -> float:
    """‖F‖², the mean of the squared cosines of the angles of all pairs of rows.

    Rows of zeros have no direction and do not count; 1 if there are no others.

    Parameters
    ----------
    deviations : array of shape (n_samples, n_features)
        r_i.
    """
    # In units of the largest entry of a row, so that no square over- or underflows.
    unit = np.abs(deviations).max(axis=1)
    moved = deviations[unit > 0] / unit[unit > 0, None]
    if len(moved) == 0:
        return 1.0
    directions = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    n_samples, n_features = directions.shape
    if n_features > n_samples:
        products = directions @ directions.T
    else:
        products = directions.T @ directions
    return float(np.square(products / n_samples).sum())


def mean_squared_cosine_within(
    squares: Array, labels: NDArray[np.intp], n_clusters: int
) -> float:
    """The same of objects around the means of hard clusters, from dissimilarities.

    With the squared distances D and the weights a_k of the objects in the mean of
    cluster k,

        r_i · r_j = -(D_ij - (D a_l)_i - (D a_k)_j + a_kᵀ D a_l) / 2

    for objects i and j of the clusters k and l. Objects for which r_i · r_i is not
    positive, as can be if D holds no Euclidean distances, do not count.

    Parameters
    ----------
    squares : array of shape (n_samples, n_samples)
        D.
    labels : array of int, shape (n_samples,)
        Clusters.
    n_clusters : int
        Number of clusters.
    """
    unit = squares.max()
    if unit == 0:
        return 1.0
    squares = squares / unit
    members = labels == np.arange(n_clusters)[:, None]
    weights = members / np.maximum(members.sum(axis=1, keepdims=True), 1)
    to_means = weights @ squares
    between = to_means @ weights.T
    products = to_means[labels] + to_means[labels].T - squares
    products -= between[np.ix_(labels, labels)]
    lengths = np.diagonal(products)
    # Less than this is rounding.
    is_apart = lengths > 1e-12
    if not is_apart.any():
        return 1.0
    scale = np.sqrt(lengths[is_apart])
    cosines = products[np.ix_(is_apart, is_apart)] / (scale[:, None] * scale)
    return float(np.minimum(np.square(cosines), 1.0).mean())
