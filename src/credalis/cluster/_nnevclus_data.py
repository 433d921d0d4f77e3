"""Inputs of the network of NNEVCLUS."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
        unit = np.abs(X - mean).max(axis=0)
        unit[unit == 0] = 1.0
        deviation = unit * ((X - mean) / unit).std(axis=0)
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

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
