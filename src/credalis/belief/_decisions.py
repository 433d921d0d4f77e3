"""Decisions with utilities when probabilities are known only up to masses.

A decision is about acts; ``utilities[a, k]`` is what act a brings if cluster k is the
truth. Mass on ∅ is divided out, as in `dempster_normalize`.
"""

from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_choice, check_moderate, check_number, check_numbers
from credalis._refusals import refuses_by_name
from credalis.belief._focal_sets import FocalSets
from credalis.belief._lists import check_mass_functions
from credalis.belief._transforms import Masses, dempster_normalize, pignistic

_CRITERIA = ("pignistic", "maximin", "maximax", "hurwicz", "minimax_regret")
_CHOICES = ("interval", "maximality", "e_admissibility")

# Differences of expected utilities up to this share of their range are rounding, of
# sums and of a linear programme.
_TOLERANCE = 1e-12
_PROGRAM_TOLERANCE = 1e-8


@refuses_by_name
def act_scores(
    masses: ArrayLike,
    focal_sets: FocalSets,
    utilities: ArrayLike,
    criterion: Literal[
        "pignistic", "maximin", "maximax", "hurwicz", "minimax_regret"
    ] = "pignistic",
    *,
    pessimism: float = 0.5,
) -> Masses:
    """What each act is worth by a criterion; the largest is the best.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.
    utilities : array-like of shape (n_acts, n_clusters)
        Utility of each act if a cluster is the truth.
    criterion : str, default="pignistic"
        - "pignistic": the expected utility under the pignistic probability;
        - "maximin": the lower expectation, Σ m(A) min u over A;
        - "maximax": the upper expectation, Σ m(A) max u over A;
        - "hurwicz": `pessimism` times the lower plus (1 - `pessimism`) times the
          upper expectation;
        - "minimax_regret": minus the expected regret, Σ m(A) max r over A, with
          r(a, ω) = max u(b, ω) - u(a, ω) over all acts b.
    pessimism : float, default=0.5
        Weight of the worst case, in [0, 1], with criterion="hurwicz".

    Returns
    -------
    array of shape (..., n_acts)

    References
    ----------
    Denœux, T. (2019). Decision-making with belief functions: a review. Int. J. of
    Approximate Reasoning 109, 87-110.

    Examples
    --------
    >>> from credalis.belief import FocalSets, act_scores
    >>> utilities = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]]
    >>> act_scores([0.0, 0.5, 0.1, 0.4], FocalSets.full(2), utilities, "maximin")
    array([0.5, 0.1, 0.6])
    """
    check_choice("criterion", criterion, _CRITERIA)
    pessimism = check_number("pessimism", pessimism, at_least=0, at_most=1)
    masses, focal_sets = _normal_masses(masses, focal_sets)
    utilities = _check_utilities(utilities, focal_sets.n_clusters)
    if criterion == "pignistic":
        return pignistic(masses, focal_sets) @ utilities.T
    if criterion == "minimax_regret":
        regrets = utilities.max(axis=0) - utilities
        return -(masses @ _largest(regrets, focal_sets))
    weight = {"maximin": 1.0, "maximax": 0.0, "hurwicz": pessimism}[criterion]
    values = weight * _smallest(utilities, focal_sets)
    values += (1 - weight) * _largest(utilities, focal_sets)
    return masses @ values


@refuses_by_name
def decide(
    masses: ArrayLike,
    focal_sets: FocalSets,
    utilities: ArrayLike,
    criterion: Literal[
        "pignistic", "maximin", "maximax", "hurwicz", "minimax_regret"
    ] = "pignistic",
    *,
    pessimism: float = 0.5,
) -> NDArray[np.intp]:
    """The best act by a criterion, the first of several.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions, one per row.
    focal_sets : FocalSets
        What the columns of the masses stand for.
    utilities, criterion, pessimism : as in `act_scores`
        What the acts are worth, and how they are judged.

    Returns
    -------
    array of shape (...,)
        Rows of `utilities`.

    Examples
    --------
    >>> from credalis.belief import FocalSets, decide
    >>> utilities = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]]
    >>> masses = [[0.0, 0.5, 0.1, 0.4], [0.0, 0.7, 0.1, 0.2]]
    >>> decide(masses, FocalSets.full(2), utilities, "maximin")
    array([2, 0])
    """
    scores = act_scores(masses, focal_sets, utilities, criterion, pessimism=pessimism)
    return scores.argmax(axis=-1)


