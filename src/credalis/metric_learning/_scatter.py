"""Scatter matrices of labelled objects, and the directions that tell classes apart."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

Matrix = NDArray[np.float64]
Classes = NDArray[np.intp]

_SMALLEST_RIDGE = 1e-12

# Scatter within classes, relative to that between them, that counts as none.
_ROUNDING = 1e-13


def scatters(X: Matrix, classes: Classes) -> tuple[Matrix, Matrix]:
    """Within-class and between-class scatter, per object.

    S_w = (1/n) Σ_k Σ_{i∈k} (x_i - μ_k)(x_i - μ_k)ᵀ and
    S_b = (1/n) Σ_k n_k (μ_k - μ)(μ_k - μ)ᵀ.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Labelled objects.
    classes : array of int, shape (n_samples,)
        Their classes.

    Returns
    -------
    within, between : arrays of shape (n_features, n_features)
    """
    _, numbers, sizes = np.unique(classes, return_inverse=True, return_counts=True)
    means = np.stack([X[numbers == k].mean(axis=0) for k in range(len(sizes))])
    deviations = X - means[numbers]
    offsets = means - X.mean(axis=0)
    within = deviations.T @ deviations / len(X)
    between = (offsets * sizes[:, None]).T @ offsets / len(X)
    return within, between


def local_scatters(
    X: Matrix, classes: Classes, affinities: Callable[[Matrix], Matrix]
) -> tuple[Matrix, Matrix]:
    """Scatters in which pairs of a class count by their affinity A_ij, per object.

    S = (1/2n) Σ_ij W_ij (x_i - x_j)(x_i - x_j)ᵀ with W_ij = A_ij / n_k within class k
    and 0 else for S_w, and W_ij = A_ij (1/n - 1/n_k) within and 1/n else for S_b. With
    G_k = X_kᵀ (diag(A_k 1) - A_k) X_k this is, for centred X,

        n S_w = Σ_k G_k / n_k
        n S_b = Σ_k [G_k / n + (1 - n_k / n) X_kᵀ X_k + s_k s_kᵀ / n] - n S_w,

    where s_k is the sum of the objects of class k.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Labelled objects.
    classes : array of int, shape (n_samples,)
        Their classes.
    affinities : callable
        Takes the objects of a class (n_k, n_features), returns A_k (n_k, n_k).

    Returns
    -------
    within, between : arrays of shape (n_features, n_features)
    """
    n_samples, n_features = X.shape
    centered = X - X.mean(axis=0)
    within = np.zeros((n_features, n_features))
    between = np.zeros((n_features, n_features))
    for k in np.unique(classes):
        members = centered[classes == k]
        share = len(members) / n_samples
        A = affinities(members)
        G = members.T @ (A.sum(axis=1)[:, None] * members - A @ members)
        total = members.sum(axis=0)
        within += G / len(members)
        between += G / n_samples + (1 - share) * members.T @ members
        between += np.outer(total, total) / n_samples
    return within / n_samples, (between - within) / n_samples


def local_affinities(X: Matrix, n_neighbors: int) -> Matrix:
    """A_ij = exp(-‖x_i - x_j‖² / (σ_i σ_j)), σ_i the distance to a near neighbour.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Objects of one class.
    n_neighbors : int
        Which neighbour; the farthest one if there are fewer.

    Returns
    -------
    array of shape (n_samples, n_samples)
    """
    if len(X) == 1:
        return np.ones((1, 1))
    distances = cdist(X, X)
    rank = min(n_neighbors, len(X) - 1)
    scales = np.partition(distances, rank, axis=1)[:, rank]
    products = np.outer(scales, scales)
    # Copies of an object have affinity 1 with each other and, if there are so many that
    # σ is 0, none with the rest.
    with np.errstate(over="ignore"):
        return np.exp(-(distances**2) / np.maximum(products, np.finfo(float).tiny))


def discriminant_directions(
    within: Matrix, between: Matrix, n_components: int, regularization: float
) -> tuple[Matrix, Matrix]:
    """Leading solutions of S_b t = λ (S_w + ε I) t with tᵀ (S_w + ε I) t = 1.

    Parameters
    ----------
    within, between : arrays of shape (n_features, n_features)
        S_w and S_b.
    n_components : int
        Number of directions.
    regularization : float
        ε relative to the mean of the diagonal of S_w; at least 1e-12, below which
        S_w could be singular to rounding.

    Returns
    -------
    eigenvalues : array of shape (n_components,)
        λ, decreasing.
    directions : array of shape (n_components, n_features)
        One in each row.
    """
    n_features = len(within)
    unit = np.trace(within)
    if unit <= _ROUNDING * np.trace(between):
        # Classes without any spread of their own but rounding: the spread between them
        # sets the unit.
        unit = np.trace(between)
    if unit == 0:
        raise ValueError("X must hold labelled rows that differ, got equal ones")
    ridge = max(regularization, _SMALLEST_RIDGE) / n_features
    try:
        eigenvalues, directions = largest_eigenpairs(
            between / unit, n_components, within / unit + ridge * np.eye(n_features)
        )
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "regularization must be larger for these data, the scatter within classes "
            f"is singular to rounding, got {regularization}"
        ) from error
    return eigenvalues, directions / np.sqrt(unit)


def largest_eigenpairs(
    A: Matrix, count: int, B: Matrix | None = None
) -> tuple[Matrix, Matrix]:
    """Decreasing λ (count,) and vectors v (count, n_features) with A v = λ B v.

    A and B are symmetric, B is positive definite; None is the identity.
    """
    values, vectors = eigh(A, B, subset_by_index=[len(A) - count, len(A) - 1])
    if len(values) < count:
        # LAPACK's search for some of the values can miss them if many are equal.
        values, vectors = (part[..., -count:] for part in eigh(A, B))
    return values[::-1], vectors.T[::-1]
