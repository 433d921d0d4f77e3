"""Terms of a cost that can be weighted and added, and those of what is known.

What is known are the clusters of some objects, and pairs that are in the same cluster
or in different ones.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from credalis.belief import FocalSets

Array = NDArray[np.floating]

# If more than one object in so many is labelled, all of them are looked at.
_MOSTLY = 3

# From so many focal sets on, most of which have to do with few clusters or other sets,
# a sparse product takes less time; here few means so many on average.
MANY_SPARSE_SETS = 250
_FEW_CLUSTERS = 5


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

    def values_and_gradients(self, masses: Array) -> tuple[Array, Array]:
        """Values and derivatives for each of a stack, on the first axis of masses."""
        results = [self.value_and_gradient(each) for each in masses]
        values = np.array([value for value, _ in results])
        return values, np.array([gradient for _, gradient in results])

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

    def values_and_gradients(self, masses: Array) -> tuple[Array, Array]:
        """The same for a stack."""
        total, gradient = self.terms[0].values_and_gradients(masses)
        for term in self.terms[1:]:
            value, slope = term.values_and_gradients(masses)
            total = total + value
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

    def values_and_gradients(self, masses: Array) -> tuple[Array, Array]:
        """The same for a stack."""
        values, gradient = self.term.values_and_gradients(masses)
        gradient *= self.weight
        return self.weight * values, gradient


@dataclass(frozen=True, eq=False)
class LabelFit(Objective):
    """P = (1 / n_labelled) Σ_i Σ_k (pl_ik - y_ik)² over the labelled objects.

    Parameters
    ----------
    objects : array of int, shape (n_labelled,)
        The labelled objects; an object may occur several times.
    labels : array of int, shape (n_labelled,)
        Their clusters; y_ik is 1 for this cluster and 0 for the others.
    focal_sets : FocalSets
        What the rows of the masses stand for.
    """

    objects: NDArray[np.intp]
    labels: NDArray[np.intp]
    focal_sets: FocalSets

    @cached_property
    def _distinct(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Array, bool]:
        """Objects and labels that differ, how often each occurs, whether all once.

        Repetitions only count more; an object with several labels takes slower sums.
        """
        if np.bincount(self.objects).max() == 1:
            return self.objects, self.labels, np.ones(len(self.objects)), True
        n_clusters = self.focal_sets.n_clusters
        keys, numbers = np.unique(
            self.objects * n_clusters + self.labels, return_counts=True
        )
        objects, labels = np.divmod(keys, n_clusters)
        is_once = bool(np.bincount(objects).max() == 1)
        return objects, labels, 1.0 * numbers, is_once

    def _members(self, masses: Array) -> Array | csr_array:
        """F, (n_focal_sets, n_clusters); sparse for very many small sets."""
        membership = self.focal_sets.membership
        n_sets = len(membership)
        is_small = np.count_nonzero(membership) <= _FEW_CLUSTERS * n_sets
        if masses.ndim == 2 and n_sets >= MANY_SPARSE_SETS and is_small:
            return csr_array(membership, dtype=masses.dtype)
        return membership.astype(float)

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """P and ∂P/∂M = 2 F (PL - Y) / n_labelled in the columns of these objects."""
        values, gradient = self.values_and_gradients(masses)
        return float(values), gradient

    def values_and_gradients(self, masses: Array) -> tuple[Array, Array]:
        """The same for a stack."""
        members = self._members(masses)
        objects, labels, counts, is_once = self._distinct
        shares = counts / len(self.objects)
        if is_once and _MOSTLY * len(objects) > masses.shape[-1]:
            # Cheaper than to pick columns and to put them back.
            residuals = members.T @ masses
            residuals[..., labels, objects] -= 1.0
            weights = np.zeros(masses.shape[-1], residuals.dtype)
            weights[objects] = shares
            slopes = residuals * weights
            values = np.einsum("...ij,...ij->...", slopes, residuals)
            gradient = (2.0 * members) @ slopes
            return values, gradient.astype(masses.dtype, copy=False)
        residuals = members.T @ masses[..., objects]
        residuals[..., labels, np.arange(len(labels))] -= 1.0
        slopes = residuals * shares
        values = np.einsum("...ij,...ij->...", slopes, residuals)
        slopes = (2.0 * members) @ slopes
        gradient = np.zeros_like(masses)
        if is_once:
            gradient[..., objects] = slopes
        else:
            columns = np.moveaxis(gradient, -1, 0)
            np.add.at(columns, objects, np.moveaxis(slopes, -1, 0))
        return values, gradient


@dataclass(frozen=True, eq=False)
class PairConstraints(Objective):
    """P = [Σ_ML m_iᵀ Q m_j + Σ_CL (2 - m_iᵀ Q m_j)] / (2 (|ML| + |CL|)).

    m_iᵀ Q m_j is Pl(different) + 1 - Pl(same), in [0, 2]. ∅ is neutral: it is neither
    rewarded nor punished.

    Parameters
    ----------
    must_link, cannot_link : array of int, shape (n_pairs, 2)
        Objects known to be in the same cluster, and in different ones.
    n_samples : int
        Number of objects.
    focal_sets : FocalSets
        What the rows of the masses stand for.
    """

    must_link: NDArray[np.intp]
    cannot_link: NDArray[np.intp]
    n_samples: int
    focal_sets: FocalSets

    def value_and_gradient(self, masses: Array) -> tuple[float, Array]:
        """P and ∂P/∂M = Q M (B + Bᵀ) / (2 (|ML| + |CL|)), B the signed pairs."""
        links = self.links()
        against = self.focal_sets.apartness @ masses
        gradient = (links @ against.T).T
        n_pairs = len(self.must_link) + len(self.cannot_link)
        # Σ over pairs is half the sum over both orders, and m_iᵀ Q m_j bilinear.
        value = 0.5 * np.vdot(gradient, masses) + len(self.cannot_link) / n_pairs
        return float(value), gradient

    def links(self) -> csr_array:
        """(B + Bᵀ) / (2 (|ML| + |CL|)): +1 for must-links, -1 for cannot-links."""
        pairs = np.concatenate([self.must_link, self.cannot_link])
        signs = np.ones(len(pairs))
        signs[len(self.must_link) :] = -1.0
        links = csr_array(
            (0.5 / len(pairs) * signs, (pairs[:, 0], pairs[:, 1])),
            shape=(self.n_samples, self.n_samples),
        )
        return links + links.T