@refuses_by_name
def admissible_acts(
    masses: ArrayLike,
    focal_sets: FocalSets,
    utilities: ArrayLike,
    criterion: Literal["interval", "maximality", "e_admissibility"] = "maximality",
) -> NDArray[np.bool_]:
    """Which acts no other one is surely better than.

    The masses allow the probabilities p with p(A) >= Bel(A) for all A. Each criterion
    keeps at least one act, and no more than the one before:

    - "interval": acts whose upper expectation reaches every lower expectation;
    - "maximality": acts such that no other has a larger expected utility under all
      these probabilities;
    - "e_admissibility": acts that have the largest expected utility under at least one
      of them; found by linear programmes, one for each doubtful act of a row.

    Parameters
    ----------
    masses : array-like of shape (..., n_focal_sets)
        Mass functions.
    focal_sets : FocalSets
        What the columns stand for.
    utilities : array-like of shape (n_acts, n_clusters)
        Utility of each act if a cluster is the truth.
    criterion : {"interval", "maximality", "e_admissibility"}, default="maximality"
        Which acts are kept.

    Returns
    -------
    bool array of shape (..., n_acts)

    References
    ----------
    Troffaes, M. (2007). Decision making under uncertainty using imprecise
    probabilities. Int. J. of Approximate Reasoning 45, 17-29.

    Examples
    --------
    >>> from credalis.belief import FocalSets, admissible_acts
    >>> utilities = [[1.0, 0.0], [0.0, 1.0], [0.4, 0.4]]
    >>> vacuous = [0.0, 0.0, 0.0, 1.0]
    >>> admissible_acts(vacuous, FocalSets.full(2), utilities)
    array([ True,  True,  True])
    >>> admissible_acts(vacuous, FocalSets.full(2), utilities, "e_admissibility")
    array([ True,  True, False])
    """
    check_choice("criterion", criterion, _CHOICES)
    masses, focal_sets = _normal_masses(masses, focal_sets)
    values = _check_utilities(utilities, focal_sets.n_clusters)
    # Whatever the units, the utilities then lie between 0 and 1.
    width = np.ptp(values)
    values = (values - values.min()) / (width if width > 0 else 1.0)
    if criterion == "interval":
        lower = masses @ _smallest(values, focal_sets)
        upper = masses @ _largest(values, focal_sets)
        return upper >= lower.max(axis=-1, keepdims=True) - _TOLERANCE
    maximal = _maximal(masses, focal_sets, values)
    # Of two acts, each that is not dominated is the best for some probability.
    if criterion == "maximality" or len(values) <= 2:
        return maximal
    best = _is_best_at_guesses(masses, focal_sets, values)
    admissible = best.reshape(-1, len(values))
    doubtful = (maximal & ~best).reshape(admissible.shape)
    rows = masses.reshape(-1, len(focal_sets))
    for row, act in np.argwhere(doubtful):
        admissible[row, act] = _is_best_somewhere(
            rows[row], focal_sets.membership, values, act
        )
    return admissible.reshape(maximal.shape)


@refuses_by_name
def partial_utilities(
    utilities: ArrayLike,
    tolerance: float = 0.8,
    subsets: FocalSets | Iterable[Iterable[int]] | None = None,
) -> tuple[Masses, FocalSets]:
    """Utilities of partial assignments: acts that name a set instead of one cluster.

    The utility of a set of acts is the ordered weighted average of theirs, from the
    best to the worst, with the weights of largest entropy whose degree of optimism,
    Σ g_i (n - i) / (n - 1), is the tolerance. Such a matrix can be used with
    `decide` and `admissible_acts`.

    Parameters
    ----------
    utilities : array-like of shape (n_acts, n_clusters)
        Utility of each single act if a cluster is the truth; ``numpy.eye(n_clusters)``
        if all errors are equally bad.
    tolerance : float, default=0.8
        Tolerance to imprecision, in [0, 1]. 1: a set is worth as much as its best act,
        so that Ω is always as good as any other. 0.5: their mean, so that sets are
        hardly better than guesses. Values between are the useful ones.
    subsets : FocalSets or iterable of subsets, default=None
        The sets of acts; None stands for all that are not empty, of at most 12 acts.

    Returns
    -------
    utilities : array of shape (n_subsets, n_clusters)
    subsets : FocalSets
        What the rows stand for.

    References
    ----------
    Ma, L., Denœux, T. (2021). Partial classification in the belief function
    framework. Knowledge-Based Systems 214, 106742.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.belief import FocalSets, decide, partial_utilities
    >>> utilities, acts = partial_utilities(np.eye(3))
    >>> choice = decide([[0.45, 0.45, 0.1]], FocalSets.singletons(3, empty=False,
    ...                 frame=False), utilities)
    >>> acts.names[choice[0]]
    '{0,1}'
    """
    array = _check_utilities(utilities)
    tolerance = check_number("tolerance", tolerance, at_least=0, at_most=1)
    n_acts = len(array)
    if subsets is None:
        sets = FocalSets.full(n_acts, empty=False)
    elif isinstance(subsets, FocalSets):
        sets = subsets
    else:
        sets = FocalSets.from_subsets(n_acts, subsets)
    if sets.n_clusters != n_acts or not sets.cardinality.all():
        raise ValueError(
            f"subsets must be sets of the {n_acts} acts that are not empty, got {sets}"
        )
    extended = np.empty((len(sets), array.shape[1]))
    for size in np.unique(sets.cardinality):
        weights = _owa_weights(int(size), tolerance)
        chosen = np.flatnonzero(sets.cardinality == size)
        members = np.array([sets.subsets[j] for j in chosen])
        ordered = -np.sort(-array[members], axis=1)
        extended[chosen] = np.einsum("i,jik->jk", weights, ordered)
    return extended, sets


