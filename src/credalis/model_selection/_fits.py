"""Many fits of one estimator, at the same time and with seeds drawn beforehand."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, get_tags

from credalis._checks import check_integer, check_number, check_seed, naming, shown
from credalis._control import method_at_work, poll
from credalis._parallel import in_parallel
from credalis._progress import Progress
from credalis._rows import Rows, number_of_rows, take_rows
from credalis._warnings import warn_user
from credalis.exceptions import (
    EmptyClusterWarning,
    MergedClustersWarning,
    NoClustersWarning,
)
from credalis.model_selection._clusterer import Clusterer
from credalis.model_selection._criteria import certain_clusters, stability
from credalis.model_selection._side_information import RowInformation
from credalis.partition import CredalPartition

_MAX_SEED = np.iinfo(np.int32).max

# A resample leaves out some rows, and two objects are the least that can be clustered.
_MIN_ROWS = 3

# That a number of clusters or a scale does not suit the data is what is found out.
_EXPECTED = (EmptyClusterWarning, MergedClustersWarning, NoClustersWarning)


@dataclass(frozen=True, eq=False)
class Fit:
    """One fit to be made.

    Attributes
    ----------
    clusterer : Clusterer
        What is fitted.
    seed : int
        Seed of this fit.
    rows : array of int, or None
        Rows it is fitted to; None stands for all.
    """

    clusterer: Clusterer
    seed: int
    rows: Rows | None = None


@dataclass(frozen=True, eq=False)
class Resamples:
    """Random parts of the rows, and a seed for the fits to each."""

    rows: list[Rows]
    seeds: list[int]


def checked_task(
    estimator: Any, X: Any, given: Mapping[str, Any], parameter: str
) -> tuple[Clusterer, RowInformation]:
    """The clusterer that has this parameter, and what is known about the rows."""
    clusterer = Clusterer.find(estimator)
    clusterer.require(parameter)
    information = RowInformation(number_of_rows(X), given)
    information.check_used_by(clusterer)
    return clusterer, information


def distinct(name: str, values: Any, check: Callable[[Any], Any]) -> list[Any]:
    """Two or more different numbers in increasing order, each of them checked."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(
            f"{name} must be a list or range of numbers, got {shown(values)}"
        )
    with naming(name):
        listed = [check(value) for value in values]
    if len(set(listed)) < max(2, len(listed)):
        raise ValueError(
            f"{name} must hold two or more different numbers, got {listed}"
        )
    return sorted(listed)


def draw_resamples(
    n_samples: int, n_resamples: int, share: float, random_state: Any
) -> tuple[int, Resamples]:
    """A seed for the fits to all rows, and random parts of the rows."""
    check_seed("random_state", random_state)
    rng = check_random_state(random_state)
    check_integer("n_resamples", n_resamples, at_least=3)
    check_number("resample_share", share, at_least=0.5, at_most=0.95)
    if n_samples < _MIN_ROWS:
        raise ValueError(f"X must have at least {_MIN_ROWS} rows, got {n_samples}")
    seed = int(rng.randint(_MAX_SEED))
    size = max(2, round(share * n_samples))
    rows = [
        np.sort(rng.choice(n_samples, size, replace=False)) for _ in range(n_resamples)
    ]
    return seed, Resamples(rows, rng.randint(_MAX_SEED, size=n_resamples).tolist())


@dataclass(frozen=True, eq=False)
class Sweep:
    """Fits of several candidates.

    Attributes
    ----------
    estimators : list
        Fitted to all rows.
    clusterers : list
        The clusterers in them.
    partitions : list of CredalPartition
        What these were trained to, before ∅ stood for novelty.
    stability, error : array of shape (n_candidates,)
        Agreement of the fits to the resamples, and its standard error; NaN without
        resamples.
    """

    estimators: list[Any]
    clusterers: list[Any]
    partitions: list[CredalPartition]
    stability: NDArray[np.float64]
    error: NDArray[np.float64]


def sweep(
    candidates: Sequence[Clusterer],
    X: Any,
    information: RowInformation,
    *,
    seed: int,
    resamples: Resamples | None,
    n_jobs: int | None,
) -> Sweep:
    """Fit each candidate to all rows and to each of the resamples."""
    rows, seeds = (resamples.rows, resamples.seeds) if resamples else ([], [])
    whole = [Fit(each, seed) for each in candidates]
    parts = [
        Fit(each, own_seed, own_rows)
        for each in candidates
        for own_seed, own_rows in zip(seeds, rows, strict=True)
    ]
    results = fit_all([*whole, *parts], X, information, n_jobs)
    estimators, certain = results[: len(whole)], results[len(whole) :]
    per_candidate = np.full((len(candidates), 2), np.nan)
    if rows:
        for k in range(len(candidates)):
            own = certain[k * len(rows) : (k + 1) * len(rows)]
            per_candidate[k] = stability(own, rows)
    return Sweep(
        estimators,
        [own.inside(each) for own, each in zip(candidates, estimators, strict=True)],
        [
            own.training_partition(each, X)
            for own, each in zip(candidates, estimators, strict=True)
        ],
        *per_candidate.T,
    )


