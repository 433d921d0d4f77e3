"""One start of NNEVCLUS, from the problem to a solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster.nnevclus._network import (
    OTHER_SHAPE,
    FittedNetwork,
    TrainedWeights,
    network_for,
)
from credalis.cluster.nnevclus._problem import NetworkProblem
from credalis.cluster.nnevclus._seeds import random_seeds
from credalis.cluster.nnevclus._training import Report, train_in_memory
from credalis.network import SideInformation, masses_in_blocks, mean_stress
from credalis.optimize import GradientTrace


@dataclass(frozen=True, eq=False)
class NetworkSolution(Solution):
    """A solution that is a network.

    Attributes
    ----------
    network : FittedNetwork
        What gives the masses.
    is_predicted : bool
        Whether the masses are to the last bit what the network predicts: sums over
        its outputs in another order are not.
    """

    network: FittedNetwork = field(kw_only=True)
    is_predicted: bool = field(default=True, kw_only=True)

    def attributes(self) -> dict[str, Any]:
        """Fitted attributes, without those about single objects."""
        return super().attributes() | self.network.fitted_attributes()

    def renumbered(
        self,
        new_labels: NDArray[np.intp],
        columns: NDArray[np.intp],
        focal_sets: FocalSets,
    ) -> NetworkSolution:
        """The same with the outputs of the network in their new order."""
        solution = super().renumbered(new_labels, columns, focal_sets)
        return replace(
            solution,
            network=self.network.renumbered(columns, focal_sets),
            is_predicted=solution.masses is self.masses,
        )


def solve(
    problem: NetworkProblem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
    *,
    previous: NetworkSolution | None,
    report: Report,
) -> NetworkSolution:
    """Train from random weights, from those of a fit, or of a network of fewer sets."""
    settings = problem.settings
    weights: TrainedWeights | None = settings.previous
    hidden = None
    if weights is not None and weights.focal_sets != focal_sets:
        raise ValueError(OTHER_SHAPE)
    if previous is not None:
        # The second of two steps goes on with the hidden layers of the first.
        weights = previous.network.trained_weights.extended(focal_sets)
        hidden = weights.hidden_sizes
    network = network_for(settings, problem.space, focal_sets, hidden)
    start = network.initial_parameters(rng)
    if weights is not None:
        start = weights.put_into(network, start)
    else:
        first = _first_phase(network, start, problem, focal_sets, rng)
        if first is not None:
            if first.interrupted:
                return _solution(network, problem, focal_sets, first)
            start = first.state
    return train_to_end(network, start, problem, focal_sets, rng, report)


def train_to_end(
    network: Any,
    start: NDArray[np.float64],
    problem: NetworkProblem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
    report: Callable[[int, float], None],
) -> NetworkSolution:
    """Train from these parameters, with the side information there is."""
    data, validation = problem.training_data(focal_sets, problem.information)
    trace = train_in_memory(
        network, start, data, validation, problem.settings, rng, report
    )
    return _solution(network, problem, focal_sets, trace)


def train_on_labels(
    network: Any,
    start: NDArray[np.float64],
    problem: NetworkProblem,
    focal_sets: FocalSets,
    labelled: SideInformation,
    rng: np.random.RandomState,
) -> GradientTrace:
    """A short training with labels that only say where to start.

    What follows trains without them: a network that kept its seeds would end where
    seeds in bad places hold it.
    """
    data, validation = problem.training_data(focal_sets, labelled)
    settings = problem.settings.short()
    return train_in_memory(network, start, data, validation, settings, rng, say_nothing)


def say_nothing(iteration: int, loss: float) -> None:
    """Report nothing."""


def _first_phase(
    network: Any,
    start: NDArray[np.float64],
    problem: NetworkProblem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
) -> GradientTrace | None:
    """What comes before the training proper: seeds as labels, or no pairs yet.

    From random weights, pairs may fix in which clusters their objects are before the
    dissimilarities say where the clusters are; with other data they are what finds
    the clusters. So half of the starts, on average, see the pairs from the beginning.
    """
    settings, information = problem.settings, problem.information
    seeds = problem.seeds
    if isinstance(settings.init, str) and settings.init == "k-means++":
        seeds = random_seeds(
            problem.geometry, problem.inputs, focal_sets.n_clusters, rng
        )
    if seeds is not None:
        # There may be several for each cluster, the clusters in turn.
        labels = np.arange(len(seeds)) % focal_sets.n_clusters
        seeded = replace(information, objects=seeds, labels=labels)
        return train_on_labels(network, start, problem, focal_sets, seeded, rng)
    if information.has_constraints and rng.randint(2):
        data, validation = problem.training_data(
            focal_sets, information.without_pairs()
        )
        return train_in_memory(
            network, start, data, validation, settings, rng, say_nothing
        )
    return None


def _solution(
    network: Any,
    problem: NetworkProblem,
    focal_sets: FocalSets,
    trace: GradientTrace,
) -> NetworkSolution:
    """Masses and fitted attributes of a trained network."""
    space = problem.space
    masses = masses_in_blocks(
        network, trace.state, problem.attributes, space.standardize, problem.scores
    )
    stress = mean_stress(masses.T, problem.similarities(), focal_sets, problem.pairs)
    return NetworkSolution(
        masses,
        trace,
        other={"stress_": stress},
        is_interrupted=trace.interrupted,
        focal_sets=focal_sets,
        network=FittedNetwork(network, trace.state, focal_sets, space),
    )
