"""PCCA and KPCCA: features from pairs."""

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from credalis._warnings import warn_user
from credalis.metric_learning._base import (
    DESCENT,
    Components,
    LinearLearner,
    Matrix,
)
from credalis.metric_learning._information import Pairs, links
from credalis.metric_learning._kernel import (
    Gamma,
    Kernel,
    KernelLearner,
    kernel_components,
)
from credalis.metric_learning._pair_loss import PairSettings, learn_components
from credalis.optimize import GradientTrace

# "auto" takes as many features as the published experiments, or all there are.
_AUTO_COMPONENTS = 5


class PCCA(LinearLearner):
    """Pairwise constrained component analysis: features in which pairs obey.

    Finds the matrix L of n_components rows that minimises

        E(L) = (1/N) Σ_n ℓ(y_n (D²_n - 1)) + (λ/2) s² ‖L‖²,
        D²_n = ‖L (x_i - x_j)‖²,  ℓ(u) = log(1 + exp(β u)) / β,

    over N pairs (i, j), with y = 1 for must-links, which should be nearer than 1, and
    y = -1 for cannot-links, which should be farther; s² is the mean squared length of
    the pairs, so that λ has no unit. E is not convex in L: of several random starts the
    best is kept. The features are z = L (x - mean).

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of features, at most n_features; "auto" is 5, or n_features if smaller.
    beta : float, default=1.0
        β, sharpness of the loss.
    regularization : float, default=0.0
        λ; raise it for few pairs of objects with many attributes.
    n_init : int, default=10
        Number of starts.
    max_iter : int, default=1000
        Largest number of iterations of one start.
    tol : float, default=1e-8
        Relative decrease of E below which a start ends.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts. The choice of pairs depends on it, too, if labels give more
        than 20 000.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        L, turned so that its rows are orthogonal and get shorter.
    mean_ : array of shape (n_features,)
        Mean of the objects, where all features are 0.
    loss_ : float
        E.
    history_ : array of shape (n_iter_,)
        E at the start and after each iteration of the best start.
    n_iter_ : int
        Length of `history_`.
    n_components_ : int
        Number of features.
    n_features_in_ : int
        Number of features seen during fit.

    See Also
    --------
    KPCCA : features that are not linear.
    LSI, DMLeig : convex problems about the same pairs.

    References
    ----------
    A. Mignon and F. Jurie (2012), PCCA: A new approach for distance learning from
    sparse pairwise constraints, CVPR, 2666-2672.

    Examples
    --------
    >>> from credalis.metric_learning import PCCA
    >>> X = [[0, 0], [0, 4], [1, 1], [1, 5]]
    >>> pcca = PCCA(n_components=1, random_state=0)
    >>> pcca.fit(X, must_link=[(0, 1)], cannot_link=[(0, 2), (1, 3)])
    PCCA(n_components=1, random_state=0)
    >>> bool(abs(pcca.components_[0, 0]) > abs(pcca.components_[0, 1]))
    True
    """

    _schema = LinearLearner._schema.extended(DESCENT)

    def __init__(
        self,
        n_components: Components = "auto",
        *,
        beta: float = 1.0,
        regularization: float = 0.0,
        n_init: int = 10,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.beta = beta
        self.regularization = regularization
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(
        self,
        X: Matrix,
        y: ArrayLike | None,
        must_link: ArrayLike | None,
        cannot_link: ArrayLike | None,
    ) -> None:
        settings = PairSettings.of(self)
        n_features = X.shape[1]
        n_components = self._count(n_features, min(_AUTO_COMPONENTS, n_features))
        rng = check_random_state(self.random_state)
        # Drawn first: the starts do not depend on how the pairs were given.
        seed = rng.randint(np.iinfo(np.int32).max)
        must, cannot = links("PCCA", y, must_link, cannot_link, len(X), rng)
        objects, must, cannot = _concerned(must, cannot)
        mean = X.mean(axis=0)
        trace = learn_components(
            X[objects] - mean, must, cannot, n_components, settings, seed
        )
        self._store(mean, trace.state)
        _keep_trace(self, trace)


class KPCCA(KernelLearner):
    """Kernel pairwise constrained component analysis: curved features from pairs.

    `PCCA` in the space of a kernel k, where L = A Φᵀ is a combination of the objects
    of the pairs:

        D²_n = ‖A (k_i - k_j)‖²,  z(x) = A k(x) - offset,

    k(x) being the kernel values of x with these objects, which alone are kept. The
    penalty is the norm (λ/2) s² tr(A K Aᵀ). The search runs along the principal
    directions of the kernel, in which a gradient step is that of A multiplied by K⁻¹.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of features; "auto" is 5, or the number of objects in pairs minus one if
        smaller.
    kernel : str or callable, default="rbf"
        A kernel of scikit-learn's ``pairwise_kernels``, or a function of two rows.
    gamma : "scale", "median" or float, default="scale"
        Inverse width of the kernels "rbf", "laplacian", "chi2", "polynomial" and
        "sigmoid". "scale" is 1 / (n_features · variance of X), "median" is
        1 / (2 · median squared distance), wider.
    degree, coef0 : int, default=3; float, default=1.0
        Parameters of the kernels "polynomial" and "sigmoid".
    beta : float, default=1.0
        β, sharpness of the loss.
    regularization : float, default=1e-3
        λ. Without it the features fit any pairs, and say little about other objects.
    n_init : int, default=10
        Number of starts.
    max_iter : int, default=1000
        Largest number of iterations of one start.
    tol : float, default=1e-8
        Relative decrease of E below which a start ends.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts. The choice of pairs depends on it, too, if labels give more
        than 20 000.

    Attributes
    ----------
    support_ : array of shape (n_support, n_features)
        The objects of the pairs.
    dual_coef_ : array of shape (n_support, n_components_)
        Aᵀ, turned so that features are orthogonal in the space of the kernel.
    offset_ : array of shape (n_components_,)
        Mean over the support, which is taken off the features.
    gamma_ : float
        Inverse width that was used.
    loss_, history_, n_iter_ : float, array of shape (n_iter_,), int
        As in `PCCA`.
    n_components_ : int
        Number of features.
    n_features_in_ : int
        Number of features seen during fit.

    References
    ----------
    A. Mignon and F. Jurie (2012), PCCA: A new approach for distance learning from
    sparse pairwise constraints, CVPR, 2666-2672.

    Examples
    --------
    >>> from credalis.constraints import random_pairs
    >>> from credalis.datasets import make_circles_in_ring
    >>> from credalis.metric_learning import KPCCA
    >>> X, y = make_circles_in_ring(random_state=0)
    >>> must_link, cannot_link = random_pairs(y, 50, random_state=0)
    >>> kpcca = KPCCA(n_components=1, gamma="median", random_state=0)
    >>> z = kpcca.fit(X, must_link=must_link, cannot_link=cannot_link).transform(X)
    >>> bool(abs(z[y == 0].mean() - z[y == 1].mean()) > 3 * z[y == 0].std())
    True
    """

    _schema = KernelLearner._schema.extended(DESCENT)

    def __init__(
        self,
        n_components: Components = "auto",
        *,
        kernel: Kernel = "rbf",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        beta: float = 1.0,
        regularization: float = 1e-3,
        n_init: int = 10,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.beta = beta
        self.regularization = regularization
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(
        self,
        X: Matrix,
        y: ArrayLike | None,
        must_link: ArrayLike | None,
        cannot_link: ArrayLike | None,
    ) -> None:
        settings = PairSettings.of(self)
        rng = check_random_state(self.random_state)
        # Drawn first: the starts do not depend on how the pairs were given.
        seed = rng.randint(np.iinfo(np.int32).max)
        must, cannot = links("KPCCA", y, must_link, cannot_link, len(X), rng)
        objects, must, cannot = _concerned(must, cannot)
        largest = len(objects) - 1
        n_components = self._count(largest, min(_AUTO_COMPONENTS, largest))
        kernel = self._start_kernel(X, objects)
        coordinates, coefficients = kernel_components(kernel, np.abs(kernel).max())
        trace = learn_components(
            coordinates, must, cannot, n_components, settings, seed
        )
        self._store(coefficients @ trace.state.T, kernel.mean(axis=0))
        _keep_trace(self, trace)


def _concerned(must: Pairs, cannot: Pairs) -> tuple[NDArray[np.intp], Pairs, Pairs]:
    """The objects of pairs, and the pairs by position among them."""
    objects, positions = np.unique(np.concatenate([must, cannot]), return_inverse=True)
    positions = positions.reshape(-1, 2)
    return objects, positions[: len(must)], positions[len(must) :]


def _keep_trace(learner: PCCA | KPCCA, trace: GradientTrace) -> None:
    """Set how the descent went, and warn if it did not end."""
    learner.loss_ = trace.loss
    learner.history_ = trace.losses
    learner.n_iter_ = trace.n_iter
    if trace.interrupted:
        raise KeyboardInterrupt
    if not trace.converged:
        warn_user(
            f"{type(learner).__name__} did not converge in max_iter="
            f"{learner.max_iter} iterations: increase max_iter or tol",
            ConvergenceWarning,
        )
