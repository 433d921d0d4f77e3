"""One start of NNEVCLUS in memory, from the data to a solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import check_finite, check_numbers, check_spread, naming
from credalis._weights import copies
from credalis.belief import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._clusters import (
    HardClusters,
    hard_clusters,
    rough_share_apart,
)
from credalis.cluster._inputs._geometry import (
    Geometry,
    attribute_geometry,
    given_geometry,
    scale_of,
    takes_contrast,
)
from credalis.cluster._inputs._side_information import side_information
from credalis.cluster._inputs._views import Views, are_tables
from credalis.cluster.nnevclus._fewer import start_after_fewer
from credalis.cluster.nnevclus._linear import can_be_linear, linear_start
from credalis.cluster.nnevclus._network import (
    OTHER_SHAPE,
    FittedNetwork,
    InputSpace,
    TrainedWeights,
    network_for,
)
from credalis.cluster.nnevclus._seeds import fixed_seeds, random_seeds
from credalis.cluster.nnevclus._settings import Settings, n_parts, projects
from credalis.cluster.nnevclus._training import (
    Report,
    engine_context,
    train_in_memory,
    train_together,
)
from credalis.cluster.nnevclus._views import (
    NetworkViews,
    among_used,
    check_varying,
    column_parts,
    matrix_parts,
    start_of_views,
)
from credalis.dissimilarity import (
    MAX_STORED,
    Similarities,
    check_dissimilarities,
    sample_pairs,
)
from credalis.metric_learning import DissimilarityPCA
from credalis.network import (
    MANY_FEATURES,
    CredalNetwork,
    DeferredInputs,
    Projection,
    SideInformation,
    Standardization,
    TrainingData,
    fit_novelty,
    masses_in_blocks,
    mean_stress,
    with_constant,
)
from credalis.objectives import WeightedStress
from credalis.optimize import GradientTrace, minimize_together

# How much the inner objects of the clusters that a training starts from count in it.
_ANCHOR_WEIGHT, ANCHOR_WEIGHT_OF_MANY = 0.1, 0.5

# Of the training that puts these objects into their clusters.
_START_ITERATIONS = 100
_START_TOLERANCE = 1e-3
_START_DECAY = 0.01
_SMALLEST_MASS = 1e-9
# Where some objects stand for all: a start needs no more of the inner ones, and most
# iterations no more of all.
_N_ANCHORS, _N_COARSE = 500, 500


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
    clusters : HardClusters or None
        What the training starts from and keeps to a little.
    trained : array of int or None
        Row numbers of the objects that stand for all in the training.
    is_in_order : bool
        Whether the objects are the rows of X in their order, none of them copied.
    weights : array of shape (n_samples,) or None
        Weights of the objects; None: all are 1.
    views : NetworkViews or None
        Several views of the objects, whose dissimilarities count; ``geometry`` is then
        that of all together, for seeds.
    fewer : FittedNetwork or None
        Found with fewer clusters, where one of the starts begins.
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
    clusters: HardClusters | None = None
    trained: NDArray[np.intp] | None = None
    is_in_order: bool = True
    weights: NDArray[np.float64] | None = None
    views: NetworkViews | None = None
    fewer: FittedNetwork | None = None

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return len(self.attributes)

    @cached_property
    def anchored_information(self) -> SideInformation:
        """What is known, and the inner objects of the clusters to start from.

        As labels of little weight they keep clusters from being lost; where the
        dissimilarities say otherwise, these win.
        """
        if self.clusters is None:
            return self.information
        objects, labels = self.clusters.inner()
        has_contrast = not self.settings.begins_with_clusters
        return replace(
            self.information,
            objects=objects,
            labels=labels,
            label_weight=_ANCHOR_WEIGHT if has_contrast else ANCHOR_WEIGHT_OF_MANY,
        )

    @property
    def inputs(self) -> NDArray[np.float64]:
        """Standardised attributes of all objects, (n_samples, n_inputs)."""
        return self.space.standardize(self.attributes)

    def similarities(self, dtype: type = np.float64) -> Similarities:
        """Similarities of all objects."""
        if self.views is not None:
            return self.views.similarities(dtype)
        return self.geometry.similarities(self.space.scale, dtype)

    def training_data(
        self, focal_sets: FocalSets, information: SideInformation
    ) -> tuple[TrainingData, TrainingData | None]:
        """What the network is trained on, and what it is validated on."""
        dtype = self.settings.dtype
        if self.trained is not None:
            objects = self.trained
            scores = None if self.scores is None else self.scores[objects]
            return TrainingData(
                with_constant(self.space.standardize(self.attributes[objects]), dtype),
                scores,
                self.similarities(dtype).take(objects),
                focal_sets,
                information.restricted(objects, self.n_samples),
                n_parts=n_parts(len(objects)),
            ), None
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
            weights=self.weights,
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
    projection: Projection | None = None,
    object_shape: tuple[int, ...] | None = None,
    dissimilarities: Any = None,
    partial_labels: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
    weights: NDArray[np.float64] | None = None,
    view_columns: Views | None = None,
    view_units: NDArray[np.float64] | None = None,
    focal_sets: FocalSets | None = None,
) -> NetworkProblem:
    """Check side information, find scales, fit transformer and novelty detector.

    Seeds that are given take the place of ``init``, and a projection that of the one
    that would be fitted. Objects have weights only where all pairs count at once and
    nothing but hard clusters is looked for.
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
    init = settings.init
    is_random = isinstance(init, str) and init in ("auto", "random")
    if information.has_labels and not is_random:
        raise ValueError(
            "init must be 'auto' or 'random' with partial_labels, which say where "
            f"the clusters are, got {settings.init!r}"
        )
    attributes, geometry, embedding, transformer = _attributes_and_geometry(
        settings, X, information, dissimilarities, rng, weights, projection
    )
    standardize = (Standardization.alike if object_shape else Standardization.of)(
        attributes
    )
    drawn = np.arange(len(X))
    if weights is not None:
        standardize = Standardization.weighted(attributes, weights)
        drawn = copies(X, weights, settings.n_clusters)
    views, clusters = None, None
    is_given = dissimilarities is not None
    if view_columns is not None or (is_given and are_tables(dissimilarities)):
        views = _views(
            settings, X, view_columns, dissimilarities, drawn, focal_sets, rng
        )
        views = replace(views, matrix_units=view_units)
        geometry, clusters = views.together, views.starts[0][1]
    counted = geometry.some(drawn)
    novelty, scores = None, None
    if settings.novelty_detector is not None:
        novelty, scores = fit_novelty(
            settings.novelty_detector, attributes, standardize, rng
        )
    is_auto = isinstance(init, str) and init == "auto"
    is_informed = information.has_labels or information.has_constraints
    is_new = seeds is None and settings.previous is None
    starts_from_clusters = is_auto and not is_informed and is_new
    if starts_from_clusters and settings.begins_with_clusters:
        settings = settings.beginning_with_clusters()
    if clusters is None and starts_from_clusters:
        clusters = hard_clusters(counted, settings.n_clusters, rng)
        clusters = replace(clusters, objects=drawn[clusters.objects])
    share = 0.0
    if clusters is not None:
        share = clusters.share_apart
    elif takes_contrast(settings):
        share = rough_share_apart(counted, settings.n_clusters, rng)
    trained = None
    if starts_from_clusters and settings.may_sample and weights is None:
        assert clusters is not None
        settings = settings.sampled()
        trained = _some_for_all(settings.n_trained(len(X)), clusters, len(X), rng)
    space = InputSpace(
        standardize,
        embedding,
        transformer,
        geometry.metric,
        dissimilarities is not None,
        scale_of(settings, counted, share, rng) if views is None else views.scale,
        novelty,
        object_shape,
    )
    has_fixed_order = (
        information.has_labels or settings.has_fixed_order or seeds is not None
    )
    if seeds is None and not is_random:
        with naming("init"):
            are_centers = np.ndim(init) > 1
        if space.projection is not None and are_centers:
            init = _projected_centers(space.projection, init, settings.n_clusters)
        seeds = fixed_seeds(
            init, attributes, geometry, space.scale, settings.n_clusters, rng
        )
    pairs = None
    if settings.pairs_per_sample is not None:
        pairs = sample_pairs(len(X), settings.pairs_per_sample, rng)
    held_out = None
    if settings.early_stopping:
        held_out = held_out_objects(
            settings.validation_fraction, information, len(X), rng
        )
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
        clusters if starts_from_clusters else None,
        trained,
        weights=weights,
        views=views,
    )


