"""LSI and DML-eig: matrices of a distance from pairs, by convex problems."""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from credalis import _archive
from credalis._checks import check_integer, check_number
from credalis._warnings import warn_user
from credalis.metric_learning._base import Components, LinearLearner
from credalis.metric_learning._information import links
from credalis.optimize import SpectraplexSolution, maximize_on_spectraplex

Matrix = NDArray[np.float64]

# Below this share of the largest eigenvalue, a matrix is singular to rounding.
_SMALLEST_RIDGE = 1e-12
# The first smoothing of the minimum; each is the start for one ten times smaller.
_FIRST_SMOOTHING = 0.1
# A relative gap that needs no warning, however the last search ended.
_ACCEPTED_GAP = 0.01


class MahalanobisLearner(LinearLearner):
    """Base of the learners of a matrix A with ‖x‖²_A = xᵀ A x.

    With W the mean of (x_i - x_j)(x_i - x_j)ᵀ over must-links, plus a ridge, these have
    a mean squared length of at most 1 if and only if S = W^(1/2) A W^(1/2) has a trace
    of at most 1, and the lengths of cannot-links are quadratic forms of S. A subclass
    maximises a concave function of these (`_maximize`).
    """

    _schema = LinearLearner._schema.extended(
        {
            "matrix_": _archive.Array("f", ("n_features", "n_features")),
            "objective_": _archive.Number(),
            "gap_": _archive.Number(),
            "n_iter_": _archive.Integer(at_least=0),
        }
    )

    @abstractmethod
    def _maximize(self, vectors: Matrix) -> SpectraplexSolution:
        """Best S for the quadratic forms of ``vectors`` (n_pairs, n_features)."""

    def _learn(
        self,
        X: Matrix,
        y: ArrayLike | None,
        must_link: ArrayLike | None,
        cannot_link: ArrayLike | None,
    ) -> None:
        name = type(self).__name__
        ridge = check_number("regularization", self.regularization, at_least=0)
        check_number("tol", self.tol, at_least=0)
        check_integer("max_iter", self.max_iter, at_least=1)
        n_components = self._count(X.shape[1], X.shape[1])
        rng = check_random_state(self.random_state)
        must, cannot = links(name, y, must_link, cannot_link, len(X), rng)
        near = _differences("must_link", X, must)
        far = _differences("cannot_link", X, cannot)
        # In units of the longest pair, so that no square over- or underflows.
        unit = max(np.abs(near).max(), np.abs(far).max())
        root = inverse_root(near.T @ near / unit**2 / len(must), ridge)
        solution = self._maximize(far / unit @ root)
        self.matrix_ = root @ solution.matrix @ root / unit**2
        self.objective_, self.gap_ = solution.value, solution.gap
        self.n_iter_ = solution.n_iter
        self._store(X.mean(axis=0), factor(self.matrix_)[:n_components])
        if not solution.converged:
            warn_user(
                f"{name} did not converge in max_iter={self.max_iter} iterations: "
                "increase max_iter or tol",
                ConvergenceWarning,
            )


