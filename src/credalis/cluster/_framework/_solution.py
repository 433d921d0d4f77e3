"""Several starts of an algorithm, of which the best is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from credalis._control import keeping, listeners, poll, stoppable
from credalis._parallel import Missing, answers_so_far
from credalis._progress import Progress, Report
from credalis._refusals import real_numbers
from credalis._threads import one_thread
from credalis.belief import FocalSets
from credalis.optimize import Trace
from credalis.partition import uncopied_partition

if TYPE_CHECKING:
    from credalis.cluster._framework._estimator import BaseCredalClusterer

# Starts that run in the same calls.
_MAX_TOGETHER = 8


@dataclass(frozen=True, eq=False)
class Solution:
    """Where one start of an algorithm ended.

    Attributes
    ----------
    masses : array of shape (n_samples, n_focal_sets)
        Masses of the objects.
    trace : Trace
        Losses and convergence.
    per_cluster : dict of arrays
        Fitted attributes whose first axis is the clusters.
    per_set : dict of arrays
        Fitted attributes whose first axis is the focal sets.
    row_numbers : dict of arrays of int
        Fitted attributes that are row numbers.
    other : dict
        Further fitted attributes.
    focal_sets : FocalSets or None
        What the columns of the masses stand for, if the start itself has found the
        number of clusters; None: the sets that it was given.
    is_interrupted : bool
        Whether the user stopped the run; the rest is the best found until then.
    """

    masses: NDArray[np.float64]
    trace: Trace
    _: KW_ONLY
    per_cluster: dict[str, NDArray[Any]] = field(default_factory=dict)
    per_set: dict[str, NDArray[Any]] = field(default_factory=dict)
    row_numbers: dict[str, NDArray[np.intp]] = field(default_factory=dict)
    other: dict[str, Any] = field(default_factory=dict)
    focal_sets: FocalSets | None = None
    is_interrupted: bool = False

    def attributes(self) -> dict[str, Any]:
        """Fitted attributes, without those about single objects."""
        return {
            "loss_": self.trace.loss,
            "history_": self.trace.losses,
            "n_iter_": self.trace.n_iter,
            **self.per_cluster,
            **self.per_set,
            **self.row_numbers,
            **self.other,
        }

    def placed(self, rows: NDArray[np.intp], n_samples: int) -> Self:
        """The same as a solution about more rows, of which these have been solved.

        Nothing is known about the masses of the others, which are uniform.
        """
        n_sets = self.masses.shape[1]
        masses = np.full((n_samples, n_sets), 1.0 / n_sets)
        masses[rows] = self.masses
        numbers = {name: rows[own] for name, own in self.row_numbers.items()}
        return replace(self, masses=masses, row_numbers=numbers)

    def renumbered(
        self,
        new_labels: NDArray[np.intp],
        columns: NDArray[np.intp],
        focal_sets: FocalSets,
    ) -> Self:
        """The same with cluster k called ``new_labels[k]``.

        Column j of the new masses is column ``columns[j]`` of the old ones and stands
        for set j of ``focal_sets``.
        """
        order = np.argsort(new_labels)
        has_same_columns = (columns == np.arange(len(columns))).all()
        return replace(
            self,
            masses=self.masses if has_same_columns else self.masses[:, columns],
            per_cluster={k: values[order] for k, values in self.per_cluster.items()},
            per_set={k: values[columns] for k, values in self.per_set.items()},
        )


def empty_clusters_last(
    solution: Solution, focal_sets: FocalSets, *, keeps_sets: bool
) -> tuple[Solution, FocalSets]:
    """Renumber so that clusters without objects come last.

    With ``keeps_sets`` the clusters stay as they are if other numbers would need other
    focal sets.
    """
    # A view, so that the masses themselves can still be written to.
    labels = uncopied_partition(solution.masses.view(), focal_sets).labels
    is_empty = np.bincount(labels, minlength=focal_sets.n_clusters) == 0
    new_labels = np.argsort(np.argsort(is_empty, kind="stable"))
    renamed = focal_sets.relabel(new_labels)
    if set(renamed) == set(focal_sets):
        columns = np.array([renamed.index(subset) for subset in focal_sets])
        return solution.renumbered(new_labels, columns, focal_sets), focal_sets
    if keeps_sets:
        return solution, focal_sets
    columns = np.arange(len(renamed))
    return solution.renumbered(new_labels, columns, renamed), renamed


def best_start(
    estimator: BaseCredalClusterer,
    data: Any,
    focal_sets: FocalSets | None,
    seeds: NDArray[np.integer],
    previous: Solution | None = None,
    *,
    is_quiet: bool = False,
) -> Solution:
    """The solution of lowest loss over starts with these seeds, or over those so far.

    Ctrl-C and a cancel end all starts. KeyboardInterrupt passes if none has found
    anything yet.
    """
    is_watched = (estimator.verbose or listeners()) and not is_quiet
    if not is_watched:
        return _best_of(estimator, data, focal_sets, seeds, previous, None)
    max_iter = estimator._max_iterations(data)
    with reported(estimator, max_iter, n_runs=len(seeds)) as progress:
        return _best_of(estimator, data, focal_sets, seeds, previous, progress)


@contextmanager
def reported(
    estimator: BaseCredalClusterer, max_iter: int, *, n_runs: int = 1
) -> Iterator[Progress]:
    """What iterations are reported to: who listens, and a line if it is verbose."""
    progress = Progress(
        type(estimator).__name__,
        n_runs=n_runs,
        max_iter=max_iter,
        enabled=bool(estimator.verbose),
    )
    yield progress
    progress.close()


def _best_of(
    estimator: BaseCredalClusterer,
    data: Any,
    focal_sets: FocalSets | None,
    seeds: NDArray[np.integer],
    previous: Solution | None,
    progress: Progress | None,
) -> Solution:
    if len(seeds) > 1 and estimator._solves_together(data):
        return _together(estimator, data, focal_sets, seeds, previous, progress)
    arguments = [
        (estimator, data, focal_sets, seed, previous, progress, run)
        for run, seed in enumerate(seeds)
    ]
    if effective_n_jobs(estimator.n_jobs) == 1 or len(seeds) == 1:
        return _in_turn(arguments)
    answers = answers_so_far(
        _run, arguments, n_jobs=estimator.n_jobs, prefer="threads", progress=progress
    )
    found = [each for each in answers if each is not Missing.STOPPED]
    if not found:
        raise KeyboardInterrupt
    best = _best(found)
    return best if len(found) == len(answers) else replace(best, is_interrupted=True)


def _in_turn(arguments: list[tuple]) -> Solution:
    """The best of one start after the other; none after an interrupt.

    Only the best so far is kept: masses of many objects are large.
    """
    best: Solution | None = None
    with stoppable(lambda: best is not None) as ending:
        for each in arguments:
            solution = _run(*each)
            best = solution if best is None else _best([best, solution])
            if best.is_interrupted:
                break
    assert best is not None, "there is at least one start"
    return replace(best, is_interrupted=best.is_interrupted or ending.is_early)


def _together(
    estimator: BaseCredalClusterer,
    data: Any,
    focal_sets: FocalSets | None,
    seeds: NDArray[np.integer],
    previous: Solution | None,
    progress: Progress | None,
) -> Solution:
    """The best of starts that the estimator runs in the same calls, some at a time.

    How many does not depend on n_jobs: it changes how sums are rounded.
    """
    best: Solution | None = None
    with stoppable(lambda: best is not None) as ending:
        for first in range(0, len(seeds), _MAX_TOGETHER):
            runs = range(first, min(first + _MAX_TOGETHER, len(seeds)))
            reports = [_report(progress, run) for run in runs]
            rngs = [np.random.RandomState(seeds[run]) for run in runs]
            poll()
            with one_thread(), keeping():
                solutions = estimator._solve_together(
                    data, focal_sets, rngs, previous=previous, reports=reports
                )
            if progress is not None:
                for run in runs:
                    progress.finish(run)
            best = _best(solutions if best is None else [best, *solutions])
            if best.is_interrupted:
                break
    assert best is not None, "there is at least one start"
    return replace(best, is_interrupted=best.is_interrupted or ending.is_early)


def _best(solutions: list[Solution]) -> Solution:
    """The one of lowest loss, interrupted if any was."""
    best = min(solutions, key=lambda solution: solution.trace.loss)
    return replace(
        best, is_interrupted=any(solution.is_interrupted for solution in solutions)
    )


def _run(
    estimator: BaseCredalClusterer,
    data: Any,
    focal_sets: FocalSets | None,
    seed: int,
    previous: Solution | None,
    progress: Progress | None,
    run: int,
) -> Solution:
    """One start, possibly in another thread, process or machine."""
    poll()
    # In another thread or process, what NumPy does about infinity is its default.
    with one_thread(), keeping(), real_numbers():
        solution = estimator._solve(
            data,
            focal_sets,
            np.random.RandomState(seed),
            previous=previous,
            report=_report(progress, run),
        )
    if progress is not None:
        progress.finish(run)
    return solution


def to_nobody(iteration: int, loss: float) -> None:
    """Report nothing."""


def _report(progress: Progress | None, run: int) -> Report:
    """What a run is to call with the number of an iteration and its loss."""
    if progress is None:
        return to_nobody

    def report(iteration: int, loss: float) -> None:
        progress.report(run, iteration, loss)

    return report
