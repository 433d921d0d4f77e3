"""The mixture of EGMM: a normal distribution for each set of clusters.

The mean of a set A is that of the means of its clusters, v_A = Σ_{k ∈ A} μ_k / |A|.
Covariances are "tied", one matrix (n_features, n_features); "full", one for each set,
(n_sets, n_features, n_features); or "diag", variances for each set, (n_sets,
n_features).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist

from credalis.belief import FocalSets

Array = NDArray[np.float64]

COVARIANCE_TYPES = ("tied", "full", "diag")

# A set with less than this share of one object keeps its covariance: nothing is left
# to estimate it from.
_LEAST_SIZE = 1e-9
# Directions of the system for the means that count, as a share of the largest.
_SINGULAR = 1e-12


@dataclass(frozen=True, eq=False)
class EvidentialMixture:
    """p(x) = Σ_A π_A N(x; v_A, Σ_A), with no weight on ∅.

    Attributes
    ----------
    focal_sets : FocalSets
        The sets A.
    weights : array of shape (n_focal_sets,)
        Weights π_A.
    means : array of shape (n_clusters, n_features)
        Means μ_k of the clusters.
    covariances : array
        Covariances, in the form of their type. Those of ∅ are not used.
    covariance_type : {"tied", "full", "diag"}
        Which covariances there are.
    """

    focal_sets: FocalSets
    weights: Array
    means: Array
    covariances: Array
    covariance_type: str

    @property
    def shares(self) -> Array:
        """What the mean of a cluster adds to that of a set, (n_focal_sets, c)."""
        members = self.focal_sets.membership
        return members / np.maximum(self.focal_sets.cardinality, 1)[:, None]

    @property
    def set_means(self) -> Array:
        """Means v_A, (n_focal_sets, n_features)."""
        return self.shares @ self.means

    @property
    def spreads(self) -> Array:
        """Usual standard deviation of each feature in a set, (n_features,)."""
        covariances = self.covariances
        if self.covariance_type == "tied":
            return np.sqrt(np.diagonal(covariances))
        if self.covariance_type == "full":
            covariances = np.diagonal(covariances, axis1=1, axis2=2)
        return np.sqrt(self.weights @ covariances)

    @property
    def n_components(self) -> int:
        """Number of sets that may have a weight."""
        return int((self.focal_sets.cardinality > 0).sum())

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: weights, means, covariances."""
        d = self.means.shape[1]
        n_sets = self.n_components
        n_covariances = {
            "tied": d * (d + 1) // 2,
            "full": n_sets * d * (d + 1) // 2,
            "diag": n_sets * d,
        }[self.covariance_type]
        return n_sets - 1 + self.means.size + n_covariances

    def whitenings(self) -> Array:
        """Matrices W_A with Σ_A⁻¹ = W_Aᵀ W_A, in the form of the covariances."""
        if self.covariance_type == "diag":
            if not self.covariances.min() > 0:
                raise np.linalg.LinAlgError("a variance is not positive")
            return 1 / np.sqrt(self.covariances)
        roots = np.linalg.cholesky(self.covariances)
        unit = np.eye(roots.shape[-1])
        if roots.ndim == 2:
            return solve_triangular(roots, unit, lower=True)
        return np.array([solve_triangular(root, unit, lower=True) for root in roots])

    def in_units(self, center: Array, scale: Array) -> EvidentialMixture:
        """The mixture of scale * x + center, for x from this one."""
        # One factor at a time: the square of a scale may be no number.
        covariances = self.covariances * scale
        if self.covariance_type == "diag":
            covariances = covariances * scale
        else:
            covariances = covariances * scale[:, None]
        means = self.means * scale + center
        return replace(self, means=means, covariances=covariances)


