"""Concave functions of quadratic forms on the matrices of trace 1."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh

from credalis.optimize._loop import minimize_lbfgs

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
ConcaveFunction = Callable[[Vector], tuple[float, Vector]]


@dataclass(frozen=True, eq=False)
class SpectraplexSolution:
    """A matrix, and how good it is.

    Attributes
    ----------
    matrix : array of shape (n_features, n_features)
        S.
    factor : array of shape (n_features, n_features)
        B with S = BᵀB; a start for a similar problem.
    value : float
        φ(q).
    gap : float
        No feasible matrix has a value above ``value + gap``.
    n_iter : int
        Number of iterations.
    converged : bool
        Whether the search ended by itself, or the gap is small.
    """

    matrix: Matrix
    factor: Matrix
    value: float
    gap: float
    n_iter: int
    converged: bool


def maximize_on_spectraplex(
    vectors: Matrix,
    function: ConcaveFunction,
    *,
    start: Matrix | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> SpectraplexSolution:
    """Maximise φ(q), q_t = u_tᵀ S u_t, over matrices S ⪰ 0 of trace 1.

    φ is concave. The search is L-BFGS in a square factor B of S = BᵀB / ‖B‖², where
    every local maximum is a global one, and it is certified: with G = Σ_t c_t u_t u_tᵀ
    and c = ∇φ, concavity gives max φ ≤ φ(q) + λ_max(G) - ⟨G, S⟩.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        The u_t.
    function : callable
        Takes q of shape (n_vectors,), returns φ and its gradient c.
    start : array of shape (n_features, n_features), default=None
        First B, of full rank; None stands for the identity.
    tol : float, default=1e-8
        Relative increase of φ below which the search ends; a relative gap below its
        root counts as an end, too.
    max_iter : int, default=1000
        Largest number of iterations.

    Returns
    -------
    SpectraplexSolution

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.optimize import maximize_on_spectraplex
    >>> def sum_of_roots(q):
    ...     return np.sqrt(q).sum(), 0.5 / np.sqrt(q)
    >>> solution = maximize_on_spectraplex(np.diag([1.0, 2.0]), sum_of_roots)
    >>> solution.matrix.round(3).tolist()
    [[0.2, 0.0], [0.0, 0.8]]
    """
    n_features = vectors.shape[1]
    shape = (n_features, n_features)

    def negative(parameters: Vector) -> tuple[float, Vector]:
        B = parameters.reshape(shape)
        size = float(parameters @ parameters)
        images = vectors @ B.T
        forms = (images**2).sum(axis=1) / size
        value, slopes = function(forms)
        # q changes with B by (2/‖B‖²) (B u uᵀ - q B).
        ascent = (slopes[:, None] * images).T @ vectors - (slopes @ forms) * B
        return -value, (-2.0 / size) * ascent.ravel()

    first = np.eye(n_features) if start is None else start
    trace = minimize_lbfgs(negative, first.ravel(), tol=tol, max_iter=max_iter)
    B = trace.state.reshape(shape) / np.linalg.norm(trace.state)
    forms = ((vectors @ B.T) ** 2).sum(axis=1)
    value, slopes = function(forms)
    G = (slopes[:, None] * vectors).T @ vectors
    largest = eigvalsh(G)[-1]
    gap = max(float(largest - slopes @ forms), 0.0)
    # Where φ is sharply bent the line search may fail at the top: the gap knows.
    converged = trace.converged or gap <= math.sqrt(tol) * abs(value)
    return SpectraplexSolution(B.T @ B, B, float(value), gap, trace.n_iter, converged)
