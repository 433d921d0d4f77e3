"""One start of NNEVCLUS, from the problem to a solution."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.cluster._nnevclus_problem import Problem
from credalis.cluster._nnevclus_seeds import random_seeds
from credalis.cluster._nnevclus_training import train
from credalis.cluster._starts import Solution
from credalis.network import (
    CredalNetwork,
    mean_stress,
    with_constant,
)

Weights = list[NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class NetworkSolution(Solution):
    """A solution whose attributes hold the weights of a network."""

    def renumbered(
        self, new_labels: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> Solution:
        """The same with the outputs of the network in their new order."""
        weights = list(self.other["weights_"])
        weights[-1] = weights[-1][columns]
        solution = super().renumbered(new_labels, columns)
        return replace(solution, other={**self.other, "weights_": weights})


def solve(
    network: CredalNetwork,
    problem: Problem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
    *,
    weights: Weights | None,
    previous: Solution | None,
    seeds_are_random: bool,
    report: Callable[[int, float], None],
) -> NetworkSolution:
    """Train from random weights, from given ones, or from a network of fewer sets."""
    start = network.initial_parameters(rng)
    if previous is not None:
        weights = extended_weights(
            previous.other["weights_"], previous.other["focal_sets_"], focal_sets
        )
    if weights is not None:
        start = _flat(weights, start)
    seeds = problem.seeds
    if seeds_are_random:
        n_clusters = focal_sets.n_clusters
        seeds = random_seeds(problem.geometry, problem.inputs, n_clusters, rng)
    settings = problem.settings
    if seeds is not None and weights is None:
        # The seeds show each output its cluster, then they let go: a start that kept
        # them would end where seeds in bad places hold it.
        settings = settings.halved()
        labelled = replace(
            problem.information, objects=seeds, labels=np.arange(len(seeds))
        )
        data, validation = problem.training_data(focal_sets, labelled)
        start = train(network, start, data, validation, settings, rng, _ignore).state
    data, validation = problem.training_data(focal_sets, problem.information)
    trace = train(network, start, data, validation, settings, rng, report)

    parameters = trace.state
    inputs = with_constant(problem.inputs)
    masses = network.masses(parameters, inputs, problem.scores).astype(np.float64)
    other = network_attributes(network, parameters, problem)
    other["stress_"] = mean_stress(
        masses, problem.similarities(), focal_sets, problem.pairs
    )
    other["focal_sets_"] = focal_sets
    return NetworkSolution(
        masses.T, trace, other=other, is_interrupted=trace.interrupted
    )


def network_attributes(
    network: CredalNetwork, parameters: NDArray[np.float64], problem: Problem
) -> dict[str, Any]:
    """Fitted attributes that prediction needs."""
    attributes: dict[str, Any] = {
        "weights_": [layer.copy() for layer in network.perceptron.layers(parameters)],
        "scale_": problem.scale,
        "standardization_": problem.standardize,
        "embedding_": problem.embedding,
        "transformer_": problem.transformer,
        "has_given_dissimilarities_": problem.has_given_dissimilarities,
        "novelty_": problem.scorer,
    }
    if network.link is not None:
        attributes["novelty_coefficients_"] = parameters[-2:].copy()
    return attributes


def flat_parameters(estimator: Any) -> NDArray[np.float64]:
    """The parameters of a fitted estimator as one vector."""
    parts = [layer.ravel() for layer in estimator.weights_]
    if estimator.novelty_ is not None:
        parts.append(estimator.novelty_coefficients_)
    return np.concatenate(parts)


def extended_weights(weights: Weights, old: FocalSets, new: FocalSets) -> Weights:
    """Weights for more focal sets: a new set starts between its clusters.

    Its output is the mean of those of its singletons, lowered so that it is not chosen
    before training says so.
    """
    output = np.empty((len(new), weights[-1].shape[1]))
    for j, subset in enumerate(new):
        if subset in old:
            output[j] = weights[-1][old.index(subset)]
        else:
            rows = [old.index((cluster,)) for cluster in subset]
            output[j] = weights[-1][rows].mean(axis=0)
            output[j, 0] -= 1.0
    return [*weights[:-1], output]


def _flat(weights: Weights, initial: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights as a vector; what they do not cover stays as it is."""
    start = initial.copy()
    vector = np.concatenate([layer.ravel() for layer in weights])
    if len(vector) > len(start):
        raise ValueError(
            "warm_start needs a network of the same shape: hidden_layer_sizes, "
            "focal_sets and the number of features must be those of the previous fit"
        )
    start[: len(vector)] = vector
    return start


def _ignore(iteration: int, loss: float) -> None:
    """Report nothing."""
