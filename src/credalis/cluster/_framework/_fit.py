"""How every estimator is fitted: in memory, in blocks or in partitions.

The only place that sets the fitted attributes of an estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from credalis._control import fitting, keeping, past_stopping, stoppable
from credalis._coverage import CoverageCalibration
from credalis._refusals import real_numbers
from credalis._threads import one_thread
from credalis._weights import (
    check_sample_weight,
    copies,
    fingerprints,
)
from credalis.belief import FocalSets
from credalis.checkpoints import Checkpoint
from credalis.cluster._framework._registry import estimator_classes
from credalis.cluster._framework._solution import (
    Solution,
    best_start,
    empty_clusters_last,
)
from credalis.cluster._framework._soundness import (
    warn_of_convergence,
    warn_of_data,
    warn_of_empty_clusters,
    warn_of_outliers,
)
from credalis.cluster._inputs._side_information import KnownRows, among_rows
from credalis.partition import index_of, uncopied_partition
from credalis.sources import ArraySource, DaskSource, Source, as_source

if TYPE_CHECKING:
    from credalis.cluster._framework._estimator import BaseCredalClusterer

# Rows of the sample that gives scales and the start of a fit in blocks.
SAMPLE_ROWS = 10_000

# Arrays of more rows than this are trained on as if they came from a file.
MAX_WHOLE = 200_000

# What can be known about single rows of data that are read in blocks.
_SIDE_INFORMATION = ("partial_labels", "must_link", "cannot_link")

# What validation notes about the columns of X.
_ABOUT_FEATURES = ("n_features_in_", "feature_names_in_", "preparation_", "decisions_")

# Rows of a fit that are remembered.
_MAX_REMEMBERED = 2**17
# Share of rows that must be remembered ones to be no coincidence, and share of rows
# that are equal to each other from which on equal rows mean nothing.
_NO_COINCIDENCE = 0.05


@dataclass(frozen=True, eq=False)
class Outcome:
    """Where a fit has ended.

    Attributes
    ----------
    solution : Solution
        With the masses of the objects, or of the sample of a fit in blocks; once the
        result is stored they are those that are reported.
    focal_sets : FocalSets
        Focal sets of the masses.
    max_iter : int
        The limit that a fit which did not converge has met.
    sample : array of shape (n_rows, n_features) or None
        Of a fit in blocks.
    check : callable
        Warns, once the result is stored, of what is wrong with it; true if the clusters
        are none.
    """

    solution: Solution
    focal_sets: FocalSets
    max_iter: int
    sample: NDArray[np.float64] | None = None
    check: Callable[[], bool | None] = field(default=lambda: None)


@dataclass(frozen=True, eq=False)
class RememberedRows:
    """Fingerprints of rows that a model was fitted to.

    Attributes
    ----------
    prints : array of uint64, ascending
        One number for each row.
    share : float
        Of all rows of the fit, those that are remembered.
    """

    prints: NDArray[np.uint64]
    share: float

    @classmethod
    def of(cls, X: NDArray[np.float64], n_rows: int | None = None) -> RememberedRows:
        """What is remembered of a fit to X, or to more rows of which X is a sample."""
        kept = X[:: -(-len(X) // _MAX_REMEMBERED)]
        total = max(len(X), n_rows or 0)
        return cls(np.unique(fingerprints(kept)), len(kept) / total)

    def n_among(self, X: NDArray[np.float64]) -> int:
        """About how many rows of X are rows of the fit; 0 if rows often repeat."""
        # More than enough, and in no order.
        prints = fingerprints(X[:_MAX_REMEMBERED])
        distinct = np.unique(prints)
        if 1 - len(distinct) / len(prints) > _NO_COINCIDENCE:
            return 0
        n_equal = np.isin(distinct, self.prints, assume_unique=True).sum()
        share = n_equal / self.share / len(prints)
        return 0 if share <= _NO_COINCIDENCE else round(min(share, 1) * len(X))


def fit(
    estimator: BaseCredalClusterer,
    X: Any,
    checkpoint: Any = None,
    *,
    sample_weight: Any = None,
    **given: Any,
) -> None:
    """Validate, run all starts, keep the best, store it.

    Parameters
    ----------
    estimator : BaseCredalClusterer
        Gets the fitted attributes.
    X : array-like, source or Dask collection
        Data.
    checkpoint : None, path or Checkpoint
        Where a fit in blocks continues from.
    sample_weight : None or array-like of shape (n_samples,)
        Weights of the objects.
    **given
        What else is known about the objects: labels, pairs, dissimilarities.
    """
    with fitting(type(estimator).__name__), real_numbers():
        _fit(estimator, X, checkpoint, sample_weight, given)


def _fit(
    estimator: BaseCredalClusterer,
    X: Any,
    checkpoint: Any,
    sample_weight: Any,
    given: dict[str, Any],
) -> None:
    source = _source(
        estimator, X, checkpoint, {**given, "sample_weight": sample_weight}
    )
    if source is not None:
        outcome = _solve_in_blocks(estimator, source, checkpoint, given)
        past_stopping()
        _store_blocks(estimator, outcome, source, _about_features(source))
        _warn(estimator, outcome, **given)
        return
    index = index_of(X)
    X = estimator._validate(X)
    estimator._check_parameters()
    weights = check_sample_weight(sample_weight, len(X))
    is_informed = any(value is not None for value in [weights, *given.values()])
    if checkpoint is not None or estimator._is_for_blocks(X, is_informed):
        about = about_features(estimator)
        is_table = "preparation_" in about
        rows = ArraySource(X, None if is_table else about.get("feature_names_in_"))
        outcome = _solve_in_blocks(estimator, rows, checkpoint, given)
        past_stopping()
        _store_blocks(estimator, outcome, rows, about)
        with one_thread():
            _store_masses(estimator, X, estimator._predict_masses(X))
    elif weights is None:
        outcome = _solve_at_once(estimator, X, given)
    else:
        outcome = _solve_weighted(estimator, X, weights, given)
    if index is not None:
        found = estimator.partition_
        estimator.partition_ = uncopied_partition(found.masses, found.focal_sets, index)
    heavy = None if weights is None else np.flatnonzero(weights)
    _warn(estimator, outcome, X, heavy, **given)


def _solve_at_once(
    estimator: BaseCredalClusterer, X: NDArray[np.float64], given: dict[str, Any]
) -> Outcome:
    """All objects in memory; the result is stored."""
    estimator._check_enough_objects(X)
    rng = check_random_state(estimator.random_state)
    # Sums depend on the number of threads that add; one thread gives the same bits
    # whatever else runs.
    with one_thread():
        outcome = solve(estimator, X, rng, **given)
        past_stopping()
        _store(estimator, outcome, about_features(estimator))
        store_reference(estimator, X, _child(rng))
        _store_masses(estimator, X, estimator._fitted_masses(X, outcome.solution))
    estimator._remembered = RememberedRows.of(X)
    return outcome


def _solve_weighted(
    estimator: BaseCredalClusterer,
    X: NDArray[np.float64],
    weights: NDArray[np.float64],
    given: dict[str, Any],
) -> Outcome:
    """The same for objects with weights; those of weight 0 are only predicted."""
    rows = np.flatnonzero(weights)
    some, weights = estimator._objects(X, rows), weights[rows]
    known = {name: value for name, value in given.items() if value is not None}
    about = {name: known[name] for name in _SIDE_INFORMATION if name in known}
    if about and len(rows) < len(X):
        known |= among_rows(rows, len(X), estimator._parameter("n_clusters"), about)
    estimator._check_enough_objects(some)
    rng = check_random_state(estimator.random_state)
    with one_thread():
        outcome = solve(estimator, some, rng, sample_weight=weights, **known)
        outcome = replace(outcome, solution=outcome.solution.placed(rows, len(X)))
        past_stopping()
        _store(estimator, outcome, about_features(estimator))
        store_reference(estimator, X, _child(rng), rows[copies(some, weights)])
        masses = estimator._fitted_masses(X, outcome.solution)
        if len(rows) < len(X) and estimator._predicts_from_partition:
            estimator.partition_ = uncopied_partition(
                masses.copy(), estimator.focal_sets_
            )
            others = np.setdiff1d(np.arange(len(X)), rows)
            masses[others] = estimator._predict_masses(X[others])
        _store_masses(estimator, X, masses)
    estimator._remembered = RememberedRows.of(X[rows])
    return outcome


def solve(
    estimator: BaseCredalClusterer,
    X: NDArray[np.float64],
    rng: np.random.RandomState,
    *,
    is_quiet: bool = False,
    **given: Any,
) -> Outcome:
    """All starts on objects in memory, the best kept; the estimator is not changed."""
    focal_sets = estimator._first_focal_sets()
    data = estimator._prepare(X, _child(rng), **given)
    # Every random number a start needs comes from its own seed, drawn first, so
    # that the result does not depend on the order in which the starts run.
    seeds = rng.randint(np.iinfo(np.int32).max, size=estimator._n_starts(data))
    solution = best_start(estimator, data, focal_sets, seeds, is_quiet=is_quiet)
    focal_sets = solution.focal_sets or focal_sets
    assert focal_sets is not None, "a start without focal sets finds them"
    if estimator._has_two_steps and not solution.is_interrupted:
        with stoppable(lambda: True) as ending:
            larger = _with_neighboring_pairs(solution.masses, focal_sets)
            solution = best_start(
                estimator, data, larger, seeds[:1], solution, is_quiet=is_quiet
            )
            focal_sets = larger
        if ending.is_early:
            # The first of the two steps is a result, too.
            solution = replace(solution, is_interrupted=True)
    if not estimator._has_fixed_order(data):
        solution, focal_sets = empty_clusters_last(
            solution, focal_sets, keeps_sets=estimator._has_given_sets
        )
    return Outcome(
        solution,
        focal_sets,
        estimator._max_iterations(data),
        check=lambda: estimator._check_solution(data, solution),
    )


def fitted_attributes(estimator: BaseCredalClusterer) -> dict[str, Any]:
    """All fitted attributes of an estimator."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and not name.startswith("_")
    }


