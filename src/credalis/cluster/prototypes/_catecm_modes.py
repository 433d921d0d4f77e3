"""The published CatECM: numbers of differences, and prototypes of single categories.

Arrays over focal sets and objects have the focal sets on the first axis.
"""

import numpy as np
from numpy.typing import NDArray

from credalis.cluster.prototypes._categories import Indicators
from credalis.objectives import PrototypeModel, barycenters, set_costs

Array = NDArray[np.float64]

# Prototypes are updated at most so often for the same masses, or until none changes.
_MAX_SWEEPS = 100
# Categories whose costs differ by less than this share of all are alike: the one that
# the prototype has stays, or the first is taken, however sums were rounded.
_ALIKE = 1e-12


def matching_costs(objects: Indicators, shares: Array, model: PrototypeModel) -> Array:
    """Cost c_ij = |A_j|^α D_ij² of a unit of mass, (n_focal_sets, n_samples).

    With the mean w̄_jl of the prototypes of the clusters in A_j, of which w̄_jl(x_il) is
    the part that has the category of object i,

        D_ij = d / d_i Σ_l (1 - w̄_jl(x_il)) / |A_j|,

    where the sum is over the d_i attributes that are known of d.
    """
    distances = _distances(objects, shares, model)
    return set_costs(np.square(distances), model.focal_sets, model.alpha, model.delta)


def _distances(objects: Indicators, shares: Array, model: PrototypeModel) -> Array:
    means = barycenters(shares, model)
    n_known = objects.is_known.sum(axis=1)
    differing = np.maximum(n_known - means @ objects.values.T, 0.0)
    return objects.stretch * differing / model.cardinality[:, None]


def as_modes(points: Array, sizes: NDArray[np.intp]) -> Array:
    """1 for the largest of each attribute, the first of those alike, and 0 elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.cluster.prototypes._catecm_modes import as_modes
    >>> as_modes(np.array([[0.2, 0.8, 0.5, 0.1, 0.5]]), np.array([2, 3])).tolist()
    [[0.0, 1.0, 1.0, 0.0, 0.0]]
    """
    modes = np.zeros_like(points)
    rows = np.arange(len(points))
    for _, first, last in _spans(sizes):
        own = points[:, first:last]
        largest = own.max(axis=1, keepdims=True)
        near = own >= largest - _ALIKE * np.abs(largest)
        modes[rows, first + near.argmax(axis=1)] = 1.0
    return modes


def updated_modes(
    weights: Array, objects: Indicators, previous: Array, model: PrototypeModel
) -> Array:
    """Prototypes of single categories that cost less, for given masses.

    The published update takes for cluster k the category with the largest
    Σ_i m_ik^β, the sum over the objects that have it. That is the minimum of
    Σ_i m_ik^β D_ik, not of J, in which D is squared and which has the other sets of
    clusters: alone, it can increase J. Here it is where the search begins, if it costs
    less than the prototypes before. Then one category of one cluster at a time is
    replaced by the best for the others as they are, until none changes.

    With u_ij = (d / d_i) / |A_j|², the part of a difference in D_ij for k ∈ A_j, and
    w_ij = |A_j|^α m_ij^β, object i adds to J, if it differs from cluster k in an
    attribute in which it agreed or would agree otherwise,

        g_i = Σ_{j ∋ k} w_ij ((R_ij + u_ij)² - R_ij²)
            = Σ_{j ∋ k} w_ij (2 u_ij D_ij + (1 - 2 b_i) u_ij²),

    R_ij being D_ij without that attribute, and b_i 1 if it differs now. The best
    category is the one with the largest sum of g_i.

    Parameters
    ----------
    weights : array of shape (n_focal_sets, n_samples)
        m_ij^β, times the weight of the object.
    objects : Indicators
        The objects.
    previous : array of shape (n_clusters, n_categories)
        Prototypes before, 1 for the category that each attribute has.
    model : PrototypeModel
        The method.
    """
    modes = _cheaper(weights, objects, previous, model)
    distances = _distances(objects, modes, model)
    for _ in range(_MAX_SWEEPS):
        n_changed = 0
        for k in range(len(modes)):
            n_changed += _improve(k, modes, distances, weights, objects, model)
        if not n_changed:
            break
    return modes


def _cheaper(
    weights: Array, objects: Indicators, previous: Array, model: PrototypeModel
) -> Array:
    """Prototypes by the published update, or those before if they do not cost more."""
    modes = previous.copy()
    frequencies = weights @ objects.values
    for own, inside in zip(frequencies, model.members, strict=True):
        if inside.sum() == 1 and own.any():
            modes[inside > 0] = as_modes(own[None], objects.sizes)
    costs = [
        np.vdot(weights, matching_costs(objects, each, model))
        for each in (previous, modes)
    ]
    return modes if costs[1] < costs[0] else previous.copy()


def _improve(
    k: int,
    modes: Array,
    distances: Array,
    weights: Array,
    objects: Indicators,
    model: PrototypeModel,
) -> int:
    """Replace categories of cluster k in place; how many were."""
    has = model.members[:, k] > 0
    parts = 1.0 / np.square(model.cardinality[has])
    counted = model.coefficients[has, None] * weights[has]
    linear = 2 * objects.stretch * (parts @ (counted * distances[has]))
    square = np.square(objects.stretch) * (np.square(parts) @ counted)
    alike = _ALIKE * float((linear + square).sum())
    moved = np.zeros(len(objects.values))
    n_changed = 0
    for attribute, first, last in _spans(objects.sizes):
        values = objects.values[:, first:last]
        now = int(modes[k, first:last].argmax())
        differs = objects.is_known[:, attribute] - values[:, now]
        sums = (linear + square * (1 - 2 * differs)) @ values
        if sums.max() <= sums[now] + alike:
            continue
        best = int((sums >= sums.max() - alike).argmax())
        change = values[:, now] - values[:, best]
        linear += 2 * square * change
        moved += change
        modes[k, first + now], modes[k, first + best] = 0.0, 1.0
        n_changed += 1
    if n_changed:
        distances[has] += parts[:, None] * (objects.stretch * moved)
    return n_changed


def _spans(sizes: NDArray[np.intp]) -> list[tuple[int, int, int]]:
    """Number, first place and end of each attribute that has categories."""
    ends = np.cumsum(sizes)
    return [
        (attribute, int(end - size), int(end))
        for attribute, (size, end) in enumerate(zip(sizes, ends, strict=True))
        if size
    ]
