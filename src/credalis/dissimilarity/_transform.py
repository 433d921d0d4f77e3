"""Dissimilarities checked, and transformed to targets for conflicts."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from credalis._checks import check_flag

# φ(δ0): objects δ0 apart should be in conflict to this degree.
TARGET_AT_SCALE = 0.95

# Rows of a matrix that are compared with its columns at a time.
_ROWS = 128

# Relative asymmetry that passes as rounding.
_SYMMETRY_TOLERANCE = 1e-8


def decay_rate(scale: float) -> float:
    """γ = -log(0.05) / δ0²."""
    return -np.log(1 - TARGET_AT_SCALE) / scale**2


def transform(dissimilarities: ArrayLike, scale: float) -> NDArray[np.float64]:
    """φ(d) = 1 - exp(-γ d²): 0 at 0, 0.95 at ``scale``, towards 1 beyond.

    Parameters
    ----------
    dissimilarities : array-like
        d, not negative.
    scale : float
        δ0, positive.

    Examples
    --------
    >>> from credalis.dissimilarity import transform
    >>> transform([0, 1, 2], scale=2).round(4)
    array([0.    , 0.5271, 0.95  ])
    """
    return -np.expm1(-decay_rate(scale) * np.square(np.asarray(dissimilarities, float)))


def check_dissimilarities(
    D: ArrayLike, *, symmetrize: bool = False, name: str = "X"
) -> NDArray[np.float64]:
    """A square, finite, non-negative, symmetric matrix with zero diagonal.

    Parameters
    ----------
    D : array-like of shape (n_samples, n_samples)
        Dissimilarities.
    symmetrize : bool, default=False
        Replace an asymmetric matrix by (D + Dᵀ) / 2 instead of refusing it.
    name : str, default="X"
        What the matrix is called in messages.
    """
    check_flag("symmetrize", symmetrize)
    matrix = check_array(D, dtype=np.float64, input_name=name, ensure_min_samples=2)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} must be a square matrix of dissimilarities, got shape "
            f"{matrix.shape}"
        )
    if matrix.min() < 0:
        raise ValueError(
            f"{name} must hold no negative dissimilarities, the smallest is "
            f"{matrix.min():.3g}"
        )
    if np.diagonal(matrix).any():
        raise ValueError(
            f"{name} must have a zero diagonal, the largest entry on it is "
            f"{np.diagonal(matrix).max():.3g}"
        )
    gap = _largest_asymmetry(matrix)
    if gap == 0:
        return matrix
    if gap > _SYMMETRY_TOLERANCE * matrix.max() and not symmetrize:
        raise ValueError(
            f"{name} must be symmetric, entries differ from their mirror image by up "
            f"to {gap:.3g} (the largest entry is {matrix.max():.3g}): pass "
            "symmetrize=True to use the mean of both"
        )
    mean = matrix + matrix.T
    mean /= 2
    return mean


def _largest_asymmetry(matrix: NDArray[np.float64]) -> float:
    """The largest |d_ij - d_ji|, some rows at a time: a second matrix may not fit."""
    starts = range(0, len(matrix), _ROWS)
    blocks = [slice(start, start + _ROWS) for start in starts]
    return max(float(np.abs(matrix[b] - matrix[:, b].T).max()) for b in blocks)


def sample_pairs(
    n_samples: int, n_partners: int, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each object i a random set J(i) of other objects, without repetition.

    Returns
    -------
    rows, columns : array of int, shape (n_samples * n_partners,)
    """
    if n_partners > n_samples - 1:
        raise ValueError(
            f"pairs_per_sample must be <= n_samples - 1 = {n_samples - 1}, "
            f"got {n_partners}"
        )
    columns = np.empty((n_samples, n_partners), dtype=np.intp)
    # The legacy generator would shuffle all objects to draw the partners of one.
    generator = np.random.default_rng(rng.randint(2**31, size=4))
    for i in range(n_samples):
        partners = generator.choice(
            n_samples - 1, n_partners, replace=False, shuffle=False
        )
        columns[i] = partners + (partners >= i)
    rows = np.repeat(np.arange(n_samples), n_partners)
    return rows, columns.ravel()