def starting_mixture(
    X: Array,
    means: Array,
    focal_sets: FocalSets,
    covariance_type: str,
    ridge: float,
    object_weights: Array | None = None,
) -> EvidentialMixture:
    """Equal weights, and the covariance around the nearest mean for all sets."""
    away = X - means[cdist(X, means, "sqeuclidean").argmin(axis=1)]
    n_samples, n_features = _n_samples(X, object_weights), X.shape[1]
    counted = away if object_weights is None else object_weights[:, None] * away
    with np.errstate(over="ignore"):
        covariances = counted.T @ away / n_samples + ridge * np.eye(n_features)
    if not np.isfinite(covariances).all():
        raise ValueError(
            "X and init must have distances that can be squared, the farthest object "
            f"is {np.abs(away).max():.3g} from its centre: scale the data"
        )
    if covariance_type == "diag":
        covariances = np.tile(np.diagonal(covariances), (len(focal_sets), 1))
    elif covariance_type == "full":
        covariances = np.tile(covariances, (len(focal_sets), 1, 1))
    is_used = focal_sets.cardinality > 0
    weights = is_used / is_used.sum()
    return EvidentialMixture(focal_sets, weights, means, covariances, covariance_type)


def log_joint_densities(X: Array, mixture: EvidentialMixture) -> Array:
    """Entries log π_A N(x_i; v_A, Σ_A), (n_samples, n_focal_sets), -inf for π_A = 0."""
    n_samples, n_features = X.shape
    whitenings = mixture.whitenings()
    is_diagonal = mixture.covariance_type == "diag"
    centers, n_sets = mixture.set_means, len(mixture.weights)
    if mixture.covariance_type == "tied":
        whitenings = np.broadcast_to(whitenings, (n_sets, *whitenings.shape))
    logs = np.full((n_samples, n_sets), -np.inf)
    for j in np.flatnonzero(mixture.weights):
        away, whitening = X - centers[j], whitenings[j]
        if is_diagonal:
            away *= whitening
            root = whitening
        else:
            away = away @ whitening.T
            root = np.diagonal(whitening)
        constant = np.log(mixture.weights[j]) + np.log(root).sum()
        squares = np.einsum("ij,ij->i", away, away)
        logs[:, j] = constant - 0.5 * (n_features * np.log(2 * np.pi) + squares)
    return logs


def expectation(
    X: Array, mixture: EvidentialMixture, object_weights: Array | None = None
) -> tuple[Array, float]:
    """Masses m_iA, the posterior probabilities of the sets, and log p(X).

    An object of weight w counts w times in log p(X).
    """
    masses = log_joint_densities(X, mixture)
    largest = masses.max(axis=1, keepdims=True)
    # Sums are taken of what is divided by them, so that masses sum to 1 wherever an
    # object is.
    masses -= largest
    np.exp(masses, out=masses)
    totals = masses.sum(axis=1, keepdims=True)
    masses /= totals
    logs = largest + np.log(totals)
    if object_weights is not None:
        logs = object_weights * logs[:, 0]
    return masses, float(logs.sum())


def ridge_penalty(mixture: EvidentialMixture, ridge: float) -> float:
    """(ρ / 2) times the mean over the sets of tr Σ_A⁻¹, taken off log p(x) per object.

    Its effect on the maximum is that ρ is added to the variances; see
    `updated_covariances`.
    """
    squares = np.square(mixture.whitenings())
    if mixture.covariance_type == "tied":
        return 0.5 * ridge * float(squares.sum())
    is_used = mixture.focal_sets.cardinality > 0
    return 0.5 * ridge * float(squares[is_used].sum()) / mixture.n_components


def maximization(
    X: Array,
    masses: Array,
    mixture: EvidentialMixture,
    ridge: float,
    object_weights: Array | None = None,
) -> EvidentialMixture:
    """Weights, means for the covariances so far, then covariances for these means.

    Each is the exact maximum of the expected penalised log-likelihood of X and the
    sets, given the others, which therefore never falls; neither does that of X. The
    masses of an object of weight w count w times.
    """
    n_samples = _n_samples(X, object_weights)
    if object_weights is not None:
        masses = object_weights[:, None] * masses
    moved = replace(
        mixture,
        weights=masses.sum(axis=0) / n_samples,
        means=updated_means(X, masses, mixture),
    )
    covariances = updated_covariances(X, masses, moved, ridge, n_samples)
    return replace(moved, covariances=covariances)


