"""Learners whose features are weighted sums of a kernel with some objects."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels

from credalis import _archive
from credalis._checks import check_choice, check_integer, check_number, naming
from credalis.metric_learning._base import MetricLearner, signs

Matrix = NDArray[np.float64]

Kernel = str | Callable[[Matrix, Matrix], float]
Gamma = float | Literal["scale", "median"]

# Directions with less than this share of the largest variance are rounding.
_SMALLEST_SHARE = 1e-9
# Numbers of kernel values computed at a time.
_BLOCK_SIZE = 2**22
# Objects whose distances give the median.
_MAX_SAMPLE = 2000


class KernelLearner(MetricLearner):
    """Base of the learners whose features are z = Σ_s a_s k(x_s, x) - offset.

    A subclass has the parameters kernel, gamma, degree and coef0.
    """

    _schema = replace(
        MetricLearner._schema.extended(
            {
                "gamma_": _archive.Number(above=0),
                "support_": _archive.Array("f", ("n_support", "n_features")),
                "dual_coef_": _archive.Array("f", ("n_support", "n_components")),
                "offset_": _archive.Array("f", ("n_components",)),
            }
        ),
        parameters={
            "kernel": _archive.Choice(*sorted(kernel_metrics())),
            "degree": _archive.Integer(at_least=1),
            "coef0": _archive.Number(),
        },
    )

    def _features(self, X: Matrix) -> Matrix:
        features = np.empty((len(X), self.n_components_))
        n_rows = max(1, _BLOCK_SIZE // len(self.support_))
        for start in range(0, len(X), n_rows):
            rows = slice(start, start + n_rows)
            features[rows] = self._kernel(X[rows]) @ self.dual_coef_
        return features - self.offset_

    def _kernel(self, X: Matrix) -> Matrix:
        """Kernel values (n_samples, n_support) of objects with the support."""
        # What is not finite is refused in the fit, and has no features later.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return pairwise_kernels(
                X,
                self.support_,
                metric=self.kernel,
                filter_params=not callable(self.kernel),
                **self._kernel_parameters(),
            )

    def _kernel_parameters(self) -> dict[str, Any]:
        if callable(self.kernel):
            return {}
        return {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}

    def _start_kernel(self, X: Matrix, support: NDArray[np.intp]) -> Matrix:
        """Set the support and gamma; kernel values (n_support, n_support)."""
        if callable(self.kernel):
            with naming("kernel"):
                float(self.kernel(X[0], X[0]))
        else:
            check_choice("kernel", self.kernel, sorted(kernel_metrics()))
        check_integer("degree", self.degree, at_least=1)
        check_number("coef0", self.coef0)
        self.gamma_ = kernel_gamma(X, self.gamma)
        self.support_ = X[support]
        kernel = self._kernel(self.support_)
        if not np.isfinite(kernel).all():
            raise ValueError(
                f"kernel must give finite values, got {kernel[~np.isfinite(kernel)][0]}"
            )
        return kernel

    def _store(self, coefficients: Matrix, center: Matrix) -> None:
        """Set coefficients (n_support, n_components) and where the features are 0.

        ``center`` (n_support,) holds the kernel values of that place. The largest
        coefficient of each feature is made positive.
        """
        self.dual_coef_ = coefficients * signs(coefficients.T).T
        self.offset_ = center @ self.dual_coef_
        self.n_components_ = coefficients.shape[1]


def kernel_gamma(X: Matrix, gamma: Gamma) -> float:
    """The number that a parameter gamma stands for.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Data.
    gamma : "scale", "median" or float
        "scale" is 1 / (n_features · variance of all entries), as in scikit-learn's SVC;
        "median" is 1 / (2 · median squared distance), taken over at most 2000 objects.

    Returns
    -------
    float
        1 if the objects do not differ.
    """
    if not isinstance(gamma, str):
        return check_number("gamma", gamma, above=0)
    check_choice("gamma", gamma, ("scale", "median"))
    if gamma == "scale":
        square = X.shape[1] * X.var()
    else:
        # Rows spread evenly: the same data give the same number without a seed.
        rows = np.linspace(0, len(X) - 1, min(len(X), _MAX_SAMPLE)).astype(int)
        distances = pdist(X[rows], "sqeuclidean")
        square = 2 * np.median(distances[distances > 0]) if distances.any() else 0.0
    return float(1.0 / square) if square > 0 else 1.0


def kernel_components(kernel: Matrix, unit: float) -> tuple[Matrix, Matrix]:
    """Coordinates of the objects in the space of a kernel, by principal directions.

    For K = U Λ Uᵀ these are Z = U Λ^(1/2), with Z Zᵀ = K, and B = U Λ^(-1/2), with
    which the coordinates of a new object follow from its kernel values.

    Parameters
    ----------
    kernel : array of shape (n_samples, n_samples)
        Kernel values, positive semi-definite; negative eigenvalues are left out.
    unit : float
        Size of the kernel values, beside which rounding is told from difference.

    Returns
    -------
    coordinates : array of shape (n_samples, n_directions)
        Z.
    coefficients : array of shape (n_samples, n_directions)
        B, with Z = K B.
    """
    values, vectors = eigh(kernel)
    if not values[-1] > len(kernel) * np.finfo(float).eps * unit:
        raise ValueError(
            "X must hold labelled or linked rows that the kernel tells apart, got a "
            "kernel matrix without positive eigenvalues"
        )
    kept = values > _SMALLEST_SHARE * values[-1]
    roots, vectors = np.sqrt(values[kept][::-1]), vectors[:, kept][:, ::-1]
    return vectors * roots, vectors / roots