class LSI(MahalanobisLearner):
    """Learning with side information: a distance that spreads cannot-links.

    Finds the matrix A of a distance ‖x‖_A = (xᵀ A x)^(1/2) that solves the convex
    problem

        max_A  mean over cannot-links of ‖x_i - x_j‖_A
        s.t.   mean over must-links of ‖x_i - x_j‖²_A ≤ 1,  A ⪰ 0,

    the second mean with a ridge of ε tr(A) s² / n_features, s² being the mean squared
    Euclidean length of must-links. The answer is the best one up to the certified
    `gap_`. The features are z = L (x - mean) with A = LᵀL.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of features, those of largest weight in A; "auto" takes n_features, with
        which distances are exactly those of A.
    regularization : float, default=1e-3
        ε. Without it, directions in which no must-link extends would have no limit.
    max_iter : int, default=1000
        Largest number of iterations.
    tol : float, default=1e-8
        Relative increase below which the search ends.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of pairs if labels give more than 20 000.

    Attributes
    ----------
    matrix_ : array of shape (n_features, n_features)
        A.
    components_ : array of shape (n_components_, n_features)
        L: eigenvectors of A times the roots of their eigenvalues, the largest first.
    mean_ : array of shape (n_features,)
        Mean of the objects, where all features are 0.
    objective_ : float
        The mean length of cannot-links under A.
    gap_ : float
        No matrix does better by more than this.
    n_iter_ : int
        Number of iterations.
    n_components_ : int
        Number of features.
    n_features_in_ : int
        Number of features seen during fit.

    Notes
    -----
    Cannot-links between equal rows, which no distance can part, are left out.

    References
    ----------
    E. P. Xing, A. Y. Ng, M. I. Jordan and S. Russell (2003), Distance metric learning
    with application to clustering with side-information, NIPS 15, 521-528.

    Examples
    --------
    >>> from credalis.metric_learning import LSI
    >>> X = [[0, 0], [0, 4], [1, 1], [1, 5]]
    >>> lsi = LSI().fit(X, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 3)])
    >>> bool(lsi.matrix_[0, 0] > lsi.matrix_[1, 1])
    True
    """

    def __init__(
        self,
        n_components: Components = "auto",
        *,
        regularization: float = 1e-3,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _maximize(self, vectors: Matrix) -> SpectraplexSolution:
        return maximize_on_spectraplex(
            vectors, mean_root, tol=self.tol, max_iter=self.max_iter
        )


class DMLeig(MahalanobisLearner):
    """Metric learning by eigenvalue optimisation: no cannot-link stays short.

    Finds the matrix A of a distance ‖x‖_A = (xᵀ A x)^(1/2) that solves the convex
    problem

        max_A  min over cannot-links of ‖x_i - x_j‖²_A
        s.t.   mean over must-links of ‖x_i - x_j‖²_A ≤ 1,  A ⪰ 0,

    the mean with a ridge of ε tr(A) s² / n_features, s² being the mean squared
    Euclidean length of must-links. The minimum is replaced by the smooth
    -μ log((1/T) Σ_t exp(-q_t / μ)), with μ going down in steps. The answer is the best
    one up to the certified `gap_`. The features are z = L (x - mean) with A = LᵀL.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of features, those of largest weight in A; "auto" takes n_features, with
        which distances are exactly those of A.
    smoothing : float, default=1e-4
        Last μ, relative to the mean of the quadratic forms at A = W⁻¹ / n_features.
    regularization : float, default=1e-3
        ε. Without it, directions in which no must-link extends would have no limit.
    max_iter : int, default=1000
        Largest number of iterations for each μ.
    tol : float, default=1e-8
        Relative increase below which the search ends.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of pairs if labels give more than 20 000.

    Attributes
    ----------
    matrix_ : array of shape (n_features, n_features)
        A.
    components_ : array of shape (n_components_, n_features)
        L: eigenvectors of A times the roots of their eigenvalues, the largest first.
    mean_ : array of shape (n_features,)
        Mean of the objects, where all features are 0.
    objective_ : float
        The smallest squared length of a cannot-link under A.
    gap_ : float
        No matrix does better by more than this.
    n_iter_ : int
        Number of iterations.
    n_components_ : int
        Number of features.
    n_features_in_ : int
        Number of features seen during fit.

    Notes
    -----
    Cannot-links between equal rows, which no distance can part, are left out.

    References
    ----------
    Y. Ying and P. Li (2012), Distance metric learning with eigenvalue optimization,
    Journal of Machine Learning Research 13, 1-26.

    Examples
    --------
    >>> from credalis.metric_learning import DMLeig
    >>> X = [[0, 0], [0, 4], [1, 1], [1, 5]]
    >>> dml = DMLeig().fit(X, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (1, 3)])
    >>> bool(dml.matrix_[0, 0] > dml.matrix_[1, 1])
    True
    """

    def __init__(
        self,
        n_components: Components = "auto",
        *,
        smoothing: float = 1e-4,
        regularization: float = 1e-3,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.smoothing = smoothing
        self.regularization = regularization
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _maximize(self, vectors: Matrix) -> SpectraplexSolution:
        last = check_number("smoothing", self.smoothing, above=0)
        unit = (vectors**2).sum() / vectors.size
        n_smaller = max(0, math.ceil(math.log10(_FIRST_SMOOTHING / last)))
        smoothings = last * 10.0 ** np.arange(n_smaller, -1, -1)
        start, n_iter = None, 0
        for smoothing in smoothings:
            solution = maximize_on_spectraplex(
                vectors,
                smooth_minimum(smoothing * unit),
                start=start,
                tol=self.tol,
                max_iter=self.max_iter,
            )
            start = _full_rank(solution.factor)
            n_iter += solution.n_iter
        return _without_smoothing(solution, vectors, last * unit, n_iter)


def mean_root(forms: Matrix) -> tuple[float, Matrix]:
    """Mean of the roots of q (n_vectors,), and its gradient."""
    roots = np.sqrt(np.maximum(forms, np.finfo(float).tiny))
    return float(roots.mean()), 0.5 / (roots * len(roots))


def smooth_minimum(smoothing: float) -> Callable[[Matrix], tuple[float, Matrix]]:
    """The function -μ log((1/T) Σ_t exp(-q_t / μ)) of q, with its gradient.

    It is concave, lies above min q and no more than μ log T above it.
    """

    def function(forms: Matrix) -> tuple[float, Matrix]:
        weights = softmax(-forms / smoothing)
        least = forms.min()
        mean = np.exp((least - forms) / smoothing).mean()
        return float(least - smoothing * np.log(mean)), weights

    return function


def inverse_root(matrix: Matrix, ridge: float) -> Matrix:
    """(M + r I)^(-1/2), r being the ridge relative to the mean of the diagonal of M."""
    values, vectors = eigh(matrix)
    values = np.maximum(values, _SMALLEST_RIDGE * values[-1])
    values = values + ridge * values.mean()
    return vectors / np.sqrt(values) @ vectors.T


def factor(matrix: Matrix) -> Matrix:
    """L with LᵀL = M ⪰ 0, (n_features, n_features): orthogonal rows, longest first."""
    values, vectors = eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0.0))).T[::-1]


