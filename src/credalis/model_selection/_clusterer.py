"""The clusterer inside an estimator, which may be a pipeline, and its parameters."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from credalis.partition import CredalPartition

# A parameter that sets a scale, the value at which it depends on the data and on the
# number of clusters, and the fitted attribute that holds what it then was.
_SCALES = (
    ("dissimilarity_scale", None, "scale_"),
    ("delta", "auto", "delta_"),
)


@dataclass(frozen=True, eq=False)
class Clusterer:
    """An estimator together with the place of the clusterer in it.

    Attributes
    ----------
    estimator : estimator or Pipeline
        What the user gave; it is never changed.
    prefix : str
        What stands before the parameters of the clusterer: ``"ecm__"`` if it is the
        step "ecm" of a pipeline, ``""`` if it is the estimator itself.
    """

    estimator: Any
    prefix: str

    @classmethod
    def find(cls, estimator: Any) -> "Clusterer":
        """The last step of the last of the pipelines, or a ValueError."""
        inner, prefix = estimator, ""
        while hasattr(inner, "steps"):
            name, inner = inner.steps[-1]
            prefix += f"{name}__"
        is_estimator = isinstance(inner, BaseEstimator) and hasattr(inner, "fit")
        if not is_estimator or isinstance(inner, type):
            raise ValueError(
                "estimator must be a clusterer or a pipeline that ends in one, got "
                f"{estimator!r:.200}"
            )
        return cls(estimator, prefix)

    @property
    def inner(self) -> Any:
        """The clusterer itself."""
        return self.inside(self.estimator)

    def inside(self, estimator: Any) -> Any:
        """The clusterer at the same place of another estimator, fitted or not."""
        for name in self.prefix.split("__")[:-1]:
            estimator = estimator[name]
        return estimator

    def training_partition(self, estimator: Any, X: Any) -> CredalPartition:
        """The partition of X that the clusterer of a fitted estimator was trained to.

        What is reported differs where ∅ stands for novelty: the normalised masses of
        an object that nearly all training left on ∅ may be certain of a cluster.
        """
        inner = self.inside(estimator)
        if not hasattr(inner, "reference_"):
            return inner.partition_
        while hasattr(estimator, "steps"):
            if len(estimator.steps) > 1:
                X = estimator[:-1].transform(X)
            estimator = estimator[-1]
        return CredalPartition(inner._training_masses(X), inner.focal_sets_)

    def seen(self, X: Any) -> Any:
        """X as the steps before the clusterer, fitted to it, hand it on."""
        estimator = clone(self.estimator)
        while hasattr(estimator, "steps"):
            if len(estimator.steps) > 1:
                X = estimator[:-1].fit_transform(X)
            estimator = estimator[-1]
        return X

    @property
    def name(self) -> str:
        """Name of its class."""
        return type(self.inner).__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """Names and values of the parameters of the clusterer alone."""
        return self.inner.get_params(deep=False)

    def require(self, *names: str) -> None:
        """ValueError if it lacks a parameter."""
        for name in names:
            if name not in self.parameters:
                raise ValueError(
                    f"estimator must have the parameter {name}, got {self.name} "
                    "without it"
                )

    def with_parameters(self, **parameters: Any) -> "Clusterer":
        """A clone with other parameters of the clusterer."""
        changed = clone(self.estimator)
        changed.set_params(**{f"{self.prefix}{k}": v for k, v in parameters.items()})
        return Clusterer(changed, self.prefix)

    def with_seed(self, seed: int, *, only_missing: bool = False) -> Any:
        """A clone of the estimator, its parts that draw random numbers seeded.

        With `only_missing` a part that has a seed of its own keeps it.
        """
        rng = np.random.RandomState(seed)
        changed = clone(self.estimator)
        for name, value in sorted(changed.get_params().items()):
            if name == "random_state" or name.endswith("__random_state"):
                own = rng.randint(np.iinfo(np.int32).max)
                if value is None or not only_missing:
                    changed.set_params(**{name: int(own)})
        return changed

    def open_scales(self) -> dict[str, str]:
        """Scales left to the data, with the fitted attribute that will hold each."""
        parameters = self.parameters
        return {
            name: attribute
            for name, is_open, attribute in _SCALES
            if name in parameters and parameters[name] == is_open
        }