def about_features(estimator: BaseCredalClusterer) -> dict[str, Any]:
    """What validation has noted about the columns of X."""
    return {
        name: getattr(estimator, name)
        for name in _ABOUT_FEATURES
        if hasattr(estimator, name)
    }


def note_table(estimator: BaseCredalClusterer, about: Mapping[str, Any]) -> None:
    """Remember what the columns of a table hold, and nothing of an earlier one."""
    for name in _ABOUT_FEATURES:
        if hasattr(estimator, name):
            delattr(estimator, name)
    for name, value in about.items():
        setattr(estimator, name, value)


def set_fitted(estimator: BaseCredalClusterer, attributes: Mapping[str, Any]) -> None:
    """Give an estimator these fitted attributes and no others."""
    for name in fitted_attributes(estimator):
        delattr(estimator, name)
    for name, value in attributes.items():
        setattr(estimator, name, value)


def _store(
    estimator: BaseCredalClusterer, outcome: Outcome, about_features: dict[str, Any]
) -> None:
    set_fitted(
        estimator,
        {
            **about_features,
            "focal_sets_": outcome.focal_sets,
            **outcome.solution.attributes(),
        },
    )


def _store_blocks(
    estimator: BaseCredalClusterer,
    outcome: Outcome,
    source: Source,
    about: dict[str, Any],
) -> None:
    _store(estimator, outcome, about)
    assert outcome.sample is not None
    with one_thread():
        # Not drawn: a fit that continues has no other random numbers left.
        store_reference(estimator, outcome.sample, np.random.RandomState(0))
    estimator._remembered = RememberedRows.of(outcome.sample, source.n_rows)