def _differences(name: str, X: Matrix, pairs: NDArray[np.intp]) -> Matrix:
    """x_i - x_j for pairs, (n_pairs, n_features); of cannot-links only those not 0."""
    differences = X[pairs[:, 0]] - X[pairs[:, 1]]
    if not differences.any():
        raise ValueError(
            f"{name} must hold pairs of different rows of X, got only pairs of equal "
            "ones"
        )
    return differences if name == "must_link" else differences[differences.any(axis=1)]


def _full_rank(B: Matrix) -> Matrix:
    """A factor near B from which every direction can be reached again."""
    return B + 1e-3 * np.eye(len(B)) / np.sqrt(len(B))


def _without_smoothing(
    solution: SpectraplexSolution, vectors: Matrix, smoothing: float, n_iter: int
) -> SpectraplexSolution:
    """The solution with the true minimum, and the gap from its dual.

    For any weights w, max_S min_t q_t ≤ λ_max(Σ_t w_t u_t u_tᵀ).
    """
    forms = ((vectors @ solution.factor.T) ** 2).sum(axis=1)
    _, weights = smooth_minimum(smoothing)(forms)
    bound = np.linalg.eigvalsh((weights[:, None] * vectors).T @ vectors)[-1]
    least = float(forms.min())
    gap = max(float(bound - least), 0.0)
    converged = solution.converged or gap <= _ACCEPTED_GAP * least
    return replace(solution, value=least, gap=gap, n_iter=n_iter, converged=converged)