def _normal_masses(
    masses: ArrayLike, focal_sets: FocalSets
) -> tuple[Masses, FocalSets]:
    """Masses without ∅."""
    checked = check_mass_functions("masses", masses, focal_sets)
    checked, focal_sets = dempster_normalize(checked, focal_sets)
    empty = focal_sets.empty_index
    if empty is None:
        return checked, focal_sets
    subsets = focal_sets.subsets[:empty] + focal_sets.subsets[empty + 1 :]
    if not subsets:  # rows that are all on ∅ have got Ω: there are no rows
        return np.ones((*checked.shape[:-1], 1)), FocalSets(
            focal_sets.n_clusters, (tuple(range(focal_sets.n_clusters)),)
        )
    return np.delete(checked, empty, axis=-1), FocalSets(focal_sets.n_clusters, subsets)


def _check_utilities(utilities: ArrayLike, n_clusters: int | None = None) -> Masses:
    array = check_numbers("utilities", utilities)
    if array.ndim != 2 or not array.size or n_clusters not in (None, array.shape[1]):
        expected = "n_clusters" if n_clusters is None else n_clusters
        raise ValueError(
            f"utilities must have shape (n_acts, {expected}), got {array.shape}"
        )
    return check_moderate("utilities", array)


def _largest(values: Masses, focal_sets: FocalSets) -> Masses:
    """Largest value within each focal set, shape (n_focal_sets, n_rows)."""
    inside = focal_sets.membership[:, None, :]
    return np.where(inside, values, -np.inf).max(axis=-1)


def _smallest(values: Masses, focal_sets: FocalSets) -> Masses:
    return -_largest(-values, focal_sets)


def _maximal(
    masses: Masses, focal_sets: FocalSets, utilities: Masses
) -> NDArray[np.bool_]:
    """Acts that no act has a larger expected utility than for all probabilities."""
    maximal = np.ones((*masses.shape[:-1], len(utilities)), dtype=bool)
    for act in utilities:
        # Lower expectation of what this act brings more than each of the others.
        gains = masses @ _smallest(act - utilities, focal_sets)
        maximal &= gains <= _TOLERANCE
    return maximal


def _is_best_at_guesses(
    masses: Masses, focal_sets: FocalSets, utilities: Masses
) -> NDArray[np.bool_]:
    """Acts that are the best for probabilities that are easily found.

    These are the pignistic ones, and for each act those that give the mass of a set to
    the cluster where the act compares best. They spare most linear programmes.
    """
    expected = pignistic(masses, focal_sets) @ utilities.T
    best = expected >= expected.max(axis=-1, keepdims=True)
    for act in range(len(utilities)):
        gains = utilities[act] - np.delete(utilities, act, axis=0).max(axis=0)
        favoured = np.where(focal_sets.membership, gains, -np.inf).argmax(axis=1)
        expected = masses @ utilities.T[favoured]
        best[..., act] |= expected[..., act] >= expected.max(axis=-1)
    return best


def _is_best_somewhere(
    row: Masses, membership: NDArray[np.bool_], utilities: Masses, act: int
) -> bool:
    """Whether an act is the best for some way to divide the masses among clusters.

    Largest t such that act - other >= t in expectation for all others, t >= 0?
    """
    from scipy.optimize import linprog

    carried = row > 0
    owners, clusters = np.nonzero(membership[carried])
    shares = np.arange(len(owners))
    # Variables: the share of focal set `owners[j]` for cluster `clusters[j]`, and t.
    divided = np.zeros((int(carried.sum()), len(owners) + 1))
    divided[owners, shares] = 1.0
    others = np.delete(utilities, act, axis=0) - utilities[act]
    worse = np.column_stack([others[:, clusters], np.ones(len(others))])
    result = linprog(
        -np.eye(len(owners) + 1)[-1],
        A_ub=worse,
        b_ub=np.zeros(len(others)),
        A_eq=divided,
        b_eq=row[carried],
        bounds=[(0, None)] * len(owners) + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10},
    )
    if result.x is None:
        raise RuntimeError(f"a linear programme was not solved: {result.message}")
    return bool(result.x[-1] >= -_PROGRAM_TOLERANCE)


def _owa_weights(size: int, tolerance: float) -> Masses:
    """Weights of largest entropy with a given degree of optimism, best first.

    They are geometric, g_i ∝ exp(λ (n - i)); λ is found by bisection.
    """
    if size == 1:
        return np.ones(1)
    if tolerance in (0.0, 1.0):
        return np.eye(size)[0 if tolerance == 1.0 else -1]
    steps = np.arange(size - 1, -1, -1.0)

    def weights(rate: float) -> Masses:
        powers = np.exp(rate * steps - max(rate * (size - 1), 0.0))
        return powers / powers.sum()

    low, high = -700.0, 700.0
    for _ in range(80):
        middle = (low + high) / 2
        if weights(middle) @ steps < tolerance * (size - 1):
            low = middle
        else:
            high = middle
    return weights((low + high) / 2)
