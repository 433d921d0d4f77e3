"""ECM and CCM on data that are read in blocks.

The start is a fit of a sample; every further iteration is one pass over the data, whose
sums over the objects move the prototypes.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from credalis.checkpoints import Checkpoint
from credalis.cluster._framework._blocks import (
    State,
    adopt_fitted,
    fit_blocks,
    started,
)
from credalis.cluster._framework._solution import Solution
from credalis.cluster.prototypes._adaptive_metric import MetricSpace
from credalis.cluster.prototypes._clusterer import (
    PrototypeClusterer,
    descend,
    transformed,
)
from credalis.cluster.prototypes._clusterer import State as Step
from credalis.objectives._prototypes import Moments, sweep
from credalis.partition import adopt
from credalis.sources import Source


class PrototypeBlocks(PrototypeClusterer):
    """Base of the methods whose sums over the objects can be taken block by block."""

    _reads_blocks = True

    def fit(
        self,
        X,
        y=None,
        *,
        partial_labels=None,
        must_link=None,
        cannot_link=None,
        checkpoint=None,
    ):
        """Cluster the rows of X.

        Labels and pairs are for a transformer as `metric` that learns from them; they
        are refused if there is none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or source
            Data. A source (see `credalis.sources`) is read once for a sample of 10 000
            rows, whose fit gives `delta_` and the start, and once in every further
            iteration; ``partition_`` and ``labels_`` are absent then.
        y : ignored
            Present for compatibility with pipelines and searches.
        partial_labels : array-like of int, shape (n_samples,), default=None
            Known clusters, -1 for unknown.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), default=None
            Row numbers of objects known to be in the same cluster, and in different
            ones.
        checkpoint : str, path-like or `credalis.checkpoints.Checkpoint`, default=None
            File to continue from after the fit has been killed; X is read in blocks.

        Returns
        -------
        self
        """
        return self._fit(
            X,
            checkpoint,
            partial_labels=partial_labels,
            must_link=must_link,
            cannot_link=cannot_link,
        )

    def _fit_blocks(self, source: Source, checkpoint: Any) -> None:
        fit_blocks(self, source, checkpoint, _start, _train, _finish)


def _start(
    estimator: Any, sample: NDArray[np.float64], seeds: NDArray[np.integer]
) -> State:
    """Prototypes, metrics and distance to noise from a sample."""
    model = started(estimator, sample, random_state=int(seeds[0]))
    step = Step(model.centers_, model.metrics_, model.centers_, model.metrics_)
    return {
        "model": model,
        "sample": sample,
        "step": vars(step),
        "losses": [],
    }


def _train(
    estimator: Any, source: Source, state: State, checkpoint: Checkpoint | None
) -> State:
    """Iterations, each a pass over the source, until the loss stands still."""
    fitted = state["model"]
    model = estimator._model(fitted.focal_sets_, fitted.delta_)
    before = list(state["losses"])
    losses: list[float] = []
    steps: list[Step] = [Step(**state["step"])]

    def write(checkpoint, n_again):
        """Store where the last iterations, which will be made again, began."""
        past = {"step": vars(steps[-n_again]), "losses": [*before, *losses[:-n_again]]}
        checkpoint.write({**state, **past, "n_rows": source.n_rows})

    def update_masses(where, held):
        # The iteration before has not ended the loop: it is made again, and the loss
        # is compared as it would have been.
        if checkpoint is not None and losses and checkpoint.is_due:
            write(checkpoint, n_again=1)
        total: Moments | None = None
        for batch in source.batches():
            sums = sweep(transformed(fitted.transformer_, batch), where, model)
            total = sums if total is None else total + sums
        assert total is not None
        return total, None

    def note(iteration, loss):
        losses.append(loss)

    space = None
    if fitted.metrics_ is not None:
        space = MetricSpace.of(transformed(fitted.transformer_, state["sample"]))
    trace = descend(
        steps[0],
        model,
        update_masses,
        space,
        moves_centers=True,
        tol=estimator.tol,
        max_iter=estimator.max_iter - len(before),
        report=note,
        begin=steps.append,
    )
    if checkpoint is not None and len(losses) > 1 and not trace.interrupted:
        # The last two show again that the loop has ended.
        write(checkpoint, n_again=2)
    return {**state, "trace": replace(trace, losses=np.array([*before, *trace.losses]))}


def _finish(estimator: Any, state: State) -> None:
    """Fitted attributes, the clusters without objects in the sample last."""
    model, trace, sample = state["model"], state["trace"], state["sample"]
    model.centers_, model.metrics_ = trace.state.centers, trace.state.metrics
    masses = model._predict_masses(sample)
    per_cluster = {"centers_": model.centers_}
    if model.metrics_ is not None:
        per_cluster["metrics_"] = model.metrics_
    solution = Solution(
        masses, trace, per_cluster=per_cluster, is_interrupted=trace.interrupted
    )
    if isinstance(estimator.init, str):
        solution, model.focal_sets_ = estimator._empty_clusters_last(
            solution, model.focal_sets_
        )
        for name, value in solution.per_cluster.items():
            setattr(model, name, value)
    model.loss_, model.history_, model.n_iter_ = trace.loss, trace.losses, trace.n_iter
    adopt_fitted(estimator, model)
    spread = transformed(model.transformer_, sample).var(axis=0).sum()
    separation = pdist(model.centers_).max(initial=0.0)
    estimator._warn_of_collapse(separation, np.sqrt(spread))
    estimator._warn_of_convergence(solution, estimator.max_iter, stacklevel=7)
    partition = adopt(solution.masses, model.focal_sets_)
    estimator._warn_of_partition(partition, stacklevel=7)
