"""The loss of PCCA and KPCCA, its gradient, and its minimum over several starts."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.sparse import csr_array
from scipy.special import expit

from credalis._checks import check_integer, check_number
from credalis.optimize import GradientTrace, minimize_lbfgs

Matrix = NDArray[np.float64]
Pairs = NDArray[np.intp]

# Standard deviation of a random start, for pairs at a mean squared distance of 1.
_START = 0.1
# Pairs shorter than this, relative to the coordinates, are pairs of equal objects.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairSettings:
    """β and λ of the loss, number of starts, and when a descent ends."""

    beta: float
    regularization: float
    n_init: int
    tol: float
    max_iter: int

    @classmethod
    def of(cls, learner: Any) -> "PairSettings":
        """The parameters of a learner, checked."""
        return cls(
            check_number("beta", learner.beta, above=0),
            check_number("regularization", learner.regularization, at_least=0),
            check_integer("n_init", learner.n_init, at_least=1),
            check_number("tol", learner.tol, at_least=0),
            check_integer("max_iter", learner.max_iter, at_least=1),
        )


@dataclass(frozen=True, eq=False)
class PairLoss:
    """Must-links should be nearer than 1, cannot-links farther, in the space of L x.

    E(L) = (1/N) Σ_n ℓ(y_n (D²_n - 1)) + (λ/2) ‖L‖², with D_n = ‖L (x_i - x_j)‖ for pair
    n of N, y_n = 1 for a must-link and -1 for a cannot-link, and the smooth hinge
    ℓ(u) = log(1 + exp(β u)) / β.

    Parameters
    ----------
    points : array of shape (n_samples, n_features)
        The objects x.
    incidence : sparse array of shape (n_pairs, n_samples)
        1 and -1 at the ends of each pair.
    kinds : array of shape (n_pairs,)
        y.
    beta, regularization : float
        β and λ.
    """

    points: Matrix
    incidence: csr_array
    kinds: Matrix
    beta: float
    regularization: float

    @classmethod
    def of(
        cls,
        points: Matrix,
        must_link: Pairs,
        cannot_link: Pairs,
        beta: float,
        regularization: float,
    ) -> "PairLoss":
        """The loss for must-links and cannot-links, pairs of rows of ``points``."""
        pairs = np.concatenate([must_link, cannot_link])
        n_pairs = len(pairs)
        ends = (np.repeat(np.arange(n_pairs), 2).astype(np.int32), pairs.ravel())
        incidence = csr_array(
            (np.tile([1.0, -1.0], n_pairs), ends), shape=(n_pairs, len(points))
        )
        kinds = np.where(np.arange(n_pairs) < len(must_link), 1.0, -1.0)
        return cls(points, incidence, kinds, beta, regularization)

    def value_and_gradient(self, components: Matrix) -> tuple[float, Matrix]:
        """E and ∂E/∂L for L of shape (n_components, n_features).

        ∂E/∂L = (2/N) L Σ_n y_n σ(β y_n (D²_n - 1)) d_n d_nᵀ + λ L, d_n = x_i - x_j.
        """
        n_pairs = len(self.kinds)
        differences = self.incidence @ (self.points @ components.T)
        excess = self.kinds * ((differences**2).sum(axis=1) - 1.0)
        loss = np.logaddexp(0.0, self.beta * excess).sum() / (self.beta * n_pairs)
        slopes = self.kinds * expit(self.beta * excess)
        pulls = self.incidence.T @ (slopes[:, None] * differences)
        gradient = (2.0 / n_pairs) * pulls.T @ self.points
        penalty = 0.5 * self.regularization * np.vdot(components, components)
        return float(loss + penalty), gradient + self.regularization * components


def learn_components(
    points: Matrix,
    must_link: Pairs,
    cannot_link: Pairs,
    n_components: int,
    settings: PairSettings,
    seed: int,
) -> GradientTrace:
    """L with the smallest loss found from random starts.

    Parameters
    ----------
    points : array of shape (n_samples, n_features)
        Objects.
    must_link, cannot_link : array of int, shape (n_pairs, 2)
        Pairs of rows of ``points``.
    n_components : int
        Rows of L.
    settings : PairSettings
        β, λ and how long to search.
    seed : int
        Seed of the starts.

    Returns
    -------
    GradientTrace
        Its state is L of shape (n_components, n_features), turned so that its rows are
        orthogonal and get shorter: no distance changes by that.
    """
    # In units of the length of the pairs, so that starts and λ do not depend on units.
    ends = points[np.concatenate([must_link, cannot_link])]
    lengths = np.sqrt(((ends[:, 0] - ends[:, 1]) ** 2).sum(axis=1))
    longest = lengths.max()
    if longest <= _ROUNDING * np.abs(points).max():
        raise ValueError(
            "must_link and cannot_link must hold pairs of different rows of X, got "
            "only pairs of equal ones"
        )
    unit = longest * np.sqrt(np.mean((lengths / longest) ** 2))
    loss = PairLoss.of(
        points / unit, must_link, cannot_link, settings.beta, settings.regularization
    )
    shape = (n_components, points.shape[1])
    rng = np.random.RandomState(seed)

    def flat(parameters: Matrix) -> tuple[float, Matrix]:
        value, gradient = loss.value_and_gradient(parameters.reshape(shape))
        return value, gradient.ravel()

    traces = [
        minimize_lbfgs(
            flat,
            _START * rng.normal(size=shape).ravel(),
            tol=settings.tol,
            max_iter=settings.max_iter,
        )
        for _ in range(settings.n_init)
    ]
    best = min(traces, key=lambda trace: trace.loss)
    return replace(best, state=turned(best.state.reshape(shape)) / unit)


def turned(components: Matrix) -> Matrix:
    """R L with a rotation R such that the rows are orthogonal, the longest first."""
    _, lengths, directions = svd(components, full_matrices=False)
    result = np.zeros_like(components)
    result[: len(lengths)] = lengths[:, None] * directions
    return result
