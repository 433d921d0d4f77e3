"""ECM and CCM on data that are read in blocks.

The start is a fit of a sample; every further iteration is one pass over the data, whose
sums over the objects move the prototypes.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from credalis.checkpoints import Checkpoint
from credalis.cluster._framework._fit import Outcome, solve
from credalis.cluster._framework._solution import empty_clusters_last
from credalis.cluster._framework._warnings import warn_of_collapse
from credalis.cluster.prototypes._adaptive_metric import MetricSpace
from credalis.cluster.prototypes._clusterer import (
    PrototypeClusterer,
    State,
    descend,
    solution_at,
    transformed,
)
from credalis.objectives._prototypes import Moments, Places, sweep
from credalis.sources import Source


def start_blocks(
    estimator: PrototypeClusterer,
    sample: NDArray[np.float64],
    seeds: NDArray[np.integer],
) -> dict[str, Any]:
    """Prototypes, metrics and distance to noise from a sample."""
    with warnings.catch_warnings():
        # Whatever there is to warn of is said of the result.
        warnings.simplefilter("ignore")
        rng = np.random.RandomState(int(seeds[0]))
        outcome = solve(estimator, sample, rng, is_quiet=True)
    if outcome.solution.is_interrupted:
        # Half a start is none, least of all one to continue from.
        raise KeyboardInterrupt
    fitted = outcome.solution.attributes()
    centers, metrics = fitted["centers_"], fitted["metrics_"]
    return {
        "focal_sets": outcome.focal_sets,
        "delta": fitted["delta_"],
        "transformer": fitted["transformer_"],
        "sample": sample,
        "step": vars(State(centers, metrics, centers, metrics)),
        "losses": [],
    }


def train_blocks(
    estimator: PrototypeClusterer,
    source: Source,
    state: dict[str, Any],
    checkpoint: Checkpoint | None,
) -> Outcome:
    """Iterations, each a pass over the source, until the loss stands still."""
    if "model" in state:
        # Checkpoints once held an estimator that was fitted to the sample.
        fitted = state["model"]
        state = {
            **state,
            "focal_sets": fitted.focal_sets_,
            "delta": fitted.delta_,
            "transformer": fitted.transformer_,
        }
        del state["model"]
    model = estimator._model(state["focal_sets"], state["delta"])
    transformer = state["transformer"]
    sample = transformed(transformer, state["sample"])
    before = list(state["losses"])
    losses: list[float] = []
    steps = [State(**state["step"])]

    def write(checkpoint: Checkpoint, n_again: int) -> None:
        """Store where the last iterations, which will be made again, began."""
        past = {"step": vars(steps[-n_again]), "losses": [*before, *losses[:-n_again]]}
        checkpoint.write({**state, **past, "n_rows": source.n_rows})

    def update_masses(where: Places, held: Any) -> tuple[Moments, None]:
        # The iteration before has not ended the loop: it is made again, and the loss
        # is compared as it would have been.
        if checkpoint is not None and losses and checkpoint.is_due:
            write(checkpoint, n_again=1)
        total: Moments | None = None
        for batch in source.batches():
            sums = sweep(transformed(transformer, batch), where, model)
            total = sums if total is None else total + sums
        assert total is not None
        return total, None

    trace = descend(
        steps[0],
        model,
        update_masses,
        None if steps[0].metrics is None else MetricSpace.of(sample),
        moves_centers=True,
        tol=estimator.tol,
        max_iter=estimator.max_iter - len(before),
        report=lambda iteration, loss: losses.append(loss),
        begin=steps.append,
    )
    if checkpoint is not None and len(losses) > 1 and not trace.interrupted:
        # The last two show again that the loop has ended.
        write(checkpoint, n_again=2)
    trace = replace(trace, losses=np.array([*before, *trace.losses]))
    solution = solution_at(trace, sample, model, transformer)
    focal_sets = state["focal_sets"]
    if not estimator._has_fixed_order(None):
        solution, focal_sets = empty_clusters_last(
            solution, focal_sets, keeps_sets=estimator._has_given_sets
        )
    separation = pdist(trace.state.centers).max(initial=0.0)
    spread = np.sqrt(sample.var(axis=0).sum())
    return Outcome(
        solution,
        focal_sets,
        estimator.max_iter,
        check=lambda: warn_of_collapse(estimator, separation, spread),
    )
