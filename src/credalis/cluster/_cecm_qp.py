"""The quadratic problem on the simplex that CECM solves for each object."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Stands for a quadratic cost of zero; its inverse times any sensible cost is finite.
_SMALLEST = 1e-150


def separable_simplex_qp(quadratic: Array, linear: Array) -> Array:
    """Minimise Σ_j a_j m_j² + b_j m_j over m ≥ 0, Σ_j m_j = 1, for many rows at once.

    The solution is m_j = max(0, (ν - b_j) / (2 a_j)). With b in increasing order, ν is
    the last of

        ν_k = (1 + Σ_{l ≤ k} b_l / (2 a_l)) / Σ_{l ≤ k} 1 / (2 a_l)

    that is above b_k.

    Parameters
    ----------
    quadratic : array of shape (n_rows, n_columns)
        a_j ≥ 0.
    linear : array of shape (n_rows, n_columns)
        b_j.

    Returns
    -------
    array of shape (n_rows, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.cluster._cecm_qp import separable_simplex_qp
    >>> separable_simplex_qp(np.array([[1.0, 1, 2]]), np.array([[0.0, 1, -1]]))
    array([[0.5, 0. , 0.5]])
    """
    order = np.argsort(linear, axis=1, kind="stable")
    b = np.take_along_axis(linear, order, axis=1)
    inverse = 0.5 / np.maximum(np.take_along_axis(quadratic, order, axis=1), _SMALLEST)
    n_rows, n_columns = b.shape
    total = np.cumsum(inverse, axis=1)
    # Differences from the first b, so that a common shift of all b costs no digits.
    b = b - b[:, :1]
    levels = (1 + np.cumsum(b * inverse, axis=1)) / total
    n_active = n_columns - np.argmax((levels > b)[:, ::-1], axis=1)
    rows = np.arange(n_rows)
    is_active = np.arange(n_columns) < n_active[:, None]
    # A column that costs almost nothing takes what the others leave: its own formula
    # would be a tiny difference times a huge number.
    pivot = np.where(is_active, inverse, -1.0).argmax(axis=1)
    relative = b - b[rows, pivot][:, None]
    level = 1 + (np.where(is_active, relative, 0.0) * inverse).sum(axis=1)
    level /= total[rows, n_active - 1]
    masses = np.where(is_active, (level[:, None] - relative) * inverse, 0.0)
    np.maximum(masses, 0.0, out=masses)
    masses[rows, pivot] = 0.0
    masses[rows, pivot] = np.maximum(1 - masses.sum(axis=1), 0.0)
    masses /= masses.sum(axis=1, keepdims=True)
    result = np.empty_like(masses)
    np.put_along_axis(result, order, masses, axis=1)
    return result
