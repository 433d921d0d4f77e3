"""The mathematics of all methods with prototypes: costs, masses, prototypes.

Arrays over focal sets and objects have the focal sets on the first axis, as in
`credalis.objectives._mass_costs`.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgelsy
from scipy.spatial.distance import cdist

from credalis.belief import FocalSets
from credalis.objectives._mass_costs import (
    mass_weights,
    masses_from_costs,
    row_blocks,
    set_costs,
)

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PrototypeModel:
    """What a method minimises: J = Σ_ij m_ij^β c_ij, with c_i∅ = δ² and otherwise

        c_ij = |A_j|^α a_j [(x_i - v̄_j)ᵀ S̄_j (x_i - v̄_j) + b_j s_j],
        s_j = Σ_{k ∈ A_j} (v_k - v̄_j)ᵀ S̄_j (v_k - v̄_j).

    v̄_j and S̄_j are the means of the prototypes v_k and of the metrics S_k of the
    clusters in A_j. Since Σ_{k ∈ A_j} ‖x - v_k‖² = |A_j| ‖x - v̄_j‖² + s_j, methods that
    look at the distances to the single prototypes have this form as well.

    Parameters
    ----------
    focal_sets : FocalSets
        The sets A_j.
    alpha, beta, delta : float
        Exponents of cardinality and masses, and distance to noise.
    scales, spreads : array of shape (n_focal_sets,)
        a_j, and b_j; b_j is 0 where the scatter of the prototypes costs nothing.
    """

    focal_sets: FocalSets
    alpha: float
    beta: float
    delta: float
    scales: Array
    spreads: Array

    @cached_property
    def members(self) -> Array:
        """1 where a cluster is in a set, (n_focal_sets, n_clusters)."""
        return self.focal_sets.membership.astype(np.float64)

    @cached_property
    def cardinality(self) -> Array:
        """Sizes of the sets, 1 for ∅, (n_focal_sets,)."""
        return np.maximum(self.focal_sets.cardinality, 1).astype(np.float64)

    @cached_property
    def has_spread(self) -> bool:
        """Whether the scatter of the prototypes costs something."""
        return bool(self.spreads.any())

    @cached_property
    def is_scaled(self) -> bool:
        """Whether some a_j is not 1."""
        return bool((self.scales != 1).any())

    @cached_property
    def coefficients(self) -> Array:
        """|A_j|^α a_j, (n_focal_sets,)."""
        return self.cardinality**self.alpha * self.scales


@dataclass(frozen=True, eq=False)
class SetPrototypes:
    """Where the sets of clusters are, and what distances from there mean.

    Attributes
    ----------
    barycenters : array of shape (n_focal_sets, n_features)
        v̄_j; 0 for ∅.
    offsets : array of shape (n_focal_sets,)
        b_j s_j.
    roots : array of shape (n_focal_sets, n_features, n_features) or None
        R_j with R_jᵀ R_j = S̄_j, the identity for ∅; None for Euclidean distances.
    """

    barycenters: Array
    offsets: Array
    roots: Array | None


@dataclass(frozen=True, eq=False)
class PrototypeMoments:
    """Sums over the objects, with weights w_ij = m_ij^β, times that of the object.

    Attributes
    ----------
    loss : float
        J = Σ_ij w_ij c_ij.
    weight_sums : array of shape (n_focal_sets,)
        Σ_i w_ij.
    deviations : array of shape (n_focal_sets, n_features)
        Σ_i w_ij (x_i - v̄_j).
    scatters : array of shape (n_focal_sets, n_features, n_features) or None
        Σ_i w_ij (x_i - v̄_j)(x_i - v̄_j)ᵀ; None for Euclidean distances.
    """

    loss: float
    weight_sums: Array
    deviations: Array
    scatters: Array | None

    def __add__(self, other: "PrototypeMoments") -> "PrototypeMoments":
        """Sums over the objects of both."""
        scatters = None
        if self.scatters is not None and other.scatters is not None:
            scatters = self.scatters + other.scatters
        return PrototypeMoments(
            self.loss + other.loss,
            self.weight_sums + other.weight_sums,
            self.deviations + other.deviations,
            scatters,
        )


def barycenters(centers: Array, model: PrototypeModel) -> Array:
    """v̄_j, the mean of the prototypes of a set, (n_focal_sets, n_features)."""
    return model.members @ centers / model.cardinality[:, None]


def set_metrics(metrics: Array, model: PrototypeModel) -> Array:
    """S̄_j, the mean of the metrics of a set, (n_focal_sets, d, d); 0 for ∅."""
    shares = model.members / model.cardinality[:, None]
    return np.tensordot(shares, metrics, axes=1)


def set_prototypes(
    centers: Array, metrics: Array | None, model: PrototypeModel
) -> SetPrototypes:
    """Barycentres and metrics of the sets of clusters.

    Parameters
    ----------
    centers : array of shape (n_clusters, n_features)
        Prototypes v_k.
    metrics : array of shape (n_clusters, n_features, n_features) or None
        Metrics S_k; None for Euclidean distances.
    model : PrototypeModel
        The method.
    """
    means = barycenters(centers, model)
    roots = None
    if metrics is not None:
        roots = np.tile(np.eye(means.shape[1]), (len(means), 1, 1))
        is_set = model.focal_sets.cardinality > 0
        factors = np.linalg.cholesky(set_metrics(metrics, model)[is_set])
        roots[is_set] = factors.transpose(0, 2, 1)
    offsets = np.zeros(len(means))
    if model.has_spread:
        bare = SetPrototypes(means, offsets, roots)
        squared = _squared(centers, _turned(centers, bare), bare)
        scatter = (model.members * squared).sum(axis=1)
        offsets = model.spreads * scatter
    return SetPrototypes(means, offsets, roots)


def prototype_costs(X: Array, sets: SetPrototypes, model: PrototypeModel) -> Array:
    """Cost c_ij of a unit of mass, (n_focal_sets, n_samples)."""
    return _costs(_squared(X, _turned(X, sets), sets), model)


def prototype_masses(X: Array, sets: SetPrototypes, model: PrototypeModel) -> Array:
    """Masses that minimise J at the given prototypes, (n_samples, n_focal_sets)."""
    masses = np.empty((len(X), len(model.focal_sets)))
    for rows in row_blocks(len(X), len(model.focal_sets)):
        costs = prototype_costs(X[rows], sets, model)
        masses[rows] = masses_from_costs(costs, model.beta).T
    return masses


def prototype_moments(
    X: Array,
    sets: SetPrototypes,
    model: PrototypeModel,
    given: Array | None = None,
    object_weights: Array | None = None,
) -> PrototypeMoments:
    """J and what moves the prototypes, with the best masses or given ones.

    One pass over the data in blocks; the best masses are never held as a whole. Given
    ones have shape (n_samples, n_focal_sets). An object of weight w counts w times.
    """
    sums = _Sums(sets)
    for rows in row_blocks(len(X), len(model.focal_sets)):
        turned = _turned(X[rows], sets)
        costs = _costs(_squared(X[rows], turned, sets), model)
        if given is None:
            masses = masses_from_costs(costs, model.beta)
        else:
            masses = given[rows].T
        weights = mass_weights(masses, model.beta)
        if object_weights is not None:
            weights *= object_weights[rows]
        sums.add(weights, costs, X[rows], turned)
    return sums.moments()


def updated_centers(
    sums: PrototypeMoments,
    model: PrototypeModel,
    previous: Array,
    metrics: Array | None,
) -> Array:
    """Prototypes that minimise J for given masses and metrics, from H V = B.

    With W_j = Σ_i w_ij and C_j = |A_j|^α a_j, and for Euclidean distances,

        H_kl = Σ_{A_j ⊇ {k, l}} C_j W_j (1/|A_j|² - b_j/|A_j|)
               + [k = l] Σ_{A_j ∋ k} C_j W_j b_j,
        B_k  = Σ_{A_j ∋ k} C_j/|A_j| Σ_i w_ij x_i.

    With metrics every term is multiplied by its S̄_j, and the systems of the features
    are one. The equations are solved for the way from the previous prototypes, and by
    the shortest one: where H is singular, because a cluster has lost all its mass, its
    prototype stays.

    Parameters
    ----------
    sums : PrototypeMoments
        Sums with the weights w_ij; what belongs to ∅ has no effect.
    model : PrototypeModel
        The method.
    previous : array of shape (n_clusters, n_features)
        The prototypes that the sums are about.
    metrics : array of shape (n_clusters, n_features, n_features) or None
        Metrics S_k.

    Returns
    -------
    array of shape (n_clusters, n_features)
    """
    members, size = model.members, model.cardinality
    mass = model.coefficients * sums.weight_sums
    spread = mass * model.spreads
    metric = None if metrics is None else set_metrics(metrics, model)
    # The objects pull a set of prototypes as a whole ...
    pull = (model.coefficients / size)[:, None] * sums.deviations
    if metric is not None:
        pull = (metric @ pull[:, :, None])[:, :, 0]
    slope = members.T @ pull
    if model.has_spread:
        # ... and the cost of their scatter pulls each one towards its barycentres.
        apart = barycenters(previous, model)[:, None, :] - previous
        apart *= (spread[:, None] * members)[:, :, None]
        slope += (apart if metric is None else apart @ metric).sum(axis=0)
    joint = mass / size**2 - spread / size
    if metric is None:
        H = (members * joint[:, None]).T @ members
        if model.has_spread:
            H += np.diag(spread @ members)
        return previous + _shortest_solution(H, slope)
    n_clusters, n_features = previous.shape
    both = (joint[:, None, None] * members[:, :, None]) * members[:, None, :]
    alone = (spread[:, None] * members)[:, :, None] * np.eye(n_clusters)
    H = np.tensordot(both + alone, metric, axes=(0, 0))
    H = H.transpose(0, 2, 1, 3).reshape(n_clusters * n_features, -1)
    return previous + _shortest_solution(H, slope.ravel()).reshape(previous.shape)


def cluster_scatters(
    sums: PrototypeMoments, model: PrototypeModel, previous: Array, centers: Array
) -> Array:
    """Σ_k of the metric update, at prototypes that have moved since the sums.

        Σ_k = Σ_{A_j ∋ k} C_j/|A_j| Σ_i w_ij [(x_i - v̄_j)(x_i - v̄_j)ᵀ + b_j Z_j],
        Z_j = Σ_{l ∈ A_j} (v_l - v̄_j)(v_l - v̄_j)ᵀ.

    Returns
    -------
    array of shape (n_clusters, n_features, n_features)
    """
    assert sums.scatters is not None
    means = barycenters(centers, model)
    moved = means - barycenters(previous, model)
    cross = moved[:, :, None] * sums.deviations[:, None, :]
    squares = moved[:, :, None] * moved[:, None, :]
    weight = sums.weight_sums[:, None, None]
    scatters = sums.scatters - cross - cross.transpose(0, 2, 1) + weight * squares
    if model.has_spread:
        apart = model.members[:, :, None] * (centers - means[:, None, :])
        scatter = apart.transpose(0, 2, 1) @ apart
        scatters += weight * model.spreads[:, None, None] * scatter
    shares = model.members * (model.coefficients / model.cardinality)[:, None]
    return np.tensordot(shares.T, scatters, axes=1)


def ecm_centers(
    weight_sums: Array,
    weighted_sums: Array,
    focal_sets: FocalSets,
    alpha: float,
    previous: Array,
) -> Array:
    """Prototypes minimising Σ_ij w_ij |A_j|^alpha ‖x_i - v̄_j‖², from plain sums.

    Parameters
    ----------
    weight_sums : array of shape (n_focal_sets,)
        Σ_i w_ij; what belongs to the empty set has no effect.
    weighted_sums : array of shape (n_focal_sets, n_features)
        Σ_i w_ij x_i.
    focal_sets : FocalSets
        Focal sets A_j.
    alpha : float
        Exponent of the cardinality.
    previous : array of shape (n_clusters, n_features)
        Where the prototypes were; one whose cluster has lost all its mass stays.

    Returns
    -------
    array of shape (n_clusters, n_features)
    """
    model = _model_of(focal_sets, alpha)
    deviations = weighted_sums - weight_sums[:, None] * barycenters(previous, model)
    sums = PrototypeMoments(0.0, weight_sums, deviations, scatters=None)
    return updated_centers(sums, model, previous, metrics=None)


def ecm_model(
    focal_sets: FocalSets, alpha: float, beta: float, delta: float
) -> PrototypeModel:
    """A set of clusters is where the mean of their prototypes is."""
    n_sets = len(focal_sets)
    return PrototypeModel(
        focal_sets, alpha, beta, delta, np.ones(n_sets), np.zeros(n_sets)
    )


@lru_cache(maxsize=8)
def _model_of(focal_sets: FocalSets, alpha: float) -> PrototypeModel:
    """The model, with what prototypes do not depend on left open."""
    return ecm_model(focal_sets, alpha, beta=2.0, delta=1.0)


def _costs(squared: Array, model: PrototypeModel) -> Array:
    if model.is_scaled:
        squared *= model.scales[:, None]
    return set_costs(squared, model.focal_sets, model.alpha, model.delta)


def _turned(X: Array, sets: SetPrototypes) -> Array | None:
    """R_j (x_i - v̄_j), (n_focal_sets, n_features, n_samples), if there are metrics."""
    if sets.roots is None:
        return None
    n_sets, n_features = sets.barycenters.shape
    turned = (sets.roots.reshape(-1, n_features) @ X.T).reshape(n_sets, n_features, -1)
    turned -= sets.roots @ sets.barycenters[:, :, None]
    return turned


def _squared(X: Array, turned: Array | None, sets: SetPrototypes) -> Array:
    """(x_i - v̄_j)ᵀ S̄_j (x_i - v̄_j) + b_j s_j, (n_focal_sets, n_samples)."""
    if turned is None:
        squared = cdist(sets.barycenters, X, "sqeuclidean")
    else:
        squared = np.einsum("jdi,jdi->ji", turned, turned)
    if sets.offsets.any():
        squared += sets.offsets[:, None]
    return squared


class _Sums:
    """The moments, block by block; with metrics, in coordinates turned by the R_j."""

    def __init__(self, sets: SetPrototypes) -> None:
        n_sets, n_features = sets.barycenters.shape
        self.sets = sets
        self.loss = 0.0
        self.weight_sums = np.zeros(n_sets)
        self.sums = np.zeros((n_sets, n_features))
        self.scatters = np.zeros((n_sets, n_features, n_features))

    def add(self, weights: Array, block: Array, X: Array, turned: Array | None) -> None:
        """Objects with weights and costs (n_focal_sets, n_samples)."""
        self.loss += float(np.vdot(weights, block))
        self.weight_sums += weights.sum(axis=1)
        if turned is None:
            self.sums += weights @ X
            return
        weighted = weights[:, None, :] * turned
        self.sums += weighted.sum(axis=2)
        self.scatters += weighted @ turned.transpose(0, 2, 1)

    def moments(self) -> PrototypeMoments:
        """The sums in the coordinates of the data."""
        roots, centers = self.sets.roots, self.sets.barycenters
        if roots is None:
            deviations = self.sums - self.weight_sums[:, None] * centers
            return PrototypeMoments(self.loss, self.weight_sums, deviations, None)
        back = np.linalg.inv(roots)
        deviations = (back @ self.sums[:, :, None])[:, :, 0]
        scatters = back @ self.scatters @ back.transpose(0, 2, 1)
        return PrototypeMoments(self.loss, self.weight_sums, deviations, scatters)


def _shortest_solution(H: Array, B: Array) -> Array:
    """Least squares of least length; H is symmetric and may be singular."""
    # Clusters may differ by many orders of magnitude in mass: equal diagonals let the
    # rank be told from rounding.
    scale = np.sqrt(np.maximum(H.diagonal(), np.finfo(np.float64).tiny))
    n = len(H)
    H = H / (scale[:, None] * scale)
    B = B.reshape(n, -1) / scale[:, None]
    cutoff = n * np.finfo(np.float64).eps
    # scipy.linalg.lstsq calls this routine; for systems as small as these it takes
    # longer to get there than to solve them.
    pivots, n_workspace = np.zeros(n, dtype=np.int32), 4 * n + 1 + len(B.T)
    _, solution, _, _, info = dgelsy(H, B, pivots, cutoff, n_workspace)
    if info != 0:
        raise RuntimeError(f"LAPACK's gelsy returned {info}")
    return solution / scale[:, None]
