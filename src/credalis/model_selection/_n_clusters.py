"""How many clusters: several criteria over a range, in one call."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from credalis._checks import (
    check_choice,
    check_integer,
    check_n_jobs,
    check_seed,
    naming,
)
from credalis._control import fitting
from credalis._refusals import refuses_by_name
from credalis.model_selection._clusterer import Clusterer
from credalis.model_selection._criteria import (
    TRUST,
    Vote,
    agree_on,
    elbow,
    least_nonspecific,
    most_stable,
)
from credalis.model_selection._fits import (
    Fit,
    Sweep,
    checked_task,
    distinct,
    draw_resamples,
    fit_quietly,
    settled,
    sweep,
)
from credalis.model_selection._selection import Selection
from credalis.model_selection._side_information import RowInformation
from credalis.model_selection._suggestion import suggest_n_clusters
from credalis.peaks import DeltaBel, delta_bel

# Up to here "auto" focal sets are all pairs for all numbers, beyond it singletons.
_MAX_CLUSTERS_WITH_ALL_PAIRS = 8


@refuses_by_name
@fitting("select_n_clusters")
def select_n_clusters(
    estimator: BaseEstimator,
    X: ArrayLike,
    n_clusters: Iterable[int] = range(2, 9),
    *,
    criteria: str | Sequence[str] = "auto",
    n_resamples: int = 10,
    resample_share: float = 0.8,
    partial_labels: ArrayLike | None = None,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    dissimilarities: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Selection:
    """Fit a range of numbers of clusters and suggest one, with the reason.

    Four criteria look at the fits. Each prefers a number or does not decide:

    - *peaks*: the drop in importance after the c-th belief peak of the data is largest.
      It needs no fit. See `credalis.peaks.delta_bel`.
    - *stability*: fits to random parts of the rows should agree on the rows they share.
      Agreement is the adjusted Rand index of the objects that are certainly in a
      cluster, and the number with the largest mean is preferred (of equals the largest
      number), unless it leaves a cluster without objects.
    - *stress*, for estimators that have one: the elbow of the curve, where its
      logarithm is farthest below the chord from end to end. One number of clusters
      fewer is fitted too, so that the smallest can be the elbow.
    - *nonspecificity*: N*(c), the average nonspecificity, is smallest. It decides only
      if all subsets carry mass (``focal_sets="full"``) and the minimum is not at the
      end of the range; with fewer sets, N* falls by itself as c grows.

    The number with most votes is suggested; peaks decide between equals, then
    stability, then stress.

    ``criteria="consensus"`` is another way, which does not ask the estimator: what a
    committee of clusterings and a test for structure say, see `suggest_n_clusters`. The
    answer may then be 1. It takes seconds, as only the suggested number is fitted.

    Numbers of clusters can be compared only if all else is equal. What an estimator
    leaves to the data is therefore fixed for all fits: δ0 of the stress, and delta of
    ECM, at what they are for the number in the middle of the range; focal sets "auto"
    as all pairs, or as singletons if the range goes beyond eight.

    With ``n_init="auto"``, `NNEVCLUS` goes on from number to number, for all rows as
    for each part of them: of two starts, one begins with hard clusters, and one with
    what was found with fewer clusters, of which it divides one. So the stress is lower
    than that of a fit alone for numbers that are too large. Fits of 33 clusters and
    more stand alone.

    Parameters
    ----------
    estimator : clusterer or Pipeline
        What is fitted, with a parameter ``n_clusters``; it is cloned.
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        Data, or dissimilarities for a clusterer with ``metric="precomputed"``.
    n_clusters : iterable of int, default=range(2, 9)
        Numbers to try, all >= 2.
    criteria : "auto", "consensus" or sequence of str, default="auto"
        Which criteria to use; "auto" uses those that apply to the estimator. Only
        "stability" needs resamples, which take most of the time. "consensus" stands
        alone.
    n_resamples : int, default=10
        Number of random parts of the rows, at least 3.
    resample_share : float, default=0.8
        Share of the rows in each part, between 0.5 and 0.95.
    partial_labels, must_link, cannot_link, dissimilarities
        As the estimator's `fit` takes them. In a part of the rows, pairs with an end
        outside are left out and the others renumbered.
    n_jobs : int, default=None
        Number of fits at the same time, as in joblib. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the resamples, of the fits to them, and of fits to all rows if the
        estimator has no seed of its own.

    Returns
    -------
    Selection
        With ``best``, ``reason``, a table and the fitted estimators.

    References
    ----------
    M.-H. Masson and T. Denœux (2008), ECM: An evidential version of the fuzzy c-means
    algorithm, Pattern Recognition 41(4), 1384-1397 (nonspecificity).

    A. Ben-Hur, A. Elisseeff and I. Guyon (2002), A stability based method for
    discovering structure in clustered data, Pacific Symposium on Biocomputing, 6-17.

    V. Satopää, J. Albrecht, D. Irwin and B. Raghavan (2011), Finding a "kneedle" in a
    haystack, ICDCS Workshops, 166-171 (elbow).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from credalis import ECM
    >>> from credalis.model_selection import select_n_clusters
    >>> X, _ = make_blobs(150, centers=4, cluster_std=0.8, random_state=3)
    >>> selection = select_n_clusters(ECM(), X, range(2, 7), random_state=0)
    >>> selection.best
    4
    >>> print(selection.reason)
    4 clusters by peaks and stability; undecided: nonspecificity.
    """
    check = partial(check_integer, "n_clusters", at_least=2)
    numbers = np.array(distinct("n_clusters", n_clusters, check), np.intp)
    is_consensus = isinstance(criteria, str) and criteria == "consensus"
    wanted = () if is_consensus else _checked_criteria(criteria)
    given = {
        "partial_labels": partial_labels,
        "must_link": must_link,
        "cannot_link": cannot_link,
        "dissimilarities": dissimilarities,
    }
    clusterer, information = checked_task(estimator, X, given, "n_clusters")
    check_n_jobs(n_jobs)
    if is_consensus:
        return _by_consensus(clusterer, numbers, X, information, random_state)
    seed, resamples = draw_resamples(
        information.n_samples, n_resamples, resample_share, random_state
    )
    clusterer, fixed = _comparable(clusterer, numbers, X, information, seed)
    fits = sweep(
        [clusterer.with_parameters(n_clusters=int(c)) for c in numbers],
        X,
        information,
        seed=seed,
        resamples=resamples if "stability" in wanted else None,
        n_jobs=n_jobs,
    )
    if not hasattr(fits.clusterers[0], "stress_"):
        wanted = _without_stress(wanted, criteria, clusterer.name)
    tried = _Range(numbers, clusterer, fits, X, information, seed)
    answers = {name: _CRITERIA[name](tried) for name in wanted}
    votes = {name: vote for name, (_, vote) in answers.items()}
    best = agree_on(votes, numbers)
    return Selection(
        parameter="n_clusters",
        values=numbers,
        best=best.value,
        reason=best.reason,
        curves={name: curve for name, (curve, _) in answers.items()},
        errors={"stability": fits.error} if "stability" in wanted else {},
        votes=votes,
        details={"n_nonempty": tried.n_nonempty},
        fixed_params=fixed,
        estimators=dict(zip(numbers.tolist(), fits.estimators, strict=True)),
    )


def _by_consensus(
    clusterer: Clusterer,
    numbers: NDArray[np.intp],
    X: Any,
    information: RowInformation,
    random_state: Any,
) -> Selection:
    """What a committee suggests, and the estimator with this number of clusters."""
    is_square = clusterer.parameters.get("metric") == "precomputed"
    if is_square or information.dissimilarities is not None:
        raise ValueError(
            "criteria must not be 'consensus' for dissimilarities, as its members "
            "cluster rows"
        )
    check_seed("random_state", random_state)
    rng = check_random_state(random_state)
    seed = int(rng.randint(np.iinfo(np.int32).max))
    n_known = information.n_known_clusters
    selection = suggest_n_clusters(
        clusterer.seen(X),
        numbers[numbers >= n_known].tolist(),
        may_be_one=n_known < 2,
        random_state=rng,
    )
    best = clusterer.with_parameters(n_clusters=int(selection.best))
    fitted = fit_quietly(Fit(best, seed), X, information)
    return replace(selection, estimators={selection.best: fitted})


@dataclass(frozen=True, eq=False)
class _Range:
    """The fits of a range of numbers of clusters, and what they were made from."""

    numbers: NDArray[np.intp]
    clusterer: Clusterer
    fits: Sweep
    X: Any
    information: RowInformation
    seed: int

    @property
    def n_nonempty(self) -> NDArray[np.intp]:
        """Number of clusters that have objects, (n_numbers,)."""
        return np.array([len(np.unique(c.labels_)) for c in self.fits.clusterers])


Answer = tuple[NDArray[np.float64], Vote]


def _by_stability(tried: _Range) -> Answer:
    fits = tried.fits
    is_full = tried.n_nonempty == tried.numbers
    return fits.stability, most_stable(tried.numbers, fits.stability, is_full)


def _by_peaks(tried: _Range) -> Answer:
    """Drop after each number of peaks, and the number at the largest drop."""
    numbers, curve = tried.numbers, np.full(len(tried.numbers), np.nan)
    try:
        graph = _graph(tried)
    except ValueError as error:
        return curve, Vote(None, f"there is no δ-Bel graph ({error})")
    is_known = numbers < 2 + len(graph.drops)
    curve[is_known] = graph.drops[numbers[is_known] - 2]
    suggested = len(graph.suggest())
    if suggested not in numbers:
        return curve, Vote(None, f"{suggested} peaks stand out, which was not tried")
    return curve, Vote(suggested, f"{suggested} objects stand out as centres")


def _by_stress(tried: _Range) -> Answer:
    curve = np.array([each.stress_ for each in tried.fits.clusterers])
    fewer = int(tried.numbers[0]) - 1
    if fewer < max(1, tried.information.n_known_clusters):
        return curve, elbow(tried.numbers, curve)
    fit = Fit(tried.clusterer.with_parameters(n_clusters=fewer), tried.seed)
    first = fit_quietly(fit, tried.X, tried.information)
    stress = np.array([tried.clusterer.inside(first).stress_, *curve])
    return curve, elbow(np.array([fewer, *tried.numbers]), stress)


def _by_nonspecificity(tried: _Range) -> Answer:
    partitions = tried.fits.partitions
    curve = np.array([each.average_nonspecificity for each in partitions])
    n_sets = np.array([len(each.focal_sets) for each in partitions])
    return curve, least_nonspecific(tried.numbers, curve, n_sets == 2.0**tried.numbers)


_CRITERIA: dict[str, Callable[[_Range], Answer]] = {
    "peaks": _by_peaks,
    "stability": _by_stability,
    "stress": _by_stress,
    "nonspecificity": _by_nonspecificity,
}


def _comparable(
    clusterer: Clusterer,
    numbers: NDArray[np.intp],
    X: Any,
    information: RowInformation,
    seed: int,
) -> tuple[Clusterer, dict[str, Any]]:
    """The clusterer with nothing left open that would change with the number."""
    fixed: dict[str, Any] = {}
    focal_sets = clusterer.parameters.get("focal_sets")
    if isinstance(focal_sets, str) and focal_sets == "auto":
        few = numbers[-1] <= _MAX_CLUSTERS_WITH_ALL_PAIRS
        fixed["focal_sets"] = "pairs" if few else "singletons"
    middle = int(numbers[(len(numbers) - 1) // 2])
    seeded = Clusterer(clusterer.with_seed(seed, only_missing=True), clusterer.prefix)
    _, scales = settled(
        seeded.with_parameters(n_clusters=middle, **fixed),
        X,
        information,
        names=("dissimilarity_scale", "delta"),
    )
    fixed.update(scales)
    return clusterer.with_parameters(**fixed), fixed


def _graph(tried: _Range) -> DeltaBel:
    """The δ-Bel graph of what the clusterer sees."""
    if tried.information.dissimilarities is not None:
        return delta_bel(tried.information.dissimilarities, metric="precomputed")
    X, fitted = tried.X, tried.fits.estimators[0]
    while hasattr(fitted, "steps"):
        if len(fitted.steps) > 1:
            X = fitted[:-1].transform(X)
        fitted = fitted[-1]
    parameters = tried.clusterer.parameters
    metric = parameters.get("metric", "euclidean")
    if metric == "adaptive":
        # Distances that the fit has learned from its own clusters show no others.
        metric = "euclidean"
    elif getattr(fitted, "transformer_", None) is not None:
        X, metric = fitted.transformer_.transform(X), "euclidean"
    return delta_bel(
        X, metric=metric, symmetrize=bool(parameters.get("symmetrize", False))
    )


def _without_stress(
    wanted: tuple[str, ...], criteria: str | Sequence[str], name: str
) -> tuple[str, ...]:
    """The criteria for a clusterer that has no stress, unless it was asked for."""
    is_auto = isinstance(criteria, str) and criteria == "auto"
    if "stress" in wanted and not is_auto:
        raise ValueError(
            f"criteria must not hold 'stress' for {name}, which has none, got "
            f"{criteria!r}"
        )
    return tuple(each for each in wanted if each != "stress")


def _checked_criteria(criteria: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(criteria, str):
        check_choice("criteria", criteria, ("auto", "consensus", *TRUST))
        return TRUST if criteria == "auto" else (criteria,)
    if not isinstance(criteria, Iterable):
        raise ValueError(f"criteria must be a list of names, got {criteria!r}")
    with naming("criteria"):
        listed = tuple(check_choice("criteria", each, TRUST) for each in criteria)
    if not listed or len(set(listed)) < len(listed):
        raise ValueError(
            f"criteria must hold one or more different names, got {listed}"
        )
    return listed
