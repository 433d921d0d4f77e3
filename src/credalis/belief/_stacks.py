"""Combination of many sources in one call."""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_choice, naming
from credalis._refusals import refuses_by_name
from credalis.belief._combination import (
    conjunctive,
    disjunctive,
    normalized_product,
)
from credalis.belief._decomposition import (
    conjunctive_weights,
    conjunctive_weights_to_masses,
    disjunctive_weights,
    disjunctive_weights_to_masses,
)
from credalis.belief._focal_sets import FocalSets
from credalis.belief._lists import check_mass_functions, gather
from credalis.belief._mobius import (
    commonality_to_masses,
    implicability_to_masses,
    masses_to_commonality,
    masses_to_implicability,
)
from credalis.belief._transforms import Masses, with_frame, yager_normalize

# One source: its masses, a matrix, and what its columns stand for.
Source = tuple[Masses, FocalSets]

# Combinations of focal sets that can be listed, and numbers in a temporary array.
_MAX_COMBINATIONS = 2**20
_BLOCK = 2**22

# A weight this close to 1 says nothing about its set.
_SILENT = 1e-10


@refuses_by_name
def combine(
    sources: Sequence[ArrayLike] | NDArray[np.float64],
    focal_sets: FocalSets | Sequence[FocalSets],
    rule: Literal[
        "conjunctive",
        "dempster",
        "yager",
        "dubois_prade",
        "pcr6",
        "disjunctive",
        "mean",
        "cautious",
        "bold",
        "lns",
    ] = "dempster",
) -> tuple[Masses, FocalSets]:
    """Combine a stack of sources, row by row.

    Parameters
    ----------
    sources : array-like of shape (n_sources, ..., n_focal_sets), or sequence of them
        Mass functions of each source; leading axes broadcast.
    focal_sets : FocalSets or sequence of FocalSets
        What the columns stand for, for all sources or for each.
    rule : str, default="dempster"
        How sources are combined:

        - "conjunctive": products of masses go to the intersections of sets;
        - "dempster": the same, normalised;
        - "yager": the same, with the conflict moved to Ω;
        - "dubois_prade": a product goes to the intersection of its sets, or to their
          union if they do not meet all together;
        - "pcr6": a product whose sets do not meet is shared among these sets in
          proportion to their masses. All combinations of focal sets are listed, so
          that few sources or few focal sets are possible;
        - "disjunctive": products of masses go to the unions of sets;
        - "mean": the mean of the masses;
        - "cautious": the smallest conjunctive weight of each set; needs mass on Ω;
        - "bold": the smallest disjunctive weight of each set; needs mass on ∅;
        - "lns": for a large number of sources, of which some may be wrong. Sources
          are decomposed into simple ones, those about the same set A are combined,
          w(A) = Π w_j(A), discounted by the share of A among all simple ones,
          w'(A) = 1 - (1 - w(A)) s_A / Σ s, and the results are combined
          conjunctively. Needs mass on Ω and no weight above 1. This is the rule of
          the R package ibelief, by its authors, with η = 0.

    Returns
    -------
    masses : array of shape (..., n_result_focal_sets)
    focal_sets : FocalSets
        All sets that can arise: the full list in binary order if all sources have it
        or the rule decomposes, else by cardinality and then lexicographically.

    References
    ----------
    Dubois, D., Prade, H. (1988). Representation and combination of uncertainty with
    belief functions and possibility measures. Computational Intelligence 4, 244-264.

    Martin, A., Osswald, C. (2006). A new generalization of the proportional conflict
    redistribution rule stable in terms of decision. Advances and Applications of DSmT
    for Information Fusion 2, 69-88.

    Zhou, K., Martin, A., Pan, Q. (2019). A belief combination rule for a large number
    of sources. Journal of Advances in Information Fusion 14, 22-40.

    Examples
    --------
    >>> from credalis.belief import FocalSets, combine
    >>> sources = [[0.0, 0.6, 0.0, 0.4], [0.0, 0.0, 0.5, 0.5]]
    >>> combine(sources, FocalSets.full(2), "conjunctive")[0]
    array([0.3, 0.3, 0.2, 0.2])
    >>> combine(sources, FocalSets.full(2), "dubois_prade")[0]
    array([0. , 0.3, 0.2, 0.5])
    """
    rule_of = _RULES[check_choice("rule", rule, _RULES)]
    listed, shape = _check_sources(sources, focal_sets)
    masses, result = rule_of(listed)
    return masses.reshape(*shape, len(result)), result


def _conjunctive(sources: list[Source]) -> Source:
    if not all(sets.is_full for _, sets in sources):
        return reduce(lambda one, other: conjunctive(*one, *other), sources)
    product = np.prod([masses_to_commonality(masses) for masses, _ in sources], axis=0)
    # Differences of commonalities leave rounding errors of either sign.
    return np.maximum(commonality_to_masses(product), 0.0), sources[0][1]


def _disjunctive(sources: list[Source]) -> Source:
    if not all(sets.is_full for _, sets in sources):
        return reduce(lambda one, other: disjunctive(*one, *other), sources)
    product = np.prod(
        [masses_to_implicability(masses) for masses, _ in sources], axis=0
    )
    return np.maximum(implicability_to_masses(product), 0.0), sources[0][1]


def _dempster(sources: list[Source]) -> Source:
    if len(sources) == 1:
        # A vacuous second source leaves nothing to do but to normalise.
        masses, sets = with_frame(*sources[0])
        vacuous = np.eye(len(sets))[sets.frame_index]
        return normalized_product("sources", *conjunctive(masses, sets, vacuous, sets))
    # Normalised after each step: many conflicts would multiply to nothing.
    return reduce(
        lambda one, other: normalized_product("sources", *conjunctive(*one, *other)),
        sources,
    )


def _yager(sources: list[Source]) -> Source:
    return yager_normalize(*_conjunctive(sources))


def _mean(sources: list[Source]) -> Source:
    return gather(
        np.concatenate([masses for masses, _ in sources], axis=-1) / len(sources),
        np.concatenate([sets.membership for _, sets in sources]),
        full=all(sets.is_full for _, sets in sources),
    )


def _dubois_prade(sources: list[Source]) -> Source:
    is_full = all(sets.is_full for _, sets in sources)
    sources = [_carrying(masses, sets) for masses, sets in sources]
    # What matters about a combination of sets is their intersection and their union,
    # side by side: there are 3^c of these at most, however many sources there are.
    masses, sets = sources[0]
    states = np.concatenate([sets.membership, sets.membership], axis=1)
    n_clusters = sets.n_clusters
    for other, other_sets in sources[1:]:
        members = other_sets.membership
        if len(states) * len(members) > _MAX_COMBINATIONS:
            raise ValueError(
                f"focal_sets must give no more than {_MAX_COMBINATIONS} combinations "
                f"by rule 'dubois_prade', got {len(states) * len(members)}"
            )
        meets = states[:, None, :n_clusters] & members
        joins = states[:, None, n_clusters:] | members
        images = np.concatenate([meets, joins], axis=-1).reshape(-1, 2 * n_clusters)
        states, inverse = np.unique(images, axis=0, return_inverse=True)
        order = np.argsort(inverse.reshape(-1), kind="stable")
        starts = np.searchsorted(inverse.reshape(-1)[order], np.arange(len(states)))
        joint = np.empty((len(masses), len(states)))
        for rows in _row_blocks(len(masses), len(order)):
            products = masses[rows, :, None] * other[rows, None, :]
            products = products.reshape(-1, len(order))[:, order]
            joint[rows] = np.add.reduceat(products, starts, axis=-1)
        masses = joint
    meet, join = states[:, :n_clusters], states[:, n_clusters:]
    images = np.where(meet.any(axis=1, keepdims=True), meet, join)
    return gather(masses, images, full=is_full)


def _pcr6(sources: list[Source]) -> Source:
    is_full = all(sets.is_full for _, sets in sources)
    agreed, agreed_sets = _conjunctive(sources)
    sources = [_carrying(masses, sets) for masses, sets in sources]
    sizes = [len(sets) for _, sets in sources]
    n_combinations = math.prod(sizes)
    if n_combinations > _MAX_COMBINATIONS:
        raise ValueError(
            f"sources must have no more than {_MAX_COMBINATIONS} combinations of "
            f"focal sets by rule 'pcr6', got {n_combinations}"
        )
    common = np.ones((1, sources[0][1].n_clusters), dtype=bool)
    for _, sets in sources:
        common = (common[:, None, :] & sets.membership).reshape(-1, common.shape[1])
    is_conflict = ~common.any(axis=1).reshape(sizes)

    # shares[j]: what source j's sets get back, its own masses times the sum of
    # Π m / Σ m over the conflicts they take part in.
    shares = [np.empty_like(masses) for masses, _ in sources]
    for rows in _row_blocks(len(agreed), n_combinations):
        grids = [
            np.expand_dims(masses[rows], [1 + k for k in range(len(sizes)) if k != j])
            for j, (masses, _) in enumerate(sources)
        ]
        products = reduce(np.multiply, grids) * is_conflict
        sums = reduce(np.add, grids)
        ratios = products / np.where(sums > 0, sums, 1.0)
        for j, (masses, _) in enumerate(sources):
            others = tuple(1 + k for k in range(len(sizes)) if k != j)
            shares[j][rows] = masses[rows] * ratios.sum(axis=others)
    is_set = agreed_sets.cardinality > 0
    return gather(
        np.concatenate([agreed[:, is_set], *shares], axis=1),
        np.concatenate(
            [
                agreed_sets.membership[is_set],
                *(sets.membership for _, sets in sources),
            ]
        ),
        full=is_full,
    )


def _cautious(sources: list[Source]) -> Source:
    weights = _decomposed(sources, conjunctive_weights)
    masses = conjunctive_weights_to_masses(weights.min(axis=0))
    return masses, FocalSets.full(sources[0][1].n_clusters)


def _bold(sources: list[Source]) -> Source:
    weights = _decomposed(sources, disjunctive_weights)
    masses = disjunctive_weights_to_masses(weights.min(axis=0))
    return masses, FocalSets.full(sources[0][1].n_clusters)


def _lns(sources: list[Source]) -> Source:
    weights = _decomposed(sources, conjunctive_weights)
    if weights.max(initial=0.0) > 1 + _SILENT:
        raise ValueError(
            "sources must be separable for rule 'lns', with conjunctive weights of at "
            f"most 1, got a weight of {weights.max():.6g}"
        )
    weights = np.minimum(weights, 1.0)
    n_simple = (weights < 1 - _SILENT).sum(axis=0)
    n_all = np.maximum(n_simple.sum(axis=-1, keepdims=True), 1)
    # Products of many small weights are as good as 0, which no logarithm likes.
    strength = 1.0 - np.prod(weights, axis=0)
    discounted = np.maximum(1.0 - n_simple / n_all * strength, np.finfo(float).tiny)
    masses = conjunctive_weights_to_masses(discounted)
    return masses, FocalSets.full(sources[0][1].n_clusters)


def _decomposed(
    sources: list[Source], decompose: Callable[[Masses, FocalSets], Masses]
) -> Masses:
    """Weights of all sources, shape (n_sources, n_rows, n_subsets)."""
    weights = []
    for j, source in enumerate(sources):
        try:
            weights.append(decompose(*source))
        except ValueError as error:
            raise ValueError(f"sources[{j}]: {error}") from error
    return np.array(weights)


_RULES: dict[str, Callable[[list[Source]], Source]] = {
    "conjunctive": _conjunctive,
    "dempster": _dempster,
    "yager": _yager,
    "dubois_prade": _dubois_prade,
    "pcr6": _pcr6,
    "disjunctive": _disjunctive,
    "mean": _mean,
    "cautious": _cautious,
    "bold": _bold,
    "lns": _lns,
}


def _check_sources(
    sources: Sequence[ArrayLike] | NDArray[np.float64],
    focal_sets: FocalSets | Sequence[FocalSets],
) -> tuple[list[Source], tuple[int, ...]]:
    """Each source as a matrix with its focal sets, and their common leading shape."""
    try:
        given = list(sources)
    except TypeError as error:
        raise ValueError(
            f"sources must be a sequence of mass functions, got {sources!r:.80}"
        ) from error
    if not given:
        raise ValueError("sources must hold at least one source, got none")
    if isinstance(focal_sets, FocalSets):
        lists = [focal_sets] * len(given)
    else:
        with naming("focal_sets"):
            lists = list(focal_sets)
        if len(lists) != len(given) or not all(
            isinstance(sets, FocalSets) for sets in lists
        ):
            raise ValueError(
                f"focal_sets must be FocalSets, or a sequence of {len(given)}, one "
                f"for each source, got {focal_sets!r:.80}"
            )
    if len({sets.n_clusters for sets in lists}) > 1:
        raise ValueError(
            "focal_sets must be about the same clusters, got "
            f"{[sets.n_clusters for sets in lists]} clusters"
        )
    checked = [
        check_mass_functions(f"sources[{j}]", masses, sets)
        for j, (masses, sets) in enumerate(zip(given, lists, strict=True))
    ]
    try:
        shape = np.broadcast_shapes(*(masses.shape[:-1] for masses in checked))
    except ValueError as error:
        raise ValueError(
            "sources must have leading axes that broadcast, got shapes "
            f"{[masses.shape for masses in checked]}"
        ) from error
    return [
        (np.broadcast_to(masses, (*shape, len(sets))).reshape(-1, len(sets)), sets)
        for masses, sets in zip(checked, lists, strict=True)
    ], shape


def _carrying(masses: Masses, focal_sets: FocalSets) -> Source:
    """The columns in which some row has mass, the first one if there is none."""
    kept = np.flatnonzero(masses.any(axis=0))
    if not len(kept):
        kept = np.zeros(1, dtype=np.intp)
    subsets = tuple(focal_sets.subsets[j] for j in kept)
    return masses[:, kept], FocalSets(focal_sets.n_clusters, subsets)


def _row_blocks(n_rows: int, n_columns: int) -> list[slice]:
    size = max(1, _BLOCK // n_columns)
    return [slice(start, start + size) for start in range(0, n_rows, size)]