def store_calibration(
    estimator: BaseCredalClusterer, calibration: CoverageCalibration
) -> None:
    """Keep the thresholds for sets with a level until the next fit."""
    estimator.calibration_ = calibration


def store_reference(
    estimator: BaseCredalClusterer,
    X: NDArray[np.float64],
    rng: np.random.RandomState,
    objects: NDArray[np.intp] | None = None,
) -> None:
    """Keep what new objects are compared with, if ∅ stands for novelty.

    ``objects`` are row numbers of those that count, copies among them; None: all.
    """
    if estimator._reports_novelty:
        estimator.reference_ = estimator._reference_of(X, rng, objects)


def _store_masses(
    estimator: BaseCredalClusterer,
    X: NDArray[np.float64],
    masses: NDArray[np.float64],
) -> None:
    """Store the partition; its masses differ from those that were trained by ∅."""
    if estimator._reports_novelty and estimator._keeps_training_masses:
        estimator.training_masses_ = masses.copy()
    reported = estimator._reported(masses, X)
    estimator.partition_ = uncopied_partition(reported, estimator.focal_sets_)
    estimator.labels_ = estimator.partition_.labels.copy()


def _warn(
    estimator: BaseCredalClusterer,
    outcome: Outcome,
    X: NDArray[np.float64] | None = None,
    rows: NDArray[np.intp] | None = None,
    *,
    object_shape: tuple[int, ...] | None = None,
    **given: Any,
) -> None:
    """Say what the user should know about the result.

    Parameters
    ----------
    estimator : BaseCredalClusterer
        With its fitted attributes.
    outcome : Outcome
        Where its fit has ended.
    X : array or None
        The objects; None: only those of the sample are in memory.
    rows : array of int or None
        Numbers of the objects that have a weight; None: all.
    object_shape : tuple of int or None
        Shape of an object that is not a row of a table.
    **given
        What else was known about the objects.
    """
    is_informed = any(value is not None for value in given.values())
    is_collapsed = bool(outcome.check())
    warn_of_convergence(estimator, outcome.solution, outcome.max_iter)
    partition = getattr(estimator, "partition_", None)
    if partition is None:
        X = outcome.sample
        assert X is not None
        # Of a copy: the solution keeps what the minimisation has left on ∅.
        masses = estimator._reported(outcome.solution.masses.copy(), X)
        partition = uncopied_partition(masses, outcome.focal_sets)
    assert X is not None
    if rows is not None:
        X, partition = estimator._objects(X, rows), partition[rows]
    warn_of_outliers(estimator, partition)
    if not is_collapsed:
        warn_of_empty_clusters(estimator, partition, is_informed=is_informed)
    if object_shape is None and not is_informed:
        with one_thread(), np.errstate(all="ignore"):
            warn_of_data(estimator, X, partition, is_collapsed=is_collapsed)


