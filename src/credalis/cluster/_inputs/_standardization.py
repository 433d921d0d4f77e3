"""Inputs of comparable size, whatever the units of the attributes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from credalis import _archive

# Rows looked at together where one pass over the data is enough.
_BLOCK_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class Standardization:
    """x becomes (x - mean) / scale, column by column."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, X: NDArray[np.float64]) -> "Standardization":
        """Means and standard deviations of X; a constant column is only centred."""
        # In units of the largest entry, so that no square over- or underflows.
        mean = X.mean(axis=0)
        unit = np.maximum(X.max(axis=0) - mean, mean - X.min(axis=0))
        unit[unit == 0] = 1.0
        squares = np.zeros(X.shape[1])
        for rows in gen_batches(len(X), _BLOCK_ROWS):
            squares += np.square((X[rows] - mean) / unit).sum(axis=0)
        deviation = unit * np.sqrt(squares / len(X))
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    @classmethod
    def alike(cls, X: NDArray[np.float64]) -> "Standardization":
        """One mean and one deviation for all columns, which belong together."""
        common = cls.of(X.reshape(-1, 1))
        n_features = X.shape[1]
        return cls(
            np.repeat(common.mean, n_features), np.repeat(common.scale, n_features)
        )

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standardise the rows of X."""
        return (X - self.mean) / self.scale

    def to_state(self) -> dict[str, Any]:
        """Plain arrays."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Standardization":
        """Inverse of `to_state`."""
        return cls(**state)


_archive.register(Standardization)
