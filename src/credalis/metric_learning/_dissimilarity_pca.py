"""Attributes for objects that are known by their dissimilarities only."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from credalis import _archive
from credalis._checks import check_squarable, naming
from credalis._refusals import refuses_by_name, takes_any_number
from credalis._threads import one_thread
from credalis.dissimilarity import check_dissimilarities
from credalis.metric_learning._base import Components, FeatureLearner, signs
from credalis.metric_learning._scatter import largest_eigenpairs

# "auto" keeps the components that hold this share of the variance, within bounds.
_AUTO_SHARE = 0.9
_AUTO_MIN, _AUTO_MAX = 2, 20


class DissimilarityPCA(FeatureLearner):
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

    _schema = FeatureLearner._schema.extended(
        {
            "mean_": _archive.Array("f", ("n_features",)),
            "components_": _archive.Array("f", ("n_components", "n_features")),
            "scale_": _archive.Array("f", ("n_components",), above=0),
        }
    )

    def __init__(
        self, n_components: Components = "auto", *, symmetrize: bool = False
    ) -> None:
        self.n_components = n_components
        self.symmetrize = symmetrize

    @refuses_by_name
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
        with naming("X"):
            data: NDArray[np.float64] = validate_data(
                self, X, dtype=np.float64, ensure_min_samples=2
            )
        with one_thread():
            self._learn(data)
        return self

    def _learn(self, X: NDArray[np.float64]) -> None:
        """Set the fitted attributes."""
        D = check_dissimilarities(X, symmetrize=self.symmetrize)
        if D.any():
            check_squarable("the largest entry of X", float(D.max()))
        self.mean_ = D.mean(axis=0)
        centered = D - self.mean_
        # In units of the largest entry, so that no square over- or underflows.
        unit = np.abs(centered).max() or 1.0
        scatter = (centered / unit).T @ (centered / unit)
        n_components = self._count(len(D), min(_AUTO_MAX, len(D)))
        values, directions = largest_eigenpairs(scatter, n_components)
        values = np.maximum(values, 0.0)
        if isinstance(self.n_components, str):
            wanted = _AUTO_SHARE * np.trace(scatter)
            enough = int(np.searchsorted(np.cumsum(values), wanted)) + 1
            n_components = min(max(enough, _AUTO_MIN), len(values))
        values, directions = values[:n_components], directions[:n_components]
        # A direction without variance is rounding, which its deviation would blow up.
        varies = values > len(D) * np.finfo(float).eps * values[0]
        self.components_ = directions * signs(directions) * varies[:, None]
        deviation = unit * np.sqrt(values / (len(D) - 1))
        self.scale_ = np.where(varies, deviation, 1.0)
        self.n_components_ = n_components

    @takes_any_number
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
        with naming("X"):
            X = validate_data(self, X, dtype=np.float64, reset=False)
        # Far from all, scores may be infinite.
        with one_thread():
            return (X - self.mean_) @ self.components_.T / self.scale_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags
