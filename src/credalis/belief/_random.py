"""Random mass functions of given kinds, for simulations."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from credalis._checks import check_choice, check_integer, check_number, check_seed
from credalis._refusals import refuses_by_name
from credalis.belief._decomposition import conjunctive_weights_to_masses
from credalis.belief._focal_sets import FocalSets, check_focal_sets
from credalis.belief._transforms import Masses

_KINDS = (
    "any",
    "normal",
    "nondogmatic",
    "bayesian",
    "consonant",
    "simple",
    "logical",
    "separable",
)


@refuses_by_name
def random_masses(
    n_samples: int,
    focal_sets: FocalSets,
    kind: Literal[
        "any",
        "normal",
        "nondogmatic",
        "bayesian",
        "consonant",
        "simple",
        "logical",
        "separable",
    ] = "any",
    *,
    max_carried: int | None = None,
    concentration: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> Masses:
    """Draw mass functions of one kind.

    Parameters
    ----------
    n_samples : int
        Number of mass functions.
    focal_sets : FocalSets
        The sets that may carry mass.
    kind : str, default="any"
        - "any": a symmetric Dirichlet distribution over the focal sets;
        - "normal": the same without ∅;
        - "nondogmatic": the same with Ω in each mass function;
        - "bayesian": singletons only;
        - "consonant": a random chain of focal sets that cannot be made longer, or any
          `max_carried` sets of it;
        - "simple": one set other than ∅ and Ω, and Ω, with a uniform division;
        - "logical": all mass on one set, ∅ excepted;
        - "separable": the conjunctive combination of simple mass functions about all
          sets but ∅ and Ω, or a random `max_carried` of them, with uniform weights.
          Needs ``FocalSets.full``.
    max_carried : int, default=None
        Largest number of sets that carry mass in a mass function, drawn without
        preference; of simple components with kind="separable". None: no limit. Not
        with "simple" and "logical".
    concentration : float, default=1.0
        Parameter of the Dirichlet distribution: small values favour one set, large
        ones equal masses.
    random_state : int, RandomState instance or None, default=None
        Seed for the same numbers in each call.

    Returns
    -------
    array of shape (n_samples, n_focal_sets)

    Examples
    --------
    >>> from credalis.belief import FocalSets, is_consonant, random_masses
    >>> focal_sets = FocalSets.full(3)
    >>> masses = random_masses(5, focal_sets, "consonant", random_state=0)
    >>> masses.shape, bool(is_consonant(masses, focal_sets).all())
    ((5, 8), True)
    """
    n_samples = check_integer("n_samples", n_samples, at_least=0)
    check_focal_sets("focal_sets", focal_sets)
    check_choice("kind", kind, _KINDS)
    concentration = check_number(
        "concentration", concentration, at_least=1e-2, at_most=1e6
    )
    if max_carried is not None:
        if kind in ("simple", "logical"):
            raise ValueError(f"max_carried must be None with kind={kind!r}")
        max_carried = check_integer("max_carried", max_carried, at_least=1)
    check_seed("random_state", random_state)
    rng = (
        random_state
        if isinstance(random_state, np.random.RandomState)
        else np.random.RandomState(random_state)
    )

    if kind == "separable":
        return _separable(n_samples, focal_sets, max_carried, rng)
    if kind == "simple":
        return _simple(n_samples, focal_sets, rng)
    allowed = _allowed(focal_sets, kind)
    if kind == "logical":
        masses = np.zeros((n_samples, len(focal_sets)))
        masses[np.arange(n_samples), rng.choice(allowed, n_samples)] = 1.0
        return masses
    # Small keys are drawn first: a random order of the sets in each row.
    keys = np.full((n_samples, len(focal_sets)), np.inf)
    keys[:, allowed] = rng.uniform(size=(n_samples, len(allowed)))
    if kind == "nondogmatic":
        keys[:, focal_sets.frame_index] = -1.0
    if kind == "consonant":
        keys[~_chains(keys, focal_sets)] = np.inf
    if max_carried is not None and max_carried < keys.shape[1]:
        # After chains are complete, or their sets would be those drawn first.
        keys = np.where(
            np.isfinite(keys) & (keys >= 0), rng.uniform(size=keys.shape), keys
        )
        limit = np.sort(keys, axis=1)[:, max_carried - 1, None]
        keys[keys > limit] = np.inf
    return _dirichlet(np.isfinite(keys), concentration, rng)


def _allowed(focal_sets: FocalSets, kind: str) -> NDArray[np.intp]:
    """Columns that may carry mass."""
    if kind == "nondogmatic" and focal_sets.frame_index is None:
        raise ValueError(f"focal_sets must hold Ω with kind={kind!r}")
    is_allowed = np.ones(len(focal_sets), dtype=bool)
    if kind == "bayesian":
        is_allowed = focal_sets.cardinality == 1
    elif kind in ("normal", "logical"):
        is_allowed = focal_sets.cardinality > 0
    if not is_allowed.any():
        expected = "a singleton" if kind == "bayesian" else "a set other than ∅"
        raise ValueError(f"focal_sets must hold {expected} with kind={kind!r}")
    return np.flatnonzero(is_allowed)


def _dirichlet(
    carried: NDArray[np.bool_], concentration: float, rng: np.random.RandomState
) -> Masses:
    """Symmetric Dirichlet numbers where a set carries mass."""
    weights = np.where(carried, rng.gamma(concentration, size=carried.shape), 0.0)
    total = weights.sum(axis=1, keepdims=True)
    # Gamma numbers of a small parameter can all be zero.
    equal = carried / np.maximum(carried.sum(axis=1, keepdims=True), 1)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), equal)


def _chains(keys: Masses, focal_sets: FocalSets) -> NDArray[np.bool_]:
    """Sets taken in the order of their keys if comparable to all taken before."""
    members = focal_sets.membership.astype(float)
    includes = (1.0 - members) @ members.T == 0
    incomparable = ~(includes | includes.T)
    taken = np.zeros(keys.shape, dtype=bool)
    blocked = np.zeros(keys.shape, dtype=bool)
    rows = np.arange(len(keys))
    for column in np.argsort(keys, axis=1).T:
        free = ~blocked[rows, column]
        taken[rows, column] = free
        blocked |= incomparable[column] & free[:, None]
    return taken


def _simple(
    n_samples: int, focal_sets: FocalSets, rng: np.random.RandomState
) -> Masses:
    columns = _proper(focal_sets, "simple")
    if focal_sets.frame_index is None:
        raise ValueError("focal_sets must hold Ω with kind='simple'")
    masses = np.zeros((n_samples, len(focal_sets)))
    weights = rng.uniform(size=n_samples)
    masses[np.arange(n_samples), rng.choice(columns, n_samples)] = 1.0 - weights
    masses[:, focal_sets.frame_index] = weights
    return masses


def _separable(
    n_samples: int,
    focal_sets: FocalSets,
    max_carried: int | None,
    rng: np.random.RandomState,
) -> Masses:
    if not focal_sets.is_full:
        raise ValueError(
            "focal_sets must be FocalSets.full(n_clusters) with kind='separable', got "
            f"{focal_sets}"
        )
    columns = _proper(focal_sets, "separable")
    weights = np.ones((n_samples, len(focal_sets)))
    # From (0, 1], for a weight of 0 would leave no mass on Ω.
    drawn = 1.0 - rng.uniform(size=(n_samples, len(columns)))
    if max_carried is not None and max_carried < len(columns):
        ranks = rng.uniform(size=drawn.shape).argsort(axis=1).argsort(axis=1)
        drawn[ranks >= max_carried] = 1.0
    weights[:, columns] = drawn
    return conjunctive_weights_to_masses(weights)


def _proper(focal_sets: FocalSets, kind: str) -> NDArray[np.intp]:
    """Columns of the sets other than ∅ and Ω."""
    size = focal_sets.cardinality
    columns = np.flatnonzero((size > 0) & (size < focal_sets.n_clusters))
    if not len(columns):
        raise ValueError(
            f"focal_sets must hold a set other than ∅ and Ω with kind={kind!r}"
        )
    return columns