def _views(
    settings: Settings,
    X: NDArray[np.float64],
    columns: Views | None,
    dissimilarities: Any,
    drawn: NDArray[np.intp],
    focal_sets: FocalSets | None,
    rng: np.random.RandomState,
) -> NetworkViews:
    """Views of all objects, and hard clusters of those that are drawn."""
    assert focal_sets is not None, "the stress of noise depends on them"
    if columns is None:
        named = matrix_parts(dissimilarities, len(X), symmetrize=settings.symmetrize)
        parts = tuple(named.values())
        columns = dict.fromkeys(named, np.arange(X.shape[1]))
    else:
        parts = column_parts(X, among_used(columns))
    check_varying(columns, parts)

    def noise_stress(noise: NDArray[np.float64]) -> float:
        problem = prepare(settings.plain(), noise, rng)
        rngs = [np.random.RandomState(rng.randint(2**31))]
        solution = solve(problem, focal_sets, rngs, previous=None, report=say_nothing)
        return float(solution.other["stress_"])

    some = tuple(part.some(drawn) for part in parts)
    views = start_of_views(settings, columns, some, noise_stress, rng)
    starts = tuple(
        (weights, replace(clusters, objects=drawn[clusters.objects]))
        for weights, clusters in views.starts
    )
    return replace(views, parts=parts, starts=starts)


