"""What all learners of metrics share: validation, features, files."""

from abc import ABCMeta, abstractmethod
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_integer,
    check_seed,
    check_spread,
    check_widths,
    naming,
)
from credalis._control import fitting
from credalis._refusals import refuses_by_name, takes_any_number
from credalis._threads import one_thread

Matrix = NDArray[np.float64]
Components = int | Literal["auto"]


class FeatureLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What all transformers of this package share: their number of features, files."""

    _schema: ClassVar[_archive.Fitted] = _archive.Fitted(
        _archive.Fields(
            {
                "n_features_in_": _archive.Integer(at_least=1, size="n_features"),
                "n_components_": _archive.Integer(at_least=1, size="n_components"),
            },
            {"feature_names_in_": _archive.Array("U", ("n_features",))},
        )
    )

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _count(self, largest: int, automatic: int) -> int:
        """Number of features: that given, at most the largest, or the automatic one."""
        if isinstance(self.n_components, str):
            check_choice("n_components", self.n_components, ("auto",))
            return automatic
        return check_integer(
            "n_components", self.n_components, at_least=1, at_most=largest
        )

    def to_state(self) -> dict[str, Any]:
        """What a file holds: parameters and fitted attributes."""
        fitted = {name: value for name, value in vars(self).items() if name[-1] == "_"}
        return {"parameters": self.get_params(), "fitted": fitted}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Inverse of `to_state`."""
        learner = cls(**state["parameters"])
        for name, value in state["fitted"].items():
            setattr(learner, name, value)
        return learner


class MetricLearner(FeatureLearner, metaclass=ABCMeta):
    """Base of the transformers that learn from labels or pairs.

    A subclass says what it learns (`_learn`) and what the features of new objects are
    (`_features`); distances are Euclidean distances of the features.
    """

    # Whether it learns from labels alone.
    _needs_labels = False

    @abstractmethod
    def _learn(
        self,
        X: Matrix,
        y: ArrayLike | None,
        must_link: ArrayLike | None,
        cannot_link: ArrayLike | None,
    ) -> None:
        """Set the fitted attributes."""

    @abstractmethod
    def _features(self, X: Matrix) -> Matrix:
        """Features of the rows of X, (n_samples, n_components_)."""

    @refuses_by_name
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
    ) -> Self:
        """Learn from labels or pairs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : array-like of shape (n_samples,), default=None
            Class of each object, -1 for unknown.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), default=None
            Row numbers of objects known to be in the same class, and in different
            ones.

        Returns
        -------
        self
        """
        with naming("X"):
            data: Matrix = validate_data(
                self, X, dtype=np.float64, ensure_min_samples=2
            )
        check_spread("X", data)
        check_widths(self.get_params(deep=False))
        if hasattr(self, "random_state"):
            check_seed("random_state", self.random_state)
        # Several threads would round sums in another way.
        with one_thread(), fitting(type(self).__name__):
            self._learn(data, y, must_link, cannot_link)
        return self

    @takes_any_number
    def transform(self, X: ArrayLike) -> Matrix:
        """Learned features of the rows of X, shape (n_samples, n_components_)."""
        check_is_fitted(self)
        with naming("X"):
            data = validate_data(self, X, dtype=np.float64, reset=False)
        with one_thread():
            features = self._features(data)
        if np.isnan(features).any():
            row = int(np.isnan(features).any(axis=1).argmax())
            raise ValueError(
                f"X must hold rows that have features, got NaN for row {row}"
            )
        return features

    def save(
        self, path: str | PathLike[str], *, key: bytes | str | None = None
    ) -> None:
        """Write the fitted transformer to a file that `credalis.load` reads.

        The file holds arrays and JSON, never code; it appears whole or not at all. A
        key of at least 16 bytes signs it.
        """
        check_is_fitted(self)
        _archive.save(self, path, key=key)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_labels
        return tags


class LinearLearner(MetricLearner):
    """Base of the learners whose features are z = L (x - mean)."""

    _schema = FeatureLearner._schema.extended(
        {
            "mean_": _archive.Array("f", ("n_features",)),
            "components_": _archive.Array("f", ("n_components", "n_features")),
        }
    )

    def _features(self, X: Matrix) -> Matrix:
        return (X - self.mean_) @ self.components_.T

    def _store(self, mean: Matrix, components: Matrix) -> None:
        """Set mean and components, the largest entry of each made positive."""
        self.mean_ = mean
        self.components_ = components * signs(components)
        self.n_components_ = len(components)


# How the search for components has ended.
DESCENT: dict[str, _archive.Rule] = {
    "loss_": _archive.Number(),
    "history_": _archive.Array("f", (None,)),
    "n_iter_": _archive.Integer(at_least=0),
}


def signs(rows: Matrix) -> Matrix:
    """Signs (n_rows, 1) that make the largest entry of each row positive."""
    largest = np.abs(rows).argmax(axis=1)
    return np.where(rows[np.arange(len(rows)), largest] < 0, -1.0, 1.0)[:, None]
