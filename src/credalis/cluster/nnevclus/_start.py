"""One start of NNEVCLUS in memory, from the data to a solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._geometry import (
    Geometry,
    attribute_geometry,
    given_geometry,
    scale_of,
)
from credalis.cluster._inputs._scale import Standardization
from credalis.cluster._inputs._side_information import side_information
from credalis.cluster.nnevclus._network import (
    OTHER_SHAPE,
    FittedNetwork,
    InputSpace,
    TrainedWeights,
    network_for,
)
from credalis.cluster.nnevclus._seeds import fixed_seeds, random_seeds
from credalis.cluster.nnevclus._settings import Settings
from credalis.cluster.nnevclus._training import Report, train_in_memory
from credalis.dissimilarity import (
    MAX_STORED,
    Similarities,
    check_dissimilarities,
    sample_pairs,
)
from credalis.metric_learning import DissimilarityPCA
from credalis.network import (
    DeferredInputs,
    SideInformation,
    TrainingData,
    fit_novelty,
    masses_in_blocks,
    mean_stress,
    with_constant,
)
from credalis.optimize import GradientTrace


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """Objects in memory, what is known about them, and how to train on them.

    Attributes
    ----------
    settings : Settings
        How to train.
    space : InputSpace
        How objects become inputs and dissimilarities.
    attributes : array of shape (n_samples, n_inputs)
        Attributes, not standardised.
    scores : array of shape (n_samples,) or None
        Novelty scores.
    geometry : Geometry
        Where the dissimilarities of these objects come from.
    information : SideInformation
        Labels and pairs.
    seeds : array of int or None
        Row numbers of objects to start from, the clusters in turn.
    pairs : tuple of two arrays of int, or None
        Pairs that count; None stands for all.
    held_out : array of bool, shape (n_samples,), or None
        Objects that validate the training.
    has_fixed_order : bool
        Whether labels, centres or seeds fix the numbers of the clusters.
    """

    settings: Settings
    space: InputSpace
    attributes: NDArray[np.float64]
    scores: NDArray[np.float64] | None
    geometry: Geometry
    information: SideInformation
    seeds: NDArray[np.intp] | None
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]] | None
    held_out: NDArray[np.bool_] | None
    has_fixed_order: bool

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return len(self.attributes)

    @property
    def inputs(self) -> NDArray[np.float64]:
        """Standardised attributes of all objects, (n_samples, n_inputs)."""
        return self.space.standardize(self.attributes)

    def similarities(self, dtype: type = np.float64) -> Similarities:
        """Similarities of all objects."""
        return self.geometry.similarities(self.space.scale, dtype)

    def training_data(
        self, focal_sets: FocalSets, information: SideInformation
    ) -> tuple[TrainingData, TrainingData | None]:
        """What the network is trained on, and what it is validated on."""
        dtype = self.settings.dtype
        inputs: NDArray[np.floating] | DeferredInputs
        if self.attributes.size <= MAX_STORED or self.settings.is_full_batch:
            inputs = with_constant(self.inputs, dtype)
        else:
            everything = np.arange(self.n_samples)
            inputs = DeferredInputs(
                self.attributes, self.space.standardize, everything, dtype
            )
        data = TrainingData(
            inputs,
            None if self.scores is None else self.scores.astype(dtype),
            self.similarities(dtype),
            focal_sets,
            information,
            self.pairs,
        )
        if self.held_out is None:
            return data, None
        return data.take(np.flatnonzero(~self.held_out)), data.take(
            np.flatnonzero(self.held_out)
        )


def prepare(
    settings: Settings,
    X: NDArray[np.float64],
    rng: np.random.RandomState,
    *,
    seeds: NDArray[np.intp] | None = None,
    object_shape: tuple[int, ...] | None = None,
    dissimilarities: Any = None,
    partial_labels: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
) -> NetworkProblem:
    """Check side information, find scales, fit transformer and novelty detector.

    Seeds that are given take the place of ``init``.
    """
    information = side_information(
        partial_labels,
        must_link,
        cannot_link,
        n_samples=len(X),
        n_clusters=settings.n_clusters,
        label_weight=settings.label_weight,
        constraint_weight=settings.constraint_weight,
    )
    is_random = isinstance(settings.init, str) and settings.init == "random"
    if information.has_labels and not is_random:
        raise ValueError(
            "init must be 'random' with partial_labels, which say themselves where "
            f"the clusters are, got {settings.init!r}"
        )
    embedding, transformer = None, None
    attributes = X
    if isinstance(settings.metric, str) and settings.metric == "precomputed":
        matrix = check_dissimilarities(X, symmetrize=settings.symmetrize)
        embedding = DissimilarityPCA(settings.n_components).fit(matrix)
        # Rows as they are given, since prediction has no columns to average with.
        attributes, geometry = embedding.transform(X), Geometry(matrix, "precomputed")
    else:
        geometry, transformer = attribute_geometry(X, settings.metric, rng, information)
    if dissimilarities is not None:
        geometry = given_geometry(
            dissimilarities, len(X), symmetrize=settings.symmetrize
        )
    standardize = (Standardization.alike if object_shape else Standardization.of)(
        attributes
    )
    novelty, scores = None, None
    if settings.novelty_detector is not None:
        novelty, scores = fit_novelty(
            settings.novelty_detector, attributes, standardize, rng
        )
    space = InputSpace(
        standardize,
        embedding,
        transformer,
        geometry.metric,
        dissimilarities is not None,
        scale_of(settings, geometry, rng),
        novelty,
        object_shape,
    )
    has_fixed_order = (
        information.has_labels or settings.has_fixed_order or seeds is not None
    )
    if seeds is None and not is_random:
        seeds = fixed_seeds(
            settings.init, attributes, geometry, space.scale, settings.n_clusters, rng
        )
    pairs = None
    if settings.pairs_per_sample is not None:
        pairs = sample_pairs(len(X), settings.pairs_per_sample, rng)
    held_out = None
    if settings.early_stopping:
        held_out = _held_out(settings.validation_fraction, information, len(X), rng)
    return NetworkProblem(
        settings,
        space,
        attributes,
        scores,
        geometry,
        information,
        seeds,
        pairs,
        held_out,
        has_fixed_order,
    )


def _held_out(
    validation_fraction: float,
    information: SideInformation,
    n_samples: int,
    rng: np.random.RandomState,
) -> NDArray[np.bool_]:
    """Objects that validate the training: none that side information is about."""
    concerned = np.zeros(n_samples, dtype=bool)
    for objects in (
        information.objects,
        information.must_link,
        information.cannot_link,
    ):
        concerned[objects.ravel()] = True
    free = np.flatnonzero(~concerned)
    n_held_out = round(validation_fraction * n_samples)
    if n_held_out < 2 or len(free) < n_held_out or n_samples - n_held_out < 2:
        raise ValueError(
            f"validation_fraction must leave at least two objects without side "
            f"information to validate on and two to train on, got "
            f"{validation_fraction} of {n_samples} objects"
        )
    held_out = np.zeros(n_samples, dtype=bool)
    held_out[rng.choice(free, n_held_out, replace=False)] = True
    return held_out


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
