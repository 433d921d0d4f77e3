"""The mass problem of CECM: objects that pairwise constraints tie together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from credalis.belief import FocalSets

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Stands for a quadratic cost of zero; its inverse times any sensible cost is finite.
_SMALLEST = 1e-150

PENALTIES = ("symmetric", "paper", "reference")


@dataclass(frozen=True, eq=False)
class Penalty:
    """Σ_ML m_iᵀ P m_j + Σ_CL m_iᵀ R m_j + Σ_i e n_i m_i∅, with n_i must-links of i.

    Attributes
    ----------
    must_link, cannot_link : array of shape (n_focal_sets, n_focal_sets)
        P and R, with their weights.
    empty : array of shape (n_focal_sets,)
        e on ∅, 0 elsewhere.
    """

    must_link: Array
    cannot_link: Array
    empty: Array


def penalty(
    kind: str, focal_sets: FocalSets, weight: float, n_must: int, n_cannot: int
) -> Penalty:
    """The cost of masses that violate constraints.

    Parameters
    ----------
    kind : {"symmetric", "paper", "reference"}
        Which form, see `CECM`.
    focal_sets : FocalSets
        What the masses are about.
    weight : float
        ξ.
    n_must, n_cannot : int
        Numbers of must-links and cannot-links.
    """
    n_sets = len(focal_sets)
    ones = np.ones((n_sets, n_sets))
    empty = np.zeros(n_sets)
    same = focal_sets.same_singleton.astype(np.float64)
    possibly_same = ones - focal_sets.disjoint
    n_all = max(n_must + n_cannot, 1)
    if kind == "symmetric":
        apart = focal_sets.apartness.astype(np.float64)
        share = weight / (2 * n_all)
        return Penalty(share * apart, share * (2 * ones - apart), empty)
    if kind == "paper":
        apart = ones - focal_sets.either_empty - same
        share = weight / n_all
        return Penalty(share * apart, share * possibly_same, empty)
    empty[focal_sets.cardinality == 0] = 1.0
    return Penalty(
        weight / max(n_must, 1) * (ones - same),
        weight / max(n_cannot, 1) * possibly_same,
        empty,
    )


@dataclass(frozen=True, eq=False)
class Group:
    """Constrained objects without constraints among themselves.

    Their best masses depend on those of other objects only.

    Attributes
    ----------
    members : array of int, shape (n_members,)
        Their numbers among the constrained objects.
    must_link, cannot_link : sparse array of shape (n_members, n_constrained)
        1 for a pair.
    n_must : array of shape (n_members, 1)
        Numbers of must-links.
    """

    members: Indices
    must_link: csr_array
    cannot_link: csr_array
    n_must: Array

    def pull(self, masses: Array, cost: Penalty) -> Array:
        """Derivative of the penalty by the masses of the group.

        Parameters
        ----------
        masses : array of shape (n_constrained, n_focal_sets)
            Masses of all constrained objects.
        cost : Penalty
            The penalty.

        Returns
        -------
        array of shape (n_members, n_focal_sets)
        """
        must = (self.must_link @ masses) @ cost.must_link
        cannot = (self.cannot_link @ masses) @ cost.cannot_link
        return must + cannot + self.n_must * cost.empty


@dataclass(frozen=True, eq=False)
class ConstrainedObjects:
    """The objects with constraints, numbered among themselves.

    Attributes
    ----------
    rows : array of int, shape (n_constrained,)
        Their row numbers in the data.
    everyone : Group
        All of them, as if they were one group.
    groups : list of Group
        All of them in groups.
    """

    rows: Indices
    everyone: Group
    groups: list[Group]

    @classmethod
    def of(cls, must_link: Indices, cannot_link: Indices) -> "ConstrainedObjects":
        """The ends of pairs of row numbers, (n_pairs, 2) each."""
        rows = np.unique(np.concatenate([must_link, cannot_link]))
        must = _adjacency(np.searchsorted(rows, must_link), len(rows))
        cannot = _adjacency(np.searchsorted(rows, cannot_link), len(rows))
        everyone, *groups = (
            Group(
                members,
                must[members],
                cannot[members],
                must[members].sum(axis=1)[:, None],
            )
            for members in [np.arange(len(rows)), *_independent_sets(must + cannot)]
        )
        return cls(rows, everyone, groups)

    def value(self, masses: Array, cost: Penalty) -> float:
        """The penalty of masses (n_constrained, n_focal_sets)."""
        alone = self.everyone.n_must * cost.empty
        # Both ends of a pair count it.
        pairs = 0.5 * (self.everyone.pull(masses, cost) - alone)
        return float(np.vdot(masses, pairs + alone))

    def improved(self, masses: Array, quadratic: Array, cost: Penalty) -> Array:
        """Masses after one exact update of each object, the others fixed.

        Minimises Σ_ij a_ij m_ij² + penalty, group by group; the sum never increases.

        Parameters
        ----------
        masses, quadratic : array of shape (n_constrained, n_focal_sets)
            Masses before, and a_ij.
        cost : Penalty
            The penalty.
        """
        masses = masses.copy()
        for group in self.groups:
            masses[group.members] = separable_simplex_qp(
                quadratic[group.members], group.pull(masses, cost)
            )
        return masses


def separable_simplex_qp(quadratic: Array, linear: Array) -> Array:
    """Minimise Σ_j a_j m_j² + b_j m_j over m ≥ 0, Σ_j m_j = 1, for many rows at once.

    The solution is m_j = max(0, (ν - b_j) / (2 a_j)). With b in increasing order, ν is
    the last of

        ν_k = (1 + Σ_{l ≤ k} b_l / (2 a_l)) / Σ_{l ≤ k} 1 / (2 a_l)

    that is above b_k.

    Parameters
    ----------
    quadratic : array of shape (n_rows, n_columns)
        a_j ≥ 0.
    linear : array of shape (n_rows, n_columns)
        b_j.

    Returns
    -------
    array of shape (n_rows, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.cluster.prototypes._cecm_masses import separable_simplex_qp
    >>> separable_simplex_qp(np.array([[1.0, 1, 2]]), np.array([[0.0, 1, -1]]))
    array([[0.5, 0. , 0.5]])
    """
    order = np.argsort(linear, axis=1, kind="stable")
    b = np.take_along_axis(linear, order, axis=1)
    inverse = 0.5 / np.maximum(np.take_along_axis(quadratic, order, axis=1), _SMALLEST)
    # ν_k > b_k says Σ_{l < k} (b_k - b_l) / (2 a_l) < 1; summed up from differences of
    # neighbours, which are all positive, it costs no digits.
    steps = np.diff(b, axis=1) * np.cumsum(inverse, axis=1)[:, :-1]
    is_active = np.ones(b.shape, dtype=bool)
    is_active[:, 1:] = np.cumsum(steps, axis=1) < 1
    inverse = np.where(is_active, inverse, 0.0)
    # A column that costs almost nothing takes what the others leave: its own formula
    # would be a tiny difference times a huge number.
    rows, pivot = np.arange(len(b)), inverse.argmax(axis=1)
    b = b - b[rows, pivot][:, None]
    level = (1 + (b * inverse).sum(axis=1)) / inverse.sum(axis=1)
    masses = np.maximum((level[:, None] - b) * inverse, 0.0)
    masses[rows, pivot] = 0.0
    masses[rows, pivot] = np.maximum(1 - masses.sum(axis=1), 0.0)
    masses /= masses.sum(axis=1, keepdims=True)
    result = np.empty_like(masses)
    np.put_along_axis(result, order, masses, axis=1)
    return result


def _adjacency(pairs: Indices, n_objects: int) -> csr_array:
    ends = np.concatenate([pairs, pairs[:, ::-1]]).T.astype(np.int32)
    values = np.ones(ends.shape[1])
    return csr_array((values, (ends[0], ends[1])), shape=(n_objects, n_objects))


def _independent_sets(links: csr_array) -> list[Indices]:
    """A greedy colouring: objects of many links first, each the first colour free."""
    graph = csr_array(links)
    degrees = np.diff(graph.indptr)
    colors = np.full(len(degrees), -1)
    for i in np.argsort(-degrees, kind="stable"):
        taken = set(colors[graph.indices[graph.indptr[i] : graph.indptr[i + 1]]])
        color = 0
        while color in taken:
            color += 1
        colors[i] = color
    return [
        np.flatnonzero(colors == color) for color in range(colors.max(initial=-1) + 1)
    ]
