"""KFDA: features from labels that are not linear."""

import numpy as np
from numpy.typing import ArrayLike

from credalis import _archive
from credalis._checks import check_number
from credalis.metric_learning._base import Components, Matrix
from credalis.metric_learning._information import class_numbers
from credalis.metric_learning._kernel import (
    Gamma,
    Kernel,
    KernelLearner,
    kernel_components,
)
from credalis.metric_learning._scatter import discriminant_directions, scatters


class KFDA(KernelLearner):
    """Kernel Fisher discriminant analysis: curved features that tell classes apart.

    `FDA` in the space of a kernel: the labelled objects are described by all principal
    components of their centred kernel matrix, and the directions t solve

        max_t tᵀ S_b t / tᵀ (S_w + ε I) t

    there. Only the labelled objects are kept; the best directions are combinations of
    them whatever other objects there are.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of features, at most the number of classes minus one, which "auto" takes.
    kernel : str or callable, default="rbf"
        A kernel of scikit-learn's ``pairwise_kernels``, or a function of two rows.
    gamma : "scale", "median" or float, default="scale"
        Inverse width of the kernels "rbf", "laplacian", "chi2", "polynomial" and
        "sigmoid". "scale" is 1 / (n_features · variance of X), "median" is
        1 / (2 · median squared distance), wider.
    degree, coef0 : int, default=3; float, default=1.0
        Parameters of the kernels "polynomial" and "sigmoid".
    regularization : float, default=0.1
        ε relative to the mean variance of the components within classes.

    Attributes
    ----------
    support_ : array of shape (n_support, n_features)
        The labelled objects.
    dual_coef_ : array of shape (n_support, n_components_)
        Weights of their kernel values in the features, the best feature first.
    offset_ : array of shape (n_components_,)
        Mean over the support, which is taken off the features.
    eigenvalues_ : array of shape (n_components_,)
        What the directions reach.
    gamma_ : float
        Inverse width that was used.
    n_components_ : int
        Number of features.
    n_features_in_ : int
        Number of features seen during fit.

    References
    ----------
    J. Yang, Z. Jin, J.-Y. Yang, D. Zhang and A. F. Frangi (2004), Essence of kernel
    Fisher discriminant: KPCA plus LDA, Pattern Recognition 37(10), 2097-2100.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.datasets import make_circles_in_ring
    >>> from credalis.metric_learning import KFDA
    >>> X, y = make_circles_in_ring(random_state=0)
    >>> labels = np.full(len(y), -1)
    >>> labels[::10] = y[::10]
    >>> z = KFDA().fit(X, labels).transform(X)
    >>> bool(abs(z[y == 0].mean() - z[y == 1].mean()) > 3 * z[y == 0].std())
    True
    """

    _schema = KernelLearner._schema.extended(
        {"eigenvalues_": _archive.Array("f", ("n_components",))}
    )

    _needs_labels = True

    def __init__(
        self,
        n_components: Components = "auto",
        *,
        kernel: Kernel = "rbf",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        regularization: float = 0.1,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.regularization = regularization

    def _learn(
        self,
        X: Matrix,
        y: ArrayLike | None,
        must_link: ArrayLike | None,
        cannot_link: ArrayLike | None,
    ) -> None:
        classes = class_numbers("KFDA", y, must_link, cannot_link, len(X))
        ridge = check_number("regularization", self.regularization, at_least=0)
        labelled = np.flatnonzero(classes >= 0)
        kernel = self._start_kernel(X, labelled)
        means = kernel.mean(axis=0)
        centered = kernel - means - means[:, None] + means.mean()
        coordinates, coefficients = kernel_components(centered, np.abs(kernel).max())
        largest = min(len(np.unique(classes[labelled])) - 1, coordinates.shape[1])
        n_components = self._count(largest, largest)
        self.eigenvalues_, directions = discriminant_directions(
            *scatters(coordinates, classes[labelled]), n_components, ridge
        )
        # The coefficients of a direction sum to 0: they need no centred kernel values.
        self._store(coefficients @ directions.T, means)