def updated_means(X: Array, masses: Array, mixture: EvidentialMixture) -> Array:
    """Means μ that minimise Σ_i Σ_A m_iA (x_i - v_A)ᵀ Σ_A⁻¹ (x_i - v_A).

    With n_A = Σ_i m_iA, the normal equations are, for all clusters k,

        Σ_l Σ_{A ⊇ {k, l}} n_A / |A|² Σ_A⁻¹ μ_l = Σ_{A ∋ k} 1 / |A| Σ_A⁻¹ Σ_i m_iA x_i.

    A common Σ cancels, which leaves H μ = B with H_kl = Σ_{A ⊇ {k, l}} n_A / |A|².
    With variances there is a system for each feature, with a matrix for each set one
    for all features. They are solved for the way from the present means, and by the
    shortest one: the mean of a cluster that has lost all its mass stays.
    """
    shares, sizes = mixture.shares, masses.sum(axis=0)
    pull = masses.T @ X - sizes[:, None] * mixture.set_means
    if mixture.covariance_type == "tied":
        matrix = shares.T @ (sizes[:, None] * shares)
        return mixture.means + _shortest(matrix, shares.T @ pull)
    whitenings = mixture.whitenings()
    if mixture.covariance_type == "diag":
        precisions = np.square(whitenings)
        matrices = np.einsum("jk,jl,j,ja->akl", shares, shares, sizes, precisions)
        slopes = np.einsum("jk,ja->ak", shares, precisions * pull)
        steps = [_shortest(*each) for each in zip(matrices, slopes, strict=True)]
        return mixture.means + np.array(steps).T
    precisions = whitenings.transpose(0, 2, 1) @ whitenings
    n_unknowns = mixture.means.size
    weighted = sizes[:, None, None] * precisions
    matrix = np.einsum("jk,jl,jab->kalb", shares, shares, weighted, optimize=True)
    slope = shares.T @ np.einsum("jab,jb->ja", precisions, pull)
    step = _shortest(matrix.reshape(n_unknowns, n_unknowns), slope.ravel())
    return mixture.means + step.reshape(mixture.means.shape)


def updated_covariances(
    X: Array,
    masses: Array,
    mixture: EvidentialMixture,
    ridge: float,
    n_samples: float | None = None,
) -> Array:
    """Covariances that maximise the penalised likelihood for given means.

    With S_A = Σ_i m_iA (x_i - v_A)(x_i - v_A)ᵀ, n_A = Σ_i m_iA, f sets and n objects,

        Σ = Σ_A S_A / n + ρ I    or    Σ_A = S_A / n_A + ρ n / (f n_A) I,

    of which only the diagonal is kept for variances. The penalty is that of
    `ridge_penalty`, whose share in a set does not depend on the size of the set: a set
    of n / f objects gets ρ, a smaller one more. If masses count several times,
    ``n_samples`` is how often all of them do.
    """
    n_samples = len(X) if n_samples is None else n_samples
    n_features = X.shape[1]
    is_diagonal = mixture.covariance_type == "diag"
    sizes, centers = masses.sum(axis=0), mixture.set_means
    is_tied = mixture.covariance_type == "tied"
    covariances = ridge * np.eye(n_features) if is_tied else mixture.covariances.copy()
    for j in np.flatnonzero(sizes if is_tied else sizes > _LEAST_SIZE):
        away = np.sqrt(masses[:, j])[:, None] * (X - centers[j])
        if is_tied:
            covariances += away.T @ away / n_samples
            continue
        added = ridge * n_samples / (mixture.n_components * sizes[j])
        if is_diagonal:
            covariances[j] = np.square(away).sum(axis=0) / sizes[j] + added
        else:
            covariances[j] = away.T @ away / sizes[j] + added * np.eye(n_features)
    return covariances


def ebic(log_likelihood: float, n_parameters: int, n_samples: float) -> float:
    """EBIC = log p(X) - ν/2 log n for ν free parameters; the larger, the better."""
    return log_likelihood - 0.5 * n_parameters * float(np.log(n_samples))


def _n_samples(X: Array, object_weights: Array | None) -> float:
    """Number of objects, or the sum of their weights."""
    return len(X) if object_weights is None else float(object_weights.sum())


def _shortest(matrix: Array, right: Array) -> Array:
    """The shortest solution of a system with a semi-definite matrix."""
    return np.linalg.pinv(matrix, rcond=_SINGULAR, hermitian=True) @ right