def _some_for_all(
    n_wanted: int, clusters: HardClusters, n_samples: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Row numbers of so many objects, or more: all that have a hard cluster, others."""
    known = clusters.objects
    n_others = max(0, n_wanted - len(known))
    is_other = np.ones(n_samples, dtype=bool)
    is_other[known] = False
    others = rng.choice(np.flatnonzero(is_other), n_others, replace=False)
    return rng.permutation(np.concatenate([known, others]))


def _attributes_and_geometry(
    settings: Settings,
    X: NDArray[np.float64],
    information: SideInformation,
    dissimilarities: Any,
    rng: np.random.RandomState,
    weights: NDArray[np.float64] | None,
    projection: Projection | None,
) -> tuple[NDArray[np.float64], Geometry, DissimilarityPCA | None, Any]:
    """Inputs of the network, where dissimilarities come from, and what was fitted.

    That is the embedding of a matrix, the transformer of a metric, or the projection of
    rows, of whose components the attributes are made.
    """
    embedding, transformer = None, None
    attributes = X
    if projection is None:
        projection = _projection(settings, X, rng, weights)
    if projection is not None:
        check_spread("X", X)
        places = projection.transform(X)
        check_spread("X", places)
        transformer, attributes = projection, projection.inputs(places)
        metric = "sqeuclidean" if projection.normalizes else "euclidean"
        geometry = Geometry(places, metric)
    elif isinstance(settings.metric, str) and settings.metric == "precomputed":
        matrix = check_dissimilarities(X, symmetrize=settings.symmetrize)
        n_components = settings.n_components
        if isinstance(n_components, str) and are_tables(dissimilarities):
            # The mean of the matrices of views varies as all of them do.
            n_components = _components_of_each(dissimilarities, settings.symmetrize)
        embedding = DissimilarityPCA(n_components).fit(matrix)
        # Rows as they are given, since prediction has no columns to average with.
        attributes, geometry = embedding.transform(X), Geometry(matrix, "precomputed")
    else:
        geometry, transformer = attribute_geometry(
            X, settings.metric, rng, information, weights
        )
    if dissimilarities is not None and not are_tables(dissimilarities):
        geometry = given_geometry(
            dissimilarities, len(X), symmetrize=settings.symmetrize
        )
    return attributes, geometry, embedding, transformer


def _components_of_each(matrices: Any, symmetrize: bool) -> int:
    """Number of components that the matrices of views have, each alone."""
    values = matrices.values() if isinstance(matrices, Mapping) else matrices
    found = [
        DissimilarityPCA(symmetrize=symmetrize).fit(each).components_ for each in values
    ]
    return min(sum(len(each) for each in found), len(found[0][0]))


def _projection(
    settings: Settings,
    X: NDArray[np.float64],
    rng: np.random.RandomState,
    weights: NDArray[np.float64] | None,
) -> Projection | None:
    """What rows are projected by, if the metric and the number of columns allow it."""
    is_cosine = isinstance(settings.metric, str) and settings.metric == "cosine"
    is_auto = isinstance(settings.n_components, str)
    takes_all = settings.n_components is None or (
        is_auto and X.shape[1] <= MANY_FEATURES
    )
    if not projects(settings) or (takes_all and not is_cosine):
        return None
    if settings.previous is not None:
        # The weights are those of its components.
        return settings.previous.projection
    if weights is not None:
        X = X[copies(X, weights, settings.n_clusters)]
    return Projection.of(
        X,
        settings.n_components,
        settings.n_clusters,
        rng,
        normalizes=is_cosine,
    )


def _projected_centers(
    projection: Projection, init: Any, n_clusters: int
) -> NDArray[np.float64]:
    """Attributes of centres that are given as rows."""
    with naming("init"):
        values = np.asarray(init)
    centers = check_finite("init", check_numbers("init", values))
    expected = n_clusters, projection.n_features_in_
    if centers.shape != expected:
        raise ValueError(
            f"init must have shape (n_clusters, n_features) = {expected} or "
            f"(n_clusters,), got {centers.shape}"
        )
    return projection.inputs(projection.transform(centers))


def held_out_objects(
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
            is_predicted=self.is_predicted and solution.masses is self.masses,
        )

    def placed(self, rows: NDArray[np.intp], n_samples: int) -> NetworkSolution:
        """The same: the network itself gives the masses of all rows."""
        return replace(self, is_predicted=False)


def solve(
    problem: NetworkProblem,
    focal_sets: FocalSets,
    rngs: list[np.random.RandomState],
    *,
    previous: NetworkSolution | None,
    report: Report,
) -> NetworkSolution:
    """Train from random weights, from those of a fit, or of a network of fewer sets.

    There may be several starts, one for each generator, if they run together.
    """
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
    starts = np.array([network.initial_parameters(rng) for rng in rngs])
    if weights is not None:
        starts = np.array([weights.put_into(network, start) for start in starts])
    elif settings.is_full_batch:
        firsts = _first_phases(network, starts, problem, focal_sets, rngs)
        if any(first.interrupted for first in firsts):
            return _solution(network, problem, focal_sets, _lowest(firsts))
        starts = np.array([first.state for first in firsts])
        if problem.fewer is not None:
            starts[-1] = start_after_fewer(network, problem, focal_sets, rngs[-1])
    else:
        first = _best_try(network, starts[0], problem, focal_sets, rngs[0])
        if first.interrupted:
            return _solution(network, problem, focal_sets, first)
        starts = first.state[None]
    if not settings.is_full_batch:
        return train_to_end(network, starts[0], problem, focal_sets, rngs[0], report)
    data, _ = problem.training_data(focal_sets, problem.anchored_information)
    with engine_context(network, settings, rngs[0]):
        if problem.trained is not None:
            firsts = _train_on_few(network, starts, data, settings)
            if any(first.interrupted for first in firsts):
                return _solution(network, problem, focal_sets, _lowest(firsts))
            starts = np.array([first.state for first in firsts])
        traces = train_together(
            network,
            starts,
            data,
            settings,
            report,
            halve_at=settings.halvings(problem.clusters is not None),
        )
    return _solution(network, problem, focal_sets, _lowest(traces))


def _train_on_few(
    network: Any, starts: NDArray[np.float64], data: TrainingData, settings: Settings
) -> list[GradientTrace]:
    """Most of the way to the end of a training on more objects, in a fraction of it.

    The objects are in random order.
    """
    few = data.take(np.arange(_N_COARSE))
    return train_together(network, starts, few, settings, say_nothing)


def _lowest(traces: list[GradientTrace]) -> GradientTrace:
    """The one of lowest loss."""
    return min(traces, key=lambda trace: trace.loss)


def _best_try(
    network: Any,
    start: NDArray[np.float64],
    problem: NetworkProblem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
) -> GradientTrace:
    """Where training by blocks begins: the best of some short ones, if there are."""
    best: GradientTrace | None = None
    for _ in range(problem.settings.n_tries):
        if best is not None:
            start = network.initial_parameters(rng)
        (trace,) = _first_phases(network, start[None], problem, focal_sets, [rng])
        if problem.settings.n_tries == 1 or trace.interrupted:
            return trace
        data, validation = problem.training_data(
            focal_sets, problem.anchored_information
        )
        trace = train_in_memory(
            network,
            trace.state,
            data,
            validation,
            problem.settings.tried(),
            rng,
            say_nothing,
        )
        if trace.interrupted:
            return trace
        if best is None or trace.loss < best.loss:
            best = trace
    assert best is not None
    return best


def train_to_end(
    network: Any,
    start: NDArray[np.float64],
    problem: NetworkProblem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
    report: Callable[[int, float], None],
) -> NetworkSolution:
    """Train from these parameters, with the side information there is."""
    data, validation = problem.training_data(focal_sets, problem.anchored_information)
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


def _first_phases(
    network: Any,
    starts: NDArray[np.float64],
    problem: NetworkProblem,
    focal_sets: FocalSets,
    rngs: list[np.random.RandomState],
) -> list[GradientTrace]:
    """What comes before the training proper: seeds as labels, or no pairs yet.

    From random weights, pairs may fix in which clusters their objects are before the
    dissimilarities say where the clusters are; with other data they are what finds
    the clusters. So half of the starts, on average, see the pairs from the beginning.
    """
    settings, information = problem.settings, problem.information
    if problem.clusters is not None:
        return _fit_to_anchors(network, starts, problem, focal_sets, rngs)
    phases = [GradientTrace(start, np.empty(0), True) for start in starts]
    each = list(zip(range(len(starts)), starts, rngs, strict=True))
    if problem.seeds is not None:
        seeded = _seeded(information, problem.seeds, focal_sets.n_clusters)
        for k, start, rng in each:
            phases[k] = train_on_labels(
                network, start, problem, focal_sets, seeded, rng
            )
    elif isinstance(settings.init, str) and settings.init == "k-means++":
        for k, start, rng in each:
            seeds = random_seeds(
                problem.geometry, problem.inputs, focal_sets.n_clusters, rng
            )
            seeded = _seeded(information, seeds, focal_sets.n_clusters)
            phases[k] = train_on_labels(
                network, start, problem, focal_sets, seeded, rng
            )
    elif information.has_constraints:
        data, validation = problem.training_data(
            focal_sets, information.without_pairs()
        )
        for k, start, rng in each:
            if rng.randint(2):
                phases[k] = train_in_memory(
                    network, start, data, validation, settings, rng, say_nothing
                )
    return phases


def _seeded(
    information: SideInformation, seeds: NDArray[np.intp], n_clusters: int
) -> SideInformation:
    """Seeds as labels; there may be several for each cluster, the clusters in turn."""
    labels = np.arange(len(seeds)) % n_clusters
    return replace(information, objects=seeds, labels=labels)


def _fit_to_anchors(
    network: Any,
    starts: NDArray[np.float64],
    problem: NetworkProblem,
    focal_sets: FocalSets,
    rngs: list[np.random.RandomState],
) -> list[GradientTrace]:
    """Networks that put the inner objects of the hard clusters into these.

    By cross-entropy, which has a slope also where an object is far from its cluster,
    and with some weight decay, so that masses stay where training can move them. A
    module, and focal sets without some cluster, are shown the labels instead.
    """
    anchors = problem.anchored_information
    if problem.trained is not None:
        # Equally many of each cluster still.
        stride = max(1, len(anchors.objects) // max(_N_ANCHORS, network.n_parameters))
        anchors = replace(
            anchors,
            objects=anchors.objects[::stride],
            labels=anchors.labels[::stride],
        )
    singletons = [(cluster,) for cluster in range(focal_sets.n_clusters)]
    is_plain = isinstance(network, CredalNetwork)
    if not is_plain or not all(subset in focal_sets for subset in singletons):
        shown = replace(anchors, label_weight=problem.settings.label_weight)
        return [
            train_on_labels(network, start, problem, focal_sets, shown, rng)
            for start, rng in zip(starts, rngs, strict=True)
        ]
    if problem.settings.begins_with_clusters and can_be_linear(network):
        known = problem.clusters
        assert known is not None
        if len(np.unique(known.labels)) == focal_sets.n_clusters:
            linear = partial(
                linear_start,
                network,
                attributes=problem.attributes[known.objects],
                labels=known.labels,
                standardize=problem.space.standardize,
                focal_sets=focal_sets,
            )
            return [GradientTrace(linear(each), np.empty(0), True) for each in starts]
    # Anchors of small clusters come several times, which is a weight.
    objects, places, counts = np.unique(
        anchors.objects, return_index=True, return_counts=True
    )
    shares = counts / len(anchors.objects)
    columns = np.array([focal_sets.index(subset) for subset in singletons])
    wanted = columns[anchors.labels[places]], np.arange(len(objects))
    inputs = with_constant(problem.space.standardize(problem.attributes[objects]))
    scores = None if problem.scores is None else problem.scores[objects]
    decayed = replace(network, weight_decay=max(network.weight_decay, _START_DECAY))

    def cross_entropy(masses: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        right = np.maximum(masses[:, *wanted], _SMALLEST_MASS)
        slopes = np.zeros_like(masses)
        slopes[:, *wanted] = -shares / right
        return -(np.log(right) @ shares), slopes

    def objective(parameters: NDArray[np.float64]) -> tuple[Any, Any]:
        gradient = np.empty_like(parameters)
        values = decayed.value_and_gradient(
            parameters, inputs, scores, cross_entropy, gradient
        )
        return values, gradient

    return minimize_together(
        objective, starts, tol=_START_TOLERANCE, max_iter=_START_ITERATIONS
    )


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
    stress = stress_of(problem, masses, problem.similarities(), focal_sets)
    return NetworkSolution(
        masses,
        trace,
        other={"stress_": stress},
        is_interrupted=trace.interrupted,
        is_predicted=problem.is_in_order,
        focal_sets=focal_sets,
        network=FittedNetwork(network, trace.state, focal_sets, space),
    )


def stress_of(
    problem: NetworkProblem,
    masses: NDArray[np.float64],
    similarities: Similarities,
    focal_sets: FocalSets,
) -> float:
    """Stress of the masses of all objects, (n_samples, n_focal_sets), as they count."""
    if problem.weights is None:
        return mean_stress(masses.T, similarities, focal_sets, problem.pairs)
    stress = WeightedStress(similarities.matrix(), focal_sets, problem.weights)
    return stress.value(masses.T)
