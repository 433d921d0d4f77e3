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
    >>> from credalis.cluster.prototypes._cecm_qp import separable_simplex_qp
    >>> separable_simplex_qp(np.array([[1.0, 1, 2]]), np.array([[0.0, 1, -1]]))
    array([[0.5, 0. , 0.5]])
    """
    order = np.argsort(linear, axis=1, kind="stable")
    b = np.take_along_axis(linear, order, axis=1)
    inverse = 0.5 / np.maximum(np.take_along_axis(quadratic, order, axis=1), _SMALLEST)
    # ν_k > b_k says Σ_{l < k} (b_k - b_l) / (2 a_l) < 1; summed up from differences of
    # neighbours, which are all positive, it costs no digits.
    steps = np.diff(b, axis=1) * np.cumsum(inverse, axis=1)[:, :-1]
    is_active = np.ones(b.shape, dtype=bool)
    is_active[:, 1:] = np.cumsum(steps, axis=1) < 1
    inverse = np.where(is_active, inverse, 0.0)
    # A column that costs almost nothing takes what the others leave: its own formula
    # would be a tiny difference times a huge number.
    rows, pivot = np.arange(len(b)), inverse.argmax(axis=1)
    b = b - b[rows, pivot][:, None]
    level = (1 + (b * inverse).sum(axis=1)) / inverse.sum(axis=1)
    masses = np.maximum((level[:, None] - b) * inverse, 0.0)
    masses[rows, pivot] = 0.0
    masses[rows, pivot] = np.maximum(1 - masses.sum(axis=1), 0.0)
    masses /= masses.sum(axis=1, keepdims=True)
    result = np.empty_like(masses)
    np.put_along_axis(result, order, masses, axis=1)
    return result
