"""Training on several views: the network and the weights of the views in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.cluster.nnevclus._start import (
    NetworkProblem,
    NetworkSolution,
    Report,
    solve,
    stress_of,
    train_to_end,
)
from credalis.cluster.nnevclus._views import NetworkViews

Array = NDArray[np.float64]

# Weights that change by no more than this are those of the network, and rounds after
# which they are what they are; fewer of mini-batches, whose rounds are whole trainings.
_SAME_WEIGHTS = 1e-3
_MAX_ROUNDS, _MAX_ROUNDS_OF_BLOCKS = 20, 3


@dataclass(frozen=True, eq=False)
class _Trained:
    """A network and what it costs in each view.

    Attributes
    ----------
    solution : NetworkSolution
        The network, trained on blended targets.
    stresses, costs : array of shape (n_views,)
        F_v and L_v.
    """

    solution: NetworkSolution
    stresses: Array
    costs: Array

    @classmethod
    def of(cls, problem: NetworkProblem, solution: NetworkSolution) -> _Trained:
        """Of a solution with the blended targets of a problem."""
        views, focal_sets = problem.views, solution.network.focal_sets
        assert views is not None
        stresses = [
            stress_of(problem, solution.masses, each, focal_sets)
            for each in views.of_each()
        ]
        # What else the cost has is the same with any targets.
        differences = np.array(stresses) - solution.other["stress_"]
        weight = problem.anchored_information.stress_weight
        costs = solution.trace.loss + weight * differences
        return cls(solution, np.array(stresses), costs)

    def losses(self, views: NetworkViews) -> Array:
        """J along the training, from the losses on blended targets."""
        losses = np.asarray(self.solution.trace.losses, dtype=np.float64)
        return views.loss(self.costs) + views.total * (losses - losses[-1])


def solve_views(
    problem: NetworkProblem,
    focal_sets: FocalSets,
    rngs: list[np.random.RandomState],
    *,
    previous: NetworkSolution | None,
    report: Report,
) -> NetworkSolution:
    """Train on blended targets, then learn the weights, until both agree.

    From the hard clusters of each view and of all together, if from any; the lowest J
    is kept. With a full-batch solver that looks at all pairs, J never increases: the
    network goes on from where it is, and the weights are the best for it.
    """
    views = problem.views
    assert views is not None
    if previous is not None or problem.clusters is None:
        weights = views.weights if previous is None else previous.other["view_weights_"]
        problem = replace(problem, views=replace(views, weights=weights))
        return _alternate(problem, focal_sets, rngs, previous, report)
    found = []
    for k, (weights, clusters) in enumerate(views.starts):
        problem = replace(
            problem, views=replace(views, weights=weights), clusters=clusters
        )
        own = rngs[k :: len(views.starts)] or rngs[:1]
        found.append(_alternate(problem, focal_sets, own, None, report))
        if found[-1].is_interrupted:
            break
    best = min(found, key=lambda each: each.trace.loss)
    return replace(best, is_interrupted=found[-1].is_interrupted)


def _alternate(
    problem: NetworkProblem,
    focal_sets: FocalSets,
    rngs: list[np.random.RandomState],
    previous: NetworkSolution | None,
    report: Report,
) -> NetworkSolution:
    """Train and learn weights in turn, from one start of the weights."""
    views = problem.views
    assert views is not None
    solution = solve(problem, focal_sets, rngs, previous=previous, report=report)
    trained = _Trained.of(problem, solution)
    history = trained.losses(views)
    is_full = problem.settings.is_full_batch
    for _ in range(_MAX_ROUNDS if is_full else _MAX_ROUNDS_OF_BLOCKS):
        after = views.updated(trained.costs)
        is_same = np.abs(after.weights - views.weights).max() <= _SAME_WEIGHTS
        if is_same or trained.solution.is_interrupted:
            break
        problem, views = replace(problem, views=after), after
        network = trained.solution.network
        solution = train_to_end(
            network.network, network.parameters, problem, focal_sets, rngs[0], report
        )
        further = _Trained.of(problem, solution)
        if views.loss(further.costs) > views.loss(trained.costs):
            # Mini-batches may end higher than they began.
            history = np.append(history, views.loss(trained.costs))
            break
        trained = further
        history = np.append(history, trained.losses(views))
    solution = trained.solution
    return replace(
        solution,
        trace=replace(solution.trace, losses=history),
        other={
            "stress_": float(views.shares @ trained.stresses),
            **views.fitted_attributes(),
        },
    )
