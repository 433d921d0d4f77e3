"""Masses on finer, coarser and product frames."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_flag, check_integer, naming
from credalis._refusals import refuses_by_name
from credalis.belief._focal_sets import (
    FocalSets,
    check_n_clusters,
    subsets_to_membership,
)
from credalis.belief._lists import check_mass_functions, gather
from credalis.belief._transforms import Masses


@refuses_by_name
def refine(
    masses: ArrayLike, focal_sets: FocalSets, groups: Sequence[Iterable[int]]
) -> tuple[Masses, FocalSets]:
    """Refinement: cluster k is split into the finer clusters of ``groups[k]``.

    The mass of A goes to the union of the groups of its clusters: no more is said on
    the finer frame than on the coarser one.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.
    groups : sequence of subsets, of length n_clusters
        The finer clusters of each cluster: a partition of 0, ..., n - 1.

    Returns
    -------
    masses : array of shape (..., n_focal_sets)
    focal_sets : FocalSets
        Sets of finer clusters, by cardinality and then lexicographically.

    Examples
    --------
    >>> from credalis.belief import FocalSets, refine
    >>> masses, finer = refine([0.7, 0.3], FocalSets.from_subsets(2, [(0,), (0, 1)]),
    ...                        [(0, 2), (1,)])
    >>> finer.names, masses
    (('{0,2}', 'Ω'), array([0.7, 0.3]))
    """
    masses = check_mass_functions("masses", masses, focal_sets)
    members = _check_groups(groups)
    if len(members) != focal_sets.n_clusters:
        raise ValueError(
            f"groups must be {focal_sets.n_clusters}, one for each cluster, got "
            f"{len(members)}"
        )
    return gather(masses, _unions(focal_sets.membership, members))


@refuses_by_name
def coarsen(
    masses: ArrayLike,
    focal_sets: FocalSets,
    groups: Sequence[Iterable[int]],
    *,
    inner: bool = False,
) -> tuple[Masses, FocalSets]:
    """Coarsening: the clusters of ``groups[k]`` become cluster k.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.
    groups : sequence of subsets
        Which clusters belong together: a partition of all of them.
    inner : bool, default=False
        The outer reduction moves the mass of A to the groups that A meets, the inner
        one to those that it contains. `coarsen` with the outer one undoes `refine`.

    Returns
    -------
    masses : array of shape (..., n_result_focal_sets)
    focal_sets : FocalSets
        Sets of groups, by cardinality and then lexicographically.

    References
    ----------
    Shafer, G. (1976). A mathematical theory of evidence, chapter 6. Princeton
    University Press.

    Examples
    --------
    >>> from credalis.belief import FocalSets, coarsen
    >>> given = FocalSets.from_subsets(3, [(0,), (0, 1)])
    >>> masses, coarser = coarsen([0.7, 0.3], given, [(0, 2), (1,)])
    >>> coarser.names, masses
    (('{0}', 'Ω'), array([0.7, 0.3]))
    """
    masses = check_mass_functions("masses", masses, focal_sets)
    inner = check_flag("inner", inner)
    members = _check_groups(groups)
    if members.shape[1] != focal_sets.n_clusters:
        raise ValueError(
            f"groups must hold each of the {focal_sets.n_clusters} clusters once, got "
            f"{members.shape[1]} clusters"
        )
    if inner:
        return gather(masses, ~_unions(~focal_sets.membership, members.T))
    return gather(masses, _unions(focal_sets.membership, members.T))


@refuses_by_name
def vacuous_extension(
    masses: ArrayLike,
    focal_sets: FocalSets,
    sizes: Sequence[int],
    axes: int | Sequence[int],
) -> tuple[Masses, FocalSets]:
    """Vacuous extension to a product frame: A becomes A × Ω of the other variables.

    The elements of a product of frames of sizes c₁, ..., c_r are numbered like the
    entries of an array of this shape, the last variable fastest.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions about the variables `axes`.
    focal_sets : FocalSets
        What the columns stand for: sets of elements of the product of the frames of
        `axes`, in the order in which these are given.
    sizes : sequence of int
        Sizes of the frames of all variables.
    axes : int or sequence of int
        The variables that the masses are about, as positions in `sizes`.

    Returns
    -------
    masses : array of shape (..., n_focal_sets)
    focal_sets : FocalSets
        Cylinders in the product frame, by cardinality and then lexicographically.

    Examples
    --------
    >>> from credalis.belief import FocalSets, vacuous_extension
    >>> given = FocalSets.from_subsets(2, [(0,), (0, 1)])
    >>> masses, product = vacuous_extension([0.6, 0.4], given, (2, 3), 0)
    >>> product.names, masses
    (('{0,1,2}', 'Ω'), array([0.6, 0.4]))
    """
    masses = check_mass_functions("masses", masses, focal_sets)
    projections = _projections(sizes, axes)
    if len(projections) != focal_sets.n_clusters:
        raise ValueError(
            f"focal_sets must be about the {len(projections)} elements of the frame of "
            f"`axes`, got {focal_sets.n_clusters} clusters"
        )
    return gather(masses, _unions(focal_sets.membership, projections))


@refuses_by_name
def marginalize(
    masses: ArrayLike,
    focal_sets: FocalSets,
    sizes: Sequence[int],
    axes: int | Sequence[int],
) -> tuple[Masses, FocalSets]:
    """Marginal mass functions: a set in a product frame becomes its projection.

    Elements of product frames are numbered as in `vacuous_extension`, which this
    undoes.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions about all variables.
    focal_sets : FocalSets
        What the columns stand for: sets of elements of the product frame.
    sizes : sequence of int
        Sizes of the frames of all variables.
    axes : int or sequence of int
        The variables that are kept, as positions in `sizes`, in the order wanted.

    Returns
    -------
    masses : array of shape (..., n_result_focal_sets)
    focal_sets : FocalSets
        Sets in the product of the frames that are kept, by cardinality and then
        lexicographically.

    Examples
    --------
    >>> from credalis.belief import FocalSets, marginalize
    >>> given = FocalSets.from_subsets(4, [(0, 3), (0, 1)])
    >>> masses, kept = marginalize([0.6, 0.4], given, (2, 2), 0)
    >>> kept.names, masses
    (('{0}', 'Ω'), array([0.4, 0.6]))
    """
    masses = check_mass_functions("masses", masses, focal_sets)
    projections = _projections(sizes, axes)
    if projections.shape[1] != focal_sets.n_clusters:
        raise ValueError(
            f"sizes must have the product {focal_sets.n_clusters}, the number of "
            f"clusters of focal_sets, got {projections.shape[1]}"
        )
    return gather(masses, _unions(focal_sets.membership, projections.T))


def _unions(
    membership: NDArray[np.bool_], members: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """The union of the rows of `members` that each row of `membership` names."""
    return membership.astype(float) @ members.astype(float) > 0


def _check_groups(groups: Sequence[Iterable[int]]) -> NDArray[np.bool_]:
    """Boolean (n_groups, n_clusters) of a partition of 0, ..., n - 1."""
    try:
        listed = [list(group) for group in groups]
        n_clusters = check_n_clusters(sum(map(len, listed)))
        members = subsets_to_membership(listed, n_clusters)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"groups must be a partition of the numbers from 0 on: {error}"
        ) from error
    if not (members.sum(axis=0) == 1).all() or not members.any(axis=1).all():
        raise ValueError(
            "groups must be a partition of the numbers from 0 on into sets that are "
            f"not empty, got {listed!r:.80}"
        )
    return members


def _projections(sizes: Sequence[int], axes: int | Sequence[int]) -> NDArray[np.bool_]:
    """Boolean (n_kept, n_product): does element j of the product project to k?"""
    try:
        shape = [check_integer("sizes", size, at_least=1) for size in sizes]
    except TypeError as error:
        raise ValueError(f"sizes must be a sequence of int, got {sizes!r}") from error
    n_product = check_integer("the product of sizes", math.prod(shape), at_most=2**14)
    with naming("axes"):
        wanted = [axes] if not isinstance(axes, Iterable) else list(axes)
    kept = [
        check_integer("axes", axis, at_least=0, at_most=len(shape) - 1)
        for axis in wanted
    ]
    if not kept or len(set(kept)) != len(kept):
        raise ValueError(
            f"axes must be one or several different variables, got {axes!r}"
        )
    positions = np.unravel_index(np.arange(n_product), shape)
    kept_shape = [shape[axis] for axis in kept]
    numbers = np.ravel_multi_index([positions[axis] for axis in kept], kept_shape)
    return numbers == np.arange(math.prod(kept_shape))[:, None]
