"""NNEVCLUS on data that are read in blocks.

The start is a fit of a sample; then every row is seen once in each pass, in blocks of
random rows, at a learning rate that falls to 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from credalis.checkpoints import Checkpoint
from credalis.cluster._framework._blocks import (
    MAX_WHOLE,
    State,
    adopt_fitted,
    fit_blocks,
    started,
)
from credalis.cluster._inputs._geometry import fitted_geometry
from credalis.cluster._inputs._scale import without_isolated
from credalis.cluster.nnevclus._problem import BATCH_SIZE, fitted_network
from credalis.cluster.nnevclus._seeds import SeedRows
from credalis.cluster.nnevclus._solve import NetworkSolution, flat_parameters
from credalis.cluster.nnevclus._training import FULL_BATCH
from credalis.network import (
    BlockTrainer,
    CredalNetwork,
    SideInformation,
    TrainingData,
    mean_stress,
    with_constant,
)
from credalis.optimize import Adam, GradientTrace, RMSprop, cosine_schedule
from credalis.partition import adopt
from credalis.sources import Source

# First rate of the passes: the start has found the clusters, they are only refined.
_LEARNING_RATES = {"adam": 0.003, "rmsprop": 0.001}
_N_PASSES = 1

# Updates of the start on the sample, and objects whose k-means centres seed it.
_START_UPDATES = 1000
_SEED_ROWS = 5000
_N_KMEANS = 20
_N_SEEDS = 20


class NetworkBlocks:
    """How `NNEVCLUS` is fitted to data that are read in blocks."""

    _reads_blocks = True

    init: Any

    def _fit_blocks(self, source: Source, checkpoint: Any) -> None:
        fit_blocks(self, source, checkpoint, start_blocks, train_blocks, finish_blocks)

    def _is_for_blocks(self, X: NDArray[np.float64], is_informed: bool) -> bool:
        if len(X) <= MAX_WHOLE or is_informed:
            return False
        try:
            check_blocks(self)
        except ValueError:
            return False
        return not isinstance(self.init, str) or self.init in ("random", "k-means++")


def check_blocks(estimator: Any) -> None:
    """Refuse parameters that make no sense without all objects at once."""
    if estimator._is_precomputed:
        raise ValueError(
            "metric must not be 'precomputed' for data that are read in blocks: their "
            "rows have no common dissimilarity matrix"
        )
    for name, plain in (
        ("warm_start", False),
        ("early_stopping", False),
        ("engine", "numpy"),
    ):
        value = getattr(estimator, name, plain)
        if value != plain:
            raise ValueError(
                f"{name} must be {plain!r} for data that are read in blocks, got "
                f"{value!r}"
            )
    if estimator.solver in FULL_BATCH:
        raise ValueError(
            "solver must be 'auto', 'adam' or 'rmsprop' for data that are read in "
            f"blocks, got {estimator.solver!r}"
        )
    if not isinstance(estimator.init, str) and np.ndim(estimator.init) == 1:
        raise ValueError(
            "init must be a name or an array of centres for data that are read in "
            "blocks, whose rows have no numbers, got a vector"
        )


def start_blocks(
    estimator: Any, sample: NDArray[np.float64], seeds: NDArray[np.integer]
) -> State:
    """Scaling, δ0, novelty detector and network from a sample."""
    check_blocks(estimator)
    batch_size = _batch_size(estimator)
    n_blocks = max(1, len(sample) // batch_size)
    model = started(
        estimator,
        sample,
        init=_start_of(estimator, sample, int(seeds[0])),
        max_iter=max(5, round(_START_UPDATES / n_blocks)),
        random_state=int(seeds[0]),
    )
    model.init = estimator.init
    return {
        "model": model,
        "sample": sample,
        "parameters": flat_parameters(model).astype(_dtype(estimator)),
        "optimizer": {},
        "seeds": seeds[1:],
        "pass": 0,
        "buffer": 0,
        "n_steps": 0,
        "losses": [],
        "weights": [],
        "history": [],
    }


def train_blocks(
    estimator: Any, source: Source, state: State, checkpoint: Checkpoint | None
) -> State:
    """Passes over the source, one update for each block, to the end or to Ctrl-C."""
    assert source.n_rows is not None
    training = BlockTraining.of(estimator, state["model"], source.n_rows)
    states = _passes(training, source, state)
    try:
        for state in states:
            has_ended = state["pass"] == training.n_passes
            if checkpoint is not None and (checkpoint.is_due or has_ended):
                checkpoint.write(state)
    except KeyboardInterrupt:
        if state["n_steps"] == 0:
            raise
        # What has been learned is kept, as in memory; a checkpoint goes on from there.
        state = {**_with_loss(state), "is_interrupted": True}
    return state


def _passes(training: "BlockTraining", source: Source, state: State) -> Iterator[State]:
    """The state after every buffer and after every pass that remains."""
    while state["pass"] < training.n_passes:
        order = np.random.RandomState([state["seeds"][0], state["pass"]])
        for number, buffer in enumerate(source.buffers(order)):
            if number < state["buffer"] or len(buffer) < 2:
                continue
            rng = np.random.RandomState([state["seeds"][1], state["pass"], number])
            state = {**training.on(buffer, state, rng), "buffer": number + 1}
            yield state
        state = {**_with_loss(state), "pass": state["pass"] + 1, "buffer": 0}
        yield state


def _with_loss(state: State) -> State:
    """The state with the mean cost of its pass, if there is one, in the history."""
    if not state["losses"]:
        return state
    loss = float(np.average(state["losses"], weights=state["weights"]))
    history = [*state["history"], loss]
    return {**state, "losses": [], "weights": [], "history": history}


def finish_blocks(estimator: Any, state: State) -> None:
    """Fitted attributes, the clusters without objects in the sample last."""
    model, sample = state["model"], state["sample"]
    network = fitted_network(model)
    parameters = state["parameters"].astype(np.float64)
    model.weights_ = [layer.copy() for layer in network.perceptron.layers(parameters)]
    if network.link is not None:
        model.novelty_coefficients_ = parameters[-2:].copy()
    masses = model._predict_masses(sample)
    history = np.array(state["history"])
    solution = NetworkSolution(
        masses,
        GradientTrace(parameters, history, converged=True, interrupted=False),
        other={"weights_": model.weights_},
        is_interrupted=state.get("is_interrupted", False),
        focal_sets=model.focal_sets_,
    )
    focal_sets = model.focal_sets_
    if isinstance(estimator.init, str):
        renamed, focal_sets = estimator._empty_clusters_last(solution, focal_sets)
        masses = renamed.masses
        model.weights_, model.focal_sets_ = renamed.other["weights_"], focal_sets
    model.history_, model.n_iter_ = history, len(history)
    dtype = np.float64
    similarities = fitted_geometry(model, sample).similarities(model.scale_, dtype)
    model.stress_ = mean_stress(masses.T, similarities, focal_sets)
    data = training_data(model, sample, dtype)
    trainer = BlockTrainer(fitted_network(model), data, _batch_size(estimator))
    model.loss_ = trainer.evaluate(flat_parameters(model))
    adopt_fitted(estimator, model)
    estimator._warn_of_convergence(solution, len(history), stacklevel=7)
    estimator._warn_of_partition(adopt(masses, focal_sets), stacklevel=7)


@dataclass(frozen=True, eq=False)
class BlockTraining:
    """Updates of the parameters of a started model.

    Attributes
    ----------
    model : NNEVCLUS
        Fitted to a sample.
    network : CredalNetwork
        What is trained.
    solver : {"adam", "rmsprop"}
        Kind of update.
    learning_rate : float
        The first one.
    batch_size : int
        Objects in a block.
    n_passes : int
        Passes over all rows.
    n_updates : int or None
        Updates in all passes, at which the rate of Adam is 0; None: it does not fall.
    """

    model: Any
    network: CredalNetwork
    solver: str
    learning_rate: float
    batch_size: int
    n_passes: int
    n_updates: int | None

    @classmethod
    def of(cls, estimator: Any, model: Any, n_rows: int) -> "BlockTraining":
        """As the parameters of the estimator say."""
        solver = "adam" if estimator.solver == "auto" else estimator.solver
        rate = estimator.learning_rate_init
        rate = _LEARNING_RATES[solver] if isinstance(rate, str) else float(rate)
        n_passes = estimator.max_iter
        n_passes = _N_PASSES if isinstance(n_passes, str) else int(n_passes)
        batch_size = _batch_size(estimator)
        network = replace(fitted_network(model), weight_decay=estimator.weight_decay)
        n_updates = n_passes * max(1, n_rows // batch_size)
        return cls(model, network, solver, rate, batch_size, n_passes, n_updates)

    def on(
        self, rows: NDArray[np.float64], state: State, rng: np.random.RandomState
    ) -> State:
        """The state after one update for each block of some rows."""
        parameters = state["parameters"].copy()
        optimizer = (Adam if self.solver == "adam" else RMSprop)(self.learning_rate)
        optimizer.restore(state["optimizer"])
        n_steps = state["n_steps"]

        def update(parameters, gradient):
            nonlocal n_steps
            rate = self.learning_rate
            if self.solver == "adam" and self.n_updates is not None:
                rate *= cosine_schedule(n_steps, self.n_updates)
            optimizer.step(parameters, gradient, learning_rate=rate)
            n_steps += 1

        data = training_data(self.model, rows, parameters.dtype.type)
        trainer = BlockTrainer(self.network, data, min(self.batch_size, len(rows)))
        loss = trainer.epoch(parameters, rng, update)
        if not np.isfinite(loss):
            raise ValueError(
                f"the loss must stay finite, it is {loss} after {n_steps} updates: "
                "lower learning_rate_init"
            )
        return {
            **state,
            "parameters": parameters,
            "optimizer": optimizer.state(),
            "n_steps": n_steps,
            "losses": [*state["losses"], loss],
            "weights": [*state["weights"], len(rows)],
        }


def training_data(model: Any, rows: NDArray[np.float64], dtype: type) -> TrainingData:
    """Rows as a model sees them, without side information."""
    inputs, novelty = model.standardization_(rows), model.novelty_
    scores = None if novelty is None else novelty(inputs).astype(dtype)
    nothing = np.empty(0, dtype=np.intp)
    pairs = np.empty((0, 2), dtype=np.intp)
    information = SideInformation(
        nothing, nothing, pairs, pairs, model.label_weight, model.constraint_weight
    )
    return TrainingData(
        with_constant(inputs, dtype),
        scores,
        fitted_geometry(model, rows).similarities(model.scale_, dtype),
        model.focal_sets_,
        information,
    )


def _start_of(estimator: Any, sample: NDArray[np.float64], seed: int) -> Any:
    """What the start on the sample begins with.

    Random weights lose clusters when there are many, and so do single seeds; the
    objects next to the k-means centres of the sample keep them apart.
    """
    init = estimator.init
    if not isinstance(init, str) or init not in ("random", "k-means++"):
        return init
    if hasattr(estimator.metric, "transform"):
        return "k-means++"
    rng = np.random.RandomState(seed)
    rows = rng.permutation(len(sample))[:_SEED_ROWS]
    n_clusters = estimator.n_clusters
    core = without_isolated(sample[rows], n_clusters)
    kmeans = KMeans(n_clusters, n_init=_N_KMEANS, random_state=rng).fit(core)
    distances = cdist(kmeans.cluster_centers_, sample, "sqeuclidean")
    labels = distances.argmin(axis=0)
    # Objects of other clusters are behind all those of the own one.
    distances[labels != np.arange(n_clusters)[:, None]] = np.inf
    n_seeds = min(_N_SEEDS, np.bincount(labels, minlength=n_clusters).min())
    nearest = np.argsort(distances, axis=1, kind="stable")[:, : max(1, n_seeds)]
    return SeedRows(nearest.T.ravel())


def _batch_size(estimator: Any) -> int:
    size = estimator.batch_size
    return BATCH_SIZE if isinstance(size, str) else int(size)


def _dtype(estimator: Any) -> type:
    return np.float32 if estimator.dtype == "auto" else np.dtype(estimator.dtype).type