def fit_all(
    fits: Sequence[Fit], X: Any, information: RowInformation, n_jobs: int | None
) -> list[Any]:
    """Fitted estimators for fits to all rows, certain clusters for fits to some.

    What the fits warn of is told once, with the number of fits it concerns.
    """
    chains = _chains(fits)
    outcomes = in_parallel(
        _fit_chain,
        [([fits[k] for k in chain], X, information) for chain in chains],
        n_jobs=n_jobs,
        progress=Progress(
            method_at_work(), n_runs=len(chains), max_iter=1, enabled=False
        ),
    )
    results: list[Any] = [None] * len(fits)
    told: Counter = Counter()
    for chain, answers in zip(chains, outcomes, strict=True):
        for k, (result, messages) in zip(chain, answers, strict=True):
            results[k] = result
            told.update(messages)
    for (category, text), count in told.items():
        warn_user(f"{text} ({count} of {len(fits)} fits)", category)
    return results


def fit_quietly(fit: Fit, X: Any, information: RowInformation) -> Any:
    """A fitted estimator, whatever the fit warns of."""
    return _fitted(fit, X, information)[0]


def settled(
    clusterer: Clusterer,
    X: Any,
    information: RowInformation,
    names: Iterable[str],
) -> tuple[Clusterer, dict[str, float]]:
    """Scales that are left to the data, fixed at what they are for all rows.

    Returns
    -------
    clusterer : Clusterer
        With these parameters set.
    fixed : dict
        The parameters and their values.
    """
    attributes = {k: v for k, v in clusterer.open_scales().items() if k in names}
    if not attributes:
        return clusterer, {}
    # A scale is known before the first iteration.
    short = {"n_init": 1, "max_iter": 1}
    quick = clusterer.with_parameters(
        **{k: v for k, v in short.items() if k in clusterer.parameters}
    )
    fitted = fit_quietly(Fit(quick, seed=0), X, information)
    inner = clusterer.inside(fitted)
    fixed = {
        name: float(getattr(inner, attribute))
        for name, attribute in attributes.items()
        if hasattr(inner, attribute)
    }
    return clusterer.with_parameters(**fixed), fixed


def _cost(fit: Fit) -> int:
    return fit.clusterer.parameters.get("n_clusters", 0)


def _chains(fits: Sequence[Fit]) -> list[list[int]]:
    """Numbers of fits that follow each other, each beginning with what the last found.

    They have the same rows and ever more clusters. Of other fits each stands alone.
    """
    order = sorted(range(len(fits)), key=lambda k: _cost(fits[k]))
    chains: dict[Any, list[int]] = {}
    for k in order:
        begins = getattr(fits[k].clusterer.inner, "_begins_with_fewer", False)
        rows = fits[k].rows
        key = (None if rows is None else id(rows)) if begins else (k,)
        chain = chains.setdefault(key, [])
        if chain and _cost(fits[k]) == _cost(fits[chain[-1]]):
            chain = chains.setdefault((k,), [])
        chain.append(k)
    # The largest numbers of clusters take longest: first, so that none is waited for.
    return sorted(chains.values(), key=lambda chain: -_cost(fits[chain[-1]]))


Answer = tuple[Any, set[tuple[type[Warning], str]]]


def _fit_chain(
    fits: Sequence[Fit], X: Any, information: RowInformation
) -> list[Answer]:
    """Fits that follow each other, possibly in another process."""
    answers: list[Answer] = []
    fewer = None
    for fit in fits:
        estimator, part, messages = _fitted(fit, X, information, fewer)
        fewer = fit.clusterer.inside(estimator)
        if fit.rows is None:
            answers.append((estimator, messages))
        else:
            partition = fit.clusterer.training_partition(estimator, part)
            answers.append((certain_clusters(partition), messages))
    return answers


def _fitted(
    fit: Fit, X: Any, information: RowInformation, fewer: Any = None
) -> tuple[Any, Any, set[tuple[type[Warning], str]]]:
    """A fitted estimator, what it was fitted to, and what the fit warns of."""
    is_whole = fit.rows is None
    estimator = fit.clusterer.with_seed(fit.seed, only_missing=is_whole)
    inner = fit.clusterer.inside(estimator)
    if fewer is not None:
        inner._fewer = fewer
    part = _part(estimator, X, fit.rows)
    rows = np.arange(information.n_samples) if fit.rows is None else fit.rows
    prefix = fit.clusterer.prefix
    known = {prefix + k: v for k, v in information.of(rows).items()}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(part, **known)
    # The best so far of a fit that was stopped is nothing to compare.
    poll()
    if not hasattr(fit.clusterer.inside(estimator), "partition_"):
        raise ValueError(
            "estimator must find credal partitions, as those of credalis do, got "
            f"{fit.clusterer.name}, which has no partition_ after its fit"
        )
    messages = {
        (each.category, str(each.message))
        for each in caught
        if not issubclass(each.category, _EXPECTED)
    }
    if fewer is not None:
        del inner._fewer
    return estimator, part, messages


def _part(estimator: Any, X: Any, rows: Rows | None) -> Any:
    """Some rows of X, or all."""
    if rows is None:
        return X
    is_pairwise = get_tags(estimator).input_tags.pairwise
    return take_rows(X, rows, is_pairwise=is_pairwise)
