"""One start of NNEVCLUS, from the problem to a solution."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster.nnevclus._problem import Problem, hidden_sizes, network_of
from credalis.cluster.nnevclus._seeds import random_seeds
from credalis.cluster.nnevclus._training import train
from credalis.network import (
    CredalNetwork,
    SideInformation,
    masses_in_blocks,
    mean_stress,
)
from credalis.optimize import GradientTrace

Weights = list[NDArray[np.float64]]
NamedWeights = dict[str, NDArray[np.float64]]

_OTHER_SHAPE = (
    "warm_start needs a network of the same shape: hidden_layer_sizes or module, "
    "focal_sets and the number of features must be those of the previous fit"
)


@dataclass(frozen=True, eq=False)
class NetworkSolution(Solution):
    """A solution whose attributes hold the weights of a network.

    Attributes
    ----------
    focal_sets : FocalSets
        The outputs of the network.
    is_predicted : bool
        Whether the masses are to the last bit what the network predicts: sums over
        its outputs in another order are not.
    """

    focal_sets: FocalSets = field(kw_only=True)
    is_predicted: bool = field(default=True, kw_only=True)

    def renumbered(
        self, new_labels: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> Solution:
        """The same with the outputs of the network in their new order."""
        other = dict(self.other)
        if "output_order_" in other:
            other["output_order_"] = other["output_order_"][columns]
        else:
            *hidden, output = other["weights_"]
            other["weights_"] = [*hidden, output[columns]]
        solution = cast(NetworkSolution, super().renumbered(new_labels, columns))
        return replace(
            solution,
            other=other,
            is_predicted=solution.masses is self.masses,
        )


def solve(
    estimator: Any,
    problem: Problem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
    *,
    previous: "NetworkSolution | None",
    report: Callable[[int, float], None],
) -> NetworkSolution:
    """Train from random weights, from those of a fit, or of a network of fewer sets."""
    hidden, weights = hidden_sizes(estimator, focal_sets), None
    first: GradientTrace | None = None
    coefficients = None
    if estimator.warm_start and hasattr(estimator, "weights_"):
        _check_same_sets(estimator.focal_sets_, focal_sets)
        weights = estimator.weights_
        coefficients = getattr(estimator, "novelty_coefficients_", None)
    if previous is not None:
        coefficients = previous.other.get("novelty_coefficients_")
        # The second of two steps goes on with the hidden layers of the first.
        weights = extended_weights(
            previous.other["weights_"], previous.focal_sets, focal_sets
        )
        hidden = tuple(len(layer) for layer in weights[:-1])
    n_inputs = problem.attributes.shape[1]
    network = network_of(estimator, n_inputs, hidden, focal_sets)
    start = network.initial_parameters(rng)
    if weights is not None:
        start = _with_weights(network, start, weights, coefficients)
    else:
        seeds = problem.seeds
        if isinstance(estimator.init, str) and estimator.init == "k-means++":
            seeds = random_seeds(
                problem.geometry, problem.inputs, focal_sets.n_clusters, rng
            )
        if seeds is not None:
            # There may be several for each cluster, the clusters in turn.
            labels = np.arange(len(seeds)) % focal_sets.n_clusters
            seeded = replace(problem.information, objects=seeds, labels=labels)
            first = show_labels(network, start, problem, focal_sets, seeded, rng)
        elif problem.information.has_constraints and rng.randint(2):
            first = _without_pairs(network, start, problem, focal_sets, rng)
        if first is not None:
            if first.interrupted:
                return _solution(network, problem, focal_sets, first)
            start = first.state
    return finish(network, start, problem, focal_sets, rng, report=report)


def finish(
    network: Any,
    start: NDArray[np.float64],
    problem: Problem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
    *,
    report: Callable[[int, float], None],
) -> NetworkSolution:
    """Train to the end from these parameters, with the side information there is."""
    data, validation = problem.training_data(focal_sets, problem.information)
    trace = train(network, start, data, validation, problem.settings, rng, report)
    return _solution(network, problem, focal_sets, trace)


def _solution(
    network: Any,
    problem: Problem,
    focal_sets: FocalSets,
    trace: GradientTrace,
) -> NetworkSolution:
    """Masses and fitted attributes of a trained network."""
    parameters = trace.state
    masses = masses_in_blocks(
        network, parameters, problem.attributes, problem.standardize, problem.scores
    )
    other = network_attributes(network, parameters, problem)
    other["stress_"] = mean_stress(
        masses.T, problem.similarities(), focal_sets, problem.pairs
    )
    return NetworkSolution(
        masses,
        trace,
        other=other,
        is_interrupted=trace.interrupted,
        focal_sets=focal_sets,
    )


def show_labels(
    network: Any,
    start: NDArray[np.float64],
    problem: Problem,
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
    return train(network, start, data, validation, settings, rng, ignore)


def _without_pairs(
    network: Any,
    start: NDArray[np.float64],
    problem: Problem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
) -> GradientTrace:
    """A training that does not see must-links and cannot-links.

    From random weights, pairs may fix in which clusters their objects are before the
    dissimilarities say where the clusters are; with other data they are what finds
    the clusters. So half of the starts, on average, see the pairs from the beginning.
    """
    no_pairs = np.empty((0, 2), dtype=np.intp)
    unpaired = replace(problem.information, must_link=no_pairs, cannot_link=no_pairs)
    data, validation = problem.training_data(focal_sets, unpaired)
    return train(network, start, data, validation, problem.settings, rng, ignore)


def network_attributes(
    network: Any, parameters: NDArray[np.float64], problem: Problem
) -> dict[str, Any]:
    """Fitted attributes that prediction needs."""
    attributes: dict[str, Any] = {
        "weights_": copied_weights(network, parameters),
        "scale_": problem.scale,
        "standardization_": problem.standardize,
        "embedding_": problem.embedding,
        "transformer_": problem.transformer,
        "has_given_dissimilarities_": problem.has_given_dissimilarities,
        "metric_": problem.geometry.metric,
        "novelty_": problem.scorer,
        "novelty_link_": network.link,
    }
    if network.link is not None:
        attributes["novelty_coefficients_"] = parameters[-2:].copy()
    if not isinstance(network, CredalNetwork):
        given = network.order
        attributes["output_order_"] = (
            np.arange(network.n_outputs) if given is None else given
        )
    return attributes


def copied_weights(
    network: Any, parameters: NDArray[np.float64]
) -> Weights | NamedWeights:
    """Weights of each layer, or of a module by name."""
    weights = network.weights(parameters)
    if isinstance(weights, dict):
        return {name: values.copy() for name, values in weights.items()}
    return [layer.copy() for layer in weights]


def flat_parameters(estimator: Any) -> NDArray[np.float64]:
    """The parameters of a fitted estimator as one vector."""
    parts = [values.ravel() for values in _arrays(estimator.weights_)]
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


def _arrays(weights: Weights | NamedWeights) -> Weights:
    return list(weights.values()) if isinstance(weights, dict) else weights


def _shapes(weights: Weights | NamedWeights) -> list[tuple[int, ...]]:
    return [values.shape for values in _arrays(weights)]


def _with_weights(
    network: Any,
    parameters: NDArray[np.float64],
    weights: Weights | NamedWeights,
    coefficients: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Parameters with these weights and, if there is a coupling, coefficients."""
    views = network.weights(parameters)
    is_other_kind = isinstance(views, dict) != isinstance(weights, dict)
    if is_other_kind or _shapes(views) != _shapes(weights):
        raise ValueError(_OTHER_SHAPE)
    for view, values in zip(_arrays(views), _arrays(weights), strict=True):
        view[...] = values
    if network.link is not None and coefficients is not None:
        parameters[-2:] = coefficients
    return parameters


def _check_same_sets(previous: FocalSets, focal_sets: FocalSets) -> None:
    if previous != focal_sets:
        raise ValueError(_OTHER_SHAPE)


def ignore(iteration: int, loss: float) -> None:
    """Report nothing."""
