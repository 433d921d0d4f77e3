"""The mathematics of CatECM: costs of categories, and prototypes that are shares.

Arrays over focal sets and objects have the focal sets on the first axis.
"""

import numpy as np
from numpy.typing import NDArray

from credalis.cluster.prototypes._categories import Indicators, attribute_of
from credalis.objectives import PrototypeModel, barycenters, set_costs

Array = NDArray[np.float64]

# Shares are updated at most so often for the same masses, or until none moves farther.
_MAX_SWEEPS = 100
_SETTLED = 1e-12
# A cluster with less than this share of all mass keeps its shares.
_NO_MASS = 1e-14


def category_costs(objects: Indicators, shares: Array, model: PrototypeModel) -> Array:
    """Cost c_ij of a unit of mass, (n_focal_sets, n_samples).

    With the indicators e_il of the category of object i in attribute l, and the mean
    p̄_jl of the shares of the clusters in A_j,

        c_ij = |A_j|^α d / d_i Σ_l ½ ‖e_il - p̄_jl‖²,

    where the sum is over the d_i attributes that are known of d. ½ ‖e - p‖² is 0 for
    the same category and 1 for another one, if p has a single category.
    """
    means = barycenters(shares, model)
    sizes = objects.sizes
    squares = np.zeros((len(means), len(sizes)))
    np.add.at(squares.T, attribute_of(sizes), np.square(means).T)
    n_known = objects.is_known.sum(axis=1)
    squared = squares @ objects.is_known.T - 2 * (means @ objects.values.T) + n_known
    squared *= 0.5 * objects.stretch
    return set_costs(
        np.maximum(squared, 0.0), model.focal_sets, model.alpha, model.delta
    )


def updated_shares(
    weights: Array, objects: Indicators, previous: Array, model: PrototypeModel
) -> Array:
    """Shares p_k of the categories in the clusters that cost less, for given masses.

    For one attribute, with w_ij = m_ij^β d / d_i over the objects of which it is known,
    C_j = |A_j|^α and s_jk = 1 / |A_j| for the clusters in A_j, the cost is

        ½ Σ_kk' H_kk' p_kᵀ p_k' - Σ_k b_kᵀ p_k + const,
        H = Σ_j C_j Σ_i w_ij s_j s_jᵀ,    b_k = Σ_j C_j s_jk Σ_i w_ij e_i.

    The minimum of p_k for fixed shares of the others is the projection of
    (b_k - Σ_{k' ≠ k} H_kk' p_k') / H_kk onto the simplex. Clusters take turns until the
    shares stand still; the cost is convex, and never increases.

    Parameters
    ----------
    weights : array of shape (n_focal_sets, n_samples)
        m_ij^β, times the weight of the object.
    objects : Indicators
        The objects.
    previous : array of shape (n_clusters, n_categories)
        Shares before.
    model : PrototypeModel
        The method.
    """
    counted = weights * objects.stretch
    own = model.members / model.cardinality[:, None]
    totals = counted @ objects.is_known
    pull = own.T @ (model.coefficients[:, None] * (counted @ objects.values))
    # (n_attributes, n_clusters, n_clusters)
    H = np.einsum("jk,jm,jl->lkm", own, own, model.coefficients[:, None] * totals)
    places, is_place = _padded(objects.sizes)
    shares = np.where(is_place, previous[:, places], 0.0)
    b = np.where(is_place, pull[:, places], 0.0)
    diagonal = np.diagonal(H, axis1=1, axis2=2)
    largest = max(float(H.max()), np.finfo(np.float64).tiny)
    for _ in range(_MAX_SWEEPS):
        moved = 0.0
        for k in range(len(shares)):
            scale = diagonal[:, k]
            has_mass = scale > _NO_MASS * largest
            if not has_mass.any():
                continue
            others = np.einsum("lm,mlv->lv", H[:, k], shares)
            rest = b[k] - others + scale[:, None] * shares[k]
            best = project_on_simplices(
                rest[has_mass] / scale[has_mass, None], is_place[has_mass]
            )
            moved = max(moved, float(np.abs(best - shares[k, has_mass]).max()))
            shares[k, has_mass] = best
        if moved <= _SETTLED:
            break
    result = np.empty_like(previous)
    result[:, places[is_place]] = shares[:, is_place]
    return result


def project_on_simplices(points: Array, is_place: NDArray[np.bool_]) -> Array:
    """The nearest p ≥ 0 with Σ p = 1 for each row, with 0 where there is no place.

    p_v = max(0, x_v - ν), where ν is the last of ν_r = (Σ_{s ≤ r} x_s - 1) / r, x in
    decreasing order, that is below x_r.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.cluster.prototypes._catecm_prototypes import project_on_simplices
    >>> points = np.array([[0.6, 0.8, 9.0], [2.0, 0.0, 0.0]])
    >>> is_place = np.array([[True, True, False], [True, True, True]])
    >>> project_on_simplices(points, is_place).round(3).tolist()
    [[0.4, 0.6, 0.0], [1.0, 0.0, 0.0]]
    """
    # From the largest on, so that rounding is relative to differences.
    points = np.where(is_place, points, -np.inf)
    points = points - points.max(axis=1, keepdims=True)
    ordered = -np.sort(-points, axis=1)
    is_finite = np.isfinite(ordered)
    sums = np.cumsum(np.where(is_finite, ordered, 0.0), axis=1)
    ranks = np.arange(1, points.shape[1] + 1)
    levels = (sums - 1.0) / ranks
    last = (is_finite & (ordered > levels)).sum(axis=1) - 1
    level = np.take_along_axis(levels, last[:, None], axis=1)
    shares = np.where(is_place, np.maximum(points - level, 0.0), 0.0)
    return shares / shares.sum(axis=1, keepdims=True)


def _padded(
    sizes: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Places of the categories of each attribute, and which of them are some."""
    first = np.cumsum(sizes) - sizes
    numbers = np.arange(sizes.max())
    is_place = numbers < sizes[:, None]
    return np.where(is_place, first[:, None] + numbers, 0), is_place