def _source(
    estimator: BaseCredalClusterer, X: Any, checkpoint: Any, given: dict[str, Any]
) -> Source | None:
    """The source a fit reads in blocks; None if it looks at all objects at once."""
    source = as_source(X)
    if isinstance(source, DaskSource):
        _check_partitions(estimator, {"checkpoint": checkpoint, **given})
        return source
    if source is None and checkpoint is None:
        return None
    if not estimator._reads_blocks:
        raise ValueError(
            f"{type(estimator).__name__} needs all objects at once: X must be an array "
            "or data frame, and checkpoint None"
        )
    _refuse_in_blocks(estimator, given, "data that are read in blocks")
    if source is not None and not source.is_repeatable:
        raise ValueError(
            "X must be readable more than once, for a sample and for the training, got "
            "an iterator: give a list of batches, or "
            "credalis.sources.BatchSource(function that returns an iterator)"
        )
    return source


def _check_partitions(estimator: BaseCredalClusterer, given: dict[str, Any]) -> None:
    if not estimator._reads_partitions:
        able = [cls.__name__ for cls in estimator_classes() if cls._reads_partitions]
        raise ValueError(
            f"X must not be a Dask collection for {type(estimator).__name__}, only "
            f"{', '.join(able)} are fitted to partitions: call compute on it first"
        )
    _refuse_in_blocks(estimator, given, "a Dask collection")


