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

from credalis import _archive
from credalis._control import poll
from credalis.checkpoints import Checkpoint
from credalis.cluster._framework._fit import Outcome, solve
from credalis.cluster._framework._schema import SetsRule, TransformerRule
from credalis.cluster._framework._solution import empty_clusters_last, reported
from credalis.cluster._framework._soundness import warn_of_collapse
from credalis.cluster._inputs._side_information import transformed
from credalis.cluster.prototypes._clusterer import (
    PrototypeClusterer,
    PrototypeStep,
    alternate,
    prototype_solution,
)
from credalis.objectives import (
    MetricSpace,
    PrototypeMoments,
    SetPrototypes,
    prototype_moments,
)
from credalis.sources import Source

# What a checkpoint holds of a step.
_STORED = ("centers", "metrics", "next_centers", "next_metrics")

_CENTERS = _archive.Array("f", ("n_clusters", "n_dimensions"))
_METRICS = _archive.OneOf(
    _archive.Nothing(),
    _archive.Array("f", ("n_clusters", "n_dimensions", "n_dimensions")),
)


def _check_start(owner: str, entries: _archive.Entries) -> None:
    known = {"focal_sets", "delta", "transformer"} & entries.keys()
    if len(known) != (0 if "model" in entries else 3):
        raise ValueError(
            f"{owner} must have either a model or focal_sets, delta and transformer"
        )
    if len(entries["sample"]) < 2:
        raise ValueError(f"{owner}.sample must have at least 2 rows")


# Files of version 0.1 hold an estimator that was fitted to the sample.
CHECKPOINT = _archive.Fields(
    {
        "sample": _archive.Array("f", (None, "n_features")),
        "n_rows": _archive.Integer(at_least=2),
        "losses": _archive.Each(_archive.Number()),
        "step": _archive.Fields(
            {
                "centers": _CENTERS,
                "metrics": _METRICS,
                "next_centers": _CENTERS,
                "next_metrics": _METRICS,
            },
            {"held": _archive.Nothing()},
        ),
    },
    {
        "focal_sets": SetsRule(),
        "beta": _archive.Number(above=1),
        "delta": _archive.Number(above=0),
        "transformer": TransformerRule(),
        "model": _archive.Instance(PrototypeClusterer),
    },
    (_check_start,),
)


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
        "beta": fitted["beta_"],
        "delta": fitted["delta_"],
        "transformer": fitted["transformer_"],
        "sample": sample,
        "step": _stored(PrototypeStep(centers, metrics, centers, metrics)),
        "losses": [],
    }


def train_blocks(
    estimator: PrototypeClusterer,
    source: Source,
    state: dict[str, Any],
    checkpoint: Checkpoint | None,
) -> Outcome:
    """Iterations, each a pass over the source, until the loss stands still."""
    state = _as_now(state, estimator)
    focal_sets, transformer = state["focal_sets"], state["transformer"]
    model = estimator._model(focal_sets, state["beta"], state["delta"])
    sample = transformed(transformer, state["sample"])
    before = list(state["losses"])
    losses: list[float] = []

    def report(iteration: int, loss: float) -> None:
        losses.append(loss)
        progress.report(0, len(before) + iteration, loss)

    steps = [PrototypeStep(*(state["step"][name] for name in _STORED))]

    def write(checkpoint: Checkpoint, n_again: int) -> None:
        """Store where the last iterations, which will be made again, began."""
        past = {
            "step": _stored(steps[-n_again]),
            "losses": [*before, *losses[:-n_again]],
        }
        checkpoint.write({**state, **past, "n_rows": source.n_rows})

    def update_masses(
        sets: SetPrototypes, kept: NDArray[np.float64] | None
    ) -> tuple[PrototypeMoments, None]:
        # The iteration before has not ended the loop: it is made again, and the loss
        # is compared as it would have been.
        if checkpoint is not None and losses and checkpoint.is_due:
            write(checkpoint, n_again=1)
        total: PrototypeMoments | None = None
        for batch in source.batches():
            poll()
            sums = prototype_moments(transformed(transformer, batch), sets, model)
            total = sums if total is None else total + sums
        assert total is not None
        return total, None

    with reported(estimator, estimator.max_iter) as progress:
        trace = alternate(
            steps[0],
            model,
            update_masses,
            None if steps[0].metrics is None else MetricSpace.of(sample),
            moves_centers=True,
            tol=estimator.tol,
            max_iter=estimator.max_iter - len(before),
            report=report,
            begin=steps.append,
        )
        progress.finish(0)
    if checkpoint is not None and len(losses) > 1 and not trace.interrupted:
        # The last two show again that the loop has ended.
        write(checkpoint, n_again=2)
    trace = replace(trace, losses=np.array([*before, *trace.losses]))
    solution = prototype_solution(trace, sample, model, transformer)
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
        state["sample"],
        check=lambda: warn_of_collapse(estimator, separation, spread),
    )


def _stored(step: PrototypeStep) -> dict[str, Any]:
    return {name: getattr(step, name) for name in _STORED}


def _as_now(state: dict[str, Any], estimator: PrototypeClusterer) -> dict[str, Any]:
    """The state of a checkpoint that an earlier version has written, as it is now.

    It held an estimator that had been fitted to the sample, or did not know β, which
    could only be the parameter.
    """
    if "model" not in state:
        return {"beta": estimator.beta, **state}
    rest = {name: value for name, value in state.items() if name != "model"}
    fitted = state["model"]
    return {
        **rest,
        "focal_sets": fitted.focal_sets_,
        "beta": fitted.beta_,
        "delta": fitted.delta_,
        "transformer": fitted.transformer_,
    }
