"""Attributes for objects that are known by their dissimilarities only."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from credalis._checks import check_choice, check_integer
from credalis.dissimilarity import check_dissimilarities

# "auto" keeps the components that hold this share of the variance, within bounds.
_AUTO_SHARE = 0.9
_AUTO_MIN, _AUTO_MAX = 2, 20


class DissimilarityPCA(TransformerMixin, BaseEstimator):
    """Standardised principal components of the rows of a dissimilarity matrix.

    The row of an object holds its dissimilarities to all training objects and serves
    as its vector of attributes. The columns are centred, projected on the leading
    principal directions, and the scores divided by their standard deviation. A new
    object needs its dissimilarities to the training objects only.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components; "auto" takes as many as hold 90 % of the variance, at
        least 2 and at most 20.
    symmetrize : bool, default=False
        Replace an asymmetric matrix by the mean of it and its transpose instead of
        refusing it.

    Attributes
    ----------
    mean_ : array of shape (n_train,)
        Means of the columns.
    components_ : array of shape (n_components_, n_train)
        Principal directions; zero for a component without variance.
    scale_ : array of shape (n_components_,)
        Standard deviations of the scores; 1 for a component without variance.
    n_components_ : int
        Number of components.
    n_features_in_ : int
        Number of training objects.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.metric_learning import DissimilarityPCA
    >>> D = np.array([[0, 1, 4, 5], [1, 0, 3, 4], [4, 3, 0, 1], [5, 4, 1, 0]])
    >>> DissimilarityPCA(n_components=2).fit_transform(D).shape
    (4, 2)
    """

    def __init__(
        self, n_components: int | Literal["auto"] = "auto", *, symmetrize: bool = False
    ) -> None:
        self.n_components = n_components
        self.symmetrize = symmetrize

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the components of a square matrix of dissimilarities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_samples)
            Dissimilarities: symmetric, not negative, zero on the diagonal.
        y : ignored
            Present for compatibility with pipelines.

        Returns
        -------
        self
        """
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        D = check_dissimilarities(X, symmetrize=self.symmetrize)
        self.mean_ = D.mean(axis=0)
        centered = D - self.mean_
        # In units of the largest entry, so that no square over- or underflows.
        unit = np.abs(centered).max() or 1.0
        scatter = (centered / unit).T @ (centered / unit)
        n_candidates = self._n_candidates(len(D))
        values, vectors = eigh(
            scatter, subset_by_index=[len(D) - n_candidates, len(D) - 1]
        )
        values, directions = np.maximum(values[::-1], 0.0), vectors.T[::-1]
        n_components = self._count(values, np.trace(scatter), n_candidates)
        values, directions = values[:n_components], directions[:n_components]
        # Signs are arbitrary: the largest entry of each direction is made positive.
        largest = np.abs(directions).argmax(axis=1)
        signs = np.sign(directions[np.arange(n_components), largest])
        # A direction without variance is rounding, which its deviation would blow up.
        varies = values > len(D) * np.finfo(float).eps * values[0]
        self.components_ = directions * (signs * varies)[:, None]
        deviation = unit * np.sqrt(values / (len(D) - 1))
        self.scale_ = np.where(varies, deviation, 1.0)
        self.n_components_ = n_components
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scores of objects given by their dissimilarities to the training objects.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_train)
            Dissimilarities.

        Returns
        -------
        array of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return (X - self.mean_) @ self.components_.T / self.scale_

    def _n_candidates(self, n_samples: int) -> int:
        if isinstance(self.n_components, str):
            check_choice("n_components", self.n_components, ("auto",))
            return min(_AUTO_MAX, n_samples)
        return check_integer(
            "n_components", self.n_components, at_least=1, at_most=n_samples
        )

    def _count(
        self, variances: NDArray[np.float64], total: float, n_candidates: int
    ) -> int:
        if not isinstance(self.n_components, str):
            return n_candidates
        enough = int(np.searchsorted(np.cumsum(variances), _AUTO_SHARE * total)) + 1
        return min(max(enough, _AUTO_MIN), len(variances))

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[np.object_]:
        """Names of the components."""
        check_is_fitted(self)
        names = [f"dissimilaritypca{k}" for k in range(self.n_components_)]
        return np.array(names, dtype=object)

    def to_state(self) -> dict[str, Any]:
        """Parameters and fitted attributes."""
        fitted = {name: value for name, value in vars(self).items() if name[-1] == "_"}
        return {"parameters": self.get_params(), "fitted": fitted}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Inverse of `to_state`."""
        transformer = cls(**state["parameters"])
        for name, value in state["fitted"].items():
            setattr(transformer, name, value)
        return transformer

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags
