"""Terms of a cost that can be weighted and added."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


class Objective(ABC):
    """A function of the masses of all objects.

    Masses have the focal sets on the first axis, shape (n_focal_sets, n_samples):
    sums over the few focal sets then run along contiguous memory.
    """

    @abstractmethod
    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """The value, and its derivatives with respect to the masses."""

    def value(self, masses: Array) -> float:
        """The value alone."""
        return self.value_and_gradient(masses)[0]

    def __add__(self, other: "Objective") -> "Objective":
        return Sum((self, other))

    def __rmul__(self, weight: float) -> "Objective":
        return Scaled(float(weight), self)


@dataclass(frozen=True, eq=False)
class Sum(Objective):
    """The sum of several terms."""

    terms: tuple[Objective, ...]

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """Sums of the values and of the gradients."""
        total, gradient = self.terms[0].value_and_gradient(masses)
        for term in self.terms[1:]:
            value, slope = term.value_and_gradient(masses)
            total += value
            gradient += slope
        return total, gradient


@dataclass(frozen=True, eq=False)
class Scaled(Objective):
    """A term times a weight."""

    weight: float
    term: Objective

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """Value and gradient times the weight."""
        value, gradient = self.term.value_and_gradient(masses)
        gradient *= self.weight
        return self.weight * value, gradient
