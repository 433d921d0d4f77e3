"""Doubts about a source, and what is learned about the truth, applied to masses."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from credalis._checks import check_flag, check_numbers
from credalis._refusals import refuses_by_name
from credalis.belief._focal_sets import FocalSets, subsets_to_membership
from credalis.belief._lists import check_mass_functions, check_subset, gather
from credalis.belief._transforms import (
    EMPTY_TOLERANCE,
    Masses,
    dempster_normalize,
    nonempty_mass,
    with_frame,
)

# Sets that contextual discounting may lead to: each context can double their number.
_MAX_SETS = 2**14


@refuses_by_name
def discount(
    masses: ArrayLike, focal_sets: FocalSets, rate: ArrayLike
) -> tuple[Masses, FocalSets]:
    """Discounting: (1 - α) m(A) for A ≠ Ω, and α more on Ω.

    The source is reliable with probability 1 - α; if it is not, it says nothing.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.
    rate : float or array-like of shape (...,)
        Discount rates α in [0, 1], one for all mass functions or one for each.

    Returns
    -------
    masses : array of shape (..., n_focal_sets)
    focal_sets : FocalSets
        The given ones, with Ω if it had to be added.

    References
    ----------
    Shafer, G. (1976). A mathematical theory of evidence. Princeton University Press.

    Examples
    --------
    >>> from credalis.belief import FocalSets, discount
    >>> discount([0.0, 0.7, 0.2, 0.1], FocalSets.full(2), 0.5)[0]
    array([0.  , 0.35, 0.1 , 0.55])
    """
    masses = check_mass_functions("masses", masses, focal_sets)
    rates = _check_rates("rate", rate)
    if rates.ndim and rates.shape != masses.shape[:-1]:
        raise ValueError(
            f"rate must be a number or have shape {masses.shape[:-1]}, one rate for "
            f"each mass function, got shape {rates.shape}"
        )
    masses, focal_sets = with_frame(masses, focal_sets)
    discounted = (1.0 - rates)[..., None] * masses
    discounted[..., focal_sets.frame_index] += rates
    return discounted, focal_sets


@refuses_by_name
def contextual_discount(
    masses: ArrayLike,
    focal_sets: FocalSets,
    rates: ArrayLike,
    contexts: Iterable[Iterable[int]] | None = None,
) -> tuple[Masses, FocalSets]:
    """Contextual discounting: the source may be unreliable about some clusters only.

    If the truth lies in context θ, the source is unreliable with probability α_θ. The
    result is the disjunctive combination of m with m_θ(∅) = 1 - α_θ, m_θ(θ) = α_θ for
    all contexts. The single context Ω gives `discount`.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.
    rates : array-like of shape (n_contexts,) or (..., n_contexts)
        Discount rates α_θ in [0, 1], for all mass functions or for each.
    contexts : iterable of subsets, default=None
        The contexts θ; None stands for the single clusters.

    Returns
    -------
    masses : array of shape (..., n_result_focal_sets)
    focal_sets : FocalSets
        All sets that can arise: the full list in binary order if it was given, else
        by cardinality and then lexicographically.

    References
    ----------
    Mercier, D., Quost, B., Denœux, T. (2008). Refined modeling of sensor reliability
    in the belief function framework using contextual discounting. Information
    Fusion 9, 246-258.

    Examples
    --------
    >>> from credalis.belief import FocalSets, contextual_discount
    >>> contextual_discount([0.0, 0.5, 0.0, 0.5], FocalSets.full(2), [0.0, 0.4])[0]
    array([0. , 0.3, 0. , 0.7])
    """
    masses = check_mass_functions("masses", masses, focal_sets)
    if contexts is None:
        members = np.eye(focal_sets.n_clusters, dtype=bool)
    else:
        try:
            members = subsets_to_membership(contexts, focal_sets.n_clusters)
        except ValueError as error:
            raise ValueError(f"contexts: {error}") from error
    rates = _check_rates("rates", rates)
    shapes = ((len(members),), (*masses.shape[:-1], len(members)))
    if rates.shape not in shapes:
        raise ValueError(
            f"rates must have shape {shapes[0]} or {shapes[1]}, one rate for each "
            f"context, got shape {rates.shape}"
        )
    for j, context in enumerate(members):
        rate = rates[..., j, None]
        if not rate.any():
            continue
        if 2 * len(focal_sets) > _MAX_SETS and not focal_sets.is_full:
            raise ValueError(
                f"contexts must not lead to more than {_MAX_SETS} focal sets: fewer "
                f"contexts with a positive rate are needed, got {len(members)} contexts"
            )
        both = np.concatenate([(1.0 - rate) * masses, rate * masses], axis=-1)
        images = np.concatenate(
            [focal_sets.membership, focal_sets.membership | context]
        )
        masses, focal_sets = gather(both, images, full=focal_sets.is_full)
    return masses, focal_sets


@refuses_by_name
def condition(
    masses: ArrayLike,
    focal_sets: FocalSets,
    subset: Iterable[int],
    *,
    normalize: bool = True,
) -> tuple[Masses, FocalSets]:
    """Conditioning: the truth is known to lie in B, m(A) goes to A ∩ B.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.
    subset : iterable of int
        The clusters in B.
    normalize : bool, default=True
        Divide by 1 - m(∅), Dempster's conditioning. Otherwise the mass of sets that
        do not meet B stays on ∅.

    Returns
    -------
    masses : array of shape (..., n_result_focal_sets)
    focal_sets : FocalSets
        The sets A ∩ B, by cardinality and then lexicographically.

    Raises
    ------
    ValueError
        If B is impossible, Pl(B) = 0, and a normalised result is asked for.

    Examples
    --------
    >>> from credalis.belief import FocalSets, condition
    >>> masses, focal_sets = condition([0.0, 0.5, 0.2, 0.3], FocalSets.full(2), [1])
    >>> focal_sets.names, masses
    (('∅', '{1}'), array([0., 1.]))
    """
    masses = check_mass_functions("masses", masses, focal_sets)
    members = check_subset("subset", subset, focal_sets.n_clusters)
    normalize = check_flag("normalize", normalize)
    masses, focal_sets = gather(masses, focal_sets.membership & members)
    if not normalize:
        return masses, focal_sets
    n_impossible = int((nonempty_mass(masses, focal_sets) <= EMPTY_TOLERANCE).sum())
    if n_impossible:
        raise ValueError(
            "subset must be plausible for a normalised result, got one with "
            f"plausibility 0 for {n_impossible} mass function(s)"
        )
    return dempster_normalize(masses, focal_sets)


@refuses_by_name
def decondition(
    masses: ArrayLike, focal_sets: FocalSets, subset: Iterable[int]
) -> tuple[Masses, FocalSets]:
    r"""Deconditioning: the least committed m whose conditioning on B is the given one.

    The mass of A ⊆ B goes to A ∪ (Ω \ B), the ballooning extension.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions given B: only subsets of B carry mass.
    focal_sets : FocalSets
        What the columns stand for.
    subset : iterable of int
        The clusters in B.

    Returns
    -------
    masses : array of shape (..., n_result_focal_sets)
    focal_sets : FocalSets
        The sets A ∪ (Ω \ B), by cardinality and then lexicographically.

    References
    ----------
    Smets, P. (1993). Belief functions: the disjunctive rule of combination and the
    generalized Bayesian theorem. Int. J. of Approximate Reasoning 9, 1-35.

    Examples
    --------
    >>> from credalis.belief import FocalSets, decondition
    >>> given = FocalSets.from_subsets(3, [(0,), (0, 1)])
    >>> masses, focal_sets = decondition([0.4, 0.6], given, [0, 1])
    >>> focal_sets.names, masses
    (('{0,2}', 'Ω'), array([0.4, 0.6]))
    """
    masses = check_mass_functions("masses", masses, focal_sets)
    members = check_subset("subset", subset, focal_sets.n_clusters)
    inside = ~(focal_sets.membership & ~members).any(axis=1)
    outside = masses[..., ~inside].max(initial=0.0)
    if outside > EMPTY_TOLERANCE:
        raise ValueError(
            "masses must be on subsets of `subset` only, got a mass of "
            f"{outside:.3g} on another set"
        )
    if not inside.any():
        raise ValueError("focal_sets must hold a subset of `subset`, got none")
    return gather(masses[..., inside], focal_sets.membership[inside] | ~members)


def _check_rates(name: str, rates: ArrayLike) -> Masses:
    """Discount rates as an array."""
    array = check_numbers(name, rates)
    # Not the opposite comparison: NaN has to be refused too.
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError(f"{name} must lie between 0 and 1, got {array.tolist()!r:.80}")
    return array
