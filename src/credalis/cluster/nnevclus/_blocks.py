"""NNEVCLUS on data that do not come as one array: blocks, batches, partitions.

Of a source, the start is a fit of a sample; then every row is seen once in each pass,
in blocks of random rows, at a learning rate that falls to 0. Rows that labels or pairs
are about are in the sample, stay in memory, and count in every block. With early
stopping a part of the sample is seen by neither, and says which pass was the best.

Of a Dask collection, a pass is a sequence of rounds. In a round every partition trains,
from the same parameters, on a part of its own rows; the parameters and the sums of the
optimiser are then averaged in the order of the partitions. What a partition does
depends on its rows, the parameters and a seed of its own alone, so that neither the
number of workers nor their speed, nor a worker that is lost and whose work Dask does
again, changes a bit of the result.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from credalis._progress import Progress
from credalis._threads import one_thread
from credalis._weights import fingerprints
from credalis.belief import FocalSets
from credalis.checkpoints import Checkpoint
from credalis.cluster._framework._fit import Outcome, solve
from credalis.cluster._framework._solution import empty_clusters_last, reported
from credalis.cluster._inputs._clusters import without_isolated
from credalis.cluster._inputs._side_information import side_information
from credalis.cluster.nnevclus._network import FittedNetwork
from credalis.cluster.nnevclus._settings import Settings
from credalis.cluster.nnevclus._start import (
    ANCHOR_WEIGHT_OF_MANY,
    NetworkSolution,
    held_out_objects,
)
from credalis.cluster.nnevclus._training import (
    Chunk,
    Feed,
    LocalChunk,
    Schedule,
    TrainingSettings,
    TrainingState,
    block_trainer,
    check_finite_loss,
    engine_context,
    run,
    train,
)
from credalis.network import BlockTrainer, SideInformation, TrainingData, mean_stress
from credalis.sources import DaskSource, Source

if TYPE_CHECKING:
    from credalis.cluster.nnevclus._nnevclus import NNEVCLUS

Array = NDArray[np.float64]

# From rows, settings, random numbers and the number of a chunk to the chunk.
ChunkMaker = Callable[[Array, Any, np.random.RandomState, int], LocalChunk]

# Updates of the start on the sample, and objects whose k-means centres seed it.
_START_UPDATES = 1000
_SEED_ROWS = 5000
_N_KMEANS = 20
_N_SEEDS = 20

# Averages taken in a pass over the partitions. More of them bring the result closer to
# that of one machine and leave workers waiting for each other more often.
_N_ROUNDS = 5

# Rows of the sample keep many clusters apart in the passes if a cluster has this share
# of their mass on sets of clusters.
_CLEAR = 2 / 3

# An update moves weights by about the rate. Dissimilarities of many clusters, which
# have little contrast, move them no farther in all passes than in so many updates.
_UPDATES_OF_MANY = 100

# Passes without a better network after which a validated training ends.
_PATIENCE = 3


@dataclass(frozen=True, eq=False)
class Known:
    """Rows that labels and pairs are about; they stay in memory.

    Attributes
    ----------
    rows : array of shape (n_known, n_features)
        The rows.
    information : SideInformation
        Labels and pairs, by the places of the rows.
    data : TrainingData or None
        The same as a network sees it, if that is known already.
    """

    rows: Array
    information: SideInformation
    data: TrainingData | None = None

    @classmethod
    def of(cls, sample: Array, information: SideInformation) -> Known | None:
        """The rows of a sample that anything is known about; None if there are none."""
        parts = (information.objects, information.must_link, information.cannot_link)
        objects = np.unique(np.concatenate([part.ravel() for part in parts]))
        if len(objects) == 0:
            return None
        return cls(sample[objects], information.restricted(objects, len(sample)))

    def seen_by(self, fitted: FittedNetwork, dtype: type) -> Known:
        """The same with what a network sees of it, which every block will need."""
        data = fitted.training_data(self.rows, dtype)
        return replace(self, data=replace(data, information=self.information))


def start_blocks(
    estimator: NNEVCLUS,
    sample: Array,
    seeds: NDArray[np.integer],
    **informed: NDArray[np.intp],
) -> dict[str, Any]:
    """Scaling, δ0, novelty detector and network from a sample.

    What is known about rows of the sample, by their places, is used and kept. Rows that
    will validate the passes have no part in the start.
    """
    settings = Settings.of(estimator, len(sample))
    n_blocks = max(1, len(sample) // settings.batch_size)
    n_epochs = max(5, round(_START_UPDATES / n_blocks))
    settings = replace(settings, max_iter=n_epochs, may_shorten=True)
    information = _information(settings, len(sample), informed)
    fixed: dict[str, Any] = {"sample": sample, "seeds": seeds[1:]}
    if informed:
        fixed["informed"] = informed
    if settings.early_stopping:
        draw = np.random.RandomState([int(seeds[0]), 1])
        is_held_out = held_out_objects(
            settings.validation_fraction, information, len(sample), draw
        )
        fixed["held_out"] = np.flatnonzero(is_held_out)
        settings = replace(settings, early_stopping=False)
        sample, informed = _without(is_held_out, sample, informed)
    rows = None
    if not information.has_labels:
        settings, rows = _with_seeds(
            settings, sample, int(seeds[0]), is_informed=information.has_constraints
        )
    rng = np.random.RandomState(int(seeds[0]))
    with warnings.catch_warnings():
        # Whatever there is to warn of is said of the result.
        warnings.simplefilter("ignore")
        outcome = solve(
            estimator,
            sample,
            rng,
            is_quiet=True,
            settings=settings,
            seeds=rows,
            **informed,
        )
    solution = outcome.solution
    assert isinstance(solution, NetworkSolution)
    if solution.is_interrupted:
        # Half a start is none, least of all one to continue from.
        raise KeyboardInterrupt
    if settings.begins_with_clusters and not informed:
        masses = solution.network.masses(fixed["sample"])
        fixed["anchors"] = _anchors(masses, solution.network.focal_sets)
    passes = Settings.of(estimator, len(sample), "blocks")
    state = TrainingState(solution.network.parameters.astype(passes.dtype))
    return fixed | {"network": solution.network} | stored_state(state)


def _anchors(masses: Array, focal_sets: FocalSets) -> NDArray[np.intp]:
    """Clusters of the rows of a sample that are clear after the start, -1 for others.

    As labels they keep the clusters apart in the passes, as those of hard clusters do
    in the start.
    """
    columns = np.flatnonzero(focal_sets.cardinality == 1)
    singles = masses[:, columns]
    clusters = focal_sets.membership[columns].argmax(axis=1)[singles.argmax(axis=1)]
    is_clear = singles.max(axis=1) >= _CLEAR * masses.sum(
        axis=1, where=focal_sets.cardinality > 0
    )
    return np.where(is_clear, clusters, -1)


def _without(
    is_held_out: NDArray[np.bool_], sample: Array, informed: dict[str, NDArray[np.intp]]
) -> tuple[Array, dict[str, NDArray[np.intp]]]:
    """The other rows of a sample, and what is known about them."""
    places = np.cumsum(~is_held_out) - 1
    return sample[~is_held_out], {
        name: values[~is_held_out] if name == "partial_labels" else places[values]
        for name, values in informed.items()
    }


def train_blocks(
    estimator: NNEVCLUS,
    source: Source,
    stored: dict[str, Any],
    checkpoint: Checkpoint | None,
) -> Outcome:
    """Passes over the source, one update for each block, to the end or to Ctrl-C."""
    assert source.n_rows is not None
    # Files of version 0.1 hold an estimator in place of its network.
    fitted = stored.get("network") or FittedNetwork.of(stored["model"])
    names = ("sample", "seeds", "n_rows", "informed", "held_out", "anchors")
    fixed = {name: stored[name] for name in names if name in stored}
    fixed["network"] = fitted
    mode = "partitions" if isinstance(source, DaskSource) else "blocks"
    settings = Settings.of(estimator, source.n_rows, mode)
    sample = stored["sample"]
    information = _information(settings, len(sample), stored.get("informed", {}))
    if "anchors" in stored:
        if isinstance(estimator.learning_rate_init, str):
            settings = _slower(settings, source.n_rows)
        objects = np.flatnonzero(stored["anchors"] >= 0)
        information = replace(
            information,
            objects=objects,
            labels=stored["anchors"][objects],
            label_weight=ANCHOR_WEIGHT_OF_MANY,
        )
    known = Known.of(sample, information)
    if known is not None:
        known = known.seen_by(fitted, settings.dtype)
    chunk_of = partial(_chunk, fitted, known)
    validation = None
    if settings.early_stopping:
        validation = Validation.of(fitted, sample[stored["held_out"]], settings)
    with reported(estimator, settings.max_iter) as progress:
        state = run_passes(
            source, chunk_of, settings, stored, fixed, checkpoint, progress, validation
        )
    return _finished(estimator, fitted, sample, known, settings, state)


def _slower(settings: Settings, n_rows: int) -> Settings:
    """Settings with a rate that is smaller, the more updates there are."""
    n_updates = settings.max_iter * max(1, n_rows // settings.batch_size)
    rate = settings.learning_rate * min(1.0, _UPDATES_OF_MANY / n_updates)
    return replace(settings, learning_rate=rate)


def _information(
    settings: Settings, n_samples: int, informed: dict[str, NDArray[np.intp]]
) -> SideInformation:
    """Labels and pairs about the sample, with the weights of the settings."""
    return side_information(
        **informed,
        n_samples=n_samples,
        n_clusters=settings.n_clusters,
        label_weight=settings.label_weight,
        constraint_weight=settings.constraint_weight,
    )


@dataclass(frozen=True, eq=False)
class Validation:
    """Rows that training never sees, and the cost of a network on them.

    Attributes
    ----------
    trainer : BlockTrainer
        Cost without weight decay.
    settings : Settings
        How it is computed.
    prints : array of uint64
        Fingerprints of the rows, by which they are recognised in any part of the data.
    """

    trainer: BlockTrainer
    settings: Settings
    prints: NDArray[np.uint64]

    @classmethod
    def of(cls, fitted: FittedNetwork, rows: Array, settings: Settings) -> Validation:
        """The validation of a network on these rows."""
        plain = replace(fitted.network, weight_decay=0.0)
        data = fitted.training_data(rows, np.float64)
        trainer = block_trainer(plain, data, settings)
        return cls(trainer, settings, np.unique(fingerprints(rows)))

    def loss(self, state: TrainingState) -> float:
        """Mean cost of the rows."""
        return _loss(self.trainer, state.parameters, self.settings)

    def best(self, state: TrainingState) -> TrainingState:
        """The state with the best parameters at the end of a pass, or with its own."""
        if state.best is None or self.loss(state) <= state.best_loss:
            return state
        return replace(state, parameters=state.best)


def run_passes(
    source: Source,
    chunk_of: ChunkMaker,
    settings: TrainingSettings,
    stored: dict[str, Any],
    fixed: dict[str, Any],
    checkpoint: Checkpoint | None,
    progress: Progress,
    validation: Validation | None = None,
) -> TrainingState:
    """The state after all passes over a source that remain.

    Parameters
    ----------
    source : Source
        Rows.
    chunk_of : callable
        Takes rows, settings, random numbers and the number of a chunk; returns the
        chunk. For a Dask collection it must be possible to send it to workers.
    settings : TrainingSettings
        How to train.
    stored : dict
        What `stored_state` has made of the state to begin with, and ``"seeds"``.
    fixed : dict
        What a checkpoint holds besides the state.
    checkpoint : Checkpoint or None
        Where states are written.
    progress : Progress
        Told of every chunk of rows.
    validation : Validation or None, default=None
        Which rows are left out, and by which the best of the passes is kept.
    """
    state = _restored(stored)
    held_out = None if validation is None else validation.prints
    feed: Feed
    if isinstance(source, DaskSource):
        seed = int(stored["seeds"][0])
        feed = PartitionFeed(source, chunk_of, settings, seed, held_out)
    else:
        feed = SourceFeed(source, chunk_of, settings, stored["seeds"], held_out)

    def has_settled(state: TrainingState) -> bool:
        return validation is not None and state.n_passes - state.best_pass >= _PATIENCE

    def visit(state: TrainingState) -> None:
        if progress.has_listeners:
            known = (*state.history, *state.losses)
            progress.report(0, state.n_passes, known[-1] if known else None)
        has_ended = state.n_passes == settings.max_iter or has_settled(state)
        if checkpoint is not None and (checkpoint.is_due or has_ended):
            checkpoint.write(fixed | stored_state(state))

    if validation is None:
        state = run(train(settings, feed, state), state, visit)
        progress.finish(0)
        return state
    if state.best is None:
        loss = validation.loss(state)
        state = replace(state, best=state.parameters, best_loss=loss)
    if not has_settled(state):
        states = train(settings, feed, state, validation.loss, patience=_PATIENCE)
        state = run(states, state, visit)
    progress.finish(0)
    return validation.best(state)


@dataclass(frozen=True, eq=False)
class SourceFeed:
    """Buffers of a source, in an order drawn anew for each pass."""

    source: Source
    chunk_of: ChunkMaker
    settings: TrainingSettings
    seeds: NDArray[np.integer]
    held_out: NDArray[np.uint64] | None = None

    @property
    def n_positions(self) -> int:
        """Updates in all passes."""
        assert self.source.n_rows is not None
        n_blocks = max(1, self.source.n_rows // self.settings.batch_size)
        return self.settings.max_iter * n_blocks

    def chunks(self, state: TrainingState) -> Iterable[Chunk]:
        """The buffers of the current pass that remain."""
        order = np.random.RandomState([self.seeds[0], state.n_passes])
        for number, buffer in enumerate(self.source.buffers(order)):
            if number < state.n_chunks:
                continue
            rows = _seen(buffer, self.held_out)
            if len(rows) < 2:
                continue
            rng = np.random.RandomState([self.seeds[1], state.n_passes, number])
            yield self.chunk_of(rows, self.settings, rng, number)


@dataclass(frozen=True, eq=False)
class PartitionFeed:
    """Rounds, in each of which all partitions train on a part of their rows."""

    source: DaskSource
    chunk_of: ChunkMaker
    settings: TrainingSettings
    seed: int
    held_out: NDArray[np.uint64] | None = None

    @property
    def n_positions(self) -> int:
        """Rounds in all passes."""
        return self.settings.max_iter * _N_ROUNDS

    def chunks(self, state: TrainingState) -> Iterable[Chunk]:
        """The rounds of the current pass."""
        # In every pass again: workers may have come and gone.
        self.source.level()
        for number in range(_N_ROUNDS):
            yield Round(self, state.n_passes, number)


@dataclass(frozen=True, eq=False)
class Round:
    """One training of all partitions from the same parameters."""

    feed: PartitionFeed
    pass_number: int
    number: int

    def trained(self, state: TrainingState, schedule: Schedule) -> TrainingState:
        """The average of what the partitions have learned."""
        feed = self.feed
        rate = schedule.rate(self.pass_number * _N_ROUNDS + self.number)
        begin = TrainingState(state.parameters, state.optimizer)
        # Dask looks for collections in all arguments of a call, but not in these.
        train_part = partial(
            _trained_part,
            feed.chunk_of,
            feed.settings,
            feed.held_out,
            begin,
            rate,
            self.number,
        )
        n_parts = len(feed.source.sizes)
        results = feed.source.each(
            train_part, [(feed.seed, self.pass_number, k) for k in range(n_parts)]
        )
        return replace(
            _averaged(begin, results, feed.settings.dtype),
            n_passes=state.n_passes,
            n_chunks=self.number + 1,
            losses=(
                *state.losses,
                *(loss for result in results for loss in result.losses),
            ),
            weights=(
                *state.weights,
                *(weight for result in results for weight in result.weights),
            ),
            history=state.history,
            best=state.best,
            best_loss=state.best_loss,
            best_pass=state.best_pass,
        )


def _seen(rows: Array, held_out: NDArray[np.uint64] | None) -> Array:
    """Rows without those that validate, which are recognised by their fingerprints."""
    if held_out is None:
        return rows
    return rows[~np.isin(fingerprints(rows), held_out)]


def _chunk(
    fitted: FittedNetwork,
    known: Known | None,
    rows: Array,
    settings: Settings,
    rng: np.random.RandomState,
    number: int,
) -> LocalChunk:
    """Rows, and how the network is trained on them."""
    network = replace(fitted.network, weight_decay=settings.weight_decay)
    data = _training_data(fitted, known, rows, settings.dtype)
    return EngineChunk(
        block_trainer(network, data, settings),
        settings.solver,
        rng,
        number,
        weight=len(rows),
        network=network,
        settings=settings,
    )


@dataclass(frozen=True, eq=False)
class EngineChunk(LocalChunk):
    """Rows in memory, and what the engine wants around their training.

    What layers of a module draw comes from the random numbers of the chunk, so that a
    training that is continued draws the same.
    """

    network: Any = field(kw_only=True)
    settings: Settings = field(kw_only=True)

    def trained(self, state: TrainingState, schedule: Schedule) -> TrainingState:
        """The state after one update for each block of the rows."""
        with engine_context(self.network, self.settings, self.rng):
            return super().trained(state, schedule)


def _loss(trainer: BlockTrainer, parameters: Any, settings: Settings) -> float:
    """Mean cost of fixed blocks, which no random number changes."""
    with engine_context(trainer.network, settings, np.random.RandomState(0)):
        return trainer.evaluate(trainer.vector(parameters))


def _training_data(
    fitted: FittedNetwork, known: Known | None, rows: Array, dtype: type
) -> TrainingData:
    """Rows as the network sees them, and those that anything is known about."""
    data = fitted.training_data(rows, dtype)
    if known is None:
        return data
    return replace(data, known=known.data or known.seen_by(fitted, dtype).data)


def _trained_part(
    chunk_of: ChunkMaker,
    settings: TrainingSettings,
    held_out: NDArray[np.uint64] | None,
    begin: TrainingState,
    rate: float,
    round_number: int,
    rows: Array,
    seeds: tuple[int, int, int],
) -> TrainingState:
    """The state after a round on the rows of one partition.

    The order of the rows is that of the pass, of which a round takes its share.
    """
    order = np.random.RandomState(seeds).permutation(len(rows))
    part = _seen(rows[np.array_split(order, _N_ROUNDS)[round_number]], held_out)
    if len(part) < 2:
        return replace(begin, losses=(0.0,), weights=(0,))
    rng = np.random.RandomState([*seeds, round_number])
    with one_thread():
        chunk = chunk_of(part, settings, rng, 0)
        return chunk.trained(begin, Schedule(rate, None))


def _averaged(
    begin: TrainingState, results: tuple[TrainingState, ...], dtype: type
) -> TrainingState:
    """Means of parameters and sums, weighted by rows, in the order of the parts."""
    results = tuple(result for result in results if result.weights[0] > 0)
    if not results:
        return begin
    weights = np.array([result.weights[0] for result in results], dtype=np.float64)
    weights /= weights.sum()
    parameters = np.zeros(begin.parameters.shape)
    sums = np.zeros(results[0].optimizer["sums"].shape)
    for result, weight in zip(results, weights, strict=True):
        parameters += weight * result.parameters
        sums += weight * result.optimizer["sums"]
    n_steps = max(int(result.optimizer["n_steps"]) for result in results)
    optimizer = {"sums": sums.astype(dtype), "n_steps": np.array(n_steps)}
    return TrainingState(parameters.astype(dtype), optimizer, n_steps)


def _finished(
    estimator: NNEVCLUS,
    fitted: FittedNetwork,
    sample: Array,
    known: Known | None,
    settings: Settings,
    state: TrainingState,
) -> Outcome:
    """The trained network, the clusters without objects in the sample last."""
    trace = state.trace()
    network = replace(fitted, parameters=trace.state)
    solution: Any = NetworkSolution(
        network.masses(sample),
        trace,
        is_interrupted=state.is_interrupted,
        focal_sets=network.focal_sets,
        network=network,
    )
    focal_sets = network.focal_sets
    has_labels = known is not None and known.information.has_labels
    if known is not None:
        known = replace(known, data=None)
    if not (settings.has_fixed_order or has_labels):
        solution, focal_sets = empty_clusters_last(
            solution, focal_sets, keeps_sets=estimator._has_given_sets
        )
        network = solution.network
    data = _training_data(network, known, sample, np.float64)
    trainer = block_trainer(network.network, data, settings)
    loss = _loss(trainer, network.parameters, settings)
    check_finite_loss(loss, state.n_steps)
    stress = mean_stress(solution.masses.T, data.similarities, focal_sets)
    solution = replace(solution, other={"loss_": loss, "stress_": stress})
    return Outcome(solution, focal_sets, settings.max_iter, sample)


def _with_seeds(
    settings: Settings, sample: Array, seed: int, *, is_informed: bool
) -> tuple[Settings, NDArray[np.intp] | None]:
    """Settings of the start on the sample, and row numbers of its seeds if any.

    Random weights lose clusters when there are many, and so do single seeds; the
    objects next to the k-means centres of the sample keep them apart. With pairs, the
    automatic start is a random one.
    """
    init = settings.init
    seeded = ("auto", "random", "k-means++") if is_informed else ("random", "k-means++")
    if not isinstance(init, str) or init not in seeded:
        return settings, None
    if hasattr(settings.metric, "transform"):
        return replace(settings, init="k-means++"), None
    rng = np.random.RandomState(seed)
    rows = rng.permutation(len(sample))[:_SEED_ROWS]
    n_clusters = settings.n_clusters
    core = without_isolated(sample[rows], n_clusters)
    kmeans = KMeans(n_clusters, n_init=_N_KMEANS, random_state=rng).fit(core)
    distances = cdist(kmeans.cluster_centers_, sample, "sqeuclidean")
    labels = distances.argmin(axis=0)
    # Objects of other clusters are behind all those of the own one.
    distances[labels != np.arange(n_clusters)[:, None]] = np.inf
    n_seeds = min(_N_SEEDS, np.bincount(labels, minlength=n_clusters).min())
    nearest = np.argsort(distances, axis=1, kind="stable")[:, : max(1, n_seeds)]
    return replace(settings, init="random"), nearest.T.ravel()


def stored_state(state: TrainingState) -> dict[str, Any]:
    """A state as a checkpoint holds it."""
    best: dict[str, Any] = {}
    if state.best is not None:
        best = {"best": state.best, "best_loss": state.best_loss}
        best["best_pass"] = state.best_pass
    return best | {
        "parameters": state.parameters,
        "optimizer": dict(state.optimizer),
        "n_steps": state.n_steps,
        "pass": state.n_passes,
        "buffer": state.n_chunks,
        "losses": list(state.losses),
        "weights": list(state.weights),
        "history": list(state.history),
    }


def _restored(stored: dict[str, Any]) -> TrainingState:
    """Inverse of `stored_state`."""
    return TrainingState(
        stored["parameters"],
        stored["optimizer"],
        n_steps=stored["n_steps"],
        n_passes=stored["pass"],
        n_chunks=stored["buffer"],
        losses=tuple(stored["losses"]),
        weights=tuple(stored["weights"]),
        history=tuple(stored["history"]),
        best=stored.get("best"),
        best_loss=stored.get("best_loss", np.inf),
        best_pass=stored.get("best_pass", 0),
    )