def _refuse_in_blocks(
    estimator: BaseCredalClusterer, given: dict[str, Any], what: str
) -> None:
    """Refuse what cannot be said about rows that are not in memory together."""
    for name, value in given.items():
        is_used = estimator._informs_blocks and name in _SIDE_INFORMATION
        if value is not None and not is_used:
            raise ValueError(
                f"{name} must be None for {what} and {type(estimator).__name__}"
            )


def _solve_in_blocks(
    estimator: BaseCredalClusterer,
    source: Source,
    checkpoint: Any,
    given: dict[str, Any],
) -> Outcome:
    """A start from a sample, training on all rows; continued if it had begun."""
    file = Checkpoint.of(checkpoint)
    estimator._check_parameters()
    estimator._check_blocks(are_partitions=isinstance(source, DaskSource))
    rng = check_random_state(estimator.random_state)
    seeds = rng.randint(np.iinfo(np.int32).max, size=4)
    about = {
        name: given[name] for name in _SIDE_INFORMATION if given.get(name) is not None
    }
    known = None
    if about:
        known = KnownRows.of(
            source.count(), estimator._parameter("n_clusters"), **about
        )
        if len(known.rows) > MAX_WHOLE:
            raise ValueError(
                f"{' and '.join(about)} must be about at most {MAX_WHOLE} rows, which "
                "are held in memory, for data that are read in blocks, got "
                f"{len(known.rows)}"
            )
    state = None
    if file is not None:
        fingerprint = source.fingerprint()
        if known is not None:
            fingerprint += f", {known.fingerprint()}"
        state = file.begin(estimator, fingerprint)
    # Around everything: the workers of a source may be threads of this process, and one
    # of them that ends must not set the others free.
    with one_thread():
        if state is None:
            draw = np.random.RandomState(seeds[0])
            informed: dict[str, Any] = {}
            if known is None:
                sample = source.sample(draw, SAMPLE_ROWS)
            else:
                sample, numbers = source.sample_with(draw, SAMPLE_ROWS, known.rows)
                informed = known.among(numbers)
            if len(sample) < 2:
                raise ValueError(f"X must have at least 2 rows, got {len(sample)}")
            estimator._check_enough_objects(sample)
            start = partial(_started, estimator, sample, seeds[1:], **informed)
            state = source.run(start)
            # The pass for the sample has counted them.
            state["n_rows"] = source.n_rows
            if file is not None:
                file.write(state)
        elif source.n_rows is None:
            source.n_rows = state["n_rows"]
        with keeping():
            return estimator._train_blocks(source, state, file)


def _started(
    estimator: BaseCredalClusterer,
    sample: NDArray[np.float64],
    seeds: NDArray[np.integer],
    **informed: Any,
) -> dict[str, Any]:
    """The state of a fit in blocks before its first pass; maybe on a worker."""
    with one_thread(), real_numbers():
        return estimator._start_blocks(sample, seeds, **informed)


def _about_features(source: Source) -> dict[str, Any]:
    about: dict[str, Any] = {"n_features_in_": source.n_features}
    if source.feature_names is not None:
        about["feature_names_in_"] = np.array(source.feature_names, dtype=object)
    return about


def _with_neighboring_pairs(
    masses: NDArray[np.float64], focal_sets: FocalSets
) -> FocalSets:
    """Singletons and the pairs of clusters that are each other's neighbours."""
    partition = uncopied_partition(masses.view(), focal_sets)
    return FocalSets.pairs(focal_sets.n_clusters, partition.neighboring_clusters())


def _child(rng: np.random.RandomState) -> np.random.RandomState:
    """A generator of its own, so that what it draws does not shift later draws."""
    return np.random.RandomState(rng.randint(np.iinfo(np.int32).max))
